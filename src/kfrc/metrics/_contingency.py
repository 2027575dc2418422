"""Two labelings of weighted rows, cross-tabulated: all that the hard indices need to know of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix
from scipy.special import entr
from sklearn.metrics.cluster import expected_mutual_information

from kfrc.metrics._pair_counts import PairCounts
from kfrc.typing import FloatArray, IntArray

MEANS: dict[str, Callable[[float, float], float]] = {
    "max": max,
    "min": min,
    "geometric": lambda first, second: float(np.sqrt(first * second)),
    "arithmetic": lambda first, second: 0.5 * (first + second),
}

_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Contingency:
    """The cells of a table of two labelings that hold any weight, and the margins of the table."""

    cells: FloatArray  # (n_cells,), total weight, positive
    row: IntArray  # (n_cells,), label in the reference
    column: IntArray  # (n_cells,), label in the estimate
    row_totals: FloatArray  # (n_classes,)
    column_totals: FloatArray  # (n_clusters,)

    @classmethod
    def of(cls, reference: IntArray, estimate: IntArray, weights: FloatArray) -> Contingency:
        classes, reference = np.unique(reference, return_inverse=True)
        clusters, estimate = np.unique(estimate, return_inverse=True)
        codes, cell_of_row = np.unique(reference * len(clusters) + estimate, return_inverse=True)
        cells: FloatArray = np.bincount(cell_of_row, weights).astype(np.float64)
        row, column = np.divmod(codes, len(clusters))
        # Margins are sums of cells, not of rows: a class that is one cell then has exactly the total of that cell.
        row_totals: FloatArray = np.bincount(row, cells, len(classes)).astype(np.float64)
        column_totals: FloatArray = np.bincount(column, cells, len(clusters)).astype(np.float64)
        return cls(cells, row, column, row_totals, column_totals)

    def pair_counts(self) -> PairCounts:
        """Ordered pairs of different copies; a cell of weight s makes s(s − 1) of them."""
        total = float(self.cells.sum())
        in_row, in_column = self.row_totals[self.row], self.column_totals[self.column]
        return PairCounts(
            together_both=float(self.cells @ (self.cells - 1)),
            together_reference=float(self.cells @ (in_row - self.cells)),
            together_estimate=float(self.cells @ (in_column - self.cells)),
            apart_both=float(self.cells @ (total - in_row - in_column + self.cells)),
        )

    def normalized_mutual_information(self, average_method: str) -> float:
        if len(self.cells) == 1:
            return 1.0  # one cluster on both sides
        information = self._mutual_information()
        return information / self._mean_entropy(average_method) if information > 0 else 0.0

    def adjusted_mutual_information(self, average_method: str) -> float:
        """The chance model deals out whole rows: cells must be whole numbers."""
        if len(self.cells) == 1:
            return 1.0
        if min(len(self.row_totals), len(self.column_totals)) == 1:
            return 0.0
        counts = self.cells.astype(np.int64)
        table = csr_matrix((counts, (self.row, self.column)))
        expected = float(expected_mutual_information(table, int(counts.sum())))
        gain = self._mutual_information() - expected
        largest_gain = self._mean_entropy(average_method) - expected
        # As in scikit-learn: 0/0 at a perfect match becomes 1, and rounding keeps its sign.
        return _away_from_zero(gain) / _away_from_zero(largest_gain)

    def _mutual_information(self) -> float:
        if min(len(self.row_totals), len(self.column_totals)) == 1:
            return 0.0
        total = self.cells.sum()
        shares = self.cells / total
        independent = (self.row_totals[self.row] / total) * (self.column_totals[self.column] / total)
        terms = shares * np.log(shares / independent)
        return float(max(np.where(np.abs(terms) < _EPS, 0.0, terms).sum(), 0.0))

    def _mean_entropy(self, average_method: str) -> float:
        total = self.cells.sum()
        entropies = (float(entr(margin / total).sum()) for margin in (self.row_totals, self.column_totals))
        return MEANS[average_method](*entropies)


def _away_from_zero(value: float) -> float:
    return min(value, -_EPS) if value < 0 else max(value, _EPS)
