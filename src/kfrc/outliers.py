"""Values far outside the bulk of their column: fences that keep one of them from ruling a whole table.

A standard deviation follows its largest value: one typing error of 10⁵ makes every other row of the column look alike.
And polynomials that resolve a kernel over the whole range of a column grow in number with that range. Both are mended
by the same means: what lies beyond a fence is moved to the fence, in the fit and for new rows alike. It stays the
farthest value of its column; everything computed afterwards is exact for the table so moved.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtri

from kfrc._numerics import FARTHEST, binary_exponent
from kfrc._validation import short_name
from kfrc.typing import BoolArray, FloatArray, IntArray

FAR = 10.0
"""Robust deviations from the median from which on a value is far: normal values reach 5 among ten million."""

FENCE = 5.0
"""Robust deviations from the median at which the fences of a ruled column stand: at the end of what is usual."""

RULED_BY_MANY = 2.0
"""A column is ruled by far values if its standard deviation shrinks by this factor when they are moved."""

RULED_BY_ONE = 0.5
"""... or if a single far value makes up more than this share of its variance."""

MANY_ROWS = 5000
"""With more rows than this the range is bounded in any case: there is no dense matrix to fall back to."""

BOUNDED_REACH = 9.0
"""Standard deviations from the mean beyond which a column of many rows does not go: 80 polynomials at level 0."""

REACH_STEPS = 30
"""Times that the range is bounded anew, because the deviation shrank with it: few are enough for any tail."""

SHRINKING = 0.95
"""... and it is no use if the farthest value is not nearer by this factor, in deviations, than it was."""

NEARLY = 1.05
"""... unless it is within reach but for this factor, where steps are short by themselves."""

CENTRAL_SHARES = (0.5, 0.8, 0.9, 0.98)
"""Shares of the rows whose range measures the bulk: the first that is not a single value and leaves little outside."""

LITTLE = 0.05
"""Share of the rows that may be far; more of them are no outliers."""

FEW = (3, 0.005)
"""Rows, and share of the rows, that are few: without them a column may have a long tail of its own."""

ISOLATED = 10.0
"""Times as far as all others: such values are no part of a tail, and the tail of the others is the column's own."""


@dataclass(frozen=True)
class FarColumn:
    """A column some of whose values were moved to its fences.

    Attributes
    ----------
    column : int
    n_values : int
        How many values lie beyond the fences.
    row : int
        The row of the farthest.
    value : float
        What it holds.
    deviation : float
        Standard deviation of the column as it was given.
    moved_deviation : float
        The same with the far values at the fences.
    ruled : bool
        Whether far values made up most of the deviation; if not, only the range was bounded.
    """

    column: int
    n_values: int
    row: int
    value: float
    deviation: float
    moved_deviation: float
    ruled: bool


@dataclass(frozen=True)
class Fences:
    """Bounds of every column.

    Attributes
    ----------
    low, high : ndarray of shape (n_columns,)
        Infinite where nothing is moved.
    far : tuple of FarColumn
        Where something is.
    """

    low: FloatArray
    high: FloatArray
    far: tuple[FarColumn, ...] = ()

    @classmethod
    def none(cls, n_columns: int) -> Fences:
        """No fences."""
        return cls(np.full(n_columns, -np.inf), np.full(n_columns, np.inf))

    def clip(self, X: FloatArray) -> FloatArray:
        """Rows with values beyond the fences moved to them; the rows themselves where there are none."""
        return np.clip(X, self.low, self.high) if self.far else X

    def restricted(self, columns: IntArray) -> Fences:
        """Those of some of the columns."""
        places = {int(column): place for place, column in enumerate(columns)}
        far = tuple(replace(found, column=places[found.column]) for found in self.far if found.column in places)
        return Fences(self.low[columns], self.high[columns], far)


