"""A few eigenpairs of a symmetric matrix in memory: LAPACK for small ones, Lanczos for the others."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cholesky, eigh
from scipy.sparse.linalg import ArpackError, eigsh

from kfrc.typing import FloatArray

_LAPACK_MAX_SIZE = 100
"""Up to here LAPACK finds a few pairs of a matrix faster than Lanczos."""

_FULL_SPECTRUM_MAX_SIZE = 24
"""Up to here all pairs cost less than the bookkeeping for a few."""

_LANCZOS_RESTARTS = 30
"""Restarts after which LAPACK takes over: ten are many unless the spectrum is flat."""

LANCZOS_TOL = 1e-10
"""Relative residual of Lanczos: eigenvalues err by its square, gradients by it over the gap."""

_START_SEED = 20260
"""Seed of the Lanczos starting vector when no warm start is given: results do not depend on global state."""


def starting_vectors(shape: int | tuple[int, int]) -> FloatArray:
    """Vectors to begin Lanczos from, the same ones every time."""
    return np.random.default_rng(_START_SEED).standard_normal(shape)


def exceed(M: FloatArray, bound: float) -> bool:
    """Whether all eigenvalues of a symmetric matrix are larger than a bound.

    Lanczos takes minutes for the smallest of many that are nearly equal, as those of a matrix of low rank are; whether
    a Cholesky factor exists takes n³/3 steps for any.
    """
    try:
        cholesky(M - bound * np.eye(len(M)), overwrite_a=True, check_finite=False)
    except np.linalg.LinAlgError:
        return False
    return True


def smallest_eigenvalue(M: FloatArray) -> float:
    """Smallest eigenvalue of a symmetric matrix."""
    return float(eigh(M, subset_by_index=[0, 0], eigvals_only=True)[0])


def largest_pairs(M: FloatArray, n_pairs: int, warm_start: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
    """Largest eigenpairs of a symmetric matrix in memory, descending."""
    size = len(M)
    n_pairs = min(n_pairs, size)
    if size <= _LAPACK_MAX_SIZE or n_pairs >= size - 1:
        return _lapack_pairs(M, n_pairs)
    start = starting_vectors(size) if warm_start is None else warm_start
    try:
        values, vectors = eigsh(M, k=n_pairs, which="LA", v0=start, tol=LANCZOS_TOL, maxiter=_LANCZOS_RESTARTS)
    except ArpackError:
        values = np.empty(0)
    if len(values) < n_pairs:
        # A flat spectrum (tiny bandwidths) has nothing to converge to, a spectrum of few values stops Lanczos early.
        return _lapack_pairs(M, n_pairs)
    order = np.argsort(values)[::-1]
    return values[order], vectors[:, order]


def _lapack_pairs(M: FloatArray, n_pairs: int) -> tuple[FloatArray, FloatArray]:
    size = len(M)
    values = np.empty(0)
    if size > _FULL_SPECTRUM_MAX_SIZE:
        try:
            values, vectors = eigh(M, subset_by_index=[size - n_pairs, size - 1], check_finite=False)
        except np.linalg.LinAlgError:
            values = np.empty(0)
    if len(values) < n_pairs:
        # LAPACK's subset driver fails on, or loses eigenvalues of, a (nearly) flat spectrum; the full one does not.
        values, vectors = np.linalg.eigh(M)
    return values[: -n_pairs - 1 : -1], vectors[:, : -n_pairs - 1 : -1]
