"""The two-stage bandwidth selection procedure (Algorithm 1)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from kfrc import activity
from kfrc._numerics import as_generator
from kfrc._threads import limiting_threads
from kfrc._validation import check_n_clusters, check_n_jobs, check_number, check_positive_int
from kfrc.bandwidth.exploration import Exploration, SearchSpace, run_stage1, search_space
from kfrc.bandwidth.optimizers.base import Ascent, Optimizer
from kfrc.bandwidth.result import BandwidthResult, SearchRun
from kfrc.columns import Rows, Table
from kfrc.criteria import Criterion
from kfrc.exceptions import InfeasibleBandwidthError
from kfrc.gram import gram_family
from kfrc.kernels import Kernel
from kfrc.kernels.linear import Linear
from kfrc.spectrum import spectrum_of
from kfrc.typing import ArrayLike, FloatArray, IntArray, Progress, RandomStateLike

LINEAR_LIMIT_TOL = 1e-4
"""Eigenvalues that agree with those of the linear kernel to this: the bandwidths matter only through their ratios."""


@limiting_threads
def select_bandwidths(
    X: ArrayLike | Table,
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
    approximation: str = "auto",
    rank: int | None = None,
    search_samples: int | str | None = "auto",
    exploration: Exploration | None = None,
    relaxed: BandwidthResult | None = None,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    **optimizer_options: Any,
) -> BandwidthResult:
    """Bandwidths that keep the uniform solution unstable and maximize a criterion of the spectrum.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features) or Table
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
    approximation : {"auto", "none", "low_rank", "nystrom"}, default="auto"
        How the Gram matrix is held, see :func:`kfrc.gram.gram_family`.
    rank : int, optional
        Landmarks of ``"nystrom"``.
    search_samples : int, "auto" or None, default="auto"
        With more rows than this, the starts run on a random subset of that many and the best end is then refined on
        all rows; None uses all rows throughout. ``"auto"`` is 20 000 for ``"lbfgs"`` and all for ``"momentum"``. The
        first steps of ``"lbfgs"`` in large tables see 300 rows, see :class:`kfrc.bandwidth.QuasiNewton`.
    exploration : Exploration, optional
        Stage 1 from :func:`kfrc.bandwidth.explore_bandwidths`, to be shared between criteria and thresholds; what
        concerns stage 1 (kernel, anisotropy, starts, optimizer, level, approximation) is then taken from it.
    relaxed : BandwidthResult, optional
        Result of the same search from the same exploration with a smaller threshold: starts for which the larger one
        does not bind are not repeated, and ``"lbfgs"`` continues the others from where they ended.
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
    criterion = Criterion.resolve(criterion)
    threshold = check_number(threshold, "threshold", minimum=0.0)
    rng = as_generator(random_state)
    if exploration is None:
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
            random_state=rng,
            **optimizer_options,
        )
        refined = space
        if criterion.rises_to_limit:
            n_clusters = check_n_clusters(n_clusters, len(space.X))
            space, refined = space.in_limit(criterion, n_clusters, rng) or (space, space)
    else:
        space = refined = exploration.space
        if np.shape(X) != space.X.shape:
            raise ValueError(f"X has shape {np.shape(X)}, but the exploration was made on {space.X.shape}")
    n_clusters, n_jobs = check_n_clusters(n_clusters, len(space.X)), check_n_jobs(n_jobs)
    subset = None if exploration is not None else _search_subset(space, n_clusters, search_samples, rng)
    visible = space if subset is None else space.restricted(subset, approximation, rank)
    explored = run_stage1(visible, n_jobs) if exploration is None else exploration

    def run(k: int) -> SearchRun:
        if relaxed is not None:
            continued = _continue(space, relaxed.candidates[k], n_clusters, criterion, threshold)
            if continued is not None:
                return continued
        return _run_start(explored, k, n_clusters, criterion, threshold)

    everything = range(len(space.starts))
    sources = [explored.earliest_alike(k) if space.optimizer.forgets_start else k for k in everything]
    distinct = sorted(set(sources))
    found: list[SearchRun] = []
    parallel = Parallel(n_jobs=n_jobs, return_as="generator")
    for candidate in activity.results(parallel, (delayed(run)(k) for k in distinct)):
        found.append(candidate)
        if progress is not None:
            progress(f"bandwidth search {len(found)}/{len(distinct)}")
    by_start = dict(zip(distinct, found, strict=True))
    candidates = tuple(by_start.get(k) or _repeated(explored, k, by_start[source]) for k, source in enumerate(sources))
    result = _choose(visible, candidates, n_clusters, threshold, relaxed)
    if subset is not None or refined is not space:
        result = _refine(refined, result, n_clusters, criterion)
        result = replace(result, n_evaluations=result.n_evaluations + space.n_spent)
    if space.family.resolves(result.bandwidths):
        return result
    return replace(result, approximation_error=space.family.at(result.bandwidths).approximation_error)


