"""Columns of any type: what cells are taken for, what the user says instead, and what contradicts the cells."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import pytest

from kfrc_app.tables import (
    DataError,
    FittedColumn,
    Kind,
    Missing,
    Wish,
    kind_of,
    parse_wishes,
    read_new_rows,
    read_table,
)
from kfrc_app.tables.codes import code_notes, suspected_codes
from kfrc_app.tables.dates import NotDates, read_dates
from kfrc_app.tables.levels import MAX_LEVELS

N = 60


def write(tmp_path, **columns):
    """A table of cells as they are given, beside a column of measurements."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=len(next(iter(columns.values())))).round(3), **columns})
    frame.to_csv(tmp_path / "table.csv", index=False)
    return str(tmp_path / "table.csv")


def cycle(values, n=N):
    return [values[k % len(values)] for k in range(n)]


def read(tmp_path, cells, **options):
    """The column ``c`` of a table, and the notes."""
    table = read_table(write(tmp_path, c=cells), missing=Missing.PARTIAL, **options)
    return table.data.get("c"), table.notes


def wish(text):
    return {"types": parse_wishes([text])}


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        ([2007, 2008, 2009], Kind.ORDINAL),
        (["2007.0", "2008.0", "2009.0"], Kind.ORDINAL),
        ([0, 1, 2, 3], Kind.ORDINAL),
        ([-1, 0, 1], Kind.ORDINAL),
        ([0, 1], Kind.NOMINAL),
        ([1.5, 7.25], Kind.NOMINAL),
        (["True", "False"], Kind.NOMINAL),
        (["y", "n"], Kind.NOMINAL),
        (["0", "1", "2", "3+"], Kind.NOMINAL),
        (["red", "green", "blue"], Kind.NOMINAL),
        ([1, 2, 3, 5], Kind.NUMERIC),
        ([0.5, 1.5, 2.5], Kind.NUMERIC),
        ([0, 500, 600], Kind.NUMERIC),
        (list(range(8)), Kind.NUMERIC),
        (list(range(30)), Kind.NUMERIC),
        (["2020-01-31", "2021-02-01"], Kind.DATE),
        (["2020-01-31T10:00:00Z", "2021-02-01 12:30"], Kind.DATE),
        (["31.12.2020", "1.2.2021"], Kind.DATE),
        (["31/12/2020", "01/02/2021"], Kind.DATE),
        (["12/31/2020", "01/02/2021"], Kind.DATE),
        (["3 Apr 2020", "14 May 2021"], Kind.DATE),
        (["April 3, 2020", "May 14, 2021"], Kind.DATE),
    ],
)
def test_what_cells_are_taken_for(tmp_path, cells, kind):
    column, _ = read(tmp_path, cycle(cells))
    assert kind_of(column) is kind


def test_what_was_understood_is_said(tmp_path):
    path = write(
        tmp_path, year=cycle([2007, 2008, 2009]), color=cycle(["red", "blue"]), day=cycle(["2020-01-31", "2021-02-01"])
    )
    notes = "\n".join(read_table(path).notes)
    assert "'year' read as ordered, 3 levels (2007 < 2008 < 2009)" in notes
    assert "'color' read as categories, 2 levels (blue, red)" in notes
    assert "'day' read as dates (2020-01-31 to 2021-02-01); --types" in notes


def test_many_columns_of_a_type_are_told_at_once(tmp_path):
    path = write(tmp_path, **{f"q{k}": cycle(["y", "n"]) for k in range(9)})
    (note,) = read_table(path).notes
    assert "9 columns read as categories: 'q0', 'q1', 'q2', 'q3', 'q4' and 4 more" in note


def test_complete_numbers_stay_what_they_are(tmp_path):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(40, 3)), columns=list("abc"))
    frame.to_csv(tmp_path / "t.csv", index=False)
    table = read_table(str(tmp_path / "t.csv"), missing=Missing.PARTIAL)
    pd.testing.assert_frame_equal(table.data, frame, check_exact=True)
    assert (table.notes, table.weights) == ((), None)


