"""Titles above and remarks below a table change nothing of what is read, or the file is refused."""

from __future__ import annotations

import time

import pytest
from test_reading_many_files import generated_files

from kfrc_app.tables import DataError, Marks, Missing, OpenQuestionError, read_table
from kfrc_app.tables.dialect import find_dialect
from kfrc_app.tables.layout import count_remarks, find_header, refuse_first_table, refuse_second_table, told_above
from kfrc_app.tables.margins import trim
from kfrc_app.tables.totals import LONGEST, find_totals

EVERY = 9  # of the generated files, to save time
SURROUNDINGS = [
    ("Report of May\n\n", ""),
    ("Report of May\nCreated on 2024-01-01\n", ""),
    ("", "\nSource: office of statistics, 2024\n"),
    ("Report;x\nAuthor;Ann\n\n", "\n* preliminary\n"),
]


@pytest.mark.parametrize(("above", "below"), SURROUNDINGS)
def test_lines_around_a_table_never_change_its_values(tmp_path, above, below):
    path = tmp_path / "table.csv"
    n_read = 0
    for k, (_, encoding, file) in enumerate(generated_files()):
        if file.asks or k % EVERY:
            continue
        line_end = "\r\n" if "\r\n" in file.text else "\r" if "\r" in file.text else "\n"
        text = file.text.replace(line_end, "\n").rstrip("\n")
        path.write_bytes(f"{above}{text}\n{below}".replace("\n", line_end).encode(encoding))
        try:
            table = read_table(str(path), id_column=file.id_column)
        except DataError:
            continue
        expected = [[values[k] for k in file.complete] for values in file.numbers.values()]
        assert [table.data[name].tolist() for name in table.data.columns] == expected, path.read_text(encoding)
        n_read += 1
    assert n_read >= 9


def test_a_cell_that_is_far_too_long_is_told_in_plain_words(tmp_path):
    path = tmp_path / "long.csv"
    path.write_text("a,b\n1," + "x" * 200_000 + "\n2,3\n")
    with pytest.raises(DataError, match=r"more than 131,072 characters.*quotation mark"):
        read_table(str(path))


def test_names_with_quotes_and_blanks_are_no_title_because_rows_have_as_many_words(tmp_path):
    path = tmp_path / "marks.csv"
    rows = [f"{k / 7:.3f},-{k / 9:.3f},u,item no {k}" for k in range(24)]
    path.write_text("\n".join(['"a ""good"" name",what; 7 times,level,id', *rows]), encoding="utf-8")
    table = read_table(str(path), missing=Missing.PARTIAL)
    assert list(table.data.columns)[:2] == ['a "good" name', "what; 7 times"]
    assert len(table.data) == 24


def test_a_cell_of_many_dashes_is_no_line_to_look_at_again_and_again():
    begun = time.process_time()
    trim("a,b\n" + "-" * 1000 + "x,1\n2,3\n")
    short = time.process_time() - begun
    begun = time.process_time()
    trim("a,b\n" + "-" * 100_000 + "x,1\n2,3\n")
    assert time.process_time() - begun < 1000 * max(short, 1e-3)  # it was ten thousand times as long


