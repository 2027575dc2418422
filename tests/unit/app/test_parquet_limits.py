"""Parquet files that are made to fill a memory, hold what is no cell, or are damaged: one line, and little memory."""

from __future__ import annotations

import datetime
import decimal
import io
import json
import resource

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kfrc.exceptions import KFRCError
from kfrc.sources import ParquetSource, SourceError, arrow, pages
from kfrc_app import _unpacking
from kfrc_app.tables import DataError, parse_wishes, read_table
from kfrc_app.tables.beyond import is_beyond, open_beyond, read_sample

N = 40
NUMBERS = {"a": np.random.default_rng(0).normal(size=N), "b": np.random.default_rng(1).normal(size=N)}


def written(path, columns, **options):
    pq.write_table(pa.table(columns) if isinstance(columns, dict) else columns, path, **options)
    return str(path)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "t.parquet"


@pytest.fixture
def small_limits(monkeypatch):
    """Limits of a few megabytes, so that tests need no large files."""
    monkeypatch.setattr(_unpacking, "ALWAYS_ALLOWED_TABLE", 1 << 21)
    monkeypatch.setattr(arrow, "_BATCH_BYTES", 1 << 21)
    monkeypatch.setattr(arrow, "_MEMORY_SHARE", 0.0)


@pytest.fixture
def little_memory():
    """Stops a test that takes much."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 << 10


def rows_of(source):
    for chunk in source.chunks(0, source.n_rows):
        yield from chunk.columns


def test_a_small_file_of_very_many_equal_values_is_refused_with_the_limit(path, small_limits, little_memory):
    n = 200_000
    written(path, {"a": np.zeros(n), "b": np.arange(n) % 2, "c": np.ones(n)}, compression="zstd")
    assert path.stat().st_size < 20_000
    with pytest.raises(
        DataError, match=r"grows to \d+ MB \(200,000 rows\): at most \d+ MB are read at once: pass over"
    ):
        read_table(str(path))


def test_the_same_file_is_passed_over_in_pieces(path, small_limits):
    n = 200_000
    written(path, {"a": np.zeros(n), "b": np.arange(n) % 2})
    assert sum(len(column) for column in rows_of(ParquetSource(str(path)))) == 2 * n


def test_text_that_is_stored_once_for_many_rows_is_refused(path, small_limits, little_memory):
    long = ["x" * (1 << 18), "y" * (1 << 18)]
    written(path, {**NUMBERS, "s": pa.array(long * (N // 2)).dictionary_encode().cast(pa.string())}, compression="zstd")
    assert path.stat().st_size < 20_000
    with pytest.raises(DataError, match=r"texts of the Parquet file grow to 10 MB, and at most \d+ MB"):
        read_table(str(path))
    with pytest.raises(SourceError, match=r"texts grow to 10 MB in 40 rows, and at most 2 MB are read at a time"):
        list(rows_of(ParquetSource(str(path))))


def test_categories_with_long_names_are_refused(path, small_limits):
    long = pa.array(["x" * (1 << 19), "y" * (1 << 19)] * (N // 2)).dictionary_encode()
    written(path, {**NUMBERS, "s": long}, compression="zstd")
    with pytest.raises(DataError, match="texts of the Parquet file grow"):
        read_table(str(path))


def test_pages_that_unpack_to_much_are_refused_whatever_the_end_of_the_file_says(path, small_limits, little_memory):
    big = {**NUMBERS, "s": pa.array(["x" * (1 << 16)] * N)}
    written(path, big, compression="zstd", use_dictionary=False)
    content = path.read_bytes()
    stated = pq.ParquetFile(io.BytesIO(content)).metadata.row_group(0).column(2).total_uncompressed_size
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    lying = content[:footer] + content[footer:].replace(_varint(stated), _varint(64, len(_varint(stated))))
    assert lying != content
    path.write_bytes(lying)
    with pytest.raises(DataError, match=r"grows to \d+ MB"):
        read_table(str(path))
    with pytest.raises(SourceError, match=r"pages that unpack to \d+ MB"):
        list(rows_of(ParquetSource(str(path))))


def _varint(value, width=0):
    value *= 2
    parts = []
    while value > 127 or len(parts) + 1 < width:
        parts.append(value & 127 | 128)
        value >>= 7
    return bytes([*parts, value])


def test_a_large_file_of_ordinary_numbers_is_read(path, monkeypatch):
    monkeypatch.setattr(_unpacking, "ALWAYS_ALLOWED_TABLE", 1 << 10)
    written(path, {"a": np.random.default_rng(0).normal(size=5000), "b": np.random.default_rng(1).normal(size=5000)})
    assert len(read_table(str(path)).data) == 5000


def test_a_table_of_more_than_its_share_of_the_memory_is_refused(path, monkeypatch):
    monkeypatch.setattr(_unpacking, "ALWAYS_ALLOWED_TABLE", 1 << 10)
    monkeypatch.setattr(_unpacking, "available_memory", lambda: 1e5)
    written(path, {"a": np.random.default_rng(0).normal(size=5000)})
    with pytest.raises(DataError, match="grows to"):
        read_table(str(path))


@pytest.mark.parametrize("compression", ["none", "zstd", "snappy"])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("options", [{}, {"use_dictionary": False}, {"write_page_checksum": True}])
def test_parts_and_pages_are_those_that_arrow_finds(compression, version, options):
    buffer = io.BytesIO()
    table = pa.table(
        {"a": np.random.default_rng(0).normal(size=9000), "s": [f"text {k % 50}" * 5 for k in range(9000)]}
    )
    pq.write_table(table, buffer, compression=compression, data_page_version=version, row_group_size=4000, **options)
    content = buffer.getvalue()
    parts = pages.file_parts(lambda start, n: content[start : start + n], len(content))
    expected = pq.ParquetFile(io.BytesIO(content)).metadata
    assert parts.n_rows == 9000
    assert parts.group_rows == (4000, 4000, 1000)
    for k, group in enumerate(parts.groups):
        for j, chunk in enumerate(group):
            found = expected.row_group(k).column(j)
            assert chunk.name == found.path_in_schema
            assert chunk.unpacked == found.total_uncompressed_size
            assert chunk.stop - chunk.start == found.total_compressed_size
            sizes = pages.page_sizes(lambda start, n: content[start : start + n], chunk.start, chunk.stop)
            assert 0 <= found.total_uncompressed_size - sum(sizes) < 200 * len(sizes)  # headers count there


NESTED = {
    "lists": pa.array([[1, 2], [3]] * (N // 2)),
    "objects": pa.array([{"x": 1, "y": "u"}, {"x": 2, "y": "v"}] * (N // 2)),
    "maps": pa.array([[("k", 1)], [("k", 2)]] * (N // 2), pa.map_(pa.string(), pa.int64())),
    "pairs": pa.array([[1.0, 2.0]] * N, pa.list_(pa.float64(), 2)),
    "intervals": pa.table(pa.Table.from_pandas(pd.DataFrame({"i": pd.interval_range(0, N, periods=N)})))["i"],
}


@pytest.mark.parametrize("kind", NESTED)
def test_columns_that_hold_no_cells_are_left_out_with_a_note(path, kind):
    table = read_table(written(path, {**NUMBERS, "c": NESTED[kind]}))
    assert list(table.data.columns) == ["a", "b"]
    assert any("left out 1 column of lists or objects, which are no cells: 'c'" in note for note in table.notes)
    beyond = open_beyond(str(path))
    assert beyond.source.names == ("a", "b")
    assert any("lists or objects" in note for note in beyond.notes)


@pytest.mark.parametrize("kind", [pa.decimal128(10, 2), pa.decimal256(50, 2)])
def test_decimal_numbers_are_numbers(path, kind):
    values = [None if k % 7 == 3 else decimal.Decimal(k * 17 % 41) + decimal.Decimal("0.25") for k in range(N)]
    table = read_table(written(path, {**NUMBERS, "d": pa.array(values, kind)}))
    assert table.data["d"].tolist() == [float(value) for value in values if value is not None]


def indexed(names):
    index = pd.MultiIndex.from_product([["u", "v"], range(N // 2)], names=names)
    return pd.DataFrame(NUMBERS, index=index)


@pytest.mark.parametrize("names", [["g", "k"], [None, None], [None, "k"]])
def test_an_index_of_two_levels_names_the_rows(path, names):
    indexed(names).to_parquet(path)
    table = read_table(str(path))
    assert list(table.data.columns) == ["a", "b"]
    beyond = open_beyond(str(path))
    assert beyond.source.names == ("a", "b")
    assert len(beyond.ids) == 2
    assert read_sample(str(path), {}).data.shape == (N, 2)


def test_headings_of_two_levels_are_read(path):
    frame = pd.DataFrame(NUMBERS)
    frame.columns = pd.MultiIndex.from_tuples([("x", "p"), ("x", "q")])
    frame.to_parquet(path)
    assert list(read_table(str(path)).data.columns) == ["('x', 'p')", "('x', 'q')"]


def test_dates_beyond_the_calendar_are_one_line(path):
    far = pa.array([2**31 - 1 - k for k in range(N)], pa.int32()).cast(pa.date32())
    with pytest.raises(DataError, match="column 'd' holds dates outside the years 1 to 9999"):
        read_table(written(path, {**NUMBERS, "d": far}))


def test_text_that_arrow_keeps_as_views_is_read_in_pieces(path):
    written(path, {**NUMBERS, "v": pa.array(["x", "y"] * (N // 2), pa.string_view())})
    assert read_sample(str(path), {}).data["v"].tolist() == ["x", "y"] * (N // 2)


@pytest.mark.parametrize(
    "noted",
    [
        "[" * 100_000,
        "[]",
        "nothing",
        '{"index_columns": 3, "columns": 4}',
        '{"index_columns": ["a", "a", "z", null, {}], "columns": [1, {"name": []}, {"field_name": 3}]}',
        '{"index_columns": [], "columns": [{"name": "a", "pandas_type": "categorical", "metadata": 7}]}',
    ],
)
def test_damaged_notes_of_pandas_do_no_harm(path, noted):
    written(path, pa.table(NUMBERS).replace_schema_metadata({"pandas": noted}))
    assert len(read_table(str(path)).data) == N
    assert open_beyond(str(path)).source.n_rows == N


def test_a_file_whose_description_contradicts_itself_does_not_end_the_process(path):
    table = pa.table({**NUMBERS, "s": ["x", "y"] * (N // 2)})
    for content in damaged(stored(table), 40, seed=3, first=1 << 30):
        refused_or_read(path, content)


def stored(table, **options):
    buffer = io.BytesIO()
    pq.write_table(table, buffer, **options)
    return buffer.getvalue()


def damaged(content, n_files, seed, first=0):
    """Copies with some bits turned, cut off, or with bytes put in or left out; most in the description at the end."""
    rng = np.random.default_rng(seed)
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    for _ in range(n_files):
        copy = bytearray(content)
        start = footer if rng.random() < 0.7 else min(first, 4)
        how, place = rng.integers(10), int(rng.integers(start, len(copy)))
        if how < 7:
            for where in rng.integers(start, len(copy), rng.integers(1, 4)):
                copy[where] ^= 1 << rng.integers(8)
        elif how == 7:
            del copy[place:]
        else:
            copy[place : place + int(rng.integers(1, 20))] = rng.bytes(rng.integers(0, 9))
        yield bytes(copy)


def refused_or_read(path, content):
    path.write_bytes(content)
    for read in (
        lambda: read_table(str(path)).original,
        lambda: list(rows_of(ParquetSource(str(path)))),
        lambda: open_beyond(str(path)),
    ):
        try:
            read()
        except KFRCError as error:
            assert "\n" not in str(error)  # noqa: PT017 - some bytes do no harm


TABLE = pa.table(
    {
        **NUMBERS,
        "i": pa.array(np.arange(N) * 7 % 50),
        "s": pa.array([("red", "green", "blue")[k % 3] for k in range(N)]),
        "c": pa.array(["u", "v"] * (N // 2)).dictionary_encode(),
        "d": pa.array([datetime.date(2020, 1, 1) + datetime.timedelta(3 * k) for k in range(N)]),
        "t": pa.array([datetime.datetime(2020, 1, 1) + datetime.timedelta(hours=5 * k) for k in range(N)]),
        "n": pa.array([None if k % 9 == 0 else decimal.Decimal(k) for k in range(N)], pa.decimal128(10, 2)),
        "l": pa.array([[1, 2]] * N),
    }
).replace_schema_metadata({"pandas": json.dumps({"index_columns": ["s"], "columns": []})})
STORED = {
    "snappy": {},
    "plain": {"compression": "none", "use_dictionary": False},
    "zstd": {"compression": "zstd", "data_page_version": "2.0"},
    "groups": {"compression": "lz4", "row_group_size": 15, "write_page_checksum": True},
    "delta": {"use_dictionary": False, "column_encoding": {"a": "BYTE_STREAM_SPLIT", "i": "DELTA_BINARY_PACKED"}},
}


@pytest.mark.parametrize("kind", STORED)
def test_a_damaged_file_is_one_line_or_a_table(path, kind):
    for content in damaged(stored(TABLE, **STORED[kind]), 12, seed=0):
        refused_or_read(path, content)


@pytest.mark.long
@pytest.mark.parametrize("kind", STORED)
def test_very_many_damaged_files_are_one_line_or_a_table(path, kind):
    for content in damaged(stored(TABLE, **STORED[kind]), 800, seed=1):
        refused_or_read(path, content)


@pytest.mark.parametrize(("place", "said"), [(0, "the header"), (1, "row 1"), (9, "row 9")])
def test_a_cell_of_too_many_characters_is_named_by_its_row(tmp_path, place, said):
    lines = ["name,a,b", *(f"r{k},{k * 7 % 11},{k % 3}" for k in range(20))]
    lines[place] = f'"{"x" * 200_000}",1,2' + (",3" if place == 9 else "")  # lines that differ are looked at one by one
    (tmp_path / "t.csv").write_text("\n".join(lines))
    with pytest.raises(DataError, match=rf"^a cell in {said} has more than 131,072 characters"):
        read_table(str(tmp_path / "t.csv"))


def test_long_cells_of_a_regular_file_are_read(tmp_path):
    lines = ["name,a,b", *(f"r{k},{k * 7 % 11},{k % 3}" for k in range(20))]
    lines[9] = f'"{"x" * 200_000}",1,2'
    (tmp_path / "t.csv").write_text("\n".join(lines))
    assert len(read_table(str(tmp_path / "t.csv")).data) == 20


@pytest.fixture
def as_text(tmp_path):
    """A file of numbers, of dates and answers that are text, and of categories."""
    n_rows = 60
    path = tmp_path / "text.parquet"
    columns = {
        "size": np.arange(n_rows) * 1.5,
        "grade": ["low", "high", "medium"] * 20,
        "fit": ["s", "m", "l"] * 20,
        "kind": ["a", "b"] * 30,
        "visited": [f"2020-01-{k % 28 + 1:02d}" for k in range(n_rows)],
        "seen": [f"2021-02-{k % 28 + 1:02d}" for k in range(n_rows)],
    }
    pd.DataFrame(columns).to_parquet(path)
    return str(path)


def test_dates_that_files_hold_as_text_are_left_out_by_name_and_not_said_to_be_read(as_text):
    table = open_beyond(as_text)
    assert table.source.names == ("size", "grade", "fit", "kind")
    told = (
        "2 column(s) hold numbers or dates as text and are left out: 'visited', 'seen'; store them as numbers or dates"
    )
    assert table.notes[-1] == told
    assert not any("visited" in note or "seen" in note for note in table.notes[:-1])


@pytest.mark.parametrize("columns", [("size", "kind", "seen"), ("size,kind,seen",)])
def test_a_date_as_text_that_is_asked_for_leaves_the_other_columns_that_are(as_text, columns):
    table = open_beyond(as_text, columns=columns, types=parse_wishes(["seen=date"]))
    assert table.source.names == ("size", "kind")
    assert table.notes[-1].startswith("1 column(s) hold numbers or dates as text and are left out: 'seen'")


def test_types_that_files_do_not_say_are_known_answers_or_wishes(as_text):
    answers = ("ordinal", ["low", "medium", "high"])
    assert open_beyond(as_text).column_types == {"grade": answers, "fit": ("ordinal", ["s", "m", "l"])}
    wishes = parse_wishes(["fit=ordinal:l<m<s", "grade=nominal", "size=numeric"])
    found = open_beyond(as_text, types=wishes).column_types
    assert found == {"size": "numeric", "grade": "nominal", "fit": ("ordinal", ["l", "m", "s"])}


def test_files_of_which_no_column_can_be_used_are_refused(as_text):
    with pytest.raises(DataError, match="no column of the files can be clustered by"):
        open_beyond(as_text, columns=["visited", "seen"])


def test_a_damaged_file_is_not_called_too_long(tmp_path):
    (tmp_path / "damaged.parquet").write_bytes(b"PAR1 and nothing else")
    assert not is_beyond(str(tmp_path / "damaged.parquet"))
