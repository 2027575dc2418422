"""Corners of the alternating minimization, on cases small enough to work out by hand."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kfrc.dissimilarity import Dissimilarity
from kfrc.fuzzifiers import Power
from kfrc.relational import (
    Status,
    descend,
    evaluate_partition,
    in_order,
    may_leave_uniformity,
    order_of_appearance,
    solve_relational,
)
from kfrc.relational.acceleration import on_simplex
from kfrc.relational.solver import _centers_rest, _evaluate, _halve, _may_leave
from kfrc.spectrum import spectrum_of

T = Power(2.0)
PLACES = np.array([0.0, 1.0, 2.0, 9.0])


@pytest.fixture
def line():
    return Dissimilarity.from_features(PLACES[:, None])


@pytest.fixture
def indefinite():
    """Dissimilarities of no points: squared distances to some centers are negative."""
    rng = np.random.default_rng(0)
    R = rng.random((12, 12)) ** 4
    R = R + R.T
    np.fill_diagonal(R, 0.0)
    return Dissimilarity.from_matrix(R)


def one_hot(*labels, n_clusters):
    return np.eye(n_clusters)[list(labels)]


def test_empty_clusters_are_put_on_the_samples_that_cost_most(line):
    # The mean is 3: the last sample costs 36, the first 9.
    state = _evaluate(line, T, one_hot(0, 0, 0, 0, n_clusters=3))
    assert_array_equal(state.prototypes, [[0.25, 0, 1], [0.25, 0, 0], [0.25, 0, 0], [0.25, 1, 0]])
    assert_allclose(state.distances, np.square(PLACES[:, None] - [3.0, 9.0, 0.0]), atol=1e-12)
    assert_allclose(state.squared_norms, [0.0, 36.0, 9.0], atol=1e-12)  # about the mean of all
    assert state.objective == pytest.approx(50.0)


def test_of_samples_that_cost_the_same_the_first_gets_the_empty_cluster():
    places = np.tile([0.0, 3.0, 1.0, 2.0], 80)  # more than are sorted one by one
    state = _evaluate(Dissimilarity.from_features(places[:, None]), T, one_hot(*[0] * 320, n_clusters=3))
    assert_array_equal(state.prototypes[:, 1:], np.eye(320, 2))


def test_an_empty_cluster_lies_on_a_sample_with_another_one_where_nothing_costs_anything(line):
    state = _evaluate(line, T, one_hot(0, 1, 2, 3, n_clusters=5))
    assert_array_equal(state.prototypes, np.eye(4)[:, [0, 1, 2, 3, 0]])
    assert_array_equal(state.distances[:, 4], state.distances[:, 0])
    assert state.squared_norms[4] == state.squared_norms[0]
    assert state.objective == 0.0


def test_one_iteration_is_the_two_exact_steps(line):
    U = np.array([[0.9, 0.1], [0.8, 0.2], [0.6, 0.4], [0.3, 0.7]])
    expected = U
    for n_steps in range(1, 4):
        W = expected**2
        distances = np.square(PLACES[:, None] - W.T @ PLACES / W.sum(axis=0))
        expected = (1 / distances) / (1 / distances).sum(axis=1, keepdims=True)
        run = descend(line, T, U, n_steps, 0.0)
        assert_allclose(run.memberships, expected, rtol=1e-10)
        assert_allclose(run.prototypes, W / W.sum(axis=0), rtol=1e-10)
        assert run.n_iter == n_steps
        assert run.status is Status.MAX_ITER


def test_a_step_that_raises_the_objective_is_halved_until_it_does_not(line):
    U = np.array([[0.9, 0.1], [0.9, 0.1], [0.9, 0.1], [0.2, 0.8]])
    step = np.array([[0.8, -0.8], [0.8, -0.8], [0.8, -0.8], [-1.6, 1.6]])
    here = evaluate_partition(line, T, U).objective
    rises = [evaluate_partition(line, T, U + step / 2**k).objective > here for k in range(4)]
    assert rises == [True, True, True, False]
    shorter = _halve(line, T, _evaluate(line, T, U), U + step)
    assert_allclose(shorter.U, U + step / 8, rtol=1e-12)
    assert shorter.objective < here


def test_a_step_that_raises_the_objective_however_short_is_given_up(line):
    minimum = _evaluate(line, T, descend(line, T, one_hot(0, 0, 0, 1, n_clusters=2), 10_000, 0.0).memberships)
    assert _halve(line, T, minimum, one_hot(1, 0, 0, 0, n_clusters=2)) is minimum


def test_negative_distances_are_told_wherever_they_occur(indefinite, line):
    assert not descend(line, T, one_hot(0, 0, 1, 1, n_clusters=2), 50, 1e-6).negative_distances
    alone = np.eye(12)  # each sample is its own center
    assert not evaluate_partition(indefinite, T, alone).negative_distances
    later = descend(indefinite, T, np.random.default_rng(1).dirichlet(np.ones(3), 12), 50, 1e-6)
    assert later.negative_distances
    start = next(U for U in _starts(12, 3) if not evaluate_partition(indefinite, T, U).negative_distances)
    assert descend(indefinite, T, start, 50, 1e-6).negative_distances


@pytest.mark.parametrize("unit", [1.0, 1e-6])
def test_nothing_is_nearer_to_a_center_than_the_center_itself(indefinite, unit):
    R = unit * indefinite.columns(range(12))
    U = next(U for U in _starts(12, 3) if evaluate_partition(indefinite, T, U).negative_distances)
    state = _evaluate(Dissimilarity.from_matrix(R), T, U)
    assert state.negative
    assert state.distances.min() == 0.0


def test_one_cluster_of_all_samples_has_not_collapsed(line):
    solution = solve_relational(line, 1, T)
    assert solution.status is Status.CONVERGED
    assert_array_equal(solution.memberships, np.ones((4, 1)))


def test_a_tolerance_is_not_negative(line):
    with pytest.raises(ValueError, match="tol"):
        solve_relational(line, 2, T, tol=-0.5)


def _starts(n_samples, n_clusters):
    rng = np.random.default_rng(2)
    while True:
        yield np.eye(n_clusters)[rng.integers(n_clusters, size=n_samples)]


def _seen(*distances):
    return SimpleNamespace(distances=np.array(distances))


def test_centers_rest_if_no_distance_moves_by_more_than_five_tolerances_of_its_size():
    before = _seen([1.0, 4.0], [4.0, 1.0])
    assert _centers_rest(before, _seen([1.0, 4.0], [4.0, 1.0]), 0.0)
    assert _centers_rest(before, _seen([1.0, 4.19], [4.0, 1.0]), 0.01)
    assert not _centers_rest(before, _seen([1.0, 4.3], [4.0, 1.0]), 0.01)
    assert not _centers_rest(before, _seen([1.0, 3.7], [4.0, 1.0]), 0.01)


def test_small_distances_may_move_by_as_much_as_the_median_one():
    before = _seen([0.0, 4.0], [4.0, 4.0])
    assert _centers_rest(before, _seen([0.19, 4.0], [4.0, 4.0]), 0.01)
    assert not _centers_rest(before, _seen([0.21, 4.0], [4.0, 4.0]), 0.01)


@pytest.mark.parametrize("may_leave", [may_leave_uniformity, lambda U, tol: _may_leave(U, tol, T)])
def test_next_to_uniformity_is_between_the_tolerance_and_what_a_reader_can_tell(may_leave):
    U = np.full((4, 3), 1 / 3)
    assert not may_leave(U, 0.0)
    U[0] += [1e-4, 1e-4, -2e-4]
    assert may_leave(U, 1.5e-4)
    assert not may_leave(U, 2.5e-4)
    U[0] += [1e-2, 1e-2, -2e-2]
    assert not may_leave(U, 1e-5)
    assert not may_leave(np.ones((4, 1)), 0.0)


def test_a_run_next_to_uniformity_goes_on_while_an_unstable_mode_grows():
    rows = Dissimilarity.from_features(np.random.default_rng(0).standard_normal((60, 8)) * [2, 1, 1, 1, 1, 1, 1, 1])
    spectrum = spectrum_of(rows.gram, 1)
    t = Power(0.9 * T.critical_m(2, float(spectrum.eigenvalues[0])))
    mode = spectrum.eigenvectors[:, 0] / np.sqrt(spectrum.centered_diagonal)
    U = 0.5 + np.outer(2e-4 * mode / np.abs(mode).max(), [1.0, -1.0])
    # The first steps are shorter than the tolerance, and the centers hardly move.
    assert np.abs(descend(rows, t, U, 1, 0.0).memberships - U).max() < 1e-4
    assert descend(rows, t, U, 1000, 1e-4).status is Status.CONVERGED


def test_clusters_are_numbered_by_the_first_sample_that_prefers_them_and_unused_ones_last():
    assert order_of_appearance(one_hot(2, 2, 0, 3, 0, n_clusters=5)) == [2, 0, 3, 1, 4]


def test_all_that_belongs_to_a_cluster_moves_with_it(line):
    solution = descend(line, T, one_hot(0, 1, 1, 2, n_clusters=3), 3, 0.0)
    turned = in_order(solution, [2, 0, 1])
    for name in ("memberships", "prototypes", "squared_norms"):
        assert_array_equal(getattr(turned, name), getattr(solution, name)[..., [2, 0, 1]])
    assert turned.fuzzifier is solution.fuzzifier
    assert turned.objective == solution.objective


def test_weights_are_given_once(line):
    with pytest.raises(ValueError, match="weights of its own"):
        solve_relational(line, 2, sample_weight=np.ones(4))


def test_of_runs_that_end_equally_low_the_first_is_kept(line):
    # From either numbering the same minimum is reached, up to rounding; the numbers of the first start stay.
    for labels in ((0, 0, 0, 1), (1, 1, 1, 0)):
        U = one_hot(*labels, n_clusters=2)
        solution = solve_relational(line, 2, "quadratic", init=U, n_init=4, random_state=0)
        assert_array_equal(solution.memberships.argmax(axis=1), labels)


def test_guesses_outside_the_simplex_are_cut_off_and_rows_without_anything_left_are_none():
    inside = np.array([[0.2, 0.8], [1.0, 0.0]])
    assert_array_equal(on_simplex(inside), inside)
    assert_allclose(on_simplex(np.array([[-0.5, 1.5], [0.5, 1.0]])), [[0.0, 1.0], [1 / 3, 2 / 3]])
    assert on_simplex(np.array([[0.2, 0.8], [-1.0, -0.5]])) is None
    assert on_simplex(np.array([[0.2, 0.8], [-1.0, 0.0]])) is None


def test_a_guess_that_raises_the_objective_is_not_taken_and_what_it_was_made_of_is_forgotten(line, monkeypatch):
    events = []

    class Bad:
        def __init__(self, memory):
            events.append(memory)

        def guess(self, here, image):
            events.append("guess")
            return np.full_like(image, 0.5)

        def forget(self):
            events.append("forget")

    U = one_hot(0, 0, 0, 1, n_clusters=2)
    plain = descend(line, T, U, 4, 0.0)
    monkeypatch.setattr("kfrc.relational.solver.Anderson", Bad)
    assert_array_equal(descend(line, T, U, 4, 0.0, memory=3).memberships, plain.memberships)
    assert events == [3, *["guess", "forget"] * 3]  # the last step is a plain one
