"""MSFCM: which samples are scaled and how, its relation to fuzzy c-means, and everything all clusterers do."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from kfrc import FRC, UniformCollapseWarning
from kfrc.clusterers.msfcm import MSFCM, scale_memberships
from kfrc.fuzzifiers import Power

MODEL = MSFCM(3, n_init=2, random_state=0)


@pytest.fixture(scope="module")
def X(blobs):
    return blobs[0]


@pytest.fixture
def start(iris):
    return np.random.default_rng(0).dirichlet(np.ones(3), size=len(iris))


# --- the method ---


def test_scaling_follows_its_formula_row_by_row():
    rng = np.random.default_rng(1)
    X, V, m = rng.standard_normal((40, 3)), rng.standard_normal((4, 3)), 1.7
    shifts = np.array([0.05, 0.1, 0.02, 0.15])
    d = cdist(X, V)
    U = Power(m).memberships(d**2)
    result, scaled = scale_memberships(U, d**2, shifts, m)
    assert 0 < scaled.sum() < 40
    for j in range(40):
        order = np.argsort(d[j])
        near = order[0]
        passes = d[j, order[1]] - shifts.max() >= d[j, near] + shifts[near]
        assert scaled[j] == passes
        if not passes:
            assert_array_equal(result[j], U[j])
            continue
        largest = 1 / (1 + 3 * (d[j, near] / d[j, order[-1]]) ** (2 / (m - 1)))
        expected = U[j] * (1 - largest) / (1 - U[j, near])
        expected[near] = largest
        assert_allclose(result[j], expected, rtol=1e-10)


def test_scaling_sharpens_rows_and_keeps_their_sum_and_order():
    rng = np.random.default_rng(2)
    distances = rng.random((200, 5)) ** 2
    U = Power(2.0).memberships(distances)
    result, scaled = scale_memberships(U, distances, np.full(5, 0.01), 2.0)
    assert_allclose(result.sum(axis=1), 1.0, rtol=1e-12)
    assert (result.max(axis=1) >= U.max(axis=1) - 1e-15).all()
    assert_array_equal(result.argmax(axis=1), U.argmax(axis=1))
    assert 0 < scaled.mean() < 1


def test_sample_on_a_center_and_sample_between_two_centers():
    distances = np.array([[0.0, 1.0, 4.0], [1.0, 1.0, 4.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
    U = Power(2.0).memberships(distances)
    result, scaled = scale_memberships(U, distances, np.zeros(3), 2.0)
    assert_array_equal(scaled, [True, False, False, False])
    assert_array_equal(result[0], [1.0, 0.0, 0.0])
    assert_array_equal(result[1:], U[1:])


def test_with_two_clusters_it_is_fuzzy_c_means(iris):
    start = np.random.default_rng(0).dirichlet(np.ones(2), size=len(iris))
    scaled = MSFCM(2, init=start, n_init=1, tol=1e-12, stop_when_filtered=False).fit(iris)
    plain = FRC(2, init=start, n_init=1, tol=1e-12).fit(iris)
    assert_allclose(scaled.memberships_, plain.memberships_, rtol=0, atol=1e-9)


def test_scaling_gives_a_crisper_partition_in_fewer_iterations_than_fuzzy_c_means(wine):
    start = np.random.default_rng(0).dirichlet(np.ones(3), size=len(wine))
    scaled = MSFCM(3, init=start, n_init=1).fit(wine)
    plain = FRC(3, init=start, n_init=1).fit(wine)
    assert scaled.uniformity_ < plain.uniformity_ - 0.05
    assert scaled.n_iter_ < plain.n_iter_


def test_stopping_when_every_sample_is_filtered_leaves_the_centers_moving(X):
    start = np.random.default_rng(0).dirichlet(np.ones(3), size=len(X))
    early = MSFCM(3, init=start, n_init=1).fit(X)
    late = MSFCM(3, init=start, n_init=1, stop_when_filtered=False).fit(X)
    assert early.filter_rates_[-1] == 1.0
    assert early.n_iter_ < late.n_iter_
    assert early.status_ == late.status_ == "converged"
    assert_array_equal(early.labels_, late.labels_)


def test_new_rows_are_scaled_like_the_training_rows(iris):
    fit = MSFCM(3, random_state=0).fit(iris)
    assert_allclose(fit.predict_proba(iris[::7]), fit.memberships_[::7], rtol=0, atol=1e-12)
    plain = fit.fuzzifier_.memberships(cdist(iris, fit.cluster_centers_) ** 2)
    assert np.abs(plain - fit.memberships_).max() > 0.05


def test_units_and_origin_do_not_matter(iris, start):
    here = MSFCM(3, init=start, n_init=1).fit(iris)
    there = MSFCM(3, init=start, n_init=1).fit(1e3 * iris + 50.0)
    assert there.n_iter_ == here.n_iter_
    assert_allclose(there.memberships_, here.memberships_, rtol=0, atol=1e-6)


@pytest.mark.parametrize("m", [1.001, 1.05])
def test_m_next_to_one_gives_no_nan(iris, m):
    fit = MSFCM(3, m=m, random_state=0).fit(iris)
    assert_allclose(fit.memberships_.sum(axis=1), 1.0, rtol=1e-12)
    assert fit.uniformity_ < 0.05


def test_collapse_is_explained():
    X = np.random.default_rng(0).standard_normal((80, 6))
    with pytest.warns(UniformCollapseWarning, match=r"kappa = .* lambda_1 = .* m\* ="):
        fit = MSFCM(3, m=6.0, init="near_uniform", n_init=1, random_state=0).fit(X)
    assert fit.status_ == "collapsed"


# --- what all clusterers do ---


def test_common_attributes_describe_the_fit(X):
    fit = clone(MODEL).fit(X)
    U = fit.memberships_
    assert U.shape == (60, 3)
    assert_allclose(U.sum(axis=1), 1.0, atol=1e-12)
    assert_array_equal(fit.labels_, U.argmax(axis=1))
    assert len(fit.objective_path_) == fit.n_iter_ + 1 == len(fit.filter_rates_) + 1
    assert fit.objective_ == fit.objective_path_[-1]
    assert fit.objective_ == pytest.approx((U**2 * cdist(X, fit.cluster_centers_) ** 2).sum(), rel=1e-12)
    assert fit.status_ == "converged"
    assert type(fit.status_) is str
    assert_allclose(fit.cluster_centers_, (U**2).T @ X / (U**2).sum(axis=0)[:, None], rtol=1e-12)


def test_prediction_of_the_training_rows_returns_the_fit(X):
    fit = clone(MODEL).fit(X)
    assert_allclose(fit.predict_proba(X), fit.memberships_, rtol=0, atol=1e-12)
    assert_array_equal(fit.predict(X), fit.labels_)
    assert_array_equal(clone(MODEL).fit_predict(X), fit.labels_)
    assert fit.score(X) == pytest.approx(-fit.objective_, rel=1e-8)
    assert_allclose(fit.transform(X), cdist(X, fit.cluster_centers_), atol=1e-5)
    assert_allclose(fit.predict_proba(X[7:8]), fit.memberships_[7:8], atol=1e-14)


def test_too_few_iterations_are_reported(iris):
    with pytest.warns(ConvergenceWarning, match="max_iter = 2"):
        assert MSFCM(3, max_iter=2, random_state=0).fit(iris).status_ == "max_iter"


# --- empty clusters and coinciding samples ---


# --- bad input ---


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"m": 1.0}, ValueError, r"outside \(1, inf\), the range of the power fuzzifier"),
        ({"m": "2"}, TypeError, "m must be a number"),
        ({"n_init": 0}, ValueError, "n_init must be at least 1"),
        ({"max_iter": 0}, ValueError, "max_iter must be at least 1"),
        ({"tol": -1.0}, ValueError, "tol must be >= 0"),
        ({"init": "kmeans"}, ValueError, r"unknown start 'kmeans'.*spectral, near_uniform, random, kmeans\+\+"),
        ({"init": np.full((59, 3), 1 / 3)}, ValueError, "60 rows"),
        ({"init": np.full((60, 3), 0.4)}, ValueError, "sum to 1"),
        ({"n_clusters": 61}, ValueError, r"n_samples=60 should be >= n_clusters=61"),
        ({"n_clusters": 2.0}, TypeError, "n_clusters must be an integer"),
        ({"n_clusters": 0}, ValueError, "n_clusters must be at least 1"),
    ],
)
def test_settings_out_of_range_are_named(X, options, error, words):
    with pytest.raises(error, match=words):
        clone(MODEL).set_params(**options).fit(X)
