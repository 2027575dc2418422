"""Text in tables that a spreadsheet program may open: what it would take for a formula is marked as text.

A cell of a CSV file that begins with ``=``, ``+``, ``-`` or ``@`` can be a formula, and a formula can start programs.
Programs cut lines at other marks than the comma too, and then a cell begins behind each. Therefore an apostrophe,
which spreadsheet programs know as the mark of text, is put at every place of a text where a cell could begin and one of
these signs follows, also behind blanks and characters that cannot be seen. Text that begins with a tab or a line break
gets one as well. Where apostrophes stand there already, one more is added, so that taking one away at each of these
places restores every text. Numbers, also negative ones, are no formulas and stay as they are.
"""

from __future__ import annotations

import re
from typing import Any

import pyarrow.compute as pc

_STARTS = "=+\\-@\uff1d\uff0b\uff0d\uff20"  # the last four are wide forms, which some programs take for the same
_CUTS = ";,|\\t\\r\\n"  # where programs cut lines into cells
_SKIPPED = (
    "' \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"  # apostrophes and blanks
    "\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f"  # that cannot be seen
    "\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f"
)
_FORMULA = f"(^|[{_CUTS}])([{_SKIPPED}]*[{_STARTS}])"
_BREAK = r"^('*[\t\r\n])"
_NUMBER = r"^-(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$"
_IS_FORMULA, _IS_BREAK, _IS_NUMBER = re.compile(_FORMULA), re.compile(_BREAK), re.compile(_NUMBER)


def neutral(text: str) -> str:
    """A text that no program takes for a formula.

    Examples
    --------
    >>> from kfrc_app.runs.neutral import neutral
    >>> [neutral(text) for text in ("=1+1", "'=1", "-5", "-5+1", "it's", " =1", "x;=1")]
    ["'=1+1", "''=1", '-5', "'-5+1", "it's", "' =1", "x;'=1"]
    """
    return text if _IS_NUMBER.match(text) else _IS_BREAK.sub(r"'\1", _IS_FORMULA.sub(r"\1'\2", text))


def neutral_cells(cells: Any) -> Any:
    """The same for an Arrow array of strings, in which missing cells stay missing."""
    harmful = pc.match_substring_regex(cells, f"{_FORMULA}|{_BREAK}")
    if not pc.any(harmful).as_py():
        return cells
    marked = pc.replace_substring_regex(cells, _FORMULA, r"\1'\2")
    marked = pc.replace_substring_regex(marked, _BREAK, r"'\1")
    return pc.if_else(pc.match_substring_regex(cells, _NUMBER), cells, marked)
