"""A fit from beginning to end: how many clusters, which kernel, the clustering itself, and what it is worth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kfrc._eigenpairs import exceed, largest_pairs, smallest_eigenvalue
from kfrc._numerics import digits_of, double_center, is_large_table, rounding_of
from kfrc._threads import threads_for
from kfrc._validation import check_memberships, check_square
from kfrc.bandwidth.search import is_linear_limit
from kfrc.contributions import cluster_contributions
from kfrc.dissimilarity import Dissimilarity
from kfrc.exceptions import KFRCError
from kfrc.fitting.paths import Paths
from kfrc.fitting.result import KernelFit, Posterior, PrecomputedCenters, TableCenters
from kfrc.fitting.settings import Counting, Descent, Settings
from kfrc.fitting.table import TableView
from kfrc.fitting.tuning import Chosen, Fixed
from kfrc.fuzzifiers import Fuzzifier
from kfrc.gram import DenseGram, gram_family
from kfrc.kernels import EmbeddedKernel
from kfrc.relational import (
    Given,
    RelationalSolution,
    Start,
    evaluate_partition,
    in_order_of_appearance,
    race,
    resolve_start,
    solve_relational,
)
from kfrc.selection import PATIENCE, ClusterCount, count_clusters
from kfrc.selection.relations import count_relation
from kfrc.selection.wide import set_columns_aside
from kfrc.spectrum import spectrum_of
from kfrc.typing import FloatArray, Progress

_INDEFINITE_TOL = 1e-8
"""Negative eigenvalues of a precomputed kernel below this share of the largest are rounding."""

_HARMFUL_SHARE = 1e-2
"""Rounding of a precomputed kernel is refused if it reaches this share of the largest eigenvalue."""


def fit_table(view: TableView, settings: Settings, rng: np.random.Generator, progress: Progress) -> KernelFit:
    """Cluster the rows of a table.

    Parameters
    ----------
    view : TableView
    settings : Settings
    rng : Generator
    progress : callable
        Called with a text after every unit of work.

    Returns
    -------
    KernelFit

    Raises
    ------
    InfeasibleBandwidthError
        If no bandwidths reach the threshold.
    """
    _check_shapes(view, settings)
    n_clusters, count = _number_of_clusters(view, settings, rng, progress)
    start = resolve_start(settings.descent.init, view.n_samples, n_clusters)
    tuning = settings.tuning if n_clusters > 1 else settings.tuning.without_search()
    tuned = tuning.tune(view, n_clusters, settings.descent.proposing, rng, progress)
    everything, whole = view, view.space(np.zeros(len(view.columns)))
    if tuned.columns is not None:
        view = view.restricted(tuned.columns)
    options, space = settings.tuning.options, view.space(tuned.log_bandwidths)
    gram = gram_family(view.standardized, tuned.kernel, options.approximation, options.rank).at(space.bandwidths)
    eigenvalues = spectrum_of(gram, n_clusters).eigenvalues
    dissimilarity, n_columns = Dissimilarity(gram), len(view.columns)
    if tuned.memberships is None or start.keeps_numbering:
        solution = _cluster(
            dissimilarity, n_clusters, tuned.fuzzifier, start, settings.descent, rng, progress, n_columns
        )
    else:
        continued = Given(tuned.memberships)
        solution = _cluster(
            dissimilarity, n_clusters, tuned.fuzzifier, continued, settings.descent, rng, progress, n_columns
        )
        solution = in_order_of_appearance(solution)
    rule = solution.fuzzifier or tuned.fuzzifier
    posterior = None
    opinion = tuned.believed
    if opinion is not None and opinion.model is not None:
        posterior = Posterior.matching(solution.memberships, opinion.model, everything.standardized, whole)
    if settings.returns_posterior:
        if posterior is None:
            raise KFRCError("the judge has a model for probabilities, it said, but its opinion came without one")
        solution = evaluate_partition(dissimilarity, rule, posterior.memberships)
    return KernelFit(
        fuzzifier=rule,
        criterion=tuned.criterion,
        threshold=options.threshold_for([rule], n_clusters),
        gram=gram,
        eigenvalues=eigenvalues,
        solution=solution,
        centers=TableCenters(space, gram.centers(solution.prototypes)),
        kernel=tuned.kernel,
        max_anisotropy=tuned.max_anisotropy,
        space=space,
        linear_limit=not isinstance(tuned.kernel, EmbeddedKernel)
        and is_linear_limit(view.standardized, tuned.log_bandwidths, eigenvalues),
        far_values=whole.far_values(),
        search=tuned.search,
        selection=tuned.selection,
        opinion=opinion,
        count=count,
        posterior=posterior,
        returns_posterior=settings.returns_posterior,
        foremost=tuned.foremost,
        contributions=space.spread(
            cluster_contributions(
                view.standardized, tuned.kernel, space.bandwidths, solution.memberships, tuned.fuzzifier, gram
            )
        ),
    )


def fit_gram(
    K: FloatArray,
    settings: Settings,
    rng: np.random.Generator,
    progress: Progress,
    weights: FloatArray | None = None,
) -> KernelFit:
    """Cluster the samples of a given Gram matrix: nothing is searched or chosen but the number of clusters.

    Parameters
    ----------
    K : ndarray of shape (n_samples, n_samples)
    settings, rng, progress
        See :func:`fit_table`.
    weights : ndarray of shape (n_samples,), optional
        How many rows each row stands for.

    Raises
    ------
    KFRCError
        If K is not positive semi-definite.
    """
    digits, rounding = digits_of(K), rounding_of(K)
    K = check_square(K, "K")
    centered = double_center(K)
    largest = float(largest_pairs(centered, 1)[0][0])
    # An error of the entries by one unit in the last place moves eigenvalues by no more than n such units.
    units = len(K) * max(float(np.abs(K).max()), np.finfo(np.float64).tiny)
    given = min(units * digits, _HARMFUL_SHARE * largest)
    if not exceed(centered, -max(_INDEFINITE_TOL * largest, given, units * np.finfo(np.float64).eps)):
        raise KFRCError(
            f"the precomputed kernel is not positive semi-definite: centered, its eigenvalues reach from "
            f"{smallest_eigenvalue(centered):.3g} to {largest:.3g}. For dissimilarities use FRC(metric='precomputed'); "
            "if it was computed in single precision, pass it as float32"
        )
    grid, options = settings.tuning.grid, settings.tuning.options
    fuzzifier, counting, count = grid.fuzzifiers[0], settings.n_clusters, None
    if isinstance(counting, Counting):
        count = count_relation(K, counting.largest, rng, options.n_jobs)
        n_clusters = count.best
        progress("counting")
    else:
        n_clusters = counting
    start = resolve_start(settings.descent.init, len(K), n_clusters)
    gram = DenseGram(K, weights=weights)
    solution = _cluster(Dissimilarity(gram), n_clusters, fuzzifier, start, settings.descent, rng, progress)
    return KernelFit(
        fuzzifier=fuzzifier,
        criterion=grid.criteria[0],
        threshold=options.threshold_for([fuzzifier], n_clusters),
        gram=gram,
        eigenvalues=spectrum_of(gram, n_clusters).eigenvalues,
        solution=solution,
        centers=PrecomputedCenters.of(K, solution, rounding),
        count=count,
    )


def _check_shapes(view: TableView, settings: Settings) -> None:
    """Refuse what does not fit the table, before the long part."""
    tuning, n_clusters, init = settings.tuning, settings.n_clusters, settings.descent.init
    if view.types is not None and settings.needs_numbers is not None:
        raise ValueError(settings.needs_numbers)
    if isinstance(tuning, Fixed | Paths) and tuning.bandwidths is not None:
        view.given_in_deviations(tuning.bandwidths)
    if isinstance(n_clusters, Counting):
        if not isinstance(init, (str, Start)):
            check_memberships(init, "init", shape=(view.n_samples, None))
    elif isinstance(tuning, Chosen) and min(tuning.max_rows, view.n_samples) < n_clusters:
        raise ValueError(f"selection_samples = {tuning.max_rows} rows are too few to choose {n_clusters} clusters by")


def _number_of_clusters(
    view: TableView, settings: Settings, rng: np.random.Generator, progress: Progress
) -> tuple[int, ClusterCount | None]:
    counting = settings.n_clusters
    if isinstance(counting, int):
        return counting, None
    count = count_table(view, settings, counting, rng, progress)
    return count.best, count


def count_table(
    view: TableView,
    settings: Settings,
    counting: Counting,
    rng: np.random.Generator,
    progress: Progress | None = None,
    patience: int | None = PATIENCE,
) -> ClusterCount:
    """Evidence for each number of clusters in the rows of a table.

    Parameters
    ----------
    view : TableView
    settings : Settings
    counting : Counting
        How it is found out.
    rng : Generator
    progress : callable, optional
    patience : int or None
        See :func:`kfrc.selection.count_clusters`.

    Returns
    -------
    ClusterCount
    """
    n_rows = min(counting.max_rows, view.n_samples)
    largest = min(counting.largest, n_rows - 1)
    if largest < 2:
        raise ValueError(
            f'n_clusters="auto" needs max_clusters >= 2 and at least 3 different rows, got {counting.largest} '
            f"and {n_rows}"
        )
    if isinstance(settings.tuning, Paths):
        return settings.tuning.count(view, range(2, largest + 1), rng)
    part = view.subset(counting.max_rows, rng).rounded()
    numbers, whole = range(2, largest + 1), part.standardized
    foremost = set_columns_aside(whole, numbers, counting.screen)
    if foremost is not None:
        part = part.restricted(foremost.columns)
    with threads_for(len(whole)):
        return count_clusters(
            part.searched,
            part.standardized,
            numbers,
            counting.grid,
            counting.judge,
            screen=counting.screen,
            start=settings.descent.proposing,
            options=replace(settings.tuning.options, one_scale=view.one_scale),
            rng=rng,
            progress=progress,
            whole=whole,
            patience=patience,
        )


def _cluster(
    dissimilarity: Dissimilarity,
    n_clusters: int,
    fuzzifier: Fuzzifier,
    start: Start,
    descent: Descent,
    rng: np.random.Generator,
    progress: Progress,
    n_columns: int = 0,
) -> RelationalSolution:
    """Cluster from a start, which may be memberships that are there already."""
    n_init = descent.n_runs(continued=start.keeps_numbering)
    if is_large_table(dissimilarity.n_samples, n_columns):
        return race(
            dissimilarity,
            n_clusters,
            fuzzifier,
            start,
            n_init=n_init,
            max_iter=descent.max_iter,
            tol=descent.tol,
            random_state=rng,
            progress=progress,
        )
    return solve_relational(
        dissimilarity,
        n_clusters,
        fuzzifier,
        init=start,
        n_init=n_init,
        max_iter=descent.max_iter,
        tol=descent.tol,
        random_state=rng,
        progress=progress,
    )
