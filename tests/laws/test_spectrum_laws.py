"""What holds for every kernel: positive semi-definiteness, the spectrum of F, and its derivatives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.linalg import eigh

from kfrc._numerics import double_center
from kfrc.criteria import Criterion
from kfrc.gram import DenseGram, gram_family
from kfrc.kernels import Kernel
from kfrc.spectrum import Spectrum, eigenvalue_gradients, leading_spectrum, spectrum_of
from strategies import data_matrices, each, has_blocks, log_bandwidths, members

ALGEBRA = 1e-10


@st.composite
def problems(draw, low=-2.0, high=12.0, **shape):
    X = draw(data_matrices(**shape))
    return X, draw(log_bandwidths(X.shape[1], low, high)), draw(members(Kernel, has_blocks))


def dense_F(X, bandwidths, kernel):
    """F written down from its definition, from K − const, which centering cannot tell from K."""
    B = double_center(kernel.shifted(X, X, bandwidths))
    D = np.diagonal(B)
    return B / np.sqrt(np.outer(D, D)) / len(X)


@given(problems())
def test_kernel_matrix_is_symmetric_and_positive_semidefinite(problem):
    X, eta, kernel = problem
    E = kernel.shifted_gram(X, np.exp(eta))
    assert_allclose(E, E.T, rtol=1e-13, atol=1e-15 * np.abs(E).max())
    assert_allclose(E, kernel.shifted(X, X, np.exp(eta)), rtol=1e-9, atol=1e-9 * np.abs(E).max())
    values = eigh(double_center(E), eigvals_only=True)
    assert values[0] >= -1e-10 * max(values[-1], 1e-300)


@given(problems(high=3.0))
def test_kernels_of_the_paper_are_their_formulas_minus_the_value_at_distance_zero(problem):
    X, eta, _ = problem
    squares = np.square(X[:, None, :] - X[None, :, :]) / (2 * np.exp(2 * eta))
    formulas = {
        "sum": (X.shape[1], np.exp(-squares).sum(axis=2)),
        "product": (1.0, np.exp(-squares.sum(axis=2))),
        "linear": (0.0, (X / np.exp(eta)) @ (X / np.exp(eta)).T),
    }
    for name, (constant, expected) in formulas.items():
        shifted = Kernel.from_name(name).shifted(X, X, np.exp(eta))
        assert_allclose(constant + shifted, expected, rtol=1e-11, atol=1e-13)


@given(problems())
def test_all_eigenvalues_of_F_lie_in_the_unit_interval_and_sum_to_one(problem):
    X, eta, kernel = problem
    values = spectrum_of(gram_family(X, kernel).at(np.exp(eta)), len(X)).eigenvalues
    assert (values >= 0).all()
    assert (values <= 1).all()
    assert (np.diff(values) <= 1e-14).all()
    assert values.sum() == pytest.approx(1.0, abs=1e-9)


@given(problems(), st.integers(1, 6))
def test_leading_pairs_are_eigenpairs_of_F_as_it_is_defined(problem, n_eigenvalues):
    X, eta, kernel = problem
    F = dense_F(X, np.exp(eta), kernel)
    spectrum = leading_spectrum(X, np.exp(eta), kernel=kernel, n_eigenvalues=n_eigenvalues)
    # Where K is nearly constant the matrix built here for comparison has lost digits to rounding of the distances.
    assert_allclose(spectrum.eigenvalues, eigh(F, eigvals_only=True)[::-1][:n_eigenvalues], rtol=0, atol=1e-8)
    V = spectrum.eigenvectors
    assert V.shape == (len(X), n_eigenvalues)
    assert_allclose(V.T @ V, np.eye(n_eigenvalues), rtol=0, atol=1e-8)
    assert_allclose(F @ V, V * spectrum.eigenvalues, rtol=0, atol=1e-8)


@given(problems())
def test_row_means_of_the_distances_give_the_centered_diagonal(problem):
    X, eta, kernel = problem
    E = kernel.shifted_gram(X, np.exp(eta))
    R = np.add.outer(np.diagonal(E), np.diagonal(E)) - 2 * E
    n = len(X)
    from_distances = R.sum(axis=1) / n - R.sum() / (2 * n**2)
    centered = gram_family(X, kernel).at(np.exp(eta)).centered_diagonal
    assert_allclose(from_distances, centered, rtol=1e-8, atol=1e-9 * centered.max())


@given(problems(min_samples=12), st.integers(2, 7))
@settings(max_examples=60)
def test_analytic_gradients_equal_central_differences(problem, n_clusters):
    X, eta, kernel = problem
    family = gram_family(X, kernel)
    spectrum = spectrum_of(family.at(np.exp(eta)), n_clusters + 1)
    gaps = -np.diff(spectrum.eigenvalues)
    analytic = eigenvalue_gradients(family.at(np.exp(eta)), spectrum)[:n_clusters]
    step = 1e-4

    def eigenvalues(shift):
        return spectrum_of(family.at(np.exp(eta + shift)), n_clusters).eigenvalues

    numeric = np.column_stack(
        [(eigenvalues(step * e) - eigenvalues(-step * e)) / (2 * step) for e in np.eye(X.shape[1])]
    )
    separated = np.minimum(np.r_[np.inf, gaps[:-1]], gaps)[:n_clusters] > 1e-2  # curvature grows as one over the gap
    assert_allclose(analytic[separated], numeric[separated], rtol=1e-5, atol=1e-6)
    assert np.isfinite(analytic).all()


@given(problems(min_samples=12), members(Criterion), st.integers(2, 7))
def test_criterion_gradient_by_the_chain_rule_equals_central_differences(problem, criterion, n_clusters):
    X, eta, kernel = problem
    family = gram_family(X, kernel)
    k = criterion.n_eigenvalues(n_clusters)
    spectrum = spectrum_of(family.at(np.exp(eta)), n_clusters + 2)
    weights = criterion.gradient(spectrum.eigenvalues[:k], n_clusters)
    # Where two eigenvalues meet, only their sum is smooth: a gap matters if its ends have different weights.
    matters = np.diff(np.r_[weights, np.zeros(n_clusters + 2 - k)]) != 0
    if (-np.diff(spectrum.eigenvalues))[matters].min() < 1e-2 or spectrum.eigenvalues[n_clusters - 2] < 1e-3:
        return
    short = Spectrum(spectrum.eigenvalues[:k], spectrum.eigenvectors[:, :k], spectrum.centered_diagonal)
    analytic = family.at(np.exp(eta)).log_bandwidth_gradients([short.adjoint(weights)])[0]
    step = 1e-4

    def value(shift):
        return criterion.value(spectrum_of(family.at(np.exp(eta + shift)), k).eigenvalues, n_clusters)

    numeric = [(value(step * e) - value(-step * e)) / (2 * step) for e in np.eye(X.shape[1])]
    assert_allclose(analytic, numeric, rtol=1e-4, atol=1e-5)


@given(problems())
def test_fast_gradients_equal_those_of_the_base_class(problem):
    X, eta, kernel = problem
    bandwidths = np.exp(eta)
    gram = gram_family(X, kernel).at(bandwidths)
    spectrum = spectrum_of(gram, 3)
    adjoints = [spectrum.adjoint(w) for w in (*np.eye(3), np.array([1.0, 0.5, -2.0]))]
    E = kernel.shifted_gram(X, bandwidths)
    X = X - X.mean(axis=0)  # the linear kernel alone sees the origin; its family centers
    slow = Kernel.log_bandwidth_gradients(kernel, X, bandwidths, E, adjoints)
    fast = kernel.log_bandwidth_gradients(X, bandwidths, E, adjoints)
    assert_allclose(fast, slow, rtol=1e-7, atol=1e-9)
    assert_allclose(gram.log_bandwidth_gradients(adjoints), slow, rtol=1e-7, atol=1e-9)


@given(problems(high=4.0), st.integers(0, 2**32 - 1))
def test_permuting_samples_permutes_eigenvectors_and_nothing_else(problem, seed):
    X, eta, kernel = problem
    order = np.random.default_rng(seed).permutation(len(X))
    here = leading_spectrum(X, np.exp(eta), kernel=kernel, n_eigenvalues=2, gradient=True)
    there = leading_spectrum(X[order], np.exp(eta), kernel=kernel, n_eigenvalues=2, gradient=True)
    assert_allclose(there.eigenvalues, here.eigenvalues, rtol=0, atol=1e-10)
    assert_allclose(there.centered_diagonal, here.centered_diagonal[order], rtol=1e-9)
    if here.eigenvalues[0] - here.eigenvalues[1] > 1e-3:
        assert_allclose(there.gradients[0], here.gradients[0], rtol=0, atol=1e-8)
        overlap = abs(there.eigenvectors[:, 0] @ here.eigenvectors[order, 0])
        assert overlap == pytest.approx(1.0, abs=1e-8)


@given(problems(high=4.0), st.floats(-3, 3))
def test_rescaling_data_and_bandwidths_together_changes_nothing(problem, log_factor):
    X, eta, kernel = problem
    factor = np.exp(log_factor)
    here = leading_spectrum(X, np.exp(eta), kernel=kernel, n_eigenvalues=3)
    there = leading_spectrum(factor * X + 5.0, factor * np.exp(eta), kernel=kernel, n_eigenvalues=3)
    assert_allclose(there.eigenvalues, here.eigenvalues, rtol=0, atol=1e-9)


@given(data_matrices(min_samples=10, min_features=2))
def test_gaussian_kernels_become_linear_at_large_bandwidths_without_losing_digits(X):
    shape = np.linspace(0.0, 1.0, X.shape[1])
    linear = leading_spectrum(X, np.exp(shape), kernel="linear", n_eigenvalues=3, gradient=True)
    for name in ("sum", "product"):
        huge = leading_spectrum(X, np.exp(12.0 + shape), kernel=name, n_eigenvalues=3, gradient=True)
        assert_allclose(huge.eigenvalues, linear.eigenvalues, rtol=0, atol=1e-7)
        gaps = np.abs(np.diff(linear.eigenvalues))
        if gaps.min() > 1e-2:
            assert_allclose(huge.gradients, linear.gradients, rtol=0, atol=1e-5)


@given(data_matrices(min_samples=10), st.integers(2, 6), members(Kernel, has_blocks))
def test_gradients_are_finite_with_duplicated_rows(X, copies, kernel):
    X = np.vstack([X[:3]] * copies)
    if np.ptp(X, axis=0).min() == 0:
        return
    for level in (-2.0, 0.0, 5.0, 12.0):
        bandwidths = np.full(X.shape[1], np.exp(level))
        spectrum = leading_spectrum(X, bandwidths, kernel=kernel, n_eigenvalues=5, gradient=True)
        assert np.isfinite(spectrum.gradients).all()
        assert spectrum.eigenvalues[2:].max() <= 1e-9, "three distinct points span two dimensions"


@each("kernel", Kernel, has_blocks)
@pytest.mark.parametrize("level", [-300.0, -20.0, -6.0, 15.0, 30.0, 300.0])
def test_spectrum_and_gradients_are_finite_at_absurd_bandwidths(iris, kernel, level):
    X = np.unique(iris, axis=0)[:40]
    spectrum = leading_spectrum(X, np.full(4, np.exp(level)), kernel=kernel, n_eigenvalues=4, gradient=True)
    assert np.isfinite(spectrum.eigenvalues).all()
    assert np.isfinite(spectrum.gradients).all()


@pytest.mark.parametrize("n_eigenvalues", [1, 3, 10, 39])
@pytest.mark.parametrize("level", [-20.0, -6.0])
def test_product_kernel_at_tiny_bandwidths_has_the_flat_spectrum(iris, level, n_eigenvalues):
    X = np.unique(iris, axis=0)[:40]
    spectrum = leading_spectrum(X, np.full(4, np.exp(level)), kernel="product", n_eigenvalues=n_eigenvalues)
    assert_allclose(spectrum.eigenvalues, 1 / 39, rtol=1e-9)


def test_rank_deficient_linear_kernel_has_zero_eigenvalues_with_zero_gradients():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((30, 2)) @ rng.standard_normal((2, 4))
    spectrum = leading_spectrum(X, np.ones(4), kernel="linear", n_eigenvalues=6, gradient=True)
    assert (spectrum.eigenvalues[:2] > 1e-3).all()
    assert_allclose(spectrum.eigenvalues[2:], 0.0, atol=1e-12)
    assert_allclose(spectrum.gradients[2:], 0.0, atol=1e-8)
    assert_allclose(spectrum.eigenvectors.T @ spectrum.eigenvectors, np.eye(6), atol=1e-8)


@each("kernel", Kernel, has_blocks)
def test_crossing_eigenvalues_share_the_gradient_of_their_sum(kernel):
    # A square turned by 90 degrees is itself: two exactly equal eigenvalues, whose sum alone is smooth.
    X = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
    X = np.vstack([X, 2 * X, 3 * X])
    spectrum = leading_spectrum(X, [6.0, 6.0], kernel=kernel, n_eigenvalues=6, gradient=True)
    ties = np.flatnonzero(-np.diff(spectrum.eigenvalues) < 1e-12)
    assert len(ties), "the symmetry of the data makes two eigenvalues equal"
    pair = slice(ties[0], ties[0] + 2)
    assert_allclose(*spectrum.gradients[pair], rtol=0, atol=1e-12)

    def total(log_shift):
        return leading_spectrum(X, 6.0 * np.exp(log_shift), kernel=kernel, n_eigenvalues=6).eigenvalues[pair].sum()

    step = 1e-4
    numeric = [(total(step * e) - total(-step * e)) / (2 * step) for e in np.eye(2)]
    assert_allclose(spectrum.gradients[pair].sum(axis=0), numeric, rtol=0, atol=1e-6)


@each("kernel", Kernel, has_blocks)
def test_sample_at_the_center_of_mass_does_no_harm(kernel):
    X = np.array([[-1.0, 0.5], [1.0, -0.5], [2.0, 1.0], [-2.0, -1.0], [0.0, 0.0]])
    spectrum = leading_spectrum(X, np.full(2, np.exp(8.0)), kernel=kernel, n_eigenvalues=2, gradient=True)
    assert np.isfinite(spectrum.eigenvalues).all()
    assert np.isfinite(spectrum.gradients).all()


def test_warm_start_does_not_change_the_answer(wine):
    X = np.vstack([wine, wine + 0.01 * np.random.default_rng(0).standard_normal(wine.shape)])
    family = gram_family(X, Kernel.from_name("product"))
    before = spectrum_of(family.at(np.full(13, 3.0)), 4)
    cold = spectrum_of(family.at(np.full(13, 3.2)), 4)
    warm = spectrum_of(family.at(np.full(13, 3.2)), 4, warm_start=before)
    assert len(X) > 200
    assert_allclose(warm.eigenvalues, cold.eigenvalues, rtol=0, atol=1e-12)
    assert_allclose(np.abs((warm.eigenvectors * cold.eigenvectors).sum(axis=0)), 1.0, atol=1e-8)


def test_lanczos_equals_the_dense_eigensolver_on_a_flat_spectrum():
    rng = np.random.default_rng(3)
    X = 100 * rng.standard_normal((250, 3))
    spectrum = leading_spectrum(X, np.full(3, 0.01), kernel="product", n_eigenvalues=3, gradient=True)
    assert_allclose(spectrum.eigenvalues, 1 / 249, rtol=1e-8)
    assert np.isfinite(spectrum.gradients).all()


@given(problems(min_samples=8, high=3.0), st.booleans())
def test_all_coordinates_together_have_the_inner_products_of_the_centered_features(problem, weighted):
    X, eta, kernel = problem
    rng = np.random.default_rng(len(X))
    s = rng.integers(0, 3, len(X)).astype(float) + (np.arange(len(X)) < 2) if weighted else None
    gram = DenseGram(kernel.shifted_gram(X, np.exp(eta)), weights=s)
    shares = np.full(len(X), 1 / len(X)) if s is None else s / s.sum()
    H = np.eye(len(X)) - shares
    inner = H @ gram.E @ H.T
    present = shares > 0
    C = spectrum_of(gram, len(X)).coordinates()
    size = np.abs(inner).max()
    assert_allclose((C @ C.T)[np.ix_(present, present)], inner[np.ix_(present, present)], rtol=0, atol=1e-8 * size)
    assert (C[~present] == 0).all()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("warm", [False, True])
def test_every_way_to_the_eigenpairs_of_a_matrix_leads_to_the_same(weighted, warm, monkeypatch):
    rng = np.random.default_rng(5)
    X = np.vstack([rng.normal(0, 1, (25, 3)), rng.normal(3, 1, (15, 3))])
    s = rng.uniform(0.2, 3.0, 40) if weighted else None
    gram = DenseGram(Kernel.from_name("product").shifted_gram(X, np.full(3, 2.0)), weights=s)
    formed = spectrum_of(gram, 4)
    monkeypatch.setattr("kfrc.spectrum._FORMED_MAX_SAMPLES", 10)
    by_products = spectrum_of(gram, 4, warm_start=formed if warm else None)
    assert_allclose(by_products.eigenvalues, formed.eigenvalues, rtol=1e-9)
    assert_allclose(np.abs(np.sum(by_products.eigenvectors * formed.eigenvectors, axis=0)), 1.0, rtol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_adjoint_is_the_derivative_of_eigenvalues_in_every_entry_of_the_matrix(weighted):
    rng = np.random.default_rng(6)
    Y = rng.standard_normal((12, 4))
    s = rng.uniform(0.3, 3.0, 12) if weighted else None
    K, weights = Y @ Y.T, np.array([0.7, -1.1])
    change = rng.standard_normal((12, 12))
    change = change + change.T
    adjoint = spectrum_of(DenseGram(K, weights=s), 2).adjoint(weights)
    G = adjoint.rows(slice(0, 12)) + np.diag(adjoint.diagonal)

    def value(step):
        return weights @ spectrum_of(DenseGram(K + step * change, weights=s), 2).eigenvalues

    slope = (value(1e-5) - value(-1e-5)) / 2e-5
    assert np.sum(G * change) == pytest.approx(slope, rel=1e-6)


def test_two_eigenvalues_without_gradients_unless_asked_for(iris):
    spectrum = leading_spectrum(iris, 1.0)
    assert spectrum.eigenvalues.shape == (2,)
    assert spectrum.gradients is None
    assert leading_spectrum(iris, 1.0, gradient=True).gradients.shape == (2, 4)
