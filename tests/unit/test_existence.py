"""The test of more than one group: its null keeps what a table without groups has, and groups stand out against it."""

from __future__ import annotations

import numpy as np
import pytest
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster.hierarchy import fcluster, ward
from scipy.stats import ks_2samp, spearmanr

from kfrc.existence import test_existence
from kfrc.existence.one_group import OneGroup
from kfrc.existence.statistic import cut_tree
from kfrc.simulation import make_shape_dataset
from kfrc.unimodal import ContinuousMargin, DiscreteMargin, fit_margin

UNIMODAL = {
    "normal": lambda rng: rng.standard_normal(400),
    "uniform": lambda rng: rng.uniform(size=400),
    "exponential": lambda rng: rng.exponential(size=400),
    "t": lambda rng: rng.standard_t(3, 400),
    "Poisson": lambda rng: rng.poisson(2.0, 400).astype(float),
    "rounded": lambda rng: rng.standard_normal(400).round(1),
}


def two_groups(n_samples=80, n_noise=2, seed=0):
    X = np.random.default_rng(seed).standard_normal((n_samples, 2 + n_noise))
    X[: n_samples // 2, :2] += 5.0
    return X


def rises_then_falls(heights):
    mode = int(np.argmax(heights))
    slack = 1e-9 * np.max(heights)
    return (np.diff(heights[: mode + 1]) >= -slack).all() and (np.diff(heights[mode:]) <= slack).all()


@pytest.mark.parametrize("name", UNIMODAL)
def test_a_unimodal_column_keeps_its_distribution(name):
    column = UNIMODAL[name](np.random.default_rng(1))
    margin, positions = fit_margin(column)
    assert_array_equal(margin.values[positions], column)
    draws = margin.quantiles((np.arange(4000) + 0.5) / 4000)
    assert draws.std() == pytest.approx(column.std(), rel=0.04)
    assert ks_2samp(draws, column).statistic < 0.04


@pytest.mark.parametrize("column", [two_groups(400)[:, 0], np.repeat([1.0, 2.0, 3.0, 4.0, 5.0], [9, 3, 2, 8, 1])])
def test_two_modes_become_one(column):
    margin, _ = fit_margin(column)
    if isinstance(margin, DiscreteMargin):
        heights = margin.probabilities
        assert heights.sum() == pytest.approx(1.0)
    else:
        assert isinstance(margin, ContinuousMargin)
        heights = np.diff(margin.levels) / np.diff(margin.values)
    assert rises_then_falls(heights)
    assert margin.dip > 0.05


def test_the_dip_is_the_distance_from_the_column():
    column = two_groups(100)[:, 0]
    margin, _ = fit_margin(column)
    assert np.abs(margin.levels - (np.arange(100) + 0.5) / 100).max() == pytest.approx(margin.dip)


def test_ties_are_drawn_as_ties():
    column = np.random.default_rng(0).standard_normal(200).round(1)
    margin, _ = fit_margin(column)
    assert np.isin(margin.quantiles(np.random.default_rng(1).uniform(size=100)), column).all()


@pytest.mark.parametrize("discrete", [False, True])
def test_the_null_keeps_rank_correlations(discrete):
    rng = np.random.default_rng(0)
    X = rng.multivariate_normal(np.zeros(3), [[1, 0.8, 0], [0.8, 1, -0.4], [0, -0.4, 1]], size=400)
    X = np.clip(X.round(), -2, 2) if discrete else np.exp(X)
    drawn = OneGroup.fit(X).draw(20_000, rng)
    assert_allclose(spearmanr(drawn).statistic, spearmanr(X).statistic, atol=0.04)


def test_dependent_tails_are_seen():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 4))
    assert OneGroup.fit(X).degrees >= 15
    assert OneGroup.fit(X / np.sqrt(rng.chisquare(3, (300, 1)) / 3)).degrees <= 5


def test_tables_without_groups_are_not_all_rejected():
    p_values = []
    for seed, draw in enumerate(["standard_normal", "uniform", "exponential"]):
        rng = np.random.default_rng(seed)
        X = getattr(rng, draw)(size=(60, 4))
        p_values.append(test_existence(X, n_draws=19, random_state=seed).p_value)
    assert np.mean(np.array(p_values) <= 0.05) < 0.5


def test_groups_are_found():
    result = test_existence(two_groups(), n_draws=19, random_state=0)
    assert result.p_value == 0.05
    assert result.n_draws == len(result.null) == 19
    assert (result.null < result.statistic).all()


@pytest.mark.parametrize("shape", ["moons", "rings"])
def test_shapes_are_found_among_noise(shape):
    X = make_shape_dataset(shape, n_noise=4, random_state=0).X
    assert test_existence(X, n_draws=19, random_state=0).p_value == 0.05


