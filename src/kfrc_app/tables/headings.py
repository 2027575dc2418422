"""Names of columns that stand in two lines: groups above their parts, or the name of the rows in a line of its own."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kfrc_app.tables.layout import Row, holds_values, is_blank, is_name, is_value, n_filled

JOINED = "names of columns stand in two lines, which were joined"
_YEAR = re.compile("(?:1[89]|20)[0-9]{2}(?:[.]0)?")


def join_groups(groups: Sequence[str], names: Sequence[str]) -> list[str]:
    """Names with what stands above them; a group holds until the next one.

    Examples
    --------
    >>> from kfrc_app.tables.headings import join_groups
    >>> join_groups(["shop", "2023", "", "2024"], ["", "Q1", "Q2", "Q1"])
    ['shop', '2023 Q1', '2023 Q2', '2024 Q1']
    """
    joined, group = [], ""
    for above, name in zip(groups, names, strict=True):
        group = above or group
        joined.append(name if group == name else f"{group if name else above} {name}".strip())
    return joined


def join_repeated(names: Sequence[str], groups: Sequence[str], notes: list[str]) -> list[str]:
    """Names joined with those of groups in the line above them, where they repeat or the first cells are merged.

    Parameters
    ----------
    names : sequence of str
        Blank where there is no name.
    groups : sequence of str
        The line above; blank between its cells, and empty if there is none.
    notes : list of str
        Added to.

    Examples
    --------
    >>> from kfrc_app.tables.headings import join_repeated
    >>> join_repeated(["shop", "Q1", "Q1"], ["", "2023", "2024"], [])
    ['shop', '2023 Q1', '2024 Q1']
    """
    given = [name for name in names if name]
    repeats, is_merged = len({*given}) < len(given), [*groups[:1]] == [*names[:1]] != [""]
    if n_filled(groups) < 2 or not (repeats or is_merged):
        return list(names)
    why = "names of columns repeat" if repeats else "names of columns stand in two lines"
    notes.append(f"{why}, so that each was joined with the one above it")
    padded = [*groups, *[""] * len(names)][: len(names)]
    return join_groups(padded, names)


def has_second_line(header: Sequence[str], rows: Sequence[Row]) -> bool:
    """Whether the line below the names of columns goes on with them: it fills their gaps, and is no row.

    Parameters
    ----------
    header : sequence of str
        Blank where there is no name.
    rows : sequence of rows
        Those below.

    Examples
    --------
    >>> from kfrc_app.tables.headings import has_second_line
    >>> has_second_line(["shop", "2023", ""], [["", "Q1", "Q2"], ["A", "1", "2"], ["B", "3", "4"]])
    True
    """
    gaps = [j for j, name in enumerate(header) if j and not name]
    if not gaps or len(rows) < 2:
        return False
    line, below = rows[0], rows[1:]
    gaps = [j for j in gaps if any(j < len(row) and not is_blank(row[j]) for row in rows)]
    if not gaps or any(j >= len(line) or is_blank(line[j]) for j in gaps):
        return False
    filled = [j for j, cell in enumerate(line) if not is_blank(cell)]
    if 0 not in filled and all(_YEAR.fullmatch(str(line[j]).strip()) for j in filled):
        return True
    may_go_on = not header[0] or is_blank(line[0]) or str(line[0]).strip() == header[0]
    if not may_go_on or any(is_value(line[j]) for j in filled):
        return False
    return any(is_name(line[j]) and holds_values(below, j) for j in filled)


def names_rows(header: Sequence[str], rows: Sequence[Row]) -> bool:
    """Whether the line below the names holds nothing but the name of the first column, as pandas writes.

    Examples
    --------
    >>> from kfrc_app.tables.headings import names_rows
    >>> names_rows(["", "a", "b"], [["shop", "", ""], ["A", "1", "2"]])
    True
    """
    if len(header) < 2 or header[0] or not all(header[1:]) or len(rows) < 2:
        return False
    line = rows[0]
    return is_name(line[0]) and all(map(is_blank, line[1:])) and not all(map(is_blank, rows[1][1:]))
