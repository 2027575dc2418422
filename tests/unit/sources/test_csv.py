"""Text files as sources: what their columns are, what does not parse, and the copy that goes when it is not needed."""

from __future__ import annotations

import datetime
import gc
import gzip
import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from kfrc.sources import CSVSource, SourceError


@pytest.fixture
def written(tmp_path):
    """Writer of text files."""

    def write(name, text):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


@pytest.fixture
def small_blocks(monkeypatch):
    """Few bytes are parsed at a time, so that short files have several blocks."""
    monkeypatch.setattr("kfrc.sources.text._TEXT_BLOCK", 64)


def column(source, place=0, start=0, stop=None):
    chunks = source.chunks(start, len(source) if stop is None else stop)
    return [value for chunk in chunks for value in chunk.columns[place].to_pylist()]


def types(source):
    return [str(values.type) for values in next(source.chunks(0, 1)).columns]


def read_all(path, **options):
    source = CSVSource(path, **options)
    return list(source.chunks(0, len(source)))


def refused(path, *named, **options):
    with pytest.raises(SourceError) as caught:
        read_all(path, **options)
    message = str(caught.value)
    assert len(message.splitlines()) == 1
    for name in named:
        assert str(name) in message
    assert "kfrc-rows-" not in message
    return message


# What columns are


def test_types_are_those_of_the_first_rows(written):
    path = written("a.csv", "n,x,s,b,d\n1,0.5,u,true,2024-02-29\n2,,v,false,2024-03-01\n")
    source = CSVSource(path)
    assert source.shape == (2, 5)
    assert source.names == ("n", "x", "s", "b", "d")
    assert types(source) == ["double", "double", "string", "bool", "date32[day]"]
    assert [column(source, place) for place in range(5)] == [
        [1.0, 2.0],
        [0.5, None],
        ["u", "v"],
        [True, False],
        [datetime.date(2024, 2, 29), datetime.date(2024, 3, 1)],
    ]


def test_whole_numbers_may_go_on_with_others(written, small_blocks):
    source = CSVSource(written("a.csv", "n,s\n" + "1,u\n" * 50 + "2.5,v\n"))
    assert column(source, start=48) == [1.0, 1.0, 2.5]


def test_a_column_that_begins_with_blanks_is_text(written, small_blocks):
    source = CSVSource(written("a.csv", "n,s\n" + ",u\n" * 50 + "seldom,v\n"))
    assert column(source, start=49) == [None, "seldom"]


def test_blank_text_is_missing(written):
    assert column(CSVSource(written("a.csv", "s,n\nu,1\n,2\nNA,3\n"))) == ["u", None, None]


def test_any_stretch_of_rows_can_be_read(written, small_blocks):
    source = CSVSource(written("a.csv", "n\n" + "".join(f"{row}\n" for row in range(300))))
    rng = np.random.default_rng(0)
    for start, stop in [tuple(sorted(rng.integers(0, 301, 2))) for _ in range(20)]:
        assert column(source, 0, start, stop) == list(range(start, stop))


def test_columns_and_weights_are_chosen_by_name(written):
    path = written("a.csv", "id,x,w\na,1,2\nb,3,4\n")
    source = CSVSource(path, columns=["x"], weights="w")
    (chunk,) = source.chunks(0, 2)
    assert source.names == ("x",)
    assert source.all_names == ["id", "x", "w"]
    assert_array_equal(chunk.weights, [2.0, 4.0])
    assert source.named_columns(1, 2, ["id"])[0].to_pylist() == ["b"]
    assert CSVSource(path, weights="w").names == ("id", "x")


@pytest.mark.slow
def test_other_columns_of_the_same_rows_need_no_second_copy(written, tmp_path):
    copies = tmp_path / "copies"
    copies.mkdir()
    source = CSVSource(written("a.csv", "x,y,w\n1,2,3\n4,5,6\n"), folder=copies)
    other = source.restricted(["y"], "w")
    assert (source.names, other.names) == (("x", "y", "w"), ("y",))
    assert len(list(copies.iterdir())) == 1
    del source
    gc.collect()
    assert column(other) == [2.0, 5.0]
    assert_array_equal(next(other.chunks(0, 2)).weights, [3.0, 6.0])
    del other
    gc.collect()
    assert list(copies.iterdir()) == []


