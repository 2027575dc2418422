"""Spreadsheets: cells in their types, the sheet that is meant, and what stands around a table."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from pathlib import Path

import openpyxl
import pandas as pd
import pytest

from kfrc_app.tables import DataError, Missing, read_dissimilarities, read_table

ROWS = [["name", "size", "price"], ["a", 1.5, "€ 1.234,50"], ["b", 2.5, "€ 2,00"], ["c", None, "€ 3,25"], ["d", 4, 7]]


def write(tmp_path, sheets, change=None):
    """A workbook with rows by name of the sheet."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    if change is not None:
        change(book)
    path = tmp_path / "table.xlsx"
    book.save(path)
    return str(path)


def read(tmp_path, rows, change=None, **options):
    return read_table(write(tmp_path, {"S": rows}, change), missing=Missing.PARTIAL, **options)


def test_numbers_are_numbers_and_text_is_read_as_in_a_text_file(tmp_path):
    table = read(tmp_path, ROWS)
    assert table.data["size"].fillna(-1).tolist() == [1.5, 2.5, -1, 4]
    assert table.data["price"].tolist() == [1234.5, 2, 3.25, 7]
    assert any("'€'" in note for note in table.notes)


def test_the_only_sheet_that_holds_something_is_read(tmp_path):
    table = read_table(write(tmp_path, {"empty": [], "S": ROWS}), missing=Missing.PARTIAL)
    assert table.data["price"].tolist() == [1234.5, 2, 3.25, 7]


def test_several_sheets_are_a_question_that_names_them(tmp_path):
    path = write(tmp_path, {"one": ROWS, "two": ROWS})
    with pytest.raises(DataError, match=r"'one', 'two'.* --sheet 'one'"):
        read_table(path)
    assert read_table(path, sheet="two", missing=Missing.PARTIAL).data.shape == (4, 2)
    with pytest.raises(DataError, match="no sheet 'three': it has 'one', 'two'"):
        read_table(path, sheet="three")


def test_a_sheet_of_remarks_is_no_table(tmp_path):
    table = read_table(write(tmp_path, {"about": [["Made by Ann"], ["in 2024"]], "S": ROWS}), missing=Missing.PARTIAL)
    assert list(table.data) == ["size", "price"]
    assert any("'about'" in note for note in table.notes)


def test_dates_truth_values_and_times_keep_their_types(tmp_path):
    rows = [["day", "when", "ok", "at", "for"]]
    for k in range(4):
        clock = time(6 * k, 30)
        rows.append(
            [date(2024, 3, 1 + k), datetime(2024, 3, 1 + k, 12), k % 2 == 0, clock, timedelta(hours=24 + 12 * k)]
        )
    table = read(tmp_path, rows)
    assert table.data["day"].tolist() == [pd.Timestamp(2024, 3, 1 + k) for k in range(4)]
    assert table.data["when"].tolist() == [pd.Timestamp(2024, 3, 1 + k, 12) for k in range(4)]
    assert table.data["ok"].tolist() == ["TRUE", "FALSE"] * 2
    assert table.data["at"].tolist() == [0.5, 6.5, 12.5, 18.5]
    assert table.data["for"].tolist() == [1, 1.5, 2, 2.5]


def test_dates_beside_text_that_looks_like_dates_are_left_out_with_the_reason(tmp_path):
    rows = [["when", "x"], [date(2024, 3, 12), 1], ["13/12/2024", 2], [date(2024, 5, 1), 3], ["14/12/2024", 4]]
    table = read(tmp_path, rows)
    assert list(table.data) == ["x"]
    assert any("'13/12/2024'" in note and "took days for months" in note for note in table.notes)
    with pytest.raises(DataError, match="took days for months"):
        read(tmp_path, rows, columns=["when", "x"])


def test_titles_units_remarks_and_totals_are_left_out_and_told(tmp_path):
    rows = [
        ["Sales of the year"],
        [],
        ["shop", "area", "income"],
        [None, "m2", "EUR"],
        ["A", 10, 100],
        ["B", 20, 210],
        ["C", 30, 290],
        ["Total", 60, 600],
        [],
        ["Source: our books"],
    ]
    table = read(tmp_path, rows)
    assert table.data["income"].tolist() == [100, 210, 290]
    said = " | ".join(table.notes)
    for part in ("Sales of the year", "'m2'", "'Total'", "Source: our books"):
        assert part in said


def test_a_row_called_total_that_is_none_stays(tmp_path):
    table = read(tmp_path, [["shop", "a"], ["A", 1], ["B", 2], ["C", 3], ["Total", 50]])
    assert table.data["a"].tolist() == [1, 2, 3, 50]
    assert any("'Total'" in note for note in table.notes)


def test_two_tables_below_each_other_are_refused(tmp_path):
    block = [["n", "a", "b"], ["x", 1, 2], ["y", 3, 5], ["z", 4, 6]]
    with pytest.raises(DataError, match="two tables"):
        read(tmp_path, [*block, [], ["m", "c", "d"], *block[1:]])


def test_what_is_merged_down_a_column_holds_for_all_its_rows(tmp_path):
    rows = [["region", "x"], ["north", 1], [None, 2], [None, 3], ["south", 4], [None, 5], [None, 6]]

    def merge(book):
        book["S"].merge_cells("A2:A4")
        book["S"].merge_cells("A5:A7")

    table = read(tmp_path, rows, merge)
    assert table.data["region"].tolist() == ["north"] * 3 + ["south"] * 3


