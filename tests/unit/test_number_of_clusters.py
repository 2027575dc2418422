"""``kfrc.indices``: a table of everything that speaks for each number of clusters."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import kfrc
from kfrc import FANNY, FCM, FRC, KFRC
from kfrc.confidence import assess
from kfrc.dissimilarity import gower_dissimilarities
from kfrc.index_table import INDICES, Indices
from kfrc.metrics import (
    fuzzy_silhouette_score,
    modified_partition_coefficient,
    partition_coefficient,
    partition_entropy,
    xie_beni_index,
)

NAMES = ("evidence", "stability", "PC", "MPC", "PE", "XB", "fuzzy silhouette")


@pytest.fixture(scope="module")
def blobs():
    rng = np.random.default_rng(3)
    return np.repeat([[0.0, 0.0], [90.0, 0.0], [0.0, 9.0]], 20, axis=0) + rng.normal(size=(60, 2)) * [10.0, 1.0]


@pytest.fixture(scope="module")
def of_blobs(blobs):
    return kfrc.indices(blobs, range(2, 5), n_refits=2, random_state=0)


def by_hand(U, **space):
    return {
        "PC": partition_coefficient(U),
        "MPC": modified_partition_coefficient(U),
        "PE": partition_entropy(U),
        "XB": xie_beni_index(space["Z"], U) if "Z" in space else xie_beni_index(space["R"], U, metric="precomputed"),
        "fuzzy silhouette": fuzzy_silhouette_score(space["Z"], U)
        if "Z" in space
        else fuzzy_silhouette_score(space["R"], U, metric="precomputed"),
    }


def test_the_function_is_not_shadowed_by_a_module():
    from kfrc import indices

    assert callable(indices)
    assert not hasattr(indices, "__path__")


def test_values_are_those_of_the_metrics_called_by_hand(blobs, of_blobs):
    Z = StandardScaler().fit_transform(blobs)
    for k, c in enumerate(of_blobs.n_clusters):
        U = KFRC(c, random_state=0).fit(blobs).memberships_
        for name, value in by_hand(U, Z=Z).items():
            assert of_blobs[name][k] == pytest.approx(value, rel=1e-9), name


def test_stability_is_the_agreement_with_refits(blobs, of_blobs):
    expected = assess(KFRC(3, random_state=0), blobs, n_refits=2, random_state=0, existence=False).partition
    assert of_blobs["stability"][1] == pytest.approx(expected)


@pytest.mark.slow
def test_evidence_is_what_the_automatic_choice_compares(blobs, of_blobs):
    model = KFRC("auto", max_clusters=4, random_state=0).fit(blobs)
    np.testing.assert_allclose(of_blobs["evidence"], model.cluster_count_["evidence"][1:])
    assert of_blobs.automatic == model.n_clusters_ == 3


def test_clear_clusters_are_best_by_every_index(of_blobs):
    assert of_blobs.best == dict.fromkeys(NAMES, 3)


@pytest.mark.parametrize(
    "estimator",
    [FCM(), FANNY(m=1.5), FRC(metric="euclidean"), KMeans(n_init=2), GaussianMixture()],
    ids=lambda estimator: type(estimator).__name__,
)
def test_any_estimator_can_be_tabulated(blobs, estimator):
    Z = StandardScaler().fit_transform(blobs)
    found = kfrc.indices(Z, [2, 3], estimator=estimator, n_refits=1, random_state=0)
    assert found.automatic == 3
    assert found.best["evidence"] == found.best["fuzzy silhouette"] == 3
    assert np.isfinite([found[name] for name in NAMES]).all()


def test_estimators_that_do_not_standardize_are_measured_in_their_own_units(blobs):
    found = kfrc.indices(blobs, 3, estimator=FCM(), n_refits=0, random_state=0)
    U = FCM(3, random_state=0).fit(blobs).memberships_
    for name, value in by_hand(U, Z=blobs).items():
        assert found[name][0] == pytest.approx(value), name
    assert np.isnan(found["stability"]).all()


def test_a_pipeline_is_an_estimator(blobs):
    found = kfrc.indices(blobs, [2, 3], estimator=make_pipeline(StandardScaler(), FCM()), n_refits=0, random_state=0)
    U = FCM(3, random_state=0).fit(StandardScaler().fit_transform(blobs)).memberships_
    assert found["PC"][1] == pytest.approx(partition_coefficient(U))


def test_dissimilarities_have_the_indices_of_the_space_that_they_come_from(blobs):
    Z = StandardScaler().fit_transform(blobs)
    R = cdist(Z, Z, "sqeuclidean")
    found = kfrc.indices(R, range(2, 5), metric="precomputed", n_refits=1, random_state=0)
    assert found.automatic == found.best["evidence"] == found.best["XB"] == 3
    U = found.models[3].memberships_
    assert found["XB"][1] == pytest.approx(xie_beni_index(Z, U))
    assert found["fuzzy silhouette"][1] == pytest.approx(fuzzy_silhouette_score(Z, U, metric="sqeuclidean"))


def test_a_gram_matrix_stands_for_the_distances_that_it_implies(blobs):
    Z = StandardScaler().fit_transform(blobs)
    found = kfrc.indices(Z @ Z.T, [2, 3], estimator=KFRC(kernel="precomputed"), n_refits=0, random_state=0)
    assert found["XB"][1] == pytest.approx(xie_beni_index(Z, found.models[3].memberships_))
    assert found.automatic == 3


@pytest.fixture(scope="module")
def mixed():
    """Two groups that differ in a number and a color, with gaps, and a column of noise."""
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], 15)
    color = np.array(["red", "blue"], dtype=object)[group]
    color[::9] = None
    x = 6.0 * group + rng.normal(size=30)
    x[3] = np.nan
    return pd.DataFrame({"x": x, "color": pd.Categorical(color), "y": rng.normal(size=30)})


@pytest.mark.slow
def test_tables_of_any_type_with_gaps_and_weights_are_measured_by_gower(mixed):
    weights = np.tile([1.0, 2.0], 15)
    found = kfrc.indices(mixed, [2, 3], n_refits=0, sample_weight=weights, random_state=0)
    assert found.automatic == found.best["fuzzy silhouette"] == 2
    model, R = KFRC(2, random_state=0).fit(mixed, sample_weight=weights), gower_dissimilarities(mixed)
    U = model.memberships_
    assert found["PC"][0] == pytest.approx(partition_coefficient(U, sample_weight=weights))
    assert found["XB"][0] == pytest.approx(xie_beni_index(R, U, metric="precomputed", sample_weight=weights))
    assert found["fuzzy silhouette"][0] == pytest.approx(
        fuzzy_silhouette_score(R, U, metric="precomputed", sample_weight=weights)
    )


@pytest.mark.slow
def test_permuting_rows_changes_nothing(blobs, of_blobs):
    order = np.random.default_rng(0).permutation(len(blobs))
    found = kfrc.indices(blobs[order], range(2, 4), n_refits=0, random_state=0)
    for name in NAMES[2:]:
        assert found[name][1] == pytest.approx(of_blobs[name][1], rel=1e-4), name  # the clusters that exist
    np.testing.assert_allclose(found["evidence"], of_blobs["evidence"][:2], rtol=1e-4)


@pytest.mark.slow
def test_noise_has_no_number_to_believe():
    X = np.random.default_rng(1).normal(size=(60, 3))
    found = kfrc.indices(X, [2, 3], n_refits=0, random_state=0)
    assert found.automatic == 1
    assert "one group" in repr(found)


def test_what_a_collapsed_fit_has_no_value_of_is_nan():
    X = np.random.default_rng(0).normal(size=(40, 8))
    found = kfrc.indices(X, 4, estimator=FCM(m=8.0), n_refits=0, random_state=0)
    assert found.statuses == ("collapsed",)
    assert np.isnan([found["XB"][0], found["fuzzy silhouette"][0]]).all()
    assert found["PC"][0] == pytest.approx(0.25, abs=1e-3)
    assert "collapsed to equal memberships: 4 clusters" in repr(found)


def test_one_number_that_fails_does_not_stop_the_others(blobs):
    class Picky(FCM):
        def fit(self, X, y=None, sample_weight=None):
            if self.n_clusters == 3:
                raise ValueError("not three")
            return super().fit(X, y, sample_weight)

    found = kfrc.indices(blobs, [2, 3], estimator=Picky(), n_refits=0, random_state=0)
    assert found.failures == {3: "not three"}
    assert found.statuses == ("converged", "failed")
    assert np.isfinite(found["PC"][0])
    assert np.isnan(found["PC"][1])
    with pytest.raises(ValueError, match="not three"):
        kfrc.indices(blobs, 3, estimator=Picky(), n_refits=0)


def test_what_is_to_be_said_of_the_table_is_said_once(blobs):
    X = np.column_stack([blobs, np.ones(len(blobs))])
    with pytest.warns(kfrc.ConstantFeatureWarning) as caught:
        kfrc.indices(X, [2, 3], estimator=FCM(), n_refits=0, random_state=0)
    assert len(caught) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_clusters": 1}, "two or more"),
        ({"n_clusters": []}, "empty"),
        ({"n_clusters": 60}, "too few"),
        ({"metric": "cosine"}, "metric must be"),
        ({"metric": "precomputed", "estimator": FCM()}, "an estimator of dissimilarities"),
    ],
)
def test_what_cannot_be_tabulated_is_refused(blobs, arguments, message):
    with pytest.raises(ValueError, match=message):
        kfrc.indices(blobs, **arguments)


def test_an_estimator_without_a_number_of_clusters_is_refused(blobs):
    with pytest.raises(TypeError, match="n_clusters"):
        kfrc.indices(blobs, estimator=StandardScaler())


@pytest.fixture
def table():
    values = {name: [1.0, 3.0, 2.0] for name in NAMES}
    return Indices([2, 3, 4], values | {"stability": [np.nan] * 3}, automatic=3, statuses=("converged",) * 3)


def test_the_good_end_of_every_index_is_known(table):
    assert table.best == {name: 2 if name in ("PE", "XB") else 3 for name in NAMES} | {"stability": None}
    assert [index.name for index in INDICES] == list(NAMES)


def test_it_is_a_table(table):
    assert len(table) == 3
    assert table.shape == (3, 8)
    assert list(table) == list(table.columns) == ["n_clusters", *NAMES]
    assert table["pc"] is table["PC"]
    assert table["fuzzy_silhouette"] is table["fuzzy silhouette"]
    with pytest.raises(KeyError, match="nothing"):
        table["nothing"]
    frame = pd.DataFrame(table)
    assert list(frame.columns) == list(table.columns)
    pd.testing.assert_frame_equal(frame.set_index("n_clusters"), table.to_frame())


def test_it_cannot_be_changed(table):
    with pytest.raises(TypeError, match="cannot be changed"):
        table["PC"] = 1
    with pytest.raises(ValueError, match="read-only"):
        table["PC"][0] = 1
    with pytest.raises(TypeError):
        table.update(PC=1)


def test_it_survives_pickling(table):
    again = pickle.loads(pickle.dumps(table))
    assert again == table
    assert again.automatic == 3


def test_best_values_are_marked(table):
    text = repr(table)
    row = next(line.split() for line in text.splitlines() if line.split()[:1] == ["3"])
    assert row == ["3", "*3.000", "–", "*3.000", "*3.000", "3.000", "3.000", "*3.000"]
    assert "the lowest of PE and XB" in text
    page = table._repr_html_()
    assert page.count("<b>3.000</b>") == 4
    assert page.count("<b>1.000</b>") == 2


@pytest.mark.slow
@pytest.mark.parametrize("unit", [1e-300, 1e160, 1e299])
def test_standardized_indices_do_not_know_the_unit(unit):
    rng = np.random.default_rng(3)
    X = np.repeat([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]], 10, axis=0) + rng.normal(size=(30, 2))
    model = KFRC(m=2.0, level=1.0, max_anisotropy=3.0, n_starts=1)
    settings = {"estimator": model, "standardize": True, "n_refits": 0, "random_state": 0}
    found, expected = (kfrc.indices(rows, [3], **settings) for rows in (X * [unit, 1.0], X))
    for name in ("XB", "fuzzy silhouette"):
        assert np.isfinite(found[name]).all()
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-6)


@pytest.mark.parametrize("value", [1.5, None, "x", [], 1])
def test_rows_are_standardized_or_not(value):
    with pytest.raises((TypeError, ValueError), match="standardize must be True or False"):
        kfrc.indices(np.eye(5), [2], estimator=FCM(), standardize=value)
