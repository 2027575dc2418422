"""Columns of cells that have a type each, as spreadsheets and JSON hold them: numbers, dates, truth values, text."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from kfrc.typing import FloatArray
from kfrc_app.tables.blanks import without
from kfrc_app.tables.columns import Columns, Encoded, NotNumbers, Numbers, in_quotes, quoted, shortened
from kfrc_app.tables.dates import UNIT
from kfrc_app.tables.delimited import TextColumns
from kfrc_app.tables.levels import LARGEST_EXACT, number_name
from kfrc_app.tables.numbers import Marks, is_missing, read_numbers

_HOUR = timedelta(hours=1)
_LOCAL_DATE = re.compile(r"^\s*\d{1,2}[-/.]\d{1,2}[-/.](?:\d{2}|\d{4})\b")
"""A date as text in the order of some country; a spreadsheet that knew this order would hold a date."""


class _Texts(Mapping[str, Any]):
    """Columns of text by name; that of numbers is made when it is asked for."""

    def __init__(self, made: Mapping[str, Any]) -> None:
        self._made = dict(made)

    def __getitem__(self, name: str) -> Any:
        if callable(self._made[name]):
            self._made[name] = self._made[name]()
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._made)

    def __len__(self) -> int:
        return len(self._made)


@dataclass(frozen=True, eq=False)
class CellColumns(Columns):
    """Columns of typed cells.

    Attributes
    ----------
    written : TextColumns
        Every cell as text.
    measured : mapping of str to ndarray of shape (n_rows,)
        The cells that are numbers, by name of their column; NaN for the others. Columns without any are not in it.
    typed : mapping of str to Series
        Columns that hold nothing but truth values, or nothing but dates.
    doubts : mapping of str to str
        Columns that cannot be used as they are, and why.
    plain : frozenset of str
        Columns that hold nothing but numbers.
    noticed : tuple of str
    """

    written: TextColumns
    measured: Mapping[str, FloatArray]
    typed: Mapping[str, pd.Series[Any]]
    doubts: Mapping[str, str]
    plain: frozenset[str] = frozenset()
    noticed: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return self.written.names

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.measured[min(self.plain)]) if self.plain else self.written.n_rows

    def text(self, name: str) -> NDArray[Any]:
        """Cells as text."""
        return self.written.text(name)

    def known(self, name: str) -> NDArray[np.bool_]:
        """Which cells are not missing."""
        return ~np.isnan(self.measured[name]) if name in self.plain else self.written.known(name)

    def encoded(self, name: str, keep: Collection[str] = ()) -> Encoded:
        """The different texts of a column."""
        return self.written.encoded(name, keep)

    def stored(self, name: str) -> pd.Series[Any] | None:
        """Truth values as levels and dates as dates; what numbers and text mean is for their values to show."""
        return self.typed.get(name)

    def doubt(self, name: str) -> str | None:
        """Why a column cannot be used as it is."""
        return self.doubts.get(name)

    def settled(self, decimal: str | None) -> CellColumns:
        """The same file with the decimal mark of its text known."""
        return replace(self, written=self.written.settled(decimal))

    def has_leading_zeros(self, name: str) -> bool:
        """Whether a column holds nothing but digits, somewhere, as text, with a zero too many before them."""
        return name not in self.plain and self.written.has_leading_zeros(name)

    def numbers(self, names: Sequence[str], *, aside: Collection[str] = ()) -> Numbers:
        """Columns as numbers: those that are numbers already, and text that is read as in a text file."""
        others = [name for name in self.names if name not in self.plain]
        telling = {name: self._text_cells(name) for name in others if name not in aside or name in names}
        found = read_numbers(telling, [name for name in names if name in telling], marks=self.written.marks)
        values, text = dict(found.values), dict(found.text)
        values |= {name: self.measured[name] for name in names if name in self.plain}
        for name in [name for name in names if name in telling and name in self.measured]:
            measured, cells = self.measured[name], telling[name]
            n_measured = int((~np.isnan(measured)).sum())
            # Beside 0.12 in a cell that shows 12%, the text 12% is a number of another size.
            percent = pc.match_substring(cells, "%").fill_null(False) if name in values else None
            if percent is not None and pc.any(percent).as_py():
                row = pc.index(percent, True).as_py()
                n_text = pc.sum(pc.cast(percent, pa.int64())).as_py()
                del values[name]
                text[name] = NotNumbers(n_measured + n_text, n_text, row + 1, cells[row].as_py())
            elif name in values:
                values[name] = np.where(np.isnan(measured), values[name], measured)
            else:
                text[name] = replace(text[name], n_known=text[name].n_known + n_measured)
        return replace(found, values=values, text=text)

    def _text_cells(self, name: str) -> Any:
        """The cells that are no numbers already; the others as missing."""
        cells = self.written.cells[name]
        if name not in self.measured:
            return cells
        return without(cells, pa.array(~np.isnan(self.measured[name])))


def collect_cells(
    cells: Mapping[str, Sequence[Any]], *, marks: Marks, truths: tuple[str, str], noticed: Sequence[str] = ()
) -> CellColumns:
    """Columns from Python values.

    Parameters
    ----------
    cells : mapping of str to sequence
        By name: str, int, float, bool, dates and times; None where there is nothing.
    marks : Marks
        What is known of the marks within numbers that are text.
    truths : tuple of str
        What false and true are called.
    noticed : sequence of str

    Returns
    -------
    CellColumns

    Examples
    --------
    >>> from kfrc_app.tables.cells import collect_cells
    >>> from kfrc_app.tables.numbers import Marks
    >>> columns = collect_cells({"x": [1.5, "€ 1.234,50", None]}, marks=Marks(), truths=("FALSE", "TRUE"))
    >>> columns.numbers(["x"]).values["x"].tolist()
    [1.5, 1234.5, nan]
    """
    texts: dict[str, Any] = {}
    measured: dict[str, FloatArray] = {}
    typed: dict[str, pd.Series[Any]] = {}
    doubts: dict[str, str] = {}
    plain: list[str] = []
    hours, days = [], []
    notes = list(noticed)
    for name, found in cells.items():
        column, n_dayless = _without_dayless(found)
        if n_dayless:
            notes.append(
                f"{n_dayless} cell(s) of {in_quotes(name)} are formatted as dates but hold 0 or less, which is not "
                "a day, and "
                "are taken as missing"
            )
        different = {*map(type, column)} - {type(None)}
        numbers = _plain_numbers(column) if different and different <= {int, float} else None
        if numbers is not None:
            measured[name], texts[name] = numbers, partial(_number_texts, numbers)
            plain.append(name)
            continue
        if different == {str}:
            texts[name] = pa.chunked_array([pc.utf8_trim_whitespace(pa.array(column, pa.string())).fill_null("")])
            continue
        cells_text = pa.chunked_array([[_text(cell, truths) for cell in column]], pa.string())
        texts[name] = cells_text
        kinds = {_kind(cell) for cell in column} - {None}
        blank = is_missing(cells_text).to_pylist()
        kinds_known = {_kind(cell) for cell, gone in zip(column, blank, strict=True) if not gone} - {None}
        if kinds_known == {bool}:
            typed[name] = _levels(column, truths)
        elif kinds_known == {date}:
            typed[name] = pd.Series(np.array([c if isinstance(c, date) else None for c in column], dtype=UNIT))
        elif kinds_known == {time}:
            hours.append(name)
            measured[name] = np.array([_hours(c) if isinstance(c, time) else np.nan for c in column])
        elif kinds_known in ({timedelta}, {time, timedelta}):  # LibreOffice: spans below a day are times
            days.append(name)
            measured[name] = np.array([_hours(c) / 24 if isinstance(c, (time, timedelta)) else np.nan for c in column])
        elif float in kinds:
            measured[name] = np.array([float(c) if _kind(c) is float else np.nan for c in column])
        if {date, str} <= kinds_known:
            local = next((c for c in column if isinstance(c, str) and _LOCAL_DATE.match(c)), None)
            if local is not None:
                doubts[name] = (
                    f"some of its cells are dates and some are text, such as '{shortened(local)}'. That happens where "
                    "a program took days for months: correct the cells in the spreadsheet, so that all are dates"
                )
        if {date, time} <= kinds_known:
            clock = next(c for c in column if isinstance(c, time))
            doubts[name] = (
                f"some of its cells are dates and some are times of day, such as '{clock}': correct the cells in the "
                "spreadsheet, so that all are dates"
            )
    if hours:
        notes.append(f"times of day are read as hours in {quoted(hours)}")
    if days:
        notes.append(f"spans of time are read as days in {quoted(days)}")
    written = TextColumns(_Texts(texts), marks, dot_is_decimal=False)
    return CellColumns(written, measured, typed, doubts, frozenset(plain), tuple(notes))


def _without_dayless(column: Sequence[Any]) -> tuple[Sequence[Any], int]:
    """A column of dates without cells such as 0 in their format, which the reader gives as midnight; and how many."""
    if time(0) not in column or not any(isinstance(cell, date) for cell in column):
        return column, 0
    dayless = [isinstance(cell, time) and cell == time(0) for cell in column]
    return [None if gone else cell for cell, gone in zip(column, dayless, strict=True)], sum(dayless)


def _plain_numbers(column: Sequence[Any]) -> FloatArray | None:
    """Numbers as floats; None if some have more digits than a float."""
    values = np.array(column, dtype=np.float64)
    return values if (np.abs(values[~np.isnan(values)]) < LARGEST_EXACT).all() else None


def _number_texts(values: FloatArray) -> Any:
    """What numbers are called, blank for those that are missing."""
    whole = values == np.floor(values)
    counts = pc.cast(pa.array(np.where(whole, values, 0).astype(np.int64)), pa.string())
    written = pa.array([None if known else repr(value) for value, known in zip(values.tolist(), whole, strict=True)])
    text = pc.if_else(pa.array(whole), counts, written.cast(pa.string()))
    return pa.chunked_array([pc.if_else(pa.array(np.isnan(values)), "", text)])


def cell_text(cell: Any, truths: tuple[str, str] = ("FALSE", "TRUE")) -> str:
    """A cell as text: the shortest that means the number, dates as 2024-01-31.

    Examples
    --------
    >>> from datetime import datetime
    >>> from kfrc_app.tables.cells import cell_text
    >>> cell_text(2.0), cell_text(" a "), cell_text(datetime(2024, 1, 31, 12)), cell_text(True), cell_text(None)
    ('2', 'a', '2024-01-31 12:00:00', 'TRUE', '')
    """
    return _text(cell, truths)


def _text(cell: Any, truths: tuple[str, str]) -> str:
    if cell is None:
        return ""
    if isinstance(cell, str):
        return cell.strip()
    if isinstance(cell, bool):
        return truths[cell]
    if isinstance(cell, float):
        return "" if np.isnan(cell) else number_name(cell) if np.isfinite(cell) else str(cell)
    return str(cell)


def _kind(cell: Any) -> type | None:
    """What a cell is: text, a number, a truth value, a date with or without a time, a time, a span of time, nothing."""
    if cell is None or cell == "":
        return None
    if isinstance(cell, (bool, str)):
        return type(cell)
    if isinstance(cell, (int, float)):
        return None if cell != cell else float
    return date if isinstance(cell, datetime) else type(cell)


def _hours(cell: time | timedelta) -> float:
    if isinstance(cell, timedelta):
        return cell / _HOUR
    return timedelta(hours=cell.hour, minutes=cell.minute, seconds=cell.second, microseconds=cell.microsecond) / _HOUR


def _levels(column: Sequence[Any], truths: tuple[str, str]) -> pd.Series[Any]:
    found = [truths[cell] if isinstance(cell, bool) else None for cell in column]
    used = [word for word in truths if word in found]
    return pd.Series(pd.Categorical(found, categories=used))