def test_a_value_that_stands_alone_is_a_number(tmp_path):
    column, _ = read(tmp_path, [0] * (N - 1) + [1])
    assert kind_of(column) is Kind.NUMERIC


def test_few_rows_are_no_evidence_for_levels(tmp_path):
    column, _ = read(tmp_path, cycle([0, 1], 12))
    assert kind_of(column) is Kind.NUMERIC
    column, _ = read(tmp_path, cycle(["y", "n"], 12))
    assert kind_of(column) is Kind.NOMINAL


@pytest.mark.parametrize(
    "cells", [[f"name {k}" for k in range(N)], [f"a{k // 2}" for k in range(2 * 120)]], ids=["names", "many"]
)
def test_names_and_remarks_are_left_out_and_named(tmp_path, cells):
    column, notes = read(tmp_path, cells)
    assert column is None
    assert "left out 1 column of text: 'c'" in notes
    with pytest.raises(DataError, match=r"column 'c' has \d+ different texts in \d+ rows"):
        read_table(str(tmp_path / "table.csv"), columns=["c"])
    asked = read_table(str(tmp_path / "table.csv"), columns=["c"], **wish("c=nominal"))
    assert kind_of(asked.data["c"]) is Kind.NOMINAL


def test_text_under_the_name_of_known_groups_is_not_clustered_by_unless_that_is_said(tmp_path):
    path = write(tmp_path, species=cycle(["a", "b"]))
    table = read_table(path)
    assert list(table.data.columns) == ["x"]
    assert "--label-column 'species'" in table.notes[0]
    assert "--types 'species=nominal'" in table.notes[0]
    assert list(read_table(path, columns=["species"]).data.columns) == ["species"]
    assert list(read_table(path, **wish("species=nominal")).data.columns) == ["x", "species"]


@pytest.mark.parametrize("name", ["id", "customer_id", "Sample ID", "key"])
def test_numbers_that_name_the_rows_are_not_clustered_by_unless_that_is_said(tmp_path, name):
    path = write(tmp_path, **{name: [str(7 * k * k + 1000) for k in range(N)]})
    assert list(read_table(path).data.columns) == ["x"]
    assert f"--types '{name}=numeric' clusters by it" in read_table(path).notes[0]
    assert list(read_table(path, **wish(f"{name}=numeric")).data.columns) == ["x", name]
    assert list(read_table(path, columns=[name]).data.columns) == [name]
    assert read_table(path, id_column=name).notes == ()


def test_columns_that_say_nothing_are_left_out_and_named(tmp_path):
    path = write(tmp_path, blank=[""] * N, one=["a"] * N, day=["2020-01-01"] * N)
    table = read_table(path, missing=Missing.PARTIAL)
    assert list(table.data.columns) == ["x"]
    assert "left out 1 column without any value: 'blank'" in table.notes
    assert "left out 2 columns with a single value: 'one', 'day'" in table.notes
    with pytest.raises(DataError, match="column 'blank' has no value at all"):
        read_table(path, columns=["x", "blank"])


def test_days_and_months_that_cannot_be_told_apart_are_asked_for(tmp_path):
    cells = cycle(["03/04/2020", "05/06/2020"])
    column, notes = read(tmp_path, cells)
    assert column is None
    assert "does the day or the month stand first in '03/04/2020'?" in notes[0]
    assert "--types 'c=date:dmy'" in notes[0]
    for order, month in (("dmy", 4), ("mdy", 3)):
        column, _ = read(tmp_path, cells, **wish(f"c=date:{order}"))
        assert column.dt.month[0] == month
    with pytest.raises(DataError, match="does the day or the month stand first"):
        read(tmp_path, cells, **wish("c=date"))


def test_times_with_a_zone_are_in_universal_time(tmp_path):
    column, _ = read(tmp_path, cycle(["2020-01-01 00:30:00+0100", "2020-01-02T00:30:00.250-05:30"]))
    assert column[0] == pd.Timestamp("2019-12-31 23:30")
    assert column[1] == pd.Timestamp("2020-01-02 06:00:00.250")


