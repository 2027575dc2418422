"""Criteria, intervals and other small parts on numbers worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from kfrc._numerics import Interval, as_generator, double_center, row_blocks
from kfrc.criteria import Eigengap, EigenvalueSum, SumOfLogs
from kfrc.dissimilarity import Dissimilarity
from kfrc.fuzzifiers import ComplementaryRoot, Exponential, Power, Quadratic
from kfrc.gram import FactoredGram

EIGENVALUES = np.array([0.5, 0.25, 0.125, 0.0625])


def test_criteria_on_a_worked_example():
    assert EigenvalueSum().value(EIGENVALUES, 3) == 0.75
    assert SumOfLogs().value(EIGENVALUES, 3) == pytest.approx(np.log(0.5) + np.log(0.25))
    assert Eigengap().value(EIGENVALUES, 3) == 0.125
    assert_array_equal(EigenvalueSum().gradient(EIGENVALUES, 3), [1, 1, 0, 0])
    assert_array_equal(SumOfLogs().gradient(EIGENVALUES, 3), [2, 4, 0, 0])
    assert_array_equal(Eigengap().gradient(EIGENVALUES, 3), [0, 1, -1, 0])


def test_sum_and_sum_of_logs_agree_on_two_clusters():
    a, b = np.array([0.5, 0.1]), np.array([0.6, 0.05])
    assert EigenvalueSum().value(b, 2) > EigenvalueSum().value(a, 2)
    assert SumOfLogs().value(b, 2) > SumOfLogs().value(a, 2)


def test_sum_of_logs_is_finite_on_a_rank_deficient_spectrum():
    values = np.array([1.0, 0.0, 0.0])
    assert np.isfinite(SumOfLogs().value(values, 3))
    assert np.isfinite(SumOfLogs().gradient(values, 3)).all()


@pytest.mark.parametrize(
    ("t", "row", "expected"),
    [
        (Power(2.0), [1.0, 3.0], [0.75, 0.25]),
        (Power(3.0), [1.0, 4.0], [2 / 3, 1 / 3]),
        (Exponential(2.0), [1.0, np.e, np.e**3], [0.75, 0.25, 0.0]),
        (Quadratic(0.5), [1.0, 2.0, 100.0], [5 / 6, 1 / 6, 0.0]),
        (Quadratic(1.0), [1.0, 3.0], [0.75, 0.25]),
        (ComplementaryRoot(2.0), [1.0, 2.0, 100.0], [0.8, 0.2, 0.0]),
        (ComplementaryRoot(2.0), [1.0, 1.0, 1.0], [1 / 3, 1 / 3, 1 / 3]),
    ],
)
def test_memberships_worked_out_by_hand(t, row, expected):
    assert_allclose(t.memberships(np.array([row])), [expected], atol=1e-12)


def test_kappa_worked_out_by_hand():
    assert Power(2.0).kappa(3) == pytest.approx(4.0)
    assert Exponential(2.0).kappa(2) == pytest.approx(2 / (1 - np.exp(-1.0)))
    assert Quadratic(1.0).kappa(5) == pytest.approx(4.0)
    assert ComplementaryRoot(2.0).kappa(2) == pytest.approx(2 / (np.sqrt(2) - 1))


@pytest.mark.parametrize(
    ("closed", "low", "high", "text"),
    [
        ("both", True, True, "[0, 1]"),
        ("left", True, False, "[0, 1)"),
        ("right", False, True, "(0, 1]"),
        ("neither", False, False, "(0, 1)"),
    ],
)
def test_intervals_know_their_ends(closed, low, high, text):
    interval = Interval(0, 1, closed)
    assert ((0.0 in interval), (1.0 in interval), str(interval)) == (low, high, text)
    assert 0.5 in interval
    assert float("nan") not in interval


def test_double_centering_is_multiplication_by_the_centering_matrix():
    M = np.random.default_rng(0).standard_normal((6, 6))
    H = np.eye(6) - 1 / 6
    assert_allclose(double_center(M), H @ M @ H, atol=1e-13)


@given(st.integers(1, 50), st.integers(1, 50), st.integers(1, 100))
def test_row_blocks_cover_every_row_once(n_rows, n_columns, elements):
    rows = [j for block in row_blocks(n_rows, n_columns, elements) for j in range(n_rows)[block]]
    assert rows == list(range(n_rows))


def test_any_kind_of_random_state_makes_a_generator():
    assert as_generator(3).random() == as_generator(3).random()
    assert as_generator(np.random.RandomState(3)).random() == as_generator(np.random.RandomState(3)).random()
    generator = np.random.default_rng(0)
    assert as_generator(generator) is generator


def test_center_distances_equal_explicit_distances_to_weighted_means():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12, 3))
    weights = rng.dirichlet(np.ones(12), size=2).T
    centers = weights.T @ X
    expected = np.square(X[:, None, :] - centers[None]).sum(axis=2)
    R = np.square(X[:, None, :] - X[None]).sum(axis=2)
    assert_allclose(Dissimilarity.from_features(X).center_distances(weights)[0], expected, atol=1e-12)
    assert_allclose(Dissimilarity.from_matrix(R).center_distances(weights)[0], expected, atol=1e-12)
    assert_allclose(Dissimilarity.from_features(X).columns([2, 5]), R[:, [2, 5]], atol=1e-12)
    assert_allclose(Dissimilarity.from_matrix(R).columns([2, 5]), R[:, [2, 5]], atol=1e-12)


def test_gram_of_features_acts_like_the_matrix_of_inner_products():
    features = np.random.default_rng(0).standard_normal((9, 2))
    centered = features - features.mean(axis=0)
    gram = FactoredGram(features)
    K = centered @ centered.T
    V = np.random.default_rng(1).standard_normal((9, 3))
    assert_allclose(gram.matmul(V), K @ V, atol=1e-12)
    assert_allclose(gram.matmul(V[:, 0]), K @ V[:, 0], atol=1e-12)
    assert_allclose(gram.diagonal(), np.diagonal(K), atol=1e-12)
    assert_allclose(gram.row_means(), 0.0, atol=1e-12)
    assert_allclose(gram.columns([1, 4]), K[:, [1, 4]], atol=1e-12)
    assert_allclose(gram.centered_diagonal, np.square(centered).sum(axis=1), atol=1e-12)
