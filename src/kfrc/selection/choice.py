"""The choice among candidates: tuned kernels with a fuzzifier, clustered from what the judge believes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from kfrc.fuzzifiers import Fuzzifier
from kfrc.judges import Judge, Opinion
from kfrc.metrics import frobenius_adjusted_rand_score
from kfrc.relational import RelationalSolution, Start, Status, descend
from kfrc.selection.grid import Grid
from kfrc.selection.resampling import N_RESAMPLES, resamples
from kfrc.selection.tuned_kernels import MAX_ITER, TOL, SearchOptions, TunedKernel, propose, tune_kernels
from kfrc.typing import FloatArray, Progress

_N_LEADERS = 10
"""Candidates that take part in the resampling: the others are too far behind to win."""

_SAME_SCORE = 1e-7
"""Scores that differ by less are equal: solutions are iterated to 10⁻⁵, and what rounding leaves of that is less."""

_TIE = 0.01
"""Evidence that is behind by less than this share of the standard error of the difference is not behind."""

_SAME_OPINION = 0.9
"""Frobenius ARI above which an opinion on resampled rows is the opinion on all rows."""


@dataclass(frozen=True)
class Candidate:
    """A tuned kernel with a fuzzifier, and the clustering they lead to from the judge's opinion."""

    tuned: TunedKernel
    fuzzifier: Fuzzifier
    solution: RelationalSolution


@dataclass(frozen=True)
class Selection:
    """What was compared, and what was chosen.

    Attributes
    ----------
    candidates : tuple of Candidate
    scores : ndarray of shape (n_candidates,)
        Agreement (Frobenius ARI) of each candidate's memberships with the judge's best opinion.
    wins : ndarray of shape (n_candidates,)
        Share of resamples of the rows in which the candidate agrees best.
    best : int
        Which one was chosen.
    opinion : Opinion
        The judge's best.
    support : float
        Share of resamples of the rows in which the judge prefers an opinion with the same partition.
    n_ties : int
        Opinions with another partition whose evidence is as good as that of the best, as far as the rows can tell.
    """

    candidates: tuple[Candidate, ...]
    scores: FloatArray
    wins: FloatArray
    best: int
    opinion: Opinion
    support: float
    n_ties: int = 0

    @property
    def chosen(self) -> Candidate:
        """The candidate with the highest score; among those that differ by rounding, the first."""
        return self.candidates[self.best]

    @property
    def margin(self) -> float:
        """Lead of the chosen candidate over the next."""
        others = np.delete(self.scores, self.best)
        return max(float(self.scores[self.best] - others.max()), 0.0) if len(others) else float("inf")

    def table(self, n_clusters: int) -> dict[str, Any]:
        """One array per column, one entry per candidate, best first: ``pandas.DataFrame(table)`` shows it."""
        order = np.argsort(-self.scores, kind="stable")
        rows = [self._row(k, n_clusters) for k in (self.best, *order[order != self.best])]
        return {name: np.array([row[name] for row in rows]) for name in rows[0]}

    def _row(self, k: int, n_clusters: int) -> dict[str, Any]:
        candidate = self.candidates[k]
        tuned, t = candidate.tuned, candidate.fuzzifier
        return {
            "score": self.scores[k],
            "wins": self.wins[k],
            "kernel": tuned.kernel.label,
            "criterion": tuned.criterion.label,
            "max_anisotropy": tuned.max_anisotropy,
            "level": tuned.search.level,
            "fuzzifier": t.label,
            "m": t.m,
            "lambda1": tuned.leading_eigenvalue,
            "critical_m": t.critical_m(n_clusters, tuned.leading_eigenvalue),
            "objective": candidate.solution.objective,
        }


