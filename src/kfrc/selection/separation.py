"""Whether clusters are separated: the density between two of them, seen from the side."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy.sparse.csgraph import connected_components

from kfrc.typing import FloatArray

_RIDGE = 1e-3
"""Added to variances when a direction is found."""

_N_POINTS = 64
"""Places between two peaks where the density is compared."""


def deepest_bridge(X: FloatArray, posterior: FloatArray) -> float:
    """Largest ratio of valley to lower peak over all pairs of clusters; zero for one cluster.

    One when two clusters are two halves of one, near zero when they are far apart; see :func:`bridges`.

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc.selection.separation import deepest_bridge
    >>> x = np.random.default_rng(0).standard_normal(400)
    >>> halves = np.column_stack([x < 0, x >= 0]).astype(float)
    >>> bool(deepest_bridge(x[:, None], halves) > 0.8), deepest_bridge((x + 9 * (x > 0))[:, None], halves) < 0.1
    (True, True)
    """
    return float(bridges(X, posterior).max())


def bridges(X: FloatArray, posterior: FloatArray) -> FloatArray:
    """Density between each two clusters as a share of the lower of their peaks, of shape (n_clusters, n_clusters).

    Both clusters of a pair are projected on the direction that separates them best. A density is estimated there with
    the normal rule for its bandwidth and equal weights of the two. A cluster of one row is separated from nothing.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    posterior : ndarray of shape (n_samples, n_clusters)
    """
    labels, n_clusters = posterior.argmax(axis=1), posterior.shape[1]
    members = [np.flatnonzero(labels == i) for i in range(n_clusters)]
    valleys = np.zeros((n_clusters, n_clusters))
    for a, b in combinations(range(n_clusters), 2):
        alone = min(len(members[a]), len(members[b])) < 2
        valleys[a, b] = valleys[b, a] = 1.0 if alone else _valley(X[members[a]], X[members[b]])
    return valleys


def merges_only_bridged(coarse: FloatArray, fine: FloatArray, valleys: FloatArray, shallow: float) -> bool:
    """Whether a coarser partition joins only such clusters of a finer one as hang together.

    Parameters
    ----------
    coarse, fine : ndarray of shape (n_samples, their number of clusters)
    valleys : ndarray of shape (n_fine, n_fine)
        See :func:`bridges`.
    shallow : float
        Valleys above this hang together.
    """
    home = (fine.T @ coarse).argmax(axis=1)
    hangs = (valleys > shallow) & (home[:, None] == home)
    n_pieces, _ = connected_components(hangs, directed=False)
    return bool(n_pieces == len(np.unique(home)))


def _valley(A: FloatArray, B: FloatArray) -> float:
    """Lowest density between the peaks of two groups of rows, as a share of the lower peak."""
    difference = B.mean(axis=0) - A.mean(axis=0)
    within = (len(A) * np.cov(A.T, bias=True) + len(B) * np.cov(B.T, bias=True)) / (len(A) + len(B))
    direction = np.linalg.solve(np.atleast_2d(within) + _RIDGE * np.eye(A.shape[1]), difference)
    a, b = A @ direction, B @ direction
    x = np.concatenate([a, b])
    spread = np.sqrt((len(a) * a.var() + len(b) * b.var()) / len(x))
    if spread <= 0 or b.mean() <= a.mean():
        return 1.0
    width = spread * len(x) ** -0.2
    places = np.linspace(a.mean() - 2 * spread, b.mean() + 2 * spread, 2 * _N_POINTS)
    # Both groups weigh the same: the tail of a large group would hide the peak of a small one.
    shares = np.repeat([1.0 / len(a), 1.0 / len(b)], [len(a), len(b)])
    density = np.exp(-0.5 * np.square((places[:, None] - x) / width)) @ shares
    middle = 0.5 * (a.mean() + b.mean())
    left, right = density[places <= middle], density[places > middle]
    first, last = int(left.argmax()), len(left) + int(right.argmax())
    return float(density[first : last + 1].min() / min(density[first], density[last]))
