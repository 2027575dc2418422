"""Concordance of two fuzzy partitions: how alike are their distances between samples."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist, pdist

from kfrc._numerics import row_blocks
from kfrc.metrics._partitions import check_memberships_pair
from kfrc.typing import ArrayLike, FloatArray

_ROUNDING = 64 * float(np.finfo(np.float64).eps)
"""Distances between memberships, of size one, that differ by less are equal."""


def concordance_score(U: ArrayLike, V: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    r"""Normalized degree of concordance, one minus the mean difference of the distances between samples.

    With d_U(j, k) = ½ Σ_i \|u_ji − u_ki\|, over all pairs of different samples,

    .. math:: 1 - \frac{2}{n(n-1)} \sum_{j < k} |d_U(j, k) - d_V(j, k)|.

    Parameters
    ----------
    U, V : array-like of shape (n_samples, n_clusters) or (n_samples,)
        Memberships with rows summing to one, or labels. The numbers of clusters may differ.
    sample_weight : array-like of shape (n_samples,), optional
        How many times each row counts: weight 2 is the row twice, weight 0 is the row absent.

    Returns
    -------
    float
        Between 0 and 1; 1 if U = V up to the order of columns, and the Rand index if both are crisp.

    References
    ----------
    E. Hüllermeier, M. Rifqi, S. Henzgen and R. Senge (2012). Comparing fuzzy partitions: a generalization of
    the Rand index and related measures. IEEE Transactions on Fuzzy Systems 20, 546-556.

    Examples
    --------
    >>> from kfrc.metrics import concordance_score
    >>> U = [[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.1, 0.9]]
    >>> round(concordance_score(U, [0, 0, 1, 1]), 4)
    0.7167
    """
    first, second, weights = check_memberships_pair(U, V, ("U", "V"), sample_weight)
    n_samples = len(first) if weights is None else float(weights.sum())
    total = 0.0
    for rows in row_blocks(len(first), len(first)):
        difference = np.abs(cdist(first[rows], first, "cityblock") - cdist(second[rows], second, "cityblock"))
        # Copies of a sample are at distance zero in both partitions, so their pairs count in n(n − 1) only.
        total += 0.5 * float(difference.sum() if weights is None else weights[rows] @ difference @ weights)
    return 1.0 - total / (n_samples * (n_samples - 1))


def adjusted_concordance_score(U: ArrayLike, V: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    r"""Adjusted concordance, (C − E[C]) / (1 − E[C]), with the exact mean over permutations of the samples.

    A random permutation matches every pair of samples with every other equally often: 1 − E[C] is the mean of
    \|d_U(p) − d_V(q)\| over all pairs p and all pairs q of samples.

    Parameters
    ----------
    U, V : array-like of shape (n_samples, n_clusters) or (n_samples,)
        Memberships with rows summing to one, or labels. The numbers of clusters may differ.
    sample_weight : array-like of shape (n_samples,), optional
        How many times each row counts: weight 2 is the row twice, weight 0 is the row absent.

    Returns
    -------
    float
        1 if U = V up to the order of columns, about 0 if they are unrelated, and the adjusted Rand index if
        both are crisp.

    Notes
    -----
    The exact mean needs all distances in order: O(n² log n) time and n² numbers of memory.

    References
    ----------
    A. D'Ambrosio, S. Amodio, C. Iorio, G. Pandolfo and R. Siciliano (2021). Adjusted concordance index: an
    extension of the adjusted Rand index to fuzzy partitions. Journal of Classification 38, 112-128.

    Examples
    --------
    >>> from kfrc.metrics import adjusted_concordance_score
    >>> U = [[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.1, 0.9]]
    >>> round(adjusted_concordance_score(U, [0, 0, 1, 1]), 4)
    0.4396
    """
    one, two, weights = check_memberships_pair(U, V, ("U", "V"), sample_weight)
    first, second = (0.5 * pdist(part, "cityblock") for part in (one, two))
    if weights is None:
        distance = float(np.abs(first - second).mean())
        expected = _mean_absolute_difference(first, second)
    else:
        # All pairs of a sample with its own copies are one more pair, at distance zero, with their number as weight.
        first, second = np.append(first, 0.0), np.append(second, 0.0)
        pairs = np.append(_pair_products(weights), 0.5 * weights @ (weights - 1))
        distance = float(np.average(np.abs(first - second), weights=pairs))
        expected = _weighted_mean_absolute_difference(first, second, pairs)
    # No difference to expect: one cluster, one row of memberships, or n singletons, on both sides.
    return 1.0 - distance / expected if expected > _ROUNDING else 1.0


def _mean_absolute_difference(x: FloatArray, y: FloatArray) -> float:
    """Mean of |x_p − y_q| over all p and q: a sort and a running sum instead of a double loop."""
    y = np.sort(y)
    below = np.searchsorted(y, x)
    running = np.concatenate([[0.0], np.cumsum(y)])
    sums = x * (2 * below - len(y)) + running[-1] - 2 * running[below]
    return float(np.maximum(sums, 0.0).mean() / len(y))


def _weighted_mean_absolute_difference(x: FloatArray, y: FloatArray, weights: FloatArray) -> float:
    """The same with weights, one for x_p and y_p alike."""
    order = np.argsort(y)
    y, y_weights = y[order], weights[order]
    below = np.searchsorted(y, x)
    masses = np.concatenate([[0.0], np.cumsum(y_weights)])
    running = np.concatenate([[0.0], np.cumsum(y_weights * y)])
    sums = x * (2 * masses[below] - masses[-1]) + running[-1] - 2 * running[below]
    return float(weights @ sums / masses[-1] ** 2)


def _pair_products(weights: FloatArray) -> FloatArray:
    """Products w_j w_k over the pairs j < k, in the order of :func:`scipy.spatial.distance.pdist`."""
    return np.concatenate([weight * weights[j + 1 :] for j, weight in enumerate(weights)])
