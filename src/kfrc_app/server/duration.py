"""About how long a table takes: said before the button is pressed, because nobody waits well without knowing."""

from __future__ import annotations


def expected_time(n_rows: int, n_columns: int) -> str:
    """A sentence on how long the whole work takes."""
    return ""
