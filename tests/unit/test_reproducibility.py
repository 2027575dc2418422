"""The score for grid searches: what memberships say of rows that a second fit has seen alone."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kfrc import FCM, FRC, KFRC, MSFCM
from kfrc.confidence import reproducibility_score

M = [1.2, 2, 5, 20, 100]
NUMBERS = [2, 3, 4, 5, 6]

told = pytest.mark.filterwarnings(
    "ignore::kfrc.UniformCollapseWarning", "ignore::sklearn.exceptions.ConvergenceWarning"
)
"""Fits at m = 100 collapse and some with too many clusters take long: both are said, and are not the point here."""


def halves(seed):
    return ShuffleSplit(3, test_size=0.5, random_state=seed)


def blobs(seed, n_columns=2):
    centers = 8.0 * np.eye(3, n_columns) if n_columns > 2 else [[0, 0], [8, 0], [3, 7]]
    return make_blobs(160, centers=centers, random_state=seed)[0]


def searched(model, grid, X, seed, cv=None, scoring=reproducibility_score):
    return GridSearchCV(model, grid, scoring=scoring, cv=cv or halves(seed)).fit(X)


@told
@pytest.mark.parametrize("cv", [None, 5], ids=["halves", "fifths"])
@pytest.mark.parametrize(("seed", "n_columns"), [(0, 2), (1, 2), (2, 5)])
def test_three_clear_groups_are_found_with_clear_memberships(seed, n_columns, cv):
    X = blobs(seed, n_columns)
    search = searched(FCM(n_init=1, random_state=0), {"n_clusters": NUMBERS, "m": [1.2, 2]}, X, seed, cv)
    assert search.best_params_["n_clusters"] == 3
    assert search.best_estimator_.uniformity_ < 0.1
    assert 0.6 < search.best_score_ <= 2 / 3


@told
@pytest.mark.parametrize("method", [FCM, FRC, MSFCM], ids=lambda method: method.__name__)
@pytest.mark.parametrize("seed", range(2))
def test_the_largest_m_is_not_taken(method, seed):
    X = blobs(seed)
    search = searched(method(3, n_init=1, random_state=0), {"m": M}, X, seed)
    assert search.best_params_["m"] <= 2
    assert search.cv_results_["mean_test_score"][M.index(100)] < 0.1


@told
def test_the_score_of_the_estimators_is_for_one_objective_as_it_says():
    X = blobs(0)
    assert searched(FCM(3, n_init=1, random_state=0), {"m": M}, X, 0, scoring=None).best_params_ == {"m": 100}
    for method in (FCM, KFRC, MSFCM):
        words = " ".join(str(method.score.__doc__).split())
        assert "compares fits of one objective" in words
        assert "kfrc.confidence.reproducibility_score" in words


@pytest.mark.parametrize(
    "model",
    [
        KFRC(bandwidths=4.0, n_init=1, random_state=0),
        KMeans(n_init=2, random_state=0),
        make_pipeline(StandardScaler(), FCM(random_state=0)),
    ],
    ids=["KFRC", "KMeans", "pipeline"],
)
def test_other_estimators_and_pipelines_are_scored_on_the_same_scale(model):
    name = "fcm__n_clusters" if hasattr(model, "steps") else "n_clusters"
    search = searched(model, {name: [2, 3, 4]}, blobs(3), 3)
    assert search.best_params_ == {name: 3}
    assert 0.5 < search.best_score_ <= 2 / 3 + 1e-12


class Told(ClusterMixin, BaseEstimator):
    """A fake estimator with given memberships, and given labels once it is fitted."""

    def __init__(self, U=None, labels=None):
        self.U = U
        self.labels = labels

    def fit(self, X, y=None, sample_weight=None):
        self.labels_ = np.asarray(self.labels)
        return self

    def predict_proba(self, X):
        return np.asarray(self.U, dtype=float)


@pytest.mark.parametrize("seed", range(4))
def test_the_score_is_what_memberships_gain_over_shares(seed):
    rng = np.random.default_rng(seed)
    n_clusters = int(rng.integers(2, 6))
    labels = np.concatenate([np.arange(n_clusters), rng.integers(n_clusters, size=60)])
    X, shares = np.zeros((len(labels), 1)), np.bincount(labels) / len(labels)
    exact = np.eye(n_clusters)[labels]
    order = rng.permutation(n_clusters)

    def score(U, found=labels, **options):
        return reproducibility_score(Told(U, found).fit(X), X, **options)

    assert score(exact) == pytest.approx(1 - np.square(shares).sum())
    assert score(np.tile(shares, (len(labels), 1))) == pytest.approx(0.0, abs=1e-12)
    U = 0.7 * exact + 0.3 * rng.dirichlet(np.ones(n_clusters), size=len(labels))
    assert score(U[:, order]) == pytest.approx(score(U))
    assert score(U, order[labels]) == pytest.approx(score(U))
    assert score(np.pad(U, ((0, 0), (0, 2)))) == pytest.approx(score(U))
    twice = np.r_[labels, labels]
    doubled = reproducibility_score(Told(np.r_[U, U], twice).fit(X), np.zeros((len(twice), 1)))
    assert score(U, sample_weight=np.full(len(labels), 2)) == pytest.approx(doubled)
    assert doubled == pytest.approx(score(U))


@pytest.mark.parametrize("seed", range(3))
def test_of_all_forecasts_the_true_chances_gain_most(seed):
    rng = np.random.default_rng(seed)
    chances = rng.dirichlet(3 * np.ones(3), size=4000)
    labels = (chances.cumsum(axis=1) > rng.random((4000, 1))).argmax(axis=1)
    X = np.zeros((4000, 1))
    gains = []
    for power in (0.0, 0.3, 1.0, 3.0, 30.0):
        U = chances**power
        gains.append(reproducibility_score(Told(U / U.sum(axis=1, keepdims=True), labels).fit(X), X))
    assert int(np.argmax(gains)) == 2


def test_tables_with_levels_are_scored_too():
    rng = np.random.default_rng(0)
    group = rng.integers(2, size=80)
    table = pd.DataFrame({"x": 9.0 * group + rng.standard_normal(80), "color": np.array(["red", "blue"])[group]})
    model = FRC(2, metric="gower", m=1.3, random_state=0).fit(table[:40])
    assert reproducibility_score(model, table[40:]) > 0.4


def test_what_cannot_be_scored_is_refused_with_what_to_use():
    X = blobs(0)
    R = np.square(X[:, None] - X).sum(axis=2)
    with pytest.raises(ValueError, match=r"precomputed matrix.*confidence.assess"):
        reproducibility_score(FRC(3, metric="precomputed", random_state=0).fit(R), R)
    with pytest.raises(ValueError, match="no cluster"):
        reproducibility_score(Told(np.ones((4, 1)), [0, -1, 0, 0]).fit(X[:4]), X[:4])
    with pytest.raises(TypeError, match="estimator"):
        reproducibility_score("FCM", X)


def test_mixtures_have_chances_that_can_be_scored():
    X = blobs(1)
    assert_allclose(reproducibility_score(GaussianMixture(3, random_state=0).fit(X[:120]), X[120:]), 2 / 3, atol=0.01)
