"""What a spreadsheet file holds, looked at before it is read: whether it is safe to, and what its cells do not tell."""

from __future__ import annotations

import html
import io
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass

from kfrc_app._unpacking import allowed_size, raw_chunks
from kfrc_app.tables.archives import refuse_growth
from kfrc_app.tables.columns import DataError, refuse_wide
from kfrc_app.tables.zipped import UNREADABLE

MAX_CELLS = 30_000_000
"""Cells of a sheet, counted from its first cell to its last: all of them are held in memory, blank ones in 40 bytes."""

_ALWAYS_ALLOWED_CELLS = 2_000_000
_CELLS_PER_BYTE = 10
"""Cells for each packed byte of the file: no more can be written one by one in what a packed file may grow to."""

_MAX_LETTERS, _MAX_ROW, _MAX_COLUMN = 3, 1 << 20, 1 << 14  # what Excel allows
_CHUNK = 1 << 20
_TAG = 1 << 12  # bytes at the end of a chunk that are looked at again with the next one
_LETTERS = re.compile(rb"\sr\s*=\s*[\"']([A-Z]+)[0-9]")
_ROW = re.compile(rb"\sr\s*=\s*[\"'][A-Z]*([0-9]+)[\"']")
_LONG_ROW = re.compile(rb"\sr\s*=\s*[\"'][A-Z]*([0-9]{6,})[\"']")
_NO_PLACE = re.compile(rb"<(?:\w+:)?c(?=[\s/>])(?![^>]*\sr\s*=)")
_NEXT_ROW = re.compile(rb"<(?:\w+:)?row\b")
_CELL = re.compile(rb"<(?:\w+:)?c[\s/>]")
_SHORT_ROWS = 99_999  # rows whose numbers have fewer digits
_ERROR = re.compile(rb'<(?:\w+:)?c\b[^>]*\bt="e"')
_NO_RESULT = re.compile(
    rb"(?:</(?:\w+:)?f>|<(?:\w+:)?f\b[^>]*/>)\s*(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v>\s*</(?:\w+:)?v>)?</(?:\w+:)?c>"
)
_HIDDEN = re.compile(rb'<(?:\w+:)?col\b(?=[^>]*\bhidden="(?:1|true)")[^>]*>')
_SHARED = "xl/sharedstrings.xml"
_NEXT_TEXT = re.compile(rb"<(?:\w+:)?si\b")
_SHOWN_TEXT = re.compile(rb"\st\s*=\s*[\"']s[\"'][^>]*>\s*<(?:\w+:)?v[^>]*>\s*([0-9]{1,9})")
_SHORT_CELL = 20  # bytes that a cell with a text takes at least
_MARKUP = 100  # bytes that stand around a short text
_NUMBER = re.compile(rb'\b(min|max)="([0-9]+)"')
_SHEET = re.compile(r'<(?:\w+:)?sheet\b[^>]*?\bname="([^"]*)"[^>]*?\b\w+:id="([^"]*)"')
_PART = re.compile(r"<(?:\w+:)?Relationship\b[^>]*>")
_ODS_ROW = re.compile(rb"<table:table-row\b([^>]*)>(.*?)</table:table-row>", re.DOTALL)
_ODS_CELL = re.compile(rb"<table:(?:covered-)?table-cell\b([^>]*)>")
_ODS_SPACES = re.compile(rb"text:c\s*=\s*[\"']([0-9]+)")
_MAX_SPACES = 1_000_000  # of a file, beyond one: they are written as a number, however many they are
_ODS_ERROR = b'calcext:value-type="error"'
_SPANNED = re.compile(rb'number-rows-spanned="((?!1")[0-9]+)"')
_SPANNED_ACROSS = re.compile(rb'number-columns-spanned="(?!1")')
_REPEATED = re.compile(rb'number-(?:columns|rows)-repeated="([0-9]+)"')


@dataclass(frozen=True)
class SheetFacts:
    """What the cells of a sheet do not tell.

    Attributes
    ----------
    n_errors : int
        Cells that hold an error such as #N/A.
    n_without_result : int
        Formulas whose result is not stored.
    hidden : tuple of int
        Columns that cannot be seen, from 0.
    merged : tuple of pairs of places
        The first and the last cell of what is merged down a column, where the reader of cells does not tell.
    """

    n_errors: int = 0
    n_without_result: int = 0
    hidden: tuple[int, ...] = ()
    merged: tuple[tuple[tuple[int, int], tuple[int, int]], ...] = ()


