"""The rows that a fit sees: equal rows are one row with a weight, and rows of weight zero are absent.

Weights are frequencies. A fit with weights must therefore equal the fit in which every row is written down as often as
its weight says, in any order, down to the numbers that the clusters get. Random starts and "the first sample of a
cluster" know rows by their places, so both fits are brought to the same rows first: each different row once, sorted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kfrc._numerics import HASH_INCREMENT, scramble
from kfrc._validation import LARGEST_TOTAL, SMALLEST_TOTAL, check_sample_weight
from kfrc.columns.variation import Scales
from kfrc.relational import Given, Start
from kfrc.typing import FloatArray, IntArray

_FEW_PER_CLUSTER = 20
"""Rows for each cluster that are looked at before all rows are, to count those that differ."""

_WORTHWHILE = 0.3
"""Share of the rows that must repeat others before rows without weights are merged: it saves time, and moves rows."""


@dataclass(frozen=True, eq=False)
class MergedRows:
    """Different rows with their weights, and which of them every row of the user is.

    Attributes
    ----------
    values : ndarray of shape (n_merged, n_columns)
    weights : ndarray of shape (n_merged,) or None
        How many rows each row stands for; None if all stand for one.
    inverse : ndarray of shape (n_rows,)
        Position in ``values`` of every row of the user; −1 for a row of weight zero.
    shares : ndarray of shape (n_rows,)
        What part every row of the user has in the merged one; zero for a row of weight zero.
    """

    values: FloatArray
    weights: FloatArray | None
    inverse: IntArray
    shares: FloatArray

    def __len__(self) -> int:
        return len(self.values)

    def scales(self) -> Scales:
        """How far the columns spread."""
        return Scales.of(self.values, self.weights)

    @property
    def absent(self) -> IntArray:
        """Positions of the user's rows that have no weight."""
        return np.flatnonzero(self.inverse < 0)

    @property
    def first(self) -> IntArray:
        """The first of the user's rows that each merged row stands for, of shape (n_merged,)."""
        present = np.flatnonzero(self.inverse >= 0)
        first = np.full(len(self), len(self.inverse))
        np.minimum.at(first, self.inverse[present], present)
        return first

    def expand(self, values: NDArray[Any], fill: float = np.nan) -> NDArray[Any]:
        """Values of the merged rows (n_merged, ...) for every row of the user, ``fill`` where one has no weight."""
        expanded = values[np.maximum(self.inverse, 0)]
        if (self.inverse < 0).any():
            expanded[self.inverse < 0] = fill
        return expanded

    def average(self, values: FloatArray) -> FloatArray:
        """Weighted means over the rows that were merged, of values (n_rows, ...) of the user's rows."""
        present = self.inverse >= 0
        means = np.zeros((len(self), *values.shape[1:]))
        shares = self.shares[present].reshape(-1, *(1,) * (values.ndim - 1))
        np.add.at(means, self.inverse[present], shares * values[present])
        return means

    def start(self, start: Start) -> Start:
        """The start on the merged rows: memberships that a user gives are averaged."""
        return Given(self.average(start.U)) if isinstance(start, Given) else start


def merge_rows(
    values: FloatArray, sample_weight: Any = None, *, at_least: int = 1, merge: bool = True
) -> MergedRows | None:
    """Bring rows to a form that does not depend on how often and in what order they are written down.

    With weights, rows of weight zero are dropped, equal rows are merged, and the rest is sorted. Without weights, or
    with weights zero and one only, rows are merged where it saves three in ten of them, and else keep their order.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_columns)
        NaN is equal to NaN.
    sample_weight : array-like of shape (n_rows,), optional
        Frequencies: 2 is the row twice, 0 is the row absent. They should sum to about the number of rows.
    at_least : int, default=1
        Equal rows stay apart if merging would leave fewer rows than this, the number of clusters.
    merge : bool, default=True
        False drops rows of weight zero only, as in a matrix whose columns are the rows.

    Returns
    -------
    MergedRows or None
        None if all rows stay what they are and where they are.

    Raises
    ------
    ValueError
        If weights are negative, not finite, all zero, of another number than the rows, or sum to less than two.

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc.clusterers._rows import merge_rows
    >>> rows = np.array([[2.0, 1.0], [0.0, 5.0], [2.0, 1.0], [7.0, 7.0]])
    >>> merged = merge_rows(rows, [1, 1, 2, 0])
    >>> merged.values.tolist(), merged.weights.tolist(), merged.inverse.tolist()
    ([[0.0, 5.0], [2.0, 1.0]], [1.0, 3.0], [1, 0, 1, -1])
    >>> merge_rows(rows[:2]) is None
    True
    """
    weights = check_frequencies(sample_weight, len(values))
    counted = np.ones(len(values)) if weights is None else weights
    present = np.flatnonzero(counted > 0)
    rows = values if len(present) == len(values) else values[present]
    plain = bool((counted[present] == 1).all())
    most = (1.0 - _WORTHWHILE) * len(rows) if plain else len(rows)
    groups = _groups(rows, most) if merge else None
    if groups is None or len(groups.first) < at_least:
        if plain and len(present) == len(values):
            return None
        order = np.arange(len(rows)) if plain or not merge else _sorted(rows)
        groups = _Groups(order, np.argsort(order))
    totals = np.zeros(len(groups.first))
    np.add.at(totals, groups.inverse, counted[present])
    inverse, shares = np.full(len(values), -1), np.zeros(len(values))
    inverse[present], shares[present] = groups.inverse, counted[present] / totals[groups.inverse]
    return MergedRows(rows[groups.first] + 0.0, None if (totals == 1).all() else totals, inverse, shares)


