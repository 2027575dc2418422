"""The same table in every format is the same table: the same roles, types and notes, or the same refusal."""

from __future__ import annotations

import json
from time import process_time

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import xlsxwriter
from same_table import FORMATS, SEPARATED, SHEETS, content, read_alike, roles

from kfrc_app.tables import (
    DataError,
    Marks,
    Missing,
    parse_wishes,
    preview_table,
    read_dissimilarities,
    read_new_rows,
    read_table,
)
from kfrc_app.tables.columns import MAX_COLUMNS
from kfrc_app.tables.dialect import decode, refuse_wide_lines

N = 30
rng = np.random.default_rng(31)
SIZES = rng.normal(170, 9, N).round(1).tolist()
TEXTUAL = (*SEPARATED, *SHEETS)


def beside(names, *columns):
    """Rows of columns beside one of measurements, which stands first."""
    return [["size", *names], *([size, *cells] for size, *cells in zip(SIZES, *columns, strict=True))]


# Whole numbers of many digits


def long_numbers(kind):
    """Numbers that name: accounts, ids of 64 bits, ids in order, or few of them, again and again."""
    ids = [int(value) for value in rng.integers(10**15, 9 * 10**18, N)]
    return {
        "of 16 digits": [4_539_578_763_621_486 + 10**7 * k * k for k in range(N)],
        "of 64 bits": ids,
        "negative": [value * (-1) ** k for k, value in enumerate(ids)],
        "in order": [10**18 + 1000 * k * k for k in range(N)],
        "again": [ids[k % 3] for k in range(N)],
        "of 20 to 38 digits": [10 ** (19 + k % 19) + 37**7 * (k + 1) for k in range(N)],
        "beside small ones": [k if k % 3 else ids[k] for k in range(N)],
    }[kind]


KINDS = ["of 16 digits", "of 64 bits", "negative", "in order", "again", "of 20 to 38 digits", "beside small ones"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("written", "name"), [(int, "code"), (int, "x"), (str, "Nr."), (str, "y y"), (float, "account")]
)
def test_whole_numbers_of_16_digits_and_more_are_names_in_every_format(tmp_path, kind, written, name):
    cells = [written(value) for value in long_numbers(kind)]
    found = {}
    for ending in FORMATS:
        path = tmp_path / f"t.{ending}"
        path.write_bytes(content(ending, beside([name, "y"], cells, SIZES[::-1])))
        found[ending] = read_table(str(path))
    if written is str or kind != "of 20 to 38 digits":
        pd.DataFrame({"size": SIZES, name: cells, "y": SIZES[::-1]}).to_parquet(tmp_path / "t.parquet")
        found["parquet"] = read_table(str(tmp_path / "t.parquet"))
    for table in found.values():
        assert list(table.data.columns) == ["size", "y"]
        assert any(f"'{name}' is taken for names of the rows" in note for note in table.notes)
    if written is str:
        assert all(table.ids.tolist() == cells for table in found.values())


@pytest.mark.parametrize(
    "cells",
    [
        [1.5e24 + 3.1e23 * k for k in range(9)],  # masses, with few digits
        [k + 0.5 + 2.0**60 * (k > 7) for k in range(9)],  # fractions among them
        [*range(8), 12_345_678_901_234_567],  # one far value, which the fit has its own way to treat
        [10.0 ** (30 * k) * 1.2345678901234567 for k in range(9)],
        [123_456_789_012_345 + 7 * k * k for k in range(9)],
    ],
)
def test_large_measurements_stay_numbers(tmp_path, cells):
    cells = [float(f"{cell:.12g}") if cell > 1e23 else cell for cell in cells] * 3
    rows = [["x", "y"], *([cell, k * k % 11 + 0.5] for k, cell in enumerate(cells))]
    assert roles(read_alike(tmp_path, rows)) == {"x": "numeric", "y": "numeric"}


def test_long_numbers_can_be_used_if_that_is_said_and_keep_their_digits_as_categories(tmp_path):
    shops = [10**18 + 1 + k % 3 for k in range(N)]  # the same floats
    rows = beside(["shop"], shops)
    pd.DataFrame({"size": SIZES, "shop": shops}).to_parquet(tmp_path / "t.parquet")
    (tmp_path / "t.csv").write_bytes(content("csv", rows))
    (tmp_path / "t.json").write_bytes(content("json", rows))
    for ending in ("parquet", "csv", "json"):
        path = str(tmp_path / f"t.{ending}")
        levels = read_table(path, types=parse_wishes(["shop=nominal"])).data["shop"]
        assert levels.tolist() == [str(shop) for shop in shops]
        assert read_table(path, types=parse_wishes(["shop=numeric"])).data["shop"].tolist() == [1e18] * N
        with pytest.raises(DataError, match="'shop' holds whole numbers of 16 digits and more, which are names"):
            read_table(path, columns=["shop", "size"])


