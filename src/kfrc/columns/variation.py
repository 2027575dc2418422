"""Which columns vary, and whether what they vary by can be computed with."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from kfrc._validation import short_name
from kfrc.exceptions import ConstantFeatureWarning
from kfrc.typing import BoolArray, FloatArray, IntArray

_SMALLEST_SCALE = 2.0**-1020
"""Values that differ by less have lost digits."""

_ENTRIES = 1 << 20
"""Entries of a table whose spread is computed at once, so that no copy of a long table is made."""

UNEQUAL_SCALES = 100.0
"""A column that varies so many times as much as another has ten thousand times its share in squared distances."""


def find_varying_columns(X: FloatArray, names: Sequence[str] | None = None) -> IntArray:
    """Indices of the columns that vary where they are known; others are named in a warning, and all of them refused."""
    # Halves, because the difference of the largest numbers is none.
    spread = 0.5 * np.fmax.reduce(X, axis=0) - 0.5 * np.fmin.reduce(X, axis=0)
    # A column whose spread is rounding of its own size (0.1 summed in two orders) carries nothing either.
    constant = ~(spread > 0.5e-14 * np.fmax.reduce(np.abs(X), axis=0))
    refuse_constant(~constant, names, len(X))
    return np.flatnonzero(~constant)


def refuse_constant(varying: BoolArray, names: Sequence[str] | None, n_samples: int) -> None:
    """Name the columns that do not vary in a warning; if none does it is an error."""
    constant = ~varying
    if constant.all():
        raise ValueError(
            f"all {len(constant)} column(s) of X are constant over its {n_samples} rows: there is nothing to cluster"
        )
    if constant.any():
        dropped = [
            short_name(names[j]) if names is not None else f"column {j}" for j in np.flatnonzero(constant).tolist()
        ]
        shown = ", ".join(dropped[:10]) + (f" and {len(dropped) - 10} more" if len(dropped) > 10 else "")
        warnings.warn(
            f"{len(dropped)} constant column(s) carry no information and are left out: {shown}",
            ConstantFeatureWarning,
            stacklevel=6,
        )


@dataclass(frozen=True)
class Scales:
    """How far the columns of a table spread, in logarithms, so that every unit can be written.

    Attributes
    ----------
    deviations : ndarray of shape (n_columns,)
        Logarithms of the standard deviations; −∞ for a constant column.
    ranges : ndarray of shape (n_columns,)
        Logarithms of largest minus smallest value.
    """

    deviations: FloatArray
    ranges: FloatArray

    @classmethod
    def of(cls, X: FloatArray, weights: FloatArray | None = None) -> Self:
        """Of rows, in which NaN is unknown, that count as often as their weights say."""
        mass = np.ones(len(X)) if weights is None else weights
        n_parts = min(X.shape[1], 1 + X.size // _ENTRIES)
        parts = [_deviations_and_halves(part, mass) for part in np.array_split(X, n_parts, axis=1)]
        deviations, half = np.concatenate(parts, axis=1)
        with np.errstate(divide="ignore"):
            ranges = math.log(2.0) + np.log(half)
            return cls(np.log(deviations) + ranges, ranges)

    def describe_difference(self, names: Sequence[str] | None) -> str | None:
        """What to know if one column varies a hundred times as much as another; None if none does.

        It must do so by deviation and by range: columns that were divided by either are never meant.
        """
        largest = int(self.deviations.argmax())
        factors = np.minimum(self.deviations[largest] - self.deviations, self.ranges[largest] - self.ranges)
        factors[~np.isfinite(self.deviations)] = 0.0
        smallest = int(factors.argmax())
        if factors[smallest] <= math.log(UNEQUAL_SCALES):
            return None
        first, other = (f"column {j}" if names is None else f"column '{names[j]}'" for j in (largest, smallest))
        times = self.deviations[largest] - self.deviations[smallest]
        return (
            f"{first} varies {_in_words(times)} times as much as {other}, and columns count by their units here: "
            "columns of small numbers hardly matter. Divide every column by its standard deviation first "
            "(sklearn.preprocessing.StandardScaler), or use KFRC, which does so by itself"
        )


def _deviations_and_halves(X: FloatArray, mass: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Standard deviations in units of the range, and halves of the ranges; zero where a column is constant or blank."""
    low, high = np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)  # NaN only where nothing is known
    half = 0.5 * high - 0.5 * low
    half = np.where(half > 0.5e-14 * np.fmax(np.abs(low), np.abs(high)), half, 0.0)
    Z = (0.5 * X - 0.5 * low) / np.where(half > 0, half, 1.0)
    known = ~np.isnan(Z)
    Z[~known] = 0.0
    totals = np.maximum(mass @ known, np.finfo(float).tiny)
    Z -= (mass @ Z) / totals
    Z[~known] = 0.0
    return np.sqrt(mass @ np.square(Z) / totals), half


def _in_words(logarithm: float) -> str:
    """A factor that may be larger than any number."""
    return f"{math.exp(logarithm):,.0f}" if logarithm < math.log(1e6) else f"10^{logarithm / math.log(10):.0f}"


def refuse_unresolved(scale: FloatArray, names: Sequence[str] | None) -> None:
    """Refuse columns whose standard deviation is too small or too large to divide by."""
    odd = ~((scale >= _SMALLEST_SCALE) & np.isfinite(scale))
    if odd.any():
        j = int(odd.argmax())
        name = f"column {j}" if names is None else f"column '{short_name(names[j])}'"
        change = "multiply it by 1e+100" if scale[j] < 1 else "divide it by 1e+10"
        raise ValueError(
            f"{name} has a standard deviation of {scale[j]:.3g}: what is measured in it leaves the range of "
            f"floating-point numbers. Please {change} first"
        )
