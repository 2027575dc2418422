"""Tables as an Excel workbook: text is never a formula or a link, dates are dates, and what Excel cannot hold is told.

XlsxWriter makes the frame: styles, widths, filters, the header that stays in view. The cells are written here, one row
after the other, as text within the cell: that is several times faster, needs no memory for large tables, and leaves
nothing to guess from what a text looks like.
"""

from __future__ import annotations

import io
import math
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kfrc_app._letters import letters

MAX_ROWS, MAX_COLUMNS = 1_048_576, 16_384
"""What a sheet of Excel holds, the header among the rows."""

MAX_CHARACTERS = 32_767
"""What a cell of Excel holds, counted as in UTF-16."""

CUT = "… (cut: the CSV file has all of it)"
"""What ends a text that is longer."""

FIRST_DAY, LAST_DAY = np.datetime64("1900-03-01"), np.datetime64("9999-12-31T23:59:59.999999")
"""Dates that Excel counts; before, it knows a day that never was, the 29th of February 1900."""

_Unit = Literal["D", "s", "ms", "us", "ns"]
_UNITS: tuple[_Unit, ...] = ("D", "s", "ms", "us")  # that are tried before the finest
_EPOCH = np.datetime64("1899-12-30")
_NARROWEST, _WIDEST, _TEXT_WIDTH = 8, 42, 90
_SAMPLED = 200  # rows from which widths are taken
_BLOCK = 2000  # rows that are written at a time
_MADE = datetime(2000, 1, 1)  # the same for every file, so that the same run writes the same bytes
_LARGEST_WHOLE = 1e15
_LARGE = 20_000_000  # cells that may take more than two gigabytes before they are packed
_ROWS = re.compile(rb"<sheetData/>|<sheetData>.*</sheetData>", re.DOTALL)
_STYLE = re.compile(rb'\bs="(\d+)"')
_DIMENSION = re.compile(rb'<dimension ref="[^"]*"/>')
_NOT_XML = re.compile("[\ud800-\udfff\ufffe\uffff]")
_ESCAPED = re.compile("[\x00-\x08\x0b-\x1f]|_(?=x[0-9a-fA-F]{4}_)")


@dataclass(frozen=True, eq=False)
class Sheet:
    """A sheet of a workbook.

    Attributes
    ----------
    name : str
    frame : DataFrame
        Columns of numbers, dates or text. An infinite number becomes text, what is missing becomes a blank.
    formats : mapping of str to str
        How Excel shows numbers, by column.
    added : frozenset of str
        Columns whose headings are set off from the others.
    wrapped : frozenset of str
        Columns of long text, which is broken into lines.
    header : bool
        Whether there is one, with filters.
    """

    name: str
    frame: pd.DataFrame
    formats: Mapping[str, str] = field(default_factory=dict)
    added: frozenset[str] = frozenset()
    wrapped: frozenset[str] = frozenset()
    header: bool = True


def write_workbook(sheets: Sequence[Sheet], *, title: str = "") -> bytes:
    """The content of an xlsx file.

    Parameters
    ----------
    sheets : sequence of Sheet
        None larger than a sheet can be.
    title : str
        Among the properties of the file.

    Returns
    -------
    bytes

    Examples
    --------
    >>> import io
    >>> import openpyxl, pandas as pd
    >>> from kfrc_app.runs.workbook import Sheet, write_workbook
    >>> content = write_workbook([Sheet("a", pd.DataFrame({"x": [1.5, None], "y": ["=1", "b"]}))])
    >>> [[cell.value for cell in row] for row in openpyxl.load_workbook(io.BytesIO(content))["a"].rows]
    [['x', 'y'], [1.5, '=1'], [None, 'b']]
    """
    frame, styles = _frame(sheets, title)
    written = io.BytesIO()
    with zipfile.ZipFile(frame) as source, zipfile.ZipFile(written, "w") as target:
        for member in source.infolist():
            content = source.read(member)
            found = re.fullmatch(r"xl/worksheets/sheet(\d+)\.xml", member.filename)
            place = None if found is None else int(found[1]) - 1
            # Not every program reads the extension for large members, so that it is used for them only.
            large = place is not None and sheets[place].frame.size > _LARGE
            with target.open(_packed(member), "w", force_zip64=large) as stream:
                if place is None:
                    stream.write(content)
                else:
                    _write_sheet(stream, content, sheets[place], styles[place])
    return written.getvalue()


