"""The membership step for all rows at once: blocks, ties and degenerate rows, around a fuzzifier's formula.

A formula sees squared distances with one row for each cluster and one column for each sample, because operations along
thousands of samples are fast and operations along a handful of clusters are not.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from kfrc._numerics import row_blocks
from kfrc.typing import ArrayLike, FloatArray

_BLOCK_ELEMENTS = 1 << 15
"""Distances per block: a dozen temporaries of this size fit a level-2 cache."""

_LARGEST_NETWORK = 16
"""Clusters up to which sorting by comparisons of whole rows beats sorting sample by sample."""


def solve_rows(distances: FloatArray, positive_memberships: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """Membership step for any distances (n_samples, n_clusters) from one for samples whose smallest distance is one.

    Works on row blocks that stay in cache; rows with zeros are shared among the clusters at distance zero.
    """
    distances = _checked(distances)
    U = np.empty_like(distances)
    for rows in row_blocks(len(distances), distances.shape[1], _BLOCK_ELEMENTS):
        U[rows] = solve_samples(np.ascontiguousarray(distances[rows].T), positive_memberships).T
    return U


def _checked(distances: ArrayLike) -> FloatArray:
    array = np.asarray(distances)
    if array.ndim != 2 or array.shape[1] == 0:
        raise ValueError(
            f"squared distances must have shape (n_samples, n_clusters), with a cluster at least, got {array.shape}"
        )
    if array.dtype.kind not in "fiub":
        raise TypeError(f"squared distances must be numbers, got an array of {array.dtype}")
    return np.asarray(array, dtype=np.float64)


def solve_samples(distances: FloatArray, positive_memberships: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """The same for one block of samples, distances and memberships of shape (n_clusters, n_samples)."""
    # A ratio of distances beyond the range of floats is as good as infinite, and zero times it is no number.
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        smallest = distances.min(axis=0)
        regular = (smallest > 0) & np.isfinite(smallest)
        if regular.all():
            return positive_memberships(distances / smallest)
        if not (smallest >= 0).all():
            raise ValueError("squared distances must not be negative or NaN, but the smallest of some row is")
        relative = np.where(regular, distances / np.where(regular, smallest, 1.0), 1.0)
        nearest = distances == smallest
        return np.where(regular, positive_memberships(relative), nearest / nearest.sum(axis=0))


def ascending(distances: FloatArray) -> FloatArray:
    """Every column sorted, of shape (n_clusters, n_samples)."""
    if len(distances) > _LARGEST_NETWORK:
        return np.sort(distances, axis=0)
    ordered = distances.copy()
    larger = np.empty_like(distances[0])
    for i, j in _network(len(distances)):
        np.maximum(ordered[i], ordered[j], out=larger)
        np.minimum(ordered[i], ordered[j], out=ordered[i])
        ordered[j] = larger
    return ordered


@cache
def _network(n: int) -> tuple[tuple[int, int], ...]:
    """Comparisons that sort n numbers: Batcher's odd-even merge sort."""
    pairs = []
    p = 1
    while p < n:
        k = p
        while k >= 1:
            for j in range(k % p, n - k, 2 * k):
                pairs += [(i, i + k) for i in range(j, min(j + k, n - k)) if i // (2 * p) == (i + k) // (2 * p)]
            k //= 2
        p *= 2
    return tuple(pairs)


def in_ascending_order(distances: FloatArray, memberships: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """Memberships (n_clusters, n_samples) from a function of sorted rows (n_samples, n_clusters)."""
    order = np.argsort(distances, axis=0)
    U = np.empty_like(distances)
    ordered = np.ascontiguousarray(np.take_along_axis(distances, order, axis=0).T)
    np.put_along_axis(U, order, memberships(ordered).T, axis=0)
    return U
