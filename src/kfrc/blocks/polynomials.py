"""Polynomials by products: a basis of the polynomials up to a degree that costs one multiplication per function.

T_a · T_4k = (T_4k+a + T_|4k−a|) / 2, so that with the first four Chebyshev polynomials and every fourth one all
products of the two span what the first N of them span. A recurrence needs two operations for each, one after the
other.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from kfrc.typing import FloatArray

WIDTH = 4
"""Polynomials of the first factor: numbers of polynomials are multiples of it."""


def write_products(Z: FloatArray, out: FloatArray, spare: FloatArray | None = None) -> None:
    """The basis at Z of shape (g, n), in [−1, 1], into ``out`` of shape (g, N, n); N is a multiple of four.

    ``spare`` is room for what is needed on the way, of shape (4, g, n): memory that is asked for anew in every block
    makes threads wait for each other.
    """
    n_columns, degree, n_rows = out.shape
    groups = out.reshape(n_columns, degree // WIDTH, WIDTH, n_rows)
    first = groups[:, 0]
    twice, fourth, twice_fourth, other = np.empty((4, *Z.shape), dtype=out.dtype) if spare is None else spare
    np.add(Z, Z, out=twice)
    first[:, 0] = 1.0
    first[:, 1] = Z
    for k in range(2, WIDTH):
        np.multiply(twice, first[:, k - 1], out=first[:, k])
        first[:, k] -= first[:, k - 2]
    if degree == WIDTH:
        return
    np.multiply(twice, first[:, WIDTH - 1], out=fourth)
    fourth -= first[:, WIDTH - 2]
    np.add(fourth, fourth, out=twice_fourth)
    # T_4(k+1) = 2 T_4 T_4k − T_4(k−1), written over the one before the last.
    before, here = other, fourth
    before[:] = 1.0
    for k in range(1, degree // WIDTH):
        np.multiply(first, here[:, None], out=groups[:, k])
        np.multiply(twice_fourth, here, out=twice)
        np.subtract(twice, before, out=before)
        before, here = here, before


@lru_cache(maxsize=64)
def products_to_chebyshev(degree: int) -> FloatArray:
    """The matrix Q with T = Q P, P the products and T the Chebyshev polynomials.

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc.blocks.polynomials import products_to_chebyshev, write_products
    >>> z, P = np.linspace(-1, 1, 5)[None], np.empty((1, 12, 5))
    >>> write_products(z, P)
    >>> T = products_to_chebyshev(12) @ P[0]
    >>> bool(np.allclose(T, np.cos(np.outer(np.arange(12), np.arccos(z[0])))))
    True
    """
    P = np.zeros((degree, degree))
    for j in range(degree):
        a, high = j % WIDTH, j - j % WIDTH
        P[j, high + a] += 0.5
        P[j, abs(high - a)] += 0.5
    return np.linalg.inv(P).astype(np.float64)
