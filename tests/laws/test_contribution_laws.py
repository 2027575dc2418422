"""Contributions of columns: the scatter of a table splits exactly, and its shares do not depend on units."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kfrc import KFRC, UniformCollapseWarning
from kfrc.contributions import cluster_contributions, scatter
from kfrc.exceptions import TrivialPartitionWarning
from kfrc.fuzzifiers import Fuzzifier, Power
from kfrc.kernels import AdditiveKernel, Kernel
from kfrc.simulation import StudyDesign, make_study_dataset

EXACT = 1e-10
KERNELS = [kernel for kernel in map(Kernel.from_name, Kernel.registry) if kernel.sums_over_columns]


def table(n_samples=40, n_features=3, n_clusters=3, seed=1):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_samples, n_features)), rng.dirichlet(np.ones(n_clusters), n_samples)


def distances_of_column(X, kernel, bandwidths, d):
    """All n × n squared distances that one column causes."""
    K = kernel.shifted(X[:, [d]], X[:, [d]], bandwidths[[d]])
    return np.diagonal(K)[:, None] + np.diagonal(K) - 2.0 * K


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.label)
@pytest.mark.parametrize("name", Fuzzifier.registry)
@pytest.mark.parametrize("n_samples", [40, 200])  # held densely, and in the Chebyshev basis
def test_total_scatter_is_within_plus_between(kernel, name, n_samples):
    X, U = table(n_samples)
    bandwidths = np.array([0.5, 2.0, 30.0])
    weights = Fuzzifier.from_name(name).value(U)
    found = scatter(X, kernel, bandwidths, weights)
    of_rows = weights.sum(axis=1)
    for d in range(3):
        R = distances_of_column(X, kernel, bandwidths, d)
        total = of_rows @ R @ of_rows / (2 * of_rows.sum())
        within = sum(w @ R @ w / (2 * w.sum()) for w in weights.T)
        assert_allclose(found.total[d], total, rtol=EXACT)
        assert_allclose(found.within[d], within, rtol=EXACT)
        assert_allclose(found.between[:, d].sum(), total - within, rtol=0, atol=EXACT * total)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.label)
def test_the_objective_is_the_sum_of_the_scatter_within(kernel):
    X, _ = table(60)
    model = KFRC(3, kernel=kernel, bandwidths=np.array([0.7, 1.0, 3.0]), random_state=0).fit(X)
    weights = model.fuzzifier_.value(model.memberships_)
    found = scatter(X, kernel, model.bandwidths_, weights)
    assert_allclose(found.within.sum(), model.objective_, rtol=1e-8)
    assert_allclose(model.contributions_, found.between.sum(axis=0) / found.between.sum(), atol=EXACT)


def test_linear_contributions_are_shares_of_weighted_variances():
    X, U = table(80, 4)
    bandwidths = np.array([1.0, 2.0, 1.0, 5.0])
    t = Power(2.0)
    W = t.value(U)
    S = W.sum(axis=0)
    means = W.T @ X / S[:, None]
    between = S[:, None] * (means - S @ means / S.sum()) ** 2 / bandwidths**2
    found = cluster_contributions(X, Kernel.from_name("linear"), bandwidths, U, t)
    assert_allclose(found, between / between.sum(), atol=EXACT)


@pytest.mark.parametrize("kernel", ["sum", "product", "linear"])
@pytest.mark.parametrize("memberships", ["fuzzy", "posterior"])
def test_shares_are_not_negative_and_sum_to_one(kernel, memberships, blobs):
    X = np.column_stack([blobs[0], np.random.default_rng(2).normal(size=60)])
    model = KFRC(3, kernel=kernel, memberships=memberships, level=1.0, max_anisotropy=5.0, random_state=0).fit(X)
    assert model.cluster_contributions_.shape == (3, 3)
    assert (model.cluster_contributions_ >= 0).all()
    assert_allclose(model.contributions_.sum(), 1.0, atol=EXACT)
    assert_allclose(model.cluster_contributions_.sum(axis=0), model.contributions_, atol=EXACT)
    assert model.contributions_[2] < 0.5 * model.contributions_[:2].min()


def test_units_and_the_order_of_columns_do_not_matter(blobs):
    X = np.column_stack([blobs[0], np.random.default_rng(3).normal(size=60)])
    settings = {"level": 1.0, "max_anisotropy": 5.0, "m": None, "random_state": 0}
    found = KFRC(3, **settings).fit(X).contributions_
    assert_allclose(KFRC(3, **settings).fit(X * [1e3, 1.0, 1e-4] + 7.0).contributions_, found, atol=1e-6)
    order = [2, 0, 1]
    assert_allclose(KFRC(3, **settings).fit(X[:, order]).contributions_, found[order], atol=1e-4)


@pytest.mark.parametrize("kernel", ["sum", "product"])
def test_a_kernel_that_is_no_sum_has_the_contributions_of_the_sum_kernel(kernel):
    X, U = table()
    found = cluster_contributions(X, Kernel.from_name(kernel), np.ones(3), U, Power(2.0))
    assert_allclose(found, cluster_contributions(X, Kernel.from_name("sum"), np.ones(3), U, Power(2.0)))
    assert Kernel.from_name(kernel).sums_over_columns == isinstance(Kernel.from_name(kernel), AdditiveKernel)


@pytest.mark.parametrize(("seed", "n_noise"), [(1, 2), (2, 8), (3, 2)])
def test_columns_with_clusters_contribute_more_than_noise(seed, n_noise):
    design = StudyDesign(n_clusters=3, average_overlap=0.01, n_signal=2, n_noise=n_noise)
    data = make_study_dataset(design, random_state=seed)
    shares = KFRC(3, random_state=0).fit(data.X).contributions_
    assert shares[2:].mean() < 0.5 * shares[:2].mean()


def test_equal_bandwidths_do_not_hide_which_columns_matter(blobs):
    X = np.column_stack([blobs[0], np.random.default_rng(4).normal(size=(60, 3))])
    model = KFRC(3, bandwidths=np.e * X.std(axis=0, ddof=1), m=1.1, random_state=0).fit(X)
    assert np.ptp(model.importance_weights_) < 1e-6
    assert model.contributions_[:2].sum() > 0.9


def test_columns_that_are_not_used_contribute_nothing(blobs):
    X = np.column_stack([blobs[0][:, 0], np.full(60, 3.0), blobs[0][:, 1]])
    with pytest.warns(UserWarning, match="constant"):
        model = KFRC(3, level=1.0, random_state=0).fit(X)
    assert model.contributions_[1] == 0
    assert_allclose(model.contributions_.sum(), 1.0)
    X, U = table()
    found = cluster_contributions(X, Kernel.from_name("sum"), np.array([1.0, np.inf, 1.0]), U, Power(2.0))
    assert (found[:, 1] == 0).all()
    assert_allclose(found.sum(), 1.0)


def test_a_partition_that_explains_nothing_gives_equal_shares():
    X, _ = table(60, 4)
    X[:, 3] = 1.0
    sum_kernel, bandwidths, t = Kernel.from_name("sum"), np.ones(4), Power(2.0)
    merged = np.tile([0.2, 0.3, 0.5], (60, 1))
    for U in (np.ones((60, 1)), np.full((60, 3), 1 / 3), merged):
        found = cluster_contributions(X, sum_kernel, bandwidths, U, t)
        assert_allclose(found.sum(axis=0), [1 / 3, 1 / 3, 1 / 3, 0.0])
    with pytest.warns(UniformCollapseWarning):
        model = KFRC(3, fuzzifier="power", m=9.0, bandwidths=np.full(3, 1.0), random_state=0).fit(X[:, :3])
    assert_allclose(model.contributions_, np.full(3, 1 / 3))
    with pytest.warns(TrivialPartitionWarning):
        model = KFRC(1, level=1.0, m=None, max_anisotropy=5.0).fit(X[:, :3])
    assert_allclose(model.contributions_, np.full(3, 1 / 3))


def test_an_empty_cluster_contributes_nothing():
    X, U = table(30, 2, 2)
    with_empty = np.column_stack([U, np.zeros(30)])
    found = cluster_contributions(X, Kernel.from_name("sum"), np.ones(2), with_empty, Power(2.0))
    assert_allclose(found[:2], cluster_contributions(X, Kernel.from_name("sum"), np.ones(2), U, Power(2.0)))
    assert (found[2] == 0).all()


def test_a_given_gram_matrix_has_no_columns(blobs):
    model = KFRC(3, kernel="precomputed", m=None, random_state=0).fit(blobs[0] @ blobs[0].T)
    assert model.contributions_ is None
    assert model.cluster_contributions_ is None
