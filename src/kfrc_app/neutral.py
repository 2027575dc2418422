"""Text in tables that a spreadsheet program may open: what it would take for a formula is marked as text.

A cell of a CSV file that begins with ``=``, ``+``, ``-`` or ``@`` can be a formula, and a formula can start programs.
Programs cut lines at other marks than the comma too, and then a cell begins behind each. Therefore an apostrophe,
which spreadsheet programs know as the mark of text, is put at every place of a text where a cell could begin and one of
these signs follows, also behind blanks and characters that cannot be seen. Text that begins with a tab or a line break
gets one as well. Where apostrophes stand there already, one more is added, so that taking one away at each of these
places restores every text. Numbers, also negative ones, are no formulas and stay as they are.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable
from itertools import chain
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

_STARTS = "=+\\-@\uff1d\uff0b\uff0d\uff20"  # the last four are wide forms, which some programs take for the same
_CUTS = ";,|\\t\\r\\n"  # where programs cut lines into cells
_SKIPPED = (
    "' \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"  # apostrophes and blanks
    "\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f"  # that cannot be seen
    "\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f"
)
_FORMULA = f"(^|[{_CUTS}])([{_SKIPPED}]*[{_STARTS}])"
_BREAK = r"^('*[\t\r\n])"
_MARKED_FORMULA = f"(^|[{_CUTS}])'([{_SKIPPED}]*[{_STARTS}])"
_MARKED_BREAK = r"^'('*[\t\r\n])"
_NUMBER = r"-(?:0|[1-9][0-9]*)(?:\.[0-9]+)?"
_IS_FORMULA, _IS_BREAK, _IS_NUMBER = re.compile(_FORMULA), re.compile(_BREAK), re.compile(_NUMBER)
_WAS_FORMULA, _WAS_BREAK = re.compile(_MARKED_FORMULA), re.compile(_MARKED_BREAK)

RULE = {
    "formula_cells": "in CSV files, an apostrophe stands before text that a program could take for a formula",
    "restored_by": "kfrc_app.neutral.restored",
}
"""What a record of a run says of its CSV files."""


def neutral(text: str) -> str:
    """A text that no program takes for a formula.

    Examples
    --------
    >>> from kfrc_app.neutral import neutral
    >>> [neutral(text) for text in ("=1+1", "'=1", "-5", "-5+1", "it's", " =1", "x;=1")]
    ["'=1+1", "''=1", '-5', "'-5+1", "it's", "' =1", "x;'=1"]
    """
    return text if _IS_NUMBER.fullmatch(text) else _IS_BREAK.sub(r"'\1", _IS_FORMULA.sub(r"\1'\2", text))


def restored(text: str) -> str:
    """The text from which :func:`neutral` made this one.

    Examples
    --------
    >>> from kfrc_app.neutral import restored
    >>> [restored(text) for text in ("'=1+1", "''=1", "-5", "it's", "x;'=1")]
    ['=1+1', "'=1", '-5', "it's", 'x;=1']
    """
    return _WAS_FORMULA.sub(r"\1\2", _WAS_BREAK.sub(r"\1", text))


def neutral_cells(cells: Any) -> Any:
    """The same as :func:`neutral` for an Arrow array of strings, in which missing cells stay missing."""
    import pyarrow.compute as pc

    harmful = pc.match_substring_regex(cells, f"{_FORMULA}|{_BREAK}")
    if not pc.any(harmful).as_py():
        return cells
    marked = pc.replace_substring_regex(cells, _FORMULA, r"\1'\2")
    marked = pc.replace_substring_regex(marked, _BREAK, r"'\1")
    return pc.if_else(pc.match_substring_regex(cells, f"^(?:{_NUMBER})$"), cells, marked)


def restored_cells(cells: Any) -> Any:
    """The same as :func:`restored` for an Arrow array of strings."""
    import pyarrow.compute as pc

    found = pc.replace_substring_regex(cells, _MARKED_BREAK, r"\1")
    return pc.replace_substring_regex(found, _MARKED_FORMULA, r"\1\2")


def neutral_csv(frame: pd.DataFrame, *, float_format: str | None = None) -> str:
    r"""A table as CSV in which neither a text nor a heading can be taken for a formula.

    Parameters
    ----------
    frame : DataFrame
        Without its index.
    float_format : str, optional
        Such as ``"%.10g"``; by default numbers are written in full.

    Examples
    --------
    >>> import pandas as pd
    >>> from kfrc_app.neutral import neutral_csv
    >>> neutral_csv(pd.DataFrame({"=a": ["@b", None], "c": [-1.5, 2.0]}))
    "'=a,c\n'@b,-1.5\n,2.0\n"
    """
    safe = _each_text(frame, neutral)
    texts = (text for name in _texts(safe) for text in safe[name] if isinstance(text, str))
    buffer = io.StringIO()
    safe.to_csv(
        buffer,
        index=False,
        float_format=float_format,
        lineterminator="\n",
        quoting=quoting_of(chain(map(str, safe), texts)),
    )
    return buffer.getvalue()


def quoting_of(texts: Iterable[str]) -> int:
    """How to quote: a carriage return ends lines for many readers, but the writer would not quote it."""
    return csv.QUOTE_NONNUMERIC if any("\r" in text for text in texts) else csv.QUOTE_MINIMAL


def restored_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """A table that was read from what :func:`neutral_csv` wrote, as it was."""
    return _each_text(frame, restored)


def _each_text(frame: pd.DataFrame, change: Callable[[str], str]) -> pd.DataFrame:
    changed = frame.copy()
    for name in _texts(frame):
        changed[name] = [change(text) if isinstance(text, str) else text for text in frame[name]]
    return changed.rename(columns=lambda name: change(name) if isinstance(name, str) else name)


def _texts(frame: pd.DataFrame) -> list[Any]:
    import pandas as pd

    return [name for name in frame.columns if not pd.api.types.is_numeric_dtype(frame[name])]
