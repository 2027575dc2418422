"""How well one column alone tells a group from all other rows."""

from __future__ import annotations

import numpy as np

from kfrc.typing import FloatArray


def rank_separation(values: FloatArray, memberships: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """How often a row of a group is above a row outside of it, minus how often it is below (Somers' D).

    Parameters
    ----------
    values : ndarray of shape (n_samples,)
        With an order; NaN where nothing is known.
    memberships : ndarray of shape (n_samples, n_clusters)
    weights : ndarray of shape (n_samples,), optional

    Returns
    -------
    ndarray of shape (n_clusters,)
        From −1 (every row of the group is below all others) to 1; 0 for a group that is empty or everything.

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc_app.facts.separation import rank_separation
    >>> rank_separation(np.array([1.0, 2.0, 3.0, 4.0]), np.eye(2)[[0, 0, 1, 1]])
    array([-1.,  1.])
    """
    s = np.ones(len(values)) if weights is None else weights
    known = ~np.isnan(values) & (s > 0)
    if not known.any():
        return np.zeros(memberships.shape[1])
    s, inside = s[known], memberships[known] * s[known, None]
    _, place = np.unique(values[known], return_inverse=True)
    mass = np.bincount(place, s)
    ranks = ((np.cumsum(mass) - 0.5 * mass) / mass.sum())[place]
    return 2.0 * _difference(ranks[:, None], inside, s)[:, 0]


def level_separation(
    codes: FloatArray, n_levels: int, memberships: FloatArray, weights: FloatArray | None = None
) -> FloatArray:
    """Share of every level in a group minus its share outside, of shape (n_clusters, n_levels).

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc_app.facts.separation import level_separation
    >>> level_separation(np.array([0.0, 0.0, 1.0, 1.0]), 2, np.eye(2)[[0, 0, 1, 1]])
    array([[ 1., -1.], [-1.,  1.]])
    """
    s = np.ones(len(codes)) if weights is None else weights
    known = ~np.isnan(codes) & (s > 0)
    levels, s, U = codes[known].astype(np.intp), s[known], memberships[known]
    inside = np.array([np.bincount(levels, u * s, n_levels) for u in U.T])
    outside = np.bincount(levels, s, n_levels) - inside
    return _shares(inside) - _shares(outside)


def _difference(values: FloatArray, inside: FloatArray, s: FloatArray) -> FloatArray:
    """Mean inside minus mean outside, of shape (n_clusters, n_values); 0 where one of the two is empty."""
    outside = s[:, None] - inside
    mass_in, mass_out = inside.sum(axis=0)[:, None], outside.sum(axis=0)[:, None]
    both = (mass_in > 0) & (mass_out > 0)
    return np.where(
        both,
        inside.T @ values / np.where(mass_in > 0, mass_in, 1.0)
        - outside.T @ values / np.where(mass_out > 0, mass_out, 1.0),
        0.0,
    )


def _shares(counts: FloatArray) -> FloatArray:
    totals = counts.sum(axis=1, keepdims=True)
    return np.where(totals > 0, counts / np.where(totals > 0, totals, 1.0), 0.0)
