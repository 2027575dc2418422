"""Names made safe to show, and numbers as people write them; every reader of the facts uses these."""

from __future__ import annotations

import json
import math
import unicodedata
from collections.abc import Sequence
from typing import Any

DASH = "–"
"""Stands for a number that is not there."""

_MAX_NAME = 120
_NO_BREAK = "\N{NO-BREAK SPACE}"
_LEAST_SHARE = 0.005
_ROUNDING = 1e-9
"""By how much the sum of all shares may miss one."""

_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_TURNING = {"R", "AL", "AN", "RLE", "RLO", "RLI", "LRE", "LRO", "LRI", "FSI", "PDF", "PDI"}


def clean(value: object, max_length: int = _MAX_NAME) -> str:
    """Any value as text that every encoder takes: no control characters, no lone surrogates, not too long.

    Examples
    --------
    >>> from kfrc_app.facts.text import clean
    >>> clean("a" + chr(0) + "b"), clean("x" * 500, max_length=5)
    ('a\ufffdb', 'xxxx…')
    """
    text = str(value)
    if len(text) > max_length:
        text = text[: max_length - 1] + "…"
    text = "".join(_REPLACEMENT if unicodedata.category(letter) in ("Cc", "Cs") else letter for letter in text)
    return text if text.strip() else "(blank)"


def isolate(name: object) -> str:
    """A clean name for the middle of a sentence: right-to-left letters or controls do not turn its neighbors."""
    text = clean(name)
    turning = any(unicodedata.bidirectional(letter) in _TURNING for letter in text)
    return f"\N{FIRST STRONG ISOLATE}{text}\N{POP DIRECTIONAL ISOLATE}" if turning else text


def number(value: float | None, digits: int = 4) -> str:
    """A number with a few significant digits, without exponents where they can be avoided.

    Examples
    --------
    >>> from kfrc_app.facts.text import number
    >>> number(0.40123), number(12345.6), number(3.0), number(None)
    ('0.4012', '12,346', '3', '–')
    """
    if value is None or not math.isfinite(value):
        return DASH
    if 10**digits <= abs(value) < 1e9:
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"


def percent(share: float) -> str:
    """A share in percent, on one line; what is there but less than half a percent is not called none, nor most all.

    Examples
    --------
    >>> from kfrc_app.facts.text import percent
    >>> [percent(share).split() for share in (0.937, 0.001, 0.0, 0.999, 0.305)]
    [['94', '%'], ['<', '1', '%'], ['0', '%'], ['>', '99', '%'], ['31', '%']]
    """
    if not math.isfinite(share):
        return DASH
    if 0 < share < _LEAST_SHARE:
        return f"<{_NO_BREAK}1{_NO_BREAK}%"
    if 1.0 - _LEAST_SHARE < share < 1.0 - _ROUNDING:
        return f">{_NO_BREAK}99{_NO_BREAK}%"
    # Halves are rounded up, as spreadsheets do, and not to the next even number.
    return f"{math.floor(100 * share + 0.5 + _ROUNDING)}{_NO_BREAK}%"


def count(n: int, noun: str) -> str:
    """A count with its noun in the right number: "1 row", "12 rows"."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def listing(names: Sequence[str]) -> str:
    """Names joined as in a sentence."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def shortened(names: Sequence[str], n_shown: int = 10) -> str:
    """The first of many names, quoted, and how many more there are.

    Examples
    --------
    >>> from kfrc_app.facts.text import shortened
    >>> shortened(["a", "b"]), shortened(["a", "b", "c"], n_shown=1)
    ('“a” and “b”', '“a” and 2 more')
    """
    shown = [f"“{isolate(name)}”" for name in names[:n_shown]]
    rest = len(names) - len(shown)
    return listing([*shown, f"{rest:,} more"] if rest else shown)


def words(name: str) -> str:
    """The name of a setting as words: "complementary root"."""
    return name.replace("_", " ")


def plain(value: Any) -> Any:
    """The same data in what JSON can hold: infinite and undefined numbers become None.

    Examples
    --------
    >>> from kfrc_app.facts.text import plain
    >>> plain({"m": float("inf"), "rows": (1, 2)})
    {'m': None, 'rows': [1, 2]}
    """
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value


def dump_json(document: dict[str, Any]) -> str:
    """A JSON document with a final newline; infinite and undefined numbers become null."""
    return json.dumps(plain(document), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
