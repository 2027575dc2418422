"""Weights of rows in every metric: values by hand, and what is refused."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn import metrics as sklearn_metrics

from kfrc import metrics
from kfrc.metrics import _pair_counts
from kfrc.metrics.concordance import _weighted_mean_absolute_difference

U4 = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.1, 0.9]])
TABLE = {"X": np.array([[0.0], [1.0], [9.0], [10.0]]), "U": U4, "V": U4[:, ::-1], "labels": np.array([0, 0, 1, 1])}
WEIGHTED = {
    name: function
    for name, function in vars(metrics).items()
    if name in metrics.__all__ and "sample_weight" in inspect.signature(function).parameters
}
OF_PAIRS = {
    name: function
    for name, function in WEIGHTED.items()
    if {"labels", "V"} & inspect.signature(function).parameters.keys()
}


def evaluate(metric, **options):
    return metric(*(TABLE[name] for name in inspect.signature(metric).parameters if name in TABLE), **options)


def test_every_metric_of_samples_takes_weights():
    assert set(metrics.__all__) - WEIGHTED.keys() == {"importance_weights", "effective_n_features"}


@pytest.mark.parametrize("metric", WEIGHTED.values(), ids=WEIGHTED)
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 1, -1, 1], "negative"),
        ([1, 1, np.nan, 1], "NaN"),
        ([1, np.inf, 1, 1], "infinity"),
        ([0, 0, 0, 0], "zero"),
        ([1, 1, 1], "3 entries for 4 rows"),
        ([[1, 1, 1, 1]], "one-dimensional"),
        (["a", "b", "c", "d"], "must be numeric"),
    ],
)
def test_bad_weights_are_named(metric, weights, message):
    with pytest.raises(ValueError, match=f"sample_weight.*{message}"):
        evaluate(metric, sample_weight=weights)


@pytest.mark.parametrize("metric", OF_PAIRS.values(), ids=OF_PAIRS)
def test_weights_that_sum_to_less_than_two_make_no_pair(metric):
    with pytest.raises(ValueError, match="must sum to at least 2, got 1"):
        evaluate(metric, sample_weight=np.full(4, 0.25))


@pytest.mark.parametrize("metric", OF_PAIRS.values(), ids=OF_PAIRS)
def test_one_row_of_weight_two_is_two_equal_rows(metric):
    assert_allclose(metric([0], [[1.0, 0.0]], sample_weight=[2]), metric([0, 0], [[1.0, 0.0]] * 2), atol=1e-12)


def test_expected_mutual_information_needs_whole_rows():
    with pytest.raises(ValueError, match=r"sample_weight has fractions \(such as 1.5\): use adjusted_rand_score"):
        metrics.adjusted_mutual_info_score([0, 0, 1, 1], U4, sample_weight=[1, 1.5, 1, 1])


@pytest.mark.parametrize("average_method", ["max", "min", "geometric", "arithmetic"])
def test_mutual_information_of_weighted_rows_equals_scikit_learn_on_copies(average_method):
    rng = np.random.default_rng(0)
    first, second, weights = rng.integers(3, size=60), rng.integers(4, size=60), rng.integers(5, size=60)
    copies = np.repeat(first, weights), np.repeat(second, weights)
    for name in ("adjusted_mutual_info_score", "normalized_mutual_info_score"):
        got = getattr(metrics, name)(first, second, average_method=average_method, sample_weight=weights)
        expected = getattr(sklearn_metrics, name)(*copies, average_method=average_method)
        assert_allclose(got, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("average_method", ["max", "min", "geometric", "arithmetic"])
def test_one_class_tells_nothing_of_several(average_method):
    score = metrics.normalized_mutual_info_score([0, 0, 0, 0], [0, 0, 1, 1], average_method=average_method)
    assert score == 0.0


def test_weighted_mean_of_absolute_differences_is_the_sum_over_all_pairs():
    rng = np.random.default_rng(0)
    x, y, weights = rng.uniform(0.1, 1.0, 20), rng.uniform(0.5, 1.0, 20), rng.uniform(0.1, 3.0, 20)
    expected = np.abs(np.subtract.outer(x, y)) * np.multiply.outer(weights, weights)
    found = _weighted_mean_absolute_difference(x, y, weights)
    assert_allclose(found, expected.sum() / weights.sum() ** 2, rtol=1e-12)


@pytest.mark.parametrize("metric", OF_PAIRS.values(), ids=OF_PAIRS)
@pytest.mark.parametrize("labels", [[0, 0, 0, 0, 0], [0, 1, 2, 3, 4]])
def test_trivial_partitions_agree_with_themselves_whatever_the_weights(metric, labels):
    weights = [2, 1, 3, 1, 1] if metric is metrics.adjusted_mutual_info_score else [0.1, 0.7, 1.3, 0.2, 0.9]
    assert_allclose(metric(labels, labels, sample_weight=weights), 1.0, atol=1e-12)


@pytest.mark.parametrize("t_norm", ["min", "product"])
@pytest.mark.parametrize("crisp", [(False, False), (True, False), (False, True), (True, True)])
def test_tiles_of_weighted_rows_sum_over_the_copies(t_norm, crisp, monkeypatch):
    monkeypatch.setattr(_pair_counts, "_TILE_ROWS", 4)  # 23 samples: full and partial tiles
    monkeypatch.setattr(_pair_counts, "_TILE_COLUMNS", 7)
    rng = np.random.default_rng(1)
    pair = [rng.dirichlet(np.ones(k), size=23) for k in (3, 4)]
    pair = [np.eye(U.shape[1])[U.argmax(axis=1)] if hard else U for U, hard in zip(pair, crisp, strict=True)]
    weights = rng.integers(4, size=23)
    for metric in (metrics.fuzzy_rand_score, metrics.fuzzy_adjusted_rand_score, metrics.fuzzy_jaccard_score):
        got = metric(*pair, t_norm, sample_weight=weights)
        expected = metric(*(np.repeat(U, weights, axis=0) for U in pair), t_norm)
        assert_allclose(got, expected, rtol=0, atol=1e-12)


def test_large_weights_need_no_copies():
    weights = np.array([1, 2, 3, 4]) * 10**12
    score = metrics.adjusted_rand_score([0, 0, 1, 1], [0, 1, 1, 1], sample_weight=weights)
    # In the limit of many copies pairs are ordered pairs of independent rows: a, b, c, d from the shares of the cells.
    cells = np.array([1, 2, 7]) / 10
    a = cells @ cells
    b, c = 2 * cells[0] * cells[1], 2 * cells[1] * cells[2]
    d = 1 - a - b - c
    assert_allclose(score, 2 * (a * d - b * c) / ((a + b) * (b + d) + (a + c) * (c + d)), atol=1e-10)


def test_precomputed_distances_of_weighted_rows_give_the_same_silhouette():
    X, weights = TABLE["X"], [2, 0, 1, 3]
    got = metrics.fuzzy_silhouette_score(np.abs(X - X.T), U4, metric="precomputed", sample_weight=weights)
    assert_allclose(got, metrics.fuzzy_silhouette_score(X, U4, sample_weight=weights), atol=1e-12)


def test_weights_move_the_default_centers_of_xie_beni():
    centers = np.array([[0.0], [10.0]])
    X, U = [[0.0], [4.0], [10.0]], np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    # Centers 1 and 10, squared distances 3 · 1² + 1 · 3² + 0.
    assert_allclose(metrics.xie_beni_index(X, U, sample_weight=[3, 1, 1]), 12 / (5 * 81), atol=1e-12)
    assert_allclose(metrics.xie_beni_index(X, U, centers, sample_weight=[3, 1, 1]), 16 / (5 * 100), atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_default_centers_of_weighted_rows_are_those_of_the_copies(seed):
    rng = np.random.default_rng(seed)
    X, U, weights = rng.standard_normal((30, 3)), rng.dirichlet(np.ones(3), size=30), rng.integers(4, size=30)
    copies = np.repeat(X, weights, axis=0), np.repeat(U, weights, axis=0)
    got = metrics.xie_beni_index(X, U, sample_weight=weights)
    assert_allclose(got, metrics.xie_beni_index(*copies), rtol=1e-10)


def test_partition_indices_are_weighted_means():
    U = [[1.0, 0.0], [0.5, 0.5]]
    assert metrics.partition_coefficient(U, sample_weight=[3, 1]) == 0.875
    assert metrics.partition_entropy(U, base=2, sample_weight=[3, 1]) == 0.25
    assert metrics.uniformity_index(U, sample_weight=[3, 1]) == 0.25
    assert metrics.modified_partition_coefficient(U, sample_weight=[3, 1]) == 0.75
