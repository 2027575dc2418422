"""Kernel density estimates: how crowded a place is, with a bandwidth that the rows choose by leaving each one out."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.spatial.distance import cdist

from kfrc._numerics import row_blocks
from kfrc.typing import FloatArray, IntArray

BANDWIDTHS = tuple(np.geomspace(0.08, 1.2, 10).tolist())
"""Tried, in standard deviations: below, single rows are islands; above, the density is one hill."""

MAX_ROWS = 600
"""A density is made of at most so many rows: it costs their number times that of the rows it is asked about."""

_MOST_COMPARED = 6
_COMPARED_ROWS = 300
"""Columns and rows up to which all sets of columns are compared: 63 densities, a third of a second."""

_SEED = 7919
"""Rows are drawn with a fixed seed: the estimate is a function of the data."""


@dataclass(frozen=True)
class KernelDensity:
    """A mean of Gaussian bumps, one at each row.

    Attributes
    ----------
    rows : ndarray of shape (n_rows, n_features)
        Where the bumps are.
    bandwidth : float
        Their standard deviation, the same in all directions.
    leave_one_out : ndarray of shape (n_rows,)
        Log-density at each row, without its own bump.
    """

    rows: FloatArray
    bandwidth: float
    leave_one_out: FloatArray

    def log_density(self, Z: FloatArray) -> FloatArray:
        """Log-density at any rows, of shape (len(Z),)."""
        result = np.empty(len(Z))
        for block in row_blocks(len(Z), len(self.rows)):
            squares = cdist(Z[block], self.rows, "sqeuclidean")
            result[block] = _log_means(squares, self.bandwidth, Z.shape[1], len(self.rows))
        return result


def fit_kernel_density(X: FloatArray) -> KernelDensity:
    """The density with the bandwidth under which each row is most likely, given the others.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Columns in standard units. All rows are used: see :func:`working_rows` for long tables.

    Returns
    -------
    KernelDensity

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc.densities import fit_kernel_density
    >>> density = fit_kernel_density(np.random.default_rng(1).standard_normal((200, 1)))
    >>> round(density.bandwidth, 2)
    0.36
    """
    n_samples, n_features = X.shape
    if n_samples == 1:
        return KernelDensity(X, BANDWIDTHS[-1], np.zeros(1))
    squares = cdist(X, X, "sqeuclidean")
    np.fill_diagonal(squares, np.inf)
    fits = [_log_means(squares, h, n_features, n_samples - 1) for h in BANDWIDTHS]
    best = int(np.argmax([fit.sum() for fit in fits]))
    return KernelDensity(X, BANDWIDTHS[best], fits[best])


def working_rows(X: FloatArray, n_rows: int = MAX_ROWS) -> IntArray:
    """At most so many rows, in an order that depends on their values only: the order of the table changes nothing."""
    norms = np.round(np.square(X).sum(axis=1), 10)  # the order of the columns should not matter either
    order = np.lexsort((*X.T, norms))
    if len(X) <= n_rows:
        return order
    return order[np.sort(np.random.default_rng(_SEED).choice(len(X), n_rows, replace=False))]


def joint_columns(X: FloatArray) -> IntArray:
    """Columns that have something to do with each other: those that are better described alone are left out.

    Among all sets of columns it is the one with the largest sum of leave-one-out log-densities, its columns described
    together and each other column alone. (Dropping one column after the other can go astray: among five columns a ring
    in two of them is too thin to be seen.)

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Columns in standard units. There is nothing to leave out of two, and more than six are too many to compare: then
        all are returned.

    Returns
    -------
    columns : ndarray of int
        Those that are kept, ascending; at least one.

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc.densities import joint_columns
    >>> rng = np.random.default_rng(0)
    >>> angle = rng.uniform(0, 2 * np.pi, 200)
    >>> joint_columns(np.column_stack([np.cos(angle), rng.standard_normal(200), np.sin(angle)]))
    array([0, 2])
    """
    n_features = X.shape[1]
    if not 3 <= n_features <= _MOST_COMPARED:
        return np.arange(n_features)
    rows = X[working_rows(X, _COMPARED_ROWS)]
    alone = [_quality(rows[:, [d]]) for d in range(n_features)]
    sets = [chosen for size in range(n_features, 0, -1) for chosen in combinations(range(n_features), size)]
    return np.array(max(sets, key=lambda chosen: _quality(rows[:, chosen]) - sum(alone[d] for d in chosen)))


def _quality(X: FloatArray) -> float:
    return float(fit_kernel_density(X).leave_one_out.sum())


def _log_means(squares: FloatArray, bandwidth: float, n_features: int, n_rows: int) -> FloatArray:
    """Logarithm of Σ_k exp(−d_jk² / 2h²) / n over the volume of a bump; the nearest row is split off: no underflow."""
    nearest = squares.min(axis=1)
    sums = np.exp((nearest[:, None] - squares) / (2.0 * bandwidth**2)).sum(axis=1)
    volume = n_features * (math.log(bandwidth) + 0.5 * math.log(2.0 * math.pi))
    return np.log(sums) - nearest / (2.0 * bandwidth**2) - math.log(n_rows) - volume
