"""Every number and every id of a file is read as it was written, or there is a question instead of a guess."""

from __future__ import annotations

import pytest

from kfrc_app.tables import DataError, Marks, read_dissimilarities, read_table

QUESTION = "--decimal|--thousands"


def read(tmp_path, text, encoding="utf-8", **options):
    path = tmp_path / "table.csv"
    path.write_bytes(text.encode(encoding))
    return read_table(str(path), **options)


def columns(table):
    return {name: table.data[name].tolist() for name in table.data.columns}


def test_one_column_of_decimal_commas_is_one_column(tmp_path):
    table = read(tmp_path, "x\n1,5\n1,6\n0,25\n-2,\n")
    assert columns(table) == {"x": [1.5, 1.6, 0.25, -2.0]}
    assert table.ids.tolist() == ["1", "2", "3", "4"]


def test_one_column_without_a_name_may_be_one_column_or_two(tmp_path):
    with pytest.raises(DataError, match=QUESTION):
        read(tmp_path, "1,5\n1,6\n2,7\n")


@pytest.mark.parametrize(("second", "value"), [("NA", None), ("?", None), ('"7,5"', 7.5)])
def test_gaps_and_quotation_marks_show_that_a_column_without_a_name_is_one(tmp_path, second, value):
    table = read(tmp_path, f"1,5\n{second}\n1,6\n2,7\n3,8\n")
    known = [1.5, value, 1.6, 2.7, 3.8]
    assert columns(table) == {"column_1": [number for number in known if number is not None]}
    assert table.rows.used.tolist() == [number is not None for number in known]


def test_a_header_of_one_name_never_yields_row_names(tmp_path):
    with pytest.raises(DataError, match="row 1 has 2 fields where 1 is expected"):
        read(tmp_path, "x\nr1,1.5\nr2,1.6\nr3,1.7\n")
    with pytest.raises(DataError, match=QUESTION):
        read(tmp_path, "x\n1,555\n1,666\n2,777\n")


@pytest.mark.parametrize("text", ["a,b,c\n1,2\n3,4\n5,6\n", "a;b;c\n1;2\n3;4\n5;6\n", "x;\nr1;2,5\nr2;3,5\nr3;4,5\n"])
def test_rows_that_do_not_fit_the_header_are_refused(tmp_path, text):
    with pytest.raises(DataError, match="row 1 has 2 fields where"):
        read(tmp_path, text)


@pytest.mark.parametrize("trailing", [",", ";", "\t", "|", ",,"])
@pytest.mark.parametrize("numbers", [("1,5", "1,6", "2,7"), ("7", "8", "9.25")])
def test_a_separator_behind_a_header_of_one_name_is_no_part_of_it(tmp_path, trailing, numbers):
    table = read(tmp_path, "\n".join([f"x{trailing}", *numbers]))
    assert columns(table) == {"x": [float(cell.replace(",", ".")) for cell in numbers]}


@pytest.mark.parametrize(
    "text",
    [
        "x,n\n1,5,2\n1,6,3\n2,5,4\n",
        "x,n\n12,5,2\n35,6,3\n41,5,4\n",
        "x;n\n1.5;2;3\n1.5;3;3\n2.5;4;3\n",
        "id,x\n1,1,5\n2,1,6\n3,2,7\n",
        "x n\n1 234 2\n2 345 3\n3 456 4\n",
        "key x\na 1 234\nb 2 345\nc 3 456\n",
        "x,n\n1.5,2,\n2.5,3,\n3.5,4,late\n",
        "key;n\na;2;\nb;3;\nc;4;late\n",
    ],
)
def test_a_field_too_many_is_a_question_unless_it_clearly_names_the_rows(tmp_path, text):
    with pytest.raises(DataError, match="one field more than the header"):
        read(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("a,b\n12,5.5,2\n7,6,3\n9,5,4\n", ["12", "7", "9"]),
        ('"a","b"\n"12",5,2\n"7",6,3\n"9",5,4\n', ["12", "7", "9"]),
        ('"a","b"\n"1.20",5,2\n"7",6,3\n"7",5,4\n', ["1.20", "7", "7"]),
        ("a\tb\n12\t5\t2\n7\t6\t3\n9\t5\t4\n", ["12", "7", "9"]),
        ("a b\n12 5 2\n7 6 3\n9 5 4\n", ["12", "7", "9"]),
    ],
)
def test_numbers_that_name_the_rows_are_names(tmp_path, text, ids):
    table = read(tmp_path, text)
    assert table.ids.tolist() == ids
    assert columns(table)["b"] == [2, 3, 4]


def test_the_question_of_a_field_too_many_can_be_answered(tmp_path):
    text = "x,n\n12,5,2\n35,6,3\n41,5,4\n"
    table = read(tmp_path, text, marks=Marks("."))
    assert table.ids.tolist() == ["12", "35", "41"]
    assert columns(table) == {"x": [5, 6, 5], "n": [2, 3, 4]}
    assert columns(read(tmp_path, f"k,{text}", columns=["k"])) == {"k": [12, 35, 41]}


