"""Totals and means within a table: rows that sum up others and must not be clustered with them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from kfrc_app.tables.columns import quoted, shortened
from kfrc_app.tables.dressing import undress
from kfrc_app.tables.layout import Row, is_blank, is_name
from kfrc_app.tables.numbers import MISSING

_WORDS = (
    r"(?:(?:grand |sub-?|overall )?(?:totals?|sums?|averages?|means?|avg)|(?:zwischen)?summen?|"
    r"gesamt(?:summe|ergebnis)?|insgesamt|mittelwerte?|durchschnitt|total general|totaux|sommes?|moyennes?|ensemble|"
    r"suma|promedio|totale|media|totaal|gemiddelde|summa|medelvärde|i alt|yhteensä|razem|итого|всего)"
)
CALLED_TOTAL = rf"(?i)^\W*{_WORDS}\b|(?:^|\s){_WORDS}\W*$"
"""How a total is called: by such a word alone, before what it sums up, or behind it (``North Total``)."""

_CALLED = re.compile(CALLED_TOTAL)
_ALONE = re.compile(rf"(?i)^\W*{_WORDS}\W*$")
TOLERANCE = 1e-3
"""Relative: totals and means are often written with few digits."""

_EXACT = 1e-9
"""Relative: what has no name is a sum only if it is one to rounding, in every column."""

_MOST = 0.5
"""Share of the columns of numbers that a row between others must sum up: counts do by chance in some."""

_MIN_ROWS = 3  # fewer sum up to each other by chance
_NAMED = 3  # columns at the beginning that may hold the name of a row
LONGEST = 10_000
"""Rows of a table for people, with totals between them; in longer ones only the last rows are looked at."""


def find_totals(rows: Sequence[Row], width: int) -> tuple[list[int], list[str]]:
    """Which rows sum up others, and what to say of them.

    A row at the end or the beginning that is called a total is left out if it is the sum or the mean of all others in
    some column; one between other rows, if it is the sum of all above it, or of those since the last total, in most
    columns. A last row without a name below named ones is left out if all its numbers are sums. A last row that is
    called a total and is none stays, with a note.

    Parameters
    ----------
    rows : sequence of rows
        The data, without remarks below them.
    width : int

    Returns
    -------
    list of int
    list of str

    Examples
    --------
    >>> from kfrc_app.tables.totals import find_totals
    >>> find_totals([["a", "1"], ["b", "2"], ["c", "4"], ["Total", "7"]], 2)[0]
    [3]
    """
    called = _called(rows)
    plain = sorted({*range(len(rows))} - {*called})
    if len(plain) < _MIN_ROWS:
        return [], []
    if not called and _ends_nameless(rows) and _share(rows[-1], rows[:-1], width, tolerance=_EXACT) == 1:
        return [len(rows) - 1], ["the last row has no name, sums up the others and is left out"]
    all_others = [rows[k] for k in plain]
    found = {k for k in called if (k > plain[-1] or not k) and _share(rows[k], all_others, width, means=True) > 0}
    for least in (_MIN_ROWS, 1):  # where one sums up several rows, another may sum up a single one
        if least == 1 and not found:
            break
        for before, k in zip([-1, *called], called, strict=False):
            above = [rows[j] for j in plain if j < k]
            group = [rows[j] for j in plain if before < j < k]
            if any(len(some) >= least and _share(rows[k], some, width) > _MOST for some in (above, group)):
                found.add(k)
    return sorted(found), _told(rows, sorted(found))


def is_searched(first: Sequence[Row], last: Row) -> bool:
    """Whether rows need to be looked at: by their first cells, unless they are many, and the last row by its own."""
    return may_be_total(last) or (bool(first) and (_is_unknown(last[0]) or any(map(may_be_total, first))))


def may_be_total(row: Row) -> bool:
    """Whether the name of a row has a word for a total."""
    return any(isinstance(cell, str) and _CALLED.search(cell.strip()) is not None for cell in row[:_NAMED])


def _called(rows: Sequence[Row]) -> list[int]:
    if len(rows) <= LONGEST:
        return [k for k, row in enumerate(rows) if may_be_total(row)]
    first = next((k + 1 for k in range(len(rows) - 1, -1, -1) if not may_be_total(rows[k])), 0)
    return [*range(first, len(rows))]


def _is_unknown(cell: Any) -> bool:
    return is_blank(cell) or (isinstance(cell, str) and cell.strip() in MISSING)


def _ends_nameless(rows: Sequence[Row]) -> bool:
    if len(rows) > LONGEST or len(rows[-1]) < 2 or not _is_unknown(rows[-1][0]):
        return False
    return all(row and is_name(row[0]) for row in rows[:-1])


def _told(rows: Sequence[Row], found: Sequence[int]) -> list[str]:
    label = None if len(rows) - 1 in found else _label(rows[-1])
    notes = []
    if label is not None:
        notes.append(
            f"the row '{shortened(label)}' at the end is used like any other: remove it from the file if it sums up "
            "the others"
        )
    if found:
        place = " at the end" if found == [*range(len(rows) - len(found), len(rows))] else ""
        names = quoted([shortened(_name(rows[k])) for k in found])
        words = ("rows", "sum", "are") if len(found) > 1 else ("row", "sums", "is")
        notes.append(f"the {words[0]} {names}{place} {words[1]} up the others and {words[2]} left out")
    return notes


def _name(row: Row) -> str:
    return next(cell.strip() for cell in row if isinstance(cell, str) and _CALLED.search(cell.strip()))


def _label(row: Row) -> str | None:
    """What a row is called, if that is nothing but a word for a total: the first text in it."""
    text = next((cell for cell in row if isinstance(cell, str) and not is_blank(cell)), "")
    return text.strip() if _ALONE.match(text.strip()) else None


def _share(total: Row, rows: Sequence[Row], width: int, *, tolerance: float = TOLERANCE, means: bool = False) -> float:
    """In which share of the columns of numbers a row is the sum of others, or their mean if that counts as well."""
    checked = [
        _sums_up(total, rows, j, tolerance=tolerance, means=means)
        for j in range(min(width, len(total)))
        if not _is_unknown(total[j])
    ]
    known = [found for found in checked if found is not None]
    return sum(known) / len(known) if known else 0


def _sums_up(total: Row, rows: Sequence[Row], j: int, *, tolerance: float, means: bool) -> bool | None:
    """Whether a cell sums up those of others; None if these are no numbers."""
    found = None
    for decimal in ".,":
        goal = _number(total[j], decimal)
        values = [_number(row[j], decimal) for row in rows if j < len(row) and not is_blank(row[j])]
        known = np.array([value for value in values if value is not None])
        if goal is None or not values or len(known) < len(values):
            continue
        sums = (known.sum(), known.mean()) if means and np.ptp(known) else (known.sum(),)
        if known.any() and any(abs(goal - one) <= tolerance * abs(one) for one in sums):
            return True
        found = False
    return found


def _number(cell: Any, decimal: str) -> float | None:
    if not isinstance(cell, str):
        return float(cell) if isinstance(cell, (int, float)) and not isinstance(cell, bool) else None
    text = cell.strip()
    if text.isdigit():  # most are, and signs around a number take long to find
        return float(text)
    dressed = undress(pa.array([text, "1"])) or undress(pa.array([text]))
    text = dressed.cells[0].as_py() if dressed is not None else text
    text = re.sub("[\\s'’]", "", text.replace("," if decimal == "." else ".", "").replace(decimal, "."))
    try:
        return float(text)
    except ValueError:
        return None