def _packed(member: zipfile.ZipInfo) -> zipfile.ZipInfo:
    """The same member of an archive, to be packed."""
    found = zipfile.ZipInfo(member.filename, member.date_time)
    found.compress_type = zipfile.ZIP_DEFLATED
    return found


def _frame(sheets: Sequence[Sheet], title: str) -> tuple[io.BytesIO, list[list[int]]]:
    """A workbook without cells, and the numbers of the styles of each sheet: of its headings, then of its columns."""
    import xlsxwriter

    buffer = io.BytesIO()
    book = xlsxwriter.Workbook(buffer, {"in_memory": True})
    book.set_properties({"title": title[:250], "created": _MADE})
    heading = {"bold": True, "bottom": 1, "valign": "top", "text_wrap": True}
    plain, added = book.add_format(heading), book.add_format({**heading, "bg_color": "#DDEBF7"})
    formats: dict[str, Any] = {}
    for sheet in sheets:
        page = book.add_worksheet(sheet.name)
        shape = sheet.frame.shape
        names = [str(name) for name in sheet.frame.columns]
        for j, name in enumerate(names):
            column = sheet.frame.iloc[:, j]
            page.set_column(j, j, _width(column, name, wrapped=name in sheet.wrapped))
            # Styles exist only where they are used: these cells give them their numbers and are replaced.
            page.write_blank(0, j, None, added if name in sheet.added else plain)
            style = _format(column, name, sheet)
            if str(style) not in formats:
                formats[str(style)] = book.add_format(style)
            page.write_blank(1, j, None, formats[str(style)])
        if sheet.header:
            page.freeze_panes(1, 0)
            page.autofilter(0, 0, max(shape[0], 1), shape[1] - 1)
    book.close()
    with zipfile.ZipFile(buffer) as archive:
        found = [archive.read(f"xl/worksheets/sheet{k + 1}.xml") for k in range(len(sheets))]
    cells = [match[0] if (match := _ROWS.search(content)) else b"" for content in found]
    return buffer, [[int(number) for number in _STYLE.findall(content)] for content in cells]


def _format(column: pd.Series[Any], name: str, sheet: Sheet) -> dict[str, Any]:
    if name in sheet.formats:
        return {"num_format": sheet.formats[name], "valign": "top"}
    if pd.api.types.is_datetime64_any_dtype(column):
        return {"num_format": "yyyy-mm-dd" if _are_days(column) else "yyyy-mm-dd hh:mm:ss", "valign": "top"}
    return {"valign": "top", "text_wrap": name in sheet.wrapped}


def _are_days(column: pd.Series[Any]) -> bool:
    known = column.dropna().to_numpy()
    return bool((known.astype("datetime64[D]") == known).all())


def _width(column: pd.Series[Any], name: str, *, wrapped: bool) -> int:
    if wrapped:
        return _TEXT_WIDTH
    if pd.api.types.is_datetime64_any_dtype(column):
        return 11 if _are_days(column) else 20
    shown = [len(str(value)) for value in column.iloc[:_SAMPLED] if not pd.isna(value)]
    return min(max([_NARROWEST, min(len(name), 20) + 3, *shown]), _WIDEST)


def _write_sheet(stream: Any, content: bytes, sheet: Sheet, styles: Sequence[int]) -> None:
    """A sheet with its cells in the place of those that were only there for their styles."""
    found = _ROWS.search(content)
    assert found is not None  # every sheet has such a place
    n_rows, n_columns = sheet.frame.shape
    headings, columns = styles[:n_columns], styles[n_columns:]
    last = f"{letters(n_columns - 1)}{max(n_rows + sheet.header, 1)}".encode()
    stream.write(_DIMENSION.sub(b'<dimension ref="A1:' + last + b'"/>', content[: found.start()]))
    stream.write(b"<sheetData>")
    if sheet.header:
        names = [str(name) for name in sheet.frame.columns]
        cells = [_text(name, f'<c r="{letters(j)}1" s="{headings[j]}"') for j, name in enumerate(names)]
        stream.write(f'<row r="1">{"".join(cells)}</row>'.encode())
    for block in _blocks(sheet, columns):
        stream.write(block.encode())
    stream.write(b"</sheetData>")
    stream.write(content[found.end() :])


