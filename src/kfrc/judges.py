"""Judges of partitions that need no labels: which grouping explains the data best, and how sure each row is of it."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import gammaln, logsumexp

from kfrc._registry import Registered
from kfrc.metrics import frobenius_adjusted_rand_score
from kfrc.typing import FloatArray

RIDGE = 1e-3
"""Added to variances, in units of a column's total variance: collinear columns stay harmless."""

_ATOM = 0.1
"""Share of rows with the very same value from which a column counts as having an atom there."""

_SAME_START = 0.98
"""Frobenius ARI above which two starts of the same mixture are one."""

_MIN_WEIGHT = 1e-10
"""Rows in a component below which it counts as empty."""


@dataclass(frozen=True)
class Mixture:
    """A mixture of Gaussian or t components with a common or an own covariance.

    Attributes
    ----------
    weights : ndarray of shape (n_clusters,)
    means : ndarray of shape (n_clusters, n_features)
    scaling : ndarray
        What turns rows into standard units: an inverse Cholesky factor (n_features, n_features) of the pooled
        covariance, or inverse standard deviations, pooled (1, n_features) or one row per component.
    log_volumes : ndarray of shape (n_clusters,)
        Half the log-determinants of the covariances.
    covariance : {"tied", "tied_diagonal", "diagonal"}
    degrees_of_freedom : float
        Of the t distribution; ``inf`` is the Gaussian.
    """

    weights: FloatArray
    means: FloatArray
    scaling: FloatArray
    log_volumes: FloatArray
    covariance: str
    degrees_of_freedom: float

    def squared_distances(self, X: FloatArray) -> FloatArray:
        """Mahalanobis distances, squared, of shape (n_samples, n_clusters)."""
        if self.covariance == "tied":
            Z, centers = X @ self.scaling, self.means @ self.scaling
            distances = np.square(Z).sum(axis=1)[:, None] - 2.0 * Z @ centers.T + np.square(centers).sum(axis=1)
        else:
            precisions = np.broadcast_to(np.square(self.scaling), self.means.shape)
            distances = np.square(X) @ precisions.T - 2.0 * X @ (self.means * precisions).T
            distances += (np.square(self.means) * precisions).sum(axis=1)
        return np.maximum(distances, 0.0, out=distances)

    def log_joint(self, distances: FloatArray) -> FloatArray:
        """Logarithm of π_i f_i(x_j) from squared distances, of shape (n_samples, n_clusters)."""
        n_features, nu = self.means.shape[1], self.degrees_of_freedom
        if math.isinf(nu):
            log_densities = -0.5 * (distances + n_features * math.log(2.0 * math.pi))
        else:
            constant = gammaln(0.5 * (nu + n_features)) - gammaln(0.5 * nu) - 0.5 * n_features * math.log(nu * math.pi)
            log_densities = constant - 0.5 * (nu + n_features) * np.log1p(distances / nu)
        joint: FloatArray = log_densities - self.log_volumes + np.log(self.weights)
        return joint

    def posterior(self, X: FloatArray) -> FloatArray:
        """Probability of every component given a row, of shape (n_samples, n_clusters)."""
        joint = self.log_joint(self.squared_distances(X))
        return np.exp(joint - logsumexp(joint, axis=1, keepdims=True))


@dataclass(frozen=True)
class Opinion:
    """What a judge holds to be a good description of the data.

    Attributes
    ----------
    name : str
        The kind of description.
    evidence : float
        How good it is; larger is better. Comparable between kinds and between numbers of clusters.
    posterior : ndarray of shape (n_samples, n_clusters)
        Probability of every cluster for each row.
    row_evidence : ndarray of shape (n_samples,)
        Shares of the rows in ``evidence``, so that resampled rows can be judged again.
    model : Mixture or None
        Gives probabilities for new rows, if the judge has such a model.
    """

    name: str
    evidence: float
    posterior: FloatArray
    row_evidence: FloatArray
    model: Mixture | None = None


