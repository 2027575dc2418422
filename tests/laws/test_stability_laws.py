"""The stability theory predicts what the solver does: collapse above m*, structure below it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.linalg import eigh
from scipy.spatial.distance import cdist

from kfrc._numerics import double_center
from kfrc.fuzzifiers import Fuzzifier
from kfrc.kernels import Kernel
from kfrc.relational import solve_relational
from kfrc.spectrum import leading_spectrum
from kfrc.stability import (
    critical_fuzzifier,
    kappa,
    leading_eigenvalue,
    merge_bound,
    stability_threshold,
    uniform_hessian,
)
from strategies import Blend, PlainPower, data_matrices, each, fuzzifiers, has_blocks, members

BANDWIDTHS = np.array([0.5, 1.0, 5.0, 0.5])


def sum_kernel_distances(X, bandwidths):
    return -2.0 * Kernel.from_name("sum").shifted_gram(X, bandwidths)


def distances_with_a_critical_m(X, t, n_clusters=3):
    """Distances whose λ₁ is below the fuzzifier's threshold, so that m* is finite: small bandwidths make it small."""
    for factor in (1.0, 0.5, 0.22, 0.1, 0.05, 0.02, 0.01):
        R = sum_kernel_distances(X, factor * BANDWIDTHS)
        if leading_eigenvalue(R) < 0.8 * t.threshold(n_clusters):
            return R
    raise AssertionError(f"the threshold of {t} is too small for these bandwidths")


def distance_from_uniform(R, t, n_clusters=3, seed=0, max_iter=40_000):
    """Largest |u − 1/c| at the end of a fit that starts 10⁻³ away from uniform."""
    rng = np.random.default_rng(seed)
    noise = 1e-3 * rng.uniform(-1, 1, (len(R), n_clusters))
    U = 1 / n_clusters + noise - noise.mean(axis=1, keepdims=True)
    solution = solve_relational(R, n_clusters, t, init=U, tol=1e-12, max_iter=max_iter)
    return np.abs(solution.memberships - 1 / n_clusters).max()


def indefinite_dissimilarities():
    """Noise around two blocks: symmetric and non-negative, but far from squared distances."""
    rng = np.random.default_rng(5)
    R = rng.uniform(0.2, 2.0, (60, 60))
    R[:30, :30] *= 0.85
    R[30:, 30:] *= 0.85
    R = np.triu(R, 1)
    return R + R.T


def test_critical_m_of_the_worked_example(iris):
    R = sum_kernel_distances(iris, BANDWIDTHS)
    assert leading_eigenvalue(R) == pytest.approx(0.36966, abs=5e-6)
    assert critical_fuzzifier("power", 3, R=R) == pytest.approx(3.8362, abs=5e-5)


@each("t", Fuzzifier)
def test_critical_m_separates_collapse_from_structure_on_iris(iris, t):
    R = distances_with_a_critical_m(iris, t)
    critical = critical_fuzzifier(t, 3, R=R)
    low = t.m_range.low
    assert math.isfinite(critical)
    below, above = (t.with_m(low + factor * (critical - low)) for factor in (0.98, 1.02))
    assert distance_from_uniform(R, below) > 0.03
    assert distance_from_uniform(R, above) < 1e-6
    assert uniform_hessian(R, below, 3).min_eigenvalue < 0
    assert uniform_hessian(R, above, 3).min_eigenvalue > 0
    assert not uniform_hessian(R, below, 3).stable
    assert uniform_hessian(R, above, 3).stable


@each("t", Fuzzifier)
def test_critical_m_separates_collapse_from_structure_on_indefinite_dissimilarities(t):
    R = indefinite_dissimilarities()
    values = eigh(-0.5 * double_center(R), eigvals_only=True)
    assert values[0] < -0.1 * values[-1], "these dissimilarities are meant to be no squared distances of anything"
    critical = critical_fuzzifier(t, 3, R=R)
    low = t.m_range.low
    assert math.isfinite(critical)
    below, above = (t.with_m(low + factor * (critical - low)) for factor in (0.98, 1.02))
    assert distance_from_uniform(R, below) > 0.01
    assert distance_from_uniform(R, above) < 1e-6
    assert uniform_hessian(R, below, 3).min_eigenvalue < 0 < uniform_hessian(R, above, 3).min_eigenvalue


