"""Evidence on sets of columns, and whether clusters are separated."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kfrc._numerics import standardize
from kfrc.judges import MixtureJudge
from kfrc.screening import DependenceScreen
from kfrc.selection.columns import ColumnEvidence
from kfrc.selection.separation import bridges, deepest_bridge, merges_only_bridged


@pytest.fixture(scope="module")
def labels():
    return np.arange(150) % 3


@pytest.fixture(scope="module")
def X(labels):
    """Two columns with groups, three that share noise, one by itself."""
    rng = np.random.default_rng(0)
    groups = 5.0 * np.eye(3)[labels][:, :2] + rng.standard_normal((150, 2))
    shared = rng.standard_normal((150, 1)) + 0.5 * rng.standard_normal((150, 3))
    return standardize(np.hstack([groups, shared, rng.standard_normal((150, 1))]))


@pytest.fixture(scope="module")
def evidence(X):
    return ColumnEvidence(X, DependenceScreen().examine(X), MixtureJudge())


def test_groups_of_columns_are_heard_by_themselves(evidence):
    assert [view.tolist() for view in evidence.views()] == [
        [0, 1, 2, 3, 4],
        [0, 1, 2, 3, 4, 5],
        [2, 3, 4],
        [0, 1],
        [0, 1, 5],
        [2, 3, 4, 5],
    ]


def test_what_is_left_beside_the_only_group_is_heard(X):
    """Shared noise is plain to the screen; clusters in one column of the others would not be."""
    view = X[:, [0, 2, 3, 4]]
    evidence = ColumnEvidence(view, DependenceScreen().examine(view), MixtureJudge())
    assert [columns.tolist() for columns in evidence.views()] == [[1, 2, 3], [0, 1, 2, 3], [0]]


def test_relevant_columns_are_heard_without_each_group(X):
    rng = np.random.default_rng(1)
    pair = rng.standard_normal((150, 1)) + 0.3 * rng.standard_normal((150, 2))
    wide = standardize(np.hstack([X, pair]))
    views = ColumnEvidence(wide, DependenceScreen().examine(wide), MixtureJudge()).views()
    assert [0, 1, 6, 7] in [columns.tolist() for columns in views]  # all groups but the shared noise


def test_evidence_counts_all_columns_and_the_right_ones_have_most(evidence, labels):
    partition = [np.eye(3)[labels]]
    right, wrong, everything = (evidence.opinions(np.array(c), partition)[0] for c in ([0, 1], [2, 3, 4], range(6)))
    assert right.evidence > max(wrong.evidence, everything.evidence)
    for found in (right, everything):
        assert found.opinion.row_evidence.sum() == pytest.approx(found.evidence)
        assert_allclose(found.opinion.model.posterior(evidence.X), found.opinion.posterior, atol=1e-9)


@pytest.mark.parametrize("start", [range(6), [0, 2, 3, 4], [0]])
def test_revision_ends_at_the_columns_with_groups(evidence, labels, start):
    first = evidence.opinions(np.array(start), [np.eye(3)[labels]])[0]
    refined = evidence.refined(first)
    assert_array_equal(refined.columns, [0, 1])
    assert refined.evidence > first.evidence


def test_columns_that_hang_together_are_described_together(evidence, X):
    rows, n_parameters = evidence.background(np.array([0, 1]))
    shared = X[:, 2:5]
    covariance = np.cov(shared.T, bias=True) + 1e-3 * np.eye(3)
    exact = -0.5 * (
        np.einsum("jd,de,je->j", shared - shared.mean(axis=0), np.linalg.inv(covariance), shared - shared.mean(axis=0))
        + np.linalg.slogdet(2 * np.pi * covariance)[1]
    )
    single = X[:, 5]
    exact += -0.5 * ((single - single.mean()) ** 2 / (single.var() + 1e-3) + np.log(2 * np.pi * (single.var() + 1e-3)))
    assert n_parameters == 9 + 2
    assert_allclose(rows, exact - 0.5 * 11 * np.log(150) / 150, atol=1e-9)


def test_noise_is_described_best_by_one_cluster():
    X = standardize(np.random.default_rng(1).standard_normal((100, 4)))
    evidence = ColumnEvidence(X, DependenceScreen().examine(X), MixtureJudge())
    one = evidence.of_one_cluster()
    two = evidence.opinions(np.arange(4), [np.eye(2)[(X[:, 0] > 0).astype(int)]])[0]
    assert one.evidence > two.evidence


def test_a_small_cluster_beside_a_large_one_is_separated():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.standard_normal(500), 6 + 0.3 * rng.standard_normal(15)])[:, None]
    assert deepest_bridge(X, np.eye(2)[(X[:, 0] > 3).astype(int)]) < 0.3
    assert deepest_bridge(X, np.eye(2)[(X[:, 0] > 0).astype(int)]) > 0.6


def test_one_cluster_and_lone_rows():
    X = np.arange(5.0)[:, None]
    assert deepest_bridge(X, np.ones((5, 1))) == 0.0
    assert deepest_bridge(X, np.eye(2)[[0, 0, 0, 0, 1]]) == 1.0


def test_a_coarser_partition_may_join_only_what_hangs_together():
    rng = np.random.default_rng(3)
    x = np.concatenate([rng.uniform(0, 3, 300), rng.uniform(5, 6, 100)])[:, None]
    fine = np.eye(4)[np.minimum(x[:, 0].astype(int), 3)]
    valleys = bridges(x, fine)
    assert_allclose(valleys, valleys.T)
    assert deepest_bridge(x, fine) == valleys.max()
    by_gap = fine @ np.array([[1, 0], [1, 0], [1, 0], [0, 1]])
    across_it = fine @ np.array([[1, 0], [1, 0], [0, 1], [0, 1]])
    assert merges_only_bridged(by_gap, fine, valleys, 0.4)
    assert not merges_only_bridged(across_it, fine, valleys, 0.4)


def test_what_the_rows_cannot_pay_for_is_compared_by_akaike(labels):
    """Faint clusters in eight columns: cutting one column in two is cheaper, and says nothing."""
    rng = np.random.default_rng(0)
    faint = standardize(rng.standard_normal((150, 8)) + 0.6 * np.eye(3)[labels] @ rng.standard_normal((3, 8)))
    evidence = ColumnEvidence(faint, DependenceScreen().examine(faint), MixtureJudge())
    right = evidence.opinions(np.arange(8), [np.eye(3)[labels]])[0]
    cut = np.eye(3)[np.digitize(faint[:, 0], [-1.0, 1.0])]
    cheap = max((evidence.opinions(np.array([d]), [cut])[0] for d in range(8)), key=lambda opinion: opinion.evidence)
    assert right.evidence < cheap.evidence < evidence.of_one_cluster().evidence
    cheap, right = evidence.priced([cheap, right])
    assert right.evidence > cheap.evidence
    assert right.opinion.row_evidence.sum() == pytest.approx(right.evidence)


def test_evidence_that_is_enough_keeps_its_price(evidence, labels):
    opinions = evidence.opinions(np.array([0, 1]), [np.eye(3)[labels]])
    assert evidence.priced(opinions) == opinions
