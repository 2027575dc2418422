"""What the page shows of a table before anything is computed: its columns, what they were understood as, and why."""

from __future__ import annotations

from typing import Any

import numpy as np

from kfrc_app.facts.text import clean
from kfrc_app.server import limits
from kfrc_app.server.choices import Choices
from kfrc_app.server.plain import in_plain_words
from kfrc_app.tables.columns import ROW_NAMES, Columns
from kfrc_app.tables.kinds import Kind
from kfrc_app.tables.table import load
from kfrc_app.tables.understanding import Understanding, kind_of, understand


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
    file = load(path, choices.marks)
    aside = {name: str(role) for role, name in choices.aside.items()}
    dropped = {name for name, wish in choices.types.items() if wish.kind is Kind.DROP}
    row_names = {name for name in file.row_names if name not in aside}
    names = [name for name in file.names if name not in {*aside, *dropped, *row_names}]
    wishes = {name: wish for name, wish in choices.types.items() if name not in dropped}
    found, notes = understand(file, names, wishes, aside=[*aside, *row_names])
    listed = file.names[: limits.MAX_LISTED_COLUMNS]
    return {
        "n_rows": file.n_rows,
        "n_columns": len(file.names),
        "columns": [_column(file, found, name, aside, dropped, row_names) for name in listed],
        "notes": [in_plain_words(note) for note in (*file.noticed, *notes)],
        "sheets": [],
        "questions": [],
    }


def _column(
    file: Columns,
    found: Understanding,
    name: str,
    aside: dict[str, str],
    dropped: set[str],
    row_names: set[str],
) -> dict[str, Any]:
    known = file.known(name)
    texts = file.text(name)[known]
    different = list(dict.fromkeys(map(str, texts[: 50 * limits.MAX_EXAMPLES])))[: limits.MAX_EXAMPLES]
    why, use = "", ""
    if name in aside:
        use = aside[name]
    elif name in row_names:
        use = "names"
    elif name in found.series:
        use = str(kind_of(found.series[name]))
    else:
        use, why = "drop", "" if name in dropped else _why(found, name)
    return {
        "name": name,
        "title": clean(name, limits.MAX_VALUE) if name != ROW_NAMES else "(no heading)",
        "use": use,
        "why": why,
        "n_missing": int(len(known) - np.count_nonzero(known)),
        "examples": [clean(text, limits.MAX_VALUE) for text in different],
    }


def _why(found: Understanding, name: str) -> str:
    if name in found.mixed:
        text = found.mixed[name]
        return f"{text.n_text} of its {text.n_known} values are text, such as {text.place}"
    if name in found.empty:
        return "it has no value"
    if name in found.single:
        return "it has a single value"
    return "its texts hardly repeat, as names and remarks do"
