from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist
from sklearn.metrics import silhouette_samples

from kfrc.metrics import fuzzy_silhouette_score, xie_beni_index
from kfrc.metrics.geometry import silhouette_values

X4, U4 = [[0.0], [1.0], [9.0], [10.0]], [[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.1, 0.9]]


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    return rng.standard_normal((40, 3)), rng.dirichlet(np.ones(4), size=40)


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "cityblock"])
def test_silhouettes_equal_scikit_learn(data, metric):
    X, U = data
    labels = U.argmax(axis=1)
    labels[0] = 9  # alone in its cluster
    assert_allclose(silhouette_values(X, labels, metric), silhouette_samples(X, labels, metric=metric), atol=1e-10)


def test_precomputed_distances_give_the_same_silhouette(data):
    X, U = data
    assert_allclose(
        fuzzy_silhouette_score(cdist(X, X), U, metric="precomputed"), fuzzy_silhouette_score(X, U), atol=1e-12
    )


def test_duplicates_have_no_preference():
    assert fuzzy_silhouette_score(np.ones((4, 2)), U4) == 0.0


def test_silhouette_weights_prefer_samples_inside_clusters(data):
    X, U = data
    ordered = np.sort(U, axis=1)
    weights = (ordered[:, -1] - ordered[:, -2]) ** 3
    silhouettes = silhouette_values(X, U.argmax(axis=1), "euclidean")
    assert_allclose(fuzzy_silhouette_score(X, U, alpha=3), weights @ silhouettes / weights.sum(), atol=1e-12)


def test_default_centers_are_fuzzy_means(data):
    X, U = data
    centers = (U**2).T @ X / (U**2).sum(axis=0)[:, None]
    assert_allclose(xie_beni_index(X, U), xie_beni_index(X, U, centers), atol=1e-12)


def test_coinciding_centers_are_infinitely_bad():
    assert xie_beni_index(X4, U4, [[5.0], [5.0]]) == math.inf


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((X4, U4, [[1.0]]), r"shape \(n_clusters, n_features\) = \(2, 1\), got \(1, 1\)"),
        ((X4, U4, [[1.0], [np.nan]]), "centers contains NaN"),
        ((X4[:3], U4, [[1.0], [2.0]]), "X has 3 samples but U has 4"),
        ((X4, [[0.4, 0.4]] * 4), "must sum to 1"),
        ((X4, [[1.0, 0.0]] * 4), "cluster 1 of U has no members"),
        ((X4, np.ones((4, 1))), "at least 2 clusters"),
        (([[np.inf]] * 4, U4), "NaN or infinity"),
    ],
)
def test_bad_input_of_xie_beni_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        xie_beni_index(*arguments)


def test_power_of_xie_beni_is_at_least_one():
    with pytest.raises(ValueError, match="m must be >= 1"):
        xie_beni_index(X4, U4, m=0.5)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((X4, np.full((4, 2), 0.5)), {}, "at least two clusters"),
        ((X4, [[0.5, 0.5, 0], [0.5, 0.5, 0], [0, 0.5, 0.5], [0, 0.5, 0.5]]), {}, "use alpha=0"),
        ((X4[:3], U4), {}, "X has 3 samples but U has 4"),
        ((X4, U4), {"alpha": -1}, "alpha must be >= 0"),
        ((X4, U4), {"metric": "precomputed"}, "square matrix"),
        ((X4, U4), {"metric": "nonsense"}, "(?i)unknown.*metric"),
    ],
)
def test_bad_input_of_the_silhouette_is_named(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        fuzzy_silhouette_score(*arguments, **options)


@pytest.mark.parametrize("weighted", [False, True])
def test_xie_beni_of_squared_distances_is_that_of_the_points(data, weighted):
    X, U = data
    weights = np.tile([0.0, 1.0, 2.0, 0.5], 10) if weighted else None
    R = cdist(X, X, "sqeuclidean")
    found = xie_beni_index(R, U, metric="precomputed", sample_weight=weights)
    assert_allclose(found, xie_beni_index(X, U, sample_weight=weights), rtol=1e-10)


def test_coinciding_means_of_dissimilarities_are_not_separated(data):
    X, _ = data
    U = np.full((len(X), 3), 1 / 3)
    assert xie_beni_index(cdist(X, X, "sqeuclidean"), U, metric="precomputed") == math.inf


def test_dissimilarities_have_no_centers_to_give(data):
    X, U = data
    with pytest.raises(ValueError, match="leave centers out"):
        xie_beni_index(cdist(X, X, "sqeuclidean"), U, np.zeros((4, 3)), metric="precomputed")
    with pytest.raises(ValueError, match="metric must be"):
        xie_beni_index(X, U, metric="cityblock")


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_the_unit_of_the_data_does_not_matter(data, unit):
    X, U = data
    for index in (fuzzy_silhouette_score, xie_beni_index):
        assert index(unit * X, U) == pytest.approx(index(X, U), rel=1e-9)


@pytest.mark.parametrize("metric", ["mahalanobis", "seuclidean", "euclidean"])
def test_silhouettes_of_many_rows_are_relative_to_all_of_them(metric):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2)) * [1.0, 50.0]
    X[:300] += [3.0, 0.0]
    U = rng.dirichlet([1.0, 1.0], 600)
    whole = fuzzy_silhouette_score(cdist(X, X, metric), U, metric="precomputed")
    assert_allclose(fuzzy_silhouette_score(X, U, metric=metric), whole, rtol=1e-9)
