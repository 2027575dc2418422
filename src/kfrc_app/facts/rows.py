"""Rows worth looking at: those in the middle of their group, and those between two groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kfrc.typing import FloatArray, IntArray
from kfrc_app.facts.groups import ShownRow

N_TYPICAL = 3
"""Rows that stand for a group."""

_FAR = 3.0
"""Standard deviations from which on a value is simply far: one wild value does not decide."""

_MISMATCH = 1.5
"""Standard deviations that another level than the most frequent one counts for."""


@dataclass(frozen=True)
class BorderlineRow(ShownRow):
    """A row between two groups.

    Attributes
    ----------
    first, second : int
        The groups it belongs to most.
    degrees : tuple of float
        Of belonging to every group.
    """

    first: int
    second: int
    degrees: tuple[float, ...]


def distances_to_typical(
    values: FloatArray, typical: FloatArray, units: FloatArray, nominal: Sequence[bool], shares: FloatArray
) -> FloatArray:
    """How far every row is from what is typical of every group, in the columns that matter.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_columns)
        Numbers, or positions of levels; NaN where nothing is known.
    typical : ndarray of shape (n_clusters, n_columns)
        Medians, or the most frequent levels.
    units : ndarray of shape (n_columns,)
        Robust standard deviations.
    nominal : sequence of bool
        Which columns hold levels without an order.
    shares : ndarray of shape (n_columns,)
        How much each column counts.

    Returns
    -------
    ndarray of shape (n_samples, n_clusters)

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc_app.facts.rows import distances_to_typical
    >>> X = np.array([[0.0], [1.0], [9.0]])
    >>> distances_to_typical(X, np.array([[0.0], [9.0]]), np.ones(1), [False], np.ones(1)).argmin(axis=0)
    array([0, 2])
    """
    levels = np.asarray(nominal, dtype=bool)
    scale = np.where(units > 0, units, 1.0)
    weight = shares / max(float(shares.sum()), 1e-300)
    distances = np.empty((len(values), len(typical)))
    for i, center in enumerate(typical):
        with np.errstate(over="ignore"):
            steps = np.minimum(np.abs(values - center) / scale, _FAR)
        steps[:, levels] = _MISMATCH * (values[:, levels] != center[levels])
        # What is not known counts as a difference of one standard deviation: incomplete rows are less typical.
        steps = np.where(np.isnan(values) | np.isnan(center), 1.0, steps)
        distances[:, i] = steps**2 @ weight
    return distances


def relational_distances(matrix: FloatArray, memberships: FloatArray, *, similarities: bool) -> FloatArray:
    """How far every row is from the middle of every group, by dissimilarities or by kernel values.

    Parameters
    ----------
    matrix : ndarray of shape (n_samples, n_samples)
    memberships : ndarray of shape (n_samples, n_clusters)
    similarities : bool
        Whether the matrix holds kernel values.

    Returns
    -------
    ndarray of shape (n_samples, n_clusters)
        Up to a constant of every group.
    """
    mass = memberships.sum(axis=0)
    means = matrix @ memberships / np.where(mass > 0, mass, 1.0)
    return np.diagonal(matrix)[:, None] - 2.0 * means if similarities else means


def central_rows(distances: FloatArray, labels: IntArray, counted: FloatArray | None = None) -> list[IntArray]:
    """The few rows of every group that are closest to its middle.

    Parameters
    ----------
    distances : ndarray of shape (n_samples, n_clusters)
    labels : ndarray of shape (n_samples,)
    counted : ndarray of shape (n_samples,), optional
        Weights; rows of weight zero stand for nothing.

    Returns
    -------
    list of ndarray
        Positions, the most typical first.
    """
    found = []
    for i in range(distances.shape[1]):
        members = np.flatnonzero((labels == i) if counted is None else (labels == i) & (counted > 0))
        found.append(members[np.argsort(distances[members, i], kind="stable")[:N_TYPICAL]])
    return found


def two_largest(memberships: Sequence[float]) -> tuple[int, int]:
    """The groups that a row belongs to most.

    Examples
    --------
    >>> from kfrc_app.facts.rows import two_largest
    >>> two_largest([0.1, 0.5, 0.4])
    (1, 2)
    """
    order = np.argsort(-np.asarray(memberships), kind="stable")
    return int(order[0]), int(order[1])