def _continue(
    space: SearchSpace, relaxed: SearchRun, n_clusters: int, criterion: Criterion, threshold: float
) -> SearchRun | None:
    """A start's candidate at a larger threshold from its candidate at a smaller one, if that can be done."""
    if relaxed.binding_threshold >= threshold:
        return replace(relaxed, n_evaluations=0)
    if not (relaxed.feasible and space.optimizer.continues_along_thresholds) or relaxed.stage1_eigenvalue < threshold:
        return None
    problem = space.problem(n_clusters)
    ascent = space.optimizer.refine(problem, criterion, threshold, relaxed.log_bandwidths)
    return None if ascent is None else _replaced(relaxed, ascent, criterion, n_clusters, problem.n_evaluations)


def _replaced(
    candidate: SearchRun, ascent: Ascent, criterion: Criterion, n_clusters: int, n_evaluations: int
) -> SearchRun:
    """The candidate with another second stage."""
    return replace(
        candidate,
        log_bandwidths=ascent.log_bandwidths,
        criterion_value=float(criterion.value(ascent.eigenvalues, n_clusters)),
        eigenvalues=ascent.eigenvalues,
        stage2_iterations=ascent.n_iter,
        stage2_path=ascent.path,
        n_evaluations=n_evaluations,
        binding_threshold=ascent.binding_threshold,
    )


def _search_subset(
    space: SearchSpace, n_clusters: int, search_samples: int | str | None, rng: np.random.Generator
) -> IntArray | None:
    """Rows that the starts see, or None for all."""
    if search_samples == "auto":
        search_samples = space.optimizer.default_search_samples
    if search_samples is None:
        return None
    size = check_positive_int(search_samples, "search_samples")
    if size < n_clusters:
        raise ValueError(f"search_samples = {size} are too few rows for {n_clusters} clusters")
    return np.sort(rng.choice(len(space.X), size, replace=False)) if size < len(space.X) else None


def _refine(space: SearchSpace, coarse: BandwidthResult, n_clusters: int, criterion: Criterion) -> BandwidthResult:
    """Continue on all rows from the best end on a subset; the refined candidate is the last and the selected one."""
    problem = space.problem(n_clusters)
    ascent = space.optimizer.refine(problem, criterion, coarse.threshold, coarse.log_bandwidths)
    if ascent is None:
        # Feasible on the subset by a hair only: start over on all rows from where the subset led.
        explored = run_stage1(replace(space, starts=(coarse.log_bandwidths,)))
        candidate = _run_start(explored, 0, n_clusters, criterion, coarse.threshold)
    else:
        best = coarse.candidates[coarse.best]
        candidate = _replaced(best, ascent, criterion, n_clusters, problem.n_evaluations)
    chosen = _choose(space, (candidate,), n_clusters, coarse.threshold)
    return replace(
        chosen,
        candidates=(*coarse.candidates, candidate),
        best=len(coarse.candidates),
        n_evaluations=coarse.n_evaluations + candidate.n_evaluations,
    )


