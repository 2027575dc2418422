"""The Chebyshev form of additive kernels against the dense matrix, at every bandwidth and at scale."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kfrc import _numerics
from kfrc.bandwidth import select_bandwidths
from kfrc.dissimilarity import Dissimilarity
from kfrc.exceptions import ApproximationWarning
from kfrc.gram import ChebyshevGram, ChebyshevGrams, DenseGram, DenseGrams, FactoredGrams, low_rank
from kfrc.kernels.gaussian import GaussianSum
from kfrc.kernels.linear import Linear
from kfrc.relational import solve_relational
from kfrc.spectrum import eigenvalue_gradients, leading_spectrum, spectrum_of


def clusters(n_samples, n_features=10, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_samples, n_features))
    X[: n_samples // 2, :3] += 2.0
    return X


@pytest.fixture(scope="module")
def large():
    return clusters(4000)


@pytest.mark.slow
@pytest.mark.parametrize("level", [-1.0, 0.0, 1.5, 3.0, 6.0])
def test_low_rank_spectrum_and_gradients_equal_the_dense_ones(large, level):
    bandwidths = np.exp(level + 0.2 * np.random.default_rng(1).standard_normal(10))
    low, dense = (family(large, GaussianSum()).at(bandwidths) for family in (ChebyshevGrams, DenseGrams))
    assert isinstance(low, ChebyshevGram)
    assert low.rank < 600
    ours, exact = spectrum_of(low, 5), spectrum_of(dense, 5)
    assert_allclose(ours.eigenvalues, exact.eigenvalues, rtol=0, atol=1e-10)
    assert_allclose(eigenvalue_gradients(low, ours), eigenvalue_gradients(dense, exact), rtol=0, atol=1e-9)


def test_at_huge_bandwidths_the_spectrum_is_that_of_the_linear_kernel(large):
    bandwidths = np.exp(15.0 + 0.2 * np.random.default_rng(1).standard_normal(10))
    low = ChebyshevGrams(large, GaussianSum()).at(bandwidths)
    linear = FactoredGrams(large, Linear()).at(bandwidths)
    assert low.rank <= 20
    ours, exact = spectrum_of(low, 5), spectrum_of(linear, 5)
    assert_allclose(ours.eigenvalues, exact.eigenvalues, rtol=0, atol=1e-10)
    assert_allclose(eigenvalue_gradients(low, ours), eigenvalue_gradients(linear, exact), rtol=0, atol=1e-9)


def test_products_diagonal_and_columns_are_those_of_the_centered_matrix():
    X = clusters(400, 4)
    bandwidths = np.array([0.8, 1.0, 2.0, 5.0])
    low = ChebyshevGrams(X, GaussianSum()).at(bandwidths)
    E = DenseGrams(X, GaussianSum()).at(bandwidths).E
    centered = E - E.mean(axis=0) - E.mean(axis=1)[:, None] + E.mean()
    V = np.random.default_rng(0).standard_normal((400, 3))
    assert_allclose(low.matmul(V), centered @ V, atol=1e-8)
    assert_allclose(low.matmul(V[:, 0]), centered @ V[:, 0], atol=1e-8)
    assert_allclose(low.diagonal(), np.diagonal(centered), atol=1e-8)
    assert_allclose(low.columns([3, 399, 7]), centered[:, [3, 399, 7]], atol=1e-8)
    assert_allclose(low.row_means(), 0.0, atol=1e-12)


def test_bandwidths_too_small_for_a_low_rank_fall_back_to_the_dense_matrix():
    family = ChebyshevGrams(clusters(300, 4), GaussianSum())
    assert isinstance(family.at(np.full(4, 0.01)), DenseGram)
    assert isinstance(family.at(np.full(4, 2.0)), ChebyshevGram)


def test_results_do_not_depend_on_what_fits_in_memory(monkeypatch):
    X = clusters(3000, 5)
    bandwidths = np.full(5, 1.5)
    roomy = ChebyshevGrams(X, GaussianSum()).at(bandwidths)
    expected = spectrum_of(roomy, 3)
    gradients = eigenvalue_gradients(roomy, expected)
    monkeypatch.setattr(low_rank, "_BASIS_BYTES", 0)
    monkeypatch.setattr(low_rank, "_FEATURE_BYTES", 0)
    monkeypatch.setattr(low_rank, "_BLOCK_ELEMENTS", 1 << 14)
    tight = ChebyshevGrams(X, GaussianSum()).at(bandwidths)
    spectrum = spectrum_of(tight, 3)
    assert tight._stored is None
    assert_allclose(spectrum.eigenvalues, expected.eigenvalues, atol=1e-13)
    assert_allclose(eigenvalue_gradients(tight, spectrum), gradients, atol=1e-11)


def test_memberships_from_the_low_rank_form_equal_those_from_the_dense_matrix():
    X = clusters(500, 6)
    bandwidths = np.full(6, 1.5)
    start = np.random.default_rng(0).dirichlet(np.ones(3), size=500)
    low, dense = (
        solve_relational(
            Dissimilarity(family(X, GaussianSum()).at(bandwidths)), 3, "quadratic", init=start, max_iter=60, tol=0.0
        )
        for family in (ChebyshevGrams, DenseGrams)
    )
    assert_allclose(low.memberships, dense.memberships, atol=1e-7)
    assert_allclose(low.objective, dense.objective, rtol=1e-9)


def test_centers_kept_as_grid_nodes_measure_new_rows_inside_and_outside_the_range():
    X = clusters(400, 4)
    new = np.vstack([clusters(50, 4, seed=9), 30.0 * np.ones((1, 4)), -30.0 * np.ones((1, 4))])
    bandwidths = np.array([0.7, 1.0, 3.0, 100.0])
    prototypes = np.random.default_rng(0).dirichlet(np.ones(400), size=3).T
    low, dense = (
        family(X, GaussianSum()).at(bandwidths).centers(prototypes) for family in (ChebyshevGrams, DenseGrams)
    )
    assert_allclose(low.squared_distances(new), dense.squared_distances(new), atol=1e-8)
    training = Dissimilarity(DenseGrams(X, GaussianSum()).at(bandwidths)).center_distances(prototypes)[0]
    assert_allclose(low.squared_distances(X), training, atol=1e-8)


@pytest.mark.parametrize("level", [0.0, 1.0, 4.0])
@pytest.mark.parametrize("spread", [1.0, 2.0])
def test_skewed_columns_lose_no_digits(spread, level):
    X = np.random.default_rng(0).lognormal(0.0, spread, (600, 3))
    X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    bandwidths = np.exp(level + np.array([0.0, 0.2, -0.2]))
    low, dense = (family(X, GaussianSum()).at(bandwidths) for family in (ChebyshevGrams, DenseGrams))
    assert isinstance(low, ChebyshevGram)
    assert_allclose(spectrum_of(low, 5).eigenvalues, spectrum_of(dense, 5).eigenvalues, rtol=0, atol=1e-12)
    assert_allclose(low.centered_diagonal, dense.centered_diagonal, rtol=1e-10)


def test_the_low_rank_form_states_an_error_that_it_has():
    X = clusters(500, 3)
    bandwidths = np.array([0.5, 1.0, 2.0])
    coarse = ChebyshevGrams(X, GaussianSum(), tol=1e-4).at(bandwidths)
    exact = Dissimilarity(DenseGrams(X, GaussianSum()).at(bandwidths)).columns(range(500))
    error = np.abs(Dissimilarity(coarse).columns(range(500)) - exact).max() / exact.mean()
    assert 0.1 * error <= coarse.approximation_error <= error


def test_bandwidths_that_many_rows_cannot_resolve_are_reported():
    X = clusters(6000, 2)
    tiny = np.full(2, 1e-3)
    with pytest.warns(ApproximationWarning, match="too small for the kernel to be resolved"):
        leading_spectrum(X, tiny)
    result = select_bandwidths(X, 2, threshold=0.0, level=-7.0, n_starts=1, max_anisotropy=1.0)
    assert 0.1 < result.approximation_error < 2.0
    assert select_bandwidths(X, 2, threshold=0.0, level=0.0, n_starts=1).approximation_error == 0.0


def test_no_core_costs_more_than_the_dense_matrix(monkeypatch):
    X = clusters(1000, 3)
    built = []
    build = low_rank._Core.build

    def recorded(kernel, features, degree, ratio):
        built.append(degree)
        return build(kernel, features, degree, ratio)

    monkeypatch.setattr(low_rank._Core, "build", recorded)
    family = ChebyshevGrams(X, GaussianSum())
    grams = [family.at(np.full(3, np.exp(level))) for level in (0.0, -1.0, -2.0, -3.0, -4.0, -5.0, -300.0)]
    assert max(built) ** 3 < 50 * len(X) ** 2
    assert [isinstance(gram, ChebyshevGram) for gram in grams] == sorted(
        (isinstance(gram, ChebyshevGram) for gram in grams), reverse=True
    )
    assert isinstance(grams[0], ChebyshevGram)


def test_the_stated_error_includes_the_farthest_rows():
    X = clusters(6000, 2)
    X[17, 0], X[4321, 1] = 60.0, -300.0
    bandwidths = np.full(2, 0.5)
    gram = ChebyshevGrams(X, GaussianSum()).at(bandwidths)
    rows = np.r_[17, 4321, np.arange(0, 6000, 12)]
    exact = -2.0 * GaussianSum().shifted(X[rows], X[rows], bandwidths)
    error = np.abs(Dissimilarity(gram).columns(rows)[rows] - exact).max() / exact.mean()
    assert gram.approximation_error >= 0.5 * error


def test_a_rank_whose_eigenvalue_problem_cannot_fit_is_refused_before_it_is_formed(monkeypatch):
    monkeypatch.setattr(_numerics, "available_memory", lambda: 1e5)
    with pytest.raises(MemoryError, match=r"eigenvalue problem of \d+ features needs .* larger bandwidths"):
        leading_spectrum(clusters(6000, 10), 0.5)
