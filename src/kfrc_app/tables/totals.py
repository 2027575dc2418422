"""Totals and means at the end of a table: rows that sum up the others and must not be clustered with them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from kfrc_app.tables.columns import shortened
from kfrc_app.tables.dressing import undress
from kfrc_app.tables.layout import Row, is_blank

_TOTAL = re.compile(
    r"^\W*(?:grand |sub-?|overall )?(?:totals?|sums?|averages?|means?|avg|summen?|gesamt(?:summe|ergebnis)?|insgesamt|"
    r"mittelwerte?|durchschnitt|total general|totaux|sommes?|moyennes?|ensemble|suma|promedio|totale|media|totaal|"
    r"gemiddelde|summa|medelvärde|i alt|yhteensä|razem|итого|всего)\b\W*$",
    re.IGNORECASE,
)
TOLERANCE = 1e-3
"""Relative: totals and means are often written with few digits."""

_MIN_ROWS = 3  # fewer sum up to each other by chance


def count_totals(rows: Sequence[Row], width: int) -> tuple[int, list[str]]:
    """How many rows at the end sum up the others, and what to say of them.

    A row that is called a total is left out if it is one in some column. If it is not, it stays, with a note.

    Parameters
    ----------
    rows : sequence of rows
        The data, without remarks below them.
    width : int

    Returns
    -------
    int
    list of str

    Examples
    --------
    >>> from kfrc_app.tables.totals import count_totals
    >>> count_totals([["a", "1"], ["b", "2"], ["c", "4"], ["Total", "7"]], 2)[0]
    1
    """
    count, names = 0, []
    while len(rows) - count > _MIN_ROWS:
        label = _label(rows[len(rows) - 1 - count])
        if label is None:
            break
        count += 1
        names.append(label)
    if not count:
        return 0, []
    data, notes, left_out = rows[: len(rows) - count], [], []
    for row, name in zip(rows[len(rows) - count :], names[::-1], strict=True):
        if _sums_up(row, data, width):
            left_out.append(name)
        else:
            notes.append(
                f"the row '{shortened(name)}' at the end is used like any other: remove it from the file if it sums up "
                "the others"
            )
    if len(left_out) < count:  # all or none: what stands between is no data either
        if left_out:
            notes.append(f"the row '{shortened(left_out[0])}' at the end sums up others and is used all the same")
        return 0, notes
    words = " and ".join(f"'{shortened(name)}'" for name in left_out)
    plural = len(left_out) > 1
    verb = "sum up the others and are" if plural else "sums up the others and is"
    return count, [f"the row{'s' if plural else ''} {words} at the end {verb} left out"]


def is_called_total(row: Row) -> bool:
    """Whether the first text in a row is a word for a total."""
    return _label(row) is not None


def _label(row: Row) -> str | None:
    """What a row is called, if that is a word for a total: the first text in it."""
    text = next((cell for cell in row if isinstance(cell, str) and not is_blank(cell)), "")
    return text.strip() if _TOTAL.match(text.strip()) else None


def _sums_up(total: Row, rows: Sequence[Row], width: int) -> bool:
    for j in range(width):
        if j >= len(total) or is_blank(total[j]):
            continue
        for decimal in ".,":
            goal = _number(total[j], decimal)
            values = [_number(row[j], decimal) for row in rows if j < len(row) and not is_blank(row[j])]
            known = np.array([value for value in values if value is not None])
            if goal is None or len(known) < _MIN_ROWS or len(known) < len(values):
                continue
            close = [abs(goal - found) <= TOLERANCE * abs(found) for found in (known.sum(), known.mean())]
            if any(close) and known.any():
                return True
    return False


def _number(cell: Any, decimal: str) -> float | None:
    if not isinstance(cell, str):
        return float(cell) if isinstance(cell, (int, float)) and not isinstance(cell, bool) else None
    text = cell.strip()
    dressed = undress(pa.array([text, "1"])) or undress(pa.array([text]))
    text = dressed.cells[0].as_py() if dressed is not None else text
    text = re.sub("[\\s'’]", "", text.replace("," if decimal == "." else ".", "").replace(decimal, "."))
    try:
        return float(text)
    except ValueError:
        return None