def find_fences(X: FloatArray, *, robust_scale: bool = True) -> Fences:
    """Fences for the columns that need them.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_columns)
        Finite; every column varies.
    robust_scale : bool, default=True
        Whether columns that are ruled by few values get fences whatever the number of rows. Otherwise fences only
        bound the range of tables with many rows.

    Returns
    -------
    Fences

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc.outliers import find_fences
    >>> X = np.random.default_rng(0).standard_normal((200, 2))
    >>> X[3, 1] = 1e6
    >>> fences = find_fences(X)
    >>> [(far.column, far.row, far.value) for far in fences.far]
    [(1, 3, 1000000.0)]
    >>> bool(abs(fences.clip(X)).max() < 12)
    True
    """
    many = len(X) > MANY_ROWS
    low, high = np.full(X.shape[1], -np.inf), np.full(X.shape[1], np.inf)
    far = []
    for j in range(X.shape[1]) if robust_scale or many else ():
        exponent = binary_exponent(X[:, j])
        x = np.ldexp(X[:, j], -exponent)
        robust = _ruled_bounds(x)
        bounds = robust or (-np.inf, np.inf)
        if many:
            bounds = _within_reach(x, bounds)
        outside = np.flatnonzero((x < bounds[0]) | (x > bounds[1]))
        if len(outside):
            low[j], high[j] = np.ldexp(bounds, exponent)
            row = int(outside[np.maximum(bounds[0] - x[outside], x[outside] - bounds[1]).argmax()])
            far.append(
                FarColumn(
                    column=j,
                    n_values=len(outside),
                    row=row,
                    value=float(X[row, j]),
                    deviation=_deviation(X[:, j]),
                    moved_deviation=_deviation(np.clip(X[:, j], low[j], high[j])),
                    ruled=robust is not None,
                )
            )
    return Fences(low, high, tuple(far))


def find_lone_values(X: FloatArray) -> dict[int, int]:
    """Row of the only value that differs from all others of its column, by column; none in short tables.

    Such a value is the whole deviation of its column and stands at √n deviations: far from a hundred rows on.
    """
    if math.sqrt(len(X)) <= FAR:
        return {}
    differs = np.median(X[:3], axis=0) != X  # at least two of three rows hold what the others hold
    lone = np.flatnonzero(differs.sum(axis=0) == 1)
    return {int(j): int(differs[:, j].argmax()) for j in lone}


def position_of_row(row: int) -> str:
    """What a row is called in Python: its position, from zero."""
    return f"row {row}"


KEEP = 'outliers="keep"'
"""How to ask for far values as they are, in Python."""


def describe_lone_values(
    X: FloatArray,
    lone: Mapping[int, int],
    columns: IntArray,
    names: Sequence[str] | None,
    *,
    row_name: Callable[[int], str] = position_of_row,
    keep: str = KEEP,
) -> str | None:
    """What to say of columns that are left out because all of their deviation is one value; None if there are none."""
    if not lone:
        return None
    shown = [
        f"{_name(int(columns[j]), names)} ({X[row, j]:g} in {row_name(row)}, else {X[row - 1, j]:g})"
        for j, row in list(lone.items())[:5]
    ]
    if len(lone) > len(shown):
        shown.append(f"{len(lone) - len(shown)} more column(s)")
    return (
        f"{len(lone)} column(s) that are constant but for one value are left out: {'; '.join(shown)}. Correct the "
        f"value if it is a mistake, or use {keep} to cluster by it"
    )


def describe_far_columns(
    far: Sequence[FarColumn],
    columns: IntArray,
    names: Sequence[str] | Mapping[int, str] | None,
    *,
    row_name: Callable[[int], str] = position_of_row,
    keep: str = KEEP,
) -> str | None:
    """What to say of columns that few values ruled, and of nothing else; None if there are none.

    Parameters
    ----------
    far : sequence of FarColumn
    columns : ndarray of int
        Which column of the user's table each of the columns is.
    names : sequence of str or None
        What the user calls them.
    row_name : callable
        What the user calls a row, by its position.
    keep : str
        How the user asks for values as they are.
    """
    ruled = [column for column in far if column.ruled]
    if not ruled:
        return None
    shown = [_phrase(column, int(columns[column.column]), names, row_name) for column in ruled[:5]]
    if len(ruled) > len(shown):
        shown.append(f"{len(ruled) - len(shown)} more column(s)")
    return (
        f"values far outside the bulk ruled the standard deviation of {len(ruled)} column(s) and were moved to the end "
        f"of what is usual there: {'; '.join(shown)}. Correct them if they are mistakes, take "
        f"logarithms if the column is skewed, or use {keep} to cluster by them as they are"
    )


def _name(column: int, names: Sequence[str] | Mapping[int, str] | None) -> str:
    return f"'{short_name(names[column])}'" if names is not None else f"column {column}"


def _phrase(
    far: FarColumn, column: int, names: Sequence[str] | Mapping[int, str] | None, row_name: Callable[[int], str]
) -> str:
    values = f"{far.value:g} in {row_name(far.row)}"
    if far.n_values > 1:
        values = f"{far.n_values} values up to {values}"
    deviations = f"standard deviation {far.deviation:.3g} with, {far.moved_deviation:.3g} after"
    return f"{_name(column, names)} ({values}; {deviations})"


