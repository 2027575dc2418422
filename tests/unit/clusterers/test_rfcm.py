"""Relational fuzzy c-means: the dual of fuzzy c-means, which refuses what is not Euclidean."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning

from kfrc import ConstantFeatureWarning, KFRCError, TrivialPartitionWarning, UniformCollapseWarning
from kfrc._numerics import double_center
from kfrc.clusterers._spread import NegativeDistanceError
from kfrc.clusterers.fcm import FCM
from kfrc.clusterers.rfcm import RFCM
from strategies import random_memberships


@pytest.fixture(scope="module")
def X(blobs):
    return blobs[0]


@pytest.fixture
def R(X):
    return cdist(X, X, "sqeuclidean")


@pytest.fixture(scope="module")
def star():
    """Squared steps between a hub and its leaves: the hub would be the midpoint of every pair of leaves."""
    R = np.full((7, 7), 4.0)
    R[0] = R[:, 0] = 1.0
    np.fill_diagonal(R, 0.0)
    return R


@pytest.mark.parametrize("m", [1.3, 2.0])
def test_squared_distances_give_the_memberships_of_fuzzy_c_means(m, iris):
    start = random_memberships(np.random.default_rng(0), len(iris), 3)
    options = {"m": m, "init": start, "n_init": 1, "tol": 1e-12, "max_iter": 5000}
    fcm = FCM(3, **options).fit(iris)
    relational = RFCM(3, metric="precomputed", **options).fit(cdist(iris, iris, "sqeuclidean"))
    by_features = RFCM(3, **options).fit(iris)
    assert_allclose(relational.memberships_, fcm.memberships_, rtol=0, atol=1e-8)
    assert_allclose(by_features.memberships_, fcm.memberships_, rtol=0, atol=1e-8)
    assert relational.objective_ == pytest.approx(fcm.objective_, rel=1e-10)
    assert_allclose(by_features.cluster_centers_, fcm.cluster_centers_, rtol=0, atol=1e-8)


def test_relation_with_a_negative_distance_is_refused_with_its_value_and_a_remedy(star):
    assert np.linalg.eigvalsh(-double_center(star)).min() < -0.1, "meant to be indefinite"
    with pytest.raises(
        KFRCError, match=r"sample 0 has the negative squared distance -[\d.]+ to center 0.*Use NERFCM"
    ) as caught:
        RFCM(2, metric="precomputed", init=np.full((7, 2), 0.5), n_init=1).fit(star)
    # The hub is (R p)_0 − pᵀRp/2 from the center of mass, with p = 1/7.
    assert caught.value.distances[0, 0] == pytest.approx(6 / 7 - star.sum() / 98)
    assert caught.value.distances.min() < 0


def test_refused_fit_leaves_nothing_behind(star):
    estimator = RFCM(2, metric="precomputed", init=np.full((7, 2), 0.5), n_init=1)
    with pytest.raises(NegativeDistanceError):
        estimator.fit(star)
    assert not hasattr(estimator, "memberships_")


def test_the_error_survives_pickling(star):
    with pytest.raises(NegativeDistanceError) as caught:
        RFCM(2, metric="precomputed", init=np.full((7, 2), 0.5), n_init=1).fit(star)
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)
    assert_array_equal(again.distances, caught.value.distances)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "sqeuclidean", lambda a, b: np.abs(a - b).sum()])
def test_metrics_by_name_or_function_predict_the_training_rows(metric, X):
    fit = RFCM(3, metric=metric, random_state=0, tol=1e-9).fit(X)
    assert_allclose(fit.predict_proba(X), fit.memberships_, rtol=0, atol=1e-6)
    assert_array_equal(fit.predict(X), fit.labels_)
    assert fit.score(X) == pytest.approx(-fit.objective_, rel=1e-5)
    assert fit.transform(X).shape == (len(X), 3)


def test_precomputed_prediction_takes_dissimilarities_to_the_training_rows(X, R):
    fit = RFCM(3, metric="precomputed", random_state=0, tol=1e-10).fit(R)
    new = X[:4] + 0.3
    by_features = RFCM(3, random_state=0, tol=1e-10, init=fit.memberships_, n_init=1).fit(X)
    predicted = fit.predict_proba(cdist(new, X, "sqeuclidean"))
    assert_allclose(predicted, by_features.predict_proba(new), rtol=0, atol=1e-6)


def test_the_fuzzifier_is_the_power(X):
    fit = RFCM(3, m=1.7, random_state=0).fit(X)
    assert (fit.fuzzifier_.name, fit.fuzzifier_.m) == ("power", 1.7)
    assert "fuzzifier" not in fit.get_params()


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_tables_keep_their_column_names(library, X):
    frames = pytest.importorskip(library)
    fit = RFCM(3, random_state=0).fit(frames.DataFrame({"height": X[:, 0], "weight": X[:, 1]}))
    assert list(fit.feature_names_in_) == ["height", "weight"]


def test_collapse_is_explained():
    X = np.random.default_rng(0).standard_normal((60, 6))
    with pytest.warns(UniformCollapseWarning, match=r"lambda_1 = .*m\* = "):
        fit = RFCM(3, m=3.0, metric="euclidean", random_state=0).fit(X)
    assert fit.status_ == "collapsed"


def test_running_out_of_iterations_warns(iris):
    with pytest.warns(ConvergenceWarning, match="max_iter = 2"):
        RFCM(3, init="random", n_init=1, max_iter=2, tol=1e-12, random_state=0).fit(iris)


def test_one_cluster_and_constant_columns_are_said(X):
    with pytest.warns(TrivialPartitionWarning, match="trivial"):
        assert (RFCM(1).fit(X).memberships_ == 1).all()
    with pytest.warns(ConstantFeatureWarning, match="column 2"):
        RFCM(3, random_state=0).fit(np.column_stack([X, np.ones(len(X))]))


def spoil(R, how):
    R = R.copy()
    if how == "asymmetric":
        R[0, 1] += 1.0
    elif how == "negative":
        R = -R
    elif how == "diagonal":
        R = np.exp(-R)
    elif how == "missing":
        R[2, 5] = R[5, 2] = np.nan
    else:
        R = R[:, :10]
    return R


BAD_RELATIONS = [
    ("asymmetric", "must be symmetric"),
    ("negative", "negative entries"),
    ("diagonal", "non-zero diagonal"),
    ("missing", "NaN"),
    ("not square", "square"),
]


@pytest.mark.parametrize(("how", "words"), BAD_RELATIONS)
def test_bad_relations_are_refused(R, how, words):
    with pytest.raises(ValueError, match=words):
        RFCM(2, metric="precomputed").fit(spoil(R, how))


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"m": 1.0}, ValueError, "power fuzzifier"),
        ({"m": "2"}, TypeError, "m must be a number"),
        ({"init": np.ones((3, 3)) / 3}, ValueError, "init must have 60 rows"),
        ({"n_clusters": 61}, ValueError, "n_samples=60 should be >= n_clusters=61"),
        ({"metric": "unknown"}, ValueError, "[Uu]nknown"),
    ],
)
def test_wrong_parameters_say_what_is_wrong(X, options, error, words):
    with pytest.raises(error, match=words):
        RFCM(**options).fit(X)


@pytest.mark.parametrize(("value", "words"), [(np.nan, "NaN"), ("red", "could not convert")])
def test_bad_values_are_refused(X, value, words):
    data = X.astype(object)
    data[3, 1] = value
    with pytest.raises(ValueError, match=words):
        RFCM().fit(data)
