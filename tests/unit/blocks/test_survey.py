"""The first pass: a sample that depends on the rows alone, levels and blanks counted, the same bits from anywhere."""

from __future__ import annotations

import datetime
import decimal
from collections import Counter

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from kfrc.blocks import BLOCK_ROWS, SAMPLE_ROWS, LocalEngine, Partition, Reader
from kfrc.blocks.chunks import BlockChunks
from kfrc.blocks.histogram import Histogram
from kfrc.blocks.levels import LevelCounts
from kfrc.blocks.plans import plan_columns
from kfrc.blocks.reader import Coding
from kfrc.blocks.survey import SurveyPass, sample_threshold
from kfrc.sources import (
    ArraySource,
    ArrowSource,
    Chunk,
    CSVSource,
    DaskSource,
    ParquetSource,
    Source,
    row_hashes,
)

N_ROWS = 2 * BLOCK_ROWS + 5000
N_MIXED = BLOCK_ROWS + 3000


class Pieces(Source):
    """An Arrow table that comes in pieces of given sizes."""

    def __init__(self, table, sizes=(10**9,), weights=None):
        self.table, self.sizes, self.weights = table, sizes, weights
        self.names, self.n_rows = tuple(table.column_names), table.num_rows
        self.weight_name = None if weights is None else "w"

    def chunks(self, start, stop):
        k = 0
        while start < stop:
            end = min(start + self.sizes[k % len(self.sizes)], stop)
            part = self.table.slice(start, end - start)
            weights = None if self.weights is None else self.weights[start:end]
            yield Chunk(part.columns, weights)
            start, k = end, k + 1


def survey(source, types=None, n_threads=1, task_blocks=1, threshold=None):
    plans = plan_columns(source, types)
    found = SurveyPass(tuple(plans), sample_threshold(source.n_rows) if threshold is None else threshold)
    reader = Reader(source, Coding(), Partition(source.n_rows, task_blocks))
    return LocalEngine(n_threads).run_on_chunks(found, reader, "")


@pytest.fixture(scope="module")
def values():
    rng = np.random.default_rng(0)
    return np.column_stack([rng.standard_normal(N_ROWS), rng.standard_cauchy(N_ROWS)])


@pytest.fixture(scope="module")
def whole(values):
    return survey(ArraySource(values))


def assert_same_bits(found, expected):
    """What two surveys found, to the last bit."""
    for column, other in zip(found.columns, expected.columns, strict=True):
        assert_array_equal(column.counts, other.counts)
        assert_array_equal(column.sums, other.sums)
        assert_array_equal(column.squares, other.squares)
        assert (column.low, column.high, column.low_row, column.high_row) == (
            other.low,
            other.high,
            other.low_row,
            other.high_row,
        )
    assert_array_equal(found.sample.rows, expected.sample.rows)
    for column, other in zip(found.sample.columns, expected.sample.columns, strict=True):
        assert_array_equal(column, other)
    assert (found.n_rows, found.total) == (expected.n_rows, expected.total)


# The sample


def test_the_sample_is_the_rows_with_the_smallest_hashes(values, whole):
    sample = whole.sample.smallest(SAMPLE_ROWS)
    expected = np.sort(np.argsort(row_hashes(np.arange(N_ROWS)))[:SAMPLE_ROWS])
    assert len(sample.rows) == SAMPLE_ROWS == 20_000
    assert_array_equal(sample.rows, expected)
    assert_array_equal(np.column_stack(sample.columns), values[expected])
    assert sample.weights is None


@pytest.mark.parametrize(("n_threads", "task_blocks"), [(1, 2), (2, 1), (3, 4)])
def test_a_survey_does_not_depend_on_tasks_and_threads(values, whole, n_threads, task_blocks):
    assert_same_bits(survey(ArraySource(values), None, n_threads, task_blocks), whole)


@pytest.mark.parametrize("sizes", [(BLOCK_ROWS,), (30_000,), (1, 77_777, 12)])
def test_a_survey_does_not_depend_on_the_pieces_of_its_source(values, whole, sizes):
    table = pa.table({"a": values[:, 0], "b": values[:, 1]})
    assert_same_bits(survey(Pieces(table, sizes)), whole)


