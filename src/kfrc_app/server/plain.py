"""Sentences of the program in the words of the page: without flags to type, and without terms of the trade."""

from __future__ import annotations

import re

_QUOTED = re.compile(r"('[^']*'|“[^”]*”)")
_FLAG = re.compile(r"(?<!\w)--[a-z]")
_PAUSES = (re.compile(r".*(?=[:;(])", re.DOTALL), re.compile(r".*(?=[.,])", re.DOTALL))
"""A hint begins at the last colon before the first flag, or else at the last comma."""

_BEGINNING = re.compile(r"Column '.*' is used as data\.", re.DOTALL)

_WORDS = (
    (re.compile(r"\bclustered by\b"), "used to find groups"),
    (re.compile(r"\bclusters\b"), "groups"),
    (re.compile(r"\bcluster\b"), "group"),
    (re.compile(r"\bmemberships\b"), "degrees of belonging"),
    (re.compile(r"\blevels\b"), "values"),
    (re.compile(r"\blevel\b"), "value"),
)


def in_plain_words(text: str) -> str:
    """A sentence with a capital letter and a full stop, without flags; what stands in quotes stays as it is.

    Examples
    --------
    >>> from kfrc_app.server.plain import in_plain_words
    >>> in_plain_words("column 'cluster --a' is used as data: if it names the rows, add --id-column 'k'")
    "Column 'cluster --a' is used as data."
    >>> in_plain_words("3 rows are too few for 4 clusters")
    '3 rows are too few for 4 groups.'
    """
    quotes: list[str] = []

    def hide(found: re.Match[str]) -> str:
        quotes.append(found[0])
        return f"\0{len(quotes) - 1}\0"

    hidden = _QUOTED.sub(hide, " ".join(text.split()))
    hidden = _without_hint(hidden).rstrip(" :;,(")
    for word, plain in _WORDS:
        hidden = word.sub(plain, hidden)
    shown = re.sub("\0(\\d+)\0", lambda found: quotes[int(found[1])], hidden)
    shown = shown[:1].upper() + shown[1:]
    return shown if shown.endswith((".", "?", "!")) else f"{shown}."


def says_something(sentence: str) -> bool:
    """Whether a sentence in plain words is more than the beginning of a hint on what to type.

    Examples
    --------
    >>> from kfrc_app.server.plain import says_something
    >>> says_something("Column 'grade' is used as data."), says_something("2 rows are left out.")
    (False, True)
    """
    return _BEGINNING.fullmatch(sentence) is None


def _without_hint(text: str) -> str:
    """A text up to where it says what to type: that is of no use on a page."""
    flag = _FLAG.search(text)
    if flag is None:
        return text
    before = text[: flag.start()]
    found = next((match for pause in _PAUSES if (match := pause.match(before))), None)
    return before if found is None else found[0]
