"""The table that was clustered: types of its columns, what is missing in them, and how much the rows weigh."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kfrc.typing import FloatArray
from kfrc_app.facts.text import DASH, clean, number
from kfrc_app.tables import Kind, kind_of

_MICROSECONDS_PER_DAY = 86_400_000_000
_HOURS_BELOW = 2.0
"""Days from the first date to the last below which dates are told with their hour."""


@dataclass(frozen=True)
class TableColumn:
    """One column of the table.

    Attributes
    ----------
    name : str
    kind : Kind
    levels : tuple of str
        Of a column that has levels, the lowest first if they have an order.
    n_missing : int
        Rows without a value.
    missing : float
        Their share of the rows, whatever these weigh.
    with_hours : bool
        Whether dates are told with their hour.
    """

    name: str
    kind: Kind
    levels: tuple[str, ...]
    n_missing: int
    missing: float
    with_hours: bool = False

    def show(self, value: float | None) -> str:
        """A value of :func:`as_numbers` as people write it: a number, a day, or the name of a level."""
        if value is None or np.isnan(value):
            return DASH
        if self.levels:
            return self._show_level(value)
        if self.kind is Kind.DATE:
            day = np.datetime64(round(value * _MICROSECONDS_PER_DAY), "us")
            return str(np.datetime_as_string(day, unit="h" if self.with_hours else "D")).replace("T", " ")
        return number(value)

    def _show_level(self, value: float) -> str:
        """The name of a level; between two of them the number in the middle if they are numbers, else both."""
        low, high = self.levels[math.floor(value)], self.levels[math.ceil(value)]
        if low == high:
            return clean(low)
        try:
            return number(0.5 * (float(low) + float(high)))
        except ValueError:
            return f"{clean(low)} to {clean(high)}"


@dataclass(frozen=True)
class TableFacts:
    """What there is to cluster by.

    Attributes
    ----------
    columns : tuple of TableColumn
        In the order of the table.
    n_rows : int
    n_incomplete, n_empty : int
        Rows in which something is missing, and those of which nothing is known.
    missing : float
        Share of all entries, whatever the rows weigh.
    total_weight : float or None
        Sum of the weights; None without weights.
    n_weightless : int
        Rows of weight zero.
    """

    columns: tuple[TableColumn, ...]
    n_rows: int
    n_incomplete: int
    n_empty: int
    missing: float
    total_weight: float | None
    n_weightless: int

    @property
    def is_plain(self) -> bool:
        """Whether all columns are numbers."""
        return all(column.kind is Kind.NUMERIC for column in self.columns)

    @property
    def incomplete(self) -> tuple[TableColumn, ...]:
        """The columns with gaps, the largest share first."""
        gaps = [column for column in self.columns if column.n_missing]
        return tuple(sorted(gaps, key=lambda column: -column.missing))

    @property
    def kinds(self) -> dict[Kind, int]:
        """How many columns there are of each type."""
        return {kind: n for kind in Kind if (n := sum(column.kind is kind for column in self.columns))}


def table_facts(data: pd.DataFrame, weights: FloatArray | None = None) -> TableFacts:
    """Types, gaps and weights of a table.

    Parameters
    ----------
    data : DataFrame of shape (n_samples, n_features)
        As :func:`typed_frame` returns it.
    weights : ndarray of shape (n_samples,), optional

    Examples
    --------
    >>> import pandas as pd
    >>> from kfrc_app.facts.table import table_facts
    >>> found = table_facts(pd.DataFrame({"x": [1.0, None], "c": pd.Categorical(["a", "b"])}))
    >>> found.n_incomplete, found.missing, [str(column.kind) for column in found.columns]
    (1, 0.25, ['numeric', 'nominal'])
    """
    absent = data.isna().to_numpy()
    shares = absent.mean(axis=0) if len(data) else np.zeros(data.shape[1])
    columns = tuple(
        TableColumn(
            str(data.columns[j]),
            kind_of(data.iloc[:, j]),
            _levels(data.iloc[:, j]),
            int(absent[:, j].sum()),
            float(shares[j]),
            _with_hours(data.iloc[:, j]),
        )
        for j in range(data.shape[1])
    )
    return TableFacts(
        columns,
        n_rows=len(data),
        n_incomplete=int(absent.any(axis=1).sum()),
        n_empty=int(absent.all(axis=1).sum()),
        missing=float(shares.mean()) if len(shares) else 0.0,
        total_weight=None if weights is None else float(weights.sum()),
        n_weightless=0 if weights is None else int((weights == 0).sum()),
    )


def raw_table(data: Any) -> pd.DataFrame | NDArray[Any]:
    """A table of any library with its values as they are: a DataFrame, or an array."""
    if isinstance(data, pd.DataFrame):
        return data
    return data.to_pandas() if hasattr(data, "to_pandas") else np.asarray(data)


def typed_frame(data: Any, names: Any = None) -> pd.DataFrame:
    """A table of any library with the types that the facts speak of: floats, categories named by text, and dates.

    Parameters
    ----------
    data : DataFrame, polars or Arrow table, or array-like of shape (n_samples, n_features)
    names : sequence of str, optional
        Of columns that have none.
    """
    own = getattr(data, "columns", names)
    data = raw_table(data)
    if not isinstance(data, pd.DataFrame):
        X = data
        if own is None or len(own) != X.shape[1]:
            own = [f"x{j}" for j in range(X.shape[1])]
        data = pd.DataFrame(X, columns=[str(name) for name in own])
    if all(dtype == np.float64 for dtype in data.dtypes):
        return data
    series = [_typed(data.iloc[:, j]) for j in range(data.shape[1])]
    return pd.concat(series, axis=1, keys=[str(name) for name in data.columns])


def as_numbers(series: pd.Series[Any]) -> FloatArray:
    """A typed column as numbers: dates in days, levels by their position; NaN where something is missing."""
    if isinstance(series.dtype, pd.CategoricalDtype):
        codes = series.cat.codes.to_numpy(dtype=np.float64)
        return np.where(codes < 0, np.nan, codes)
    if kind_of(series) is Kind.DATE:
        times = series.to_numpy(dtype="datetime64[us]")
        return np.where(np.isnat(times), np.nan, times.astype(np.int64) / _MICROSECONDS_PER_DAY)
    return series.to_numpy(dtype=np.float64, na_value=np.nan)


def _typed(series: pd.Series[Any]) -> pd.Series[Any]:
    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return series.cat.rename_categories([str(level) for level in dtype.categories])
    if pd.api.types.is_datetime64_any_dtype(dtype):
        return series if getattr(dtype, "tz", None) is None else series.dt.tz_convert(None)
    if pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_bool_dtype(dtype):
        return series.astype(np.float64)
    if pd.api.types.infer_dtype(series, skipna=True) in ("floating", "integer", "mixed-integer-float", "decimal"):
        return series.astype(np.float64)
    if pd.api.types.infer_dtype(series, skipna=True) in ("date", "datetime", "datetime64"):
        return pd.to_datetime(series)
    known = series.notna()
    return pd.Series(pd.Categorical(series.astype(object).where(known, None).map(str).where(known, None)), series.index)


def _levels(series: pd.Series[Any]) -> tuple[str, ...]:
    return tuple(map(str, series.cat.categories)) if isinstance(series.dtype, pd.CategoricalDtype) else ()


def _with_hours(series: pd.Series[Any]) -> bool:
    """Whether days alone would not tell dates apart."""
    if kind_of(series) is not Kind.DATE:
        return False
    days = as_numbers(series)
    days = days[~np.isnan(days)]
    return len(days) > 0 and float(np.ptp(days)) < _HOURS_BELOW and bool((days % 1 > 0).any())
