"""Non-Euclidean relational fuzzy c-means: any dissimilarities, raised by the β that is needed."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning

from kfrc import ConstantFeatureWarning, KFRCError, TrivialPartitionWarning, UniformCollapseWarning
from kfrc._numerics import double_center
from kfrc.clusterers.nerfcm import NERFCM
from kfrc.clusterers.rfcm import RFCM, SpreadDissimilarity
from kfrc.gram import DenseGram
from kfrc.stability import critical_fuzzifier
from strategies import random_memberships

FAMILIES = [
    ["cat", "bat", "cut", "cap", "cart", "coat", "chat", "scat", "cats"],
    ["stone", "store", "stony", "atone", "shone", "stole", "stones", "tone"],
    ["plan", "plane", "plant", "clan", "flan", "plain", "pan", "plank"],
]


def edit_distance(a, b):
    row = list(range(len(b) + 1))
    for i, letter in enumerate(a, start=1):
        above, row[0] = row[0], i
        for j, other in enumerate(b, start=1):
            above, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, above + (letter != other))
    return row[-1]


def off_diagonal(n_samples):
    return np.ones((n_samples, n_samples)) - np.eye(n_samples)


def smallest_eigenvalue(R):
    """Of −HRH/2: negative exactly when R is not squared-Euclidean."""
    return float(np.linalg.eigvalsh(-0.5 * double_center(R)).min())


@pytest.fixture(scope="module")
def words():
    """Squared edit distances of words, and the families they belong to."""
    names = [word for family in FAMILIES for word in family]
    R = np.array([[edit_distance(a, b) ** 2 for b in names] for a in names], dtype=float)
    return R, np.repeat(np.arange(3), [len(family) for family in FAMILIES])


@pytest.fixture(scope="module")
def X(blobs):
    return blobs[0]


# --- the β-spread ---


@pytest.mark.parametrize("m", [1.3, 2.0])
def test_edit_distances_are_refused_by_rfcm_and_clustered_by_nerfcm(m, words):
    R, families = words
    assert smallest_eigenvalue(R) < -1
    options = {"m": m, "metric": "precomputed", "random_state": 0}
    with pytest.raises(KFRCError, match=r"negative squared distance.*Use NERFCM"):
        RFCM(3, **options).fit(R)
    fit = NERFCM(3, **options).fit(R)
    assert fit.status_ == "converged"
    assert_array_equal(fit.labels_, families)
    assert 0 < fit.beta_ <= -2 * smallest_eigenvalue(R), "no more than what makes R Euclidean"


@pytest.mark.parametrize("m", [1.3, 2.0])
def test_result_is_that_of_rfcm_on_the_raised_relation(m, words):
    R, _ = words
    fit = NERFCM(3, m=m, metric="precomputed", random_state=0, tol=1e-10).fit(R)
    raised = R + fit.beta_ * off_diagonal(len(R))
    again = RFCM(3, m=m, metric="precomputed", init=fit.memberships_, n_init=1, tol=1e-10).fit(raised)
    assert_allclose(again.memberships_, fit.memberships_, rtol=0, atol=1e-7)
    assert again.objective_ == pytest.approx(fit.objective_, rel=1e-9)
    assert len(fit.objective_path_) == fit.n_iter_ + 1
    assert np.all(np.diff(fit.objective_path_) <= 1e-12 * fit.objective_path_[0])


def test_relation_raised_until_it_is_euclidean_needs_no_more(words):
    R, _ = words
    enough = R - 2 * smallest_eigenvalue(R) * off_diagonal(len(R))
    assert smallest_eigenvalue(enough) > -1e-9
    start = random_memberships(np.random.default_rng(0), len(R), 3)
    options = {"m": 1.5, "metric": "precomputed", "init": start, "n_init": 1}
    fit, reference = NERFCM(3, **options).fit(enough), RFCM(3, **options).fit(enough)
    assert fit.beta_ == 0
    assert_array_equal(fit.memberships_, reference.memberships_)


def test_squared_distances_need_no_spread(iris):
    fit = NERFCM(3, metric="precomputed", random_state=0).fit(cdist(iris, iris, "sqeuclidean"))
    reference = RFCM(3, metric="precomputed", random_state=0).fit(cdist(iris, iris, "sqeuclidean"))
    assert fit.beta_ == 0
    assert_allclose(fit.memberships_, reference.memberships_, rtol=0, atol=1e-6)


@given(st.integers(0, 2**32 - 1), st.floats(0, 5))
def test_distances_of_the_spread_are_those_of_the_raised_matrix(seed, beta):
    rng = np.random.default_rng(seed)
    R = cdist(*[rng.standard_normal((9, 2))] * 2, "sqeuclidean")
    P = random_memberships(rng, 9, 3)
    P /= P.sum(axis=0)
    distances, squared_norms = SpreadDissimilarity(DenseGram(-0.5 * R), beta).center_distances(P)
    raised = R + beta * off_diagonal(9)
    within = np.einsum("ji,ji->i", P, raised @ P)
    assert_allclose(distances, raised @ P - 0.5 * within, atol=1e-12)
    assert_allclose(squared_norms, -0.5 * within, atol=1e-12)
    columns = SpreadDissimilarity(DenseGram(-0.5 * R), beta).columns([2, 5])
    assert_allclose(columns, raised[:, [2, 5]], atol=1e-12)


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1), st.integers(2, 4), st.floats(1.1, 3.0))
def test_arbitrary_dissimilarities_give_a_fuzzy_partition_without_negative_distances(seed, n_clusters, m):
    rng = np.random.default_rng(seed)
    R = rng.random((15, 15)) ** 4
    R = R + R.T
    np.fill_diagonal(R, 0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UniformCollapseWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        fit = NERFCM(n_clusters, m=m, metric="precomputed", n_init=2, random_state=0).fit(R)
    assert_allclose(fit.memberships_.sum(axis=1), 1.0, atol=1e-12)
    assert (fit.memberships_ >= 0).all()
    assert 0 <= fit.beta_ <= -2 * smallest_eigenvalue(R) + 1e-8


def test_runs_share_their_spread(words, capsys):
    R, _ = words
    fit = NERFCM(3, m=1.5, metric="precomputed", n_init=3, random_state=0, verbose=1).fit(R)
    alone = NERFCM(3, m=1.5, metric="precomputed", n_init=1, random_state=0).fit(R)
    assert fit.beta_ >= alone.beta_ - 1e-12
    assert capsys.readouterr().out.splitlines() == [f"NERFCM: clustering {k}/3" for k in (1, 2, 3)]


# --- prediction ---


def test_prediction_of_the_training_rows_returns_the_fit(words):
    R, _ = words
    fit = NERFCM(3, m=1.5, metric="precomputed", random_state=0, tol=1e-10).fit(R)
    assert fit.beta_ > 0
    assert_allclose(fit.predict_proba(R), fit.memberships_, rtol=0, atol=1e-6)
    assert_array_equal(fit.predict(R), fit.labels_)
    assert fit.score(R) == pytest.approx(-fit.objective_, rel=1e-5)
    assert fit.transform(R).shape == (len(R), 3)


def test_new_words_join_their_family(words):
    R, _ = words
    fit = NERFCM(3, m=1.5, metric="precomputed", random_state=0).fit(R)
    names = [word for family in FAMILIES for word in family]
    new = np.array([[edit_distance(a, b) ** 2 for b in names] for a in ("carts", "stored", "planes")], dtype=float)
    assert_array_equal(fit.predict(new), [0, 1, 2])


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "cosine", lambda a, b: np.abs(a - b).max() ** 3])
def test_metrics_by_name_or_function_predict_the_training_rows(metric, X):
    fit = NERFCM(3, m=1.5, metric=metric, random_state=0, tol=1e-9).fit(X)
    assert_array_equal(fit.predict(X), fit.labels_)
    assert hasattr(fit, "cluster_centers_") == (metric == "sqeuclidean")


# --- endings and input ---


def test_collapse_is_explained_on_the_raised_relation():
    R = np.random.default_rng(0).random((30, 30)) ** 4
    R = R + R.T
    np.fill_diagonal(R, 0.0)
    with pytest.warns(UniformCollapseWarning, match=r"lambda_1 = .*m\* = ") as caught:
        fit = NERFCM(3, m=8.0, metric="precomputed", random_state=0).fit(R)
    assert fit.status_ == "collapsed"
    assert fit.beta_ > 0
    raised = R + fit.beta_ * off_diagonal(len(R))
    assert f"m* = {critical_fuzzifier('power', 3, R=raised):.4g}" in str(caught[0].message)


def test_running_out_of_iterations_warns(iris):
    with pytest.warns(ConvergenceWarning, match="max_iter = 2"):
        NERFCM(3, init="random", n_init=1, max_iter=2, tol=1e-12, random_state=0).fit(iris)


def test_one_cluster_and_constant_columns_are_said(X):
    with pytest.warns(TrivialPartitionWarning, match="trivial"):
        assert (NERFCM(1).fit(X).memberships_ == 1).all()
    with pytest.warns(ConstantFeatureWarning, match="column 2"):
        NERFCM(3, random_state=0).fit(np.column_stack([X, np.ones(len(X))]))


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_tables_keep_their_column_names(library, X):
    frames = pytest.importorskip(library)
    fit = NERFCM(3, random_state=0).fit(frames.DataFrame({"height": X[:, 0], "weight": X[:, 1]}))
    assert list(fit.feature_names_in_) == ["height", "weight"]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda R: R + np.triu(np.ones_like(R), 1), "must be symmetric"),
        (lambda R: -R, "negative entries"),
        (lambda R: np.exp(-R), "non-zero diagonal"),
        (lambda R: R + np.diag([np.nan] * len(R)), "NaN"),
        (lambda R: R[:, :5], "square"),
    ],
)
def test_bad_relations_are_refused(words, change, expected):
    with pytest.raises(ValueError, match=expected):
        NERFCM(2, metric="precomputed").fit(change(words[0]))


@pytest.mark.parametrize(
    ("options", "error", "expected"),
    [
        ({"m": 1.0}, ValueError, "power fuzzifier"),
        ({"m": "2"}, TypeError, "m must be a number"),
        ({"init": np.ones((3, 3)) / 3}, ValueError, "init must have 60 rows"),
        ({"n_clusters": 61}, ValueError, "n_samples=60 should be >= n_clusters=61"),
        ({"n_init": 0}, ValueError, "n_init must be at least 1"),
    ],
)
def test_wrong_parameters_say_what_is_wrong(X, options, error, expected):
    with pytest.raises(error, match=expected):
        NERFCM(**options).fit(X)


@pytest.mark.parametrize(("value", "expected"), [(np.nan, "NaN"), ("red", "could not convert")])
def test_bad_values_are_refused(X, value, expected):
    data = X.astype(object)
    data[3, 1] = value
    with pytest.raises(ValueError, match=expected):
        NERFCM().fit(data)