def test_numbers_are_dates_only_if_that_is_said(tmp_path):
    cells = cycle([20200131, 20200229, 99991231])
    assert kind_of(read(tmp_path, cells)[0]) is Kind.NUMERIC
    column, _ = read(tmp_path, cells, **wish("c=date"))
    assert column[2] == pd.Timestamp("9999-12-31")


@pytest.mark.parametrize(
    ("cells", "text", "kind", "levels"),
    [
        ([1, 2, 3], "c=numeric", Kind.NUMERIC, None),
        ([1, 2, 3], "c=nominal", Kind.NOMINAL, ["1", "2", "3"]),
        ([1, 10, 5], "c=ordinal", Kind.ORDINAL, ["1", "5", "10"]),
        (["m", "s", "l"], "c=ordinal:s<m<l<xl", Kind.ORDINAL, ["s", "m", "l", "xl"]),
        (["1.0", "2.0"], "c=ordinal:2<1", Kind.ORDINAL, ["2", "1"]),
        (["y", "n"], "c=drop", None, None),
    ],
)
def test_the_user_says_what_a_column_is(tmp_path, cells, text, kind, levels):
    column, notes = read(tmp_path, cycle(cells), **wish(text))
    assert not any("read as" in note for note in notes)
    if kind is None:
        assert column is None
        return
    assert kind_of(column) is kind
    assert levels is None or column.cat.categories.tolist() == levels


@pytest.mark.parametrize(
    ("cells", "text", "message"),
    [
        (["1", "2", "wide"], "c=numeric", r"column 'c' cannot be read as numbers: it has 'wide' in row 3"),
        (["s", "m", "huge"], "c=ordinal:s<m", r"column 'c': 'huge' in row 3 is not among the levels s < m"),
        (["s", "m"], "c=ordinal", r"order must be said: --types 'c=ordinal:m<s'"),
        (["2020-01-01", "soon"], "c=date", r"column 'c' cannot be read as dates: it has 'soon' in row 2"),
        (["2020-01-01", "2020-02-30"], "c=date", r"it has '2020-02-30' in row 2"),
        (["s", "m"], "d=drop", r"the file has no column 'd'"),
    ],
)
def test_types_that_contradict_the_cells_name_the_cell(tmp_path, cells, text, message):
    with pytest.raises(DataError, match=message):
        read(tmp_path, cycle(cells), **wish(text))


def test_a_column_that_is_kept_aside_has_no_type(tmp_path):
    with pytest.raises(DataError, match="'c' is kept aside"):
        read(tmp_path, cycle(["a", "b"]), label_column="c", **wish("c=nominal"))


@pytest.mark.parametrize(
    "text",
    ["c", "c=big", "c=ordinal:s", "c=ordinal:s<s", "c=ordinal:s<<l", "c=nominal:a<b", "c=date:ymd", "c=drop,c=date"],
)
def test_types_that_are_none_are_refused(text):
    with pytest.raises(ValueError, match="c"):
        parse_wishes([text])


def test_names_and_levels_with_commas_and_equals_signs():
    found = parse_wishes(["a, b=nominal,c=d=ordinal:up to 1,5<more,e=drop"])
    assert {name: str(item.kind) for name, item in found.items()} == {"a, b": "nominal", "c=d": "ordinal", "e": "drop"}
    assert found["c=d"].levels == ("up to 1,5", "more")


STRANGE = ['say "hi"', "it's", "🐧 päron", "1", "1.5", "-", "a, b", "<b>&", "x" * 300]


def test_strange_names_of_levels_come_out_as_they_were_written(tmp_path):
    column, _ = read(tmp_path, cycle(STRANGE, 90))
    known = [name for name in STRANGE if name != "-"]  # a usual mark for a missing value
    assert sorted(column.cat.categories) == sorted(known)
    assert column[:9].isna().tolist() == [name == "-" for name in STRANGE]
    assert column.dropna().tolist()[:8] == known


def test_ten_thousand_levels(tmp_path):
    cells = [f"code {k // 3}" for k in range(30_000)]
    column, notes = read(tmp_path, cells)
    assert column is None
    assert "left out 1 column of text: 'c'" in notes
    with pytest.raises(DataError, match=f"column 'c' has 10000 different values and at most {MAX_LEVELS}"):
        read(tmp_path, cells, **wish("c=nominal"))