@given(fuzzifiers(), data_matrices(min_samples=8), st.integers(2, 6))
def test_hessian_is_negative_exactly_when_kappa_times_lambda_exceeds_one(t, X, n_clusters):
    R = cdist(X, X, "sqeuclidean")
    growth = t.kappa(n_clusters) * leading_eigenvalue(R)
    if abs(growth - 1) < 1e-6:
        return
    assert (uniform_hessian(R, t, n_clusters).min_eigenvalue < 0) == (growth > 1)


@given(st.integers(0, 2**32 - 1), st.integers(2, 4))
def test_hessian_is_the_quadratic_coefficient_of_the_objective(seed, n_clusters):
    rng = np.random.default_rng(seed)
    R = rng.random((7, 7))
    R = R + R.T
    np.fill_diagonal(R, 0.0)
    t = Fuzzifier.from_name("exponential", m=1.5)
    Q = uniform_hessian(R, t, n_clusters).matrix
    delta = rng.standard_normal((7, n_clusters))
    delta -= delta.mean(axis=1, keepdims=True)

    def objective(step):
        W = t.value(1 / n_clusters + step * delta)
        return sum(W[:, i] @ R @ W[:, i] / (2 * W[:, i].sum()) for i in range(n_clusters))

    step = 1e-3
    # J(1/c + εδ) = J(1/c) + ε² Σ_i δ_iᵀ Q δ_i + O(ε³): Q is the coefficient, half the second derivative.
    numeric = (objective(step) - 2 * objective(0) + objective(-step)) / (2 * step**2)
    assert numeric == pytest.approx(np.einsum("ji,jk,ki->", delta, Q, delta), rel=1e-4, abs=1e-5)


@given(data_matrices(min_samples=8, min_features=2), st.floats(-1, 5), members(Kernel, has_blocks))
def test_eigenvalue_from_distances_equals_the_one_from_the_kernel(X, level, kernel):
    bandwidths = np.full(X.shape[1], np.exp(level))
    E = kernel.shifted_gram(X, bandwidths)
    R = np.add.outer(np.diagonal(E), np.diagonal(E)) - 2.0 * E
    expected = leading_spectrum(X, bandwidths, kernel=kernel, n_eigenvalues=1).eigenvalues[0]
    assert leading_eigenvalue(R) == pytest.approx(expected, abs=1e-9)


def test_sample_nearer_than_the_mean_to_everything_makes_uniform_unstable_at_every_m():
    # Three points at mutual distance 1 and a fourth almost at no distance from any of them: no such points exist.
    R = np.ones((4, 4)) - np.eye(4)
    R[3, :3] = R[:3, 3] = 0.01
    assert leading_eigenvalue(R) == math.inf
    assert critical_fuzzifier("power", 2, R=R) == math.inf
    assert uniform_hessian(R, Fuzzifier.from_name("power", m=50.0), 2).min_eigenvalue < 0


@each("t", Fuzzifier)
def test_public_functions_equal_the_methods_of_the_fuzzifier(t):
    assert kappa(t, 4) == t.kappa(4)
    assert kappa(t.name, 4) == Fuzzifier.from_name(t.name).kappa(4)
    assert stability_threshold(t, 4) == t.threshold(4)
    assert critical_fuzzifier(t, 4, lambda1=0.05) == t.critical_m(4, 0.05)
    assert critical_fuzzifier(t.with_m(t.m * 0.9 + 0.1), 4, lambda1=0.05) == t.critical_m(4, 0.05), (
        "its m is irrelevant"
    )


def test_critical_m_needs_exactly_one_of_eigenvalue_and_dissimilarities():
    R = np.array([[0.0, 1.0], [1.0, 0.0]])
    with pytest.raises(ValueError, match="exactly one"):
        critical_fuzzifier("power", 2)
    with pytest.raises(ValueError, match="exactly one"):
        critical_fuzzifier("power", 2, lambda1=0.3, R=R)
    with pytest.raises(ValueError, match="NaN"):
        critical_fuzzifier("power", 2, lambda1=math.nan)


@pytest.fixture(scope="module")
def touching():
    """One group far away and two that overlap, in eight dimensions of which the last six are noise."""
    rng = np.random.default_rng(2)
    labels = np.repeat(["far", "left", "right"], 30)
    X = rng.standard_normal((90, 8))
    X[:, 1] += 40.0 * (labels == "far")
    X[:, 0] += 2.0 * (labels == "right")
    return X, labels