@pytest.mark.parametrize("text", ["my col\n1 234\n2 345\n12 345\n", "Price, EUR\n1,5\n2,5\n12,5\n"])
def test_two_words_above_what_may_be_one_number_are_a_question(tmp_path, text):
    with pytest.raises(DataError, match=QUESTION):
        read(tmp_path, text)
    assert read(tmp_path, text, marks=Marks(".", "'")).data.shape == (3, 2)
    mark = " " if " 2" in text else None
    assert read(tmp_path, text, marks=Marks("," if mark is None else ".", mark)).data.shape == (3, 1)


def test_blanks_behind_commas_show_that_they_separate(tmp_path):
    table = read(tmp_path, "1, 2, 3\n4, 5, 6\n7, 8, 9\n")
    assert table.data.to_numpy().tolist() == [[1, 2, 3], [4, 5, 6], [7, 8, 9]]


def test_a_column_without_a_name_is_noticed(tmp_path):
    table = read(tmp_path, "a;b;\n1,5;2;3\n2,5;3;4\n3,5;4;6\n")
    assert list(table.data.columns) == ["a", "b", "column_3"]
    assert any("no name" in note and "column_3" in note for note in table.notes)


def test_a_blank_line_in_one_column_is_a_row_without_a_value(tmp_path):
    table = read(tmp_path, "x\n1,5\n\n3\n4\n\n")
    assert columns(table) == {"x": [1.5, 3, 4]}
    assert table.rows.left_out.tolist() == ["", "missing value in 'x'", "", ""]
    assert table.ids.tolist() == ["1", "3", "4"]


@pytest.mark.parametrize("trailing", [",", ",,,"])
@pytest.mark.parametrize("in_header", [False, True])
@pytest.mark.parametrize("names", [("a", "b"), ("x",), ("", "a", "b")])
def test_separators_at_the_end_of_the_rows_shift_nothing(tmp_path, trailing, in_header, names):
    rows = [("p", "1", "2.5"), ("q", "3", "4.5"), ("r", "5", "6.5")]
    rows = [row[-len(names) :] for row in rows]
    lines = [",".join(names) + trailing * in_header, *(",".join(row) + trailing for row in rows)]
    table = read(tmp_path, "\n".join(lines))
    data = {name: [float(row[j]) for row in rows] for j, name in enumerate(names) if name}
    assert columns(table) == data
    assert table.ids.tolist() == (["p", "q", "r"] if names[0] == "" else ["1", "2", "3"])


def test_row_names_are_found_behind_separators_at_the_end(tmp_path):
    table = read(tmp_path, "a,b\nr1,1,2.5,\nr2,3,4.5,\nr3,5,6.5,\n")
    assert columns(table) == {"a": [1, 3, 5], "b": [2.5, 4.5, 6.5]}
    assert table.ids.tolist() == ["r1", "r2", "r3"]


@pytest.mark.parametrize("separator", ["\t", ";", "|"])
@pytest.mark.parametrize("mark", [",", "."])
def test_a_mark_before_three_digits_is_a_question(tmp_path, separator, mark):
    rows = "\n".join(f"{k}{mark}234{separator}{k * k}" for k in range(1, 6))
    with pytest.raises(DataError, match=QUESTION) as caught:
        read(tmp_path, f"x{separator}n\n{rows}\n")
    for words in (
        "column 'x'",
        "row 1",
        f"'1{mark}234'",
        "1.234",
        "1234",
        f'--decimal "{mark}"',
        f'--thousands "{mark}"',
    ):
        assert words in str(caught.value)


@pytest.mark.parametrize(
    ("text", "x"),
    [
        ("x;y\n1.234;1,5\n999;2,5\n5;3,5\n", [1234, 999, 5]),
        ("x;y\n1,234;1.5\n999;2.5\n5;3.5\n", [1234, 999, 5]),
        ("x;y\n1,234;0,5\n999;2,5\n5;3,5\n", [1.234, 999, 5]),
        ("x;y\n1.234;7\n999;1234.567\n5;1\n", [1.234, 999, 5]),
        ("x;y\n1,234;1,234,567\n999;2\n5;3\n", [1234, 999, 5]),
        ("x;y\n1,234;1.234.567\n999;2\n5;3\n", [1.234, 999, 5]),
        ("x;y\n1,234;1 234\n999;2\n5;3\n", [1.234, 999, 5]),
        ("x;y\n1'234;7,5\n9'999'999,25;2\n5;3\n", [1234, 9999999.25, 5]),
        ("x;y\n1\u202f234;7,5\n9\u00a0999,25;2\n5;3\n", [1234, 9999.25, 5]),
        ("x;y\n1.234,567;7\n9.999,5;2\n5;3\n", [1234.567, 9999.5, 5]),
        ('x,y\n"1,234",1.5\n999,2\n5,3\n', [1234, 999, 5]),
        ('x,y\n"1,5",1\n999,2\n5,3\n', [1.5, 999, 5]),
        ("x,y\n1.234,1\n999,2\n5,3\n", [1.234, 999, 5]),
        ("x y\n1,5 2,5\n2,5 3,5\n5 3\n", [1.5, 2.5, 5]),
    ],
)
def test_the_marks_of_a_file_are_decided_by_all_its_cells(tmp_path, text, x):
    assert columns(read(tmp_path, text))["x"] == x


