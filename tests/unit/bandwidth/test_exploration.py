"""Sharing stage 1 between searches, searching on a subset of the rows, and parallel starts."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kfrc._numerics import standardize
from kfrc.bandwidth import MomentumAscent, QuasiNewton, explore_bandwidths, select_bandwidths


def clusters(n_samples, seed=0):
    rng = np.random.default_rng(seed)
    means = 3.0 * rng.standard_normal((3, 6))
    X = means[rng.integers(3, size=n_samples)] + rng.standard_normal((n_samples, 6))
    return standardize(X)


@pytest.mark.slow
@pytest.mark.parametrize("optimizer", ["lbfgs", QuasiNewton(restart=False), MomentumAscent(max_iter=15)])
def test_a_shared_stage_1_gives_the_results_of_separate_searches(iris, optimizer):
    shared = explore_bandwidths(iris, n_starts=3, optimizer=optimizer, random_state=5)
    for criterion in ("sum", "gap"):
        for threshold in (0.2, 0.45):
            alone = select_bandwidths(
                iris, 3, criterion=criterion, threshold=threshold, n_starts=3, optimizer=optimizer, random_state=5
            )
            reused = select_bandwidths(iris, 3, criterion=criterion, threshold=threshold, exploration=shared)
            assert_allclose(reused.log_bandwidths, alone.log_bandwidths, atol=1e-6)
            assert_allclose(reused.criterion_value, alone.criterion_value, atol=1e-9)
            assert reused.n_evaluations == alone.n_evaluations


def test_ends_that_make_the_same_kernel_are_recognized(wine):
    # With one bandwidth for all features every start climbs to the linear limit, each to another height.
    shared = explore_bandwidths(wine, n_starts=4, max_anisotropy=1.0, random_state=0)
    ends = np.array([ascent.log_bandwidths[0] for ascent in shared.ascents])
    assert np.ptp(ends) > 0.1
    assert [shared.earliest_alike(k) for k in range(4)] == [0, 0, 0, 0]
    bounded = explore_bandwidths(wine, n_starts=2, level_bounds=(0.0, 1.0), max_anisotropy=2.0, random_state=0)
    moved = replace(bounded.ascents[0], log_bandwidths=bounded.ascents[0].log_bandwidths - 0.1)
    assert replace(bounded, ascents=(bounded.ascents[0], moved)).earliest_alike(1) == 1


@pytest.mark.slow
def test_without_a_restart_equal_ends_of_stage_1_are_refined_once(wine):
    once, twice = (
        select_bandwidths(wine, 3, criterion="log_sum", threshold=0.25, restart=restart, random_state=0)
        for restart in (False, True)
    )
    shared = explore_bandwidths(wine, n_starts=5, optimizer=QuasiNewton(restart=False), random_state=0)
    sources = [shared.earliest_alike(k) for k in range(5)]
    assert len(set(sources)) < 5
    for k, source in enumerate(sources):
        assert_array_equal(once.candidates[k].log_bandwidths, once.candidates[source].log_bandwidths)
        assert_array_equal(once.candidates[k].start, shared.space.starts[k])
        assert (once.candidates[k].n_evaluations == shared.n_evaluations[k]) == (source != k)
    assert once.n_evaluations < twice.n_evaluations
    assert once.criterion_value <= twice.criterion_value + 1e-6


def test_an_exploration_of_other_data_is_refused(iris, wine):
    with pytest.raises(ValueError, match="exploration was made on"):
        select_bandwidths(wine, 3, threshold=0.2, exploration=explore_bandwidths(iris, n_starts=1))


@pytest.mark.slow
def test_a_search_on_a_subset_is_refined_on_all_rows():
    X = clusters(3000)
    full = select_bandwidths(X, 3, criterion="gap", threshold=0.2, n_starts=2, search_samples=None, random_state=0)
    quick = select_bandwidths(X, 3, criterion="gap", threshold=0.2, n_starts=2, search_samples=400, random_state=0)
    assert len(quick.candidates) == 3  # two starts on the subset, and the refined one
    assert quick.best == 2
    assert quick.criterion_value >= full.criterion_value - 1e-3
    # On all rows, not on the subset: the criterion is that of the full data at these bandwidths.
    again = select_bandwidths(
        X, 3, criterion="gap", threshold=0.2, n_starts=1, search_samples=None, level_bounds=(-3.0, 10.0), random_state=0
    )
    assert again.criterion_value == pytest.approx(quick.criterion_value, abs=0.05)


def test_all_rows_are_searched_when_the_subset_would_be_no_smaller(iris):
    result = select_bandwidths(iris, 3, threshold=0.2, n_starts=2, search_samples=150, random_state=0)
    assert len(result.candidates) == 2


@pytest.mark.parametrize("search_samples", [0, -5])
def test_a_subset_needs_rows(iris, search_samples):
    with pytest.raises(ValueError, match="search_samples must be at least 1"):
        select_bandwidths(iris, 3, threshold=0.2, search_samples=search_samples)


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["sum", "product"])
def test_results_do_not_depend_on_the_number_of_workers(kernel):
    X = clusters(250)
    results = [
        select_bandwidths(X, 3, kernel=kernel, threshold=0.2, n_starts=4, n_jobs=n_jobs, random_state=1)
        for n_jobs in (1, 2)
    ]
    assert np.array_equal(results[0].bandwidths, results[1].bandwidths)
    assert results[0].n_evaluations == results[1].n_evaluations


@pytest.mark.slow
def test_the_fast_search_is_no_worse_than_the_papers_and_needs_an_eighth_of_its_evaluations(wine):
    for criterion in ("sum", "log_sum"):
        fast, paper = (
            select_bandwidths(
                wine, 3, criterion=criterion, threshold=0.25, n_starts=1, optimizer=optimizer, random_state=0
            )
            for optimizer in ("lbfgs", "momentum")
        )
        assert fast.criterion_value >= paper.criterion_value - 1e-4
        assert fast.n_evaluations <= paper.n_evaluations / 8
