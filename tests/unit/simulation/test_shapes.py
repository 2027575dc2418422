from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kfrc.simulation import HeavyTails, Imbalanced, Moons, Rings, Shape, make_shape_dataset


@pytest.mark.parametrize("name", Shape.registry)
def test_every_shape_makes_a_standardized_data_set_with_noise(name):
    dataset = make_shape_dataset(name, n_samples=301, n_noise=3, random_state=0)
    assert dataset.X.shape == (301, 5)
    assert_allclose(dataset.X.mean(axis=0), 0, atol=1e-12)
    assert_allclose(dataset.X.std(axis=0, ddof=1), 1)
    assert_array_equal(dataset.informative, [0, 1])
    assert dataset.shape == Shape.from_name(name)
    sizes = np.bincount(dataset.labels)
    assert_allclose(sizes, 301 * dataset.shape.proportions, atol=1 + dataset.shape.n_clusters)
    again = make_shape_dataset(name, n_samples=301, n_noise=3, random_state=0)
    assert_array_equal(dataset.X, again.X)


@pytest.mark.parametrize("name", Shape.registry)
def test_no_cluster_is_empty_even_with_one_row_each(name):
    n_clusters = Shape.from_name(name).n_clusters
    labels = make_shape_dataset(name, n_samples=n_clusters, random_state=0).labels
    assert_array_equal(np.sort(labels), np.arange(n_clusters))


def test_moons_without_jitter_lie_on_their_half_circles():
    dataset = make_shape_dataset(Moons(jitter=0.0), standardize=False, random_state=0)
    centers = np.array([[0.0, 0.0], [1.0, 0.5]])[dataset.labels]
    assert_allclose(np.linalg.norm(dataset.X - centers, axis=1), 1)


def test_rings_without_jitter_have_the_radius_of_their_label():
    dataset = make_shape_dataset(Rings(n_rings=3, jitter=0.0), standardize=False, random_state=0)
    assert_allclose(np.linalg.norm(dataset.X, axis=1), dataset.labels + 1)


def test_heavy_tails_reach_further_than_gaussian_ones():
    heavy, light = (
        make_shape_dataset(HeavyTails(degrees_of_freedom=df), n_samples=3000, standardize=False, random_state=0).X
        for df in (2.5, 1e6)
    )
    assert np.abs(heavy).max() > 2 * np.abs(light).max()


def test_imbalanced_sizes_follow_the_shares():
    labels = make_shape_dataset(Imbalanced((0.9, 0.1)), n_samples=1000, random_state=0).labels
    assert_allclose(np.bincount(labels), [900, 100], atol=1)


def test_a_shape_of_your_own_works_without_a_name():
    @dataclass(frozen=True)
    class Line(Shape):
        @property
        def proportions(self):
            return np.full(2, 0.5)

        def place(self, labels, rng):
            return np.column_stack([labels, rng.random(len(labels))])

    dataset = make_shape_dataset(Line(), n_samples=10, standardize=False, random_state=0)
    assert_array_equal(dataset.X[:, 0], dataset.labels)


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (lambda: make_shape_dataset("spiral"), ValueError, "unknown shape 'spiral': choose one of moons"),
        (lambda: make_shape_dataset(3), TypeError, "expected a Shape"),
        (lambda: make_shape_dataset("rings", n_samples=1), ValueError, "n_samples=1 should be >= n_clusters=2"),
        (lambda: make_shape_dataset("rings", n_noise=-1), ValueError, "n_noise must be at least 0"),
        (lambda: make_shape_dataset(Rings(n_rings=1)), ValueError, "n_clusters must be at least 2"),
        (lambda: Moons(jitter=-1), ValueError, "jitter must be >= 0"),
        (lambda: HeavyTails(degrees_of_freedom=0), ValueError, "degrees_of_freedom must be > 0"),
        (lambda: Imbalanced((0.5, 0.4)), ValueError, "shares must sum to 1, got 0.9"),
        (lambda: Imbalanced((1.5, -0.5)), ValueError, "each of shares must be > 0"),
    ],
)
def test_bad_shapes_are_named(build, error, message):
    with pytest.raises(error, match=message):
        build()
