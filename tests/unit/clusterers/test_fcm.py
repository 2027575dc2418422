"""Fuzzy c-means: the relational solution through centers, at a lower price."""

from __future__ import annotations

import re
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kfrc import FRC, ConstantFeatureWarning, TrivialPartitionWarning, UniformCollapseWarning
from kfrc.clusterers._fcm_descent import solve_fcm
from kfrc.clusterers.fcm import FCM
from kfrc.dissimilarity import Dissimilarity
from kfrc.fuzzifiers import Fuzzifier, Power
from kfrc.relational import solve_relational
from kfrc.stability import critical_fuzzifier
from strategies import FUZZIFIERS, Blend, data_matrices, fuzzifiers, random_memberships


@pytest.fixture(scope="module")
def X(blobs):
    return blobs[0]


# --- the same as the relational solver ---


@pytest.mark.parametrize("name", FUZZIFIERS)
def test_every_step_is_that_of_the_relational_solver(name, iris):
    t = Fuzzifier.from_name(name)
    start = random_memberships(np.random.default_rng(0), len(iris), 3)
    options = {"init": start, "max_iter": 40, "tol": 0.0}
    by_centers = solve_fcm(iris, 3, t, **options)
    relational = solve_relational(Dissimilarity.from_features(iris), 3, t, **options)
    assert by_centers.n_iter == relational.n_iter
    assert_allclose(by_centers.memberships, relational.memberships, rtol=0, atol=1e-10)
    assert_allclose(by_centers.objective_path, relational.objective_path, rtol=1e-11)
    assert_allclose(by_centers.prototypes, relational.prototypes, rtol=0, atol=1e-10)
    assert_allclose(by_centers.prototypes.T @ iris, relational.prototypes.T @ iris, rtol=0, atol=1e-10)


@given(fuzzifiers(), data_matrices(max_samples=20), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_objective_never_increases_and_rows_stay_on_the_simplex(t, X, n_clusters, seed):
    U = random_memberships(np.random.default_rng(seed), len(X), n_clusters)
    solution = solve_fcm(X, n_clusters, t, init=U, max_iter=60)
    path = solution.objective_path
    assert np.all(np.diff(path) <= 1e-12 * np.abs(path[:-1]) + 1e-13)
    assert (solution.memberships >= 0).all()
    assert_allclose(solution.memberships.sum(axis=1), 1.0, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", FUZZIFIERS)
def test_estimator_equals_frc(name, wine):
    fcm = FCM(3, fuzzifier=name, m=1.5 if name == "power" else None, random_state=0, tol=1e-10).fit(wine)
    frc = FRC(3, fuzzifier=name, m=1.5 if name == "power" else None, random_state=0, tol=1e-10).fit(wine)
    assert_allclose(fcm.memberships_, frc.memberships_, rtol=0, atol=1e-7)
    assert_allclose(fcm.cluster_centers_, frc.cluster_centers_, rtol=0, atol=1e-7)
    assert fcm.objective_ == pytest.approx(frc.objective_, rel=1e-10)
    assert fcm.status_ == frc.status_ == "converged"


def test_blocks_of_rows_do_not_matter(monkeypatch, iris):
    import kfrc.clusterers._fcm_descent as module

    start = random_memberships(np.random.default_rng(0), len(iris), 3)
    whole = solve_fcm(iris, 3, Power(1.7), init=start, max_iter=20, tol=0.0)
    monkeypatch.setattr(module, "row_blocks", lambda n_rows, n_columns: (slice(k, k + 7) for k in range(0, n_rows, 7)))
    blocked = solve_fcm(iris, 3, Power(1.7), init=start, max_iter=20, tol=0.0)
    assert_allclose(blocked.memberships, whole.memberships, rtol=0, atol=1e-12)
    assert_allclose(blocked.objective_path, whole.objective_path, rtol=1e-12)


def test_data_far_from_the_origin_are_no_problem(X):
    here = FCM(3, random_state=0, tol=1e-9).fit(X)
    there = FCM(3, random_state=0, tol=1e-9).fit(X + 1e6)
    assert_allclose(there.memberships_, here.memberships_, rtol=0, atol=1e-6)
    assert_allclose(there.cluster_centers_ - 1e6, here.cluster_centers_, rtol=0, atol=1e-6)
    assert_allclose(there.predict_proba(X + 1e6), there.memberships_, rtol=0, atol=1e-6)


@pytest.mark.slow
def test_it_is_faster_than_the_relational_solver():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50_000, 10))
    start = random_memberships(rng, len(X), 4)

    def seconds(run):
        times = []
        for _ in range(3):
            began = time.process_time()
            run()
            times.append(time.process_time() - began)
        return min(times)

    options = {"init": start, "max_iter": 10, "tol": 0.0}
    fast = seconds(lambda: solve_fcm(X, 4, Power(2.0), **options))
    general = seconds(lambda: solve_relational(Dissimilarity.from_features(X), 4, Power(2.0), **options))
    assert fast < general


