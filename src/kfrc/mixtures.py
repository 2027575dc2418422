"""Mixtures of Gaussian and t components, fitted by expectation-maximization from given memberships."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import gammaln

from kfrc._registry import Registered
from kfrc.typing import FloatArray

RIDGE = 1e-3
"""Added to variances, in units of a column's total variance: collinear columns stay harmless."""

_ATOM = 0.1
"""Share of rows with the very same value from which a column counts as having an atom there."""

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
    def fit(self, X: FloatArray, W: FloatArray, means: FloatArray, sizes: FloatArray, ridge: FloatArray) -> Spread:
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

    def fit(self, X: FloatArray, W: FloatArray, means: FloatArray, sizes: FloatArray, ridge: FloatArray) -> Spread:  # noqa: D102
        scatter = (X * W.sum(axis=1)[:, None]).T @ X - (means.T * _masses(W)) @ means
        factor = np.linalg.cholesky(scatter / len(X) + np.diag(ridge))
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

    def fit(self, X: FloatArray, W: FloatArray, means: FloatArray, sizes: FloatArray, ridge: FloatArray) -> Spread:
        scatter = np.maximum(W.T @ np.square(X) - _masses(W)[:, None] * np.square(means), 0.0)
        variances = self._variances(scatter, sizes, len(X)) + ridge
        log_volumes = np.broadcast_to(0.5 * np.log(variances).sum(axis=1), len(means))
        return Spread(1.0 / np.sqrt(variances), log_volumes)

    @abstractmethod
    def _variances(self, scatter: FloatArray, sizes: FloatArray, n_samples: int) -> FloatArray:
        """Variances of shape (1 or n_clusters, n_features) from sums of squares (n_clusters, n_features)."""

    def squared_distances(self, X: FloatArray, means: FloatArray, scaling: FloatArray) -> FloatArray:
        precisions = np.broadcast_to(np.square(scaling), means.shape)
        distances = np.square(X) @ precisions.T - 2.0 * X @ (means * precisions).T
        distances += (np.square(means) * precisions).sum(axis=1)
        return distances


@dataclass(frozen=True)
class TiedDiagonal(_Uncorrelated, name="tied_diagonal"):
    """One variance per column, common to all components."""

    def _variances(self, scatter: FloatArray, sizes: FloatArray, n_samples: int) -> FloatArray:
        variances: FloatArray = scatter.sum(axis=0, keepdims=True) / n_samples
        return variances

    def n_parameters(self, n_clusters: int, n_features: int) -> int:  # noqa: D102
        return n_features


@dataclass(frozen=True)
class Diagonal(_Uncorrelated, name="diagonal"):
    """One variance per column and component."""

    def _variances(self, scatter: FloatArray, sizes: FloatArray, n_samples: int) -> FloatArray:
        # One row's worth of the column's total variance: a component of a few rows cannot shrink to a point.
        return (scatter + 1.0) / (sizes[:, None] + 1.0)

    def n_parameters(self, n_clusters: int, n_features: int) -> int:  # noqa: D102
        return n_clusters * n_features


@dataclass(frozen=True)
class _OwnMatrices(Covariance):
    """A matrix for each component: the part that all kinds of such matrices have in common."""

    has_own_matrices: ClassVar[bool] = True

    def fit(self, X: FloatArray, W: FloatArray, means: FloatArray, sizes: FloatArray, ridge: FloatArray) -> Spread:
        masses = _masses(W)
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


@dataclass(frozen=True)
class MixtureKind:
    """A kind of mixture: what its covariances share, and how heavy the tails of its components are.

    Parameters
    ----------
    covariance : Covariance
    degrees_of_freedom : float
        Of the t distribution; infinite ones mean Gaussian components, small ones heavy tails. They are not fitted.

    Examples
    --------
    >>> from kfrc.mixtures import MixtureKind, Tied
    >>> kind = MixtureKind(Tied(), degrees_of_freedom=4)
    >>> kind.name, kind.n_parameters(n_clusters=3, n_features=4)
    ('tied_t', 24)
    """

    covariance: Covariance
    degrees_of_freedom: float = math.inf

    @property
    def name(self) -> str:
        """Label of the covariance, with ``_t`` after it if the tails are heavy."""
        return self.covariance.label if math.isinf(self.degrees_of_freedom) else f"{self.covariance.label}_t"

    def n_parameters(self, n_clusters: int, n_features: int) -> int:
        """Free parameters: weights, means and covariances."""
        return n_clusters - 1 + n_clusters * n_features + self.covariance.n_parameters(n_clusters, n_features)