def test_a_survey_is_the_same_wherever_rows_come_from(values, whole, tmp_path):
    table = pa.table({"a": values[:, 0], "b": values[:, 1]})
    folder = tmp_path / "rows"
    folder.mkdir()
    for k, start in enumerate(range(0, N_ROWS, 50_000)):
        pq.write_table(table.slice(start, 50_000), folder / f"part.{k}.parquet", row_group_size=17_000)
    pa_csv.write_csv(table, tmp_path / "rows.csv")
    mapped = np.memmap(tmp_path / "rows.bin", mode="w+", shape=values.shape, dtype=np.float64, order="F")
    mapped[:] = values
    frame = dd.from_pandas(pd.DataFrame(values, columns=["a", "b"]), npartitions=5)
    for source in (
        ParquetSource(folder),
        CSVSource(tmp_path / "rows.csv"),
        ArrowSource(ds.dataset(folder)),
        ArraySource(mapped),
        ArraySource(np.asfortranarray(values)),
        DaskSource(frame),
        DaskSource(da.from_array(values, chunks=(33_333, 1))),
    ):
        assert_same_bits(survey(source), whole)


@given(st.integers(1, 10**12))
def test_the_threshold_leaves_enough_rows_and_not_many_more(n_rows):
    share = sample_threshold(n_rows) / 2**64
    assert share * n_rows >= min(n_rows, 1.29 * SAMPLE_ROWS) * (1 - 1e-9)
    assert share * n_rows <= 2 * SAMPLE_ROWS + 1


@pytest.mark.parametrize("n_rows", [100, SAMPLE_ROWS, 2 * SAMPLE_ROWS, 2 * SAMPLE_ROWS + 1, 50_000, 300_000])
def test_a_sample_has_as_many_rows_as_it_should(n_rows):
    found = survey(ArraySource(np.arange(float(n_rows))[:, None])).sample
    assert min(n_rows, SAMPLE_ROWS) <= len(found.rows) <= 2 * SAMPLE_ROWS
    kept = found.smallest(SAMPLE_ROWS)
    assert len(kept.rows) == min(n_rows, SAMPLE_ROWS)
    assert (np.diff(kept.rows) > 0).all()
    assert_array_equal(kept.columns[0], kept.rows)


def test_hashes_of_rows_are_as_good_as_random():
    hashes = row_hashes(np.arange(10**5))
    assert len(np.unique(hashes)) == 10**5
    uniform = hashes / 2.0**64
    counts = np.histogram(uniform, 100, (0.0, 1.0))[0]
    assert ((counts - 1000.0) ** 2 / 1000.0).sum() < 150  # χ² with 99 degrees of freedom
    assert abs(np.corrcoef(uniform[:-1], uniform[1:])[0, 1]) < 0.02


def test_rows_of_weight_zero_are_not_sampled():
    weights = np.where(np.arange(30_000) % 3 == 0, 0.0, 2.0)
    found = survey(ArraySource(np.arange(30_000.0)[:, None], weights=weights))
    assert found.total == 40_000.0
    assert (found.n_rows, len(found.sample.rows)) == (30_000, 20_000)
    assert (found.sample.rows % 3 > 0).all()
    assert_array_equal(found.sample.weights, np.full(20_000, 2.0))


# Levels

DAY = datetime.date(2024, 1, 1)


def mixed_table(n_rows=N_MIXED, seed=0):
    """Columns of all kinds, with blanks in each."""
    rng = np.random.default_rng(seed)

    def with_blanks(drawn):
        cells = drawn.astype(object)
        cells[rng.random(n_rows) < 0.1] = None
        return cells.tolist()

    days = np.array([DAY + datetime.timedelta(days=int(day)) for day in range(400)], dtype=object)
    cents = np.array([decimal.Decimal(cent) / 100 for cent in range(1000)], dtype=object)
    return pa.table(
        {
            "number": pa.array(with_blanks(rng.standard_normal(n_rows))),
            "count": pa.array(with_blanks(rng.integers(0, 9, n_rows)), pa.int32()),
            "text": pa.array(with_blanks(rng.choice(["u", "v", "w"], n_rows, p=[0.7, 0.2, 0.1]))),
            "level": pa.array(with_blanks(rng.choice(["red", "blue"], n_rows))).dictionary_encode(),
            "truth": pa.array(with_blanks(rng.random(n_rows) < 0.3)),
            "day": pa.array(with_blanks(rng.choice(days, n_rows))),
            "price": pa.array(with_blanks(rng.choice(cents, n_rows)), pa.decimal128(10, 2)),
            "nothing": pa.nulls(n_rows),
        }
    )


