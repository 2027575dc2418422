"""Distribution function of a quadratic form in normal variables (noncentral chi-squares plus a normal)."""

from __future__ import annotations

import cmath
import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kfrc.exceptions import KFRCError
from kfrc.typing import FloatArray

ComplexArray: TypeAlias = NDArray[np.complexfloating[Any, Any]]

_ABSOLUTE_TOL, _RELATIVE_TOL = 1e-11, 1e-8  # of one probability, between two successive quadratures
_NEGLIGIBLE = -40.0  # log of an integrand relative to its peak: below the rounding of the sum
_POLE_DISTANCE = 0.25  # in standard deviations: keeps the pole 1/s off a contour for thresholds near the mean
_TURNING_POINT = 4.0  # the contour may turn where |a s| exceeds this: past every branch point 1/(2a)
_MAX_PHASE = 100.0  # radians on a straight contour: beyond, turning is cheaper than following the oscillation
_MAX_GROWTH = 2.0  # log of the integrand on a ray relative to its peak: more would cost digits
# Rays at 60°: below 45° Gaussian factors stop decaying, 90° is pure oscillation.
_TILTS = (cmath.exp(1j * math.pi / 3), cmath.exp(2j * math.pi / 3))
_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(16)
_PANELS = (4, 8, 16, 32, 64, 128, 256)


def quadratic_form_cdf(a: FloatArray, b: FloatArray, threshold: FloatArray) -> FloatArray:
    r"""P(Σ_k a_k y_k² + b_k y_k < threshold) for independent standard normal y, one form per row.

    The cumulant function

    .. math:: K(s) = \sum_k -\tfrac12\log(1 - 2 a_k s) + \tfrac12 b_k^2 s^2/(1 - 2 a_k s)

    is regular at a = 0, so normal and chi-square parts need no separate treatment. With c the saddle
    point of K(s) − s t, the tail on the side of c is :math:`\frac1\pi \mathrm{Im}\int e^{K(s) - st} ds/s`
    over the upper half of any contour through c. It runs straight up, where the integrand only decays; if
    it decays slowly it turns, past the branch points, into a ray on which :math:`e^{-st}` decays
    exponentially.

    Parameters
    ----------
    a, b : ndarray of shape (n_forms, n_terms)
        No row may be zero in both.
    threshold : ndarray of shape (n_forms,)

    Returns
    -------
    ndarray of shape (n_forms,)

    References
    ----------
    .. [1] Davies (1980), The distribution of a linear combination of chi-square random variables, Applied
       Statistics 29(3).
    .. [2] Rice (1980), Distribution of quadratic forms in normal random variables: evaluation by numerical
       integration, SIAM J. Sci. Stat. Comput. 1(4).

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc.simulation._quadratic_forms import quadratic_form_cdf
    >>> median = 2 * np.log(2)  # of a chi-square with two degrees of freedom
    >>> quadratic_form_cdf(np.ones((1, 2)), np.zeros((1, 2)), np.array([median])).round(9)
    array([0.5])
    """
    deviation = np.sqrt((2 * a**2 + b**2).sum(axis=1))
    a, b, t = a / deviation[:, None], b / deviation[:, None], threshold / deviation
    saddle = _find_saddle(a, b, t)
    contour = _Contour.through(saddle, a, b, t)
    tails = np.full(len(t), np.nan)
    open_rows, previous, change = np.arange(len(t)), np.full(len(t), np.inf), np.inf
    for n_panels in _PANELS:
        tails[open_rows] = contour.integrate(open_rows, n_panels)
        differences = np.abs(tails[open_rows] - previous[open_rows])
        previous[open_rows] = tails[open_rows]
        unsettled = differences > _ABSOLUTE_TOL + _RELATIVE_TOL * np.abs(tails[open_rows])
        open_rows, change = open_rows[unsettled], float(differences.max(initial=0.0))
        if len(open_rows) == 0:
            # c > 0 gives the upper tail, c < 0 minus the lower one.
            return np.clip(np.where(saddle > 0, 1 - tails, -tails), 0.0, 1.0)
    raise KFRCError(
        f"the overlap of {len(open_rows)} pair(s) did not settle (last change {change:.1e}); "
        "the covariances are too far apart in scale: check their condition numbers"
    )


def _cumulant_slope(a: FloatArray, b: FloatArray, s: FloatArray) -> FloatArray:
    """K′(s) for real s inside the strip of convergence."""
    w = 1 - 2 * a * s[:, None]
    return (a / w + b**2 * s[:, None] * (1 - a * s[:, None]) / w**2).sum(axis=1)


def _find_saddle(a: FloatArray, b: FloatArray, t: FloatArray) -> FloatArray:
    """Approximate root of K′(s) = t, kept a little away from the pole at 0 (any c in the strip is exact)."""
    side = np.where(t >= a.sum(axis=1), 1.0, -1.0)
    steepest = np.maximum((a * side[:, None]).max(axis=1), 0.0)
    with np.errstate(divide="ignore"):
        limit = 1 / (2 * steepest)
    low, high = np.zeros(len(t)), np.minimum(limit, 1.0)
    for _ in range(100):  # at most 2^100 standard deviations: beyond, the tail is zero in any arithmetic
        growing = (high < limit) & (side * (_cumulant_slope(a, b, side * high * (1 - 1e-12)) - t) < 0)
        if not growing.any():
            break
        high = np.where(growing, np.minimum(2 * high, limit), high)
    for _ in range(45):
        middle = (low + high) / 2
        short = side * (_cumulant_slope(a, b, side * middle) - t) < 0
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    return side * np.maximum(low, _POLE_DISTANCE)


