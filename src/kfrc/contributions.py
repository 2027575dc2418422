"""What each column contributes to a partition: its share of the scatter between the clusters in feature space.

For a kernel that is a sum over columns, feature space is the product of one space per column, so squared distances and
everything made of them are sums over columns. With weights t(u_ji), masses S_i = Σ_j t(u_ji), centers v_i and their
common center v = Σ_i S_i v_i / Σ_i S_i, the scatter of column d about v is

    T_d = J_d + B_d,    B_d = Σ_i B_id,    B_id = S_i ‖v_i − v‖²_d ≥ 0,

where J_d is the part of the objective that column d causes. B_id / Σ B is the share of column d and cluster i in what
the partition explains: exact, whatever the bandwidths are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kfrc._numerics import COLLAPSE_TOL, RESOLUTION
from kfrc.columns import Rows, Table
from kfrc.fuzzifiers import Fuzzifier
from kfrc.gram import ColumnGram, ColumnGrams, Gram, gram_family
from kfrc.kernels import Kernel
from kfrc.typing import BoolArray, FloatArray

_STAND_IN = "sum"
"""Stands in for kernels that are not sums over columns, with the same bandwidths."""


@dataclass(frozen=True)
class Scatter:
    """Scatter of the columns in feature space.

    Attributes
    ----------
    between : ndarray of shape (n_clusters, n_features)
        B_id, of the centers about their common center.
    total : ndarray of shape (n_features,)
        T_d, of the samples about the common center, each weighing Σ_i t(u_ji).
    """

    between: FloatArray
    total: FloatArray

    @property
    def within(self) -> FloatArray:
        """J_d = T_d − B_d, of the samples about the centers, of shape (n_features,)."""
        return self.total - self.between.sum(axis=0)


def scatter(X: Rows, kernel: Kernel, bandwidths: FloatArray, weights: FloatArray, gram: Gram | None = None) -> Scatter:
    """Scatter of every column, one column at a time: the cost is linear in their number.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    kernel : Kernel
        A sum over columns, or the sum kernel stands in for it.
    bandwidths : ndarray of shape (n_features,)
        An infinite one makes a column count for nothing.
    weights : ndarray of shape (n_samples, n_clusters)
        t(u_ji); those of a table count as often as its rows do.
    gram : Gram, optional
        Of these rows at these bandwidths, if there is one already.

    Returns
    -------
    Scatter

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc.contributions import scatter
    >>> from kfrc.kernels import Kernel
    >>> X = np.array([[0.0, 1.0], [0.0, 2.0], [4.0, 1.0], [4.0, 2.0]])
    >>> hard = np.repeat(np.eye(2), 2, axis=0)
    >>> found = scatter(X, Kernel.from_name("linear"), np.ones(2), hard)
    >>> found.between, found.total
    (array([[8., 0.], [8., 0.]]), array([16.,  1.]))
    """
    if not kernel.sums_over_columns:
        kernel = Kernel.from_name(_STAND_IN)
    if isinstance(X, Table):
        known = gram if isinstance(gram, ColumnGram) else ColumnGrams(X, kernel).at(bandwidths)
        return _scatter_of_table(X, known, weights)
    masses = weights.sum(axis=0)
    of_rows = weights.sum(axis=1)
    common = of_rows / of_rows.sum()
    # An empty cluster has no center; its row stays zero because it has no mass.
    centers = weights / np.where(masses > 0, masses, 1.0)
    from_common = np.where(masses > 0, centers - common[:, None], 0.0)
    coordinates = np.column_stack([from_common, common])
    between, total = np.zeros((len(masses), X.shape[1])), np.zeros(X.shape[1])
    for d in np.flatnonzero(np.isfinite(bandwidths) & (np.ptp(X, axis=0) > 0)).tolist():
        gram = gram_family(np.ascontiguousarray(X[:, [d]]), kernel).at(bandwidths[[d]])
        squares = np.einsum("ji,ji->i", coordinates, gram.matmul(coordinates))
        total[d] = of_rows @ gram.diagonal() - of_rows.sum() * squares[-1]
        explained = masses * squares[:-1]
        between[:, d] = np.where(explained > RESOLUTION * total[d], explained, 0.0)
    return Scatter(between, total)


def _scatter_of_table(table: Table, gram: ColumnGram, weights: FloatArray) -> Scatter:
    """Column by column over the rows in which the column is known."""
    between, total = np.zeros((weights.shape[1], table.shape[1])), np.zeros(table.shape[1])
    counts = weights * table.mass[:, None]
    centers, masses = gram.column_means(np.column_stack([counts, counts.sum(axis=1)]))
    explained = masses[:, :-1] * gram.sums_over_columns(np.square(centers[:, :-1] - centers[:, -1:]))
    squares = np.zeros(len(gram.used))
    for rows, features in gram.blocks():
        squares += gram.sums_over_columns(np.square(features.T) @ counts[rows].sum(axis=1)[:, None])[:, 0]
    total[gram.used] = squares - masses[:, -1] * gram.sums_over_columns(np.square(centers[:, -1:]))[:, 0]
    between[:, gram.used] = np.where(explained > RESOLUTION * total[gram.used, None], explained, 0.0).T
    return Scatter(between, total)


def cluster_contributions(
    X: Rows,
    kernel: Kernel,
    bandwidths: FloatArray,
    memberships: FloatArray,
    fuzzifier: Fuzzifier,
    gram: Gram | None = None,
) -> FloatArray:
    """Share of every cluster and column in what a partition explains.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    kernel : Kernel
        The sum kernel with the same bandwidths stands in for kernels that are not sums over columns.
    bandwidths : ndarray of shape (n_features,)
        Infinite for columns that are left out.
    memberships : ndarray of shape (n_samples, n_clusters)
    fuzzifier : Fuzzifier
        Its t gives the weights, as in the objective.
    gram : Gram, optional
        Of these rows at these bandwidths, if there is one already.

    Returns
    -------
    ndarray of shape (n_clusters, n_features)
        Not negative; all together sum to one. Zero for columns that are constant or left out. A partition that explains
        nothing (one cluster, or all memberships equal) gives the same share to every column that is used.

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc.contributions import cluster_contributions
    >>> from kfrc.fuzzifiers import Power
    >>> from kfrc.kernels import Kernel
    >>> X = np.array([[0.0, 1.0], [0.0, 2.0], [4.0, 1.0], [4.0, 2.0]])
    >>> hard = np.repeat(np.eye(2), 2, axis=0)
    >>> cluster_contributions(X, Kernel.from_name("sum"), np.ones(2), hard, Power(2.0))
    array([[0.5, 0. ], [0.5, 0. ]])
    """
    n_clusters = memberships.shape[1]
    used = np.isfinite(bandwidths) & (True if isinstance(X, Table) else np.ptp(X, axis=0) > 0)
    if float(np.abs(memberships - 1.0 / n_clusters).max()) <= COLLAPSE_TOL:
        return _equal_shares(n_clusters, used)
    between = scatter(X, kernel, bandwidths, fuzzifier.value(memberships), gram).between
    explained = float(between.sum())
    return between / explained if explained > 0 else _equal_shares(n_clusters, used)


def _equal_shares(n_clusters: int, used: BoolArray) -> FloatArray:
    return np.tile(used / max(used.sum(), 1) / n_clusters, (n_clusters, 1))
