"""The mixture judge: evidence of the density that each partition leads to."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from kfrc.columns import Rows, Table
from kfrc.exceptions import KFRCError
from kfrc.judges._mixture_fits import Fits, PlainFits, TableFits, sphered_partitions
from kfrc.judges.base import Judge, Opinion
from kfrc.metrics.frobenius import agreement
from kfrc.mixtures import Diagonal, MixtureKind, Rotated, Tied, TiedDiagonal
from kfrc.typing import FloatArray

__all__ = ["MixtureJudge", "sphered_partitions"]

_SAME_START = 0.98
"""Frobenius ARI above which two starts of the same mixture are one."""

_NO_GAIN = 0.1
"""Evidence that is not worth another round of all kinds."""

_OWN_FINALISTS = 2
"""Starts of a kind with a matrix per component that go on to convergence: an iteration costs several times more."""

_FIRST_LEG = 10
"""Iterations after which mixtures are compared: likelihood rises fast before it creeps."""

_GO_ON = 3
"""One in so many, the most evident ones, goes on from there."""

_MOST_ROWS = 2**40
"""A kind that so many rows are not enough for is called one for which none are."""


@dataclass(frozen=True)
class MixtureJudge(Judge, name="mixture"):
    """Evidence of the mixture that each partition leads to, by BIC over kinds of components.

    Every partition is taken as responsibilities of a mixture. After one step of expectation-maximization the most
    likely distinct ones go on, for every kind of component, and after some ten the third of these with the most
    evidence goes on to convergence. The evidence is the log-likelihood minus
    half the number of parameters times log n.

    Parameters
    ----------
    kinds : tuple of MixtureKind
        Those with more parameters than the rows can tell are passed over; it is an error if that leaves none.
    n_finalists : int
        Partitions that go on after one step, for each kind; for kinds with a matrix per component at most two.
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
    takes_tables: ClassVar[bool] = True

    def examine(self, X: Rows, partitions: Sequence[FloatArray]) -> list[Opinion]:  # noqa: D102
        (n_samples, n_features), n_clusters = X.shape, partitions[0].shape[1]
        fits: Fits = TableFits(X) if isinstance(X, Table) else PlainFits(X)
        kinds = fits.estimable(self.kinds, n_clusters)
        if not kinds:
            raise KFRCError(self._complaint(n_samples, n_features, n_clusters))
        # One component has one partition. A single partition is to be continued, not compared with others.
        if n_clusters > 1 and len(partitions) > 1:
            partitions = [*partitions, *fits.own_partitions(n_clusters, self.n_sphered)]
        opinions = self._raced(fits, [(kind, U) for kind in kinds for U in self._finalists(fits, partitions, kind)])
        for _ in range(fits.revisions if n_clusters > 1 else 0):
            # What one kind has found may be a better start for another than any proposal was.
            best = max(opinions, key=lambda opinion: opinion.evidence)
            revised = self._raced(fits, [(kind, best.posterior) for kind in kinds])
            opinions += revised
            if max(opinion.evidence for opinion in revised) <= best.evidence + _NO_GAIN:
                break
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

    def _finalists(self, fits: Fits, partitions: Sequence[FloatArray], kind: MixtureKind) -> list[FloatArray]:
        steps = [fits.first_step(U, kind) for U in partitions]
        own_matrices = kind.covariance.has_own_matrices
        n_finalists = min(self.n_finalists, _OWN_FINALISTS) if own_matrices else self.n_finalists
        finalists: list[FloatArray] = []
        for _, posterior in sorted(steps, key=lambda step: -step[0]):
            if len(finalists) == n_finalists:
                break
            if all(agreement(posterior, U) < _SAME_START for U in finalists):
                finalists.append(posterior)
        return finalists

    def _raced(self, fits: Fits, starts: Sequence[tuple[MixtureKind, FloatArray]]) -> list[Opinion]:
        """Opinions from every start; those that are behind after a few iterations are left there."""
        first_leg = min(_FIRST_LEG, self.max_iter)
        opinions = [self._opinion(fits, U, kind, first_leg) for kind, U in starts]
        order = sorted(range(len(starts)), key=lambda k: -opinions[k].evidence)
        for k in order[: -(-len(starts) // _GO_ON)] if self.max_iter > first_leg else ():
            further = self._opinion(fits, opinions[k].posterior, starts[k][0], self.max_iter - first_leg)
            opinions[k] = max(opinions[k], further, key=lambda opinion: opinion.evidence)
        return opinions

    def _opinion(self, fits: Fits, U: FloatArray, kind: MixtureKind, max_iter: int) -> Opinion:
        fit = fits.converged(U, kind, max_iter, self.tol)
        n_parameters = fits.n_parameters(kind, U.shape[1])
        row_evidence = fits.row_evidence(fit, n_parameters)
        return Opinion(
            fits.name(kind),
            float(row_evidence.sum()),
            fit.expectation.posterior,
            row_evidence,
            fit.mixture,
            n_parameters=n_parameters,
        )


def _describe_need(kind: MixtureKind, n_features: int, n_clusters: int) -> str:
    """How many rows a kind needs, found by bisection because a covariance only says whether there are enough."""
    needed = bisect_left(range(_MOST_ROWS), True, key=lambda n: kind.covariance.is_estimable(n, n_features, n_clusters))
    return f"{kind.name} needs {needed} rows" if needed < _MOST_ROWS else f"{kind.name} cannot have so many columns"
