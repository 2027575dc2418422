"""Nyström approximation of any Gram matrix from a few landmark rows, with gradients and an error it can state.

The kernel is anchored at the center of the data, k'(x, y) = E(x, y) − E(x, 0) − E(0, y) with E = k − k(0): the same
distances and the same centered Gram matrix, but positive semi-definite and accurate at every bandwidth. With
C = k'(X, L) and W = k'(L, L) the approximation is C W⁺ Cᵀ. What it leaves out is positive semi-definite
and its diagonal is known exactly: it is added back to all squared norms, and its share of them is the error reported.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from kfrc import activity
from kfrc._numerics import clear_rounding, row_blocks
from kfrc.gram.base import GramFamily
from kfrc.gram.centers import Centers
from kfrc.gram.factored import FeatureGram, squared_euclidean
from kfrc.kernels import Kernel, SymmetricLowRank
from kfrc.typing import FloatArray, IntArray

DEFAULT_RANK = 500
"""Landmarks when no rank is asked for."""

_SEED = 7919
"""Landmarks are drawn with a fixed seed: the approximation is a function of the data."""

_CANDIDATES_PER_LANDMARK = 20
"""Landmarks are chosen among this many times as many random rows."""

_PIVOT_FLOOR = 1e-13
"""Eigenvalues of W below this share of the largest are rounding and are left out of its inverse."""

_FEATURE_BYTES = 1 << 30
"""Memory for the features of all rows; beyond it they are recomputed on every pass."""


class NystromGrams(GramFamily):
    """Nyström approximations that share their landmarks.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    kernel : Kernel
    rank : int, optional
        Number of landmarks.
    weights : ndarray of shape (n_samples,), optional
        How many rows each row stands for.
    """

    def __init__(
        self, X: FloatArray, kernel: Kernel, rank: int | None = None, weights: FloatArray | None = None
    ) -> None:
        self.n_samples, self.n_features = X.shape
        self.kernel = kernel
        self.weights = weights
        # Codes of levels cannot be moved, and columns that are not numbers are in standard units already.
        self.center = X.mean(axis=0) if kernel.moves_with_origin else np.zeros(X.shape[1])
        self.X = X - self.center
        rank = min(DEFAULT_RANK if rank is None else rank, self.n_samples)
        # Landmarks serve all bandwidths of a search, so they are chosen where the kernel is least smooth: at its start.
        spread = self.X.std(axis=0) if kernel.moves_with_origin else np.ones(self.n_features)
        spread = np.where(spread > 0, spread, 1.0)
        self.landmarks = self.X[choose_landmarks(self.X, kernel, spread, rank)]

    def at(self, bandwidths: FloatArray) -> NystromGram:  # noqa: D102
        return NystromGram(self, bandwidths)


class NystromGram(FeatureGram):
    """ΦΦᵀ with Φ = C Q Λ^{-1/2} for W = Q Λ Qᵀ."""

    backend: ClassVar[str] = "nystrom"

    def __init__(self, family: NystromGrams, bandwidths: FloatArray) -> None:
        self.family = family
        self.bandwidths = bandwidths
        self.n_samples = family.n_samples
        self.weights = family.weights
        self._stored: FloatArray | None = None
        W = _anchored(family.kernel, family.landmarks, family.landmarks, bandwidths)
        values, vectors = np.linalg.eigh(0.5 * (W + W.T))
        keep = values > _PIVOT_FLOOR * values[-1]
        self._root = vectors[:, keep] / np.sqrt(values[keep])

    @property
    def rank(self) -> int:  # noqa: D102
        return self._root.shape[1]

    def blocks(self) -> Iterator[tuple[slice, FloatArray]]:  # noqa: D102
        for rows, features in self._raw_blocks():
            yield rows, features - self._mean

    def _raw_blocks(self) -> Iterator[tuple[slice, FloatArray]]:
        if self._stored is None and 8 * self.n_samples * self.rank <= _FEATURE_BYTES:
            stored = np.empty((self.n_samples, self.rank))
            for rows in self._row_blocks():
                stored[rows] = self._make(rows)
            self._stored = stored
        for rows in self._row_blocks():
            yield rows, self._make(rows) if self._stored is None else self._stored[rows]

    def _row_blocks(self) -> Iterator[slice]:
        return row_blocks(self.n_samples, len(self.family.landmarks), 1 << 19)

    def _make(self, rows: slice) -> FloatArray:
        return self._anchored_block(rows) @ self._root

    def _anchored_block(self, rows: slice) -> FloatArray:
        return _anchored(self.family.kernel, self.family.X[rows], self.family.landmarks, self.bandwidths)

    @cached_property
    def _mean(self) -> FloatArray:
        total = np.zeros(self.rank)
        for rows, features in self._raw_blocks():
            total += features.sum(axis=0) if self.weights is None else self.weights[rows] @ features
        return total / self.total

    @cached_property
    def _missing(self) -> FloatArray:
        """Diagonal of what the landmarks do not span, of shape (n_samples,)."""
        exact = _anchored_diagonal(self.family.kernel, self.family.X, self.bandwidths)
        spanned = np.concatenate([np.einsum("jr,jr->j", f, f) for _, f in self._raw_blocks()])
        return np.maximum(exact - spanned, 0.0)

    @cached_property
    def centered_diagonal(self) -> FloatArray:  # noqa: D102
        spanned = np.concatenate([np.einsum("jr,jr->j", f, f) for _, f in self.blocks()])
        return spanned + self._missing

    @property
    def approximation_error(self) -> float:
        """Mean over samples of the share of their squared norm in feature space that the landmarks do not span."""
        return float(np.mean(self._missing / self.centered_diagonal))

    def log_bandwidth_gradients(self, adjoints: Sequence[SymmetricLowRank]) -> FloatArray:  # noqa: D102
        # d(C W⁺ Cᵀ) = dC W⁺Cᵀ + CW⁺ dCᵀ − CW⁺ dW W⁺Cᵀ, so with B = CW⁺ and Y = G B the derivative is
        # 2 ⟨Y, dC⟩ − ⟨BᵀY, dW⟩ for the low-rank part of G; its diagonal part meets the exact diagonal of k'.
        family, kernel = self.family, self.family.kernel
        gradients = np.zeros((len(adjoints), family.n_features))
        factors = [adjoint.factors() for adjoint in adjoints]
        inner = [self._project_raw(right) for _, right in factors]
        cores = [np.zeros((self.rank, self.rank)) for _ in adjoints]
        for rows, features in self._raw_blocks():
            weights = []
            for i in range(len(adjoints)):
                Y = factors[i][0][rows] @ inner[i].T
                cores[i] += features.T @ Y
                weights.append(2.0 * Y @ self._root.T)
            gradients += _anchored_gradients(kernel, family.X[rows], family.landmarks, self.bandwidths, weights)
        small = [-(self._root @ core @ self._root.T) for core in cores]
        gradients += _anchored_gradients(kernel, family.landmarks, family.landmarks, self.bandwidths, small)
        origin = np.zeros((1, family.n_features))
        pulls = [adjoint.diagonal[:, None] for adjoint in adjoints]
        return gradients - 2.0 * kernel.weighted_gradients(family.X, origin, self.bandwidths, pulls)

    def _project_raw(self, V: FloatArray) -> FloatArray:
        inner = np.zeros((self.rank, V.shape[1]))
        for rows, features in self._raw_blocks():
            inner += features.T @ V[rows]
        return inner

    def centers(self, prototypes: FloatArray) -> Centers:  # noqa: D102
        family = self.family
        locations = self._project_raw(prototypes).T
        return LandmarkCenters(family.kernel, family.center, family.landmarks, self.bandwidths, self._root, locations)


@dataclass(frozen=True)
class LandmarkCenters(Centers):
    """Centers with coordinates in the space that the landmarks span: O(rank) per new row."""

    kernel: Kernel
    center: FloatArray
    landmarks: FloatArray
    bandwidths: FloatArray
    root: FloatArray
    locations: FloatArray

    def squared_distances(self, Z: FloatArray) -> FloatArray:  # noqa: D102
        distances = np.empty((len(Z), len(self.locations)))
        norms = np.einsum("ir,ir->i", self.locations, self.locations)
        for rows in row_blocks(len(Z), len(self.landmarks)):
            X = Z[rows] - self.center
            features = _anchored(self.kernel, X, self.landmarks, self.bandwidths) @ self.root
            exact = _anchored_diagonal(self.kernel, X, self.bandwidths)
            missing = np.maximum(exact - np.einsum("jr,jr->j", features, features), 0.0)
            found = squared_euclidean(features, self.locations) + missing[:, None]
            distances[rows] = clear_rounding(found, exact, norms)  # as in the fit
        return distances


def choose_landmarks(X: FloatArray, kernel: Kernel, bandwidths: FloatArray, rank: int) -> IntArray:
    """Randomly pivoted Cholesky: rows drawn in proportion to what the earlier ones leave unexplained of them."""
    rng = np.random.default_rng(_SEED)
    n_candidates = min(len(X), _CANDIDATES_PER_LANDMARK * rank)
    candidates = (
        np.sort(rng.choice(len(X), n_candidates, replace=False)) if n_candidates < len(X) else np.arange(len(X))
    )
    rows = X[candidates]
    residual = _anchored_diagonal(kernel, rows, bandwidths)
    total = residual.sum()
    factor = np.empty((n_candidates, rank))
    chosen: list[int] = []
    while len(chosen) < rank and residual.sum() > _PIVOT_FLOOR * total:
        activity.step("choosing landmarks", len(chosen), rank)
        written = factor[:, : len(chosen)]
        pivot = int(rng.choice(n_candidates, p=residual / residual.sum()))
        column = _anchored(kernel, rows, rows[pivot : pivot + 1], bandwidths)[:, 0]
        column -= written @ written[pivot]
        if column[pivot] <= 0:  # rounding: the earlier landmarks explain this row entirely
            residual[pivot] = 0.0
            continue
        factor[:, len(chosen)] = column / np.sqrt(column[pivot])
        residual = np.maximum(residual - factor[:, len(chosen)] ** 2, 0.0)
        residual[pivot] = 0.0
        chosen.append(pivot)
    return candidates[chosen or [0]]  # none is needed where all rows are one


def _anchored(kernel: Kernel, X: FloatArray, L: FloatArray, bandwidths: FloatArray) -> FloatArray:
    """k'(X, L): the kernel relative to its values at the origin."""
    C = kernel.shifted(X, L, bandwidths)
    C -= _to_origin(kernel, X, bandwidths)[:, None]
    C -= _to_origin(kernel, L, bandwidths)
    return C


def _anchored_diagonal(kernel: Kernel, X: FloatArray, bandwidths: FloatArray) -> FloatArray:
    return np.maximum(kernel.shifted_diagonal(X, bandwidths) - 2.0 * _to_origin(kernel, X, bandwidths), 0.0)


def _to_origin(kernel: Kernel, X: FloatArray, bandwidths: FloatArray) -> FloatArray:
    return kernel.shifted(X, np.zeros((1, X.shape[1])), bandwidths)[:, 0]


def _anchored_gradients(
    kernel: Kernel, X: FloatArray, L: FloatArray, bandwidths: FloatArray, weights: Sequence[FloatArray]
) -> FloatArray:
    """Σ_jl Y_jl ∂k'(x_j, l_l)/∂ log θ_d for each weight matrix Y, of shape (len(weights), n_features)."""
    origin = np.zeros((1, X.shape[1]))
    gradients = kernel.weighted_gradients(X, L, bandwidths, weights)
    gradients -= kernel.weighted_gradients(X, origin, bandwidths, [Y.sum(axis=1)[:, None] for Y in weights])
    gradients -= kernel.weighted_gradients(L, origin, bandwidths, [Y.sum(axis=0)[:, None] for Y in weights])
    return gradients
