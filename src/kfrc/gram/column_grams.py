"""Gram matrices of tables with columns of any type, blanks and weights: blocks of features, one per column.

With blanks there is no single Gram matrix: distances are sums over the columns that are known (partial distances), each
center block is a mean over the rows in which its column is known, and the uniform solution is stable exactly when
κ λ₁(F) ≤ 1 for F = s^{1/2} D^{-1/2} (Σ_d Φ_d Φ_dᵀ / S_d) D^{-1/2} s^{1/2}, Φ_d centered over the known rows and zero
elsewhere, S_d their weight, D_j = Σ_d ‖φ_jd‖². Without blanks all S_d are S and this is the usual F.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import ClassVar

import numpy as np

from kfrc._numerics import available_memory, clear_rounding, row_blocks
from kfrc.columns import Table
from kfrc.gram.base import GramFamily
from kfrc.gram.centers import Centers, ColumnCenters
from kfrc.gram.column_blocks import (
    MOST_VALUES,
    PROBES,
    ColumnBlock,
    ColumnData,
    PolynomialBlock,
    ValueBlock,
    relative_error,
)
from kfrc.gram.factored import FeatureGram
from kfrc.kernels import Kernel, Profile, SymmetricLowRank
from kfrc.typing import FloatArray, IntArray

_TOL = 1e-14
"""Relative size of what the basis leaves out, per column."""

_FEATURE_BYTES = 3 << 30
"""Memory for the features at all samples, if so much is free twice over; beyond it they are made anew on every pass."""

_SMALL_BYTES = 1 << 28
"""Memory that is not asked for."""

_BLOCK_ELEMENTS = 1 << 19
"""Elements of one block of features."""


class ColumnGrams(GramFamily):
    """Gram matrices of a table under a kernel that is a sum over columns.

    Parameters
    ----------
    table : Table
    kernel : Kernel
        With a profile: the sum of Gaussians, or the linear kernel.
    tol : float, default=1e-14
        Relative size of what the features may leave out, per column.
    """

    kernel: Kernel

    def __init__(self, table: Table, kernel: Kernel, tol: float = _TOL) -> None:
        if not isinstance(kernel, Profile):
            raise ValueError(f"the {kernel.label} kernel is no sum over columns, which tables of any type need")
        self.table = table
        self.kernel = kernel
        self.profile: Profile = kernel
        self.tol = tol
        self.n_samples, self.n_features = table.shape
        self.data = [ColumnData.of(column, table.values[:, d], table.mass) for d, column in enumerate(table.columns)]
        self.complete = all(data.complete for data in self.data)

    def at(self, bandwidths: FloatArray) -> ColumnGram:  # noqa: D102
        return ColumnGram(self, bandwidths)

    def resolves(self, bandwidths: FloatArray) -> bool:  # noqa: D102
        return all(
            self._needed(data, theta) <= MOST_VALUES or data.prefers_values(MOST_VALUES)
            for data, theta in zip(self.data, bandwidths, strict=True)
        )

    def _needed(self, data: ColumnData, bandwidth: float) -> float:
        if not data.column.continuous:
            return 0.0
        return float(self.profile.polynomials_needed(np.array(data.half_range / bandwidth), self.tol))

    def block(self, position: int, bandwidth: float) -> ColumnBlock:
        """Features of one column."""
        data = self.data[position]
        needed = self._needed(data, bandwidth)
        if data.prefers_values(needed):
            return ValueBlock(data, bandwidth, self.profile)
        return PolynomialBlock(data, bandwidth, self.profile, int(np.ceil(min(needed, MOST_VALUES))))


class ColumnGram(FeatureGram):
    """The features of all columns side by side, for one vector of bandwidths; an infinite one leaves its column out."""

    backend: ClassVar[str] = "low_rank"

    def __init__(self, family: ColumnGrams, bandwidths: FloatArray) -> None:
        self.family = family
        self.bandwidths = bandwidths
        self.n_samples = family.n_samples
        self.weights = family.table.weights
        self.used = np.flatnonzero(np.isfinite(bandwidths))
        self.column_blocks = [family.block(d, float(bandwidths[d])) for d in self.used.tolist()]
        # What a column leaves out counts relative to the largest part of the whole kernel.
        cutoff = family.tol * max(block.largest for block in self.column_blocks)
        for block in self.column_blocks:
            block.truncate(cutoff)
        self._ends = np.cumsum([0, *(block.rank for block in self.column_blocks)])
        self._stored: FloatArray | None = None

    @property
    def rank(self) -> int:  # noqa: D102
        return int(self._ends[-1])

    @property
    def ranks(self) -> IntArray:
        """Features of every column that is used, of shape (n_used,)."""
        return np.diff(self._ends)

    @cached_property
    def feature_totals(self) -> FloatArray | None:  # noqa: D102
        if self.family.complete:
            return None
        return np.concatenate([np.full(block.rank, block.data.total) for block in self.column_blocks])

    def blocks(self) -> Iterator[tuple[slice, FloatArray]]:  # noqa: D102
        if self._stored is None and self._fits:
            stored = np.empty((self.rank, self.n_samples))
            for rows in self._row_blocks():
                self._write(rows, stored[:, rows])
            self._stored = stored
        for rows in self._row_blocks():
            if self._stored is not None:
                yield rows, self._stored[:, rows].T
            else:
                features = np.empty((self.rank, rows.stop - rows.start))
                self._write(rows, features)
                yield rows, features.T

    @cached_property
    def _fits(self) -> bool:
        n_bytes = 8 * self.n_samples * self.rank
        return n_bytes <= _SMALL_BYTES or n_bytes <= min(_FEATURE_BYTES, 0.5 * available_memory())

    def _row_blocks(self) -> Iterator[slice]:
        return row_blocks(self.n_samples, self.rank, _BLOCK_ELEMENTS)

    def _write(self, rows: slice, out: FloatArray) -> None:
        for k, block in enumerate(self.column_blocks):
            block.write_features(rows, out[self._ends[k] : self._ends[k + 1]])

    def sums_over_columns(self, values: FloatArray) -> FloatArray:
        """Sums of rows of features (rank, k), column by column, of shape (n_used, k)."""
        return np.add.reduceat(values, self._ends[:-1], axis=0)

    @cached_property
    def known(self) -> FloatArray:
        """One where a used column is known, zero elsewhere, of shape (n_samples, n_used)."""
        return np.column_stack([block.data.known for block in self.column_blocks])

    def column_means(self, prototypes: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Centers block by block: weighted means of the features over the rows in which their column is known.

        Parameters
        ----------
        prototypes : ndarray of shape (n_samples, k)
            Weights of the rows.

        Returns
        -------
        means : ndarray of shape (rank, k)
            The mean of all rows, zero, where a center has no row in which a column is known.
        masses : ndarray of shape (n_used, k)
            Weights of the rows in which each column is known.
        """
        masses = self.known.T @ prototypes
        spread = np.repeat(masses, np.diff(self._ends), axis=0)
        return np.where(spread > 0, self.project(prototypes) / np.where(spread > 0, spread, 1.0), 0.0), masses

    def center_distances(self, prototypes: FloatArray) -> tuple[FloatArray, FloatArray]:  # noqa: D102
        if self.family.complete:
            return super().center_distances(prototypes)
        means, _ = self.column_means(prototypes)
        norms = self.sums_over_columns(np.square(means))
        own = self.centered_diagonal
        distances = np.empty((self.n_samples, prototypes.shape[1]))
        for rows, features in self.blocks():
            part = np.matmul(features, means, out=distances[rows])
            part *= -2.0
            part += own[rows, None]
            part += self.known[rows] @ norms
        squared_norms: FloatArray = norms.sum(axis=0)
        return clear_rounding(distances, own, squared_norms), squared_norms

    def columns(self, indices: Sequence[int]) -> FloatArray:
        """E[:, indices] such that E_jj + E_kk − 2 E_jk is the squared distance of row j to a center at row k.

        A center at one row has the mean of all rows where that row is blank, and a blank of row j adds nothing.
        """
        columns = super().columns(indices)
        if self.family.complete:
            return columns
        chosen = np.asarray(indices)
        norms = self._norms_of(chosen)
        own = self.centered_diagonal
        # Σ_d o_jd ‖φ_kd‖² in place of ‖φ_k‖².
        return columns + 0.5 * (own[chosen] - self.known @ norms)

    def _norms_of(self, chosen: IntArray) -> FloatArray:
        """‖φ_kd‖² of some rows, of shape (n_used, n_chosen)."""
        norms = np.empty((len(self.used), len(chosen)))
        for rows, features in self.blocks():
            inside = (chosen >= rows.start) & (chosen < rows.stop)
            if inside.any():
                norms[:, inside] = self.sums_over_columns(np.square(features[chosen[inside] - rows.start].T))
        return norms

    @cached_property
    def approximation_error(self) -> float:
        """Largest error of a squared distance within a column among a sample of rows, relative to the mean distance."""
        chosen = np.unique(np.linspace(0, self.n_samples - 1, PROBES).astype(np.int64))
        return relative_error([block.error(chosen) for block in self.column_blocks])

    def log_bandwidth_gradients(self, adjoints: Sequence[SymmetricLowRank]) -> FloatArray:  # noqa: D102
        # λ = Σ_d wᵀ Φ_d Φ_dᵀ w / S_d with w = s^{1/2} D^{-1/2} v, and D_j = Σ_d ‖φ_jd‖² depends on θ_d as well:
        # Σ_r ω_r aᵀ ∂B a / S_d + 2 (Tᵀg − (1ᵀg) μ / 2)ᵀ ∂B μ,  a = Tᵀw − μ 1ᵀw,  g = Σ_r ω_r λ_r v² / D, on known rows.
        columns = [np.column_stack([-adjoint.diagonal, adjoint.vectors]) for adjoint in adjoints]
        ends = np.cumsum([0] + [part.shape[1] for part in columns])
        stacked = np.hstack(columns)
        gradients = np.zeros((len(adjoints), self.family.n_features))
        for d, block in zip(self.used.tolist(), self.column_blocks, strict=True):
            products = block.products(stacked)
            masses, mu = block.masses(products), block.moments
            shares = np.ones(stacked.shape[1])
            shares[ends[:-1]] = 0.5  # of the pull, see above
            products = products - np.outer(mu, shares * masses)
            slopes = block.core_derivative @ products
            for i, adjoint in enumerate(adjoints):
                part = slice(ends[i] + 1, ends[i + 1])
                quadratic = np.einsum("nr,nr->r", products[:, part], slopes[:, part]) @ adjoint.weights
                gradients[i, d] = quadratic / block.data.total + 2.0 * mu @ slopes[:, ends[i]]
        return gradients

    def centers(self, prototypes: FloatArray) -> Centers:  # noqa: D102
        nodes, weights, norms = [], [], []
        for block in self.column_blocks:
            products = block.products(prototypes)
            masses = block.masses(products)
            empty = masses <= 0
            normalized = np.where(empty, block.moments[:, None], products / np.where(empty, 1.0, masses))
            nodes.append(block.nodes)
            weights.append(block.node_weights(normalized))
            norms.append(np.einsum("ni,nm,mi->i", normalized, block.core, normalized))
        columns = tuple(self.family.table.columns[d] for d in self.used.tolist())
        return ColumnCenters(
            self.family.profile,
            columns,
            self.used,
            self.bandwidths[self.used],
            tuple(nodes),
            tuple(weights),
            np.array(norms),
        )
