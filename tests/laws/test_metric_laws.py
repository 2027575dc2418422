"""What must hold for every pair of partitions and every set of bandwidths."""

from __future__ import annotations

import inspect
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn import metrics as sklearn_metrics

from kfrc import metrics

ALGEBRA = 1e-10
untimed = settings(deadline=None)  # a busy machine is no counterexample
ADJUSTED = [
    metrics.fuzzy_adjusted_rand_score,
    lambda a, b: metrics.fuzzy_adjusted_rand_score(a, b, t_norm="product"),
    metrics.frobenius_adjusted_rand_score,
    metrics.adjusted_concordance_score,
    metrics.adjusted_rand_score,
]
PLAIN = [
    metrics.fuzzy_rand_score,
    lambda a, b: metrics.fuzzy_rand_score(a, b, t_norm="product"),
    metrics.frobenius_rand_score,
    metrics.concordance_score,
]
JACCARD = [metrics.fuzzy_jaccard_score, lambda a, b: metrics.fuzzy_jaccard_score(a, b, t_norm="product")]
PAIRWISE = [*ADJUSTED, *PLAIN, *JACCARD, metrics.adjusted_mutual_info_score]
SELF_EQUAL = [
    metrics.frobenius_rand_score,
    metrics.frobenius_adjusted_rand_score,
    metrics.concordance_score,
    metrics.adjusted_concordance_score,
]


@st.composite
def label_pairs(draw):
    n = draw(st.integers(2, 30))
    labels = st.lists(st.integers(0, draw(st.integers(0, 5))), min_size=n, max_size=n)
    return np.array(draw(labels)), np.array(draw(labels))