def test_new_rows_are_named_by_the_same_long_numbers(tmp_path):
    ids = long_numbers("of 64 bits")
    for ending in ("csv", "json"):
        (tmp_path / f"t.{ending}").write_bytes(content(ending, beside(["account", "y"], ids, SIZES[::-1])))
        found = read_new_rows(str(tmp_path / f"t.{ending}"), ["size", "y"])
        assert found.ids.tolist() == [str(value) for value in ids]


# Bytes that are not UTF-8


@pytest.mark.parametrize("n_wrong", [1, 2, 9])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_bytes_that_are_not_utf_8_change_nothing_else_and_are_told(tmp_path, n_wrong, line_end):
    names = [f"Zürich {k}" for k in range(N)]
    prices = [f"1’{200 + 7 * k}.{10 + k}" for k in range(N)]
    lines = [
        "Ort;Betrag;n",
        *(f"{name};{price};{k * k % 7}" for k, (name, price) in enumerate(zip(names, prices, strict=True))),
    ]
    whole = line_end.join([*lines, ""]).encode()
    wrong = whole
    for k in range(n_wrong):
        wrong = wrong.replace(f"Zürich {3 * k};".encode(), f"Zürich {3 * k};".encode("cp1252"))
    found = {}
    for name, text in (("whole", whole), ("wrong", wrong)):
        (tmp_path / f"{name}.csv").write_bytes(text)
        found[name] = read_table(str(tmp_path / f"{name}.csv"))
    pd.testing.assert_frame_equal(found["wrong"].original, found["whole"].original)
    assert found["wrong"].data["Betrag"].tolist() == [float(price.replace("’", "")) for price in prices]
    note, *others = found["wrong"].notes
    assert tuple(others) == found["whole"].notes
    shown = ", ".join(f"'ü' (FC) in line {3 * k + 2}" for k in range(min(n_wrong, 5)))
    assert note.startswith(f"{n_wrong} byte")
    assert shown in note
    assert ("and 4 more" in note) == (n_wrong == 9)


@pytest.mark.parametrize("byte", [0x80, 0x81, 0x92, 0xC3, 0xE2, 0xFF])
def test_any_byte_that_is_not_utf_8_is_one_letter(byte):
    text, [note] = decode("Größe,é\n".encode() + bytes([byte]) + b",1\n")
    assert text.startswith("Größe,é\n")
    assert text[9:] == ",1\n"
    assert f"({byte:02X}) in line 2" in note


def test_a_text_cut_off_within_a_letter_and_one_that_says_it_is_utf_8_are_read_as_such():
    assert decode("Größe,ß\n1,’".encode()[:-1])[0] == "Größe,ß\n1,â€"
    assert decode(b"\xef\xbb\xbfa\xfcb\xfc\n")[0] == "aübü\n"


def test_a_file_without_any_letter_in_utf_8_is_latin_1_as_a_whole():
    for text in ("Größe,Straße\n", "“Spaß“ für Ärzte,é,à\n", "café,naïve\n"):
        assert decode(text.encode("cp1252")) == (
            text,
            ["the file is not UTF-8, so it was read as Latin-1: check accented letters in names"],
        )


def test_json_with_a_wrong_byte_is_read_like_a_text_file(tmp_path):
    rows = beside(["Straße"], [f"Zürich {k % 3}" for k in range(N)])
    text = json.dumps([dict(zip(rows[0], row, strict=True)) for row in rows[1:]], ensure_ascii=False, indent=0)
    (tmp_path / "t.json").write_bytes(text.encode().replace("Zürich 1".encode(), b"Z\xfcrich 1", 1))
    found = read_table(str(tmp_path / "t.json"))
    assert found.data["Straße"].tolist() == [row[1] for row in rows[1:]]
    assert found.notes[0].startswith("1 byte is not UTF-8 and was read as Latin-1, check it: 'ü' (FC) in line 8")


# Long cells


