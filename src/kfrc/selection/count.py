"""How many clusters the judge sees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kfrc.judges import Judge, Opinion
from kfrc.relational import Start
from kfrc.selection.grid import Grid
from kfrc.selection.resampling import resamples
from kfrc.selection.tuned_kernels import SearchOptions, propose, tune_kernels
from kfrc.typing import FloatArray, IntArray, Progress

_SHORT_ANISOTROPIES = (1.0, 5.0)
_SHORT_LEVELS = (1.0, 0.5)
"""The shorter path on which numbers of clusters are compared."""


@dataclass(frozen=True)
class ClusterCount:
    """Evidence for each number of clusters.

    Attributes
    ----------
    n_clusters : ndarray of shape (k,)
        One, and the numbers that were tried.
    evidence : ndarray of shape (k,)
    wins : ndarray of shape (k,)
        Share of resamples of the rows in which the number has the largest evidence.
    """

    n_clusters: IntArray
    evidence: FloatArray
    wins: FloatArray
    opinions: tuple[Opinion, ...] = field(repr=False)

    @property
    def best(self) -> int:
        """The smallest number, from two on, whose evidence is within one standard error of the largest.

        Evidence of clusters that are not quite of the assumed form keeps creeping up with their number; the standard
        error is that of the difference, from the rows.
        """
        rows = np.array([opinion.row_evidence for opinion in self.opinions[1:]])
        behind = rows[rows.sum(axis=1).argmax()] - rows
        tolerated = behind.sum(axis=1) <= np.sqrt(rows.shape[1]) * behind.std(axis=1)
        return int(self.n_clusters[1:][tolerated.argmax()])

    def table(self) -> dict[str, Any]:
        """One array per column, one entry per number of clusters."""
        return {"n_clusters": self.n_clusters, "evidence": self.evidence, "wins": self.wins}


def count_clusters(
    X: FloatArray,
    standardized: FloatArray,
    numbers: Sequence[int],
    grid: Grid,
    judge: Judge,
    *,
    start: Start,
    options: SearchOptions,
    rng: np.random.Generator,
    progress: Progress | None = None,
) -> ClusterCount:
    """Evidence for each number of clusters, from a shorter path of settings.

    Parameters
    ----------
    X, standardized, judge, start, options, rng, progress
        See :func:`kfrc.selection.choose`.
    grid : Grid
        The first kernel, criterion and fuzzifier of it are used.
    numbers : sequence of int
        What to try, from two on; one is always compared with.

    Returns
    -------
    ClusterCount
    """
    short = Grid(grid.kernels[:1], grid.criteria[:1], _SHORT_ANISOTROPIES, _SHORT_LEVELS, grid.fuzzifiers[:1])
    opinions = [judge.examine(standardized, [np.ones((len(X), 1))])[0]]
    for n_clusters in numbers:
        kernels = tune_kernels(X, n_clusters, short, options, rng)
        proposals = propose(kernels, n_clusters, grid.fuzzifiers[0], start, rng)
        opinions.append(judge.examine(standardized, proposals)[0])
        if progress is not None:
            progress(f"{n_clusters} clusters")
    rows = np.array([opinion.row_evidence for opinion in opinions])
    winners = [int(rows[:, resampled].sum(axis=1).argmax()) for resampled in resamples(len(X), rng)]
    return ClusterCount(
        n_clusters=np.array([1, *numbers]),
        evidence=np.array([opinion.evidence for opinion in opinions]),
        wins=np.bincount(winners, minlength=len(opinions)) / len(winners),
        opinions=tuple(opinions),
    )