@dataclass(frozen=True)
class Mixture:
    """A mixture of components of one kind, with density Σ_i π_i f_i(x).

    Attributes
    ----------
    kind : MixtureKind
    weights : ndarray of shape (n_clusters,)
        π_i, summing to one.
    means : ndarray of shape (n_clusters, n_features)
    spread : Spread

    References
    ----------
    G. J. McLachlan and D. Peel (2000). Finite Mixture Models. Wiley.

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc.mixtures import Mixture, MixtureKind, Tied
    >>> X = np.array([[-1.1], [-0.9], [0.9], [1.1]])
    >>> mixture = Mixture.from_memberships(X, np.repeat(np.eye(2), 2, axis=0), MixtureKind(Tied()))
    >>> mixture.means.ravel()
    array([-1.,  1.])
    >>> mixture.posterior(np.array([[0.0], [3.0]])).round(3)
    array([[0.5, 0.5],
           [0. , 1. ]])
    """

    kind: MixtureKind
    weights: FloatArray
    means: FloatArray
    spread: Spread

    @classmethod
    def from_memberships(
        cls,
        X: FloatArray,
        U: FloatArray,
        kind: MixtureKind,
        *,
        ridge: FloatArray | None = None,
        row_weights: FloatArray | None = None,
    ) -> Mixture:
        """Maximization step: the mixture that memberships imply.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
        U : ndarray of shape (n_samples, n_clusters)
        kind : MixtureKind
        ridge : ndarray of shape (n_features,), optional
            Added to the variances; by default the ``resolution`` of X.
        row_weights : ndarray of shape (n_samples, n_clusters), optional
            What the t distribution makes of far rows: they count less for location and spread.
        """
        sizes = U.sum(axis=0) + _MIN_WEIGHT
        W = U if row_weights is None else U * row_weights
        means = (W.T @ X) / _masses(W)[:, None]
        spread = kind.covariance.fit(X, W, means, sizes, resolution(X) if ridge is None else ridge)
        return cls(kind, sizes / sizes.sum(), means, spread)

    def expectation(self, X: FloatArray) -> Expectation:
        """Expectation step: what the mixture says of rows of shape (n_samples, n_features)."""
        distances = self.squared_distances(X)
        joint = self.log_joint(distances)
        largest = joint.max(axis=1)
        log_densities = largest + np.log(np.exp(joint - largest[:, None]).sum(axis=1))
        nu = self.kind.degrees_of_freedom
        row_weights = None if math.isinf(nu) else (nu + X.shape[1]) / (nu + distances)
        return Expectation(np.exp(joint - log_densities[:, None]), log_densities, row_weights)

    def posterior(self, X: FloatArray) -> FloatArray:
        """Probability of every component given a row, of shape (n_samples, n_clusters)."""
        posterior = self.expectation(X).posterior
        # Logarithms of densities far out are so large that their sum loses digits.
        return posterior / posterior.sum(axis=1, keepdims=True)

    def squared_distances(self, X: FloatArray) -> FloatArray:
        """Mahalanobis distances, squared, of shape (n_samples, n_clusters)."""
        distances = self.kind.covariance.squared_distances(X, self.means, self.spread.scaling)
        return np.maximum(distances, 0.0, out=distances)

    def log_joint(self, distances: FloatArray) -> FloatArray:
        """Logarithm of π_i f_i(x_j) from squared distances, of shape (n_samples, n_clusters)."""
        n_features, nu = self.means.shape[1], self.kind.degrees_of_freedom
        if math.isinf(nu):
            log_densities = -0.5 * (distances + n_features * math.log(2.0 * math.pi))
        else:
            constant = gammaln(0.5 * (nu + n_features)) - gammaln(0.5 * nu) - 0.5 * n_features * math.log(nu * math.pi)
            log_densities = constant - 0.5 * (nu + n_features) * np.log1p(distances / nu)
        joint: FloatArray = log_densities - self.spread.log_volumes + np.log(self.weights)
        return joint


