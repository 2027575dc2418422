"""Ids, labels and names of rows are text: they leave the program as they were written."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kfrc_app.tables import read_dissimilarities, read_new_rows, read_table

IDS = ["00001", "1.20", "1E5", "NA", "12345678901234567890", "12345678901234567891", "nan", "1,5", "", "00001"]


def write(tmp_path, ids, first="key", separator=";"):
    path = tmp_path / "table.csv"
    rows = "".join(f"{name}{separator}{k}{separator}{k * k % 7}.5\n" for k, name in enumerate(ids))
    path.write_text(f"{first}{separator}a{separator}b\n{rows}", encoding="utf-8")
    return str(path)


def test_ids_are_text(tmp_path):
    assert read_table(write(tmp_path, IDS), id_column="key").ids.tolist() == IDS
    assert read_new_rows(write(tmp_path, IDS), ["a", "b"], id_column="key").ids.tolist() == IDS


def test_names_of_rows_are_text(tmp_path):
    assert read_table(write(tmp_path, IDS, first="")).ids.tolist() == IDS
    assert read_new_rows(write(tmp_path, IDS, first=""), ["a", "b"]).ids.tolist() == IDS


@pytest.mark.parametrize(
    "ids", [["007", "08", "9", "10"], ["1", "1.0", "1.00", "1e0"], [str(2**63 + k) for k in range(4)]]
)
def test_ids_that_are_equal_as_numbers_stay_apart(tmp_path, ids):
    assert read_table(write(tmp_path, ids), id_column="key").ids.tolist() == ids


def test_labels_are_text_and_the_usual_marks_are_unknown(tmp_path):
    labels = ["01", "1", "1.0", "NA", "?", "", "1E5", "100000"]
    table = read_table(write(tmp_path, labels), label_column="key")
    assert table.labels.tolist() == ["01", "1", "1.0", "", "", "", "1E5", "100000"]


@pytest.mark.parametrize("cells", ['"{}"', ' "{}"', '"{}" ', '  "{}"  ', " {} "])
@pytest.mark.parametrize("first", [True, False])
def test_quotation_marks_and_the_blanks_around_them_are_no_part_of_an_id(tmp_path, cells, first):
    ids = ["007", "1.20", "NA"]
    rows = [[cells.format(name), str(k)] for k, name in enumerate(ids)]
    lines = [",".join(row if first else row[::-1]) for row in (["key", "x"], *rows)]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    table = read_table(str(tmp_path / "t.csv"), id_column="key")
    assert table.ids.tolist() == ids
    assert table.data["x"].tolist() == [0, 1, 2]


def test_an_id_column_does_not_decide_the_marks_of_the_file(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("key;x\n1.5;1,5\n2.5;2,5\n3.25;3,5\n")
    table = read_table(str(path), id_column="key")
    assert table.data["x"].tolist() == [1.5, 2.5, 3.5]
    assert table.ids.tolist() == ["1.5", "2.5", "3.25"]


def test_whole_numbers_in_parquet_stay_exact_beside_gaps(tmp_path):
    ids = [2**53, 2**53 + 1, None, 2**62 + 1]
    columns = {"key": pa.array(ids, pa.int64()), "a": [1.0, 2.0, 4.0, 8.0], "b": pa.array([1, None, 2, 3], pa.int64())}
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    table = read_table(str(tmp_path / "t.parquet"), id_column="key", columns=["a"])
    assert table.ids.tolist() == [str(2**53), str(2**53 + 1), "", str(2**62 + 1)]
    assert read_table(str(tmp_path / "t.parquet"), label_column="key").labels.tolist() == [
        str(2**53),
        "",
        str(2**62 + 1),
    ]


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.binary_view()], ids=str
)
def test_text_in_parquet_is_text_however_it_is_stored(tmp_path, kind):
    ids = ["007", "1.20", "NA", None]
    stored = pa.array([i and i.encode() for i in ids] if "binary" in str(kind) else ids, kind)
    try:
        pq.write_table(pa.table({"key": stored, "a": [1.0, 2.0, 4.0, 8.0]}), tmp_path / "t.parquet")
    except pa.ArrowNotImplementedError:
        pytest.skip(f"this pyarrow cannot write {kind} into a file")
    path = str(tmp_path / "t.parquet")
    assert read_table(path, id_column="key").ids.tolist() == ["007", "1.20", "NA", ""]
    assert read_table(path, label_column="key").labels.tolist() == ["007", "1.20", "NA", ""]
    assert read_table(path).data.columns.tolist() == ["a"]


def test_an_index_of_a_parquet_file_is_found_by_its_name(tmp_path):
    path = str(tmp_path / "t.parquet")
    pd.DataFrame({"a": [1.0, 2.0, 4.0]}, index=pd.Index(["007", "08", "9"], name="key")).to_parquet(path)
    for options in ({}, {"id_column": "key"}):
        table = read_table(path, **options)
        assert table.ids.tolist() == ["007", "08", "9"]
        assert table.data.columns.tolist() == ["a"]
        assert not any("no name" in note for note in table.notes)
    assert read_table(path, label_column="key").labels.tolist() == ["007", "08", "9"]
    assert read_new_rows(path, ["a"], id_column="key").ids.tolist() == ["007", "08", "9"]


def test_a_level_of_an_index_of_a_parquet_file_is_found_by_its_name(tmp_path):
    path = str(tmp_path / "t.parquet")
    levels = pd.MultiIndex.from_arrays([["u", "u", "v"], ["007", "08", "9"]], names=["site", "key"])
    pd.DataFrame({"a": [1.0, 2.0, 4.0]}, index=levels).to_parquet(path)
    table = read_table(path, id_column="key", label_column="site")
    assert (table.ids.tolist(), table.labels.tolist()) == (["007", "08", "9"], ["u", "u", "v"])
    assert read_table(path).data.columns.tolist() == ["a"]
    assert read_table(path).ids.tolist() == ["u, 007", "u, 08", "v, 9"]


def test_an_index_of_a_parquet_file_can_be_clustered_by_if_that_is_said(tmp_path):
    path = str(tmp_path / "t.parquet")
    pd.DataFrame({"a": [1.0, 2.0, 4.0]}, index=pd.Index([5, 7, 6], name="hour")).to_parquet(path)
    table = read_table(path, columns=["a", "hour"])
    assert table.data["hour"].tolist() == [5, 7, 6]
    assert table.ids.tolist() == ["1", "2", "3"]


def test_the_index_of_a_parquet_file_stays_exact(tmp_path):
    frame = pd.DataFrame({"a": [1.0, 2.0, 4.0]}, index=pd.array([2**53 + 1, 2**53, 2**53 + 3], dtype="Int64"))
    frame.to_parquet(tmp_path / "t.parquet")
    assert read_table(str(tmp_path / "t.parquet")).ids.tolist() == [str(2**53 + 1), str(2**53), str(2**53 + 3)]


def test_names_of_a_matrix_are_text(tmp_path):
    names = ["007", "1.20", "1E5", "NA"]
    lines = [
        ",".join(["", *names]),
        *(",".join([name, *("0" if i == k else "1" for i in range(4))]) for k, name in enumerate(names)),
    ]
    (tmp_path / "R.csv").write_text("\n".join(lines))
    assert read_dissimilarities(str(tmp_path / "R.csv")).ids.tolist() == names


def test_a_column_is_found_by_its_heading_with_line_breaks_and_without(tmp_path):
    (tmp_path / "t.csv").write_text(
        '"body\nmass",height,"odd  blanks"\n' + "".join(f"{k},{k % 3},{k % 5}\n" for k in range(9))
    )
    for names in (["body\nmass", "odd  blanks"], ["body mass", "odd blanks"], ["body\nmass,odd  blanks"]):
        assert read_table(str(tmp_path / "t.csv"), drop=names).data.columns.tolist() == ["height"]
