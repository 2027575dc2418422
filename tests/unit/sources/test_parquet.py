"""Parquet files as sources: which files, in which order, any stretch of rows, and one kind of error for what is bad."""

from __future__ import annotations

import datetime
import decimal
import os
import pickle
import random

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_array_equal

from kfrc.blocks.chunks import BlockChunks
from kfrc.exceptions import KFRCError
from kfrc.sources import ParquetSource, SourceError, natural_order, parquet_files


def table(n_rows, first=0):
    rows = np.arange(first, first + n_rows)
    return pa.table({"x": rows + 0.5, "k": rows % 7, "w": 1.0 + rows % 3, "name": [f"row {row}" for row in rows]})


def write(path, content, **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(content, path, **options)
    return path


def column(source, start=0, stop=None, place=0):
    """Values of one column of a stretch of rows."""
    chunks = source.chunks(start, len(source) if stop is None else stop)
    return [value for chunk in chunks for value in chunk.columns[place].to_pylist()]


def weights(source, start=0, stop=None):
    return np.concatenate([chunk.weights for chunk in source.chunks(start, len(source) if stop is None else stop)])


def read_all(path, **options):
    source = ParquetSource(path, **options)
    return [column(source, place=place) for place in range(source.shape[1])]


def refused(path, *named, **options):
    """The error of a source that cannot be read: one line, which names what is at fault."""
    with pytest.raises(SourceError) as caught:
        ParquetSource(path, **options) if not options.pop("read", False) else read_all(path, **options)
    return checked(caught, *named)


def checked(caught, *named):
    message = str(caught.value)
    assert len(message.splitlines()) == 1
    for name in named:
        assert str(name) in message
    return message


@pytest.fixture
def parts(tmp_path):
    """A folder of files whose row groups fit neither each other nor blocks of any round size."""
    first = 0
    for k, (n_rows, group) in enumerate([(700, 130), (0, 10), (1, 1), (1300, 170), (999, 999)]):
        write(tmp_path / "parts" / f"part.{k}.parquet", table(n_rows, first), row_group_size=group)
        first += n_rows
    return tmp_path / "parts"


# Which files


@pytest.mark.parametrize("as_text", [True, False], ids=["text", "path"])
def test_a_file_a_folder_and_a_pattern_are_the_same_rows(parts, tmp_path, as_text):
    whole = write(tmp_path / "whole.parquet", table(3000))
    kind = str if as_text else (lambda path: path)
    for path in (whole, parts, parts / "part.*.parquet"):
        source = ParquetSource(kind(path))
        assert source.shape == (3000, 4)
        assert source.names == ("x", "k", "w", "name")
        assert column(source) == [row + 0.5 for row in range(3000)]


def test_folders_are_read_with_all_below_but_hidden_files(tmp_path):
    for k, name in enumerate(["b/year=2/x.parquet", "b/x.pq", "a.parquet"]):
        write(tmp_path / name, table(1, k))
    for name in ["_metadata.parquet", ".hidden.parquet", "_temporary/x.parquet", "b/.cache/x.parquet"]:
        write(tmp_path / name, pa.table({"other": [1]}))
    (tmp_path / "b" / "README.txt").write_text("no rows")
    (tmp_path / "_SUCCESS").touch()
    found = parquet_files(tmp_path)
    assert [os.path.relpath(file, tmp_path) for file in found] == ["a.parquet", "b/x.pq", "b/year=2/x.parquet"]
    assert column(ParquetSource(tmp_path)) == [2.5, 1.5, 0.5]


def test_a_folder_that_is_hidden_itself_may_be_asked_for(tmp_path):
    write(tmp_path / ".cache" / "x.parquet", table(3))
    assert len(ParquetSource(tmp_path / ".cache")) == 3


def test_files_come_in_natural_order(tmp_path):
    for k in (10, 2, 1, 100, 20):
        write(tmp_path / f"part.{k}.parquet", pa.table({"k": [k]}))
    assert column(ParquetSource(tmp_path)) == [1, 2, 10, 20, 100]
    assert column(ParquetSource(tmp_path / "part.*")) == [1, 2, 10, 20, 100]


def test_natural_order_is_an_order_of_all_names():
    names = ["a", "a1", "a01", "a1²3", "1²", "10", "9", "", "a1b", "a٣", "part.2.parquet", "part.10.parquet"]
    expected = sorted(names, key=natural_order)
    shuffled = random.Random(0).sample(names, len(names))
    assert sorted(shuffled, key=natural_order) == expected
    assert expected.index("9") < expected.index("10")


def test_listed_files_keep_their_order_and_lists_may_hold_patterns(tmp_path):
    for name in ["b1", "b2", "a"]:
        write(tmp_path / f"{name}.parquet", pa.table({"name": [name]}))
    source = ParquetSource([tmp_path / "b*.parquet", str(tmp_path / "a.parquet")])
    assert column(source) == ["b1", "b2", "a"]


def test_a_name_with_the_signs_of_a_pattern_is_a_file_if_it_exists(tmp_path):
    write(tmp_path / "a[1].parquet", table(2))
    write(tmp_path / "a1.parquet", table(5))
    assert len(ParquetSource(tmp_path / "a[1].parquet")) == 2


def test_home_is_understood(tmp_path, monkeypatch):
    write(tmp_path / "a.parquet", table(2))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert len(ParquetSource("~/a.parquet")) == 2


# Which rows


@pytest.mark.slow
def test_any_stretch_of_rows_is_that_of_the_whole_table(parts):
    source = ParquetSource(parts, weights="w")
    whole = table(3000)
    rng = np.random.default_rng(0)
    stretches = [tuple(sorted(rng.integers(0, 3001, 2))) for _ in range(60)]
    for start, stop in [*stretches, (0, 3000), (699, 702), (700, 701), (2999, 3000), (5, 5)]:
        part = whole.slice(start, stop - start)
        for place, name in enumerate(source.names):
            assert column(source, start, stop, place) == part[name].to_pylist()
        if stop > start:
            assert_array_equal(weights(source, start, stop), part["w"].to_numpy())


def test_chunks_are_not_larger_than_what_is_decoded_at_a_time(parts, monkeypatch):
    monkeypatch.setattr("kfrc.sources.arrow._BATCH_ROWS", 64)
    source = ParquetSource(parts)
    assert max(len(chunk) for chunk in source.chunks(0, 3000)) <= 64
    assert column(source) == [row + 0.5 for row in range(3000)]


def test_reading_does_not_begin_at_the_first_file(parts):
    source = ParquetSource(parts)
    (parts / "part.0.parquet").unlink()
    assert column(source, 700, 710) == [row + 0.5 for row in range(700, 710)]


def test_columns_are_those_asked_for_in_the_order_asked_for(parts):
    source = ParquetSource(parts, columns=["k", "x"])
    assert source.names == ("k", "x")
    assert source.all_names == ["x", "k", "w", "name"]
    assert column(source, 8, 10, 0) == [1, 2]
    assert column(source, 8, 10, 1) == [8.5, 9.5]


def test_weights_are_no_column_to_cluster_by_unless_asked_for(parts):
    assert ParquetSource(parts, weights="w").names == ("x", "k", "name")
    assert ParquetSource(parts, columns=["x", "w"], weights="w").names == ("x", "w")
    assert next(ParquetSource(parts).chunks(0, 3)).weights is None


def test_weights_may_be_of_any_type_of_number(tmp_path):
    counts = [0, 3, 2]
    for values in (
        pa.array(counts),
        pa.array(counts, pa.uint8()),
        pa.array(counts, pa.float32()),
        pa.array([decimal.Decimal(count) for count in counts]),
    ):
        path = write(tmp_path / "a.parquet", pa.table({"x": [1.0, 2.0, 3.0], "w": values}))
        found = weights(ParquetSource(path, weights="w"))
        assert found.dtype == np.float64
        assert_array_equal(found, counts)


def test_named_columns_are_arrays_of_a_stretch_of_rows(parts):
    source = ParquetSource(parts, columns=["x"])
    names, k = source.named_columns(695, 705, ["name", "k"])
    assert names.to_pylist() == [f"row {row}" for row in range(695, 705)]
    assert k.to_pylist() == [row % 7 for row in range(695, 705)]


def test_a_source_survives_being_sent_to_another_process(parts):
    source = pickle.loads(pickle.dumps(ParquetSource(parts, columns=["x"], weights="w")))
    assert column(source, 650, 750) == [row + 0.5 for row in range(650, 750)]
    assert_array_equal(weights(source, 0, 4), [1.0, 2.0, 3.0, 1.0])


def test_the_number_of_rows_is_known_without_reading_any(parts, monkeypatch):
    monkeypatch.setattr(pq.ParquetFile, "iter_batches", None)
    assert len(ParquetSource(parts)) == 3000


# Which types

DAY = datetime.date(2024, 2, 29)
SPECIAL = {
    "dictionary": pa.array(["u", None, "v"]).dictionary_encode(),
    "truth values": pa.array([True, None, False]),
    "dates": pa.array([DAY, None, DAY]),
    "times": pa.array([datetime.datetime(2024, 2, 29, 12), None, datetime.datetime(1950, 1, 1)]),
    "decimals": pa.array([decimal.Decimal("1.25"), None, decimal.Decimal("-3.50")]),
    "nulls": pa.nulls(3),
    "small numbers": pa.array([1.5, None, 2.0], pa.float16()),
    "durations": pa.array([datetime.timedelta(days=1), None, datetime.timedelta(hours=6)]),
}


@pytest.mark.parametrize("kind", SPECIAL)
def test_columns_of_any_type_come_as_they_are(kind, tmp_path):
    values = SPECIAL[kind]
    for k in range(2):
        write(tmp_path / f"{k}.parquet", pa.table({"a": values, "x": [1.0, 2.0, 3.0]}))
    source = ParquetSource(tmp_path)
    assert column(source) == 2 * values.to_pylist()
    assert column(source, 2, 4) == [values[2].as_py(), values[0].as_py()]
    ((chunk, first),) = BlockChunks(source, 0, 6)
    assert first == 0
    assert chunk.columns[0].to_pylist() == 2 * values.to_pylist()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (pa.array([1, 2]), pa.array([0.5, None])),
        (pa.array([1, 2], pa.int8()), pa.array([1, 2])),
        (pa.array([0.5, 1.0]), pa.array([decimal.Decimal("0.25"), None])),
        (pa.array(["a", "b"]), pa.array(["a", None]).dictionary_encode()),
        (pa.array(["a", "b"]), pa.array(["a", "b"], pa.large_string())),
        (
            pa.array(["a", "b"]).dictionary_encode(),
            pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), pa.array(["b", "a"])),
        ),
        (pa.array([DAY, DAY]), pa.array([datetime.datetime(2024, 2, 29), None])),
    ],
    ids=["whole", "width", "decimal", "levels", "large", "index", "dates"],
)
def test_the_same_kind_of_values_in_several_types_becomes_one_type(one, other, tmp_path):
    """A block may hold rows of two files, and memberships are written with names from both."""
    write(tmp_path / "1.parquet", pa.table({"a": one, "x": [1, 2]}))
    write(tmp_path / "2.parquet", pa.table({"a": other, "x": [3, 4]}))
    source = ParquetSource(tmp_path)
    assert len({chunk.columns[0].type for chunk in source.chunks(0, 4)}) == 1
    expected = [None if value is None else plain(value) for value in one.to_pylist() + other.to_pylist()]
    (named,) = source.named_columns(0, 4, ["a"])
    ((chunk, _),) = BlockChunks(source, 0, 4)
    for values in (named, chunk.columns[0]):
        assert [None if value is None else plain(value) for value in values.to_pylist()] == expected


