"""Mixtures of Gaussian and t components, fitted by expectation-maximization from given memberships."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln

from kfrc import activity
from kfrc.mixtures.covariances import Covariance, Spread, masses_of
from kfrc.typing import FloatArray

RIDGE = 1e-3
"""Added to variances, in units of a column's total variance: collinear columns stay harmless."""

ATOM = 0.1
"""Share of rows with the very same value from which a column counts as having an atom there."""


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
        total: float | None = None,
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
        total : float, optional
            How many rows there are, if U counts each as often as its weight says.
        """
        activity.step("fitting mixtures")
        sizes = masses_of(U)
        W = U if row_weights is None else U * row_weights
        masses = sizes if row_weights is None else masses_of(W)
        means = (W.T @ X) / masses[:, None]
        spread = kind.covariance.fit(X, W, means, sizes, resolution(X) if ridge is None else ridge, total)
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
    mixture : Mixture or MixedMixture
    expectation : Expectation
        What the mixture says of the rows it was fitted to.
    log_likelihood_path : ndarray of shape (n_iter + 1,)
        After each maximization step, the first included.
    converged : bool
        Whether the rise fell below the tolerance before the iterations ran out.
    """

    mixture: Any
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
    shares = commonest_shares(X)
    return np.where(shares >= ATOM, shares, RIDGE)


def commonest_shares(X: FloatArray) -> FloatArray:
    """Share of the rows that have the commonest value of each column, of shape (n_features,)."""
    return np.array([np.unique(column, return_counts=True)[1].max() / len(column) for column in X.T])
