"""The membership step of any fuzzifier from t′ and t″ alone: Newton inside brackets, for all rows at once.

In a row with distances A the minimizer of Σ_i t(u_i) A_i over the simplex has t′(u_i) A_i = μ wherever u_i > 0. One
membership, the *pivot*, is the unknown of its row: it sets μ, the others follow by inverting t′, and Newton moves the
pivot until the row sums to one. The pivot is the membership that reacts most to μ. So it is never the coarse one: not
u ≈ 1 where t′ has a pole, and where t′ is so flat that μ cannot tell memberships apart it is the flat one.

The result is exact to rounding wherever t′ can be evaluated. Where t′ itself falls below 10⁻²⁹⁰, as t′(u) = exp(−1/u)
does below u ≈ 0.0015, it is continued as a power of u. Memberships there, which need distances some 300 decades apart,
are approximate.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kfrc.typing import BoolArray, FloatArray

_EPS = float(np.finfo(np.float64).eps)
_LEAST = 1e-17
"""t′ is not evaluated between 0 and this: such a membership does not change a sum of one."""
_SMALLEST_SLOPE = 1e-290
"""Slopes below this are about to underflow; there t′ is continued as a power of u, and the result is approximate."""
_GRID = np.geomspace(_LEAST, 1.0, 129)
"""Where to look for the end of underflow."""
_NEGLIGIBLE = 1e-15
"""After a Newton step s at distance d from the nearer end of [0, 1] the error is about s²/d; below this it is none."""
_FREE_STEPS = 16
"""Newton steps of pivot and followers together. Rows that need more settle the followers first, in brackets."""
_WORTH_DROPPING = 1000
"""Memberships under work from which on dropping solved rows is cheaper than carrying them along."""
_NEAR = 1e-3
"""While every row still changes by more than this, none is checked for its end."""
_FAINT = 1e-100
"""Smallest du / d log μ, and the largest inversely: only shares are formed of it, and none may be 0/0."""
_MAX_STEPS = 500
"""Never reached: bisection alone ends earlier, also in the worst row."""


class _Point(NamedTuple):
    """t′ at memberships u: its height (see ``SlopeCurve``) and the change of u per relative change of t′, t′/t″."""

    height: FloatArray
    width: FloatArray


class _Pull(NamedTuple):
    """Where Newton's step from u towards a wanted slope leads, and du / d log μ there."""

    new: FloatArray
    response: FloatArray