def plain(value):
    """Numbers as floats, days as their midnight, everything else as it is."""
    if type(value) is datetime.date:
        return datetime.datetime(value.year, value.month, value.day)
    return float(value) if isinstance(value, (int, decimal.Decimal)) else value


def test_types_of_files_without_rows_and_of_columns_without_values_do_not_matter(tmp_path):
    blank = pa.nulls(2)
    write(tmp_path / "0.parquet", pa.table({"a": pa.nulls(0), "s": pa.nulls(0, pa.int8()), "d": pa.nulls(0)}))
    write(tmp_path / "1.parquet", pa.table({"a": blank, "s": ["u", "v"], "d": [DAY, DAY]}))
    write(tmp_path / "2.parquet", pa.table({"a": [1, 2], "s": blank, "d": blank}))
    ((chunk, _),) = BlockChunks(ParquetSource(tmp_path), 0, 4)
    assert chunk.columns[0].to_pylist() == [None, None, 1.0, 2.0]
    assert chunk.columns[1].to_pylist() == ["u", "v", None, None]
    assert [None if day is None else day.day for day in chunk.columns[2].to_pylist()] == [29, 29, None, None]


# What is refused


def test_a_path_that_does_not_exist_is_named(tmp_path):
    refused(tmp_path / "nothing.parquet", "nothing.parquet does not exist")
    refused(tmp_path / "no*.parquet", tmp_path / "no*.parquet")
    refused(tmp_path / "no folder" / "a.parquet", tmp_path / "no folder" / "a.parquet")


