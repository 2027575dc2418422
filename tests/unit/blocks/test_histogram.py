"""Histograms of columns: moments with fences, parts that make the whole, and the fences of tables in memory."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from kfrc.blocks.histogram import EDGES, Histogram, fence
from kfrc.blocks.plans import plan_columns
from kfrc.blocks.survey import SurveyPass
from kfrc.outliers import BOUNDED_REACH, FENCE, MANY_ROWS, find_fences, least_unit
from kfrc.sources import ArraySource

N_ROWS = 60_000
MOMENTS_RTOL = 1e-12
FENCES_RTOL = 0.05
"""Fences stand at edges of bins, of which there are sixteen to the octave."""


def histogram(x, origin=0.0, unit=1.0, weights=None, first_row=0):
    return Histogram.of(np.asarray(x, dtype=np.float64), weights, first_row, origin, unit)


def surveyed(x, weights=None):
    """The histogram with the center and scale that a few of the rows suggest."""
    source = ArraySource(x[:, None], weights=weights)
    (plan,) = plan_columns(source, None)
    return SurveyPass((plan,), 0)(next(source.chunks(0, len(x))), 0).columns[0]


def replaced(x, share, values, seed=1):
    """A column in which some rows hold other values."""
    rng = np.random.default_rng(seed)
    x, n_rows = x.copy(), max(round(share * len(x)), 1)
    chosen = rng.choice(len(x), n_rows, replace=False)
    x[chosen] = values(x[chosen], rng)
    return x


def drawn(name, *parameters, n_rows=N_ROWS, seed=0):
    return np.asarray(getattr(np.random.default_rng(seed), name)(*parameters, size=n_rows), dtype=np.float64)


def normal(**options):
    return drawn("normal", 0.0, 1.0, **options)


def mixed(seed=0, n_rows=5000):
    """Values near and far, on both sides."""
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal(size=n_rows), rng.standard_cauchy(n_rows), -rng.lognormal(2.0, 3.0, n_rows)])


# Moments


@pytest.mark.parametrize(("origin", "unit"), [(0.0, 1.0), (0.3, 0.7), (-2.0, 5.0)])
def test_moments_are_those_of_the_values(origin, unit):
    x = mixed()
    mean, deviation = histogram(x, origin, unit).moments()
    assert deviation == pytest.approx(x.std(ddof=1), rel=MOMENTS_RTOL)
    assert mean == pytest.approx(x.mean(), abs=MOMENTS_RTOL * deviation)


@given(st.integers(1, len(EDGES) - 1), st.integers(1, len(EDGES) - 1), st.sampled_from([(0.0, 1.0), (0.3, 0.7)]))
def test_moments_with_fences_are_those_of_clipped_values(below, above, units):
    origin, unit = units
    x, bounds = mixed(), (-EDGES[below], EDGES[above])
    column = histogram(x, origin, unit)
    clipped = np.clip(x, origin + unit * bounds[0], origin + unit * bounds[1])
    mean, deviation = column.moments(bounds)
    assert deviation == pytest.approx(clipped.std(ddof=1), rel=MOMENTS_RTOL)
    assert mean == pytest.approx(clipped.mean(), abs=MOMENTS_RTOL * deviation)
    assert column.n_beyond(bounds) == (clipped != x).sum()


def test_fences_on_one_side_move_nothing_on_the_other():
    x = mixed()
    mean, deviation = histogram(x).moments((-np.inf, EDGES[20]))
    clipped = np.minimum(x, EDGES[20])
    assert_allclose([mean, deviation], [clipped.mean(), clipped.std(ddof=1)], rtol=MOMENTS_RTOL)


def test_values_at_the_edges_of_bins_count_once():
    x = np.concatenate([-EDGES[::-1], EDGES])
    column = histogram(x)
    assert column.n_known == len(x)
    clipped = np.clip(x, -EDGES[40], EDGES[300])
    mean, deviation = column.moments((-EDGES[40], EDGES[300]))
    assert_allclose([mean, deviation], [clipped.mean(), clipped.std(ddof=1)], rtol=MOMENTS_RTOL)


# Parts and the whole


@given(st.lists(st.integers(0, 3000), max_size=6), st.booleans())
def test_any_split_joined_is_the_whole(cuts, weighted):
    rng = np.random.default_rng(0)
    x = np.where(rng.random(3000) < 0.1, np.nan, rng.standard_cauchy(3000))
    weights = rng.integers(0, 4, 3000).astype(np.float64) if weighted else None
    ends = [0, *sorted(cuts), 3000]
    parts = [
        histogram(x[a:b], weights=None if weights is None else weights[a:b], first_row=a) for a, b in pairwise(ends)
    ]
    joined = parts[0]
    for part in parts[1:]:
        joined = joined.joined(part)
    whole = histogram(x, weights=weights)
    assert_array_equal(joined.counts, whole.counts)
    assert_allclose(joined.sums, whole.sums, rtol=1e-12)
    assert_allclose(joined.squares, whole.squares, rtol=1e-12)
    for name in ("n_blank", "n_known", "low", "high", "low_row", "high_row", "whole"):
        assert getattr(joined, name) == getattr(whole, name)


def test_weights_are_repetition():
    rng = np.random.default_rng(0)
    x = np.where(rng.random(4000) < 0.05, np.nan, replaced(rng.normal(size=4000), 0.002, lambda v, _: 1000 * v))
    weights = rng.integers(0, 5, 4000)
    weighted = histogram(x, weights=weights.astype(np.float64))
    repeated = histogram(np.repeat(x, weights))
    assert_array_equal(weighted.counts, repeated.counts)
    assert weighted.n_blank == repeated.n_blank
    assert (weighted.low, weighted.high) == (repeated.low, repeated.high)
    assert_allclose(weighted.moments(), repeated.moments(), rtol=MOMENTS_RTOL)
    one, other = fence(weighted), fence(repeated)
    assert (one.low, one.high) == (other.low, other.high)
    assert_allclose([one.mean, one.deviation], [other.mean, other.deviation], rtol=MOMENTS_RTOL)
    assert one.far.n_values == other.far.n_values


def test_rows_of_weight_zero_do_not_count():
    x, weights = np.array([1e9, 1.0, 2.0, np.nan, -1e9]), np.array([0.0, 1.0, 1.0, 0.0, 0.0])
    column = histogram(x, weights=weights, first_row=100)
    assert (column.low, column.high, column.low_row, column.high_row) == (1.0, 2.0, 101, 102)
    assert (column.n_known, column.n_blank) == (2.0, 0.0)


def test_blanks_are_counted_and_change_nothing_else():
    x = mixed()
    holes = np.insert(x, np.arange(0, len(x), 7), np.nan)
    found, expected = histogram(holes), histogram(x)
    assert_array_equal(found.counts, expected.counts)
    assert found.n_blank == np.isnan(holes).sum()
    assert (holes[found.low_row], holes[found.high_row]) == (x.min(), x.max())
    assert (fence(found).low, fence(found).high) == (fence(expected).low, fence(expected).high)


def test_a_column_without_values_joins_any_other():
    nothing, something = histogram(np.full(3, np.nan)), histogram([1.0, 2.5], first_row=3)
    assert (nothing.n_known, nothing.n_blank, nothing.varies) == (0.0, 3.0, False)
    for joined in (nothing.joined(something), something.joined(nothing)):
        assert (joined.low, joined.high, joined.low_row, joined.high_row) == (1.0, 2.5, 3, 4)
        assert (joined.n_known, joined.n_blank, joined.whole) == (2.0, 3.0, False)


def test_the_first_row_of_an_extreme_is_kept():
    first = histogram([0.0, 5.0, 5.0, -1.0], first_row=10)
    joined = first.joined(histogram([-1.0, 5.0], first_row=14))
    assert (joined.low_row, joined.high_row) == (13, 11)


def test_whole_numbers_are_told_from_others():
    assert histogram([1.0, -3.0, 1e17]).whole
    assert not histogram([1.0, 2.5]).whole
    assert not histogram([1.0, 2.0]).joined(histogram([2.5])).whole


def test_what_differs_by_rounding_only_does_not_vary():
    assert not histogram([0.1 + 0.2, 0.3]).varies
    assert not histogram([7.0, 7.0]).varies
    assert histogram([0.3, 0.30001]).varies
    assert histogram([-1.7e308, 1.7e308]).varies


# Values that numbers hardly hold


@pytest.mark.parametrize("unit", [1.0, 1e-12, 1e12])
@pytest.mark.parametrize("value", [1e300, -1e300, 1.7e308])
def test_one_huge_value_is_named_and_the_unit_is_what_it_was(value, unit):
    x = unit * normal(n_rows=MANY_ROWS)
    before = x.std(ddof=1)
    x[11] = value
    found = fence(surveyed(x))
    assert (found.far.row, found.far.value, found.far.ruled) == (11, value, True)
    assert found.far.n_values == 1
    assert found.deviation == pytest.approx(before, rel=0.01)
    assert found.far.deviation == pytest.approx(abs(value) / np.sqrt(len(x)), rel=0.05)


@pytest.mark.parametrize("factor", [1e-300, 1e-150, 1e150, 1e300])
def test_columns_of_tiny_and_huge_units_are_like_others(factor):
    x = normal(n_rows=5000)
    found = surveyed(factor * x)
    assert fence(found).far is None
    assert_allclose(np.array(found.moments()) / factor, surveyed(x).moments(), rtol=1e-10)


def test_far_values_may_stay_but_for_those_that_have_no_squares():
    x = replaced(normal(), 0.001, lambda v, _: 1000 * v)
    kept = fence(surveyed(x), clip=False)
    assert (kept.low, kept.high, kept.far) == (-np.inf, np.inf, None)
    assert kept.deviation == pytest.approx(x.std(ddof=1), rel=MOMENTS_RTOL)
    x[7] = 1e300
    kept = fence(surveyed(x), clip=False)
    assert 1e15 < kept.high < 1e30
    assert np.isfinite(kept.deviation)


# Fences


def flags(share, seed=0):
    return np.where(drawn("random", seed=seed) < share, 1.0, 0.0)


COLUMNS = {
    # far values
    "a few times 1000": lambda: replaced(normal(), 0.001, lambda v, _: 1000 * v),
    "a few times 1000, elsewhere": lambda: 1e6 + replaced(normal(), 0.001, lambda v, _: 1000 * v),
    "one value": lambda: replaced(normal(), 0.0, lambda v, _: v + 1e6),
    "whole numbers and a mistake": lambda: replaced(drawn("integers", 0, 100), 5e-5, lambda v, _: 0 * v + 1e7),
    "counts and a mistake": lambda: replaced(drawn("poisson", 1.0), 1e-4, lambda v, _: 0 * v + 1e4),
    "a long tail and mistakes": lambda: replaced(drawn("lognormal"), 5e-5, lambda v, _: 0 * v + 1e9),
    "a small group far away": lambda: replaced(normal(), 0.003, lambda v, _: 1000 + v),
    # tails
    "Cauchy": lambda: drawn("standard_cauchy"),
    "very skewed": lambda: drawn("lognormal", 0.0, 2.0),
    "lognormal": lambda: drawn("lognormal"),
    "exponential": lambda: drawn("exponential"),
    "Pareto": lambda: drawn("pareto", 3.0),
    "t with two degrees": lambda: drawn("standard_t", 2),
    # nothing at all
    "normal": normal,
    "uniform": lambda: drawn("random"),
    "two groups": lambda: replaced(normal(), 0.2, lambda v, _: 1000 + v),
    # few different values
    "whole numbers": lambda: drawn("integers", 0, 100),
    "counts": lambda: drawn("poisson", 1.0),
    "flags": lambda: flags(0.3),
    "rare flags": lambda: flags(0.01),
    "very rare flags": lambda: flags(0.001),
    "mostly zero": lambda: replaced(0 * normal(), 0.4, lambda v, rng: rng.poisson(3.0, len(v))),
    "nearly all zero": lambda: replaced(0 * normal(), 0.045, lambda v, rng: rng.exponential(size=len(v))),
    "all but a hundredth zero": lambda: replaced(0 * normal(), 0.02, lambda v, rng: 1 + rng.random(len(v))),
}
RULED = {
    "a few times 1000",
    "a few times 1000, elsewhere",
    "one value",
    "whole numbers and a mistake",
    "counts and a mistake",
    "a long tail and mistakes",
    "a small group far away",
    "Cauchy",
    "very skewed",
}


@pytest.mark.parametrize("name", COLUMNS)
def test_fences_are_those_of_tables_in_memory(name):
    x = COLUMNS[name]()
    found, expected = fence(surveyed(x)), find_fences(x[:, None])
    y = expected.clip(x[:, None])[:, 0]
    z = (np.clip(x, found.low, found.high) - found.mean) / found.deviation
    z_expected = (y - y.mean()) / max(y.std(ddof=1), least_unit(y, y.mean()))
    assert_allclose(z, z_expected, atol=FENCES_RTOL * np.abs(z_expected).max())
    far = expected.far[0] if expected.far else None
    assert (found.far is not None and found.far.ruled) == (far is not None and far.ruled) == (name in RULED)
    if found.far is not None and far is not None:
        assert (found.far.row, found.far.value) == (far.row, far.value)
        assert found.far.deviation == pytest.approx(far.deviation, rel=1e-9)


@pytest.mark.parametrize("name", COLUMNS)
def test_units_are_exact_for_the_fences_that_were_found(name):
    x = COLUMNS[name]()
    found = fence(surveyed(x))
    clipped = np.clip(x, found.low, found.high)
    deviation = clipped.std(ddof=1)
    assert found.deviation == pytest.approx(max(deviation, least_unit(clipped, clipped.mean())), rel=1e-9)
    assert found.mean == pytest.approx(clipped.mean(), abs=1e-9 * found.deviation + 1e-15 * abs(found.mean))
    if found.far is not None:
        assert found.far.n_values == (clipped != x).sum() > 0
        assert found.far.moved_deviation == pytest.approx(deviation, rel=1e-9)


@pytest.mark.parametrize("name", sorted(RULED - {"a long tail and mistakes"}))
def test_fences_of_a_ruled_column_stand_at_the_end_of_what_is_usual(name):
    x = COLUMNS[name]()
    found = fence(surveyed(x))
    first, last = np.quantile(x, [0.25, 0.75])
    robust = (last - first) / 1.349
    for end in (found.low, found.high):
        if np.isfinite(end):
            assert abs(end - np.median(x)) / robust == pytest.approx(FENCE, rel=0.25)


@pytest.mark.parametrize("name", ["lognormal", "exponential", "Pareto", "t with two degrees"])
def test_a_legitimate_tail_is_bounded_but_not_cut_short(name):
    x = COLUMNS[name]()
    found = fence(surveyed(x))
    reach = np.abs(np.array([found.low, found.high]) - found.mean) / found.deviation
    assert 0.8 * BOUNDED_REACH < reach[np.isfinite(reach)].max() < 1.2 * BOUNDED_REACH
    assert found.far.n_values < 0.005 * len(x)


@pytest.mark.parametrize("share", [0.05, 0.02, 0.01, 0.002])
@pytest.mark.parametrize("center", [0.0, 7.0, -1e6])
def test_a_column_that_few_rows_vary_in_stays_a_column_that_varies(center, share):
    x = center + replaced(0 * normal(), share, lambda v, rng: 1 + rng.exponential(size=len(v)))
    found = fence(surveyed(x))
    z = (np.clip(x, found.low, found.high) - found.mean) / found.deviation
    assert found.deviation > 0
    assert_allclose(z[x == center], z[x == center][0])
    assert z[x != center].min() > z[x == center][0] + 1


def test_a_column_that_is_constant_in_the_rows_that_are_looked_at_first_keeps_its_unit():
    x = np.full(N_ROWS, 7.0)
    rows = np.array([20_011, 30_001, 40_001, 50_003, 59_000])
    x[rows] += [0.1, 0.4, 0.9, 0.2, 0.7]
    column = surveyed(x)
    assert column.moments() == pytest.approx((x.mean(), x.std(ddof=1)), rel=1e-9)
    found = fence(column)
    assert found.deviation > 0
    assert found.far is None or found.far.n_values <= len(rows)


def test_zeros_in_nineteen_of_twenty_rows_do_not_make_the_others_outliers():
    x = replaced(0 * normal(), 0.05, lambda v, rng: rng.exponential(size=len(v)))
    found = fence(surveyed(x))
    assert found.far is None or not found.far.ruled
    assert found.deviation > 0.5 * x.std(ddof=1)


def test_fences_follow_shift_and_unit():
    x = COLUMNS["a few times 1000"]()
    plain, moved = fence(surveyed(x)), fence(surveyed(4.0 * x + 64.0))
    assert_allclose([moved.low, moved.high], [4.0 * plain.low + 64.0, 4.0 * plain.high + 64.0], rtol=1e-9)
    assert moved.far.n_values == plain.far.n_values


def test_fences_do_not_depend_on_the_first_guess_by_much():
    x = COLUMNS["a few times 1000"]()
    for origin, unit in [(0.5, 0.5), (-1.0, 2.0), (0.0, 1.0)]:
        found = fence(histogram(x, origin, unit))
        assert found.far.ruled
        assert_allclose([found.low, found.high], [-5.0, 5.0], rtol=0.1)


def test_a_robust_unit_may_be_had_without_fences():
    x = COLUMNS["a few times 1000"]()
    found = fence(surveyed(x), robust_scale=False)
    assert found.deviation == pytest.approx(1.0, rel=0.05)
    assert found.high > 1.5 * FENCE
    assert not found.far.ruled
