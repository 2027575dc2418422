"""What holds for every registered criterion of the spectrum."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from kfrc.criteria import Criterion
from strategies import each

spectra = given(st.integers(2, 6), st.integers(0, 2**32 - 1))


def draw_eigenvalues(seed, count):
    return np.sort(np.random.default_rng(seed).uniform(0.05, 0.5, count))[::-1]


@each("criterion", Criterion)
@spectra
def test_criterion_gradients_equal_central_differences(criterion, n_clusters, seed):
    k = criterion.n_eigenvalues(n_clusters)
    assert k >= n_clusters
    values = draw_eigenvalues(seed, k)
    numeric = [
        (criterion.value(values + h, n_clusters) - criterion.value(values - h, n_clusters)) / 2e-6
        for h in 1e-6 * np.eye(k)
    ]
    assert_allclose(criterion.gradient(values, n_clusters), numeric, rtol=1e-6, atol=1e-6)


@each("criterion", Criterion)
@spectra
def test_eigenvalues_beyond_those_asked_for_count_nothing(criterion, n_clusters, seed):
    k = criterion.n_eigenvalues(n_clusters)
    longer = draw_eigenvalues(seed, k + 3)
    assert criterion.value(longer, n_clusters) == pytest.approx(criterion.value(longer[:k], n_clusters), rel=1e-14)
    gradient = criterion.gradient(longer, n_clusters)
    assert gradient.shape == longer.shape
    assert_allclose(gradient[:k], criterion.gradient(longer[:k], n_clusters), rtol=1e-14)
    assert (gradient[k:] == 0).all()


@each("criterion", Criterion)
def test_criterion_is_finite_on_a_spectrum_of_low_rank(criterion):
    values = np.array([1.0, 0.0, 0.0, 0.0])
    assert np.isfinite(criterion.value(values, 3))
    assert np.isfinite(criterion.gradient(values, 3)).all()
