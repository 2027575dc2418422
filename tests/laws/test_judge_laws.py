"""What every registered judge must do, whatever it believes in."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from kfrc._numerics import standardize
from kfrc.judges import Judge
from kfrc.metrics import adjusted_rand_score
from strategies import each, random_memberships

every_judge = each("judge", Judge)


def make_groups(seed, n_clusters=3, separation=3.0):
    """Rows in standard units around a few centers, and their labels; every cluster has members."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(60) % n_clusters)
    centers = separation * rng.standard_normal((n_clusters, 4))
    return standardize(centers[labels] + rng.standard_normal((60, 4))), labels


@st.composite
def problems(draw):
    """Rows in standard units, and a few fuzzy and hard partitions of them, right and wrong ones."""
    n_clusters, seed = draw(st.integers(1, 4)), draw(st.integers(0, 10_000))
    X, labels = make_groups(seed, n_clusters, draw(st.sampled_from([0.0, 1.0, 4.0])))
    rng = np.random.default_rng(seed)
    random = [random_memberships(rng, len(X), n_clusters) for _ in range(draw(st.integers(0, 2)))]
    return X, [np.eye(n_clusters)[labels], np.eye(n_clusters)[rng.permutation(labels)], *random]


@every_judge
@settings(max_examples=8)
@given(problem=problems())
def test_opinions_are_sorted_from_the_best(judge, problem):
    evidence = [opinion.evidence for opinion in judge.examine(*problem)]
    assert len(evidence) > 0
    assert np.isfinite(evidence).all()
    assert evidence == sorted(evidence, reverse=True)


@every_judge
@settings(max_examples=8)
@given(problem=problems())
def test_probabilities_of_every_row_lie_on_the_simplex(judge, problem):
    X, partitions = problem
    for opinion in judge.examine(X, partitions):
        assert opinion.posterior.shape == partitions[0].shape
        assert (opinion.posterior >= 0).all()
        assert_allclose(opinion.posterior.sum(axis=1), 1.0, atol=1e-10)


@every_judge
@settings(max_examples=8)
@given(problem=problems())
def test_evidence_is_the_sum_of_the_shares_of_the_rows(judge, problem):
    X, partitions = problem
    for opinion in judge.examine(X, partitions):
        assert opinion.row_evidence.shape == (len(X),)
        assert opinion.row_evidence.sum() == pytest.approx(opinion.evidence, rel=1e-10)


@every_judge
@settings(max_examples=8)
@given(problem=problems())
def test_a_model_repeats_the_probabilities_of_the_rows_it_was_formed_on(judge, problem):
    X, partitions = problem
    for opinion in judge.examine(X, partitions):
        if opinion.model is not None:
            assert_allclose(opinion.model.posterior(X), opinion.posterior, atol=1e-9)


@every_judge
@settings(max_examples=8)
@given(problem=problems())
def test_the_same_question_gets_the_same_answer(judge, problem):
    once, again = judge.examine(*problem), judge.examine(*problem)
    assert [opinion.name for opinion in once] == [opinion.name for opinion in again]
    for one, other in zip(once, again, strict=True):
        assert_array_equal(one.posterior, other.posterior)
        assert_array_equal(one.row_evidence, other.row_evidence)


@every_judge
@pytest.mark.parametrize("seed", range(5))
def test_permuting_rows_permutes_the_opinion(judge, seed):
    X, labels = make_groups(seed)
    U, rows = np.eye(3)[labels], np.random.default_rng(seed).permutation(len(X))
    here, there = judge.examine(X, [U])[0], judge.examine(X[rows], [U[rows]])[0]
    assert there.evidence == pytest.approx(here.evidence, rel=1e-8)
    assert_allclose(there.posterior, here.posterior[rows], atol=1e-6)
    assert_allclose(there.row_evidence, here.row_evidence[rows], atol=1e-6)


@every_judge
@pytest.mark.parametrize("seed", range(5))
def test_permuting_columns_and_clusters_changes_nothing_else(judge, seed):
    X, labels = make_groups(seed)
    U, columns, clusters = np.eye(3)[labels], [2, 0, 3, 1], [2, 0, 1]
    here, there = judge.examine(X, [U])[0], judge.examine(X[:, columns], [U[:, clusters]])[0]
    assert there.evidence == pytest.approx(here.evidence, rel=1e-8)
    assert_allclose(there.posterior, here.posterior[:, clusters], atol=1e-6)


@every_judge
@pytest.mark.parametrize("seed", range(5))
def test_the_right_partition_is_believed_rather_than_a_shuffled_one(judge, seed):
    X, labels = make_groups(seed, separation=5.0)
    wrong = np.random.default_rng(seed).permutation(labels)
    best = judge.examine(X, [np.eye(3)[wrong], np.eye(3)[labels]])[0]
    assert adjusted_rand_score(labels, best.posterior) > 0.9
