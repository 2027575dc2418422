"""The choice among candidates: tuned kernels with a fuzzifier, clustered from what the judge believes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from kfrc import activity
from kfrc._numerics import FEW_ROWS
from kfrc.columns import Rows, Table
from kfrc.fuzzifiers import Fuzzifier
from kfrc.judges import DensityJudge, Judge, Opinion
from kfrc.kernels.oriented import Oriented
from kfrc.metrics.frobenius import agreement
from kfrc.relational import RelationalSolution, Start, Status, descend, sized_rule
from kfrc.screening import Screen
from kfrc.selection.columns import ColumnEvidence, ColumnOpinion
from kfrc.selection.densities import density_opinion
from kfrc.selection.grid import Grid
from kfrc.selection.tuned_kernels import (
    FIRST_ITER,
    FIRST_TOL,
    MAX_ITER,
    TOL,
    SearchOptions,
    TunedKernel,
    propose,
    tune_kernels,
)
from kfrc.typing import FloatArray, IntArray, Progress

_SAME_SCORE = 1e-7
"""Scores that differ by less are equal: solutions are iterated to 10⁻⁵, and what rounding leaves of that is less."""

_TIE = 0.01
"""Evidence that is behind by less than this share of the standard error of the difference is not behind."""

_N_LEADERS = 3
"""Opinions whose columns are revised: revision costs a few mixtures each."""

_GATE = 0.9
"""Agreement of the ordinary candidates with the opinion below which sizes enter the objective. Where it is higher the
usual memberships do, and sizes have been seen to harm (docs/decisions/automatic-choice.md)."""

_FAR = 0.75
"""Agreement below which that was not enough, and the kernel turns to the axes of the clusters."""

TEMPERATURES = (0.25, 0.5, 1.0, 2.0)
"""Fuzziness of memberships that weigh sizes: half as fuzzy as a mixture to twice as fuzzy."""

_NEAR = 0.01
"""Candidates begin at the opinion, so that further iterations take most of them away from it. One whose agreement after
a first look is behind the best by more than this is left there."""

_IN_REACH = 0.1
"""With many rows, a kernel whose memberships of middling fuzziness are behind the best by more is not tried with
others. With few a candidate costs milliseconds, and all are tried."""

_N_SIZED = 3
"""With many rows, kernels that are tried with sizes: those that come closest without."""

_SAME_OPINION = 0.9
"""Frobenius ARI above which two opinions are about the same partition."""


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
    best : int
        Which one was chosen.
    opinion : Opinion
        The judge's best.
    n_ties : int
        Opinions with another partition whose evidence is as good as that of the best, as far as the rows can tell.
    """

    candidates: tuple[Candidate, ...]
    scores: FloatArray
    best: int
    opinion: Opinion
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
            "kernel": tuned.kernel.label,
            "criterion": tuned.criterion.label,
            "max_anisotropy": tuned.max_anisotropy,
            "level": tuned.level,
            "fuzzifier": t.label,
            "m": t.m,
            "lambda1": tuned.leading_eigenvalue,
            "critical_m": t.critical_m(n_clusters, tuned.leading_eigenvalue),
            "objective": candidate.solution.objective,
        }


