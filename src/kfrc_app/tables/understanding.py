"""Columns of a file in their types: as the user says, else as the file says, else as their cells show."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from kfrc._validation import short_name
from kfrc.typing import FloatArray
from kfrc_app.tables import levels
from kfrc_app.tables.codes import code_notes
from kfrc_app.tables.columns import (
    Columns,
    DataError,
    Encoded,
    NotNumbers,
    Numbers,
    counted,
    in_quotes,
    quoted,
    shortened,
)
from kfrc_app.tables.date_columns import as_dates, date_question, dated, told_wrong_dates
from kfrc_app.tables.dates import PIVOT, NotDates, has_short_years, read_dates
from kfrc_app.tables.guess import LABEL_NAMES, are_levels, kind_of_numbers, repeat_often
from kfrc_app.tables.identifiers import LONG_NUMBERS, are_long
from kfrc_app.tables.kinds import DAY_FIRST, Kind, Wish, written
from kfrc_app.tables.numbers import MISSING_WORDS, is_value
from kfrc_app.tables.scales import known_order

_MAX_TYPED = 20  # levels that are written out in a command
_TOLD = 6  # columns of a type that are told one by one
_MEASURED = re.compile(r"\W*[0-9]")  # such as 12.5 cm, <0.5 and ~3
_WORDS = {Kind.ORDINAL: "ordered", Kind.NOMINAL: "categories", Kind.DATE: "dates"}


@dataclass(eq=False)
class Understanding:
    """What the columns of a file turned out to be.

    Attributes
    ----------
    columns : Columns
    demanded : bool
        Whether the user named the columns: then one that cannot be used is a problem, not a remark.
    blank_is_level : bool
        Whether a blank is a level, so that one other level is enough.
    series : dict of str to Series
        Those that are used: float64, categories, or datetime64.
    guessed : list of str
        Those whose type neither the user nor the file said.
    text, long, mixed, doubtful, spoiled, empty, single : list or dict
        Those that are left out: names and remarks; numbers of too many digits; numbers with text among them; dates
        that can be read in two ways; cells that the file itself has mixed up; without any value; with a single one.
    codes : list of str
        Those of digits that are read as text for their leading zeros.
    blank_words : dict of str to dict of str to int
        Words that are taken for blanks in a column of text, and in how many cells they stand.
    short_years : list of str
        Those of dates with years of two digits.
    numbers : Numbers
        What the columns are that can be read as numbers.
    refused : dict of str to str
        Types that the user gives and the cells contradict, and how; only if that is no error.
    """

    columns: Columns
    demanded: bool
    blank_is_level: bool = False
    series: dict[str, pd.Series[Any]] = field(default_factory=dict)
    guessed: list[str] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    long: list[str] = field(default_factory=list)
    mixed: dict[str, NotNumbers] = field(default_factory=dict)
    doubtful: dict[str, str] = field(default_factory=dict)
    spoiled: dict[str, str] = field(default_factory=dict)
    empty: list[str] = field(default_factory=list)
    single: dict[str, pd.Series[Any]] = field(default_factory=dict)
    codes: list[str] = field(default_factory=list)
    blank_words: dict[str, dict[str, int]] = field(default_factory=dict)
    short_years: list[str] = field(default_factory=list)
    numbers: Numbers = field(default_factory=lambda: Numbers({}, {}))
    refused: dict[str, str] = field(default_factory=dict)

    @property
    def data(self) -> pd.DataFrame:
        """The columns that are used."""
        return pd.DataFrame(self.series)

    def keep(self, name: str, series: pd.Series[Any], *, guessed: bool = False) -> None:
        """Use a column, unless it says nothing; that a number does not vary is for the fit to say."""
        if series.isna().all():
            self.empty.append(name)
        elif series.dtype != np.float64 and series.nunique() < 2 and not self._tells_blanks(series):
            self.single[name] = series
        else:
            self.series[name] = series
            if guessed and series.dtype != np.float64:
                self.guessed.append(name)

    def forget(self, name: str) -> None:
        """Do not use a column, and say nothing of it: it has another role."""
        for found in (self.series, self.mixed, self.doubtful, self.spoiled, self.single, self.blank_words):
            found.pop(name, None)
        for names in (self.guessed, self.text, self.empty, self.codes, self.long):
            if name in names:
                names.remove(name)

    @property
    def lost(self) -> dict[str, str]:
        """Columns that say something and cannot be used, and why; not those that look like known groups."""
        found = {name: f"{text.n_text} of its {text.n_known} values are text" for name, text in self.mixed.items()}
        found |= {name: "names, codes or remarks" for name in self.text if name.lower() not in LABEL_NAMES}
        found |= {
            name: f"does the day or the month come first in {shortened(cell)}?" for name, cell in self.doubtful.items()
        }
        found |= self.spoiled
        return {name: found[name] for name in self.columns.names if name in found}

    def proposed(self, name: str) -> str:
        """A type for a column that was left out: measurements with text among them, or behind them, are no levels."""
        if name in self.doubtful:
            return f"{Kind.DATE}:{next(iter(DAY_FIRST))}"
        texts = self.columns.encoded(name).levels if name in self.text else ()
        measured = 2 * sum(_MEASURED.match(text) is not None for text in texts) >= len(texts)
        return Kind.DROP if measured or len(texts) > levels.MAX_LEVELS else Kind.NOMINAL

    def _tells_blanks(self, series: pd.Series[Any]) -> bool:
        """Whether a column of a single level has blanks that count as another one."""
        has_levels = isinstance(series.dtype, pd.CategoricalDtype)
        return self.blank_is_level and has_levels and bool(series.isna().any())

    @property
    def notes(self) -> list[str]:
        """What was left out, and what the others were taken for."""
        of_numbers = self.numbers.notes_on(self.series)
        alike = levels.alike_notes(self.series)
        return [*self._left_out(), *self._read_as_text(), *self._taken(), *alike, *code_notes(self.series), *of_numbers]

    def _read_as_text(self) -> list[str]:
        notes = []
        if self.codes:
            notes.append(
                f"digits with leading zeros are taken for codes, which are text, in {quoted(self.codes)}; "
                f"{written({self.codes[0]: Kind.NUMERIC})} reads numbers"
            )
        for name, words in self.blank_words.items():
            for word, n_cells in words.items():
                cells = f"{n_cells:,} cell{'s' if n_cells > 1 else ''}"
                notes.append(
                    f"{in_quotes(name)}: {in_quotes(word)} ({cells}) is taken as missing, as it is not among the "
                    "levels of --types"
                )
        return notes

    def _left_out(self) -> list[str]:
        notes = [
            f"column {in_quotes(name)} is left out: {found.n_text} of its {found.n_known} values are text, such as "
            f"{found.place}"
            for name, found in self.mixed.items()
        ]
        if self.text:
            groups = [name for name in self.text if name.lower() in LABEL_NAMES]
            hint = ""
            if groups:
                use = written({groups[-1]: Kind.NOMINAL})
                compare = f"--label-column {in_quotes(groups[-1])} compares them with the result"
                hint = f" (known groups? {compare}, {use} clusters by them)"
            notes.append(f"left out {counted(self.text, 'column')} of text: {quoted(self.text)}{hint}")
        if self.long:
            notes.append(
                f"left out {counted(self.long, 'column')} of {LONG_NUMBERS}, which are names: {quoted(self.long)}"
            )
        for name, cell in self.doubtful.items():
            notes.append(f"column {in_quotes(name)} is left out: {date_question(name, cell)}")
        notes.extend(f"column {in_quotes(name)} is left out: {reason}" for name, reason in self.spoiled.items())
        if self.short_years:
            notes.append(
                f"years of two digits are read as {1900 + PIVOT} to {1999 + PIVOT} in {quoted(self.short_years)}"
            )
        if self.empty:
            notes.append(f"left out {counted(self.empty, 'column')} without any value: {quoted(self.empty)}")
        if self.single:
            names = list(self.single)
            notes.append(f"left out {counted(names, 'column')} with a single value: {quoted(names)}")
        return notes

    def _taken(self) -> list[str]:
        notes = []
        for kind, word in _WORDS.items():
            names = [name for name in self.guessed if kind_of(self.series[name]) is kind]
            if len(names) > _TOLD:
                notes.append(f"{counted(names, 'column')} read as {word}: {quoted(names)}")
            else:
                notes.extend(f"{in_quotes(name)} read as {word}{_extent(self.series[name])}" for name in names)
        if notes:
            notes[-1] += "; --types NAME=TYPE changes what a column is read as"
        return notes


def kind_of(series: pd.Series[Any]) -> Kind:
    """The type of a column that was read.

    Examples
    --------
    >>> import pandas as pd
    >>> from kfrc_app.tables.understanding import kind_of
    >>> str(kind_of(pd.Series([1.0]))), str(kind_of(pd.Series(["a"], dtype="category")))
    ('numeric', 'nominal')
    """
    if isinstance(series.dtype, pd.CategoricalDtype):
        return Kind.ORDINAL if series.dtype.ordered else Kind.NOMINAL
    return Kind.DATE if pd.api.types.is_datetime64_any_dtype(series) else Kind.NUMERIC


def understand(
    columns: Columns,
    names: Sequence[str],
    wishes: Mapping[str, Wish],
    *,
    aside: Collection[str] = (),
    demanded: bool = False,
    blank_is_level: bool = False,
    strict: bool = True,
) -> Understanding:
    """Find the types of columns.

    Parameters
    ----------
    columns : Columns
    names : sequence of str
        The columns to use.
    wishes : mapping of str to Wish
        Types that the user gives.
    aside : collection of str
        Columns that are text, whatever they look like.
    demanded : bool, default=False
        Whether the user named the columns.
    blank_is_level : bool, default=False
        Whether a blank counts as a level.
    strict : bool, default=True
        Whether a type that contradicts the cells is an error, rather than a remark.

    Returns
    -------
    Understanding

    Raises
    ------
    DataError
        If a type contradicts the cells, a demanded column cannot be used, or a number can be read in two ways.
    """
    found = Understanding(columns, demanded, blank_is_level)
    as_text = {name for name, wish in wishes.items() if wish.kind in (Kind.NOMINAL, Kind.DATE) or wish.levels}
    numbers = columns.numbers([name for name in names if name not in as_text], aside={*aside, *as_text})
    found.numbers = numbers
    for name in names:
        values, text = numbers.values.get(name), numbers.text.get(name)
        spoiled = columns.doubt(name)
        if spoiled is not None:
            found.spoiled[name] = spoiled
            continue
        if name in wishes:
            try:
                found.keep(name, _as_wished(columns, name, wishes[name], values, text))
            except DataError as error:
                if strict:
                    raise
                found.refused[name] = str(error)
                continue
            words = _blank_words(columns, name, wishes[name])
            if words:
                found.blank_words[name] = words
            continue
        stored = columns.stored(name)
        if values is not None and are_long(columns, name, values):
            found.long.append(name)
        elif stored is not None:
            found.keep(name, stored)
        elif values is not None and columns.has_leading_zeros(name):
            found.codes.append(name)
            _guess_text(found, name)
        elif values is not None:
            found.keep(name, _guessed_number(columns, name, values), guessed=True)
        else:
            assert text is not None  # what is no number is text
            _guess_text(found, name, text)
    if demanded:
        _refuse_unusable(found)
    return found


def _guessed_number(columns: Columns, name: str, values: FloatArray) -> pd.Series[Any]:
    kind = kind_of_numbers(values)
    if kind is Kind.NUMERIC:
        return pd.Series(values)
    if kind is Kind.NOMINAL:
        words = columns.encoded(name)
        if len(words.levels) == 2:  # true and false rather than 1 and 0
            return levels.of_text(name, words)
    return levels.of_numbers(name, values, ordered=kind is Kind.ORDINAL)


def text_cells(columns: Columns, name: str, named: Collection[str] = ()) -> Encoded:
    """The different texts of a column, in which words such as None are texts unless all others are numbers.

    Parameters
    ----------
    columns : Columns
    name : str
    named : collection of str
        Levels that were named: each of them is one, whatever it looks like.
    """
    plain = columns.encoded(name, keep=named)
    if all(is_value(level) for level in plain.levels if level not in MISSING_WORDS):
        return plain
    return columns.encoded(name, keep={*named, *MISSING_WORDS})


def _guess_text(found: Understanding, name: str, text: NotNumbers | None = None) -> None:
    """Levels, dates or names; ``text`` says how many of the cells are no numbers, None that they are codes."""
    written_dates = found.columns.encoded(name)
    dates = read_dates(written_dates.levels)
    cells = text_cells(found.columns, name)
    named_as_label = name.lower() in LABEL_NAMES and not found.demanded
    if not isinstance(dates, NotDates):
        found.keep(name, dated(written_dates, dates), guessed=True)
        if has_short_years(written_dates.levels):
            found.short_years.append(name)
    elif dates.doubtful:
        found.doubtful[name] = dates.cell
    elif dates.contradicts or (dates.others and (dates.impossible or not repeat_often(cells))):
        found.spoiled[name] = told_wrong_dates(written_dates, dates)
    elif text is not None and 2 * text.n_text <= text.n_known and not repeat_often(cells):
        found.mixed[name] = text
    elif named_as_label or (len(cells.levels) > 1 and not are_levels(cells)):
        found.text.append(name)
    else:
        scale = _as_scale(name, cells)
        found.keep(name, levels.of_text(name, cells) if scale is None else scale, guessed=True)


def _as_scale(name: str, cells: Encoded) -> pd.Series[Any] | None:
    """Answers in the order that everybody knows; None if it is not known."""
    order = known_order(cells.levels)
    return None if order is None else levels.in_order(name, cells, order)


def _as_wished(
    columns: Columns, name: str, wish: Wish, values: FloatArray | None, text: NotNumbers | None
) -> pd.Series[Any]:
    """A column in the type that the user gives it."""
    stored = columns.stored(name)
    if wish.kind is Kind.NUMERIC:
        if values is not None:
            return pd.Series(values)
        if stored is not None and stored.dtype == np.float64:
            return stored
        assert text is not None
        raise DataError(f"column {in_quotes(name)} cannot be read as numbers: it has {text.place}")
    if wish.kind is Kind.DATE:
        return (
            stored if stored is not None and kind_of(stored) is Kind.DATE else as_dates(columns, name, wish.day_first)
        )
    if wish.kind is Kind.NOMINAL:
        if stored is not None and stored.dtype == np.float64 and stored.abs().max() < levels.LARGEST_EXACT:
            return levels.of_numbers(name, stored.to_numpy(), ordered=False)
        return levels.of_text(name, text_cells(columns, name))
    if wish.levels:
        cells = text_cells(columns, name, wish.levels)
        return levels.in_order(name, cells.without({*MISSING_WORDS} - {*wish.levels}), wish.levels)
    if stored is not None and kind_of(stored) is Kind.ORDINAL:
        return stored
    if values is None:
        cells = text_cells(columns, name)
        scale = _as_scale(name, cells)
        if scale is None:
            raise DataError(_order_question(name, sorted(cells.levels)))
        return scale
    return levels.of_numbers(name, values, ordered=True)


def _order_question(name: str, found: Sequence[str]) -> str:
    """What to type for the order of text: all its levels, or the pattern if they are many."""
    said = f"column {in_quotes(name)} holds text, so that its order must be said"
    typed = short_name(name)
    if len(found) > _MAX_TYPED:
        return f"{said}: --types '{typed}=ordinal:LOWEST<...<HIGHEST' names all of its {len(found)} levels"
    order = "<".join(short_name(level) for level in found)
    command = f"--types '{typed}=ordinal:{order}'"
    return f"{said}: {command}, with these {len(found)} levels put in order, from the lowest to the highest"


def _blank_words(columns: Columns, name: str, wish: Wish) -> dict[str, int]:
    """Words in a column of text that are no levels because the user named others, and their cells."""
    if not wish.levels:
        return {}
    cells = text_cells(columns, name, wish.levels)
    words = [level for level in cells.levels if level in MISSING_WORDS and level not in wish.levels]
    return {word: int((cells.codes == cells.levels.index(word)).sum()) for word in words}


def _extent(series: pd.Series[Any]) -> str:
    """What there is in a column: its levels, or its first and last day."""
    if kind_of(series) is Kind.DATE:
        return f" ({series.min():%Y-%m-%d} to {series.max():%Y-%m-%d})"
    names = [str(level) for level in series.cat.categories]
    return f", {counted(names, 'level')} ({levels.shown(names, ordered=bool(series.dtype.ordered))})"


def _refuse_unusable(found: Understanding) -> None:
    """Stop at a column that was asked for by name and cannot be used."""
    for name, text in found.mixed.items():
        raise DataError(
            f"column {in_quotes(name)} holds numbers, but {text.n_text} of its {text.n_known} values are text, such as "
            f"{text.place}: correct them, put blanks there, or leave the column out"
        )
    for name in found.text:
        cells = text_cells(found.columns, name)
        nominal = f", or add {written({name: Kind.NOMINAL})}" if found.proposed(name) == Kind.NOMINAL else ""
        numbers = f", or add {written({name: Kind.NUMERIC})} if they are numbers" if name in found.codes else ""
        raise DataError(
            f"column {in_quotes(name)} has {len(cells.levels)} different texts in {cells.n_known} rows, as names "
            "and remarks "
            f"do: leave it out{nominal}{numbers}"
        )
    for name in found.long:
        raise DataError(
            f"column {in_quotes(name)} holds {LONG_NUMBERS}, which are names: leave it out, or add "
            f"{written({name: Kind.NOMINAL})}, or {written({name: Kind.NUMERIC})} if they are measurements"
        )
    for name, reason in found.spoiled.items():
        raise DataError(f"column {in_quotes(name)}: {reason}")
    for name, cell in found.doubtful.items():
        raise DataError(f"column {in_quotes(name)}: {date_question(name, cell)}")
    for name in found.empty:
        raise DataError(f"column {in_quotes(name)} has no value at all: leave it out")