@dataclass(frozen=True)
class SlopeCurve:
    """t′ prepared for inversion.

    Heights are log t′(u) if t′(0) = 0, where slopes may differ by hundreds of decades, and t′(u) itself otherwise.

    Parameters
    ----------
    derivative, second_derivative : callable
        t′ and t″. They may be infinite or invalid at 0 and 1.
    at_zero : float
        t′(0).
    largest : float
        Largest membership at which t′ is finite: 1, or the float below if t′ has a pole at 1.
    floor : float
        Below this membership t′ underflows; 0 if it does not.
    steepest : float
        t′ at ``largest``.
    """

    derivative: Callable[[Any], Any]
    second_derivative: Callable[[Any], Any]
    at_zero: float
    largest: float
    floor: float
    steepest: float

    @classmethod
    def of(cls, derivative: Callable[[Any], Any], second_derivative: Callable[[Any], Any]) -> SlopeCurve:
        """Look at the ends of t′."""
        with np.errstate(all="ignore"):
            slopes = np.asarray(derivative(np.array([0.0, 1e-300, 1.0 - 0.5 * _EPS, 1.0])), dtype=np.float64).tolist()
            at_zero = slopes[0] if math.isfinite(slopes[0]) else slopes[1]
            largest, steepest = (1.0, slopes[3]) if math.isfinite(slopes[3]) else (1.0 - 0.5 * _EPS, slopes[2])
            if at_zero > _SMALLEST_SLOPE:
                return cls(derivative, second_derivative, at_zero, largest, 0.0, steepest)
            first = int(np.argmax(derivative(_GRID) > _SMALLEST_SLOPE))
        return cls(derivative, second_derivative, 0.0, largest, float(_GRID[first]) if first else 0.0, steepest)

    @property
    def has_pole(self) -> bool:
        """Whether t′ is unbounded at 1."""
        return self.largest < 1.0

    def at(self, u: FloatArray) -> _Point:
        """Height and width at memberships of at least ``_LEAST``."""
        held = np.maximum(u, self.floor) if self.floor else u
        slope = self.derivative(held)
        width = slope / self.second_derivative(held)
        if self.at_zero:
            return _Point(slope, width)
        height = np.log(slope)
        if self.floor:
            height = height + held / width * np.log(u / held)
            width = width * (u / held)
        return _Point(height, width)

    def scaled(self, height: FloatArray, ratios: FloatArray) -> FloatArray:
        """Heights of slopes that are ``ratios`` times those of other heights."""
        return height * ratios if self.at_zero else height + np.log(ratios)

    def rounding(self, point: _Point) -> FloatArray:
        """Error of a membership that a few roundings of t′ leave."""
        log_error = 2.0 if self.at_zero else 1.0 + np.abs(point.height)
        return np.asarray(4.0 * _EPS * (1.0 + point.width * log_error))

    def pull(self, u: FloatArray, point: _Point, wanted: FloatArray, high: FloatArray) -> _Pull:
        """Newton's step from u to where t′ has the wanted height, but not above ``high``.

        It is taken where t′ is nearly straight: log(t′ − t′(0)) against log u, exact for every u^m, and in the upper
        half log t′ against log(1 − u) if t′ has a pole at 1, exact for every root of 1 − u.
        """
        upper = (u > 0.5) if self.has_pole else None
        gap, width = wanted - point.height, point.width
        gain: FloatArray | float = 1.0
        if self.at_zero:
            above, here = wanted - self.at_zero, point.height - self.at_zero
            if upper is not None:
                above, here = np.where(upper, wanted, above), np.where(upper, point.height, here)
            gap = np.log(above / here)
            width = width * (here / point.height)
            gain = wanted / above
        step = gap * width
        room = u if upper is None else np.where(upper, u - 1.0, u)
        bend = np.exp(step / room)
        new = free = u + room * (bend - 1.0)
        if upper is not None:
            # Nothing seen from one half tells how far to go in the other.
            new = np.where(upper, np.maximum(free, 0.5 * u), np.minimum(free, 0.5 + 0.5 * u))
        # An invalid step comes from t′(u) = t′(0): upwards, and unknown how far.
        new = np.maximum(np.fmin(new, high), _LEAST)
        return _Pull(new, np.where(new == free, bend * width * gain, point.width))


def invert(curve: SlopeCurve, slope: FloatArray) -> FloatArray:
    """(t′)⁻¹, with slopes outside [t′(0), t′(1)] mapped to 0 and 1."""
    with np.errstate(all="ignore"):
        steepest = math.inf if curve.has_pole else curve.steepest
        wanted = slope if curve.at_zero else np.log(slope)
        outside = ~((slope > curve.at_zero) & (slope < steepest))
        low, high = np.full_like(slope, _LEAST), np.full_like(slope, curve.largest)
        u, last = np.full_like(slope, 0.5), np.full_like(slope, np.inf)
        for _ in range(_MAX_STEPS):
            point = curve.at(u)
            new, rising = curve.pull(u, point, wanted, high).new, wanted > point.height
            low, high = np.where(rising, u, low), np.where(rising, high, u)
            step = np.abs(new - u)
            inside = (low <= new) & (new <= high) & (step <= 0.5 * last)
            u, last = np.where(inside, new, _middle(low, high)), np.where(inside, step, np.inf)
            error = np.where(inside, step, high - low)
            if np.all(_is_small(error, u, curve.rounding(point)) | outside):
                break
        return np.where(slope <= curve.at_zero, 0.0, np.where(slope >= steepest, 1.0, u))


def _middle(low: FloatArray, high: FloatArray) -> FloatArray:
    """A point between two memberships that halves what is left on a logarithmic scale."""
    return np.minimum(np.sqrt(np.maximum(low, _LEAST) * high), high)


