"""Squared Euclidean distances of rows to points over what is known of each row: the one formula for fits and new rows.

With z = (x, ‖x‖², o), where o is one, or one for every column, and zero where a column is blank in x (as x is there),

    ‖x − v‖² = (−2v, 1, v²) · z,

and Σ_j w_j z_j holds the weighted sum of the rows and, last, the sums of the weights of rows in which something is
known: both halves of an iteration with centers are one matrix product. Where the product cancels, and only there, the
differences x − v are squared: a row very close to a center keeps all digits of its distance.
"""

from __future__ import annotations

import numpy as np

from kfrc._numerics import RESOLUTION, row_blocks
from kfrc.typing import FloatArray

_CANCELLATION = 1e-4
"""Squared distances by inner products that are smaller than this share of their terms are computed by differences."""


def lift(X: FloatArray, *, incomplete: bool | None = None) -> FloatArray:
    """Columns z of rows X, of shape (n_columns + 2, n_rows), or (2 n_columns + 1, n_rows) if something is missing.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_columns)
        With NaN where nothing is known.
    incomplete : bool, optional
        Whether there may be NaN; None looks.
    """
    n_columns = X.shape[1]
    blank = np.isnan(X.T) if incomplete or incomplete is None else None
    if blank is not None and not incomplete and not blank.any():
        blank = None
    Z = np.empty((n_columns + 1 + (1 if blank is None else n_columns), len(X)))
    Z[:n_columns] = X.T
    Z[n_columns + 1 :] = 1.0
    if blank is not None:
        Z[:n_columns][blank] = 0.0
        Z[n_columns + 1 :][blank] = 0.0
    np.einsum("dj,dj->j", Z[:n_columns], Z[:n_columns], out=Z[n_columns])
    return Z


def distances_of_lifted(Z: FloatArray, points: FloatArray) -> FloatArray:
    """‖x_j − v_i‖² over the known columns of rows that :func:`lift` made, of shape (n_points, n_rows).

    Parameters
    ----------
    Z : ndarray of shape (n_columns + 2, n_rows) or (2 n_columns + 1, n_rows)
    points : ndarray of shape (n_points, n_columns)
    """
    n_columns = points.shape[1]
    squares = np.square(points)
    form = np.empty((len(points), len(Z)))
    np.multiply(points, -2.0, out=form[:, :n_columns])
    form[:, n_columns] = 1.0
    form[:, n_columns + 1 :] = squares if len(Z) > n_columns + 2 else squares.sum(axis=1, keepdims=True)
    distances = form @ Z
    terms = (_CANCELLATION * form[:, n_columns:]) @ Z[n_columns:]
    i, j = np.nonzero(distances < terms)
    if len(i):
        exact = np.square((Z[:n_columns, j] - points[i].T) * Z[n_columns + 1 :, j]).sum(axis=0)
        # Coordinates that differ by no more than their rounding are equal.
        distances[i, j] = np.where(exact <= RESOLUTION**2 / _CANCELLATION * terms[i, j], 0.0, exact)
    return distances


def squared_distances(X: FloatArray, points: FloatArray) -> FloatArray:
    """‖x_j − v_i‖² over what is known of each row, of shape (n_rows, n_points); see :func:`distances_of_lifted`.

    Coordinates should be relative to a point in the midst of the rows: where many rows are far from zero compared to
    their distances, most of these are computed by differences.

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc._distances import squared_distances
    >>> X = np.array([[1.0, 1e8 + 2.0], [np.nan, 1e8 + 2.0], [np.nan, np.nan]])
    >>> squared_distances(X, np.array([[0.0, 1e8], [1.0, 1e8 + 4.0]]))
    array([[5., 4.],
           [4., 4.],
           [0., 0.]])
    """
    distances = np.empty((len(X), len(points)))
    for rows in row_blocks(len(X), X.shape[1] + 2 * len(points)):
        part = X[rows]
        incomplete = np.isnan(part).any(axis=1)
        if incomplete.any():  # each kind by itself, so that no row changes a digit of another
            for some in (incomplete, ~incomplete):
                distances[rows][some] = distances_of_lifted(lift(part[some]), points).T
        else:
            distances[rows] = distances_of_lifted(lift(part, incomplete=False), points).T
    return distances