def test_types_of_a_parquet_file_decide(tmp_path):
    frame = pd.DataFrame(
        {
            "size": pd.Categorical(cycle(["m", "s", None]), categories=["s", "m", "l"], ordered=True),
            "code": pd.Categorical(cycle([3, 1])),
            "answer": cycle([True, False]),
            "day": pd.to_datetime(cycle(["2020-01-01", "2021-01-01"])).tz_localize("Europe/Berlin"),
            "date": cycle([datetime.date(2020, 1, 1), datetime.date(2021, 1, 1)]),
            "span": pd.to_timedelta(range(N), unit="h"),
            "text": cycle(["u", "v", None]),
            "scale": cycle([1, 2, 3]),
        }
    )
    frame.to_parquet(tmp_path / "t.parquet")
    data = read_table(str(tmp_path / "t.parquet"), missing=Missing.PARTIAL).data
    assert [str(kind_of(data[name])) for name in data.columns] == [
        *("ordinal", "nominal", "nominal", "date", "date", "numeric", "nominal", "numeric")
    ]
    assert data["size"].cat.categories.tolist() == ["s", "m", "l"]
    assert data["size"][:3].isna().tolist() == [False, False, True]
    assert data["code"].tolist()[:2] == ["3", "1"]
    assert data["answer"].tolist()[:2] == ["True", "False"]
    assert data["day"][0] == pd.Timestamp("2019-12-31 23:00")
    assert data["span"][12] == 0.5


def test_new_rows_are_read_as_the_model_knows_them(tmp_path):
    fitted = {
        "year": FittedColumn(Kind.ORDINAL, ("2007", "2008", "2009")),
        "c": FittedColumn(Kind.NOMINAL, ("01", "02", "A1")),
        "day": FittedColumn(Kind.DATE),
    }
    path = write(tmp_path, year=["2009.0", "", "2011"], c=["01", "02", "B"], day=["2020-01-01", "2020-01-02", ""])
    rows = read_new_rows(path, ["c", "year", "x", "day"], fitted=fitted, missing=Missing.PARTIAL)
    assert list(rows.data.columns) == ["c", "year", "x", "day"]
    assert rows.data["c"].tolist() == ["01", "02", "B"]
    assert rows.data["year"].astype(object).fillna("-").tolist() == ["2009", "-", "2011"]
    assert rows.data["day"].dt.day.tolist()[:2] == [1, 2]
    assert rows.rows.n_left_out == 0
    assert read_new_rows(path, ["c", "year"], fitted=fitted).rows.left_out.tolist() == [
        "",
        "missing value in 'year'",
        "",
    ]


WEIGHTS = {
    "negative": (["1", "-2", "3"], r"the weight in row 2 of 'w' is negative"),
    "missing": (["1", "2", ""], r"the weight in row 3 of 'w' is missing"),
    "infinite": (["1", "2", "inf"], r"the weight in row 3 of 'w' is infinite"),
    "text": (["1", "two", "3"], r"weights must be numbers, but 'w' has 'two' in row 2"),
    "zero": (["0", "0", "0"], r"all weights in 'w' are zero"),
}


@pytest.mark.parametrize("kind", WEIGHTS)
def test_weights_that_are_none_are_refused(tmp_path, kind):
    cells, message = WEIGHTS[kind]
    with pytest.raises(DataError, match=message):
        read_table(write(tmp_path, w=cells), weight_column="w")


def test_weights_are_kept_aside_and_follow_their_rows(tmp_path):
    path = write(tmp_path, w=[2, 0.5, 0, 1], y=[1, "", 3, 4.5])
    table = read_table(path, weight_column="w")
    assert list(table.data.columns) == ["x", "y"]
    assert table.weights.tolist() == [2, 0, 1]
    assert read_table(path, weight_column="w", missing=Missing.PARTIAL).weights.tolist() == [2, 0.5, 0, 1]


