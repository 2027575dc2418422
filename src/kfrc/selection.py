"""Choosing without labels: candidates along a path of settings, and a judge who says which of them to believe."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from kfrc._typing import FloatArray, IntArray, Progress
from kfrc.bandwidth import BandwidthResult, Optimizer, select_bandwidths
from kfrc.bandwidth.path import bandwidth_path
from kfrc.criteria import Criterion
from kfrc.dissimilarity import Dissimilarity
from kfrc.exceptions import InfeasibleBandwidthError
from kfrc.fuzzifiers import Fuzzifier
from kfrc.gram import gram_family
from kfrc.judges import Judge, Opinion
from kfrc.kernels import AdditiveKernel, Kernel
from kfrc.kernels.linear import Linear
from kfrc.metrics import frobenius_adjusted_rand_score
from kfrc.relational import RelationalSolution, Start, Status, descend

KERNELS = ("sum", "product")
CRITERIA = ("sum", "gap")
FUZZIFIERS = ("complementary_root", "quadratic")
ANISOTROPIES = (1.0, 5.0, 25.0)
LEVELS = (4.0, 1.0, 0.5, 0.0)
FUZZINESS = (0.03, 0.1, 0.3, 0.6, 1.0)
"""What "auto" tries: names, α, levels of an additive kernel, and m as a share of the way from a hard partition to the
fuzzifier's default (complementary root: 1.03, 1.1, 1.3, 1.6, 2). Why these: docs/decisions/automatic-choice.md."""

_PROPOSING = (0.1, 0.3, 0.6)
"""Fuzziness of the partitions that the judge is shown."""

_SCAN = {"anisotropies": (1.0, 5.0), "levels": (1.0, 0.5)}
"""The shorter path on which numbers of clusters are compared."""

_CANDIDATE_MAX_ITER = 60
_CANDIDATE_TOL = 1e-3
"""Candidates are compared before they have converged fully; the chosen one goes on."""

_N_RESAMPLES = 50
_N_LEADERS = 10
"""Candidates that take part in the resampling: the others are too far behind to win."""

_SAME_PARTITION = 0.9
"""Frobenius ARI above which an opinion on resampled rows is the opinion on all rows."""


@dataclass(frozen=True)
class Grid:
    """What may be chosen; a tuple of one leaves no choice.

    Attributes
    ----------
    kernels : tuple of Kernel
    criteria : tuple of Criterion
    anisotropies : tuple of float
    levels : tuple of (float or None)
        None leaves the level to the bandwidth search.
    fuzzifiers : tuple of Fuzzifier
        With their m.
    """

    kernels: tuple[Kernel, ...]
    criteria: tuple[Criterion, ...]
    anisotropies: tuple[float, ...]
    levels: tuple[float | None, ...]
    fuzzifiers: tuple[Fuzzifier, ...]

    def searches(self) -> list[tuple[Kernel, Criterion, float]]:
        """Kernel, criterion, α: what one path of levels belongs to. Without anisotropy no criterion matters."""
        return [
            (kernel, criterion, anisotropy)
            for kernel, (k, criterion), anisotropy in product(self.kernels, enumerate(self.criteria), self.anisotropies)
            if anisotropy > 1 or k == 0 or None in self.levels
        ]

    @property
    def is_a_choice(self) -> bool:
        """Whether there is more than one candidate."""
        return len(self.searches()) * len(self.levels) * len(self.fuzzifiers) > 1


def fuzzifier_path(fuzzifier: Fuzzifier, shares: Sequence[float] = FUZZINESS) -> tuple[Fuzzifier, ...]:
    """The fuzzifier from nearly hard to its own m.

    Examples
    --------
    >>> from kfrc.fuzzifiers import ComplementaryRoot
    >>> from kfrc.selection import fuzzifier_path
    >>> [round(t.m, 2) for t in fuzzifier_path(ComplementaryRoot())]
    [1.03, 1.1, 1.3, 1.6, 2.0]
    """
    hard = fuzzifier.m_range.low
    return tuple(fuzzifier.with_m(hard + share * (fuzzifier.m - hard)) for share in shares)


