"""Tables of which every value is known before anything is written: what a reader makes of a file is held against it."""

from __future__ import annotations

import datetime
import string
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

NUMBER, LEVEL, DATE, TRUTH, NAME = "number", "level", "date", "truth value", "name of a row"
GAP = None

_NAMES = (
    *(
        "height",
        "Body mass",
        "Größe",
        "ß",
        "naïve café",
        "x.y",
        "a_b",
        "weight (kg)",
        "Preis, netto",
        'say "hi"',
        "it's",
    ),
    *("__class__", "=1+1", "@home", "x" * 300, "température °C", "q1|q2", "a;b", "tab here", "{curly}", "<b>bold</b>"),
    *(
        "../up",
        "%s%n",
        "$HOME",
        "-c",
        "--out",
        "温度",
        "😀 mood",
        "\u202eright",
        "None of it",
        "\u00a0hard\u00a0space",
        "m²",
    ),
)
_WORDS = (
    *("red", "green", "blue", "rot", "grün", "café", "New York", "a, b", "c;d", "e|f", 'say "hi"', "it's", "=SUM(A1)"),
    *(
        "<script>",
        "x" * 200,
        "007a",
        "ja",
        "oui",
        "北京",
        "😀",
        "O'Brien",
        "50 cents",
        "a=b",
        "\\",
        "#hash",
        "A-1",
        "yes!",
    ),
)
_CODES = ("007", "010", "0815", "00", "099", "012")


@dataclass(frozen=True)
class Known:
    """A column whose values are known.

    Attributes
    ----------
    name : str
    kind : str
    values : tuple
        Floats, texts, truth values or points in time; ``GAP`` where nothing is known.
    written : tuple of str
        The numbers in digits with a dot, of which each value is the nearest float; what the others are called.
    """

    name: str
    kind: str
    values: tuple[Any, ...]
    written: tuple[str, ...]


@dataclass(frozen=True)
class Truth:
    """Columns of one length."""

    columns: tuple[Known, ...]

    @property
    def n_rows(self) -> int:
        return len(self.columns[0].values)

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]

    def named(self, name: str) -> Known | None:
        """A column by the name that a reader has for it, which has no blanks to spare."""
        return next((column for column in self.columns if tidy(column.name) == tidy(name)), None)

    def rows(self, cells: Sequence[Sequence[Any]]) -> list[list[Any]]:
        """Columns of cells as rows."""
        return [list(row) for row in zip(*cells, strict=True)]


def tidy(text: str) -> str:
    """A text with single blanks between its words."""
    return " ".join(text.split())


def draw_truth(rng: np.random.Generator) -> Truth:
    """A table of 1 to 40 rows, most of them with two columns of numbers or more."""
    n_rows = int(rng.integers(1, 4)) if rng.random() < 0.04 else int(rng.integers(6, 41))
    kinds = [NUMBER] * int(rng.integers(2, 5)) if rng.random() < 0.95 else [NUMBER]
    for kind, chance in ((LEVEL, 0.5), (LEVEL, 0.3), (DATE, 0.4), (TRUTH, 0.2)):
        kinds += [kind] if rng.random() < chance else []
    kinds = list(rng.permutation(kinds))
    names = [f"{_NAMES[k]}" for k in rng.permutation(len(_NAMES))[: len(kinds)]]
    if rng.random() < 0.5:
        names = list(string.ascii_letters[10 : 10 + len(kinds)])
    columns = [_DRAWN[kind](name, n_rows, rng) for name, kind in zip(names, kinds, strict=True)]
    if rng.random() < 0.4:
        ids = tuple(f"{k + 1:05d}" if rng.random() < 0.5 else f"row {k + 1}" for k in range(n_rows))
        columns.insert(0, Known("id", NAME, ids, ids))
    return Truth(tuple(columns))


def _draw_numbers(name: str, n_rows: int, rng: np.random.Generator) -> Known:
    style = rng.integers(10)
    digits = [_digits(style, rng) for _ in range(n_rows)]
    share = rng.choice([0.0, 0.0, 0.1, 0.4])
    return _with_gaps(name, NUMBER, [float(text) for text in digits], digits, rng.random(n_rows) < share)


def _digits(style: int, rng: np.random.Generator) -> str:
    """A number such as some program writes it, in digits with a dot."""
    x = float(rng.normal())
    if style == 0:
        return repr(x)
    if style == 1:
        return repr(x * 10.0 ** int(rng.integers(-300, 300)))
    if style == 2:
        return str(int(rng.integers(0, 10)))
    if style == 3:
        return str(int(rng.integers(-(2**53), 2**53)))
    if style == 4:
        return f"{1000 * abs(x):.2f}"
    if style == 5:
        return f"{rng.integers(1, 1000)}.{rng.integers(1000):03d}"  # one to three digits, a mark, three digits
    if style == 6:
        return str(int(rng.integers(1000, 10_000_000)))
    if style == 7:
        return f"{-100_000 * x:.3f}"
    if style == 8:
        return str(rng.choice(["-0.0", "0", "5e-324", "1.7976931348623157e308", "0.1", "-1", "1e5", "123456789.125"]))
    return repr(float(np.float32(x)))


def _draw_levels(name: str, n_rows: int, rng: np.random.Generator) -> Known:
    pool = _CODES if rng.random() < 0.15 else _WORDS
    used = [pool[k] for k in rng.permutation(len(pool))[: int(rng.integers(1, 5))]]
    texts = [used[k] for k in rng.integers(len(used), size=n_rows)]
    return _with_gaps(name, LEVEL, texts, texts, rng.random(n_rows) < rng.choice([0.0, 0.1]))


def _draw_dates(name: str, n_rows: int, rng: np.random.Generator) -> Known:
    start = datetime.datetime(int(rng.integers(1905, 2100)), 1, 1)
    days = [start + datetime.timedelta(days=int(day)) for day in rng.integers(4000, size=n_rows)]
    if rng.random() < 0.3:
        days = [
            day + datetime.timedelta(seconds=int(second))
            for day, second in zip(days, rng.integers(86400, size=n_rows), strict=True)
        ]
    return _with_gaps(name, DATE, days, [str(day) for day in days], rng.random(n_rows) < rng.choice([0.0, 0.1]))


def _draw_truths(name: str, n_rows: int, rng: np.random.Generator) -> Known:
    values = [bool(value) for value in rng.integers(2, size=n_rows)]
    return _with_gaps(name, TRUTH, values, [str(value) for value in values], rng.random(n_rows) < 0.05)


def _with_gaps(name: str, kind: str, values: Sequence[Any], written: Sequence[str], gaps: Any) -> Known:
    kept = [GAP if gap else value for value, gap in zip(values, gaps, strict=True)]
    return Known(name, kind, tuple(kept), tuple("" if gap else text for text, gap in zip(written, gaps, strict=True)))


_DRAWN = {NUMBER: _draw_numbers, LEVEL: _draw_levels, DATE: _draw_dates, TRUTH: _draw_truths}
