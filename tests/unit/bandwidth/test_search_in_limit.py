"""Large tables are searched where the kernel is the linear one, by criteria that have their supremum there."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.preprocessing import scale

import kfrc.bandwidth.problem as problem_module
from kfrc.bandwidth import select_bandwidths
from kfrc.bandwidth.optimizers.lbfgs import QuasiNewton


def _table(n_samples: int, n_features: int) -> np.ndarray:
    blobs, _ = make_blobs(n_samples, 6, centers=4, cluster_std=2.0, random_state=0)
    noise = np.random.default_rng(0).standard_normal((n_samples, n_features - 6))
    return scale(np.hstack([blobs, noise]))


@pytest.fixture
def kernel_spectra(monkeypatch):
    """How many spectra of the kernel that was asked for a search computes on its way."""
    counted: list[int] = []
    spectrum_of = problem_module.spectrum_of

    def counting(*arguments, **keywords):
        counted.append(1)
        return spectrum_of(*arguments, **keywords)

    monkeypatch.setattr(problem_module, "spectrum_of", counting)
    return counted


def _search(X, **options):
    return select_bandwidths(X, 4, **{"threshold": 0.05, "n_starts": 1, "random_state": 0, **options})


def test_beyond_ten_steps_a_start_in_a_large_table_needs_no_spectra_but_those_of_the_linear_kernel(kernel_spectra):
    result = _search(_table(501, 21), n_starts=2)
    assert len(kernel_spectra) == 20
    assert result.linear_limit
    assert result.active_level_bound == "upper"
    assert result.n_evaluations > 10


@pytest.mark.parametrize("shape", [(500, 21), (501, 20)])
def test_a_table_with_few_rows_or_columns_is_searched_with_its_kernel(kernel_spectra, shape):
    result = _search(_table(*shape), optimizer=QuasiNewton(max_iter=2, warm_up=1))
    assert len(kernel_spectra) == result.n_evaluations


@pytest.mark.parametrize(
    "options",
    [
        {"optimizer": QuasiNewton(max_iter=2, warm_up=1, at_limit=False)},
        {"criterion": "gap"},
        {"level": 1.0},
        {"level_bounds": (-1.0, 2.0)},
        {"max_anisotropy": np.inf},
    ],
    ids=str,
)
def test_what_was_asked_for_is_searched_where_the_limit_is_not(kernel_spectra, options):
    coarse = {"optimizer": QuasiNewton(max_iter=2, warm_up=1)}
    result = _search(_table(510, 22), **{**coarse, **options})
    assert len(kernel_spectra) == result.n_evaluations


@pytest.mark.parametrize("kernel", ["sum", "product"])
def test_the_eigenvalues_of_the_end_are_those_of_the_kernel(kernel):
    from kfrc.gram import gram_family
    from kfrc.kernels import Kernel
    from kfrc.spectrum import spectrum_of

    X = _table(520, 22)
    result = _search(X, kernel=kernel)
    exact = spectrum_of(gram_family(X, Kernel.from_name(kernel)).at(result.bandwidths), 4).eigenvalues
    np.testing.assert_allclose(result.eigenvalues, exact, rtol=1e-9)
    assert result.criterion_value == pytest.approx(exact[:3].sum(), rel=1e-5)
    assert result.bandwidths.max() <= 5.0 * result.bandwidths.min() * (1 + 1e-9)


@pytest.mark.slow
def test_the_criterion_reached_is_within_a_percent_of_a_search_with_the_kernel():
    X = _table(600, 24)
    quick = _search(X, n_starts=3)
    slow = _search(X, n_starts=3, optimizer=QuasiNewton(at_limit=False))
    assert quick.criterion_value >= 0.99 * slow.criterion_value


def test_the_best_start_is_refined_with_the_tolerance_of_the_optimizer():
    result = _search(_table(600, 24), n_starts=3)
    *compared, refined = result.candidates
    assert len(compared) == 3
    assert result.best == 3
    assert refined.criterion_value >= max(candidate.criterion_value for candidate in compared)


def test_a_threshold_that_binds_is_kept_in_the_limit():
    X = _table(600, 24)
    free = _search(X)
    bound = _search(X, threshold=float(free.eigenvalues[0]) + 0.02)
    assert free.eigenvalues[0] < bound.threshold
    assert bound.eigenvalues[0] >= bound.threshold - 2e-6