def test_the_search_for_wide_lines_takes_no_longer_where_lines_are_long():
    def seconds(text):
        begin = process_time()
        refuse_wide_lines(text, [",", ";"])
        return process_time() - begin

    size = 3 * MAX_COLUMNS
    short, long = ("\n".join([line] * (size // len(line))) for line in ("a,b" * 10, "a,b" * 10_000))
    assert min(seconds(long) for _ in range(3)) < 20 * max(seconds(short), 0.001)
    with pytest.raises(DataError, match="columns"):
        refuse_wide_lines("a,b\n" + "1," * MAX_COLUMNS, [","])


# Another table below


FIRST = [["shop", "area", "staff", "income"], *([f"s{k}", k + 1.5, k * k % 7, 3 * k + 0.5] for k in range(8))]
SECOND = {
    "of two columns": [["kind", "n"], ["a", 3], ["b", 5], ["c", 9]],
    "of three columns": [["kind", "n", "m"], ["a", 3, 4.5], ["b", 5, 2.5]],
    "of as many columns": [["kind", "n", "m", "k"], ["a", 3, 4.5, 1], ["b", 5, 2.5, 2]],
    "of numbers": [["n", "m"], [1.5, 3], [2.5, 7]],
}


def padded(rows, width=4):
    return [[*row, *[None] * (width - len(row))] for row in rows]


@pytest.mark.parametrize(("title", "above"), [([], []), ([["Kinds of goods"]], [["Our shops"], []])])
@pytest.mark.parametrize("second", SECOND)
def test_another_table_below_a_blank_line_is_refused_in_every_format(tmp_path, second, title, above):
    rows = padded([*above, *FIRST, [], *title, *SECOND[second]])
    with pytest.raises(DataError, match=r"two tables below each other: after a blank line, '(kind|n)'") as caught:
        read_alike(tmp_path, rows, TEXTUAL)
    for separator in ",;\t":
        lines = [separator.join(map(str, row)) for row in [*above, *FIRST, [], *title, *SECOND[second]]]
        (tmp_path / "short.csv").write_text("\n".join(lines))
        with pytest.raises(DataError, match="two tables below each other") as short:
            preview_table(str(tmp_path / "short.csv"))
        assert str(short.value) == str(caught.value)


@pytest.mark.parametrize(
    "below",
    [
        [["x8", "no answer", None, None]],  # a row of which little is known
        [["x8", 2.5, 3, 7], ["x9", "not yet", 4, 8]],
        [["x8", 2.5, None, None], ["x9", 3.5, None, None]],
    ],
)
def test_rows_below_a_blank_line_are_rows_in_every_format(tmp_path, below):
    found = read_alike(tmp_path, padded([*FIRST, [], *below]), TEXTUAL)
    assert found.n_rows == 8 + len(below)


NUMBERS = [["size", "y"], *zip(SIZES, SIZES[::-1], strict=True)]
WIDER = [["size", "y", "z"], *zip(SIZES, SIZES[::-1], range(N), strict=True)]


@pytest.mark.parametrize("title", [[], [["Counted again"]]])
@pytest.mark.parametrize("above", [NUMBERS, WIDER, FIRST])
@pytest.mark.parametrize("below", [[["k"], [1], [2], [3]], [["k"], [1.5], [7]]])
def test_another_table_of_one_column_is_refused_in_every_format(tmp_path, above, below, title):
    rows = [*above, [], [], *title, *below]
    with pytest.raises(DataError, match="two tables below each other: after a blank line, 'k' look"):
        read_alike(tmp_path, padded(rows, len(above[0])), TEXTUAL)
    (tmp_path / "short.csv").write_text("\n".join(",".join(map(str, row)) for row in rows))
    with pytest.raises(DataError, match="two tables below each other: after a blank line, 'k' look"):
        preview_table(str(tmp_path / "short.csv"))


@pytest.mark.parametrize("above", [NUMBERS, WIDER])
@pytest.mark.parametrize(
    "below",
    [
        [["Summary"], ["mean", 2], ["sd", 3]],
        [["mean", 2], ["sd", 3]],
        [["Results"], ["lowest", 2], ["highest", 3], ["median", 4]],
    ],
)
def test_a_summary_below_a_blank_line_is_refused_in_every_format(tmp_path, above, below):
    rows = [*above, [], *below, [], ["Source: office"]]
    with pytest.raises(DataError, match=f"two tables below each other: after a blank line, '{below[0][0]}', '"):
        read_alike(tmp_path, padded(rows, len(above[0])), TEXTUAL)


@pytest.mark.parametrize("ending", TEXTUAL)
@pytest.mark.parametrize("below", [["Counted by hand"], ["k"], ["first remark", "second remark"]])
def test_remarks_and_totals_below_a_blank_line_are_left_out_in_every_format(tmp_path, ending, below):
    total = ["Total", sum(SIZES)]
    for rows in ([[], total], [[], total, ["Mean", sum(SIZES) / N]], []):
        path = tmp_path / f"t.{ending}"
        lines = [*NUMBERS, *rows, [], *([text] for text in below)]
        path.write_bytes(content(ending, lines if ending in SEPARATED else padded(lines, 2)))
        found = preview_table(str(path))
        assert found.n_rows == N
        assert roles(found) == {"size": "numeric", "y": "numeric"}


@pytest.mark.parametrize("ending", TEXTUAL)
def test_whole_rows_with_other_names_below_a_blank_line_are_rows(tmp_path, ending):
    blank = [] if ending in SEPARATED else [None, None]
    (tmp_path / f"t.{ending}").write_bytes(content(ending, [*NUMBERS, blank, ["A1", 3.5], ["A2", 4.5]]))
    assert preview_table(str(tmp_path / f"t.{ending}")).n_rows == N + 2


def test_a_table_that_goes_on_below_its_names_is_one_table_in_every_format(tmp_path):
    more = [[f"t{k}", k + 2.5, k * k % 5, 2 * k + 0.5] for k in range(5)]
    found = read_alike(tmp_path, padded([*FIRST, [], FIRST[0], *more]), TEXTUAL)
    assert found.n_rows == 13
    assert "the names of the columns stand again in 1 line(s), which are left out" in found.notes


def test_a_table_above_another_is_refused_in_every_format(tmp_path):
    above = [["kind", "n", "m"], ["a", 3, 4.5], ["b", 5, 2.5], ["c", 7, 1.5], []]
    with pytest.raises(DataError, match="two tables below each other: below other rows, 'shop'"):
        read_alike(tmp_path, padded([*above, *FIRST]), TEXTUAL)


# Names that repeat


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["a", "b", "a"], ["a", "b", "a (2)"]),
        (["a", "a", "a"], ["a", "a (2)", "a (3)"]),
        (["a", "a (2)", "a"], ["a", "a (2)", "a (3)"]),
        (["a", "a", "a (2)"], ["a", "a (3)", "a (2)"]),
    ],
)
def test_names_that_repeat_are_numbered_in_every_format(tmp_path, names, found):
    columns = [rng.normal(size=N).round(3).tolist() for _ in names]
    rows = beside(names, *columns)
    table = read_alike(tmp_path, rows)
    assert [column.name for column in table.columns] == ["size", *found]
    new = [
        name for name in found if name not in names[: found.index(name) + 1] or found.index(name) != names.index(name)
    ]
    assert any("numbered: " in note and all(f"'{name}'" in note for name in new) for note in table.notes)
    arrays = [pa.array(SIZES), *map(pa.array, columns)]
    pq.write_table(pa.Table.from_arrays(arrays, names=["size", *names]), tmp_path / "t.parquet")
    (tmp_path / "t.csv").write_bytes(content("csv", rows))
    for path in ("t.parquet", "t.csv"):
        data = read_table(str(tmp_path / path)).data
        assert data.to_dict("list") == dict(zip(["size", *found], [SIZES, *columns], strict=True))


