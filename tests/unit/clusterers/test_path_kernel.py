"""KFRC with the path kernel: clusters of any shape, by hand."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kfrc import FRC, KFRC, IgnoredParameterWarning, TrivialPartitionWarning
from kfrc.dissimilarity import path_dissimilarities
from kfrc.judges import DensityJudge
from kfrc.kernels.path import PathKernel
from kfrc.metrics import adjusted_rand_score
from kfrc.simulation import make_shape_dataset

KERNEL = PathKernel(exponent=4.0, neighbors=15)


@pytest.fixture(scope="module")
def rings():
    return make_shape_dataset("rings", n_samples=150, random_state=1)


@pytest.fixture(scope="module")
def fitted(rings):
    return KFRC(2, kernel="path", random_state=0).fit(rings.X)


def test_rings_are_found_and_the_choice_is_reported(rings, fitted):
    assert adjusted_rand_score(rings.labels, fitted.labels_) == 1.0
    assert isinstance(fitted.kernel_, PathKernel)
    assert fitted.opinion_.kernel == fitted.kernel_
    assert fitted.selection_ is None
    assert fitted.search_ is None
    assert not fitted.linear_limit_
    assert_allclose(fitted.memberships_.sum(axis=1), 1.0)
    assert fitted.eigenvalues_.shape == (2,)
    assert fitted.fuzzifier_.m < fitted.critical_m_
    assert_allclose(fitted.bandwidths_, rings.X.std(axis=0, ddof=1))


def test_predicting_the_training_rows_gives_their_memberships(rings, fitted):
    assert_allclose(fitted.predict_proba(rings.X), fitted.memberships_, atol=1e-6)
    assert_array_equal(fitted.predict(rings.X), fitted.labels_)
    assert_allclose(fitted.predict_proba(rings.X[5:6]), fitted.memberships_[5:6], atol=1e-6)


def test_training_rows_are_repeated_over_a_graph_of_neighbors_too():
    X = make_shape_dataset("moons", n_samples=450, random_state=1).X
    model = KFRC(2, kernel=KERNEL, m=1.3, random_state=0).fit(X)
    assert_allclose(model.predict_proba(X), model.memberships_, atol=1e-6)


def test_new_rows_join_the_ring_they_lie_on(fitted):
    angle = np.linspace(0, 6, 40)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    scale = make_shape_dataset("rings", n_samples=150, random_state=1, standardize=False).X.std(axis=0, ddof=1)
    predicted = fitted.predict(np.vstack([circle, 2 * circle]) / scale)
    assert adjusted_rand_score(np.repeat([0, 1], 40), predicted) > 0.95


def test_columns_that_do_not_belong_to_the_shape_are_left_out():
    data = make_shape_dataset("moons", n_samples=150, n_noise=2, random_state=2)
    X = data.X * [1.0, 10.0, 3.0, 0.1] + 7.0
    model = KFRC(2, kernel="path", random_state=0).fit(X)
    assert np.isfinite(model.bandwidths_).tolist() == [True, True, False, False]
    assert_allclose(model.importance_weights_, [0.5, 0.5, 0, 0])
    assert adjusted_rand_score(data.labels, model.labels_) > 0.9
    assert_allclose(model.predict_proba(X), model.memberships_, atol=1e-6)


def test_given_kernel_m_and_bandwidths_are_used(rings):
    bandwidths = np.array([1.0, 2.0])
    model = KFRC(2, kernel=KERNEL, m=1.2, bandwidths=bandwidths, random_state=0).fit(rings.X)
    assert model.kernel_ == KERNEL
    assert model.fuzzifier_.m == 1.2
    assert_allclose(model.bandwidths_, bandwidths)


def test_a_common_unit_does_not_matter(rings):
    here = KFRC(2, kernel=KERNEL, m=1.2, standardize=False, random_state=0).fit(rings.X)
    there = KFRC(2, kernel=KERNEL, m=1.2, standardize=False, random_state=0).fit(100 * rings.X)
    assert_allclose(there.memberships_, here.memberships_, atol=1e-6)
    assert_allclose(there.bandwidths_, 1.0)


def test_posterior_memberships_are_the_votes(rings):
    model = KFRC(2, kernel="path", memberships="posterior", random_state=0).fit(rings.X)
    assert model.memberships_kind_ == "posterior"
    assert_allclose(model.predict_proba(rings.X), model.memberships_, atol=1e-9)
    assert adjusted_rand_score(rings.labels, model.labels_) == 1.0


@pytest.mark.slow
def test_the_number_of_clusters_is_found(rings):
    model = KFRC("auto", kernel="path", max_clusters=4, random_state=0).fit(rings.X)
    assert model.n_clusters_ == 2
    assert model.cluster_count_["n_clusters"].tolist() == [1, 2, 3, 4]
    assert model.cluster_count_["evidence"][0] == 0.0
    assert model.cluster_count_reason_ == "density"


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"level": 1.0, "n_starts": 2}, "level and n_starts have no effect: paths have scales"),
        ({"criterion": "gap"}, "criterion has no effect"),
        ({"selection_samples": 50}, "selection_samples has no effect"),
        ({"approximation": "low_rank"}, 'held as "none"'),
        ({"max_clusters": 3}, "max_clusters has no effect"),
    ],
)
def test_parameters_without_effect_are_named(rings, parameters, words):
    with pytest.warns(IgnoredParameterWarning, match=words):
        KFRC(2, kernel=KERNEL, m=1.2, random_state=0, **parameters).fit(rings.X)


def test_a_density_judge_is_used_with_its_kernels(rings):
    judge = DensityJudge(kernels=(PathKernel(exponent=3.0),))
    assert KFRC(2, kernel="path", judge=judge, m=1.2, random_state=0).fit(rings.X).kernel_.exponent == 3.0


def test_landmarks_are_reported(rings):
    model = KFRC(2, kernel=KERNEL, m=1.2, rank=100, random_state=0).fit(rings.X)
    assert model.approximation_ == "nystrom"
    assert 0 < model.approximation_error_ < 0.2
    assert_allclose(model.predict_proba(rings.X), model.memberships_, atol=1e-6)


def test_many_columns_few_rows_and_duplicates_are_no_trouble():
    rng = np.random.default_rng(0)
    wide = np.vstack([rng.standard_normal((20, 8)), rng.standard_normal((20, 8)) + 6])
    for X in (wide, wide[:, :3], np.repeat(wide[::10, :2], 4, axis=0), np.array([[0.0], [1.0], [5.0]])):
        model = KFRC(2, kernel="path", random_state=0).fit(X)
        assert_allclose(model.predict_proba(X), model.memberships_, atol=1e-6)


def test_one_cluster_is_trivial(rings):
    with pytest.warns(TrivialPartitionWarning):
        model = KFRC(1, kernel="path").fit(rings.X)
    assert (model.memberships_ == 1).all()


def test_frc_on_path_dissimilarities_is_kfrc_on_the_path_kernel(rings):
    R = path_dissimilarities(rings.X, exponent=4.0, neighbors=15)
    assert_allclose(R, R.T, atol=1e-9)
    frc = FRC(2, fuzzifier="complementary_root", m=1.2, metric="precomputed", random_state=0).fit(R)
    kfrc = KFRC(2, kernel=KERNEL, m=1.2, random_state=0).fit(rings.X)
    assert_allclose(frc.memberships_, kfrc.memberships_, atol=1e-4)
    assert frc.objective_ == pytest.approx(kfrc.objective_, rel=1e-6)
