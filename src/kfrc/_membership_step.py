"""The membership step for all rows at once: blocks, ties and degenerate rows, around a fuzzifier's formula."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kfrc._numerics import row_blocks
from kfrc.typing import BoolArray, FloatArray, IntArray

_BLOCK_ELEMENTS = 1 << 15
"""Distances per block: a dozen temporaries of this size fit a level-2 cache."""


def solve_rows(
    distances: FloatArray, positive_memberships: Callable[[FloatArray], FloatArray], *, ordered: bool
) -> FloatArray:
    """Membership step for any distances from one for rows whose smallest distance is one.

    Works on row blocks that stay in cache; rows with zeros are shared among the clusters at distance zero.
    """
    distances = np.asarray(distances, dtype=np.float64)
    U = np.empty_like(distances)
    # A ratio of distances beyond the range of floats is as good as infinite.
    with np.errstate(over="ignore", under="ignore"):
        for rows in row_blocks(len(distances), distances.shape[1], _BLOCK_ELEMENTS):
            U[rows] = _solve_block(distances[rows], positive_memberships, ordered)
    return U


def _solve_block(
    distances: FloatArray, positive_memberships: Callable[[FloatArray], FloatArray], ordered: bool
) -> FloatArray:
    smallest = distances.min(axis=1, keepdims=True)
    regular = (smallest > 0) & np.isfinite(smallest)
    all_regular = bool(regular.all())
    relative = distances / (smallest if all_regular else np.where(regular, smallest, 1.0))
    if not all_regular:
        relative = np.where(regular, relative, 1.0)
    if ordered:
        order = np.argsort(relative, axis=1)
        U = np.empty_like(relative)
        np.put_along_axis(U, order, positive_memberships(np.take_along_axis(relative, order, axis=1)), axis=1)
    else:
        U = positive_memberships(relative)
    if not all_regular:
        nearest = distances == smallest
        U = np.where(regular, U, nearest / nearest.sum(axis=1, keepdims=True))
    return U


def active_prefix(keeps: BoolArray) -> IntArray:
    """Largest k whose condition holds, per row; k = 1 always does up to rounding, and is set to in ``keeps``."""
    keeps[:, 0] = True
    return keeps.shape[1] - np.argmax(keeps[:, ::-1], axis=1)
