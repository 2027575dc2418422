"""How many clusters there are: evidence for each number, and clusters that are too many taken back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

import numpy as np

from kfrc.columns import Rows, Table
from kfrc.existence import LEVEL, test_existence
from kfrc.gram import places_of
from kfrc.judges import DensityJudge, Judge
from kfrc.relational import Start
from kfrc.screening import Screen
from kfrc.selection.columns import ColumnEvidence, ColumnOpinion
from kfrc.selection.densities import beats_mixture, count_by_density
from kfrc.selection.grid import Grid
from kfrc.selection.separation import bridges, deepest_bridge, merges_only_bridged
from kfrc.selection.tuned_kernels import KnownKernels, SearchOptions, propose, tune_kernels
from kfrc.typing import BoolArray, FloatArray, IntArray, Progress

SHALLOW_VALLEY = 0.6
"""Density between two clusters, as a share of the lower peak, from which on they are one cluster cut in two."""

_SUSPECT_VALLEY = 0.4
"""The same from which on a density judge is asked whether the clusters are of another shape."""

_GAP = 0.15
"""The same up to which two components of a mixture are separate clusters, not pieces of a curved one."""

PATIENCE = 3
"""Numbers in a row without a new largest evidence after which no more are tried."""


class Reason(StrEnum):
    """Why a number of clusters is taken."""

    NO_GROUPS = "no groups"
    """One: tables of a single group look as grouped."""

    DENSITY = "density"
    """A density judge is believed more than mixtures."""

    MOST_EVIDENCE = "most evidence"
    TOLERATED = "one standard error"
    """The smallest number within one standard error of the most evidence."""

    SEPARATED = "separated"
    """With more clusters two of them would not be separated."""


@dataclass(frozen=True)
class ClusterCount:
    """Evidence for each number of clusters.

    Attributes
    ----------
    n_clusters : ndarray of shape (k,)
        One, and the numbers that were tried.
    evidence : ndarray of shape (k,)
    valleys : ndarray of shape (k,)
        Density between the two clusters that are separated least, as a share of the lower of their peaks; zero for one
        cluster.
    opinions : tuple of ColumnOpinion
        The best for each number; none if the numbers were not compared by evidence of rows.
    largest : int
        The largest number that might have been tried; once evidence falls, larger ones are not.
    by_density : int or None
        The number that a density judge sees, if it is believed more than the mixtures.
    existence : float or None
        p-value of "there is only one group"; None if it was not needed.
    """

    n_clusters: IntArray
    evidence: FloatArray
    valleys: FloatArray
    opinions: tuple[ColumnOpinion, ...] = field(default=(), repr=False)
    largest: int = 0
    by_density: int | None = None
    existence: float | None = None

    @property
    def tolerated(self) -> BoolArray:
        """Numbers whose evidence is within one standard error of the largest, of the difference, from the rows."""
        if not self.opinions:
            return self.evidence >= self.evidence.max()
        rows = np.array([found.opinion.row_evidence for found in self.opinions])
        behind = rows[self.evidence.argmax()] - rows
        tolerated: BoolArray = behind.sum(axis=1) <= np.sqrt(rows.shape[1]) * behind.std(axis=1)
        return tolerated

    @property
    def best(self) -> int:
        """The number that is taken: one, unless groups exist beyond chance.

        Else it is that of the density judge, where that is believed, and otherwise ``best_by_evidence``.
        """
        if self.existence is not None and self.existence > LEVEL:
            return 1
        if self.by_density is not None:
            return self.by_density
        return self.best_by_evidence

    @property
    def best_by_evidence(self) -> int:
        """The smallest tolerated number, or a smaller one if two of so many clusters are not separated.

        Evidence of clusters that are not quite of the assumed form keeps creeping up with their number.
        """
        most = int(self.tolerated.argmax())
        separated = [k for k in range(most + 1) if self.valleys[k] <= SHALLOW_VALLEY]
        if most > 0 and separated == [0]:
            # Nothing from two on is separated: the number with the deepest valley is the least wrong.
            return int(self.n_clusters[1 + self.valleys[1 : most + 1].argmin()])
        return int(self.n_clusters[separated[-1]])

    @property
    def reason(self) -> Reason:
        """Why ``best`` is best."""
        if self.existence is not None and self.existence > LEVEL:
            return Reason.NO_GROUPS
        if self.by_density is not None:
            return Reason.DENSITY
        if self.best == self.n_clusters[self.evidence.argmax()]:
            return Reason.MOST_EVIDENCE
        return Reason.TOLERATED if self.best == self.n_clusters[self.tolerated.argmax()] else Reason.SEPARATED

    @property
    def is_largest(self) -> bool:
        """Whether the largest number that was tried was taken: more might be better."""
        return self.best == self.largest

    @property
    def cuts_what_hangs_together(self) -> bool:
        """Whether the mixtures need so many components that two are hardly separated: clusters may be curved."""
        return bool(self.valleys[self.tolerated.argmax()] > _SUSPECT_VALLEY)

    def table(self) -> dict[str, Any]:
        """One array per column, one entry per number of clusters."""
        return {
            "n_clusters": self.n_clusters,
            "evidence": self.evidence,
            "tolerated": self.tolerated,
            "valley": self.valleys,
        }


def count_clusters(
    X: Rows,
    standardized: Rows,
    numbers: Sequence[int],
    grid: Grid,
    judge: Judge,
    *,
    screen: Screen,
    start: Start,
    options: SearchOptions,
    rng: np.random.Generator,
    progress: Progress | None = None,
    whole: Rows | None = None,
    patience: int | None = PATIENCE,
) -> ClusterCount:
    """Evidence for each number of clusters, from a shorter path of settings.

    Parameters
    ----------
    X, standardized, judge, screen, start, options, rng, progress
        See :func:`kfrc.selection.choose`.
    grid : Grid
        Shortened: the first kernel, criterion and fuzzifier of it are used.
    numbers : sequence of int
        What to try, from two on in steps of one; one is always compared with.
    whole : ndarray of shape (n_samples, all columns) or Table, optional
        What ``standardized`` has the foremost columns of: the existence of groups is tested on all of them.
    patience : int or None
        Numbers in a row without a new largest evidence after which no more are tried; None tries all.

    Returns
    -------
    ClusterCount
    """
    short = grid.shortened()
    evidence = ColumnEvidence(standardized, screen.examine(standardized), judge)
    columns, found = evidence.views()[0], [evidence.of_one_cluster()]
    known = KnownKernels()
    for n_clusters in numbers:
        kernels = tune_kernels(X, n_clusters, short, options, rng, columns=columns, known=known)
        opinions = evidence.opinions(columns, propose(kernels, n_clusters, grid.fuzzifiers[0], start, rng))
        found.append(evidence.refined(opinions[0]))
        if progress is not None:
            progress(f"{n_clusters} clusters")
        if patience is not None and np.argmax([opinion.evidence for opinion in found]) + patience < len(found):
            break
    count = _compared(standardized, found, [1, *numbers[: len(found) - 1]], numbers[-1])
    if (
        judge.has_density
        and grid.may_change_kernel
        and count.cuts_what_hangs_together
        and not isinstance(standardized, Table)
    ):
        dense, mixture = count_by_density(evidence, found, DensityJudge()), found[int(count.tolerated.argmax())]
        if dense is not None and (
            _joins_what_hangs_together(dense, mixture, standardized) or beats_mixture(evidence, dense.columns, mixture)
        ):
            count = replace(count, by_density=dense.opinion.posterior.shape[1])
    return _with_existence(count, standardized if whole is None else whole, rng, options.n_jobs, progress)


def count_partitions(
    standardized: Rows,
    partitions: Sequence[FloatArray],
    judge: Judge,
    *,
    screen: Screen,
    rng: np.random.Generator,
    n_jobs: int | None = None,
    whole: Rows | None = None,
) -> ClusterCount:
    """Evidence for given partitions, such as those of another method, instead of proposals of tuned kernels.

    Parameters
    ----------
    standardized, judge, screen, rng, whole
        See :func:`count_clusters`.
    partitions : sequence of ndarray of shape (n_samples, n_clusters)
        With ascending numbers of clusters, from two on.
    n_jobs : int, optional
        Processes of the test of existence.

    Returns
    -------
    ClusterCount
    """
    evidence = ColumnEvidence(standardized, screen.examine(standardized), judge)
    columns, found = evidence.views()[0], [evidence.of_one_cluster()]
    found += [evidence.refined(evidence.opinions(columns, [U])[0]) for U in partitions]
    numbers = [1, *[U.shape[1] for U in partitions]]
    count = _compared(standardized, found, numbers, numbers[-1])
    return _with_existence(count, standardized if whole is None else whole, rng, n_jobs)


def _compared(standardized: Rows, found: Sequence[ColumnOpinion], numbers: Sequence[int], largest: int) -> ClusterCount:
    """The best opinions for some numbers of clusters, one first, side by side."""
    return ClusterCount(
        n_clusters=np.array(numbers),
        evidence=np.array([opinion.evidence for opinion in found]),
        valleys=np.array([deepest_bridge(places_of(standardized[:, o.columns]), o.opinion.posterior) for o in found]),
        opinions=tuple(found),
        largest=largest,
    )


def _with_existence(
    count: ClusterCount,
    whole: Rows,
    rng: np.random.Generator,
    n_jobs: int | None,
    progress: Progress | None = None,
) -> ClusterCount:
    """The count with a test of whether groups exist at all, unless one cluster is best without it."""
    if count.best == 1:
        return count
    existence = test_existence(whole, random_state=rng, n_jobs=n_jobs)
    if progress is not None:
        progress("existence")
    return replace(count, existence=existence.p_value)


def _joins_what_hangs_together(dense: ColumnOpinion, mixture: ColumnOpinion, standardized: FloatArray) -> bool:
    """Whether the density judge sees pieces of curved clusters as one, not separate clusters that stand close."""
    fine = mixture.opinion.posterior
    valleys = bridges(standardized[:, mixture.columns], fine)
    return merges_only_bridged(dense.opinion.posterior, fine, valleys, _GAP)
