"""The whole file beside the part of it that is clustered by."""

import numpy as np
import pandas as pd
import pytest

from kfrc_app.tables import InputRows, Missing, Table, read_table

CSV = """code;size;grade;when;note;answer;weight;long;blank;group
007;1,5;1;2020-01-31;first remark;yes;1;12345678901234567890;;a
008;2,5;2;1899-12-31;second;no;2;1;;b
009;;3;2021-01-01;third one;yes;1;2;;a
010;1.234,5;1;2020-05-05;N/A;no;1;3;;b
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text(CSV)
    return str(path)


def test_the_original_has_every_row_and_column_of_the_file_in_its_order(file):
    found = read_table(file, id_column="code", weight_column="weight", label_column="group", drop=["long"])
    whole = found.original
    assert list(whole.columns) == CSV.splitlines()[0].split(";")
    assert len(whole) == 4
    assert found.rows.n_left_out == 1  # the row without a size is in the original nevertheless
    assert whole["code"].tolist() == ["007", "008", "009", "010"]
    np.testing.assert_array_equal(whole["size"], [1.5, 2.5, np.nan, 1234.5])
    assert whole["grade"].tolist() == [1.0, 2.0, 3.0, 1.0]
    assert whole["when"].dt.year.tolist() == [2020, 1899, 2021, 2020]
    assert whole["note"].iloc[:3].tolist() == ["first remark", "second", "third one"]
    assert whole["note"].isna().tolist() == [False, False, False, True]
    assert whole["answer"].tolist() == ["yes", "no", "yes", "no"]
    assert whole["weight"].tolist() == [1.0, 2.0, 1.0, 1.0]
    assert whole["long"].tolist() == ["12345678901234567890", "1", "2", "3"]  # a number would lose digits
    assert whole["blank"].isna().all()
    assert whole["group"].tolist() == ["a", "b", "a", "b"]


def test_columns_aside_are_those_without_a_role_in_the_rows_that_are_used(file):
    found = read_table(file, id_column="code", weight_column="weight", label_column="group", columns=["size", "grade"])
    assert list(found.aside.columns) == ["when", "note", "answer", "long", "blank"]
    assert found.aside["answer"].tolist() == ["yes", "no", "no"]
    assert found.aside["when"].dt.day.tolist() == [31, 31, 5]
    assert len(found.aside) == len(found.data)


def test_a_dropped_column_is_read_with_the_decimal_mark_of_the_file(file):
    found = read_table(file, drop=["size"], missing=Missing.PARTIAL)
    np.testing.assert_array_equal(found.aside["size"], [1.5, 2.5, np.nan, 1234.5])


def test_truth_values_and_codes_stay_as_they_were_written(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("x,zip,ok,name\n1.5,01234,True,=1\n2.5,1234,False,+2\n3.5,01234,True,a\n1.5,99999,True,b\n")
    whole = read_table(str(path)).original
    assert whole["zip"].tolist() == ["01234", "1234", "01234", "99999"]
    assert whole["ok"].tolist() == ["True", "False", "True", "True"]
    assert whole["name"].tolist() == ["=1", "+2", "a", "b"]


def test_row_names_without_a_heading_come_first(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text(",x,y\n3,1.5,2\n2,2.5,1\n1,3.5,7\n")
    whole = read_table(str(path)).original
    assert list(whole.columns) == ["", "x", "y"]
    assert whole[""].tolist() == [3.0, 2.0, 1.0]


def test_a_parquet_file_keeps_its_types(tmp_path):
    path = tmp_path / "data.parquet"
    when = pd.to_datetime(["2020-01-31", None, "2021-01-01", "2022-02-02"])
    frame = pd.DataFrame(
        {"key": [2**60, 2**60 + 1, 3, 4], "x": [1.5, 2.5, 3.5, np.nan], "when": when, "s": pd.Categorical(list("abba"))}
    )
    frame.to_parquet(path)
    found = read_table(str(path), columns=["x"], id_column="key", missing=Missing.PARTIAL)
    assert found.original["key"].tolist() == [str(2**60), str(2**60 + 1), "3", "4"]
    np.testing.assert_array_equal(found.original["x"], frame["x"])
    assert found.original["when"].dt.year.tolist()[0] == 2020
    assert found.original["when"].isna().tolist() == [False, True, False, False]
    assert found.original["s"].tolist() == list("abba")


def test_a_table_without_a_file_is_its_own_original():
    data = pd.DataFrame({"x": [1.0, 2.0], "s": pd.Categorical(["a", None])})
    rows = InputRows(np.array(["1", "2", "3"], dtype=object), np.array(["", "missing", ""], dtype=object))
    found = Table(data, rows, None, ())
    np.testing.assert_array_equal(found.original["x"], [1.0, np.nan, 2.0])
    assert found.original["s"].isna().tolist() == [False, True, True]
    assert found.aside.shape == (2, 0)


def test_numbers_are_shared_with_the_data_rather_than_copied(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("x,y\n" + "".join(f"{k}.5,{7 * k % 13}.25\n" for k in range(20)))
    found = read_table(str(path))
    assert np.shares_memory(found.original["x"].to_numpy(), found.data["x"].to_numpy())


def test_a_number_with_more_digits_than_floating_point_keeps_is_text_in_the_original(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("x,y\n12345678901234567,1\n12345678901234568,2\n5,7\n6,1\n")
    found = read_table(str(path))
    assert found.original["x"].tolist() == ["12345678901234567", "12345678901234568", "5", "6"]
