from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kfrc import metrics
from kfrc.metrics import _pair_counts

FUZZY = [metrics.fuzzy_rand_score, metrics.fuzzy_adjusted_rand_score, metrics.fuzzy_jaccard_score]
PAIRWISE = [
    *FUZZY,
    metrics.frobenius_rand_score,
    metrics.frobenius_adjusted_rand_score,
    metrics.concordance_score,
    metrics.adjusted_concordance_score,
    metrics.adjusted_rand_score,
    metrics.adjusted_mutual_info_score,
    metrics.normalized_mutual_info_score,
]
U4 = [[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.1, 0.9]]


def definition_counts(reference, estimate, t):
    """Campello's a, b, c, d straight from the definition."""

    def degrees(u, w):
        k = len(u)
        apart = [t(u[i], w[h]) for i in range(k) for h in range(k) if i != h]
        return max(t(u[i], w[i]) for i in range(k)), max(apart, default=0.0)

    sums = np.zeros(4)
    for j, k in itertools.combinations(range(len(reference)), 2):
        V, X = degrees(reference[j], reference[k])
        Y, Z = degrees(estimate[j], estimate[k])
        sums += [t(V, Y), t(V, Z), t(X, Y), t(X, Z)]
    return sums


@pytest.mark.parametrize(("t_norm", "t"), [("min", min), ("product", lambda x, y: x * y)])
@pytest.mark.parametrize("shape", [(3, 3), (2, 5), (4, 1), (1, 1)])
@pytest.mark.parametrize("crisp", [False, True])
def test_tiles_sum_the_definition(t_norm, t, shape, crisp, monkeypatch):
    monkeypatch.setattr(_pair_counts, "_TILE_ROWS", 4)  # 23 samples: full and partial tiles
    monkeypatch.setattr(_pair_counts, "_TILE_COLUMNS", 7)
    rng = np.random.default_rng(0)
    reference, estimate = (rng.dirichlet(np.ones(k), size=23) for k in shape)
    if crisp:
        reference = np.eye(shape[0])[reference.argmax(axis=1)]
    a, b, c, d = definition_counts(reference.tolist(), estimate.tolist(), t)
    total, expected = a + b + c + d, (a + b) * (a + c) / (a + b + c + d)
    pair = reference, estimate
    assert_allclose(metrics.fuzzy_rand_score(*pair, t_norm), (a + d) / total, atol=1e-12)
    assert_allclose(metrics.fuzzy_jaccard_score(*pair, t_norm), a / (a + b + c), atol=1e-12)
    if shape != (1, 1):
        adjusted = (a - expected) / ((2 * a + b + c) / 2 - expected)
        assert_allclose(metrics.fuzzy_adjusted_rand_score(*pair, t_norm), adjusted, atol=1e-12)


def test_frobenius_indices_equal_their_definition_with_n_by_n_matrices():
    rng = np.random.default_rng(1)
    n = 15
    U, V = rng.dirichlet(np.ones(3), size=n), rng.dirichlet(np.ones(4), size=n)
    N, M = ((G.sum() / np.sum(G**2)) * G for G in (U @ U.T, V @ V.T))
    rand = 1 - np.sum((N - M) ** 2) / (n * (n - 1))
    # Averaged over orthogonal matrices that keep the ones, M is its mean plus a multiple of I − 11ᵀ/n.
    J = np.full((n, n), 1 / n)
    mean_M = M.sum() / n * J + (np.trace(M) - M.sum() / n) / (n - 1) * (np.eye(n) - J)
    e = np.sum(N * mean_M)
    adjusted = (np.sum(N * M) - e) / ((N.sum() + M.sum()) / 2 - e)
    assert_allclose(metrics.frobenius_rand_score(U, V), rand, atol=1e-12)
    assert_allclose(metrics.frobenius_adjusted_rand_score(U, V), adjusted, atol=1e-12)


def test_frobenius_index_keeps_its_digits_near_the_uniform_partition():
    rng = np.random.default_rng(2)
    direction = rng.standard_normal((50, 3))
    direction -= direction.mean(axis=1, keepdims=True)
    scores = [
        metrics.frobenius_adjusted_rand_score(1 / 3 + size * direction, 1 / 3 - size * direction)
        for size in (1e-5, 1e-6)
    ]
    assert_allclose(scores, scores[0], rtol=1e-3)


