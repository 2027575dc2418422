"""FCMMK: kernel weights on the simplex, descent of J, the collapse threshold, and everything all clusterers do."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from kfrc import FRC, UniformCollapseWarning
from kfrc.clusterers._input_space import leading_eigenvalue_of
from kfrc.clusterers._multiple_kernels import Kernels, descend_weights, project_on_simplex
from kfrc.clusterers._rows import fitted_rows
from kfrc.clusterers.fcm_mk import FCMMK, _leading_eigenvalue

MODEL = FCMMK(3, n_init=2, random_state=0)


@pytest.fixture(scope="module")
def X(blobs):
    return blobs[0]


@pytest.fixture
def start(iris):
    return np.random.default_rng(0).dirichlet(np.ones(3), size=len(iris))


def kernel_distances(X, fit, weights):
    """2 − 2 K_i from the definition."""
    k = np.exp(-(cdist(X, fit.cluster_centers_)[:, :, None] ** 2) / (2 * fit.sigmas_**2))
    a = weights / fit.sigmas_
    return 2 - 2 * (k * a).sum(axis=2) / a.sum(axis=1)


# --- the method ---


def test_default_widths_are_fractions_of_the_diagonal_of_the_bounding_box(iris):
    diagonal = np.sqrt(((iris.max(axis=0) - iris.min(axis=0)) ** 2).sum())
    assert_allclose(FCMMK(3, random_state=0).fit(iris).sigmas_, diagonal * np.array([0.1, 0.2, 0.3, 0.4]))
    assert_allclose(FCMMK(3, n_kernels=2, random_state=0).fit(iris).sigmas_, diagonal * np.array([0.1, 0.4]))


def test_objective_is_its_definition_and_never_rises(iris, start):
    fit = FCMMK(3, sigmas=[0.8, 2.0], init=start, n_init=1).fit(iris)
    J = (fit.memberships_**2 * kernel_distances(iris, fit, fit.kernel_weights_)).sum()
    assert fit.objective_ == pytest.approx(J, rel=1e-10)
    assert (np.diff(fit.objective_path_) <= 1e-12 * fit.objective_path_[0]).all()


def test_end_point_is_stationary_in_the_centers(iris, start):
    fit = FCMMK(3, sigmas=[1.5, 3.0], init=start, n_init=1, tol=1e-10).fit(iris)
    U = fit.memberships_**2

    def objective(V):
        k = np.exp(-(cdist(iris, V.reshape(3, 4))[:, :, None] ** 2) / (2 * fit.sigmas_**2))
        a = fit.kernel_weights_ / fit.sigmas_
        return (U * (2 - 2 * (k * a).sum(axis=2) / a.sum(axis=1))).sum()

    better = minimize(objective, fit.cluster_centers_.ravel(), method="BFGS")
    assert_allclose(better.x.reshape(3, 4), fit.cluster_centers_, atol=1e-4)


def test_weights_end_on_the_widest_kernel_which_always_has_the_smallest_objective(iris, start):
    fit = FCMMK(3, init=start, n_init=1).fit(iris)
    assert_allclose(fit.kernel_weights_, np.tile([0, 0, 0, 1.0], (3, 1)), atol=1e-12)
    values = [(fit.memberships_**2 * kernel_distances(iris, fit, np.tile(w, (3, 1)))).sum() for w in np.eye(4)]
    assert (np.diff(values) < 0).all()


def test_weight_steps_stay_on_the_simplex_and_lower_the_objective():
    rng = np.random.default_rng(0)
    euclidean = rng.random((50, 3)) * 4
    weights = rng.random((50, 3)) * 0.05
    kernels = Kernels(np.array([0.5, 1.0, 2.0]), np.full((3, 3), 1 / 3))
    after = descend_weights(kernels, weights, euclidean)
    assert_allclose(after.weights.sum(axis=1), 1.0, rtol=1e-12)
    assert (after.weights >= 0).all()
    assert (weights * after.squared_distances(euclidean)).sum() < (weights * kernels.squared_distances(euclidean)).sum()


def test_projection_is_the_nearest_point_of_the_simplex():
    W = np.random.default_rng(0).standard_normal((20, 4))
    P = project_on_simplex(W)
    assert_allclose(P.sum(axis=1), 1.0, rtol=1e-12)
    assert (P >= 0).all()
    others = np.random.default_rng(1).dirichlet(np.ones(4), size=500)
    for w, p in zip(W, P, strict=True):
        assert (((others - w) ** 2).sum(axis=1) >= ((p - w) ** 2).sum() - 1e-12).all()


def test_wide_kernel_is_fuzzy_c_means(iris, start):
    wide = FCMMK(3, sigmas=[1e4], init=start, n_init=1, tol=1e-10).fit(iris)
    plain = FRC(3, init=start, n_init=1, tol=1e-10).fit(iris)
    assert_allclose(wide.memberships_, plain.memberships_, rtol=0, atol=1e-6)


def test_units_and_origin_do_not_matter(iris, start):
    here = FCMMK(3, init=start, n_init=1).fit(iris)
    there = FCMMK(3, init=start, n_init=1).fit(1e3 * iris + 50.0)
    assert there.n_iter_ == here.n_iter_
    assert_allclose(there.memberships_, here.memberships_, rtol=0, atol=1e-6)


def test_kernels_too_narrow_to_see_any_sample_give_no_nan(X):
    fit = FCMMK(3, sigmas=[1e-3, 2e-3], init="random", n_init=1, random_state=0).fit(X)
    assert_allclose(fit.memberships_.sum(axis=1), 1.0)
    assert np.isfinite(fit.cluster_centers_).all()


# --- collapse ---


def test_leading_eigenvalue_of_fewer_rows_than_columns_needs_no_matrix_of_columns():
    rng = np.random.default_rng(0)
    few, directions = rng.normal(size=(9, 4)), np.linalg.qr(rng.normal(size=(30, 4)))[0]
    kernels = Kernels(np.array([1.0, 2.0]), np.array([[0.5, 0.5]])).of_cluster(0)
    turned = few @ directions.T  # the same distances in thirty columns
    expected = _leading_eigenvalue(fitted_rows(few), few.mean(axis=0), kernels)
    assert _leading_eigenvalue(fitted_rows(turned), turned.mean(axis=0), kernels) == pytest.approx(expected, rel=1e-9)


def test_leading_eigenvalue_is_that_of_squared_distances_for_a_wide_kernel(wine):
    wide = Kernels(np.array([1e4]), np.ones((1, 1)))
    rows = fitted_rows(wine)
    assert _leading_eigenvalue(rows, wine.mean(axis=0), wide) == pytest.approx(leading_eigenvalue_of(rows), rel=1e-6)


@pytest.mark.slow
def test_collapse_happens_exactly_from_the_predicted_m_on():
    X = np.random.default_rng(0).standard_normal((80, 6))
    options = {"init": "near_uniform", "n_init": 1, "tol": 1e-9, "max_iter": 20_000, "random_state": 0}
    with pytest.warns(UniformCollapseWarning, match=r"kappa = .* lambda_1 = .* m\* = 1.929"):
        collapsed = FCMMK(3, m=8.0, **options).fit(X)
    kernels = collapsed._kernels.in_units(collapsed._exponent)
    leading = _leading_eigenvalue(fitted_rows(X), collapsed.cluster_centers_[0], kernels.of_cluster(0))
    critical = collapsed.fuzzifier_.critical_m(3, leading)
    assert FCMMK(3, m=0.97 * critical, **options).fit(X).uniformity_ < 0.99
    with pytest.warns(UniformCollapseWarning, match="<= 1"):
        assert FCMMK(3, m=1.03 * critical, **options).fit(X).status_ == "collapsed"


# --- what all clusterers do ---


def test_common_attributes_describe_the_fit(X):
    fit = clone(MODEL).fit(X)
    U = fit.memberships_
    assert U.shape == (60, 3)
    assert_allclose(U.sum(axis=1), 1.0, atol=1e-12)
    assert_array_equal(fit.labels_, U.argmax(axis=1))
    assert len(fit.objective_path_) == fit.n_iter_ + 1
    assert_allclose(fit.kernel_weights_.sum(axis=1), 1.0, rtol=1e-12)
    assert fit.objective_ == fit.objective_path_[-1]
    assert fit.status_ == "converged"
    assert type(fit.status_) is str


def test_prediction_of_the_training_rows_returns_the_fit(X):
    fit = clone(MODEL).fit(X)
    assert_allclose(fit.predict_proba(X), fit.memberships_, rtol=0, atol=1e-12)
    assert_array_equal(fit.predict(X), fit.labels_)
    assert_array_equal(clone(MODEL).fit_predict(X), fit.labels_)
    assert fit.score(X) == pytest.approx(-fit.objective_, rel=1e-8)
    assert_allclose(fit.transform(X) ** 2, kernel_distances(X, fit, fit.kernel_weights_), atol=1e-6)
    assert_allclose(fit.predict_proba(X[7:8]), fit.memberships_[7:8], atol=1e-14)


def test_too_few_iterations_are_reported(iris):
    with pytest.warns(ConvergenceWarning, match="max_iter = 5"):
        assert FCMMK(3, max_iter=5, random_state=0).fit(iris).status_ == "max_iter"


# --- empty clusters and coinciding samples ---


# --- bad input ---


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"m": 1.0}, ValueError, r"outside \(1, inf\), the range of the power fuzzifier"),
        ({"m": "2"}, TypeError, "m must be a number"),
        ({"n_kernels": 0}, ValueError, "n_kernels must be at least 1"),
        ({"n_kernels": 2.0}, TypeError, "n_kernels must be an integer"),
        ({"sigmas": []}, ValueError, "sigmas must be a list of one or more widths"),
        ({"sigmas": 2.0}, ValueError, r"sigmas must be a list .* got shape \(\)"),
        ({"sigmas": [1.0, 0.0]}, ValueError, "sigmas must be positive, finite numbers"),
        ({"sigmas": [1.0, np.nan]}, ValueError, "sigmas must be positive, finite numbers"),
        ({"sigmas": ["wide"]}, ValueError, "sigmas must be numeric"),
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
