"""Chebyshev polynomials: their values, and coefficients of functions on their grid."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from kfrc import activity
from kfrc.typing import FloatArray, IntArray


def chebyshev_polynomials(Z: FloatArray, degree: int) -> FloatArray:
    """T_0 … T_{N−1} at Z of shape (g, n) by their recurrence, of shape (g, N, n)."""
    T = np.empty((Z.shape[0], degree, Z.shape[1]))
    T[:, 0] = 1.0
    T[:, 1] = Z
    twice = 2.0 * Z
    for k in range(2, degree):
        activity.step("preparing the kernel", k, degree, inner=True)
        np.multiply(twice, T[:, k - 1], out=T[:, k])
        T[:, k] -= T[:, k - 2]
    return T


def rounded_degree(degree: FloatArray) -> IntArray:
    """Round up to one of few sizes (about 20 % apart), so that features fall into few groups."""
    step = 2.0 ** (np.floor(np.log2(degree)) - 2)
    return (np.ceil(degree / step) * step).astype(np.int64)


@lru_cache(maxsize=64)
def chebyshev_grid(degree: int) -> tuple[FloatArray, FloatArray]:
    """Nodes cos(π (k + ½) / N) and their squared differences."""
    nodes = np.cos(np.pi * (np.arange(degree) + 0.5) / degree)
    return nodes, np.square(np.subtract.outer(nodes, nodes))


@lru_cache(maxsize=64)
def cosine_transform(degree: int) -> FloatArray:
    """The matrix C that turns values on the grid into Chebyshev coefficients."""
    angles = np.pi * np.outer(np.arange(degree), np.arange(degree) + 0.5) / degree
    C = 2.0 / degree * np.cos(angles)
    C[0] *= 0.5
    return C


def to_coefficients(values: FloatArray) -> FloatArray:
    """Two-dimensional Chebyshev coefficients of functions on the grid, of shape (g, N, N)."""
    C = cosine_transform(values.shape[1])
    B = C @ values @ C.T
    return 0.5 * (B + np.swapaxes(B, 1, 2))
