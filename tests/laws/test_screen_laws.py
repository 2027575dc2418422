"""What every registered screen must do, and what the one by dependence promises."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kfrc.screening import DependenceScreen, Screen, _centered_kernel, _minus_log_p, _permutation_moments, normal_scores
from strategies import each

every_screen = each("screen", Screen)


def make_table(seed, n_samples=120):
    """Two columns with groups, a ring in two others, and two columns of noise."""
    rng = np.random.default_rng(seed)
    labels, angle = rng.integers(2, size=n_samples), rng.uniform(0, 2 * np.pi, n_samples)
    noise = rng.standard_normal((n_samples, 6))
    X = noise.copy()
    X[:, :2] += 3.0 * labels[:, None]
    X[:, 2], X[:, 3] = np.cos(angle) + 0.1 * noise[:, 2], np.sin(angle) + 0.1 * noise[:, 3]
    return X


@every_screen
def test_dependence_is_a_symmetric_finite_matrix_and_some_columns_are_relevant(screen):
    found = screen.examine(make_table(0))
    assert found.dependence.shape == (6, 6)
    assert np.isfinite(found.dependence).all()
    assert_allclose(found.dependence, found.dependence.T, atol=1e-9)
    assert found.relevant.any()
    assert_array_equal(found.dependent, found.dependence > found.threshold)


@every_screen
@pytest.mark.parametrize(
    "X",
    [
        np.arange(3.0)[:, None],
        np.random.default_rng(0).standard_normal((5, 3)),
        np.random.default_rng(0).standard_normal((20, 60)),
        np.repeat(np.eye(3), 10, axis=0),
        np.random.default_rng(1).integers(0, 2, (50, 4)).astype(float),
        np.column_stack([np.zeros(30), np.arange(30.0), np.arange(30.0) ** 2]),
    ],
    ids=["one column", "five rows", "more columns than rows", "duplicates", "binary", "constant column"],
)
def test_awkward_tables_are_screened(screen, X):
    found = screen.examine(X)
    assert np.isfinite(found.dependence).all()
    assert found.relevant.any()


def test_groups_and_rings_are_seen_and_noise_is_not():
    found = DependenceScreen().examine(make_table(3))
    assert_array_equal(found.relevant, [True, True, True, True, False, False])
    assert [group.tolist() for group in found.components()] == [[0, 1], [2, 3]]


def test_units_and_outliers_do_not_matter():
    X = make_table(4)
    other = 10.0 ** np.arange(6) * X**3
    assert_allclose(DependenceScreen().examine(other).dependence, DependenceScreen().examine(X).dependence, atol=1e-9)


def test_p_values_are_right_without_dependence():
    rng = np.random.default_rng(0)
    logs = [_minus_log_p(normal_scores(rng.standard_normal((60, 30))), 0.3)[np.triu_indices(30, 1)] for _ in range(10)]
    shares = [(np.concatenate(logs) > digits).mean() * 10**digits for digits in (1, 2)]
    assert_allclose(shares, 1.0, atol=0.35)  # 4350 pairs: about 44 beyond two digits


def test_moments_are_those_of_random_permutations():
    rng = np.random.default_rng(0)
    A, B = (_centered_kernel(x, h) for x, h in ((rng.standard_normal(12), 0.5), (rng.exponential(size=12), 1.0)))
    traces = [(np.trace(M), np.vdot(M, M), np.square(np.diagonal(M)).sum(), np.vdot(M @ M, M)) for M in (A, B)]
    mean, variance, _ = _permutation_moments(np.array(traces), 12)
    orders = [rng.permutation(12) for _ in range(20_000)]
    drawn = np.array([np.vdot(A, B[np.ix_(order, order)]) for order in orders])
    assert mean[0, 1] == pytest.approx(drawn.mean(), abs=4 * drawn.std() / np.sqrt(20_000))
    assert variance[0, 1] == pytest.approx(drawn.var(), rel=0.1)


def test_wide_tables_are_not_screened():
    found = DependenceScreen(max_columns=5).examine(make_table(0))
    assert found.relevant.all()