def _is_small(step: FloatArray, u: FloatArray, rounding: FloatArray) -> BoolArray:
    """Whether another step would change nothing: this one is rounding, or its square is."""
    return (step <= rounding) | (step * step <= _NEGLIGIBLE * np.minimum(u, 1.0 - u))


def general_memberships(curve: SlopeCurve, distances: FloatArray) -> FloatArray:
    """Exact membership step, within the limit stated above, for rows sorted ascending whose first entry is 1.

    Parameters
    ----------
    curve : SlopeCurve
    distances : ndarray of shape (n_samples, n_clusters)
        ``inf`` is allowed behind the first entry.

    Returns
    -------
    U : ndarray of shape (n_samples, n_clusters)
    """
    U = np.zeros_like(distances)
    U[:, 0] = 1.0
    with np.errstate(all="ignore"):
        # A cluster at a distance of t′(1)/t′(0) or more gets nothing even if the nearest one has all.
        reachable = np.isfinite(distances) & (distances * curve.at_zero < curve.steepest)
        left = np.flatnonzero(reachable[:, 1:2])
        if left.size == 0:
            return U
        rows = _Rows(curve, distances[left].T.copy(), reachable[left].T.copy())
        pending = np.ones(len(left), dtype=bool)
        for k in range(_MAX_STEPS):
            strict = k >= _FREE_STEPS
            trial = rows.follow(strict=strict)
            done = pending & trial.solved if k < _MAX_STEPS - 1 else pending
            pending = pending & ~done
            n_pending = np.count_nonzero(pending)
            if n_pending < len(pending):
                U[left[done]] = trial.corrected(done).T
            if n_pending == 0:
                break
            rows.move(trial, strict=strict)
            if 2 * n_pending <= len(left) and trial.U.size >= _WORTH_DROPPING:
                rows.keep(pending)
                left, pending = left[pending], pending[pending]
    return U


class _Trial(NamedTuple):
    """Memberships (n_clusters, n_rows) that follow from the pivots, to first order, and what their sums miss."""

    U: FloatArray
    points: FloatArray
    active: BoolArray
    settled: BoolArray
    solved: BoolArray
    missing: FloatArray
    correction: FloatArray
    response: FloatArray

    def corrected(self, rows: BoolArray) -> FloatArray:
        """Memberships of some rows after a last Newton step of all of them together: they sum to one."""
        U = np.maximum(self.U[:, rows] + self.correction[:, rows], 0.0)
        return np.asarray(U / U.sum(axis=0))


