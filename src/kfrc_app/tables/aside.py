"""Lines of a text file that have the width of its table but are no rows: units, questions, totals, blank ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from kfrc_app.tables.layout import count_explanations, is_name, is_value, told_again, told_explanations
from kfrc_app.tables.totals import LONGEST, find_totals, is_searched

_NAMING = 3  # columns at the beginning that may name a row
_LOOKED_AT = 204  # records at the top that tell whether the first of them are units


def without_lines_aside(columns: list[Any], header: Sequence[str], notes: list[str]) -> list[Any]:
    """Columns without the cells of lines that are no rows.

    Parameters
    ----------
    columns : list of Arrow arrays of strings
        One or more; all of the same length.
    header : sequence of str
        The fields of the first line: where they stand again, files were put together.
    notes : list of str
        Added to.

    Returns
    -------
    list of Arrow arrays of strings
    """
    columns = _without_blank_lines(_without_header(columns, header, notes), notes)
    # A line that explains holds no value at all: most tables tell by their first row.
    holds_values = any(is_value(cell) for row in _rows(columns, 0, 1) for cell in row)
    first = [] if holds_values else _rows(columns, 0, _LOOKED_AT)
    start = count_explanations(first, len(columns))
    if start:
        notes.append(told_explanations(first[:start]))
    columns = [column.slice(start) for column in columns] if start else columns
    return _without_totals(columns, notes) if len(columns[0]) else columns


def _without_totals(columns: list[Any], notes: list[str]) -> list[Any]:
    n_rows = len(columns[0])
    first = _rows(columns[:_NAMING], 0, n_rows) if n_rows <= LONGEST else []
    if not is_searched(first, _rows(columns, n_rows - 1, 1)[0]):
        return columns
    totals, said = find_totals(_rows(columns, 0, n_rows), len(columns))
    notes.extend(said)
    if not totals:
        return columns
    kept = pa.array([k not in {*totals} for k in range(n_rows)])
    return [column.filter(kept) for column in columns]


def _without_blank_lines(columns: list[Any], notes: list[str]) -> list[Any]:
    """Columns without lines that hold nothing but separators: at the end, and between rows that all have a name.

    Elsewhere such a line is a row of which nothing is known, and in a single column a blank is a missing value.
    """
    blank = None
    for column in columns if len(columns) > 1 else ():
        same = pc.equal(column, "")
        blank = same if blank is None else pc.and_(blank, same)
        if not pc.any(blank).as_py():  # in the first column already, as a rule
            return columns
    if blank is None:
        return columns
    kept = pc.invert(blank)
    first = next((column for column in columns if not pc.all(pc.equal(column, "")).as_py()), columns[0])
    if not all(map(is_name, first.filter(kept).slice(0, _LOOKED_AT).to_pylist())):
        last = pc.max(pc.indices_nonzero(kept)).as_py()
        kept = pa.array([k <= (-1 if last is None else last) for k in range(len(kept))])
    n_blank = len(kept) - (pc.sum(pc.cast(kept, pa.int64())).as_py() or 0)
    if n_blank:
        notes.append(f"left out {n_blank} blank line(s)")
    return [column.filter(kept) for column in columns]


def _without_header(columns: list[Any], header: Sequence[str], notes: list[str]) -> list[Any]:
    again = None
    for column, field in zip(columns, header, strict=False):
        same = pc.equal(column, field.strip())
        again = same if again is None else pc.and_(again, same)
        if not pc.any(again).as_py():  # in the first column already, as a rule
            return columns
    if again is None or len(header) < len(columns) or len(columns) == 1:
        return columns
    count = pc.sum(pc.cast(again, pa.int64())).as_py()
    notes.append(told_again(count))
    return [column.filter(pc.invert(again)) for column in columns]


def _rows(columns: list[Any], start: int, count: int) -> list[tuple[str, ...]]:
    return list(zip(*(column.slice(start, count).to_pylist() for column in columns), strict=True))
