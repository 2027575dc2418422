"""Bandwidths along a path of levels, from the linear kernel downwards: each level starts where the one above ended."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kfrc.bandwidth.optimizers.base import Ascent, Optimizer
from kfrc.bandwidth.problem import Problem, is_feasible
from kfrc.bandwidth.result import BandwidthResult, SearchRun
from kfrc.bandwidth.search import is_linear_limit, select_bandwidths
from kfrc.columns import Rows, log_deviations
from kfrc.criteria import Criterion
from kfrc.gram import GramFamily, gram_family
from kfrc.kernels.linear import Linear
from kfrc.typing import FloatArray, RandomStateLike

_MOST_FOLLOWED = 40
"""Columns up to which the shape of the bandwidths is improved at every level; with more it stays that of the linear
kernel: a level then costs one spectrum instead of some twenty, of ranks of many hundreds."""


def bandwidth_path(
    X: Rows,
    family: GramFamily,
    n_clusters: int,
    levels: Sequence[float],
    *,
    criterion: str | Criterion = "sum",
    max_anisotropy: float = 5.0,
    threshold: float = 0.0,
    n_starts: int = 5,
    optimizer: str | Optimizer = "lbfgs",
    near: FloatArray | None = None,
    random_state: RandomStateLike = None,
) -> list[BandwidthResult]:
    """Optimal shape of the bandwidths at each of several levels.

    All starts run on the linear kernel, a p × p problem that costs almost nothing and is the limit of every Gaussian
    kernel at high levels. Its best shape is then followed down the levels, where a few evaluations each suffice; with
    more than 40 columns it is kept as it is.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features) or Table
    family : GramFamily
        Of X under the kernel wanted.
    n_clusters : int
    levels : sequence of float
        Mean log-bandwidths in standard deviations of the features.
    criterion, max_anisotropy, threshold, n_starts, optimizer, random_state
        See :func:`kfrc.bandwidth.select_bandwidths`.
    near : ndarray of shape (n_features,), optional
        Log-bandwidths that the best shape may be close to, such as those for one cluster less: one start and these
        then take the place of ``n_starts``.

    Returns
    -------
    list of BandwidthResult
        One per level at which the threshold can be reached, from the highest level to the lowest.
    """
    criterion = Criterion.resolve(criterion)
    optimizer = Optimizer.resolve(optimizer).for_candidates() if isinstance(optimizer, str) else optimizer
    log_scale = log_deviations(X)
    point = log_scale
    if max_anisotropy > 1:
        found = select_bandwidths(
            X,
            n_clusters,
            kernel="linear",
            criterion=criterion,
            threshold=0.0,
            max_anisotropy=max_anisotropy,
            level=0.0,
            n_starts=n_starts if near is None else 1,
            optimizer=optimizer,
            random_state=random_state,
        )
        point = found.log_bandwidths
        if near is not None:
            linear = Problem(gram_family(X, Linear()), n_clusters, max_anisotropy, log_scale, (0.0, 0.0))
            continued = optimizer.refine(linear, criterion, 0.0, near - (near - log_scale).mean())
            if continued is not None and criterion.value(continued.eigenvalues, n_clusters) > found.criterion_value:
                point = continued.log_bandwidths
    results = []
    for level in sorted(levels, reverse=True):
        start = point - (point - log_scale).mean() + level
        problem = Problem(family, n_clusters, max_anisotropy, log_scale, (level, level))
        if X.shape[1] > _MOST_FOLLOWED:
            ascent = _stay(problem, criterion, threshold, start)
        else:
            ascent = optimizer.refine(problem, criterion, threshold, start)
        if ascent is not None:
            point = ascent.log_bandwidths
            results.append(_result(X, start, ascent, problem, criterion, threshold))
    return results


def _stay(problem: Problem, criterion: Criterion, threshold: float, point: FloatArray) -> Ascent | None:
    """The point itself, if it reaches the threshold."""
    evaluation = problem.evaluate_for(criterion, point)
    if not is_feasible(evaluation, threshold):
        return None
    return Ascent.ending_at(evaluation, 1, [(point, problem.criterion_value(criterion, evaluation))])


def _result(
    X: Rows, start: FloatArray, ascent: Ascent, problem: Problem, criterion: Criterion, threshold: float
) -> BandwidthResult:
    value = float(criterion.value(ascent.eigenvalues, problem.n_clusters))
    candidate = SearchRun(
        start=start,
        stage1_eigenvalue=float(ascent.eigenvalues[0]),
        stage1_iterations=0,
        stage1_path=ascent.path,
        log_bandwidths=ascent.log_bandwidths,
        criterion_value=value,
        stage2_iterations=ascent.n_iter,
        stage2_path=ascent.path,
        eigenvalues=ascent.eigenvalues,
        n_evaluations=problem.n_evaluations,
        binding_threshold=ascent.binding_threshold,
    )
    eigenvalues = ascent.eigenvalues[: problem.n_clusters]
    return BandwidthResult(
        bandwidths=np.exp(ascent.log_bandwidths),
        log_bandwidths=ascent.log_bandwidths,
        eigenvalues=eigenvalues,
        criterion_value=value,
        feasible=True,
        threshold=threshold,
        candidates=(candidate,),
        best=0,
        n_evaluations=problem.n_evaluations,
        linear_limit=is_linear_limit(X, ascent.log_bandwidths, eigenvalues),
        level=problem.level_bounds[0],
        active_level_bound=None,
    )
