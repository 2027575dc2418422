"""Small numerical helpers, and every named tolerance of the library with its reason."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from kfrc import activity
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
"""Largest relative error of a matrix in double precision that is still rounding, such as asymmetry, which is averaged
away: matrices are made of long sums, and are read from files with some ten digits."""

SINGLE_TOL = 64 * float(np.finfo(np.float32).eps)
"""The same in single precision: inner products of rows of length one, with 64 to 10 000 columns, were off by up to 8
units in the last place when tried."""

ROW_SUM_TOL = 1e-6
"""Given memberships must sum to one within this; they are then normalized exactly."""

FARTHEST = 1e100
"""In deviations: what is farther counts as lying here, where squares do not overflow; no kernel sees a difference."""

_HUGE_SCALE = 1e300
"""Columns with such deviations may hold values whose difference is beyond all numbers."""

NOTICEABLE_ERROR = 1e-6
"""Relative error of distances above which an approximation that is meant to be exact is reported."""

RESOLUTION = 256 * float(np.finfo(np.float64).eps)
"""A squared distance that is a sum of larger terms is known to about this times their size: less of it is zero."""

BLOCK_ELEMENTS = 1 << 17
"""Elements of one row block (1 MiB of float64): large enough for BLAS, small enough for a level-2 cache."""

FEW_ROWS, FEW_COLUMNS = 500, 20
"""Tables with no more of one or of the other are fitted without shortcuts: that takes a second or so, and what is
published of them was computed that way."""


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


def in_deviations(X: FloatArray, mean: FloatArray | float, scale: FloatArray | float) -> FloatArray:
    """How many deviations values are from the mean, no more than ``FARTHEST``.

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc._numerics import in_deviations
    >>> in_deviations(np.array([-1.6e308, 1.6e308]), -0.8e308, 0.8e308)
    array([-1.,  3.])
    """
    if np.max(scale) > _HUGE_SCALE:  # differences of quarters are numbers
        X, mean, scale = 0.25 * X, 0.25 * mean, 0.25 * scale
    with np.errstate(over="ignore"):  # infinitely far is clipped too
        return np.asarray(np.clip((X - mean) / scale, -FARTHEST, FARTHEST), dtype=np.float64)


def standardize(X: FloatArray) -> FloatArray:
    """Columns with mean zero and standard deviation one (divisor n − 1); they must vary.

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc._numerics import standardize
    >>> standardize(np.array([[1.0], [2.0], [3.0]])).ravel()
    array([-1.,  0.,  1.])
    """
    X = np.ldexp(X, -np.frexp(np.abs(X).max(axis=0))[1])  # no square is out of range then, and no digit changes
    return (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)


def binary_exponent(X: FloatArray) -> int:
    """Exponent of the largest value: divided by that power of two no digit changes, and no square overflows."""
    return int(np.frexp(np.abs(X).max(initial=0.0))[1])


def symmetrize(M: FloatArray) -> FloatArray:
    """Mean of a matrix and its transpose: removes rounding before a symmetric eigensolver sees it."""
    return 0.5 * M + 0.5 * M.T


def digits_of(M: FloatArray) -> float:
    """Spacing of the numbers near one in the precision in which a matrix was computed, which its digits show.

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc._numerics import digits_of
    >>> third = np.array([[1.0 / 3.0]])
    >>> f"{digits_of(third):.1e} {digits_of(third.astype(np.float32)):.1e}"
    '2.2e-16 1.2e-07'
    """
    with np.errstate(over="ignore", under="ignore"):
        single = bool((M.astype(np.float32) == M).all())
    return float(np.finfo(np.float32 if single else np.float64).eps)


def rounding_of(M: FloatArray) -> float:
    """Largest error of an entry of a matrix that is nothing but rounding, relative to its largest entry."""
    return SINGLE_TOL if digits_of(M) > np.finfo(np.float64).eps else SYMMETRY_TOL


def double_center(M: FloatArray) -> FloatArray:
    """H M H with H = I − 11ᵀ/n: rows and columns of the result sum to zero."""
    column_means = M.mean(axis=0, keepdims=True)
    row_means = M.mean(axis=1, keepdims=True)
    return M - column_means - row_means + column_means.mean()


def clear_rounding(distances: FloatArray, own: FloatArray | float, centers: FloatArray) -> FloatArray:
    """Zero in place of squared distances ‖x‖² − 2⟨x, v⟩ + ‖v‖² that are nothing but the rounding of their terms.

    Without that a sample at a center would be at 10⁻¹⁷ from it in one computation and at 10⁻¹⁶ in another, which a
    membership step near a hard partition, or at a large m, would take for a difference.

    Parameters
    ----------
    distances : ndarray of shape (n_rows, n_clusters)
        Changed in place; negative ones of notable size stay.
    own : ndarray of shape (n_rows,) or float
        ‖x‖².
    centers : ndarray of shape (n_clusters,)
        ‖v‖²; infinite for an empty cluster.

    Notes
    -----
    The norms are relative to an origin that may be a sample, and then say nothing of the rounding. The largest distance
    of a row does.
    """
    sizes, found = np.abs(np.atleast_1d(own)), np.isfinite(centers)
    known, norms = (distances, centers) if found.all() else (distances[:, found], centers[found])
    largest = float(known.max(initial=0.0) + sizes.max(initial=0.0) + np.abs(norms).max(initial=0.0))
    if distances.min(initial=np.inf) <= RESOLUTION * largest:  # rare, and one look is cheaper than all the bounds
        sizes = sizes + known.max(axis=1, initial=0.0)
        for i in np.flatnonzero(found):
            column = distances[:, i]
            column[np.abs(column) <= RESOLUTION * (sizes + abs(centers[i]))] = 0.0
    return distances


def clear_block_rounding(distances: FloatArray, size: float) -> FloatArray:
    """The same for distances that cannot be negative, of either precision, with clusters as rows.

    Parameters
    ----------
    distances : ndarray of shape (n_clusters, n_rows)
        Changed in place.
    size : float
        Of the other terms they are made of.
    """
    unit = RESOLUTION if distances.dtype == np.float64 else 2.0 * float(np.finfo(np.float32).eps)
    smallest = float(distances.min(initial=np.inf))
    if smallest <= unit * (size + float(distances.max(initial=0.0))):
        floors = unit * (size + distances.max(axis=0))
        distances[distances <= floors] = 0.0
    return distances


def where_squares_overflow() -> np.errstate:
    """Squared distances of rows that lie anywhere are computed in here, and then pass :func:`or_infinite`."""
    return np.errstate(over="ignore", invalid="ignore")


def or_infinite(distances: FloatArray) -> FloatArray:
    """Squared distances, infinite beyond the range of numbers: there terms cancel or meet zeros, and leave NaN."""
    return np.where(np.isnan(distances), np.inf, distances) if np.isnan(distances).any() else distances


def midst(X: FloatArray, n_rows: int) -> FloatArray:
    """A point among most rows of X, wherever a few others are: medians of about ``n_rows`` of them.

    Rounding of inner products is relative to the squared distances from the origin, so this is where to put it.
    """
    return np.median(X[:: max(1, len(X) // n_rows)], axis=0)


def known_means(X: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """Means over what is known of each column, weights of the rows counted; NaN for a column of blanks.

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc._numerics import known_means
    >>> known_means(np.array([[1.0, 4.0, np.nan], [np.nan, 6.0, np.nan]]))
    array([ 1.,  5., nan])
    """
    known = ~np.isnan(X)
    first = X[known.argmax(axis=0), np.arange(X.shape[1])]  # no digits are lost far from zero
    mass = known if weights is None else known * weights[:, None]
    totals = mass.sum(axis=0)
    sums = np.einsum("jd,jd->d", mass, np.where(known, X - first, 0.0))
    return np.where(totals > 0, first + sums / np.where(totals > 0, totals, 1.0), np.nan)


def row_blocks(n_rows: int, n_columns: int, elements: int = BLOCK_ELEMENTS) -> Iterator[slice]:
    """Slices that cut ``n_rows`` into blocks of about ``elements`` numbers of an (n_rows, n_columns) array."""
    step = max(1, min(n_rows, math.ceil(elements / max(n_columns, 1))))
    if n_rows == step:  # most passes of a search: over before there is anything to tell
        return iter((slice(0, n_rows),))
    return _told_blocks(n_rows, step)


def _told_blocks(n_rows: int, step: int) -> Iterator[slice]:
    for start in range(0, n_rows, step):
        activity.step("going through the rows", start, n_rows, inner=True)
        yield slice(start, min(start + step, n_rows))


HASH_INCREMENT = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def scramble(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Change keys in place so that every bit depends on all of them: the finalizer of SplitMix64."""
    keys ^= keys >> np.uint64(30)
    keys *= _FIRST
    keys ^= keys >> np.uint64(27)
    keys *= _SECOND
    keys ^= keys >> np.uint64(31)
    return keys


def as_generator(random_state: RandomStateLike) -> np.random.Generator:
    """One ``Generator`` from whatever a public ``random_state`` accepts; the global generator is never reseeded."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**31 - 1, size=4))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise ValueError(
            "random_state must be None, an integer that is not negative, a Generator or a RandomState, "
            f"got {random_state!r}"
        ) from None


_ALWAYS_AVAILABLE = 1 << 16
"""Bytes for which nobody need ask the system."""


def check_memory(n_bytes: int, what: str, remedy: str) -> None:
    """Refuse an allocation that cannot fit, before it is tried, with the number of bytes and what to use instead."""
    if n_bytes < _ALWAYS_AVAILABLE:
        return
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


def is_large_table(n_samples: int, n_features: int) -> bool:
    """Whether a table is so long and so wide that a fit takes shortcuts which are not exact to rounding."""
    return n_samples > FEW_ROWS and n_features > FEW_COLUMNS
