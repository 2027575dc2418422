"""Warnings of a fit as notes, for people rather than programs."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from numpy.typing import NDArray

from kfrc.exceptions import MissingRowWarning, OutlierWarning

KEEP = "--outliers keep"
"""How the command line asks for far values as they are."""


@contextmanager
def warnings_as_notes(notes: list[str], ids: Sequence[Any] | NDArray[Any] | None = None) -> Iterator[None]:
    """Collect the warnings of a block as one-line notes, each once, instead of printing them.

    Parameters
    ----------
    notes : list of str
        Added to.
    ids : sequence, optional
        Names of the rows, by which notes call them; their numbers from 1 by default.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        # Deprecations and the like concern whoever maintains the program, not whoever has the data.
        for category in (DeprecationWarning, PendingDeprecationWarning, FutureWarning, ResourceWarning):
            warnings.simplefilter("ignore", category)
        warnings.simplefilter("ignore", MissingRowWarning)  # whoever read the table has named these rows
        yield
    for warning in caught:
        text = " ".join(_told(warning.message, ids).split())
        if text not in notes:
            notes.append(text)


def _told(message: Warning | str, ids: Sequence[Any] | NDArray[Any] | None) -> str:
    """A warning in the words of the command line, where its own are those of Python."""
    if isinstance(message, OutlierWarning) and message.retell is not None:

        def row_name(row: int) -> str:
            return f"row {row + 1 if ids is None else ids[row]}"

        return message.retell(row_name=row_name, keep=KEEP) or str(message)
    return str(message)