def test_repeated_columns_of_a_parquet_file_keep_their_types_and_places(tmp_path):
    words = ["p", "q", "p"] * 10
    lists = pa.array([[1]] * N)
    arrays = [pa.array(SIZES), pa.array(words), pa.array(range(N)), lists, pa.array(SIZES[::-1]), pa.array(words[::-1])]
    pq.write_table(pa.Table.from_arrays(arrays, names=["a", "b", "c", "a", "a", "b"]), tmp_path / "t.parquet")
    found = read_table(str(tmp_path / "t.parquet"), columns=["a", "b", "a (2)", "b (2)"]).data
    assert found.to_dict("list") == {"a": SIZES, "b": words, "a (2)": SIZES[::-1], "b (2)": words[::-1]}


@pytest.mark.parametrize("form", ["split", "columns"])
def test_repeated_names_of_other_forms_of_json_are_numbered(tmp_path, form):
    text = {
        "split": '{"columns": ["a", "a"], "data": [[1.5, 7], [2.5, 3], [4.5, 5]]}',
        "columns": '{"a": [1.5, 2.5, 4.5], "a": [7, 3, 5]}',
    }
    (tmp_path / "t.json").write_text(text[form])
    assert read_table(str(tmp_path / "t.json")).data.to_dict("list") == {"a": [1.5, 2.5, 4.5], "a (2)": [7, 3, 5]}