def test_names_that_repeat_are_joined_with_those_above_them(tmp_path):
    rows = [[None, "2023", None, "2024", None], ["id", "Q1", "Q2", "Q1", "Q2"]]
    table = read(tmp_path, rows + [[f"r{k}", k, k * k, 3 * k, k**3] for k in range(4)])
    assert list(table.data) == ["2023 Q1", "2023 Q2", "2024 Q1", "2024 Q2"]


def test_a_percentage_as_text_is_no_number_beside_numbers(tmp_path):
    table = read(tmp_path, [["p", "x"], [0.12, 1], [0.5, 2], ["30 %", 3], [0.7, 4]])
    assert list(table.data) == ["x"]
    assert any("'30 %' in row 3" in note for note in table.notes)


def test_a_matrix_of_dissimilarities_is_read_from_a_sheet(tmp_path):
    rows = [["", "a", "b", "c"], ["a", 0, 1, 2], ["b", 1, 0, 3.5], ["c", 2, 3.5, 0]]
    found = read_dissimilarities(write(tmp_path, {"S": rows}))
    assert found.ids.tolist() == ["a", "b", "c"]
    assert found.matrix.to_numpy().tolist() == [[0, 1, 2], [1, 0, 3.5], [2, 3.5, 0]]
    bare = read_dissimilarities(write(tmp_path, {"S": [row[1:] for row in rows[1:]]}))
    assert bare.matrix.to_numpy().tolist() == found.matrix.to_numpy().tolist()


def test_a_file_without_sheets_refuses_the_name_of_one(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n3,4\n5,6\n")
    with pytest.raises(DataError, match="leave --sheet out"):
        read_table(str(tmp_path / "t.csv"), sheet="S")


def test_a_damaged_spreadsheet_is_one_line(tmp_path):
    content = Path(write(tmp_path, {"S": ROWS})).read_bytes()
    (tmp_path / "cut.xlsx").write_bytes(content[: len(content) // 2])
    with pytest.raises(DataError, match=r"damaged|cannot be read"):
        read_table(str(tmp_path / "cut.xlsx"))


def hide(book):
    book["S"].sheet_state = "hidden"


def test_a_hidden_sheet_is_read_if_no_other_holds_anything(tmp_path):
    table = read_table(write(tmp_path, {"empty": [], "S": ROWS}, hide), missing=Missing.PARTIAL)
    assert table.data["price"].tolist() == [1234.5, 2, 3.25, 7]
    assert "the sheet 'S' is hidden and was read, as it is the only one that holds something" in table.notes


def test_a_sheet_is_found_by_its_name_in_other_letters(tmp_path):
    path = write(tmp_path, {"Sizes": ROWS, "Other": [["a"], [1], [2], [4]]})
    assert list(read_table(path, sheet=" sizes", missing=Missing.PARTIAL).data) == ["size", "price"]


def test_columns_that_never_stand_in_one_row_are_columns_of_one_table(tmp_path):
    rows = [["a"], [1], [2], [4], [None, None, 5], [None, None, 6]]
    data = read(tmp_path, rows).data
    assert list(data) == ["a", "column_2"]
    assert data.fillna(-1).to_numpy().tolist() == [[1, -1], [2, -1], [4, -1], [-1, 5], [-1, 6]]


@pytest.mark.parametrize("remarks", [{2: "guessed"}, {1: "guessed", 4: "by Ann"}])
def test_remarks_beside_one_column_of_numbers_are_no_table_of_two(tmp_path, remarks):
    rows = [["x"], [1], [2], [3], [4.5], [7], [8]]
    table = read(tmp_path, [[*row, None, remarks[k]] if k in remarks else row for k, row in enumerate(rows)])
    assert table.data["x"].tolist() == [1, 2, 3, 4.5, 7, 8]
    assert list(table.data) == ["x"]


@pytest.mark.parametrize("width", [1, 2])
def test_a_first_line_of_numbers_is_data(tmp_path, width):
    rows = [[1.5, 2], [2, 3], [4, 9], [3, 7.5]]
    table = read(tmp_path, [row[:width] for row in rows])
    assert table.data.to_numpy().tolist() == [row[:width] for row in rows]
    names = ["column_1", "column_1 to column_2"][width - 1]
    assert table.notes == (f"the first line holds numbers, so it is data and the columns are called {names}",)


def test_names_without_rows_are_no_table(tmp_path):
    with pytest.raises(DataError, match="the sheet has names of columns but no rows"):
        read(tmp_path, [["a", "b", "c"]])


def test_a_column_that_holds_nothing_but_the_title_is_left_out(tmp_path):
    table = read(tmp_path, [["Report"], [], [None, "a", "b"], [None, 1, 2], [None, 3, 5], [None, 4, 9]])
    assert table.data.to_dict("list") == {"a": [1, 3, 4], "b": [2, 5, 9]}
    assert table.notes == ("left out 1 line above the table: 'Report'",)


def test_blank_lines_between_rows_are_left_out_and_counted(tmp_path):
    table = read(tmp_path, [["a", "b"], [1, 2], [3, 5], [None, None], [4, 9], [6, 1]])
    assert table.data["a"].tolist() == [1, 3, 4, 6]
    assert table.notes == ("left out 1 blank line(s)",)


def test_names_of_columns_that_go_on_in_the_next_line_are_joined(tmp_path):
    rows = [["p", 1, 2, 4], ["q", 3, 5, 6], ["r", 4, 9, 2], ["s", 5, 3, 1]]
    table = read(tmp_path, [["id", "left", None, "mass"], [None, None, "right", None], *rows])
    assert table.data.to_dict("list") == {"left": [1, 3, 4, 5], "left right": [2, 5, 9, 3], "mass": [4, 6, 2, 1]}
    assert table.notes[0] == "names of columns stand in two lines, which were joined: 'right'"
