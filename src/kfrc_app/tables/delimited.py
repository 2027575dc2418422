"""Delimited text of unknown dialect: encoding, separator, header and decimal comma are found, uneven lines refused."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

from kfrc.exceptions import KFRCError

ROW_NAMES = ""
"""Name of a first column without a heading: row names or row numbers, as pandas and R write them."""

_SEPARATORS = ("\t", ";", "|", ",")  # the comma last: between semicolons it is a decimal comma
_SEPARATOR_WORDS = {"\t": "tab", ";": "semicolon", "|": "bar", ",": "comma", " ": "space"}
_SAMPLE_LINES = 200
_SAMPLE_SIZE = 200_000  # characters
_MISSING = ["?", ".", "-", "na", "Na", "NULL", "missing"]  # besides those pandas knows
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,?\d+(?:[eE][+-]?\d+)?")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f]")
_MAX_CONTROL_SHARE = 0.01


class DataError(KFRCError):
    """The data cannot be used as they are; the message says why and what to do."""


@dataclass(frozen=True)
class ParsedText:
    """A table as it was written.

    Attributes
    ----------
    frame : DataFrame
        Numbers as numbers, the rest as text; a first column without a heading is called ``ROW_NAMES``.
    notes : tuple of str
        What had to be guessed.
    """

    frame: pd.DataFrame
    notes: tuple[str, ...]


def parse_delimited(content: bytes) -> ParsedText:
    r"""Read a table with one line per row.

    Parameters
    ----------
    content : bytes
        The whole file.

    Returns
    -------
    ParsedText

    Raises
    ------
    DataError
        If the content is empty, binary, has lines of different lengths, no rows, or column names that repeat.

    Examples
    --------
    >>> from kfrc_app.tables.delimited import parse_delimited
    >>> parse_delimited(b"a;b\n1,5;2\n2,5;3\n").frame
         a  b
    0  1.5  2
    1  2.5  3
    """
    text, notes = _decode(content)
    text, separator = _separate(text)
    header, width, n_records = _measure(text, separator)
    names = _names(header, width)
    if _is_numeric(header):
        names = [f"column_{j + 1}" for j in range(width)]
        notes.append(f"the first line holds numbers, so it is data and the columns are called {_ends(names)}")
        frame = _read(text, separator, names, first_row=None)
    else:
        if n_records == 1:
            raise DataError("the file has a header but no rows")
        frame = _read(text, separator, names, first_row=0)
    if separator != ",":
        converted = _read_decimal_commas(frame)
        if converted:
            notes.append(f"decimal commas were read as such in {quoted(converted)}")
    return ParsedText(frame, tuple(notes))


def parse_matrix(content: bytes) -> ParsedText:
    """Read a square table of numbers, with or without a header line and a column of row names.

    Parameters
    ----------
    content : bytes

    Returns
    -------
    ParsedText
        ``frame`` has the numbers only; its index and columns hold the names, or positions if there are none.
    """
    text, notes = _decode(content)
    text, separator = _separate(text)
    header, width, n_records = _measure(text, separator)
    # A header shows by a name in it. Names may be numbers, too; then the shape tells, or the corner above row names.
    has_corner = n_records == width and (len(header) < width or not _is_numeric(header[:1]))
    has_header = not _is_numeric(header[1:]) or n_records == width + 1 or has_corner
    n_rows = n_records - has_header
    columns = pd.read_csv(
        io.StringIO(text), sep=separator, header=None, skiprows=int(has_header), index_col=False, low_memory=False
    )
    has_index = width == n_rows + 1
    index = columns.pop(0).astype(str).tolist() if has_index else None
    names = [name.strip() for name in header][-columns.shape[1] :] if has_header else None
    text_columns = [j for j in columns if not pd.api.types.is_numeric_dtype(columns[j])]
    if text_columns and separator != ",":
        _read_decimal_commas(columns)
        text_columns = [j for j in columns if not pd.api.types.is_numeric_dtype(columns[j])]
    if columns.shape[0] != columns.shape[1]:
        raise DataError(
            f"a dissimilarity matrix has as many rows as columns, this file has {columns.shape[0]} rows and "
            f"{columns.shape[1]} columns: for a table of measurements leave out --dissimilarity"
        )
    if text_columns:
        raise DataError(f"{len(text_columns)} column(s) of the dissimilarity matrix hold text instead of numbers")
    chosen = index or names
    if chosen is not None:
        columns.index, columns.columns = pd.Index(index or chosen), pd.Index(names or chosen)
    return ParsedText(columns, tuple(notes))


def _decode(content: bytes) -> tuple[str, list[str]]:
    if not content.strip():
        raise DataError("the file is empty")
    wide = content[:2] in (b"\xff\xfe", b"\xfe\xff")
    if b"\x00" in content and not wide:
        raise DataError(_binary_message(content))
    notes = []
    try:
        text = content.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("latin-1")
        notes.append("the file is not UTF-8, so it was read as Latin-1: check accented letters in names")
    if len(_CONTROL.findall(text[:_SAMPLE_SIZE])) > _MAX_CONTROL_SHARE * min(len(text), _SAMPLE_SIZE):
        raise DataError(_binary_message(content))
    if not text.strip():
        raise DataError("the file is empty")
    return text, notes


def _binary_message(content: bytes) -> str:
    kind = "a spreadsheet or archive" if content[:2] == b"PK" else "a binary file"
    return f"this is {kind}, not a table of text: save it as CSV, TSV or Parquet"


def _separate(text: str) -> tuple[str, str]:
    """Find the separator; columns lined up with spaces get single ones."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = [line for line in text[:_SAMPLE_SIZE].split("\n", 2 * _SAMPLE_LINES) if line.strip()][:_SAMPLE_LINES]
    # The last line may be cut off.
    sample = "\n".join(lines[:-1] if len(lines) > 1 and len(text) > _SAMPLE_SIZE else lines)
    best, best_share = ",", 0.0
    for separator in _SEPARATORS:
        widths = Counter(len(record) for record in csv.reader(io.StringIO(sample), delimiter=separator))
        width, count = widths.most_common(1)[0]
        share = count / widths.total()
        if width > 1 and share > best_share:
            best, best_share = separator, share
    if best_share == 0:
        fields = [line.split() for line in sample.splitlines()]
        if len({len(words) for words in fields}) == 1 and len(fields[0]) > 1:
            return "\n".join(" ".join(line.split()) for line in text.split("\n")), " "
    return text, best


