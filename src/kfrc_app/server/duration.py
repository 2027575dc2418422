"""About how long a table takes: said before the button is pressed, because nobody waits well without knowing."""

from __future__ import annotations

MINUTES = ((150, 5, 1), (2_000, 10, 2), (200_000, 25, 3), (200_000, 50, 5))
"""Rows and columns up to which the whole work takes so many minutes of one processor: 150 rows and 4 columns took 69 s,
300 rows and 6 columns with a fifth of the cells empty 124 s, 2000 rows and 10 columns 126 s, and 100 000 rows
and 20 columns 172 s. Hardly anything depends on more rows: the number of groups is found on 2000 of them, and checked
on 500."""

_LONGER = "ten minutes or more"


def expected_time(n_rows: int, n_columns: int) -> str:
    """A sentence on how long the whole work takes.

    Examples
    --------
    >>> from kfrc_app.server.duration import expected_time
    >>> expected_time(500, 8)
    'A table of this size usually takes up to 2 minutes. You can cancel at any time.'
    """
    fitting = [n for rows, columns, n in MINUTES if n_rows <= rows and n_columns <= columns]
    about = _LONGER if not fitting else "about a minute" if fitting[0] == 1 else f"up to {fitting[0]} minutes"
    return f"A table of this size usually takes {about}. You can cancel at any time."
