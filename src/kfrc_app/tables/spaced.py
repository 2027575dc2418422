"""Lines around a table whose columns are separated by spaces: words of a title are as many cells, so rows tell."""

from __future__ import annotations

import itertools
import re
from collections import Counter

from kfrc_app.tables.layout import REMARK, are_units, holds_values, is_name, is_value, told_above, told_below

_CELL = re.compile(r'"[^"]*"|\S+')
_SEPARATED = re.compile(r"[;\t|]|[^\s\d],\S|\S,[^\s\d]")
"""Another separator than a space; a comma within a number, or behind a word in a sentence, is none."""
_SEARCHED = 400  # lines at the top that tell how wide the table is
_LEAST = 3  # rows that make a table
_HEAD = 6  # lines at the beginning of the table among which its names are looked for
_EVEN_SHARE = 0.9
"""Share of the lines from the first row on that have as many cells as it."""


def trim_spaced(text: str) -> tuple[str, list[str]]:
    r"""A text without lines above and below a table that is lined up with spaces, and notes of them.

    The table begins with the first of three lines that have as many cells as most lines, or with a line of names above
    the first values among them, which may be one shorter.

    Examples
    --------
    >>> from kfrc_app.tables.spaced import trim_spaced
    >>> trim_spaced("The third campaign of May\n\nplant  size\na  1\nb  2\nc  3\n")[0]
    'plant  size\na  1\nb  2\nc  3\n'
    """
    lines = text.rstrip("\n").split("\n")
    cells = [_CELL.findall(line) for line in lines]
    filled = [k for k in range(min(len(lines), _SEARCHED)) if cells[k]]
    if 2 * sum(_SEPARATED.search(lines[k]) is not None for k in filled) > len(filled):
        return text, []
    width = Counter(len(cells[k]) for k in filled).most_common(1)[0][0] if filled else 0
    first = next((filled[i] for i in range(len(filled) - _LEAST + 1) if _is_block(cells, filled[i:], width)), None)
    if width < 2 or first is None:
        return text, []
    end = _end(lines, cells, first, width)
    start = _start(cells, [k for k in filled if first <= k < end], width)
    below = [k for k in filled if start < k < end]
    titles = [[line.strip()] for line in lines[:start] if line.strip()]
    remarks = [[line.strip()] for line in lines[end:] if line.strip()]
    measured = [j for j in range(width) if holds_values([cells[k] for k in below], j)]
    even = sum(len(cells[k]) == width for k in below) >= _EVEN_SHARE * len(below)
    # Lines above that are rows like those below, or names of other columns, are no title but a mistake.
    rows_above = any(len(row) == width and all(is_value(row[j]) for j in measured) for row in cells[:start])
    named = start and cells[start - 1] and any(map(is_value, cells[start])) and all(map(is_name, cells[start - 1]))
    if not (titles or remarks) or not (even and measured) or rows_above or named:
        return text, []
    notes = [told_above(titles)] if titles else []
    if remarks:
        notes.append(told_below(remarks))
    return "\n".join(lines[start:end]) + "\n", notes


def _is_block(cells: list[list[str]], filled: list[int], width: int) -> bool:
    """Whether the next lines that hold something have as many cells as most lines."""
    return all(len(cells[k]) == width for k in filled[:_LEAST])


def _start(cells: list[list[str]], block: list[int], width: int) -> int:
    """The line of names above the first values; the first line of the block if there is none."""
    before = [k for k in range(block[0] - 1, -1, -1) if cells[k]][:1]  # one name may lack, above the names of rows
    head = [k for k in before if len(cells[k]) == width - 1] + block[:_HEAD]
    for k, following in itertools.pairwise(head):
        if all(map(is_name, cells[k])) and any(map(is_value, cells[following])):
            above = head[head.index(k) - 1] if head.index(k) else None
            return above if above is not None and are_units(cells[k]) and all(map(is_name, cells[above])) else k
    return block[0]


def _end(lines: list[str], cells: list[list[str]], first: int, width: int) -> int:
    """Where the table ends: before blank lines and remarks, which have no value or stand apart."""
    end, least = len(lines), first + _LEAST
    with_colon = any(row[0].endswith(":") for row in cells[least:_SEARCHED] if len(row) == width)
    while end > least:
        blank = max((k for k in range(least, end) if not cells[k]), default=end)
        apart = range(blank + 1, end)
        row, line = cells[end - 1], lines[end - 1].strip()
        if not row or REMARK.search(line):
            end -= 1
        elif len(apart) and all(len(cells[k]) != width or REMARK.search(lines[k].strip()) for k in apart):
            end = blank
        elif (len(row) != width and not any(map(is_value, row))) or (row[0].endswith(":") and not with_colon):
            end -= 1
        else:
            break
    return end
