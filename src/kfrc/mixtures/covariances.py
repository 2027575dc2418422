"""Covariances of the components of a mixture: what they share, and how they are estimated."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.linalg import solve_triangular

from kfrc._registry import Registered
from kfrc.typing import FloatArray

_MIN_WEIGHT = 1e-10
"""Rows in a component below which it counts as empty."""

_MAX_OWN_FEATURES = 10
"""Columns up to which components may have matrices of their own; their number grows with the square of this."""

_SHAPE_TOL = 1e-10
"""Relative change of the volumes at which the shape that components share has been found."""

_SHAPE_ITERATIONS = 200
"""Most rounds for it; some ten are usual."""


@dataclass(frozen=True)
class Spread:
    """Covariances of the components of a mixture, in the form in which densities need them.

    Attributes
    ----------
    scaling : ndarray
        What turns rows into standard units: the transposed inverse Cholesky factor (n_features, n_features) of a common
        covariance, or one such matrix per component (n_clusters, n_features, n_features), or inverse standard
        deviations, common (1, n_features) or one row per component.
    log_volumes : ndarray of shape (n_clusters,)
        Half the log-determinants of the covariances.
    """

    scaling: FloatArray
    log_volumes: FloatArray


@dataclass(frozen=True)
class Covariance(Registered, ABC):
    """What the covariances of the components of a mixture share."""

    has_own_matrices: ClassVar[bool] = False
    """Whether each component has a matrix of its own, which takes more rows and more time."""

    @abstractmethod
    def fit(
        self,
        X: FloatArray,
        W: FloatArray,
        means: FloatArray,
        sizes: FloatArray,
        ridge: FloatArray,
        total: float | None = None,
    ) -> Spread:
        """Covariances around ``means``.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
        W : ndarray of shape (n_samples, n_clusters)
            How much each row counts for the spread of each component.
        means : ndarray of shape (n_clusters, n_features)
            Means of the rows with weights ``W``.
        sizes : ndarray of shape (n_clusters,)
            Rows in each component.
        ridge : ndarray of shape (n_features,)
            Added to the variances.
        total : float, optional
            How many rows there are, weights counted; by default as many as X has.
        """

    @abstractmethod
    def squared_distances(self, X: FloatArray, means: FloatArray, scaling: FloatArray) -> FloatArray:
        """Mahalanobis distances, squared and not yet free of negative rounding, of shape (n_samples, n_clusters)."""

    @abstractmethod
    def n_parameters(self, n_clusters: int, n_features: int) -> int:
        """Free parameters of the covariances."""

    def is_estimable(self, n_samples: int, n_features: int, n_clusters: int = 1) -> bool:
        """Whether there are rows enough; true unless a subclass knows better."""
        return True


@dataclass(frozen=True)
class Tied(Covariance, name="tied"):
    """One full covariance matrix for all components."""

    def fit(  # noqa: D102
        self,
        X: FloatArray,
        W: FloatArray,
        means: FloatArray,
        sizes: FloatArray,
        ridge: FloatArray,
        total: float | None = None,
    ) -> Spread:
        scatter = (X * W.sum(axis=1)[:, None]).T @ X - (means.T * masses_of(W)) @ means
        factor = np.linalg.cholesky(scatter / (len(X) if total is None else total) + np.diag(ridge))
        scaling = solve_triangular(factor, np.eye(X.shape[1]), lower=True).T
        return Spread(scaling, np.full(len(means), np.log(np.diagonal(factor)).sum()))

    def squared_distances(self, X: FloatArray, means: FloatArray, scaling: FloatArray) -> FloatArray:  # noqa: D102
        Z, centers = X @ scaling, means @ scaling
        distances: FloatArray = np.square(Z).sum(axis=1)[:, None] - 2.0 * Z @ centers.T
        distances += np.square(centers).sum(axis=1)
        return distances

    def n_parameters(self, n_clusters: int, n_features: int) -> int:  # noqa: D102
        return n_features * (n_features + 1) // 2

    def is_estimable(self, n_samples: int, n_features: int, n_clusters: int = 1) -> bool:  # noqa: D102
        return n_samples > 2 * n_features


@dataclass(frozen=True)
class _Uncorrelated(Covariance):
    """Diagonal covariances: the part that common and own variances have in common."""

    def fit(
        self,
        X: FloatArray,
        W: FloatArray,
        means: FloatArray,
        sizes: FloatArray,
        ridge: FloatArray,
        total: float | None = None,
    ) -> Spread:
        scatter = np.maximum(W.T @ np.square(X) - masses_of(W)[:, None] * np.square(means), 0.0)
        variances = self._variances(scatter, sizes, len(X) if total is None else total) + ridge
        log_volumes = np.broadcast_to(0.5 * np.log(variances).sum(axis=1), len(means))
        return Spread(1.0 / np.sqrt(variances), log_volumes)

    @abstractmethod
    def _variances(self, scatter: FloatArray, sizes: FloatArray, n_samples: float) -> FloatArray:
        """Variances of shape (1 or n_clusters, n_features) from sums of squares (n_clusters, n_features)."""

    def squared_distances(self, X: FloatArray, means: FloatArray, scaling: FloatArray) -> FloatArray:
        precisions = np.broadcast_to(np.square(scaling), means.shape)
        distances = np.square(X) @ precisions.T - 2.0 * X @ (means * precisions).T
        distances += (np.square(means) * precisions).sum(axis=1)
        return distances


@dataclass(frozen=True)
class TiedDiagonal(_Uncorrelated, name="tied_diagonal"):
    """One variance per column, common to all components."""

    def _variances(self, scatter: FloatArray, sizes: FloatArray, n_samples: float) -> FloatArray:
        variances: FloatArray = scatter.sum(axis=0, keepdims=True) / n_samples
        return variances

    def n_parameters(self, n_clusters: int, n_features: int) -> int:  # noqa: D102
        return n_features


@dataclass(frozen=True)
class Diagonal(_Uncorrelated, name="diagonal"):
    """One variance per column and component."""

    def _variances(self, scatter: FloatArray, sizes: FloatArray, n_samples: float) -> FloatArray:
        # One row's worth of the column's total variance: a component of a few rows cannot shrink to a point.
        return (scatter + 1.0) / (sizes[:, None] + 1.0)

    def n_parameters(self, n_clusters: int, n_features: int) -> int:  # noqa: D102
        return n_clusters * n_features


@dataclass(frozen=True)
class _OwnMatrices(Covariance):
    """A matrix for each component: the part that all kinds of such matrices have in common."""

    has_own_matrices: ClassVar[bool] = True

    def fit(
        self,
        X: FloatArray,
        W: FloatArray,
        means: FloatArray,
        sizes: FloatArray,
        ridge: FloatArray,
        total: float | None = None,
    ) -> Spread:
        masses = masses_of(W)
        scatters = np.array(
            [
                (X * w[:, None]).T @ X - mass * np.outer(mean, mean)
                for w, mass, mean in zip(W.T, masses, means, strict=True)
            ]
        )
        scatters += sizes[:, None, None] * np.diag(ridge)
        variances, axes = self._principal(scatters, sizes)
        scaling = axes / np.sqrt(variances)[:, None, :]
        return Spread(scaling, 0.5 * np.log(variances).sum(axis=1))

    @abstractmethod
    def _principal(self, scatters: FloatArray, sizes: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Variances (n_clusters, n_features) along axes, the columns of (n_clusters, n_features, n_features).

        ``scatters`` are sums of squares and products, with the ridge, of shape (n_clusters, n_features, n_features).
        """

    def squared_distances(self, X: FloatArray, means: FloatArray, scaling: FloatArray) -> FloatArray:
        columns = [np.square((X - mean) @ matrix).sum(axis=1) for mean, matrix in zip(means, scaling, strict=True)]
        return np.column_stack(columns)

    def is_estimable(self, n_samples: int, n_features: int, n_clusters: int = 1) -> bool:
        """Whether there are two rows for every entry of the matrices, and two to ten columns.

        With a single column there is nothing to turn, and other kinds say the same.
        """
        return 2 <= n_features <= _MAX_OWN_FEATURES and n_samples >= n_clusters * n_features * (n_features + 1)


