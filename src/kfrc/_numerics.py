"""Small numerical helpers, and every named tolerance of the library with its reason."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from kfrc.typing import FloatArray, RandomStateLike

COLLAPSE_TOL = 1e-3
"""Memberships that all lie within this of 1/c are called uniform: no reader could tell them apart."""

DIAGONAL_FLOOR = 1e-12
"""Relative floor of diag(HKH): a sample at the center of mass has no direction; below this its entry is rounding."""

EIGENVALUE_TIE = 1e-8
"""Eigenvalues closer than this times the largest are one invariant subspace: only its total has a gradient."""

EIGENVALUE_FLOOR = 1e-10
"""Smallest eigenvalue whose logarithm is taken; F of low rank has exact zeros."""

SYMMETRY_TOL = 1e-8
"""Largest relative asymmetry that is still rounding and is averaged away."""

ROW_SUM_TOL = 1e-6
"""Given memberships must sum to one within this; they are then normalized exactly."""

NOTICEABLE_ERROR = 1e-6
"""Relative error of distances above which an approximation that is meant to be exact is reported."""

BLOCK_ELEMENTS = 1 << 17
"""Elements of one row block (1 MiB of float64): large enough for BLAS, small enough for a level-2 cache."""


@dataclass(frozen=True)
class Interval:
    """A real interval that can say whether it contains a number and how it is written.

    Examples
    --------
    >>> from kfrc.fuzzifiers import Interval
    >>> 1.0 in Interval(0, 1, closed="right"), str(Interval(0, 1, closed="right"))
    (True, '(0, 1]')
    """

    low: float
    high: float
    closed: Literal["both", "left", "right", "neither"] = "neither"

    def __contains__(self, value: float) -> bool:
        above = value >= self.low if self.closed in ("both", "left") else value > self.low
        below = value <= self.high if self.closed in ("both", "right") else value < self.high
        return bool(above and below)

    def __str__(self) -> str:
        left = "[" if self.closed in ("both", "left") else "("
        right = "]" if self.closed in ("both", "right") else ")"
        return f"{left}{self.low:g}, {self.high:g}{right}"


def standardize(X: FloatArray) -> FloatArray:
    """Columns with mean zero and standard deviation one (divisor n − 1); they must vary.

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc._numerics import standardize
    >>> standardize(np.array([[1.0], [2.0], [3.0]])).ravel()
    array([-1.,  0.,  1.])
    """
    return (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)


def symmetrize(M: FloatArray) -> FloatArray:
    """Mean of a matrix and its transpose: removes rounding before a symmetric eigensolver sees it."""
    return 0.5 * (M + M.T)


def double_center(M: FloatArray) -> FloatArray:
    """H M H with H = I − 11ᵀ/n: rows and columns of the result sum to zero."""
    column_means = M.mean(axis=0, keepdims=True)
    row_means = M.mean(axis=1, keepdims=True)
    return M - column_means - row_means + column_means.mean()


def row_blocks(n_rows: int, n_columns: int, elements: int = BLOCK_ELEMENTS) -> Iterator[slice]:
    """Slices that cut ``n_rows`` into blocks of about ``elements`` numbers of an (n_rows, n_columns) array."""
    step = max(1, min(n_rows, math.ceil(elements / max(n_columns, 1))))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def as_generator(random_state: RandomStateLike) -> np.random.Generator:
    """One ``Generator`` from whatever a public ``random_state`` accepts; the global generator is never reseeded."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**31 - 1, size=4))
    return np.random.default_rng(random_state)


def check_memory(n_bytes: int, what: str, remedy: str) -> None:
    """Refuse an allocation that cannot fit, before it is tried, with the number of bytes and what to use instead."""
    available = available_memory()
    if n_bytes > available:
        raise MemoryError(
            f"{what} needs {n_bytes:,} bytes ({n_bytes / 2**30:.1f} GiB) but only {available / 2**30:.1f} GiB are "
            f"available: use {remedy}"
        )


def available_memory() -> float:
    """Bytes of memory that can be had now; infinite where the system does not tell."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return 1024.0 * int(line.split()[1])
        return float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        return math.inf
