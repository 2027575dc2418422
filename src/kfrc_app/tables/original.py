"""The whole file as a table again, column by column and only when asked: results are written beside it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kfrc_app.tables.columns import Columns, DataError
from kfrc_app.tables.date_columns import dated
from kfrc_app.tables.dates import NotDates, read_dates
from kfrc_app.tables.kinds import Kind
from kfrc_app.tables.numbers import looks_like_number
from kfrc_app.tables.understanding import kind_of

EXACT_DIGITS = 15
"""Digits up to which a number in floating point is the one that was written; spreadsheets keep as many."""

TEXT = "string[pyarrow]"
"""How text is held: ten times smaller than Python objects."""

_PLAIN = re.compile(rf"-?(?:0|[1-9][0-9]{{0,{EXACT_DIGITS - 1}}})")
_PLAIN_FRACTION = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?")
_NO_DIGIT = re.compile(r"[^0-9]")


@dataclass(frozen=True, eq=False)
class WholeFile:
    """All rows and columns of a file, of which a table uses a part.

    Attributes
    ----------
    columns : Columns
        The file; the marks within its numbers are settled.
    understood : DataFrame
        The columns that are clustered by, in all rows.
    names_of_rows : tuple of str
        Columns that tell rows or groups apart: whole numbers become numbers there, anything else stays as it was
        written.
    aside : tuple of str
        Columns that are neither clustered by nor have another role.
    """

    columns: Columns
    understood: pd.DataFrame
    names_of_rows: tuple[str, ...] = ()
    aside: tuple[str, ...] = ()

    def frame(self, names: Sequence[str] | None = None) -> pd.DataFrame:
        """Columns in all rows, by default every one in the order of the file."""
        names = self.columns.names if names is None else names
        found = {name: self.column(name) for name in names}
        return pd.DataFrame(found, index=pd.RangeIndex(self.columns.n_rows), copy=False)

    def column(self, name: str) -> pd.Series[Any]:
        """One column: float64, datetime64, or text; missing where it is."""
        if name in self.understood and not self._says_more(name):
            return _plain(self.understood[name])
        known = self.columns.known(name)
        if not known.any():
            return _as_text(np.full(len(known), "", dtype=object), known)
        if name in self.names_of_rows:
            cells = self.columns.text(name)
            return _as_numbers(cells, known) if _all(_PLAIN.fullmatch, cells[known]) else _as_text(cells, known)
        if self.columns.doubt(name) is not None:
            return _as_text(self.columns.text(name), known)
        stored = self.columns.stored(name)
        if stored is not None and kind_of(stored) is Kind.DATE:
            return stored
        cells = self.columns.text(name)
        numbers = self._numbers(name, cells[known])
        if numbers is not None:
            return numbers
        written = self.columns.encoded(name)
        dates = read_dates(written.levels)
        return _as_text(cells, known) if isinstance(dates, NotDates) else dated(written, dates)

    def _says_more(self, name: str) -> bool:
        """Whether the cells of a column of numbers say more than these: true and false, or too many digits."""
        series = self.understood[name]
        if series.dtype != np.float64:
            return False
        low, high = series.min(), series.max()
        if {low, high} <= {0.0, 1.0} and series.isin([0.0, 1.0, np.nan]).all():
            return not all(map(looks_like_number, self.columns.encoded(name).levels))
        return bool(max(-low, high) >= 10.0**EXACT_DIGITS)

    def _numbers(self, name: str, cells: NDArray[Any]) -> pd.Series[Any] | None:
        """A column as numbers, if that loses nothing: not of truth values, codes, or too many digits."""
        if not looks_like_number(cells[0]) or self.columns.has_leading_zeros(name):
            return None
        try:
            found = self.columns.numbers([name], aside={*self.columns.names} - {name}).values.get(name)
        except DataError:  # can be read in two ways
            return None
        exact = found is not None and _all(_has_few_digits, cells)
        return pd.Series(found) if exact else None


def plain_values(data: pd.DataFrame) -> pd.DataFrame:
    """Columns to cluster by as a file would hold them: levels as the numbers they are called, or as text.

    Examples
    --------
    >>> import pandas as pd
    >>> from kfrc_app.tables.original import plain_values
    >>> plain_values(pd.DataFrame({"a": pd.Categorical(["1", "2"]), "b": pd.Categorical(["x", None])})).values.tolist()
    [[1.0, 'x'], [2.0, <NA>]]
    """
    return pd.DataFrame({name: _plain(data[name].reset_index(drop=True)) for name in data.columns}, copy=False)


def _plain(series: pd.Series[Any]) -> pd.Series[Any]:
    return _names_as_values(series) if isinstance(series.dtype, pd.CategoricalDtype) else series


def _names_as_values(series: pd.Series[Any]) -> pd.Series[Any]:
    """Levels as the numbers they are called, or as text."""
    names = np.array([str(level) for level in series.cat.categories], dtype=object)
    codes = series.cat.codes.to_numpy()
    known = codes >= 0
    if _all(_PLAIN_FRACTION.fullmatch, names) and _all(_has_few_digits, names):
        return pd.Series(np.append(names.astype(np.float64), np.nan)[codes])
    return _as_text(np.append(names, "")[codes], known)


def _as_text(cells: NDArray[Any], known: NDArray[np.bool_]) -> pd.Series[Any]:
    return pd.Series(pd.array([cell if there else None for cell, there in zip(cells, known, strict=True)], dtype=TEXT))


def _as_numbers(cells: NDArray[Any], known: NDArray[np.bool_]) -> pd.Series[Any]:
    return pd.Series(np.where(known, cells, "nan").astype(np.float64))


def _has_few_digits(text: str) -> bool:
    return len(text) <= EXACT_DIGITS or len(_NO_DIGIT.sub("", text)) <= EXACT_DIGITS


def _all(test: Callable[[str], Any], cells: NDArray[Any]) -> bool:
    return all(map(test, cells))
