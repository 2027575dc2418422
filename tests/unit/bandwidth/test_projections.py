"""The two projections of the paper and the bound on the level."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from kfrc.bandwidth.optimizers.box import box_for
from kfrc.bandwidth.problem import Problem
from kfrc.bandwidth.projections import MIN_STEP, project_anisotropy, project_feasible, project_level

vectors = arrays(np.float64, st.integers(1, 6), elements=st.floats(-8, 8))
bounds = st.floats(1, 100)


def test_anisotropy_projection_keeps_the_geometric_mean():
    assert_allclose(np.exp(project_anisotropy(np.log([1.0, 16.0]), 4.0)), [2.0, 8.0])
    assert_allclose(np.exp(project_anisotropy(np.log([1.0, 4.0, 16.0]), 1.0)), [4.0, 4.0, 4.0])
    assert_allclose(project_anisotropy(np.array([0.0, 3.0, 6.0]), np.exp(2.0)), [2.0, 3.0, 4.0])


@pytest.mark.slow
@given(vectors, bounds)
def test_anisotropy_projection_is_feasible_idempotent_and_keeps_mean_and_order(x, alpha):
    projected = project_anisotropy(x, alpha)
    assert np.ptp(projected) <= np.log(alpha) + 1e-12
    assert projected.mean() == pytest.approx(x.mean(), abs=1e-12)
    assert_allclose(project_anisotropy(projected, alpha), projected, atol=1e-12)
    assert (np.diff(projected[np.argsort(x, kind="stable")]) >= -1e-12).all()


@given(vectors)
def test_without_a_bound_nothing_moves(x):
    assert_array_equal(project_anisotropy(x, np.inf), x)


@given(vectors, st.floats(-3, 3), st.floats(0, 3))
def test_level_projection_shifts_all_log_bandwidths_alike(x, low, width):
    scale = np.linspace(-1, 1, len(x))
    projected = project_level(x, scale, (low, low + width))
    assert np.ptp(projected - x) <= 1e-12
    level = (projected - scale).mean()
    assert low - 1e-12 <= level <= low + width + 1e-12
    inside = low <= (x - scale).mean() <= low + width
    assert not inside or np.abs(projected - x).max() <= 1e-12


def test_feasibility_projection_halves_until_the_first_feasible_point():
    tried = []

    def evaluate(point):
        tried.append(float(point[0]))
        return point

    accepted = project_feasible(evaluate, lambda point: point[0] <= 0.3, np.array([0.0]), np.array([1.0]))
    assert tried == [1.0, 0.5, 0.25]
    assert_array_equal(accepted, [0.25])


def test_feasibility_projection_gives_up_at_the_shortest_step():
    tried = []
    result = project_feasible(
        lambda point: tried.append(float(point[0])), lambda trial: False, np.array([0.0]), np.array([1.0])
    )
    assert result is None
    assert min(tried) > MIN_STEP
    assert min(tried) / 2 <= MIN_STEP


def problem(n_features, alpha, level_bounds, log_scale=0.0):
    return Problem(None, 3, alpha, np.full(n_features, log_scale), level_bounds)


BOXES = [
    (alpha, bounds)
    for alpha in (1.0, 5.0, np.inf)
    for bounds in [(-3.0, 10.0), (0.0, 4.0), (-1.0, 1.0), (0.0, 1.0), (0.0, 0.0), (1.0, 1.0)]
]


@pytest.mark.parametrize(("alpha", "level_bounds"), BOXES)
def test_box_contains_only_allowed_points_and_finds_each_of_them_again(alpha, level_bounds):
    rng = np.random.default_rng(0)
    low, high = level_bounds
    for n_features, log_scale in [(1, 0.0), (2, 1.7), (5, 0.0), (5, 1.7)]:
        box = box_for(problem(n_features, alpha, level_bounds, log_scale))
        for _ in range(10):
            log_bandwidths = box.log_bandwidths(rng.uniform(box.lower, box.upper))
            assert np.ptp(log_bandwidths) <= np.log(alpha) + 1e-9
            assert low - 1e-9 <= log_bandwidths.mean() - log_scale <= high + 1e-9
            assert_allclose(box.log_bandwidths(box.variables(log_bandwidths)), log_bandwidths, atol=1e-9)


@pytest.mark.parametrize(("alpha", "level_bounds"), BOXES)
def test_box_pulls_gradients_back_by_the_chain_rule(alpha, level_bounds):
    box = box_for(problem(4, alpha, level_bounds))
    if box.lower.size == 0:
        return
    target = np.array([0.3, -0.2, 0.5, 0.1])

    def value(x):
        return -np.square(box.log_bandwidths(x) - target).sum()

    x = (box.lower + box.upper) / 2
    analytic = box.pull_back(-2 * (box.log_bandwidths(x) - target))
    numeric = [(value(x + h) - value(x - h)) / 2e-5 for h in 1e-5 * np.eye(len(x))]
    assert_allclose(analytic, numeric, atol=1e-5)
