"""Files of far too many columns, cells or texts are refused before they are read, also on the page."""

from __future__ import annotations

import io
import json
import tracemalloc
import zipfile

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import xlsxwriter

from kfrc_app.tables import DataError, preview_table, read_table
from kfrc_app.tables.columns import MAX_COLUMNS

WIDE = MAX_COLUMNS + 10_001
NAMES = [f"c{k}" for k in range(WIDE)]
MEMORY = 100e6
"""Bytes that may be taken before a file is refused."""


def text(separator, cells, n_rows=3, quote="", above=""):
    names = separator.join(f"{quote}{name}{quote}" for name in NAMES)
    return (above + names + "\n" + (separator.join(cells) + "\n") * n_rows).encode()


def lines(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def parquet():
    target = io.BytesIO()
    one = pa.array([1.0])
    pq.write_table(pa.table([one] * WIDE, NAMES), target, write_statistics=False, store_schema=False)
    return target.getvalue()


def sheet(rows):
    """A workbook with a sheet of these rows."""
    book = openpyxl.Workbook()
    book.active.append(["a", "b", "c"])
    target, found = io.BytesIO(), io.BytesIO()
    book.save(target)
    with zipfile.ZipFile(target) as old, zipfile.ZipFile(found, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "xl/worksheets/sheet1.xml":
                begin, end = content.index(b"<sheetData>") + len(b"<sheetData>"), content.index(b"</sheetData>")
                content = content[:begin] + rows.encode() + content[end:]
            new.writestr(name, content)
    return found.getvalue()


def shared():
    """A workbook with a long text that is stored once."""
    target = io.BytesIO()
    with xlsxwriter.Workbook(target, {"in_memory": True}) as book:
        page = book.add_worksheet()
        for k in range(15_000):
            page.write_row(k, 0, ["x" * 30_000, "x" * 30_000])
    return target.getvalue()


def open_document(rows):
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        file.writestr(
            "content.xml",
            '<?xml version="1.0"?><office:document-content '
            'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
            'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
            'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:spreadsheet>'
            f'<table:table table:name="S">{rows}</table:table>'
            "</office:spreadsheet></office:body></office:document-content>",
        )
    return target.getvalue()


NUMBER = '<table:table-cell office:value-type="float" office:value="1"><text:p>1</text:p></table:table-cell>'


def repeated(cell, n):
    return cell.replace(" ", f' table:number-columns-repeated="{n}" ', 1)


OF_ONE = ["1.5"] * WIDE
TOO_WIDE = {
    "commas": lambda: text(",", OF_ONE),
    "semicolons": lambda: text(";", ["1,5"] * WIDE),
    "tabs": lambda: text("\t", OF_ONE),
    "spaces": lambda: text("  ", OF_ONE),
    "quoted": lambda: text(",", OF_ONE, quote='"'),
    "marks within quotes": lambda: text(",", ['"1,234"'] * WIDE),
    "a title above": lambda: text(",", OF_ONE, above="My table\n\n"),
    "two bytes for each letter": lambda: text(",", OF_ONE).decode().encode("utf-16"),
    "one line": lambda: b"a," * (WIDE - 1) + b"a\n",
    "one late line": lambda: b"a,b\n1,2\n3,4\n" + ",".join(OF_ONE).encode() + b"\n",
    "JSON lines": lambda: lines(*[dict.fromkeys(NAMES, 1.5)] * 3),
    "JSON lines that grow": lambda: lines(*[{f"c{k}": 1 for k in range(j, j + 2000)} for j in range(0, WIDE, 2000)]),
    "JSON objects within lines": lambda: lines(*[{"a": dict.fromkeys(NAMES, 1.5)}] * 3),
    "a JSON array": lambda: json.dumps([dict.fromkeys(NAMES, 1.5)] * 3).encode(),
    "JSON columns": lambda: json.dumps({name: [1.0, 2.0, 3.0] for name in NAMES}).encode(),
    "JSON columns as pandas writes them": lambda: json.dumps({name: {"0": 1.0, "1": 2.0} for name in NAMES}).encode(),
    "JSON names and rows": lambda: json.dumps({"columns": NAMES, "data": [[1.0] * WIDE] * 3}).encode(),
    "parquet": parquet,
    "cells without places": lambda: sheet(("<row>" + "<c><v>1</v></c>" * WIDE + "</row>") * 2),
    "repeated cells": lambda: open_document(f"<table:table-row>{repeated(NUMBER, WIDE)}</table:table-row>" * 3),
}


@pytest.fixture
def refused(tmp_path):
    """What is said of a file, which must take little memory."""

    def of(content, read):
        path = tmp_path / "file"
        path.write_bytes(content)
        tracemalloc.start()
        try:
            with pytest.raises(DataError) as caught:
                read(str(path))
            assert tracemalloc.get_traced_memory()[1] < MEMORY
        finally:
            tracemalloc.stop()
        return str(caught.value)

    return of


def shown(path):
    """The page shows what would stop a run, or raises it."""
    problem = preview_table(path).problem
    raise DataError(problem)


SAID = f"columns and at most {MAX_COLUMNS:,} can be used: keep those that are needed"


@pytest.mark.parametrize("kind", TOO_WIDE)
def test_a_file_of_too_many_columns_is_refused_before_it_is_read(kind, refused):
    assert SAID in refused(TOO_WIDE[kind](), read_table)


@pytest.mark.parametrize("kind", ["commas", "one line", "JSON lines", "repeated cells"])
def test_the_page_refuses_them_as_well(kind, refused):
    assert SAID in refused(TOO_WIDE[kind](), shown)


def row(k, cells):
    return f'<row r="{k}">{"".join(cells)}</row>'


LONG_CELL = f'<table:table-cell office:value-type="string"><text:p>{"x" * 30_000}</text:p></table:table-cell>'
TOO_MUCH = {
    "one text in many cells": (shared, "hold more than 32 MB of text"),
    "one text in repeated rows": (
        lambda: open_document(f'<table:table-row table:number-rows-repeated="3000">{LONG_CELL}</table:table-row>'),
        "hold more than 32 MB of text",
    ),
    "one text in repeated cells": (
        lambda: open_document(f"<table:table-row>{repeated(LONG_CELL, 20)}</table:table-row>" * 100),
        "hold more than 32 MB of text",
    ),
    "blank cells between two": (
        lambda: sheet("".join(row(k, [f'<c r="{c}{k}"><v>1</v></c>' for c in ("A", "XFD")]) for k in range(1, 1500))),
        "column 16,384, more than 2,000,000 cells",
    ),
}


@pytest.mark.parametrize("kind", TOO_MUCH)
def test_a_sheet_of_far_more_than_its_file_is_refused_before_it_is_read(kind, refused):
    make, words = TOO_MUCH[kind]
    content = make()
    assert len(content) < 200_000
    assert words in refused(content, read_table)


def test_rows_by_name_are_no_columns(tmp_path):
    frame = pd.DataFrame({"a": np.arange(WIDE) % 7 + 0.5, "b": np.arange(WIDE) % 5 + 0.5})
    frame.to_json(tmp_path / "rows.json")
    assert read_table(str(tmp_path / "rows.json")).data.shape == frame.shape


def test_a_long_line_of_few_columns_is_read(tmp_path):
    rows = [f"{k % 7}.5;{k % 5}.5;{'word, ' * 5000}{'  ' * 30_000}x\n" for k in range(5)]
    (tmp_path / "long.csv").write_text("a;b;remark\n" + "".join(rows))
    assert {"a", "b"} <= {*read_table(str(tmp_path / "long.csv")).data}


def test_a_small_sheet_whose_cells_only_their_order_places_is_read(tmp_path):
    rows = "".join(
        "<row>" + "".join(f"<c><v>{(j * k) % 11}.5</v></c>" for j in range(40)) + "</row>" for k in range(30)
    )
    path = tmp_path / "a.xlsx"
    path.write_bytes(sheet(rows))
    assert len(read_table(str(path)).data) == 30