@pytest.fixture(scope="module")
def mixed():
    return mixed_table()


def by_name(source, **options):
    plans = plan_columns(source, options.get("types"))
    found = survey(source, **options)
    return {source.names[plan.position]: column for plan, column in zip(plans, found.columns, strict=True)}, found


@pytest.mark.parametrize("sizes", [(10**9,), (40_000, 13)])
def test_levels_of_mixed_tables_are_counted(mixed, sizes):
    columns, _ = by_name(Pieces(mixed, sizes), n_threads=2)
    for name in ("text", "level", "truth"):
        cells = mixed[name].to_pylist()
        found = columns[name]
        assert isinstance(found, LevelCounts)
        assert found.complete
        assert found.counts == Counter(cell for cell in cells if cell is not None)
        assert found.n_blank == cells.count(None)


def test_numbers_of_mixed_tables_are_measured(mixed):
    columns, _ = by_name(Pieces(mixed, (40_000,)))
    for name in ("number", "count", "price", "day"):
        cells = mixed[name].to_pylist()
        known = [cell for cell in cells if cell is not None]
        x = np.array([(cell - datetime.date(1970, 1, 1)).days if name == "day" else float(cell) for cell in known])
        found = columns[name]
        assert isinstance(found, Histogram)
        assert (found.n_known, found.n_blank) == (len(known), cells.count(None))
        assert_allclose(found.moments(), [x.mean(), x.std(ddof=1)], rtol=1e-9, atol=1e-12)
        assert (found.low, found.high) == (x.min(), x.max())


def test_a_column_of_nothing_is_blank_in_every_row(mixed):
    columns, _ = by_name(Pieces(mixed))
    assert columns["nothing"].n_blank == N_MIXED


def test_weights_of_levels_and_blanks_are_added_up(mixed):
    weights = np.random.default_rng(0).integers(0, 5, N_MIXED).astype(np.float64)
    columns, found = by_name(Pieces(mixed, (40_000,), weights))
    assert found.total == weights.sum()
    for name in ("text", "level", "truth"):
        cells = pd.Series(mixed[name].to_pylist(), dtype=object)
        expected = pd.Series(weights).groupby(cells).sum()
        assert columns[name].counts == Counter(expected.to_dict())
        assert columns[name].n_blank == weights[cells.isna()].sum()


def test_levels_that_only_rows_of_weight_zero_have_do_not_count():
    table = pa.table({"s": ["a", "b", "a"], "t": pa.array(["x", None, "y"]).dictionary_encode()})
    columns, _ = by_name(Pieces(table, weights=np.array([1.0, 0.0, 2.0])))
    assert columns["s"].counts == {"a": 3.0}
    assert columns["t"].counts == {"x": 1.0, "y": 2.0}
    assert columns["t"].n_blank == 0.0


def test_dictionaries_may_differ_from_piece_to_piece():
    parts = [pa.array(cells).dictionary_encode() for cells in (["a", "b"], ["c", "a", None], ["b", "b"])]
    table = pa.table({"s": pa.chunked_array(parts)})
    for sizes in ((2, 3, 2), (7,), (3,)):
        columns, found = by_name(Pieces(table, sizes))
        assert columns["s"].counts == {"a": 2, "b": 3, "c": 1}
        assert columns["s"].n_blank == 1
        assert found.sample.columns[0].tolist() == ["a", "b", "c", "a", None, "b", "b"]


def test_codes_of_whole_numbers_may_be_asked_for_as_levels():
    table = pa.table({"k": pa.array([3, 1, None, 3], pa.int64()), "x": [1.0, 2.0, 3.0, 4.0]})
    columns, _ = by_name(Pieces(table), types={"k": "nominal"})
    assert columns["k"].counts == {3: 2, 1: 1}
    assert columns["k"].n_blank == 1


def test_more_values_than_can_be_counted_are_not_counted():
    table = pa.table({"name": [f"row {row}" for row in range(N_ROWS)], "x": np.arange(float(N_ROWS))})
    columns, _ = by_name(Pieces(table, (20_000,)))
    assert not columns["name"].complete
    assert columns["name"].counts == {}


