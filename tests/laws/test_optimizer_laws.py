"""What holds for every registered optimizer of the bandwidths."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kfrc.bandwidth import Optimizer, select_bandwidths
from kfrc.criteria import Criterion
from kfrc.spectrum import leading_spectrum
from strategies import each, each_name

TAU = 0.2027
each_optimizer = each("optimizer", Optimizer)


@each_optimizer
@each_name("criterion", Criterion)
@pytest.mark.parametrize("kernel", ["sum", "product"])
def test_every_start_ends_feasible_and_not_below_where_stage_two_began(iris, optimizer, criterion, kernel):
    result = select_bandwidths(
        iris, 3, kernel=kernel, criterion=criterion, threshold=TAU, n_starts=2, optimizer=optimizer, random_state=0
    )
    assert result.feasible
    for run in result.candidates:
        end, begin = (
            leading_spectrum(iris, np.exp(point), kernel=kernel, n_eigenvalues=5).eigenvalues
            for point in (run.log_bandwidths, run.stage1_path.log_bandwidths[np.argmax(run.stage1_path.values)])
        )
        value = Criterion.from_name(criterion).value
        assert end[0] >= TAU - 2e-6
        assert run.criterion_value == pytest.approx(value(end, 3), abs=1e-7)
        assert value(end, 3) >= value(begin, 3) - 1e-7


@each_optimizer
def test_stage_one_does_not_end_below_its_start(iris, optimizer):
    result = select_bandwidths(iris, 3, threshold=TAU, n_starts=3, optimizer=optimizer, random_state=0)
    for run in result.candidates:
        first = leading_spectrum(iris, np.exp(run.start), n_eigenvalues=1).eigenvalues[0]
        assert run.stage1_eigenvalue >= first - 1e-9


@each_optimizer
@pytest.mark.parametrize("alpha", [1.0, 2.0, np.inf])
def test_anisotropy_bound_holds_along_the_whole_path(iris, optimizer, alpha):
    result = select_bandwidths(
        iris, 3, threshold=TAU, max_anisotropy=alpha, optimizer=optimizer, n_starts=2, random_state=1
    )
    for candidate in result.candidates:
        for path in (candidate.stage1_path, candidate.stage2_path):
            assert (np.ptp(path.log_bandwidths, axis=1) <= np.log(alpha) + 1e-9).all()


@each_optimizer
@pytest.mark.parametrize("bounds", [(0.0, 0.5), (-1.0, 1.0), (0.5, 0.5), (0.0, 3.0)])
def test_level_bounds_hold_along_the_whole_path(iris, optimizer, bounds):
    result = select_bandwidths(
        iris, 3, threshold=TAU, level_bounds=bounds, optimizer=optimizer, n_starts=2, random_state=1
    )
    for candidate in result.candidates:
        levels = candidate.stage2_path.log_bandwidths.mean(axis=1)
        assert levels.min() >= bounds[0] - 1e-9
        assert levels.max() <= bounds[1] + 1e-9
    assert bounds[0] - 1e-9 <= result.level <= bounds[1] + 1e-9


@each_optimizer
def test_the_same_search_ends_at_the_same_bandwidths(iris, optimizer):
    options = {"threshold": TAU, "n_starts": 2, "optimizer": optimizer, "random_state": 5}
    here, there = (select_bandwidths(iris, 3, **options) for _ in range(2))
    assert_array_equal(here.log_bandwidths, there.log_bandwidths)
    assert here.n_evaluations == there.n_evaluations > 0
    assert_allclose(here.bandwidths, np.exp(here.log_bandwidths))
