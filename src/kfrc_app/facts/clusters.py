"""The clusters and how sure their rows are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kfrc.clusterers import FuzzyClusterer
from kfrc.typing import FloatArray
from kfrc_app.facts.verdicts import CLEAR, UNSURE

N_AMBIGUOUS = 20
"""Rows that are listed as least sure."""


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
        Sum of all memberships in it.
    mean_membership : float or None
        Of its rows; None if it has none.
    """

    label: int
    n_rows: int
    mass: float
    mean_membership: float | None

    @property
    def name(self) -> str:
        """What it is called."""
        return f"cluster {self.label}"


@dataclass(frozen=True)
class Sureness:
    """How many rows are how sure, by their largest membership.

    Attributes
    ----------
    n_clear, n_likely, n_unsure : int
    """

    n_clear: int
    n_likely: int
    n_unsure: int


@dataclass(frozen=True)
class AmbiguousRow:
    """A row that is not clear.

    Attributes
    ----------
    position : int
        In the table, from zero.
    memberships : tuple of float
    """

    position: int
    memberships: tuple[float, ...]

    @property
    def surest(self) -> float:
        """The largest membership."""
        return max(self.memberships)


def cluster_facts(model: FuzzyClusterer) -> tuple[Cluster, ...]:
    """The clusters of a fitted model."""
    U = model.memberships_
    surest = U.max(axis=1)
    found = []
    for i in range(U.shape[1]):
        rows = model.labels_ == i
        mean = float(surest[rows].mean()) if rows.any() else None
        found.append(Cluster(i, int(rows.sum()), float(U[:, i].sum()), mean))
    return tuple(found)


def sureness(U: FloatArray) -> Sureness:
    """How many rows are clear, likely and unsure.

    Parameters
    ----------
    U : ndarray of shape (n_samples, n_clusters)

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc_app.facts.clusters import sureness
    >>> sureness(np.array([[0.9, 0.1], [0.89, 0.11], [0.6, 0.4], [0.5, 0.5]]))
    Sureness(n_clear=1, n_likely=2, n_unsure=1)
    """
    surest = U.max(axis=1)
    n_clear, n_unsure = int((surest >= CLEAR).sum()), int((surest < UNSURE).sum())
    return Sureness(n_clear, len(surest) - n_clear - n_unsure, n_unsure)


def ambiguous_rows(model: FuzzyClusterer) -> tuple[AmbiguousRow, ...]:
    """The rows whose largest membership is smallest, as far as they are not clear; none of a trivial fit."""
    U = model.memberships_
    if U.shape[1] == 1 or model.status_ == "collapsed":
        return ()
    surest = U.max(axis=1)
    rows = np.argsort(surest, kind="stable")[:N_AMBIGUOUS].tolist()
    return tuple(AmbiguousRow(j, tuple(U[j].tolist())) for j in rows if surest[j] < CLEAR)
