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


def count_pairs(reference: FloatArray, estimate: FloatArray, t_norm: TNormFunction) -> PairCounts:
    """Sum the four combinations of degrees over all pairs of different samples.

    Parameters
    ----------
    reference : ndarray of shape (n_samples, n_classes)
    estimate : ndarray of shape (n_samples, n_clusters)
    t_norm : ufunc
    """
    # A crisp partition is the cheap one to hold fixed; a and d are symmetric, b and c swap.
    if _is_crisp(estimate) and not _is_crisp(reference):
        a, b, c, d = _sum_tiles(estimate, reference, t_norm, _crisp_tile_sums)
        return PairCounts(a, c, b, d)
    tile_sums = _crisp_tile_sums if _is_crisp(reference) else _fuzzy_tile_sums
    return PairCounts(*_sum_tiles(reference, estimate, t_norm, tile_sums))


def _is_crisp(U: FloatArray) -> bool:
    return bool(np.isin(U, (0.0, 1.0)).all())


def _sum_tiles(
    reference: FloatArray, estimate: FloatArray, t_norm: TNormFunction, tile_sums: Callable[..., FloatArray]
) -> list[float]:
    degrees = _PairDegrees.of(reference, t_norm), _PairDegrees.of(estimate, t_norm)
    n_samples = len(reference)
    workspace = np.empty((5, _TILE_ROWS * _TILE_COLUMNS))  # once: fresh memory costs more than the sums
    totals = np.zeros(4)
    for rows in row_blocks(n_samples, 1, _TILE_ROWS):
        # The square on the diagonal holds every pair twice; the tiles to its right, once.
        totals += tile_sums(*degrees, rows, rows, workspace)
        for block in row_blocks(n_samples - rows.stop, 1, _TILE_COLUMNS):
            columns = slice(rows.stop + block.start, rows.stop + block.stop)
            totals += 2 * tile_sums(*degrees, rows, columns, workspace)
    return [float(total) for total in totals]


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


def _clear_diagonal(degree: FloatArray, rows: slice, columns: slice) -> None:
    """A sample makes no pair with itself: degree zero leaves it out of every sum."""
    if rows == columns:
        np.fill_diagonal(degree, 0.0)


def _tiles(workspace: FloatArray, rows: slice, columns: slice) -> list[FloatArray]:
    """Contiguous work arrays of the shape of a tile."""
    shape = (rows.stop - rows.start, columns.stop - columns.start)
    return [buffer[: shape[0] * shape[1]].reshape(shape) for buffer in workspace]


def _fuzzy_tile_sums(
    reference: _PairDegrees, estimate: _PairDegrees, rows: slice, columns: slice, workspace: FloatArray
) -> FloatArray:
    V, X, Y, Z, term = _tiles(workspace, rows, columns)
    reference.together(rows, columns, V, term)
    reference.apart(rows, columns, X, term)
    estimate.together(rows, columns, Y, term)
    estimate.apart(rows, columns, Z, term)
    pairs = ((V, Y), (V, Z), (X, Y), (X, Z))
    return np.array([reference.t_norm(left, right, out=term).sum() for left, right in pairs])


def _crisp_tile_sums(
    reference: _PairDegrees, estimate: _PairDegrees, rows: slice, columns: slice, workspace: FloatArray
) -> FloatArray:
    """The same for a reference of zeros and ones, where every t-norm is the choice of one group of pairs."""
    same, Y, Z, term, _ = _tiles(workspace, rows, columns)
    np.copyto(same, reference.leader[rows, None] == reference.leader[columns])
    estimate.together(rows, columns, Y, term)
    estimate.apart(rows, columns, Z, term)
    a, b = np.vdot(same, Y), np.vdot(same, Z)
    # The differences are sums of degrees too, but rounding may leave −1e−16 of a zero.
    return np.array([a, b, max(Y.sum() - a, 0.0), max(Z.sum() - b, 0.0)])
