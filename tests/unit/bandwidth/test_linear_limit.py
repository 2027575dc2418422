"""The linear limit of a search: cheap evaluations that are exact, and ends that the true kernel confirms."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist

from kfrc.bandwidth import QuasiNewton, explore_bandwidths, is_same_kernel, select_bandwidths
from kfrc.bandwidth.evaluations import KernelEvaluation, LinearEvaluation
from kfrc.bandwidth.problem import Problem
from kfrc.dissimilarity import Dissimilarity
from kfrc.gram import FactoredGrams, gram_family
from kfrc.kernels import Kernel
from kfrc.kernels.linear import Linear
from kfrc.spectrum import leading_spectrum, spectrum_of

TAU = 0.2027


@pytest.mark.parametrize("n_eigenvalues", [1, 3, 4, 6])
def test_a_linear_evaluation_is_the_general_one_in_p_dimensions(iris, n_eigenvalues, rng):
    family = FactoredGrams(iris, Linear())
    log_bandwidths = rng.normal(size=4)
    gram = family.at(np.exp(log_bandwidths))
    general = KernelEvaluation(log_bandwidths, gram, spectrum_of(gram, n_eigenvalues))
    direct = LinearEvaluation(family, log_bandwidths, n_eigenvalues)
    assert_allclose(direct.eigenvalues, general.eigenvalues, rtol=0, atol=1e-14)
    weights = list(rng.normal(size=(2, n_eigenvalues)))
    assert_allclose(direct.gradients(weights), general.gradients(weights), rtol=0, atol=1e-13)
    assert_allclose(direct.leading_gradient(), general.leading_gradient(), rtol=0, atol=1e-13)


def test_a_linear_evaluation_does_not_depend_on_the_level(iris):
    family = FactoredGrams(iris, Linear())
    shape = np.array([0.0, 1.0, -1.0, 0.5])
    low, high = LinearEvaluation(family, shape, 3), LinearEvaluation(family, shape + 300.0, 3)
    assert_allclose(low.eigenvalues, high.eigenvalues, rtol=0, atol=1e-14)
    assert_allclose(low.gradients([np.ones(3)]), high.gradients([np.ones(3)]), rtol=0, atol=1e-13)
    assert low.gradients([np.ones(3)]).sum() == pytest.approx(0.0, abs=1e-13)  # a common factor changes nothing


@pytest.mark.parametrize("kernel", ["sum", "product"])
def test_the_limit_is_as_near_as_it_says(iris, kernel):
    family = gram_family(iris, Kernel.from_name(kernel))
    for level in (2.0, 4.0, 6.0):
        bandwidths = np.full(4, np.exp(level))
        distances = Dissimilarity(family.at(bandwidths)).columns(range(len(iris)))
        linear = cdist(iris, iris, "sqeuclidean") / np.exp(2.0 * level)
        apart = linear > 1e-3 * linear.max()  # where rounding does not count
        error = np.abs(distances - linear)[apart] / linear[apart]
        assert family.linear_limit(bandwidths, float(error.max()) / 2) is None
        bound = family.kernel.distance_to_linear(np.square(np.ptp(iris, axis=0) / bandwidths))
        assert error.max() <= bound + 1e-9
        assert family.linear_limit(bandwidths, (1 + 1e-12) * bound) is not None


@pytest.mark.parametrize("kernel", ["sum", "product"])
def test_bandwidths_whose_squares_vanish_are_far_from_the_limit_without_a_warning(iris, kernel):
    family = gram_family(np.column_stack((iris, np.ones(len(iris)))), Kernel.from_name(kernel))
    assert family.linear_limit(np.array([1e-200, 1e-300, 1.0, 1e200, 1e-200]), 1e300) is None
    assert family.linear_limit(np.array([1e200, 1e200, 1e200, 1e200, 1e-200]), 1e-9) is not None  # the constant column


def test_kernels_without_a_limit_never_enter_it(iris):
    problem = Problem(gram_family(iris, Kernel.from_name("sum")), 3, np.inf, np.zeros(4), (-3.0, 10.0))
    assert not problem.enter_limit(np.full(4, 9.0))  # ratios of bandwidths are not bounded
    problem = Problem(gram_family(iris, Linear()), 3, 5.0, np.zeros(4), (-3.0, 10.0))
    assert not problem.enter_limit(np.full(4, 9.0))  # it is linear already
    problem = Problem(gram_family(iris, Kernel.from_name("product")), 3, 5.0, np.zeros(4), (-3.0, 10.0))
    assert not problem.enter_limit(np.zeros(4))
    assert problem.enter_limit(np.full(4, 9.0))
    assert problem.in_limit


@pytest.mark.parametrize("kernel", ["sum", "product"])
@pytest.mark.parametrize("criterion", ["sum", "log_sum", "gap"])
def test_a_search_in_the_limit_reaches_the_criterion_of_the_whole_search(iris, kernel, criterion):
    def search(optimizer):
        return select_bandwidths(
            iris,
            3,
            kernel=kernel,
            criterion=criterion,
            threshold=TAU,
            n_starts=3,
            optimizer=optimizer,
            random_state=0,
        )

    whole = search(QuasiNewton(tol=1e-7, restart=False))
    limit = search(QuasiNewton(tol=1e-7, restart=False, at_limit=True))
    assert limit.criterion_value >= whole.criterion_value - 1e-3
    assert limit.n_evaluations <= 2 * whole.n_evaluations
    # What is reported is what the kernel that was asked for has at these bandwidths.
    values = leading_spectrum(iris, limit.bandwidths, kernel=kernel, n_eigenvalues=3).eigenvalues
    assert_allclose(limit.eigenvalues, values, rtol=0, atol=1e-8)
    assert limit.bandwidths.max() / limit.bandwidths.min() <= 5.0 * (1 + 1e-9)


def test_an_end_in_the_limit_is_as_high_as_the_level_may_be(iris):
    shared = explore_bandwidths(
        iris, max_anisotropy=2.0, n_starts=1, optimizer=QuasiNewton(restart=False, at_limit=True)
    )
    assert shared.ascents[0].log_bandwidths.max() == pytest.approx(10.0 + shared.space.log_scale.mean())


def test_a_coarse_gram_matrix_changes_the_search_by_as_little(blobs):
    X = blobs
    fine, coarse = (
        explore_bandwidths(X, n_starts=2, gram_tol=tol, optimizer=QuasiNewton(tol=1e-5, restart=False), random_state=0)
        for tol in (None, 1e-6)
    )
    for ours, theirs in zip(coarse.ascents, fine.ascents, strict=True):
        assert ours.eigenvalues[0] == pytest.approx(theirs.eigenvalues[0], abs=1e-4)


def test_kernels_that_differ_by_a_common_factor_are_one_only_at_large_bandwidths():
    shape = np.array([0.0, 0.5, 1.0])
    assert is_same_kernel(shape + 8.0, shape + 9.0)
    assert not is_same_kernel(shape, shape + 1.0)
    assert not is_same_kernel(shape + 8.0, shape[::-1] + 8.0)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def blobs(rng):
    """Enough rows for a low-rank Gram matrix."""
    X = rng.standard_normal((200, 4))
    X[:100, :2] += 3.0
    return (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
