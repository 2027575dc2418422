"""Eigenvalues of F and their gradients against the numbers of the reference implementation in R."""

from __future__ import annotations

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kfrc.criteria import SumOfLogs
from kfrc.gram import gram_family
from kfrc.kernels import Kernel
from kfrc.spectrum import leading_spectrum, spectrum_of

CASES = [f"{kernel}_{bandwidths}" for kernel in ("sum", "product") for bandwidths in ("iso1", "lognormal", "aniso")]
N_CLUSTERS = 3
EIGENVALUES = 1e-10
GRADIENTS = 1e-8


@pytest.fixture(scope="module")
def oracle(golden_arrays, scaled):
    arrays = golden_arrays("spectrum_oracle")

    def case(dataset, name):
        prefix = f"{dataset}__{name}__"
        return scaled[dataset], {key.removeprefix(prefix): arrays[key] for key in arrays if key.startswith(prefix)}

    return case


@pytest.fixture(scope="module")
def seeds_oracle(shared):
    with np.load(shared / "oracles" / "kernel_spectrum" / "seeds.npz") as source:
        arrays = dict(source)

    def case(name):
        prefix = f"{name}__"
        return arrays["X_scaled"], {key.removeprefix(prefix): arrays[key] for key in arrays if key.startswith(prefix)}

    return case


def assert_spectrum_agrees(X, expected, kernel):
    spectrum = leading_spectrum(X, expected["bw"], kernel=kernel, n_eigenvalues=6, gradient=True)
    assert_allclose(spectrum.eigenvalues, expected["eigvals_top6"], rtol=0, atol=EIGENVALUES)
    assert_allclose(spectrum.centered_diagonal, expected["D"], rtol=1e-9)
    scale = np.abs(expected["grad_logbw"]).max(axis=1, keepdims=True)
    assert_allclose(spectrum.gradients[:N_CLUSTERS] / scale, expected["grad_logbw"] / scale, rtol=0, atol=GRADIENTS)


def assert_criterion_gradient_agrees(X, expected, kernel):
    gram = gram_family(X, Kernel.from_name(kernel)).at(expected["bw"])
    spectrum = spectrum_of(gram, N_CLUSTERS)
    weights = SumOfLogs().gradient(spectrum.eigenvalues, N_CLUSTERS)
    gradient = gram.log_bandwidth_gradients([spectrum.adjoint(weights)])[0]
    assert_allclose(gradient, expected["grad_logsum"], rtol=GRADIENTS, atol=GRADIENTS * np.abs(gradient).max())


@pytest.mark.parametrize("dataset", ["iris", "wine"])
@pytest.mark.parametrize("case", CASES)
def test_eigenvalues_and_gradients_equal_the_reference(oracle, dataset, case):
    X, expected = oracle(dataset, case)
    assert_spectrum_agrees(X, expected, case.split("_")[0])


@pytest.mark.parametrize("dataset", ["iris", "wine"])
@pytest.mark.parametrize("case", CASES)
def test_gradient_of_the_sum_of_logs_equals_the_reference(oracle, dataset, case):
    X, expected = oracle(dataset, case)
    assert_criterion_gradient_agrees(X, expected, case.split("_")[0])


@pytest.mark.parametrize("case", CASES)
def test_lanczos_on_seeds_equals_the_full_decomposition_of_the_reference(seeds_oracle, case):
    X, expected = seeds_oracle(case)
    assert len(X) > 200, "seeds is the case that is too large for the dense eigensolver"
    assert_spectrum_agrees(X, expected, case.split("_")[0])
    assert_criterion_gradient_agrees(X, expected, case.split("_")[0])


@pytest.mark.parametrize("dataset", ["iris", "wine"])
def test_bundled_data_equal_the_data_behind_the_reference_numbers(scaled, shared, dataset):
    with np.load(shared / "oracles" / "kernel_spectrum" / f"{dataset}.npz") as arrays:
        assert_allclose(scaled[dataset], arrays["X_scaled"], rtol=0, atol=1e-13)


@pytest.mark.parametrize("dataset", ["iris", "wine"])
def test_copied_numbers_equal_their_source(oracle, shared, dataset):
    cases = json.loads((shared / "oracles" / "kernel_spectrum" / f"{dataset}.json").read_text())["cases"]
    assert sorted(cases) == sorted(CASES)
    for name, record in cases.items():
        assert_allclose(oracle(dataset, name)[1]["eigvals_top6"], record["eigvals_top6"], rtol=1e-15)
