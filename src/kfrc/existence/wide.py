"""One group in a wide table: the foremost columns as one group has them, and all others independent of everything."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kfrc.columns import Rows, Table, on_columns, values_of
from kfrc.existence.one_group import OneGroup
from kfrc.existence.tables import OneGroupTable
from kfrc.foremost import foremost_columns
from kfrc.typing import FloatArray, IntArray

WIDE = 250
"""Columns from which on correlations of all pairs are not estimated: most would be noise, and they are p × p."""

_NUMBERS = (2, 3)
"""Of groups, in which the foremost columns would differ."""


@dataclass(frozen=True, eq=False)
class OneGroupWide:
    """A single group of rows with many columns.

    The foremost columns, in which groups would differ most, keep the correlations that they have; their choice makes
    these larger than they are, so that draws look rather more grouped than they should. All other columns are shuffled,
    each by itself.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features) or Table
    columns : ndarray of shape (k,)
        The foremost.
    group : OneGroup or OneGroupTable
        Of these.
    """

    X: Rows
    columns: IntArray
    group: OneGroup | OneGroupTable

    @classmethod
    def fit(cls, X: Rows) -> OneGroupWide:
        """The single group nearest to a table of columns that vary, without weights."""
        columns = foremost_columns(X, _NUMBERS).columns
        seen = on_columns(X, columns)
        return cls(X, columns, OneGroupTable.fit(seen) if isinstance(seen, Table) else OneGroup.fit(seen))

    def draw(self, n_samples: int, rng: np.random.Generator) -> Rows:
        """A table of the shape of the original."""
        values: FloatArray = rng.permuted(values_of(self.X), axis=0)
        values[:, self.columns] = values_of(self.group.draw(n_samples, rng))
        return replace(self.X, values=values) if isinstance(self.X, Table) else values
