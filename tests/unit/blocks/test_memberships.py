"""Memberships beyond memory: made when they are asked for, and written so that a folder is complete or says so."""

from __future__ import annotations

import errno
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kfrc.blocks import (
    BLOCK_ROWS,
    LazyLabels,
    LocalEngine,
    Partition,
    PredictedMemberships,
    Reader,
    StoredMemberships,
)
from kfrc.blocks.memberships import FINISHED, BlockMemberships
from kfrc.blocks.reader import Coding
from kfrc.blocks.row_maps import BlockCenters, PointMap
from kfrc.fuzzifiers import Fuzzifier
from kfrc.kernels.linear import Linear
from kfrc.sources import ArraySource, ArrowSource, ParquetSource, SourceError

N_ROWS = 3 * BLOCK_ROWS + 777
NAMES = ["part-00000.parquet", "part-00001.parquet", "part-00002.parquet", "part-00003.parquet"]
CENTERS = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]])
RULE = Fuzzifier.from_name("power")


@pytest.fixture(scope="module")
def values():
    rng = np.random.default_rng(0)
    return CENTERS[rng.integers(3, size=N_ROWS)] + rng.standard_normal((N_ROWS, 2))


@pytest.fixture(scope="module")
def expected(values):
    squared = np.square(values[:, None] - CENTERS).sum(axis=2)
    return RULE.memberships(squared)


@pytest.fixture(scope="module")
def table(values):
    names = pa.array(np.char.add("row ", np.arange(N_ROWS).astype(str)))
    return pa.table({"x": values[:, 0], "y": values[:, 1], "id": names})


@pytest.fixture(scope="module")
def folder(table, tmp_path_factory):
    """The rows in files."""
    folder = tmp_path_factory.mktemp("rows")
    for k, start in enumerate(range(0, N_ROWS, 90_000)):
        pq.write_table(table.slice(start, 90_000), folder / f"{k}.parquet", row_group_size=40_000)
    return folder


def memberships_of(source, task_blocks=1):
    rows = PointMap(Linear(), np.ones(2), None, np.zeros(2))
    centers = BlockCenters(CENTERS.T.copy(), np.ones((1, 3)), np.ones(3, dtype=bool))
    return BlockMemberships(Reader(source, Coding(), Partition(source.n_rows, task_blocks)), rows, centers, RULE)


@pytest.fixture
def lazy(folder):
    return memberships_of(ParquetSource(folder, columns=["x", "y"]))


@pytest.fixture(autouse=True)
def one_file_per_block(monkeypatch):
    monkeypatch.setattr("kfrc.blocks.memberships._PART_ROWS", BLOCK_ROWS)


def contents(folder):
    """Names of the files in a folder."""
    return sorted(path.name for path in Path(folder).iterdir())


def of_table(table):
    return np.column_stack([table[f"cluster_{i}"].to_numpy() for i in range(3)])


def nearest(folder):
    return pq.read_table(folder, columns=["label"])["label"].to_numpy()


# In memory


def test_memberships_are_those_of_the_rule(lazy, expected):
    assert lazy.shape == (len(lazy), lazy.n_clusters) == (N_ROWS, 3)
    assert_allclose(np.asarray(lazy), expected, rtol=0, atol=1e-12)
    assert_allclose(np.asarray(lazy).sum(axis=1), 1.0, rtol=1e-12)


def test_the_first_rows_can_be_had_alone(lazy, expected):
    assert_allclose(lazy.head(), expected[:5], atol=1e-12)
    for n_rows in (0, 1, BLOCK_ROWS, BLOCK_ROWS + 3):
        assert_array_equal(lazy.head(n_rows), np.asarray(lazy)[:n_rows])
    assert lazy.head(10**9).shape == (N_ROWS, 3)


def test_the_first_rows_cost_one_block():
    class Watched(ArraySource):
        last = 0

        def chunks(self, start, stop):
            Watched.last = max(Watched.last, stop)
            return super().chunks(start, stop)

    memberships_of(Watched(np.zeros((N_ROWS, 2)))).head(3)
    assert Watched.last == BLOCK_ROWS


def test_blocks_come_in_order_and_from_any_block_on(lazy):
    U = np.asarray(lazy)
    for engine in (None, LocalEngine(1), LocalEngine(3)):
        for first_block in (0, 1, 3):
            blocks = list(lazy.blocks(engine, first_block))
            assert [first for first, _ in blocks] == [k * BLOCK_ROWS for k in range(first_block, 4)]
            assert_array_equal(np.concatenate([part for _, part in blocks]), U[first_block * BLOCK_ROWS :])