def inspect_workbook(content: bytes) -> dict[str, SheetFacts]:
    """Look at a spreadsheet file before it is read.

    Parameters
    ----------
    content : bytes

    Returns
    -------
    dict of str to SheetFacts
        By name of the sheet; empty for formats of which nothing more is known.

    Raises
    ------
    DataError
        If it is damaged, unpacks to far more than it should, or is larger than can be held.
    """
    if not content.startswith(b"PK"):
        return {}
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            limit = allowed_size(len(content))
            most = min(MAX_CELLS, max(_ALWAYS_ALLOWED_CELLS, _CELLS_PER_BYTE * len(content)))
            _refuse_bombs(archive, content, limit)
            if "xl/workbook.xml" in archive.namelist():
                parts = _parts(archive)
                _refuse_much_text(archive, {*parts.values()}, limit)
                return {name: _sheet_facts(archive, part, most) for name, part in parts.items()}
            if "content.xml" in archive.namelist():
                return _open_document_facts(archive, limit, most)
    except DataError:
        raise
    except (*UNREADABLE, KeyError, RuntimeError):
        raise DataError("the spreadsheet cannot be read, it is damaged or cut off: save it again") from None
    return {}


def _refuse_bombs(archive: zipfile.ZipFile, content: bytes, limit: int) -> None:
    """Unpack all parts once, within limits: sizes that a file states may be wrong."""
    members = archive.infolist()
    refuse_growth(sum(member.file_size for member in members), limit)
    size = 0
    for member in members:
        if member.flag_bits & 1:
            raise DataError("the spreadsheet is protected with a password: save it without one, and try again")
        markup = member.filename.endswith((".xml", ".rels"))
        before = b""
        for chunk in raw_chunks(member, content):
            size += len(chunk)
            refuse_growth(size, limit)
            if markup and b"<!" in before + chunk and re.search(rb"<!(?:DOCTYPE|ENTITY)", before + chunk):
                raise DataError("the spreadsheet defines its own abbreviations, as only harmful files do: not read")
            before = chunk[-_TAG:]


def _parts(archive: zipfile.ZipFile) -> dict[str, str]:
    """Where each sheet is stored, by its name."""
    book = archive.read("xl/workbook.xml").decode("utf-8", "replace")
    links = archive.read("xl/_rels/workbook.xml.rels").decode("utf-8", "replace")
    targets = {}
    for link in _PART.findall(links):
        name, target = re.search(r'\bId="([^"]*)"', link), re.search(r'\bTarget="([^"]*)"', link)
        if name and target:
            path = target[1].lstrip("/")
            targets[name[1]] = path if path.startswith("xl/") else f"xl/{path}"
    found = {html.unescape(name): targets.get(link, "") for name, link in _SHEET.findall(book)}
    return {name: part for name, part in found.items() if part in archive.namelist()}


def _refuse_much_text(archive: zipfile.ZipFile, parts: set[str], limit: int) -> None:
    """Stop at texts that are stored once and shown in so many cells that the file grows beyond its limit."""
    stored = next((name for name in archive.namelist() if name.lower() == _SHARED), None)
    lengths = [] if stored is None else [len(item) for item in _NEXT_TEXT.split(archive.read(stored))[1:]]
    for part in parts:
        most = archive.getinfo(part).file_size // _SHORT_CELL
        if most * max(lengths, default=0) > limit:  # only then every cell is looked at
            shown = (int(found) for text in _texts(archive, part) for found in _SHOWN_TEXT.findall(text))
            refuse_text(sum(lengths[k] for k in shown if k < len(lengths)), limit)


def refuse_text(n_bytes: int, limit: int) -> None:
    """Stop if the texts of all cells together are far more than a file of this size holds."""
    if n_bytes > limit:
        raise DataError(
            f"the cells of the sheet hold more than {limit >> 20:,} MB of text, which no table of its size does: leave "
            "out columns with long texts, and save it again"
        )


