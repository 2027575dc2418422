"""What holds for every registered start, besides the laws of the runs that begin with it."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kfrc.dissimilarity import Dissimilarity
from kfrc.relational import (
    Blocks,
    NearUniform,
    Random,
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