@dataclass(frozen=True)
class Judge(Registered, ABC):
    """Something that can tell, without labels, which of many partitions to believe.

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc.judges import Judge
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(-2, 1, (50, 2)), rng.normal(2, 1, (50, 2))])
    >>> halves, stripes = np.repeat(np.eye(2), 50, axis=0), np.tile(np.eye(2), (50, 1))
    >>> opinions = Judge.from_name("mixture").examine(X, [stripes, halves])
    >>> opinions[0].name, bool((opinions[0].posterior.argmax(axis=1) == halves.argmax(axis=1)).mean() > 0.95)
    ('tied_diagonal', True)
    """

    has_model: ClassVar[bool] = False
    """Whether its opinions come with a model, which gives probabilities for rows it has not seen."""

    @abstractmethod
    def examine(self, X: FloatArray, partitions: Sequence[FloatArray]) -> list[Opinion]:
        """Opinions formed from proposed partitions, the best first.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Columns with mean zero and standard deviation one.
        partitions : sequence of ndarray of shape (n_samples, n_clusters)
            Memberships to start from, all with the same number of clusters.

        Returns
        -------
        list of Opinion
        """


@dataclass(frozen=True)
class MixtureJudge(Judge, name="mixture"):
    """Evidence of the mixture that each partition leads to, by BIC over kinds of components.

    Every partition is taken as responsibilities of a mixture. After one step of expectation-maximization the most
    likely distinct ones go on to convergence, for every kind of component. The evidence is the log-likelihood minus
    half the number of parameters times log n.

    Parameters
    ----------
    kinds : tuple of (covariance, degrees of freedom)
        Covariances are ``"tied"`` (common, full), ``"tied_diagonal"`` (common) or ``"diagonal"`` (own); infinite
        degrees of freedom mean Gaussian components, small ones heavy tails.
    n_finalists : int
        Partitions that go on to convergence, for each kind.
    max_iter : int
    tol : float
        Stop when the log-likelihood per row rises by less than this.

    References
    ----------
    G. J. McLachlan and D. Peel (2000). Finite Mixture Models. Wiley.
    """

    kinds: tuple[tuple[str, float], ...] = (
        ("tied_diagonal", math.inf),
        ("tied", math.inf),
        ("diagonal", math.inf),
        ("tied_diagonal", 4.0),
        ("tied", 4.0),
    )
    n_finalists: int = 4
    max_iter: int = 100
    tol: float = 1e-5
    has_model: ClassVar[bool] = True

    def examine(self, X: FloatArray, partitions: Sequence[FloatArray]) -> list[Opinion]:  # noqa: D102
        ridge = resolution(X)
        opinions = [
            opinion
            for covariance, tails in self.kinds
            if _estimable(covariance, *X.shape)
            for opinion in self._opinions(X, partitions, _Kind(covariance, tails, ridge))
        ]
        return sorted(opinions, key=lambda opinion: -opinion.evidence)

    def _opinions(self, X: FloatArray, partitions: Sequence[FloatArray], kind: _Kind) -> list[Opinion]:
        first = [_Expectation.of(kind.fit(X, U), X) for U in partitions]
        finalists: list[FloatArray] = []
        for step in sorted(first, key=lambda step: -step.log_likelihood):
            if len(finalists) == self.n_finalists:
                break
            if all(frobenius_adjusted_rand_score(step.posterior, U) < _SAME_START for U in finalists):
                finalists.append(step.posterior)
        return [self._converged(X, U, kind) for U in finalists]

    def _converged(self, X: FloatArray, U: FloatArray, kind: _Kind) -> Opinion:
        step = _Expectation.of(kind.fit(X, U), X)
        for _ in range(self.max_iter):
            following = _Expectation.of(kind.fit(X, step.posterior, step.row_weights), X)
            rise = following.log_likelihood - step.log_likelihood
            step = following
            if rise < self.tol * len(X):
                break
        penalty = 0.5 * math.log(len(X)) * n_parameters(kind.covariance, U.shape[1], X.shape[1])
        row_evidence = step.log_densities - penalty / len(X)
        return Opinion(kind.name, float(row_evidence.sum()), step.posterior, row_evidence, step.mixture)


