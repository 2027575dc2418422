"""Titles above and remarks below a table change nothing of what is read, or the file is refused."""

from __future__ import annotations

import time

import pytest
from test_reading_many_files import generated_files

from kfrc_app.tables import DataError, Missing, read_table
from kfrc_app.tables.margins import trim

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