@dataclass(frozen=True)
class Expectation:
    """What a mixture says of rows.

    Attributes
    ----------
    posterior : ndarray of shape (n_samples, n_clusters)
        Probability of every component given a row.
    log_densities : ndarray of shape (n_samples,)
    row_weights : ndarray of shape (n_samples, n_clusters) or None
        How much each row counts for the location and spread of a t component; None for Gaussian ones.
    """

    posterior: FloatArray
    log_densities: FloatArray
    row_weights: FloatArray | None

    @property
    def log_likelihood(self) -> float:
        """Sum of the log-densities."""
        return float(self.log_densities.sum())


@dataclass(frozen=True)
class MixtureFit:
    """Where expectation-maximization ended.

    Attributes
    ----------
    mixture : Mixture
    expectation : Expectation
        What the mixture says of the rows it was fitted to.
    log_likelihood_path : ndarray of shape (n_iter + 1,)
        After each maximization step, the first included.
    converged : bool
        Whether the rise fell below the tolerance before the iterations ran out.
    """

    mixture: Mixture
    expectation: Expectation
    log_likelihood_path: FloatArray
    converged: bool


def fit_mixture(
    X: FloatArray,
    U: FloatArray,
    kind: MixtureKind,
    *,
    ridge: FloatArray | None = None,
    max_iter: int = 100,
    tol: float = 1e-5,
) -> MixtureFit:
    """Expectation-maximization from given memberships.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Columns with mean zero and standard deviation one.
    U : ndarray of shape (n_samples, n_clusters)
        Memberships to start from.
    kind : MixtureKind
    ridge : ndarray of shape (n_features,), optional
        Added to the variances; by default the ``resolution`` of X. The likelihood never falls but for it.
    max_iter : int
        Pairs of an expectation and a maximization step after the first maximization step.
    tol : float
        Stop when the log-likelihood per row rises by less than this.

    Returns
    -------
    MixtureFit

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc.mixtures import Diagonal, MixtureKind, fit_mixture
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(-2, 1, (50, 2)), rng.normal(2, 1, (50, 2))])
    >>> fit = fit_mixture(X, np.repeat(np.eye(2), 50, axis=0), MixtureKind(Diagonal()))
    >>> fit.converged, fit.mixture.weights.round(1)
    (True, array([0.5, 0.5]))
    """
    ridge = resolution(X) if ridge is None else ridge
    mixture = Mixture.from_memberships(X, U, kind, ridge=ridge)
    step = mixture.expectation(X)
    path = [step.log_likelihood]
    converged = False
    while not converged and len(path) <= max_iter:
        mixture = Mixture.from_memberships(X, step.posterior, kind, ridge=ridge, row_weights=step.row_weights)
        step = mixture.expectation(X)
        path.append(step.log_likelihood)
        converged = path[-1] - path[-2] < tol * len(X)
    return MixtureFit(mixture, step, np.array(path), converged)


def resolution(X: FloatArray) -> FloatArray:
    """How finely each column may be modeled: a floor for its variances, of shape (n_features,).

    A density can grow without bound at a value that many rows share, such as the zeros of a count or of a missing
    measurement, and a mixture would rather explain those rows than find clusters. The floor is the share of rows with
    the commonest value; for continuous columns it is ``RIDGE``.

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc.mixtures import resolution
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 2))
    >>> X[:60, 1] = 0.0
    >>> resolution(X)
    array([0.001, 0.6  ])
    """
    shares = np.array([np.unique(column, return_counts=True)[1].max() / len(column) for column in X.T])
    return np.where(shares >= _ATOM, shares, RIDGE)


def _masses(W: FloatArray) -> FloatArray:
    """Total weight of each component, never quite zero."""
    masses: FloatArray = W.sum(axis=0) + _MIN_WEIGHT
    return masses
