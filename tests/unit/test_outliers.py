"""Fences: which columns get them, where they stand, and what is said."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from kfrc.outliers import BOUNDED_REACH, MANY_ROWS, describe_far_columns, find_fences, robust_deviation


def column(values):
    return np.asarray(values, dtype=float)[:, None]


def drawn(name, n_samples=2000, seed=0):
    rng = np.random.default_rng(seed)
    return column(getattr(rng, name)(size=n_samples))


@pytest.mark.parametrize("name", ["standard_normal", "random", "standard_exponential"])
def test_usual_columns_have_no_fences(name):
    X = drawn(name)
    fences = find_fences(X)
    assert fences.far == ()
    assert fences.clip(X) is X


def test_two_groups_and_rare_groups_have_no_fences():
    rng = np.random.default_rng(0)
    two = np.repeat([0.0, 1000.0], [900, 100]) + rng.standard_normal(1000)
    yes_or_no = np.repeat([0.0, 1.0], [995, 5])
    counts = np.where(rng.random(1000) < 0.9, 0.0, rng.poisson(3.0, 1000))
    assert find_fences(np.column_stack([two, yes_or_no, counts])).far == ()


@pytest.mark.parametrize("value", [1e3, -1e5, 1e300])
@pytest.mark.parametrize("name", ["standard_normal", "random", "standard_exponential"])
def test_one_far_value_is_named_and_the_deviation_is_what_it_was(name, value):
    X = drawn(name)
    before = X.std(ddof=1)
    X[11] = value
    (far,) = find_fences(X).far
    assert (far.row, far.value, far.ruled) == (11, value, True)
    assert far.moved_deviation == pytest.approx(before, rel=0.1)


def test_a_far_value_among_mostly_equal_ones_is_found():
    X = column(np.where(np.arange(1000) % 5 == 0, np.arange(1000) % 7, 0.0))
    X[11] = 1e6
    (far,) = find_fences(X).far
    assert (far.row, far.ruled) == (11, True)
    assert far.moved_deviation < 10


def test_fences_follow_shift_and_unit():
    X = drawn("standard_cauchy")
    plain, moved = find_fences(X), find_fences(4.0 * X + 1.0)
    assert plain.far[0].ruled
    assert moved.low[0] == pytest.approx(4.0 * plain.low[0] + 1.0)
    assert moved.high[0] == pytest.approx(4.0 * plain.high[0] + 1.0)
    assert moved.far[0].n_values == plain.far[0].n_values


def test_only_the_range_of_long_tables_is_bounded_without_a_word():
    long = drawn("standard_normal", MANY_ROWS + 1)
    long[5] = 20.0
    fences = find_fences(long)
    assert [far.ruled for far in fences.far] == [False]
    # In deviations of the column with the value at the fence: it may be no farther than polynomials can reach.
    within = fences.clip(long)
    reach = BOUNDED_REACH * within.std(ddof=1) + within.mean()
    assert fences.high[0] <= reach * (1 + 1e-12)
    assert fences.high[0] == pytest.approx(reach, rel=1e-3)
    assert describe_far_columns(fences.far, np.array([0]), None) is None
    assert find_fences(long[:MANY_ROWS]).far == ()


def test_without_a_need_for_a_scale_only_long_tables_have_fences():
    X = drawn("standard_cauchy", MANY_ROWS + 1)
    assert find_fences(X[:MANY_ROWS], robust_scale=False).far == ()
    assert find_fences(X, robust_scale=False).far != ()


def test_the_message_names_columns_rows_and_values():
    X = np.column_stack([drawn("standard_normal"), drawn("standard_normal", seed=1)])
    X[3, 1] = 1e4
    far = find_fences(X).far
    text = describe_far_columns(far, np.array([0, 2]), ["a", "b", "c"])
    assert "'c' (10000 in row 3;" in text
    assert "column 2 (10000 in row 3;" in describe_far_columns(far, np.array([0, 2]), None)


def test_clipping_moves_nothing_inside():
    X = drawn("standard_cauchy")
    fences = find_fences(X)
    inside = (fences.low <= X) & (fences.high >= X)
    assert_array_equal(fences.clip(X)[inside], X[inside])
    assert inside.mean() > 0.85


@pytest.mark.parametrize("n_samples", [1000, MANY_ROWS + 1])
@pytest.mark.parametrize("spread", [0.8, 1.0])
def test_far_values_in_a_skewed_column_leave_its_own_tail_alone(spread, n_samples):
    x = np.random.default_rng(0).lognormal(0.0, spread, n_samples)
    X = column(x)
    before = find_fences(X)
    assert not any(far.ruled for far in before.far)
    X[:2] = [[1e6], [-1e6]]
    (far,) = (fences := find_fences(X)).far
    assert far.ruled
    moved, was = fences.clip(X)[2:, 0], before.clip(column(x))[2:, 0]
    np.testing.assert_allclose(moved, was, rtol=0.03)


def test_a_column_of_many_equal_values_is_judged_by_the_others():
    x = np.zeros(2000)
    x[:10] = np.random.default_rng(0).standard_normal(10)
    x[11] = 1e6
    (far,) = find_fences(column(x)).far
    assert (far.n_values, far.row, far.ruled) == (1, 11, True)


@pytest.mark.parametrize("seed", range(10))
def test_heavy_tails_that_rule_are_cut_the_same_with_and_without_a_farther_value(seed):
    x = np.random.default_rng(seed).standard_t(1.5, 1000)
    y = x.copy()
    y[7] = 1e9
    before, after = find_fences(column(x)), find_fences(column(y))
    if before.far:
        low, high = np.quantile(x, [0.25, 0.75])
        assert before.high[0] < np.median(x) + 5.1 * (high - low) / 1.349
    np.testing.assert_allclose(after.clip(column(x)), before.clip(column(x)), atol=0.1)


@pytest.mark.parametrize("share", [0.0005, 0.003, 0.011, 0.05])
def test_few_rows_that_differ_at_all_stay_apart(share):
    x = np.full(8000, 7.0)
    x[: round(share * 8000)] = np.linspace(8.0, 9.0, round(share * 8000))
    within = find_fences(x[:, None]).clip(x[:, None])
    assert np.ptp(within) > 0.2


@pytest.mark.parametrize("share", [0.9, 0.94, 0.945, 0.949, 0.95, 0.97, 0.99])
@pytest.mark.parametrize("n_rows", [1000, 8000])
def test_rare_values_beside_zeros_are_not_cut_to_nothing(share, n_rows):
    rng = np.random.default_rng(0)
    x = np.where(rng.random(n_rows) < share, 0.0, rng.exponential(1.0, n_rows))
    within = find_fences(x[:, None]).clip(x[:, None])
    assert within.std() > 0.3 * x.std()


def test_a_constant_column_has_no_robust_deviation():
    assert robust_deviation(np.ones(50)) == 0.0
