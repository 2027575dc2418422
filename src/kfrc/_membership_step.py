"""The membership step for all rows at once: blocks, ties and degenerate rows, around a fuzzifier's formula."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kfrc._numerics import row_blocks
from kfrc.typing import FloatArray

_BLOCK_ELEMENTS = 1 << 15
"""Distances per block: a dozen temporaries of this size fit a level-2 cache."""


def solve_rows(distances: FloatArray, positive_memberships: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """Membership step for any distances from one for rows whose smallest distance is one.

    Works on row blocks that stay in cache; rows with zeros are shared among the clusters at distance zero.
    """
    distances = np.asarray(distances, dtype=np.float64)
    U = np.empty_like(distances)
    # A ratio of distances beyond the range of floats is as good as infinite, and zero times it is no number.
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        for rows in row_blocks(len(distances), distances.shape[1], _BLOCK_ELEMENTS):
            U[rows] = _solve_block(distances[rows], positive_memberships)
    return U


def _solve_block(distances: FloatArray, positive_memberships: Callable[[FloatArray], FloatArray]) -> FloatArray:
    smallest = distances.min(axis=1, keepdims=True)
    regular = (smallest > 0) & np.isfinite(smallest)
    all_regular = bool(regular.all())
    relative = distances / (smallest if all_regular else np.where(regular, smallest, 1.0))
    if not all_regular:
        relative = np.where(regular, relative, 1.0)
    U = positive_memberships(relative)
    if not all_regular:
        nearest = distances == smallest
        U = np.where(regular, U, nearest / nearest.sum(axis=1, keepdims=True))
    return U


def in_ascending_order(distances: FloatArray, memberships: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """Memberships of rows in any order from a function of sorted ones."""
    order = np.argsort(distances, axis=1)
    U = np.empty_like(distances)
    np.put_along_axis(U, order, memberships(np.take_along_axis(distances, order, axis=1)), axis=1)
    return U
