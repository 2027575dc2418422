"""Warnings of a fit as notes, for people rather than programs."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def warnings_as_notes(notes: list[str]) -> Iterator[None]:
    """Collect the warnings of a block as one-line notes, each once, instead of printing them."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        # Deprecations and the like concern whoever maintains the program, not whoever has the data.
        for category in (DeprecationWarning, PendingDeprecationWarning, FutureWarning, ResourceWarning):
            warnings.simplefilter("ignore", category)
        yield
    for warning in caught:
        text = " ".join(str(warning.message).split())
        if text not in notes:
            notes.append(text)
