"""Gram matrices of additive kernels in a Chebyshev basis that does not depend on the bandwidths.

Each feature is mapped to z in [−1, 1]. Its part of the kernel is K_d − 1 = T(z) B_d(θ_d) T(z)ᵀ with Chebyshev
polynomials T and a small core B_d, the discrete cosine transform of the kernel on the Chebyshev grid. Centering removes
T₀; an eigendecomposition of the remaining core gives features Φ_d, and all features side by side give HKH = ΦΦᵀ to a
tolerance, at O(n Σ N_d r_d) instead of O(n² p).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from kfrc._numerics import clear_rounding, row_blocks
from kfrc.gram.base import GramFamily
from kfrc.gram.centers import Centers, ColumnCenters
from kfrc.gram.chebyshev import (
    chebyshev_grid,
    chebyshev_polynomials,
    cosine_transform,
    rounded_degree,
    to_coefficients,
)
from kfrc.gram.dense import DenseGram, DenseGrams
from kfrc.gram.factored import FeatureGram, LinearLimit, squared_euclidean
from kfrc.kernels import AdditiveKernel, SymmetricLowRank
from kfrc.typing import FloatArray, IntArray

_TOL = 1e-14
"""Relative size of what the basis leaves out, per feature. A row near the center has small distances of its own, so
that errors relative to these are larger by the spread of diag(HKH): about 1e-12 in eigenvalues of F."""

_LARGEST_RANK_SHARE = 0.8
"""Rank per sample beyond which the dense matrix is cheaper, up to 32 columns."""

_RANK_SHARE_PER_COLUMN = 0.025
"""The same for every column, with more of them: an entry of the dense matrix is a sum over columns of exponentials, one
of the product of features a sum of multiplications."""

_DENSE_ENTRY_COST = 20.0
"""An entry of the dense matrix costs as much, per feature, as this many of the N³ steps of a core of N polynomials."""

_FALL_BACK_MAX_SAMPLES = 5000
"""The dense matrix is never the fall-back beyond this."""

_MAX_DEGREES = (96, 256)
_PASS_OPERATIONS = 1 << 36
"""Polynomials per feature are bounded where there is no dense matrix to fall back to: by the first number at least and
the second at most, between them by the operations of one pass over all samples (some seconds). Bandwidths so small
that they would need more are not resolved, and ``approximation_error`` says what that costs."""

_PROBES = 200
"""Samples among which the error is measured."""

_BASIS_BYTES = 1 << 28
"""Memory for the polynomials at all samples; beyond it they are recomputed block by block."""

_FEATURE_BYTES = 1 << 30
"""Memory for the features at all samples; beyond it they are recomputed on every pass."""

_BLOCK_ELEMENTS = 1 << 19
"""Elements of one block of polynomials or features."""


class ChebyshevGrams(GramFamily):
    """Low-rank Gram matrices of an additive kernel.

    Where the bandwidths are too small for a low rank and the matrix is small, ``at`` returns the exact dense one; where
    it is large the number of polynomials is bounded and the kernel no longer exact.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    kernel : AdditiveKernel
    tol : float, default=1e-14
    """

    kernel: AdditiveKernel

    def __init__(self, X: FloatArray, kernel: AdditiveKernel, tol: float = _TOL) -> None:
        self.X = X
        self.kernel = kernel
        self.tol = tol
        self.n_samples, self.n_features = X.shape
        low, high = X.min(axis=0), X.max(axis=0)
        self.middle = 0.5 * (low + high)
        self.half_range = np.maximum(0.5 * (high - low), np.finfo(float).tiny)
        self.Z = np.ascontiguousarray(np.clip((X - self.middle) / self.half_range, -1.0, 1.0).T)
        self.max_degree = _affordable_degree(self.n_samples, self.n_features)
        self._basis: FloatArray | None = None
        self._moments = np.empty((self.n_features, 0))

    def at(self, bandwidths: FloatArray) -> ChebyshevGram | DenseGram:  # noqa: D102
        if self.n_samples > _FALL_BACK_MAX_SAMPLES:
            return ChebyshevGram(self, bandwidths, self._groups(bandwidths))
        # Bandwidths so small that every sample is nearly alone: the exact matrix is cheaper, and degrees may tell.
        if not self._cores_cost_more(bandwidths):
            gram = ChebyshevGram(self, bandwidths, self._groups(bandwidths))
            share = max(_LARGEST_RANK_SHARE, _RANK_SHARE_PER_COLUMN * self.n_features)
            if gram.rank <= share * self.n_samples:
                return gram
        return DenseGrams(self.X, self.kernel).at(bandwidths)

    @cached_property
    def _limit(self) -> LinearLimit:
        return LinearLimit(self.X, self.kernel)

    def linear_limit(self, bandwidths: FloatArray, tol: float) -> GramFamily | None:  # noqa: D102
        return self._limit.at(bandwidths, tol)

    def __getstate__(self) -> dict[str, object]:
        # The basis is a cache: worker processes make their own rather than receive it.
        return {**self.__dict__, "_basis": None}

    def polynomials(self, rows: slice, features: IntArray, degree: int) -> FloatArray:
        """T_0 … T_{N−1} at some samples, of shape (len(features), N, n_rows)."""
        if 8 * self.n_features * degree * self.n_samples <= _BASIS_BYTES:
            if self._basis is None or self._basis.shape[1] < degree:
                self._basis = chebyshev_polynomials(self.Z, degree)
            if len(features) == self.n_features:
                return self._basis[:, :degree, rows]
            return self._basis[features, :degree, rows]
        return chebyshev_polynomials(self.Z[features, rows], degree)

    def blocks(self, degree: int, n_chosen: int) -> Iterator[slice]:
        """Row slices for which ``polynomials`` is of moderate size."""
        return row_blocks(self.n_samples, degree * n_chosen, _BLOCK_ELEMENTS)

    def moments(self, degree: int) -> FloatArray:
        """Means of T_0 … T_{N−1} over the samples, of shape (n_features, N)."""
        if self._moments.shape[1] < degree:
            everything, total = np.arange(self.n_features), np.zeros((self.n_features, degree))
            for rows in self.blocks(degree, self.n_features):
                total += self.polynomials(rows, everything, degree).sum(axis=2)
            self._moments = total / self.n_samples
        return self._moments[:, :degree]

    def degrees(self, bandwidths: FloatArray) -> IntArray:
        """Number of polynomials of each feature, of shape (n_features,)."""
        return rounded_degree(np.minimum(self._needed(bandwidths), self.max_degree))

    def resolves(self, bandwidths: FloatArray) -> bool:  # noqa: D102
        return bool(self._needed(bandwidths).max() <= self.max_degree)

    def _needed(self, bandwidths: FloatArray) -> FloatArray:
        return self.kernel.polynomials_needed(self.half_range / bandwidths, self.tol)

    def _cores_cost_more(self, bandwidths: FloatArray) -> bool:
        """Whether the cores alone take longer than the dense matrix."""
        cubes = np.minimum(self._needed(bandwidths), 1e6) ** 3
        return bool(cubes.mean() > _DENSE_ENTRY_COST * self.n_samples**2)

    def _groups(self, bandwidths: FloatArray) -> list[_CoreGroup]:
        """Features that need about the same number of polynomials, treated together."""
        ratio = self.half_range / bandwidths
        needed = self.degrees(bandwidths)
        cores = [
            _Core.build(self.kernel, np.flatnonzero(needed == degree), int(degree), ratio)
            for degree in np.unique(needed)
        ]
        # What a feature leaves out counts relative to the largest part of the whole kernel.
        cutoff = self.tol * max(float(core.values.max()) for core in cores)
        groups, offset = [], 0
        for core in cores:
            rank = max(int((core.values > cutoff).sum(axis=1).max()), 1)
            roots = core.roots(rank)
            centers = roots @ self.moments(core.degree)[core.features, 1:, None]
            groups.append(_CoreGroup(self.kernel, core.features, core.degree, core.squares, roots, centers, offset))
            offset += len(core.features) * rank
        return groups


@dataclass(frozen=True)
class _Core:
    """Eigendecomposition of the cores B (without T₀) of the features that share a number of polynomials."""

    features: IntArray
    degree: int
    squares: FloatArray
    values: FloatArray
    vectors: FloatArray

    @classmethod
    def build(cls, kernel: AdditiveKernel, features: IntArray, degree: int, ratio: FloatArray) -> _Core:
        _, grid_squares = chebyshev_grid(degree)
        squares = grid_squares * (ratio[features] ** 2)[:, None, None]
        values, vectors = np.linalg.eigh(to_coefficients(kernel.profile(squares))[:, 1:, 1:])
        return cls(features, degree, squares, values[:, ::-1], vectors[:, :, ::-1])

    def roots(self, rank: int) -> FloatArray:
        """Rows L with B ≈ LᵀL, of shape (g, rank, N − 1)."""
        weights = np.sqrt(np.maximum(self.values[:, :rank], 0.0))
        return np.swapaxes(self.vectors[:, :, :rank] * weights[:, None, :], 1, 2)


@dataclass(frozen=True)
class _CoreGroup:
    """Everything about the features that share a number of polynomials, at one vector of bandwidths.

    Attributes
    ----------
    features : ndarray of shape (g,)
        Which features.
    degree : int
        N.
    squares : ndarray of shape (g, N, N)
        ((x − y) / θ)² on the Chebyshev grid.
    roots : ndarray of shape (g, r, N − 1)
        Rows L with B = LᵀL once T₀ is gone.
    centers : ndarray of shape (g, r, 1)
        L times the mean of the polynomials: what centers the features.
    offset : int
        Where the g·r columns of this group begin among all features.
    """

    kernel: AdditiveKernel
    features: IntArray
    degree: int
    squares: FloatArray
    roots: FloatArray
    centers: FloatArray
    offset: int

    @property
    def rank(self) -> int:
        return self.roots.shape[0] * self.roots.shape[1]

    def write_features(self, polynomials: FloatArray, out: FloatArray) -> None:
        """Centered features of some samples, into their rows of ``out``, of shape (total rank, n_rows)."""
        target = out[self.offset : self.offset + self.rank].reshape(*self.roots.shape[:2], out.shape[1])
        np.matmul(self.roots, polynomials[:, 1:], out=target)
        target -= self.centers

    @cached_property
    def core_derivative(self) -> FloatArray:
        """∂B/∂ log θ with T₀ included, of shape (g, N, N)."""
        return to_coefficients(self.kernel.profile_derivative(self.squares))

    @cached_property
    def core(self) -> FloatArray:
        """B with T₀ included, of shape (g, N, N)."""
        return to_coefficients(self.kernel.profile(self.squares))


class ChebyshevGram(FeatureGram):
    """HKH = ΦΦᵀ for one vector of bandwidths; the features are kept if they fit, else made anew on each pass."""

    backend: ClassVar[str] = "low_rank"

    def __init__(self, family: ChebyshevGrams, bandwidths: FloatArray, groups: list[_CoreGroup]) -> None:
        self.family = family
        self.bandwidths = bandwidths
        self.n_samples = family.n_samples
        self._groups = groups
        self._stored: FloatArray | None = None

    @property
    def rank(self) -> int:  # noqa: D102
        return sum(group.rank for group in self._groups)

    def blocks(self) -> Iterator[tuple[slice, FloatArray]]:  # noqa: D102
        if self._stored is None and 8 * self.n_samples * self.rank <= _FEATURE_BYTES:
            stored = np.empty((self.rank, self.n_samples))
            for rows in self._row_blocks():
                self._write(rows, stored[:, rows])
            self._stored = stored
        if self._stored is not None:
            for rows in row_blocks(self.n_samples, self.rank, _BLOCK_ELEMENTS):
                yield rows, self._stored[:, rows].T
        else:
            for rows in self._row_blocks():
                features = np.empty((self.rank, rows.stop - rows.start))
                self._write(rows, features)
                yield rows, features.T

    @cached_property
    def approximation_error(self) -> float:
        """Largest error of a squared distance between rows relative to the mean of them, among a sample of rows."""
        family = self.family
        chosen = np.unique(np.linspace(0, self.n_samples - 1, _PROBES).astype(np.int64))
        features = np.empty((self.rank, len(chosen)))
        for group in self._groups:
            Z = family.Z[np.ix_(group.features, chosen)]
            group.write_features(chebyshev_polynomials(Z, group.degree), features)
        exact = -2.0 * family.kernel.shifted(family.X[chosen], family.X[chosen], self.bandwidths)
        error = np.abs(squared_euclidean(features.T, features.T) - exact).max()
        return float(error / exact.mean()) if error > 0 else 0.0

    def _row_blocks(self) -> Iterator[slice]:
        largest = max(group.degree for group in self._groups)
        return self.family.blocks(largest, self.family.n_features)

    def _write(self, rows: slice, out: FloatArray) -> None:
        for group in self._groups:
            group.write_features(self.family.polynomials(rows, group.features, group.degree), out)

    def log_bandwidth_gradients(self, adjoints: Sequence[SymmetricLowRank]) -> FloatArray:  # noqa: D102
        # Σ G∘∂K = [Σ_r w_r aᵀ ∂B a + 2 bᵀ ∂B t̄] / n with a = Tᵀ v_r, b = Tᵀ q, t̄ = Tᵀ 1.
        columns = [np.column_stack([adjoint.shift, adjoint.vectors]) for adjoint in adjoints]
        ends = np.cumsum([0] + [part.shape[1] for part in columns])
        stacked = np.hstack(columns)
        gradients = np.empty((len(adjoints), self.family.n_features))
        for group in self._groups:
            products = self._polynomial_products(group, stacked)
            sums = self.n_samples * self.family.moments(group.degree)[group.features]
            slopes = group.core_derivative @ products
            for i, adjoint in enumerate(adjoints):
                part = slice(ends[i] + 1, ends[i + 1])
                quadratic = np.einsum("gnr,gnr->gr", products[:, :, part], slopes[:, :, part]) @ adjoint.weights
                linear = np.einsum("gn,gn->g", sums, slopes[:, :, ends[i]])
                gradients[i, group.features] = (quadratic + 2.0 * linear) / self.n_samples
        return gradients

    def _polynomial_products(self, group: _CoreGroup, V: FloatArray) -> FloatArray:
        """Tᵀ V for each feature of a group, of shape (g, N, V.shape[1])."""
        total = np.zeros((len(group.features), group.degree, V.shape[1]))
        for rows in self.family.blocks(group.degree, len(group.features)):
            total += self.family.polynomials(rows, group.features, group.degree) @ V[rows]
        return total

    def centers(self, prototypes: FloatArray) -> Centers:  # noqa: D102
        # As a function of one new coordinate x, Σ_k p_k k(x, x_k) is a combination of k(x, node) over the N grid nodes,
        # whatever the number of training rows, also for x outside their range.
        nodes, weights, squared_norms = [], [], np.zeros(prototypes.shape[1])
        for group in self._groups:
            moments = self._polynomial_products(group, prototypes)
            squared_norms += np.einsum("gni,gnm,gmi->i", moments, group.core, moments)
            grid, _ = chebyshev_grid(group.degree)
            for position, feature in enumerate(group.features):
                nodes.append(self.family.middle[feature] + self.family.half_range[feature] * grid)
                weights.append(cosine_transform(group.degree).T @ moments[position])
        order = np.concatenate([group.features for group in self._groups])
        return NodeCenters(
            self.family.kernel, self.bandwidths[order], order, tuple(nodes), tuple(weights), squared_norms
        )


@dataclass(frozen=True)
class NodeCenters(Centers):
    """Centers of an additive kernel as weights of a few nodes per feature: new rows cost the same whatever n was."""

    kernel: AdditiveKernel
    bandwidths: FloatArray
    features: IntArray
    nodes: tuple[FloatArray, ...]
    weights: tuple[FloatArray, ...]
    squared_norms: FloatArray

    def squared_distances(self, Z: FloatArray) -> FloatArray:  # noqa: D102
        distances = np.empty((len(Z), len(self.squared_norms)))
        for rows in row_blocks(len(Z), max(len(grid) for grid in self.nodes)):
            similarities = np.zeros((rows.stop - rows.start, len(self.squared_norms)))
            for d, grid, weights, bandwidth in zip(
                self.features, self.nodes, self.weights, self.bandwidths, strict=True
            ):
                squares = np.square(np.subtract.outer(Z[rows, d], grid) / bandwidth)
                similarities += self.kernel.profile(squares) @ weights
            distances[rows] = self.squared_norms - 2.0 * similarities
        return np.maximum(clear_rounding(distances, 0.0, self.squared_norms), 0.0, out=distances)

    def for_blanks(self) -> Centers:  # noqa: D102
        used = np.isfinite(self.bandwidths)
        chosen = np.flatnonzero(used).tolist()
        return ColumnCenters.of_numbers(
            self.kernel,
            self.features[used],
            self.bandwidths[used],
            [self.nodes[k] for k in chosen],
            [self.weights[k] for k in chosen],
        )


def _affordable_degree(n_samples: int, n_features: int) -> float:
    """Largest number of polynomials per feature; infinite where a dense matrix can take over."""
    if n_samples <= _FALL_BACK_MAX_SAMPLES:
        return math.inf
    return min(max(math.sqrt(_PASS_OPERATIONS / (n_samples * n_features)), _MAX_DEGREES[0]), _MAX_DEGREES[1])
