"""Delimited text as columns of text: header, row names and blank ends are told apart, uneven lines refused."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import csv as arrow_csv

from kfrc_app.tables.aside import without_lines_aside
from kfrc_app.tables.blanks import without
from kfrc_app.tables.columns import (
    ROW_NAMES,
    Columns,
    DataError,
    Encoded,
    Numbers,
    counted,
    distinct_names,
    quoted,
    shortened,
)
from kfrc_app.tables.dialect import (
    NO_SEPARATOR,
    SEPARATOR_WORDS,
    Dialect,
    count_names,
    find_dialect,
    fitting_width,
    refuse_wide_lines,
)
from kfrc_app.tables.headings import JOINED, has_second_line, join_groups, join_repeated
from kfrc_app.tables.layout import SEARCHED, count_explanations, find_header, refuse_second_table, told
from kfrc_app.tables.numbers import QUOTED_DOUBTFUL, Marks, is_missing, looks_like_number, read_numbers
from kfrc_app.tables.own_files import without_marks
from kfrc_app.tables.row_names import refuse_doubtful_row_names

_LOOKED_AT = 50  # cells below a first one that tell whether it is data
_BLOCK_SIZE = 1 << 20  # bytes that are split at a time
_LINES_PER_BLOCK = 16  # at least, because a line must fit
_MANY_COLUMNS = 20  # for each line: Arrow takes 10 KB for a column, however short


@dataclass(frozen=True, eq=False)
class TextColumns(Columns):
    """Columns of a text file.

    Attributes
    ----------
    cells : mapping of str to Arrow array of strings
        By name, in the order of the file, without blanks around them.
    marks : Marks
        What is known of the marks within numbers.
    dot_is_decimal : bool
        Whether the separator and the lack of quotation marks leave a dot no other meaning.
    noticed : tuple of str
    """

    cells: Mapping[str, Any]
    marks: Marks
    dot_is_decimal: bool
    noticed: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self.cells)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self.cells.values())))

    def text(self, name: str) -> NDArray[Any]:
        """Cells as they were written."""
        return np.array(self.cells[name].to_pylist(), dtype=object)

    def known(self, name: str) -> NDArray[np.bool_]:
        """Which cells are not missing."""
        return ~np.array(is_missing(self.cells[name]).to_pylist(), dtype=bool)

    def encoded(self, name: str, keep: Collection[str] = ()) -> Encoded:
        """The different texts of a column, found without making a Python object of every cell."""
        cells = self.cells[name]
        known = without(cells, is_missing(cells, keep))
        found = pa.chunked_array([known]) if isinstance(known, pa.Array) else known
        found = found.combine_chunks().dictionary_encode()
        codes = found.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.intp)
        return Encoded(codes, tuple(found.dictionary.to_pylist()))

    def settled(self, decimal: str | None) -> TextColumns:
        """The same file with its decimal mark known."""
        return self if decimal is None else replace(self, marks=Marks(decimal, self.marks.thousands))

    def has_leading_zeros(self, name: str) -> bool:
        """Whether a column holds nothing but digits, somewhere with a zero too many before them."""
        cells = self.cells[name]
        if not pc.any(pc.match_substring_regex(cells, "^0[0-9]+$")).as_py():
            return False
        return bool(pc.all(pc.or_(is_missing(cells), pc.match_substring_regex(cells, "^[0-9]+$"))).as_py())

    def numbers(self, names: Sequence[str], *, aside: Collection[str] = ()) -> Numbers:
        """Columns as numbers; all columns that are not set aside tell how they are written."""
        telling = {name: cells for name, cells in self.cells.items() if name not in aside or name in names}
        return read_numbers(telling, names, marks=self.marks, dot_is_decimal=self.dot_is_decimal)


@dataclass(frozen=True, eq=False)
class Records:
    """The records of a file.

    Attributes
    ----------
    first : list of str
        The first one, a header or data.
    columns : list of Arrow arrays of strings
        The others by position, without blanks around the cells and without blank fields at the end.
    named_rows : bool
        Whether the first record lacks a field because the first column names the rows.
    """

    first: list[str]
    columns: list[Any]
    named_rows: bool

    @property
    def n_rows(self) -> int:
        """Number of records after the first."""
        return len(self.columns[0])

    def with_first(self) -> list[Any]:
        """Columns with the first record as their first cell."""
        first = [*self.first, *[""] * len(self.columns)]
        return [
            pa.chunked_array([pa.array([cell.strip()]), *column.chunks])
            for cell, column in zip(first, self.columns, strict=False)
        ]


def parse_delimited(content: bytes, marks: Marks | None = None) -> TextColumns:
    r"""Read a table with one line per row.

    Parameters
    ----------
    content : bytes
        The whole file.
    marks : Marks, optional
        What is known of the marks within numbers.

    Returns
    -------
    TextColumns

    Raises
    ------
    DataError
        If the content is empty, binary, has lines of different lengths, no rows, or column names that repeat.

    Examples
    --------
    >>> from kfrc_app.tables.delimited import parse_delimited
    >>> columns = parse_delimited(b"id;a\n007;1,5\n008;2,5\n")
    >>> columns.text("id").tolist(), columns.numbers(["a"]).values["a"].tolist()
    (['007', '008'], [1.5, 2.5])
    """
    marks = marks or Marks()
    dialect = find_dialect(content, marks)
    _refuse_second_table(dialect)
    records = read_records(dialect)
    notes = list(dialect.notes)
    if is_data(records.first) or _repeats_below(records):
        if records.named_rows:
            raise _uneven(2, len(records.columns), len(records.first), dialect.separator)
        names = [f"column_{j + 1}" for j in range(len(records.columns))]
        what = "numbers" if is_data(records.first) else "numbers, and text that occurs again below it"
        notes.append(f"the first line holds {what}, so it is data and the columns are called {_ends(names)}")
        columns = records.with_first()
    else:
        if records.n_rows == 0:
            raise DataError("the file has a header but no rows")
        numbers = [name for name in records.first if looks_like_number(name)]
        if numbers and records.first[0].strip():
            notes.append(
                "the first line was taken as names of the columns although it holds numbers such as "
                f"'{shortened(numbers[0])}': "
                "if it is data, put a line of names above it"
            )
        if records.named_rows:
            refuse_doubtful_row_names(records.columns, dialect, marks)
        records = _with_second_line(records, notes)
        names, columns = (
            _names(records, dialect.groups, notes),
            without_lines_aside(records.columns, records.first, notes),
        )
        made_up = [name for name, field in zip(names[::-1], records.first[::-1], strict=False) if not field.strip()]
        if len(names) > 1:
            blank = {name for name in {*made_up, ROW_NAMES} & {*names} if _is_blank(columns[names.index(name)])}
            columns = [column for name, column in zip(names, columns, strict=True) if name not in blank]
            names = [name for name in names if name not in blank]
        nameless = [name for name in made_up[::-1] if name and name in names]
        if nameless:
            notes.append(f"the header has no name for {counted(nameless, 'column')}, called {quoted(nameless)}")
        names, columns = without_marks(names, columns, notes)
    return TextColumns(dict(zip(names, columns, strict=True)), marks, dot_is_decimal(dialect), tuple(notes))


def _refuse_second_table(dialect: Dialect) -> None:
    """Stop at another table below a blank line, which may have another number of fields."""
    text, separator = dialect.text, dialect.separator
    if separator == NO_SEPARATOR or not re.search(rf"\n[ {re.escape(separator)}]*\n", text):
        return
    try:
        rows = list(csv.reader(io.StringIO(text), delimiter=separator, skipinitialspace=separator != " "))
    except csv.Error:  # said where the text is split
        return
    start = find_header(rows[: 2 * SEARCHED])
    header, rows = rows[start], [row for row in rows[start:] if row != rows[start]]
    refuse_second_table(rows[count_explanations(rows, len(header)) :], len(header))


def _is_blank(column: Any) -> bool:
    return bool(pc.all(pc.equal(column, "")).as_py())


def dot_is_decimal(dialect: Dialect) -> bool:
    """Whether a dot can only be a decimal mark: between commas, unless in quotation marks."""
    return dialect.separator == "," and not ('"' in dialect.text and re.search(QUOTED_DOUBTFUL, dialect.text))


def is_data(first: list[str]) -> bool:
    """Whether a first record holds numbers and gaps only; a blank first field is the corner above row names."""
    fields = [field.strip() for field in first]
    missing = is_missing(pa.array(fields)).to_pylist()
    known = [field for field, absent in zip(fields, missing, strict=True) if not absent]
    return fields[0] != "" and bool(known) and all(map(looks_like_number, known))


def _repeats_below(records: Records) -> bool:
    """Whether a first record is a row like others: numbers above numbers, and text that its column holds again."""
    fields = [field.strip() for field in records.first]
    if records.named_rows or len(fields) > len(records.columns) or not any(map(looks_like_number, fields)):
        return False
    for field, column in zip(fields, records.columns, strict=False):
        below = [cell for cell in column.slice(0, _LOOKED_AT).to_pylist() if cell]
        if looks_like_number(field):
            if not below or not all(map(looks_like_number, below)):
                return False
        elif not field or not pc.any(pc.equal(column, field)).as_py():
            return False
    return True


def read_records(dialect: Dialect) -> Records:
    """Split text into records of one width.

    Parameters
    ----------
    dialect : Dialect

    Returns
    -------
    Records

    Raises
    ------
    DataError
        If a quotation mark stays open or lines differ in length.
    """
    text, separator = dialect.text, dialect.separator
    refuse_wide_lines(text, separator)
    if text.count('"') % 2:
        _refuse_open_quote(text, separator)
    lines = io.StringIO(text)
    reader = csv.reader(iter(lines.readline, ""), delimiter=separator, skipinitialspace=separator != " ")
    row = 0
    try:
        first = next(record for record in reader if record)
        start, row = lines.tell(), 1
        second = next((record for record in reader if record), None)
    except csv.Error as error:
        raise _not_split(error, row) from None
    if second is None:
        return Records(first, [pa.chunked_array([[]], pa.string()) for _ in first], named_rows=False)
    rows = text[start:]
    if separator == NO_SEPARATOR:  # a blank line is a blank cell
        rows = re.sub("\n(?=\n)", '\n""', f"\n{rows}")[1:]
    columns = _split(rows, separator, len(second))
    if columns is None:
        columns = _split_slowly(rows, separator)
    n_blank = 0
    while n_blank < len(columns) and pc.all(pc.equal(columns[-1 - n_blank], "")).as_py():
        n_blank += 1
    width = fitting_width(first, len(columns), n_blank)
    if width is None:
        raise _uneven(1, len(columns), count_names(first), separator)
    named_rows = width == count_names(first) + 1 and len(columns) != len(first)
    return Records(first[: width - named_rows], columns[:width], named_rows)


def _split(text: str, separator: str, width: int) -> list[Any] | None:
    """Columns of cells without blanks around them; None if lines differ in length, are few or need a closer look."""
    n_lines = text.count("\n")
    differ = n_lines * width > len(text) + width  # else each cell would have an end
    if differ or n_lines * _MANY_COLUMNS < width:
        return None
    if ' "' in text and re.search(rf'(?:^|{re.escape(separator)}) +"', text, re.MULTILINE):  # Arrow keeps these marks
        return None
    uneven = []

    def refuse(row: Any) -> str:
        uneven.append(row)
        return "skip"

    names = [str(j) for j in range(width)]
    quotes = '"' in text
    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(text.encode("utf-8")),
            read_options=arrow_csv.ReadOptions(
                column_names=names,
                use_threads=False,
                block_size=max(_BLOCK_SIZE, _LINES_PER_BLOCK * text.find("\n")),
            ),
            parse_options=arrow_csv.ParseOptions(
                delimiter=separator,
                quote_char='"' if quotes else False,
                newlines_in_values=quotes,
                invalid_row_handler=refuse,
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types={name: pa.string() for name in names}, strings_can_be_null=False
            ),
        )
    except pa.ArrowInvalid:
        return None
    return None if uneven else [pc.utf8_trim_whitespace(column) for column in table.columns]


def _not_split(error: csv.Error, row: int) -> DataError:
    """Why a text has no columns; a cell that is too long is what a user can see and mend. Row 0 is the header."""
    where = f"row {row}" if row else "the header"
    if "field limit" not in str(error):
        return DataError(f"{where} cannot be split into columns: {error}")
    return DataError(
        f"a cell in {where} has more than {csv.field_size_limit():,} characters, more than one of a spreadsheet can "
        "have: shorten it, or look for a quotation mark that is not closed"
    )


def _split_slowly(text: str, separator: str) -> list[Any]:
    """The same for any lines; says which one differs."""
    reader = csv.reader(io.StringIO(text), delimiter=separator, skipinitialspace=separator != " ")
    rows: list[list[str]] = []
    try:
        rows.extend(record for record in reader if record)  # those before an error stay
    except csv.Error as error:
        raise _not_split(error, len(rows) + 1) from None
    width = Counter(len(row) for row in rows).most_common(1)[0][0]
    for k, row in enumerate(rows):
        if len(row) != width:
            raise _uneven(k + 1, len(row), width, separator)
    return [pa.chunked_array([[row[j].strip() for row in rows]], pa.string()) for j in range(width)]


def _uneven(row: int, found: int, expected: int, separator: str) -> DataError:
    fields, verb = "fields" if found > 1 else "field", "are" if expected > 1 else "is"
    return DataError(
        f"row {row} has {found} {fields} where {expected} {verb} expected: every line must have the same number "
        f"of fields (separator: {SEPARATOR_WORDS.get(separator, 'none')})"
    )


def _refuse_open_quote(text: str, separator: str) -> None:
    row = -1
    try:
        for record in csv.reader(io.StringIO(text), delimiter=separator, strict=True):
            row += bool(record)
    except csv.Error as error:
        if "end of data" in str(error):
            raise DataError(f"a quotation mark in row {row + 1} is never closed: add it or remove the first") from None
        if "field limit" in str(error):
            raise _not_split(error, row + 1) from None


def _names(records: Records, groups: Sequence[str], notes: list[str]) -> list[str]:
    names = [" ".join(name.split()) for name in records.first]
    names = [ROW_NAMES, *names] if records.named_rows else join_repeated(names, groups, notes)
    names = [name if name or j == 0 else f"column_{j + 1}" for j, name in enumerate(names)]
    names, repeated = distinct_names(names)
    notes.extend(repeated)
    return names


def _with_second_line(records: Records, notes: list[str]) -> Records:
    """Names of columns that go on in the first line below them belong to the header."""
    header = [" ".join(name.split()) for name in records.first]
    if records.named_rows or len(header) != len(records.columns) or all(header):
        return records
    rows = list(zip(*(column.slice(0, 4 * _LOOKED_AT).to_pylist() for column in records.columns), strict=True))
    if not has_second_line(header, rows):
        return records
    notes.append(f"{JOINED}: {told(rows[:1])}")
    header = join_groups(header, [" ".join(cell.split()) for cell in rows[0]])
    return replace(records, first=header, columns=[column.slice(1) for column in records.columns])


def _ends(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"