# --- empty clusters ---


@pytest.mark.parametrize("name", FUZZIFIERS)
def test_empty_cluster_is_put_on_the_sample_that_costs_most(name, X):
    start = np.zeros((len(X), 3))
    start[:, 0] = 1.0
    solution = solve_fcm(X, 3, Fuzzifier.from_name(name), init=start, tol=1e-9)
    reference = solve_relational(cdist(X, X, "sqeuclidean"), 3, name, init=start, tol=1e-9)
    assert solution.objective == pytest.approx(reference.objective, rel=1e-9)
    assert_allclose(solution.memberships, reference.memberships, rtol=0, atol=1e-6)
    assert np.isfinite(solution.squared_norms).all()


@pytest.mark.parametrize("name", FUZZIFIERS)
def test_fewer_distinct_samples_than_clusters_are_shared_by_clusters_in_the_same_place(name):
    X = np.repeat([[0.0, 0.0], [1.0, 3.0]], 5, axis=0)
    with pytest.warns(ConvergenceWarning, match="2 different row"):
        fit = FCM(4, fuzzifier=name, random_state=0).fit(X)
    places = np.unique(fit.cluster_centers_.round(9) + 0.0, axis=0)
    assert_allclose(places, [[0.0, 0.0], [1.0, 3.0]])
    assert fit.objective_ == pytest.approx(0.0, abs=1e-12)
    assert_allclose(fit.memberships_.sum(axis=1), 1.0)
    assert_allclose(fit.predict_proba(X).sum(axis=1), 1.0)
    assert np.isfinite(fit.score(X))


# --- as an estimator ---


@pytest.mark.parametrize("name", FUZZIFIERS)
def test_prediction_of_the_training_rows_returns_the_fit(name, X):
    fit = FCM(3, fuzzifier=name, random_state=0).fit(X)
    assert_allclose(fit.predict_proba(X), fit.memberships_, rtol=0, atol=1e-9)
    assert_array_equal(fit.predict(X), fit.labels_)
    assert_array_equal(FCM(3, fuzzifier=name, random_state=0).fit_predict(X), fit.labels_)
    assert fit.score(X) == pytest.approx(-fit.objective_, rel=1e-5)
    assert_allclose(fit.transform(X), cdist(X, fit.cluster_centers_), atol=1e-8)


def test_common_attributes_describe_the_fit(X):
    fit = FCM(3, random_state=0).fit(X)
    assert fit.objective_ == fit.objective_path_[-1]
    assert len(fit.objective_path_) == fit.n_iter_ + 1
    assert type(fit.status_) is str
    assert fit.uniformity_ == pytest.approx((1 - (fit.memberships_**2).sum() / len(X)) / (1 - 1 / 3))
    assert fit.labels_[0] == 0, "clusters are numbered in order of appearance"


