"""Which functions of the basis belong to which columns."""

from __future__ import annotations

from dataclasses import dataclass

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
    """A column of levels.

    Attributes
    ----------
    position : int
    n_levels : int
    shares : ndarray of shape (n_levels,)
        Of the levels among all rows.
    bandwidth : float
    start : int
        Where its functions begin, the indicators of the levels.
    """

    position: int
    n_levels: int
    shares: FloatArray
    bandwidth: float
    start: int

    @property
    def rows(self) -> slice:
        """Its functions."""
        return slice(self.start, self.start + self.n_levels)