def test_groups_on_a_scale_are_found():
    X = np.random.default_rng(0).binomial(4, np.repeat([0.15, 0.85], 40)[:, None], size=(80, 4)).astype(float)
    assert test_existence(X, n_draws=19, random_state=0).p_value == 0.05


def test_a_group_in_a_single_column_is_found():
    X = np.random.default_rng(0).standard_normal((100, 6))
    X[:50, 3] += 7.0
    assert test_existence(X, n_draws=19, random_state=0).p_value == 0.05


def test_units_and_the_order_of_columns_do_not_matter():
    X = np.random.default_rng(0).exponential(size=(50, 4))
    X[:15] += 0.5  # so that more than one draw is made
    expected = test_existence(X, n_draws=9, random_state=0)
    again = test_existence(((X + 1.0) * [1e-6, 3.0, 1e9, 7.0])[:, [2, 0, 3, 1]], n_draws=9, random_state=0)
    assert again.p_value == expected.p_value
    assert_allclose(again.null, expected.null, rtol=1e-5)
    assert again.statistic == pytest.approx(expected.statistic, rel=1e-5)


def test_the_number_of_jobs_does_not_matter():
    X = np.random.default_rng(4).standard_normal((40, 3))
    one = test_existence(X, n_draws=19, random_state=0)
    with parallel_config("threading"):
        two = test_existence(X, n_draws=19, random_state=0, n_jobs=2)
    assert one.p_value == two.p_value
    assert_array_equal(one.null, two.null)


def test_drawing_stops_when_p_cannot_be_small():
    X = np.random.default_rng(0).standard_normal((60, 3))
    messages = []
    result = test_existence(X, n_draws=39, random_state=0, progress=messages.append)
    assert result.n_draws < 39
    assert result.p_value == 2 / result.n_draws
    assert (result.null >= result.statistic).sum() == 2
    assert messages[-1] == f"table without groups {result.n_draws}/39"


RNG = np.random.default_rng(0)
AWKWARD = {
    "constant column": np.column_stack([np.ones(30), RNG.standard_normal((30, 2))]),
    "only constant columns": np.ones((30, 2)),
    "three rows": RNG.standard_normal((3, 2)),
    "eight rows": RNG.standard_normal((8, 2)),
    "one column": RNG.standard_normal((40, 1)),
    "copies of a column": np.repeat(RNG.standard_normal((40, 1)), 3, axis=1),
    "copies of rows": np.repeat(RNG.standard_normal((10, 3)), 4, axis=0),
    "more columns than rows": RNG.standard_normal((12, 30)),
    "very many columns": RNG.standard_normal((20, 80)),
    "binary": RNG.integers(0, 2, (40, 3)).astype(float),
    "one row apart": np.r_[np.zeros((30, 2)), [[1.0, 1.0]]],
    "mostly zero": RNG.standard_normal((40, 2)) * (RNG.uniform(size=(40, 2)) > 0.6),
    "far out": np.r_[RNG.standard_normal((30, 2)), [[1e12, -1e12]]],
    "huge units": RNG.standard_normal((30, 2)) * 1e300,
    "tiny units": RNG.standard_normal((30, 2)) * 1e-300,
}


@pytest.mark.parametrize("name", AWKWARD)
def test_awkward_tables_have_an_answer(name):
    result = test_existence(AWKWARD[name], n_draws=3, random_state=0)
    assert 0 < result.p_value <= 1
    assert np.isfinite(result.statistic)
    assert np.isfinite(result.null).all()
    assert result.n_draws == len(result.null)


def test_cuts_of_a_hierarchy_are_those_of_scipy():
    tree = ward(np.random.default_rng(0).standard_normal((30, 2)))
    for n_clusters in (2, 3, 6):
        ours, theirs = cut_tree(tree, n_clusters), fcluster(tree, n_clusters, "maxclust")
        assert len(set(zip(ours, theirs, strict=True))) == len(set(ours)) == n_clusters


def test_groups_that_a_common_factor_drowns_exist_all_the_same():
    rng = np.random.default_rng(0)
    shape = np.array([[-1, -1], [-1, 1], [1, -1], [1, 1]])[np.arange(160) % 4] * 0.5
    factor = 3.0 * rng.standard_normal((160, 1))
    X = factor + shape @ np.array([[1, -1, 0, 0], [0, 0, 1, -1]]) + 0.12 * rng.standard_normal((160, 4))
    assert test_existence(X, n_draws=19, random_state=0).p_value == 0.05
    assert test_existence(factor + rng.standard_normal((160, 4)), n_draws=19, random_state=0).p_value > 0.05