@dataclass(frozen=True)
class Rotated(_OwnMatrices, name="rotated"):
    """One shape and volume for all components, each turned its own way: Σ_i = D_i A D_iᵀ (EEV).

    The variances along the principal axes, in descending order, are common; the axes are not.

    References
    ----------
    G. Celeux and G. Govaert (1995). Gaussian parsimonious clustering models. Pattern Recognition 28.
    """

    def _principal(self, scatters: FloatArray, sizes: FloatArray) -> tuple[FloatArray, FloatArray]:
        squares, axes = _principal_axes(scatters)
        return np.broadcast_to(squares.sum(axis=0) / sizes.sum(), squares.shape), axes

    def n_parameters(self, n_clusters: int, n_features: int) -> int:  # noqa: D102
        return n_features + n_clusters * n_features * (n_features - 1) // 2


@dataclass(frozen=True)
class RotatedScaled(_OwnMatrices, name="rotated_scaled"):
    """One shape for all components, each with its own volume and turned its own way: Σ_i = λ_i D_i A D_iᵀ (VEV).

    Volumes and shape have no closed form together. Each follows from the other, and as the likelihood is convex in
    their logarithms, going back and forth finds the one best pair.

    References
    ----------
    G. Celeux and G. Govaert (1995). Gaussian parsimonious clustering models. Pattern Recognition 28.
    """

    def _principal(self, scatters: FloatArray, sizes: FloatArray) -> tuple[FloatArray, FloatArray]:
        squares, axes = _principal_axes(scatters)
        n_features = squares.shape[1]
        volumes = squares.sum(axis=1) / (n_features * sizes)
        for _ in range(_SHAPE_ITERATIONS):
            shape = (squares / volumes[:, None]).sum(axis=0)
            shape /= np.exp(np.log(shape).mean())
            following = (squares / shape).sum(axis=1) / (n_features * sizes)
            settled = np.abs(following / volumes - 1.0).max() <= _SHAPE_TOL
            volumes = following
            if settled:
                break
        return volumes[:, None] * shape, axes

    def n_parameters(self, n_clusters: int, n_features: int) -> int:  # noqa: D102
        return n_clusters + n_features - 1 + n_clusters * n_features * (n_features - 1) // 2


