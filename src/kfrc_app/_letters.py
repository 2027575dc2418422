"""Numbers as letters, in the way in which spreadsheets call columns and reports call groups."""

from __future__ import annotations

from string import ascii_uppercase


def letters(number: int) -> str:
    """A number, counted from 0, as letters: A to Z, then AA and so on.

    Examples
    --------
    >>> from kfrc_app._letters import letters
    >>> letters(0), letters(25), letters(26), letters(16383)
    ('A', 'Z', 'AA', 'XFD')
    """
    text, rest = "", number + 1
    while rest > 0:
        rest, digit = divmod(rest - 1, len(ascii_uppercase))
        text = ascii_uppercase[digit] + text
    return text
