"""Columns that name rows are found, left out and used as names; measurements never are."""

import numpy as np
import pandas as pd
import pytest

from kfrc_app.tables import DataError, read_new_rows, read_table
from kfrc_app.tables.kinds import parse_wishes

N = 24
rng = np.random.default_rng(7)
DATA = {"height": rng.normal(170, 9, N).round(1), "mass": rng.normal(70, 9, N).round(1)}
ODD = [str(37 * k * k + 11) for k in range(N)]  # whole numbers that do not count


def write(tmp_path, name, cells, position=0):
    frame = pd.DataFrame(DATA)
    frame.insert(position, name, cells)
    frame.to_csv(tmp_path / "table.csv", index=False)
    return str(tmp_path / "table.csv")


CALLED = {
    "id": ODD,
    "ID": ODD,
    "PatientID": ODD,
    "customer_key": ODD,
    "Respondent": ODD,
    "Participant code": [f"P{k:03d}" for k in range(N)],
    "sampleid": ODD,
    "weight_id": ODD,
    "uuid": [f"6f1c{k:04x}-0000-4000-8000-0123456789ab" for k in range(N)],
    "Serial number": ODD,
    "index": ODD,
    "Case No.": ODD,
    "zip_id": [f"{k:05d}" for k in range(N)],
}


@pytest.mark.parametrize("position", [0, 1, 2])
@pytest.mark.parametrize("name", CALLED)
def test_a_column_that_is_called_an_id_and_never_repeats_names_the_rows(tmp_path, name, position):
    found = read_table(write(tmp_path, name, CALLED[name], position))
    assert list(found.data.columns) == list(DATA)
    assert found.ids.tolist() == CALLED[name]
    assert any(f"'{name}' is taken for names of the rows" in note for note in found.notes)
    assert name not in found.aside


@pytest.mark.parametrize(
    ("name", "cells", "position"),
    [
        ("gene", [f"AT{k}G{k * 7:05d}" for k in range(N)], 0),
        ("country", [f"land {k}" for k in range(N)], 0),
        ("contact", [f"p{k}@example.org" for k in range(N)], 2),
        ("Unnamed: 0", [str(k) for k in range(N)], 0),
        ("No.", ODD, 0),
        ("x", [str(k + 1) for k in range(N)], 0),
        ("count", [str(k) for k in range(N)], 2),
    ],
)
def test_values_that_can_only_be_names_are_names(tmp_path, name, cells, position):
    found = read_table(write(tmp_path, name, cells, position))
    assert list(found.data.columns) == list(DATA)
    assert found.ids.tolist() == cells


@pytest.mark.parametrize(
    ("name", "cells", "position"),
    [
        ("income", ODD, 0),  # whole numbers that never repeat are measurements unless their name says otherwise
        ("body mass index", [str(k + 15) for k in range(N)], 2),
        ("price index", ODD, 0),
        ("number of patients", ODD, 1),
        ("patients", ODD, 0),
        ("income per household", ODD, 1),
        ("width", [f"{k}.5" for k in range(N)], 0),
        ("id", [f"{k * k}.25" for k in range(N)], 0),  # fractions name nothing, whatever they are called
        ("No.", ODD, 1),
        ("year", [str(1990 + k) for k in range(N)], 0),
        ("t", [str(k) for k in range(N)], 0),
        ("day", [str(k + 1) for k in range(N)], 0),
        ("grid", ODD, 0),
        ("acid", ODD, 0),
        ("temperature", [str(N - k) for k in range(N)], 0),  # in order, but not counting
        ("score", [str(k + 3) for k in range(N)], 0),
        ("timestamp", [str(1_600_000_000 + 60 * k) for k in range(N)], 0),
        ("site_id", [str(k % 9) for k in range(N)], 0),  # repeats as groups do
    ],
)
def test_measurements_stay_data(tmp_path, name, cells, position):
    found = read_table(write(tmp_path, name, cells, position))
    assert name in found.data.columns
    assert found.ids.tolist() == [str(k + 1) for k in range(N)]


def test_dates_that_never_repeat_are_dates(tmp_path):
    cells = pd.date_range("2020-01-01", periods=N).strftime("%Y-%m-%d")
    assert "when" in read_table(write(tmp_path, "when", cells)).data.columns


def test_a_remark_that_stands_first_is_no_name(tmp_path):
    found = read_table(write(tmp_path, "remark", [f"{k} " + "long story " * 20 for k in range(N)]))
    assert found.ids[0] == "1"
    assert "remark" in found.aside


