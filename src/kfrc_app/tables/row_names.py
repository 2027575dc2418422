"""Names of rows above which the header has no name: whether they are that, or something else is wrong."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from kfrc_app.tables.columns import DataError, shortened
from kfrc_app.tables.dialect import SEPARATOR_WORDS, Dialect
from kfrc_app.tables.layout import is_name
from kfrc_app.tables.numbers import Marks, looks_like_number
from kfrc_app.tables.questions import Choice, OpenQuestionError, Question

_LOOKED_AT = 50  # rows that tell whether a column holds names
_PARTS = {",": ("^[+\u2212-]?[0-9]+$", "^[0-9]+$"), " ": ("^[+\u2212-]?[1-9][0-9]{0,2}$", "^[0-9]{3}$")}
"""What stands before and after a mark within a number, where the same mark separates columns."""


def refuse_doubtful_row_names(columns: Sequence[Any], dialect: Dialect, marks: Marks) -> None:
    """Ask about a field that the header does not know, unless it is clearly the first of its row, the name.

    Parameters
    ----------
    columns : sequence of Arrow arrays of strings
        One more than the header has names.
    dialect : Dialect
    marks : Marks

    Raises
    ------
    DataError
    """
    names, word = columns[0].to_pylist(), SEPARATOR_WORDS[dialect.separator]
    if dialect.separator == " " and '"' not in dialect.text:
        following = columns[1].slice(0, _LOOKED_AT).to_pylist()
        if all(map(is_name, [*names[:_LOOKED_AT], *following])):
            raise DataError(
                f"the rows have one field more than the header: is '{names[0]} {following[0]}' in row 1 one name? Put "
                "quotation marks around names that hold a space, or separate the columns by something else"
            )
    n_blank = pc.sum(pc.cast(pc.equal(columns[-1], ""), pa.int64())).as_py()
    are_numbers = '\n"' not in dialect.text and all(map(looks_like_number, names))
    are_distinct = all(map(str.isdigit, names)) and len(set(names)) == len(names)
    answer = ""
    if 2 * n_blank <= len(names) and (are_distinct or not are_numbers):
        if not (are_numbers or dialect.separator == " ") or not _may_hold_marks(columns, dialect, marks):
            return
        answer = ', or add --decimal "."'
    first = f"'{shortened(names[0])}' in row 1"
    asked = f"the rows have one field more than the header: does the first one, {first}, name the row?"
    message = (
        f"{asked} If so, put a name for it into the header{answer}. If not, the rows have a {word} too many: remove "
        "it, or put quotation marks around the cell that holds it"
    )
    if not answer:
        raise DataError(message)
    raise OpenQuestionError(message, Question(asked, (Choice("it names the row", decimal="."),)))


def _may_hold_marks(columns: Sequence[Any], dialect: Dialect, marks: Marks) -> bool:
    """Whether two columns may be one, of numbers such as 1,5 or 1 234."""
    separator = dialect.separator
    if separator not in _PARTS or (marks != Marks() and separator not in (marks.decimal, marks.thousands)):
        return False
    before, after = _PARTS[separator]
    return any(
        pc.all(pc.match_substring_regex(left, before)).as_py()
        and pc.all(pc.match_substring_regex(right, after)).as_py()
        for left, right in itertools.pairwise(columns)
    )
