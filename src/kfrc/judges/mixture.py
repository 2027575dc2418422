"""The mixture judge: evidence of the density that each partition leads to."""

from __future__ import annotations

import math
import warnings
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.linalg import solve_triangular
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from kfrc.exceptions import KFRCError
from kfrc.judges.base import Judge, Opinion
from kfrc.metrics import frobenius_adjusted_rand_score
from kfrc.mixtures import Diagonal, Mixture, MixtureKind, Rotated, Tied, TiedDiagonal, fit_mixture, resolution
from kfrc.typing import FloatArray

_SAME_START = 0.98
"""Frobenius ARI above which two starts of the same mixture are one."""

_OWN_FINALISTS = 2
"""Starts of a kind with a matrix per component that go on to convergence: an iteration costs several times more."""

_MOST_ROWS = 2**40
"""A kind that so many rows are not enough for is called one for which none are."""


@dataclass(frozen=True)
class MixtureJudge(Judge, name="mixture"):
    """Evidence of the mixture that each partition leads to, by BIC over kinds of components.

    Every partition is taken as responsibilities of a mixture. After one step of expectation-maximization the most
    likely distinct ones go on to convergence, for every kind of component. The evidence is the log-likelihood minus
    half the number of parameters times log n.

    Parameters
    ----------
    kinds : tuple of MixtureKind
        Those with more parameters than the rows can tell are passed over; it is an error if that leaves none.
    n_finalists : int
        Partitions that go on to convergence, for each kind; for kinds with a matrix per component at most two.
    n_sphered : int
        Partitions that the judge adds to those it is given: k-means on columns made uncorrelated with variance one.
        Columns that all measure the size of things hide groups that differ in shape from every other distance.
    max_iter : int
    tol : float
        Stop when the log-likelihood per row rises by less than this.

    References
    ----------
    G. J. McLachlan and D. Peel (2000). Finite Mixture Models. Wiley.
    """

    kinds: tuple[MixtureKind, ...] = (
        MixtureKind(TiedDiagonal()),
        MixtureKind(Tied()),
        MixtureKind(Diagonal()),
        MixtureKind(TiedDiagonal(), degrees_of_freedom=4.0),
        MixtureKind(Tied(), degrees_of_freedom=4.0),
        MixtureKind(Rotated()),
    )
    n_finalists: int = 4
    n_sphered: int = 4
    max_iter: int = 100
    tol: float = 1e-5
    has_model: ClassVar[bool] = True
    has_density: ClassVar[bool] = True

    def examine(self, X: FloatArray, partitions: Sequence[FloatArray]) -> list[Opinion]:  # noqa: D102
        (n_samples, n_features), n_clusters = X.shape, partitions[0].shape[1]
        kinds = [kind for kind in self.kinds if kind.covariance.is_estimable(n_samples, n_features, n_clusters)]
        if not kinds:
            raise KFRCError(self._complaint(n_samples, n_features, n_clusters))
        ridge = resolution(X)
        # One component has one partition, and too few rows to tell correlations are not sphered. A single partition is
        # to be continued, not compared with others.
        sphere = n_clusters > 1 and len(partitions) > 1 and Tied().is_estimable(n_samples, n_features)
        n_sphered = self.n_sphered if sphere else 0
        partitions = [*partitions, *sphered_partitions(X, n_clusters, n_sphered, ridge)]
        opinions = [
            self._converged(X, U, kind, ridge) for kind in kinds for U in self._finalists(X, partitions, kind, ridge)
        ]
        return sorted(opinions, key=lambda opinion: -opinion.evidence)

    def _complaint(self, n_samples: int, n_features: int, n_clusters: int) -> str:
        """Why no kind can be estimated, and what to do."""
        advice = "such as MixtureKind(TiedDiagonal()) or MixtureKind(Diagonal())"
        if not self.kinds:
            return f"MixtureJudge has no kinds of mixtures: give it at least one, {advice}"
        needs = "; ".join(_describe_need(kind, n_features, n_clusters) for kind in self.kinds)
        return (
            f"MixtureJudge cannot estimate any of its kinds of mixtures from {n_samples} rows and {n_features} columns "
            f"({needs}): add kinds with fewer parameters, {advice}, or use fewer columns"
        )

    def _finalists(
        self, X: FloatArray, partitions: Sequence[FloatArray], kind: MixtureKind, ridge: FloatArray
    ) -> list[FloatArray]:
        steps = [Mixture.from_memberships(X, U, kind, ridge=ridge).expectation(X) for U in partitions]
        own_matrices = kind.covariance.has_own_matrices
        n_finalists = min(self.n_finalists, _OWN_FINALISTS) if own_matrices else self.n_finalists
        finalists: list[FloatArray] = []
        for step in sorted(steps, key=lambda step: -step.log_likelihood):
            if len(finalists) == n_finalists:
                break
            if all(frobenius_adjusted_rand_score(step.posterior, U) < _SAME_START for U in finalists):
                finalists.append(step.posterior)
        return finalists

    def _converged(self, X: FloatArray, U: FloatArray, kind: MixtureKind, ridge: FloatArray) -> Opinion:
        fit = fit_mixture(X, U, kind, ridge=ridge, max_iter=self.max_iter, tol=self.tol)
        n_parameters = kind.n_parameters(U.shape[1], X.shape[1])
        row_evidence = fit.expectation.log_densities - 0.5 * math.log(len(X)) * n_parameters / len(X)
        return Opinion(
            kind.name,
            float(row_evidence.sum()),
            fit.expectation.posterior,
            row_evidence,
            fit.mixture,
            n_parameters=n_parameters,
        )


def sphered_partitions(X: FloatArray, n_clusters: int, n_partitions: int, ridge: FloatArray) -> list[FloatArray]:
    """Memberships by k-means on columns made uncorrelated with variance one, each from another seed.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Columns with mean zero.
    n_clusters : int
    n_partitions : int
    ridge : ndarray of shape (n_features,)
        Added to the variances.

    Returns
    -------
    list of ndarray of shape (n_samples, n_clusters)
        Without those that left a cluster empty; clusters are numbered by their first rows.
    """
    if n_partitions == 0:
        return []
    factor = np.linalg.cholesky(X.T @ X / len(X) + np.diag(ridge))
    Z = solve_triangular(factor, X.T, lower=True).T
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct rows than clusters: left out below
        labels = [KMeans(n_clusters, n_init=1, random_state=seed).fit(Z).labels_ for seed in range(n_partitions)]
    firsts = [np.unique(found, return_index=True)[1] for found in labels]
    # Clusters in the order of their first rows: the column of a cluster is its rank.
    return [
        np.eye(n_clusters)[np.argsort(np.argsort(first))[found]]
        for first, found in zip(firsts, labels, strict=True)
        if len(first) == n_clusters
    ]


def _describe_need(kind: MixtureKind, n_features: int, n_clusters: int) -> str:
    """How many rows a kind needs, found by bisection because a covariance only says whether there are enough."""
    needed = bisect_left(range(_MOST_ROWS), True, key=lambda n: kind.covariance.is_estimable(n, n_features, n_clusters))
    return f"{kind.name} needs {needed} rows" if needed < _MOST_ROWS else f"{kind.name} cannot have so many columns"
