"""Rows of a replaced file are never taken for those that were counted; a touched file and a copy are the same."""

from __future__ import annotations

import gzip
import os
import pickle
import shutil
from contextlib import suppress

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_array_equal

from kfrc import KFRC
from kfrc.sources import ArraySource, ArrowSource, CSVSource, ParquetSource, SourceError, unchanged

N_ROWS = 700
SHAPE = (N_ROWS, 3)
PLAIN = {"compression": "none", "use_dictionary": False, "write_statistics": False}


def values(seed):
    return np.random.default_rng(seed).standard_normal(SHAPE)


def spelled(value):
    return f"{value:+.17e}".encode()


def write(path, X):
    """The same size for all numbers."""
    if path.suffix == ".npy":
        np.save(path, X)
    elif path.suffix == ".bin":
        path.write_bytes(X.tobytes())
    elif ".csv" in path.suffixes:
        text = b"a,b,c\n" + b"".join(b",".join(map(spelled, row)) + b"\n" for row in X)
        path.write_bytes(gzip.compress(text, 0, mtime=0) if path.suffix == ".gz" else text)
    else:
        pq.write_table(pa.table(dict(zip("abc", X.T, strict=True))), path, row_group_size=300, **PLAIN)


SOURCES = {
    "parquet": ("x.parquet", lambda folder: ParquetSource(folder / "x.parquet")),
    "several": ("x.parquet", lambda folder: ParquetSource(folder)),
    "text": ("x.csv", lambda folder: CSVSource(folder / "x.csv")),
    "packed text": ("x.csv.gz", lambda folder: CSVSource(folder / "x.csv.gz")),
    "several texts": ("x.csv", lambda folder: CSVSource(folder / "*.csv")),
    "text in part": ("x.csv", lambda folder: CSVSource(folder / "x.csv").restricted(["c", "a", "b"])),
    "arrow": ("x.parquet", lambda folder: ArrowSource(ds.dataset(str(folder)))),
    "npy": ("x.npy", lambda folder: ArraySource(np.load(folder / "x.npy", mmap_mode="r"))),
    "memmap": ("x.bin", lambda folder: ArraySource(np.memmap(folder / "x.bin", np.float64, "r", shape=SHAPE)[10:, 1:])),
}


def rows(source, start=0, stop=None):
    chunks = source.chunks(start, len(source) if stop is None else stop)
    return np.concatenate([np.column_stack([np.asarray(column) for column in chunk.columns]) for chunk in chunks])


def over(path, X):
    """Written over the old bytes, and the time of the change put back."""
    known = path.stat()
    other = path.with_name("other" + "".join(path.suffixes))
    write(other, X)
    content = other.read_bytes()
    other.unlink()
    assert len(content) == known.st_size
    with path.open("r+b") as file:
        file.write(content)
    os.utime(path, ns=(known.st_atime_ns, known.st_mtime_ns))


def instead(path, X):
    """Another file in the place of the old one, with its time."""
    known = path.stat()
    other = path.parent.parent / ("other" + "".join(path.suffixes))
    write(other, X)
    os.utime(other, ns=(known.st_atime_ns, known.st_mtime_ns))
    other.replace(path)


def one_value(path, X):
    before = np.frombuffer(path.read_bytes(), np.uint8).copy()
    is_text = ".csv" in path.suffixes  # a sign, a digit and a point, then another digit
    place = before.tobytes().index(spelled(X[400, 1]) if is_text else X[400, 1].tobytes()) + 3 * is_text
    before[place] ^= 1  # of the mantissa: no other byte of the file says it
    path.write_bytes(before.tobytes())


counted_in_parts = pytest.mark.parametrize("source", ["parquet", "several", "text", "several texts"], indirect=True)


@pytest.fixture(params=SOURCES)
def source(request, tmp_path):
    name, make = SOURCES[request.param]
    folder = tmp_path / "rows"
    folder.mkdir()
    write(folder / name, values(1))
    if request.param.startswith("several"):
        for k in range(2):
            write(folder / name.replace("x", f"y{k}", 1), values(2 + k))
    made = make(folder)
    made.path = folder / name
    return made


def sent(source):
    return pickle.loads(pickle.dumps(source))


@pytest.mark.parametrize("replace", [over, instead, lambda path, X: one_value(path, values(1))])
def test_other_rows_of_the_same_size_are_refused_wherever_they_are_read(source, replace):
    before, worker, content = rows(source), sent(source), pickle.dumps(source)
    replace(source.path, values(7))
    kept = isinstance(source, ArraySource) and replace is instead  # a file that is mapped lives on without its name
    if kept:
        assert_array_equal(rows(source), before)
        assert_array_equal(rows(worker), before)
    else:
        for reader in (source, worker):
            with pytest.raises(SourceError, match="has changed since its rows were counted: begin again"):
                rows(reader)
    with pytest.raises(SourceError, match="has changed since its rows were counted: begin again"):
        rows(pickle.loads(content))


