"""The interface of a map from rows to centers and back, and centers as passes know them.

For a kernel that is a sum over columns the distance of a row to a center is a sum of functions of one column each,
d²(x, v_i) = Σ_d (‖v_id‖² − 2 g_di(x_d)), and a center is known by the means of a basis of such functions over its rows.
So neither features nor memberships need exist: between two passes there are only the moments of the basis.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from kfrc.gram import Centers
from kfrc.typing import BoolArray, FloatArray, IntArray

_SUB_BLOCK_ELEMENTS = 1 << 22
"""Values of the basis that are worked on at a time (32 MiB): fewer would stay in a faster cache, but threads wait for
each other between operations, and longer ones pay."""

_SUB_BLOCK_ROWS = (256, 16_384)
"""Fewest and most rows that are worked on at a time."""


@dataclass(frozen=True, eq=False)
class BlockCenters:
    """Centers, as far as passes over rows need them.

    Attributes
    ----------
    means : ndarray of shape (n_functions, n_clusters)
        Means of the basis over the rows of every center.
    masses : ndarray of shape (n_parts, n_clusters)
        Weight of the rows behind them, part by part: where something is known of a column.
    occupied : ndarray of shape (n_clusters,)
        Whether a center is that of any rows.
    """

    means: FloatArray
    masses: FloatArray
    occupied: BoolArray

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return self.means.shape[1]

    def reordered(self, order: list[int]) -> BlockCenters:
        """The centers in another order."""
        return BlockCenters(self.means[:, order], self.masses[:, order], self.occupied[order])


class RowMap(ABC):
    """How rows in standard units meet centers."""

    has_single: bool = False
    """Whether passes of single precision are worth while."""
    incomplete: bool
    """Whether there are blanks."""

    @property
    @abstractmethod
    def n_functions(self) -> int:
        """Functions of the basis."""

    @property
    @abstractmethod
    def positions(self) -> IntArray:
        """Columns of the blocks that count, in the order of the functions."""

    @property
    @abstractmethod
    def widths(self) -> IntArray:
        """Functions of every part: of every column, or of all columns that are known together."""

    @property
    @abstractmethod
    def ranks(self) -> IntArray:
        """Coordinates of every part, in the same order."""

    @property
    def sub_block_rows(self) -> int:
        """Rows that are worked on at a time; a property of the map, as sums depend on it."""
        smallest, largest = _SUB_BLOCK_ROWS
        rows = _SUB_BLOCK_ELEMENTS // max(self.n_functions, 1)
        return int(min(max(1 << max(rows.bit_length() - 1, 0), smallest), largest))

    @abstractmethod
    def prepared(self, values: FloatArray, workspace: dict[str, Any]) -> Any:
        """The basis at some rows, values of shape (n_columns, n_rows); arrays are taken from the workspace."""

    @abstractmethod
    def table(self, centers: BlockCenters) -> Any:
        """What distances to these centers need."""

    @abstractmethod
    def distances(self, basis: Any, table: Any) -> FloatArray:
        """Squared distances, of shape (n_clusters, n_rows), not negative."""

    @abstractmethod
    def moments(self, basis: Any, weights: FloatArray) -> FloatArray:
        """Σ_j w_kj basis(x_j), of shape (n_functions, k), for weights (k, n_rows)."""

    @abstractmethod
    def centers(self, moments: FloatArray, masses: FloatArray, overall: FloatArray | None) -> BlockCenters:
        """Centers from moments (n_functions, n_clusters), masses (n_clusters,) and the means of all rows."""

    @abstractmethod
    def coordinates(self, means: FloatArray) -> FloatArray:
        """Means of the basis in coordinates of feature space, of shape (rank, k): linear."""

    @abstractmethod
    def features(self, basis: Any) -> FloatArray:
        """Rows in the same coordinates, zero where a column is blank, of shape (rank, n_rows)."""

    @abstractmethod
    def known(self, basis: Any) -> FloatArray:
        """One where something is known of a part, zero elsewhere, of shape (n_parts, n_rows)."""

    @abstractmethod
    def column_squares(self, coordinates: FloatArray) -> FloatArray:
        """Sums of squares of coordinates (rank, k), column by column: (n_columns, k)."""

    @abstractmethod
    def as_centers(self, centers: BlockCenters) -> Centers:
        """The same centers for rows outside any block."""

    def approximation_error(self, values: FloatArray) -> float:
        """Largest error of a squared distance between some rows, (n_columns, n_rows), relative to the mean of them.

        Zero if the map is exact.
        """
        return 0.0

    def centers_of(self, values: FloatArray, weights: FloatArray, s: FloatArray | None = None) -> BlockCenters:
        """Centers of few rows, values of shape (n_columns, n_rows), with weights t(u) of shape (n_rows, n_clusters).

        ``s`` says how many rows each row stands for; None if one.
        """
        counted = np.vstack([weights.T, np.ones((1, len(weights)))])
        if s is not None:
            counted = counted * s
        moments = self.moments(self.prepared(values, {}), counted).astype(np.float64)
        masses = counted.sum(axis=1)
        overall = self.centers(moments[:, -1:], masses[-1:], None).means[:, 0]
        return self.centers(moments[:, :-1], masses[:-1], overall)

    def squared_steps(self, step: FloatArray) -> FloatArray:
        """Squared lengths of differences of means, cluster by cluster."""
        return np.square(self.coordinates(step)).sum(axis=0)

    def in_single(self) -> RowMap:
        """The map for passes of single precision."""
        return self

    def translated(self, centers: BlockCenters, other: RowMap) -> BlockCenters:
        """Centers in the basis of this map, from those in the basis of another for the same columns."""
        return centers