def n_parameters(covariance: str, n_clusters: int, n_features: int) -> int:
    """Free parameters of a mixture; the degrees of freedom are not among them, as they are not fitted."""
    shape = {
        "tied": n_features * (n_features + 1) // 2,
        "tied_diagonal": n_features,
        "diagonal": n_clusters * n_features,
    }[covariance]
    return n_clusters - 1 + n_clusters * n_features + shape


def _estimable(covariance: str, n_samples: int, n_features: int) -> bool:
    """Whether there are rows enough for a full covariance matrix; diagonal ones can always be had."""
    return covariance != "tied" or n_samples > 2 * n_features


def resolution(X: FloatArray) -> FloatArray:
    """How finely each column may be modeled: a floor for its variances, of shape (n_features,).

    A density can grow without bound at a value that many rows share, such as the zeros of a count or of a missing
    measurement, and a mixture would rather explain those rows than find clusters. The floor is the share of rows with
    the commonest value; for continuous columns it is ``RIDGE``.

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc.judges import resolution
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 2))
    >>> X[:60, 1] = 0.0
    >>> resolution(X)
    array([0.001, 0.6  ])
    """
    shares = np.array([np.unique(column, return_counts=True)[1].max() / len(column) for column in X.T])
    return np.where(shares >= _ATOM, shares, RIDGE)


@dataclass(frozen=True)
class _Kind:
    """A kind of mixture, and how finely it may model each column."""

    covariance: str
    degrees_of_freedom: float
    ridge: FloatArray

    @property
    def name(self) -> str:
        return self.covariance if math.isinf(self.degrees_of_freedom) else f"{self.covariance}_t"

    def fit(self, X: FloatArray, U: FloatArray, row_weights: FloatArray | None = None) -> Mixture:
        """Maximization step: the mixture that memberships U imply.

        ``row_weights`` is what the t distribution makes of far rows: they count less for location and spread.
        """
        n_samples, n_features = X.shape
        sizes = U.sum(axis=0) + _MIN_WEIGHT
        W = U if row_weights is None else U * row_weights
        masses = W.sum(axis=0) + _MIN_WEIGHT
        means = (W.T @ X) / masses[:, None]
        if self.covariance == "tied":
            scatter = (X * W.sum(axis=1)[:, None]).T @ X - (means.T * masses) @ means
            factor = np.linalg.cholesky(scatter / n_samples + np.diag(self.ridge))
            scaling = solve_triangular(factor, np.eye(n_features), lower=True).T
            log_volumes = np.full(len(means), np.log(np.diagonal(factor)).sum())
        else:
            scatter = np.maximum(W.T @ np.square(X) - masses[:, None] * np.square(means), 0.0)
            if self.covariance == "tied_diagonal":
                variances = scatter.sum(axis=0, keepdims=True) / n_samples + self.ridge
            else:
                # One row's worth of the column's total variance: a component of a few rows cannot shrink to a point.
                variances = (scatter + 1.0) / (sizes[:, None] + 1.0) + self.ridge
            scaling = 1.0 / np.sqrt(variances)
            log_volumes = np.broadcast_to(0.5 * np.log(variances).sum(axis=1), len(means))
        return Mixture(sizes / sizes.sum(), means, scaling, log_volumes, self.covariance, self.degrees_of_freedom)


@dataclass(frozen=True)
class _Expectation:
    """Expectation step: what a mixture says of the rows."""

    mixture: Mixture
    posterior: FloatArray
    log_densities: FloatArray
    row_weights: FloatArray | None

    @classmethod
    def of(cls, mixture: Mixture, X: FloatArray) -> _Expectation:
        distances = mixture.squared_distances(X)
        joint = mixture.log_joint(distances)
        log_densities = logsumexp(joint, axis=1)
        nu = mixture.degrees_of_freedom
        row_weights = None if math.isinf(nu) else (nu + X.shape[1]) / (nu + distances)
        return cls(mixture, np.exp(joint - log_densities[:, None]), log_densities, row_weights)

    @property
    def log_likelihood(self) -> float:
        return float(self.log_densities.sum())