def _ruled_bounds(x: FloatArray) -> tuple[float, float] | None:
    """Fences of a column whose deviation is ruled by far values; None if it is not.

    A column that is not ruled once few isolated values are set aside keeps what tail it has: its fences are then where
    the other rows end.
    """
    median, robust = float(np.median(x)), robust_deviation(x)
    if robust == 0:
        return None
    z = np.clip((x - median) / robust, -FARTHEST, FARTHEST)
    distances = np.abs(z)
    if distances.max() <= FAR:
        return None
    n_few = min(max(FEW[0], int(FEW[1] * len(z))), len(z) - 1)
    order = np.argpartition(distances, len(z) - n_few)
    order[-n_few:] = order[-n_few:][np.argsort(distances[order[-n_few:]])]
    ruled = _is_ruled_without(z[order], n_few)
    if not ruled[0]:
        return None
    low, high = -FENCE, FENCE
    if not ruled.all():
        n_aside = int(np.argmin(ruled))
        others = z[order[:-n_aside]]
        if distances[order[-n_aside]] > ISOLATED * np.abs(others).max():
            low, high = min(low, float(others.min())), max(high, float(others.max()))
    return median + low * robust, median + high * robust


def _is_ruled_without(z: FloatArray, n_few: int) -> BoolArray:
    """Whether a column is ruled by far values without its last k, for k = 0, …, n_few.

    The values are robust deviations from the median, the last n_few in order of distance.
    """
    clipped = np.where(np.abs(z) > FAR, np.clip(z, -FENCE, FENCE), z)
    counts = np.arange(len(z) - n_few, len(z) + 1)

    def means(values: FloatArray) -> FloatArray:
        first = values[:-n_few].sum()
        return np.append(first, first + np.cumsum(values[-n_few:])) / counts

    center = means(z)
    variance = means(z**2) - center**2
    clipped_variance = means(clipped**2) - means(clipped) ** 2
    farthest = np.append(z[np.abs(z[:-n_few]).argmax()], z[-n_few:])
    by_one = (farthest - center) ** 2 > RULED_BY_ONE * counts * variance
    by_many = variance > RULED_BY_MANY**2 * clipped_variance
    ruled = (np.abs(farthest) > FAR) & (by_one | by_many)
    return ruled[::-1]


def robust_deviation(x: FloatArray) -> float:
    """Deviation of the normal distribution with the same central range.

    Where half of the values or more are equal it is no less than the usual distance of the others from them; zero if
    too many would be far.
    """
    median = float(np.median(x))
    others = np.abs(x - median)[x != median]
    if len(others) == 0:
        return 0.0
    usual = float(np.median(others))
    # Next to one value that is half of a column, quantiles may be as close to it as the smallest of the others.
    least = usual if len(others) <= 0.5 * len(x) else 0.0
    for share in CENTRAL_SHARES:
        tail = 0.5 * (1.0 - share)
        first, last = np.quantile(x, [tail, 1.0 - tail])
        robust = float(last - first) / (2.0 * float(-ndtri(tail)))
        if robust > 0 and np.mean(np.abs(x - median) > FAR * robust) <= LITTLE:
            return max(robust, least)
    return usual if len(others) <= (1.0 - CENTRAL_SHARES[-1]) * len(x) else 0.0


def _within_reach(x: FloatArray, bounds: tuple[float, float]) -> tuple[float, float]:
    """Bounds no farther from the mean than the range of a column may go, in deviations of the column within them.

    Where few rows differ from all others at all, that cannot be had: deviations shrink as fast as bounds do.
    """
    farthest, before = np.inf, bounds
    for _ in range(REACH_STEPS):
        within = np.clip(x, *bounds)
        mean, deviation = (float(found[0]) for found in mean_and_deviation(within[:, None]))
        reach = max(mean - float(within.min()), float(within.max()) - mean) / deviation
        if reach > max(SHRINKING * farthest, NEARLY * BOUNDED_REACH):
            return before
        if reach <= BOUNDED_REACH:
            break
        farthest, before = reach, bounds
        bounds = max(bounds[0], mean - BOUNDED_REACH * deviation), min(bounds[1], mean + BOUNDED_REACH * deviation)
    return bounds


def least_unit(x: FloatArray, mean: float) -> float:
    """The smallest unit in which no value of a long column lies farther from its mean than polynomials reach."""
    return max(mean - float(x.min()), float(x.max()) - mean) / BOUNDED_REACH


def _deviation(x: FloatArray) -> float:
    return float(mean_and_deviation(x[:, None])[1][0])


def mean_and_deviation(X: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Means and standard deviations of columns, each of shape (n_columns,), whatever the size of the values."""
    exponents = np.frexp(np.abs(X).max(axis=0))[1]
    scaled = np.ldexp(X, -exponents)
    with np.errstate(over="ignore"):  # the deviation of the largest numbers is infinite
        return np.ldexp(scaled.mean(axis=0), exponents), np.ldexp(scaled.std(axis=0, ddof=1), exponents)
