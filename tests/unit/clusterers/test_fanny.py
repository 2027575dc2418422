"""FANNY: sequential updates exactly as defined, their fixed points, prediction, input."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning

import kfrc.clusterers._fanny_descent as module
from kfrc import FRC, ConstantFeatureWarning, NonEuclideanWarning, TrivialPartitionWarning, UniformCollapseWarning
from kfrc.clusterers._fanny_descent import _sweep, sweep_memberships
from kfrc.clusterers.fanny import FANNY
from kfrc.dissimilarity import Dissimilarity
from kfrc.fuzzifiers import Power
from kfrc.relational import Blocks, Start
from kfrc.stability import critical_fuzzifier
from strategies import random_memberships


@pytest.fixture(scope="module")
def X(blobs):
    return blobs[0]


@pytest.fixture
def R(X):
    return cdist(X, X)


def blocks(R, n_clusters):
    return Blocks().memberships(Dissimilarity.from_matrix(R), n_clusters, np.random.default_rng())


def sweep_by_definition(R, U, m):
    """One sample after the other, every sum taken afresh."""
    U = U.copy()
    for i in range(len(R)):
        W = U**m
        S, T = W.sum(axis=0), R[i] @ W
        Q = np.einsum("jv,jk,kv->v", W, R, W)
        a = T / S - Q / (2 * S**2)
        u = a ** (-1 / (m - 1)) / (a ** (-1 / (m - 1))).sum()
        U[i] = np.maximum(u, 0.0) / np.maximum(u, 0.0).sum()
    return U


def objective_by_definition(R, U, m):
    W = U**m
    return sum(W[:, v] @ R @ W[:, v] / (2 * W[:, v].sum()) for v in range(U.shape[1]))


# --- the algorithm ---


@given(st.integers(0, 2**32 - 1), st.integers(2, 5), st.floats(1.1, 4.0), st.integers(1, 40))
def test_sweeps_equal_the_definition_for_any_block_size(seed, n_clusters, m, block):
    rng = np.random.default_rng(seed)
    R = cdist(*[rng.standard_normal((25, 3))] * 2)
    U = expected = random_memberships(rng, 25, n_clusters)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_BLOCK", block)
        solution = _sweep(R, None, Power(m), U, 2, 0.0)
    expected = sweep_by_definition(R, sweep_by_definition(R, U, m), m)
    assert_allclose(solution.memberships, expected, rtol=0, atol=1e-9)
    assert solution.objective == pytest.approx(objective_by_definition(R, expected, m), rel=1e-10)
    assert solution.objective_path[0] == pytest.approx(objective_by_definition(R, U, m), rel=1e-12)
    assert not solution.negative_distances


@given(st.integers(0, 2**32 - 1), st.integers(2, 5), st.floats(1.1, 4.0), st.sampled_from(["euclidean", "cityblock"]))
def test_objective_never_increases_on_distances(seed, n_clusters, m, metric):
    rng = np.random.default_rng(seed)
    R = cdist(*[rng.standard_normal((30, 3))] * 2, metric)
    solution = _sweep(R, None, Power(m), blocks(R, n_clusters), 30, 0.0)
    path = solution.objective_path
    assert np.all(np.diff(path) <= 1e-12 * path[:-1])
    assert_allclose(solution.memberships.sum(axis=1), 1.0, rtol=0, atol=1e-12)


def test_start_cuts_the_rows_into_blocks_and_gives_the_rest_to_the_last():
    U = blocks(np.zeros((11, 11)), 3)
    assert_array_equal(U.argmax(axis=1), [0] * 3 + [1] * 3 + [2] * 5)
    assert_allclose(np.sort(U, axis=1), np.tile([0.05, 0.05, 0.9], (11, 1)))


def test_clusters_are_numbered_by_their_first_sample(X):
    order = np.random.default_rng(1).permutation(len(X))
    labels = FANNY(3, m=1.5).fit(X[order]).labels_
    first = [int(np.flatnonzero(labels == v)[0]) for v in range(3)]
    assert first == sorted(first)


def test_stopping_rule_is_the_relative_change_of_the_objective(iris):
    path = FANNY(3, m=1.5, tol=1e-4).fit(iris).objective_path_
    changes = np.abs(np.diff(path)) / path[1:]
    assert changes[-1] <= 1e-4
    assert (changes[:-1] > 1e-4).all()


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "sqeuclidean"])
@pytest.mark.parametrize("m", [1.3, 2.0])
def test_batch_reaches_the_same_fixed_point(metric, m, iris):
    sweep = FANNY(3, m=m, metric=metric).fit(iris)
    batch = FANNY(3, m=m, metric=metric, solver="batch").fit(iris)
    assert_allclose(batch.memberships_, sweep.memberships_, rtol=0, atol=1e-6)
    assert batch.objective_ == pytest.approx(sweep.objective_, rel=1e-12)


def test_fixed_point_is_one_of_frc(iris):
    fit = FANNY(3, m=1.5, metric="manhattan").fit(iris)
    frc = FRC(3, m=1.5, metric="manhattan", init=fit.memberships_, n_init=1, tol=1e-10).fit(iris)
    assert_allclose(frc.memberships_, fit.memberships_, rtol=0, atol=1e-6)


def test_dunn_coefficients(iris):
    fit = FANNY(3, m=1.5).fit(iris)
    assert fit.dunn_coefficient_ == pytest.approx((fit.memberships_**2).sum() / len(iris))
    assert fit.normalized_dunn_coefficient_ == pytest.approx((3 * fit.dunn_coefficient_ - 1) / 2)


# --- the rule for negative memberships ---


def test_negative_memberships_are_set_to_zero_and_the_rest_rescaled():
    U = sweep_memberships(
        Power(2.0), np.array([[1.0, 3.0, -4.0], [1.0, 3.0, 4.0], [0.0, 2.0, -1.0], [-1.0, -3.0, -6.0]])
    )
    assert_allclose(U[0], [0.75, 0.25, 0.0])
    assert_allclose(U[1], np.array([12, 4, 3]) / 19)
    assert_allclose(U[2].sum(), 1.0)
    assert_allclose(U[3], np.array([6, 2, 1]) / 9)


def star():
    R = np.full((7, 7), 4.0)
    R[0] = R[:, 0] = 1.0
    np.fill_diagonal(R, 0.0)
    return R


def test_negative_memberships_are_reported():
    R = np.full((14, 14), 30.0)
    R[:7, :7] = R[7:, 7:] = star()
    with pytest.warns(NonEuclideanWarning, match="negative and set to 0.*NERFCM"):
        fit = FANNY(2, m=2, metric="precomputed").fit(R)
    assert_allclose(fit.memberships_.sum(axis=1), 1.0)
    assert_allclose(fit.predict_proba(R).sum(axis=1), 1.0)


@given(st.integers(0, 2**32 - 1), st.integers(2, 4), st.floats(1.05, 4.0))
def test_arbitrary_dissimilarities_give_a_fuzzy_partition(seed, n_clusters, m):
    rng = np.random.default_rng(seed)
    R = rng.random((12, 12)) ** 5
    R = R + R.T
    np.fill_diagonal(R, 0.0)
    solution = _sweep(R, None, Power(m), blocks(R, n_clusters), 20, 1e-15)
    assert (solution.memberships >= 0).all()
    assert_allclose(solution.memberships.sum(axis=1), 1.0, atol=1e-10)


# --- as an estimator ---


@pytest.mark.parametrize("solver", ["sweep", "batch"])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", lambda a, b: np.abs(a - b).sum()])
def test_prediction_of_the_training_rows_returns_the_fit(metric, solver, X):
    fit = FANNY(3, m=1.5, metric=metric, solver=solver).fit(X)
    assert_allclose(fit.predict_proba(X), fit.memberships_, rtol=0, atol=1e-6)
    assert_array_equal(fit.predict(X), fit.labels_)
    assert_array_equal(FANNY(3, m=1.5, metric=metric, solver=solver).fit_predict(X), fit.labels_)
    assert fit.score(X) == pytest.approx(-fit.objective_, rel=1e-6)
    assert_array_equal(fit.transform(X).argmin(axis=1), fit.labels_)


def test_precomputed_prediction_takes_dissimilarities_to_the_training_rows(X, R):
    new = X[:4] + 0.3
    given = FANNY(3, m=1.5, metric="precomputed").fit(R).predict_proba(cdist(new, X))
    assert_allclose(given, FANNY(3, m=1.5).fit(X).predict_proba(new), rtol=0, atol=1e-12)


def test_common_attributes_describe_the_fit(X):
    fit = FANNY(3, m=1.5).fit(X)
    assert fit.objective_ == fit.objective_path_[-1]
    assert len(fit.objective_path_) == fit.n_iter_ + 1
    assert fit.status_ == "converged"
    assert fit.uniformity_ == pytest.approx(1 - fit.normalized_dunn_coefficient_)


@pytest.mark.parametrize("init", Start.registry)
def test_other_starts_find_the_same_blobs(init, X, blobs):
    fit = FANNY(3, m=1.5, init=init, random_state=0).fit(X)
    assert_array_equal(fit.labels_, blobs[1])


def test_given_memberships_are_a_start(X):
    fit = FANNY(3, m=1.5).fit(X)
    again = FANNY(3, m=1.5, init=fit.memberships_).fit(X)
    assert again.n_iter_ <= 3
    assert_allclose(again.memberships_, fit.memberships_, atol=1e-7)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_tables_keep_their_column_names(library, X):
    frames = pytest.importorskip(library)
    fit = FANNY(3, m=1.5).fit(frames.DataFrame({"height": X[:, 0], "weight": X[:, 1]}))
    assert list(fit.feature_names_in_) == ["height", "weight"]


def test_input_dissimilarities_are_not_modified(R):
    before = R.copy()
    FANNY(3, m=1.5, metric="precomputed").fit(R)
    assert_array_equal(R, before)


def test_verbose_prints_a_line(X, capsys):
    fit = FANNY(3, m=1.5, verbose=1).fit(X)
    assert capsys.readouterr().out == f"FANNY: sweep of {fit.n_iter_} iterations\n"


# --- endings and bad input ---


@pytest.mark.parametrize("solver", ["sweep", "batch"])
def test_collapse_is_explained(wine, solver):
    with pytest.warns(UniformCollapseWarning, match=r"kappa = .*lambda_1 = .*m\* = ") as caught:
        fit = FANNY(3, m=2, solver=solver).fit(wine)
    assert fit.status_ == "collapsed"
    assert fit.normalized_dunn_coefficient_ == pytest.approx(0.0, abs=1e-9)
    critical = float(re.search(r"m\* = ([\d.]+)", str(caught[0].message)).group(1))
    assert critical == pytest.approx(critical_fuzzifier("power", 3, R=cdist(wine, wine)), rel=1e-3)


def test_running_out_of_sweeps_warns(iris):
    with pytest.warns(ConvergenceWarning, match="max_iter = 2"):
        fit = FANNY(3, max_iter=2).fit(iris)
    assert (fit.status_, fit.n_iter_) == ("max_iter", 2)


def test_hard_exponents_empty_no_cluster_by_rounding(X):
    fit = FANNY(3, m=1.005).fit(X)
    assert fit.status_ == "converged"
    assert fit.normalized_dunn_coefficient_ == pytest.approx(1.0, abs=1e-3)


def test_one_cluster_and_constant_columns_are_said(X):
    with pytest.warns(TrivialPartitionWarning, match="trivial"):
        fit = FANNY(1).fit(X)
    assert (fit.memberships_ == 1).all()
    assert fit.dunn_coefficient_ == fit.normalized_dunn_coefficient_ == 1.0
    with pytest.warns(ConstantFeatureWarning, match="column 2"):
        FANNY(3, m=1.5).fit(np.column_stack([X, np.ones(len(X))]))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda R: R + np.triu(np.ones_like(R), 1), "must be symmetric"),
        (lambda R: -R, "negative entries"),
        (lambda R: np.exp(-R), "non-zero diagonal"),
        (lambda R: R + np.diag([np.nan] * len(R)), "NaN"),
        (lambda R: R[:, :5], "square"),
    ],
)
def test_bad_relations_are_refused(R, change, words):
    with pytest.raises(ValueError, match=words):
        FANNY(2, metric="precomputed").fit(change(R))


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"m": 1.0}, ValueError, "power fuzzifier"),
        ({"m": None}, TypeError, "m must be a number"),
        ({"solver": "jacobi"}, ValueError, "unknown solver 'jacobi': choose one of sweep, batch"),
        ({"init": "rows"}, ValueError, "unknown start 'rows'"),
        ({"init": np.ones((3, 3)) / 3}, ValueError, "init must have 60 rows"),
        ({"max_iter": 0}, ValueError, "max_iter must be at least 1"),
        ({"tol": -1.0}, ValueError, "tol must be >= 0"),
        ({"n_clusters": 61}, ValueError, "n_samples=60 should be >= n_clusters=61"),
    ],
)
def test_wrong_parameters_say_what_is_wrong(X, options, error, words):
    with pytest.raises(error, match=words):
        FANNY(**options).fit(X)


@pytest.mark.parametrize(("value", "words"), [(np.nan, "NaN"), ("red", "could not convert")])
def test_bad_values_are_refused(X, value, words):
    data = X.astype(object)
    data[3, 1] = value
    with pytest.raises(ValueError, match=words):
        FANNY().fit(data)