@dataclass(frozen=True)
class SearchOptions:
    """What the bandwidth search of every candidate is told.

    Attributes
    ----------
    threshold : float or None
        Smallest λ₁ to accept. None accepts all on a path of levels, as every m is held below its critical value, and
        otherwise means the smallest τ among the fuzzifiers.
    n_starts : int
    optimizer : str or Optimizer
        Used where the level is not on a path.
    approximation, rank
        How Gram matrices are held.
    n_jobs : int or None
    """

    threshold: float | None = None
    n_starts: int = 5
    optimizer: str | Optimizer = "lbfgs"
    approximation: str = "auto"
    rank: int | None = None
    n_jobs: int | None = None


@dataclass(frozen=True)
class Setting:
    """A kernel with its bandwidths, and how they came about.

    Attributes
    ----------
    kernel : Kernel
    criterion : Criterion
    max_anisotropy : float
    search : BandwidthResult
    dissimilarity : Dissimilarity
    """

    kernel: Kernel
    criterion: Criterion
    max_anisotropy: float
    search: BandwidthResult
    dissimilarity: Dissimilarity

    @property
    def leading_eigenvalue(self) -> float:
        """λ₁."""
        return float(self.search.eigenvalues[0])


@dataclass(frozen=True)
class Candidate:
    """A setting with a fuzzifier, and the clustering they lead to from the judge's opinion."""

    setting: Setting
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
    """

    candidates: tuple[Candidate, ...]
    scores: FloatArray
    wins: FloatArray
    best: int
    opinion: Opinion
    support: float

    @property
    def chosen(self) -> Candidate:
        """The candidate with the highest score."""
        return self.candidates[self.best]

    @property
    def margin(self) -> float:
        """Lead of the chosen candidate over the next."""
        others = np.delete(self.scores, self.best)
        return float(self.scores[self.best] - others.max()) if len(others) else float("inf")

    def table(self, n_clusters: int) -> dict[str, Any]:
        """One array per column, one entry per candidate, best first: ``pandas.DataFrame(table)`` shows it."""
        order = np.argsort(-self.scores, kind="stable")
        rows = [self._row(k, n_clusters) for k in order]
        return {name: np.array([row[name] for row in rows]) for name in rows[0]}

    def _row(self, k: int, n_clusters: int) -> dict[str, Any]:
        candidate = self.candidates[k]
        setting, t = candidate.setting, candidate.fuzzifier
        return {
            "score": self.scores[k],
            "wins": self.wins[k],
            "kernel": _name(setting.kernel),
            "criterion": _name(setting.criterion),
            "max_anisotropy": setting.max_anisotropy,
            "level": setting.search.level,
            "fuzzifier": _name(t),
            "m": t.m,
            "lambda1": setting.leading_eigenvalue,
            "critical_m": t.critical_m(n_clusters, setting.leading_eigenvalue),
            "objective": candidate.solution.objective,
        }


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


def choose(
    X: FloatArray,
    judged: FloatArray,
    n_clusters: int,
    grid: Grid,
    judge: Judge,
    *,
    options: SearchOptions,
    rng: np.random.Generator,
    progress: Progress | None = None,
) -> Selection:
    """Choose a setting, fuzzifier and m without labels.

    1. Bandwidths for every kernel, criterion and α along the levels; shapes are found once and followed.
    2. Clusterings of each, from hard to fuzzy, are proposed to the judge.
    3. The judge forms an opinion: a partition with probabilities.
    4. Every candidate is clustered again from that partition. Those at an m that would collapse are out.
    5. The candidate whose memberships agree best with the opinion is chosen.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        What the kernels see.
    judged : ndarray of shape (n_samples, n_features)
        The same rows in standard units, for the judge.
    n_clusters : int
    grid : Grid
    judge : Judge
    options : SearchOptions
    rng : Generator
    progress : callable, optional

    Returns
    -------
    Selection

    Raises
    ------
    InfeasibleBandwidthError
        If no setting reaches a threshold that was asked for.
    """
    settings = find_settings(X, n_clusters, grid, options, rng, progress)
    proposals = [U for setting in settings for U in propose(setting, n_clusters, grid.fuzzifiers[0], rng)]
    opinions = judge.examine(judged, proposals)
    if progress is not None:
        progress("judging")
    candidates = _candidates(settings, grid.fuzzifiers, n_clusters, opinions[0].posterior)
    if progress is not None:
        progress("comparing")
    scores = np.array([_agreement(opinions[0].posterior, c.solution.memberships) for c in candidates])
    best = int(scores.argmax())
    wins, support = _resample(opinions, candidates, scores, rng)
    return Selection(tuple(candidates), scores, wins, best, opinions[0], support)


def count_clusters(
    X: FloatArray,
    judged: FloatArray,
    numbers: Sequence[int],
    grid: Grid,
    judge: Judge,
    *,
    options: SearchOptions,
    rng: np.random.Generator,
    progress: Progress | None = None,
) -> ClusterCount:
    """Evidence for each number of clusters, from a shorter path of settings.

    Parameters
    ----------
    X, judged, grid, judge, options, rng, progress
        See :func:`choose`.
    numbers : sequence of int
        What to try, from two on; one is always compared with.

    Returns
    -------
    ClusterCount
    """
    short = Grid(
        grid.kernels[:1], grid.criteria[:1], _SCAN["anisotropies"], _SCAN["levels"], fuzzifiers=grid.fuzzifiers[:1]
    )
    opinions = [judge.examine(judged, [np.ones((len(judged), 1))])[0]]
    for n_clusters in numbers:
        settings = find_settings(X, n_clusters, short, options, rng)
        proposals = [U for setting in settings for U in propose(setting, n_clusters, grid.fuzzifiers[0], rng)]
        opinions.append(judge.examine(judged, proposals)[0])
        if progress is not None:
            progress(f"{n_clusters} clusters")
    rows = np.array([opinion.row_evidence for opinion in opinions])
    winners = [int(rows[:, resampled].sum(axis=1).argmax()) for resampled in _resamples(len(X), rng)]
    return ClusterCount(
        n_clusters=np.array([1, *numbers]),
        evidence=np.array([opinion.evidence for opinion in opinions]),
        wins=np.bincount(winners, minlength=len(opinions)) / len(winners),
        opinions=tuple(opinions),
    )


def find_settings(
    X: FloatArray,
    n_clusters: int,
    grid: Grid,
    options: SearchOptions,
    rng: np.random.Generator,
    progress: Progress | None = None,
) -> list[Setting]:
    """Bandwidths for every kernel, criterion, α and level of the grid that can reach the threshold."""
    searches = grid.searches()
    families = {kernel: gram_family(X, kernel, options.approximation, options.rank) for kernel in grid.kernels}
    seeds = rng.spawn(len(searches))

    levels = [level for level in grid.levels if level is not None]

    def search(kernel: Kernel, criterion: Criterion, anisotropy: float, seed: np.random.Generator) -> BandwidthResult:
        threshold = min(t.threshold(n_clusters) for t in grid.fuzzifiers)
        return select_bandwidths(
            X,
            n_clusters,
            kernel=kernel,
            criterion=criterion,
            max_anisotropy=anisotropy,
            threshold=threshold if options.threshold is None else options.threshold,
            n_starts=options.n_starts,
            optimizer=options.optimizer,
            approximation=options.approximation,
            rank=options.rank,
            search_samples=None,
            random_state=seed,
        )

    def run(
        kernel: Kernel, criterion: Criterion, anisotropy: float, seed: np.random.Generator
    ) -> list[BandwidthResult]:
        if levels:
            return bandwidth_path(
                X,
                families[kernel],
                n_clusters,
                _levels_of(kernel, levels, X.shape[1]) if len(levels) > 1 else levels,
                criterion=criterion,
                max_anisotropy=anisotropy,
                threshold=options.threshold or 0.0,
                n_starts=options.n_starts,
                random_state=seed,
            )
        try:
            return [search(kernel, criterion, anisotropy, seed)]
        except InfeasibleBandwidthError:
            return []

    tasks = (delayed(run)(*which, seed) for which, seed in zip(searches, seeds, strict=True))
    found: list[tuple[tuple[Kernel, Criterion, float], BandwidthResult]] = []
    for k, results in enumerate(Parallel(n_jobs=options.n_jobs, return_as="generator")(tasks)):
        found += [(searches[k], result) for result in results]
        if progress is not None:
            progress(f"bandwidths {k + 1}/{len(searches)}")
    if not found:
        # The threshold is out of reach on the path: search the level too, or let that error say what can be reached.
        found = [(searches[-1], search(*searches[-1], seeds[-1]))]
    return [
        Setting(*which, result, Dissimilarity(families[which[0]].at(np.exp(result.log_bandwidths))))
        for which, result in found
    ]


def propose(setting: Setting, n_clusters: int, fuzzifier: Fuzzifier, rng: np.random.Generator) -> Iterator[FloatArray]:
    """Partitions at a setting, from hard to fuzzy, each started from the one before, the first spectrally."""
    U = Start.from_name("spectral").memberships(setting.dissimilarity, n_clusters, rng)
    for t in fuzzifier_path(_default_of(fuzzifier), _PROPOSING):
        U = descend(setting.dissimilarity, t, U, _CANDIDATE_MAX_ITER, _CANDIDATE_TOL).memberships
        yield U


def _default_of(fuzzifier: Fuzzifier) -> Fuzzifier:
    """The fuzzifier with its default m, or as it is if it has none."""
    try:
        return type(fuzzifier)()
    except TypeError:
        return fuzzifier


def _levels_of(kernel: Kernel, levels: Sequence[float], n_features: int) -> list[float]:
    """Levels of a kernel: exponents of a product add up over the features, so its bandwidths are √p times larger."""
    if isinstance(kernel, Linear):
        return [0.0]  # only ratios matter
    shift = 0.0 if isinstance(kernel, AdditiveKernel) else 0.5 * float(np.log(n_features))
    return [level + shift for level in levels]


def _candidates(
    settings: Sequence[Setting], fuzzifiers: Sequence[Fuzzifier], n_clusters: int, partition: FloatArray
) -> list[Candidate]:
    pairs = list(product(settings, fuzzifiers))
    # λ₁ > 1/κ: the uniform solution is unstable at this m, so the clustering cannot fall back to it.
    safe = [(setting, t) for setting, t in pairs if setting.leading_eigenvalue > t.inverse_kappa(n_clusters)]
    candidates = [
        Candidate(setting, t, descend(setting.dissimilarity, t, partition, _CANDIDATE_MAX_ITER, _CANDIDATE_TOL))
        for setting, t in safe or pairs
    ]
    found = [candidate for candidate in candidates if candidate.solution.status is not Status.COLLAPSED]
    return found or candidates


def _agreement(U: FloatArray, V: FloatArray) -> float:
    return float(frobenius_adjusted_rand_score(U, V))


def _resamples(n_samples: int, rng: np.random.Generator) -> IntArray:
    return rng.integers(n_samples, size=(_N_RESAMPLES, n_samples))


def _resample(
    opinions: Sequence[Opinion], candidates: Sequence[Candidate], scores: FloatArray, rng: np.random.Generator
) -> tuple[FloatArray, float]:
    """How often each candidate wins, and how often the judge stays with the partition, on resampled rows."""
    leaders = np.argsort(-scores, kind="stable")[:_N_LEADERS]
    evidence = np.array([opinion.row_evidence for opinion in opinions])
    same = [_agreement(opinion.posterior, opinions[0].posterior) >= _SAME_PARTITION for opinion in opinions]
    wins = np.zeros(len(candidates))
    stays = 0
    for rows in _resamples(evidence.shape[1], rng):
        preferred = int(evidence[:, rows].sum(axis=1).argmax())
        stays += same[preferred]
        posterior = opinions[preferred].posterior[rows]
        agreement = [_agreement(posterior, candidates[k].solution.memberships[rows]) for k in leaders]
        wins[leaders[int(np.argmax(agreement))]] += 1
    return wins / _N_RESAMPLES, stays / _N_RESAMPLES


def _name(member: Kernel | Criterion | Fuzzifier) -> str:
    return member.name or type(member).__name__
