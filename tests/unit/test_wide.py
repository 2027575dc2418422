"""Tables with many more columns than rows."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kfrc import KFRC
from kfrc import spectrum as spectra
from kfrc.bandwidth import select_bandwidths
from kfrc.bandwidth.optimizers import box, lbfgs
from kfrc.columns import table_of
from kfrc.directions import sparse_directions
from kfrc.exceptions import LeftOutColumnWarning
from kfrc.existence import test_existence as existence_of
from kfrc.foremost import FALSE_SHARE, MOST_COLUMNS, differing_columns, foremost_columns
from kfrc.gram import gram_family
from kfrc.kernels import Kernel
from kfrc.metrics import adjusted_rand_score
from kfrc.screening import DependenceScreen, Screen
from kfrc.selection.wide import set_columns_aside


def make(n_columns, *, n_samples=60, n_informative=30, shift=1.5, seed=0):
    """Three groups that differ in some columns, at random places."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(n_samples) % 3)
    informative = np.sort(rng.permutation(n_columns)[:n_informative])
    X = rng.standard_normal((n_samples, n_columns))
    X[:, informative] += np.column_stack([rng.permutation([-shift, 0.0, shift]) for _ in informative])[labels]
    return X, labels, informative


@pytest.fixture(scope="module")
def wide():
    return make(3000)


@pytest.fixture(scope="module")
def fit(wide):
    return KFRC(3, n_starts=2, random_state=0).fit(wide[0])


def test_clusters_and_columns_are_found_among_thousands(wide, fit):
    X, labels, informative = wide
    assert adjusted_rand_score(labels, fit.labels_) == 1.0
    first = np.argsort(-fit.contributions_)[: len(informative)]
    assert np.isin(first, informative).mean() >= 0.9
    assert adjusted_rand_score(labels, fit.predict(X)) == 1.0


def test_a_fit_tells_how_many_columns_were_set_aside(wide, fit):
    X, _, informative = wide
    assert len(fit.foremost_.columns) <= MOST_COLUMNS
    assert fit.foremost_.n_set_aside == X.shape[1] - len(fit.foremost_.columns)
    assert len(informative) - 2 <= fit.foremost_.n_differing <= len(informative) / (1 - 3 * FALSE_SHARE)
    used = np.flatnonzero(np.isfinite(fit.bandwidths_))
    assert np.isin(used, fit.foremost_.columns).all()


def test_a_table_of_ordinary_width_is_seen_whole():
    X = make(250)[0]
    assert set_columns_aside(X, [3], Screen.from_name("dependence")) is None
    assert set_columns_aside(X, [3], DependenceScreen(max_width=100)) is not None
    assert set_columns_aside(X, [3], Screen.from_name("none")) is None


@pytest.mark.slow
def test_more_different_columns_than_are_seen_are_told():
    X, labels, _ = make(600, n_informative=400)
    with pytest.warns(LeftOutColumnWarning, match="foremost were used"):
        model = KFRC(3, n_starts=1, max_anisotropy=1.0, random_state=0).fit(X)
    assert adjusted_rand_score(labels, model.labels_) == 1.0


