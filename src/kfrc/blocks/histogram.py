"""How the values of a column are distributed, in one pass and in little memory: counts and moments in bins.

Bins are relative to a first guess at center and scale: fine ones in the middle, and beyond sixteen scales sixteen to
the octave, so that a value of 10³⁰⁰ has a bin as well. Fences that stand at the edges of bins cut exactly: the moments
of the column with far values moved there are sums over bins.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtri

from kfrc.gram.column_blocks import MOST_VALUES
from kfrc.outliers import (
    BOUNDED_REACH,
    CENTRAL_SHARES,
    FAR,
    FENCE,
    FEW,
    ISOLATED,
    LITTLE,
    NEARLY,
    REACH_STEPS,
    RULED_BY_MANY,
    RULED_BY_ONE,
    SHRINKING,
    FarColumn,
)
from kfrc.typing import FloatArray, IntArray

_LINEAR_REACH = 16.0
_LINEAR_BINS = 256
_OCTAVES = (4, 60)
_PER_OCTAVE = 16
_SIDE = _LINEAR_BINS + _PER_OCTAVE * (_OCTAVES[1] - _OCTAVES[0])
_LARGEST = 2.0 ** _OCTAVES[1]
"""In scales: what is farther is counted as lying here, and always cut."""

_RESOLVED = 2.0 * _LINEAR_REACH / _LINEAR_BINS
"""Ranges of fewer than two bins are not known to be ranges at all."""

EDGES = np.concatenate(
    [
        np.arange(_LINEAR_BINS + 1) * (_LINEAR_REACH / _LINEAR_BINS),
        _LINEAR_REACH * 2.0 ** (np.arange(1, _SIDE - _LINEAR_BINS + 1) / _PER_OCTAVE),
    ]
)
_ALL_EDGES = np.concatenate([-EDGES[:0:-1], EDGES])


@dataclass(frozen=True, eq=False)
class Histogram:
    """Counts and moments of one column in bins.

    Attributes
    ----------
    origin, unit : float
        z = (x − origin) / unit is what is counted.
    counts, sums, squares : ndarray of shape (n_bins,)
        Σ s, Σ s z and Σ s z² of every bin.
    n_blank : float
        Weight of the rows in which nothing is known.
    low, high : float
        Smallest and largest value.
    low_row, high_row : int
        The first row that has it.
    whole : bool
        Whether all values are whole numbers.
    values : ndarray or None
        The different values, rising, those of rows without weight among them; None if there are many.
    """

    origin: float
    unit: float
    counts: FloatArray
    sums: FloatArray
    squares: FloatArray
    n_blank: float
    low: float
    high: float
    low_row: int
    high_row: int
    whole: bool
    values: FloatArray | None

    @classmethod
    def of(cls, x: FloatArray, weights: FloatArray | None, first_row: int, origin: float, unit: float) -> Histogram:
        """Of the values of a block, NaN where nothing is known; rows of weight zero do not count."""
        values = _few(x)
        known = ~np.isnan(x)
        if weights is not None:
            known &= weights > 0
        rows = None if known.all() else np.flatnonzero(known)
        n_blank = 0.0
        if rows is not None:
            blank = np.isnan(x)
            n_blank = float(blank.sum() if weights is None else weights[blank].sum())
            x = x[rows]
            weights = None if weights is None else weights[rows]
        if len(x) == 0:
            nothing = np.zeros(2 * _SIDE)
            return cls(origin, unit, nothing, nothing, nothing, n_blank, np.inf, -np.inf, -1, -1, True, values)
        with np.errstate(over="ignore"):  # what is too far for numbers is cut
            z = np.clip((x - origin) / unit, -_LARGEST, _LARGEST)
        places = _bins(z)
        counted = np.ones(len(z)) if weights is None else weights
        low, high = int(x.argmin()), int(x.argmax())
        return cls(
            origin,
            unit,
            np.bincount(places, weights, 2 * _SIDE).astype(np.float64),
            np.bincount(places, counted * z, 2 * _SIDE).astype(np.float64),
            np.bincount(places, counted * z * z, 2 * _SIDE).astype(np.float64),
            n_blank,
            float(x[low]),
            float(x[high]),
            first_row + (low if rows is None else int(rows[low])),
            first_row + (high if rows is None else int(rows[high])),
            bool((np.round(x) == x).all()),
            values,
        )

    def joined(self, following: Histogram) -> Histogram:
        """Of the rows of both."""
        low = self if self.low <= following.low else following
        high = self if self.high >= following.high else following
        return replace(
            self,
            counts=self.counts + following.counts,
            sums=self.sums + following.sums,
            squares=self.squares + following.squares,
            n_blank=self.n_blank + following.n_blank,
            low=low.low,
            low_row=low.low_row,
            high=high.high,
            high_row=high.high_row,
            whole=self.whole and following.whole,
            values=None
            if self.values is None or following.values is None
            else _few(np.concatenate([self.values, following.values])),
        )

    @property
    def n_known(self) -> float:
        """Weight of the rows in which something is known."""
        return float(self.counts.sum())

    @property
    def varies(self) -> bool:
        """Whether there are at least two different values."""
        return self.low < self.high and self.high - self.low > 1e-14 * max(abs(self.low), abs(self.high))

    @property
    def ends(self) -> tuple[float, float]:
        """Smallest and largest z; infinite if they are too far for numbers."""
        return (self.low - self.origin) / self.unit, (self.high - self.origin) / self.unit

    def moments(self, bounds: tuple[float, float] = (-np.inf, np.inf)) -> tuple[float, float]:
        """Mean and standard deviation in units of the column, with what is beyond ``bounds`` (of z, at edges) there."""
        inside, below, above = self._parts(bounds)
        n = self.n_known
        moved = [(float(self.counts[part].sum()), bound) for part, bound in zip((below, above), bounds, strict=True)]
        total = float(self.sums[inside].sum()) + sum(count * bound for count, bound in moved if count)
        squares = float(self.squares[inside].sum()) + sum(count * bound**2 for count, bound in moved if count)
        mean = total / n
        variance = max(squares / n - mean**2, 0.0) * n / max(n - 1.0, 1.0)
        return self.origin + self.unit * mean, self.unit * float(np.sqrt(variance))

    def n_beyond(self, bounds: tuple[float, float]) -> float:
        """Weight of the values beyond ``bounds``, of z and at edges."""
        _, below, above = self._parts(bounds)
        return float(self.counts[below].sum() + self.counts[above].sum())

    def _parts(self, bounds: tuple[float, float]) -> tuple[slice, slice, slice]:
        low, high = np.searchsorted(_ALL_EDGES, bounds)
        low, high = int(min(low, 2 * _SIDE)), int(min(high, 2 * _SIDE))
        return slice(low, high), slice(0, low), slice(high, None)


def _few(x: FloatArray) -> FloatArray | None:
    """The different values of x, rising; None if there are many."""
    for part in (x[: 4 * MOST_VALUES], x):  # the first values tell most columns
        found = np.unique(part)
        found = found[~np.isnan(found)]
        if len(found) > MOST_VALUES:
            return None
    return found


def _bins(z: FloatArray) -> IntArray:
    size = np.abs(z)
    places = np.minimum(size * (_LINEAR_BINS / _LINEAR_REACH), _LINEAR_BINS).astype(np.int64)
    far = np.flatnonzero(size >= _LINEAR_REACH)
    if len(far):
        octaves = np.log2(size[far]) - _OCTAVES[0]
        places[far] = np.minimum(_LINEAR_BINS + (_PER_OCTAVE * octaves).astype(np.int64), _SIDE - 1)
    return np.where(z < 0, _SIDE - 1 - places, _SIDE + places)


@dataclass(frozen=True)
class Fenced:
    """A column within its fences.

    Attributes
    ----------
    low, high : float
        The fences; infinite where nothing is cut.
    mean, deviation : float
        With far values at the fences.
    far : FarColumn or None
        What was cut; its ``column`` is the caller's to fill in.
    """

    low: float
    high: float
    mean: float
    deviation: float
    far: FarColumn | None


def fence(column: Histogram, *, clip: bool = True, robust_scale: bool = True) -> Fenced:
    """Fences of a column, by the rules of :func:`kfrc.outliers.find_fences` for tables of many rows.

    Parameters
    ----------
    column : Histogram
    clip : bool, default=True
        Whether far values may be moved at all, but for those that squares cannot be had of.
    robust_scale : bool, default=True
        Whether a column that few values rule gets fences; if not only the range is bounded, and the unit is robust.
    """
    ruled = _ruled_bounds(column)
    whole = (-_LARGEST, _LARGEST)
    bounds = ruled if clip and robust_scale and ruled is not None else whole
    if clip:
        bounds = _within_reach(column, bounds)
    bounds = (
        bounds[0] if column.ends[0] < bounds[0] else -np.inf,
        bounds[1] if column.ends[1] > bounds[1] else np.inf,
    )
    unit_bounds = bounds if robust_scale or ruled is None else ruled
    mean, deviation = column.moments(unit_bounds)
    if clip and robust_scale:
        # A unit in which polynomials reach the ends, also where few rows differ from all others.
        ends = np.clip([column.low, column.high], *(column.origin + column.unit * np.array(bounds)))
        deviation = max(deviation, (mean - float(ends[0])) / BOUNDED_REACH, (float(ends[1]) - mean) / BOUNDED_REACH)
    if np.isinf(bounds).all():
        return Fenced(-np.inf, np.inf, mean, deviation, None)
    low, high = column.origin + column.unit * bounds[0], column.origin + column.unit * bounds[1]
    at_high = column.high - high >= low - column.low
    extreme = max(abs(column.low - column.origin), abs(column.high - column.origin))
    far = FarColumn(
        column=-1,
        n_values=max(round(column.n_beyond(bounds)), 1),
        row=column.high_row if at_high else column.low_row,
        value=column.high if at_high else column.low,
        # Of values too far for their squares to be added up the farthest alone has this deviation.
        deviation=max(column.moments()[1], extreme / float(np.sqrt(column.n_known))),
        moved_deviation=column.moments(bounds)[1],
        ruled=clip and robust_scale and ruled is not None,
    )
    return Fenced(low, high, mean, deviation, far)


def _within_reach(column: Histogram, bounds: tuple[float, float]) -> tuple[float, float]:
    """Bounds no farther from the mean than the range of a column may go, in deviations of the column within them."""
    farthest, before = np.inf, bounds
    for _ in range(REACH_STEPS):
        mean, deviation = column.moments(bounds)
        mean, deviation = (mean - column.origin) / column.unit, deviation / column.unit
        low, high = np.clip(column.ends, *bounds)
        reach = max(mean - low, high - mean) / deviation if deviation > 0 else np.inf
        if reach > max(SHRINKING * farthest, NEARLY * BOUNDED_REACH):
            return before
        if reach <= BOUNDED_REACH:
            break
        farthest, before = reach, bounds
        bounds = (
            max(bounds[0], _reached(mean, -BOUNDED_REACH * deviation)),
            min(bounds[1], _reached(mean, BOUNDED_REACH * deviation)),
        )
        if bounds == before:
            break
    return bounds


def _snapped(z: float, side: int) -> float:
    """The nearest edge of a bin at ``z`` or, by ``side``, above (1) or below it (−1)."""
    place = int(np.searchsorted(_ALL_EDGES, z, side="left" if side > 0 else "right")) - (side < 0)
    return float(_ALL_EDGES[np.clip(place, 0, len(_ALL_EDGES) - 1)])


def _reached(mean: float, reach: float) -> float:
    """The edge of a bin before ``mean + reach``, or after it where bins are too wide for such a short way."""
    side = 1 if reach < 0 else -1
    before = _snapped(mean + reach, side)
    return before if side * (mean - before) >= 0.5 * abs(reach) else _snapped(mean + reach, -side)


def _ruled_bounds(column: Histogram) -> tuple[float, float] | None:
    """Fences (of z) of a column whose deviation is ruled by far values; None if it is not.

    The same questions as in :mod:`kfrc.outliers`, asked of bins instead of values.
    """
    occupied = np.flatnonzero(column.counts)
    counts, total = column.counts[occupied], column.n_known
    median = _quantile(column, 0.5)
    robust = _robust_deviation(column, median)
    if robust == 0:
        return None
    farthest = np.abs(np.clip(column.ends, -_LARGEST, _LARGEST) - median).max() / robust
    if farthest <= FAR:
        return None
    places = (column.sums[occupied] / counts - median) / robust
    squares = (column.squares[occupied] - 2 * median * column.sums[occupied] + median**2 * counts) / robust**2
    order = np.argsort(np.abs(places), kind="stable")
    places, counts, squares = places[order], counts[order], squares[order]
    clipped = np.where(np.abs(places) > FAR, np.clip(places, -FENCE, FENCE), places)
    clipped_squares = np.where(np.abs(places) > FAR, counts * clipped**2, squares)
    n = np.cumsum(counts)
    center = np.cumsum(counts * places) / n
    variance = np.cumsum(squares) / n - center**2
    clipped_variance = np.cumsum(clipped_squares) / n - (np.cumsum(counts * clipped) / n) ** 2
    last = np.abs(places)
    last[-1] = max(last[-1], farthest)
    by_one = (last - np.abs(center)) ** 2 > RULED_BY_ONE * n * variance
    by_many = variance > RULED_BY_MANY**2 * clipped_variance
    ruled = (last > FAR) & (by_one | by_many)
    if not ruled[-1]:
        return None
    low, high = -FENCE, FENCE
    n_few = max(FEW[0], FEW[1] * total)
    without = np.flatnonzero(~ruled & (total - n <= n_few))
    if len(without):
        stays = int(without[-1])  # the most bins that stay with which the column is not ruled
        ends = np.abs(places[: stays + 1]).max()
        if last[stays + 1] > ISOLATED * ends:
            low, high = min(low, float(places[: stays + 1].min())), max(high, float(places[: stays + 1].max()))
            return _snapped(median + low * robust, -1), _snapped(median + high * robust, 1)
    return _snapped(median + low * robust, 1), _snapped(median + high * robust, -1)


def _robust_deviation(column: Histogram, median: float) -> float:
    """In units of z: see :func:`kfrc.outliers.find_fences`; zero if the middle is a single value."""
    total = column.n_known
    centers = np.divide(column.sums, column.counts, out=np.zeros_like(column.sums), where=column.counts > 0)
    distances = np.abs(centers - median)
    others = (distances > _RESOLVED) & (column.counts > 0)
    if not others.any():
        return 0.0
    n_others = float(column.counts[others].sum())
    order = np.argsort(distances[others])
    cumulated = np.cumsum(column.counts[others][order])
    usual = float(distances[others][order][np.searchsorted(cumulated, 0.5 * cumulated[-1])])
    least = usual if n_others <= 0.5 * total else 0.0
    for share in CENTRAL_SHARES:
        tail = 0.5 * (1.0 - share)
        spread = _quantile(column, 1.0 - tail) - _quantile(column, tail)
        robust = spread / (2.0 * float(-ndtri(tail)))
        if spread > _RESOLVED and float(column.counts[distances > FAR * robust].sum()) <= LITTLE * total:
            return max(robust, least)
    return usual if n_others <= (1.0 - CENTRAL_SHARES[-1]) * total else 0.0


def _quantile(column: Histogram, share: float) -> float:
    """Of z; between the edges of a bin in proportion to its counts, within the range of the values."""
    cumulated = np.concatenate([[0.0], np.cumsum(column.counts)])
    target = share * cumulated[-1]
    place = int(np.clip(np.searchsorted(cumulated, target, side="left") - 1, 0, len(column.counts) - 1))
    inside = (target - cumulated[place]) / max(column.counts[place], 1e-300)
    z = _ALL_EDGES[place] + inside * (_ALL_EDGES[place + 1] - _ALL_EDGES[place])
    return float(np.clip(z, *column.ends))
