"""The last pass: how fuzzy the memberships of all rows are, whether they could collapse, and who comes first.

With features Φ centered over all rows, D_j = ‖φ_j‖² and S = Σ s, the matrix Σ_j s_j φ_j φ_jᵀ / (S D_j) has the
eigenvalues of F that are not zero. It is as small as the features are few.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kfrc._eigenpairs import largest_pairs
from kfrc._numerics import DIAGONAL_FLOOR
from kfrc.blocks.descent import PassSums, occupied_only
from kfrc.blocks.partition import sub_blocks
from kfrc.blocks.reader import Block
from kfrc.blocks.row_maps import BlockCenters, RowMap
from kfrc.fuzzifiers import Fuzzifier
from kfrc.typing import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Assessment:
    """What the last pass found.

    Attributes
    ----------
    inner : ndarray of shape (rank, rank)
        The matrix above, times S where nothing is blank; see :meth:`eigenvalues`.
    squares : float
        Σ_ji s_j u_ji².
    spread : float
        Largest |u_ji − row_i|, of the row that all rows are in a collapse.
    first : ndarray of shape (n_clusters,)
        The first row that prefers each cluster; a large number if none does.
    counts : ndarray of shape (n_clusters,)
        Rows that prefer each cluster, weights counted.
    total : float
        S.
    """

    inner: FloatArray
    squares: float
    spread: float
    first: IntArray
    counts: FloatArray
    total: float

    def joined(self, following: Assessment) -> Assessment:
        """Of the rows of both."""
        return Assessment(
            self.inner + following.inner,
            self.squares + following.squares,
            max(self.spread, following.spread),
            np.minimum(self.first, following.first),
            self.counts + following.counts,
            self.total + following.total,
        )

    def eigenvalues(self, n_eigenvalues: int) -> FloatArray:
        """Leading eigenvalues of F; zero beyond its rank."""
        rank = min(n_eigenvalues, len(self.inner))
        values = largest_pairs(self.inner, rank)[0]
        return np.clip(np.concatenate([values, np.zeros(n_eigenvalues - rank)]), 0.0, 1.0)

    @property
    def order(self) -> list[int]:
        """Clusters in the order of the first row that prefers them."""
        order: list[int] = np.argsort(self.first, kind="stable").tolist()
        return order


@dataclass(frozen=True, eq=False)
class Both:
    """Two summaries of the same rows."""

    sums: PassSums
    assessment: Assessment

    def joined(self, following: Both) -> Both:
        """Of the rows of both."""
        return Both(self.sums.joined(following.sums), self.assessment.joined(following.assessment))


@dataclass(frozen=True, eq=False)
class AssessingPass:
    """The map of the last pass.

    Attributes
    ----------
    rows : RowMap
    centers : BlockCenters
    rule : Fuzzifier
    overall : ndarray of shape (n_functions,)
        Means of the basis over all rows.
    part_totals : ndarray of shape (n_parts,)
        Weight of the rows in which each column is known, in the order of the functions.
    floor : float
        Smallest squared distance to the center of mass that has a direction.
    collapsed : ndarray of shape (n_clusters,)
        The row that all rows are in a collapse.
    """

    rows: RowMap
    centers: BlockCenters
    rule: Fuzzifier
    overall: FloatArray
    part_totals: FloatArray
    floor: float
    collapsed: FloatArray

    def __call__(self, block: Block) -> Assessment:
        """Of the rows of a block."""
        rows = self.rows
        table = rows.table(self.centers)
        workspace: dict[str, Any] = {}
        center = rows.coordinates(self.overall[:, None])
        inner: FloatArray | None = None
        squares = spread = total = 0.0
        n_clusters = self.centers.n_clusters
        first, counts = np.full(n_clusters, np.iinfo(np.int64).max), np.zeros(n_clusters)
        for part in sub_blocks(block.n_rows, rows.sub_block_rows):
            basis = rows.prepared(block.values[:, part], workspace)
            U = self.rule.sample_memberships(occupied_only(rows.distances(basis, table), self.centers))
            s = None if block.weights is None else block.weights[part]
            scaled = self._features(basis, center, s)
            product = scaled @ scaled.T
            inner = product if inner is None else inner + product
            of_rows = np.square(U).sum(axis=0)
            squares += float(of_rows.sum() if s is None else s @ of_rows)
            spread = max(spread, float(np.abs(U - self.collapsed[:, None]).max()))
            labels = U.argmax(axis=0)
            found, places = np.unique(labels, return_index=True)
            first[found] = np.minimum(first[found], block.first + part.start + places)
            counts += np.bincount(labels, s, n_clusters)
            total += float(U.shape[1]) if s is None else float(s.sum())
        assert inner is not None  # a block has rows
        return Assessment(inner, squares, spread, first, counts, total)

    def _features(self, basis: Any, center: FloatArray, s: FloatArray | None) -> FloatArray:
        """√s_j φ_j / √(S_d D_j), of shape (rank, n_rows)."""
        rows = self.rows
        features = rows.features(basis)
        features -= center * np.repeat(rows.known(basis), rows.ranks, axis=0) if rows.incomplete else center
        totals = np.repeat(self.part_totals, rows.ranks)
        scale = 1.0 / np.sqrt(np.maximum(np.square(features).sum(axis=0), self.floor))
        if s is not None:
            scale *= np.sqrt(s)
        features *= scale
        features /= np.sqrt(totals)[:, None]
        return features


def diagonal_floor(mean_square: float) -> float:
    """The smallest squared distance to the center of mass that counts, from the mean of them."""
    return DIAGONAL_FLOOR * mean_square
