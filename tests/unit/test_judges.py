"""The mixture judge: how many groups it sees, which kinds it prefers, and the numbers of scikit-learn.

What every registered judge must do is in tests/laws/test_judge_laws.py.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.mixture import GaussianMixture

from kfrc import KFRC
from kfrc._numerics import standardize
from kfrc.exceptions import KFRCError
from kfrc.judges import MixtureJudge
from kfrc.judges.mixture import sphered_partitions
from kfrc.metrics import adjusted_rand_score, frobenius_adjusted_rand_score
from kfrc.mixtures import RIDGE, Diagonal, MixtureKind, Tied, resolution


@pytest.fixture(scope="module")
def groups():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], [60, 40, 30])
    X = rng.standard_normal((130, 4))
    X[:, 0] += np.array([-3.0, 0.0, 3.0])[labels]
    X[:, 1] += np.array([2.0, -2.0, 2.0])[labels]
    return standardize(X), labels


def test_evidence_of_three_groups_beats_one_and_two(groups):
    X, labels = groups
    judge = MixtureJudge()
    one = judge.examine(X, [np.ones((len(X), 1))])[0]
    two = judge.examine(X, [np.eye(2)[np.minimum(labels, 1)]])[0]
    three = judge.examine(X, [np.eye(3)[labels]])[0]
    assert three.evidence > max(one.evidence, two.evidence)


def test_one_group_is_seen_where_there_is_one():
    X = np.random.default_rng(0).standard_normal((200, 3))
    halves = np.eye(2)[(X[:, 0] > 0).astype(int)]
    judge = MixtureJudge()
    assert judge.examine(X, [np.ones((200, 1))])[0].evidence > judge.examine(X, [halves])[0].evidence


@pytest.mark.parametrize(("covariance", "theirs"), [(Tied(), "tied"), (Diagonal(), "diag")])
def test_likelihood_is_that_of_scikit_learn(groups, covariance, theirs):
    X, labels = groups
    judge = MixtureJudge(kinds=(MixtureKind(covariance),), n_sphered=0, max_iter=500, tol=1e-10)
    ours = judge.examine(X, [np.eye(3)[labels]])[0]
    means = np.array([X[labels == k].mean(axis=0) for k in range(3)])
    mixture = GaussianMixture(3, covariance_type=theirs, means_init=means, tol=1e-10, max_iter=500).fit(X)
    # Floors on the variances differ a little.
    assert -2 * ours.evidence == pytest.approx(mixture.bic(X), rel=5e-3)
    assert_allclose(ours.posterior, mixture.predict_proba(X), atol=0.1)
    assert_allclose(ours.model.posterior(X), ours.posterior, atol=1e-9)


@pytest.mark.parametrize("kind", MixtureJudge().kinds, ids=lambda kind: kind.name)
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
    X = standardize(X)
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
    X = standardize(X)
    assert resolution(X)[2] == 0.5
    assert resolution(X)[0] == RIDGE
    best = MixtureJudge().examine(X, [np.eye(2)[zeros.astype(int)], np.eye(2)[labels]])[0]
    assert adjusted_rand_score(labels, best.posterior) > 0.9


def test_more_columns_than_rows_are_judged_without_full_covariances():
    X = np.random.default_rng(0).standard_normal((20, 50))
    X[:10] += 1.5
    opinions = MixtureJudge().examine(standardize(X), [np.repeat(np.eye(2), 10, axis=0)])
    assert {opinion.name for opinion in opinions} == {"tied_diagonal", "diagonal", "tied_diagonal_t"}
    assert all(np.isfinite(opinion.evidence) for opinion in opinions)


def test_judge_whose_kinds_all_need_more_rows_says_how_many_and_what_to_use():
    X = standardize(np.random.default_rng(0).standard_normal((20, 15)))
    halves = np.repeat(np.eye(2), 10, axis=0)
    kinds = MixtureKind(Tied()), MixtureKind(Tied(), degrees_of_freedom=4.0)
    words = r"20 rows and 15 columns \(tied needs 31 rows; tied_t needs 31 rows\): .*MixtureKind\(Diagonal\(\)\)"
    with pytest.raises(KFRCError, match=words):
        MixtureJudge(kinds=kinds).examine(X, [halves])
    enough = standardize(np.random.default_rng(0).standard_normal((31, 15)))
    assert MixtureJudge(kinds=kinds).examine(enough, [np.eye(2)[np.arange(31) % 2]])


def test_judge_reports_a_kind_that_no_number_of_rows_is_enough_for_and_the_lack_of_any_kind():
    class Never(Diagonal):
        """A covariance for no data at all."""

        def is_estimable(self, n_samples, n_features, n_clusters=1):
            return False

    X, U = np.random.default_rng(0).standard_normal((20, 2)), np.repeat(np.eye(2), 10, axis=0)
    with pytest.raises(KFRCError, match="Never cannot have so many columns"):
        MixtureJudge(kinds=(MixtureKind(Never()),)).examine(X, [U])
    with pytest.raises(KFRCError, match="has no kinds of mixtures: give it at least one"):
        MixtureJudge(kinds=()).examine(X, [U])


def test_fit_with_a_judge_that_can_estimate_nothing_ends_with_its_message():
    X = np.random.default_rng(0).standard_normal((20, 15))
    with pytest.raises(KFRCError, match="tied needs 31 rows"):
        KFRC(2, judge=MixtureJudge(kinds=(MixtureKind(Tied()),)), n_starts=1, random_state=0).fit(X)


def test_judge_finds_groups_that_differ_in_shape_but_not_in_size():
    # Four groups in two directions of little variance, which a common factor in all columns drowns.
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(4), 50)
    size, shape = rng.standard_normal(200) * 3.0, np.array([[-1, -1], [-1, 1], [1, -1], [1, 1]])[labels] * 0.5
    noise = 0.12 * rng.standard_normal((200, 4))
    signs = np.array([[1, -1, 0, 0], [0, 0, 1, -1]])
    X = standardize(size[:, None] + shape @ signs + noise)
    by_size = np.eye(4)[np.digitize(size, np.quantile(size, [0.25, 0.5, 0.75]))]
    by_size = [by_size, by_size[::-1]]  # one alone would be continued, not compared
    blind, sphered = MixtureJudge(n_sphered=0), MixtureJudge()
    assert frobenius_adjusted_rand_score(sphered.examine(X, by_size)[0].posterior, np.eye(4)[labels]) > 0.9
    assert sphered.examine(X, by_size)[0].evidence > blind.examine(X, by_size)[0].evidence + 10


def test_sphered_partitions_do_not_depend_on_units_or_mixtures_of_columns():
    rng = np.random.default_rng(0)
    X = standardize(np.vstack([rng.normal(0, 1, (40, 3)), rng.normal(4, 1, (40, 3))]))
    mixed = X @ rng.standard_normal((3, 3))
    nothing = np.full(3, 1e-12)
    for U, V in zip(sphered_partitions(X, 2, 3, nothing), sphered_partitions(mixed, 2, 3, nothing), strict=True):
        assert_allclose(U, V)
        assert U[0, 0] == 1.0
    assert sphered_partitions(X, 2, 0, nothing) == []


def test_judge_takes_fewer_distinct_rows_than_clusters():
    X = standardize(np.repeat([[0.0, 1.0], [1.0, 0.0]], 10, axis=0) + 0.0)
    opinions = MixtureJudge().examine(X, [np.eye(3)[np.arange(20) % 3]])
    assert all(np.isfinite(opinion.evidence) for opinion in opinions)
