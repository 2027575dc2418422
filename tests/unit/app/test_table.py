from __future__ import annotations

import io
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kfrc_app.tables import DataError, Missing, delimited, read_dissimilarities, read_table
from kfrc_app.tables.delimited import ROW_NAMES, parse_delimited


def parse(content):
    """Columns of numbers as numbers, the others as text, and the notes."""
    columns = parse_delimited(content)
    numbers = columns.numbers([name for name in columns.names if name != ROW_NAMES], aside=[ROW_NAMES])
    frame = pd.DataFrame({name: numbers.values.get(name, columns.text(name)) for name in columns.names})
    return frame, (*columns.noticed, *numbers.notes_on(frame))


def write(tmp_path, text, name="table.csv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("separator", [",", ";", "\t", "|", " ", "   "])
def test_separators_are_found(separator):
    text = "\n".join(separator.join(row) for row in [("a", "b", "c"), ("1", "2.5", "3"), ("4", "5", "6")])
    frame, _ = parse(text.encode())
    assert list(frame.columns) == ["a", "b", "c"]
    assert frame.to_numpy().tolist() == [[1, 2.5, 3], [4, 5, 6]]


@pytest.mark.parametrize("n_rows", [3, 300])
def test_one_line_of_very_many_fields_takes_no_memory_for_as_many_columns(n_rows, monkeypatch):
    monkeypatch.setattr(delimited.arrow_csv, "read_csv", lambda *args, **options: pytest.fail("columns were made"))
    with pytest.raises(DataError, match="the file has 50,001 columns and at most 50,000 can be used"):
        parse(b"a,b\n" + b"1," * 50_000 + b"2\n" + b"3,4\n" * n_rows)


def test_a_table_of_many_more_columns_than_rows_is_read():
    names, rows = [f"x{j}" for j in range(200)], np.arange(600.0).reshape(3, 200)
    frame, _ = parse("\n".join([",".join(names), *(",".join(map(str, row)) for row in rows)]).encode())
    assert list(frame.columns) == names
    assert (frame.to_numpy() == rows).all()


@pytest.mark.parametrize("separator", [";", "\t"])
def test_decimal_commas_are_found(separator):
    frame, notes = parse(f"a{separator}b\n1,5{separator}-2,25e3\n3{separator},5\n".encode())
    assert frame.to_numpy().tolist() == [[1.5, -2250.0], [3.0, 0.5]]
    assert "decimal commas" in notes[0]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_unicode_encodings_are_read(encoding):
    frame, notes = parse("größe,b\n1,2\n3,4\n".encode(encoding))
    assert list(frame.columns) == ["größe", "b"]
    assert notes == ()


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_line_endings_do_not_matter(ending):
    assert parse(ending.join(["a,b", "1,2", "3,4", ""]).encode())[0].shape == (2, 2)


def test_a_first_line_of_numbers_is_data():
    frame, notes = parse(b"1,-2\n3,4\n5,6\n")
    assert list(frame.columns) == ["column_1", "column_2"]
    assert frame.to_numpy().tolist() == [[1, -2], [3, 4], [5, 6]]
    assert "is data" in notes[0]


@pytest.mark.parametrize("text", [",a,b\nr1,1,2\nr2,3,4\n", "a,b\nr1,1,2\nr2,3,4\n"])
def test_row_names_as_pandas_and_r_write_them(text):
    frame, _ = parse(text.encode())
    assert list(frame.columns) == [ROW_NAMES, "a", "b"]
    assert frame[ROW_NAMES].tolist() == ["r1", "r2"]


def test_a_separator_at_the_end_of_lines_adds_no_column():
    assert list(parse(b"a,b,\n1,2,\n3,4,\n")[0].columns) == ["a", "b"]


def test_quotes_protect_separators_and_line_breaks():
    frame, _ = parse(b'"a, b",c\n1,"two\nlines"\n2,"x"\n')
    assert list(frame.columns) == ["a, b", "c"]
    assert len(frame) == 2


def test_row_names_become_ids_and_are_not_clustered(tmp_path):
    pd.DataFrame({"a": [1.0, 2, 4, 8], "b": [3.0, 1, 4, 1]}, index=list("wxyz")).to_csv(tmp_path / "t.csv")
    table = read_table(str(tmp_path / "t.csv"))
    assert list(table.data.columns) == ["a", "b"]
    assert table.ids.tolist() == list("wxyz")


def test_index_of_a_parquet_file_becomes_ids(tmp_path):
    pd.DataFrame({"a": [1.0, 2, 4, 8], "b": [True, False, True, True]}, index=list("wxyz")).to_parquet(
        tmp_path / "t.pq"
    )
    table = read_table(str(tmp_path / "t.pq"))
    assert table.ids.tolist() == list("wxyz")
    assert table.data["b"].tolist() == ["True", "False", "True", "True"]


def test_nullable_columns_of_a_parquet_file(tmp_path):
    frame = pd.DataFrame({"a": pd.array([1, 2, None, 4, 5], dtype="Int64"), "b": [1.0, 2, 3, 4, 6]})
    frame["when"] = pd.Timestamp("2020-01-01")
    frame.to_parquet(tmp_path / "t.pq")
    table = read_table(str(tmp_path / "t.pq"))
    assert table.data.to_numpy().tolist() == [[1, 1], [2, 2], [4, 4], [5, 6]]
    assert "'when'" in table.notes[0]


def test_columns_of_a_parquet_file_without_any_value_are_said_to_be_so(tmp_path):
    columns = {"a": [1.0, 2.0, 4.0], "none": pa.nulls(3), "text": pa.array([None] * 3, pa.string())}
    pq.write_table(pa.table(columns), tmp_path / "t.pq")
    table = read_table(str(tmp_path / "t.pq"))
    assert list(table.data.columns) == ["a"]
    assert "left out 2 columns without any value: 'none', 'text'" in table.notes


def test_text_columns_are_reported(tmp_path):
    rows = "\n".join(f"{j},name {j},{j if j != 3 else 'many'}" for j in range(1, 9))
    table = read_table(write(tmp_path, f"a,who,count\n{rows}\n"))
    assert list(table.data.columns) == ["a"]
    assert any("'count' is left out: 1 of its 8 values are text, such as 'many'" in note for note in table.notes)
    assert any("left out 1 column of text: 'who'" in note for note in table.notes)


def test_row_numbers_are_left_out_and_labels_are_suspected(tmp_path):
    rows = "\n".join(f"{j},{j**2 % 5},{j % 2}" for j in range(1, 9))
    table = read_table(write(tmp_path, f"id,x,class\n{rows}\n"))
    assert list(table.data.columns) == ["x", "class"]
    assert any("'id' is taken for names of the rows" in note for note in table.notes)
    assert any("--label-column 'class'" in note for note in table.notes)


def test_question_marks_are_missing_values(tmp_path):
    table = read_table(write(tmp_path, "a,b\n1,2\n?,3\n4,5\n6,7\n"))
    assert table.ids.tolist() == ["1", "3", "4"]


def test_columns_without_values_are_left_out_before_rows_are(tmp_path):
    table = read_table(write(tmp_path, "a,b,c\n1,,2\n2,,3\n4,,5\n"))
    assert list(table.data.columns) == ["a", "c"]
    assert len(table.data) == 3


def test_missing_values_can_be_refused(tmp_path):
    with pytest.raises(DataError, match="1 of 4 rows have missing values"):
        read_table(write(tmp_path, "a,b\n1,2\n,3\n4,5\n6,7\n"), missing=Missing.ERROR)


def test_labels_follow_their_rows(tmp_path):
    table = read_table(write(tmp_path, "a,b,y\n1,2,p\n,3,q\n4,5,r\n6,7,\n"), label_column="y")
    assert table.labels.tolist() == ["p", "r", ""]


def test_column_names_with_commas_can_be_chosen(tmp_path):
    path = write(tmp_path, '"a, b",c,d\n1,2,3\n4,5,7\n6,8,9\n')
    assert list(read_table(path, columns=["a, b", "d"]).data.columns) == ["a, b", "d"]
    assert list(read_table(path, columns=["d,c"]).data.columns) == ["d", "c"]
    assert list(read_table(path, columns=["d,c"], drop=["c"]).data.columns) == ["d"]


def test_an_unknown_column_is_answered_with_the_nearest(tmp_path):
    path = write(tmp_path, "height,b\n1,2\n4,5\n6,8\n")
    with pytest.raises(DataError, match="did you mean 'height'"):
        read_table(path, columns=["heigth"])


def test_an_unlike_name_is_answered_with_all(tmp_path):
    path = write(tmp_path, "note,b\n1,2\n4,5\n6,8\n")
    with pytest.raises(DataError, match="it has 'note', 'b'"):
        read_table(path, weight_column="nope")


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a,b\n1,2\n4,5\n6,8\n")))
    assert read_table("-").data.shape == (3, 2)


@pytest.mark.parametrize("corner", ["", "name"])
def test_names_of_a_matrix_may_be_numbers(tmp_path, corner):
    R = np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0)))
    lines = [",".join([corner, "10", "11", "12", "13"])]
    lines += [",".join(map(str, [10 + j, *R[j]])) for j in range(4)]
    found = read_dissimilarities(write(tmp_path, "\n".join(lines) + "\n"))
    np.testing.assert_array_equal(found.matrix.to_numpy(), R)
    assert found.ids.tolist() == ["10", "11", "12", "13"]


def test_a_matrix_without_rows_is_said_to_be_so(tmp_path):
    with pytest.raises(DataError, match="no rows"):
        read_dissimilarities(write(tmp_path, "x\n"))


def test_a_matrix_with_gaps_is_refused(tmp_path):
    with pytest.raises(DataError, match="1 missing"):
        read_dissimilarities(write(tmp_path, "0,1,2\n1,0,\n2,1,0\n"))


def test_a_matrix_in_parquet(tmp_path):
    R = pd.DataFrame(
        np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0))), columns=list("abcd"), index=list("abcd")
    )
    R.to_parquet(tmp_path / "R.parquet")
    found = read_dissimilarities(str(tmp_path / "R.parquet"))
    np.testing.assert_array_equal(found.matrix.to_numpy(), R)
    assert found.ids.tolist() == list("abcd")
