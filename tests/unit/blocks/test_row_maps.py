"""Maps of rows: distances to centers as Gram matrices have them, and centers from nothing but sums over rows."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kfrc._numerics import clear_block_rounding
from kfrc.blocks.polynomials import WIDTH
from kfrc.blocks.row_maps import BlockCenters, ColumnMap, PointMap, numbers_only
from kfrc.blocks.row_maps.columns import MOST_POLYNOMIALS
from kfrc.columns import Column, Cyclic, Nominal, Numeric, Ordinal, Table
from kfrc.gram import gram_family
from kfrc.kernels import Kernel

N_ROWS, N_CLUSTERS = 300, 3
RTOL = 1e-10
SINGLE_RTOL = 1e-5


@dataclass(frozen=True, eq=False)
class Case:
    """Rows in standard units, a kernel, and weights of rows for some centers."""

    kernel: Kernel
    values: np.ndarray  # (n_columns, n_rows)
    columns: tuple[Column, ...]
    weights: np.ndarray | None
    bandwidths: np.ndarray
    memberships: np.ndarray  # (n_clusters, n_rows)

    @classmethod
    def drawn(cls, kernel, *, levels=False, blanks=False, weighted=False, bandwidth=1.0, seed=0):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((3, N_ROWS)) * [[1.0], [0.5], [2.0]] + rng.integers(0, 3, N_ROWS)
        X = (X - X.mean(axis=1, keepdims=True)) / X.std(axis=1, ddof=1, keepdims=True)
        columns = [Numeric()] * 3
        weights = rng.integers(1, 5, N_ROWS).astype(np.float64) if weighted else None
        if levels:
            X = np.vstack([X, *(rng.integers(0, n, N_ROWS) for n in (4, 5, 7))])
        if blanks:
            X[rng.random(X.shape) < 0.15] = np.nan
            X[:, 5] = np.nan
        if levels:
            columns += [
                Nominal("color", tuple("abcd")).scaled(X[3], weights),
                Ordinal("grade", tuple("abcde")).scaled(X[4], weights),
                Cyclic("day", tuple(range(7)), part="weekday").scaled(X[5], weights),
            ]
        bandwidths = bandwidth * np.linspace(0.7, 1.5, len(X))
        memberships = rng.random((N_CLUSTERS, N_ROWS)) ** 3
        return cls(Kernel.from_name(kernel), X, tuple(columns), weights, bandwidths, memberships)

    @property
    def rows(self):
        """As Gram matrices take them."""
        if self.weights is None and not np.isnan(self.values).any() and all(c == Numeric() for c in self.columns):
            return np.ascontiguousarray(self.values.T)
        return Table(np.ascontiguousarray(self.values.T), self.columns, self.weights)

    @property
    def mass(self):
        return np.ones(N_ROWS) if self.weights is None else self.weights

    @cached_property
    def gram(self):
        return gram_family(self.rows, self.kernel).at(self.bandwidths)

    @cached_property
    def prototypes(self):
        weighted = (self.memberships * self.mass).T
        return weighted / weighted.sum(axis=0)

    @cached_property
    def expected(self):
        """Squared distances, of shape (n_clusters, n_rows)."""
        return self.gram.center_distances(self.prototypes)[0].T

    @cached_property
    def map(self):
        ranges, shares, few = np.zeros((len(self.columns), 2)), {}, {}
        for j, (column, values) in enumerate(zip(self.columns, self.values, strict=True)):
            if column.continuous:
                ranges[j] = np.nanmin(values), np.nanmax(values)
                few[j] = np.unique(values[~np.isnan(values)])
            else:
                shares[j] = column.shares(values, self.weights)
        incomplete = bool(np.isnan(self.values).any())
        return ColumnMap.of(
            self.kernel, self.columns, self.bandwidths, ranges, shares, values=few, incomplete=incomplete
        )

    def centers(self, rows=None, memberships=None):
        rows = self.map if rows is None else rows
        weighted = (self.memberships if memberships is None else memberships) * self.mass
        basis = rows.prepared(self.values, {})
        moments = rows.moments(basis, np.vstack([weighted, self.mass]).astype(getattr(rows, "dtype", np.float64)))
        masses = weighted.sum(axis=1)
        moments = moments.astype(np.float64)
        overall = rows.centers(moments[:, -1:], np.array([self.mass.sum()]), None).means[:, 0]
        return rows.centers(moments[:, :-1], masses, overall)

    def distances(self, centers, rows=None, values=None):
        rows = self.map if rows is None else rows
        basis = rows.prepared(self.values if values is None else values, {})
        return rows.distances(basis, rows.table(centers))


CASES = [
    {"kernel": kernel, "levels": levels, "blanks": blanks, "weighted": weighted}
    for kernel, levels, blanks, weighted in itertools.product(
        ["sum", "linear"], [False, True], [False, True], [False, True]
    )
]


def name(case):
    parts = [case["kernel"], *(part for part in ("levels", "blanks", "weighted") if case[part])]
    return "-".join(parts)


@pytest.fixture(params=CASES, ids=name, scope="module")
def case(request):
    return Case.drawn(**request.param)


def assert_close(found, expected, rtol=RTOL):
    assert_allclose(found, expected, rtol=0, atol=rtol * np.abs(expected).max())


# Distances


def test_distances_are_those_of_the_gram_matrix(case):
    assert_close(case.distances(case.centers()), case.expected)


@pytest.mark.parametrize("bandwidth", [0.1, 0.3, 3.0, 100.0])
@pytest.mark.parametrize("options", [{}, {"levels": True, "blanks": True, "weighted": True}], ids=["plain", "mixed"])
def test_distances_are_those_of_the_gram_matrix_at_any_bandwidth(options, bandwidth):
    case = Case.drawn("sum", bandwidth=bandwidth, **options)
    assert_close(case.distances(case.centers()), case.expected, 1e-9)


def test_distances_are_not_negative_and_zero_at_a_center_that_is_a_row(case):
    alone = np.zeros((1, N_ROWS))
    alone[0, 17] = 1.0
    distances = case.distances(case.centers(memberships=alone))
    assert distances.min() >= 0
    assert distances[0, 17] <= 1e-12 * distances.max()


def test_a_row_of_which_nothing_is_known_has_no_distance():
    case = Case.drawn("sum", levels=True, blanks=True)
    assert_array_equal(case.distances(case.centers())[:, 5], np.zeros(N_CLUSTERS))


def test_a_level_that_no_row_had_is_as_good_as_a_blank():
    case = Case.drawn("sum", levels=True, blanks=True)
    strange, blank = case.values[:, :1].copy(), case.values[:, :1].copy()
    strange[3], blank[3] = 4.0, np.nan
    centers = case.centers()
    assert_array_equal(case.distances(centers, values=strange), case.distances(centers, values=blank))


def test_values_beyond_the_range_count_as_its_ends():
    case = Case.drawn("sum")
    ends = case.values.max(axis=1, keepdims=True)
    centers = case.centers()
    beyond = case.distances(centers, values=ends + 5.0)
    assert_array_equal(beyond, case.distances(centers, values=ends))


def test_columns_with_an_infinite_bandwidth_do_not_count():
    case = Case.drawn("sum", levels=True)
    bandwidths = case.bandwidths.copy()
    bandwidths[[1, 3]] = np.inf
    without = Case(case.kernel, case.values, case.columns, None, bandwidths, case.memberships)
    assert sorted(without.map.positions.tolist()) == [0, 2, 4, 5]
    changed = case.values.copy()
    changed[[1, 3]] = 0.0
    centers = without.centers()
    assert_array_equal(without.distances(centers, values=changed), without.distances(centers))
    assert_close(without.distances(centers), without.expected)


def test_columns_may_all_be_levels():
    case = Case.drawn("sum", levels=True)
    only = Case(case.kernel, case.values[3:], case.columns[3:], None, case.bandwidths[3:], case.memberships)
    assert only.map.n_polynomials == 0
    assert_close(only.distances(only.centers()), only.expected)


def test_distances_do_not_depend_on_how_many_rows_are_worked_on_at_a_time(case):
    centers = case.centers()
    table, workspace = case.map.table(centers), {}
    parts = [
        case.map.distances(case.map.prepared(case.values[:, start : start + 64], workspace), table)
        for start in range(0, N_ROWS, 64)
    ]
    assert_close(np.hstack(parts), case.distances(centers), 1e-13)


def test_columns_of_numbers_have_as_many_polynomials_as_they_need_and_no_more_than_are_allowed():
    ranges = np.array([[-2.0, 2.0], [-2.0, 2.0], [-200.0, 200.0]])
    bandwidths = np.array([10.0, 0.5, 0.01])
    rows = ColumnMap.of(Kernel.from_name("sum"), numbers_only(3), bandwidths, ranges, {}, incomplete=False)
    degrees = {int(group.positions[0]): group.degree for group in rows.groups}
    assert degrees[0] < degrees[1] < degrees[2] == MOST_POLYNOMIALS == rows.largest_degree
    assert all(degree % WIDTH == 0 for degree in degrees.values())
    assert rows.n_functions == sum(degrees.values())
    assert rows.in_single().n_functions < rows.n_functions


# Centers


def test_centers_are_means_over_rows_however_these_are_split(case):
    whole = case.centers()
    weighted = np.vstack([case.memberships * case.mass, case.mass])
    moments = sum(
        case.map.moments(case.map.prepared(np.ascontiguousarray(case.values[:, rows]), {}), weighted[:, rows])
        for rows in (slice(0, 100), slice(100, 101), slice(101, N_ROWS))
    )
    overall = case.map.centers(moments[:, -1:], weighted[-1:].sum(axis=1), None).means[:, 0]
    found = case.map.centers(moments[:, :-1], weighted[:-1].sum(axis=1), overall)
    assert_close(found.means, whole.means, 1e-12)
    assert_close(found.masses, whole.masses, 1e-12)
    assert found.occupied.all()


def test_masses_are_the_weights_of_the_rows_in_which_a_column_is_known(case):
    centers = case.centers()
    known = ~np.isnan(case.values[case.map.positions])
    assert_close(centers.masses, known @ (case.memberships * case.mass).T, 1e-12)


def test_centers_for_new_rows_are_the_same_centers(case):
    centers = case.centers()
    detached = case.map.as_centers(centers)
    found = detached.squared_distances(np.ascontiguousarray(case.values.T)).T
    assert_close(found, case.expected)
    assert_close(found, case.distances(centers))


def test_a_cluster_without_rows_is_empty(case):
    memberships = case.memberships.copy()
    memberships[1] = 0.0
    centers = case.centers(memberships=memberships)
    assert centers.occupied.tolist() == [True, False, True]
    assert_array_equal(centers.masses[:, 1], 0.0)
    assert np.isfinite(centers.means).all()
    full = case.centers()
    assert_close(case.distances(centers)[[0, 2]], case.distances(full)[[0, 2]])


def test_a_cluster_that_knows_nothing_of_a_column_has_the_mean_of_all_there():
    case = Case.drawn("sum", levels=True, blanks=True)
    for position in (1, 3):
        memberships = case.memberships.copy()
        memberships[0, ~np.isnan(case.values[position])] = 0.0
        centers = case.centers(memberships=memberships)
        overall = case.centers(memberships=np.ones((1, N_ROWS)))
        place = case.map.positions.tolist().index(position)
        rows = slice(*np.concatenate([[0], np.cumsum(case.map.widths)])[place : place + 2])
        assert centers.masses[place, 0] == 0.0
        assert_close(centers.means[rows, 0], overall.means[rows, 0])


def test_centers_may_be_put_into_another_order(case):
    centers = case.centers()
    assert_close(case.distances(centers.reordered([2, 0, 1])), case.distances(centers)[[2, 0, 1]], 1e-13)


# Coordinates


@pytest.fixture(params=[case for case in CASES if not case["blanks"]], ids=name, scope="module")
def complete(request):
    return Case.drawn(**request.param)


def test_coordinates_of_differences_have_their_squared_lengths(complete):
    """‖v₁ − v₂‖² = (p₁ − p₂)ᵀ K (p₁ − p₂)."""
    means = complete.centers().means
    step = means[:, [1, 2, 0]] - means
    difference = complete.prototypes[:, [1, 2, 0]] - complete.prototypes
    expected = np.einsum("ji,ji->i", difference, complete.gram.matmul(difference))
    assert_close(complete.map.squared_steps(step), expected, 1e-9)
    squares = complete.map.column_squares(complete.map.coordinates(step))
    assert squares.shape == (len(complete.columns), N_CLUSTERS)
    assert_close(squares.sum(axis=0), expected, 1e-9)


def test_features_are_the_coordinates_of_rows(complete):
    rows = complete.map
    features = rows.features(rows.prepared(complete.values, {}))
    center = rows.coordinates(complete.centers().means)
    distances = np.square(features[:, None, :] - center[:, :, None]).sum(axis=0)
    assert_close(distances, complete.expected, 1e-9)
    assert len(features) == rows.ranks.sum()


def test_features_are_zero_where_nothing_is_known():
    case = Case.drawn("sum", levels=True, blanks=True)
    rows = case.map
    basis = rows.prepared(case.values, {})
    known = np.repeat(rows.known(basis), rows.ranks, axis=0)
    assert_array_equal(rows.known(basis), ~np.isnan(case.values[rows.positions]))
    assert_array_equal(rows.features(basis)[known == 0], 0.0)


# Single precision


def test_centers_keep_their_distances_in_single_precision(case):
    single = case.map.in_single()
    assert single.dtype == np.float32
    assert single.in_single() is single
    centers = case.centers()
    found = case.distances(single.translated(centers, case.map), single)
    assert found.dtype == np.float32
    assert_close(found, case.expected, SINGLE_RTOL)


def test_centers_come_back_from_single_precision(case):
    single = case.map.in_single()
    centers = case.centers(single)
    back = case.map.translated(centers, single)
    assert back.means.shape == case.centers().means.shape
    assert_close(case.distances(back), case.expected, SINGLE_RTOL)
    assert_close(back.masses, case.centers().masses, SINGLE_RTOL)
    again = single.translated(case.map.translated(single.translated(case.centers(), case.map), single), case.map)
    assert_array_equal(again.means, single.translated(case.centers(), case.map).means)


def test_centers_of_the_same_map_stay_as_they_are(case):
    centers = case.centers()
    assert case.map.translated(centers, case.map) is centers


# Points


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("blanks", [False, True])
def test_distances_between_points_are_those_of_the_linear_kernel(blanks, weighted):
    case = Case.drawn("linear", blanks=blanks, weighted=weighted)
    points = case.values.T / case.bandwidths
    rows = PointMap(case.kernel, case.bandwidths, None, np.nanmedian(points, axis=0), blanks)
    centers = case.centers(rows)
    assert_close(case.distances(centers, rows), case.expected)
    assert_close(case.distances(centers, rows), case.distances(case.centers()))
    assert_close(rows.as_centers(centers).squared_distances(np.ascontiguousarray(case.values.T)).T, case.expected)
    if not blanks:
        assert centers.means.T + rows.origin == pytest.approx((points.T @ case.prototypes).T, rel=1e-12)
    assert not rows.has_single
    assert rows.in_single() is rows


def test_points_far_from_zero_keep_their_distances():
    case = Case.drawn("linear")
    moved = Case(case.kernel, case.values + 1e6, case.columns, None, case.bandwidths, case.memberships)
    origin = np.median(moved.values.T / case.bandwidths, axis=0)
    rows = PointMap(case.kernel, case.bandwidths, None, origin)
    assert_close(moved.distances(moved.centers(rows), rows), case.expected, 1e-9)


def test_points_may_be_turned_before_they_are_compared():
    case = Case.drawn("linear")
    axes = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0][:, :2]
    points = (case.values.T / case.bandwidths) @ axes
    rows = PointMap(case.kernel, case.bandwidths, axes, points.mean(axis=0))
    means = case.prototypes.T @ points
    expected = np.square(points[None] - means[:, None]).sum(axis=2)
    assert rows.n_functions == 2
    assert_close(case.distances(case.centers(rows), rows), expected)


def test_a_point_cluster_without_rows_is_empty():
    case = Case.drawn("linear")
    rows = PointMap(case.kernel, case.bandwidths, None, np.zeros(3))
    memberships = case.memberships.copy()
    memberships[2] = 0.0
    centers = case.centers(rows, memberships)
    assert centers.occupied.tolist() == [True, True, False]
    assert np.isfinite(centers.means).all()


# Rounding


def test_what_is_nothing_but_rounding_is_zero():
    distances = np.array([[1e-18, -1e-17, 0.5], [1.0, 2.0, 0.25]])
    assert_array_equal(clear_block_rounding(distances.copy(), 1.0), [[0.0, 0.0, 0.5], [1.0, 2.0, 0.25]])


def test_distances_that_are_no_rounding_are_left_alone():
    distances = np.array([[1e-3, 2.0], [1.0, 1e-6]])
    assert_array_equal(clear_block_rounding(distances.copy(), 1.0), distances)


def test_rows_worked_on_at_a_time_are_a_property_of_the_map():
    small = PointMap(Kernel.from_name("linear"), np.ones(2), None, np.zeros(2))
    large = ColumnMap.of(
        Kernel.from_name("sum"),
        numbers_only(40),
        np.full(40, 0.01),
        np.tile([-3.0, 3.0], (40, 1)),
        {},
        incomplete=False,
    )
    for rows in (small, large):
        assert 256 <= rows.sub_block_rows <= 16_384
        assert rows.sub_block_rows & (rows.sub_block_rows - 1) == 0
    assert large.sub_block_rows < small.sub_block_rows


def test_centers_count_their_clusters():
    assert BlockCenters(np.zeros((4, 3)), np.ones((2, 3)), np.ones(3, dtype=bool)).n_clusters == 3
