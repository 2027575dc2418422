"""The two-stage bandwidth selection procedure (Algorithm 1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from kfrc._numerics import as_generator
from kfrc._typing import ArrayLike, FloatArray, Progress, RandomStateLike
from kfrc._validation import check_data, check_n_clusters, check_number, check_positive_int
from kfrc.bandwidth.optimizers.base import AscentPath, Optimizer
from kfrc.bandwidth.problem import Problem
from kfrc.bandwidth.projections import project_anisotropy, project_level
from kfrc.criteria import Criterion
from kfrc.exceptions import InfeasibleBandwidthError
from kfrc.gram import gram_family
from kfrc.kernels import Kernel
from kfrc.kernels.linear import Linear
from kfrc.spectrum import spectrum_of

_START_SPREAD = 0.5
"""Standard deviation of the noise that random starts add to log σ (Algorithm B.3, line 7)."""

LINEAR_LIMIT_TOL = 1e-4
"""Eigenvalues that agree with those of the linear kernel to this: the bandwidths matter only through their ratios."""


@dataclass(frozen=True)
class Candidate:
    """What one start led to.

    Attributes
    ----------
    start : ndarray of shape (n_features,)
        Log-bandwidths it began at.
    stage1_eigenvalue : float
        λ₁ at the end of stage 1.
    stage1_iterations, stage2_iterations : int
    stage1_path, stage2_path : AscentPath
        Every point visited; ``stage2_path`` is None if stage 1 did not reach the threshold.
    log_bandwidths : ndarray of shape (n_features,)
        Where it ended.
    criterion_value : float
        The criterion there; ``-inf`` if infeasible.
    eigenvalues : ndarray of shape (k,) or None
        Leading eigenvalues there; None if infeasible.
    n_evaluations : int
        Spectra computed.
    """

    start: FloatArray
    stage1_eigenvalue: float
    stage1_iterations: int
    stage1_path: AscentPath
    log_bandwidths: FloatArray
    criterion_value: float
    stage2_iterations: int
    stage2_path: AscentPath | None
    eigenvalues: FloatArray | None
    n_evaluations: int

    @property
    def feasible(self) -> bool:
        """Whether the threshold was reached."""
        return self.eigenvalues is not None


@dataclass(frozen=True)
class BandwidthResult:
    """Selected bandwidths and how they were found.

    Attributes
    ----------
    bandwidths : ndarray of shape (n_features,)
        θ, in the units of X.
    log_bandwidths : ndarray of shape (n_features,)
    eigenvalues : ndarray of shape (n_clusters,)
        Leading eigenvalues of F, descending.
    criterion_value : float
    feasible : bool
        λ₁ ≥ τ (up to the 10⁻⁶ of the paper's line search).
    threshold : float
        τ.
    candidates : tuple of Candidate
        One per start, in order.
    best : int
        Which of them was selected.
    n_evaluations : int
        Spectra computed, all starts together.
    linear_limit : bool
        Whether the spectrum is numerically that of the linear kernel: only the ratios of the bandwidths matter.
    level : float
        Mean of log θ in units of the features' standard deviations.
    active_level_bound : {"lower", "upper"} or None
        The bound on the level that holds the solution, if one does.
    """

    bandwidths: FloatArray
    log_bandwidths: FloatArray
    eigenvalues: FloatArray
    criterion_value: float
    feasible: bool
    threshold: float
    candidates: tuple[Candidate, ...]
    best: int
    n_evaluations: int
    linear_limit: bool
    level: float
    active_level_bound: str | None


def select_bandwidths(
    X: ArrayLike,
    n_clusters: int,
    *,
    kernel: str | Kernel = "sum",
    criterion: str | Criterion = "sum",
    threshold: float,
    max_anisotropy: float = 5.0,
    n_starts: int = 5,
    optimizer: str | Optimizer = "lbfgs",
    level: float | None = None,
    level_bounds: tuple[float, float] | None = None,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    **optimizer_options: Any,
) -> BandwidthResult:
    """Bandwidths that keep the uniform solution unstable and maximize a criterion of the spectrum.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Used as given: standardize the columns first, or the anisotropy bound depends on their units.
    n_clusters : int
    kernel : {"sum", "product", "linear"} or Kernel, default="sum"
    criterion : {"sum", "log_sum", "gap"} or Criterion, default="sum"
    threshold : float
        τ, see :func:`kfrc.stability.stability_threshold`.
    max_anisotropy : float, default=5
        α: bound on max θ / min θ; ``inf`` for none.
    n_starts : int, default=5
        S: the first start is the features' standard deviations, the others add noise.
    optimizer : {"lbfgs", "momentum"} or Optimizer, default="lbfgs"
        ``"momentum"`` is the paper's algorithm.
    level : float, optional
        Fix the mean of log θ (in standard deviations of the features) instead of searching it.
    level_bounds : tuple of float, optional
        Bounds on it; by default those of the optimizer.
    random_state : int, RandomState, Generator or None
    n_jobs : int, optional
        Starts run in parallel; the result does not depend on it.
    progress : callable, optional
        Called with a text after every start.
    **optimizer_options
        Settings of the optimizer when it is given by name.

    Returns
    -------
    BandwidthResult

    Raises
    ------
    InfeasibleBandwidthError
        If no start reaches the threshold.

    References
    ----------
    Algorithm 1 and Appendix B of the paper.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.preprocessing import scale
    >>> from kfrc.bandwidth import select_bandwidths
    >>> from kfrc.stability import stability_threshold
    >>> X = scale(load_iris().data)
    >>> result = select_bandwidths(X, 3, threshold=stability_threshold("complementary_root", 3), random_state=0)
    >>> bool(result.eigenvalues[0] >= result.threshold), len(result.candidates)
    (True, 5)
    """
    X = check_data(X)
    n_clusters = check_n_clusters(n_clusters, len(X))
    kernel = Kernel.resolve(kernel)
    criterion = Criterion.resolve(criterion)
    optimizer = Optimizer.resolve(optimizer, **optimizer_options)
    threshold = check_number(threshold, "threshold", minimum=0.0)
    max_anisotropy = check_number(max_anisotropy, "max_anisotropy", minimum=1.0)
    n_starts = check_positive_int(n_starts, "n_starts")
    bounds = _level_bounds(level, level_bounds, optimizer)
    log_scale = _log_standard_deviations(X)
    family = gram_family(X, kernel)

    def run(start: FloatArray) -> Candidate:
        problem = Problem(family, n_clusters, max_anisotropy, log_scale, bounds)
        return _run_start(problem, optimizer, criterion, threshold, start)

    starts = draw_starts(log_scale, n_starts, max_anisotropy, bounds, random_state)
    finished = Parallel(n_jobs=n_jobs, return_as="generator")(delayed(run)(start) for start in starts)
    candidates = []
    for k, candidate in enumerate(finished):
        candidates.append(candidate)
        if progress is not None:
            progress(f"bandwidth search {k + 1}/{n_starts}")
    return _choose(X, tuple(candidates), n_clusters, threshold, max_anisotropy, log_scale, bounds)


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


def _run_start(
    problem: Problem, optimizer: Optimizer, criterion: Criterion, threshold: float, start: FloatArray
) -> Candidate:
    stage1 = optimizer.maximize_leading(problem, start)
    stage2 = optimizer.maximize_criterion(problem, criterion, threshold, start, stage1)
    end = stage1.end if stage2 is None else stage2.end
    return Candidate(
        start=start,
        stage1_eigenvalue=stage1.end.leading,
        stage1_iterations=stage1.n_iter,
        stage1_path=stage1.path,
        log_bandwidths=end.log_bandwidths,
        criterion_value=-np.inf if stage2 is None else problem.criterion_value(criterion, end),
        stage2_iterations=0 if stage2 is None else stage2.n_iter,
        stage2_path=None if stage2 is None else stage2.path,
        eigenvalues=None if stage2 is None else end.spectrum.eigenvalues,
        n_evaluations=problem.n_evaluations,
    )


def _choose(
    X: FloatArray,
    candidates: tuple[Candidate, ...],
    n_clusters: int,
    threshold: float,
    max_anisotropy: float,
    log_scale: FloatArray,
    bounds: tuple[float, float],
) -> BandwidthResult:
    best = int(np.argmax([candidate.criterion_value for candidate in candidates]))
    chosen = candidates[best]
    if chosen.eigenvalues is None:
        reached = max(candidate.stage1_eigenvalue for candidate in candidates)
        raise InfeasibleBandwidthError(
            f"no start reached lambda_1 >= {threshold:.4f} (best {reached:.4f}), so some fuzzifier values collapse to "
            f"1/c at every bandwidth found; raise max_anisotropy (now {max_anisotropy:g}) or n_starts "
            f"(now {len(candidates)}), use a fuzzifier with a smaller threshold (quadratic, complementary_root), or "
            f"accept m below the critical value by asking for threshold <= {reached:.4f}",
            best_eigenvalue=reached,
            threshold=threshold,
        )
    eigenvalues = chosen.eigenvalues[:n_clusters]
    return BandwidthResult(
        bandwidths=np.exp(chosen.log_bandwidths),
        log_bandwidths=chosen.log_bandwidths,
        eigenvalues=eigenvalues,
        criterion_value=chosen.criterion_value,
        feasible=True,
        threshold=threshold,
        candidates=candidates,
        best=best,
        n_evaluations=sum(candidate.n_evaluations for candidate in candidates),
        linear_limit=is_linear_limit(X, chosen.log_bandwidths, eigenvalues),
        level=float((chosen.log_bandwidths - log_scale).mean()),
        active_level_bound=_active_bound(chosen.log_bandwidths - log_scale, bounds),
    )


def is_linear_limit(X: FloatArray, log_bandwidths: FloatArray, eigenvalues: FloatArray) -> bool:
    """Whether the eigenvalues are those of the linear kernel with the same feature weights."""
    relative = np.exp(log_bandwidths - log_bandwidths.mean())  # F of the linear kernel ignores the common scale
    linear = spectrum_of(gram_family(X, Linear()).at(relative), len(eigenvalues))
    return bool(np.abs(linear.eigenvalues - eigenvalues).max() <= LINEAR_LIMIT_TOL)


def _level_bounds(level: float | None, bounds: tuple[float, float] | None, optimizer: Optimizer) -> tuple[float, float]:
    if level is not None:
        if bounds is not None:
            raise ValueError("give level or level_bounds, not both")
        value = check_number(level, "level", minimum=-np.inf)
        return (value, value)
    low, high = optimizer.default_level_bounds if bounds is None else bounds
    if not low <= high:
        raise ValueError(f"level_bounds must be (low, high) with low <= high, got ({low:g}, {high:g})")
    return (float(low), float(high))


def _active_bound(log_levels: FloatArray, bounds: tuple[float, float]) -> str | None:
    if bounds[0] == bounds[1]:
        return None
    if log_levels.max() >= bounds[1] - 1e-6:
        return "upper"
    return "lower" if log_levels.min() <= bounds[0] + 1e-6 else None


def _log_standard_deviations(X: FloatArray) -> FloatArray:
    scale = X.std(axis=0, ddof=1)
    if (scale <= 0).any():
        raise ValueError(
            f"column(s) {np.flatnonzero(scale <= 0).tolist()} of X are constant: leave them out of the search"
        )
    return np.log(scale)