def fitted_rows(values: FloatArray, sample_weight: Any = None, *, at_least: int = 1, merge: bool = True) -> MergedRows:
    """What :func:`merge_rows` returns, or the rows as they are: each stands for itself."""
    merged = merge_rows(values, sample_weight, at_least=at_least, merge=merge)
    return merged if merged is not None else MergedRows(values, None, np.arange(len(values)), np.ones(len(values)))


def count_different(rows: FloatArray, enough: int, apart: float = 0.0) -> int:
    """Number of different rows, or ``enough`` if there are that many; values that differ by ``apart`` are the same.

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc.clusterers._rows import count_different
    >>> rows = np.array([[1.0, np.nan], [2.0, 0.0], [1.0, np.nan]])
    >>> count_different(rows, 3), count_different(rows, 2)
    (2, 2)
    """
    for some in (rows[: _FEW_PER_CLUSTER * enough], rows):  # the first rows nearly always say it
        left, found = some, 0
        while len(left) and found < enough:
            with np.errstate(over="ignore"):  # infinitely far apart is not equal either
                same = np.abs(left - left[0]) <= apart
            same |= np.isnan(left) & np.isnan(left[0])
            left, found = left[~same.all(axis=1)], found + 1
        if found == enough:
            break
    return found


def is_beyond_numbers(distances: FloatArray, weights: FloatArray | None) -> bool:
    """Whether a row that counts is infinitely far from all centers; those of empty clusters are no matter."""
    beyond = np.isinf(distances).all(axis=1)
    return bool((beyond if weights is None else beyond & (weights > 0)).any())


def times(values: FloatArray, weights: FloatArray | None) -> FloatArray:
    """Values (n_rows, k), each row multiplied by how many rows it stands for; as they are if all stand for one."""
    return values if weights is None else values * weights[:, None]


def check_frequencies(sample_weight: Any, n_samples: int) -> FloatArray | None:
    """Weights that can count rows: see :func:`kfrc._validation.check_sample_weight`, and they sum to two or more."""
    weights = check_sample_weight(sample_weight, n_samples)
    if weights is None:
        return None
    total = float(weights.sum())
    if total < SMALLEST_TOTAL:
        few = total * LARGEST_TOTAL < 1  # the inverse of the smallest numbers is none
        change = f"divide them by {total:.1g}" if few else f"multiply them by {n_samples / total:.4g}"
        raise ValueError(
            f"sample_weight sums to {total:.3g}, but weights count rows (2 is the row twice) and must sum to at least "
            f"{SMALLEST_TOTAL:g}: {change}, so that their mean is one, as is usual for survey weights"
        )
    return weights


@dataclass(frozen=True, eq=False)
class _Groups:
    """Equal rows: the first of each group in the order of their values, and the group of every row."""

    first: IntArray
    inverse: IntArray


def _groups(rows: FloatArray, most: float) -> _Groups | None:
    """Groups of equal rows, or None if there are more than ``most``, which is found out quickly."""
    keys = _hashes(rows)
    if 1 + np.count_nonzero(np.diff(np.sort(keys))) > most:
        return None
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    if not all(np.array_equal(bits, bits[first][inverse]) for bits in _columns(rows)):
        return _groups_by_sorting(rows)  # two different rows have one hash
    order = _sorted(rows[first])
    return _Groups(first[order], np.argsort(order)[inverse])


def _groups_by_sorting(rows: FloatArray) -> _Groups:
    order = _sorted(rows)
    begins = np.zeros(len(rows), dtype=bool)
    begins[0] = True
    for bits in _columns(rows):
        begins[1:] |= bits[order[1:]] != bits[order[:-1]]
    inverse = np.empty(len(rows), dtype=np.int64)
    inverse[order] = np.cumsum(begins) - 1
    return _Groups(order[begins], inverse)


def _sorted(rows: FloatArray) -> IntArray:
    """Order of rows by their first column, then the second, …; NaN last."""
    return np.lexsort(rows.T[::-1])


def _columns(rows: FloatArray) -> Iterator[NDArray[np.uint64]]:
    """The columns bit by bit, with one zero and one NaN."""
    for column in rows.T:
        values = column + 0.0
        values[np.isnan(values)] = np.nan
        yield values.view(np.uint64)


def _hashes(rows: FloatArray) -> NDArray[np.uint64]:
    """One number per row: equal rows have equal ones, and different rows hardly ever do. Much faster than sorting."""
    keys = np.zeros(len(rows), dtype=np.uint64)
    for bits in _columns(rows):
        keys += HASH_INCREMENT
        keys ^= bits
        scramble(keys)
    return keys