def test_the_sample_holds_values_as_the_source_does(mixed):
    _, found = by_name(Pieces(mixed, (40_000,)))
    sample = found.sample.smallest(500)
    names = [name for name in mixed.column_names if name in ("text", "level", "truth")]
    plans = plan_columns(Pieces(mixed), None)
    for plan, column in zip(plans, sample.columns, strict=True):
        name = mixed.column_names[plan.position]
        if name in names:
            cells = mixed[name].to_pylist()
            assert column.tolist() == [cells[row] for row in sample.rows]


# Blanks and infinity


def test_rows_of_which_nothing_is_known_are_counted_and_the_first_are_named():
    table = mixed_table(n_rows=BLOCK_ROWS + 100)
    rows = np.array([3, 17, BLOCK_ROWS - 1, BLOCK_ROWS, BLOCK_ROWS + 99])
    blank = np.zeros(table.num_rows, dtype=bool)
    blank[rows] = True
    table = pa.table(
        {
            name: pc.if_else(pa.array(blank), pa.nulls(len(blank), table[name].type), table[name])
            for name in ("number", "text", "level", "truth", "day")
        }
    )
    expected = np.flatnonzero(np.all([column.is_null().to_numpy() for column in table.columns], axis=0))
    _, found = by_name(Pieces(table, (30_000,)), n_threads=2)
    assert set(rows) <= set(expected)
    assert found.n_blank_rows == len(expected)
    assert found.first_blanks == tuple(expected[:10])


def test_only_the_first_ten_blank_rows_are_named():
    values = np.arange(100.0)
    values[::2] = np.nan
    found = survey(ArraySource(values[:, None]))
    assert found.n_blank_rows == 50
    assert found.first_blanks == tuple(range(0, 20, 2))


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinity_is_refused_with_column_and_row(value):
    values = np.zeros((BLOCK_ROWS + 50, 2))
    values[:, 0] = np.arange(len(values))
    values[BLOCK_ROWS + 7, 1] = value
    table = pa.table({"a": values[:, 0], "b": values[:, 1]})
    for source in (Pieces(table, (10_000,)), ArraySource(values, names=["a", "b"])):
        with pytest.raises(ValueError, match=rf"column 'b' contains infinity .*row {BLOCK_ROWS + 7}\)"):
            survey(source)


# Plans


def test_columns_that_are_dropped_are_not_looked_at(mixed):
    columns, _ = by_name(Pieces(mixed), types={"text": "drop", "nothing": "drop"})
    assert "text" not in columns
    assert "nothing" not in columns


def test_types_of_columns_that_do_not_exist_are_refused(mixed):
    with pytest.raises(ValueError, match="'q'"):
        plan_columns(Pieces(mixed), {"q": "nominal"})


def test_plans_carry_no_rows_to_workers(mixed):
    assert all(len(plan.raw.values) == 0 for plan in plan_columns(Pieces(mixed), None))


def test_a_constant_column_is_planned_with_a_unit():
    (plan,) = plan_columns(ArraySource(np.full((1000, 1), 7.0)), None)
    assert (plan.origin, plan.unit) == (7.0, 7.0)
    (plan,) = plan_columns(ArraySource(np.zeros((1000, 1))), None)
    assert (plan.origin, plan.unit) == (0.0, 1.0)


def test_the_first_guess_does_not_come_from_the_first_rows_alone():
    x = np.sort(np.random.default_rng(0).normal(50.0, 4.0, N_ROWS))
    (plan,) = plan_columns(ArraySource(x[:, None]), None)
    assert plan.origin == pytest.approx(50.0, abs=2.0)
    assert plan.unit == pytest.approx(4.0, rel=0.5)


# Blocks of raw rows


@pytest.mark.parametrize("sizes", [(BLOCK_ROWS,), (1000,), (1, 99_999), (10**9,)])
def test_raw_rows_come_in_whole_blocks(mixed, sizes):
    weights = np.arange(float(N_MIXED))
    found = list(BlockChunks(Pieces(mixed, sizes, weights), 0, N_MIXED))
    assert [first for _, first in found] == [0, BLOCK_ROWS]
    assert [len(chunk) for chunk, _ in found] == [BLOCK_ROWS, 3000]
    assert_array_equal(np.concatenate([chunk.weights for chunk, _ in found]), weights)
    for place in (0, 3):
        cells = [cell for chunk, _ in found for cell in chunk.columns[place].to_pylist()]
        assert cells == mixed.column(place).to_pylist()
