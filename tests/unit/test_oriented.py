"""The kernel along the axes of clusters: what it measures, and when a choice turns to it."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from kfrc import KFRC
from kfrc._numerics import standardize
from kfrc.dissimilarity import Dissimilarity
from kfrc.gram import gram_family
from kfrc.kernels.oriented import Oriented
from kfrc.metrics import adjusted_rand_score
from kfrc_app.facts import summarize
from kfrc_app.models import dump_model, load_model


@pytest.fixture(scope="module")
def labels():
    return np.arange(160) % 2


@pytest.fixture(scope="module")
def X(labels):
    """Two long clusters side by side, neither column across them."""
    rng = np.random.default_rng(0)
    along, across = 3.0 * rng.standard_normal(160), (2.0 * labels - 1.0) + 0.4 * rng.standard_normal(160)
    return np.column_stack([along + across, along - across])


@pytest.fixture(scope="module")
def fit(X):
    return KFRC(2, random_state=0).fit(X)


def test_squared_distances_are_those_of_mahalanobis_within_the_clusters(X, labels):
    Z, U = standardize(X), np.eye(2)[labels]
    kernel = Oriented.within(Z, U)
    within = sum(np.cov(Z[labels == i].T, bias=True) * (labels == i).mean() for i in range(2))
    expected = cdist(Z, Z, "mahalanobis", VI=np.linalg.inv(within + 1e-3 * np.eye(2))) ** 2
    features = kernel.factor(Z, np.ones(2))
    assert_allclose(cdist(features, features, "sqeuclidean"), expected, rtol=1e-9, atol=1e-9)


def test_values_features_diagonal_and_slopes_belong_together(X):
    kernel, theta = Oriented(axes=np.array([[1.0, 0.5], [-0.3, 2.0]])), np.array([0.7, 1.9])
    K = kernel.shifted(X, X[:5], theta)
    assert_allclose(kernel.factor(X, theta) @ kernel.factor(X[:5], theta).T, K, rtol=1e-12)
    assert_allclose(kernel.shifted_diagonal(X[:5], theta), np.diagonal(K), rtol=1e-12)
    assert_allclose(kernel.shifted_gram(X, theta)[:, :5], K, rtol=1e-10, atol=1e-12)
    for d in range(2):
        step = np.where(np.arange(2) == d, 1e-5, 0.0)
        slope = (
            kernel.shifted(X, X[:5], theta * np.exp(step)) - kernel.shifted(X, X[:5], theta * np.exp(-step))
        ) / 2e-5
        assert_allclose(kernel.derivative(X, X[:5], theta, d), slope, rtol=1e-6, atol=1e-6)


def test_axes_undo_any_linear_map_of_the_columns(X, labels):
    U, mixing = np.eye(2)[labels], np.array([[1.0, 0.4], [0.2, 1.0]])
    grams = [gram_family(Z, Oriented.within(Z, U)).at(np.ones(2)) for Z in (1e3 * X, 1e3 * X @ mixing)]
    first, second = (Dissimilarity(gram).center_distances(U / U.sum(axis=0))[0] for gram in grams)
    assert_allclose(first, second, rtol=1e-4)  # the ridge alone tells them apart


def test_long_clusters_that_no_bandwidths_tell_apart_are_found_along_their_axes(fit, X, labels):
    assert fit.kernel_.label == "oriented"
    assert adjusted_rand_score(labels, fit.labels_) > 0.9
    plain = KFRC(2, m=1.5, random_state=0).fit(X)  # what is given is kept, and the kernel stays too
    assert plain.kernel_.label == "sum"
    assert adjusted_rand_score(labels, plain.labels_) < 0.5


def test_the_choice_keeps_bandwidths_where_these_come_close(labels):
    X = np.random.default_rng(1).standard_normal((160, 3)) + 6.0 * labels[:, None]
    assert KFRC(2, random_state=0).fit(X).kernel_.label == "sum"


def test_fitted_rows_are_predicted_as_they_are_and_a_loaded_model_agrees(fit, X, tmp_path):
    assert_allclose(fit.predict_proba(X), fit.memberships_, atol=1e-9)
    (tmp_path / "model.skops").write_bytes(dump_model(fit))
    loaded = load_model(tmp_path / "model.skops")
    assert_array_equal(loaded.predict_proba(X + 0.1), fit.predict_proba(X + 0.1))


def test_a_reader_is_told_how_distances_were_measured(fit, X):
    (remark,) = [text for text in summarize(fit, X).remarks if "axes" in text]
    assert remark == Oriented.remark


def test_the_result_says_all_that_others_say(fit, X):
    assert fit.contributions_.sum() == pytest.approx(1.0)
    assert_array_equal(fit.bandwidths_ > 0, [True, True])
    assert np.isfinite(fit.critical_m_)
    assert fit.fuzzifier_.m < fit.critical_m_