def test_a_folder_without_parquet_files_is_named(tmp_path):
    (tmp_path / "a.csv").write_text("x\n1\n")
    refused(tmp_path, tmp_path)
    refused([], "no Parquet files")


def test_one_missing_file_among_several_is_named(tmp_path):
    there = write(tmp_path / "a.parquet", table(3))
    refused([there, tmp_path / "gone.parquet"], tmp_path / "gone.parquet")
    refused([there, tmp_path / "gone*.parquet"], tmp_path / "gone*.parquet")


def test_a_file_that_is_deleted_after_it_was_counted_is_named(parts):
    source = ParquetSource(parts)
    gone = parts / "part.3.parquet"
    gone.unlink()
    with pytest.raises(SourceError) as caught:
        column(source)
    checked(caught, gone)


@pytest.mark.parametrize(
    "content",
    [table(699), table(701), table(700).rename_columns(["z", "k", "w", "name"]), table(700).drop_columns("k")],
    ids=["fewer", "more", "renamed", "dropped"],
)
def test_a_file_that_changes_after_it_was_counted_is_named(parts, content):
    source = ParquetSource(parts)
    changed = write(parts / "part.0.parquet", content, row_group_size=130)
    with pytest.raises(SourceError) as caught:
        column(source)
    checked(caught, changed)