def _run_start(explored: Exploration, k: int, n_clusters: int, criterion: Criterion, threshold: float) -> SearchRun:
    space, stage1, start = explored.space, explored.ascents[k], explored.space.starts[k]
    problem = space.problem(n_clusters)
    stage2 = space.optimizer.maximize_criterion(
        problem, criterion, threshold, start, stage1, repeats=explored.earliest_alike(k) < k
    )
    end = stage1 if stage2 is None else stage2
    return SearchRun(
        start=start,
        stage1_eigenvalue=float(stage1.eigenvalues[0]),
        stage1_iterations=stage1.n_iter,
        stage1_path=stage1.path,
        log_bandwidths=end.log_bandwidths,
        criterion_value=-np.inf if stage2 is None else float(criterion.value(stage2.eigenvalues, n_clusters)),
        stage2_iterations=0 if stage2 is None else stage2.n_iter,
        stage2_path=None if stage2 is None else stage2.path,
        eigenvalues=None if stage2 is None else stage2.eigenvalues,
        n_evaluations=explored.n_evaluations[k] + problem.n_evaluations,
        binding_threshold=-np.inf if stage2 is None else stage2.binding_threshold,
    )


def _repeated(explored: Exploration, k: int, candidate: SearchRun) -> SearchRun:
    """The candidate of start k from that of an earlier start with the same end of stage 1."""
    stage1 = explored.ascents[k]
    return replace(
        candidate,
        start=explored.space.starts[k],
        stage1_eigenvalue=float(stage1.eigenvalues[0]),
        stage1_iterations=stage1.n_iter,
        stage1_path=stage1.path,
        n_evaluations=explored.n_evaluations[k],
    )


def _choose(
    space: SearchSpace,
    candidates: tuple[SearchRun, ...],
    n_clusters: int,
    threshold: float,
    relaxed: BandwidthResult | None = None,
) -> BandwidthResult:
    best = int(np.argmax([candidate.criterion_value for candidate in candidates]))
    chosen = candidates[best]
    if chosen.eigenvalues is None:
        reached = max(candidate.stage1_eigenvalue for candidate in candidates)
        raise InfeasibleBandwidthError(
            f"no start reached lambda_1 >= {threshold:.4f} (best {reached:.4f}), so some fuzzifier values collapse to "
            f"1/c at every bandwidth found; raise max_anisotropy (now {space.max_anisotropy:g}) or n_starts "
            f"(now {len(candidates)}), use a fuzzifier with a smaller threshold (quadratic, complementary_root), or "
            f"accept m below the critical value by asking for threshold <= {reached:.4f}",
            best_eigenvalue=reached,
            threshold=threshold,
        )
    if relaxed is not None and np.array_equal(chosen.log_bandwidths, relaxed.log_bandwidths):
        return replace(
            relaxed,
            threshold=threshold,
            candidates=candidates,
            best=best,
            n_evaluations=sum(candidate.n_evaluations for candidate in candidates),
        )
    eigenvalues = chosen.eigenvalues[:n_clusters]
    if space.optimizer.ends_in_limit:
        # What is reported is the kernel's that was asked for, not that of the linear one in its place.
        eigenvalues = spectrum_of(space.family.at(np.exp(chosen.log_bandwidths)), len(eigenvalues)).eigenvalues
    levels = chosen.log_bandwidths - space.log_scale
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
        linear_limit=is_linear_limit(space.X, chosen.log_bandwidths, eigenvalues),
        level=float(levels.mean()),
        active_level_bound=_active_bound(levels, space.level_bounds),
    )


def is_linear_limit(X: Rows, log_bandwidths: FloatArray, eigenvalues: FloatArray) -> bool:
    """Whether the eigenvalues are those of the linear kernel with the same feature weights, a p × p problem."""
    relative = np.exp(log_bandwidths - log_bandwidths.mean())  # F of the linear kernel ignores the common scale
    linear = spectrum_of(gram_family(X, Linear()).at(relative), len(eigenvalues))
    return bool(np.abs(linear.eigenvalues - eigenvalues).max() <= LINEAR_LIMIT_TOL)


def _active_bound(levels: FloatArray, bounds: tuple[float, float]) -> str | None:
    if bounds[0] == bounds[1]:
        return None
    if levels.max() >= bounds[1] - 1e-6:
        return "upper"
    return "lower" if levels.min() <= bounds[0] + 1e-6 else None
