"""Rows of a fit that converged are given their memberships again: by every method, from memory and from blocks."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.validation import has_fit_parameter

from kfrc import FANNY, FCM, FRC, KFRC, NERFCM, RFCM, VFCM
from kfrc.clusterers import _relational, fcm, kfrc
from kfrc.sources import ArraySource
from strategies import CLUSTERERS

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::kfrc.UniformCollapseWarning"),
    pytest.mark.filterwarnings("ignore::kfrc.exceptions.MissingRowWarning"),
    pytest.mark.filterwarnings("ignore::kfrc.exceptions.UnequalScalesWarning"),
]

M = {
    "power": [1.05, 1.2, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0],
    "exponential": [0.1, 1.0, 5.0, 20.0],
    "quadratic": [0.1, 0.5, 0.9, 1.0],
    "complementary_root": [1.05, 1.5, 3.0, 20.0],
}
TAKING_BLANKS = (FCM, FRC, KFRC)
N_TABLES = {KFRC: 30, FANNY: 15}


def draw_table(rng, *, blanks):
    """Rows with values from 1e-3 to 5e3: noise, groups, a lattice with near-ties, or with far values."""
    n, p, c = int(rng.choice([12, 20, 40, 80])), int(rng.integers(1, 6)), int(rng.integers(2, 6))
    unit = 10.0 ** rng.uniform(-3.0, np.log10(5e3), p if rng.random() < 0.5 else 1)
    kind = rng.choice(["noise", "groups", "lattice", "far values"])
    X = rng.standard_t(1.2, (n, p)) if kind == "far values" else rng.standard_normal((n, p))
    if kind == "groups":
        X += 6.0 * rng.standard_normal((c, p))[rng.integers(c, size=n)]
    if kind == "lattice":
        X = rng.integers(0, 4, (n, p)) + 1e-6 * rng.integers(0, 2) * X
    X = unit * (X + 10.0 ** rng.uniform(0.0, 4.0) * rng.integers(0, 2))
    if blanks and p > 1:
        X[rng.random(X.shape) < rng.choice([0.02, 0.1, 0.2])] = np.nan
        X[np.isnan(X).all(axis=1), 0] = unit[0]
    return X, c


def draw_model(cls, rng, n_clusters):
    settings = {"n_clusters": n_clusters, "random_state": 0}
    name = str(rng.choice(list(M))) if cls in TAKING_BLANKS and rng.random() < 0.5 else "power"
    settings["m0" if cls is VFCM else "m"] = float(rng.choice(M[name]))
    if cls in TAKING_BLANKS:
        settings["fuzzifier"] = name
    if cls is KFRC:
        settings |= {"bandwidths": float(rng.choice([0.5, 2.0])), "kernel": str(rng.choice(["sum", "linear"]))}
    if cls in (FRC, RFCM, NERFCM, FANNY):
        settings["metric"] = "sqeuclidean"
    if "n_init" in cls().get_params():
        settings["n_init"] = 1
    return cls(**settings)


def largest_difference(model, X):
    return float(np.abs(np.asarray(model.predict_proba(X)) - np.asarray(model.memberships_)).max())


@pytest.mark.parametrize("cls", CLUSTERERS)
def test_rows_of_a_fit_are_given_their_memberships_again(cls):
    n_converged, n_tables = 0, N_TABLES.get(cls, 60)
    for seed in range(n_tables):
        rng = np.random.default_rng([31, seed])
        X, n_clusters = draw_table(rng, blanks=cls in TAKING_BLANKS and seed % 3 > 0)
        model = draw_model(cls, rng, n_clusters)
        weighted = {"sample_weight": rng.choice([0.0, 0.5, 1.0, 2.0, 3.7], len(X))} if seed % 4 == 0 else {}
        rows = pd.DataFrame(X) if seed % 5 == 0 else X
        model.fit(rows, **(weighted if has_fit_parameter(model, "sample_weight") else {}))
        if model.status_ == "converged":
            n_converged += 1
            assert largest_difference(model, rows) <= 1e-6, (seed, model)
    assert n_converged > 0.7 * n_tables


@pytest.mark.parametrize("cls", [FCM, FRC])
@pytest.mark.parametrize("from_source", [False, True])
def test_so_are_those_of_a_fit_in_blocks(cls, from_source, monkeypatch):
    for module in (fcm, _relational):
        monkeypatch.setattr(module, "SAMPLE_ROWS", 2)  # so that small tables are passed over in blocks as well
    n_converged, n_tables = 0, 25
    for seed in range(n_tables):
        rng = np.random.default_rng([32, seed])
        X, n_clusters = draw_table(rng, blanks=seed % 3 > 0)
        model = draw_model(cls, rng, n_clusters)
        model.fit(ArraySource(X) if from_source else X)
        if model.status_ == "converged":
            n_converged += 1
            assert largest_difference(model, X) <= 1e-6, (seed, model)
    assert n_converged > 0.7 * n_tables


def draw_table_with_far_rows(rng):
    """Columns of very different ranges with blanks, most rows very close to each other beside a few far ones."""
    n, p = int(rng.choice([40, 100, 400])), int(rng.integers(2, 6))
    X = rng.standard_normal((n, p)) * 10.0 ** rng.uniform(-3.0, 0.0, p)
    X[rng.integers(n, size=max(2, n // 50))] += 10.0 ** rng.uniform(2.0, 6.0) * rng.choice([-1, 1], (1, p))
    X[rng.random(X.shape) < 0.15] = np.nan
    X[np.isnan(X).all(axis=1), 0] = 0.0
    return X


@pytest.mark.parametrize("rows_as", ["memory", "weighted", "blocks", "source"])
def test_near_rows_keep_their_distances_beside_far_ones_under_the_linear_kernel(rows_as, monkeypatch):
    if rows_as in ("blocks", "source"):
        monkeypatch.setattr(kfrc, "SAMPLE_ROWS", 2)
    n_converged, n_tables = 0, 25
    for seed in range(n_tables):
        rng = np.random.default_rng([33, seed])
        X, n_clusters = draw_table_with_far_rows(rng), int(rng.integers(2, 5))
        m, theta = float(rng.choice([1.05, 1.2, 1.5, 2.0, 3.0, 10.0])), 10.0 ** rng.uniform(-2.0, 2.0, X.shape[1])
        model = KFRC(n_clusters, kernel="linear", bandwidths=theta, m=m, max_iter=1000, n_init=1, random_state=0)
        weights = {"sample_weight": rng.choice([0.5, 1.0, 3.7], len(X))} if rows_as == "weighted" else {}
        model.fit(ArraySource(X) if rows_as == "source" else X, **weights)
        if model.status_ == "converged":
            n_converged += 1
            assert largest_difference(model, X) <= 1e-6, (seed, model)
    assert n_converged > 0.7 * n_tables
