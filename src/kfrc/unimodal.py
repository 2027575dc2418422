"""The distribution with one mode that is nearest to a column: what the column would look like without groups."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy.optimize import isotonic_regression
from scipy.special import ndtri

from kfrc.typing import FloatArray, IntArray

_FEW_LEVELS = 25
"""Distinct values up to which a column with ties is taken as a scale or a count, with a probability per value."""

_ROUNDED = 0.9
"""Share of distinct values below which draws are rounded to the values of the column, so that they tie as it does."""

_MODES = 32
"""Places that the mode of a column can take: a finer search changes the fit by less than its error."""

_TIE = 1e-6
"""Relative difference of two fits that rounding, as of other units, could make: the first one tried is kept."""


@dataclass(frozen=True)
class Margin(ABC):
    """A distribution of one column with one mode.

    Attributes
    ----------
    values : ndarray of shape (n_values,)
        Distinct values of the column, rising.
    dip : float
        Largest difference from the distribution function of the column.
    """

    values: FloatArray
    dip: float

    @property
    @abstractmethod
    def scores(self) -> FloatArray:
        """Normal score of each value: what a standard normal variable has where this distribution has the value."""

    @abstractmethod
    def quantiles(self, probabilities: FloatArray) -> FloatArray:
        """Values at probabilities between zero and one: a draw, if these are uniform."""

    @property
    def attenuation(self) -> float:
        """Correlation of the scores with the normal variable that was cut to them; one for a continuous column."""
        return 1.0


@dataclass(frozen=True)
class ContinuousMargin(Margin):
    """A density that rises up to its mode and falls after it; linear distribution function between the values.

    Attributes
    ----------
    levels : ndarray of shape (n_values,)
        Distribution function at the values.
    rounded : bool
        Whether draws take the values of the column only.
    """

    levels: FloatArray
    rounded: bool

    @property
    def scores(self) -> FloatArray:  # noqa: D102
        return np.asarray(ndtri(self.levels), dtype=np.float64)

    def quantiles(self, probabilities: FloatArray) -> FloatArray:  # noqa: D102
        x, levels = self.values, self.levels
        # The half rows beyond the smallest and largest value have the density of their neighbors.
        below = x[0] - levels[0] * (x[1] - x[0]) / (levels[1] - levels[0])
        above = x[-1] + (1.0 - levels[-1]) * (x[-1] - x[-2]) / (levels[-1] - levels[-2])
        draws: FloatArray = np.interp(probabilities, np.r_[0.0, levels, 1.0], np.r_[below, x, above])
        if self.rounded:
            draws = x[np.searchsorted(0.5 * (x[1:] + x[:-1]), draws)]
        return draws


@dataclass(frozen=True)
class DiscreteMargin(Margin):
    """A probability per value that rises up to the mode and falls after it.

    Attributes
    ----------
    probabilities : ndarray of shape (n_values,)
    """

    probabilities: FloatArray

    @property
    def scores(self) -> FloatArray:  # noqa: D102
        return np.asarray(ndtri(np.cumsum(self.probabilities) - 0.5 * self.probabilities), dtype=np.float64)

    def quantiles(self, probabilities: FloatArray) -> FloatArray:  # noqa: D102
        return self.values[np.searchsorted(np.cumsum(self.probabilities)[:-1], probabilities, side="right")]

    @property
    def attenuation(self) -> float:  # noqa: D102
        cuts = ndtri(np.cumsum(self.probabilities)[:-1])
        density = np.r_[0.0, np.exp(-0.5 * cuts**2) / math.sqrt(2.0 * math.pi), 0.0]
        scores = self.scores - self.probabilities @ self.scores
        deviation = math.sqrt(float(self.probabilities @ scores**2))
        return float(scores @ (density[:-1] - density[1:])) / deviation


def fit_margin(column: FloatArray) -> tuple[Margin, IntArray]:
    """Nearest distribution with one mode, and the position of each entry of the column among its values.

    Left of the mode the distribution function is the greatest convex one below the column's own, right of it the
    least concave one above. The mode is where the largest difference from the column's own is least. A mode further
    to the right makes the left part worse and the right part better, so halving finds it.

    Parameters
    ----------
    column : ndarray of shape (n_samples,)
        Must vary.

    References
    ----------
    J. A. Hartigan and P. M. Hartigan (1985). The dip test of unimodality. Annals of Statistics 13(1).

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc.unimodal import fit_margin
    >>> margin, _ = fit_margin(np.repeat([1.0, 2.0, 3.0, 4.0], [20, 10, 20, 10]))
    >>> (60 * margin.probabilities).round()
    array([15., 15., 20., 10.])
    """
    values, positions, counts = np.unique(column, return_inverse=True, return_counts=True)
    shares = counts / len(column)
    if len(values) <= min(_FEW_LEVELS, len(column) // 2):
        probabilities, dip = _unimodal(shares, np.ones(len(values)))
        return DiscreteMargin(values, dip, probabilities), positions
    levels = np.cumsum(shares) - 0.5 * shares
    widths = np.diff(values)
    slopes, dip = _unimodal(np.diff(levels) / widths, widths)
    fitted = np.r_[levels[0], levels[0] + np.cumsum(slopes * widths)]
    return ContinuousMargin(values, dip, fitted, len(values) < _ROUNDED * len(column)), positions


def _unimodal(heights: FloatArray, widths: FloatArray) -> tuple[FloatArray, float]:
    """Heights that rise and then fall, with the same area, and the largest difference of their partial sums."""
    step = math.ceil(len(heights) / _MODES)
    low, high = 0, len(heights) // step
    best, smallest = heights, math.inf
    while low <= high:
        middle = (low + high) // 2
        split = middle * step
        parts, errors = [], []
        for part, rising in ((slice(split), True), (slice(split, None), False)):
            fitted = heights[part]
            if len(fitted) > 1:
                fitted = isotonic_regression(fitted, weights=widths[part], increasing=rising).x
            parts.append(fitted)
            errors.append(float(np.abs(np.cumsum((fitted - heights[part]) * widths[part])).max(initial=0.0)))
        if max(errors) < (1.0 - _TIE) * smallest:
            smallest, best = max(errors), np.concatenate(parts)
        if (1.0 - _TIE) * errors[0] > errors[1]:
            high = middle - 1
        else:
            low = middle + 1
    return best, smallest