def choose(
    X: Rows,
    standardized: Rows,
    n_clusters: int,
    grid: Grid,
    judge: Judge,
    *,
    screen: Screen,
    start: Start,
    options: SearchOptions,
    rng: np.random.Generator,
    progress: Progress | None = None,
) -> Selection:
    """Choose columns, kernel, bandwidths, fuzzifier and m without labels.

    1. The screen tells columns that depend on others from those that do not.
    2. On all columns and on the relevant ones: bandwidths for every kernel, criterion and α along the levels, and
       clusterings of each, from hard to fuzzy, that are proposed to the judge.
    3. The judge forms an opinion: a partition with probabilities. What it says of some columns is compared with what
       it says of all by counting the others as noise, and columns are revised as long as that is better.
    4. Every candidate is clustered again from that partition. Those at an m that would collapse are out.
    5. The candidate whose memberships agree best with the opinion is chosen. If none comes close, the clusters are of
       unequal size, and sizes enter the objective; if that does not help either, they are long in directions that no
       column has, and the kernel turns to their axes.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features) or Table
        What the kernels see.
    standardized : ndarray of shape (n_samples, n_features) or Table
        The same rows in standard units, for the screen and the judge.
    n_clusters : int
    grid : Grid
    judge : Judge
    screen : Screen
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
    evidence = ColumnEvidence(standardized, screen.examine(standardized), judge)

    def tune(columns: IntArray, grid: Grid = grid) -> list[TunedKernel]:
        return tune_kernels(X, n_clusters, grid, options, rng, progress, columns)

    def hear(columns: IntArray, kernels: list[TunedKernel]) -> list[ColumnOpinion]:
        return evidence.opinions(columns, propose(kernels, n_clusters, grid.fuzzifiers[0], start, rng))

    columns, *others = evidence.views()
    kernels = tune(columns)
    opinions = hear(columns, kernels)
    for view in others:
        # A shorter path tells whether these columns are worth the whole one.
        opinions += hear(view, tune(view, grid.glimpse()))
    refined = [evidence.refined(opinion) for opinion in _leaders(opinions)]
    best = _first(evidence.priced(refined + opinions))
    if not np.array_equal(best.columns, columns):
        columns = best.columns
        kernels = tune(columns)
        opinions += hear(columns, kernels)
        refined += [evidence.refined(opinion) for opinion in _leaders(opinions)]
        best = _first(evidence.priced(refined + opinions))
    # Densities and axes are of complete numbers; a table of any type has neither.
    asks_density = grid.may_change_kernel and judge.has_density and not isinstance(X, Table)
    found = density_opinion(evidence, best, DensityJudge()) if asks_density else None
    if progress is not None:
        progress("judging")
    if found is not None and found.opinion.kernel is not None and not isinstance(X, Table):
        best = found
        kernels = [TunedKernel.in_deviations(X, found.opinion.kernel, grid.criteria[0], found.columns)]
    else:
        # Columns that the evidence can do without, but in which the clusters differ too, help to tell them apart.
        shown = np.union1d(best.columns, evidence.differing(best.opinion))
        if not np.array_equal(shown, columns):
            kernels = tune(shown)
    posterior = best.opinion.posterior
    candidates = solve_candidates(kernels, grid.fuzzifiers, n_clusters, posterior)
    candidates, scores = _compared(candidates, best.opinion)
    if scores.max() < _GATE and grid.may_weigh_sizes and found is None:
        if len(posterior) > FEW_ROWS:
            kernels = _kernels_in_order(candidates, scores)[:_N_SIZED]
        candidates, scores = _compared(candidates + solve_with_sizes(kernels, posterior), best.opinion)
        if (
            scores.max() < _FAR
            and grid.may_change_kernel
            and len(best.columns) > 1
            and not isinstance(X, Table)
            and not isinstance(standardized, Table)
        ):
            axes = Oriented.within(standardized[:, best.columns], posterior)
            oriented = [TunedKernel.in_deviations(X, axes, grid.criteria[0], best.columns)]
            candidates += solve_candidates(oriented, grid.fuzzifiers, n_clusters, posterior)
            candidates += solve_with_sizes(oriented, posterior)
            candidates, scores = _compared(candidates, best.opinion)
    if progress is not None:
        progress("comparing")
    first = int(np.argmax(scores >= scores.max() - _SAME_SCORE))
    rivals = [rival.opinion for rival in evidence.priced(refined + opinions)[len(refined) :]]
    return Selection(tuple(candidates), scores, first, best.opinion, _count_ties(rivals, best.opinion))


def solve_candidates(
    kernels: Sequence[TunedKernel], fuzzifiers: Sequence[Fuzzifier], n_clusters: int, partition: FloatArray
) -> list[Candidate]:
    """Kernels with every fuzzifier that cannot collapse there, clustered from one partition.

    With many rows all kernels are looked at with one fuzzifier, and those in reach of the best with the others.
    """
    pairs = list(product(kernels, fuzzifiers))
    # λ₁ > 1/κ: the uniform solution is unstable at this m, so the clustering cannot fall back to it.
    pairs = [(tuned, t) for tuned, t in pairs if tuned.leading_eigenvalue > t.inverse_kappa(n_clusters)] or pairs
    by_kernel = [[k for k, (other, _) in enumerate(pairs) if other is tuned] for tuned in kernels]
    solved: dict[int, Candidate] = {}

    def look(k: int) -> float:
        activity.step("comparing", len(solved), len(pairs))
        tuned, t = pairs[k]
        solved[k] = Candidate(tuned, t, descend(tuned.dissimilarity, t, partition, FIRST_ITER, FIRST_TOL))
        return agreement(partition, solved[k].solution.memberships)

    scores = {ks[len(ks) // 2]: look(ks[len(ks) // 2]) for ks in by_kernel if ks}
    bar = max(scores.values()) - _IN_REACH if len(partition) > FEW_ROWS else -np.inf
    for k in (k for ks in by_kernel for k in ks if k not in solved and scores[ks[len(ks) // 2]] >= bar):
        look(k)
    candidates = [solved[k] for k in sorted(solved)]
    found = [candidate for candidate in candidates if candidate.solution.status is not Status.COLLAPSED]
    return found or candidates


def solve_with_sizes(kernels: Sequence[TunedKernel], partition: FloatArray) -> list[Candidate]:
    """Every kernel with sizes and scales of the clusters in the objective, clustered from one partition."""
    candidates = []
    for tuned, own_scales in product(kernels, (False, True)):
        rule = sized_rule(tuned.dissimilarity, partition, own_scales=own_scales)
        for temperature in TEMPERATURES:
            solution = descend(tuned.dissimilarity, rule.with_m(temperature), partition, FIRST_ITER, FIRST_TOL)
            if solution.status is not Status.COLLAPSED and solution.fuzzifier is not None:
                candidates.append(Candidate(tuned, solution.fuzzifier, solution))
    return candidates


def _compared(candidates: list[Candidate], opinion: Opinion) -> tuple[list[Candidate], FloatArray]:
    """Candidates and how well they agree with an opinion; whatever may be the best has been clustered further."""
    candidates, scores = list(candidates), _scores(candidates, opinion)
    open_ = np.ones(len(candidates), dtype=bool)
    while (near := np.flatnonzero(open_ & (scores >= scores.max() - _NEAR))).size:
        for k in near:
            tuned, t, solution = candidates[k].tuned, candidates[k].fuzzifier, candidates[k].solution
            further = descend(tuned.dissimilarity, t, solution.memberships, MAX_ITER, TOL)
            candidates[k] = replace(candidates[k], fuzzifier=further.fuzzifier or t, solution=further)
            scores[k] = agreement(opinion.posterior, further.memberships)
        open_[near] = False
    return candidates, scores


def _kernels_in_order(candidates: Sequence[Candidate], scores: FloatArray) -> list[TunedKernel]:
    """Kernels of the candidates, each once, the best first."""
    ordered = [candidates[k].tuned for k in np.argsort(-scores, kind="stable")]
    return list({id(tuned): tuned for tuned in ordered}.values())


def _scores(candidates: Sequence[Candidate], opinion: Opinion) -> FloatArray:
    return np.array([agreement(opinion.posterior, c.solution.memberships) for c in candidates])


def _first(opinions: Sequence[ColumnOpinion]) -> ColumnOpinion:
    """The opinion with the most evidence."""
    return max(opinions, key=lambda opinion: opinion.evidence)


def _leaders(opinions: Sequence[ColumnOpinion]) -> list[ColumnOpinion]:
    """The best few opinions with different partitions: what is revised may overtake what was ahead."""
    leaders: list[ColumnOpinion] = []
    for opinion in sorted(opinions, key=lambda opinion: -opinion.evidence):
        if len(leaders) == _N_LEADERS:
            break
        if all(agreement(opinion.opinion.posterior, other.opinion.posterior) < _SAME_OPINION for other in leaders):
            leaders.append(opinion)
    return leaders


def _count_ties(opinions: Sequence[Opinion], best: Opinion) -> int:
    """Partitions other than the best for which the rows speak just as much."""
    tied: list[Opinion] = []
    for rival in opinions:
        behind = best.row_evidence - rival.row_evidence
        size = max(float(np.abs(behind).max()), np.finfo(float).tiny)  # squares of what rows far away say may overflow
        shares = behind / size
        error = float(np.sqrt(len(behind)) * shares.std())
        if shares.sum() <= _TIE * error and all(
            agreement(other.posterior, rival.posterior) < _SAME_OPINION for other in (best, *tied)
        ):
            tied.append(rival)
    return len(tied)
