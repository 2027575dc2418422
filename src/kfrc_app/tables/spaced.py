"""Lines around a table whose columns are separated by spaces: words of a title are as many cells, so rows tell."""

from __future__ import annotations

import re
from collections import Counter

from kfrc_app.tables.columns import counted
from kfrc_app.tables.layout import REMARK, holds_values, is_name, is_value, told

_CELL = re.compile(r'"[^"]*"|\S+')
_SEARCHED = 400  # lines at the top that tell how wide the table is
_LEAST = 3  # rows that make a table
_EVEN_SHARE = 0.9
"""Share of the lines from the first row on that have as many cells as it."""


def trim_spaced(text: str) -> tuple[str, list[str]]:
    r"""A text without lines above and below a table that is lined up with spaces, and notes of them.

    The table begins with the first of three lines that have as many cells as most lines, or with a line of names above
    them that is one shorter, or as long.

    Examples
    --------
    >>> from kfrc_app.tables.spaced import trim_spaced
    >>> trim_spaced("The third campaign of May\n\nplant  size\na  1\nb  2\nc  3\n")[0]
    'plant  size\na  1\nb  2\nc  3\n'
    """
    lines = text.rstrip("\n").split("\n")
    cells = [_CELL.findall(line) for line in lines]
    filled = [k for k in range(min(len(lines), _SEARCHED)) if cells[k]]
    width = Counter(len(cells[k]) for k in filled).most_common(1)[0][0] if filled else 0
    rows = [k for k in filled if len(cells[k]) == width]
    start = next((k for k, other in zip(rows, rows[_LEAST - 1 :], strict=False) if _is_dense(filled, k, other)), 0)
    if width < 2 or not start or sum(k >= start for k in rows) < _EVEN_SHARE * sum(k >= start for k in filled):
        return text, []
    above = cells[start - 1]
    if above and all(map(is_name, above)) and any(map(is_value, cells[start])):
        if len(above) != width - 1:
            return text, []  # names, but of other columns: to be refused
        start -= 1
    end = len(lines)
    while end > start + _LEAST and (len(cells[end - 1]) != width or REMARK.search(lines[end - 1].strip())):
        end -= 1
    body = [row for row in cells[start + 1 : end][:_SEARCHED] if row]
    titles = [[line.strip()] for line in lines[:start] if line.strip()]
    remarks = [[line.strip()] for line in lines[end:] if line.strip()]
    if any(len(row) == width and any(map(is_value, row)) for row in cells[:start]):
        return text, []  # rows, between which others are wrong
    if not titles or not any(holds_values(body, j) for j in range(width)):
        return text, []
    notes = [f"left out {counted(titles, 'line')} above the table: {told(titles)}"]
    if remarks:
        notes.append(f"left out {counted(remarks, 'line')} below the table: {told(remarks)}")
    return "\n".join(lines[start:end]) + "\n", notes


def _is_dense(filled: list[int], first: int, last: int) -> bool:
    """Whether all lines that hold something, from one to another, are as many as rows make a table."""
    return sum(first <= k <= last for k in filled) == _LEAST
