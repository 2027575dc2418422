"""Kernel densities, the columns they keep together, and the judge that believes in them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import multivariate_normal

from kfrc._numerics import standardize
from kfrc.densities import BANDWIDTHS, MAX_ROWS, fit_kernel_density, joint_columns, working_rows
from kfrc.judges import DensityJudge, MixtureJudge, Opinion, believe_density, density_numbers
from kfrc.judges.density import Neighborhood
from kfrc.metrics import adjusted_rand_score
from kfrc.mixtures import MixtureKind, Tied
from kfrc.simulation import make_shape_dataset


def shape(name, seed=1, **parameters):
    return make_shape_dataset(name, random_state=seed, **parameters)


def stripes(n_samples, n_clusters):
    return np.eye(n_clusters)[np.arange(n_samples) % n_clusters]


def gaussian(n_samples, n_features, seed=0):
    return standardize(np.random.default_rng(seed).standard_normal((n_samples, n_features)))


def test_leave_one_out_is_the_density_of_the_other_rows():
    X = gaussian(30, 2)
    density = fit_kernel_density(X)
    for j in (0, 11):
        bumps = [multivariate_normal(x, density.bandwidth**2 * np.eye(2)).pdf(X[j]) for x in np.delete(X, j, axis=0)]
        assert density.leave_one_out[j] == pytest.approx(math.log(np.mean(bumps)), abs=1e-10)


def test_the_bandwidth_is_the_one_under_which_left_out_rows_are_most_likely():
    X = gaussian(60, 2)
    best = fit_kernel_density(X)

    def quality(h):
        bumps = np.exp(-np.square(X[:, None] - X).sum(axis=2) / (2 * h * h)) / (2 * np.pi * h * h)
        return np.log((bumps.sum(axis=1) - bumps.diagonal()) / 59 + 1e-300).sum()

    assert best.bandwidth == max(BANDWIDTHS, key=quality)


def test_density_of_new_rows_integrates_to_one():
    grid = np.linspace(-12, 12, 4001)[:, None]
    density = fit_kernel_density(gaussian(50, 1))
    assert np.exp(density.log_density(grid)).sum() * (grid[1, 0] - grid[0, 0]) == pytest.approx(1.0, abs=1e-6)


def test_density_is_finite_far_from_all_rows():
    assert np.isfinite(fit_kernel_density(gaussian(50, 3)).log_density(np.full((1, 3), 1e4))).all()


def test_working_rows_do_not_depend_on_the_order_of_the_table():
    X = gaussian(MAX_ROWS + 50, 2)
    order = np.random.default_rng(1).permutation(len(X))
    assert len(working_rows(X)) == MAX_ROWS
    assert_array_equal(X[working_rows(X)], X[order][working_rows(X[order])])


@pytest.mark.parametrize("name", ["moons", "rings"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_noise_columns_do_not_belong_to_a_shape(name, seed):
    assert joint_columns(shape(name, seed, n_noise=3).X).tolist() == [0, 1]


def test_a_column_of_a_shape_is_not_dropped():
    X = shape("rings").X
    third = standardize(np.column_stack([X, X[:, 0] + 0.1 * gaussian(200, 1)[:, 0]]))
    assert joint_columns(third).tolist() == [0, 1, 2]


@pytest.mark.parametrize(("name", "least"), [("moons", 0.9), ("rings", 0.97), ("heavy_tails", 0.7)])
@pytest.mark.parametrize("seed", [1, 2])
def test_clusters_of_any_shape_are_found(name, least, seed):
    data = shape(name, seed)
    best = DensityJudge().examine(data.X, [stripes(200, data.shape.n_clusters)])[0]
    assert adjusted_rand_score(data.labels, best.posterior) > least
    assert best.kernel is not None
    assert best.name.startswith("path")


def test_order_of_rows_columns_and_clusters_changes_nothing_where_partitions_are_looked_for():
    data = shape("moons")
    U = np.eye(2)[(data.X[:, 0] > 0).astype(int)]
    rows = np.random.default_rng(0).permutation(200)
    here = DensityJudge().examine(data.X, [U])
    there = DensityJudge().examine(data.X[rows][:, [1, 0]], [U[rows][:, [1, 0]]])
    assert [o.name for o in here] == [o.name for o in there]
    for one, other in zip(here, there, strict=True):
        assert_allclose(other.posterior, one.posterior[rows][:, [1, 0]], atol=1e-9)
        assert_allclose(other.row_evidence, one.row_evidence[rows], atol=1e-9)


def test_evidence_is_that_of_the_density_and_the_information_of_the_partition():
    X = shape("rings").X
    neighborhood = Neighborhood.of(X)
    for opinion in DensityJudge().examine(X, [stripes(200, 2)]):
        told = opinion.evidence - neighborhood.density.leave_one_out.sum()
        assert told / 200 == pytest.approx(neighborhood.told(opinion.model.partition).mean(), abs=1e-9)


def test_information_is_all_of_a_partition_that_neighbors_share_and_nothing_of_a_random_one():
    data = shape("rings")
    neighborhood = Neighborhood.of(data.X)
    assert neighborhood.information(np.eye(2)[data.labels]) == pytest.approx(math.log(2), rel=0.01)
    assert neighborhood.information(stripes(200, 2)) < 0.05
    assert neighborhood.information(np.eye(2)[np.zeros(200, dtype=int)]) == 0.0


def test_many_columns_or_few_rows_leave_the_given_partitions_only():
    judge = DensityJudge()
    for X in (gaussian(300, 12), gaussian(30, 2), gaussian(3, 2)):
        opinions = judge.examine(X, [stripes(len(X), 2)])
        assert [opinion.name for opinion in opinions] == ["given"]
        assert np.isfinite(opinions[0].evidence)


def test_one_row_and_one_cluster_are_no_trouble():
    assert DensityJudge().examine(np.zeros((1, 2)), [np.ones((1, 1))])[0].posterior.tolist() == [[1.0]]


def test_duplicates_and_constant_columns_are_no_trouble():
    X = np.repeat([[0.0, 1.0, 0.0], [2.0, 1.0, 0.0], [2.0, 1.0, 3.0]], 30, axis=0)
    best = DensityJudge().examine(X, [stripes(90, 3)])[0]
    assert adjusted_rand_score(np.repeat([0, 1, 2], 30), best.posterior) == pytest.approx(1.0)


def test_rows_beyond_the_working_ones_join_by_votes():
    data = shape("rings", n_samples=MAX_ROWS + 100)
    judge = DensityJudge(kernels=DensityJudge().kernels[3:4])
    best = judge.examine(data.X, [stripes(len(data.X), 2)])[0]
    assert adjusted_rand_score(data.labels, best.posterior) > 0.97
    assert best.row_evidence.sum() == pytest.approx(best.evidence)
    assert np.isfinite(best.row_evidence).all()
    assert_allclose(best.model.posterior(data.X), best.posterior)


def test_far_rows_are_told_by_the_nearest():
    data = shape("heavy_tails")
    model = DensityJudge().examine(data.X, [stripes(200, 3)])[0].model
    posterior = model.posterior(np.array([[1e3, 0.0], [-1e5, 3.0]]))
    assert_allclose(posterior.sum(axis=1), 1.0)


@pytest.mark.parametrize("name", ["moons", "rings"])
def test_the_number_of_clusters_of_a_shape_is_seen(name):
    assert density_numbers(shape(name).X, [1, 2, 3, 4]).argmax() == 1


def mixture_of(X, U):
    """The best mixture with its log-density of each row and its number of parameters."""
    kind = MixtureKind(Tied())
    opinion = MixtureJudge(kinds=(kind,)).examine(X, [U])[0]
    return opinion, opinion.model.expectation(X).log_densities, kind.n_parameters(U.shape[1], X.shape[1])


@pytest.mark.parametrize("name", ["moons", "rings"])
def test_density_is_believed_where_no_mixture_fits(name):
    data = shape(name)
    mixture, log_densities, n_parameters = mixture_of(data.X, np.eye(2)[data.labels])
    density = DensityJudge().examine(data.X, [mixture.posterior])[0]
    assert believe_density(density, log_densities, n_parameters, mixture.posterior, data.X)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("separation", [0.0, 2.0, 6.0])
def test_density_is_not_believed_where_a_mixture_fits(seed, separation):
    X = gaussian(200, 2, seed)
    U = np.eye(2)[np.arange(200) % 2]
    X[::2, 0] += separation
    X = standardize(X)
    mixture, log_densities, n_parameters = mixture_of(X, U)
    density = DensityJudge().examine(X, [mixture.posterior])[0]
    assert not believe_density(density, log_densities, n_parameters, mixture.posterior, X)


def test_every_safeguard_alone_refuses():
    data = shape("rings")
    X, truth = data.X, np.eye(2)[data.labels]
    log_f = Neighborhood.of(X)
    lower = np.empty(200)
    lower[log_f.rows] = log_f.density.leave_one_out - 0.3
    density = DensityJudge().examine(X, [truth])[0]
    halves = np.eye(2)[(X[:, 0] > 0).astype(int)]
    assert believe_density(density, lower, 10, halves, X)
    assert not believe_density(density, lower + 0.25, 10, halves, X), "a gain of 0.1 is needed"
    assert believe_density(density, lower + 0.25, 20, halves, X), "parameters count as k / n"
    noise = np.where(np.arange(200) % 2, 6.0, -6.0)
    assert not believe_density(density, lower + noise, 10, halves, X), "the gain must exceed two standard errors"
    assert not believe_density(density, lower, 10, truth, X), "the mixture tells the same partition"
    vague = Opinion("vague", 0.0, np.eye(2)[np.random.default_rng(0).permutation(data.labels)], np.zeros(200))
    assert not believe_density(vague, lower, 10, halves, X), "the density must tell the partition"
