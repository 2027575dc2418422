"""Products of polynomials: a basis of the same polynomials as Chebyshev's, to all digits that matter."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.polynomial import chebyshev
from numpy.testing import assert_allclose, assert_array_equal

from kfrc.blocks.polynomials import WIDTH, products_to_chebyshev, write_products
from kfrc.blocks.row_maps.columns import MOST_POLYNOMIALS

DEGREES = [4, 8, 12, 16, 40, 64, 100, 128, 188, 252, 256]
PLACES = np.concatenate([np.linspace(-1, 1, 101), np.cos(np.linspace(0, np.pi, 101)), [1e-300, -1e-17, 1 - 1e-16]])


def products(z, degree, dtype=np.float64):
    out = np.empty((len(z), degree, z.shape[1]), dtype=dtype)
    write_products(z.astype(dtype), out)
    return out


@pytest.mark.parametrize("degree", DEGREES)
def test_chebyshev_polynomials_follow_from_products(degree):
    T = products_to_chebyshev(degree) @ products(PLACES[None], degree)[0]
    expected = np.cos(np.outer(np.arange(degree), np.arccos(PLACES)))
    assert_allclose(T, expected, atol=1e-10)


@pytest.mark.parametrize("degree", DEGREES)
def test_products_are_products_of_chebyshev_polynomials(degree):
    P = products(PLACES[None], degree)[0]
    T = np.cos(np.outer(np.arange(degree), np.arccos(PLACES)))
    for j in range(degree):
        a, high = j % WIDTH, j - j % WIDTH
        assert_allclose(P[j], T[a] * T[high], atol=1e-10)


@pytest.mark.parametrize("degree", DEGREES)
def test_single_precision_loses_single_precision(degree):
    P = products(PLACES[None], degree, np.float32)[0]
    assert P.dtype == np.float32
    assert_allclose(P, products(PLACES[None], degree)[0], atol=degree**2 * float(np.finfo(np.float32).eps))


@pytest.mark.parametrize("degree", DEGREES)
def test_the_change_of_basis_keeps_degrees_and_is_well_conditioned(degree):
    Q = products_to_chebyshev(degree)
    assert_allclose(Q, np.tril(Q), atol=1e-12)
    assert np.linalg.cond(Q) < degree


@given(st.sampled_from(DEGREES), st.integers(0, 2**32 - 1))
def test_a_polynomial_has_the_same_values_in_both_bases(degree, seed):
    rng = np.random.default_rng(seed)
    coefficients = rng.standard_normal(degree)
    found = (coefficients @ products_to_chebyshev(degree)) @ products(PLACES[None], degree)[0]
    assert_allclose(found, chebyshev.chebval(PLACES, coefficients), atol=1e-10 * np.abs(coefficients).sum())


def test_columns_are_worked_on_side_by_side():
    Z = np.random.default_rng(0).uniform(-1, 1, (5, 30))
    P = products(Z, 20)
    for column, z in zip(P, Z, strict=True):
        assert_array_equal(column, products(z[None], 20)[0])


@pytest.mark.parametrize("degree", [WIDTH, 2 * WIDTH, 3 * WIDTH])
def test_what_was_in_the_array_before_does_not_matter(degree):
    z = np.linspace(-1, 1, 7)[None]
    out = np.full((1, degree, 7), np.nan)
    write_products(z, out)
    assert_array_equal(out, products(z, degree))


def test_the_most_polynomials_of_a_column_are_a_multiple_of_the_width():
    assert MOST_POLYNOMIALS % WIDTH == 0