@dataclass(frozen=True, eq=False)
class _Contour:
    """Upper half of the contour of each form: up from ``start`` to ``height``, then along a ray (or not)."""

    a: FloatArray
    b: FloatArray
    t: FloatArray
    start: FloatArray
    width: FloatArray
    height: FloatArray
    tilt: ComplexArray
    reach: FloatArray

    @classmethod
    def through(cls, saddle: FloatArray, a: FloatArray, b: FloatArray, t: FloatArray) -> _Contour:
        """Contour through the saddle point, chosen per form so that the integrand never grows along it."""
        n_forms, n_terms = a.shape
        w = 1 - 2 * a * saddle[:, None]
        width = 1 / np.sqrt((2 * a**2 / w**2 + b**2 / w**3).sum(axis=1))
        peak = _log_integrand(a, b, t, saddle[:, None].astype(np.complex128)).real[:, 0] + np.log(width)

        heights = width[:, None] * 2.0 ** np.arange(61)
        logs = _log_integrand(a, b, t, saddle[:, None] + 1j * heights)
        done = logs.real + np.log(heights) < peak[:, None] + _NEGLIGIBLE
        done &= np.abs(logs.imag) <= _MAX_PHASE
        first = (np.arange(n_forms), done.argmax(axis=1))
        height = np.where(done[first], heights[first], heights[:, -1])
        tilt, reach = np.full(n_forms, _TILTS[0]), np.zeros(n_forms)

        # Where it oscillates too long, turn. Any turn and direction is exact; the first that decays is taken.
        slow = np.flatnonzero(~done[first])
        grid = np.linspace(0, -2 * _NEGLIGIBLE / n_terms + 2, 49)[1:]  # past the algebraic decay |s|^(−p/2)
        largest_first = -np.sort(-np.abs(a), axis=1)
        for term in range(n_terms):
            for candidate in _TILTS:
                with np.errstate(divide="ignore"):
                    turn = _TURNING_POINT / largest_first[slow, term]
                slow, turn = slow[np.isfinite(turn)], turn[np.isfinite(turn)]
                ray = (saddle[slow] + 1j * turn)[:, None] + candidate * turn[:, None] * np.expm1(grid)
                size = _log_integrand(a[slow], b[slow], t[slow], ray).real + np.log(turn)[:, None] + grid
                size -= peak[slow, None]
                stop = (size < _NEGLIGIBLE).argmax(axis=1)
                before = np.where(np.arange(len(grid)) < stop[:, None], size, -np.inf).max(axis=1)
                fits = (size < _NEGLIGIBLE).any(axis=1) & (before <= _MAX_GROWTH)
                height[slow[fits]], tilt[slow[fits]] = turn[fits], candidate
                reach[slow[fits]] = grid[stop[fits]]
                slow = slow[~fits]
        return cls(a, b, t, saddle, width, height, tilt, reach)

    def integrate(self, rows: NDArray[np.intp], n_panels: int) -> FloatArray:
        """(1/π) Im ∫ exp(K(s) − st)/s ds by Gauss–Legendre: sinh spacing up, exponential on the ray."""
        edges = np.linspace(0, 1, n_panels + 1)[:-1, None]
        nodes = (edges + (_NODES + 1) / (2 * n_panels)).ravel()
        weights = np.tile(_NODE_WEIGHTS / (2 * n_panels), n_panels)

        start, width, height = self.start[rows, None], self.width[rows, None], self.height[rows, None]
        span = np.arcsinh(height / width)
        s = start + 1j * (width * np.sinh(span * nodes))
        steps = 1j * (width * np.cosh(span * nodes) * span)
        total = self._sum(rows, s, steps, weights)
        turned = self.reach[rows] > 0
        if turned.any():
            tail_rows = rows[turned]
            reach, length = self.reach[tail_rows, None], self.height[tail_rows, None]
            tilt = self.tilt[tail_rows, None]
            s = self.start[tail_rows, None] + 1j * length + tilt * length * np.expm1(reach * nodes)
            steps = tilt * length * np.exp(reach * nodes) * reach
            total[turned] += self._sum(tail_rows, s, steps, weights)
        return total

    def _sum(
        self,
        rows: NDArray[np.intp],
        s: ComplexArray,
        steps: ComplexArray,
        weights: FloatArray,
    ) -> FloatArray:
        values = np.exp(_log_integrand(self.a[rows], self.b[rows], self.t[rows], s)) * steps
        result: FloatArray = (values @ weights).imag / np.pi
        return result


def _log_integrand(a: FloatArray, b: FloatArray, t: FloatArray, s: ComplexArray) -> ComplexArray:
    """K(s) − s t − log s for s of shape (n_forms, n_nodes); one term at a time keeps arrays small."""
    result = -np.log(s) - s * t[:, None]
    half_square = 0.5 * s**2
    for term in range(a.shape[1]):
        w = 1 - 2 * a[:, term, None] * s
        result += half_square * (b[:, term, None] ** 2 / w) - 0.5 * np.log(w)
    return result