def _blocks(sheet: Sheet, styles: Sequence[int]) -> Iterator[str]:
    """Rows as XML, many at a time."""
    frame = sheet.frame
    first = 1 + sheet.header
    opening = [f'<c r="{letters(j)}' for j in range(frame.shape[1])]
    for start in range(0, len(frame), _BLOCK):
        part = frame.iloc[start : start + _BLOCK]
        numbers = [str(start + first + k) for k in range(len(part))]
        columns = [_cells(part.iloc[:, j], opening[j], f'" s="{styles[j]}"', numbers) for j in range(frame.shape[1])]
        rows = zip(*columns, strict=True) if columns else [()] * len(part)
        yield "".join(f'<row r="{number}">{"".join(cells)}</row>' for number, cells in zip(numbers, rows, strict=True))


def _cells(column: pd.Series[Any], opening: str, style: str, rows: list[str]) -> list[str]:
    """The cells of a column as XML; nothing where a value is missing."""
    if pd.api.types.is_datetime64_any_dtype(column):
        return _dates(column.to_numpy(), opening, style, rows)
    if pd.api.types.is_numeric_dtype(column):
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
        middle = f"{style}><v>"
        return [
            f"{opening}{row}{middle}{_number(value)}</v></c>"
            if math.isfinite(value)
            else ("" if value != value else _text(str(value), f"{opening}{row}{style}"))
            for row, value in zip(rows, values.tolist(), strict=True)
        ]
    known = column.notna().tolist()
    return [
        _text(str(value), f"{opening}{row}{style}") if there else ""
        for row, value, there in zip(rows, column.tolist(), known, strict=True)
    ]


def _dates(values: NDArray[Any], opening: str, style: str, rows: list[str]) -> list[str]:
    """Dates as the days that Excel counts; as text where it does not."""
    counted = (values >= FIRST_DAY) & (values <= LAST_DAY)
    days = np.where(counted, values - _EPOCH, np.timedelta64(0, "us")) / np.timedelta64(1, "D")
    missing = np.isnat(values)
    return [
        f"{opening}{row}{style}><v>{_number(day)}</v></c>"
        if can
        else ("" if gone else _text(_written_date(value), f"{opening}{row}{style}"))
        for row, day, can, gone, value in zip(rows, days.tolist(), counted, missing, values, strict=True)
    ]


def _written_date(value: Any) -> str:
    return str(np.datetime_as_string(value, unit=needed_unit(value))).replace("T", " ")


def needed_unit(times: Any) -> _Unit:
    """The coarsest unit that loses nothing of some times: days, or seconds and parts of them.

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc_app.runs.workbook import needed_unit
    >>> needed_unit(np.array(["2024-05-01", "NaT"], "M8[us]")), needed_unit(np.datetime64("2024-05-01T10:00:00.500"))
    ('D', 'ms')
    """
    for unit in _UNITS:
        if ((times.astype(f"datetime64[{unit}]") == times) | np.isnat(times)).all():
            return unit
    return "ns"


def _number(value: float) -> str:
    return str(int(value)) if value.is_integer() and abs(value) < _LARGEST_WHOLE else repr(value)


def _text(text: str, opening: str) -> str:
    """A cell of text: written within the cell, where nothing is a formula or a link."""
    return f'{opening} t="inlineStr"><is><t xml:space="preserve">{escaped(text)}</t></is></c>'


def escaped(text: str) -> str:
    r"""Text for a cell: cut if it is too long, and with the escapes of Excel for what XML cannot hold.

    Examples
    --------
    >>> from kfrc_app.runs.workbook import escaped
    >>> escaped("a<b"), escaped("a\r\x01"), escaped("_x0041_")
    ('a&lt;b', 'a_x000D__x0001_', '_x005F_x0041_')
    """
    if 2 * len(text) > MAX_CHARACTERS and len(text.encode("utf-16-le", "surrogatepass")) > 2 * MAX_CHARACTERS:
        kept = text.encode("utf-16-le", "surrogatepass")[: 2 * (MAX_CHARACTERS - len(CUT))]
        text = kept.decode("utf-16-le", "ignore") + CUT
    if not text.isascii():
        text = _NOT_XML.sub("\ufffd", text)
    if not text.isprintable() or "_x" in text:
        text = _ESCAPED.sub(lambda found: f"_x{ord(found[0]):04X}_", text)
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
