"""Kernels that are sums over columns: polynomials of numbers, indicators of levels and few values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kfrc._numerics import clear_block_rounding
from kfrc.blocks.polynomials import WIDTH, products_to_chebyshev, write_products
from kfrc.blocks.row_maps.base import BlockCenters, RowMap
from kfrc.blocks.row_maps.parts import LevelColumn, PolynomialGroup
from kfrc.columns import Column, Numeric
from kfrc.gram import Centers, ColumnCenters, NodeCenters
from kfrc.gram.chebyshev import chebyshev_grid, cosine_transform, to_coefficients
from kfrc.gram.column_blocks import PROBES, column_error, prefers_values, relative_error
from kfrc.kernels import AdditiveKernel, Profile
from kfrc.typing import FloatArray, IntArray

TOL = 1e-13
"""Relative size of what the polynomials leave out, per column."""

SINGLE_TOL = 1e-6
"""The same in passes of single precision."""

MOST_POLYNOMIALS = 256
"""Of a column; many values at bandwidths so small that more were needed are not resolved, and ``approximation_error``
says what that costs."""

_RANK_TOL = 1e-13
"""Eigenvalues of a core below this share of the largest are left out of features."""


@dataclass(frozen=True, eq=False)
class _Basis:
    polynomials: NDArray[Any]
    codes: tuple[IntArray, ...]


@dataclass(frozen=True, eq=False)
class _Table:
    coefficients: NDArray[Any]
    levels: tuple[NDArray[Any], ...]
    size: float


@dataclass(frozen=True, eq=False)
class ColumnMap(RowMap):
    """Kernels that are sums over columns: polynomials of numbers, indicators of levels and few values.

    Attributes
    ----------
    kernel : Profile
    types : tuple of Column
        Of the columns of the blocks.
    groups : tuple of PolynomialGroup
    levels : tuple of LevelColumn
    incomplete : bool
        Whether there are blanks.
    dtype : dtype
        Of the polynomials.
    """

    kernel: Profile
    types: tuple[Column, ...]
    groups: tuple[PolynomialGroup, ...]
    levels: tuple[LevelColumn, ...]
    incomplete: bool
    dtype: Any = np.float64

    has_single = True

    @classmethod
    def of(
        cls,
        kernel: Profile,
        types: tuple[Column, ...],
        bandwidths: FloatArray,
        ranges: FloatArray,
        shares: dict[int, FloatArray],
        *,
        values: dict[int, FloatArray] | None = None,
        incomplete: bool,
    ) -> ColumnMap:
        """The map of columns with given ranges.

        Parameters
        ----------
        kernel : Profile
        types : tuple of Column
        bandwidths : ndarray of shape (n_columns,)
            In standard units; infinite for a column that does not count.
        ranges : ndarray of shape (n_columns, 2)
            Smallest and largest value of the columns of numbers, in standard units.
        shares : dict
            Of the levels of the other columns, by position.
        values : dict, optional
            All values of columns of numbers that have few, by position: rising, in standard units.
        incomplete : bool
        """
        values = {} if values is None else values
        used = np.isfinite(bandwidths)
        numbers = np.flatnonzero(used & np.array([column.continuous for column in types]))
        middle = ranges.mean(axis=1)
        half = np.maximum(0.5 * np.diff(ranges, axis=1)[:, 0], np.finfo(float).tiny)
        needed = _needed(kernel, half[numbers], bandwidths[numbers], TOL)
        few = {
            position
            for position, degree in zip(numbers.tolist(), needed.tolist(), strict=True)
            if position in values and prefers_values(len(values[position]), degree)
        }
        many = np.array([position for position in numbers.tolist() if position not in few], dtype=np.int64)
        groups = _grouped(kernel, many, middle[many], half[many], bandwidths[many], TOL)
        levels = []
        for position in np.flatnonzero(used).tolist():
            theta = float(bandwidths[position])
            if position in few:
                nodes = values[position]
                equal = np.full(len(nodes), 1.0 / len(nodes))
                levels.append(LevelColumn(position, nodes, equal, theta, 0, measured=True))
            elif not types[position].continuous:
                share = shares[position]
                levels.append(LevelColumn(position, np.arange(len(share), dtype=np.float64), share, theta, 0))
        return cls(kernel, types, groups, _placed(levels, groups), incomplete)

    def in_single(self) -> RowMap:  # noqa: D102
        return self if self.dtype == np.float32 else self._single

    @cached_property
    def _single(self) -> ColumnMap:
        if not self.groups:
            return replace(self, dtype=np.float32)
        positions, middle, half, bandwidths = (
            np.concatenate([getattr(group, name) for group in self.groups])
            for name in ("positions", "middle", "half", "bandwidths")
        )
        order = np.argsort(positions)
        groups = _grouped(self.kernel, positions[order], middle[order], half[order], bandwidths[order], SINGLE_TOL)
        return replace(self, groups=groups, levels=_placed(self.levels, groups), dtype=np.float32)

    def translated(self, centers: BlockCenters, other: RowMap) -> BlockCenters:  # noqa: D102
        # Means of polynomials that the other basis lacks are zero: they hardly count, or it would have them.
        if other is self:
            return centers
        assert isinstance(other, ColumnMap)
        means = np.zeros((self.n_functions, centers.n_clusters))
        places = {int(d): (g, k) for g, group in enumerate(other.groups) for k, d in enumerate(group.positions)}
        for group in self.groups:
            for k, position in enumerate(group.positions.tolist()):
                g, place = places[position]
                given = other.groups[g].of(centers.means)[place]
                shared = min(group.degree, len(given))
                group.of(means)[k, :shared] = given[:shared]
        for mine, its in zip(self.levels, other.levels, strict=True):
            means[mine.rows] = centers.means[its.rows]
        order = [other.positions.tolist().index(position) for position in self.positions.tolist()]
        return BlockCenters(means, centers.masses[order], centers.occupied)

    @property
    def n_polynomials(self) -> int:
        """Functions that are polynomials; the indicators of levels follow them."""
        return self.groups[-1].stop if self.groups else 0

    @property
    def n_functions(self) -> int:  # noqa: D102
        return self.levels[-1].rows.stop if self.levels else self.n_polynomials

    @property
    def largest_degree(self) -> int:
        """Most polynomials of a column."""
        return max((group.degree for group in self.groups), default=0)

    def prepared(self, values: FloatArray, workspace: dict[str, Any]) -> _Basis:  # noqa: D102
        n_rows = values.shape[1]
        P = workspace.get("polynomials")
        if P is None or P.shape[1] != n_rows:
            P = workspace["polynomials"] = np.empty((self.n_polynomials, n_rows), dtype=self.dtype)
            most = max((len(group.positions) for group in self.groups), default=0)
            workspace["places"] = np.empty((most, n_rows))
            workspace["spare"] = np.empty((5, most, n_rows), dtype=self.dtype)
        for group in self.groups:
            g = len(group.positions)
            Z = np.take(values, group.positions, axis=0, out=workspace["places"][:g], mode="clip")
            Z -= group.middle[:, None]
            Z /= group.half[:, None]
            np.clip(Z, -1.0, 1.0, out=Z)
            known = None
            if self.incomplete:
                known = ~np.isnan(Z)
                if known.all():
                    known = None
                else:
                    Z[~known] = 0.0
            part = group.of(P)
            spare = workspace["spare"][:, :g]
            spare[4] = Z
            write_products(spare[4], part, spare[:4])
            if known is not None:
                part *= known[:, None].astype(self.dtype)
        return _Basis(P, tuple(level.codes(values[level.position]) for level in self.levels))

    @cached_property
    def _cores(self) -> tuple[list[FloatArray], list[FloatArray]]:
        """B of every column: of groups (g, N, N), of levels (L, L)."""
        numbers = [
            to_coefficients(
                self.kernel.profile(
                    chebyshev_grid(group.degree)[1] * np.square(group.half / group.bandwidths)[:, None, None]
                )
            )
            for group in self.groups
        ]
        levels = []
        for level in self.levels:
            squares = self.types[level.position].squares(level.nodes, level.nodes, level.bandwidth)
            levels.append(self.kernel.profile(squares))
        return numbers, levels

    def table(self, centers: BlockCenters) -> _Table:  # noqa: D102
        means, (numbers, levels) = centers.means, self._cores
        coefficients = np.empty((self.n_polynomials, centers.n_clusters))
        size = 0.0
        for group, core in zip(self.groups, numbers, strict=True):
            part = group.of(means)
            slopes = core @ part
            norms = np.einsum("gni,gni->gi", part, slopes)
            slopes *= -2.0
            slopes[:, 0] += norms  # T₀ is one where something is known, and zero elsewhere
            group.of(coefficients)[:] = products_to_chebyshev(group.degree).T @ slopes
            size += float(np.abs(norms).sum(axis=0).max())
        tables = []
        for level, core in zip(self.levels, levels, strict=True):
            part = means[level.rows]
            slopes = core @ part
            norms = np.einsum("ni,ni->i", part, slopes)
            tables.append(np.hstack([(norms - 2.0 * slopes).T, np.zeros((centers.n_clusters, 1))]).astype(self.dtype))
            size += float(np.abs(norms).max())
        return _Table(np.ascontiguousarray(coefficients.T.astype(self.dtype)), tuple(tables), size)

    def distances(self, basis: _Basis, table: _Table) -> FloatArray:  # noqa: D102
        found = table.coefficients @ basis.polynomials
        for codes, values in zip(basis.codes, table.levels, strict=True):
            found += values[:, codes]
        return clear_block_rounding(found, table.size)

    def moments(self, basis: _Basis, weights: FloatArray) -> FloatArray:  # noqa: D102
        found = np.empty((self.n_functions, len(weights)), dtype=self.dtype)
        np.matmul(basis.polynomials, weights.T, out=found[: self.n_polynomials])
        for codes, level in zip(basis.codes, self.levels, strict=True):
            for k, row in enumerate(weights):
                found[level.rows, k] = np.bincount(codes, row, level.n_levels + 1)[: level.n_levels]
        return found

    def centers(  # noqa: D102
        self, moments: FloatArray, masses: FloatArray, overall: FloatArray | None
    ) -> BlockCenters:
        means = np.empty_like(moments)
        of_columns = []
        for group in self.groups:
            part = products_to_chebyshev(group.degree) @ group.of(moments)
            of_columns.append(part[:, 0])
            group.of(means)[:] = part
        for level in self.levels:
            of_columns.append(moments[level.rows].sum(axis=0)[None])
            means[level.rows] = moments[level.rows]
        sizes = np.vstack(of_columns) if of_columns else np.zeros((0, len(masses)))
        sizes = np.where(masses > 0, sizes, 0.0)
        spread = np.repeat(sizes, self.widths, axis=0)
        fill = 0.0 if overall is None else overall[:, None]
        means = np.where(spread > 0, means / np.where(spread > 0, spread, 1.0), fill)
        return BlockCenters(means, sizes, masses > 0)

    @cached_property
    def widths(self) -> IntArray:  # noqa: D102
        widths = [group.degree for group in self.groups for _ in group.positions]
        return np.array(widths + [level.n_levels for level in self.levels], dtype=np.int64)

    @cached_property
    def positions(self) -> IntArray:  # noqa: D102
        numbers = [group.positions for group in self.groups]
        return np.concatenate([*numbers, np.array([level.position for level in self.levels], dtype=np.int64)])

    @cached_property
    def _roots(self) -> tuple[list[FloatArray], list[FloatArray]]:
        """Rows L with B = LᵀL on differences of means: of groups (g, r, N), of levels (r, L)."""
        numbers, levels = self._cores
        pairs = [np.linalg.eigh(core[:, 1:, 1:]) for core in numbers]
        level_pairs = []
        for level, core in zip(self.levels, levels, strict=True):
            centered = core - core @ level.shares[:, None]
            centered = centered - level.shares @ centered
            level_pairs.append(np.linalg.eigh(0.5 * (centered + centered.T)))
        largest = max([float(values.max()) for values, _ in [*pairs, *level_pairs]])
        cutoff = _RANK_TOL * largest
        of_groups = []
        for group, (values, vectors) in zip(self.groups, pairs, strict=True):
            rank = max(int((values > cutoff).sum(axis=1).max()), 1)
            weights = np.sqrt(np.maximum(values[:, -rank:], 0.0))
            root = np.zeros((len(group.positions), rank, group.degree))
            root[:, :, 1:] = np.swapaxes(vectors[:, :, -rank:] * weights[:, None, :], 1, 2)
            of_groups.append(root)
        of_levels = []
        for values, vectors in level_pairs:
            keep = values > cutoff
            keep[-1] = True
            of_levels.append((vectors[:, keep] * np.sqrt(np.maximum(values[keep], 0.0))).T)
        return of_groups, of_levels

    @cached_property
    def _feature_roots(self) -> list[FloatArray]:
        """The same for products of polynomials instead of Chebyshev polynomials."""
        return [
            root @ products_to_chebyshev(group.degree) for group, root in zip(self.groups, self._roots[0], strict=True)
        ]

    def coordinates(self, means: FloatArray) -> FloatArray:  # noqa: D102
        numbers, levels = self._roots
        parts = [
            (root @ group.of(means)).reshape(-1, means.shape[1])
            for group, root in zip(self.groups, numbers, strict=True)
        ]
        return np.vstack([*parts, *(root @ means[level.rows] for level, root in zip(self.levels, levels, strict=True))])

    def features(self, basis: _Basis) -> FloatArray:  # noqa: D102
        n_rows = basis.polynomials.shape[1] if self.groups else len(basis.codes[0])
        parts = [
            (root @ group.of(basis.polynomials)).reshape(-1, n_rows)
            for group, root in zip(self.groups, self._feature_roots, strict=True)
        ]
        for codes, root in zip(basis.codes, self._roots[1], strict=True):
            parts.append(np.hstack([root, np.zeros((len(root), 1))])[:, codes])
        return np.vstack(parts)

    @cached_property
    def ranks(self) -> IntArray:  # noqa: D102
        numbers, levels = self._roots
        ranks = [root.shape[1] for group, root in zip(self.groups, numbers, strict=True) for _ in group.positions]
        return np.array(ranks + [len(root) for root in levels], dtype=np.int64)

    def known(self, basis: _Basis) -> FloatArray:  # noqa: D102
        parts = [group.of(basis.polynomials)[:, 0] for group in self.groups]
        codes = [(codes < level.n_levels)[None] for codes, level in zip(basis.codes, self.levels, strict=True)]
        return np.vstack([*parts, *codes]).astype(np.float64)

    def column_squares(self, coordinates: FloatArray) -> FloatArray:  # noqa: D102
        ends = np.concatenate([[0], np.cumsum(self.ranks)[:-1]])
        found = np.zeros((len(self.types), coordinates.shape[1]))
        found[self.positions] = np.add.reduceat(np.square(coordinates), ends, axis=0)
        return found

    def approximation_error(self, values: FloatArray) -> float:  # noqa: D102
        # Indicators are exact, and columns that they describe count for nothing here, as in Gram matrices.
        chosen = np.unique(np.linspace(0, values.shape[1] - 1, PROBES).astype(np.int64))
        z = values[:, chosen]
        basis = self.prepared(z, {})
        errors = []
        for group, root in zip(self.groups, self._feature_roots, strict=True):
            features = root @ group.of(basis.polynomials)
            for k, position in enumerate(group.positions.tolist()):
                known = ~np.isnan(z[position])
                places, theta = z[position, known], float(group.bandwidths[k])
                errors.append(column_error(self.kernel, self.types[position], places, features[k][:, known].T, theta))
        return relative_error(errors)

    def as_centers(self, centers: BlockCenters) -> Centers:  # noqa: D102
        nodes, weights, bandwidths, norms = [], [], [], []
        numbers, levels = self._cores
        for group, core in zip(self.groups, numbers, strict=True):
            part = group.of(centers.means)
            grid, _ = chebyshev_grid(group.degree)
            norms += list(np.einsum("gni,gnm,gmi->gi", part, core, part))
            for k in range(len(group.positions)):
                nodes.append(group.middle[k] + group.half[k] * grid)
                weights.append(cosine_transform(group.degree).T @ part[k])
                bandwidths.append(float(group.bandwidths[k]))
        for level, core in zip(self.levels, levels, strict=True):
            part = centers.means[level.rows]
            nodes.append(level.nodes)
            weights.append(part)
            bandwidths.append(level.bandwidth)
            norms.append(np.einsum("ni,nm,mi->i", part, core, part))
        theta = np.array(bandwidths)
        measured = all(level.measured for level in self.levels)
        if measured and not self.incomplete and isinstance(self.kernel, AdditiveKernel):
            return NodeCenters(
                self.kernel, theta, self.positions, tuple(nodes), tuple(weights), np.array(norms).sum(axis=0)
            )
        columns = tuple(self.types[d] for d in self.positions.tolist())
        return ColumnCenters(self.kernel, columns, self.positions, theta, tuple(nodes), tuple(weights), np.array(norms))


def _needed(kernel: Profile, half: FloatArray, bandwidths: FloatArray, tol: float) -> FloatArray:
    return kernel.polynomials_needed(half / bandwidths, tol) if len(half) else np.empty(0)


def _grouped(
    kernel: Profile, positions: IntArray, middle: FloatArray, half: FloatArray, bandwidths: FloatArray, tol: float
) -> tuple[PolynomialGroup, ...]:
    """Columns of numbers by how many polynomials they need."""
    needed = _needed(kernel, half, bandwidths, tol)
    degrees = WIDTH * np.ceil(np.minimum(needed, MOST_POLYNOMIALS) / WIDTH).astype(np.int64)
    groups, start = [], 0
    for degree in np.unique(degrees).tolist():
        chosen = degrees == degree
        group = PolynomialGroup(positions[chosen], middle[chosen], half[chosen], bandwidths[chosen], int(degree), start)
        groups.append(group)
        start = group.stop
    return tuple(groups)


def _placed(levels: Sequence[LevelColumn], groups: tuple[PolynomialGroup, ...]) -> tuple[LevelColumn, ...]:
    """The columns of indicators behind the polynomials."""
    start, placed = groups[-1].stop if groups else 0, []
    for level in levels:
        placed.append(replace(level, start=start))
        start = placed[-1].rows.stop
    return tuple(placed)


def numbers_only(n_columns: int) -> tuple[Column, ...]:
    """The types of columns that are all numbers in standard units."""
    return (Numeric(),) * n_columns
