"""Numbers as people write them: the marks of a file are decided from all its cells, and a doubt becomes a question."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kfrc.typing import FloatArray
from kfrc_app.tables.blanks import without
from kfrc_app.tables.columns import NotNumbers, Numbers, in_quotes, shortened
from kfrc_app.tables.dressing import Dressed, undress, undressing_remarks
from kfrc_app.tables.questions import Choice, OpenQuestionError, Question

DECIMAL_MARKS = (",", ".")
THOUSANDS_MARKS = (",", ".", " ", "'")
"""A space stands for every kind of space, an apostrophe for both of its forms."""

MISSING = (
    "", "?", ".", "..", "...", "…", "-", "–", "—", "---", ":", "na", "Na", "NA", "N/A", "n/a", "N.A.", "n.a.", "n.d.",
    "k.A.", "k. A.", "#N/A", "#N/A N/A", "#NA", "<NA>", "nan", "NaN", "NAN", "-nan", "-NaN", "null", "NULL", "None",
    "missing", "\\N", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!",
    "#NULL!", "#NV", "#WERT!", "#BEZUG!", "#ZAHL!", "#VALEUR!", "#NOMBRE!", "#NOM?",
)  # fmt: skip
"""The usual marks for a missing value."""

MISSING_WORDS = ("None", "none", "NONE", "missing", "Missing", "MISSING")
"""Words that may mean a missing value or, among other text, an answer."""

_TRUE, _FALSE = pa.array(["True", "TRUE", "true"]), pa.array(["False", "FALSE", "false"])

_CLASSES = {",": ",", ".": "[.]", " ": "[ \u00a0\u2007\u2009\u202f]", "'": "['\u2019]"}
_OTHER = {",": ".", ".": ","}
_MINUS = "\u2212"
_SIGN = f"^[+{_MINUS}-]?"
_EXPONENT = f"[eE][+{_MINUS}-]?[0-9]+"
_INFINITY = "[iI][nN][fF](?:[iI][nN][iI][tT][yY])?"
_WORDS = {",": "comma", ".": "dot", " ": "space", "'": "apostrophe"}


@dataclass(frozen=True)
class Marks:
    """Marks within numbers; None is for the file to show.

    Attributes
    ----------
    decimal : {",", "."} or None
    thousands : {",", ".", " ", "'"} or None
    """

    decimal: str | None = None
    thousands: str | None = None

    def __post_init__(self) -> None:
        for value, allowed in ((self.decimal, DECIMAL_MARKS), (self.thousands, THOUSANDS_MARKS)):
            if value is not None and value not in allowed:
                raise ValueError(f"{value!r} is not one of {' '.join(repr(mark) for mark in allowed)}")
        if self.decimal is not None and self.decimal == self.thousands:
            raise ValueError("the decimal mark and the thousands mark must differ")


@dataclass(frozen=True)
class _Cell:
    """A cell and where it stands."""

    column: str
    row: int
    text: str

    def __str__(self) -> str:
        return f"'{shortened(self.text)}' (column {in_quotes(self.column)}, row {self.row})"


@dataclass
class _Evidence:
    """The first cell that shows each mark in each role, and the first that leaves it open."""

    decimal: dict[str, _Cell] = field(default_factory=dict)
    thousands: dict[str, _Cell] = field(default_factory=dict)
    doubtful: dict[str, _Cell] = field(default_factory=dict)


@dataclass(frozen=True)
class _Reading:
    """A decimal mark, and the marks that may stand between thousands."""

    decimal: str
    thousands: tuple[str, ...]
    uneven: bool = False

    @property
    def pattern(self) -> str:
        """Everything that is a number in this reading.

        Groups have three digits. Only where the mark was given, or amounts show it, may inner ones have two, as in
        12,34,567: elsewhere such a cell could as well be a list.
        """
        d = _CLASSES[self.decimal]
        fraction = f"(?:{d}[0-9]*)?"
        forms = [f"(?:[0-9]+{fraction}|{d}[0-9]+)(?:{_EXPONENT})?", _INFINITY]
        for mark in self.thousands:
            inner = f"(?:{_CLASSES[mark]}[0-9]{{2,3}})*" if self.uneven else ""
            forms.append(f"[1-9][0-9]{{0,2}}{inner}(?:{_CLASSES[mark]}[0-9]{{3}})+{fraction}")
        return f"{_SIGN}(?:{'|'.join(forms)})$"

    def parse(self, cells: Any) -> Any:
        """Cells that fit the pattern as floats."""
        between = "|".join(_CLASSES[mark] for mark in self.thousands)
        plain = pc.replace_substring_regex(cells, between, "") if between else cells
        plain = pc.replace_substring(pc.replace_substring(plain, self.decimal, "."), _MINUS, "-")
        return pc.cast(plain, pa.float64())


def _others(decimal: str) -> tuple[str, ...]:
    return tuple(mark for mark in THOUSANDS_MARKS if mark != decimal)


def _shows_decimal(mark: str) -> str:
    """One mark, and not between one to three digits and exactly three; or a number with other marks before it."""
    d, others = _CLASSES[mark], [_CLASSES[other] for other in _others(mark)]
    forms = [f"(?:|0[0-9]*|[0-9]{{4,}}){d}[0-9]*", f"[0-9]+{d}(?:[0-9]{{0,2}}|[0-9]{{4,}})"]
    forms.append(f"[0-9]*{d}[0-9]*{_EXPONENT}")
    forms += [f"[1-9][0-9]{{0,2}}(?:{other}[0-9]{{3}})+{d}[0-9]*" for other in others]
    return f"{_SIGN}(?:{'|'.join(forms)})$"


def _shows_thousands(mark: str) -> str:
    """The mark twice, or before a decimal mark; a space or an apostrophe has no other meaning."""
    t = _CLASSES[mark]
    decimals = "".join(other for other in DECIMAL_MARKS if other != mark)
    least = 2 if mark in DECIMAL_MARKS else 1
    forms = [f"(?:{t}[0-9]{{3}}){{{least},}}", f"(?:{t}[0-9]{{3}})+[{decimals}][0-9]*"]
    return f"{_SIGN}[1-9][0-9]{{0,2}}(?:{'|'.join(forms)})$"


_NUMBER = "|".join(f"(?:{_Reading(mark, _others(mark)).pattern})" for mark in DECIMAL_MARKS)
_LOOSE = "|".join(f"(?:{_Reading(mark, _others(mark), uneven=True).pattern})" for mark in DECIMAL_MARKS)
_INDIAN = f"{_SIGN}[1-9][0-9]?(?:,[0-9]{{2}})+,[0-9]{{3}}"
_DECIMAL = {mark: _shows_decimal(mark) for mark in DECIMAL_MARKS}
_THOUSANDS = {mark: _shows_thousands(mark) for mark in THOUSANDS_MARKS}
_DOUBTFUL = {mark: f"{_SIGN}[1-9][0-9]{{0,2}}{_CLASSES[mark]}[0-9]{{3}}$" for mark in DECIMAL_MARKS}
QUOTED_DOUBTFUL = rf'"[\s+{_MINUS}$€£¥(-]*[1-9][0-9]{{0,2}}[.][0-9]{{3}}[\s%€$£)-]*"'
"""A dot before three digits in quotation marks: the one dot that a comma-separated file leaves open."""


def is_missing(cells: Any, keep: Collection[str] = ()) -> Any:
    """Which cells of an Arrow array of strings are blank or a usual mark for a missing value that is not kept."""
    return pc.is_in(cells, value_set=pa.array([mark for mark in MISSING if mark not in keep], pa.string()))


def is_value(text: str) -> bool:
    """Whether a text is a number in some reading, or a truth value."""
    return looks_like_number(text) or text.lower() in ("true", "false")


def looks_like_number(text: str) -> bool:
    """Whether a text is a number in some reading.

    Examples
    --------
    >>> from kfrc_app.tables.numbers import looks_like_number
    >>> [looks_like_number(text) for text in ("1,5", "1.234.567", "-3e5", "1.2.2020", "5 %", "")]
    [True, True, True, False, False, False]
    """
    return re.search(_NUMBER, text.strip()) is not None


def _plain(cells: Any) -> Any:
    """Floats, if all cells are such as any program writes them; otherwise None."""
    try:
        return pc.cast(cells, pa.float64())
    except pa.ArrowInvalid:
        return None


@dataclass(frozen=True)
class _Column:
    """Cells, missing ones null; ``plain`` are their values if they are numbers without any mark but a decimal dot.

    Signs of currencies and the like are taken off, and ``dressed`` tells which.
    """

    name: str
    cells: Any
    plain: Any
    dressed: Dressed | None = None

    @classmethod
    def of(cls, name: str, cells: Any) -> _Column:
        cells = without(cells, is_missing(cells))
        found = cls(name, cells, _plain(cells))
        if found.plain is not None or found.fits(_NUMBER):
            return found
        dressed = undress(cells)
        if dressed is None:
            return found
        bare = cls(name, dressed.cells, _plain(dressed.cells), dressed)
        return bare if bare.fits(_LOOSE) else found

    @property
    def n_known(self) -> int:
        return len(self.cells) - self.cells.null_count

    def fits(self, pattern: str) -> bool:
        """Whether every known cell fits."""
        return pc.all(pc.match_substring_regex(self.cells, pattern)).as_py() is not False

    def first(self, pattern: str, *, fitting: bool = True) -> _Cell | None:
        """The first cell that fits, or that does not."""
        row = pc.index(pc.match_substring_regex(self.cells, pattern), fitting).as_py()
        return None if row < 0 else _Cell(self.name, row + 1, self.cells[row].as_py())


def read_numbers(
    columns: Mapping[str, Any], wanted: Sequence[str], *, marks: Marks | None = None, dot_is_decimal: bool = False
) -> Numbers:
    """Turn columns of text into numbers.

    Parameters
    ----------
    columns : mapping of str to Arrow array of strings
        All columns of the file that may hold numbers; those that do tell together which marks the file uses.
    wanted : sequence of str
        The columns to convert.
    marks : Marks, optional
        What is known of the marks already.
    dot_is_decimal : bool, default=False
        Whether a dot can only be a decimal mark where nothing speaks against it, as between separating commas.

    Returns
    -------
    Numbers

    Raises
    ------
    DataError
        If a wanted number can be read in two ways, or cells contradict each other; the message is a question.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from kfrc_app.tables.numbers import read_numbers
    >>> columns = {"x": pa.array(["1.234", "999"]), "y": pa.array(["1,5", "NA"])}
    >>> {name: values.tolist() for name, values in read_numbers(columns, ["x", "y"]).values.items()}
    {'x': [1234.0, 999.0], 'y': [1.5, nan]}
    """
    prepared = {name: _Column.of(name, cells) for name, cells in columns.items()}
    reading = _decide(prepared.values(), {*wanted}, marks or Marks(), dot_is_decimal=dot_is_decimal)
    values: dict[str, FloatArray] = {}
    text: dict[str, NotNumbers] = {}
    commas, thousands = [], []
    dressed: dict[str, Dressed] = {}
    for name in wanted:
        column = prepared[name]
        found = _convert(column, reading)
        if isinstance(found, NotNumbers):
            text[name] = found
            continue
        values[name] = found
        if column.dressed is not None:
            dressed[name] = column.dressed
        if column.plain is None or reading.decimal == ",":
            if reading.decimal == "," and column.first(","):
                commas.append(name)
            if any(column.first(_CLASSES[mark]) for mark in reading.thousands):
                thousands.append(name)
    remarks = (
        ("decimal commas were read as such in ", tuple(commas), ""),
        ("marks between thousands were read as such in ", tuple(thousands), ""),
        *undressing_remarks(dressed),
    )
    return Numbers(values, text, remarks, reading.decimal)


def _convert(column: _Column, reading: _Reading) -> FloatArray | NotNumbers:
    if column.plain is not None and reading.decimal == ".":
        return _as_floats(column.plain)
    wrong = column.first(reading.pattern, fitting=False)
    if wrong is None:
        return _as_floats(reading.parse(column.cells))
    truths = pc.is_in(column.cells, value_set=_TRUE)
    if pc.all(pc.or_(truths, pc.is_in(column.cells, value_set=_FALSE))).as_py():
        return _as_floats(pc.cast(pc.cast(truths, pa.int8()), pa.float64()))
    n_right = pc.sum(pc.cast(pc.match_substring_regex(column.cells, reading.pattern), pa.int64())).as_py() or 0
    return NotNumbers(column.n_known, column.n_known - n_right, wrong.row, wrong.text)


def _as_floats(values: Any) -> FloatArray:
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    return np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.float64)


def _decide(columns: Iterable[_Column], wanted: set[str], marks: Marks, *, dot_is_decimal: bool) -> _Reading:
    """The marks of the file: as given, else as its cells show."""
    if marks.decimal is None and marks.thousands in DECIMAL_MARKS:
        marks = Marks(_OTHER[marks.thousands], marks.thousands)
    if marks.decimal is not None:
        thousands = _others(marks.decimal) if marks.thousands is None else (marks.thousands,)
        return _Reading(marks.decimal, thousands, uneven=marks.thousands is not None)
    # Cells with other marks come first: without them, commas between columns leave nothing to decide.
    numeric = [column for column in columns if column.plain is None and column.n_known and column.fits(_NUMBER)]
    indian = next((cell for cell in map(_indian_amount, columns) if cell), None)
    if dot_is_decimal and not numeric and indian is None:
        return _Reading(".", _others("."))
    numeric += [column for column in columns if column.plain is not None]
    evidence = _gather(numeric)
    if indian is not None:
        evidence.thousands.setdefault(",", indian)
    if marks.thousands is not None:
        evidence.thousands = {marks.thousands: _Cell("", 0, "")}
    found = _weigh(evidence, numeric, wanted, dot_is_decimal=dot_is_decimal)
    return replace(found, uneven=indian is not None and "," in found.thousands)


def _indian_amount(column: _Column) -> _Cell | None:
    """A cell such as 12,34,567.50, if all of its column are amounts: with a currency, or some with a decimal dot."""
    if column.plain is not None or not column.n_known or column.fits(_NUMBER) or not column.fits(_LOOSE):
        return None
    is_amount = bool(column.dressed and column.dressed.sign) or column.first(f"{_INDIAN}[.][0-9]+$") is not None
    return column.first(f"{_INDIAN}(?:[.][0-9]*)?$") if is_amount else None


def _gather(columns: Iterable[_Column]) -> _Evidence:
    found = _Evidence()
    for column in columns:
        roles: list[tuple[dict[str, _Cell], Mapping[str, str]]] = [(found.decimal, _DECIMAL)]
        if column.plain is None:
            roles.append((found.thousands, _THOUSANDS))
        roles.append((found.doubtful, _DOUBTFUL))
        for cells, patterns in roles:
            for mark, pattern in patterns.items():
                settled = mark in cells or (cells is found.doubtful and mark in found.decimal)
                if settled or (column.plain is not None and mark != "."):
                    continue
                cell = column.first(pattern)
                if cell is not None:
                    cells[mark] = cell
    return found


def _weigh(evidence: _Evidence, columns: Sequence[_Column], wanted: set[str], *, dot_is_decimal: bool) -> _Reading:
    _refuse_contradictions(evidence)
    shown = tuple(evidence.thousands)
    if evidence.decimal:
        decimal = next(iter(evidence.decimal))
        return _Reading(decimal, shown or _others(decimal))
    if shown and shown[0] in DECIMAL_MARKS:
        return _Reading(_OTHER[shown[0]], shown)
    if shown and len(evidence.doubtful) == 1:  # thousands have their mark, so this one is decimal
        return _Reading(next(iter(evidence.doubtful)), shown)
    open_marks = set(evidence.doubtful) - ({"."} if dot_is_decimal and "," not in evidence.doubtful else set())
    for column in columns:
        for mark in open_marks:
            cell = column.first(_DOUBTFUL[mark]) if column.name in wanted else None
            if cell is not None:
                raise _question(cell, mark)
    return _Reading(".", shown or _others("."))


def _refuse_contradictions(evidence: _Evidence) -> None:
    pair: list[_Cell] = []
    if len(evidence.decimal) > 1:
        pair = list(evidence.decimal.values())
        what = "show different decimal marks"
    elif len(evidence.thousands) > 1:
        pair = list(evidence.thousands.values())[:2]
        what = "show different marks between thousands"
    else:
        for mark in evidence.decimal.keys() & evidence.thousands.keys():
            pair = [evidence.decimal[mark], evidence.thousands[mark]]
            what = f"show the {_WORDS[mark]} as decimal mark and between thousands"
    if pair:
        asked = f"how are numbers written in this file? {pair[0]} and {pair[1]} {what}"
        choices = tuple(Choice(f"the {_WORDS[mark]} is the decimal mark", decimal=mark) for mark in DECIMAL_MARKS)
        raise OpenQuestionError(
            f'{asked}: say which is right with --decimal "," or --decimal "." and, if need be, --thousands',
            Question(asked, choices),
        )


def _question(cell: _Cell, mark: str) -> OpenQuestionError:
    fraction, digits = cell.text.replace(mark, "."), cell.text.replace(mark, "")
    asked = f"column {in_quotes(cell.column)}, row {cell.row}: is '{shortened(cell.text)}' {fraction} or {digits}?"
    choices = (
        Choice(f"{fraction}: the {_WORDS[mark]} is the decimal mark", decimal=mark),
        Choice(f"{digits}: the {_WORDS[mark]} stands between thousands", thousands=mark),
    )
    return OpenQuestionError(
        f'{asked} Nothing else in the file tells: add --decimal "{mark}" for the first, --thousands "{mark}" for the '
        "second",
        Question(asked, choices, cell.column),
    )
