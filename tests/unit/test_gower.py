from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from kfrc import gower as gower_module
from kfrc._numerics import double_center, row_blocks
from kfrc.gower import UNKNOWN, gower

KINDS = ("interval", "interval", "match", "cyclic")
RANGES = np.array([10.0, 2.0, np.nan, 7.0])  # a number, an ordered scale of three levels, a category, a weekday
NAN = np.nan


def draw_table(rng, n, missing=0.0):
    table = np.column_stack(
        [rng.uniform(0, 10, n), rng.integers(3, size=n), rng.integers(4, size=n), rng.integers(7, size=n)]
    ).astype(float)
    table[rng.random(table.shape) < missing] = NAN
    return table


def by_definition(X, Y, kinds, ranges, weights):
    """Gower's formula, entry by entry; None where daisy has NA."""

    def difference(x, y, kind, scale):
        if kind == "match":
            return float(x != y)
        if kind == "interval":
            return min(abs(x - y) / scale, 1.0)
        turn = abs(x - y) % scale
        return min(turn, scale - turn) / (scale / 2)

    def entry(x, y):
        both = [d for d in range(len(kinds)) if not (np.isnan(x[d]) or np.isnan(y[d]))]
        mass = sum(weights[d] for d in both)
        if mass == 0:
            return None
        return sum(weights[d] * difference(x[d], y[d], kinds[d], ranges[d]) for d in both) / mass

    return [[entry(x, y) for y in Y] for x in X]


@pytest.mark.parametrize("missing", [0.0, 0.3, 0.8])
@pytest.mark.parametrize("weights", [None, (0.5, 2.0, 0.0, 1.5)])
def test_entries_are_the_definition(missing, weights, monkeypatch):
    monkeypatch.setattr(gower_module, "row_blocks", partial(row_blocks, elements=40))  # several blocks of rows
    rng = np.random.default_rng(0)
    X, Y = draw_table(rng, 30, missing), draw_table(rng, 17, missing)
    expected = by_definition(X, Y, KINDS, RANGES, weights or np.ones(4))
    filled = [[UNKNOWN if entry is None else entry for entry in row] for row in expected]
    assert_allclose(gower(X, Y, KINDS, RANGES, weights=weights), filled, rtol=0, atol=1e-14)


def test_a_small_table_gives_the_numbers_of_daisy():
    """``daisy(metric="gower")`` of a number, an ordered factor of 3 levels, a factor and a number with a blank."""
    height, size, color, mass = [150.0, 160.0, 190.0, 170.0], [0, 2, 1, 2], [0, 1, 0, 0], [50.0, NAN, 90.0, 60.0]
    X = np.column_stack([height, size, color, mass])
    D = gower(X, None, ["interval", "interval", "match", "interval"], [40.0, 2.0, NAN, 40.0])
    # Ranges 40, 2 and 40; the second row has three columns, the others four.
    expected = {
        (0, 1): (10 / 40 + 2 / 2 + 1) / 3,
        (0, 2): (40 / 40 + 1 / 2 + 0 + 40 / 40) / 4,
        (0, 3): (20 / 40 + 2 / 2 + 0 + 10 / 40) / 4,
        (1, 2): (30 / 40 + 1 / 2 + 1) / 3,
        (1, 3): (10 / 40 + 0 + 1) / 3,
        (2, 3): (20 / 40 + 1 / 2 + 0 + 30 / 40) / 4,
    }
    for (j, k), value in expected.items():
        assert_allclose([D[j, k], D[k, j]], value, rtol=0, atol=1e-15)
    assert_array_equal(np.diag(D), 0.0)


def test_rows_without_a_common_column_are_half_way_apart():
    X = np.array([[1.0, NAN], [NAN, 0.0], [NAN, NAN], [2.0, 1.0]])
    D = gower(X, None, ["interval", "match"], [4.0, NAN])
    assert_array_equal(D, [[0, 0.5, 0.5, 0.25], [0.5, 0, 0.5, 1], [0.5, 0.5, 0, 0.5], [0.25, 1, 0.5, 0]])
    assert gower(X[:1], X[1:2], ["interval", "match"], [4.0, NAN], unknown=0.3)[0, 0] == 0.3


def test_an_entry_does_not_depend_on_other_rows():
    rng = np.random.default_rng(1)
    X = draw_table(rng, 20, missing=0.6)
    whole = gower(X, X, KINDS, RANGES)
    parts = [gower(X[[j]], X[[k]], KINDS, RANGES)[0, 0] for j in range(20) for k in range(20)]
    assert_array_equal(whole.ravel(), parts)


def test_new_rows_beyond_the_range_differ_by_one_at_most():
    kinds, ranges = ["interval", "interval"], [10.0, 0.0]
    assert_array_equal(gower([[0.0, 5.0]], [[25.0, 5.0], [-1e300, 5.0], [0.0, 6.0]], kinds, ranges), [[0.5, 0.5, 0.5]])