@dataclass(frozen=True)
class Full(_OwnMatrices, name="full"):
    """A covariance matrix for each component (VVV), drawn to the common one by a few rows of it."""

    def _principal(self, scatters: FloatArray, sizes: FloatArray) -> tuple[FloatArray, FloatArray]:
        # Two rows more than columns fix a matrix; so many of the common one keep a component of a few rows in shape.
        prior = scatters.shape[1] + 2.0
        pooled = scatters.sum(axis=0) / sizes.sum()
        matrices = (scatters + prior * pooled) / (sizes + prior)[:, None, None]
        return _principal_axes(matrices)

    def n_parameters(self, n_clusters: int, n_features: int) -> int:  # noqa: D102
        return n_clusters * n_features * (n_features + 1) // 2


def _principal_axes(matrices: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Eigenvalues, descending and positive, and eigenvectors of symmetric matrices (n_clusters, n, n)."""
    values, vectors = np.linalg.eigh(matrices)
    values, vectors = values[:, ::-1], vectors[:, :, ::-1]
    return np.maximum(values, np.finfo(np.float64).eps * values[:, :1]), vectors


def masses_of(W: FloatArray) -> FloatArray:
    """Total weight of each component, never quite zero."""
    masses: FloatArray = W.sum(axis=0) + _MIN_WEIGHT
    return masses
