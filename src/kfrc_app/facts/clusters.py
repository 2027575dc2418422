"""The clusters, and how large the largest memberships of their rows are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kfrc.clusterers import FuzzyClusterer
from kfrc.typing import FloatArray
from kfrc_app.facts.verdicts import HIGH, LOW

N_AMBIGUOUS = 20
"""Rows that are listed as lying between clusters."""


@dataclass(frozen=True)
class Cluster:
    """One cluster.

    Attributes
    ----------
    label : int
        Its number, from zero.
    n_rows : int
        Rows whose largest membership is in it.
    mass : float
        Sum of all memberships in it, weights counted.
    mean_membership : float or None
        Of its rows; None if it has none.
    weight : float or None
        How many rows its rows stand for; None without weights.
    """

    label: int
    n_rows: int
    mass: float
    mean_membership: float | None
    weight: float | None = None

    @property
    def name(self) -> str:
        """What it is called."""
        return f"cluster {self.label}"


@dataclass(frozen=True)
class LargestMemberships:
    """How many rows have a high, a middle and a low largest membership.

    Attributes
    ----------
    n_high, n_middle, n_low : int
    """

    n_high: int
    n_middle: int
    n_low: int


@dataclass(frozen=True)
class AmbiguousRow:
    """A row without a high membership.

    Attributes
    ----------
    position : int
        In the table, from zero.
    memberships : tuple of float
    """

    position: int
    memberships: tuple[float, ...]

    @property
    def largest(self) -> float:
        """The largest membership."""
        return max(self.memberships)


def cluster_facts(model: FuzzyClusterer, weights: FloatArray | None = None) -> tuple[Cluster, ...]:
    """The clusters of a fitted model.

    Parameters
    ----------
    model : FuzzyClusterer
    weights : ndarray of shape (n_samples,), optional
        How many rows each row stands for.
    """
    U = model.memberships_
    largest = U.max(axis=1)
    found = []
    for i in range(U.shape[1]):
        rows = model.labels_ == i
        if weights is None:
            mean = float(largest[rows].mean()) if rows.any() else None
            found.append(Cluster(i, int(rows.sum()), float(U[:, i].sum()), mean))
        else:
            weight = float(weights[rows].sum())
            mean = float(weights[rows] @ largest[rows]) / weight if weight > 0 else None
            found.append(Cluster(i, int(rows.sum()), float(weights @ U[:, i]), mean, weight))
    return tuple(found)


def largest_memberships(U: FloatArray) -> LargestMemberships:
    """How many rows have a high, a middle and a low largest membership.

    Parameters
    ----------
    U : ndarray of shape (n_samples, n_clusters)

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc_app.facts.clusters import largest_memberships
    >>> largest_memberships(np.array([[0.9, 0.1], [0.89, 0.11], [0.6, 0.4], [0.5, 0.5]]))
    LargestMemberships(n_high=1, n_middle=2, n_low=1)
    """
    largest = U.max(axis=1)
    n_high, n_low = int((largest >= HIGH).sum()), int((largest < LOW).sum())
    return LargestMemberships(n_high, len(largest) - n_high - n_low, n_low)


def ambiguous_rows(model: FuzzyClusterer) -> tuple[AmbiguousRow, ...]:
    """The rows whose largest membership is smallest, as far as it is not high; none of a trivial fit."""
    U = model.memberships_
    if U.shape[1] == 1 or model.status_ == "collapsed":
        return ()
    largest = U.max(axis=1)
    rows = np.argsort(largest, kind="stable")[:N_AMBIGUOUS].tolist()
    return tuple(AmbiguousRow(j, tuple(U[j].tolist())) for j in rows if largest[j] < HIGH)
