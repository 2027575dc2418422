"""A square matrix of dissimilarities in a file, with or without names of its rows and columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kfrc_app.tables.cells import cell_text, collect_cells
from kfrc_app.tables.columns import Columns, DataError
from kfrc_app.tables.delimited import Records, TextColumns, dot_is_decimal, is_data, read_records
from kfrc_app.tables.dialect import find_dialect
from kfrc_app.tables.formats import is_spreadsheet, open_file
from kfrc_app.tables.layout import find_header
from kfrc_app.tables.numbers import Marks
from kfrc_app.tables.parquet import MAGIC, parse_parquet
from kfrc_app.tables.spreadsheet import TRUTHS, Sheet, read_sheet, without_blank_columns
from kfrc_app.tables.table import MIN_ROWS, read_bytes


@dataclass(frozen=True)
class Dissimilarities:
    """A square matrix and the names of its rows.

    Attributes
    ----------
    matrix : DataFrame of shape (n_rows, n_rows)
    ids : ndarray of shape (n_rows,)
    notes : tuple of str
    """

    matrix: pd.DataFrame
    ids: NDArray[Any]
    notes: tuple[str, ...]


def read_dissimilarities(source: str, *, marks: Marks | None = None, sheet: str | None = None) -> Dissimilarities:
    """Read an n × n matrix, with or without a header and a column of names.

    Parameters
    ----------
    source : str
    marks : Marks, optional
        What is known of the marks within numbers.
    sheet : str, optional
        The sheet of a spreadsheet, or the file in an archive.

    Returns
    -------
    Dissimilarities

    Raises
    ------
    DataError
        If the file is not a complete square matrix of numbers, or a number can be read in two ways.
    """
    found = _find(read_bytes(source), marks or Marks(), sheet)
    columns = found.columns
    if columns.n_rows == 0:
        raise DataError("the file has a header but no rows")
    inside = [name for name in columns.names if name != found.row_names]
    if columns.n_rows != len(inside):
        raise DataError(
            f"a dissimilarity matrix has as many rows as columns, this file has {columns.n_rows} rows and "
            f"{len(inside)} columns: for a table of measurements leave out --dissimilarity"
        )
    numbers = columns.numbers(inside, aside=set(columns.names) - set(inside))
    if numbers.text:
        wrong = next(iter(numbers.text.values()))
        raise DataError(
            f"{len(numbers.text)} column(s) of the dissimilarity matrix hold text instead of numbers, such as "
            f"{wrong.place}"
        )
    values = np.column_stack([numbers.values[name] for name in inside])
    n_missing = int(np.isnan(values).sum())
    if n_missing:
        raise DataError(f"the dissimilarity matrix has {n_missing} missing entries: all are needed")
    if len(values) < MIN_ROWS:
        raise DataError(f"the dissimilarity matrix has {len(values)} row(s): at least {MIN_ROWS} are needed")
    ids = found.header if found.row_names is None else columns.text(found.row_names).tolist()
    matrix = pd.DataFrame(values)
    if ids is not None:
        matrix.index, matrix.columns = pd.Index(ids), pd.Index(found.header or ids)
    else:
        ids = [str(k + 1) for k in range(len(values))]
    return Dissimilarities(matrix, np.array(ids, dtype=object), (*columns.noticed, *numbers.notes_on(inside)))


@dataclass(frozen=True)
class _Found:
    """Columns, which of them names the rows, and what the header calls the others."""

    columns: Columns
    row_names: str | None
    header: list[str] | None


def _find(content: bytes, marks: Marks, sheet: str | None) -> _Found:
    content, sheet = open_file(content, sheet)
    if is_spreadsheet(content):
        return _in_sheet(read_sheet(content, sheet), marks)
    return _typed(content) if content[:4] == MAGIC else _delimited(content, marks)


def _in_sheet(sheet: Sheet, marks: Marks) -> _Found:
    """The same for cells of a spreadsheet; lines above the matrix are left out."""
    rows = without_blank_columns(sheet.rows, [])
    rows = rows[find_header(rows) :]
    has_header = _is_header([cell_text(cell) for cell in rows[0]], len(rows[0]), len(rows))
    cells = rows[1:] if has_header else rows
    numbered = {str(j): [row[j] for row in cells] for j in range(len(rows[0]))}
    columns = collect_cells(numbered, marks=marks, truths=TRUTHS, noticed=sheet.notes)
    named = len(columns.names) == columns.n_rows + 1
    header = [_tidy(cell_text(cell)) for cell in rows[0]][int(named) :] if has_header else None
    return _Found(columns, "0" if named else None, header)


def _typed(content: bytes) -> _Found:
    columns = parse_parquet(content)
    text = list(columns.numbers(columns.names).text)
    text = list(columns.row_names) or text
    row_names = text[0] if len(text) == 1 and len(columns.names) == columns.n_rows + 1 else None
    header = None if row_names is None else [name for name in columns.names if name != row_names]
    return _Found(columns, row_names, header)


def _delimited(content: bytes, marks: Marks) -> _Found:
    dialect = find_dialect(content, marks)
    records = read_records(dialect)
    has_header = _has_header(records)
    cells = records.columns if has_header else records.with_first()
    # Positions as names: those of the matrix may repeat.
    numbered = {str(j): column for j, column in enumerate(cells)}
    columns = TextColumns(numbered, marks, dot_is_decimal(dialect), dialect.notes)
    named = len(columns.names) == columns.n_rows + 1
    header = [*map(_tidy, records.first)][-(len(cells) - named) :] if has_header else None
    return _Found(columns, "0" if named else None, header)


def _tidy(name: str) -> str:
    """A name as a table of new rows has it: single blanks between its words."""
    return " ".join(name.split())


def _has_header(records: Records) -> bool:
    return records.named_rows or _is_header(records.first, len(records.columns), records.n_rows + 1)


def _is_header(first: list[str], width: int, n_records: int) -> bool:
    """A header shows by a name in it. If the names are numbers, the shape tells, or the corner above row names."""
    has_corner = n_records == width and not is_data(first[:1])
    return not is_data(first[1:] or first) or n_records == width + 1 or has_corner