def test_names_below_those_of_groups_are_joined_with_them_in_every_format(tmp_path):
    rows = [[None, "2023", None, "2024", None], ["shop", "Q1", "Q2", "Q1", "Q2"]]
    rows += [[f"s{k}", k + 0.5, k * k % 7, 3 * k, k**3] for k in range(8)]
    found = read_alike(tmp_path, rows, TEXTUAL)
    assert [column.name for column in found.columns] == ["shop", "2023 Q1", "2023 Q2", "2024 Q1", "2024 Q2"]


def test_names_of_a_matrix_may_repeat(tmp_path):
    (tmp_path / "R.csv").write_text(",a,a,b\na,0,1,2\na,1,0,3\nb,2,3,0\n")
    assert read_dissimilarities(str(tmp_path / "R.csv"), marks=Marks(".")).ids.tolist() == ["a", "a", "b"]


# Dates


def days(n=N):
    return [f"2021-{k % 12 + 1:02d}-{k % 28 + 1:02d}" for k in range(n)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("form", "wrong", "why"),
    [
        ("{y}-{m}-{d}", "2021-02-30", ", a day that does not exist"),
        ("{d}.{m}.{y}", "31.04.2021", ", a day that does not exist"),
        ("{d}/{m}/{y}", "31/11/2021", ", a day that does not exist"),
        ("{d}/{m}/{y}", "13/13/2021", ", a day that does not exist"),
        ("{d}/{m}/{y}", "45/03/2021", ", a day that does not exist"),
        ("{m}/{d}/{y}", "02/30/2021", ", a day that does not exist"),
        ("{y}-{m}-{d}", "0000-00-00", ", a day that does not exist"),
        ("{y}-{m}-{d}", "2021-02-03 25:00", ", a day or a time that does not exist"),
        ("{y}-{m}-{d}", "in spring", ""),
        ("{y}-{m}-{d}", "20210401", ""),
    ],
)
def test_one_cell_that_is_no_date_leaves_a_column_out_with_the_reason(tmp_path, form, wrong, why):
    dates = [form.format(**dict(zip("ymd", day.split("-"), strict=True))) for day in days()]
    for often in (1, 15) if why else (1,):  # text that stands beside dates used so often makes them levels
        cells = [dates[k // often * often] for k in range(N)]
        cells[4] = wrong
        rows = beside(["when", "y"], cells, SIZES[::-1])
        rows = rows if often > 1 else [[row[1], row[0], row[2]] for row in rows]  # what stands first is often a name
        found = read_alike(tmp_path, rows)
        assert roles(found)["when"] == "left out"
        said = f"column 'when' is left out: 1 of its {N} values is not a date, '{wrong}' in row 5{why}: correct it"
        assert any(note.startswith(said) for note in found.notes), found.notes
        with pytest.raises(DataError, match=r"column 'when'.*row 5"):
            read_alike(tmp_path, rows, columns=["when", "y"])


def test_two_orders_of_day_and_month_are_named(tmp_path):
    cells = [f"{k % 12 + 1}/{k % 12 + 1}/2021" for k in range(N)]
    cells[3], cells[7] = "13/4/2021", "4/13/2021"
    found = read_alike(tmp_path, beside(["when", "y"], cells, SIZES[::-1]))
    assert any("first in '13/4/2021' in row 4, and the month in '4/13/2021' in row 8" in note for note in found.notes)


def test_text_with_few_dates_is_text(tmp_path):
    cells = [f"remark {k}" for k in range(N)]
    cells[2], cells[3], cells[9] = "2021-03-04", "13/4/2021", "4/13/2021"
    found = read_alike(tmp_path, beside(["said", "y"], cells, SIZES[::-1]))
    assert "left out 1 column of text: 'said'" in found.notes


@pytest.mark.parametrize("serials", [[0], [-1], [0, -1, -400]])
def test_numbers_that_are_no_day_in_the_format_of_dates_are_missing(tmp_path, serials):
    target = tmp_path / "t.xlsx"
    book = xlsxwriter.Workbook(target)
    sheet, form = book.add_worksheet(), book.add_format({"num_format": "dd.mm.yyyy"})
    sheet.write_row(0, 0, ["size", "when"])
    for k in range(N):
        sheet.write_number(k + 1, 0, SIZES[k])
        sheet.write_number(k + 1, 1, serials[k % len(serials)] if k % 5 == 0 else 44_000 + k, form)
    book.close()
    found = read_table(str(target), missing=Missing.PARTIAL)
    expected = [pd.NaT if k % 5 == 0 else pd.Timestamp("1899-12-30") + pd.Timedelta(days=44_000 + k) for k in range(N)]
    pd.testing.assert_series_equal(found.data["when"], pd.Series(expected, name="when", dtype="datetime64[us]"))
    said = "6 cell(s) of 'when' are formatted as dates but hold 0 or less, which is not a day, and are taken as missing"
    assert said in found.notes
    assert found.original["when"].isna().sum() == 6


# Notes that do not contradict what is done, and hints


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize("beside_text", [True, False])
def test_signs_are_told_of_columns_only_that_are_read_as_numbers(tmp_path, ending, beside_text):
    shares = [f"{k * k % 97 + 0.5} %" for k in range(N)]
    prices = [f"{k}.5 €" for k in range(N)]
    if beside_text:
        shares[0], prices[0] = 0.12, "on demand"
    (tmp_path / f"t.{ending}").write_bytes(content(ending, beside(["Ø discount", "price"], shares, prices)))
    found = preview_table(str(tmp_path / f"t.{ending}"))
    told = [note for note in found.notes if "percent signs" in note or "of a currency" in note]
    assert len(told) == (0 if beside_text else 2)
    assert (roles(found)["Ø discount"] == "numeric") != beside_text


def test_signs_of_a_column_that_names_rows_are_not_told(tmp_path):
    rows = beside(["order no"], [f"€ {k * k + 1}" for k in range(N)])
    found = read_alike(tmp_path, rows)
    assert roles(found)["order no"] == "names"
    assert not any("currency" in note for note in found.notes)


@pytest.mark.parametrize(
    ("words", "alike"),
    [
        (["Yes", "yes", "NO", "no"], "'NO' and 'no'; 'Yes' and 'yes'"),
        (["often", "Often", "never"], "'Often' and 'often'"),
        (["New York", "new  york", "Rome"], "'New York' and 'new  york'"),
        (["Z\u00fcrich", "Zu\u0308rich", "Rome"], "'Zu\u0308rich' and 'Z\u00fcrich'"),
    ],
)
def test_levels_that_are_the_same_word_are_named_and_not_merged(tmp_path, words, alike):
    found = read_alike(tmp_path, beside(["ok"], [words[k % len(words)] for k in range(N)]))
    assert next(column.n_distinct for column in found.columns if column.name == "ok") == len(words)
    said = f"'ok' has levels that differ only in capitals or spaces, which count as different: {alike};"
    assert any(note.startswith(said) for note in found.notes)


def test_levels_that_are_different_words_get_no_hint(tmp_path):
    found = read_alike(tmp_path, beside(["ok"], [["yes", "no", "yes, but", "No 1"][k % 4] for k in range(N)]))
    assert not any("capitals" in note for note in found.notes)


def test_measurements_with_text_are_never_proposed_as_categories(tmp_path):
    limits = ["<0.5", *(k + 0.25 for k in range(1, N))]
    units = [f"{k}.5 cm" if k % 2 else f"{k * k} mm" for k in range(N)]
    names = [f"street {k}" for k in range(N)]
    short = ["03/04/2021", "05/06/2021", "01/02/2021"] * 10
    rows = beside(["a", "b", "c", "d"], limits, units, names, short)
    problem = read_alike(tmp_path, rows, types=parse_wishes(["size=drop"])).problem
    assert "4 of 4 columns would be left out" in problem
    assert "--types 'a=drop,b=drop,c=nominal,d=date:dmy'" in problem
    with pytest.raises(DataError, match="'a' holds numbers, but 1 of its 30 values are text") as caught:
        read_alike(tmp_path, rows, columns=["a"])
    assert "nominal" not in str(caught.value)
