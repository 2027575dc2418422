"""Tables with values far outside the bulk: same clusters as without them, same cost, and a word about it."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score

from kfrc import KFRC

CENTERS = np.array([[0.0, 0.0, 0.0], [6.0, 0.0, 6.0], [0.0, 6.0, 6.0]])


def three_groups(n_samples, seed=0):
    rng = np.random.default_rng(seed)
    return CENTERS[rng.integers(3, size=n_samples)] + rng.standard_normal((n_samples, 3))


def quiet_fit(X, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return KFRC(3, random_state=0, **parameters).fit(X)


@pytest.fixture(scope="module")
def clean():
    X = three_groups(400)
    return X, KFRC(3, random_state=0).fit(X)


@pytest.mark.slow
@pytest.mark.parametrize("value", [1e2, -1e4, 1e8, 1e300])
def test_one_extreme_value_changes_no_cluster_of_the_other_rows(clean, value):
    X, without = clean
    table = pd.DataFrame(X.copy(), columns=["a", "b", "c"])
    table.loc[7, "b"] = value
    with pytest.warns(UserWarning, match=r"'b'.*row 7\b"):
        model = KFRC(3, random_state=0).fit(table)
    others = np.arange(400) != 7
    assert adjusted_rand_score(without.labels_[others], model.labels_[others]) > 0.99
    np.testing.assert_allclose(model.predict_proba(table), model.memberships_, atol=1e-6)


@pytest.mark.slow
def test_one_extreme_value_among_many_rows_changes_nothing_either():
    X = three_groups(20_000)
    without = quiet_fit(X, selection_samples=300).labels_
    X[7, 1] = 1e8
    model = quiet_fit(X, selection_samples=300)
    others = np.arange(20_000) != 7
    assert adjusted_rand_score(without[others], model.labels_[others]) > 0.99


@pytest.mark.slow
def test_a_thousandth_of_the_rows_far_out_does_not_rule_the_others():
    X = three_groups(6000)
    without = quiet_fit(X, selection_samples=300).labels_
    X[::1000] *= 1000.0
    others = np.arange(6000) % 1000 != 0
    assert adjusted_rand_score(without[others], quiet_fit(X, selection_samples=300).labels_[others]) > 0.99


@pytest.mark.slow
def test_heavy_tails_do_not_end_in_clusters_of_single_rows():
    rng = np.random.default_rng(5)
    X = rng.standard_cauchy((500, 3))
    with pytest.warns(UserWarning, match=r"column 0.*column 1.*column 2"):
        model = KFRC(3, random_state=0).fit(X)
    assert np.bincount(model.labels_).min() > 20
    assert np.array_equal(model.outliers_["column"], [0, 1, 2])
    assert model.outliers_["ruled"].all()


@pytest.mark.slow
@pytest.mark.parametrize("level", [-5.0, None])
def test_bandwidths_too_small_to_resolve_end_soon_and_with_a_stated_error(level):
    X = three_groups(6000)[:, :2]
    parameters = {"level": level, "m": 1.1, "max_anisotropy": 1.0, "n_starts": 1, "threshold": 0.0, "n_init": 1}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = KFRC(3, random_state=0, **parameters).fit(X)
    said = any("too small" in str(warning.message) for warning in caught)
    assert said == (model.approximation_error_ > 1e-6)
    assert said == (level is not None)


@pytest.mark.slow
def test_outliers_are_kept_if_asked_for_or_if_bandwidths_need_no_scale(clean):
    X = clean[0].copy()
    X[7, 1] = 1e6
    kept = KFRC(3, outliers="keep", random_state=0).fit(X)
    given = KFRC(3, bandwidths=1.0, random_state=0).fit(X)
    assert kept.outliers_ is None
    assert given.outliers_ is None
    assert quiet_fit(X).bandwidths_[1] < 0.1 * kept.bandwidths_[1]


@pytest.mark.slow
def test_new_rows_beyond_the_fences_count_as_lying_there(clean):
    X = clean[0].copy()
    X[7, 1] = 1e6
    model = quiet_fit(X)
    new = np.array([[0.0, 50.0, 0.0], [0.0, 1e9, 0.0]])
    assert model.outliers_["high"][0] < 50
    np.testing.assert_array_equal(*model.predict_proba(new)[:, None])


@pytest.mark.parametrize("value", [1e17, 1e200, -1e308])
@pytest.mark.parametrize(
    "parameters", [{"outliers": "keep"}, {"bandwidths": 2.0}, {"bandwidths": 4.0, "kernel": "product"}]
)
def test_values_of_any_size_can_be_kept(clean, value, parameters):
    X, without = clean
    X = X.copy()
    X[7, 1] = value
    model = KFRC(3, random_state=0, **parameters).fit(X)
    others = np.arange(400) != 7
    assert np.isfinite(model.memberships_).all()
    assert adjusted_rand_score(without.labels_[others], model.labels_[others]) > 0.98
    np.testing.assert_allclose(model.predict_proba(X), model.memberships_, atol=1e-6)


@pytest.mark.parametrize("parameters", [{}, {"kernel": "product"}, {"kernel": "linear"}, {"memberships": "posterior"}])
def test_new_rows_of_any_size_have_memberships(clean, parameters):
    model = KFRC(3, random_state=0, **parameters).fit(clean[0])
    new = np.array([[1e8, 0.0, 0.0], [0.0, -1e300, 0.0], [1e300, 1e300, -1e300], [1e308, -1e308, 1e308]])
    U = model.predict_proba(new)
    assert np.isfinite(U).all()
    np.testing.assert_allclose(U.sum(axis=1), 1.0)


@pytest.mark.slow
def test_a_skewed_table_is_clustered_as_without_its_extreme_value():
    X = np.exp(2.0 * (three_groups(1000) - 3.0) / 3.0)
    without = quiet_fit(X).labels_
    X[7, 1] *= 1e6
    model = quiet_fit(X)
    others = np.arange(1000) != 7
    assert adjusted_rand_score(without[others], model.labels_[others]) > 0.99


@pytest.mark.slow
def test_a_column_that_is_constant_but_for_one_value_is_named_and_left_out(clean):
    X, without = clean
    table = pd.DataFrame(X.copy(), columns=["a", "b", "c"]).assign(d=2.0)
    table.loc[7, "d"] = 3.0
    with pytest.warns(UserWarning, match=r"'d'.*row 7\b"):
        model = KFRC(3, random_state=0).fit(table)
    assert np.isinf(model.bandwidths_).tolist() == [False, False, False, True]
    np.testing.assert_array_equal(model.labels_, without.labels_)