def choose(
    X: FloatArray,
    standardized: FloatArray,
    n_clusters: int,
    grid: Grid,
    judge: Judge,
    *,
    start: Start,
    options: SearchOptions,
    rng: np.random.Generator,
    progress: Progress | None = None,
) -> Selection:
    """Choose kernel, bandwidths, fuzzifier and m without labels.

    1. Bandwidths for every kernel, criterion and α along the levels; shapes are found once and followed.
    2. Clusterings of each, from hard to fuzzy, are proposed to the judge.
    3. The judge forms an opinion: a partition with probabilities.
    4. Every candidate is clustered again from that partition. Those at an m that would collapse are out.
    5. The candidate whose memberships agree best with the opinion is chosen.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        What the kernels see.
    standardized : ndarray of shape (n_samples, n_features)
        The same rows in standard units, for the judge.
    n_clusters : int
    grid : Grid
    judge : Judge
    start : Start
        Where the clusterings that are proposed to the judge begin.
    options : SearchOptions
    rng : Generator
    progress : callable, optional

    Returns
    -------
    Selection

    Raises
    ------
    InfeasibleBandwidthError
        If no kernel reaches a threshold that was asked for.
    """
    kernels = tune_kernels(X, n_clusters, grid, options, rng, progress)
    proposals = propose(kernels, n_clusters, grid.fuzzifiers[0], start, rng)
    opinions = judge.examine(standardized, proposals)
    if progress is not None:
        progress("judging")
    candidates = solve_candidates(kernels, grid.fuzzifiers, n_clusters, opinions[0].posterior)
    if progress is not None:
        progress("comparing")
    scores = np.array([_agreement(opinions[0].posterior, c.solution.memberships) for c in candidates])
    best = int(np.argmax(scores >= scores.max() - _SAME_SCORE))
    wins, support = _resample(opinions, candidates, scores, rng)
    return Selection(tuple(candidates), scores, wins, best, opinions[0], support, _count_ties(opinions))


def solve_candidates(
    kernels: Sequence[TunedKernel], fuzzifiers: Sequence[Fuzzifier], n_clusters: int, partition: FloatArray
) -> list[Candidate]:
    """Every kernel with every fuzzifier that cannot collapse there, clustered from one partition."""
    pairs = list(product(kernels, fuzzifiers))
    # λ₁ > 1/κ: the uniform solution is unstable at this m, so the clustering cannot fall back to it.
    safe = [(tuned, t) for tuned, t in pairs if tuned.leading_eigenvalue > t.inverse_kappa(n_clusters)]
    candidates = [
        Candidate(tuned, t, descend(tuned.dissimilarity, t, partition, MAX_ITER, TOL)) for tuned, t in safe or pairs
    ]
    found = [candidate for candidate in candidates if candidate.solution.status is not Status.COLLAPSED]
    return found or candidates


def _count_ties(opinions: Sequence[Opinion]) -> int:
    """Partitions other than the best for which the rows speak just as much."""
    best = opinions[0]
    tied: list[Opinion] = []
    for rival in opinions[1:]:
        behind = best.row_evidence - rival.row_evidence
        error = float(np.sqrt(len(behind)) * behind.std())
        if behind.sum() <= _TIE * error and all(
            _agreement(other.posterior, rival.posterior) < _SAME_OPINION for other in (best, *tied)
        ):
            tied.append(rival)
    return len(tied)


def _agreement(U: FloatArray, V: FloatArray) -> float:
    return float(frobenius_adjusted_rand_score(U, V))


def _resample(
    opinions: Sequence[Opinion], candidates: Sequence[Candidate], scores: FloatArray, rng: np.random.Generator
) -> tuple[FloatArray, float]:
    """How often each candidate wins, and how often the judge stays with the partition, on resampled rows."""
    leaders = np.argsort(-scores, kind="stable")[:_N_LEADERS]
    evidence = np.array([opinion.row_evidence for opinion in opinions])
    same = [_agreement(opinion.posterior, opinions[0].posterior) >= _SAME_OPINION for opinion in opinions]
    wins = np.zeros(len(candidates))
    stays = 0
    for rows in resamples(evidence.shape[1], rng):
        preferred = int(evidence[:, rows].sum(axis=1).argmax())
        stays += same[preferred]
        posterior = opinions[preferred].posterior[rows]
        agreement = [_agreement(posterior, candidates[k].solution.memberships[rows]) for k in leaders]
        wins[leaders[int(np.argmax(agreement))]] += 1
    return wins / N_RESAMPLES, stays / N_RESAMPLES
