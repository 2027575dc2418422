"""Nyström approximation: exact with all landmarks, honest about its error with few, and differentiable."""

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kfrc import KFRC
from kfrc._numerics import standardize
from kfrc.dissimilarity import Dissimilarity
from kfrc.gram import DenseGrams, NystromGrams
from kfrc.gram.nystrom import choose_landmarks
from kfrc.kernels.gaussian import GaussianProduct, GaussianSum
from kfrc.kernels.linear import Linear
from kfrc.spectrum import eigenvalue_gradients, spectrum_of


def clusters(n_samples, n_features, seed=0):
    rng = np.random.default_rng(seed)
    means = 2.0 * rng.standard_normal((4, n_features))
    X = means[rng.integers(4, size=n_samples)] + rng.standard_normal((n_samples, n_features))
    return standardize(X)


@pytest.mark.parametrize("kernel", [GaussianProduct(), GaussianSum()])
@pytest.mark.parametrize("level", [0.0, 2.0, 9.0])
def test_all_samples_as_landmarks_give_the_dense_answer(kernel, level):
    X = clusters(120, 4)
    bandwidths = np.exp(level) * np.array([0.7, 1.0, 1.5, 2.0])
    approximate, dense = (family.at(bandwidths) for family in (NystromGrams(X, kernel, 120), DenseGrams(X, kernel)))
    ours, exact = spectrum_of(approximate, 4), spectrum_of(dense, 4)
    assert_allclose(ours.eigenvalues, exact.eigenvalues, atol=1e-10)
    assert_allclose(eigenvalue_gradients(approximate, ours), eigenvalue_gradients(dense, exact), atol=1e-8)
    assert approximate.approximation_error < 1e-10


@pytest.mark.parametrize("level", [0.0, 1.5, 6.0])
def test_gradients_of_the_approximation_equal_central_differences(level):
    family = NystromGrams(clusters(300, 5), GaussianProduct(), 40)
    point = level + 0.2 * np.random.default_rng(3).standard_normal(5)

    def eigenvalues(log_bandwidths):
        return spectrum_of(family.at(np.exp(log_bandwidths)), 3).eigenvalues

    gram = family.at(np.exp(point))
    analytic = eigenvalue_gradients(gram, spectrum_of(gram, 3))
    step = 1e-4
    numeric = np.array(
        [(eigenvalues(point + step * e) - eigenvalues(point - step * e)) / (2 * step) for e in np.eye(5)]
    )
    assert_allclose(analytic, numeric.T, atol=1e-6)


@pytest.mark.slow
def test_the_reported_error_bounds_the_relative_error_of_the_eigenvalues():
    X = clusters(4000, 10)
    for level in (0.5, 1.5, 3.0):
        bandwidths = np.full(10, np.exp(level))
        exact = spectrum_of(DenseGrams(X, GaussianProduct()).at(bandwidths), 4).eigenvalues
        for rank in (100, 300):
            gram = NystromGrams(X, GaussianProduct(), rank).at(bandwidths)
            error = np.abs(spectrum_of(gram, 4).eigenvalues / exact - 1).max()
            assert error <= gram.approximation_error
            if (level, rank) == (1.5, 300):
                assert error <= 1e-3


def test_landmarks_are_distinct_and_reproducible():
    X = clusters(500, 3)
    chosen = choose_landmarks(X, GaussianProduct(), np.ones(3), 50)
    assert len(np.unique(chosen)) == len(chosen) == 50
    assert_allclose(chosen, choose_landmarks(X, GaussianProduct(), np.ones(3), 50))


def test_a_row_that_only_rounding_calls_unexplained_is_passed_over(monkeypatch):
    @dataclass(frozen=True)
    class Overstated(Linear):
        """A linear kernel whose diagonal is off by rounding (here a large one) for rows at the origin."""

        def shifted_diagonal(self, X, bandwidths):
            return np.where(X.any(axis=1), super().shifted_diagonal(X, bandwidths), 100.0)

    def poisoned(shape, *arguments, **options):
        return np.full(shape, np.nan)

    X = np.vstack([np.zeros((5, 3)), np.random.default_rng(0).standard_normal((10, 3))])
    monkeypatch.setattr(np, "empty", poisoned)  # memory that was never written must not be read
    chosen = choose_landmarks(X, Overstated(), np.ones(3), 12)
    assert (chosen >= 5).all()
    assert len(chosen) == np.linalg.matrix_rank(X[chosen]) == 3


def test_duplicated_rows_do_not_make_the_landmarks_singular():
    X = np.repeat(clusters(20, 3), 10, axis=0)
    gram = NystromGrams(X, GaussianProduct(), 60).at(np.ones(3))
    assert gram.rank <= 20
    assert np.isfinite(spectrum_of(gram, 3).eigenvalues).all()


def test_new_rows_are_measured_as_training_rows_are():
    X = clusters(300, 4)
    gram = NystromGrams(X, GaussianProduct(), 50).at(np.full(4, 1.5))
    prototypes = np.random.default_rng(0).dirichlet(np.ones(300), size=3).T
    expected, _ = Dissimilarity(gram).center_distances(prototypes)
    assert_allclose(gram.centers(prototypes).squared_distances(X), expected, atol=1e-9)


def test_estimator_reports_the_approximation_it_used():
    X = clusters(400, 4)
    exact = KFRC(4, kernel="product", bandwidths=3.0, random_state=0).fit(X)
    close = KFRC(4, kernel="product", bandwidths=3.0, approximation="nystrom", rank=80, random_state=0).fit(X)
    assert (exact.approximation_, exact.approximation_error_) == ("none", 0.0)
    assert close.approximation_ == "nystrom"
    assert 0 < close.approximation_error_ < 0.01
    assert_allclose(close.memberships_, exact.memberships_, atol=0.02)
    assert_allclose(close.predict_proba(X), close.memberships_, atol=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_a_row_at_a_center_is_at_distance_zero_as_in_the_fit(seed):
    X = np.random.default_rng(seed).standard_normal((4, 2))
    gram = NystromGrams(X, GaussianSum(), 4).at(np.array([3.0, 5.0]))
    distances = gram.centers(np.eye(4)).squared_distances(X)
    assert (np.diag(distances) == 0).all()
    assert (distances[~np.eye(4, dtype=bool)] > 0).all()
