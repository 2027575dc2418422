"""What holds for every fit: descent, the simplex, equivariance, and the uniform fixed point."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist

from kfrc.dissimilarity import Dissimilarity
from kfrc.fuzzifiers import Fuzzifier
from kfrc.gram import gram_family
from kfrc.kernels import Kernel
from kfrc.relational import Start, solve_relational
from kfrc.spectrum import spectrum_of
from kfrc.stability import leading_eigenvalue
from strategies import Blend, data_matrices, each, examples_of, fuzzifiers, members, random_memberships

T_EXAMPLES = [*examples_of(Fuzzifier), Blend()]


def objective_by_definition(R, t, U):
    """Equation 1, term by term."""
    W = t.value(U)
    return sum(W[:, i] @ R @ W[:, i] / (2 * W[:, i].sum()) for i in range(U.shape[1]) if W[:, i].sum() > 0)


def assert_fuzzy_partition(solution, n_samples, n_clusters):
    U = solution.memberships
    assert U.shape == (n_samples, n_clusters)
    assert (U >= 0).all()
    assert_allclose(U.sum(axis=1), 1.0, rtol=0, atol=1e-12)


@given(fuzzifiers(), data_matrices(max_samples=20), st.integers(1, 5), st.integers(0, 2**32 - 1))
@settings(max_examples=60)
def test_objective_never_increases_on_squared_distances(t, X, n_clusters, seed):
    R = cdist(X, X, "sqeuclidean")
    U = random_memberships(np.random.default_rng(seed), len(X), n_clusters)
    solution = solve_relational(R, n_clusters, t, init=U, max_iter=60)
    path = solution.objective_path
    assert np.all(np.diff(path) <= 1e-12 * np.abs(path[:-1]) + 1e-14)
    start = U / U.sum(axis=1, keepdims=True)  # t may rise without bound at one, where the last digit counts
    assert path[0] == pytest.approx(objective_by_definition(R, t, start), rel=1e-9)
    assert solution.objective == path[-1]
    assert solution.objective == pytest.approx(objective_by_definition(R, t, solution.memberships), rel=1e-7, abs=1e-9)
    assert not solution.negative_distances
    assert_fuzzy_partition(solution, len(X), n_clusters)


@given(fuzzifiers(), data_matrices(max_samples=20), members(Kernel), st.floats(-1, 6))
def test_objective_never_increases_in_the_feature_space_of_a_kernel(t, X, kernel, level):
    gram = gram_family(X, kernel).at(np.full(X.shape[1], np.exp(level)))
    solution = solve_relational(Dissimilarity(gram), 3, t, init="random", random_state=1, max_iter=60)
    path = solution.objective_path
    assert np.all(np.diff(path) <= 1e-12 * np.abs(path[:-1]))


@given(data_matrices(max_samples=15), st.floats(-1, 3))
def test_distances_of_a_kernel_are_those_in_its_feature_space(X, level):
    squares = np.square(X[:, None, :] - X[None, :, :]) / (2 * np.exp(2 * level))
    # d_k²(x, y) = k(x, x) + k(y, y) − 2 k(x, y), with k(x, x) = p for the sum and 1 for the product.
    expected = {
        "sum": 2 * X.shape[1] - 2 * np.exp(-squares).sum(axis=2),
        "product": 2 - 2 * np.exp(-squares.sum(axis=2)),
        "linear": 2 * squares.sum(axis=2),
    }
    for kernel, distances in expected.items():
        gram = gram_family(X, Kernel.from_name(kernel)).at(np.full(X.shape[1], np.exp(level)))
        scale = 1e-10 * max(1.0, distances.max())
        assert_allclose(Dissimilarity(gram).columns(range(len(X))), distances, rtol=0, atol=scale)


@given(fuzzifiers(), st.integers(0, 2**32 - 1), st.integers(2, 4))
def test_objective_never_increases_on_arbitrary_dissimilarities(t, seed, n_clusters):
    rng = np.random.default_rng(seed)
    R = rng.random((12, 12)) ** 3
    R = R + R.T
    np.fill_diagonal(R, 0.0)
    solution = solve_relational(R, n_clusters, t, init="random", random_state=0, max_iter=40)
    path = solution.objective_path
    assert np.all(np.diff(path) <= 1e-12 * np.abs(path[:-1]) + 1e-14)
    assert_fuzzy_partition(solution, 12, n_clusters)


@given(fuzzifiers(), data_matrices(min_samples=8), st.integers(2, 5))
def test_uniform_partition_is_a_fixed_point(t, X, n_clusters):
    U = np.full((len(X), n_clusters), 1 / n_clusters)
    solution = solve_relational(cdist(X, X, "sqeuclidean"), n_clusters, t, init=U, max_iter=1)
    assert_allclose(solution.memberships, 1 / n_clusters, rtol=0, atol=1e-9)


@given(fuzzifiers(), data_matrices(min_samples=10, min_features=2), st.integers(2, 5), st.integers(0, 2**32 - 1))
def test_one_iteration_stretches_the_leading_mode_by_kappa_times_lambda(t, X, n_clusters, seed):
    gram = gram_family(X, Kernel.from_name("linear")).at(np.ones(X.shape[1]))
    spectrum = spectrum_of(gram, 1)
    growth = t.kappa(n_clusters) * spectrum.eigenvalues[0]
    if growth > 30:
        return
    weights = np.random.default_rng(seed).standard_normal(n_clusters)
    mode = np.outer(spectrum.eigenvectors[:, 0] / np.sqrt(spectrum.centered_diagonal), weights - weights.mean())
    mode *= 1e-7 / np.abs(mode).max()
    U = 1 / n_clusters + mode
    step = solve_relational(Dissimilarity(gram), n_clusters, t, init=U, max_iter=1)
    assert_allclose(step.memberships - 1 / n_clusters, growth * mode, rtol=0, atol=1e-3 * growth * 1e-7)


@given(fuzzifiers(), data_matrices(min_samples=10, min_features=2), st.integers(2, 5), st.integers(0, 2**32 - 1))
def test_small_perturbation_of_uniform_grows_exactly_when_kappa_times_lambda_exceeds_one(t, X, n_clusters, seed):
    R = cdist(X, X, "sqeuclidean")
    growth = t.kappa(n_clusters) * leading_eigenvalue(R)
    if abs(growth - 1) < 0.15:
        return
    noise = np.random.default_rng(seed).standard_normal((len(X), n_clusters))
    noise -= noise.mean(axis=1, keepdims=True)
    size = 1e-7
    U = 1 / n_clusters + size * noise / np.abs(noise).max()
    solution = solve_relational(R, n_clusters, t, init=U, max_iter=100, tol=0.0)
    reached = np.abs(solution.memberships - 1 / n_clusters).max()
    assert reached > 10 * size if growth > 1 else reached < size


def assert_same_descent(one, other):
    """The same objective after every step; with ``tol=0`` rounding decides which of them ends a step sooner."""
    n_steps = max(len(one.objective_path), len(other.objective_path))
    paths = [np.pad(each.objective_path, (0, n_steps - len(each.objective_path)), "edge") for each in (one, other)]
    assert_allclose(*paths, rtol=1e-8, atol=1e-12)


@given(fuzzifiers(), data_matrices(min_samples=8), st.integers(0, 2**32 - 1))
def test_permuting_samples_permutes_memberships(t, X, seed):
    rng = np.random.default_rng(seed)
    R = cdist(X, X, "sqeuclidean")
    U = random_memberships(rng, len(X), 3)
    order = rng.permutation(len(X))
    here = solve_relational(R, 3, t, init=U, max_iter=5, tol=0.0)
    there = solve_relational(R[np.ix_(order, order)], 3, t, init=U[order], max_iter=5, tol=0.0)
    assert_same_descent(there, here)
    assert_allclose(there.memberships, here.memberships[order], rtol=0, atol=1e-2)  # rounding, at large m


@given(fuzzifiers(), data_matrices(min_samples=8), st.integers(0, 2**32 - 1))
def test_relabeling_the_start_changes_no_pair_of_samples(t, X, seed):
    rng = np.random.default_rng(seed)
    R = cdist(X, X, "sqeuclidean")
    U = random_memberships(rng, len(X), 4)
    order = rng.permutation(4)
    here = solve_relational(R, 4, t, init=U, max_iter=5, tol=0.0)
    there = solve_relational(R, 4, t, init=U[:, order], max_iter=5, tol=0.0)
    # Which of two empty clusters gets which sample depends on their order, so only pairs of samples are compared.
    pairs = (there.memberships @ there.memberships.T, here.memberships @ here.memberships.T)
    assert_allclose(*pairs, rtol=0, atol=1e-2)  # rounding of a distance of zero is felt at large m
    assert_same_descent(there, here)


@given(fuzzifiers(), data_matrices(min_samples=8), st.integers(-8, 8))
def test_unit_of_the_dissimilarities_scales_the_objective_and_nothing_else(t, X, exponent):
    R = cdist(X, X, "sqeuclidean")
    U = random_memberships(np.random.default_rng(0), len(X), 3)
    here = solve_relational(R, 3, t, init=U, max_iter=5, tol=0.0)
    there = solve_relational(2.0**exponent * R, 3, t, init=U, max_iter=5, tol=0.0)
    assert_allclose(there.memberships, here.memberships, rtol=0, atol=1e-12)
    assert there.objective == pytest.approx(2.0**exponent * here.objective, rel=1e-12)


@given(fuzzifiers(), data_matrices(min_samples=8))
def test_features_and_their_distance_matrix_give_the_same_fit(t, X):
    U = random_memberships(np.random.default_rng(0), len(X), 3)
    by_features = solve_relational(Dissimilarity.from_features(X), 3, t, init=U, max_iter=10, tol=0.0)
    by_matrix = solve_relational(cdist(X, X, "sqeuclidean"), 3, t, init=U, max_iter=10, tol=0.0)
    # Where no step lowers the objective any more, rounding decides when a run notices.
    common = min(len(by_features.objective_path), len(by_matrix.objective_path))
    assert_allclose(by_features.objective_path[:common], by_matrix.objective_path[:common], rtol=1e-9, atol=1e-12)
    assert by_features.objective == pytest.approx(by_matrix.objective, rel=1e-9, abs=1e-12)


@each("start", Start)
@pytest.mark.parametrize("n_clusters", [1, 2, 5])
def test_every_start_is_a_fuzzy_partition(start, n_clusters, blobs):
    X, _ = blobs
    U = start.memberships(Dissimilarity.from_features(X), n_clusters, np.random.default_rng(0))
    assert U.shape == (len(X), n_clusters)
    assert (U >= 0).all()
    assert_allclose(U.sum(axis=1), 1.0, atol=1e-12)


@pytest.mark.parametrize("n_clusters", [2, 5, 20])
def test_near_uniform_start_is_a_few_thousandths_away_from_uniform_in_every_row(n_clusters, blobs):
    X, _ = blobs
    start = Start.from_name("near_uniform")
    U = start.memberships(Dissimilarity.from_features(X), n_clusters, np.random.default_rng(0))
    away = np.abs(U - 1 / n_clusters)
    assert 1e-3 < away.max() < 5e-3
    assert 3e-4 < away.mean() < 2e-3
    assert (away.max(axis=1) > 0).all()


@each("t", Fuzzifier)
@each("start", Start)
def test_separated_groups_are_found_from_every_start(t, start, blobs):
    X, labels = blobs
    solution = solve_relational(cdist(X, X, "sqeuclidean"), 3, t, init=start, n_init=10, random_state=0, max_iter=5000)
    hard = solution.memberships.argmax(axis=1)
    assert {tuple(np.unique(hard[labels == k])) for k in range(3)} == {(0,), (1,), (2,)}
    assert solution.status == "converged"


@pytest.mark.parametrize("t", T_EXAMPLES, ids=repr)
def test_fewer_distinct_points_than_clusters_still_gives_a_partition(t):
    X = np.repeat(np.array([[0.0, 0.0], [1.0, 1.0]]), 5, axis=0)
    for start in examples_of(Start):
        solution = solve_relational(cdist(X, X, "sqeuclidean"), 4, t, init=start, random_state=0, n_init=2)
        assert_fuzzy_partition(solution, 10, 4)
        assert np.isfinite(solution.objective_path).all()


@pytest.mark.parametrize("t", T_EXAMPLES, ids=repr)
def test_as_many_clusters_as_samples_costs_nothing(t):
    X = np.array([[0.0], [1.0], [5.0], [11.0]])
    solution = solve_relational(cdist(X, X, "sqeuclidean"), 4, t, init=np.eye(4))
    assert_allclose(solution.memberships, np.eye(4), atol=1e-9)
    assert solution.objective == pytest.approx(0.0, abs=1e-9)


def test_more_runs_never_end_higher(iris):
    R = cdist(iris, iris, "sqeuclidean")
    one = solve_relational(R, 5, "quadratic", init="random", n_init=1, random_state=3)
    ten = solve_relational(R, 5, "quadratic", init="random", n_init=10, random_state=3)
    assert ten.objective <= one.objective