@pytest.mark.parametrize(
    "text",
    [
        "x;y\n1,5;2.5\n3;4\n5;6\n",
        "x;y\n1,5;1,234,567\n3;4\n5;6\n",
        "x;y\n1,234;1.234\n3;4\n5;6\n",
        "x;y\n1,234,567;1.234.567\n3;4\n5;6\n",
        'x,y\n"1,234",2\n"5,678",3\n"9,111",4\n',
        'x,y\n"1.234","2"\n"5.678","3"\n"9.111","4"\n',
        'x,y\n"\u22121.234","2"\n"\u22125.678","3"\n"\u22129.111","4"\n',
    ],
)
def test_cells_that_contradict_each_other_or_tell_nothing_are_a_question(tmp_path, text):
    with pytest.raises(DataError, match=QUESTION):
        read(tmp_path, text)


@pytest.mark.parametrize(
    "cell",
    [
        "5%",
        "0x1A",
        "1_000",
        "\uff11\uff12",
        "2020-01-02",
        "1.2.2020",
        "12:30",
        "5 kg",
        "1,23,456",
        "1d3",
    ],
)
def test_what_is_no_plain_number_makes_its_column_text_and_is_named(tmp_path, cell):
    rows = "".join(f"{k};{k * k}\n" for k in range(6))
    table = read(tmp_path, f"x;n\n{rows}{cell};7\n")
    assert list(table.data.columns) == ["n"]
    assert any(f"'{cell}' in row 7" in note for note in table.notes)


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("1e3", 1000.0),
        ("1E-2", 0.01),
        ("+5", 5.0),
        ("\u22125", -5.0),
        (".5", 0.5),
        ("5.", 5.0),
        (" 5 ", 5.0),
        ('"5"', 5.0),
    ],
)
def test_ways_to_write_a_number(tmp_path, cell, value):
    table = read(tmp_path, f"x,n\n{cell},1\n0.5,2\n0.25,3\n")
    assert columns(table)["x"] == [value, 0.5, 0.25]


def test_numbers_of_windows_files(tmp_path):
    table = read(tmp_path, "Preis \u20ac;n\n1\u2019234,5;1\n2\u2019345;2\n1\u2019000;4\n", encoding="cp1252")
    assert columns(table)["Preis \u20ac"] == [1234.5, 2345, 1000]
    assert any("not UTF-8" in note for note in table.notes)


def test_an_open_quotation_mark_swallows_no_rows(tmp_path):
    with pytest.raises(DataError, match="quotation mark"):
        read(tmp_path, 'a,b\n1,2\n3,4\n5,6\n7,"8\n9,10\n11,12\n')


def test_a_header_of_names_and_numbers_is_noticed(tmp_path):
    table = read(tmp_path, "5.1,3.5,kind\n4.9,3.0,setosa\n4.7,3.2,virginica\n4.6,3.1,virginica\n")
    assert any("first line" in note and "'5.1'" in note for note in table.notes)


def test_a_first_line_of_numbers_and_text_that_occurs_again_is_data(tmp_path):
    table = read(tmp_path, "5.1,3.5,setosa\n4.9,3.0,setosa\n4.7,3.2,virginica\n4.6,3.1,virginica\n")
    assert table.data["column_1"].tolist() == [5.1, 4.9, 4.7, 4.6]
    assert any("occurs again" in note for note in table.notes)


@pytest.mark.parametrize("names", [False, True])
def test_a_matrix_with_doubtful_marks_is_a_question(tmp_path, names):
    lines = ["0;1,234;2,345", "1,234;0;3,456", "2,345;3,456;0"]
    if names:
        lines = ["n;007;1.20;NA", *(f"{name};{line}" for name, line in zip(("007", "1.20", "NA"), lines, strict=True))]
    path = tmp_path / "R.csv"
    path.write_text("\n".join(lines))
    with pytest.raises(DataError, match=QUESTION):
        read_dissimilarities(str(path))
    path.write_text("\n".join(lines).replace("2,345", "0,345"))
    found = read_dissimilarities(str(path))
    assert found.matrix.to_numpy().tolist() == [[0, 1.234, 0.345], [1.234, 0, 3.456], [0.345, 3.456, 0]]
    assert found.ids.tolist() == (["007", "1.20", "NA"] if names else ["1", "2", "3"])
