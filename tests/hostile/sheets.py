"""Spreadsheets written by hand: every digit of a number is kept, and the bytes are the same whenever they are made."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from hostile.damage import zipped

Rows = Sequence[Sequence[Any]]
"""Cells: None, text, floats, truth values and points in time."""

_START = '<?xml version="1.0" encoding="UTF-8"?>'
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_LINKS = "http://schemas.openxmlformats.org/package/2006/relationships"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
_EPOCH = datetime.datetime(1899, 12, 30)
_DAY = datetime.timedelta(days=1)
_FORMATS = (
    f'{_START}<styleSheet xmlns="{_MAIN}"><fonts count="1"><font/></fonts><fills count="1"><fill/></fills>'
    '<borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs>'
    '<cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="22" applyNumberFormat="1"/></cellXfs></styleSheet>'
)


def excel_file(sheets: Mapping[str, Rows], further: str = "") -> bytes:
    """A workbook of Excel; ``further`` is markup behind the cells of the first sheet."""
    ids = range(1, len(sheets) + 1)
    listed = "".join(
        f'<sheet name={quoteattr(name)} sheetId="{k}" r:id="rId{k}"/>' for k, name in zip(ids, sheets, strict=True)
    )
    links = "".join(_link(f"rId{k}", "worksheet", f"worksheets/sheet{k}.xml") for k in ids)
    files = {
        "[Content_Types].xml": f'{_START}<Types xmlns="{_TYPES}">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/></Types>',
        "_rels/.rels": f'{_START}<Relationships xmlns="{_LINKS}">'
        f"{_link('rId1', 'officeDocument', 'xl/workbook.xml')}</Relationships>",
        "xl/workbook.xml": f'{_START}<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}">'
        f"<sheets>{listed}</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f'{_START}<Relationships xmlns="{_LINKS}">{links}'
        f"{_link('styles', 'styles', 'styles.xml')}</Relationships>",
        "xl/styles.xml": _FORMATS,
    }
    for k, rows in zip(ids, sheets.values(), strict=True):
        cells = "".join(f'<row r="{r}">{"".join(_excel_cells(r, row))}</row>' for r, row in enumerate(rows, start=1))
        behind = further if k == 1 else ""
        files[f"xl/worksheets/sheet{k}.xml"] = (
            f'{_START}<worksheet xmlns="{_MAIN}"><sheetData>{cells}</sheetData>{behind}</worksheet>'
        )
    return zipped({name: text.encode() for name, text in files.items()})


def _link(name: str, kind: str, target: str) -> str:
    return f'<Relationship Id="{name}" Type="{_OFFICE}/{kind}" Target="{target}"/>'


def place(row: int, column: int) -> str:
    """What a cell is called, from 1 on: A1."""
    letters = ""
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return f"{letters}{row}"


def _excel_cells(r: int, row: Sequence[Any]) -> list[str]:
    found = []
    for j, value in enumerate(row, start=1):
        where = f'<c r="{place(r, j)}"'
        if isinstance(value, bool):
            found.append(f'{where} t="b"><v>{int(value)}</v></c>')
        elif isinstance(value, float):
            found.append(f"{where}><v>{value!r}</v></c>")
        elif isinstance(value, datetime.datetime):
            found.append(f'{where} s="1"><v>{(value - _EPOCH) / _DAY!r}</v></c>')
        elif value is not None:
            found.append(f'{where} t="inlineStr"><is><t xml:space="preserve">{escape(value)}</t></is></c>')
    return found


def open_document_file(sheets: Mapping[str, Rows]) -> bytes:
    """A spreadsheet of LibreOffice."""
    spaces = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "table", "text")
    )
    tables = "".join(
        f"<table:table table:name={quoteattr(name)}>{''.join(map(_open_row, rows))}</table:table>"
        for name, rows in sheets.items()
    )
    content = (
        f"{_START}<office:document-content {spaces}><office:body><office:spreadsheet>{tables}</office:spreadsheet>"
        "</office:body></office:document-content>"
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    listed = f'<manifest:file-entry manifest:full-path="/" manifest:media-type="{kind}"/>'
    manifest = (
        f'{_START}<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">{listed}'
    )
    return zipped(
        {
            "mimetype": kind.encode(),
            "META-INF/manifest.xml": f"{manifest}</manifest:manifest>".encode(),
            "content.xml": content.encode(),
        }
    )


def _open_row(row: Sequence[Any]) -> str:
    return f"<table:table-row>{''.join(map(_open_cell, row))}</table:table-row>"


def _open_cell(value: Any) -> str:
    if value is None:
        return "<table:table-cell/>"
    if isinstance(value, bool):
        stored = f'boolean" office:boolean-value="{str(value).lower()}"'
    elif isinstance(value, float):
        stored = f'float" office:value="{value!r}"'
    elif isinstance(value, datetime.datetime):
        stored = f'date" office:date-value="{value.isoformat()}"'
    else:
        stored = 'string"'
    text = escape(str(value))
    return f'<table:table-cell office:value-type="{stored}><text:p>{text}</text:p></table:table-cell>'