def test_an_id_with_a_few_repetitions_is_left_out_and_one_with_many_is_questioned(tmp_path):
    few = [*ODD[:-2], ODD[0], ODD[1]]
    assert list(read_table(write(tmp_path, "patient_id", few)).data.columns) == list(DATA)
    many = read_table(write(tmp_path, "patient_id", [ODD[k // 3] for k in range(N)]))
    assert "patient_id" in many.data.columns
    assert any("'patient_id' is used as data although its name says that it is an id" in note for note in many.notes)


def test_an_id_column_that_is_named_wins_and_the_other_one_stays_out(tmp_path):
    frame = pd.DataFrame({"id": ODD, "name": [f"n{k}" for k in range(N)], **DATA})
    frame.to_csv(tmp_path / "t.csv", index=False)
    found = read_table(str(tmp_path / "t.csv"), id_column="name")
    assert found.ids[0] == "n0"
    assert list(found.data.columns) == list(DATA)


def test_an_id_is_a_better_name_than_the_row_numbers_that_pandas_writes(tmp_path):
    pd.DataFrame({"id": ODD, **DATA}).to_csv(tmp_path / "t.csv")
    assert read_table(str(tmp_path / "t.csv")).ids.tolist() == ODD


def test_a_column_that_counts_is_data_if_there_is_nothing_else(tmp_path):
    pd.DataFrame({"x": range(1, N + 1)}).to_csv(tmp_path / "t.csv", index=False)
    assert list(read_table(str(tmp_path / "t.csv")).data.columns) == ["x"]


def test_columns_and_types_keep_an_id_as_data(tmp_path):
    path = write(tmp_path, "id", ODD)
    assert list(read_table(path, types=parse_wishes(["id=numeric"])).data.columns) == ["id", *DATA]
    assert list(read_table(path, columns=["id", "mass"]).data.columns) == ["id", "mass"]


@pytest.mark.parametrize("name", ["id", "Respondent", "uuid"])
def test_a_table_with_an_id_is_clustered_as_the_table_without(tmp_path, name):
    pd.DataFrame(DATA).to_csv(tmp_path / "plain.csv", index=False)
    plain = read_table(str(tmp_path / "plain.csv"))
    for position in range(3):
        found = read_table(write(tmp_path, name, CALLED[name], position))
        pd.testing.assert_frame_equal(found.data, plain.data)


def test_new_rows_are_named_in_the_same_way(tmp_path):
    path = write(tmp_path, "patient_id", ODD, position=1)
    assert read_new_rows(path, list(DATA)).ids.tolist() == ODD
    measured = write(tmp_path, "income", ODD, position=0)
    assert read_new_rows(measured, list(DATA)).ids[0] == "1"


def test_a_file_of_which_most_columns_cannot_be_read_is_refused_with_what_to_type(tmp_path):
    text = {f"t{j}": [f"remark {k} {j}" for k in range(N)] for j in range(3)}
    pd.DataFrame({"mass": DATA["mass"], **text}).to_csv(tmp_path / "t.csv", index=False)
    path = str(tmp_path / "t.csv")
    with pytest.raises(DataError, match="3 of 4 columns would be left out") as caught:
        read_table(path)
    assert "--columns 'mass'" in str(caught.value)
    assert "--types 't0=nominal,t1=nominal,t2=nominal'" in str(caught.value)
    assert list(read_table(path, columns=["mass"]).data.columns) == ["mass"]
    assert list(read_table(path, types=parse_wishes(["t0=drop"])).data.columns) == ["mass"]
    assert list(read_table(path, drop=["t1", "t2"]).data.columns) == ["mass"]


def test_half_of_the_columns_may_be_left_out(tmp_path):
    text = {f"t{j}": [f"remark {k} {j}" for k in range(N)] for j in range(3)}
    pd.DataFrame({**DATA, "z": DATA["mass"] ** 2, **text}).to_csv(tmp_path / "t.csv", index=False)
    assert len(read_table(str(tmp_path / "t.csv")).data.columns) == 3


def test_columns_without_a_value_do_not_count_as_left_out(tmp_path):
    blank = {f"b{j}": [""] * N for j in range(9)}
    pd.DataFrame({**DATA, **blank}).to_csv(tmp_path / "t.csv", index=False)
    assert list(read_table(str(tmp_path / "t.csv")).data.columns) == list(DATA)