# How files are written


@pytest.mark.parametrize("name", ["a.tsv", "a.tab"])
def test_columns_are_separated_by_what_the_name_says(written, name):
    source = CSVSource(written(name, 'x\ts\n1\t"u,v"\n'))
    assert (column(source, 0), column(source, 1)) == ([1.0], ["u,v"])


def test_columns_are_separated_by_what_the_user_says(written):
    source = CSVSource(written("a.csv", "x;s\n1;u,v\n"), separator=";")
    assert (column(source, 0), column(source, 1)) == ([1.0], ["u,v"])


@pytest.mark.parametrize(("name", "separator"), [("a.csv.gz", ","), ("a.tsv.gz", "\t")])
def test_packed_files_are_unpacked(written, name, separator):
    text = "x,s\n1,u\n2,v\n".replace(",", separator)
    assert column(CSVSource(written(name, gzip.compress(text.encode()))), 1) == ["u", "v"]


def test_lines_may_end_inside_quotes(written):
    source = CSVSource(written("a.csv", 'x,s\n1,"two\nlines"\n2,"and, a ""quote"""\n'))
    assert column(source, 1) == ["two\nlines", 'and, a "quote"']


def test_lines_may_end_inside_quotes_anywhere_in_a_long_file(written, small_blocks):
    text = "x,s\n" + "".join(f'{row},"line\nof {row}"\n' for row in range(100))
    assert column(CSVSource(written("a.csv", text)), 1) == [f"line\nof {row}" for row in range(100)]


@pytest.mark.parametrize("text", [b"x,y\r\n1,2\r\n", b"\xef\xbb\xbfx,y\n1,2\n", b"x,y\n1,2"])
def test_ends_of_lines_and_marks_of_encodings_do_not_matter(written, text):
    source = CSVSource(written("a.csv", text))
    assert source.names == ("x", "y")
    assert (column(source, 0), column(source, 1)) == ([1.0], [2.0])


# Several files


def test_several_files_come_in_natural_order(written, tmp_path):
    for k in (10, 9, 1):
        written(f"part.{k}.csv", f"k\n{k}\n")
    assert column(CSVSource(tmp_path / "part.*.csv")) == [1.0, 9.0, 10.0]
    assert column(CSVSource([tmp_path / "part.9.csv", str(tmp_path / "part.1.csv")])) == [9.0, 1.0]


def test_files_without_rows_may_stand_among_others_and_first(written, tmp_path):
    for k, rows in enumerate(["", "1,u\n", "", "2,v\n"]):
        written(f"{k}.csv", f"x,s\n{rows}")
    source = CSVSource(tmp_path / "*.csv")
    assert types(source) == ["double", "string"]
    assert (column(source, 0), column(source, 1)) == ([1.0, 2.0], ["u", "v"])


@pytest.mark.parametrize("second", ["x,z\n1,2\n", "y,x\n1,2\n", "x\n1\n", "x,y,z\n1,2,3\n", "x,z\n"])
def test_a_file_with_another_header_is_named(written, second):
    paths = [written("1.csv", "x,y\n1,2\n"), written("2.csv", second)]
    refused(paths, paths[1])


def test_a_file_whose_values_are_of_another_type_is_named(written):
    paths = [written("1.csv", "x,y\n1,2\n"), written("2.csv", "x,y\n1,two\n")]
    refused(paths, paths[1], "'two'")


# What is refused


@pytest.mark.parametrize(
    ("usual", "odd"), [("1", "one"), ("2024-02-29", "soon"), ("true", "maybe")], ids=["numbers", "dates", "truth"]
)
def test_later_rows_that_do_not_parse_are_named(written, small_blocks, usual, odd):
    path = written("a.csv", "s,v\n" + f"u,{usual}\n" * 60 + f"v,{odd}\n")
    refused(path, path, "62", odd)  # the line