def test_memberships_are_the_same_bits_whoever_computes_them(lazy, values):
    U = np.asarray(lazy)
    for task_blocks in (1, 2, 4):
        found = memberships_of(ArraySource(values), task_blocks)
        assert_array_equal(np.concatenate([part for _, part in found.blocks(LocalEngine(2))]), U)


def test_an_array_may_be_of_another_type(lazy):
    assert np.asarray(lazy, dtype=np.float32).dtype == np.float32
    assert np.array(lazy).shape == (N_ROWS, 3)


def test_labels_are_the_largest_memberships(lazy, expected):
    labels = LazyLabels(lazy)
    assert (labels.shape, len(labels)) == ((N_ROWS,), N_ROWS)
    assert_array_equal(np.asarray(labels), expected.argmax(axis=1))
    assert_array_equal(labels.head(7), expected[:7].argmax(axis=1))
    assert np.asarray(labels, dtype=np.int8).dtype == np.int8


@pytest.fixture(params=["memberships", "labels"])
def results(request, lazy):
    """A result of a source, and the same as an array."""
    result = lazy if request.param == "memberships" else LazyLabels(lazy)
    return result, np.concatenate([part for _, part in result.blocks()])


KEYS = [
    0,
    -1,
    np.int64(BLOCK_ROWS),
    slice(None),
    slice(5, 5),
    slice(BLOCK_ROWS - 3, 2 * BLOCK_ROWS + 4),
    slice(10, None, BLOCK_ROWS // 2),
    slice(None, None, -1000),
    slice(-3, None),
    slice(3, 10**9),
    np.array([7, 3, BLOCK_ROWS, -1]),
    [1, 2, 1],
    np.arange(N_ROWS) % 7 == 0,
    ...,
    None,
    (slice(2, 4), None),
    (),
]


@pytest.mark.parametrize("key", KEYS, ids=lambda key: str(key)[:20])
def test_results_index_as_arrays_do(results, key):
    result, array = results
    assert_allclose(result[key], array[key], rtol=1e-12)
    assert np.shape(result[key]) == np.shape(array[key])


@pytest.mark.parametrize(
    "key", [(5, 1), (slice(3, 9), 2), (slice(None), [0, 2]), (BLOCK_ROWS, slice(1)), (-2, -1)], ids=str
)
def test_memberships_index_by_cluster_too(lazy, expected, key):
    assert_allclose(lazy[key], expected[key], rtol=1e-9)


@pytest.mark.parametrize("key", [N_ROWS, -N_ROWS - 1, "a", 1.5])
def test_what_is_not_there_is_refused(results, key):
    with pytest.raises(IndexError):
        results[0][key]


def test_results_compare_compute_and_iterate_as_arrays_do(results):
    result, array = results
    assert (result.shape, result.ndim, result.size, len(result)) == (array.shape, array.ndim, array.size, len(array))
    assert result.dtype == array.dtype
    for pair in ((result == 1, array == 1), (result > 0.5, array > 0.5), (result != array[0], array != array[0])):
        assert isinstance(pair[0], np.ndarray)
        assert_array_equal(*pair)
    assert_allclose(2 * result - result, array)
    assert_allclose(np.sqrt(result), np.sqrt(array))
    assert np.add.reduce(result).shape == array.shape[1:]
    assert_allclose(np.concatenate([result, array]), np.concatenate([array, array]))
    assert_allclose(list(result)[-5:], array[-5:])
    assert_array_equal((result == result).all(), True)
    assert array[0] in result if array.ndim == 1 else True


def test_results_are_told_from_what_they_are_not(results):
    result, _ = results
    with pytest.raises(ValueError, match=r"ambiguous.*numpy.any"):
        bool(result)
    with pytest.raises(TypeError, match="unhashable"):
        hash(result)
    with pytest.raises(ValueError, match="copy=None"):
        np.asarray(result, copy=False)
    with pytest.raises(TypeError, match="cannot be written to"):
        result += 1
    with pytest.raises(TypeError):
        result[0] = 1


def test_rows_are_read_from_their_blocks_only(values, expected):
    read = []

    class Watched(ArraySource):
        def chunks(self, first, last, *args, **options):
            read.append((first, last))
            return super().chunks(first, last, *args, **options)

    found = memberships_of(Watched(values))
    read.clear()
    assert_allclose(found[2 * BLOCK_ROWS + 5 : 2 * BLOCK_ROWS + 9], expected[2 * BLOCK_ROWS + 5 : 2 * BLOCK_ROWS + 9])
    assert read
    assert min(first for first, _ in read) >= 2 * BLOCK_ROWS


def test_results_become_columns_of_tables(results):
    result, array = results
    if array.ndim == 1:
        assert_array_equal(pd.Series(result).to_numpy(), array)
        assert_array_equal(pd.DataFrame({"group": result})["group"].to_numpy(), array)
        assert_array_equal(np.unique(result, return_counts=True)[1], np.bincount(array))
    else:
        assert_allclose(pd.DataFrame(result).to_numpy(), array)


def test_an_array_that_does_not_fit_into_memory_is_refused_with_what_to_use(lazy, monkeypatch):
    monkeypatch.setattr("kfrc._numerics.available_memory", lambda: 1000.0)
    with pytest.raises(MemoryError, match=r"array of shape .*head\(n\), a slice or blocks"):
        np.asarray(lazy)


def test_names_say_what_there_is_without_computing_it(lazy):
    assert repr(lazy) == f"<memberships of {N_ROWS} rows in 3 clusters: head(n), blocks(), write_parquet(folder)>"
    assert str(N_ROWS) in repr(LazyLabels(lazy))


def test_an_empty_cluster_has_no_members(values):
    plain = memberships_of(ArraySource(values))
    centers = BlockCenters(plain.centers.means, plain.centers.masses, np.array([True, False, True]))
    found = BlockMemberships(plain.fitted, plain.rows, centers, plain.rule).head(100)
    assert_array_equal(found[:, 1], 0.0)
    assert_allclose(found.sum(axis=1), 1.0)


def test_memberships_that_are_there_already_are_read_in_blocks(values, expected):
    stored = StoredMemberships(ArraySource(values), expected)
    assert stored.shape == (N_ROWS, 3)
    assert_array_equal(np.asarray(stored), expected)
    assert [first for first, _ in stored.blocks(first_block=2)] == [2 * BLOCK_ROWS, 3 * BLOCK_ROWS]
    assert_array_equal(stored.head(2), expected[:2])


def test_predictions_are_made_chunk_by_chunk(folder, expected):
    sizes = []

    def predict(chunk):
        sizes.append(len(chunk))
        points = np.column_stack([column.to_numpy() for column in chunk.columns])
        return RULE.memberships(np.square(points[:, None] - CENTERS).sum(axis=2))

    found = PredictedMemberships(ParquetSource(folder, columns=["x", "y"]), 3, predict)
    assert_allclose(np.asarray(found), expected, rtol=0, atol=1e-12)
    assert max(sizes) <= BLOCK_ROWS
    assert_allclose(found.head(3), expected[:3], atol=1e-12)


# In files


def test_files_hold_memberships_and_labels_in_the_order_of_the_rows(lazy, tmp_path):
    files = lazy.write_parquet(tmp_path / "a" / "b")
    assert [file.name for file in files] == NAMES
    assert contents(tmp_path / "a" / "b") == sorted([*NAMES, FINISHED])
    assert (tmp_path / "a" / "b" / FINISHED).read_bytes() == b""
    tables = [pq.read_table(file) for file in files]
    assert [table.num_rows for table in tables] == [BLOCK_ROWS, BLOCK_ROWS, BLOCK_ROWS, 777]
    whole, U = pa.concat_tables(tables), np.asarray(lazy)
    assert set(whole.column_names) == {"cluster_0", "cluster_1", "cluster_2", "label"}
    assert_array_equal(of_table(whole), U)
    assert whole["label"].type == pa.int32()
    assert_array_equal(whole["label"].to_numpy(), U.argmax(axis=1))


def test_files_are_as_long_as_they_should_be(lazy, tmp_path, monkeypatch):
    monkeypatch.setattr("kfrc.blocks.memberships._PART_ROWS", 2 * BLOCK_ROWS)
    files = lazy.write_parquet(tmp_path)
    assert [pq.read_metadata(file).num_rows for file in files] == [2 * BLOCK_ROWS, BLOCK_ROWS + 777]
    assert_array_equal(nearest(tmp_path), np.asarray(LazyLabels(lazy)))


def test_files_are_the_same_whoever_computes_them(lazy, tmp_path):
    for name, engine in (("one", LocalEngine(1)), ("three", LocalEngine(3))):
        lazy.write_parquet(tmp_path / name, engine=engine)
    for name in NAMES:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "three" / name).read_bytes()


