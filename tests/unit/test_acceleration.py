"""Anderson acceleration: the objective still never rises, and the minimum is the same after fewer steps."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kfrc.dissimilarity import Dissimilarity
from kfrc.fuzzifiers import Fuzzifier
from kfrc.relational import Spectral, Status, descend, draw_memberships
from kfrc.relational.acceleration import Anderson
from strategies import each

each_fuzzifier = each("fuzzifier", Fuzzifier)


@pytest.fixture
def start():
    rng = np.random.default_rng(3)
    X = np.vstack([rng.normal(center, 1.0, (40, 3)) for center in (0.0, 2.0, 4.5)])
    dissimilarity = Dissimilarity.from_features(X)
    return dissimilarity, draw_memberships(Spectral(), dissimilarity, 3, rng)


@each_fuzzifier
@pytest.mark.parametrize("memory", [1, 5])
def test_the_objective_never_rises_and_the_minimum_is_the_same(start, fuzzifier, memory):
    dissimilarity, U = start
    plain = descend(dissimilarity, fuzzifier, U, 2000, 1e-9)
    fast = descend(dissimilarity, fuzzifier, U, 2000, 1e-9, memory)
    assert plain.status is fast.status
    assert (np.diff(fast.objective_path) <= 1e-12 * fast.objective_path[0]).all()
    assert fast.objective == pytest.approx(plain.objective, rel=1e-9)
    assert_allclose(fast.memberships, plain.memberships, rtol=0, atol=1e-5)


def test_fewer_steps_are_needed(start):
    dissimilarity, U = start
    steps = {
        memory: sum(
            descend(dissimilarity, Fuzzifier.from_name(name), U, 2000, 1e-8, memory).n_iter
            for name in ("power", "exponential", "quadratic", "complementary_root")
        )
        for memory in (0, 5)
    }
    assert steps[5] < 0.7 * steps[0]


@each_fuzzifier
@pytest.mark.parametrize("max_iter", [1, 2, 7, 500])
def test_memberships_are_those_of_the_centers_that_are_returned(start, fuzzifier, max_iter):
    dissimilarity, U = start
    solution = descend(dissimilarity, fuzzifier, U, max_iter, 1e-7, memory=5)
    distances, _ = dissimilarity.center_distances(solution.prototypes)
    assert_allclose(solution.memberships, solution.fuzzifier.memberships(distances), rtol=0, atol=1e-12)
    assert solution.n_iter <= max_iter
    assert solution.status is (Status.CONVERGED if solution.n_iter < max_iter else solution.status)


def test_a_linear_iteration_in_one_direction_is_solved_by_the_first_guess():
    fixed = np.array([[0.3, 0.7], [0.6, 0.4]])
    off = np.array([[0.1, -0.1], [0.2, -0.2]])

    def step(U):
        return fixed + 0.8 * (U - fixed)

    acceleration = Anderson(memory=3)
    first = fixed + off
    assert acceleration.guess(first, step(first)) is None
    second = step(first)
    assert_allclose(acceleration.guess(second, step(second)), fixed, rtol=0, atol=1e-8)


def test_nothing_is_guessed_without_memory_or_from_steps_that_stand_still():
    U = np.array([[0.5, 0.5]])
    assert Anderson(0).guess(U, U) is None
    still = Anderson(2)
    assert still.guess(U, U) is None
    assert still.guess(U, U) is None
