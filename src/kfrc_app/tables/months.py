"""Names of months in a few languages, and what they are shortened to."""

from __future__ import annotations

import unicodedata

_NAMES = (
    "january february march april may june july august september october november december",
    "januar februar marz april mai juni juli august september oktober november dezember",
    "janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "janeiro fevereiro marco abril maio junho julho agosto setembro outubro novembro dezembro",
    "januari februari maart april mei juni juli augustus september oktober november december",
)
"""English, German, French, Spanish, Italian, Portuguese and Dutch, without accents."""

SHORTEST = 3
"""Letters that a month is shortened to at least."""

_OTHERS = {"mrz": 3, "maerz": 3, "jaenner": 1, "janner": 1, "sept": 9, "mrt": 3}


def month_number(name: str) -> int:
    """The number of a month by its name or the beginning of it; 0 if it is none, or if two months begin so.

    Examples
    --------
    >>> from kfrc_app.tables.months import month_number
    >>> [month_number(name) for name in ("Mar", "März", "déc", "Sept", "mai", "ma", "Monday")]
    [3, 3, 12, 9, 5, 0, 0]
    """
    plain = "".join(c for c in unicodedata.normalize("NFKD", name.lower()) if not unicodedata.combining(c))
    if plain in _OTHERS:
        return _OTHERS[plain]
    if len(plain) < SHORTEST:
        return 0
    found = {
        number for names in _NAMES for number, month in enumerate(names.split(), start=1) if month.startswith(plain)
    }
    return found.pop() if len(found) == 1 else 0
