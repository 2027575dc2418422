"""VFCM: the schedule of m, the crisp limit, recovery from uniformity, and everything all clusterers do."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from kfrc import FRC, UniformCollapseWarning
from kfrc.clusterers._input_space import InputCenters, Limits
from kfrc.clusterers._rows import fitted_rows
from kfrc.clusterers.vfcm import VFCM, anneal, check_schedule

MODEL = VFCM(3, n_init=2, random_state=0)


@pytest.fixture(scope="module")
def X(blobs):
    return blobs[0]


# --- the method ---


def test_m_follows_the_schedule_every_k_iterations(iris):
    fit = VFCM(3, m0=1.8, a=0.9, b=0.1, every=3, random_state=0).fit(iris)
    expected = 1 + 0.8 * 0.9 ** (np.arange(fit.n_iter_) // 3)
    assert_allclose(fit.m_path_, expected, rtol=1e-12)
    assert fit.m_ == fit.m_path_[-1] == fit.fuzzifier_.m


def test_floor_stops_the_fall_of_m(iris):
    assert VFCM(3, min_m=1.3, random_state=0).fit(iris).m_path_.min() == 1.3


def test_constant_schedule_is_fuzzy_c_means(iris):
    start = np.random.default_rng(0).dirichlet(np.ones(3), size=len(iris))
    options = {"init": start, "n_init": 1}
    constant = VFCM(3, m0=1.7, a=0.0, b=1.7, tol=1e-12, **options).fit(iris)
    plain = FRC(3, m=1.7, tol=1e-12, **options).fit(iris)
    assert_allclose(constant.memberships_, plain.memberships_, rtol=0, atol=1e-9)
    assert constant.objective_ == pytest.approx(plain.objective_, rel=1e-10)


@pytest.mark.parametrize("unit", [1e-30, 1.0, 1e30])
def test_m_next_to_one_neither_overflows_nor_divides_by_zero(iris, unit):
    start = np.random.default_rng(0).dirichlet(np.ones(3), size=len(iris))
    schedule = check_schedule(2.0, 0.0, 1.0, 1, None)  # from 2 straight to the smallest m
    X = iris * unit
    run = anneal(X, start, schedule, Limits.of(fitted_rows(X), 200, 0.0))
    assert run.m_path[-1] == 1 + 1e-8
    assert np.isfinite(run.objective_path).all()
    assert_allclose(run.memberships.sum(axis=1), 1.0, rtol=1e-12)
    nearest = cdist(iris, run.centers / unit).argmin(axis=1)
    assert_array_equal(run.memberships.argmax(axis=1), nearest)


def test_units_and_origin_do_not_matter(iris):
    start = np.random.default_rng(0).dirichlet(np.ones(3), size=len(iris))
    here = VFCM(3, init=start, n_init=1).fit(iris)
    there = VFCM(3, init=start, n_init=1).fit(1e3 * iris + 50.0)
    assert there.n_iter_ == here.n_iter_
    assert_allclose(there.memberships_, here.memberships_, rtol=0, atol=1e-6)


def test_annealing_leaves_the_uniform_partition_by_itself():
    X = np.random.default_rng(0).standard_normal((80, 6))  # fuzzy c-means collapses here from m* = 1.93 on
    with pytest.warns(UniformCollapseWarning):
        FRC(3, m=2, init="near_uniform", n_init=1, random_state=0).fit(X)
    fit = VFCM(3, init="near_uniform", n_init=1, random_state=0).fit(X)
    assert fit.status_ == "converged"
    assert fit.uniformity_ < 0.01


def test_collapse_is_explained():
    X = np.random.default_rng(0).standard_normal((80, 6))
    with pytest.warns(UniformCollapseWarning, match=r"kappa = .* lambda_1 = .* m\* ="):
        fit = VFCM(3, m0=3.0, a=0.5, b=1.5, random_state=0).fit(X)
    assert fit.status_ == "collapsed"


def test_run_that_collapsed_does_not_win_over_one_that_did_not(iris):
    # At m = 2 the objective of a collapsed run is far below that of a crisp one.
    fit = VFCM(3, init=np.full((150, 3), 1 / 3), n_init=3, max_iter=400, random_state=0).fit(iris)
    assert fit.status_ == "converged"
    assert fit.uniformity_ < 0.01


# --- what all clusterers do ---


def test_common_attributes_describe_the_fit(X):
    fit = clone(MODEL).fit(X)
    U = fit.memberships_
    assert U.shape == (60, 3)
    assert_allclose(U.sum(axis=1), 1.0, atol=1e-12)
    assert_array_equal(fit.labels_, U.argmax(axis=1))
    assert len(fit.objective_path_) == fit.n_iter_ + 1 == len(fit.m_path_) + 1
    assert fit.objective_ == fit.objective_path_[-1]
    assert fit.objective_ == pytest.approx((U**fit.m_ * cdist(X, fit.cluster_centers_) ** 2).sum(), rel=1e-12)
    assert fit.status_ == "converged"
    assert type(fit.status_) is str
    assert_allclose(fit.cluster_centers_, (U**fit.m_).T @ X / (U**fit.m_).sum(axis=0)[:, None], rtol=1e-12)


def test_prediction_of_the_training_rows_returns_the_fit(X):
    fit = clone(MODEL).fit(X)
    assert_allclose(fit.predict_proba(X), fit.memberships_, rtol=0, atol=1e-12)
    assert_array_equal(fit.predict(X), fit.labels_)
    assert_array_equal(clone(MODEL).fit_predict(X), fit.labels_)
    assert fit.score(X) == pytest.approx(-fit.objective_, rel=1e-8)
    assert_allclose(fit.transform(X), cdist(X, fit.cluster_centers_), atol=1e-5)
    assert_allclose(fit.predict_proba(X[7:8]), fit.memberships_[7:8], atol=1e-14)


def test_too_few_iterations_are_reported(iris):
    with pytest.warns(ConvergenceWarning, match="max_iter = 5"):
        assert VFCM(3, max_iter=5, random_state=0).fit(iris).status_ == "max_iter"


# --- empty clusters and coinciding samples ---


def test_cluster_without_weight_is_put_on_the_most_expensive_sample():
    X = np.array([[0.0], [1.0], [10.0]])
    centers = InputCenters.weighted(X, np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0]]))
    assert_allclose(centers.positions[:, 0], [11 / 3, 10.0])
    assert_allclose(centers.prototypes.T @ X, centers.positions)


# --- bad input ---


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"m0": 1.0}, ValueError, "m0 must be > 1"),
        ({"m0": "2"}, TypeError, "m0 must be a number"),
        ({"m0": np.inf}, ValueError, "m0 must be finite"),
        ({"a": 1.0}, ValueError, "a must be below 1"),
        ({"a": -0.1}, ValueError, "a must be >= 0"),
        ({"b": -0.1}, ValueError, "b must be >= 0"),
        ({"b": np.inf}, ValueError, "b finite"),
        ({"b": 0.01}, ValueError, r"falls to 0\.2, but m must stay above 1: use b >= 1 - a = 0\.05, or .* min_m=1\.01"),
        ({"min_m": 1.0}, ValueError, "min_m must be > 1"),
        ({"min_m": 2.5}, ValueError, "min_m = 2.5 is above m0 = 2"),
        ({"every": 0}, ValueError, "every must be at least 1"),
        ({"every": 1.5}, TypeError, "every must be an integer"),
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


def test_floor_allows_a_schedule_that_would_fall_below_one(X):
    fit = VFCM(3, b=0.01, min_m=1.2, random_state=0).fit(X)
    assert fit.m_ >= 1.2
