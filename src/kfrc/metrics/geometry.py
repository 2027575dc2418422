"""Compactness and separation of a fuzzy partition in the data: Xie-Beni index and fuzzy silhouette."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist, pdist

from kfrc._numerics import row_blocks
from kfrc._validation import (
    check_data,
    check_dissimilarities,
    check_finite,
    check_number,
    check_sample_weight,
    check_squares,
)
from kfrc.metrics._partitions import check_fuzzy_partition
from kfrc.typing import ArrayLike, FloatArray, IntArray

_ALONE = 1 + 64 * float(np.finfo(np.float64).eps)
"""Weight of a cluster up to which it holds one sample: a sum of fractions may miss one by rounding."""

_OF_ALL_ROWS: dict[Any, Callable[[FloatArray], dict[str, FloatArray]]] = {
    "mahalanobis": lambda X: {"VI": np.linalg.inv(np.atleast_2d(np.cov(X, rowvar=False)))},
    "seuclidean": lambda X: {"V": X.var(axis=0, ddof=1)},
}
"""What metrics are relative to."""

_ROUNDING = 1e-12
"""Squared distances of means below this share of the terms that they are the difference of are zero."""


def xie_beni_index(
    X: ArrayLike,
    U: ArrayLike,
    centers: ArrayLike | None = None,
    *,
    m: float = 2.0,
    metric: str = "euclidean",
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Xie-Beni index, compactness over separation: smaller is better.

    .. math:: XB = \frac{\sum_j \sum_i u_{ji}^m \|x_j - v_i\|^2}{n \min_{i \ne l} \|v_i - v_l\|^2}.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features) or (n_samples, n_samples)
        Data, or dissimilarities R if ``metric="precomputed"``.
    U : array-like of shape (n_samples, n_clusters)
        Memberships, rows summing to one; at least two clusters.
    centers : array-like of shape (n_clusters, n_features), optional
        The v_i. By default the means of X with weights u^m.
    m : float, default=2.0
        Power of the memberships, at least 1. Xie and Beni use 2.
    metric : {"euclidean", "precomputed"}, default="euclidean"
        With ``"precomputed"`` R is taken as squared distances, as :class:`kfrc.FRC` does: with weights p_i of the means
        that sum to one, ‖x_j − v_i‖² is (Rp_i)_j − p_iᵀRp_i / 2, and no coordinates are needed. There are no centers
        to give then. Where R is not Euclidean a squared distance may be negative; it is taken as zero.
    sample_weight : array-like of shape (n_samples,), optional
        How many times each row counts: weight 2 is the row twice, weight 0 is the row absent.

    Returns
    -------
    float
        Non-negative; ``inf`` if two centers coincide.

    References
    ----------
    X. L. Xie and G. Beni (1991). A validity measure for fuzzy clustering. IEEE Transactions on Pattern
    Analysis and Machine Intelligence 13, 841-847.

    Examples
    --------
    >>> from kfrc.metrics import xie_beni_index
    >>> X, U = [[0.0], [1.0], [9.0], [10.0]], [[1, 0], [1, 0], [0, 1], [0, 1]]
    >>> round(xie_beni_index(X, U, [[0.5], [9.5]]), 6)
    0.003086
    """
    if metric not in ("euclidean", "precomputed"):
        raise ValueError(f'metric must be "euclidean" or "precomputed", got {metric!r}')
    precomputed = metric == "precomputed"
    if precomputed and centers is not None:
        raise ValueError("dissimilarities have no centers that could be given: leave centers out")
    X, U, sample_weights = _check_data_and_partition(X, U, sample_weight, precomputed=precomputed)
    m = check_number(m, "m", minimum=1.0)
    weights, n_samples = U**m, float(len(X))
    if sample_weights is not None:
        weights, n_samples = weights * sample_weights[:, None], float(sample_weights.sum())
    if precomputed:
        distances, separation = _distances_of_means(X, _shares(weights))
    else:
        means = _shares(weights).T @ X if centers is None else centers
        places = _check_centers(means, X, U.shape[1])
        distances, separation = cdist(X, places, "sqeuclidean"), float(pdist(places, "sqeuclidean").min())
    compactness = float(np.sum(weights * distances))
    return compactness / (n_samples * separation) if separation > 0 else math.inf


def _shares(weights: FloatArray) -> FloatArray:
    """Shares of the samples in the mean of each cluster, of shape (n_samples, n_clusters)."""
    masses = weights.sum(axis=0)
    if not masses.all():
        raise ValueError(
            f"cluster {int(masses.argmin())} of U has no members, hence no mean: pass centers or drop the column"
        )
    return weights / masses


def _distances_of_means(R: FloatArray, shares: FloatArray) -> tuple[FloatArray, float]:
    """Squared distances of samples to means (n_samples, n_clusters), and the smallest between two means."""
    products = R @ shares
    between = shares.T @ products
    own = np.diagonal(between) / 2
    separations = (between - own[:, None] - own)[np.triu_indices(len(own), 1)]
    # What is left of the difference of equal numbers is rounding: the means coincide.
    separation = float(separations.min())
    return np.maximum(products - own, 0.0), separation if separation > _ROUNDING * float(np.abs(own).max()) else 0.0