def test_what_is_missing_is_told_and_no_row_is_lost(tmp_path):
    path = write(tmp_path, a=["", "2", "3", "4"], b=["", "x", "x", "y"])
    (tmp_path / "gaps.csv").write_text((tmp_path / "table.csv").read_text().replace("0.126,,", ",,"))
    table = read_table(str(tmp_path / "gaps.csv"), missing=Missing.PARTIAL)
    assert len(table.data) == 4
    assert "1 of 4 rows have missing values (in 'x', 'a', 'b'): what is known of them is used" in table.notes
    assert "nothing is known of row '1': its memberships say nothing" in table.notes
    assert any("a blank counts as a level" in note for note in read_table(path, missing=Missing.LEVEL).notes)
    with pytest.raises(DataError, match="--missing partial"):
        read_table(path, missing=Missing.ERROR)


@pytest.mark.parametrize("word", ["None", "none", "missing"])
def test_a_word_for_nothing_is_a_level_among_text(tmp_path, word):
    found, notes = read(tmp_path, cycle([word, "Mild", "Severe"]))
    assert sorted(found.cat.categories) == sorted([word, "Mild", "Severe"])
    assert found.notna().all()
    assert any(word in note for note in notes)


@pytest.mark.parametrize("word", ["None", "missing"])
@pytest.mark.parametrize("cells", [[1.5, 2.5, 4.5, 8.0], ["true", "false"], ["2020-01-31", "2021-02-01"]])
def test_a_word_for_nothing_is_missing_among_other_values(tmp_path, word, cells):
    found, _ = read(tmp_path, cycle([word, *cells]))
    assert kind_of(found) is kind_of(read(tmp_path, cycle(cells))[0])
    assert found.isna().sum() == N // (len(cells) + 1)


@pytest.mark.parametrize("mark", ["None", "missing", "NA", "-"])
def test_a_level_that_is_named_is_a_level(tmp_path, mark):
    found, notes = read(tmp_path, cycle([mark, "Mild", "Severe"]), **wish(f"c=ordinal:{mark}<Mild<Severe"))
    assert list(found.cat.categories) == [mark, "Mild", "Severe"]
    assert found.notna().all()
    assert not any("taken as missing" in note for note in notes)
    new = read_new_rows(
        write(tmp_path, c=[mark, "Mild"]), ["c"], fitted={"c": FittedColumn(Kind.ORDINAL, (mark, "Mild", "Severe"))}
    )
    assert new.data["c"].tolist() == [mark, "Mild"]


def test_a_word_beside_named_levels_is_missing_and_said_so(tmp_path):
    found, notes = read(tmp_path, cycle(["None", "Mild", "Severe"]), **wish("c=ordinal:Mild<Severe"))
    assert found.isna().sum() == N // 3
    assert any("'c': 'None' (20 cells) is taken as missing" in note for note in notes)


def test_one_level_and_blanks_are_two_levels_if_a_blank_is_one(tmp_path):
    path = write(tmp_path, c=cycle(["x", ""]))
    table = read_table(path, missing=Missing.LEVEL)
    assert "c" in table.data
    assert any("'c' read as categories, 1 level (x)" in note for note in table.notes)
    assert "c" not in read_table(path, missing=Missing.PARTIAL).data
    with pytest.raises(DataError, match=r"missing values \(in 'c'\)"):
        read_table(path, missing=Missing.ERROR)


def test_digits_with_leading_zeros_are_codes(tmp_path):
    found, notes = read(tmp_path, cycle(["01234", "80331", "00999"]))
    assert list(found.cat.categories) == ["00999", "01234", "80331"]
    assert any("leading zeros" in note and "--types 'c=numeric'" in note for note in notes)
    found, notes = read(tmp_path, [f"{k:05d}" for k in range(N)])
    assert found is None
    assert any("left out 1 column of text: 'c'" in note for note in notes)
    assert kind_of(read(tmp_path, [f"{k:05d}" for k in range(N)], **wish("c=numeric"))[0]) is Kind.NUMERIC
    assert kind_of(read(tmp_path, cycle(["0.5", "00.7", "01", "12"]))[0]) is Kind.NUMERIC


