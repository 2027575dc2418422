"""Two-stage bandwidth selection: constraints, starts, results, and what a search must not depend on."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kfrc.bandwidth import Optimizer, select_bandwidths
from kfrc.bandwidth.optimizers.lbfgs import QuasiNewton
from kfrc.bandwidth.optimizers.momentum import MomentumAscent
from kfrc.criteria import Criterion
from kfrc.kernels import Kernel
from kfrc.spectrum import leading_spectrum
from strategies import each, each_name, has_blocks

each_optimizer = each("optimizer", Optimizer)
TAU = 0.2027


@each_optimizer
@pytest.mark.parametrize("criterion", ["sum", "log_sum", "gap"])
@each_name("kernel", Kernel, has_blocks)
def test_result_describes_the_bandwidths_it_returns(iris, optimizer, criterion, kernel):
    result = select_bandwidths(
        iris, 3, kernel=kernel, criterion=criterion, threshold=TAU, n_starts=2, optimizer=optimizer, random_state=0
    )
    values = leading_spectrum(iris, result.bandwidths, kernel=kernel, n_eigenvalues=3).eigenvalues
    assert_allclose(result.eigenvalues, values, rtol=0, atol=1e-8)
    expected = {"sum": values[:2].sum(), "log_sum": np.log(values[:2]).sum(), "gap": values[1] - values[2]}[criterion]
    assert result.criterion_value == pytest.approx(expected, abs=1e-7)
    assert_allclose(result.bandwidths, np.exp(result.log_bandwidths))
    assert np.ptp(result.log_bandwidths) <= np.log(5.0) + 1e-9
    assert result.feasible
    assert values[0] >= TAU - 1e-6
    assert len(result.candidates) == 2
    assert result.best == np.argmax([c.criterion_value for c in result.candidates])
    assert result.n_evaluations == sum(c.n_evaluations for c in result.candidates)
    assert result.candidates[result.best].criterion_value == result.criterion_value
    assert result.level == pytest.approx(result.log_bandwidths.mean(), abs=1e-9)


@each_optimizer
def test_stage_two_never_ends_below_the_end_of_stage_one(iris, optimizer):
    result = select_bandwidths(iris, 3, criterion="gap", threshold=TAU, optimizer=optimizer, n_starts=1)
    (candidate,) = result.candidates
    first = leading_spectrum(iris, np.exp(candidate.stage2_path.log_bandwidths[0]), n_eigenvalues=3).eigenvalues
    assert candidate.stage2_path.values[0] == pytest.approx(first[1] - first[2], abs=1e-8)
    assert result.criterion_value >= candidate.stage2_path.values[0] - 1e-12


@pytest.mark.parametrize("optimizer", ["lbfgs", "momentum"])
def test_active_level_bound_is_reported(iris, optimizer):
    result = select_bandwidths(
        iris, 3, threshold=TAU, max_anisotropy=1.0, level_bounds=(0.0, 0.5), optimizer=optimizer, n_starts=1
    )
    assert result.active_level_bound == "upper"
    assert result.level == pytest.approx(0.5, abs=1e-6)


@pytest.mark.parametrize("optimizer", ["lbfgs", "momentum"])
def test_active_level_bound_is_reported_for_anisotropic_bandwidths(iris, optimizer):
    result = select_bandwidths(
        iris, 3, threshold=TAU, max_anisotropy=5.0, level_bounds=(-1.0, 0.0), optimizer=optimizer, n_starts=1
    )
    assert result.level == pytest.approx(0.0, abs=0.5)
    assert result.active_level_bound == "upper"


@pytest.mark.parametrize("alpha", [1.0, 5.0])
def test_stage_two_starts_where_stage_one_ended(wine, alpha):
    for bounds in [(-3.0, 10.0), (0.0, 10.0), (0.0, 1.0)]:
        (candidate,) = select_bandwidths(
            wine, 3, threshold=0.2, max_anisotropy=alpha, level_bounds=bounds, n_starts=1
        ).candidates
        best = np.argmax(candidate.stage1_path.values)
        assert_allclose(candidate.stage2_path.log_bandwidths[0], candidate.stage1_path.log_bandwidths[best], atol=1e-6)


def test_huge_level_is_reported_as_the_linear_limit(iris):
    assert select_bandwidths(iris, 3, threshold=TAU, level=9.0, n_starts=1).linear_limit
    assert not select_bandwidths(iris, 3, threshold=TAU, level=0.5, n_starts=1).linear_limit


def test_first_start_is_the_standard_deviations_and_more_starts_keep_the_earlier_ones(iris):
    X = iris * np.array([1.0, 2.0, 0.5, 1.0])
    options = {"threshold": TAU, "max_anisotropy": np.inf, "optimizer": MomentumAscent(max_iter=1), "random_state": 0}
    three = [c.start for c in select_bandwidths(X, 3, n_starts=3, **options).candidates]
    ten = [c.start for c in select_bandwidths(X, 3, n_starts=10, **options).candidates]
    assert_allclose(three[0], np.log(X.std(axis=0, ddof=1)))
    assert_array_equal(three, ten[:3])
    assert len({tuple(start) for start in ten}) == 10
    assert 0.3 < np.std(np.array(ten[1:]) - ten[0]) < 0.7, "the spread of the paper is 0.5"


@pytest.mark.slow
def test_more_starts_never_end_lower(wine):
    one = select_bandwidths(wine, 3, criterion="gap", threshold=0.2, n_starts=1, random_state=0)
    four = select_bandwidths(wine, 3, criterion="gap", threshold=0.2, n_starts=4, random_state=0)
    assert four.criterion_value >= one.criterion_value


def test_momentum_leaves_the_level_unbounded_and_quasi_newton_does_not():
    assert MomentumAscent.default_level_bounds == (-np.inf, np.inf)
    assert all(np.isfinite(QuasiNewton.default_level_bounds))


def test_momentum_in_stage_two_is_a_choice(iris):
    with_it = select_bandwidths(iris, 3, criterion="gap", threshold=TAU, n_starts=1, optimizer="momentum", max_iter=20)
    without = select_bandwidths(
        iris,
        3,
        criterion="gap",
        threshold=TAU,
        n_starts=1,
        optimizer=MomentumAscent(max_iter=20, stage2_momentum=False),
    )
    assert_array_equal(
        with_it.candidates[0].stage1_path.log_bandwidths, without.candidates[0].stage1_path.log_bandwidths
    )
    assert not np.allclose(with_it.log_bandwidths, without.log_bandwidths)


def test_progress_is_told_of_every_start(iris):
    told = []
    select_bandwidths(iris, 3, threshold=TAU, n_starts=3, random_state=0, progress=told.append)
    assert told == ["bandwidth search 1/3", "bandwidth search 2/3", "bandwidth search 3/3"]


@pytest.mark.parametrize("n_clusters", [2, 4])
@pytest.mark.parametrize("criterion", ["sum", "log_sum", "gap"])
def test_one_feature_is_enough(n_clusters, criterion):
    x = np.random.default_rng(0).standard_normal((40, 1)) + 5 * (np.arange(40) % n_clusters)[:, None]
    result = select_bandwidths(x, n_clusters, criterion=criterion, threshold=0.1, n_starts=1)
    assert result.feasible
    assert result.bandwidths.shape == (1,)
    # One number, so the search can be repeated by trying them all.
    tried = [leading_spectrum(x, [b], n_eigenvalues=n_clusters + 1).eigenvalues for b in np.geomspace(0.05, 1e4, 60)]
    best = max(Criterion.from_name(criterion).value(values, n_clusters) for values in tried if values[0] >= 0.1)
    assert result.criterion_value >= best - 1e-3 * max(abs(best), 0.01)


def test_optimizers_are_found_by_name():
    assert set(Optimizer.registry) >= {"lbfgs", "momentum"}
    assert Optimizer.resolve("momentum", max_iter=7) == MomentumAscent(max_iter=7)
