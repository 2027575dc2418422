"""What the page shows of a table says what a run would do, in plain words."""

import json
import re

import pandas as pd
import pytest

from kfrc_app.server.choices import Choices
from kfrc_app.server.describe import describe
from kfrc_app.tables import read_table

SURVEY = """who,age,size,group,pay
a,20,small,A,"$1,200.50"
b,31,large,A,"$2,300.50"
c,42,small,B,"$1,000.25"
d,25,large,B,"$9,000.75"
e,36,small,A,
f,47,large,B,"$1,500.10"
"""


@pytest.fixture
def survey(tmp_path):
    path = tmp_path / "survey.csv"
    path.write_text(SURVEY)
    return str(path)


def of(path, **choices):
    found = describe(path, Choices.parse(choices))
    json.dumps(found)  # all of it can be sent
    return found


def test_columns_have_their_use_their_gaps_and_examples(survey):
    found = of(survey)
    columns = {column["name"]: column for column in found["columns"]}
    assert [column["use"] for column in found["columns"]] == ["names", "numeric", "nominal", "drop", "numeric"]
    assert columns["pay"]["n_missing"] == 1
    assert columns["age"]["extent"] == "20 to 47"
    assert columns["size"]["examples"] == ["small", "large"]
    assert "Known groups" in columns["group"]["why"]
    assert (found["n_rows"], found["n_columns"], found["n_used"]) == (6, 5, 3)


def test_what_stands_beside_a_column_is_not_noted_again_and_everything_else_is(survey):
    notes = " ".join(of(survey)["notes"])
    assert "currency" in notes
    assert "thousands" in notes
    for beside in ("names of the rows", "read as categories", "left out 1 column", "is used as data"):
        assert beside not in notes.lower().replace("the sign '$' of a currency is left out", "")


def test_a_choice_is_what_a_run_reads(survey):
    choices = {"columns": {"size": {"use": "ordinal", "levels": ["small", "large"]}, "age": {"use": "drop"}}}
    found = of(survey, **choices)
    data = read_table(survey, **Choices.parse(choices).reading).data
    assert [column["name"] for column in found["columns"] if column["use"] in ("numeric", "ordinal")] == list(data)
    assert list(data["size"].cat.categories) == ["small", "large"]


def test_a_choice_that_does_not_fit_stays_chosen_with_what_is_wrong(survey):
    found = of(survey, columns={"size": {"use": "numeric"}})
    size = found["columns"][2]
    assert size["use"] == "numeric"
    assert "cannot be read as numbers" in size["problem"]
    assert found["obstacle"] == ""


def test_a_question_brings_what_its_answers_set(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("when;x\n" + "".join(f"0{k}/0{k + 1}/2020;1,{k}00\n" for k in range(1, 8)))
    found = of(str(path))
    marks, dates = found["questions"]
    assert not any("Decimal commas" in note for note in found["notes"])  # which is what is asked
    assert any("Decimal commas" in note for note in of(str(path), decimal=",")["notes"])
    assert (marks["must"], dates["must"]) == (True, False)
    for answer, pay in zip(marks["answers"], (1.1, 1100.0), strict=True):
        data = read_table(str(path), **Choices.parse(answer["set"]).reading).data
        assert data["x"][0] == pay
    day_first = read_table(str(path), **Choices.parse({**dates["answers"][0]["set"], "decimal": ","}).reading).data
    assert day_first["when"][0] == pd.Timestamp(2020, 2, 1)


@pytest.mark.parametrize("name", ["x=drop,when", " when ", "__proto__", "<b>when</b>=drop"])
def test_an_answer_sets_its_column_whatever_that_is_called(tmp_path, name):
    path = tmp_path / "a.parquet"
    pd.DataFrame({name: [f"0{k}/0{k + 1}/2020" for k in range(1, 8)], "x": [k + 0.5 for k in range(7)]}).to_parquet(
        path
    )
    (question,) = of(str(path))["questions"]
    assert [answer["set"] for answer in question["answers"]] == [
        {"columns": {name: {"use": "date", "day_first": True}}},
        {"columns": {name: {"use": "date", "day_first": False}}},
        {"columns": {name: {"use": "drop"}}},
    ]
    data = read_table(str(path), **Choices.parse(question["answers"][0]["set"]).reading).data
    assert data[name][0] == pd.Timestamp(2020, 2, 1)
    assert "x" in data


def test_a_sheet_that_was_found_is_not_called_by_the_name_of_another(tmp_path):
    path = tmp_path / "book.xlsx"
    with pd.ExcelWriter(path) as book:
        pd.DataFrame({"remark": ["made by me"]}).to_excel(book, sheet_name="About", index=False)
        pd.DataFrame({"x": range(9), "z": range(9)}).to_excel(book, sheet_name="Data", index=False)
    found = of(str(path))
    assert found["sheets"] == ["About", "Data"]
    assert found["sheet"] is None
    assert found["found_sheet"] == "Data"
    assert found["n_rows"] == 9
    assert of(str(path), sheet="Data")["sheet"] == "Data"


def test_nothing_to_find_groups_by_is_an_obstacle(survey):
    names = ("age", "size", "pay")
    found = of(survey, columns={name: {"use": "drop"} for name in names})
    assert found["obstacle"].endswith(".")
    assert not re.search(r"--[a-z]", found["obstacle"])
    assert "cluster" not in found["obstacle"]