def test_the_order_of_text_is_asked_for_with_all_levels(tmp_path):
    with pytest.raises(DataError, match="ordinal:a<b<c<d<e'"):
        read(tmp_path, cycle(list("edcba")), **wish("c=ordinal"))
    with pytest.raises(DataError, match=r"LOWEST<\.\.\.<HIGHEST' names all of its 26 levels"):
        read(tmp_path, cycle(list("abcdefghijklmnopqrstuvwxyz")), **wish("c=ordinal"))


def test_levels_with_commas_are_quoted_in_notes(tmp_path):
    _, notes = read(tmp_path, cycle(["a, b", "c"]))
    assert any("('a, b', c)" in note for note in notes)


def test_what_may_follow_a_date_is_said():
    with pytest.raises(ValueError, match=r"only dmy or mdy may follow.*in Python"):
        parse_wishes(["when=date:month"])


def test_text_in_new_rows_names_the_column_and_the_cell(tmp_path):
    with pytest.raises(DataError, match="column 'c' was numeric in the fit, but the new rows have 'old' in row 2"):
        read_new_rows(write(tmp_path, c=["1", "old"]), ["c"])


@pytest.mark.parametrize(
    ("cells", "cell"),
    [
        (["1/13/2020", "13/1/2020", "2/2/2020"], "13/1/2020"),
        (["32/1/2020", "1/2/2020"], "32/1/2020"),
        (["2020-01-02 13:00 pm"], "2020-01-02 13:00 pm"),
        (["2020-01-02 11:00 am", "2020-01-02 0:30 am"], "2020-01-02 0:30 am"),
    ],
)
def test_days_and_hours_that_no_calendar_has_are_no_dates(cells, cell):
    found = read_dates(cells)
    assert isinstance(found, NotDates)
    assert (found.cell, found.doubtful) == (cell, False)


def test_noon_and_midnight_are_twelve_in_halves_of_a_day():
    found = read_dates(["2020-01-02 12:00 am", "2020-01-02 12:30 pm", "2020-01-02 1:00 pm"])
    assert [str(time)[11:16] for time in found] == ["00:00", "12:30", "13:00"]


def of_two(tmp_path, cells):
    path = tmp_path / "two.csv"
    path.write_text("x,y\n" + "".join(f"{k * k},{cell}\n" for k, cell in enumerate(cells)), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (["a", "b", 3, 5, 8, 6], "'y' holds numbers, but 2 of its 6 values are text, such as 'a' in row 1"),
        (["1/2/2020", "1/2/2021", "3/4/2020"], "'y': does the day or the month stand first in '1/2/2020'"),
    ],
)
def test_a_column_that_is_asked_for_by_name_says_why_it_cannot_be_used(tmp_path, cells, message):
    path = of_two(tmp_path, cells)
    with pytest.raises(DataError, match=message):
        read_table(path, columns=["y"])
    assert list(read_table(path, missing=Missing.PARTIAL).data) == ["x"]  # left out if nobody asked for it


def test_types_are_given_to_one_column_at_a_time(tmp_path):
    with pytest.raises(DataError, match="the file has no column 'x,y': give a type to one column at a time"):
        read_table(of_two(tmp_path, [1, 2, 4]), types={"x,y": Wish(Kind.NOMINAL)})


def test_weights_that_sum_to_nothing_are_refused_with_what_they_should_be(tmp_path):
    path = of_two(tmp_path, ["1e-13", "1e-13", "1e-13", "2e-13"])
    with pytest.raises(DataError, match=r"'y' sum to 5e-13.*multiply them by 8e\+12, so that their mean is one"):
        read_table(path, weight_column="y")


def test_codes_for_nothing_in_many_columns_are_named_in_three_and_counted_in_the_others():
    columns = {f"c{k}": pd.Series([k, k + 1.0, k + 2.0, -999.0]) for k in range(5)}
    *named, last = code_notes(columns)
    assert [note.split(" in ")[0] for note in named] == [f"'c{k}' holds -999" for k in range(3)]
    assert last == "the same holds for 2 more column(s)"


@pytest.mark.parametrize(("others", "found"), [([1.0, 1.0], []), ([1.0, 2.0], [999.0])])
def test_a_code_is_suspected_only_beside_several_values(others, found):
    assert suspected_codes(np.array([999.0, *others])) == found
