"""A table in standard units: values of columns of any type, blanks among them, and weights of the rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from kfrc.columns.base import Column
from kfrc.typing import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Table:
    """Rows with columns of any type.

    Attributes
    ----------
    values : ndarray of shape (n_samples, n_columns)
        Standardized numbers, codes of levels; NaN where nothing is known.
    columns : tuple of Column
        With their scales.
    weights : ndarray of shape (n_samples,) or None
        How many rows each row stands for; None if one.
    """

    values: FloatArray
    columns: tuple[Column, ...]
    weights: FloatArray | None = None

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, key: Any) -> Table:
        """``table[rows]``, or ``table[:, columns]`` as for an array."""
        if not isinstance(key, tuple):
            return replace(self, values=self.values[key], weights=None if self.weights is None else self.weights[key])
        rows, columns = key
        if rows != slice(None):
            raise IndexError("a table is cut by rows or by columns, not by both at once")
        chosen = np.atleast_1d(np.arange(self.shape[1])[columns])
        values = np.ascontiguousarray(self.values[:, chosen])
        return replace(self, values=values, columns=tuple(self.columns[j] for j in chosen))

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return self.values.shape[0], self.values.shape[1]

    @cached_property
    def observed(self) -> BoolArray:
        """Which entries are known, of shape (n_samples, n_columns)."""
        return ~np.isnan(self.values)

    @cached_property
    def discrete(self) -> IntArray:
        """Positions of the columns that have levels."""
        return np.flatnonzero([column.discrete for column in self.columns])

    @cached_property
    def measured(self) -> IntArray:
        """Positions of the columns of numbers."""
        return np.flatnonzero([not column.discrete for column in self.columns])

    @cached_property
    def mass(self) -> FloatArray:
        """Weights of the rows, one each if there are none, of shape (n_samples,)."""
        return np.ones(len(self)) if self.weights is None else self.weights

    @property
    def total(self) -> float:
        """How many rows there are, weights counted."""
        return float(len(self)) if self.weights is None else float(self.weights.sum())


Rows: TypeAlias = FloatArray | Table
"""What the computing functions see: complete numbers as an array, everything else as a table."""


def weights_of(X: Rows) -> FloatArray | None:
    """Weights of rows, None if all count once."""
    return X.weights if isinstance(X, Table) else None


def values_of(X: Rows) -> FloatArray:
    """The numbers of rows: an array as it is, of a table values and codes with NaN among them."""
    return X.values if isinstance(X, Table) else X


def on_columns(X: Rows, columns: IntArray) -> Rows:
    """Some of the columns, contiguous in memory."""
    return X[:, columns] if isinstance(X, Table) else np.ascontiguousarray(X[:, columns])


def log_deviations(X: Rows) -> FloatArray:
    """Log standard deviations of the columns; those of a table have the unit one already."""
    return np.zeros(X.shape[1]) if isinstance(X, Table) else np.log(X.std(axis=0, ddof=1))


def thinned_rows(X: Rows, most: int) -> IntArray:
    """Rows as often as their weights say, evenly thinned to at most ``most``."""
    weights = weights_of(X)
    if weights is None:
        return np.arange(len(X)) if len(X) <= most else np.linspace(0, len(X) - 1, most).astype(np.int64)
    n_rows = max(1, min(most, round(float(weights.sum()))))
    ends = np.cumsum(weights)
    places = (np.arange(n_rows) + 0.5) / n_rows * ends[-1]
    return np.minimum(np.searchsorted(ends, places), len(weights) - 1)
