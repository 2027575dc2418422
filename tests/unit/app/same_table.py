"""One table written in every format that people keep tables in, for tests that each of them is read alike."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import openpyxl

from kfrc_app.tables import DataError, Preview, preview_table

Rows = Sequence[Sequence[Any]]
SEPARATED = {"csv": ",", "tsv": "\t", "psv": "|"}
SHEETS = ("xlsx", "ods")
FORMATS = (*SEPARATED, *SHEETS, "json")
"""JSON holds a table with one line of names; what stands around a table is for the others."""

_ODS = (
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"'
)
_KIND = "application/vnd.oasis.opendocument.spreadsheet"
_MANIFEST = (
    '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
    f'<manifest:file-entry manifest:full-path="/" manifest:media-type="{_KIND}"/></manifest:manifest>'
)


def content(ending: str, rows: Rows) -> bytes:
    """A table as a file; None is a blank cell."""
    if ending in SEPARATED:
        target = io.StringIO()
        written = csv.writer(target, delimiter=SEPARATED[ending], lineterminator="\n")
        written.writerows(["" if cell is None else cell for cell in row] for row in rows)
        return target.getvalue().encode()
    if ending == "xlsx":
        return _xlsx(rows)
    if ending == "ods":
        return _ods(rows)
    names = [json.dumps(str(name)) for name in rows[0]]
    cells = [[json.dumps(cell, default=str) for cell in row] for row in rows[1:]]
    objects = [", ".join(f"{name}: {cell}" for name, cell in zip(names, row, strict=True)) for row in cells]
    return ("[" + ",\n".join(f"{{{text}}}" for text in objects) + "]").encode()


def read_alike(folder: Path, rows: Rows, endings: Sequence[str] = FORMATS, **options: Any) -> Preview:
    """What is made of a table, which must be the same in all formats: roles, types, reasons, notes, and problems.

    Raises
    ------
    DataError
        With the same message in all formats, if none can be read.
    """
    found: dict[str, Any] = {}
    for ending in endings:
        path = folder / f"table.{ending}"
        path.write_bytes(content(ending, rows))
        try:
            found[ending] = preview_table(str(path), **options)
        except DataError as error:
            found[ending] = error
    told = {ending: _told(preview) for ending, preview in found.items()}
    first, *others = told
    for other in others:
        assert told[other] == told[first], f".{other} is not read as .{first} is"
    if isinstance(found[first], DataError):
        raise found[first]
    return found[first]


def roles(preview: Preview) -> Mapping[str, str]:
    """What each column is for; its type, if it is clustered by."""
    return {column.name: str(column.kind or column.role) for column in preview.columns}


def _told(found: Preview | DataError) -> Any:
    if isinstance(found, DataError):
        return str(found)
    columns = [
        (column.name, column.role, column.kind, column.reason, column.n_missing, column.problem)
        for column in found.columns
    ]
    return columns, found.n_rows, found.notes, found.questions, found.problem


def _xlsx(rows: Rows) -> bytes:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(list(row))
    target = io.BytesIO()
    book.save(target)
    return target.getvalue()


def _ods(rows: Rows) -> bytes:
    lines = "".join(f"<table:table-row>{''.join(map(_ods_cell, row))}</table:table-row>" for row in rows)
    document = (
        f'<?xml version="1.0" encoding="UTF-8"?><office:document-content {_ODS} office:version="1.2"><office:body>'
        f'<office:spreadsheet><table:table table:name="Sheet1">{lines}</table:table></office:spreadsheet></office:body>'
        "</office:document-content>"
    )
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("mimetype", _KIND)
        archive.writestr("content.xml", document)
        archive.writestr("META-INF/manifest.xml", _MANIFEST)
    return target.getvalue()


def _ods_cell(cell: Any) -> str:
    if cell is None:
        return "<table:table-cell/>"
    if isinstance(cell, bool):
        kind = f'boolean" office:boolean-value="{str(cell).lower()}'
    elif isinstance(cell, (int, float)):
        kind = f'float" office:value="{cell!r}'
    elif isinstance(cell, date):
        kind = f'date" office:date-value="{cell.isoformat()}'
    else:
        kind = "string"
    shown = quoteattr(str(cell))[1:-1]
    return f'<table:table-cell office:value-type="{kind}"><text:p>{shown}</text:p></table:table-cell>'
