"""What rows beyond memory must supply: their number, the names of their columns, and any stretch of them on demand."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from kfrc.exceptions import KFRCError
from kfrc.typing import FloatArray


class SourceError(KFRCError):
    """Rows cannot be read: a file is missing, damaged, or does not fit the others; the message names it."""


@dataclass(frozen=True, eq=False)
class Chunk:
    """Some consecutive rows as a source holds them.

    Attributes
    ----------
    columns : sequence of ndarray or Arrow arrays
        One for each column, of the same length.
    weights : ndarray of shape (n_rows,) or None
        How many rows each row stands for; None if one.
    """

    columns: Sequence[Any]
    weights: FloatArray | None = None

    def __len__(self) -> int:
        return len(self.columns[0])


class Source(ABC):
    """Rows that need not fit into memory: counted once, and read from any row on, again and again.

    A source is small and can be sent to another process, which then reads for itself.

    Attributes
    ----------
    names : tuple
        Of the columns to cluster by: text, or positions if the columns have no names.
    n_rows : int
    weight_name : str or None
        The column that says how many rows each row stands for.
    files : tuple of str
        That rows are read from, if it is known.
    """

    names: tuple[Any, ...]
    n_rows: int
    weight_name: str | None = None
    files: tuple[str, ...] = ()

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return self.n_rows, len(self.names)

    def __len__(self) -> int:
        return self.n_rows

    @abstractmethod
    def chunks(self, start: int, stop: int) -> Iterator[Chunk]:
        """The rows from ``start`` up to ``stop``, in order and in pieces of any size.

        Raises
        ------
        SourceError
            If they cannot be read.
        """

    def named_columns(self, start: int, stop: int, names: Sequence[str]) -> list[Any]:
        """Values of other columns, such as names of rows, each as one array."""
        raise SourceError(f"a {type(self).__name__} has no columns but those to cluster by")

    @property
    def described(self) -> str:
        """What it is called in messages."""
        return type(self).__name__

    @property
    def in_memory(self) -> bool:
        """Whether reading costs nothing."""
        return False

    def place(self, client: Any) -> None:
        """Let a cluster prepare for reading; most sources need nothing."""
        return

    @property
    def placed(self) -> bool:
        """Whether ``pieces`` are in the memory of a cluster already."""
        return False

    def without_rows(self) -> Source:
        """The source as tasks carry it: without rows of its own, if these arrive as pieces."""
        return self

    def pieces(self, start: int, stop: int) -> tuple[Any, ...] | None:
        """What lives in the memory of a cluster and holds these rows; None if every process can read for itself."""
        return None

    def reading(self, start: int, stop: int, pieces: Sequence[Any]) -> Source:
        """The source that reads these rows from their ``pieces``, once these have arrived."""
        return self


def chosen_names(available: Sequence[str], columns: Sequence[str] | None, weights: str | None, where: str) -> list[str]:
    """The columns to cluster by: those that are asked for, or all but the weights."""
    wanted = [name for name in available if name != weights] if columns is None else list(columns)
    needed = [*wanted, *([] if weights is None else [weights])]
    absent = [name for name in needed if name not in available]
    if absent:
        shown = ", ".join(map(str, available[:10])) + (" and more" if len(available) > 10 else "")
        raise SourceError(f"{where} has no column {absent[0]!r}: its columns are {shown}")
    if not wanted:
        raise SourceError(f"{where} has no column to cluster by")
    counts = Counter(available)
    if len(set(wanted)) < len(wanted) or any(counts[name] > 1 for name in needed):
        raise SourceError(f"names of columns must differ, but {where} has one twice")
    return wanted


def natural_order(path: Any) -> tuple[list[Any], str]:
    """Sorts part.2 before part.10.

    Examples
    --------
    >>> from kfrc.sources import natural_order
    >>> sorted(["part.10", "part.2", "part.02"], key=natural_order)
    ['part.02', 'part.2', 'part.10']
    """
    text = str(path)
    return [int(part) if part.isdecimal() else part for part in re.split(r"(\d+)", text)], text


def check_row_weights(values: Any, described: str) -> FloatArray:
    """Weights as numbers that count rows.

    Raises
    ------
    SourceError
        If one is missing, negative or infinite, or no number.
    """
    given = np.asarray(values)
    if given.dtype.kind not in "iufbO" or (given.dtype == object and any(isinstance(v, str) for v in given.flat)):
        raise SourceError(f"{described}: weights must be numbers")
    try:
        weights = given.astype(np.float64)
    except (TypeError, ValueError):
        raise SourceError(f"{described}: weights must be numbers") from None
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise SourceError(f"{described}: weights must not be missing, infinite or negative")
    return weights


def require_arrow() -> None:
    """Stop with what to install if pyarrow is missing, which the library alone does not need."""
    try:
        import_module("pyarrow")
    except ImportError as error:
        raise ImportError("Parquet and text files need a package that is not installed: pip install pyarrow") from error
