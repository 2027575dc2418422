"""CSV files that this program wrote, read again: text that was marked so that it is no formula is as it was.

Such a file is known by the columns that the program adds at its end: memberships, and why a row was left out. Other
files are never changed: an apostrophe there is the user's own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pyarrow.compute as pc

from kfrc_app.neutral import restored, restored_cells

_ADDED = re.compile(r" \(found(?: \d+)?\)$")
"""What tells an added column from one of the same name in the file."""

_LAST = "left_out"
_BESIDE_IDS = ["id", "label"]
_BESIDE_TABLE = (
    ["cluster", "group", "certainty", "stays_in_refits"],
    ["cluster", "group", "certainty", "largest_membership"],
)
_NOTE = "the file was written by kfrc: apostrophes that keep text from being a formula are removed"


def is_own(names: Sequence[str]) -> bool:
    """Whether columns are those of memberships.csv or clustered.csv.

    Examples
    --------
    >>> from kfrc_app.tables.own_files import is_own
    >>> is_own(["id", "label", "cluster_0", "cluster_1", "left_out"]), is_own(["id", "label", "cluster_0"])
    (True, False)
    """
    plain = [_ADDED.sub("", name) for name in names]
    if not plain or plain.pop() != _LAST:
        return False
    n_clusters = 0
    while plain and re.fullmatch(r"cluster_\d+", plain[-1]):
        plain.pop()
        n_clusters += 1
    memberships = [f"cluster_{i}" for i in range(n_clusters)]
    found = [_ADDED.sub("", name) for name in names[len(plain) : -1]]
    return n_clusters > 0 and found == memberships and (plain == _BESIDE_IDS or plain[-4:] in _BESIDE_TABLE)


def without_marks(names: list[str], columns: list[Any], notes: list[str]) -> tuple[list[str], list[Any]]:
    """Names and cells as they were before this program wrote them; those of other files as they are.

    Parameters
    ----------
    names : list of str
    columns : list of Arrow arrays of strings
    notes : list of str
        Gets one more if something was changed.
    """
    if not is_own(names):
        return names, columns
    plain, cells = [restored(name) for name in names], [restored_cells(column) for column in columns]
    if len(set(plain)) < len(plain):
        plain = names  # two columns would have one name
    if plain != names or any(pc.any(pc.not_equal(a, b)).as_py() for a, b in zip(cells, columns, strict=True)):
        notes.append(_NOTE)
    return plain, cells
