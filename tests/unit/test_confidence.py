"""Refits of the whole procedure: groups that exist are found again, noise is not, and nothing hangs on chance."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.cluster import AgglomerativeClustering, KMeans, SpectralClustering
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kfrc import FANNY, FCM, FRC, KFRC, NERFCM, RFCM, UniformCollapseWarning
from kfrc.confidence import PLACED_PER_ROW, SHARE_OF_ROWS, assess, principal_coordinates
from strategies import CLUSTERERS

QUICK = {KFRC: KFRC.paper(3, optimizer="lbfgs", n_starts=1), FANNY: FANNY(3, m=1.5)}
ALL = [QUICK.get(cls, cls(3)) for cls in CLUSTERERS]
OTHERS = [
    KMeans(3, n_init=2),
    AgglomerativeClustering(3),  # has no predict
    GaussianMixture(3),
    make_pipeline(StandardScaler(), KMeans(3, n_init=2)),
]
PRECOMPUTED = {
    "FRC": (FRC(3, metric="precomputed"), "squared"),
    "RFCM": (RFCM(3, metric="precomputed"), "squared"),
    "NERFCM": (NERFCM(3, metric="precomputed"), "squared"),
    "FANNY": (FANNY(3, m=1.5, metric="precomputed"), "plain"),
    "KFRC": (KFRC(3, kernel="precomputed"), "gram"),
    "agglomerative": (AgglomerativeClustering(3, metric="precomputed", linkage="average"), "plain"),
    "spectral": (SpectralClustering(3, affinity="precomputed"), "similarity"),
}


def name_of(model):
    return type(model).__name__


@pytest.fixture(scope="module")
def X(blobs):
    return blobs[0]


@pytest.fixture(scope="module")
def noise():
    return np.random.default_rng(1).normal(size=(90, 3))


def quickly(model, X, **arguments):
    return assess(model, X, **{"n_refits": 3, "random_state": 1, "existence": False, **arguments})


def same(first, second):
    assert first.partition == second.partition
    for name in ("clusters", "rows", "agreements", "n_clusters_found"):
        assert_array_equal(getattr(first, name), getattr(second, name))


def assert_found_again(found, n_samples):
    assert found.partition > 0.95
    assert found.clusters.shape == (3,)
    assert found.clusters.min() > 0.9
    assert found.rows.shape == (n_samples,)
    assert found.rows.min() > 0.95
    assert found.n_clusters_found.tolist() == [3] * found.n_refits
    assert found.n_failed == 0


@pytest.mark.parametrize("model", [*ALL, *OTHERS], ids=name_of)
def test_separate_groups_are_found_again_by_every_clusterer(model, X):
    found = quickly(model, X)
    assert_found_again(found, len(X))
    assert found.n_rows == round(SHARE_OF_ROWS * len(X))


@pytest.mark.parametrize("name", PRECOMPUTED)
def test_separate_groups_are_found_again_in_matrices(name, X):
    model, kind = PRECOMPUTED[name]
    matrices = {
        "plain": cdist(X, X),
        "squared": cdist(X, X, "sqeuclidean"),
        "gram": X @ X.T,
        "similarity": np.exp(-cdist(X, X, "sqeuclidean") / 8),
    }
    assert_found_again(quickly(model, matrices[kind]), len(X))


def test_existence_is_asked_of_the_coordinates_of_a_matrix(X, noise):
    for data, exists in ((X, True), (noise, False)):
        found = quickly(
            FRC(3, metric="precomputed", m=1.3), cdist(data, data, "sqeuclidean"), n_refits=1, existence=True
        )
        assert (found.existence <= 0.05) == exists


def test_clusters_of_noise_are_not_found_again(noise):
    found = quickly(KMeans(3, n_init=2), noise, n_refits=8)
    assert found.partition < 0.6
    assert found.clusters.max() < 0.75
    assert found.rows.mean() < 0.85
    assert_allclose(found.agreements.mean(), found.partition)


@pytest.mark.parametrize(("data", "exists"), [("X", True), ("noise", False)])
def test_existence_is_asked_of_the_table(data, exists, request):
    found = quickly(KMeans(3, n_init=2), request.getfixturevalue(data), existence=True)
    assert (found.existence <= 0.05) == exists


def test_existence_is_none_if_not_asked_for(X):
    assert quickly(FCM(3), X).existence is None


def test_the_number_of_workers_changes_nothing(noise):
    model = KMeans(3, n_init=1, random_state=0)
    alone = quickly(model, noise, n_refits=6)
    with parallel_config(backend="threading"):  # which start at once, and end in any order
        same(alone, quickly(model, noise, n_refits=6, n_jobs=3))


def test_chance_is_that_of_the_random_state(noise):
    model = KMeans(3, n_init=1)
    fitted = clone(model).set_params(random_state=0).fit(noise)
    same(quickly(fitted, noise), quickly(fitted, noise))
    assert quickly(fitted, noise, random_state=2).partition != quickly(fitted, noise).partition


def test_the_model_is_left_alone(noise):
    model = FCM(3, m=1.3, random_state=0, verbose=1)
    quickly(model, noise)
    assert not hasattr(model, "labels_")
    fitted = model.fit(noise)
    before = pickle.dumps(fitted)
    quickly(fitted, noise)
    assert pickle.dumps(fitted) == before


def test_a_fitted_model_gives_what_its_unfitted_clone_gives(noise):
    model = FCM(3, m=1.3, random_state=0)
    same(quickly(model, noise), quickly(clone(model).fit(noise), noise))


def test_the_numbers_of_the_clusters_do_not_matter(noise):
    model = KMeans(3, n_init=2, random_state=0).fit(noise)
    found = quickly(model, noise)
    renamed = pickle.loads(pickle.dumps(model))
    order = np.array([2, 0, 1])
    renamed.labels_ = order[model.labels_]
    other = quickly(renamed, noise)
    assert other.partition == pytest.approx(found.partition)
    assert_allclose(other.clusters[order], found.clusters)
    assert_array_equal(other.rows, found.rows)


class Stubborn(ClusterMixin, BaseEstimator):
    """Cuts the first column at given places; refits, which see fewer rows, cut it elsewhere or fail."""

    def __init__(self, n_clusters=2, n_full=40, refit="same"):
        self.n_clusters, self.n_full, self.refit = n_clusters, n_full, refit

    def fit(self, X, y=None):
        places = {"same": [20], "fails": [], "one": [], "finer": [10, 20]}[self.refit]
        if len(X) == self.n_full:
            places = [20]
        elif self.refit == "fails":
            raise ValueError("no")
        self.places_ = np.array(places)
        self.labels_ = self.predict(X)
        return self

    def predict(self, X):
        return np.searchsorted(self.places_, X[:, 0], side="right")


@pytest.mark.parametrize(
    ("refit", "partition", "clusters", "rows", "n_found"),
    [
        ("same", 1.0, [1.0, 1.0], [1.0, 1.0], 2),
        ("fails", 0.0, [0.0, 0.0], [0.0, 0.0], 0),
        ("one", 0.0, [0.5, 0.5], None, 1),
        ("finer", None, [0.5, 1.0], [0.5, 1.0], 3),
    ],
)
def test_refits_that_fail_or_find_other_numbers_count_honestly(refit, partition, clusters, rows, n_found):
    X = np.arange(40.0)[:, None]
    found = quickly(Stubborn(refit=refit), X)
    assert_allclose(found.clusters, clusters)
    assert found.n_clusters_found.tolist() == [n_found] * 3
    assert found.n_failed == (3 if n_found == 0 else 0)
    if partition is not None:
        assert found.partition == partition
    if rows is not None:
        assert_allclose([found.rows[:20].mean(), found.rows[20:].mean()], rows)


def test_one_cluster_is_confirmed_by_refits_that_find_one(X):
    class Moody(Stubborn):
        def fit(self, X, y=None):
            self.places_ = np.array([1e9] if len(X) == self.n_full or X[0, 0] > 0 else [20])
            self.labels_ = self.predict(X)
            return self

    X = np.arange(40.0)[:, None]
    found = quickly(Moody(1), X, n_refits=6)
    finds_one = found.n_clusters_found == 1
    assert 0 < finds_one.sum() < 6
    assert found.partition == pytest.approx(finds_one.mean())
    assert found.clusters.shape == (1,)


def test_what_collapsed_has_nothing_to_find_again(noise):
    model = FCM(3, m=8.0, random_state=0)
    with pytest.warns(UniformCollapseWarning):
        model.fit(noise)
    assert model.status_ == "collapsed"
    found = quickly(model, noise)
    assert (found.partition, found.clusters.max(), found.rows.max()) == (0.0, 0.0, 0.0)
    assert found.n_clusters_found.tolist() == [1, 1, 1]


def test_a_given_start_is_given_to_the_refits(blobs):
    X, labels = blobs
    found = quickly(FCM(3, init=np.eye(3)[labels] * 0.9 + 0.1 / 3), X)
    assert_found_again(found, len(X))


def test_few_rows_are_refitted_and_all_are_told(X):
    found = quickly(FCM(3, random_state=0), X, max_rows=30, existence=True)
    assert found.n_rows == 20
    assert_found_again(found, len(X))
    unseen = quickly(AgglomerativeClustering(3), X, max_rows=30, n_refits=1)
    assert not np.isnan(unseen.rows).any()
    assert unseen.rows.min() > 0.95


def test_of_very_many_rows_a_sample_is_placed(X):
    many = np.tile(X, (30, 1))
    found = quickly(KMeans(3, n_init=1, random_state=0), many, max_rows=30)
    assert len(many) > PLACED_PER_ROW * 30
    assert_found_again(found, len(many))


def test_progress_is_told_once_per_refit(X):
    told = []
    quickly(FCM(3), X, progress=told.append)
    assert told == ["refit 1 of 3", "refit 2 of 3", "refit 3 of 3"]


def test_refits_do_not_warn(noise):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quickly(FCM(3, m=8.0, max_iter=2), noise)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"n_refits": 0}, ValueError),
        ({"n_refits": 2.5}, TypeError),
        ({"n_refits": True}, TypeError),
        ({"max_rows": 1}, ValueError),
        ({"max_rows": -5}, ValueError),
    ],
)
def test_nonsense_is_refused(X, arguments, error):
    with pytest.raises(error, match=next(iter(arguments))):
        quickly(FCM(3), X, **arguments)


def test_other_rows_and_matrices_that_are_not_square_are_refused(X):
    with pytest.raises(ValueError, match="fitted on 60 rows"):
        quickly(FCM(3).fit(X), X[:50])
    with pytest.raises(ValueError, match="square"):
        quickly(FRC(3, metric="precomputed"), X)
    unclustered = KMeans(3, n_init=1).fit(X)
    unclustered.labels_ = unclustered.labels_ - 1
    with pytest.raises(ValueError, match="no cluster"):
        quickly(unclustered, X)


@pytest.mark.parametrize("kind", ["squared", "plain", "gram"])
def test_principal_coordinates_have_the_distances_of_the_matrix(X, kind):
    matrix = {"squared": cdist(X, X, "sqeuclidean"), "plain": cdist(X, X), "gram": X @ X.T}[kind]
    Y = principal_coordinates(matrix, squared=kind != "plain")
    assert Y.shape == X.shape
    assert_allclose(cdist(Y, Y), cdist(X, X), atol=1e-9)
