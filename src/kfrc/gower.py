"""Gower's dissimilarity of rows with columns of any type and missing values, as a pure function of encoded columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from kfrc._numerics import Interval, row_blocks
from kfrc._validation import as_array, check_number
from kfrc.typing import ArrayLike, FloatArray

Difference: TypeAlias = Callable[[FloatArray, FloatArray, float, FloatArray], None]
"""Writes d(x_j, y_k), between 0 and 1, of a column x (n, 1), a row y (m,) and a range into an array (n, m)."""

UNKNOWN = 0.5
"""Dissimilarity of rows that share no observed column: the middle of the scale, see the notes of :func:`gower`."""


def gower(
    X: ArrayLike,
    Y: ArrayLike | None,
    kinds: Sequence[str],
    ranges: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    unknown: float = UNKNOWN,
) -> FloatArray:
    r"""Gower's general dissimilarity, the mean difference over the columns that both rows have.

    With δ_jkd = 1 if column d is observed in both rows and 0 otherwise,

    .. math:: D_{jk} = \frac{\sum_d w_d \, δ_{jkd} \, d_d(x_{jd}, y_{kd})}{\sum_d w_d \, δ_{jkd}},

    where the difference d(x, y) in a column of range r is, by the kind of the column,

    ============  ===================================================================================
    "interval"    min(\|x − y\|, r) / r: numbers, and levels 0, …, L − 1 of an ordered scale with r = L − 1
    "match"       0 if x = y, else 1: codes of categories; r is not used
    "cyclic"      distance along a circle of period r, divided by its largest value r / 2
    ============  ===================================================================================

    Parameters
    ----------
    X : array-like of shape (n_rows, n_columns)
        Encoded columns; NaN is a missing value.
    Y : array-like of shape (n_others, n_columns) or None
        The rows to compare with. None stands for X itself, and then the diagonal is zero.
    kinds : sequence of n_columns str
        "interval", "match" or "cyclic".
    ranges : array-like of shape (n_columns,)
        Largest minus smallest value of interval columns in the rows that define the scale, periods of cyclic ones. New
        rows may lie outside the range: they differ by at most 1. In a column of range zero any difference is 1.
    weights : array-like of shape (n_columns,), optional
        Non-negative weights w_d of the columns; by default all are 1.
    unknown : float, default=0.5
        The dissimilarity, between 0 and 1, of two rows with no observed column in common.

    Returns
    -------
    ndarray of shape (n_rows, n_others)
        Between 0 and 1, never NaN.

    Notes
    -----
    **Where rows share no column** the data say nothing, and R's ``daisy`` answers NA. The mean of the other
    dissimilarities would make an entry depend on what other rows are in the table, so that a row would be at another
    distance when it comes alone. Hence a constant: the middle of the scale, which is also the mean difference of two
    random values of a balanced yes/no column or of a cyclic one without preference. ``unknown`` replaces it, by the
    mean dissimilarity of the rows of a fit, say.

    **D is a squared distance.** If nothing is missing, 1 − D is a mean of positive semi-definite similarities (a match;
    a triangle on the line; a triangle wave on the circle) with ones on the diagonal, and √D is Euclidean
    (Gower and Legendre): methods that work with squared distances, as FRC with ``metric="precomputed"`` does, take D as
    it is and not D². With missing values neither holds in general; not even the triangle inequality does.

    Time is O(n m p); the only arrays of size n × m are the result and blocks of rows of it.

    References
    ----------
    J. C. Gower (1971). A general coefficient of similarity and some of its properties. Biometrics 27, 857-871.

    J. C. Gower and P. Legendre (1986). Metric and Euclidean properties of dissimilarity coefficients. Journal of
    Classification 3, 5-48.

    L. Kaufman and P. J. Rousseeuw (1990). Finding Groups in Data. Wiley. (R's ``cluster::daisy``; ordered levels by
    their numbers.)

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc.gower import gower
    >>> age, color, hour = [20.0, 30.0, 60.0], [0, 1, 1], [23.0, 1.0, np.nan]
    >>> gower(np.column_stack([age, color, hour]), None, ["interval", "match", "cyclic"], [40.0, np.nan, 24.0]).round(4)
    array([[0.    , 0.4722, 1.    ],
           [0.4722, 0.    , 0.375 ],
           [1.    , 0.375 , 0.    ]])
    """
    rows = _check_rows(X, "X", len(kinds))
    others = rows if Y is None else _check_rows(Y, "Y", len(kinds))
    columns = _check_kinds(kinds)
    scales = _check_ranges(ranges, columns)
    column_weights = _check_weights(weights, len(kinds))
    unknown = check_number(unknown, "unknown", minimum=0.0)
    if unknown > 1:
        raise ValueError(f"unknown must be a dissimilarity between 0 and 1, got {unknown:g}")
    result = _mean_differences(rows, others, columns, scales, column_weights, unknown)
    if Y is None:
        np.fill_diagonal(result, 0.0)  # also of a row with nothing observed, which is still itself
    return result


def _mean_differences(
    X: FloatArray,
    Y: FloatArray,
    kinds: Sequence[_Kind],
    ranges: FloatArray,
    weights: FloatArray,
    unknown: float,
) -> FloatArray:
    columns_x, columns_y = np.ascontiguousarray(X.T), np.ascontiguousarray(Y.T)
    seen_x, seen_y = (1.0 - np.isnan(columns) for columns in (columns_x, columns_y))
    complete = np.logical_and(seen_x.all(axis=1), seen_y.all(axis=1))
    # Any number does in place of a missing one: its difference is multiplied by zero.
    columns_x, columns_y = np.nan_to_num(columns_x, nan=0.0), np.nan_to_num(columns_y, nan=0.0)
    result = np.zeros((len(X), len(Y)))
    for block in row_blocks(len(X), len(Y)):
        total = result[block]
        shared = np.full(total.shape, weights[complete].sum())
        term, both = np.empty(total.shape), np.empty(total.shape)
        for d in np.flatnonzero(weights).tolist():
            kinds[d].difference(columns_x[d, block, None], columns_y[d], ranges[d], term)
            if complete[d]:
                term *= weights[d]
            else:
                np.multiply(weights[d] * seen_x[d, block, None], seen_y[d], out=both)
                shared += both
                term *= both
            total += term
        np.divide(total, shared, out=total, where=shared > 0)
        total[shared == 0] = unknown
        np.minimum(total, 1.0, out=total)  # the two sums of weights may differ by rounding
    return result


def _interval(x: FloatArray, y: FloatArray, scale: float, out: FloatArray) -> None:
    np.subtract(x, y, out=out)
    np.abs(out, out=out)
    if scale > 0:
        np.minimum(out, scale, out=out)
        out /= scale
    else:  # the limit of small ranges
        np.not_equal(out, 0.0, out=out)


def _match(x: FloatArray, y: FloatArray, scale: float, out: FloatArray) -> None:
    np.not_equal(x, y, out=out)


def _cyclic(x: FloatArray, y: FloatArray, scale: float, out: FloatArray) -> None:
    np.subtract(x, y, out=out)
    np.abs(out, out=out)
    np.fmod(out, scale, out=out)
    np.minimum(out, scale - out, out=out)
    out /= 0.5 * scale


@dataclass(frozen=True)
class _Kind:
    difference: Difference
    ranges: Interval | None  # None: the range is not used


_KINDS = {
    "interval": _Kind(_interval, Interval(0, np.inf, closed="left")),
    "match": _Kind(_match, None),
    "cyclic": _Kind(_cyclic, Interval(0, np.inf)),
}


def _check_kinds(names: Sequence[str]) -> list[_Kind]:
    for column, name in enumerate(names):
        if name not in _KINDS:
            raise ValueError(f"kinds[{column}] must be one of {', '.join(map(repr, _KINDS))}, got {name!r}")
    return [_KINDS[name] for name in names]


def _check_rows(rows: Any, name: str, n_columns: int) -> FloatArray:
    array = np.asarray(as_array(rows, name), dtype=np.float64)
    if array.ndim != 2 or array.shape[1] != n_columns:
        raise ValueError(
            f"{name} must have shape (n_rows, {n_columns}), one column for each of kinds, got {array.shape}"
        )
    if n_columns == 0:
        raise ValueError(f"{name} has no columns")
    if np.isinf(array).any():
        row, column = np.argwhere(np.isinf(array))[0]
        raise ValueError(f"{name} contains infinity, the first at row {row}, column {column}: NaN is a missing value")
    return array


def _check_ranges(ranges: ArrayLike, kinds: Sequence[_Kind]) -> FloatArray:
    array = np.asarray(ranges, dtype=np.float64)
    if array.shape != (len(kinds),):
        raise ValueError(f"ranges must have one entry per column ({len(kinds)}), got shape {array.shape}")
    for column, (kind, scale) in enumerate(zip(kinds, array.tolist(), strict=True)):
        if kind.ranges is not None and scale not in kind.ranges:
            raise ValueError(f"ranges[{column}] must be a number in {kind.ranges}, got {scale:g}")
    return array


def _check_weights(weights: ArrayLike | None, n_columns: int) -> FloatArray:
    if weights is None:
        return np.ones(n_columns)
    array = np.asarray(weights, dtype=np.float64)
    if array.shape != (n_columns,):
        raise ValueError(f"weights must have one entry per column ({n_columns}), got shape {array.shape}")
    if not (np.isfinite(array).all() and (array >= 0).all() and array.any()):
        raise ValueError("weights of columns must be finite, >= 0 and not all zero")
    return array