def _sheet_facts(archive: zipfile.ZipFile, part: str, most: int) -> SheetFacts:
    letters: set[bytes] = set()
    last_row = n_errors = n_without = 0
    hidden: tuple[int, ...] = ()
    width = 0
    for text in _texts(archive, part):
        if not width and _NO_PLACE.search(text):  # cells that only their order places
            width = max(len(_CELL.findall(row)) for row in _NEXT_ROW.split(archive.read(part)))
        letters.update(_LETTERS.findall(text))
        last_row = max(last_row, max(map(int, _LONG_ROW.findall(text)), default=0))
        # Each search takes time, so that a word that must be there is looked for before.
        n_errors += len(_ERROR.findall(text)) if b't="e"' in text else 0
        n_without += len(_NO_RESULT.findall(text)) if b"f>" in text or b"<f" in text else 0
        hidden += tuple(_hidden(text)) if b"hidden=" in text else ()
    if letters or width:
        if max(map(len, letters), default=0) > _MAX_LETTERS or last_row > _MAX_ROW:
            raise DataError("the spreadsheet has cells where no sheet has any: it is damaged")
        width = max(width, *map(_column, letters), 1)
        refuse_wide(width)
        if max(last_row, _SHORT_ROWS) * width > most:  # only then every cell is looked at
            n_rows = last_row = 0
            for text in _texts(archive, part):
                n_rows += len(_NEXT_ROW.findall(text))  # rows that only their order places
                last_row = max(last_row, n_rows, *map(int, _ROW.findall(text)), 0)
            refuse_many_cells(last_row, width, most)
    return SheetFacts(n_errors, n_without, hidden)


def _texts(archive: zipfile.ZipFile, part: str) -> Iterator[bytes]:
    """A part of the file, piece by piece, cut behind cells."""
    before = b""
    with archive.open(part) as stream:
        while chunk := stream.read(_CHUNK):
            text = before + chunk
            end = max(text.rfind(b"</c>") + len(b"</c>"), text.rfind(b"</row>") + len(b"</row>"), len(text) - _TAG)
            yield text[:end]
            before = text[end:]
    yield before


def _hidden(text: bytes) -> Iterator[int]:
    for tag in _HIDDEN.findall(text):
        ends = {name: int(value) for name, value in _NUMBER.findall(tag)}
        yield from range(ends.get(b"min", 1) - 1, min(ends.get(b"max", 0), _MAX_COLUMN))


def _column(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + letter - ord("A") + 1
    return number


def refuse_many_cells(n_rows: int, n_columns: int, most: int) -> None:
    """Stop at a sheet of more cells than can be held in memory, or than a file of its size fills."""
    if n_rows * n_columns > most:
        raise DataError(
            f"the sheet reaches to row {n_rows:,} and column {n_columns:,}, more than {most:,} cells: remove what "
            "stands far away from the table, or save the table as CSV or Parquet"
        )


def _open_document_facts(archive: zipfile.ZipFile, limit: int, most: int) -> dict[str, SheetFacts]:
    content = archive.read("content.xml")
    if sum(map(int, _ODS_SPACES.findall(content))) > _MAX_SPACES:
        raise DataError("the spreadsheet has cells with millions of spaces, as only harmful files do: not read")
    facts = {}
    for found in re.finditer(rb"<table:table\b([^>]*)>(.*?)</table:table>", content, re.DOTALL):
        name = re.search(rb'table:name="([^"]*)"', found[1])
        n_rows = last = width = n_text = 0
        merged = []
        for row in _ODS_ROW.finditer(found[2]):
            n_rows += _repeats(row[1])
            n_cells = 0
            cells = [*_ODS_CELL.finditer(row[2])]
            ends = [cell.start() for cell in cells[1:]] + [len(row[2])]
            for cell, end in zip(cells, ends, strict=True):
                n_cells += _repeats(cell[1])
                span = _SPANNED.search(cell[1])
                if span and not _SPANNED_ACROSS.search(cell[1]):
                    merged.append(((n_rows - 1, n_cells - 1), (n_rows + int(span[1]) - 2, n_cells - 1)))
                if b"office:value-type" in cell[1]:
                    width, last = max(width, n_cells), n_rows
                    n_text += _repeats(row[1]) * _repeats(cell[1]) * max(0, end - cell.end() - _MARKUP)
        refuse_wide(width)
        refuse_many_cells(last, width, most)
        refuse_text(n_text, limit)
        title = html.unescape(name[1].decode("utf-8", "replace")) if name else ""
        facts[title] = SheetFacts(found[2].count(_ODS_ERROR), merged=tuple(merged))
    return facts


def _repeats(tag: bytes) -> int:
    found = _REPEATED.search(tag)
    return int(found[1]) if found else 1
