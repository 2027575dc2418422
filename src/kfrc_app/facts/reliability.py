"""Largest memberships beside the judge's probabilities and the labels of the same rows, bin by bin."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kfrc import KFRC
from kfrc.clusterers import FuzzyClusterer
from kfrc.typing import FloatArray
from kfrc_app.facts.agreement import Labels, has_majority_label, is_known

N_BINS = 10


@dataclass(frozen=True)
class ReliabilityBin:
    """Rows with similar largest memberships.

    Attributes
    ----------
    low, high : float
        Ends of the bin.
    n_rows : int
    membership : float
        Mean largest membership.
    probability : float or None
        Mean probability that the judge gives the same cluster; None if the memberships are these probabilities.
    label_share : float or None
        Share of the rows with a known label that have the most frequent one of their cluster; None if none is known.
    """

    low: float
    high: float
    n_rows: int
    membership: float
    probability: float | None
    label_share: float | None


@dataclass(frozen=True)
class Reliability:
    """Memberships, the judge's probabilities and the labels.

    Attributes
    ----------
    is_posterior : bool
        Whether the memberships are the probabilities.
    low : float
        1/c, the least that a largest membership can be.
    mean_membership : float
    mean_probability : float or None
    label_share : float or None
        Of all rows with a known label.
    bins : tuple of ReliabilityBin
        Those that hold rows, from small memberships to large ones; empty if there is nothing to compare with.
    """

    is_posterior: bool
    low: float
    mean_membership: float
    mean_probability: float | None
    label_share: float | None
    bins: tuple[ReliabilityBin, ...]


def reliability_facts(model: FuzzyClusterer, labels: Labels | None = None) -> Reliability | None:
    """Largest memberships in bins from 1/c to 1, with what the judge and, if known, the labels say of these rows.

    Parameters
    ----------
    model : FuzzyClusterer
        Fitted.
    labels : sequence, optional
        Known classes. A row counts as right if it has the most frequent class of its cluster.

    Returns
    -------
    Reliability or None
        None if the model has no probabilities.
    """
    if not isinstance(model, KFRC) or model.posterior_memberships_ is None or model.memberships_.shape[1] < 2:
        return None
    U, is_posterior = model.memberships_, model.memberships_kind_ == "posterior"
    clusters = U.argmax(axis=1)
    rows = np.arange(len(U))
    largest = U[rows, clusters]
    believed = None if is_posterior else model.posterior_memberships_[rows, clusters]
    right = None if labels is None or not is_known(labels).any() else has_majority_label(clusters, labels)
    nothing_to_compare = believed is None and right is None
    return Reliability(
        is_posterior=is_posterior,
        low=1.0 / U.shape[1],
        mean_membership=float(largest.mean()),
        mean_probability=None if believed is None else float(believed.mean()),
        label_share=None if right is None else _known_mean(right),
        bins=() if nothing_to_compare else _bins(largest, believed, right, U.shape[1]),
    )


def _bins(
    largest: FloatArray, believed: FloatArray | None, right: FloatArray | None, n_clusters: int
) -> tuple[ReliabilityBin, ...]:
    edges = np.linspace(1.0 / n_clusters, 1.0, N_BINS + 1)
    index = np.clip(np.searchsorted(edges, largest, side="right") - 1, 0, N_BINS - 1)
    return tuple(
        ReliabilityBin(
            low=float(edges[k]),
            high=float(edges[k + 1]),
            n_rows=int((index == k).sum()),
            membership=float(largest[index == k].mean()),
            probability=None if believed is None else float(believed[index == k].mean()),
            label_share=None if right is None else _known_mean(right[index == k]),
        )
        for k in np.unique(index).tolist()
    )


def _known_mean(right: FloatArray) -> float | None:
    known = right[~np.isnan(right)]
    return float(known.mean()) if len(known) else None
