"""Judges: what every one of them must do, and what the mixture judge computes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.mixture import GaussianMixture

from kfrc.judges import RIDGE, Judge, MixtureJudge, n_parameters, resolution
from kfrc.metrics import adjusted_rand_score

every_judge = pytest.mark.parametrize("name", Judge.registry)


@pytest.fixture(scope="module")
def groups():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], [60, 40, 30])
    X = rng.standard_normal((130, 4))
    X[:, 0] += np.array([-3.0, 0.0, 3.0])[labels]
    X[:, 1] += np.array([2.0, -2.0, 2.0])[labels]
    return (X - X.mean(axis=0)) / X.std(axis=0, ddof=1), labels


def proposals(labels, rng):
    wrong = rng.permutation(labels)
    return [np.eye(3)[wrong], np.eye(3)[labels]]


@every_judge
def test_the_right_partition_is_believed(groups, name):
    X, labels = groups
    best = Judge.from_name(name).examine(X, proposals(labels, np.random.default_rng(1)))[0]
    assert adjusted_rand_score(labels, best.posterior) > 0.9
    assert_allclose(best.posterior.sum(axis=1), 1.0, atol=1e-12)
    assert best.row_evidence.sum() == pytest.approx(best.evidence)


@every_judge
def test_opinions_come_best_first(groups, name):
    X, labels = groups
    evidence = [o.evidence for o in Judge.from_name(name).examine(X, proposals(labels, np.random.default_rng(2)))]
    assert evidence == sorted(evidence, reverse=True)
    assert np.isfinite(evidence).all()


@every_judge
def test_the_order_of_rows_columns_and_clusters_does_not_matter(groups, name):
    X, labels = groups
    judge, U = Judge.from_name(name), np.eye(3)[labels]
    rows, columns = np.random.default_rng(3).permutation(len(X)), [2, 0, 3, 1]
    here = judge.examine(X, [U])[0]
    there = judge.examine(X[rows][:, columns], [U[rows][:, [2, 0, 1]]])[0]
    assert there.evidence == pytest.approx(here.evidence, rel=1e-6)
    assert_allclose(there.posterior, here.posterior[rows][:, [2, 0, 1]], atol=1e-3)


@every_judge
def test_evidence_of_three_groups_beats_one_and_two(groups, name):
    X, labels = groups
    judge = Judge.from_name(name)
    one = judge.examine(X, [np.ones((len(X), 1))])[0]
    two = judge.examine(X, [np.eye(2)[np.minimum(labels, 1)]])[0]
    three = judge.examine(X, [np.eye(3)[labels]])[0]
    assert three.evidence > max(one.evidence, two.evidence)


def test_one_group_is_seen_where_there_is_one():
    X = np.random.default_rng(0).standard_normal((200, 3))
    halves = np.eye(2)[(X[:, 0] > 0).astype(int)]
    judge = MixtureJudge()
    assert judge.examine(X, [np.ones((200, 1))])[0].evidence > judge.examine(X, [halves])[0].evidence


@pytest.mark.parametrize(("covariance", "theirs"), [("tied", "tied"), ("diagonal", "diag")])
def test_likelihood_is_that_of_scikit_learn(groups, covariance, theirs):
    X, labels = groups
    judge = MixtureJudge(kinds=((covariance, math.inf),), max_iter=500, tol=1e-10)
    ours = judge.examine(X, [np.eye(3)[labels]])[0]
    means = np.array([X[labels == k].mean(axis=0) for k in range(3)])
    mixture = GaussianMixture(3, covariance_type=theirs, means_init=means, tol=1e-10, max_iter=500).fit(X)
    # Floors on the variances differ a little.
    assert -2 * ours.evidence == pytest.approx(mixture.bic(X), rel=5e-3)
    assert_allclose(ours.posterior, mixture.predict_proba(X), atol=0.1)
    assert_allclose(ours.model.posterior(X), ours.posterior, atol=1e-9)


@pytest.mark.parametrize("kind", MixtureJudge().kinds)
def test_more_steps_never_lower_the_likelihood(groups, kind):
    X, labels = groups
    start = 0.4 / 3 + 0.6 * np.eye(3)[np.random.default_rng(5).permutation(labels)]
    evidence = [
        MixtureJudge(kinds=(kind,), max_iter=k, tol=-math.inf).examine(X, [start])[0].evidence for k in (1, 5, 20)
    ]
    # Exact up to the small floor on the variances, which is not part of the likelihood.
    assert (np.diff(evidence) >= -1e-3 * len(X)).all()


def test_heavy_tails_are_recognized():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], 100)
    X = rng.standard_t(2.5, (200, 3)) + 8.0 * labels[:, None]
    X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    best = MixtureJudge().examine(X, [np.eye(2)[labels]])[0]
    assert best.name.endswith("_t")
    assert adjusted_rand_score(labels, best.posterior) > 0.9


def test_a_value_that_many_rows_share_does_not_make_a_cluster():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], 100)
    X = rng.standard_normal((200, 3))
    X[:, :2] += 4.0 * labels[:, None]
    zeros = rng.permutation(np.repeat([True, False], 100))
    X[zeros, 2] = 0.0
    X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    assert resolution(X)[2] == 0.5
    assert resolution(X)[0] == RIDGE
    best = MixtureJudge().examine(X, [np.eye(2)[zeros.astype(int)], np.eye(2)[labels]])[0]
    assert adjusted_rand_score(labels, best.posterior) > 0.9


def test_more_columns_than_rows_are_judged_without_full_covariances():
    X = np.random.default_rng(0).standard_normal((20, 50))
    X[:10] += 1.5
    opinions = MixtureJudge().examine((X - X.mean(axis=0)) / X.std(axis=0), [np.repeat(np.eye(2), 10, axis=0)])
    assert {opinion.name for opinion in opinions} == {"tied_diagonal", "diagonal", "tied_diagonal_t"}
    assert all(np.isfinite(opinion.evidence) for opinion in opinions)


def test_parameters_are_counted():
    assert n_parameters("tied", 3, 4) == 2 + 12 + 10
    assert n_parameters("tied_diagonal", 3, 4) == 2 + 12 + 4
    assert n_parameters("diagonal", 3, 4) == 2 + 12 + 12
