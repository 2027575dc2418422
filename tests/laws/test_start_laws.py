"""What holds for every registered start, besides the laws of the runs that begin with it."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kfrc._numerics import as_generator
from kfrc.dissimilarity import Dissimilarity
from kfrc.relational import (
    Blocks,
    Given,
    KMeansPlusPlus,
    NearUniform,
    Random,
    Spectral,
    Start,
    draw_memberships,
    resolve_start,
    solve_relational,
    starting_memberships,
)
from strategies import each


@pytest.fixture(scope="module")
def distances(blobs):
    return Dissimilarity.from_features(blobs[0])


@each("start", Start)
def test_rows_of_a_start_lie_on_the_simplex_for_any_dissimilarities(start):
    R = np.random.default_rng(0).random((12, 12))
    R = R + R.T
    np.fill_diagonal(R, 0.0)
    for n_clusters in (1, 2, 5, 12):
        U = start.memberships(Dissimilarity.from_matrix(R), n_clusters, np.random.default_rng(1))
        assert U.shape == (12, n_clusters)
        assert (U >= 0).all()
        assert_allclose(U.sum(axis=1), 1.0, rtol=0, atol=1e-12)


@each("start", Start)
def test_same_stream_gives_the_same_start(start, distances):
    here, there = (start.memberships(distances, 3, np.random.default_rng(4)) for _ in range(2))
    assert_array_equal(here, there)


@each("start", Start)
def test_checking_a_start_leaves_its_memberships_as_they_are(start, distances):
    drawn = draw_memberships(start, distances, 3, np.random.default_rng(4))
    assert_allclose(drawn, start.memberships(distances, 3, np.random.default_rng(4)), rtol=1e-15)


@pytest.mark.parametrize("start", [cls() for cls in (Blocks, NearUniform, Random)], ids=lambda start: start.name)
def test_starts_of_the_library_are_not_rounded_again(start, distances):
    drawn = draw_memberships(start, distances, 7, np.random.default_rng(4))
    assert_array_equal(drawn, start.memberships(distances, 7, np.random.default_rng(4)))


def test_rounding_of_a_start_of_the_user_is_corrected(distances):
    class Rounded(Start):
        def memberships(self, dissimilarity, n_clusters, rng):
            return np.full((dissimilarity.n_samples, 3), round(1 / 3, 8))

    U = draw_memberships(Rounded(), distances, 3, np.random.default_rng(0))
    assert_allclose(U.sum(axis=1), 1.0, rtol=1e-15)


@each("start", Start)
def test_start_that_calls_itself_deterministic_does_not_depend_on_the_stream(start, distances):
    draws = [start.memberships(distances, 3, np.random.default_rng(seed)) for seed in range(4)]
    # The numbers of the clusters may differ, pairs of samples may not.
    same = all(np.allclose(U @ U.T, draws[0] @ draws[0].T) for U in draws)
    assert same or not start.deterministic


@each("start", Start)
def test_further_runs_repeat_a_random_start_and_leave_a_deterministic_one(start, distances):
    runs = list(starting_memberships(start, 3, distances, 3, 7))
    other = resolve_start("kmeans++", 60, 3) if start.deterministic else start
    streams = np.random.default_rng(7).spawn(3)
    expected = [start.memberships(distances, 3, streams[0])]
    expected += [other.memberships(distances, 3, stream) for stream in streams[1:]]
    for run, memberships in zip(runs, expected, strict=True):
        assert_array_equal(run, memberships)


@each("start", Start)
def test_solution_does_not_depend_on_whether_a_start_comes_as_a_name_or_an_object(start, distances):
    options = {"n_init": 2, "random_state": 3, "max_iter": 20}
    by_object = solve_relational(distances, 3, init=start, **options)
    by_name = solve_relational(distances, 3, init=start.name, **options)
    if type(start)() == start:
        assert_array_equal(by_object.memberships, by_name.memberships)
    assert resolve_start(start, 60, 3) is start


@pytest.mark.parametrize("weights", [None, np.array([1.0, 2.0, 0.5, 1.0, 1.0, 3.0])])
def test_no_seed_coincides_with_another_while_there_are_samples_elsewhere(weights):
    places = Dissimilarity.from_features(np.array([[0.0], [0.0], [5.0], [5.0], [5.0], [9.0]]), weights)
    for seed in range(10):
        U = KMeansPlusPlus().memberships(places, 3, np.random.default_rng(seed))
        assert_array_equal(U @ U.T, np.array([0, 0, 1, 1, 1, 2])[:, None] == [0, 0, 1, 1, 1, 2])


def test_samples_of_no_weight_are_no_seeds():
    places = Dissimilarity.from_features(np.array([[0.0], [1.0], [50.0]]), np.array([1.0, 1.0, 0.0]))
    for seed in range(10):
        U = KMeansPlusPlus().memberships(places, 2, np.random.default_rng(seed))
        assert U[0] @ U[1] == 0.0


def test_far_samples_are_seeds_more_often_in_proportion_to_their_dissimilarity():
    # From a first seed at 0 the second is at 3 with probability 9 / 10, else at 1.
    places = Dissimilarity.from_features(np.array([[0.0], [1.0], [3.0]]), np.array([1.0, 1e-9, 1e-9]))
    alone = [KMeansPlusPlus().memberships(places, 2, np.random.default_rng(seed)) for seed in range(300)]
    assert np.mean([U[0] @ U[1] for U in alone]) == pytest.approx(0.9, abs=0.06)


def test_places_that_all_coincide_still_have_seeds():
    for weights in (None, np.array([1.0, 2.0, 3.0, 4.0])):
        U = KMeansPlusPlus().memberships(Dissimilarity.from_features(np.zeros((4, 1)), weights), 2, as_generator(0))
        assert_array_equal(U, [[1, 0]] * 4)


def test_without_coordinates_the_spectral_start_takes_nearest_seeds():
    # Three points at mutual distance 1 and a fourth almost at no distance from any of them: no such points exist.
    R = np.ones((4, 4)) - np.eye(4)
    R[3, :3] = R[:3, 3] = 0.01
    here, there = (
        start.memberships(Dissimilarity.from_matrix(R), 2, as_generator(3)) for start in (Spectral(), KMeansPlusPlus())
    )
    assert_array_equal(here, there)


def test_a_sample_in_the_middle_of_all_has_no_coordinates_either():
    places = np.array([-1.0, 1.0, 0.0, 0.0])  # the middle is met exactly, without rounding
    squares = Dissimilarity.from_matrix(np.square(np.subtract.outer(places, places)))
    assert squares.gram.centered_diagonal[2] == 0.0
    here, there = (start.memberships(squares, 2, as_generator(0)) for start in (Spectral(), KMeansPlusPlus()))
    assert_array_equal(here, there)


def test_a_near_uniform_start_has_no_outliers(distances):
    class Extreme:
        def standard_normal(self, shape):
            return np.resize([50.0, -50.0], shape)

    U = NearUniform().memberships(distances, 2, Extreme())
    assert_allclose(U, [[0.5 * 1.006, 0.5 * 0.994]] * len(U), rtol=1e-12)


def test_a_random_start_comes_close_to_every_membership():
    U = Random().memberships(Dissimilarity.from_features(np.arange(500.0)[:, None]), 2, as_generator(0))
    assert U.min() < 0.01
    assert (U > 0).all()


def test_the_last_block_of_rows_takes_the_rest():
    U = Blocks().memberships(Dissimilarity.from_features(np.arange(8.0)[:, None]), 3, as_generator(0))
    assert_array_equal(U.argmax(axis=1), [0, 0, 1, 1, 2, 2, 2, 2])
    assert_allclose(np.sort(U, axis=1), [[0.05, 0.05, 0.9]] * 8)


def test_only_the_run_that_began_from_given_memberships_keeps_their_numbers():
    class Numbered(Start):
        keeps_numbering = True

        def memberships(self, dissimilarity, n_clusters, rng):
            raise NotImplementedError

    assert [Given(np.eye(2)).numbers_run(k) for k in range(3)] == [True, False, False]
    assert [Numbered().numbers_run(k) for k in range(3)] == [True, True, True]
    assert not any(Random().numbers_run(k) for k in range(3))


def test_given_memberships_are_not_changed_by_the_run_that_starts_from_them(distances):
    given = Given(np.full((60, 2), 0.5))
    given.memberships(distances, 2, as_generator(0))[:] = 7.0
    assert_array_equal(given.U, 0.5)


def test_what_is_no_start_is_refused_with_the_names_of_starts():
    with pytest.raises(TypeError, match=r"spectral.*shape \(4, 2\)"):
        resolve_start(5, 4, 2)
    with pytest.raises(ValueError, match="shape"):
        resolve_start(Given(np.eye(2)), 4, 2)
