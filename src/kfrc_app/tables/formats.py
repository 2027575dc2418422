"""What a file is, by what stands in it rather than by its name, and its columns."""

from __future__ import annotations

from kfrc_app.tables.archives import parts, unpack
from kfrc_app.tables.columns import Columns, DataError, in_quotes
from kfrc_app.tables.delimited import parse_delimited
from kfrc_app.tables.foreign import refuse_foreign
from kfrc_app.tables.json_rows import is_json, parse_json
from kfrc_app.tables.numbers import Marks
from kfrc_app.tables.parquet import MAGIC, parse_parquet
from kfrc_app.tables.spreadsheet import names_of_sheets, parse_spreadsheet
from kfrc_app.tables.zipped import ZIP

COMPOUND = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""How the older files of Excel begin, and the newer ones that are protected with a password."""


def parse_columns(content: bytes, marks: Marks | None = None, sheet: str | None = None) -> Columns:
    """The columns of a file, whatever its format.

    Parameters
    ----------
    content : bytes
        The whole file.
    marks : Marks, optional
        What is known of the marks within numbers.
    sheet : str, optional
        The sheet of a spreadsheet.

    Returns
    -------
    Columns

    Raises
    ------
    DataError
        If the file cannot be read, or several tables are in it and none was named.
    """
    content, sheet = open_file(content, sheet)
    if is_spreadsheet(content):
        return parse_spreadsheet(content, marks, sheet)
    if sheet is not None:
        raise DataError(
            f"--sheet {in_quotes(sheet)} names a part of a file, but this file has no parts: leave --sheet out"
        )
    if is_json(content):
        return parse_json(content, marks)
    if content[:4] != MAGIC:
        return parse_delimited(content, marks)
    columns = parse_parquet(content)
    if columns.n_rows == 0:
        raise DataError("the file has columns but no rows")
    return columns


def open_file(content: bytes, sheet: str | None = None) -> tuple[bytes, str | None]:
    """The content of a file that can be read, unpacked; what is left to say of a sheet.

    Raises
    ------
    DataError
        If it is a file of another kind, damaged, or holds several files and none was named.
    """
    refuse_foreign(content)
    unpacked, sheet = unpack(content, sheet)
    if unpacked is not content:
        refuse_foreign(unpacked)
    return unpacked, sheet


def is_spreadsheet(content: bytes) -> bool:
    """Whether a file is a workbook of Excel or LibreOffice."""
    return content.startswith((ZIP, COMPOUND))


def sheet_names(content: bytes) -> tuple[str, ...]:
    """The parts of a file of which one can be chosen: files in an archive, or sheets of a spreadsheet.

    Raises
    ------
    DataError
        If the file cannot be read.
    """
    found = parts(content)
    if found:
        return found
    content, _ = open_file(content)
    return names_of_sheets(content) if is_spreadsheet(content) else ()