def test_columns_of_the_source_stand_beside_the_memberships(lazy, table, tmp_path):
    lazy.write_parquet(tmp_path, names=["id", "y"])
    found = pa.concat_tables([pq.read_table(tmp_path / name) for name in NAMES])
    assert found.column_names[:2] == ["id", "y"]
    assert found["id"].to_pylist() == table["id"].to_pylist()
    assert_array_equal(found["y"].to_numpy(), table["y"].to_numpy())


def test_levels_may_stand_beside_the_memberships(values, tmp_path):
    levels = pa.array(np.array(["u", "v", "w"])[np.arange(N_ROWS) // 70_000]).dictionary_encode()
    (tmp_path / "rows").mkdir()
    rows = pa.table({"x": values[:, 0], "y": values[:, 1], "s": levels})
    for k, start in enumerate(range(0, N_ROWS, 70_000)):
        pq.write_table(rows.slice(start, 70_000), tmp_path / "rows" / f"{k}.parquet")
    lazy = memberships_of(ParquetSource(tmp_path / "rows", columns=["x", "y"]))
    lazy.write_parquet(tmp_path / "out", names=["s"])
    found = [cell for name in NAMES for cell in pq.read_table(tmp_path / "out" / name)["s"].to_pylist()]
    assert found == levels.to_pylist()


def test_a_column_that_the_source_lacks_is_refused(lazy, values, tmp_path):
    with pytest.raises(SourceError, match="'q'"):
        lazy.write_parquet(tmp_path / "a", names=["q"])
    with pytest.raises(SourceError, match="no columns but"):
        memberships_of(ArraySource(values)).write_parquet(tmp_path / "b", names=["id"])
    assert contents(tmp_path / "a") == contents(tmp_path / "b") == []


@pytest.mark.parametrize("taken", ["label", "cluster_2"])
def test_a_column_named_like_memberships_cannot_stand_beside_them(values, tmp_path, taken):
    pq.write_table(pa.table({"x": values[:9, 0], "y": values[:9, 1], taken: range(9)}), tmp_path / "rows.parquet")
    lazy = memberships_of(ParquetSource(tmp_path / "rows.parquet", columns=["x", "y"]))
    with pytest.raises(ValueError, match=f"'{taken}'"):
        lazy.write_parquet(tmp_path / "out", names=[taken])
    assert not (tmp_path / "out").exists()


def test_what_was_in_the_folder_before_is_replaced(lazy, tmp_path):
    for name in [*NAMES, "part-00009.parquet"]:
        pq.write_table(pa.table({"old": [1]}), tmp_path / name)
    (tmp_path / FINISHED).touch()
    lazy.write_parquet(tmp_path)
    assert contents(tmp_path) == sorted([*NAMES, FINISHED])
    assert_array_equal(nearest(tmp_path), np.asarray(LazyLabels(lazy)))


def test_files_of_others_stay_where_they_are(lazy, tmp_path):
    others = ["part-00000-c1f9.snappy.parquet", "part.0.parquet", "notes.txt"]
    for name in others:
        (tmp_path / name).write_text("mine")
    files = lazy.write_parquet(tmp_path)
    assert [file.name for file in files] == NAMES
    assert contents(tmp_path) == sorted([*NAMES, *others, FINISHED])


@pytest.mark.parametrize("resume", [False, True])
def test_memberships_do_not_replace_the_rows_they_are_of(table, tmp_path, resume):
    pq.write_table(table, tmp_path / "part-00000.parquet")
    for source in (
        ParquetSource(tmp_path, columns=["x", "y"]),
        ArrowSource(ds.dataset(tmp_path), columns=["x", "y"]),
    ):
        with pytest.raises(ValueError, match="holds the rows themselves"):
            memberships_of(source).write_parquet(tmp_path, resume=resume)
    assert contents(tmp_path) == ["part-00000.parquet"]
    assert pq.read_metadata(tmp_path / "part-00000.parquet").num_rows == N_ROWS


# Interrupted


class StoppedError(Exception):
    """Somebody pulled the plug."""


def interrupt(monkeypatch, n_tables, error):
    """Let writing fail after some tables."""
    written = []
    write_table = pq.ParquetWriter.write_table

    def failing(self, table, *arguments, **options):
        if len(written) == n_tables:
            raise error
        written.append(table.num_rows)
        return write_table(self, table, *arguments, **options)

    monkeypatch.setattr(pq.ParquetWriter, "write_table", failing)


@pytest.mark.parametrize("n_tables", [0, 1, 3])
def test_a_full_disk_leaves_complete_files_and_no_sign_of_success(lazy, tmp_path, monkeypatch, n_tables):
    (tmp_path / FINISHED).touch()
    interrupt(monkeypatch, n_tables, OSError(errno.ENOSPC, "No space left on device"))
    with pytest.raises(OSError, match="No space left on device") as caught:
        lazy.write_parquet(tmp_path)
    message = str(caught.value)
    assert len(message.splitlines()) == 1
    assert str(tmp_path) in message
    assert contents(tmp_path) == NAMES[:n_tables]
    for name in NAMES[:n_tables]:
        assert pq.read_table(tmp_path / name).num_rows == BLOCK_ROWS


def test_other_errors_leave_no_sign_of_success_either(lazy, tmp_path, monkeypatch):
    interrupt(monkeypatch, 2, StoppedError())
    with pytest.raises(StoppedError):
        lazy.write_parquet(tmp_path)
    assert contents(tmp_path) == NAMES[:2]


def test_success_is_written_last(lazy, tmp_path, monkeypatch):
    seen = []
    write_table = pq.ParquetWriter.write_table

    def watching(self, table, *arguments, **options):
        seen.append(contents(tmp_path))
        return write_table(self, table, *arguments, **options)

    monkeypatch.setattr(pq.ParquetWriter, "write_table", watching)
    lazy.write_parquet(tmp_path)
    for k, names in enumerate(seen):
        assert names == [*NAMES[:k], f"part-{k:05d}.partial"]
    assert contents(tmp_path) == sorted([*NAMES, FINISHED])


@pytest.mark.parametrize("n_tables", [0, 1, 3])
def test_an_interrupted_folder_is_finished_to_the_same_content(lazy, tmp_path, monkeypatch, n_tables):
    with monkeypatch.context() as patched:
        interrupt(patched, n_tables, StoppedError())
        with pytest.raises(StoppedError):
            lazy.write_parquet(tmp_path / "a")
    before = {name: (tmp_path / "a" / name).stat().st_mtime_ns for name in NAMES[:n_tables]}
    files = lazy.write_parquet(tmp_path / "a", resume=True)
    lazy.write_parquet(tmp_path / "b")
    assert [file.name for file in files] == NAMES
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    for name in NAMES:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    assert before == {name: (tmp_path / "a" / name).stat().st_mtime_ns for name in NAMES[:n_tables]}


def test_going_on_computes_what_is_missing_and_nothing_else(values, expected, tmp_path):
    class Watched(ArraySource):
        first = N_ROWS

        def chunks(self, start, stop):
            Watched.first = min(Watched.first, start)
            return super().chunks(start, stop)

    lazy = memberships_of(Watched(values))
    lazy.write_parquet(tmp_path)
    (tmp_path / NAMES[2]).unlink()
    (tmp_path / FINISHED).unlink()
    Watched.first = N_ROWS
    lazy.write_parquet(tmp_path, resume=True)
    assert Watched.first == 2 * BLOCK_ROWS
    assert_array_equal(nearest(tmp_path), expected.argmax(axis=1))
    Watched.first = N_ROWS
    lazy.write_parquet(tmp_path, resume=True)
    assert Watched.first == N_ROWS
    assert (tmp_path / FINISHED).exists()


def test_what_a_killed_process_left_behind_is_removed(lazy, tmp_path):
    (tmp_path / "part-00001.partial").write_text("half a file")
    lazy.write_parquet(tmp_path, resume=True)
    assert contents(tmp_path) == sorted([*NAMES, FINISHED])


def test_a_folder_that_cannot_be_made_is_named(lazy, tmp_path):
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(OSError, match="taken") as caught:
        lazy.write_parquet(tmp_path / "taken" / "out")
    assert len(str(caught.value).splitlines()) == 1


def test_a_source_that_fails_leaves_no_sign_of_success(table, tmp_path):
    (tmp_path / "rows").mkdir()
    for k, start in enumerate(range(0, N_ROWS, BLOCK_ROWS)):
        pq.write_table(table.slice(start, BLOCK_ROWS), tmp_path / "rows" / f"{k}.parquet")
    lazy = memberships_of(ParquetSource(tmp_path / "rows", columns=["x", "y"]))
    (tmp_path / "rows" / "2.parquet").unlink()
    with pytest.raises(SourceError, match=r"2\.parquet"):
        lazy.write_parquet(tmp_path / "out", engine=LocalEngine(1))
    assert contents(tmp_path / "out") == NAMES[:2]