class _Rows:
    """Rows under work: the points where t′ is evaluated, the pivots among them, and bounds of the solution.

    Arrays are (n_clusters, n_rows): the rows are many and the clusters few, and numpy is fast along many.
    """

    def __init__(self, curve: SlopeCurve, distances: FloatArray, reachable: BoolArray) -> None:
        self.curve = curve
        self.distances, self.reachable = distances, reachable
        n_clusters, n_rows = distances.shape
        # Memberships fall from first to last, so that the i-th is at most 1/i.
        shares = 1.0 / np.arange(1, n_clusters + 1)[:, None]
        points = 1.0 / distances
        points /= points.sum(axis=0)
        self.points = np.minimum(np.maximum(points, 0.1 * points[0]), np.minimum(shares, curve.largest))
        self.pivots = np.ones(n_rows, dtype=np.intp)
        self.numbers = np.arange(n_rows)
        self.low, self.high = np.zeros_like(distances), 1.001 * shares * reachable
        self.ceiling = np.minimum(self.high, curve.largest)
        self.below, self.above = self.low, self.high
        self.last_step = np.full_like(distances, np.inf)
        self.last_missing = np.full(n_rows, np.inf)

    def _at_pivots(self, values: FloatArray) -> FloatArray:
        return values[self.pivots, self.numbers]

    def follow(self, *, strict: bool) -> _Trial:
        """One Newton step of all memberships towards the multiplier that their pivot sets."""
        u, curve = self.points, self.curve
        point = curve.at(u)
        ratios = self._at_pivots(self.distances) / self.distances
        # Clusters as far away as the pivot share its membership exactly, also where t′ is too flat to tell.
        same = ratios == 1.0
        wanted = curve.scaled(self._at_pivots(point.height), ratios)
        active = ((wanted > curve.at_zero) & self.reachable) | same if curve.at_zero else self.reachable
        new, response = curve.pull(u, point, wanted, self.ceiling)
        error = np.abs(new - u)
        if strict:
            new, error = self._bracketed(new, error, wanted > point.height, same)
        free = active & ~same
        points = np.where(free, new, np.where(same, self._at_pivots(u), u))
        U = points * active
        response = (np.fmin(np.where(same, point.width, response), 1.0 / _FAINT) + _FAINT) * active
        missing = 1.0 - U.sum(axis=0)
        correction = response * (missing / response.sum(axis=0))
        settled: BoolArray = np.zeros(missing.shape, dtype=bool)
        solved = settled
        error = error * free
        change = error + np.abs(correction)
        if strict or (change.max(axis=0) < _NEAR).any():
            rounding = curve.rounding(point)
            solved = np.all(_is_small(change, u, rounding), axis=0)
            settled = np.all(_is_small(error, u, rounding), axis=0) if strict else solved
        return _Trial(U, points, active, settled, solved, missing, correction, response)

    def _bracketed(
        self, new: FloatArray, step: FloatArray, rising: BoolArray, same: BoolArray
    ) -> tuple[FloatArray, FloatArray]:
        """Followers inside what is known of them at this multiplier, or its middle, and how far off they may be."""
        u = self.points
        below, above = np.where(rising, u, self.below), np.where(rising, self.above, u)
        inside = (below <= new) & (new <= above) & (step <= 0.5 * self.last_step)
        self.last_step = np.where(inside, step, above - below)
        self.below, self.above = np.where(same, u, below), np.where(same, u, above)
        return np.where(inside, new, _middle(below, above)), self.last_step

    def move(self, trial: _Trial, *, strict: bool) -> None:
        """Move the pivots by Newton's step; if strict, only those of settled rows, between bounds that shrink."""
        newton = self._tighten(trial) if strict else np.ones_like(trial.settled)
        moves = trial.settled
        target = np.minimum(trial.U + trial.correction, self.curve.largest)
        fits = (target > self.low) & (target < self.high)
        pivots = np.where(fits, trial.response, 0.0).argmax(axis=0)
        # With one active cluster the next is the pivot: it was found reachable, so it gets something.
        found = newton & fits.any(axis=0) & trial.active[1]
        all_found = bool(found.all())
        if not all_found:
            widest = (self.high - self.low).argmax(axis=0)
            pivots = np.where(found, pivots, np.where(trial.active[1] | ~newton, widest, 1))
        self.pivots = np.where(moves, pivots, self.pivots) if strict else pivots
        values = self._at_pivots(target)
        if not all_found:
            values = np.where(found, values, _middle(self._at_pivots(self.low), self._at_pivots(self.high)))
        if strict:
            self.points = trial.points
            values = np.where(moves, values, self._at_pivots(trial.points))
        else:
            # The followers go along to first order.
            self.points = np.where(trial.active, np.maximum(target, 0.25 * trial.points), trial.points)
        self.points[self.pivots, self.numbers] = values

    def _tighten(self, trial: _Trial) -> BoolArray:
        """Tighten the bounds of settled rows; says where Newton keeps halving what is missing."""
        settled, size = trial.settled, np.abs(trial.missing)
        self.low = np.where(settled & (trial.missing > 0), np.maximum(self.low, self.below), self.low)
        above = np.where(trial.active, self.above, 0.0)
        self.high = np.where(settled & (trial.missing < 0), np.minimum(self.high, above), self.high)
        stalled = settled & (size > 0.5 * self.last_missing)
        self.last_missing = np.where(stalled, np.inf, np.where(settled, size, self.last_missing))
        self.below, self.above = np.where(settled, self.low, self.below), np.where(settled, self.high, self.above)
        self.last_step = np.where(settled, np.inf, self.last_step)
        return ~stalled

    def keep(self, rows: BoolArray) -> None:
        """Drop the rows that are solved."""
        for name, values in vars(self).items():
            if name != "curve":
                setattr(self, name, values[..., rows])
        self.numbers = np.arange(len(self.pivots))