def test_a_cycle_closes():
    hours = [[23.0], [1.0], [11.0], [47.0]]
    assert_allclose(gower([[23.0]], hours, ["cyclic"], [24.0]), [[0, 2 / 12, 1, 0]], rtol=0, atol=1e-15)


@settings(deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 25), weighted=st.booleans(), overshoot=st.floats(1, 4))
def test_complete_tables_are_squared_euclidean_distances(seed, n, weighted, overshoot):
    rng = np.random.default_rng(seed)
    X = draw_table(rng, n)
    X[:, 0] *= overshoot  # rows outside the range, where differences are cut at one, included
    D = gower(X, None, KINDS, RANGES, weights=rng.random(4) + 0.01 if weighted else None)
    assert np.linalg.eigvalsh(-0.5 * double_center(D)).min() > -1e-12


def test_with_missing_values_distances_need_not_be_euclidean():
    # 0 = blank and blank = 1 in the columns they share, but 0 and 1 differ: no triangle has sides 0, 0 and 1/2.
    D = gower([[0.0, 0.0], [NAN, 0.0], [1.0, 0.0]], None, ["match", "match"], [NAN, NAN])
    assert_array_equal(D, [[0, 0, 0.5], [0, 0, 0], [0.5, 0, 0]])
    assert np.linalg.eigvalsh(-0.5 * double_center(D)).min() < -0.01


@settings(deadline=None)
@given(seed=st.integers(0, 2**32 - 1), missing=st.sampled_from([0.0, 0.2, 0.7, 1.0]))
def test_entries_are_symmetric_finite_and_between_zero_and_one(seed, missing):
    rng = np.random.default_rng(seed)
    X = draw_table(rng, 12, missing)
    D = gower(X, None, KINDS, RANGES, weights=rng.random(4) + 0.01)
    assert_array_equal(D, D.T)
    assert_array_equal(np.diag(D), 0.0)
    assert D.min() >= 0
    assert D.max() <= 1


@settings(deadline=None)
@given(seed=st.integers(0, 2**32 - 1), missing=st.sampled_from([0.0, 0.3]))
def test_names_of_categories_and_units_of_numbers_do_not_matter(seed, missing):
    rng = np.random.default_rng(seed)
    X = draw_table(rng, 12, missing)
    other = X.copy()
    other[:, 0] = 3.0 - 2.54 * X[:, 0]
    seen = ~np.isnan(X[:, 2])
    other[seen, 2] = rng.permutation(4)[X[seen, 2].astype(int)]
    other[:, 3] = X[:, 3] + 5  # the week begins on another day
    ranges = RANGES * np.array([2.54, 1, 1, 1])
    assert_allclose(gower(other, None, KINDS, ranges), gower(X, None, KINDS, RANGES), rtol=0, atol=1e-14)


def test_a_yes_no_column_is_the_same_as_a_number_and_as_a_category():
    X = np.random.default_rng(2).integers(2, size=(10, 3)).astype(float)
    assert_array_equal(gower(X, None, ["interval"] * 3, np.ones(3)), gower(X, None, ["match"] * 3, np.ones(3)))


def test_no_array_of_all_rows_all_rows_and_all_columns_is_built():
    tracemalloc = pytest.importorskip("tracemalloc")
    X = np.random.default_rng(3).random((1000, 20))
    tracemalloc.start()
    try:
        gower(X, None, ["interval"] * 20, np.ones(20))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 * (1000 * 1000 + 10 * (1 << 17))  # the result, and some blocks


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"X": [[1.0]]}, r"X must have shape \(n_rows, 2\).*got \(1, 1\)"),
        ({"Y": [[1.0, np.inf]]}, "Y contains infinity, the first at row 0, column 1"),
        ({"kinds": ["interval", "nominal"]}, r"kinds\[1\] must be one of 'interval', 'match', 'cyclic', got 'nominal'"),
        ({"ranges": [1.0]}, r"one entry per column \(2\)"),
        ({"ranges": [-1.0, 1.0]}, r"ranges\[0\] must be a number in \[0, inf\), got -1"),
        ({"ranges": [NAN, 1.0]}, r"ranges\[0\] must be a number"),
        ({"kinds": ["cyclic", "match"], "ranges": [0.0, 1.0]}, r"ranges\[0\] must be a number in \(0, inf\), got 0"),
        ({"weights": [1.0]}, r"weights must have one entry per column \(2\)"),
        ({"weights": [-1.0, 2.0]}, "weights of columns must be finite, >= 0 and not all zero"),
        ({"weights": [0.0, 0.0]}, "not all zero"),
        ({"unknown": 2.0}, "unknown must be a dissimilarity between 0 and 1, got 2"),
        ({"X": np.empty((3, 0)), "Y": None, "kinds": [], "ranges": []}, "X has no columns"),
    ],
)
def test_bad_input_is_named(changes, message):
    arguments = {"X": [[1.0, 0.0]], "Y": None, "kinds": ["interval", "match"], "ranges": [1.0, NAN]}
    with pytest.raises(ValueError, match=message):
        gower(**(arguments | changes))