def test_rows_of_another_length_are_named(written):
    path = written("a.csv", "x,y\n1,2\n3\n")
    refused(path, path, "#3")


@pytest.mark.parametrize("text", ["", "x,y\n"])
def test_files_without_rows_are_refused(written, text):
    path = written("a.csv", text)
    refused(path, path)


@pytest.mark.parametrize("text", [b"x,s\n1,\xe9t\xe9\n", b"x,s\n" + b"1,u\n" * 60 + b"1,\xe9t\xe9\n"])
def test_text_in_another_encoding_is_refused(written, small_blocks, text):
    path = written("a.csv", text)
    refused(path, path, "UTF")


def test_files_that_are_not_packed_as_they_say_are_refused(written):
    path = written("a.csv.gz", "x\n1\n")
    refused(path, path)
    path = written("b.csv.gz", gzip.compress(b"x\n" + b"1\n" * 10_000)[:-20])
    refused(path, path)


def test_missing_files_are_named(written, tmp_path):
    there = written("a.csv", "x\n1\n")
    refused(tmp_path / "gone.csv", tmp_path / "gone.csv")
    refused([there, tmp_path / "gone.csv"], tmp_path / "gone.csv")
    refused([there, tmp_path / "gone*.csv"], tmp_path / "gone*.csv")
    refused([], "no file")


def test_a_folder_is_no_text_file(written, tmp_path):
    written("a.csv", "x\n1\n")
    refused(tmp_path, tmp_path)


def test_columns_are_those_of_the_text_file_in_messages_too(written):
    path = written("a.csv", "x,y\n1,2\n")
    refused(path, path, "'q'", "x, y", columns=["q"])
    refused(path, path, "'q'", weights="q")
    refused(written("b.csv", "x,x\n1,2\n"), "b.csv")


@pytest.mark.parametrize("weight", ["-1", "", "many", "nan"])
def test_weights_that_count_no_rows_are_refused(written, weight):
    first, path = written("1.csv", "x,w\n1,1\n"), written("2.csv", f"x,w\n1,{weight}\n")
    refused([first, path], path, weights="w")
    refused(path, path, weights="w")


# The copy


@pytest.mark.slow
def test_the_copy_goes_with_the_last_who_needs_it(written, tmp_path):
    copies = tmp_path / "copies"
    copies.mkdir()
    source = CSVSource(written("a.csv", "x\n1\n2\n"), folder=copies)
    (copy,) = copies.iterdir()
    assert [file.name for file in copy.iterdir()] == ["000000.parquet"]
    chunks = source.chunks(0, 2)
    del source
    gc.collect()
    assert [len(chunk) for chunk in chunks] == [2]
    del chunks
    gc.collect()
    assert list(copies.iterdir()) == []


def test_the_copy_goes_when_a_later_file_does_not_parse(written, tmp_path):
    copies = tmp_path / "copies"
    copies.mkdir()
    paths = [written("1.csv", "x\n1\n"), written("2.csv", "x\none\n")]
    with pytest.raises(SourceError):
        CSVSource(paths, folder=copies)
    assert list(copies.iterdir()) == []


def test_the_copy_does_not_go_with_a_pickled_source(written, tmp_path):
    copies = tmp_path / "copies"
    copies.mkdir()
    source = CSVSource(written("a.csv", "x,w\n1,2\n2,3\n"), weights="w", folder=copies)
    other = pickle.loads(pickle.dumps(source))
    assert (other.shape, other.described) == (source.shape, source.described)
    assert column(other) == [1.0, 2.0]
    del other
    gc.collect()
    assert column(source) == [1.0, 2.0]
    assert_array_equal(next(source.chunks(0, 2)).weights, [2.0, 3.0])


def test_names_of_columns_that_are_not_utf_8_are_told(tmp_path):
    path = tmp_path / "old.csv"
    path.write_bytes("größe,b\n1,2\n3,4\n".encode("latin-1"))
    with pytest.raises(SourceError, match="is not encoded as UTF-8"):
        CSVSource(path)