def test_rows_of_a_file_that_is_gone_are_refused(source):
    before, worker, content = rows(source), sent(source), pickle.dumps(source)
    source.path.unlink()
    for reader in (source, worker):
        if isinstance(source, ArraySource):  # a file that is mapped lives on without its name
            assert_array_equal(rows(reader), before)
        else:
            with pytest.raises(SourceError, match="does not exist any more"):
                rows(reader)
    with pytest.raises(SourceError, match="does not exist any more"):
        rows(pickle.loads(content))


def touch(path):
    os.utime(path)


def copy(path):
    shutil.copy(path, path.parent.parent / "copy")
    os.replace(path.parent.parent / "copy", path)


def write_again(path):
    path.write_bytes(path.read_bytes())


@pytest.mark.parametrize("leave_as_it_is", [touch, copy, write_again])
def test_a_file_that_is_touched_or_replaced_by_its_copy_is_the_same(source, leave_as_it_is):
    before, content = rows(source), pickle.dumps(source)
    leave_as_it_is(source.path)
    assert_array_equal(rows(source), before)
    assert_array_equal(rows(pickle.loads(content)), before)
    assert_array_equal(rows(sent(pickle.loads(content))), before)


def test_rows_that_are_put_back_are_those_that_were_counted(source):
    before, kept = rows(source), source.path.read_bytes()
    over(source.path, values(7))
    source.path.write_bytes(kept)
    assert_array_equal(rows(source), before)


def test_a_file_that_is_replaced_between_two_pieces_of_it_is_noticed(source):
    before, found = rows(source), source.chunks(0, len(source))
    parts = [np.column_stack([np.array(column) for column in next(found).columns])]
    over(source.path, values(7))
    try:
        parts += [np.column_stack([np.array(column) for column in chunk.columns]) for chunk in found]
        parts = np.concatenate(parts)
    except SourceError:
        return
    assert_array_equal(parts, before)  # all of it had been read


def test_a_fit_answers_for_its_own_rows_only(source):
    model = KFRC(2, fuzzifier="power", m=1.2, bandwidths=np.ones(source.shape[1]), random_state=0).fit(source)
    before = np.asarray(model.memberships_)
    over(source.path, values(7))
    with pytest.raises(SourceError, match="has changed since its rows were counted"):
        KFRC(2, fuzzifier="power", m=1.2, bandwidths=np.ones(source.shape[1]), random_state=0).fit(source)
    with suppress(SourceError):
        assert_array_equal(np.asarray(model.memberships_), before)


def test_text_that_changes_while_it_is_parsed_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "x.csv"
    path.write_text("a,b\n" + "1.5,2\n" * 50)
    spool = CSVSource.__init__.__globals__["_spool"]

    def changing(*arguments):
        spool(*arguments)
        path.write_text("a,b\n" + "8.5,2\n" * 50)

    monkeypatch.setitem(CSVSource.__init__.__globals__, "_spool", changing)
    with pytest.raises(SourceError, match=r"x\.csv has changed"):
        CSVSource(path)


def test_text_is_found_from_another_folder_and_only_while_its_copy_is_there(tmp_path, monkeypatch):
    write(tmp_path / "x.csv", values(1))
    monkeypatch.chdir(tmp_path)
    copies = tmp_path / "copies"
    copies.mkdir()
    source = CSVSource("x.csv", folder=copies.name)
    before = rows(source)
    monkeypatch.chdir(copies)
    assert_array_equal(rows(source), before)
    assert_array_equal(rows(sent(source)), before)
    assert_array_equal(rows(source.restricted(["b"])), before[:, 1:2])
    (copy,) = copies.glob("*/*.parquet")
    content = bytearray(copy.read_bytes())
    content[len(content) // 2] ^= 1
    copy.write_bytes(content)
    with pytest.raises(SourceError, match=r"000000\.parquet has changed"):
        rows(source)
    copy.unlink()
    with pytest.raises(SourceError, match=r"000000\.parquet does not exist any more"):
        rows(source)


@counted_in_parts
def test_a_fingerprint_is_of_what_files_hold(source):
    before = source.fingerprint()
    touch(source.path)
    assert type(source)(list(source.files)).fingerprint() == before
    over(source.path, values(7))
    assert type(source)(list(source.files)).fingerprint() != before


@counted_in_parts
def test_of_long_files_time_end_and_some_blocks_decide(source, monkeypatch):
    monkeypatch.setattr(unchanged, "_WHOLE", 1 << 12)
    monkeypatch.setattr(unchanged, "_FEWEST_WHOLE", 1 << 12)
    monkeypatch.setattr(unchanged, "_BLOCK", 1 << 8)
    long = type(source)(list(source.files))
    before, known = rows(long), source.path.stat()
    copy(source.path)
    os.utime(source.path, ns=(known.st_atime_ns, known.st_mtime_ns))
    assert_array_equal(rows(long), before)
    touch(source.path)
    with pytest.raises(SourceError, match="or only its time, which decides for so long a file"):
        rows(long)
    os.utime(source.path, ns=(known.st_atime_ns, known.st_mtime_ns))
    over(source.path, values(7))
    with pytest.raises(SourceError, match="has changed"):
        rows(long)


def test_a_file_that_is_gone_has_no_state(tmp_path):
    with pytest.raises(SourceError, match="gone does not exist any more"):
        unchanged.FileState.of(str(tmp_path / "gone"))