@st.composite
def memberships(draw, n_samples=None, min_clusters=1):
    n = draw(st.integers(2, 25)) if n_samples is None else n_samples
    c = draw(st.integers(min_clusters, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    # From nearly crisp to nearly uniform.
    return rng.dirichlet(np.full(c, draw(st.sampled_from([0.05, 0.5, 1.0, 10.0, 1000.0]))), size=n)


@st.composite
def membership_pairs(draw):
    n = draw(st.integers(2, 25))
    return draw(memberships(n_samples=n)), draw(memberships(n_samples=n))


@pytest.mark.parametrize("score", ADJUSTED)
@untimed
@given(pair=label_pairs())
def test_adjusted_indices_equal_the_adjusted_rand_index_on_crisp_partitions(score, pair):
    expected = sklearn_metrics.adjusted_rand_score(*pair)
    one_hot = [np.eye(6)[labels] for labels in pair]  # with empty clusters too
    assert_allclose(score(*pair), expected, rtol=0, atol=ALGEBRA)
    assert_allclose(score(*one_hot), expected, rtol=0, atol=ALGEBRA)


@pytest.mark.parametrize("score", PLAIN)
@untimed
@given(pair=label_pairs())
def test_rand_indices_equal_the_rand_index_on_crisp_partitions(score, pair):
    assert_allclose(score(*pair), sklearn_metrics.rand_score(*pair), rtol=0, atol=ALGEBRA)


@pytest.mark.parametrize("score", JACCARD)
@untimed
@given(pair=label_pairs())
def test_jaccard_indices_count_pairs_on_crisp_partitions(score, pair):
    (_, c), (b, a) = sklearn_metrics.cluster.pair_confusion_matrix(*pair)
    assert_allclose(score(*pair), a / (a + b + c) if a + b + c else 1.0, rtol=0, atol=ALGEBRA)


@pytest.mark.parametrize("score", SELF_EQUAL)
@untimed
@given(U=memberships(), data=st.data())
def test_a_partition_agrees_with_itself_up_to_the_order_of_clusters(score, U, data):
    order = data.draw(st.permutations(range(U.shape[1])))
    assert_allclose(score(U, U), 1.0, rtol=0, atol=ALGEBRA)
    assert_allclose(score(U, U[:, order]), 1.0, rtol=0, atol=ALGEBRA)


@pytest.mark.parametrize("score", PAIRWISE)
@untimed
@given(pair=membership_pairs(), data=st.data())
def test_relabeling_clusters_and_reordering_samples_change_nothing(score, pair, data):
    U, V = pair
    clusters = data.draw(st.permutations(range(U.shape[1])))
    samples = data.draw(st.permutations(range(len(U))))
    changed = score(U[samples][:, clusters], V[samples])
    assert_allclose(changed, score(U, V), rtol=0, atol=1e-8)


@pytest.mark.parametrize("score", PAIRWISE)
@untimed
@given(pair=membership_pairs())
def test_agreement_is_symmetric(score, pair):
    U, V = pair
    assert_allclose(score(U, V), score(V, U), rtol=0, atol=ALGEBRA)


@pytest.mark.parametrize("score", PAIRWISE)
@untimed
@given(pair=membership_pairs())
def test_no_score_exceeds_one(score, pair):
    assert score(*pair) <= 1 + ALGEBRA


@pytest.mark.parametrize("score", PAIRWISE)
@untimed
@given(pair=membership_pairs())
def test_an_empty_cluster_changes_nothing(score, pair):
    U, V = pair
    wider = np.column_stack([U, np.zeros(len(U))])
    assert_allclose(score(wider, V), score(U, V), rtol=0, atol=1e-8)


@untimed
@given(labels=label_pairs(), n_clusters=st.integers(2, 6))
def test_a_uniform_partition_agrees_only_by_chance(labels, n_clusters):
    reference = labels[0]
    if len(np.unique(reference)) == 1:
        return
    U = np.full((len(reference), n_clusters), 1 / n_clusters)
    assert_allclose(metrics.fuzzy_adjusted_rand_score(reference, U), 0, atol=ALGEBRA)
    assert_allclose(metrics.frobenius_adjusted_rand_score(reference, U), 0, atol=ALGEBRA)


@untimed
@given(U=memberships(min_clusters=2))
def test_partition_indices_stay_in_their_ranges_and_agree(U):
    c = U.shape[1]
    coefficient, uniformity = metrics.partition_coefficient(U), metrics.uniformity_index(U)
    assert 1 / c <= coefficient <= 1
    assert 0 <= uniformity <= 1
    assert 0 <= metrics.partition_entropy(U) <= math.log(c) + ALGEBRA
    assert_allclose(uniformity, (1 - coefficient) / (1 - 1 / c), rtol=0, atol=ALGEBRA)
    assert_allclose(metrics.modified_partition_coefficient(U), 1 - uniformity, rtol=0, atol=ALGEBRA)


@untimed
@given(labels=label_pairs(), n_clusters=st.integers(2, 6))
def test_uniformity_is_zero_when_crisp_and_one_when_uniform(labels, n_clusters):
    assert metrics.uniformity_index(np.eye(6)[labels[0]]) == 0
    uniform = np.full((len(labels[0]), n_clusters), 1 / n_clusters)
    assert_allclose(metrics.uniformity_index(uniform), 1, rtol=0, atol=ALGEBRA)


@untimed
@given(U=memberships(min_clusters=2), data=st.data())
def test_partition_indices_ignore_the_order_of_clusters(U, data):
    order = data.draw(st.permutations(range(U.shape[1])))
    for index in (metrics.partition_coefficient, metrics.partition_entropy, metrics.uniformity_index):
        assert_allclose(index(U[:, order]), index(U), rtol=0, atol=ALGEBRA)


@untimed
@given(
    log_bandwidths=st.lists(st.one_of(st.floats(-20, 20), st.just(math.inf)), min_size=1, max_size=12),
    scale=st.floats(0.01, 100),
)
def test_weights_are_a_distribution_that_ignores_the_unit(log_bandwidths, scale):
    bandwidths = np.exp(log_bandwidths)
    n_finite = int(np.isfinite(bandwidths).sum())
    if n_finite == 0:
        return
    weights = metrics.importance_weights(bandwidths)
    assert_allclose(weights.sum(), 1, rtol=0, atol=ALGEBRA)
    assert (weights[np.isinf(bandwidths)] == 0).all()
    assert_allclose(metrics.importance_weights(scale * bandwidths), weights, rtol=0, atol=ALGEBRA)
    assert 1 - ALGEBRA <= metrics.effective_n_features(bandwidths) <= n_finite + ALGEBRA


WEIGHTED = [
    pytest.param(function, id=name)
    for name, function in vars(metrics).items()
    if name in metrics.__all__ and "sample_weight" in inspect.signature(function).parameters
]
FRACTIONS = [case for case in WEIGHTED if case.values[0] is not metrics.adjusted_mutual_info_score]  # whole rows only


@st.composite
def tables(draw):
    """Everything a metric may be asked about the same rows, by the name of its argument."""
    n = draw(st.integers(2, 15))
    U, V, labels = draw(memberships(n, 2)), draw(memberships(n, 2)), draw(memberships(n, 2))
    if draw(st.booleans()):
        labels = labels.argmax(axis=1)
    if draw(st.booleans()):
        V = np.eye(V.shape[1])[V.argmax(axis=1)]
    X = np.random.default_rng(draw(st.integers(0, 2**32 - 1))).standard_normal((n, 2))
    return {"X": X, "U": U, "V": V, "labels": labels}


@st.composite
def frequencies(draw, n_samples):
    counts = st.lists(st.integers(0, 4), min_size=n_samples, max_size=n_samples)
    return np.array(draw(counts.filter(lambda weights: sum(weights) >= 2)))


def evaluate(metric, table, **options):
    """The value of a metric, or the message with which it refuses the table."""
    names = inspect.signature(metric).parameters
    if "centers" in names:  # means may coincide up to rounding, and the index is then 0/0
        options["centers"] = np.linspace(-1, 1, table["U"].shape[1])[:, None] * np.ones(2)
    try:
        return metric(*(table[name] for name in names if name in table), **options)
    except ValueError as error:
        return str(error)


def take(table, rows):
    return {name: values[rows] for name, values in table.items()}


def assert_same(got, expected):
    if isinstance(expected, str):
        assert got == expected
    else:
        assert_allclose(got, expected, rtol=ALGEBRA, atol=ALGEBRA)


@pytest.mark.parametrize("metric", WEIGHTED)
@untimed
@given(table=tables(), data=st.data())
def test_a_weight_is_a_number_of_copies_and_zero_is_absence(metric, table, data):
    weights = data.draw(frequencies(len(table["X"])))
    copies = take(table, np.repeat(np.arange(len(weights)), weights))
    assert_same(evaluate(metric, table, sample_weight=weights), evaluate(metric, copies))


@pytest.mark.parametrize("metric", WEIGHTED)
@untimed
@given(table=tables(), data=st.data())
def test_a_row_of_weight_zero_may_be_anything(metric, table, data):
    weights = data.draw(frequencies(len(table["X"])))
    order = data.draw(st.permutations(range(len(weights))))
    other = {name: np.where(_along(weights > 0, values), values, values[order]) for name, values in table.items()}
    assert_same(evaluate(metric, other, sample_weight=weights), evaluate(metric, table, sample_weight=weights))


@pytest.mark.parametrize("metric", WEIGHTED)
@untimed
@given(table=tables())
def test_weights_of_one_change_nothing(metric, table):
    assert_same(evaluate(metric, table, sample_weight=np.ones(len(table["X"]))), evaluate(metric, table))


@pytest.mark.parametrize("metric", FRACTIONS)
@untimed
@given(table=tables(), data=st.data())
def test_a_row_may_be_split_into_copies_that_share_its_weight(metric, table, data):
    n = len(table["X"])
    # From two on every row has a copy: with no pair in any cluster an index is 0/0, and rounding decides.
    weights = np.array(data.draw(st.lists(st.floats(2, 4), min_size=n, max_size=n)))
    shares = np.array(data.draw(st.lists(st.floats(0.1, 0.9), min_size=n, max_size=n)))
    split = take(table, np.tile(np.arange(n), 2))
    parts = np.concatenate([shares * weights, (1 - shares) * weights])
    assert_same(evaluate(metric, split, sample_weight=parts), evaluate(metric, table, sample_weight=weights))


def _along(rows, values):
    return rows.reshape(-1, *[1] * (values.ndim - 1))
