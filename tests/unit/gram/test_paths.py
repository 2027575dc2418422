"""The path kernel: lengths of paths, features of its positive part, and what new rows get."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from kfrc._numerics import double_center
from kfrc.exceptions import KFRCError
from kfrc.gram import EmbeddedGrams, gram_family
from kfrc.kernels import Kernel
from kfrc.kernels.path import PathKernel, embed_all
from kfrc.simulation import make_shape_dataset
from strategies import data_matrices

KERNELS = [PathKernel(exponent=2.0, neighbors=3), PathKernel(exponent=8.0), PathKernel(exponent=math.inf, reach=5)]
each_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=str)


def moons(n_samples=80, seed=1):
    return make_shape_dataset("moons", n_samples=n_samples, random_state=seed).X


def shortest_lengths(X, exponent):
    """Every row in turn as a stop on the way."""
    costs = cdist(X, X) ** exponent
    for k in range(len(X)):
        np.minimum(costs, np.add.outer(costs[:, k], costs[k]), out=costs)
    return costs ** (1 / exponent)


def similarities(X, kernel):
    """exp(−G² / (s_i s_j)) written down from its definition."""
    s = np.sort(cdist(X, X), axis=1)[:, min(kernel.neighbors, len(X) - 1)]
    return np.exp(-(kernel.path_lengths(X) ** 2) / np.outer(s, s))


@pytest.mark.parametrize("exponent", [1.0, 2.0, 4.0, 8.0])
def test_lengths_are_those_of_the_shortest_paths(exponent):
    X = moons()
    expected = shortest_lengths(X, exponent)
    assert_allclose(PathKernel(exponent=exponent).path_lengths(X), expected, rtol=1e-10)


def test_with_exponent_one_paths_are_straight():
    X = moons()
    assert_allclose(PathKernel(exponent=1.0).path_lengths(X), cdist(X, X), rtol=1e-12)


def test_infinite_exponent_counts_the_longest_step():
    X = np.array([[0.0], [1.0], [3.0], [4.0], [10.0]])
    assert_allclose(PathKernel(exponent=math.inf).path_lengths(X)[0], [0, 1, 2, 2, 6])


def test_a_large_exponent_tends_to_the_longest_step():
    X = moons()
    limit = PathKernel(exponent=math.inf).path_lengths(X)
    assert_allclose(PathKernel(exponent=60.0).path_lengths(X), limit, rtol=0.1)


def test_reach_makes_steps_at_least_as_long_as_the_way_to_a_neighbor():
    X = np.array([[0.0], [1.0], [3.0]])
    assert_allclose(PathKernel(exponent=math.inf, reach=2).path_lengths(X), 3 - np.diag([3.0] * 3))


def test_paths_over_neighbors_are_no_shorter_and_hardly_longer_than_over_all_rows():
    X = moons(450)
    exact = shortest_lengths(X, 2.0)
    found = PathKernel(exponent=2.0).path_lengths(X)
    assert (found >= exact - 1e-9).all()
    assert_allclose(found, exact, rtol=0.15)
    assert np.median(found / np.where(exact > 0, exact, 1.0)) == pytest.approx(1.0, abs=1e-9)


def test_far_groups_are_joined_by_the_shortest_edge():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.random((250, 2)), rng.random((250, 2)) + 50.0])
    lengths = PathKernel(exponent=2.0).path_lengths(X)
    assert np.isfinite(lengths).all()
    assert lengths[:250, 250:].min() == pytest.approx(cdist(X[:250], X[250:]).min())


@each_kernel
def test_features_multiply_to_the_positive_part(kernel):
    X = moons()
    values, vectors = np.linalg.eigh(similarities(X, kernel))
    positive = (vectors * np.maximum(values, 0.0)) @ vectors.T
    gram = gram_family(X, kernel).at(np.ones(2))
    assert_allclose(gram.matmul(np.eye(80)), double_center(positive), atol=1e-5 * values[-1])


@each_kernel
def test_rows_that_are_there_already_get_the_features_they_have(kernel):
    X = moons(60)
    embedding = kernel.embed(X, np.random.default_rng(0))
    by_extension = embedding.rows.similarities_of_new(cdist(X, embedding.rows.X)) @ embedding.root
    assert_allclose(embedding.features(X), by_extension, atol=1e-7)


@pytest.mark.parametrize("n_samples", [60, 450])
def test_centers_are_as_far_from_new_rows_as_from_equal_old_ones(n_samples):
    X, rng = moons(n_samples), np.random.default_rng(0)
    gram = gram_family(X, PathKernel()).at(np.array([0.7, 1.3]))
    prototypes = rng.dirichlet(np.ones(n_samples), 3).T
    distances, _ = gram.center_distances(prototypes)
    centers = gram.centers(prototypes)
    assert_allclose(centers.squared_distances(X), distances, atol=1e-9)
    assert_allclose(centers.squared_distances(X[7:9]), distances[7:9], atol=1e-9)


@each_kernel
def test_new_rows_are_nearest_to_their_own_cluster(kernel):
    old, new = (make_shape_dataset("rings", n_samples=150, random_state=seed, standardize=False) for seed in (1, 2))
    prototypes = np.eye(2)[old.labels] / np.bincount(old.labels)
    centers = gram_family(old.X, kernel).at(np.ones(2)).centers(prototypes)
    assert (centers.squared_distances(new.X).argmin(axis=1) == new.labels).mean() > 0.95


@each_kernel
def test_the_order_of_rows_changes_nothing(kernel):
    X = moons(60)
    order = np.random.default_rng(0).permutation(60)
    rng = np.random.default_rng(0)
    assert_array_equal(kernel.embed(X[order], rng).features(X), kernel.embed(X, rng).features(X))


def test_bandwidths_are_scales_of_the_columns():
    X, bandwidths = moons(50), np.array([0.5, 3.0])
    here = gram_family(X, PathKernel()).at(bandwidths).columns([0, 1])
    there = gram_family(X / bandwidths, PathKernel()).at(np.ones(2)).columns([0, 1])
    assert_array_equal(here, there)


def test_one_scale_for_all_columns_does_not_matter():
    X = moons(50)
    family = gram_family(X, PathKernel())
    assert_allclose(family.at(np.full(2, 8.0)).columns([0, 1]), family.at(np.ones(2)).columns([0, 1]), atol=1e-9)


def test_kernels_that_share_their_paths_are_as_alone():
    X, rng = moons(50), np.random.default_rng(0)
    kernels = [PathKernel(exponent=2.0, neighbors=k) for k in (3, 7)]
    for kernel, embedding in zip(kernels, embed_all(X, kernels, rng), strict=True):
        assert_array_equal(embedding.features(X), kernel.embed(X, rng).features(X))


def test_landmarks_stand_for_all_rows():
    data = make_shape_dataset("rings", n_samples=300, random_state=1)
    gram = EmbeddedGrams(data.X, PathKernel(neighbors=7), rank=150).at(np.ones(2))
    assert gram.embedding.n_landmarks == 150
    assert gram.n_samples == 300
    distances, _ = gram.center_distances(np.eye(2)[data.labels] / np.bincount(data.labels))
    assert (distances.argmin(axis=1) == data.labels).mean() > 0.95


@each_kernel
@settings(max_examples=15)
@given(X=data_matrices())
def test_any_table_has_finite_features(kernel, X):
    embedding = kernel.embed(X, np.random.default_rng(0))
    assert np.isfinite(embedding.features(X)).all()
    assert np.isfinite(embedding.features(X + 0.1)).all()
    assert np.isfinite(embedding.features(1e6 * X)).all()


@each_kernel
@pytest.mark.parametrize(
    "X",
    [
        np.repeat([[0.0, 1.0], [2.0, 3.0], [5.0, 1.0]], 20, axis=0),
        np.array([[0.0], [1.0], [3.0]]),
        np.zeros((5, 2)),
        np.column_stack([np.arange(6.0), np.zeros(6)]),
    ],
    ids=["duplicates", "three rows", "one point", "constant column"],
)
def test_degenerate_tables_have_features_and_equal_rows_equal_ones(kernel, X):
    gram = gram_family(X, kernel).at(np.ones(X.shape[1]))
    assert np.isfinite(gram.diagonal()).all()
    features = gram.embedding.features(X)
    for x, phi in zip(X, features, strict=True):
        assert_array_equal(features[(x == X).all(axis=1)] - phi, 0.0)


def test_what_it_does_not_have_is_said():
    kernel, X = Kernel.from_name("path"), moons(20)
    with pytest.raises(KFRCError, match="depends on all rows"):
        kernel.shifted(X, X, np.ones(2))
    with pytest.raises(KFRCError, match="no derivative"):
        kernel.derivative(X, X, np.ones(2), 0)
    with pytest.raises(KFRCError, match="no derivative"):
        gram_family(X, kernel).at(np.ones(2)).log_bandwidth_gradients([])


@pytest.mark.parametrize("wrong", [{"exponent": 0.5}, {"neighbors": 0}, {"reach": -1}])
def test_wrong_parameters_are_refused(wrong):
    with pytest.raises(ValueError, match="must be"):
        PathKernel(**wrong)


def test_centers_can_be_stored():
    X = moons(40)
    centers = gram_family(X, PathKernel()).at(np.ones(2)).centers(np.eye(40)[:, :2])
    assert_array_equal(pickle.loads(pickle.dumps(centers)).squared_distances(X), centers.squared_distances(X))