def test_merge_bound_is_the_smallest_pairwise_critical_m(touching):
    X, labels = touching
    R = cdist(X, X, "sqeuclidean")
    names = ["far", "left", "right"]
    bound = merge_bound(X, labels, fuzzifier="power")
    for a, b in [(0, 1), (0, 2), (1, 2)]:
        members = np.flatnonzero((labels == names[a]) | (labels == names[b]))
        expected = critical_fuzzifier("power", 2, R=R[np.ix_(members, members)])
        assert bound.pairwise[a, b] == bound.pairwise[b, a] == pytest.approx(expected)
    assert bound.m == bound.pairwise.min()
    assert bound.pairwise[bound.pair] == bound.m
    assert np.isinf(np.diagonal(bound.pairwise)).all()
    by_matrix = merge_bound(R, labels, fuzzifier="power", metric="precomputed")
    assert_allclose(by_matrix.pairwise, bound.pairwise, rtol=1e-8)


def test_overlapping_clusters_have_merged_at_the_merge_bound(touching):
    X, labels = touching
    bound = merge_bound(X, labels, fuzzifier="power")
    assert bound.pair == (1, 2)
    assert math.isfinite(bound.m)
    R = cdist(X, X, "sqeuclidean")
    start = np.eye(3)[np.unique(labels, return_inverse=True)[1]]

    def smallest_gap(m):
        t = Fuzzifier.from_name("power", m=m)
        U = solve_relational(R, 3, t, init=start, tol=1e-10, max_iter=20_000).memberships
        return min(np.abs(U[:, i] - U[:, k]).max() for i, k in [(0, 1), (0, 2), (1, 2)])

    assert smallest_gap(1.05) > 0.1
    assert smallest_gap(1.05 * bound.m) < 1e-4


def test_well_separated_clusters_never_merge(blobs):
    X, labels = blobs
    assert merge_bound(X, labels, fuzzifier="complementary_root").m == math.inf


def test_merge_bound_of_one_cluster_is_an_error():
    with pytest.raises(ValueError, match="single cluster"):
        merge_bound(np.eye(4), [1, 1, 1, 1])


def test_custom_fuzzifier_gets_the_critical_m_of_the_same_built_in_function(iris):
    R = sum_kernel_distances(iris, BANDWIDTHS)
    assert critical_fuzzifier(PlainPower(), 3, R=R) == pytest.approx(3.8362, abs=5e-5)
    assert stability_threshold(PlainPower(), 3) == pytest.approx(0.5, abs=5e-3)  # u^m underflows
    assert kappa(PlainPower(m=2.0), 3) == pytest.approx(4.0)
    assert uniform_hessian(R, PlainPower(m=4.0), 3).stable
    assert not uniform_hessian(R, PlainPower(m=3.7), 3).stable


def test_threshold_of_a_custom_fuzzifier_protects_every_m_from_collapse():
    # 1/κ of this function first rises and then falls with m: its limit is 0, but the fit collapses in between.
    threshold = stability_threshold(Blend(), 3)
    largest = max(Blend(m).inverse_kappa(3) for m in np.linspace(1.1, 20, 100))
    assert threshold == pytest.approx(largest, rel=1e-3)


@each("t", Fuzzifier)
def test_pairs_of_clusters_merge_at_the_critical_m_of_two_clusters_whatever_the_fuzzifier(t):
    X = np.random.default_rng(4).standard_normal((30, 9))
    R = cdist(X, X, "sqeuclidean")
    bound = merge_bound(X, np.repeat([0, 1, 2], 10), fuzzifier=t)
    for a, b in [(0, 1), (0, 2), (1, 2)]:
        members = np.r_[10 * a : 10 * a + 10, 10 * b : 10 * b + 10]
        expected = critical_fuzzifier(t, 2, R=R[np.ix_(members, members)])
        assert bound.pairwise[a, b] == bound.pairwise[b, a] == pytest.approx(expected)


def test_a_sample_at_the_center_of_mass_is_no_reason_for_instability_at_every_m():
    x = np.array([-1.0, 0.0, 1.0])
    # HKH/D of the other two is [[1, -1], [-1, 1]], and the one in the middle has no direction.
    assert leading_eigenvalue(np.subtract.outer(x, x) ** 2) == pytest.approx(2 / 3)