@pytest.mark.parametrize(
    ("content", "group"),
    [(pa.table({"y": np.arange(100.0)}), 10), (pa.table({"x": np.arange(100)}), 10)],
    ids=["renamed", "type"],
)
def test_a_file_that_changes_without_changing_its_size_is_named(tmp_path, content, group):
    plain_bytes = {"compression": "none", "use_dictionary": False, "write_statistics": False, "store_schema": False}
    path = write(tmp_path / "a.parquet", pa.table({"x": np.arange(100.0)}), row_group_size=group, **plain_bytes)
    source, size = ParquetSource(path), path.stat().st_size
    write(path, content, row_group_size=group, **plain_bytes)
    if path.stat().st_size != size:
        pytest.skip("this version of Arrow writes the two in different sizes")
    with pytest.raises(SourceError) as caught:
        column(source)
    checked(caught, path)


def test_a_file_that_is_cut_off_while_it_is_read_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("kfrc.sources.arrow._BATCH_ROWS", 1000)
    path = write(tmp_path / "a.parquet", table(20_000), row_group_size=1000)
    chunks = ParquetSource(path).chunks(0, 20_000)
    next(chunks)
    os.truncate(path, 500)
    with pytest.raises(SourceError) as caught:
        list(chunks)
    checked(caught, path)


def test_a_file_that_becomes_something_else_is_named(parts):
    source = ParquetSource(parts)
    (parts / "part.0.parquet").write_text("no longer a table")
    with pytest.raises(SourceError) as caught:
        column(source)
    checked(caught, parts / "part.0.parquet")


@pytest.mark.parametrize(
    ("second", "said"),
    [
        ({"x": [1.0], "z": [1.0]}, "'z'"),
        ({"x": [1.0]}, "'y'"),
        ({"y": [1.0], "x": [1.0]}, "order"),
        ({"x": [1.0], "y": ["a"]}, "column 'y' holds text"),
        ({"x": [1.0], "y": [True]}, "column 'y' holds truth values"),
        ({"x": [1.0], "y": [DAY]}, "column 'y' holds dates"),
        ({"x": [1.0], "y": [[1.0]]}, "column 'y' holds list"),
    ],
    ids=["name", "fewer", "order", "text", "truth", "date", "list"],
)
def test_files_whose_columns_differ_are_both_named(tmp_path, second, said):
    write(tmp_path / "0.parquet", pa.table({"x": [1.0], "y": pa.nulls(1)}))
    first = write(tmp_path / "1.parquet", pa.table({"x": [1.0], "y": [2.0]}))
    other = write(tmp_path / "2.parquet", pa.table(second))
    refused([first, other], first, other, said)
    refused(tmp_path, other, said)


@pytest.mark.parametrize("content", [b"x,y\n1,2\n", b"", b"PAR1", b"PAR1PAR1", bytes(1000)])
def test_a_file_that_is_no_parquet_is_named(tmp_path, content):
    path = tmp_path / "a.parquet"
    path.write_bytes(content)
    refused(path, path)


def test_a_folder_that_has_the_name_of_a_file_is_read_as_a_folder(tmp_path):
    write(tmp_path / "table.parquet" / "part-0.parquet", table(4))
    assert len(ParquetSource(tmp_path / "table.parquet")) == 4


@pytest.mark.parametrize("compression", ["none", "snappy"])
def test_a_damaged_row_group_is_named_with_its_file(tmp_path, compression):
    path = write(tmp_path / "a.parquet", table(4000), compression=compression, row_group_size=1000)
    start = pq.ParquetFile(path).metadata.row_group(2).column(0).file_offset or _start(path, 2)
    content = bytearray(path.read_bytes())
    content[start : start + 400] = b"\xff" * 400
    path.write_bytes(bytes(content))
    source = ParquetSource(path)
    assert column(source, 0, 2000) == [row + 0.5 for row in range(2000)]
    with pytest.raises(SourceError) as caught:
        column(source)
    checked(caught, path, "damaged")


