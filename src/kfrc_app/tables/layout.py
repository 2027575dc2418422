"""Where a table stands within a sheet or a text: titles above it, units below its names, remarks and totals at its end.

People write tables to be read by people. What is no part of the table is left out, and every time that is said.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import date, time, timedelta
from typing import Any

import pyarrow as pa

from kfrc_app.tables.columns import DataError, counted, quoted, shortened
from kfrc_app.tables.dates import NotDates, read_dates
from kfrc_app.tables.dressing import may_be_dressed, undress
from kfrc_app.tables.levels import number_name
from kfrc_app.tables.numbers import MISSING, looks_like_number

Row = Sequence[Any]
"""Cells of a line: text, or values that a spreadsheet holds; None and blank text are nothing."""

SEARCHED = 40
"""Lines at the top in which the names of the columns are looked for."""

_WIDE_SHARE = 0.6
"""Share of the usual number of cells from which on a line may hold the names: some columns may have none."""

_NARROW = 3  # columns up to which a line of names must be complete
_MAX_EXPLANATIONS = 3  # lines below the names that may hold units, questions or codes
_LOOKED_AT = 200  # rows that tell whether a column holds values
_LONGEST_VALUE = 60  # characters of a number or a date
_SHOWN = 3  # cells or lines in a note
REMARK = re.compile(
    r"^\W*(?:sources?|notes?|quellen?|anmerkung(?:en)?|hinweise?|fuente|nota|remarques?|legende?|copyright)\b\W|"
    r"^(?:[*†‡©!]|\(c\))|^\(?\d+ rows?\b",
    re.IGNORECASE,
)
"""How remarks below a table begin."""

TOTAL_WORDS = (
    r"(?:(?:grand |sub-?|overall )?(?:totals?|sums?|averages?|means?|avg)|(?:zwischen)?summen?|"
    r"gesamt(?:summe|ergebnis)?|insgesamt|mittelwerte?|durchschnitt|total general|totaux|sommes?|moyennes?|ensemble|"
    r"suma|promedio|totale|media|totaal|gemiddelde|summa|medelvärde|i alt|yhteensä|razem|итого|всего)"
)
"""How a sum or a mean is called, as a regular expression."""

_CALLED_TOTAL = re.compile(rf"(?i)^\W*{TOTAL_WORDS}\b|(?:^|\s){TOTAL_WORDS}\W*$")
_PROSE = re.compile(r"\S\s\S")
_WORDS = 3  # of a name at most, if no other has more
_LONG = 40  # characters of a remark, unlike a name
_UNIT = re.compile(
    r"[\[(].*[\])]|%|‰|°?[cfk]|[kmcdµμn]?(?:g|m|l|s|w|v|a|hz|pa|j|mol|cal)|h|min|sec|hrs?|d|days?|years?|yrs?|kg/m[2²]|"
    r"[cmk]?m[²³23]|km/h|m/s|[mµμn]?g/[dmµμ]?l|[mµμn]?mol/l|mmhg|bpm|pp[mb]|eur|usd|€|\$|£|text|numeric|number|integer|date",
    re.IGNORECASE,
)


def is_blank(cell: Any) -> bool:
    """Whether a cell holds nothing."""
    return cell is None or (isinstance(cell, str) and not cell.strip())


def is_blank_row(row: Row) -> bool:
    """Whether a line holds nothing; most lines tell by their first cell."""
    return all(map(is_blank, row))


def n_filled(row: Row) -> int:
    """How many cells of a line hold something."""
    return sum(not is_blank(cell) for cell in row)


def is_value(cell: Any) -> bool:
    """Whether a cell holds a number, a date or a truth value, also as text.

    Examples
    --------
    >>> from kfrc_app.tables.layout import is_value
    >>> [is_value(cell) for cell in (1.5, "1,5", "€ 5", "12.03.2024", "cm", "", "NA")]
    [True, True, True, True, False, False, False]
    """
    if not isinstance(cell, str):
        return isinstance(cell, (int, float, date, time, timedelta))
    text = cell.strip()
    if len(text) > _LONGEST_VALUE or text in MISSING or not any(map(str.isdigit, text)):
        return text.lower() in ("true", "false")
    if looks_like_number(text):
        return True
    if may_be_dressed(text) and (undress(pa.array([text, "1"])) or undress(pa.array([text]))):
        return True
    found = read_dates([text])
    return not isinstance(found, NotDates) or found.doubtful


def is_name(cell: Any) -> bool:
    """Whether a cell holds text that is neither a value nor a mark for a missing one."""
    return isinstance(cell, str) and bool(cell.strip()) and cell.strip() not in MISSING and not is_value(cell)


def is_called_total(cell: Any) -> bool:
    """Whether a cell is called a total: by such a word alone, before what it sums up, or behind it (North Total)."""
    return isinstance(cell, str) and _CALLED_TOTAL.search(cell.strip()) is not None


def find_header(rows: Sequence[Row]) -> int:
    """The line that holds the names of the columns, or the first row of data.

    That is the first line with about as many cells as most lines have; titles have fewer.

    Parameters
    ----------
    rows : sequence of rows
        The first ones of the sheet or text; blank ones among them.

    Returns
    -------
    int

    Examples
    --------
    >>> from kfrc_app.tables.layout import find_header
    >>> find_header([["Report", "", ""], ["", "", ""], ["name", "a", "b"], ["x", "1", "2"], ["y", "3", "4"]])
    2
    """
    fills = [n_filled(row) for row in rows]
    usual = _usual(fills)
    if usual < 2 or _is_one_column(rows, fills):
        return next((k for k, fill in enumerate(fills) if fill), 0)
    wide = [k for k, row in enumerate(rows[:SEARCHED]) if _may_be_names(row, fills[k], usual)]
    if not wide:
        return next(k for k, fill in enumerate(fills) if fill)
    first = wide[0]
    if not _are_names(rows[first]):  # such as "created", 2024-01-01 above a table of two columns
        for k in wide[1:]:
            if fills[k - 1] == 0 and _are_names(rows[k]) and len(rows) - k > k:
                return k
    if fills[first] < usual:  # such as "author", "Ann" above a table of three
        full = next((k for k in wide if fills[k] >= usual), first)
        below = rows[full + 1 :]
        below = below[count_explanations(below, len(rows[full])) :]
        values = [j for j, cell in enumerate(rows[full]) if not is_blank(cell) and holds_values(below, j)]
        if _are_names(rows[full]) and (values or fills[full - 1] == 0) and not _stands_again(rows[full], below):
            return full
    return first


def _is_one_column(rows: Sequence[Row], fills: Sequence[int]) -> bool:
    """Whether most lines hold a single value, and those with more are no names: remarks stand beside some values."""
    wide = [row for row, fill in zip(rows, fills, strict=True) if fill > 1]
    n_values = sum(any(map(is_value, row)) for row, fill in zip(rows, fills, strict=True) if fill == 1)
    return n_values > len(wide) and not any(map(_are_names, wide))


def _stands_again(row: Row, below: Sequence[Row]) -> bool:
    """Whether a column holds a cell of a line again, as levels do and names of columns do not."""
    return any(
        not is_blank(cell) and any(j < len(other) and other[j] == cell for other in below) for j, cell in enumerate(row)
    )


def _may_be_names(row: Row, fill: int, usual: int) -> bool:
    """Whether a line has about as many cells as most lines have."""
    if usual > _NARROW:
        begin = next((j for j, cell in enumerate(row) if not is_blank(cell)), 0)
        has_corner = begin > 0 and fill > 1 and begin + fill == usual == len(row)  # above several columns of names
        return fill >= math.ceil(_WIDE_SHARE * usual) or (has_corner and _are_names(row))
    has_corner = len(row) > 1 and is_blank(row[0]) and not is_blank(row[1])  # above the names of rows
    return fill >= usual or (fill == usual - 1 and (has_corner or (fill > 1 and _are_names(row))))


def _usual(fills: Sequence[int]) -> int:
    """How many cells most lines have; the larger number if two are as frequent."""
    counts = Counter(fill for fill in fills if fill > 1) or Counter(fill for fill in fills if fill)
    return max(counts, key=lambda fill: (counts[fill], fill), default=0)


def _are_names(row: Row) -> bool:
    return all(is_blank(cell) or is_name(cell) for cell in row)


def count_explanations(rows: Sequence[Row], width: int) -> int:
    """How many lines below the names hold no data but units, questions or codes.

    They hold text in columns that have nothing but values further down: in two such columns or more, or units; or in
    one, beside text that is not among the levels that repeat in another.

    Parameters
    ----------
    rows : sequence of rows
        Those below the names.
    width : int
        Number of columns.

    Examples
    --------
    >>> from kfrc_app.tables.layout import count_explanations
    >>> count_explanations([["", "cm"], ["Ann", "170"], ["Bob", "180"]], 2)
    1
    >>> count_explanations([["Ann", "absent"], ["Bob", "5"], ["Cy", "6"]], 2)
    0
    """
    most = min(_MAX_EXPLANATIONS, len(rows) - 2)
    # Most tables end here: a line that explains holds no value at all.
    most = next((k for k, row in enumerate(rows[: max(most, 0)]) if any(map(is_value, row))), most)
    for count in range(most, 0, -1):
        below = rows[count : count + _LOOKED_AT]
        measured = [j for j in range(width) if holds_values(below, j)]
        levels = {j: _levels(below, j) for j in range(width)} if len(measured) == 1 else {}
        if all(_explains(row, measured) or _is_no_row(row, measured, levels) for row in rows[:count]):
            return count
    return 0


def _levels(rows: Sequence[Row], j: int) -> set[str]:
    """What stands in a column, if it repeats as levels do: twice each on average."""
    cells = [str(row[j]).strip() for row in rows if j < len(row) and not is_blank(row[j])]
    return {*cells} if 2 * len({*cells}) <= len(cells) else set()


def _is_no_row(row: Row, measured: Sequence[int], levels: Mapping[int, set[str]]) -> bool:
    """Whether a line differs from all rows below it: text above values, and in every column that has levels another."""
    cells = {j: str(cell).strip() for j, cell in enumerate(row) if not is_blank(cell)}
    named = [j for j in cells if levels.get(j)]
    return (
        bool(named)
        and all(j in cells and is_name(cells[j]) for j in measured)
        and all(cells[j] not in levels[j] for j in named)
    )


def holds_values(rows: Sequence[Row], j: int) -> bool:
    """Whether all cells of a column that are known hold values, and some are known."""
    known = [row[j] for row in rows if j < len(row) and not is_blank(row[j]) and str(row[j]).strip() not in MISSING]
    return bool(known) and all(map(is_value, known))


def _explains(row: Row, measured: Sequence[int]) -> bool:
    cells = [row[j] for j in measured if j < len(row) and not is_blank(row[j])]
    if not cells or not all(is_name(cell) for cell in cells):
        return False
    return are_units(cells) or (len(cells) > 1 and 2 * len(cells) >= len(measured))


def are_units(cells: Row) -> bool:
    """Whether cells hold nothing but units.

    Examples
    --------
    >>> from kfrc_app.tables.layout import are_units
    >>> are_units(["cm", "kg"]), are_units(["size", "kg"])
    (True, False)
    """
    return all(_UNIT.fullmatch(str(cell).strip()) for cell in cells)


def count_remarks(rows: Sequence[Row], width: int) -> int:
    """How many lines at the end are remarks below the table, the blank lines before them included.

    A remark is a single cell of text after a blank line, one that begins as remarks do, or one with a colon that no
    name above it has. Below a table of three columns or more it may also be longer than any name above it.

    Examples
    --------
    >>> from kfrc_app.tables.layout import count_remarks
    >>> count_remarks([["Ann", "1", "2"], ["Bob", "3", "4"], ["", "", ""], ["Source: office", "", ""]], 3)
    2
    """
    last = len(rows) - 1
    while last > 0 and (n_filled(rows[last]) == 0 or _is_remark(rows, last, width)):
        last -= 1
    return len(rows) - 1 - last


def _is_remark(rows: Sequence[Row], k: int, width: int) -> bool:
    cells = [cell for cell in rows[k] if not is_blank(cell)]
    if len(cells) != 1 or width < 2 or not is_name(cells[0]):
        return False
    text = cells[0].strip()
    if _is_apart(rows, k) or REMARK.search(text):
        return True
    if not _PROSE.search(text):
        return False
    # A row of which only a name is known looks the same; but names are not that long, and rows are whole lines.
    j = next(j for j, cell in enumerate(rows[k]) if not is_blank(cell))
    names = [str(row[j]) for row in rows[:k] if j < len(row) and n_filled(row) > 1]
    if len(rows[k]) < width or (names and ": " in text and not any(": " in name for name in names)):
        return True
    if width < _NARROW:
        return False
    n_words = max((len(name.split()) for name in names), default=0)
    longest = max(map(len, names), default=0)
    return len(text.split()) > max(_WORDS, n_words) or len(text) > max(_LONG, 2 * longest)


def _is_apart(rows: Sequence[Row], k: int) -> bool:
    """Whether lines with a single cell or less, one of them blank, lead up to a line."""
    for row in reversed(rows[:k]):
        fill = n_filled(row)
        if fill != 1:
            return fill == 0
    return False


def told(rows: Sequence[Row]) -> str:
    """Lines for a note: what stands in the first ones."""
    found = (cell for row in rows for cell in row if not is_blank(cell))
    texts = (number_name(cell) if isinstance(cell, float) else str(cell) for cell in found)
    cells = [shortened(" ".join(text.split())) for text in texts]
    return quoted(cells, _SHOWN)


def told_above(rows: Sequence[Row]) -> str:
    """A note of lines above the table that are left out."""
    return f"left out {counted(rows, 'line')} above the table: {told(rows)}"


def told_below(rows: Sequence[Row]) -> str:
    """A note of lines below the table that are left out."""
    return f"left out {counted(rows, 'line')} below the table: {told(rows)}"


def told_explanations(rows: Sequence[Row]) -> str:
    """A note of lines below the names that are left out."""
    if len(rows) == 1:
        return f"the line below the names of the columns explains them and is left out: {told(rows)}"
    return f"the {len(rows)} lines below the names of the columns explain them and are left out: {told(rows)}"


def refuse_second_table(rows: Sequence[Row], width: int) -> None:
    """Stop if another line of names follows a blank line, or a title below one, or a summary that is no row.

    Names of another table stand below the values of two columns or more, or of one, if what follows them is as narrow
    as they are and holds values. A single name stands below values or below nothing but names. A summary has names
    below values in all its lines.

    Parameters
    ----------
    rows : sequence of rows
        Those below the names of the columns, and below lines that explain them; blank ones among them.
    width : int

    Raises
    ------
    DataError
    """
    for k in range(2, len(rows) - 1):
        if n_filled(rows[k - 1]) > 1 or not n_filled(rows[k]) or not _is_apart(rows, k):
            continue
        title = next(n for n in range(k) if n_filled(rows[k - 1 - n]) == 0)
        above = rows[: k - title][:_LOOKED_AT]
        if _are_names(rows[k]):
            named = {j for j, cell in enumerate(rows[k]) if not is_blank(cell)}
            n_above = sum(holds_values(above, j) for j in named if j < width)
            alone = len(named) == 1 and not any(j < len(row) and is_value(row[j]) for row in above for j in named)
            if n_above > 1 or ((n_above or alone) and _are_narrow(rows[k + 1 :], named, width)):
                raise _two_tables("after a blank line, ", rows[k])
        if not title:
            _refuse_summary(above, list(itertools.takewhile(n_filled, rows[k : k + _LOOKED_AT])), width)


def _refuse_summary(above: Sequence[Row], rows: Sequence[Row], width: int) -> None:
    """Stop at lines that all begin with another name, where a column holds values: a summary of the rows above.

    Lines that are all called totals are looked at later, and whole rows with new names stay rows.
    """
    j = next(j for j, cell in enumerate(rows[0]) if not is_blank(cell))
    names = [row[j] if j < len(row) else None for row in rows]
    if len(rows) < 2 or not all(map(is_name, names)) or len({*names}) < len(names) or not holds_values(above, j):
        return
    called = [is_called_total(name) for name in names]
    if not all(called) and (any(called) or any(n_filled(row) < width for row in rows)):
        raise DataError(
            f"there seem to be two tables below each other: after a blank line, {told([names])} stand where the rows "
            "above hold values, as in a summary. Put every table into a sheet or a file of its own"
        )


def _are_narrow(rows: Sequence[Row], named: Collection[int], width: int) -> bool:
    """Whether two rows or more, up to a blank one, fill no other columns than these, and one of these with values."""
    rows = list(itertools.takewhile(n_filled, rows[:_LOOKED_AT]))
    others = [j for row in rows for j, cell in enumerate(row) if j not in named and not is_blank(cell)]
    return len(rows) > 1 and len(named) < width and not others and any(holds_values(rows, j) for j in named)


def told_again(n_lines: int) -> str:
    """A note of lines that repeat the names of the columns."""
    return f"the names of the columns stand again in {n_lines} line(s), which are left out"


def refuse_first_table(titles: Sequence[Row], header: Row) -> None:
    """Stop if what stands above a table is another one: names, and three rows with as many cells that hold values.

    Raises
    ------
    DataError
    """
    for k, row in enumerate(titles[: -_NARROW or None]):
        below = titles[k + 1 : k + 1 + _NARROW]
        same = n_filled(row) >= _NARROW and _are_names(row) and all(n_filled(other) == n_filled(row) for other in below)
        if same and sum(holds_values(below, j) for j in range(len(row))) > 1:
            raise _two_tables("below other rows, ", header)


def _two_tables(where: str, names: Row) -> DataError:
    return DataError(
        f"there seem to be two tables below each other: {where}{told([names])} look like names of columns again. Put "
        "every table into a sheet or a file of its own"
    )
