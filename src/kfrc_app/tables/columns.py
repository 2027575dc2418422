"""What a table file holds, before anyone says which columns to use: text as it was written, and numbers on request."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kfrc._validation import short_name
from kfrc.exceptions import KFRCError
from kfrc.typing import FloatArray, IntArray

ROW_NAMES = ""
"""Name of a first column without a heading: row names or row numbers, as pandas and R write them."""

MAX_COLUMNS = 50_000
"""As many were tried: with 60 rows, a fit without refits takes 74 s of CPU and 1.2 GB, most of it for reading."""

_SHOWN = 40  # characters of a cell in a message


class DataError(KFRCError):
    """The data cannot be used as they are; the message says why and what to do."""


@dataclass(frozen=True)
class NotNumbers:
    """Why a column does not hold numbers.

    Attributes
    ----------
    n_known : int
        Cells that are not missing.
    n_text : int
        Those that are no numbers.
    row : int
        Row of the first of them, from 1.
    cell : str
        What stands there.
    """

    n_known: int
    n_text: int
    row: int
    cell: str

    @property
    def place(self) -> str:
        """The first such cell and its row, for a message."""
        return f"'{shortened(self.cell)}' in row {self.row}"


@dataclass(frozen=True)
class Numbers:
    """Columns that were asked for as numbers.

    Attributes
    ----------
    values : mapping of str to ndarray of shape (n_rows,)
        By name; missing cells are NaN.
    text : mapping of str to NotNumbers
        The columns that hold something else.
    remarks : tuple of tuple
        What a reader should know of how numbers were read: words, the columns that are meant, and more words.
    decimal : str or None
        The decimal mark that they were read with; None if that has no meaning.
    """

    values: Mapping[str, FloatArray]
    text: Mapping[str, NotNumbers]
    remarks: tuple[tuple[str, tuple[str, ...], str], ...] = ()
    decimal: str | None = None

    def notes_on(self, names: Collection[str]) -> list[str]:
        """The remarks on columns that are numbers and are used, for a reader."""
        kept = {*names} & {*self.values}
        used = [(before, [name for name in found if name in kept], after) for before, found, after in self.remarks]
        return [f"{before}{quoted(found)}{after}" for before, found, after in used if found]


@dataclass(frozen=True, eq=False)
class Encoded:
    """The different texts of a column, and which of them stands in each row.

    Attributes
    ----------
    codes : ndarray of shape (n_rows,)
        Position among the levels; -1 where the cell is missing.
    levels : tuple of str
        As they were written, in the order of their first appearance.
    """

    codes: IntArray
    levels: tuple[str, ...]

    @property
    def n_known(self) -> int:
        """Cells that are not missing."""
        return int((self.codes >= 0).sum())

    def without(self, left_out: Collection[str]) -> Encoded:
        """The same with some levels as missing."""
        kept = [level for level in self.levels if level not in left_out]
        places = [kept.index(level) if level in kept else -1 for level in self.levels]
        return Encoded(np.array([*places, -1], dtype=np.intp)[self.codes], tuple(kept))

    def row_of(self, level: str) -> int:
        """The first row of a level, from 1."""
        return int((self.codes == self.levels.index(level)).argmax()) + 1


class Columns(ABC):
    """The columns of a file, each readable as text or as numbers.

    Attributes
    ----------
    noticed : tuple of str
        What had to be guessed.
    """

    noticed: tuple[str, ...] = ()

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """Names in the order of the file; a first one without a heading is called ``ROW_NAMES``."""

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """Number of rows."""

    @property
    def row_names(self) -> tuple[str, ...]:
        """The columns that name the rows unless others are said to."""
        return (ROW_NAMES,) if ROW_NAMES in self.names else ()

    @abstractmethod
    def text(self, name: str) -> NDArray[Any]:
        """Cells as they were written, blanks around them aside; an object array of str of shape (n_rows,)."""

    @abstractmethod
    def known(self, name: str) -> NDArray[np.bool_]:
        """Which cells are not missing; a boolean array of shape (n_rows,)."""

    def encoded(self, name: str, keep: Collection[str] = ()) -> Encoded:
        """The different texts of a column; what is kept is a text, also if it is a usual mark for a missing value."""
        known = self.known(name)
        codes = np.full(self.n_rows, -1, dtype=np.intp)
        codes[known], levels = pd.factorize(self.text(name)[known])
        return Encoded(codes, tuple(map(str, levels)))

    def stored(self, name: str) -> pd.Series[Any] | None:
        """A column in the type that the file says it has: floats, categories or dates; None if it says nothing."""
        return None

    def doubt(self, name: str) -> str | None:
        """Why a column cannot be used as it is, whatever it is taken for; None if it can."""
        return None

    def settled(self, decimal: str | None) -> Columns:
        """The same file, of which the decimal mark is known; None if that has no meaning."""
        return self

    def has_leading_zeros(self, name: str) -> bool:
        """Whether a column holds nothing but digits, somewhere with a zero too many before them, as codes do."""
        return False

    @abstractmethod
    def numbers(self, names: Sequence[str], *, aside: Collection[str] = ()) -> Numbers:
        """Columns as numbers.

        Parameters
        ----------
        names : sequence of str
        aside : collection of str
            Columns that are text, whatever they look like: they tell nothing about how numbers are written.

        Raises
        ------
        DataError
            If a number can be read in two ways; the message is a question.
        """


def refuse_wide(n_columns: int) -> None:
    """Stop at a file of far too many columns, before it is read."""
    if n_columns > MAX_COLUMNS:
        raise DataError(
            f"the file has {n_columns:,} columns and at most {MAX_COLUMNS:,} can be used: keep those that are needed, "
            "or reduce them first, for example to principal components"
        )


def distinct_names(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Names of columns of which those that repeat are numbered, and a note of them.

    Examples
    --------
    >>> from kfrc_app.tables.columns import distinct_names
    >>> distinct_names(["a", "b", "a", "a"])[0], distinct_names(["a", "a (2)", "a"])[0]
    (['a', 'b', 'a (2)', 'a (3)'], ['a', 'a (2)', 'a (3)'])
    """
    taken, uses = {*names}, Counter[str]()
    found, numbered = [], []
    for name in names:
        uses[name] += 1
        if uses[name] == 1:
            found.append(name)
            continue
        while f"{name} ({uses[name]})" in taken:
            uses[name] += 1
        found.append(f"{name} ({uses[name]})")
        taken.add(found[-1])
        numbered.append(found[-1])
    if not numbered:
        return found, []
    repeat = "the name of a column repeats" if len(numbered) == 1 else "names of columns repeat"
    later = "the later one is" if len(numbered) == 1 else "the later ones are"
    return found, [f"{repeat}, so that {later} numbered: {quoted(numbered)}"]


def quoted(names: Sequence[str], limit: int = 5) -> str:
    """Names in quotes for a message; the ones beyond ``limit`` are only counted."""
    shown = ", ".join(map(in_quotes, names[:limit]))
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"


def in_quotes(name: str) -> str:
    """A name in quotes for a message, cut if it is long."""
    return f"'{short_name(name)}'"


def shortened(text: str) -> str:
    """A cell for a message, cut if it is long."""
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def counted(names: Sequence[Any], what: str) -> str:
    """How many, with the plural where it is due."""
    return f"{len(names)} {what}{'s' if len(names) > 1 else ''}"
