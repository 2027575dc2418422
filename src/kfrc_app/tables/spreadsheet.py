"""Spreadsheets of Excel and LibreOffice: which sheet, where the table stands in it, and cells in their types."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import groupby
from typing import Any

import python_calamine as calamine

from kfrc_app._letters import letters
from kfrc_app.tables.cells import CellColumns, cell_text, collect_cells
from kfrc_app.tables.columns import ROW_NAMES, DataError, counted, distinct_names, in_quotes, quoted, shortened
from kfrc_app.tables.foreign import PROTECTED
from kfrc_app.tables.headings import JOINED, has_second_line, join_groups, join_repeated, names_rows
from kfrc_app.tables.layout import (
    SEARCHED,
    Row,
    count_explanations,
    count_remarks,
    find_header,
    is_blank,
    is_blank_row,
    is_value,
    n_filled,
    refuse_first_table,
    refuse_second_table,
    told,
    told_above,
    told_again,
    told_below,
    told_explanations,
)
from kfrc_app.tables.numbers import MISSING, Marks
from kfrc_app.tables.questions import Choice, OpenQuestionError, Question
from kfrc_app.tables.totals import find_totals
from kfrc_app.tables.workbook import SheetFacts, inspect_workbook

TRUTHS = ("FALSE", "TRUE")
"""What spreadsheets call truth values."""

_SPAN = re.compile(r"PT([0-9]+)H([0-9]+)M([0-9]+(?:[.,][0-9]+)?)S")
_LOOKED_AT = 200  # rows that tell whether a line belongs to the names
Grid = list[list[Any]]


@dataclass(frozen=True)
class Sheet:
    """A sheet of a workbook.

    Attributes
    ----------
    name : str
    rows : list of rows
        Without blank lines above them.
    notes : tuple of str
    """

    name: str
    rows: Grid
    notes: tuple[str, ...] = ()


def parse_spreadsheet(content: bytes, marks: Marks | None = None, sheet: str | None = None) -> CellColumns:
    """Read a table from a spreadsheet.

    Parameters
    ----------
    content : bytes
        An xlsx, xls or ods file.
    marks : Marks, optional
        What is known of the marks within numbers that are text.
    sheet : str, optional
        The sheet to read; needed if several hold something.

    Returns
    -------
    CellColumns

    Raises
    ------
    DataError
        If the file is damaged or protected, holds no table, or several.
    """
    found = read_sheet(content, sheet)
    return table_of(found, marks or Marks())


def read_sheet(content: bytes, sheet: str | None = None) -> Sheet:
    """The cells of the one sheet that is meant.

    Raises
    ------
    DataError
        If the file is damaged or protected, or several sheets hold something and none was named.
    """
    facts = inspect_workbook(content)
    try:
        workbook = calamine.CalamineWorkbook.from_filelike(io.BytesIO(content))
        sheets = [found for found in workbook.sheets_metadata if found.typ == calamine.SheetTypeEnum.WorkSheet]
        if sheet is not None:
            name = _named(sheet, [found.name for found in sheets])
            known = facts.get(name, SheetFacts())
            return Sheet(name, _cells(workbook, name, known), tuple(_facts_told(known)))
        filled: dict[str, Grid] = {}
        hidden = []
        for found in sheets:
            rows = _cells(workbook, found.name, facts.get(found.name, SheetFacts()))
            if all(map(is_blank_row, rows)):
                continue
            if found.visible == calamine.SheetVisibleEnum.Visible:
                filled[found.name] = rows
            else:
                hidden.append((found.name, rows))
    except DataError:
        raise
    except calamine.PasswordError:
        raise DataError(PROTECTED) from None
    except (calamine.CalamineError, calamine.XmlError, calamine.ZipError, OSError, ValueError) as error:
        raise DataError(f"the spreadsheet cannot be read, it seems to be damaged ({error}): save it again") from None
    except BaseException as error:  # what the reader itself did not foresee is no ordinary exception
        if type(error).__name__ != "PanicException":
            raise
        raise DataError("the spreadsheet cannot be read, it seems to be damaged: save it again") from None
    notes: list[str] = []
    if not filled and len(hidden) == 1:
        filled = dict(hidden)
        notes.append(
            f"the sheet {in_quotes(hidden[0][0])} is hidden and was read, as it is the only one that holds something"
        )
    if not filled:
        raise DataError("the spreadsheet holds no table: all sheets that can be seen are blank")
    tables = {name: rows for name, rows in filled.items() if looks_like_table(rows)} or filled
    if len(tables) > 1:
        names = list(tables)
        asked = f"the spreadsheet has {len(names)} sheets with tables, {quoted(names, 10)}"
        raise OpenQuestionError(
            f"{asked}: say which is meant, such as --sheet {in_quotes(names[0])}",
            Question(
                f"{asked}: which is meant?", tuple(Choice(f"sheet {in_quotes(name)}", sheet=name) for name in names)
            ),
        )
    name, rows = next(iter(tables.items()))
    others = [other for other in filled if other != name]
    if others:
        notes.append(
            f"sheet {in_quotes(name)} was read; {quoted(others)} hold{'' if len(others) > 1 else 's'} no table"
        )
    if hidden and name not in dict(hidden):
        notes.append(f"hidden sheets are not read: {quoted([other for other, _ in hidden])}")
    return Sheet(name, rows, (*notes, *_facts_told(facts.get(name, SheetFacts()))))


def _facts_told(facts: SheetFacts) -> list[str]:
    notes = []
    if facts.n_errors:
        notes.append(f"{facts.n_errors} cell(s) of the sheet hold an error such as #N/A and are taken as missing")
    if facts.n_without_result:
        notes.append(
            f"{facts.n_without_result} cell(s) hold a formula without its result and are taken as missing: open the "
            "file in Excel or LibreOffice and save it, so that the results are stored"
        )
    if facts.hidden:
        hidden = [letters(j) for j in facts.hidden]
        notes.append(f"hidden columns of the sheet are read as well: {quoted(hidden)}; --drop leaves columns out")
    return notes


def names_of_sheets(content: bytes) -> tuple[str, ...]:
    """The sheets of a workbook, blank and hidden ones among them."""
    workbook = calamine.CalamineWorkbook.from_filelike(io.BytesIO(content))
    return tuple(found.name for found in workbook.sheets_metadata if found.typ == calamine.SheetTypeEnum.WorkSheet)


_MIN_ROWS = 4  # names and three rows; a sheet with fewer is a remark rather than a table


def looks_like_table(rows: Grid) -> bool:
    """Whether a sheet holds several columns and rows, rather than remarks."""
    rows = rows[: 2 * SEARCHED]
    return sum(n_filled(row) > 1 for row in rows) >= _MIN_ROWS or (
        all(n_filled(row) <= 1 for row in rows) and sum(is_value(cell) for row in rows for cell in row) >= _MIN_ROWS - 1
    )


def _named(sheet: str, names: Sequence[str]) -> str:
    if sheet in names:
        return sheet
    close = [name for name in names if name.strip().lower() == sheet.strip().lower()]
    if len(close) == 1:
        return close[0]
    raise DataError(f"the spreadsheet has no sheet {in_quotes(sheet)}: it has {quoted(names, 10)}")


def _cells(workbook: Any, name: str, facts: SheetFacts) -> Grid:
    """Cells of a sheet without blank lines above them; what is merged down a column holds in all its rows."""
    sheet = workbook.get_sheet_by_name(name)
    rows: Grid = [[_cell(cell) for cell in row] for row in sheet.to_python(skip_empty_area=False)]
    for (top, left), (bottom, right) in (*(sheet.merged_cell_ranges or ()), *facts.merged):
        if top < len(rows) and left == right < len(rows[top]):  # as names of groups of rows are
            for k in range(top + 1, min(bottom + 1, len(rows))):
                rows[k][left] = rows[top][left]
    first = next((k for k, row in enumerate(rows) if not is_blank_row(row)), 0)
    return rows[first:]


def _cell(cell: Any) -> Any:
    """A cell; nothing instead of blank text, and a span of a day or more, which LibreOffice writes in letters."""
    if not isinstance(cell, str):
        return cell
    span = _SPAN.fullmatch(cell) if cell.startswith("PT") else None
    if span is None:
        return cell or None
    return timedelta(hours=int(span[1]), minutes=int(span[2]), seconds=float(span[3].replace(",", ".")))


def without_blank_columns(rows: Grid, notes: list[str]) -> Grid:
    """Cells without the columns in which there is nothing, and without what stands beside the table.

    Behind a blank column, cells that have no names in the line of the names are calculations or remarks. A block of
    named columns belongs to the table, with a note.

    Raises
    ------
    DataError
        If these separate blocks of columns that end in different lines, as tables beside each other do.
    """
    width = max(map(len, rows), default=0)
    downward = range(len(rows) - 1, -1, -1)
    last = [next((k for k in downward if not is_blank(rows[k][j])), -1) for j in range(width)]
    blocks = [[j for j, _ in found] for filled, found in groupby(enumerate(last), lambda at: at[1] >= 0) if filled]
    if len(blocks) == 1:
        return rows if len(blocks[0]) == width else [[row[j] for j in blocks[0]] for row in rows]
    tables = [block for block in blocks if sum(n_filled([row[j] for j in block]) > 1 for row in rows) >= _MIN_ROWS]
    if len({max(last[j] for j in block) for block in tables}) > 1:
        raise DataError(
            "there seem to be two tables beside each other, with a blank column between them: put every table into a "
            "sheet of its own"
        )
    header = rows[find_header([[row[j] for block in blocks for j in block] for row in rows[: 2 * SEARCHED]])]
    table, beside = blocks[:1], blocks[:0]
    for block in blocks[1:]:
        (table if n_filled([header[j] for j in block]) else beside).append(block)
    if n_filled([header[j] for block in table for j in block]) < 2:
        table, beside = blocks, []
    if beside:
        cells = [[row[j] for block in beside for j in block] for row in rows]
        notes.append(f"left out cells beside the table, behind a blank column: {told(cells)}")
    tables = [block for block in table if n_filled([header[j] for j in block]) > 1]
    if len(tables) > 1:
        ends = [cell_text(next(header[j] for j in block if not is_blank(header[j])), TRUTHS) for block in tables[1:]]
        notes.append(f"a blank column stands before {quoted(ends)}: if another table begins there, move it to a sheet")
    return [[row[j] for block in table for j in block] for row in rows]


def table_of(sheet: Sheet, marks: Marks) -> CellColumns:
    """Columns of a sheet, and what was left out around them.

    Parameters
    ----------
    sheet : Sheet
    marks : Marks

    Returns
    -------
    CellColumns

    Raises
    ------
    DataError
        If there are no rows, names repeat, or a second table follows.
    """
    notes = list(sheet.notes)
    rows = without_blank_columns(sheet.rows, notes)
    start = find_header(rows[: 2 * SEARCHED])
    titles = [row for row in rows[:start] if n_filled(row)]
    if titles:
        refuse_first_table(titles, rows[start])
        notes.append(told_above(titles))
    rows = rows[start:]
    width = max(map(len, rows), default=0)
    if _is_data(rows[0]):
        names = [f"column_{j + 1}" for j in range(width)]
        ends = names[0] if width == 1 else f"{names[0]} to {names[-1]}"
        notes.append(f"the first line holds numbers, so it is data and the columns are called {ends}")
    else:
        numbers = [cell_text(cell, TRUTHS) for cell in rows[0] if not is_blank(cell) and is_value(cell)]
        if numbers and not is_blank(rows[0][0]):
            notes.append(
                "the first line was taken as names of the columns although it holds numbers such as "
                f"'{shortened(numbers[0])}': "
                "if it is data, put a line of names above it"
            )
        header, rows = [" ".join(cell_text(cell, TRUTHS).split()) for cell in rows[0]], _without_header(rows, notes)
        grouped = any(n_filled(title) > 1 for title in titles[-1:])
        header, rows = _with_second_line(header, rows, notes, grouped=grouped)
        names = _names(header, titles[-1:], notes)
    rows = _without_surroundings(rows, width, notes)
    if not rows:
        raise DataError("the sheet has names of columns but no rows")
    columns = {name: [row[j] for row in rows] for j, name in enumerate(names)}
    for name in [name for name, cells in columns.items() if name == "" and all(map(is_blank, cells))]:
        del columns[name]
    return collect_cells(columns, marks=marks, truths=TRUTHS, noticed=notes)


def _without_surroundings(rows: Grid, width: int, notes: list[str]) -> Grid:
    """Rows without units and questions above them, remarks and totals below, and blank lines between them."""
    explaining = count_explanations(rows, width)
    if explaining:
        notes.append(told_explanations(rows[:explaining]))
    rows = rows[explaining:]
    remarks = count_remarks(rows, width)
    rows, below = (rows[:-remarks], rows[-remarks:]) if remarks else (rows, [])
    below = [row for row in below if n_filled(row)]
    if below:
        notes.append(told_below(below))
    refuse_second_table(rows, width)
    filled = [row for row in rows if not is_blank_row(row)]
    totals, said = find_totals(filled, width) if filled else ([], [])
    notes.extend(said)
    if len(filled) < len(rows):
        notes.append(f"left out {len(rows) - len(filled)} blank line(s)")
    return [row for k, row in enumerate(filled) if k not in totals] if totals else filled


def _without_header(rows: Grid, notes: list[str]) -> Grid:
    """The rows below the first line, without those that repeat it, as where tables were put together."""
    kept = [row for row in rows[1:] if row != rows[0]]
    if len(kept) < len(rows) - 1 and n_filled(rows[0]) > 1:
        notes.append(told_again(len(rows) - 1 - len(kept)))
        return kept
    return rows[1:]


def _is_data(first: Row) -> bool:
    """Whether a first line holds values and gaps only; a blank first cell is the corner above names of rows."""
    known = [cell for cell in first if not is_blank(cell) and str(cell).strip() not in MISSING]
    return not is_blank(first[0]) and bool(known) and all(map(is_value, known))


def _with_second_line(header: list[str], rows: Grid, notes: list[str], *, grouped: bool) -> tuple[list[str], Grid]:
    """Names of columns that go on in the first line below them, and the rows without it."""
    if has_second_line(header, rows[:_LOOKED_AT]):
        notes.append(f"{JOINED}: {told(rows[:1])}")
        return join_groups(header, [" ".join(cell_text(cell, TRUTHS).split()) for cell in rows[0]]), rows[1:]
    if grouped and names_rows(header, rows):
        return [cell_text(rows[0][0], TRUTHS), *header[1:]], rows[1:]
    return header, rows


def _names(names: list[str], above: Sequence[Row], notes: list[str]) -> list[str]:
    """Names of the columns: with what stands above them where they repeat, and made up where there are none."""
    names = join_repeated(names, [" ".join(cell_text(cell, TRUTHS).split()) for row in above for cell in row], notes)
    nameless = [f"column_{j + 1}" for j, name in enumerate(names) if not name and j]
    names = [name if name or j == 0 else f"column_{j + 1}" for j, name in enumerate(names)]
    if nameless:
        notes.append(f"the header has no name for {counted(nameless, 'column')}, called {quoted(nameless)}")
    if len(names) == 1 and names[0] == ROW_NAMES:
        names = ["column_1"]
    names, repeated = distinct_names(names)
    notes.extend(repeated)
    return names
