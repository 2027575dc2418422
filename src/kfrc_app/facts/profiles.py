"""What the clusters look like: membership-weighted medians of columns, and in what each cluster stands out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kfrc.typing import FloatArray
from kfrc_app.facts.text import isolate
from kfrc_app.facts.verdicts import side

_MAD_TO_SD = 1.4826
"""Median absolute deviation to standard deviation, for the normal distribution."""

_IQR_TO_SD = 1 / 1.349


@dataclass(frozen=True)
class Profiles:
    """Typical values of clusters.

    Attributes
    ----------
    names : tuple of str
        Of the columns.
    overall : ndarray of shape (n_features,)
        Median of every column.
    unit : ndarray of shape (n_features,)
        Robust standard deviation; zero if a column is constant.
    medians : ndarray of shape (n_clusters, n_features)
        Membership-weighted medians.
    differences : ndarray of shape (n_clusters, n_features)
        (median − overall) / unit.
    """

    names: tuple[str, ...]
    overall: FloatArray
    unit: FloatArray
    medians: FloatArray
    differences: FloatArray

    def description(self, cluster: int, limit: int = 3) -> str:
        """In what a cluster stands out: "high alcohol, low hue"."""
        differences = np.nan_to_num(self.differences[cluster])
        order = np.argsort(-np.abs(differences), kind="stable")[:limit].tolist()
        words = [f"{side(differences[j])} {isolate(self.names[j])}" for j in order if side(differences[j])]
        return ", ".join(words) if words else "close to the overall medians"


def cluster_profiles(X: FloatArray, memberships: FloatArray, names: Sequence[str]) -> Profiles:
    """Weighted medians of the columns per cluster, and how far they are from the overall medians.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    memberships : ndarray of shape (n_samples, n_clusters)
    names : sequence of str
        Of the columns.
    """
    overall = np.median(X, axis=0)
    unit = robust_scale(X)
    medians = weighted_medians(X, memberships)
    differences = np.where(unit > 0, (medians - overall) / np.where(unit > 0, unit, 1.0), 0.0)
    return Profiles(tuple(names), overall, unit, medians, differences)


def weighted_medians(X: FloatArray, weights: FloatArray) -> FloatArray:
    """Smallest value whose weight from below reaches half of the total, per column of X and of weights.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    weights : ndarray of shape (n_samples, n_groups)
        Non-negative. A group without weight has no median: NaN.

    Returns
    -------
    ndarray of shape (n_groups, n_features)

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc_app.facts.profiles import weighted_medians
    >>> weighted_medians(np.array([[1.0], [2.0], [9.0]]), np.array([[1.0, 0.1], [1.0, 0.1], [1.0, 0.8]])).ravel()
    array([2., 9.])
    """
    totals = weights.sum(axis=0)
    medians = np.empty((weights.shape[1], X.shape[1]))
    for j in range(X.shape[1]):
        order = np.argsort(X[:, j], kind="stable")
        below = np.cumsum(weights[order], axis=0)
        # Rounding of the running sum must not push an exact half past its row.
        reached = below >= 0.5 * totals * (1.0 - 1e-12)
        medians[:, j] = X[order[reached.argmax(axis=0)], j]
    medians[totals <= 0] = np.nan
    return medians


def robust_scale(X: FloatArray) -> FloatArray:
    """1.4826 times the median absolute deviation; where that is zero the interquartile range, then the deviation."""
    scale = _MAD_TO_SD * np.median(np.abs(X - np.median(X, axis=0)), axis=0)
    flat = np.flatnonzero(scale <= 0)
    if len(flat):
        low, high = np.quantile(X[:, flat], [0.25, 0.75], axis=0)
        scale[flat] = np.where(high > low, _IQR_TO_SD * (high - low), X[:, flat].std(axis=0))
    return scale
