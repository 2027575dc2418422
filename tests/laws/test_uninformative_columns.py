"""Columns that tell nothing change nothing: a constant one, and every column twice."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from kfrc import FANNY, KFRC, ConstantFeatureWarning
from kfrc._numerics import standardize
from kfrc.clusterers._input_space import Limits
from kfrc.clusterers._rows import MergedRows
from strategies import CLUSTERERS

N_TABLES = 17
SETTINGS = {KFRC: {"bandwidths": 2.0, "m": 1.5}, FANNY: {"m": 1.5}}


def draw_rows(seed):
    """Groups that overlap, in columns of their own units."""
    rng = np.random.default_rng([4, seed])
    n, p, c = int(rng.integers(30, 90)), int(rng.integers(1, 7)), int(rng.integers(2, 5))
    centers = rng.uniform(1.0, 4.0) * rng.standard_normal((c, p))
    X = centers[rng.integers(c, size=n)] + rng.standard_normal((n, p))
    return X * 10.0 ** rng.uniform(-2.0, 2.0, p), c


CHANGES = {
    "a constant column": lambda X: np.column_stack([X, np.full(len(X), 7.0)]),
    "ten constant columns": lambda X: np.hstack([np.full((len(X), 10), -2.0), X]),
    "every column twice": lambda X: np.hstack([X, X]),
    "every column eight times": lambda X: np.tile(X, 8),
}


@pytest.mark.filterwarnings("ignore::kfrc.UniformCollapseWarning")
@pytest.mark.filterwarnings("ignore::kfrc.exceptions.UnequalScalesWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings(f"ignore::{ConstantFeatureWarning.__module__}.{ConstantFeatureWarning.__name__}")
@pytest.mark.parametrize("cls", CLUSTERERS)
def test_columns_that_tell_nothing_move_no_membership(cls):
    n_converged = 0
    for seed in range(N_TABLES):
        X, n_clusters = draw_rows(seed)
        names = list(CHANGES)
        model = cls(n_clusters, **SETTINGS.get(cls, {}), **({} if cls is FANNY else {"random_state": 0}))
        if model.fit(X).status_ != "converged":
            continue
        plain = model.memberships_
        for name in (names[seed % 2], names[2 + seed % 2]):
            n_converged += 1
            again = model.fit(CHANGES[name](X)).memberships_
            assert np.abs(again - plain).max() <= 1e-6, (name, seed)
    assert n_converged >= N_TABLES


@pytest.mark.parametrize("weighted", [False, True])
def test_the_unit_of_a_step_of_the_centers_is_that_of_distances(weighted):
    rng = np.random.default_rng(0)
    X = standardize(rng.standard_normal((40, 4)) * [1.0, 1e-3, 1e4, 7.0])
    weights = np.full(40, 2.0) if weighted else None
    unit = partial(_unit, weights)
    one = 1.0 if weights is None else np.sqrt(78.0 / 79.0)  # of 80 rows, each twice
    assert unit(X) == pytest.approx(one, rel=1e-12)
    assert unit(np.column_stack([X, np.full(40, 1e10 + 0.1)])) == pytest.approx(one, rel=1e-12)
    assert unit(np.hstack([X, X])) == pytest.approx(np.sqrt(2.0) * one, rel=1e-12)
    turned = X @ np.linalg.qr(rng.standard_normal((9, 4)))[0].T
    assert unit(turned + 3.0) == pytest.approx(one, rel=1e-12)


def _unit(weights, X):
    rows = MergedRows(X, weights, np.arange(len(X)), np.ones(len(X)))
    return Limits.of(rows, 10, 1e-6).scale
