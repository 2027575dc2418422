"""Judges of partitions that need no labels: which grouping explains the data best, and how sure each row is of it."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from kfrc._registry import Registered
from kfrc.exceptions import KFRCError
from kfrc.metrics import frobenius_adjusted_rand_score
from kfrc.mixtures import Diagonal, Mixture, MixtureKind, Tied, TiedDiagonal, fit_mixture, resolution
from kfrc.typing import FloatArray

_SAME_START = 0.98
"""Frobenius ARI above which two starts of the same mixture are one."""

_MOST_ROWS = 2**40
"""A kind that so many rows are not enough for is called one for which none are."""


class PosteriorModel(Protocol):
    """What can tell the probabilities of the clusters for any rows, such as a fitted ``Mixture``."""

    def posterior(self, X: FloatArray) -> FloatArray:
        """Probabilities of shape (n_samples, n_clusters) for rows of shape (n_samples, n_features)."""


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
    model : PosteriorModel or None
        Gives probabilities for new rows, if the judge has such a model.
    """

    name: str
    evidence: float
    posterior: FloatArray
    row_evidence: FloatArray
    model: PosteriorModel | None = None


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
    kinds : tuple of MixtureKind
        Those with more parameters than the rows can tell are passed over; it is an error if that leaves none.
    n_finalists : int
        Partitions that go on to convergence, for each kind.
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
    )
    n_finalists: int = 4
    max_iter: int = 100
    tol: float = 1e-5
    has_model: ClassVar[bool] = True

    def examine(self, X: FloatArray, partitions: Sequence[FloatArray]) -> list[Opinion]:  # noqa: D102
        kinds = [kind for kind in self.kinds if kind.covariance.is_estimable(*X.shape)]
        if not kinds:
            raise KFRCError(self._complaint(*X.shape))
        ridge = resolution(X)
        opinions = [
            self._converged(X, U, kind, ridge) for kind in kinds for U in self._finalists(X, partitions, kind, ridge)
        ]
        return sorted(opinions, key=lambda opinion: -opinion.evidence)

    def _complaint(self, n_samples: int, n_features: int) -> str:
        """Why no kind can be estimated, and what to do."""
        advice = "such as MixtureKind(TiedDiagonal()) or MixtureKind(Diagonal())"
        if not self.kinds:
            return f"MixtureJudge has no kinds of mixtures: give it at least one, {advice}"
        needs = "; ".join(_describe_need(kind, n_features) for kind in self.kinds)
        return (
            f"MixtureJudge cannot estimate any of its kinds of mixtures from {n_samples} rows and {n_features} columns "
            f"({needs}): add kinds with fewer parameters, {advice}, or use fewer columns"
        )

    def _finalists(
        self, X: FloatArray, partitions: Sequence[FloatArray], kind: MixtureKind, ridge: FloatArray
    ) -> list[FloatArray]:
        steps = [Mixture.from_memberships(X, U, kind, ridge=ridge).expectation(X) for U in partitions]
        finalists: list[FloatArray] = []
        for step in sorted(steps, key=lambda step: -step.log_likelihood):
            if len(finalists) == self.n_finalists:
                break
            if all(frobenius_adjusted_rand_score(step.posterior, U) < _SAME_START for U in finalists):
                finalists.append(step.posterior)
        return finalists

    def _converged(self, X: FloatArray, U: FloatArray, kind: MixtureKind, ridge: FloatArray) -> Opinion:
        fit = fit_mixture(X, U, kind, ridge=ridge, max_iter=self.max_iter, tol=self.tol)
        penalty = 0.5 * math.log(len(X)) * kind.n_parameters(U.shape[1], X.shape[1])
        row_evidence = fit.expectation.log_densities - penalty / len(X)
        return Opinion(kind.name, float(row_evidence.sum()), fit.expectation.posterior, row_evidence, fit.mixture)


def _describe_need(kind: MixtureKind, n_features: int) -> str:
    """How many rows a kind needs, found by bisection because a covariance only says whether there are enough."""
    needed = bisect_left(range(_MOST_ROWS), True, key=lambda n: kind.covariance.is_estimable(n, n_features))
    return f"{kind.name} needs {needed} rows" if needed < _MOST_ROWS else f"{kind.name} cannot have so many columns"
