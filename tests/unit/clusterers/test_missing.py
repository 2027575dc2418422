"""FRC and FCM use what is known of incomplete rows: partial distances, and the theory of collapse with them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal

from kfrc import FANNY, FCM, FCMMK, FRC, MSFCM, NERFCM, RFCM, VFCM, ConstantFeatureWarning
from kfrc.clusterers import _rows
from kfrc.clusterers._points import PointCenters
from kfrc.dissimilarity import Dissimilarity
from kfrc.exceptions import MissingRowWarning, UniformCollapseWarning
from kfrc.fuzzifiers import Fuzzifier, Power
from kfrc.spectrum import spectrum_of
from strategies import FUZZIFIERS

BOTH = [FRC(3, m=1.6, random_state=0), FCM(3, m=1.6, random_state=0)]
both = pytest.mark.parametrize("estimator", BOTH, ids=lambda e: type(e).__name__)


def without(X, share, seed=0):
    """X with a share of its entries removed at random; something is left of every row."""
    rng = np.random.default_rng(seed)
    blank = rng.random(X.shape) < share
    blank[np.arange(len(X)), rng.integers(X.shape[1], size=len(X))] = False
    return np.where(blank, np.nan, X)


def by_definition(X, U, t, s=None):
    """Centers and J of Σ_j s_j Σ_i t(u_ji) Σ_{d known} (x_jd − v_id)², in plain loops over columns."""
    known = ~np.isnan(X)
    weights = t.value(U) * (1.0 if s is None else s[:, None])
    centers = np.stack([weights[known[:, d]].T @ X[known[:, d], d] / weights[known[:, d]].sum(axis=0)
                        for d in range(X.shape[1])], axis=1)  # fmt: skip
    distances = np.nansum(np.square(X[:, None, :] - centers), axis=2)
    return centers, distances, float((weights * distances).sum())


@both
@pytest.mark.parametrize("name", FUZZIFIERS)
def test_objective_centers_and_memberships_are_those_of_the_definition(estimator, wine, name):
    X = without(wine, 0.3)
    fit = sklearn.clone(estimator).set_params(fuzzifier=name, m=None, tol=1e-10, max_iter=5000).fit(X)
    centers, distances, objective = by_definition(X, fit.memberships_, fit.fuzzifier_)
    assert fit.status_ == "converged"
    assert_allclose(fit.cluster_centers_, centers, rtol=0, atol=1e-7)
    assert_allclose(fit.objective_, objective, rtol=1e-10)
    assert_allclose(fit.memberships_, fit.fuzzifier_.memberships(distances), rtol=0, atol=1e-7)
    assert_allclose(fit.transform(X), np.sqrt(distances), rtol=0, atol=1e-6)


@both
def test_objective_never_rises(estimator, wine):
    for share in (0.1, 0.5, 0.8):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UniformCollapseWarning)
            path = sklearn.clone(estimator).fit(without(wine, share)).objective_path_
        assert (np.diff(path) <= 1e-12 * path[0]).all()


@both
def test_prediction_of_the_fitted_rows_returns_the_fit(estimator, wine):
    X = without(wine, 0.3)
    fit = sklearn.clone(estimator).set_params(tol=1e-9).fit(X)
    assert_allclose(fit.predict_proba(X), fit.memberships_, rtol=0, atol=1e-8)
    assert_allclose(fit.score(X), -fit.objective_, rtol=1e-9)


def test_fcm_and_frc_are_the_same_method_here_too(wine):
    X = without(wine, 0.3)
    fits = [sklearn.clone(estimator).fit(X) for estimator in BOTH]
    assert_allclose(fits[0].memberships_, fits[1].memberships_, rtol=0, atol=1e-10)
    assert_allclose(fits[0].cluster_centers_, fits[1].cluster_centers_, rtol=0, atol=1e-10)


@both
def test_complete_rows_are_fitted_as_before(estimator, wine):
    partial = sklearn.clone(estimator).fit(wine)
    strict = sklearn.clone(estimator).set_params(missing="error").fit(wine)
    assert_array_equal(partial.memberships_, strict.memberships_)
    # The path of incomplete rows leads to the same place.
    wider = np.hstack([wine, np.full((len(wine), 1), np.nan)])
    eigenvalues = [spectrum_of(Dissimilarity.from_features(X).gram, 3).eigenvalues for X in (wider, wine)]
    assert_allclose(*eigenvalues, rtol=1e-10)


@both
def test_complete_fits_place_incomplete_rows(estimator, wine):
    fit = sklearn.clone(estimator).fit(wine)
    new = wine[:4].copy()
    new[0, 2] = new[2, [0, 5]] = np.nan
    expected = np.nansum(np.square(new[:, None, :] - fit.cluster_centers_), axis=2)
    assert_allclose(fit.transform(new), np.sqrt(expected), rtol=1e-9)
    assert_array_equal(fit.predict_proba(new)[[1, 3]], fit.predict_proba(wine[[1, 3]]))


@both
def test_weights_count_incomplete_rows_too(estimator, wine, monkeypatch):
    X = without(wine[:60], 0.3)
    rng = np.random.default_rng(0)
    w, U = rng.integers(1, 4, size=60), rng.dirichlet(np.ones(3), size=60)
    options = {"n_init": 1, "max_iter": 6}
    monkeypatch.setattr(_rows, "_WORTHWHILE", 2.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        weighted = sklearn.clone(estimator).set_params(init=U, **options).fit(X, sample_weight=w)
        repeated = sklearn.clone(estimator).set_params(init=U.repeat(w, axis=0), **options).fit(X.repeat(w, axis=0))
    assert_allclose(weighted.objective_path_, repeated.objective_path_, rtol=1e-10)
    assert_allclose(weighted.cluster_centers_, repeated.cluster_centers_, rtol=0, atol=1e-10)
    assert_allclose(weighted.memberships_.repeat(w, axis=0), repeated.memberships_, rtol=0, atol=1e-10)


# --- collapse ---


@both
@pytest.mark.parametrize("share", [0.3, 0.5])
def test_predicted_m_separates_collapse_from_structure(estimator, wine, share):
    X = without(wine, share)
    gram = Dissimilarity.from_features(X).gram
    critical = Power().critical_m(3, float(spectrum_of(gram, 1).eigenvalues[0]))
    options = {"init": "near_uniform", "n_init": 1, "tol": 1e-10, "max_iter": 100_000}
    below = sklearn.clone(estimator).set_params(m=0.98 * critical, **options).fit(X)
    assert np.abs(below.memberships_ - 1 / 3).max() > 0.05
    with pytest.warns(UniformCollapseWarning, match=rf"m\* = {critical:.4g}"):
        above = sklearn.clone(estimator).set_params(m=1.02 * critical, **options).fit(X)
    assert np.abs(above.memberships_ - 1 / 3).max() < 1e-6


# --- nothing known ---


@both
def test_a_row_of_which_nothing_is_known_belongs_to_all_clusters_alike(estimator, wine):
    X = without(wine, 0.2)
    blank = X.copy()
    blank[[5, 90]] = np.nan
    with pytest.warns(MissingRowWarning, match=r"2 row\(s\).*: row 5, 90"):
        fit = sklearn.clone(estimator).fit(blank)
    assert_allclose(fit.memberships_[[5, 90]], 1 / 3)
    others = np.setdiff1d(np.arange(len(X)), [5, 90])
    assert_array_equal(fit.memberships_[others], sklearn.clone(estimator).fit(X[others]).memberships_)
    with pytest.warns(MissingRowWarning, match=r"1 row\(s\).*: row 1"):
        predicted = fit.predict_proba(blank[[0, 5]])
    assert_allclose(predicted[1], 1 / 3)


@both
def test_a_column_in_which_nothing_is_known_is_left_out(estimator, wine):
    X = without(wine, 0.2)
    more = np.insert(X, 1, np.nan, axis=1)
    with pytest.warns(ConstantFeatureWarning, match=r"1 constant column\(s\).*column 1"):
        fit = sklearn.clone(estimator).fit(more)
    plain = sklearn.clone(estimator).fit(X)
    assert_allclose(fit.memberships_, plain.memberships_, rtol=0, atol=1e-12)
    assert np.isnan(fit.cluster_centers_[:, 1]).all()
    assert_allclose(np.delete(fit.cluster_centers_, 1, axis=1), plain.cluster_centers_)
    more[:, 1] = 7.0  # what new rows have there says nothing
    assert_allclose(fit.predict_proba(more), plain.predict_proba(X), rtol=0, atol=1e-12)


@both
def test_rows_without_anything_known_are_no_data(estimator):
    X = np.full((5, 2), np.nan)
    with pytest.raises(ValueError, match=r"known of 0 row\(s\) only"):
        sklearn.clone(estimator).fit(X)
    X[0, 0] = 1.0
    with pytest.raises(ValueError, match=r"known of 1 row\(s\) only"):
        sklearn.clone(estimator).fit(X)


@both
def test_columns_that_do_not_vary_where_they_are_known_are_named(estimator, wine):
    X = without(wine, 0.2)
    X[:, 3] = np.where(np.isnan(X[:, 3]), np.nan, 2.0)
    with pytest.warns(ConstantFeatureWarning, match="column 3"):
        sklearn.clone(estimator).fit(X)
    with pytest.raises(ValueError, match="nothing to cluster"):
        sklearn.clone(estimator).fit(np.where(np.isnan(X), np.nan, 1.0))


@both
def test_a_cluster_may_know_nothing_of_a_column(estimator):
    rng = np.random.default_rng(0)
    X = np.vstack([rng.standard_normal((20, 3)), 30.0 + rng.standard_normal((20, 3))])
    X[20:, 1] = np.nan
    fit = sklearn.clone(estimator).set_params(n_clusters=2, m=1.05).fit(X)
    assert len(np.unique(fit.labels_[:20])) == len(np.unique(fit.labels_[20:])) == 1
    assert np.isfinite(fit.cluster_centers_).all()


# --- extremes ---


@both
@pytest.mark.parametrize(("shift", "scale"), [(1e8, 1.0), (0.0, 1e-90), (-3e5, 1e90)])
def test_neither_origin_nor_units_matter(estimator, blobs, shift, scale):
    X = without(blobs[0], 0.3)
    plain = sklearn.clone(estimator).fit(X)
    moved = sklearn.clone(estimator).fit(scale * (X + shift))
    assert_allclose(moved.memberships_, plain.memberships_, rtol=0, atol=1e-6)
    assert_allclose(moved.predict_proba(scale * (X + shift)), moved.memberships_, rtol=0, atol=1e-6)


def test_distances_at_a_center_are_zero():
    X = np.array([[1e8 + 0.1, np.nan], [np.nan, np.nan]])
    centers = PointCenters(np.array([1e8, 0.0]), np.array([[0.1, 3.0], [2.1, 3.0]]))
    distances = centers.squared_distances(X)
    assert distances[0, 0] < 1e-15
    assert distances[0, 1] == pytest.approx(4.0)
    assert_array_equal(distances[1], [0.0, 0.0])


# --- refusals ---


@both
def test_infinity_is_refused(estimator, wine):
    X = without(wine, 0.1)
    X[3, 1] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        sklearn.clone(estimator).fit(X)


@both
def test_blanks_are_refused_on_demand(estimator, wine):
    with pytest.raises(ValueError, match=r"NaN in \d+ place\(s\), the first at row \d+, column \d+.*missing='partial'"):
        sklearn.clone(estimator).set_params(missing="error").fit(without(wine, 0.1))
    with pytest.raises(ValueError, match='missing must be "partial" or "error", got \'level\''):
        sklearn.clone(estimator).set_params(missing="level").fit(wine)


@pytest.mark.parametrize(
    "estimator",
    [FRC(3, metric="manhattan"), FANNY(3, m=1.5), RFCM(3), NERFCM(3), FCMMK(3), MSFCM(3), VFCM(3)],
    ids=lambda e: type(e).__name__,
)
def test_other_methods_say_which_ones_take_incomplete_rows(estimator, blobs):
    X = without(blobs[0], 0.1)
    for call in (estimator.fit, sklearn.clone(estimator).set_params(random_state=0).fit(blobs[0]).predict):
        with pytest.raises(ValueError, match=rf"NaN .*{type(estimator).__name__} needs complete .*KFRC, FCM, and FRC"):
            call(X)


@pytest.mark.parametrize("value", ["partial", "error"])
def test_tags_say_whether_missing_values_are_allowed(value):
    for estimator in (FRC(missing=value), FCM(missing=value), FRC(missing=value, metric="gower")):
        assert sklearn.utils.get_tags(estimator).input_tags.allow_nan == (value == "partial")
    assert not sklearn.utils.get_tags(FRC(metric="euclidean")).input_tags.allow_nan
    assert not sklearn.utils.get_tags(MSFCM()).input_tags.allow_nan


def test_names_of_columns_are_used_in_messages(wine):
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(without(wine[:, :3], 0.1), columns=["alcohol", "acid", "ash"])
    with pytest.raises(ValueError, match=r"column (alcohol|acid|ash)"):
        MSFCM().fit(table)
    fit = FRC(3, random_state=0).fit(table.astype("Float64"))
    assert list(fit.feature_names_in_) == ["alcohol", "acid", "ash"]
    assert_array_equal(fit.memberships_, FRC(3, random_state=0).fit(table).memberships_)


@pytest.mark.parametrize("name", FUZZIFIERS)
def test_equal_distances_are_equal_memberships(name):
    assert_allclose(Fuzzifier.from_name(name).memberships(np.zeros((1, 4))), 0.25)