def test_a_title_above_names_that_hold_quotes_is_a_title(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(
        'Report of the year\n\n"a"\t"say ""hi"""\t"b"\n' + "".join(f'"{k}"\t"{-k}"\t"1{k}"\n' for k in range(9))
    )
    table = read_table(str(path))
    assert list(table.data.columns) == ["a", 'say "hi"', "b"]
    assert table.data["b"].tolist() == [float(f"1{k}") for k in range(9)]


def test_long_titles_above_a_table_are_no_reason_to_look_for_its_names_further_down():
    assert find_header([["a line of text"]] * 45 + [["name", "size"]] + [["a", "1"]] * 40) == 0


def test_names_follow_a_blank_line_below_what_is_told_of_the_table():
    told = [["created", "2024-01-01"], ["", ""]]
    assert find_header([*told, ["name", "size"], ["a", "1"], ["b", "2"], ["c", "3"]]) == 2


@pytest.mark.parametrize(
    ("rows", "n_remarks"),
    [
        ([["a", "1", "2"], ["b", "2", "3"], ["end", "", ""]], 0),  # a name of which nothing is known
        ([["a", "1"], ["b", "2"], ["some more words here", ""]], 0),
        ([["a", "1"], ["b", "2"], ["from: some more words", ""]], 1),
        ([["a", "1", "2"], ["b", "2", "3"], ["as far as is known today", "", ""]], 1),
        ([["Ann", ""], ["some text", ""]], 0),
        ([["a", "1"], ["", ""], ["first", ""], ["second", ""]], 3),
    ],
)
def test_a_row_of_which_only_the_name_is_known_is_no_remark(rows, n_remarks):
    assert count_remarks(rows, len(rows[0])) == n_remarks


def test_another_table_above_is_refused_and_rows_of_words_after_a_blank_line_are_none():
    above = [["a", "b", "c"], ["1", "2", "3"], ["4", "5", "6"], ["7", "8", "9"]]
    with pytest.raises(DataError, match="two tables below each other: below other rows, 'p', 'q'"):
        refuse_first_table([*above, ["left"], ["over"], ["lines"]], ["p", "q"])
    refuse_first_table([["a", "b", "c"], ["1", "2"], ["4", "5", "6"], ["x"], ["y"], ["z"]], ["p", "q"])
    words = [["Ann", "red"], ["Bob", "blue"], ["", ""], ["Cy", "red"], ["Dan", "blue"]]
    refuse_second_table(words, 2)
    with pytest.raises(DataError, match="after a blank line, 'c', 'd' look like names of columns again"):
        refuse_second_table([["1", "2"], ["3", "4"], ["", ""], ["c", "d"], ["5", "6"]], 2)


def test_numbers_with_signs_of_currencies_are_summed_up_too():
    rows = [["a", "$1"], ["b", "$2"], ["c", "$5"], ["Total", "$8"]]
    assert find_totals(rows, 2)[0] == [3]


@pytest.mark.parametrize("cell", ["1.2.3", "2020-01-02", "$ x", "12:30"])
def test_a_column_with_a_cell_that_is_no_number_is_summed_up_by_nothing(cell):
    rows = [["a", cell], ["b", "3"], ["c", "5"], ["d", "1"], ["Total", "9"]]
    found, [note] = find_totals(rows, 2)
    assert found == []
    assert note.startswith("the row 'Total' at the end is used like any other")


def test_two_rows_have_no_total():
    assert find_totals([["a", "1"], ["b", "2"], ["Total", "3"]], 2) == ([], [])


def test_of_a_long_table_the_last_rows_may_be_totals():
    rows = [[f"r{k}", str(k % 7)] for k in range(LONGEST + 1)]
    total = str(sum(k % 7 for k in range(LONGEST + 1)))
    rows[3][0] = "Total of spring"
    assert find_totals([*rows, ["Sum", total], ["Grand total", total]], 2)[0] == [LONGEST + 1, LONGEST + 2]


@pytest.mark.parametrize(("marks", "separator"), [({"decimal": ","}, " "), ({"decimal": "."}, ",")])
def test_commas_and_spaces_between_digits_are_a_question_that_marks_answer(marks, separator):
    content = b"1,2 345,6\n5,6 107,8\n1,2 390,4\n"
    with pytest.raises(
        OpenQuestionError, match="does the comma separate two columns, or does it stand within a number"
    ):
        find_dialect(content, Marks())
    assert find_dialect(content, Marks(**marks)).separator == separator


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff\xfe \x00 \x00\n\x00", "the file is empty"),
        (b"a\x01\x02\x03\x04\x05,b\n1,2\n", "this is a binary file, not a table of text"),
    ],
)
def test_what_holds_no_text_is_said_to_be_so(content, message):
    with pytest.raises(DataError, match=message):
        find_dialect(content, Marks())


def test_names_behind_a_hash_are_names_and_other_lines_comments():
    found = find_dialect(b"# measured\n# a,b\n1.5,2\n3,4.5\n", Marks())
    assert found.text == "a,b\n1.5,2\n3,4.5\n"
    assert found.notes == ("left out 1 line(s) of comment at the top, which begin with #",)


def test_a_byte_that_windows_has_no_letter_for_is_read_as_latin_1():
    assert find_dialect(b"a\x81\xe9,b\n1.5,2\n3,4.5\n", Marks()).text.startswith("a\x81é,b\n")


def test_whole_numbers_of_a_sheet_are_told_as_they_are_written_there():
    assert told_above([["Survey", 2023.0], [0.5, None]]) == "left out 2 lines above the table: 'Survey', '2023', '0.5'"
