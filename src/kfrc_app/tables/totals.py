"""Totals and means within a table: rows that sum up others and must not be clustered with them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kfrc_app.tables.columns import quoted, shortened
from kfrc_app.tables.dressing import may_be_dressed, undress
from kfrc_app.tables.layout import TOTAL_WORDS, Row, is_blank, is_called_total, is_name
from kfrc_app.tables.numbers import MISSING, looks_like_number

_ALONE = re.compile(rf"(?i)^\W*{TOTAL_WORDS}\W*$")
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

    A row at the end that is called a total is left out if it is the sum or the mean of all others in some column; if
    its name has more words, or if it is the first row, in most columns. One between other rows is left out if it is the
    sum of all above it, or of those since the last total, in most columns. A last row without a name below named ones
    is left out if all its numbers are sums. A last row that is called a total and is none stays, with a note.

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
    plain = np.ones(len(rows), dtype=bool)
    plain[called] = False
    if plain.sum() < _MIN_ROWS:
        return [], []
    if not called:
        if not _ends_nameless(rows):
            return [], []
        plain[-1] = False
        sums = [_Sums(rows, width, plain, decimal) for decimal in ".,"]
        found = _share(sums, len(rows) - 1, 0, len(rows), tolerance=_EXACT) == 1
        return (
            ([len(rows) - 1], ["the last row has no name, sums up the others and is left out"]) if found else ([], [])
        )
    sums = [_Sums(rows, width, plain, decimal) for decimal in ".,"]
    last = int(np.flatnonzero(plain)[-1])
    at_ends = [k for k in called if k > last or not k]
    needed = {k: 0 if k and _label(rows[k]) else _MOST for k in at_ends}
    found_all = {k for k in at_ends if _share(sums, k, 0, len(rows), means=True) > needed[k]}
    for least in (_MIN_ROWS, 1):  # where one sums up several rows, another may sum up a single one
        if least == 1 and not found_all:
            break
        for before, k in zip([-1, *called], called, strict=False):
            groups = [start for start in (0, before + 1) if plain[start:k].sum() >= least]
            if any(_share(sums, k, start, k) > _MOST for start in groups):
                found_all.add(k)
    return sorted(found_all), _told(rows, sorted(found_all))


class _Sums:
    """The numbers of rows with one decimal mark, and sums of those that are no totals, over any rows that follow."""

    def __init__(self, rows: Sequence[Row], width: int, plain: NDArray[np.bool_], decimal: str) -> None:
        shape = (len(rows), width)
        self.known, wrong, values = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool), np.zeros(shape)
        for k, row in enumerate(rows):
            for j, cell in enumerate(row[:width]):
                if is_blank(cell):
                    continue
                number = _number(cell, decimal)
                self.known[k, j], wrong[k, j] = number is not None, number is None
                values[k, j] = 0 if number is None else number
        self.values, self.plain = values, plain[:, None]
        used = self.plain & self.known
        parts = (np.where(used, values, 0.0), used, wrong & self.plain, used & (values != 0))
        with _beyond_all_sums():
            self._sums, self._counts, self._wrong, self._nonzero = (
                np.concatenate([np.zeros((1, width)), np.cumsum(part, axis=0, dtype=float)]) for part in parts
            )

    def check(self, k: int, start: int, end: int, *, tolerance: float, means: bool) -> tuple[Any, Any]:
        """In which columns the others are numbers as the total is, and in which of these it sums them up."""
        with _beyond_all_sums():
            return self._checked(k, start, end, tolerance=tolerance, means=means)

    def _checked(self, k: int, start: int, end: int, *, tolerance: float, means: bool) -> tuple[Any, Any]:
        total, count, wrong, nonzero = (
            part[end] - part[start] for part in (self._sums, self._counts, self._wrong, self._nonzero)
        )
        tried = self.known[k] & (count > 0) & (wrong == 0)
        goals = [total]
        if means:
            used = np.where(self.plain & self.known, self.values, np.nan)[start:end]
            constant = np.nanmax(used, axis=0, initial=-np.inf) <= np.nanmin(used, axis=0, initial=np.inf)
            goals.append(np.where(constant, np.nan, total / np.maximum(count, 1)))
        close = [np.isfinite(goal) & (np.abs(self.values[k] - goal) <= tolerance * np.abs(goal)) for goal in goals]
        return tried, tried & (nonzero > 0) & np.any(close, axis=0)


def _beyond_all_sums() -> np.errstate:
    """Numbers whose sum is too large for a float: none is their total, and nobody needs to be warned."""
    return np.errstate(over="ignore", invalid="ignore")


def _share(
    sums: Sequence[_Sums], k: int, start: int, end: int, *, tolerance: float = TOLERANCE, means: bool = False
) -> float:
    """In which share of the columns of numbers a row is the sum of others, or their mean if that counts as well."""
    checks = [found.check(k, start, end, tolerance=tolerance, means=means) for found in sums]
    tried, hit = (np.any([check[i] for check in checks], axis=0) for i in (0, 1))
    return float(hit.sum() / tried.sum()) if tried.any() else 0.0


def is_searched(first: Sequence[Row], last: Row) -> bool:
    """Whether rows need to be looked at: by their first cells, unless they are many, and the last row by its own."""
    return may_be_total(last) or (bool(first) and (_is_unknown(last[0]) or any(map(may_be_total, first))))


def may_be_total(row: Row) -> bool:
    """Whether the name of a row has a word for a total."""
    return any(map(is_called_total, row[:_NAMED]))


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
    return next(cell.strip() for cell in row if is_called_total(cell))


def _label(row: Row) -> str | None:
    """What a row is called, if that is nothing but a word for a total: the first text in it."""
    text = next((cell for cell in row if isinstance(cell, str) and not is_blank(cell)), "")
    return text.strip() if _ALONE.match(text.strip()) else None


@lru_cache(maxsize=100_000)
def _number(cell: Any, decimal: str) -> float | None:
    if not isinstance(cell, str):
        return float(cell) if isinstance(cell, (int, float)) and not isinstance(cell, bool) else None
    text = cell.strip()
    if not looks_like_number(text):
        if not may_be_dressed(text):
            return None
        dressed = undress(pa.array([text, "1"])) or undress(pa.array([text]))
        if dressed is None:
            return None
        text = dressed.cells[0].as_py()
    text = re.sub("[\\s'’]", "", text.replace("," if decimal == "." else ".", "").replace(decimal, "."))
    try:
        return float(text.replace("\u2212", "-"))
    except ValueError:
        return None
