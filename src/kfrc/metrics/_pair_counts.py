"""Campello's four sums over pairs of samples, in tiles: no n × n matrix and no loop over pairs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kfrc._numerics import row_blocks
from kfrc.typing import FloatArray

TNormFunction: TypeAlias = Callable[..., FloatArray]

T_NORMS: dict[str, TNormFunction] = {"min": np.minimum, "product": np.multiply}

# Samples per tile: inner loops are long enough, and the work arrays stay in cache.
_TILE_ROWS = 64
_TILE_COLUMNS = 1024


@dataclass(frozen=True)
class PairCounts:
    """Pair sums, over ordered pairs: every index below is a ratio, so the factor two does not matter."""

    together_both: float  # a
    together_reference: float  # b
    together_estimate: float  # c
    apart_both: float  # d

    def rand(self) -> float:
        agreements = self.together_both + self.apart_both
        return agreements / (agreements + self.together_reference + self.together_estimate)

    def jaccard(self) -> float:
        disagreements = self.together_reference + self.together_estimate
        if disagreements == 0:
            return 1.0
        return self.together_both / (self.together_both + disagreements)

    def adjusted_rand(self) -> float:
        a, b, c, d = self.together_both, self.together_reference, self.together_estimate, self.apart_both
        # Only then can the denominator vanish: one cluster, or n singletons, on both sides.
        if b == 0 and c == 0:
            return 1.0
        # a − (a + b)(a + c)/M and its counterpart, multiplied by M so that nothing large is subtracted twice.
        return 2 * (a * d - b * c) / ((a + b) * (b + d) + (a + c) * (c + d))


def count_pairs(
    reference: FloatArray, estimate: FloatArray, t_norm: TNormFunction, weights: FloatArray | None = None
) -> PairCounts:
    """Sum the four combinations of degrees over all pairs of different samples.

    Parameters
    ----------
    reference : ndarray of shape (n_samples, n_classes)
    estimate : ndarray of shape (n_samples, n_clusters)
    t_norm : ufunc
    weights : ndarray of shape (n_samples,), optional
        How many times each sample is there. A sample of weight w makes w(w − 1) ordered pairs with its own copies.
    """
    # A crisp partition is the cheap one to hold fixed; a and d are symmetric, b and c swap.
    if _is_crisp(estimate) and not _is_crisp(reference):
        a, b, c, d = _sum_pairs(estimate, reference, t_norm, weights, _crisp_tile_sums)
        return PairCounts(a, c, b, d)
    tile_sums = _crisp_tile_sums if _is_crisp(reference) else _fuzzy_tile_sums
    return PairCounts(*_sum_pairs(reference, estimate, t_norm, weights, tile_sums))


def _is_crisp(U: FloatArray) -> bool:
    return bool(np.isin(U, (0.0, 1.0)).all())


def _sum_pairs(
    reference: FloatArray,
    estimate: FloatArray,
    t_norm: TNormFunction,
    weights: FloatArray | None,
    tile_sums: Callable[..., FloatArray],
) -> list[float]:
    degrees = _PairDegrees.of(reference, t_norm), _PairDegrees.of(estimate, t_norm)
    n_samples = len(reference)
    workspace = np.empty((5, _TILE_ROWS * _TILE_COLUMNS))  # once: fresh memory costs more than the sums
    totals = np.zeros(4)
    for rows in row_blocks(n_samples, 1, _TILE_ROWS):
        # The square on the diagonal holds every pair twice; the tiles to its right, once.
        totals += tile_sums(*degrees, weights, rows, rows, workspace)
        for block in row_blocks(n_samples - rows.stop, 1, _TILE_COLUMNS):
            columns = slice(rows.stop + block.start, rows.stop + block.stop)
            totals += 2 * tile_sums(*degrees, weights, rows, columns, workspace)
    if weights is not None:
        totals += _copy_sums(*degrees, weights)
    return [float(total) for total in totals]


def _copy_sums(reference: _PairDegrees, estimate: _PairDegrees, weights: FloatArray) -> FloatArray:
    """What pairs of a sample with its own copies add: w(w − 1) times the degrees of the sample with itself.

    For weights that are no whole numbers this is the one continuation under which a sample of weight v + w is the same
    as two equal samples of weights v and w.
    """
    (V, X), (Y, Z) = reference.with_copies(), estimate.with_copies()
    pairs = ((V, Y), (V, Z), (X, Y), (X, Z))
    copies = weights * (weights - 1)
    return np.array([copies @ reference.t_norm(left, right) for left, right in pairs])


@dataclass(frozen=True)
class _PairDegrees:
    """Degrees to which pairs of samples are together and apart, tile by tile.

    A t-norm is monotone, so max_{i ≠ i'} (u_i ∧ w_i') needs only the two largest entries of each row: the
    first of both rows if these lie in different clusters, else a first with a second.
    """

    columns: FloatArray  # (n_clusters, n_samples)
    leader: NDArray[np.int32]  # (n_samples,), the cluster of the largest entry
    first: FloatArray  # (n_samples,), the largest entry
    second: FloatArray  # (n_samples,), the second largest, 0 if there is one cluster only
    t_norm: TNormFunction

    @classmethod
    def of(cls, U: FloatArray, t_norm: TNormFunction) -> _PairDegrees:
        ordered = np.sort(np.column_stack([U, np.zeros(len(U))]), axis=1)
        leader = U.argmax(axis=1).astype(np.int32)
        return cls(np.ascontiguousarray(U.T), leader, ordered[:, -1].copy(), ordered[:, -2].copy(), t_norm)

    def together(self, rows: slice, columns: slice, out: FloatArray, term: FloatArray) -> None:
        self.t_norm(self.columns[0, rows, None], self.columns[0, columns], out=out)
        for memberships in self.columns[1:]:
            self.t_norm(memberships[rows, None], memberships[columns], out=term)
            np.maximum(out, term, out=out)
        _clear_diagonal(out, rows, columns)

    def apart(self, rows: slice, columns: slice, out: FloatArray, term: FloatArray) -> None:
        self.t_norm(self.first[rows, None], self.first[columns], out=out)
        # Firsts of one cluster are no candidates; where they are, they beat a first with a second.
        np.multiply(out, self.leader[rows, None] != self.leader[columns], out=out)
        for left, right in ((self.first, self.second), (self.second, self.first)):
            self.t_norm(left[rows, None], right[columns], out=term)
            np.maximum(out, term, out=out)
        _clear_diagonal(out, rows, columns)

    def with_copies(self) -> tuple[FloatArray, FloatArray]:
        """Degrees (n_samples,) to which a sample is together with a copy of itself, and apart from it."""
        return self.t_norm(self.first, self.first), self.t_norm(self.first, self.second)


def _clear_diagonal(degree: FloatArray, rows: slice, columns: slice) -> None:
    """A sample makes no pair with itself: degree zero leaves it out of every sum."""
    if rows == columns:
        np.fill_diagonal(degree, 0.0)


def _tiles(workspace: FloatArray, rows: slice, columns: slice) -> list[FloatArray]:
    """Contiguous work arrays of the shape of a tile."""
    shape = (rows.stop - rows.start, columns.stop - columns.start)
    return [buffer[: shape[0] * shape[1]].reshape(shape) for buffer in workspace]


def _fuzzy_tile_sums(
    reference: _PairDegrees,
    estimate: _PairDegrees,
    weights: FloatArray | None,
    rows: slice,
    columns: slice,
    workspace: FloatArray,
) -> FloatArray:
    V, X, Y, Z, term = _tiles(workspace, rows, columns)
    reference.together(rows, columns, V, term)
    reference.apart(rows, columns, X, term)
    estimate.together(rows, columns, Y, term)
    estimate.apart(rows, columns, Z, term)
    pairs = ((V, Y), (V, Z), (X, Y), (X, Z))
    combined = (reference.t_norm(left, right, out=term) for left, right in pairs)
    if weights is None:
        return np.array([tile.sum() for tile in combined])
    return np.array([weights[rows] @ tile @ weights[columns] for tile in combined])


def _crisp_tile_sums(
    reference: _PairDegrees,
    estimate: _PairDegrees,
    weights: FloatArray | None,
    rows: slice,
    columns: slice,
    workspace: FloatArray,
) -> FloatArray:
    """The same for a reference of zeros and ones, where every t-norm is the choice of one group of pairs."""
    same, Y, Z, term, different = _tiles(workspace, rows, columns)
    np.copyto(same, reference.leader[rows, None] == reference.leader[columns])
    estimate.together(rows, columns, Y, term)
    estimate.apart(rows, columns, Z, term)
    if weights is not None:
        np.multiply(weights[rows, None], weights[columns], out=term)
        np.multiply(same, term, out=same)
        # Exactly zero where the reference has one class, so that fractions of weights leave no rounding in c and d.
        np.subtract(term, same, out=different)
        return np.array([np.vdot(group, degree) for group in (same, different) for degree in (Y, Z)])
    a, b = np.vdot(same, Y), np.vdot(same, Z)
    # The differences are sums of degrees too, but rounding may leave −1e−16 of a zero.
    return np.array([a, b, max(Y.sum() - a, 0.0), max(Z.sum() - b, 0.0)])