def fuzzy_silhouette_score(
    X: ArrayLike,
    U: ArrayLike,
    *,
    alpha: float = 1.0,
    metric: str = "euclidean",
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Fuzzy silhouette, a mean of silhouettes in which samples between clusters count less.

    With s_j the silhouette of sample j in the hard partition (largest membership, the first one on ties) and
    u_j(1) ≥ u_j(2) the two largest memberships of the sample,

    .. math:: FS = \frac{\sum_j (u_{j(1)} - u_{j(2)})^\alpha s_j}{\sum_j (u_{j(1)} - u_{j(2)})^\alpha}.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features) or (n_samples, n_samples)
        Data, or dissimilarities if ``metric="precomputed"``.
    U : array-like of shape (n_samples, n_clusters)
        Memberships, rows summing to one; at least two clusters.
    alpha : float, default=1.0
        Non-negative exponent of the weights; 0 is the plain mean silhouette.
    metric : str, default="euclidean"
        A metric of :func:`scipy.spatial.distance.cdist`, or "precomputed". R's fclust averages *squared*
        distances: ``"sqeuclidean"`` gives its values.
    sample_weight : array-like of shape (n_samples,), optional
        How many times each row counts: weight 2 is the row twice, weight 0 is the row absent.

    Returns
    -------
    float
        Between −1 and 1, larger is better. A sample alone in its cluster has silhouette 0.

    References
    ----------
    R. J. G. B. Campello and E. R. Hruschka (2006). A fuzzy extension of the silhouette width criterion for
    cluster analysis. Fuzzy Sets and Systems 157, 2858-2875.

    P. J. Rousseeuw (1987). Silhouettes: a graphical aid to the interpretation and validation of cluster
    analysis. Journal of Computational and Applied Mathematics 20, 53-65.

    Examples
    --------
    >>> from kfrc.metrics import fuzzy_silhouette_score
    >>> X, U = [[0.0], [1.0], [9.0], [10.0]], [[0.9, 0.1], [0.8, 0.2], [0.2, 0.8], [0.1, 0.9]]
    >>> round(fuzzy_silhouette_score(X, U), 4)
    0.8894
    """
    alpha = check_number(alpha, "alpha", minimum=0.0)
    X, U, sample_weights = _check_data_and_partition(X, U, sample_weight, precomputed=metric == "precomputed")
    labels = U.argmax(axis=1)
    if (labels == labels[0]).all():
        raise ValueError(
            "every sample has its largest membership in the same cluster: silhouettes need at least two clusters"
        )
    ordered = np.sort(U, axis=1)
    weights = (ordered[:, -1] - ordered[:, -2]) ** alpha
    if not weights.any():
        raise ValueError("the two largest memberships of every sample are equal, so no sample has weight: use alpha=0")
    if sample_weights is not None:
        weights = weights * sample_weights
    return float(np.average(silhouette_values(X, labels, metric, sample_weights), weights=weights))


def silhouette_values(
    X: FloatArray, labels: IntArray, metric: str, sample_weights: FloatArray | None = None
) -> FloatArray:
    """Silhouette of every sample, (b − a) / max(a, b), from distances computed row block by row block.

    Distances are differences, not the expanded square, so that duplicates are at distance exactly zero. So are copies
    of a sample, which is why weights only multiply: all but one of the copies are the sample's own neighbors.
    """
    own = labels[:, None] == np.unique(labels)
    indicators = own.astype(np.float64)
    if sample_weights is not None:
        indicators *= sample_weights[:, None]
    sizes = indicators.sum(axis=0)
    sums = np.empty_like(indicators)
    measured = (lambda rows: rows) if metric == "precomputed" else _named_metric(metric, X)
    for rows in row_blocks(len(X), len(X)):
        sums[rows] = measured(X[rows]) @ indicators
    own_size = own @ sizes
    shared = own_size > _ALONE
    within = sums[own] / np.where(shared, own_size - 1, 1.0)
    between = np.where(own, np.inf, sums / sizes).min(axis=1)
    larger = np.maximum(within, between)
    # Alone in a cluster, or all at one place: there is nothing to prefer.
    defined = shared & (larger > 0)
    return np.divide(between - within, larger, out=np.zeros_like(within), where=defined)


def _check_centers(centers: ArrayLike, X: FloatArray, n_clusters: int) -> FloatArray:
    array, shape = check_finite(centers, "centers"), (n_clusters, X.shape[1])
    if array.shape != shape:
        raise ValueError(f"centers must have shape (n_clusters, n_features) = {shape}, got {array.shape}")
    check_squares(np.vstack([X, array]), "X and centers")
    return array


def _named_metric(metric: Any, X: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """Distances of rows to all of X by a metric that a user named."""
    if not (isinstance(metric, str) or callable(metric)):
        raise TypeError(f"metric must be the name of a metric, got {metric!r}")
    options: dict[str, FloatArray] = {}

    def distances(rows: FloatArray) -> FloatArray:
        try:
            with np.errstate(all="ignore"):
                if metric in _OF_ALL_ROWS and not options:  # by itself scipy takes them from the rows that it sees
                    options.update(_OF_ALL_ROWS[metric](X))
                found: FloatArray = cdist(rows, X, metric, **options)
        except (ValueError, np.linalg.LinAlgError) as error:
            raise ValueError(f"distances by metric={metric!r} cannot be had of X: {error}") from None
        if not np.isfinite(found).all():
            raise ValueError(f"metric={metric!r} is not defined between some rows of X: use another one")
        return found

    return distances


def _check_data_and_partition(
    X: ArrayLike, U: ArrayLike, sample_weight: ArrayLike | None, *, precomputed: bool = False
) -> tuple[FloatArray, FloatArray, FloatArray | None]:
    """Data, memberships and weights of the rows that are present."""
    data = check_dissimilarities(X) if precomputed else check_data(X)
    if not precomputed:
        check_squares(data)
    memberships = check_fuzzy_partition(U, min_clusters=2)
    if len(data) != len(memberships):
        raise ValueError(f"X has {len(data)} samples but U has {len(memberships)}: both must describe the same samples")
    weights = check_sample_weight(sample_weight, len(data))
    if weights is None:
        return data, memberships, None
    present = weights > 0
    data = data[np.ix_(present, present)] if precomputed else data[present]
    return data, memberships[present], weights[present]