@pytest.mark.slow
def test_nothing_of_size_p_by_p_is_allocated():
    X, labels, _ = make(6000)
    tracemalloc.start()
    model = KFRC(3, n_starts=1, max_anisotropy=1.0, random_state=0).fit(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert adjusted_rand_score(labels, model.labels_) == 1.0
    assert peak < 8 * 6000**2 / 2  # a p x p matrix of floats has 288 MB


def test_few_columns_that_share_a_direction_are_found_below_the_threshold_of_principal_components():
    rng = np.random.default_rng(3)
    groups = np.repeat([1.0, -1.0], 40)
    X = rng.standard_normal((80, 8000))
    X[:, :8] += groups[:, None]
    X -= X.mean(axis=0)
    A = X / np.sqrt(np.square(X).sum(axis=0))
    target = groups / np.sqrt(80)
    leading = np.linalg.svd(A, full_matrices=False)[0][:, 0]
    assert abs(target @ leading) < 0.5
    assert abs(target @ sparse_directions(A, 3)).max() > 0.85


def test_modules_of_columns_do_not_hide_clusters():
    X, _, informative = make(1500, n_samples=90)
    rng = np.random.default_rng(7)
    others = np.setdiff1d(np.arange(1500), informative)[:200].reshape(2, 100)
    for module in others:
        X[:, module] = 0.6 * X[:, module] + 0.8 * rng.standard_normal((90, 1)) * rng.choice([-1.0, 1.0], 100)
    kept = foremost_columns(X, [3]).columns
    assert np.isin(informative, kept).mean() > 0.9
    assert not np.isin(others.ravel(), kept).any()


def test_columns_by_chance_are_few():
    X, labels, informative = make(5000)
    found = differing_columns(X, np.eye(3)[labels])
    assert np.isin(informative, found).mean() > 0.9
    assert (~np.isin(found, informative)).mean() < 3 * FALSE_SHARE
    shuffled = np.random.default_rng(0).permutation(labels)
    assert len(differing_columns(X, np.eye(3)[shuffled])) <= 3


@pytest.mark.slow
def test_foremost_columns_do_not_depend_on_the_order_of_columns():
    X, _, _ = make(800)
    order = np.random.default_rng(1).permutation(800)
    there = foremost_columns(X, [3]).columns
    assert set(order[foremost_columns(X[:, order], [3]).columns].tolist()) == set(there.tolist())


@pytest.mark.slow
def test_a_table_with_weights_has_the_foremost_columns_of_its_copies():
    X, _, _ = make(400, n_samples=40)
    weights = np.tile([1.0, 2.0], 20)
    weighted = foremost_columns(table_of(X, sample_weight=weights), [3]).columns
    copied = foremost_columns(np.repeat(X, weights.astype(int), axis=0), [3]).columns
    assert np.isin(weighted, copied).mean() > 0.8


@pytest.mark.parametrize("kernel", ["linear", "sum"])
def test_dual_and_primal_have_the_same_eigenpairs(kernel, monkeypatch):
    X = np.random.default_rng(0).standard_normal((20, 150))
    gram = gram_family(X, Kernel.from_name(kernel), "low_rank").at(np.full(150, 2.0))
    dual = spectra.spectrum_of(gram, 4)
    monkeypatch.setattr(spectra, "_DUAL_FROM", np.inf)
    primal = spectra.spectrum_of(gram, 4)
    assert_allclose(dual.eigenvalues, primal.eigenvalues, atol=1e-10)
    assert_allclose(np.abs(np.diag(dual.eigenvectors.T @ primal.eigenvectors)), 1.0, atol=1e-10)


@pytest.mark.parametrize("bounds", [(0.0, 0.0), (-3.0, 10.0), (-0.1, 0.1)])
def test_a_basis_without_its_matrix_maps_as_the_matrix_does(bounds, monkeypatch):
    from kfrc.bandwidth.problem import Problem

    X = np.random.default_rng(0).standard_normal((10, 6))
    problem = Problem(gram_family(X, Kernel.from_name("linear")), 2, 5.0, np.log(X.std(axis=0)), bounds)
    matrix = box.box_for(problem)
    monkeypatch.setattr(box, "_MAX_MATRIX", 0)
    implicit = box.box_for(problem)
    assert isinstance(implicit.basis, box.Basis)
    x = np.linspace(matrix.lower, matrix.upper, 7)[3] + 0.01 * np.arange(len(matrix.lower))
    gradients = np.random.default_rng(1).standard_normal((2, 6))
    assert_allclose(implicit.log_bandwidths(x), matrix.log_bandwidths(x), atol=1e-12)
    assert_allclose(implicit.pull_back(gradients), matrix.pull_back(gradients), atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("threshold", [0.2, 0.3])
def test_a_penalty_holds_the_threshold_as_the_constraint_does(threshold, monkeypatch):
    X, _, _ = make(60, n_samples=90, n_informative=20)
    search = {"kernel": "linear", "criterion": "gap", "threshold": threshold, "level": 0.0, "n_starts": 2}
    constrained = select_bandwidths(X, 3, random_state=0, **search)
    monkeypatch.setattr(lbfgs, "_SLSQP_MOST_VARIABLES", 10)
    penalized = select_bandwidths(X, 3, random_state=0, **search)
    assert penalized.eigenvalues[0] >= threshold - 1e-5
    assert penalized.criterion_value >= constrained.criterion_value - 0.02


@pytest.mark.slow
def test_existence_of_groups_in_a_wide_table():
    X, _, _ = make(600)
    noise = np.random.default_rng(5).standard_normal((60, 600))
    assert existence_of(X, n_draws=19, random_state=0).p_value == 0.05
    assert existence_of(noise, n_draws=19, random_state=0).p_value > 0.05
