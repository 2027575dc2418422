"""Rows and weights are brought to one form, however often and in whatever order rows are written down."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kfrc.clusterers import _rows
from kfrc.clusterers._rows import fitted_rows, merge_rows
from kfrc.relational import Given, Spectral


@pytest.fixture
def codes():
    """Few values, blanks, and zeros of both signs."""
    rng = np.random.default_rng(0)
    values = rng.integers(0, 3, (200, 3)).astype(float)
    values[rng.random(values.shape) < 0.2] = np.nan
    values[rng.random(values.shape) < 0.2] *= -0.0
    return values


def same(a, b):
    return np.array_equal(a, b, equal_nan=True)


def test_rows_without_weights_and_repetition_are_left_alone():
    assert merge_rows(np.random.default_rng(0).standard_normal((50, 2))) is None


@pytest.mark.parametrize(("n_copies", "merges"), [(17, False), (18, True)])
def test_rows_without_weights_are_merged_if_three_in_ten_repeat_others(n_copies, merges):
    rows = np.random.default_rng(0).standard_normal((40, 2))
    assert (merge_rows(np.vstack([rows, rows[:n_copies]])) is not None) == merges


def test_merging_loses_nothing(codes):
    merged = merge_rows(codes)
    assert same(merged.expand(merged.values), codes)
    assert merged.weights.sum() == len(codes)
    assert len(np.unique(merged.values, axis=0, equal_nan=True)) == len(merged)
    assert not np.signbit(merged.values[merged.values == 0]).any()


def test_weights_order_and_repetition_lead_to_the_same_rows(codes):
    rng = np.random.default_rng(1)
    weights = rng.integers(0, 4, len(codes))
    order = rng.permutation(len(codes))
    weighted = merge_rows(codes[order], weights[order])
    repeated = merge_rows(codes.repeat(weights, axis=0))
    assert same(weighted.values, repeated.values)
    assert_array_equal(weighted.weights, repeated.weights)
    assert_array_equal(np.flatnonzero(weights[order] == 0), weighted.absent)


def test_sorting_finds_the_groups_that_hashes_find(codes):
    fast, slow = _rows._groups(codes, len(codes)), _rows._groups_by_sorting(codes)
    assert_array_equal(fast.inverse, slow.inverse)
    assert same(codes[fast.first], codes[slow.first])


def test_rows_that_share_a_hash_are_still_told_apart(codes, monkeypatch):
    expected = merge_rows(codes)
    monkeypatch.setattr(_rows, "_hashes", lambda rows: np.zeros(len(rows), dtype=np.uint64))
    found = merge_rows(codes)
    assert same(found.values, expected.values)
    assert_array_equal(found.inverse, expected.inverse)


def test_weights_of_one_are_no_weights():
    rows = np.random.default_rng(0).standard_normal((20, 2))
    assert merge_rows(rows, np.ones(20)) is None
    assert merge_rows(rows, 1.0) is None


def test_weights_zero_and_one_leave_out_rows_and_keep_the_order():
    rows = np.random.default_rng(0).standard_normal((20, 2))
    weights = np.ones(20)
    weights[[3, 7]] = 0
    merged = merge_rows(rows, weights)
    assert merged.weights is None
    assert_array_equal(merged.values, rows[weights > 0])
    assert_array_equal(merged.absent, [3, 7])
    assert np.isnan(merged.expand(np.arange(18.0))[[3, 7]]).all()


def test_fewer_different_rows_than_clusters_stay_apart():
    rows = np.array([[0.0], [1.0], [0.0], [1.0]])
    assert merge_rows(rows, at_least=3) is None
    merged = merge_rows(rows, [1, 2, 3, 0], at_least=3)
    assert_array_equal(merged.values.ravel(), [0, 0, 1])
    assert_array_equal(merged.weights, [1, 3, 2])


def test_rows_of_a_matrix_are_only_left_out():
    rows = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    merged = merge_rows(rows, [3, 0, 2], merge=False)
    assert_array_equal(merged.values, rows[[0, 2]])
    assert_array_equal(merged.weights, [3, 2])
    assert merge_rows(np.vstack([rows, rows]), merge=False) is None


def test_given_memberships_are_averaged_by_weight():
    rows = np.array([[1.0], [0.0], [1.0], [2.0]])
    merged = merge_rows(rows, [1, 1, 3, 0])
    U = np.array([[1.0, 0.0], [0.3, 0.7], [0.2, 0.8], [0.5, 0.5]])
    assert_allclose(merged.average(U), [[0.3, 0.7], [0.4, 0.6]])
    assert_allclose(merged.start(Given(U)).U, merged.average(U))
    assert merged.start(Spectral()) == Spectral()
    assert_array_equal(merged.first, [1, 0])


def test_rows_that_stay_stand_for_themselves():
    rows = np.arange(4.0)[:, None]
    kept = fitted_rows(rows)
    assert kept.values is rows
    assert kept.weights is None
    assert_array_equal(kept.expand(np.arange(4)), np.arange(4))


@pytest.mark.parametrize("total", [1.0, 1.9])
def test_weights_that_do_not_count_rows_say_what_to_multiply_by(total):
    with pytest.raises(ValueError, match=f"sums to {total:g}, .* multiply them by {8 / total:.4g}"):
        merge_rows(np.arange(8.0)[:, None], np.full(8, total / 8))