def _start(path, group):
    chunk = pq.ParquetFile(path).metadata.row_group(group).column(0)
    return chunk.dictionary_page_offset or chunk.data_page_offset


@pytest.mark.parametrize("compression", ["none", "snappy"])
def test_damaged_bytes_anywhere_are_read_or_refused_but_never_crash(tmp_path, compression):
    """Whatever a byte says, rows come out, or one kind of error."""
    rng = random.Random(0)
    path = tmp_path / "a.parquet"
    levels = pa.array([rng.choice("abc") for _ in range(600)]).dictionary_encode()
    pq.write_table(table(600).append_column("level", levels), path, compression=compression, row_group_size=200)
    whole = path.read_bytes()
    said = []
    for _ in range(150):
        content = bytearray(whole)
        for _ in range(rng.randint(1, 6)):
            start = rng.randrange(len(content))
            content[start : start + rng.randint(1, 20)] = rng.randbytes(min(20, len(content) - start))
        path.write_bytes(bytes(content))
        try:
            source = ParquetSource(path)
            for chunk, _ in BlockChunks(source, 0, len(source)):
                for values in chunk.columns:
                    values.to_pylist()
        except SourceError as error:
            said.append(str(error))
    assert len(said) >= 20
    assert all(len(message.splitlines()) == 1 and str(path) in message for message in said)


def test_a_file_that_is_cut_off_is_named(tmp_path):
    path = write(tmp_path / "a.parquet", table(1000))
    path.write_bytes(path.read_bytes()[:-200])
    refused(path, path)


def test_text_that_is_no_text_is_refused(tmp_path):
    path = write(tmp_path / "a.parquet", pa.table({"name": ["abcdef"] * 5}), compression="none")
    path.write_bytes(path.read_bytes().replace(b"abcdef", b"\xff\xfe\xfd\xfc\xfb\xfa"))
    refused(path, path, read=True)


def test_no_rows_at_all_are_refused(tmp_path):
    for k in range(2):
        write(tmp_path / f"{k}.parquet", table(0))
    refused(tmp_path / "0.parquet", tmp_path / "0.parquet", "no rows")
    refused(tmp_path, tmp_path / "0.parquet", "no rows")


def test_an_unknown_column_is_named_with_those_that_there_are(parts):
    refused(parts, "part.0.parquet", "'q'", "x, k, w, name", columns=["x", "q"])
    refused(parts, "part.0.parquet", "'q'", weights="q")
    with pytest.raises(SourceError) as caught:
        ParquetSource(parts).named_columns(0, 5, ["q"])
    checked(caught, "part.0.parquet", "'q'")


def test_no_column_to_cluster_by_is_refused(tmp_path):
    path = write(tmp_path / "a.parquet", pa.table({"w": [1.0]}))
    refused(path, path, weights="w")
    refused(path, path, columns=[])


def test_a_name_that_two_columns_have_cannot_be_asked_for(tmp_path):
    path = write(tmp_path / "a.parquet", pa.table([[1.0], [2.0], [3.0]], names=["a", "a", "b"]))
    refused(path, path)
    refused(path, path, columns=["a"])
    refused(path, path, columns=["b"], weights="a")
    refused(path, path, columns=["b", "b"])
    assert read_all(path, columns=["b"]) == [[3.0]]


@pytest.mark.parametrize(
    "values",
    [[1.0, -1.0], [1.0, np.nan], [1.0, np.inf], [1.0, None], ["1", "2"], [DAY, DAY], [[1.0], [2.0]]],
    ids=["negative", "nan", "infinite", "null", "text", "dates", "lists"],
)
def test_weights_that_count_no_rows_are_refused_with_file_and_column(tmp_path, values):
    write(tmp_path / "1.parquet", pa.table({"x": [1.0, 2.0], "w": values}).slice(0, 1))
    path = write(tmp_path / "2.parquet", pa.table({"x": [1.0, 2.0], "w": values}))
    refused(path, path, "'w'", weights="w", read=True)


def test_bad_weights_are_found_in_the_file_that_holds_them(parts):
    path = write(parts / "part.4.parquet", table(999, 2001).set_column(2, "w", [np.full(999, -1.0)]))
    refused(parts, path, "'w'", weights="w", read=True)


def test_errors_of_sources_are_errors_of_the_library():
    assert issubclass(SourceError, KFRCError)
