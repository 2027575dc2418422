"""Columns of levels: names as they were written, an order where there is one, and limits to how many there can be."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kfrc.typing import FloatArray
from kfrc_app.tables.columns import DataError, Encoded, in_quotes, quoted, shortened

MAX_LEVELS = 500
"""Levels that a column can have at most, also if it is asked for: all pairs of them are compared."""

_SHOWN = 7  # levels in a message
_TOLD = 3  # columns or words in notes
_LONGEST_NAME = 1e22  # from which on whole numbers have an exponent; what 64 bits hold is below
LARGEST_EXACT = 2**53
"""Whole numbers below it are exact as floats."""


def number_name(value: float) -> str:
    """What a number is called as a level: the shortest text that means it.

    Examples
    --------
    >>> from kfrc_app.tables.levels import number_name
    >>> number_name(2007.0), number_name(0.5), number_name(4539578763621486123.0), number_name(6.02e23)
    ('2007', '0.5', '4539578763621486000', '6.02e+23')
    """
    text = repr(float(value))
    if not float(value).is_integer() or abs(value) >= _LONGEST_NAME:
        return text
    return str(int(value)) if abs(value) < LARGEST_EXACT else format(Decimal(text), "f").removesuffix(".0")


def of_numbers(name: str, values: FloatArray, *, ordered: bool) -> pd.Series[Any]:
    """Different numbers as levels, in their order; NaN stays missing."""
    known = ~np.isnan(values)
    distinct, positions = np.unique(values[known], return_inverse=True)
    refuse_many(name, len(distinct))
    codes = np.full(len(values), -1, dtype=np.intp)
    codes[known] = positions
    return pd.Series(pd.Categorical.from_codes(codes, [number_name(value) for value in distinct], ordered=ordered))


def of_text(name: str, found: Encoded) -> pd.Series[Any]:
    """Different texts as levels without order."""
    refuse_many(name, len(found.levels))
    rank = np.argsort(np.array(found.levels, dtype=object), kind="stable")
    return pd.Series(
        pd.Categorical.from_codes(_moved(found.codes, rank), [found.levels[k] for k in rank], ordered=False)
    )


def in_order(name: str, found: Encoded, levels: Sequence[str]) -> pd.Series[Any]:
    """Texts as the levels that a user gave, from the lowest to the highest.

    Raises
    ------
    DataError
        If a cell is none of them.
    """
    refuse_many(name, len(levels))
    places = {level: k for k, level in enumerate(levels)}
    names = [_matching(level, places) for level in found.levels]
    if None in names:
        wrong = found.levels[names.index(None)]
        raise DataError(
            f"column {in_quotes(name)}: '{shortened(wrong)}' in row {found.row_of(wrong)} is not among the levels "
            f"{shown(levels, ordered=True)}"
        )
    codes = np.array([*(places[str(level)] for level in names), -1], dtype=np.intp)
    return pd.Series(pd.Categorical.from_codes(codes[found.codes], list(levels), ordered=True))


def as_fitted(found: Encoded, levels: Sequence[str]) -> pd.Series[Any]:
    """Texts under the names that a model knows, where it knows them: 1.0 is the level 1; others stay as written."""
    known = {level: k for k, level in enumerate(levels)}
    names = [_matching(level, known) or level for level in found.levels]
    values = np.array([*names, None], dtype=object)
    return pd.Series(pd.Categorical(values[found.codes]))


def shown(levels: Sequence[str], *, ordered: bool) -> str:
    """Levels for a message.

    Examples
    --------
    >>> from kfrc_app.tables.levels import shown
    >>> shown(["a", "b"], ordered=True), shown([str(k) for k in range(9)], ordered=False)
    ('a < b', '0, 1, 2, 3, 4, 5, 6, …')
    >>> shown(["a", "b, c"], ordered=False)
    "a, 'b, c'"
    """
    mark = " < " if ordered else ", "
    names = [_told_apart(shortened(level)) for level in levels[:_SHOWN]]
    return mark.join([*names, "…"] if len(levels) > _SHOWN else names)


def _told_apart(level: str) -> str:
    """A level in quotes if it could be taken for several."""
    return f"'{level}'" if re.search("""[,<'"]""", level) else level


def alike_notes(columns: Mapping[str, pd.Series[Any]]) -> list[str]:
    """A note for each of the first columns of which some levels are the same word; the others are counted."""
    found = {}
    for name, column in columns.items():
        if isinstance(column.dtype, pd.CategoricalDtype):
            words: dict[str, list[str]] = {}
            for level in map(str, column.cat.categories):
                words.setdefault(_word(level), []).append(level)
            same = [alike for alike in words.values() if len(alike) > 1]
            if same:
                found[name] = same
    notes = []
    for name, same in list(found.items())[:_TOLD]:
        shown = "; ".join(" and ".join(f"'{shortened(level)}'" for level in alike[:_SHOWN]) for alike in same[:_TOLD])
        notes.append(
            f"{quoted([name])} has levels that differ only in capitals or spaces, which count as different: {shown}; "
            "write them alike if they mean the same"
        )
    if len(found) > _TOLD:
        notes.append(f"the same holds for {len(found) - _TOLD} more column(s)")
    return notes


def _word(level: str) -> str:
    """A level without capitals, spaces, and other forms of the same letters."""
    return "".join(unicodedata.normalize("NFKC", level).casefold().split())


def refuse_many(name: str, n_levels: int) -> None:
    """Stop if a column has more levels than can be compared."""
    if n_levels > MAX_LEVELS:
        raise DataError(
            f"column {in_quotes(name)} has {n_levels} different values and at most {MAX_LEVELS} can be used as "
            "levels: join "
            f"rare ones, or leave it out with --drop {quoted([name])}"
        )


def _matching(text: str, known: dict[str, int]) -> str | None:
    """The level that a text means: itself, or the same number written differently."""
    if text in known:
        return text
    try:
        number = number_name(float(text))
    except (ValueError, OverflowError):
        return None
    return number if number in known and abs(float(number)) < LARGEST_EXACT else None


def _moved(codes: NDArray[Any], rank: NDArray[Any]) -> NDArray[Any]:
    """Codes after the levels were put in another order."""
    places = np.empty(len(rank) + 1, dtype=np.intp)
    places[rank] = np.arange(len(rank))
    places[-1] = -1
    return places[codes]
