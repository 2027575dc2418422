"""Spreadsheets of Excel, LibreOffice and other programs that write them."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Sequence
from datetime import date, datetime, time, timedelta
from typing import Any

import openpyxl
import xlsxwriter
from entries import Entry, dates
from odf.opendocument import OpenDocumentSpreadsheet
from odf.table import Table, TableCell, TableRow
from odf.text import P

Rows = Sequence[Sequence[Any]]
_MODIFIED = re.compile(rb"(<dcterms:modified[^>]*>)[^<]*")
_MADE = datetime(2024, 1, 31)


def _repacked(content: bytes) -> bytes:
    """The same file without the time at which it was written, so that it is the same whenever it is made."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as source, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as copy:
        for name in source.namelist():
            content = _MODIFIED.sub(rb"\g<1>2024-01-31T00:00:00Z", source.read(name))
            copy.writestr(zipfile.ZipInfo(name, (2024, 1, 31, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)
    return target.getvalue()


def xlsx(rows: Rows, change: Callable[[Any], None] | None = None, **more: Rows) -> bytes:
    book = openpyxl.Workbook()
    book.properties.created = book.properties.modified = _MADE
    book.active.title = "Sheet1"
    for name, content in {"Sheet1": rows, **more}.items():
        sheet = book[name] if name in book.sheetnames else book.create_sheet(name)
        for row in content:
            sheet.append(list(row))
    if change is not None:
        change(book)
    target = io.BytesIO()
    book.save(target)
    return _repacked(target.getvalue())


def written(fill: Callable[[Any, Any], None], **options: Any) -> bytes:
    target = io.BytesIO()
    book = xlsxwriter.Workbook(target, {"in_memory": True, **options})
    book.set_properties({"created": _MADE})
    fill(book, book.add_worksheet("Data"))
    book.close()
    return _repacked(target.getvalue())


def ods(*sheets: tuple[str, Rows]) -> bytes:
    document = OpenDocumentSpreadsheet()
    for name, rows in sheets:
        table = Table(name=name)
        for row in rows:
            line = TableRow()
            for cell in row:
                line.addElement(_ods_cell(cell))
            table.addElement(line)
        document.spreadsheet.addElement(table)
    target = io.BytesIO()
    document.write(target)
    return _repacked(target.getvalue())


def _ods_cell(value: Any) -> Any:
    if value is None:
        return TableCell()
    if isinstance(value, tuple) and len(value) == 2:  # text, and over how many rows it is merged
        cell, seen = TableCell(valuetype="string", numberrowsspanned=value[1], numbercolumnsspanned=1), value[0]
    elif isinstance(value, timedelta):
        hours = value // timedelta(hours=1)
        cell, seen = TableCell(valuetype="time", timevalue=f"PT{hours:02d}H00M00S"), f"{hours}:00"
    elif isinstance(value, tuple):  # a kind, a number, and what can be seen of it
        kind, number, seen = value
        extra = {"currency": "EUR"} if kind == "currency" else {}
        cell = TableCell(valuetype=kind, value=number, **extra)
    elif isinstance(value, bool):
        cell, seen = TableCell(valuetype="boolean", booleanvalue=str(value).lower()), str(value).upper()
    elif isinstance(value, date):
        cell, seen = TableCell(valuetype="date", datevalue=value.isoformat()), f"{value:%d.%m.%Y}"
    elif isinstance(value, str):
        cell, seen = TableCell(valuetype="string"), value
    else:
        cell, seen = TableCell(valuetype="float", value=value), str(value)
    cell.addElement(P(text=seen))
    return cell


def _fill_formats(book: Any, sheet: Any) -> None:
    euro, percent = book.add_format({"num_format": "#,##0.00 €"}), book.add_format({"num_format": "0.0%"})
    day = book.add_format({"num_format": "dd/mm/yy"})
    sheet.write_row(0, 0, ["item", "price", "share", "sold"])
    for k, (item, price, share, sold) in enumerate(_FORMATTED, start=1):
        sheet.write(k, 0, item)
        sheet.write_number(k, 1, price, euro)
        sheet.write_number(k, 2, share, percent)
        sheet.write_datetime(k, 3, sold, day)


_FORMATTED = [
    ("a", 1234.5, 0.125, datetime(2024, 3, 12)),
    ("b", 99.9, 0.5, datetime(2024, 4, 3)),
    ("c", 10, 0.25, datetime(2023, 12, 31)),
    ("d", 2500, 0.125, datetime(2024, 1, 1)),
]


def _fill_formulas(book: Any, sheet: Any) -> None:
    sheet.write_row(0, 0, ["x", "double", "bad"])
    for k, x in enumerate([1.5, 2.5, 4, 8], start=1):
        sheet.write_number(k, 0, x)
        sheet.write_formula(k, 1, f"=2*A{k + 1}", None, 2 * x)
        if k == 3:
            sheet.write_formula(k, 2, "=1/0", None, "#DIV/0!")
        else:
            sheet.write_formula(k, 2, f"=A{k + 1}+1", None, x + 1)


def _fill_offset(book: Any, sheet: Any) -> None:
    sheet.write(1, 2, "Overview of shops")
    for k, row in enumerate([["shop", "area", "staff"], ["A", 100, 5], ["B", 250.5, 9], ["C", 80, 3], ["D", 120, 4]]):
        sheet.write_row(4 + k, 2, row)
    sheet.write(11, 2, "* staff at the end of the year")


def _merge_title(book: Any) -> None:
    sheet = book["Sheet1"]
    sheet.merge_cells("A1:D1")
    sheet.merge_cells("A4:A5")
    sheet.merge_cells("A6:A7")


def _hide(book: Any) -> None:
    book["Sheet1"].column_dimensions["B"].hidden = True
    book["old"].sheet_state = "hidden"


def _format_blank_rows(book: Any) -> None:
    for k in range(6, 40):
        book["Sheet1"].cell(k, 3).number_format = "0.00"


_SMALL = [["name", "x", "y"], ["a", 1.5, 10], ["b", 2.5, 20], ["c", 3.5, 40]]
_SMALL_TRUTH: dict[str, Any] = {"name": ["a", "b", "c"], "x": [1.5, 2.5, 3.5], "y": [10, 20, 40]}

ENTRIES = [
    Entry("plain.xlsx", "Excel: names and rows", xlsx(_SMALL), _SMALL_TRUTH),
    Entry(
        "formats.xlsx",
        "Excel: money, percent and dates as formats of cells",
        written(_fill_formats),
        {
            "item": ["a", "b", "c", "d"],
            "price": [1234.5, 99.9, 10, 2500],
            "share": [0.125, 0.5, 0.25, 0.125],
            "sold": dates("2024-03-12", "2024-04-03", "2023-12-31", "2024-01-01"),
        },
    ),
    Entry(
        "dates_1904.xlsx",
        "Excel for Mac: days are counted from 1904",
        written(_fill_formats, date_1904=True),
        {
            "item": ["a", "b", "c", "d"],
            "price": [1234.5, 99.9, 10, 2500],
            "share": [0.125, 0.5, 0.25, 0.125],
            "sold": dates("2024-03-12", "2024-04-03", "2023-12-31", "2024-01-01"),
        },
    ),
    Entry(
        "formulas.xlsx",
        "Excel: formulas with their results, one of them an error",
        written(_fill_formulas),
        {"x": [1.5, 2.5, 4, 8], "double": [3, 5, 8, 16], "bad": [2.5, 3.5, None, 9]},
        notes=("#N/A",),
    ),
    Entry(
        "offset.xlsx",
        "Excel: the table stands somewhere in the sheet",
        written(_fill_offset),
        {"shop": ["A", "B", "C", "D"], "area": [100, 250.5, 80, 120], "staff": [5, 9, 3, 4]},
        notes=("Overview of shops", "staff at the end of the year"),
    ),
    Entry(
        "text_numbers.xlsx",
        "Excel, German: numbers that were pasted as text",
        xlsx(
            [
                ["Ort", "Betrag", "Anteil", "Tag"],
                ["A", "1.234,50", "12 %", "12.03.2024"],
                ["B", "99,90 ", "5,5 %", "01.04.2024"],
                ["C", "€ 10,00", "50 %", "31.12.2023"],
                ["D", 2500, "7 %", "05.05.2024"],
            ]
        ),
        {
            "Ort": ["A", "B", "C", "D"],
            "Betrag": [1234.5, 99.9, 10, 2500],
            "Anteil": [12, 5.5, 50, 7],
            "Tag": dates("2024-03-12", "2024-04-01", "2023-12-31", "2024-05-05"),
        },
    ),
    Entry(
        "title_merged.xlsx",
        "Excel: a title over all columns, groups of rows in merged cells",
        xlsx(
            [
                ["Visits 2024", None, None, None],
                [],
                ["region", "month", "visits", "open"],
                ["north", "Jan", 100, True],
                [None, "Feb", 120, False],
                ["south", "Jan", 90, True],
                [None, "Feb", 95, True],
            ],
            _merge_title,
        ),
        {
            "region": ["north", "north", "south", "south"],
            "month": ["Jan", "Feb", "Jan", "Feb"],
            "visits": [100, 120, 90, 95],
            "open": [True, False, True, True],
        },
        notes=("Visits 2024",),
    ),
    Entry(
        "two_headers.xlsx",
        "Excel: years above quarters",
        xlsx(
            [
                [None, "2023", None, "2024", None],
                ["shop", "Q1", "Q2", "Q1", "Q2"],
                ["A", 1, 2, 3, 4],
                ["B", 2, 4, 6, 8],
                ["C", 5, 6, 8, 9],
                ["D", 1, 3, 5, 7],
            ]
        ),
        {
            "shop": ["A", "B", "C", "D"],
            "2023 Q1": [1, 2, 5, 1],
            "2023 Q2": [2, 4, 6, 3],
            "2024 Q1": [3, 6, 8, 5],
            "2024 Q2": [4, 8, 9, 7],
        },
        notes=("names of columns repeat",),
    ),
    Entry(
        "units_total.xlsx",
        "Excel: units below the names, a total and a remark at the end",
        xlsx(
            [
                ["site", "area", "yield"],
                [None, "ha", "t"],
                ["A", 1.5, 10],
                ["B", 2.5, 14],
                ["C", 4, 30],
                ["Total", 8, 54],
                [],
                ["Source: farm office"],
            ]
        ),
        {"site": ["A", "B", "C"], "area": [1.5, 2.5, 4], "yield": [10, 14, 30]},
        notes=("'ha'", "'Total'", "farm office"),
    ),
    Entry(
        "hidden.xlsx",
        "Excel: a hidden column and a hidden sheet",
        xlsx(_SMALL, _hide, old=[["p", "q"], [1, 2], [3, 4], [5, 6]]),
        _SMALL_TRUTH,
        notes=("'B'", "'old'"),
    ),
    Entry(
        "cleared_rows.xlsx",
        "Excel: cells below the table that have a format but nothing in them",
        xlsx(_SMALL, _format_blank_rows),
        _SMALL_TRUTH,
    ),
    Entry(
        "notes_sheet.xlsx",
        "Excel: a sheet of remarks beside the table",
        xlsx([["About"], ["Made by Ann"]], data=_SMALL),
        _SMALL_TRUTH,
        notes=("'data'", "'Sheet1'"),
    ),
    Entry(
        "two_sheets.xlsx",
        "Excel: two tables on two sheets",
        xlsx(_SMALL, more=_SMALL),
        asks=("'Sheet1', 'more'", "--sheet 'Sheet1'"),
    ),
    Entry(
        "two_sheets_answered.xlsx",
        "The same, and which is meant",
        xlsx(_SMALL, Zürich=[["p", "q"], [1, 2.5], [3, 4.5], [5, 6]]),
        {"p": [1, 3, 5], "q": [2.5, 4.5, 6]},
        options={"sheet": "Zürich"},
    ),
    Entry(
        "spoiled_dates.xlsx",
        "Excel, US: dates of other countries, half of them taken with days for months",
        xlsx([["when", "x"], [date(2024, 3, 12), 1], ["13/12/2024", 2], [date(2024, 5, 1), 4], ["25/12/2024", 3]]),
        {"x": [1, 2, 4, 3]},
        left_out={"when": ["2024-03-12", "13/12/2024", "2024-05-01", "25/12/2024"]},
        notes=("took days for months",),
    ),
    Entry(
        "times.xlsx",
        "Excel: times of day, and a time with a day",
        xlsx(
            [
                ["at", "when"],
                [time(6, 30), datetime(2024, 1, 31, 6, 30)],
                [time(12), datetime(2024, 2, 1, 12)],
                [time(18, 45), datetime(2024, 2, 2, 18, 45)],
            ]
        ),
        {"at": [6.5, 12, 18.75], "when": dates("2024-01-31T06:30:00", "2024-02-01T12:00:00", "2024-02-02T18:45:00")},
        notes=("hours",),
    ),
    Entry(
        "two_tables.xlsx",
        "Excel: two tables below each other",
        xlsx([*_SMALL, [], ["kind", "n"], ["p", 3], ["q", 5]]),
        asks=("two tables", "'kind', 'n'"),
    ),
    Entry(
        "qualtrics.xlsx",
        "Qualtrics, saved as Excel: questions below the names",
        xlsx(
            [
                ["Duration", "Q1", "Q2"],
                ["Duration (in seconds)", "How old are you?", "Pick one"],
                [125, 34, "cat"],
                [98, 28, "dog"],
                [310, 51, "cat"],
                [77, 40, "dog"],
            ]
        ),
        {"Duration": [125, 98, 310, 77], "Q1": [34, 28, 51, 40], "Q2": ["cat", "dog", "cat", "dog"]},
        notes=("below the names",),
    ),
    Entry(
        "years.xlsx",
        "Excel: years as names of columns",
        xlsx([["land", 2019, 2020, 2021], ["AT", 8.9, 8.95, 9], ["BE", 11.4, None, 11.5], ["CZ", 10.6, 10.7, 10.5]]),
        {"land": ["AT", "BE", "CZ"], "2019": [8.9, 11.4, 10.6], "2020": [8.95, None, 10.7], "2021": [9, 11.5, 10.5]},
    ),
    Entry(
        "zip_codes.xlsx",
        "Excel: codes as text with leading zeros, others as numbers",
        xlsx([["zip", "n"], ["01234", 5], [80331, 6], ["00501", 7], ["01234", 8]]),
        {"zip": ["01234", "80331", "00501", "01234"], "n": [5, 6, 7, 8]},
        notes=("leading zeros",),
    ),
    Entry("blank.xlsx", "Excel: nothing in it", xlsx([]), asks=("no table",)),
    Entry(
        "plain.ods",
        "LibreOffice: numbers, money, percent, days and truth values",
        ods(
            (
                "Tabelle1",
                [
                    ["Ort", "Preis", "Anteil", "Tag", "ja"],
                    ["A", ("currency", 1234.5, "1.234,50 €"), ("percentage", 0.125, "12,5 %"), date(2024, 3, 12), True],
                    ["B", ("currency", 99.9, "99,90 €"), ("percentage", 0.5, "50 %"), date(2024, 4, 1), False],
                    ["C", ("currency", 10, "10,00 €"), None, date(2023, 12, 31), True],
                ],
            )
        ),
        {
            "Ort": ["A", "B", "C"],
            "Preis": [1234.5, 99.9, 10],
            "Anteil": [0.125, 0.5, None],
            "Tag": dates("2024-03-12", "2024-04-01", "2023-12-31"),
            "ja": [True, False, True],
        },
    ),
    Entry(
        "title.ods",
        "LibreOffice: a title above, blank sheets beside",
        ods(
            ("Blatt1", [["Messung vom Januar"], [], ["Probe", "a", "b"], ["p1", 1, 2.5], ["p2", 3, 4.5], ["p3", 5, 7]]),
            ("Blatt2", []),
            ("Blatt3", []),
        ),
        {"Probe": ["p1", "p2", "p3"], "a": [1, 3, 5], "b": [2.5, 4.5, 7]},
        notes=("Messung vom Januar",),
    ),
    Entry(
        "two_sheets.ods",
        "LibreOffice: two tables on two sheets",
        ods(("eins", _SMALL), ("zwei", _SMALL)),
        asks=("'eins', 'zwei'", "--sheet 'eins'"),
    ),
    Entry(
        "beside.xlsx",
        "Excel: two tables beside each other",
        xlsx(
            [
                ["a", "b", None, "c", "d"],
                [1, 2, None, 3, 4],
                [5, 6, None, 7, 8],
                [9, 10, None, 11, 12],
                [13, 14, None, None, None],
            ]
        ),
        asks=("beside each other",),
    ),
    Entry(
        "spacer.xlsx",
        "Excel: a blank column between the columns of one table",
        xlsx([["a", None, "b"], [1, None, 2.5], [3, None, 4.5], [5, None, 7]]),
        {"a": [1, 3, 5], "b": [2.5, 4.5, 7]},
    ),
    Entry(
        "names_only.xlsx",
        "Excel: the names of columns over two cells",
        xlsx([["person", None, "age"], ["Ann", "Lee", 34], ["Bob", "Ray", 28], ["Cy", "Dee", 51]]),
        {"person": ["Ann", "Bob", "Cy"], "column_2": ["Lee", "Ray", "Dee"], "age": [34, 28, 51]},
        notes=("column_2",),
    ),
    Entry(
        "matrix_of_dates.xlsx",
        "Excel: days as names of columns",
        xlsx([["shop", date(2024, 1, 31), date(2024, 2, 29)], ["A", 1, 2.5], ["B", 3, 4.5], ["C", 5, 7]]),
        {"shop": ["A", "B", "C"], "2024-01-31": [1, 3, 5], "2024-02-29": [2.5, 4.5, 7]},
    ),
]
