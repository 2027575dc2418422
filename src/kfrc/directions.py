"""Directions that a few of very many columns share: sparse principal components, without any matrix of size p × p.

With many more columns than rows the principal components of all columns are those of noise: a direction that k columns
share is lost unless k times their common variance exceeds √(p/n). Directions made of few columns are found where these
are not: a start at one column, and steps that keep the columns with the highest correlations only.
"""

from __future__ import annotations

import math

import numpy as np

from kfrc._numerics import row_blocks
from kfrc.typing import FloatArray, IntArray

N_STARTS = 128
"""Columns that directions are followed from, of those with the strongest correlations."""

_MAX_FIRST = 20_000
"""Columns whose correlations with all others are computed; of wider tables every second one, or fewer."""

_MAX_ROWS = 500
"""Rows that these correlations see: strong ones need few."""

_CARRIERS = 16
"""Columns that carry a direction while it is looked for."""

_N_STEPS = 10
"""Steps from every start: the columns that carry it rest after three to eight."""

_SAME = 0.8
"""Correlation above which two directions are one."""

_FIRST_CUT = 0.75
"""Correlations below this share of the largest that chance makes, √(2 log p / n), count for nothing."""

_BLOCK_ELEMENTS = 1 << 22
"""Correlations held at a time (16 MiB in single precision)."""

_CERTAIN = 0.999
"""Squared correlations above this are one: copies of a column are not worth infinitely much."""


def sparse_directions(
    A: FloatArray, n_directions: int, *, n_starts: int = N_STARTS, max_first: int = _MAX_FIRST
) -> FloatArray:
    """Directions that few columns share, the strongest first.

    The cost is O(n p · min(p, max_first)) in single precision for the starts, and O(n p · n_starts) for each step.

    Parameters
    ----------
    A : ndarray of shape (n_samples, n_features)
        Columns with mean zero and length one.
    n_directions : int
        How many at most.
    n_starts : int
        Columns that directions are followed from.
    max_first : int
        Columns that may be starts.

    Returns
    -------
    ndarray of shape (n_samples, k)
        Scores of length one; no two of them have a correlation above 0.8.

    References
    ----------
    X.-T. Yuan and T. Zhang (2013). Truncated power method for sparse eigenvalue problems. JMLR 14, 899-925.

    Examples
    --------
    Three of two thousand columns tell two groups of rows apart.

    >>> import numpy as np
    >>> from kfrc.directions import sparse_directions
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 2000))
    >>> X[:30, :3] += 3.0
    >>> X -= X.mean(axis=0)
    >>> scores = sparse_directions(X / np.sqrt(np.square(X).sum(axis=0)), 4)
    >>> groups = np.repeat([1.0, -1.0], 30) / np.sqrt(60)
    >>> bool(abs(groups @ scores[:, 0]) > 0.9)
    True
    """
    n_features = A.shape[1]
    first = np.unique(np.linspace(0, n_features - 1, min(n_features, max_first)).astype(np.intp))
    strengths = _strengths(A, first)
    scores = np.ascontiguousarray(A[:, first[np.argsort(-strengths, kind="stable")[:n_starts]]].T)
    n_carriers = min(_CARRIERS, n_features - 1)
    for _ in range(_N_STEPS):
        carriers, correlations = _strongest(scores @ A, n_carriers)
        # What is left above the strongest column that is left out: columns at that height are noise to the direction.
        heights = np.abs(correlations)
        weights = np.sign(correlations) * np.maximum(heights - heights.min(axis=1, keepdims=True), 0.0)
        following = np.einsum("nsk,sk->sn", A[:, carriers], weights)
        lengths = np.sqrt(np.square(following).sum(axis=1, keepdims=True))
        scores = np.where(lengths > 0, following / np.where(lengths > 0, lengths, 1.0), scores)
    correlations = _strongest(scores @ A, n_carriers)[1]
    worth = -np.log1p(-np.minimum(np.square(correlations), _CERTAIN)).sum(axis=1)
    return _distinct(scores[np.argsort(-worth, kind="stable")], n_directions).T


def _strengths(A: FloatArray, first: IntArray) -> FloatArray:
    """Sum of the squared excess of each column's correlations over what chance makes, of shape (len(first),)."""
    n_samples, n_features = A.shape
    if n_samples > _MAX_ROWS:
        A = A[np.linspace(0, n_samples - 1, _MAX_ROWS).astype(np.intp)]
        A = A / np.sqrt(np.maximum(np.square(A).sum(axis=0), np.finfo(np.float64).tiny))
    single = A.astype(np.float32)
    cut = np.float32(_FIRST_CUT * math.sqrt(2.0 * math.log(n_features) / len(A)))
    strengths = np.empty(len(first))
    for rows in row_blocks(len(first), n_features, _BLOCK_ELEMENTS):
        excess = single[:, first[rows]].T @ single
        np.abs(excess, out=excess)
        excess -= cut
        np.maximum(excess, 0.0, out=excess)
        strengths[rows] = np.einsum("sd,sd->s", excess, excess)
    return strengths


def _strongest(correlations: FloatArray, n_columns: int) -> tuple[IntArray, FloatArray]:
    """Positions and values of the largest in every row, of shape (n_rows, n_columns + 1): the last is left out."""
    most = min(n_columns + 1, correlations.shape[1])
    columns = np.argpartition(np.abs(correlations), -most, axis=1)[:, -most:]
    return columns, np.take_along_axis(correlations, columns, axis=1)


def _distinct(scores: FloatArray, most: int) -> FloatArray:
    """The first few rows that are not much the same as one before."""
    chosen: list[FloatArray] = []
    for score in scores:
        if len(chosen) == most:
            break
        if all(abs(float(score @ other)) < _SAME for other in chosen):
            chosen.append(score)
    return np.array(chosen)