def _records(text: str, separator: str) -> Iterator[list[str]]:
    try:
        yield from (record for record in csv.reader(io.StringIO(text), delimiter=separator) if record)
    except csv.Error as error:
        raise DataError(f"the file cannot be split into columns: {error}") from None


def _measure(text: str, separator: str) -> tuple[list[str], int, int]:
    """First record, number of columns and number of records; lines of different length are an error."""
    records = _records(text, separator)
    header = next(records)
    widths = [len(record) for record in records]
    width = widths[0] if widths else len(header)
    # R writes row names without a heading for them: the header is one field shorter than every row.
    if width not in (len(header), len(header) + 1):
        width = len(header)
    odd = next((k for k, found in enumerate(widths) if found != width), None)
    if odd is not None:
        word = _SEPARATOR_WORDS[separator]
        raise DataError(
            f"row {odd + 1} has {widths[odd]} fields where {width} are expected: every line must have the same number "
            f"of fields (separator: {word})"
        )
    return header, width, len(widths) + 1


def _names(header: list[str], width: int) -> list[str]:
    names = [" ".join(name.split()) for name in header]
    if width == len(header) + 1:
        names = [ROW_NAMES, *names]
    names = [name if name or j == 0 else f"column_{j + 1}" for j, name in enumerate(names)]
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated and not _is_numeric(header):
        raise DataError(f"column names must differ, but {quoted(repeated)} appears more than once: rename one of them")
    return names


def _read(text: str, separator: str, names: list[str], first_row: int | None) -> pd.DataFrame:
    try:
        frame = pd.read_csv(
            io.StringIO(text),
            sep=separator,
            header=first_row,
            names=names,
            index_col=False,
            na_values=_MISSING,
            skipinitialspace=True,
            low_memory=False,
        )
    except (pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise DataError(f"the file cannot be read as a table: {error}") from None
    # A separator at the end of every line makes a last column without name and content.
    last = names[-1]
    if len(names) > 1 and last == f"column_{len(names)}" and frame[last].isna().all():
        frame = frame.drop(columns=last)
    return frame


def _read_decimal_commas(frame: pd.DataFrame) -> list[str]:
    """Turn columns of numbers such as 1,5 into numbers, in place; returns their names."""
    converted = []
    for name in frame.columns:
        if pd.api.types.is_numeric_dtype(frame[name]):
            continue
        values = frame[name].dropna().astype(str).str.strip()
        if len(values) and values.str.fullmatch(_DECIMAL_COMMA).all():
            frame[name] = pd.to_numeric(values.str.replace(",", ".", regex=False)).reindex(frame.index)
            converted.append(str(name))
    return converted


def _is_numeric(fields: list[str]) -> bool:
    return bool(fields) and all(_is_number(field) for field in fields)


def _is_number(field: str) -> bool:
    try:
        float(field.strip().replace(",", "."))
    except ValueError:
        return False
    return field.strip().lower() != "nan"


def _ends(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"


def quoted(names: Sequence[str], limit: int = 5) -> str:
    """Names in quotes for a message; the ones beyond ``limit`` are only counted."""
    shown = ", ".join(f"'{name}'" for name in names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"
