"""Squared Euclidean distances over what is known of a row (partial distances), and the centers that belong to them.

J = Σ_j s_j Σ_i t(u_ji) Σ_{d known in j} (x_jd − v_id)² is a sum over columns: the best v_id is a mean over the rows in
which column d is known, and the best memberships follow from the distances, so that the alternating steps stay exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kfrc._numerics import RESOLUTION, row_blocks
from kfrc._validation import check_squares
from kfrc.clusterers._relations import blank_rows, with_some_value
from kfrc.clusterers._rows import MergedRows
from kfrc.columns import Numeric, Table
from kfrc.columns.variation import find_varying_columns
from kfrc.dissimilarity import Dissimilarity
from kfrc.gram import gram_family
from kfrc.kernels.linear import Linear
from kfrc.relational import RelationalSolution
from kfrc.typing import FloatArray

PARTIAL = "partial"


def check_missing(missing: Any) -> None:
    """The parameter ``missing`` of an estimator: blanks are compared by what is known, or refused."""
    if missing not in (PARTIAL, "error"):
        raise ValueError(f'missing must be "partial" or "error", got {missing!r}')


@dataclass(frozen=True, eq=False)
class PartialRows:
    """Rows with blanks, relative to the means of the columns.

    Attributes
    ----------
    offsets : ndarray of shape (n_samples, n_columns)
        x − mean of what is known; NaN where nothing is.
    weights : ndarray of shape (n_samples,) or None
    origin : ndarray of shape (n_columns,)
        The means; NaN for a column in which nothing is known.
    """

    offsets: FloatArray
    weights: FloatArray | None
    origin: FloatArray

    @classmethod
    def of(cls, rows: MergedRows, names: Any = None) -> PartialRows:
        """From rows with NaN; columns that do not vary, or are all blank, are named in a warning."""
        filled = with_some_value(rows.values)
        find_varying_columns(filled, names)
        check_squares(filled)
        known = ~np.isnan(rows.values)
        mass = known if rows.weights is None else known * rows.weights[:, None]
        totals = mass.sum(axis=0)
        # From a value among them, so that no digits are lost far from zero.
        first = filled[0]
        means = np.einsum("jd,jd->d", mass, filled - first) / np.where(totals > 0, totals, 1.0)
        origin = np.where(totals > 0, first + means, np.nan)
        return cls(rows.values - origin, rows.weights, origin)

    def dissimilarity(self) -> Dissimilarity:
        """Partial distances as a relation."""
        used = np.flatnonzero(~np.isnan(self.origin))
        table = Table(
            np.ascontiguousarray(self.offsets[:, used]), tuple(Numeric(str(d)) for d in used.tolist()), self.weights
        )
        return Dissimilarity(gram_family(table, Linear()).at(np.ones(len(used))))

    def locations(self, solution: RelationalSolution) -> FloatArray:
        """Centers relative to the origin, of shape (n_clusters, n_columns).

        NaN in a column that is all blank, and zero, the mean of all rows, where a column is blank in all rows of a
        cluster.
        """
        known = ~np.isnan(self.offsets)
        masses = solution.prototypes.T @ known
        sums = solution.prototypes.T @ np.where(known, self.offsets, 0.0)
        locations = np.where(masses > 0, sums / np.where(masses > 0, masses, 1.0), 0.0)
        locations[:, np.isnan(self.origin)] = np.nan
        return locations


def partial_distances(X: FloatArray, origin: FloatArray, locations: FloatArray) -> FloatArray:
    """Σ_{d known} (x_d − v_id)², of shape (n_rows, n_clusters).

    Zero to all centers for a row of which nothing is known.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_columns)
        With NaN.
    origin : ndarray of shape (n_columns,)
        NaN for a column that does not count.
    locations : ndarray of shape (n_clusters, n_columns)
        Centers relative to the origin.

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc.clusterers._partial import partial_distances
    >>> X = np.array([[1.0, 2.0], [np.nan, 2.0], [np.nan, np.nan]])
    >>> partial_distances(X, np.zeros(2), np.array([[0.0, 0.0], [1.0, 4.0]]))
    array([[5., 4.],
           [4., 4.],
           [0., 0.]])
    """
    distances = np.empty((len(X), len(locations)))
    for rows in row_blocks(len(X), 2 * X.shape[1]):
        Z = X[rows] - origin
        sizes = np.nansum(np.square(Z), axis=1)
        for i in range(len(locations)):
            offsets = Z - locations[i]
            offsets[np.isnan(offsets)] = 0.0
            squares = np.einsum("jd,jd->j", offsets, offsets)
            terms = sizes + np.nansum(np.square(locations[i]))
            distances[rows, i] = np.where(squares <= RESOLUTION**2 * terms, 0.0, squares)
    distances[blank_rows(X - origin)] = 0.0
    return distances
