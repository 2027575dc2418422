"""Several clusterings of a large table, of which the worse half gives up at every look."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
from sklearn.datasets import make_blobs

import kfrc.fitting.fit as fitting
from kfrc import KFRC
from kfrc.dissimilarity import Dissimilarity
from kfrc.fuzzifiers import Fuzzifier
from kfrc.relational import Given, Random, Start, Status, descend, race, solve_relational
from kfrc.relational.race import _continued


@pytest.fixture(scope="module")
def problem():
    X, _ = make_blobs(300, 5, centers=5, cluster_std=2.0, random_state=1)
    return Dissimilarity.from_features(X), Fuzzifier.from_name("complementary_root")


def _race(problem, **options):
    settings = {"n_init": 5, "max_iter": 1000, "tol": 1e-6, "random_state": 0, "start": Random(), **options}
    return race(problem[0], 5, problem[1], settings.pop("start"), **settings)


def test_the_race_ends_as_low_as_the_lowest_of_all_runs(problem):
    everything = solve_relational(problem[0], 5, problem[1], init="random", n_init=5, random_state=0)
    fastest = _race(problem)
    assert fastest.status is Status.CONVERGED
    assert fastest.objective == pytest.approx(everything.objective, rel=1e-8)
    np.testing.assert_allclose(fastest.memberships, everything.memberships, atol=1e-4)


def test_the_objective_of_the_winner_never_rises_and_has_one_value_per_iteration(problem):
    solution = _race(problem)
    assert len(solution.objective_path) == solution.n_iter + 1
    assert (np.diff(solution.objective_path) <= 1e-12 * solution.objective).all()
    assert solution.objective_path[-1] == solution.objective


def test_one_run_is_no_race(problem):
    U = np.random.default_rng(0).dirichlet(np.ones(5), 300)
    alone = descend(*problem, U, max_iter=1000, tol=1e-6, memory=5)
    solution = _race(problem, n_init=1, start=Given(U))
    np.testing.assert_allclose(solution.memberships, alone.memberships, atol=1e-12)
    assert solution.n_iter == alone.n_iter


@pytest.mark.parametrize("max_iter", [1, 3, 20])
def test_no_run_takes_more_iterations_than_allowed(problem, max_iter):
    assert _race(problem, max_iter=max_iter, tol=0.0).n_iter == max_iter


def test_every_run_is_reported(problem):
    seen: list[str] = []
    _race(problem, n_init=3, progress=seen.append)
    assert seen == ["clustering 1/3", "clustering 2/3", "clustering 3/3"]


@pytest.mark.parametrize(("shape", "races"), [((501, 21), True), ((500, 21), False), ((501, 20), False)])
def test_only_tables_with_many_rows_and_columns_are_clustered_in_a_race(monkeypatch, shape, races):
    called: list[int] = []

    def counting(*arguments, **keywords):
        called.append(1)
        return race(*arguments, **keywords)

    monkeypatch.setattr(fitting, "race", counting)
    X, _ = make_blobs(shape[0], shape[1], centers=3, random_state=0)
    KFRC(3, bandwidths=3.0, random_state=0).fit(X)
    assert bool(called) is races


def test_the_better_half_of_the_runs_goes_on_to_a_tenth_of_the_tolerance(problem, monkeypatch):
    looks: list[float] = []
    begun: list[float] = []
    ended: list[float] = []

    def noted(dissimilarity, t, U, max_iter, tol, memory):
        run = descend(dissimilarity, t, U, max_iter, tol, memory)
        looks.append(tol)
        begun.append(run.objective_path[0])
        ended.append(run.objective)
        return run

    monkeypatch.setattr(import_module("kfrc.relational.race"), "descend", noted)
    _race(problem, start=Uneven())
    assert looks == pytest.approx([0.1] * 5 + [0.01] * 3 + [0.001] * 2 + [1e-6])
    assert sorted(begun[5:8]) == pytest.approx(sorted(ended[:5])[:3])
    assert sorted(begun[8:10]) == pytest.approx(sorted(ended[5:8])[:2])
    assert begun[10] == pytest.approx(min(ended[8:10]))


class Uneven(Start):
    """Memberships near the corners, from which runs end in several minima."""

    def memberships(self, dissimilarity, n_clusters, rng):
        return rng.dirichlet(np.full(n_clusters, 0.3), dissimilarity.n_samples)


def test_negative_distances_of_a_run_are_not_forgotten_when_it_goes_on(problem):
    U = np.random.default_rng(0).dirichlet(np.ones(5), 300)
    begun = descend(*problem, U, max_iter=2, tol=0.0)
    for negative in (False, True):
        run = replace(begun, negative_distances=negative)
        assert _continued(*problem, run, 10, 1e-6).negative_distances is negative


def test_a_run_that_goes_on_takes_the_steps_of_one_that_never_stopped(problem):
    U = np.random.default_rng(0).dirichlet(np.ones(5), 300)
    begun = descend(*problem, U, max_iter=3, tol=0.0)
    further = _continued(*problem, begun, 4, 0.0)
    whole = descend(*problem, U, max_iter=4, tol=0.0)
    np.testing.assert_allclose(further.memberships, whole.memberships, atol=1e-12)
    np.testing.assert_allclose(further.objective_path, whole.objective_path, rtol=1e-12)
    assert further.n_iter == 4
    assert _continued(*problem, begun, 3, 0.0) is begun


def test_runs_that_explain_everything_can_be_compared():
    places = Dissimilarity.from_features(np.repeat([[0.0], [1.0]], 5, axis=0))
    U = np.eye(2)[np.repeat([0, 1], 5)]
    solution = race(places, 2, Fuzzifier.from_name("power"), Given(U), n_init=1, max_iter=50, tol=1e-6, random_state=0)
    assert solution.objective == 0.0
    np.testing.assert_array_equal(solution.memberships, U)
