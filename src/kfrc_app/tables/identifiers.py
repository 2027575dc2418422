"""Columns that name rows rather than say something of them: found by their names, and by values that never repeat.

Both are needed, except where values alone leave no doubt: a column that counts the rows, a first column of text that
differs in every row, e-mail addresses. That numbers differ in every row says nothing: measurements do, too.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from kfrc.typing import FloatArray
from kfrc_app.tables.columns import Columns, Encoded

MIN_COUNTED = 10
"""Rows from which on 1, 2, 3, … under any name are row numbers: fewer may be in order by chance."""

MIN_DISTINCT_SHARE = 0.5
"""Different values per row from which on a column that is called an id is one: some rows are entered twice."""

MAX_NAME_LENGTH = 80
"""Characters of the longest name of a row: longer text is a remark, also if it stands first."""

LONG = 1e15
"""Numbers from which on digits may be lost, those of 16 digits: spreadsheets keep 15, and floats hardly more."""

_LONGEST = 1e40  # the longest identifiers, of 128 bits, have 39 digits
_EXACT_DIGITS = 12
"""Digits, without zeros at the end, that large measurements do not have: 6.02e23 is one, 4539578763621486 a name."""

LONG_NUMBERS = "whole numbers of 16 digits and more"

_EXPONENT = re.compile(r"[eE][+-]?[0-9]+$")
_ID_WORDS = frozenset({"id", "ids", "uid", "uuid", "guid", "identifier", "identification", "key", "pk", "rowid", "doi"})
"""Last words of names such as patient_id and PrimaryKey."""

_THINGS = frozenset(
    re.findall(
        r"\w+",
        "row rows rowname rownames observation obs case record entry respondent participant patient subject person "
        "individual proband interviewee student pupil employee customer client user member household sample specimen "
        "gene transcript probe protein isolate strain accession barcode serial reference ref invoice order transaction "
        "ticket account item product sku article email mail phone isbn issn ssn iban plate token username login",
    )
)
"""What rows stand for: such a word, alone or with one of the next, is what a column of their names is called."""

_NAMING = frozenset({"id", "ids", "code", "codes", "no", "nr", "num", "number", "name", "names", "key", "index", "idx"})
_NUMBERING = frozenset({"no", "nr", "num", "number", "index", "idx", "#", "№", "unnamed", "code", "name", "names"})
"""What a column of names is called if it stands first."""

_TIMES = frozenset(
    re.findall(
        r"\w+",
        "t time times year years month months week weeks day days hour hours minute minutes second seconds date age "
        "period quarter step epoch wave round dose rank level score",
    )
)
"""What counts, and is a measurement nevertheless."""

_WORD = re.compile(r"[^\W\d_]+|#|№")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_GLUED = re.compile(rf"(?:{'|'.join(sorted(_THINGS, key=len, reverse=True))})(?:id|ids|code|no|nr|num|number|key)")
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s.]+")
_UUID = re.compile(r"\{?[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\}?")


@dataclass(frozen=True)
class Identifier:
    """A column that names rows.

    Attributes
    ----------
    name : str
    reason : str
        What shows it, in plain words, to follow "because".
    unique : bool
        Whether it is different in every row.
    """

    name: str
    reason: str
    unique: bool


def words_of(name: str) -> tuple[str, ...]:
    """The words of a name in small letters.

    Examples
    --------
    >>> from kfrc_app.tables.identifiers import words_of
    >>> words_of("PatientID"), words_of("body_mass_index"), words_of("Unnamed: 0")
    (('patient', 'id'), ('body', 'mass', 'index'), ('unnamed',))
    """
    return tuple(word.lower() for part in _WORD.findall(name) for word in _HUMP.split(part))


def is_called_id(name: str) -> bool:
    """Whether a column is called an id, a key, or the code or number of what rows stand for.

    Examples
    --------
    >>> from kfrc_app.tables.identifiers import is_called_id
    >>> [is_called_id(name) for name in ("ID", "customer_key", "Participant code", "sampleid", "body mass index", "x")]
    [True, True, True, True, False, False]
    """
    words = words_of(name)
    if not words:
        return False
    if words[-1] in _ID_WORDS or (words[0] == "id" and len(words) == 2) or _GLUED.fullmatch("".join(words)):
        return True
    # "income per household" is none, and neither is "number of cases"
    return len(words) == 2 and words[0] in _THINGS and words[1] in _NAMING


def may_be_called_id(name: str, *, first: bool = False) -> bool:
    """Whether a column is called what rows stand for, or simply a number or an index; the latter only if it is first.

    Examples
    --------
    >>> from kfrc_app.tables.identifiers import may_be_called_id
    >>> may_be_called_id("Respondent"), may_be_called_id("No."), may_be_called_id("No.", first=True)
    (True, False, True)
    """
    words = words_of(name)
    return len(words) == 1 and (words[0] in _THINGS | {"index", "idx"} or (first and words[0] in _NUMBERING))


def are_long(columns: Columns, name: str, values: FloatArray) -> bool:
    """Whether numbers are names in truth: whole, and two of them or more with too many digits for a measurement.

    Parameters
    ----------
    columns : Columns
    name : str
    values : ndarray of shape (n_rows,)
        The numbers that the column can be read as; NaN where missing.
    """
    known = values[~np.isnan(values)]
    if not len(known) or not LONG <= np.abs(known).max() < _LONGEST or (known != np.floor(known)).any():
        return False
    texts = {*columns.text(name)[np.abs(values) >= LONG]}
    return sum(len(_digits(text)) >= _EXACT_DIGITS for text in texts) > 1


def _digits(text: str) -> str:
    """The digits of a number without zeros at its ends."""
    return re.sub("[^0-9]", "", _EXPONENT.sub("", text)).strip("0")


def identifier_of_numbers(name: str, values: FloatArray, *, first: bool) -> Identifier | None:
    """A column of numbers as names of rows, if it is one: whole numbers only.

    Parameters
    ----------
    name : str
    values : ndarray of shape (n_rows,)
        NaN where missing.
    first : bool
        Whether it is the first of its file.
    """
    known = values[~np.isnan(values)]
    if len(known) < 2 or not (np.isfinite(known).all() and (known == np.floor(known)).all()):
        return None
    named = _named(name, len(np.unique(known)), len(known), len(values), first=first)
    if named is not None or len(values) < MIN_COUNTED or not _counts(values):
        return named
    return Identifier(name, "it counts the rows", unique=True) if _TIMES.isdisjoint(words_of(name)) else None


def identifier_of_text(columns: Columns, name: str, *, first: bool, mixed: bool = False) -> Identifier | None:
    """A column of text as names of rows, if it is one.

    Parameters
    ----------
    columns : Columns
    name : str
    first : bool
        Whether it is the first of its file.
    mixed : bool, default=False
        Whether most of it are numbers: then only its name can show what it is.
    """
    cells = columns.encoded(name)
    n_distinct, n_known = len(cells.levels), cells.n_known
    if n_known < 2:
        return None
    named = _named(name, n_distinct, n_known, columns.n_rows, first=first)
    if named is not None or mixed:
        return named
    unique = n_distinct == columns.n_rows
    if first and unique and max(map(len, cells.levels)) <= MAX_NAME_LENGTH:
        return Identifier(name, "it is the first column and its text differs in every row", unique)
    what = _written_as(cells)
    return Identifier(name, f"it holds {what}", unique) if what else None


def _named(name: str, n_distinct: int, n_known: int, n_rows: int, *, first: bool) -> Identifier | None:
    """A column that is called an id, unless its values repeat as codes of groups do."""
    called = is_called_id(name)
    if n_distinct == n_rows and (called or may_be_called_id(name, first=first)):
        return Identifier(name, "its name says so and it differs in every row", unique=True)
    if called and n_distinct > MIN_DISTINCT_SHARE * n_known:
        return Identifier(name, "its name says so and it hardly repeats", unique=False)
    return None


def _counts(values: FloatArray) -> bool:
    """Whether values are 0, 1, 2, … or 1, 2, 3, … in the order of the rows."""
    return values[0] in (0.0, 1.0) and bool(np.array_equal(values, values[0] + np.arange(len(values))))


def _written_as(cells: Encoded) -> str:
    """What texts are that can only be names."""
    for pattern, what in ((_EMAIL, "e-mail addresses"), (_UUID, "universal identifiers")):
        if all(map(pattern.fullmatch, cells.levels)):
            return what
    return ""


def find_identifiers(
    columns: Columns,
    series: Mapping[str, pd.Series[Any]],
    text: Collection[str],
    mixed: Collection[str],
    candidates: Sequence[str],
    long: Collection[str] = (),
) -> list[Identifier]:
    """The columns that name rows, those first that do it best.

    Parameters
    ----------
    columns : Columns
    series : mapping of str to Series
        Columns that could be clustered by.
    text, mixed : collection of str
        Columns that could not, because they hold text, or text among numbers.
    candidates : sequence of str
        Columns whose use was not said, in the order of the file.
    long : collection of str
        Columns of numbers that :func:`are_long`.

    Returns
    -------
    list of Identifier
        Unique ones first, otherwise in the order of the file. A column that counts the rows under any name is only
        taken for one if something else is left to cluster by.
    """
    first = next((name for name in columns.names if name not in columns.row_names), None)
    found: list[Identifier] = []
    for name in candidates:
        identifier = None
        if name in long:
            unique = len({*columns.text(name)}) == columns.n_rows
            identifier = Identifier(name, f"it holds {LONG_NUMBERS}", unique)
        elif name in series and series[name].dtype == np.float64:
            identifier = identifier_of_numbers(name, series[name].to_numpy(), first=name == first)
        elif name in text or name in mixed:
            identifier = identifier_of_text(columns, name, first=name == first, mixed=name in mixed)
        if identifier is not None:
            found.append(identifier)
    left = [name for name in series if name not in {identifier.name for identifier in found}]
    if not left:
        counted = {name for name in series if not (is_called_id(name) or may_be_called_id(name, first=name == first))}
        found = [identifier for identifier in found if identifier.name not in counted]
    return sorted(found, key=lambda identifier: not identifier.unique)
