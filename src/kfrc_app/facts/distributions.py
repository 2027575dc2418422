"""How the values of a column that have an order are spread in every group: shares of bins, medians, quartiles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kfrc.typing import FloatArray
from kfrc_app.facts.profiles import weighted_quantiles
from kfrc_app.facts.table import TableColumn

N_BINS = 28
"""Bins of a column: as many as can be told apart in a small picture."""

_TAIL = 0.01
"""Share of the rows at either end that the outermost bins take in, so that one wild value does not squeeze the rest."""

_WIDEST = 3.0
"""The whole range is shown as long as it is at most this many times the range without the tails."""


@dataclass(frozen=True, eq=False)
class Distribution:
    """Values of one column that has an order, in every group.

    Attributes
    ----------
    column : TableColumn
    low, high : float
        Ends of the bins.
    cut : tuple of bool
        Whether values lie below the low end, and above the high one; the outermost bins hold them.
    shares : ndarray of shape (n_clusters, n_bins)
        Of each group's rows; zero in an empty group.
    overall : ndarray of shape (n_bins,)
    median : float
        Of all rows.
    medians : ndarray of shape (n_clusters,)
    quartiles : ndarray of shape (n_clusters, 2)
    """

    column: TableColumn
    low: float
    high: float
    cut: tuple[bool, bool]
    shares: FloatArray
    overall: FloatArray
    median: float
    medians: FloatArray
    quartiles: FloatArray


def distribution(
    column: TableColumn, values: FloatArray, belonging: FloatArray, weights: FloatArray | None = None
) -> Distribution | None:
    """Spread of one column in every group; None if nothing of it is known.

    Parameters
    ----------
    column : TableColumn
    values : ndarray of shape (n_samples,)
        NaN where nothing is known.
    belonging : ndarray of shape (n_samples, n_clusters)
        How much every row counts in every group.
    weights : ndarray of shape (n_samples,), optional

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc_app.facts.distributions import distribution
    >>> from kfrc_app.facts.table import TableColumn
    >>> from kfrc_app.tables import Kind
    >>> x = np.array([0.0, 1.0, 9.0, 10.0])
    >>> found = distribution(TableColumn("x", Kind.NUMERIC, (), 0, 0.0), x, np.repeat(np.eye(2), 2, axis=0))
    >>> found.medians, found.shares.sum(axis=1)
    (array([0.5, 9.5]), array([1., 1.]))
    """
    s = np.ones(len(values)) if weights is None else weights
    known = ~np.isnan(values) & (s > 0)
    if not known.any():
        return None
    x, s, U = values[known], s[known], belonging[known]
    low, high = _ends(x)
    position = np.clip(((x - low) / (high - low) * N_BINS).astype(np.intp), 0, N_BINS - 1)
    mass = np.column_stack([s, U * s[:, None]])
    counts = np.array([np.bincount(position, group, N_BINS) for group in mass.T])
    totals = counts.sum(axis=1, keepdims=True)
    shares = counts / np.where(totals > 0, totals, 1.0)
    low_quartiles, medians, high_quartiles = weighted_quantiles(x, mass, (0.25, 0.5, 0.75)).T
    return Distribution(
        column,
        low,
        high,
        (bool(x.min() < low), bool(x.max() > high)),
        shares[1:],
        shares[0],
        float(medians[0]),
        medians[1:],
        np.column_stack([low_quartiles, high_quartiles])[1:],
    )


def _ends(x: FloatArray) -> tuple[float, float]:
    """The range of the values, or that without the tails if a few wild values make it much wider."""
    low, high = float(x.min()), float(x.max())
    inner_low, inner_high = (float(end) for end in np.quantile(x, [_TAIL, 1.0 - _TAIL]))
    if inner_high > inner_low and high - low > _WIDEST * (inner_high - inner_low):
        low, high = inner_low, inner_high
    return (low, high) if high > low else (low - 0.5, high + 0.5)
