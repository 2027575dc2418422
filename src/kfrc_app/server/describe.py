"""What the page shows of a table before anything is computed: its columns, what they were understood as, and why."""

from __future__ import annotations

import re
from typing import Any

from kfrc_app.facts.text import clean
from kfrc_app.server import limits
from kfrc_app.server.choices import Aside, Choices, from_wish
from kfrc_app.server.duration import expected_time
from kfrc_app.server.plain import in_plain_words
from kfrc_app.tables.columns import ROW_NAMES
from kfrc_app.tables.kinds import Kind
from kfrc_app.tables.preview import KNOWN_GROUPS, ColumnPreview, Preview, Role, preview_table
from kfrc_app.tables.questions import Choice, Question

_USES = {Role.NAMES: Aside.NAMES, Role.LABEL: Aside.GROUPS, Role.WEIGHT: Aside.WEIGHT, Role.LEFT_OUT: Kind.DROP}
_SUSPICIONS = {
    KNOWN_GROUPS: "Choose “Known groups”, and they are compared with the result.",
    str(Role.LABEL): "If these groups are known already, choose “Known groups”: they are compared with the result.",
    str(Role.WEIGHT): "If this says how many people or things a row stands for, choose “How often a row counts”.",
}
_BESIDE = re.compile(
    r"Column '.*' is (?:left out|used as data)|Left out \d+ columns? |'.*' read as |\d+ columns? read as |"
    r"'.*' is taken for names of the rows",
    re.DOTALL,
)
"""Notes that say of columns what stands beside them in the list."""

_OF_MARKS = re.compile(r"Decimal commas were read ")
"""A note that must wait for the answer if the page asks for it."""

_SHEET = re.compile(r"sheet '(.*)' was read; ", re.DOTALL)

_NO_HEADING = "(no heading)"


def describe(path: str, choices: Choices) -> dict[str, Any]:
    """The columns of a table as they are understood with what was chosen so far.

    Parameters
    ----------
    path : str
    choices : Choices

    Returns
    -------
    dict
        In what JSON can hold.
    """
    found = preview_table(path, **choices.reading)
    used = [column for column in found.columns if column.role is Role.DATA]
    return {
        "n_rows": found.n_rows,
        "n_columns": len(found.columns),
        "n_used": len(used),
        "columns": [_column(column, choices) for column in found.columns[: limits.MAX_LISTED_COLUMNS]],
        "notes": _notes(found),
        "questions": [_question(each) for each in found.questions if not _is_about_sheets(each)],
        "sheets": list(found.sheets),
        "sheet": found.sheet,
        "found_sheet": _found_sheet(found),
        "obstacle": in_plain_words(found.problem) if found.problem and not _is_of_a_column(found) else "",
        "expected": expected_time(found.n_rows, len(used)),
    }


def _column(column: ColumnPreview, choices: Choices) -> dict[str, Any]:
    wish = choices.types.get(column.name)
    use: str = _USES.get(column.role, column.kind or Kind.DROP)
    if column.problem and wish is not None:
        use = wish.kind  # what was chosen stays chosen, with what is wrong about it beside
    reason = "" if column.problem else column.reason
    return {
        "name": column.name,
        "title": clean(column.name, limits.MAX_NAME) if column.name != ROW_NAMES else _NO_HEADING,
        "use": str(use),
        "why": " ".join(filter(None, [in_plain_words(reason) if reason else "", _hint(column)])),
        "problem": in_plain_words(column.problem) if column.problem else "",
        "n_missing": column.n_missing,
        "extent": _extent(column),
        "examples": [clean(text, limits.MAX_VALUE) for text in column.examples[: limits.MAX_EXAMPLES]],
        "levels": list(column.levels) if Kind.NUMERIC not in column.possible else [],
        "possible": [str(kind) for kind in column.possible],
    }


def _hint(column: ColumnPreview) -> str:
    return _SUSPICIONS.get(column.suspicion or column.reason, "")


def _extent(column: ColumnPreview) -> str:
    """The range of a column, or how many values it has."""
    if column.kind in (Kind.NUMERIC, Kind.DATE):
        return column.extent
    if column.n_distinct > limits.MAX_EXAMPLES:
        return f"{column.n_distinct:,} different values"
    return ""


def _notes(found: Preview) -> list[str]:
    """What was noticed of the file; what it says of columns stands beside them already."""
    told = dict.fromkeys(in_plain_words(note) for note in found.notes)
    asked = any(_has_marks(choice) for question in found.questions for choice in question.choices)
    return [note for note in told if not _BESIDE.match(note) and not (asked and _OF_MARKS.match(note))]


def _found_sheet(found: Preview) -> str:
    """The sheet that was read because it is the only one with a table; blank if nobody says which."""
    told = (_SHEET.match(note) for note in found.notes)
    return next((each[1] for each in told if each and each[1] in found.sheets), "")


def _question(question: Question) -> dict[str, Any]:
    return {
        "text": in_plain_words(question.text),
        "column": question.column,
        "must": any(map(_has_marks, question.choices)),
        "answers": [_answer(choice) for choice in question.choices],
    }


def _answer(choice: Choice) -> dict[str, Any]:
    """An answer with what it sets, in the terms of the page."""
    found: dict[str, Any] = {"columns": {name: from_wish(wish) for name, wish in choice.types.items()}}
    if _has_marks(choice):  # both, because another answer may have set the other one
        found |= {"decimal": choice.decimal, "thousands": choice.thousands}
    return {"label": choice.label[:1].upper() + choice.label[1:], "set": found}


def _has_marks(choice: Choice) -> bool:
    """Whether an answer is about the marks within numbers, without which nothing can be computed."""
    return choice.decimal is not None or choice.thousands is not None


def _is_about_sheets(question: Question) -> bool:
    """Whether a question is one that the choice of the sheet answers."""
    return all(choice.sheet is not None for choice in question.choices)


def _is_of_a_column(found: Preview) -> bool:
    """Whether what would stop a run stands beside a column."""
    return any(column.problem for column in found.columns)
