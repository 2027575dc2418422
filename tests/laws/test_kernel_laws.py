"""What holds for every registered kernel between any two sets of rows.

A kernel that depends on all rows at once has no values between two sets of them, and no derivative: its laws are in
tests/unit/gram/test_paths.py.
"""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.linalg import eigh

from kfrc._numerics import double_center
from kfrc.kernels import Kernel
from strategies import data_matrices, each, has_blocks, log_bandwidths


@st.composite
def row_sets(draw):
    """Two sets of rows and log-bandwidths."""
    X = draw(data_matrices())
    return X, X[: len(X) // 2] + 0.3, draw(log_bandwidths(X.shape[1], high=4.0))


@each("kernel", Kernel, has_blocks)
@given(row_sets())
def test_kernel_is_symmetric_and_its_centered_matrix_positive_semidefinite(kernel, rows):
    X, Y, eta = rows
    K = kernel.shifted(X, X, np.exp(eta))
    assert_allclose(kernel.shifted(Y, X, np.exp(eta)), kernel.shifted(X, Y, np.exp(eta)).T, rtol=1e-9, atol=1e-12)
    values = eigh(double_center(0.5 * (K + K.T)), eigvals_only=True)
    assert values[0] >= -1e-10 * max(values[-1], 1e-300)


@each("kernel", Kernel, has_blocks)
@given(row_sets())
def test_derivative_is_the_slope_in_each_log_bandwidth(kernel, rows):
    X, Y, eta = rows
    for feature, direction in enumerate(np.eye(len(eta))):
        step = 1e-5 * direction
        ends = [kernel.shifted(X, Y, np.exp(eta + sign * step)) for sign in (1, -1)]
        numeric = (ends[0] - ends[1]) / 2e-5
        analytic = kernel.derivative(X, Y, np.exp(eta), feature)
        assert analytic.shape == (len(X), len(Y))
        assert_allclose(analytic, numeric, rtol=1e-5, atol=1e-7 * max(1.0, float(np.abs(analytic).max())))


@each("kernel", Kernel, has_blocks)
@given(row_sets())
def test_diagonal_is_that_of_the_matrix_and_zero_if_it_is_constant(kernel, rows):
    X, _, eta = rows
    diagonal = kernel.shifted_diagonal(X, np.exp(eta))
    assert_allclose(np.diagonal(kernel.shifted(X, X, np.exp(eta))), diagonal, rtol=1e-9, atol=1e-9)
    assert_allclose(np.diagonal(kernel.shifted_gram(X, np.exp(eta))), diagonal, rtol=1e-9, atol=1e-12)
    assert not (kernel.constant_diagonal and diagonal.any())


@each("kernel", Kernel, has_blocks)
@given(row_sets(), st.integers(0, 2**32 - 1))
def test_weighted_gradients_equal_those_of_the_base_class(kernel, rows, seed):
    X, Y, eta = rows
    rng = np.random.default_rng(seed)
    weights = [rng.standard_normal((len(X), len(Y))) for _ in range(2)]
    slow = Kernel.weighted_gradients(kernel, X, Y, np.exp(eta), weights)
    fast = kernel.weighted_gradients(X, Y, np.exp(eta), weights)
    assert_allclose(fast, slow, rtol=1e-7, atol=1e-7 * max(1.0, float(np.abs(slow).max())))


@each("kernel", Kernel, has_blocks)
@given(row_sets())
def test_features_of_a_kernel_multiply_to_its_matrix(kernel, rows):
    X, Y, eta = rows
    features = [kernel.factor(side, np.exp(eta)) for side in (X, Y)]
    if features[0] is None:
        assert features[1] is None
    else:
        assert_allclose(features[0] @ features[1].T, kernel.shifted(X, Y, np.exp(eta)), rtol=1e-10, atol=1e-10)