def test_fuzzy_index_of_many_samples_needs_no_n_by_n_matrix():
    tracemalloc = pytest.importorskip("tracemalloc")
    n = 4000
    rng = np.random.default_rng(3)
    U, labels = rng.dirichlet(np.ones(3), size=n), rng.integers(3, size=n)
    tracemalloc.start()
    try:
        metrics.fuzzy_adjusted_rand_score(labels, U)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 * n * n / 10


def test_adjusted_mutual_information_normalizes_by_the_larger_entropy():
    pair = [0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2]
    assert metrics.adjusted_mutual_info_score(*pair) < metrics.adjusted_mutual_info_score(
        *pair, average_method="arithmetic"
    )


@pytest.mark.parametrize("score", PAIRWISE)
def test_labels_of_any_type_are_accepted_on_both_sides(score):
    numbers, words = [3, 3, 7, 7], np.array(["a", "a", "b", "b"], dtype=object)
    assert score(words, U4) == score(numbers, U4)
    assert score(U4, words) == score(U4, numbers)
    assert_allclose(score(words, numbers), 1.0, atol=1e-12)


@pytest.mark.parametrize("score", PAIRWISE)
@pytest.mark.parametrize("labels", [[0, 0, 0, 0, 0], [0, 1, 2, 3, 4]])
def test_trivial_partitions_agree_with_themselves(score, labels):
    assert_allclose(score(labels, labels), 1.0, atol=1e-12)


def test_two_uniform_partitions_agree():
    U = np.full((6, 3), 1 / 3)
    assert metrics.frobenius_adjusted_rand_score(U, U) == 1.0
    assert metrics.adjusted_concordance_score(U, U) == 1.0


BAD_PAIRS = {
    "lengths": ([0, 1, 1], U4, "has 3 samples but .* has 4"),
    "row sums": ([0, 0, 1, 1], [[0.9, 0.3]] * 4, "must sum to 1, but one is off by 0.2"),
    "negative": ([0, 0, 1, 1], [[1.2, -0.2]] * 4, "negative memberships"),
    "nan in U": ([0, 0, 1, 1], [[np.nan, 1.0]] * 4, "NaN or infinity in 4 place"),
    "nan label": ([0, np.nan, 1, 1], U4, "1 missing label.*position 1"),
    "none label": (np.array(["a", "a", None, "b"], dtype=object), U4, "1 missing label.*position 2"),
    "mixed labels": (np.array(["a", 1, 2, "b"], dtype=object), U4, "cannot be compared"),
    "empty labels": ([], U4, "is empty"),
    "empty U": ([0, 1], np.empty((0, 2)), "is empty"),
    "three dimensions": ([0, 1], np.ones((2, 2, 2)), r"got shape \(2, 2, 2\)"),
    "one sample": ([0], [[0.5, 0.5]], "at least 2 samples"),
    "transposed": (np.transpose(U4[1:]), [0, 1], "columns do: pass the transpose"),
}


@pytest.mark.parametrize("score", PAIRWISE)
@pytest.mark.parametrize(("first", "second", "message"), BAD_PAIRS.values(), ids=BAD_PAIRS)
def test_bad_partitions_are_named(score, first, second, message):
    with pytest.raises(ValueError, match=message):
        score(first, second)
    if "samples but" not in message:
        with pytest.raises(ValueError, match=message):
            score(second, first)


def test_marker_without_truth_value_counts_as_missing():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="1 missing label"):
        metrics.fuzzy_rand_score(pandas.array([0, 0, 1, None], dtype="Int64"), U4)


@pytest.mark.parametrize("score", FUZZY)
def test_unknown_t_norm_lists_the_known_ones(score):
    with pytest.raises(ValueError, match="t_norm must be one of 'min', 'product', got 'max'"):
        score([0, 0, 1, 1], U4, t_norm="max")


@pytest.mark.parametrize("weights", [None, [1, 2, 3, 1]])
@pytest.mark.parametrize("score", PAIRWISE[-2:])
def test_one_cluster_says_nothing_about_two_classes(score, weights):
    assert score([0, 0, 1, 1], [5, 5, 5, 5], sample_weight=weights) == 0.0
    assert score([5, 5, 5, 5], [0, 0, 1, 1], sample_weight=weights) == 0.0
    assert score([5, 5, 5, 5], [0, 0, 0, 0], sample_weight=weights) == 1.0
