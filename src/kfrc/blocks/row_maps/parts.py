"""Which functions of the basis belong to which columns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kfrc.typing import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class PolynomialGroup:
    """Columns of numbers that share a number of polynomials.

    Attributes
    ----------
    positions : ndarray of shape (g,)
        Which columns of the blocks.
    middle, half : ndarray of shape (g,)
        Center and half of the range.
    bandwidths : ndarray of shape (g,)
    degree : int
        N, a multiple of four.
    start : int
        Where its g·N functions begin.
    """

    positions: IntArray
    middle: FloatArray
    half: FloatArray
    bandwidths: FloatArray
    degree: int
    start: int

    @property
    def stop(self) -> int:
        """Where its functions end."""
        return self.start + len(self.positions) * self.degree

    def of(self, values: FloatArray) -> FloatArray:
        """Its part of arrays with one row per function, of shape (g, N, k)."""
        return values[self.start : self.stop].reshape(len(self.positions), self.degree, -1)


@dataclass(frozen=True, eq=False)
class LevelColumn:
    """A column of levels, or of numbers with few values, which are its levels then.

    Attributes
    ----------
    position : int
    nodes : ndarray of shape (n_levels,)
        The values, rising, in standard units; codes of levels.
    shares : ndarray of shape (n_levels,)
        Of the levels among all rows; equal ones of numbers, where they are only a point to measure from.
    bandwidth : float
    start : int
        Where its functions begin, the indicators of the levels.
    measured : bool
        Whether it is a column of numbers.
    """

    position: int
    nodes: FloatArray
    shares: FloatArray
    bandwidth: float
    start: int
    measured: bool = False

    @property
    def n_levels(self) -> int:
        """Different values."""
        return len(self.nodes)

    @cached_property
    def _between(self) -> FloatArray:
        return 0.5 * (self.nodes[:-1] + self.nodes[1:])

    def codes(self, values: FloatArray) -> IntArray:
        """Levels of some rows; one more for blanks, and for levels that no row of the fit had.

        A number that no row of the fit had counts as the nearest one.
        """
        found = np.searchsorted(self._between, values) if self.measured else values
        codes = np.where(np.isnan(values), self.n_levels, found).astype(np.int64)
        return np.minimum(codes, self.n_levels)

    @property
    def rows(self) -> slice:
        """Its functions."""
        return slice(self.start, self.start + self.n_levels)
