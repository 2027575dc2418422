"""What undoes the marks of text in the CSV files, as docs/how-to/read-the-results.md says it in words."""

from __future__ import annotations

import re
import unicodedata

_PLACE = re.compile(r"(?:^|(?<=[;,|\t\r\n]))'")
_STARTS = "=+-@＝＋－＠"


def as_written(text: str) -> str:
    """The text from which the program made another."""
    if re.match(r"'+[\t\r\n]", text):
        text = text[1:]
    return _PLACE.sub(lambda found: "" if _begins_formula(text[found.end() :]) else "'", text)


def _begins_formula(rest: str) -> bool:
    for sign in rest:
        if sign in _STARTS:
            return True
        unseen = unicodedata.category(sign) in ("Zs", "Zl", "Zp", "Cf", "Cc") and sign not in "\t\r\n"
        if not unseen and sign != "'":
            return False
    return False
