"""What rounding cannot move: a choice among settings is the same one rounding unit away and in other units."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_wine

from kfrc import KFRC, NearTieWarning
from kfrc.judges import Judge, Opinion

UNITS = np.array([0.001, 3.7, 1e5, 1 / 3, 12.0])


def uneven(seed):
    """Tables without clear groups, on which many settings and partitions are nearly as good as the best."""
    rng = np.random.default_rng(seed)
    n_rows, n_columns = int(rng.integers(30, 90)), int(rng.integers(2, 6))
    if seed % 4 == 1:
        return rng.uniform(size=(n_rows, n_columns)), 4
    return np.round(2.0 * rng.standard_normal((n_rows, n_columns))), 3


def one_unit_away(X):
    up = np.random.default_rng(1).random(X.shape) < 0.5
    return np.nextafter(X, np.where(up, np.inf, -np.inf))


def quietly(model, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [11, 25, 31, 33, 35])
def test_one_rounding_unit_or_other_units_of_measurement_do_not_move_a_choice(seed):
    X, n_clusters = uneven(seed)
    here = quietly(KFRC(n_clusters, random_state=0), X)
    for other in (one_unit_away(X), 2.54 * X, UNITS[: X.shape[1]] * X):
        there = quietly(KFRC(n_clusters, random_state=0), other)
        assert_array_equal(there.labels_, here.labels_)
        assert_allclose(there.memberships_, here.memberships_, rtol=0, atol=1e-6)
        assert (there.fuzzifier_.label, there.fuzzifier_.m) == (here.fuzzifier_.label, here.fuzzifier_.m)
        assert_array_equal(there.selection_["level"], here.selection_["level"])


def test_a_number_of_clusters_is_not_moved_either():
    X, _ = uneven(31)
    here, there = (quietly(KFRC("auto", max_clusters=4, random_state=0), data) for data in (X, one_unit_away(X)))
    assert there.n_clusters_ == here.n_clusters_
    assert_array_equal(there.labels_, here.labels_)


@pytest.mark.slow
def test_units_of_the_user_are_rounded_relative_to_the_deviation():
    X, n_clusters = uneven(31)
    model = KFRC(n_clusters, standardize=False, random_state=0)
    here, there = quietly(model, X).labels_, quietly(model, one_unit_away(X)).labels_
    assert_array_equal(there, here)


@dataclass(frozen=True)
class Torn(Judge):
    """Sees the columns cut in halves one way or the other, with nearly the same evidence."""

    lead: float = 0.0

    def examine(self, X, partitions):
        opinions = []
        for column, lead in ((0, self.lead), (1, 0.0)):
            U = np.eye(2)[(X[:, column] > 0).astype(int)]
            rows = np.sin(np.arange(len(X)) + 3.0 * column)
            opinions.append(Opinion(f"column {column}", 0.0, U, rows - rows.mean() + lead / len(X)))
        return opinions


@pytest.fixture
def X():
    return np.random.default_rng(0).standard_normal((100, 2))


def test_a_tie_is_said_to_be_one(X):
    with pytest.warns(NearTieWarning, match=r"another partition .* just as well"):
        model = KFRC(2, judge=Torn(1e-6), random_state=0).fit(X)
    assert model.selection_ties_ == 1


def test_a_clear_lead_is_no_tie(X):
    model = KFRC(2, judge=Torn(50.0), random_state=0).fit(X)
    assert model.selection_ties_ == 0


def test_clear_groups_are_no_tie():
    model = KFRC(3, random_state=0).fit(load_wine().data)
    assert model.selection_ties_ == 0