def test_custom_fuzzifier_works_wherever_a_name_does(X):
    fit = FCM(3, fuzzifier=Blend(3.0), random_state=0).fit(X)
    assert fit.status_ == "converged"
    assert fit.fuzzifier_ == Blend(3.0)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_tables_keep_their_column_names(library, X):
    frames = pytest.importorskip(library)
    table = frames.DataFrame({"height": X[:, 0], "weight": X[:, 1]})
    fit = FCM(3, random_state=0).fit(table)
    assert list(fit.feature_names_in_) == ["height", "weight"]
    assert_array_equal(fit.predict(table), fit.labels_)


def test_it_works_in_a_pipeline_and_a_grid_search(X):
    pipeline = make_pipeline(StandardScaler(), FCM(3, n_init=1, random_state=0))
    search = GridSearchCV(pipeline, {"fcm__n_clusters": [2, 3]}, cv=2).fit(X)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_input_is_not_modified_and_refit_gives_the_same(X):
    data = X.copy()
    fit = FCM(3, random_state=0).fit(data)
    first = fit.memberships_.copy()
    assert_array_equal(data, X)
    assert_array_equal(clone(fit).fit(X).memberships_, first)


def test_verbose_prints_one_line_per_run(X, capsys):
    FCM(3, n_init=2, verbose=1, random_state=0).fit(X)
    assert capsys.readouterr().out.splitlines() == ["FCM: clustering 1/2", "FCM: clustering 2/2"]


# --- honest endings and bad input ---


def test_collapse_is_explained():
    X = np.random.default_rng(0).standard_normal((80, 6))
    with pytest.warns(UniformCollapseWarning, match=r"kappa = .*lambda_1 = .*m\* = ") as caught:
        fit = FCM(3, m=3.0, random_state=0).fit(X)
    assert fit.status_ == "collapsed"
    critical = float(re.search(r"m\* = ([\d.]+)", str(caught[0].message)).group(1))
    assert critical == pytest.approx(critical_fuzzifier("power", 3, R=cdist(X, X, "sqeuclidean")), rel=1e-3)


def test_running_out_of_iterations_warns(iris):
    with pytest.warns(ConvergenceWarning, match="max_iter = 2.*raise max_iter or tol"):
        fit = FCM(3, init="random", n_init=1, max_iter=2, tol=1e-12, random_state=0).fit(iris)
    assert (fit.status_, fit.n_iter_) == ("max_iter", 2)


def test_one_cluster_is_trivial_and_says_so(X):
    with pytest.warns(TrivialPartitionWarning, match="trivial"):
        fit = FCM(1).fit(X)
    assert (fit.memberships_ == 1).all()
    assert_allclose(fit.cluster_centers_[0], X.mean(axis=0))


def test_constant_columns_are_named(X):
    with pytest.warns(ConstantFeatureWarning, match="column 2"):
        FCM(3, random_state=0).fit(np.column_stack([X, np.ones(len(X))]))


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"m": 1.0}, ValueError, "outside .*power fuzzifier"),
        ({"m": "2"}, TypeError, "m must be a number"),
        ({"fuzzifier": "pow"}, ValueError, "unknown fuzzifier 'pow'"),
        ({"init": "kmeans"}, ValueError, "unknown start 'kmeans'"),
        ({"init": np.ones((3, 3)) / 3}, ValueError, "init must have 60 rows"),
        ({"init": np.ones((60, 2)) / 2}, ValueError, "init must have 3 columns"),
        ({"n_init": 0}, ValueError, "n_init must be at least 1"),
        ({"max_iter": 0}, ValueError, "max_iter must be at least 1"),
        ({"tol": -1.0}, ValueError, "tol must be >= 0"),
        ({"n_clusters": 61}, ValueError, "n_samples=60 should be >= n_clusters=61"),
        ({"n_clusters": 2.5}, TypeError, "n_clusters must be an integer"),
    ],
)
def test_wrong_parameters_say_what_is_wrong(X, options, error, words):
    with pytest.raises(error, match=words):
        FCM(**options).fit(X)


@pytest.mark.parametrize(("value", "words"), [(np.inf, "infinity"), ("red", "could not convert")])
def test_bad_values_are_refused(X, value, words):
    data = X.astype(object)
    data[3, 1] = value
    with pytest.raises(ValueError, match=words):
        FCM().fit(data)
