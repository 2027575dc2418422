"""What a preview says of a table is what reading it does."""

import json
import zipfile

import numpy as np
import openpyxl
import pandas as pd
import pytest

from kfrc_app.tables import DataError, Marks, Missing, Role, parse_wishes, preview_table, read_table

N = 30
CSV = "id;size;grade;answer;when;remark;one;blank;species;weights\n" + "".join(
    f"{3 * k * k + 100};{k % 7},{k};{k % 3 + 1};{'yes' if k % 2 else 'no'};2020-01-{k + 1:02d};remark {k};same;;"
    f"{'ab'[k % 2]};{k % 4 + 1}\n"
    for k in range(N)
)


def write(tmp_path, text, name="table.csv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.fixture
def shown(tmp_path):
    return {column.name: column for column in preview_table(write(tmp_path, CSV)).columns}


def test_every_column_has_a_role_and_a_type_or_a_reason(shown):
    assert list(shown) == CSV.splitlines()[0].split(";")
    told = {
        name: (str(column.role), None if column.kind is None else str(column.kind)) for name, column in shown.items()
    }
    assert told == {
        "id": ("names", None),
        "size": ("data", "numeric"),
        "grade": ("data", "ordinal"),
        "answer": ("data", "nominal"),
        "when": ("data", "date"),
        "remark": ("left out", None),
        "one": ("left out", None),
        "blank": ("left out", None),
        "species": ("left out", None),
        "weights": ("data", "numeric"),
    }
    for column in shown.values():
        assert bool(column.reason) == (column.role is not Role.DATA)
    assert "names the rows" in shown["id"].reason
    assert "remarks" in shown["remark"].reason
    assert "known already" in shown["species"].reason


def test_counts_examples_and_extents_are_of_the_cells(shown):
    assert shown["size"].n_distinct == N
    assert shown["size"].examples == ("0,0", "1,1", "2,2", "3,3", "4,4")
    assert shown["size"].extent == "0 to 6.6"
    assert shown["grade"].levels == ("1", "2", "3")
    assert shown["when"].extent == "2020-01-01 to 2020-01-30"
    assert shown["blank"].n_missing == N
    assert shown["remark"].levels == tuple(sorted(f"remark {k}" for k in range(N)))
    assert shown["weights"].suspicion == "weight"
    assert [str(kind) for kind in shown["grade"].possible] == ["numeric", "ordinal", "nominal", "drop"]
    assert "numeric" not in [str(kind) for kind in shown["remark"].possible]
    assert "date" in [str(kind) for kind in shown["when"].possible]


def test_what_the_preview_says_is_what_reading_does(tmp_path):
    path = write(tmp_path, CSV)
    found = read_table(path, missing=Missing.PARTIAL)
    used = [column for column in preview_table(path).columns if column.role is Role.DATA]
    assert [column.name for column in used] == list(found.data.columns)
    said = parse_wishes([f"{column.name}={column.kind}" for column in used])
    assert preview_table(path).problem == ""
    pd.testing.assert_frame_equal(read_table(path, types=said, missing=Missing.PARTIAL).data, found.data)


def test_settings_that_come_back_are_shown(tmp_path):
    path = write(tmp_path, CSV)
    settings = {
        "types": parse_wishes(["id=numeric", "grade=numeric", "remark=drop"]),
        "label_column": "species",
        "weight_column": "weights",
        "drop": ["answer"],
    }
    shown = {column.name: column for column in preview_table(path, **settings).columns}
    assert (shown["id"].role, str(shown["id"].kind)) == (Role.DATA, "numeric")
    assert shown["species"].role is Role.LABEL
    assert shown["weights"].role is Role.WEIGHT
    assert (shown["answer"].role, shown["answer"].reason) == (Role.LEFT_OUT, "")
    found = read_table(path, missing=Missing.PARTIAL, **settings)
    assert [name for name, column in shown.items() if column.role is Role.DATA] == list(found.data.columns)


def test_a_mark_that_can_be_read_in_two_ways_is_a_question_with_answers_that_work(tmp_path):
    path = write(tmp_path, "x;y\n1,234;5\n2,345;6\n3,456;8\n")
    with pytest.raises(DataError):
        read_table(path)
    (question,) = preview_table(path).questions
    assert question.column == "x"
    assert "--" not in question.text
    values = []
    for choice in question.choices:
        marks = Marks(choice.decimal, choice.thousands)
        assert preview_table(path, marks=marks).questions == ()
        values.append(read_table(path, marks=marks).data["x"][0])
    assert values == [1.234, 1234.0]


def test_days_and_months_are_a_question_with_answers_that_work(tmp_path):
    path = write(tmp_path, "x,when\n" + "".join(f"{k}.5,0{k % 5 + 1}/0{k % 4 + 1}/2020\n" for k in range(20)))
    (question,) = preview_table(path).questions
    assert question.column == "when"
    months = []
    for choice in question.choices[:2]:
        assert preview_table(path, types=choice.types).questions == ()
        months.append(read_table(path, types=choice.types).data["when"].dt.month.max())
    assert months == [4, 5]
    assert list(read_table(path, types=question.choices[2].types).data.columns) == ["x"]


@pytest.mark.parametrize("name", ["x=drop,when", " when ", "when=date:dmy", "a,x=nominal"])
def test_an_answer_is_about_its_column_whatever_that_is_called(tmp_path, name):
    path = str(tmp_path / "table.parquet")
    dates = [f"0{k % 5 + 1}/0{k % 4 + 1}/2020" for k in range(20)]
    pd.DataFrame({"x": np.arange(20) + 0.5, name: dates}).to_parquet(path)
    (question,) = preview_table(path).questions
    for choice, month in zip(question.choices, (4, 5, None), strict=True):
        assert list(choice.types) == [name]
        data = read_table(path, types=choice.types).data
        assert "x" in data
        assert (data[name].dt.month.max() if name in data else None) == month


def test_one_column_or_two_is_a_question(tmp_path):
    preview = preview_table(write(tmp_path, "1,5\n2,5\n3,7\n4,1\n"))
    assert len(preview.questions) == 1
    assert {choice.decimal for choice in preview.questions[0].choices} == {".", ",", None}
    assert len(preview.columns) == 2


def test_several_sheets_are_a_question_and_are_listed(tmp_path):
    book = openpyxl.Workbook()
    for title, start in (("first", 1), ("second", 100)):
        sheet = book.create_sheet(title)
        sheet.append(["x", "y"])
        for k in range(8):
            sheet.append([start + k * k, k % 3])
    del book["Sheet"]
    book.save(tmp_path / "book.xlsx")
    preview = preview_table(str(tmp_path / "book.xlsx"))
    assert preview.sheets == ("first", "second")
    assert [choice.sheet for choice in preview.questions[0].choices] == ["first", "second"]
    chosen = preview_table(str(tmp_path / "book.xlsx"), sheet="second")
    assert chosen.questions == ()
    assert chosen.columns[0].extent == "100 to 149"


def test_several_files_in_an_archive_are_a_question(tmp_path):
    with zipfile.ZipFile(tmp_path / "both.zip", "w") as archive:
        archive.writestr("one.csv", "x,y\n1,2\n2,5\n4,1\n")
        archive.writestr("two.csv", "x,y\n9,2\n8,5\n7,1\n")
    path = str(tmp_path / "both.zip")
    preview = preview_table(path)
    assert preview.sheets == ("one.csv", "two.csv")
    answer = preview.questions[0].choices[1].sheet
    assert preview_table(path, sheet=answer).columns[0].extent == "7 to 9"
    assert read_table(path, sheet=answer).data["x"].tolist() == [9, 8, 7]


def test_a_type_that_the_cells_contradict_is_a_problem_of_its_column(tmp_path):
    path = write(tmp_path, CSV)
    types = parse_wishes(["answer=numeric"])
    preview = preview_table(path, types=types)
    shown = {column.name: column for column in preview.columns}
    assert "'no' in row 1" in shown["answer"].problem
    with pytest.raises(DataError) as caught:
        read_table(path, types=types)
    assert preview.problem == str(caught.value)


def test_weights_that_are_no_weights_are_a_problem_of_their_column(tmp_path):
    preview = preview_table(write(tmp_path, CSV), weight_column="remark")
    assert "weights must be numbers" in {column.name: column for column in preview.columns}["remark"].problem
    assert preview.problem


def test_what_would_stop_a_run_is_told(tmp_path):
    text = "a,b,c\n" + "".join(f"remark {k},note {k},text {k}\n" for k in range(12))
    preview = preview_table(write(tmp_path, text))
    assert preview.problem
    assert all(column.role is not Role.DATA for column in preview.columns)


def test_a_file_that_cannot_be_read_is_an_error(tmp_path):
    with pytest.raises(DataError, match="empty"):
        preview_table(write(tmp_path, ""))
    with pytest.raises(DataError, match="no column 'nope'"):
        preview_table(write(tmp_path, CSV), id_column="nope")


def test_a_preview_is_a_document(tmp_path):
    document = json.loads(json.dumps(preview_table(write(tmp_path, CSV)).document()))
    assert document["columns"][1]["kind"] == "numeric"
    assert document["n_rows"] == N


def test_a_wide_table_is_previewed(tmp_path):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 600)).round(3)).add_prefix("g")
    frame.to_csv(tmp_path / "wide.csv", index=False)
    assert len(preview_table(str(tmp_path / "wide.csv")).columns) == 600
