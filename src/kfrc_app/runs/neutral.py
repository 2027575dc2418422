"""Text in tables that a spreadsheet program may open: what it would take for a formula is marked as text.

A cell of a CSV file that begins with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return can be a formula, and a
formula can start programs. Such text gets an apostrophe in front, which spreadsheet programs know as the mark of text.
Text that has apostrophes there already gets one more, so that :func:`as_written` restores every cell. Numbers, also
negative ones, are no formulas and stay as they are.
"""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

_STARTS = (
    "=+\\-@\\t\\r\\n\uff1d\uff0b\uff0d\uff20"  # the last four are wide forms, which some programs take for the same
)
_FORMULA = f"^'*[{_STARTS}]"
_NUMBER = r"^-(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$"
_IS_FORMULA, _IS_NUMBER = re.compile(_FORMULA), re.compile(_NUMBER)


def neutral(text: str) -> str:
    """A text that no program takes for a formula.

    Examples
    --------
    >>> from kfrc_app.runs.neutral import neutral
    >>> [neutral(text) for text in ("=1+1", "'=1", "-5", "-5+1", "it's")]
    ["'=1+1", "''=1", '-5', "'-5+1", "it's"]
    """
    return f"'{text}" if _IS_FORMULA.match(text) and not _IS_NUMBER.match(text) else text


def as_written(text: str) -> str:
    """The text from which :func:`neutral` made another.

    Examples
    --------
    >>> from kfrc_app.runs.neutral import as_written
    >>> as_written("'=1+1"), as_written("''=1"), as_written("'tis")
    ('=1+1', "'=1", "'tis")
    """
    return text[1:] if text.startswith("'") and _IS_FORMULA.match(text) else text


def neutral_cells(cells: Any) -> Any:
    """The same for an Arrow array of strings, in which missing cells stay missing."""
    harmful = pc.and_(pc.match_substring_regex(cells, _FORMULA), pc.invert(pc.match_substring_regex(cells, _NUMBER)))
    if not pc.any(harmful).as_py():
        return cells
    marked = pc.binary_join_element_wise(pa.scalar("'", cells.type), cells, pa.scalar("", cells.type))
    return pc.if_else(harmful, marked, cells)
