"""Weights of rows are frequencies: weight w is the row w times, weight 0 is the row absent, in every method."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kfrc import FANNY, FCM, FCMMK, FRC, MSFCM, NERFCM, RFCM, VFCM, NegativeDistanceError, UniformCollapseWarning
from kfrc.clusterers import _rows
from kfrc.clusterers._spread import SpreadDissimilarity
from kfrc.clusterers.nerfcm import _raised_eigenvalue
from kfrc.dissimilarity import Dissimilarity
from kfrc.metrics import uniformity_index
from strategies import CLUSTERERS

METHODS = {
    "FRC": FRC(3, m=1.6),
    "FRC, root": FRC(3, fuzzifier="complementary_root"),
    "FRC, euclidean": FRC(3, m=1.3, metric="euclidean"),
    "FRC, gower": FRC(3, m=1.3, metric="gower"),
    "RFCM": RFCM(3, m=1.6),
    "RFCM, manhattan": RFCM(3, m=1.3, metric="manhattan"),
    "NERFCM": NERFCM(3, m=1.6),
    "FANNY, batch": FANNY(3, m=1.3, solver="batch"),
    "FCM": FCM(3, m=1.6),
    "FCM, quadratic": FCM(3, fuzzifier="quadratic"),
    "FCMMK": FCMMK(3, m=1.6),
    "MSFCM": MSFCM(3, m=1.6),
    "VFCM": VFCM(3),
}
# A sweep moves the samples of a row together or one after the other: the way differs, the end does not.
ALL = METHODS | {"FANNY": FANNY(3, m=1.3)}


def each(methods):
    return pytest.mark.parametrize("estimator", [pytest.param(e, id=name) for name, e in methods.items()])


@pytest.fixture
def rows():
    """Rows in three groups, all different, weights, and memberships to start from."""
    rng = np.random.default_rng(5)
    groups = np.eye(3)[rng.integers(3, size=40)]
    X = rng.standard_normal((40, 3)) + 4.0 * groups
    return X, rng.integers(0, 4, size=40), 0.4 * groups + 0.6 * rng.dirichlet(np.ones(3), size=40)


@pytest.fixture
def unmerged(monkeypatch):
    """Rows that are repeated stay apart: the other side of the law."""
    monkeypatch.setattr(_rows, "_WORTHWHILE", 2.0)


def started(estimator, init, **options):
    fresh = sklearn.clone(estimator).set_params(init=init, **options)
    return fresh.set_params(n_init=1) if "n_init" in fresh.get_params() else fresh


def assert_same_fit(weighted, repeated, X, w, atol=1e-10):
    assert_allclose(weighted.objective_, repeated.objective_, rtol=1e-10)
    assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), rtol=0, atol=atol)
    assert_allclose(weighted.memberships_.repeat(w, axis=0), repeated.memberships_, rtol=0, atol=atol)
    assert_allclose(weighted.uniformity_, repeated.uniformity_, rtol=0, atol=atol)
    if hasattr(weighted, "cluster_centers_"):
        assert_allclose(weighted.cluster_centers_, repeated.cluster_centers_, rtol=0, atol=atol)


# --- weight w is the row w times ---


@each(METHODS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_step_counts_a_row_as_often_as_its_weight_says(estimator, rows, unmerged):
    X, w, U = rows
    w = np.maximum(w, 1)
    weighted = started(estimator, U, max_iter=4).fit(X, sample_weight=w)
    repeated = started(estimator, U.repeat(w, axis=0), max_iter=4).fit(X.repeat(w, axis=0))
    assert weighted.n_iter_ == repeated.n_iter_
    assert_allclose(weighted.objective_path_, repeated.objective_path_, rtol=1e-10)
    assert_same_fit(weighted, repeated, X, w)


@each(METHODS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_row_of_weight_zero_is_absent_in_every_step(estimator, rows):
    X, w, U = rows
    w = np.minimum(w, 1)
    weighted = started(estimator, U, max_iter=4).fit(X, sample_weight=w)
    without = started(estimator, U[w > 0], max_iter=4).fit(X[w > 0])
    assert_same_fit(weighted, without, X, w, atol=0)


@each(ALL)
def test_weights_and_repetition_give_the_same_fit(estimator, rows, unmerged):
    X, w, U = rows
    weighted = started(estimator, U).fit(X, sample_weight=w)
    repeated = started(estimator, U.repeat(w, axis=0)).fit(X.repeat(w, axis=0))
    assert weighted.status_ == repeated.status_ == "converged"
    # One may stop a step before the other, as medians over rows decide when centers rest.
    assert_same_fit(weighted, repeated, X, w, atol=1e-5)


@each(ALL)
def test_order_and_repetition_do_not_matter_from_any_start(estimator, rows):
    X, w, _ = rows
    order = np.random.default_rng(1).permutation(len(X))
    estimator = sklearn.clone(estimator).set_params(random_state=0)
    repeated = sklearn.clone(estimator).fit(X.repeat(w, axis=0))
    weighted = sklearn.clone(estimator).fit(X[order], sample_weight=w[order])
    for method in ("predict", "predict_proba", "transform"):
        assert_array_equal(getattr(weighted, method)(X), getattr(repeated, method)(X))


@each(ALL)
def test_weights_of_one_change_no_digit(estimator, rows):
    X = rows[0]
    estimator = sklearn.clone(estimator).set_params(random_state=0)
    plain = sklearn.clone(estimator).fit(X)
    for ones in (np.ones(40), [1] * 40, 1):
        assert_array_equal(sklearn.clone(estimator).fit(X, sample_weight=ones).memberships_, plain.memberships_)


@each(ALL)
def test_rows_without_weight_get_what_predict_says(estimator, rows):
    X, w, _ = rows
    fit = sklearn.clone(estimator).set_params(random_state=0).fit(X, sample_weight=w)
    assert_array_equal(fit.memberships_[w == 0], fit.predict_proba(X[w == 0]))
    assert_array_equal(fit.labels_, fit.memberships_.argmax(axis=1))
    assert fit.memberships_.shape == (40, 3)


@each(ALL)
def test_repeated_rows_are_merged_without_a_difference(estimator, rows, monkeypatch):
    X, _, U = rows
    twice, start = np.vstack([X, X]), np.vstack([U, U])
    merged = started(estimator, start).fit(twice)
    monkeypatch.setattr(_rows, "_WORTHWHILE", 2.0)
    apart = started(estimator, start).fit(twice)
    assert_array_equal(merged.memberships_[:40], merged.memberships_[40:])
    assert_allclose(merged.objective_, apart.objective_, rtol=1e-10)
    assert_allclose(merged.memberships_, apart.memberships_, rtol=0, atol=1e-5)


@each(ALL)
def test_weights_need_not_be_integers(estimator, rows):
    X, w, U = rows
    halves = started(estimator, U).fit(X, sample_weight=0.5 * w)
    whole = started(estimator, U).fit(X, sample_weight=w)
    if not isinstance(estimator, NERFCM):
        assert_allclose(2.0 * halves.objective_, whole.objective_, rtol=1e-9)
    assert_allclose(halves.memberships_, whole.memberships_, rtol=0, atol=1e-5)


@each(ALL)
def test_score_counts_rows_by_weight(estimator, rows):
    X, w, _ = rows
    fit = sklearn.clone(estimator).set_params(random_state=0).fit(X, sample_weight=w)
    assert_allclose(fit.score(X, sample_weight=w), fit.score(X.repeat(w, axis=0)), rtol=1e-12)
    assert_allclose(fit.score(X, sample_weight=2 * w), 2 * fit.score(X, sample_weight=w), rtol=1e-12)


@each({name: e for name, e in ALL.items() if name not in ("MSFCM", "FCMMK", "VFCM")})
def test_score_of_the_fitted_rows_is_minus_the_objective(estimator, rows):
    X, w, _ = rows
    fit = sklearn.clone(estimator).set_params(random_state=0).fit(X, sample_weight=w)
    assert_allclose(fit.score(X, sample_weight=w), -fit.objective_, rtol=1e-8)


# --- what methods say besides ---


def test_dunn_coefficient_and_uniformity_are_weighted(rows):
    X, w, _ = rows
    fit = FANNY(3, m=1.3).fit(X, sample_weight=w)
    assert_allclose(fit.dunn_coefficient_, w @ np.square(fit.memberships_).sum(axis=1) / w.sum())
    assert_allclose(fit.uniformity_, uniformity_index(fit.memberships_, sample_weight=w))


def test_filter_rates_count_rows_by_weight(rows, unmerged):
    X, w, U = rows
    w = np.maximum(w, 1)
    weighted = started(MSFCM(3, m=1.6), U).fit(X, sample_weight=w)
    repeated = started(MSFCM(3, m=1.6), U.repeat(w, axis=0)).fit(X.repeat(w, axis=0))
    assert_allclose(weighted.filter_rates_, repeated.filter_rates_)


@each({"FRC": FRC(3, m=30.0), "FCM": FCM(3, m=30.0), "FANNY": FANNY(3, m=30.0), "FCMMK": FCMMK(3, m=30.0)})
def test_a_collapse_is_explained_by_the_same_eigenvalue(estimator, rows, unmerged):
    _, w, U = rows
    w = np.maximum(w, 1)
    X = np.random.default_rng(2).standard_normal((40, 6))
    with pytest.warns(UniformCollapseWarning) as weighted:
        started(estimator, U).fit(X, sample_weight=w)
    with pytest.warns(UniformCollapseWarning) as repeated:
        started(estimator, U.repeat(w, axis=0)).fit(X.repeat(w, axis=0))
    assert str(weighted[0].message) == str(repeated[0].message)


# --- matrices ---


@each({"FRC": FRC(3, m=1.6), "RFCM": RFCM(3, m=1.6), "NERFCM": NERFCM(3, m=1.6), "FANNY": FANNY(3, m=1.3)})
def test_rows_of_a_matrix_keep_their_places(estimator, rows, unmerged):
    X, w, U = rows
    R, again = cdist(X, X, "sqeuclidean"), X.repeat(w, axis=0)
    estimator = sklearn.clone(estimator).set_params(metric="precomputed", tol=1e-12)
    weighted = started(estimator, U).fit(R, sample_weight=w)
    repeated = started(estimator, U.repeat(w, axis=0)).fit(cdist(again, again, "sqeuclidean"))
    assert weighted.memberships_.shape == (40, 3)
    assert_allclose(weighted.objective_, repeated.objective_, rtol=1e-10)
    assert_allclose(weighted.memberships_.repeat(w, axis=0), repeated.memberships_, rtol=0, atol=1e-6)
    assert_allclose(weighted.predict_proba(R[:5]), weighted.memberships_[:5], rtol=0, atol=1e-6)


def stars():
    """Steps between two stars, which no points have, and rows that stand for several leaves."""
    star = np.full((5, 5), 2.0)
    star[0] = star[:, 0] = 1.0
    np.fill_diagonal(star, 0.0)
    steps = np.full((10, 10), 10.0)
    steps[:5, :5] = steps[5:, 5:] = star
    return steps**2, np.array([2, 1, 3, 1, 2, 1, 1, 0, 2, 2])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("options", [{"max_iter": 3}, {"tol": 1e-12}])
def test_beta_is_added_between_the_samples_of_a_row_too(options):
    R, w = stars()
    U = np.random.default_rng(0).dirichlet([1, 1], size=10)
    nerfcm = NERFCM(2, metric="precomputed", n_init=1, **options)
    repeated = R.repeat(w, axis=0).repeat(w, axis=1)
    weighted = sklearn.clone(nerfcm).set_params(init=U).fit(R, sample_weight=w)
    apart = sklearn.clone(nerfcm).set_params(init=U.repeat(w, axis=0)).fit(repeated)
    assert weighted.beta_ > 0
    assert_allclose(weighted.beta_, apart.beta_, rtol=1e-10)
    assert_allclose(weighted.objective_, apart.objective_, rtol=1e-10)
    assert_allclose(weighted.memberships_.repeat(w, axis=0), apart.memberships_, rtol=0, atol=1e-8)
    assert_allclose(weighted.predict_proba(R), apart.predict_proba(R.repeat(w, axis=1)), rtol=0, atol=1e-8)


def test_leading_eigenvalue_of_raised_dissimilarities_knows_the_samples_of_a_row():
    R, w = stars()
    w = np.maximum(w, 1)
    repeated = R.repeat(w, axis=0).repeat(w, axis=1)
    for beta in (0.1, 0.8, 500.0):
        weighted = SpreadDissimilarity(Dissimilarity.from_matrix(R, w.astype(float)).gram, beta)
        apart = SpreadDissimilarity(Dissimilarity.from_matrix(repeated).gram, beta)
        assert_allclose(_raised_eigenvalue(weighted), _raised_eigenvalue(apart), rtol=1e-10)


# --- scikit-learn ---


@each({type(e).__name__: e for e in ALL.values()})
def test_weights_are_routed_through_a_pipeline(estimator, rows):
    X, w, _ = rows
    estimator = sklearn.clone(estimator).set_params(random_state=0)
    direct = sklearn.clone(estimator).fit(StandardScaler().fit(X, sample_weight=w).transform(X), sample_weight=w)
    with sklearn.config_context(enable_metadata_routing=True):
        estimator.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=True), estimator)
        pipeline.fit(X, sample_weight=w)
        assert_array_equal(pipeline[-1].memberships_, direct.memberships_)
        assert pipeline.score(X, sample_weight=w) == direct.score(pipeline[0].transform(X), sample_weight=w)


@each({type(e).__name__: e for e in ALL.values()})
def test_fit_predict_and_fit_transform_pass_weights_on(estimator, rows):
    X, w, _ = rows
    estimator = sklearn.clone(estimator).set_params(random_state=0)
    fit = sklearn.clone(estimator).fit(X, sample_weight=w)
    assert_array_equal(sklearn.clone(estimator).fit_predict(X, sample_weight=w), fit.labels_)
    assert_array_equal(sklearn.clone(estimator).fit_transform(X, sample_weight=w), fit.transform(X))


def test_a_negative_distance_is_reported_by_the_row_of_the_user():
    R, _ = stars()
    squared = R**2  # far from Euclidean
    with pytest.raises(NegativeDistanceError) as plain:
        RFCM(2, metric="precomputed", random_state=0).fit(squared)
    shifted = np.pad(squared, (3, 0), constant_values=1.0)
    np.fill_diagonal(shifted, 0.0)
    with pytest.raises(NegativeDistanceError) as moved:
        RFCM(2, metric="precomputed", random_state=0).fit(shifted, sample_weight=[0] * 3 + [1] * 10)
    sample = int(str(plain.value).split("sample ")[1].split()[0])
    assert f"sample {sample + 3} has" in str(moved.value)


@pytest.mark.parametrize("total", [0.01, 1.0, 1.9])
def test_weights_that_count_less_than_two_rows_are_refused_alike(total, rows):
    X = rows[0]
    told = set()
    for method in CLUSTERERS:
        for model in (method(3), method(8)):
            with pytest.raises(ValueError, match=r"count rows .* must sum to at least 2") as refusal:
                model.fit(X, sample_weight=np.full(len(X), total / len(X)))
            told.add(str(refusal.value))
    assert len(told) == 1


@pytest.mark.parametrize("method", CLUSTERERS, ids=lambda method: method.__name__)
def test_the_rule_for_weights_stands_where_people_look(method):
    words = " ".join(str(method.fit.__doc__).split())
    assert "They must sum to at least 2: multiply weights that sum to one by the number of rows." in words


@pytest.mark.parametrize("total", [7.5, 4000.0])
@each({name: method for name, method in METHODS.items() if name != "FRC, root"})
def test_memberships_of_one_objective_know_weights_up_to_a_factor(estimator, total, rows):
    X, weights, start = rows
    given = {"n_init": 1, "init": start} if "n_init" in estimator.get_params() else {"init": start}
    model = sklearn.base.clone(estimator).set_params(**given)
    expected = sklearn.base.clone(model).fit(X, sample_weight=weights).memberships_
    scaled = model.fit(X, sample_weight=weights * (total / weights.sum()))
    assert_allclose(scaled.memberships_, expected, atol=1e-5)
