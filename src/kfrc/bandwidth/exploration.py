"""Stage 1 of the search (Algorithm B.3): it knows neither criterion nor threshold, so several searches can share it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from kfrc import activity
from kfrc._numerics import as_generator
from kfrc._threads import limiting_threads
from kfrc._validation import check_data, check_level, check_number, check_positive_int, check_squares
from kfrc.bandwidth.optimizers.base import Ascent, Optimizer
from kfrc.bandwidth.problem import NEAR_LIMIT, Problem, at_highest_level
from kfrc.bandwidth.projections import project_anisotropy, project_level
from kfrc.columns import Rows, Table, log_deviations
from kfrc.criteria import Criterion
from kfrc.gram import ChebyshevGrams, GramFamily, gram_family
from kfrc.kernels import AdditiveKernel, Kernel
from kfrc.typing import ArrayLike, FloatArray, IntArray, RandomStateLike

_SAME_END = 1e-3
"""Precisions 1/θ² closer than this are one end of a search: it stops at larger changes of λ₁ than such a step makes."""

_START_SPREAD = 0.5
"""Standard deviation of the noise that random starts add to log σ (Algorithm B.3, line 7)."""

_APPROACH_ROWS, _APPROACH_TOL, _APPROACH_LEVEL = 300, 1e-3, 1.0
"""What the first steps towards the limit see: rows, accuracy of Gram matrices, and the level in standard deviations,
where a kernel tells clusters apart and its rank is a third of that at zero."""


@dataclass(frozen=True)
class SearchSpace:
    """Data, kernel, bounds and optimizer of a search, checked once.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features) or Table
    family : GramFamily
    optimizer : Optimizer
    max_anisotropy : float
    log_scale : ndarray of shape (n_features,)
        Logarithm of the features' standard deviations.
    level_bounds : tuple of float
    starts : tuple of ndarray
        Log-bandwidths to begin at.
    n_spent : int
        Spectra that it took to find these starts.
    """

    X: Rows
    family: GramFamily
    optimizer: Optimizer
    max_anisotropy: float
    log_scale: FloatArray
    level_bounds: tuple[float, float]
    starts: tuple[FloatArray, ...]
    n_spent: int = 0

    def restricted(self, rows: IntArray, approximation: str, rank: int | None) -> SearchSpace:
        """The same search on some of the rows."""
        X = self.X[rows]
        return replace(self, X=X, family=gram_family(X, self.family.kernel, approximation, rank))

    def in_limit(
        self, criterion: Criterion, n_clusters: int, rng: np.random.Generator
    ) -> tuple[SearchSpace, SearchSpace] | None:
        """The search where the kernel is the linear one, and that of a refinement; None if it is not made there.

        For the linear kernel a column of noise is as good as one with clusters until both are seen with others, so the
        starts are what a few short steps with the kernel that was asked for make of them: at a level where it sees
        clusters, on some of the rows.
        """
        optimizers, (low, high) = self.optimizer.for_limit(*self.X.shape), self.level_bounds
        if optimizers is None or isinstance(self.X, Table) or not math.log(self.max_anisotropy) < high - low:
            return None
        raised = [at_highest_level(start, self.log_scale, high) for start in self.starts]
        if any(self.family.linear_limit(np.exp(start), NEAR_LIMIT) is None for start in raised):
            return None
        n_rows = len(self.X)
        rows = np.sort(rng.choice(n_rows, min(n_rows, _APPROACH_ROWS), replace=False))
        seen = replace(self, X=self.X[rows], family=_coarse_family(self.X[rows], self.family.kernel))
        problem, starts = seen.problem(n_clusters), []
        for start in self.starts:
            clear = start + float((self.log_scale - start).mean()) + _APPROACH_LEVEL
            near = self.optimizer.approach(problem, criterion, clear)
            starts.append(at_highest_level(near, self.log_scale, high))
        comparing, refining = optimizers
        limit = replace(self, optimizer=comparing, starts=tuple(starts), n_spent=problem.n_evaluations)
        return limit, replace(self, optimizer=refining)

    def problem(self, n_clusters: int) -> Problem:
        """The optimization problem, with its own evaluation counter and warm starts."""
        return Problem(self.family, n_clusters, self.max_anisotropy, self.log_scale, self.level_bounds)


@dataclass(frozen=True)
class Exploration:
    """Stage 1 from every start, to be refined for any criterion, threshold and number of clusters.

    Attributes
    ----------
    space : SearchSpace
    ascents : tuple of Ascent
        One per start.
    n_evaluations : tuple of int
        Spectra computed by each.
    """

    space: SearchSpace
    ascents: tuple[Ascent, ...]
    n_evaluations: tuple[int, ...]

    def earliest_alike(self, k: int) -> int:
        """The first start that led to the same kernel as start k: what follows from there need not be done twice."""
        return self._earliest[k]

    @cached_property
    def _earliest(self) -> list[int]:
        ends = [ascent.log_bandwidths - self.space.log_scale for ascent in self.ascents]
        return [next(i for i, earlier in enumerate(ends) if is_same_kernel(earlier, end)) for end in ends]


def _coarse_family(X: FloatArray, kernel: Kernel) -> GramFamily:
    """Gram matrices for a few steps: polynomials are there at once, whatever the values of the columns."""
    return ChebyshevGrams(X, kernel, _APPROACH_TOL) if isinstance(kernel, AdditiveKernel) else gram_family(X, kernel)


def is_same_kernel(levels: FloatArray, others: FloatArray) -> bool:
    """Whether two vectors of log-bandwidths, in standard deviations, are one as far as a search can tell.

    Compared are 1/θ² relative to its largest, and that largest: large bandwidths differ in nothing else.
    """
    return bool(np.abs(_precisions(levels) - _precisions(others)).max() <= _SAME_END)


def _precisions(levels: FloatArray) -> FloatArray:
    smallest = levels.min()
    return np.exp(-2.0 * np.append(levels - smallest, smallest))


@limiting_threads
def explore_bandwidths(
    X: ArrayLike,
    *,
    kernel: str | Kernel = "sum",
    max_anisotropy: float = 5.0,
    n_starts: int = 5,
    optimizer: str | Optimizer = "lbfgs",
    level: float | None = None,
    level_bounds: tuple[float, float] | None = None,
    approximation: str = "auto",
    rank: int | None = None,
    gram_tol: float | None = None,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
    **optimizer_options: Any,
) -> Exploration:
    """Run stage 1 once, to share it between several calls of :func:`kfrc.bandwidth.select_bandwidths`.

    The parameters are those of :func:`kfrc.bandwidth.select_bandwidths`, and ``gram_tol``, the accuracy of Gram
    matrices that can be held to any (see :func:`kfrc.gram.gram_family`): a coarse search needs no fine ones.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.preprocessing import scale
    >>> from kfrc.bandwidth import explore_bandwidths, select_bandwidths
    >>> X = scale(load_iris().data)
    >>> shared = explore_bandwidths(X, n_starts=2, random_state=0)
    >>> results = [select_bandwidths(X, 3, criterion=c, threshold=0.2, exploration=shared) for c in ("sum", "gap")]
    >>> len(results)
    2
    """
    space = search_space(
        X,
        kernel=kernel,
        max_anisotropy=max_anisotropy,
        n_starts=n_starts,
        optimizer=optimizer,
        level=level,
        level_bounds=level_bounds,
        approximation=approximation,
        rank=rank,
        gram_tol=gram_tol,
        random_state=random_state,
        **optimizer_options,
    )

    return run_stage1(space, n_jobs)


def run_stage1(space: SearchSpace, n_jobs: int | None = None) -> Exploration:
    """Climb λ₁ from every start."""

    def run(start: FloatArray) -> tuple[Ascent, int]:
        problem = space.problem(n_clusters=2)
        return space.optimizer.maximize_leading(problem, start), problem.n_evaluations

    # With equal bandwidths only the level is left to climb: starts differ in nothing that lasts.
    climbs_alike = space.optimizer.forgets_start and space.max_anisotropy == 1
    calls = (delayed(run)(start) for start in (space.starts[:1] if climbs_alike else space.starts))
    finished = list(activity.results(Parallel(n_jobs=n_jobs, return_as="generator"), calls))
    finished += [(finished[0][0], 0)] * (len(space.starts) - len(finished))
    return Exploration(space, tuple(ascent for ascent, _ in finished), tuple(count for _, count in finished))


def search_space(
    X: ArrayLike | Table,
    *,
    kernel: str | Kernel,
    max_anisotropy: float,
    n_starts: int,
    optimizer: str | Optimizer,
    level: float | None,
    level_bounds: tuple[float, float] | None,
    approximation: str,
    rank: int | None,
    random_state: RandomStateLike,
    gram_tol: float | None = None,
    **optimizer_options: Any,
) -> SearchSpace:
    """Check the arguments of a search and draw its starts."""
    data = X if isinstance(X, Table) else check_data(X)
    if not isinstance(data, Table):
        check_squares(data)
    resolved = Optimizer.resolve(optimizer, **optimizer_options)
    max_anisotropy = check_number(max_anisotropy, "max_anisotropy", minimum=1.0)
    n_starts = check_positive_int(n_starts, "n_starts")
    bounds = _level_bounds(level, level_bounds, resolved)
    log_scale = _log_standard_deviations(data)
    starts = draw_starts(log_scale, n_starts, max_anisotropy, bounds, random_state)
    family = gram_family(data, Kernel.resolve(kernel), approximation, rank, gram_tol)
    return SearchSpace(data, family, resolved, max_anisotropy, log_scale, bounds, tuple(starts))


def draw_starts(
    log_scale: FloatArray,
    n_starts: int,
    max_anisotropy: float,
    level_bounds: tuple[float, float],
    random_state: RandomStateLike,
) -> list[FloatArray]:
    """Starting log-bandwidths: log σ, then log σ + N(0, 0.5²) (Algorithm B.3, lines 4 to 10)."""
    streams = as_generator(random_state).spawn(n_starts)
    starts = [log_scale]
    starts += [log_scale + _START_SPREAD * rng.standard_normal(len(log_scale)) for rng in streams[1:]]
    return [project_level(project_anisotropy(start, max_anisotropy), log_scale, level_bounds) for start in starts]


def _level_bounds(level: float | None, bounds: tuple[float, float] | None, optimizer: Optimizer) -> tuple[float, float]:
    if level is not None:
        if bounds is not None:
            raise ValueError("give level or level_bounds, not both")
        value = check_level(level)
        return (value, value)
    try:
        low, high = optimizer.default_level_bounds if bounds is None else bounds
    except (TypeError, ValueError):
        raise TypeError(f"level_bounds must be a pair (low, high), got {bounds!r}") from None
    low, high = (check_number(bound, "each of level_bounds", minimum=-math.inf) for bound in (low, high))
    if low > high:
        raise ValueError(f"level_bounds must be (low, high) with low <= high, got ({low:g}, {high:g})")
    return (low, high)


def _log_standard_deviations(X: Rows) -> FloatArray:
    if isinstance(X, Table):
        return log_deviations(X)
    scale = X.std(axis=0, ddof=1)
    if (scale <= 0).any():
        raise ValueError(
            f"column(s) {np.flatnonzero(scale <= 0).tolist()} of X are constant: leave them out of the search"
        )
    return np.log(scale)
