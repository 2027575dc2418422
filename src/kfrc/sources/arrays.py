"""Arrays as sources: in memory, or mapped from a file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from scipy.sparse import issparse

from kfrc.sources.base import Chunk, Source, check_row_weights
from kfrc.sources.unchanged import FileState
from kfrc.typing import ArrayLike, FloatArray


class ArraySource(Source):
    """Rows of an array of numbers; of a NumPy memmap only what is being looked at is in memory.

    Parameters
    ----------
    X : ndarray or memmap of shape (n_rows, n_columns)
        NaN, or masked, where nothing is known.
    names : sequence, optional
        Of the columns; by default their positions.
    weights : array-like of shape (n_rows,), optional
        How many rows each row stands for.

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc.sources import ArraySource
    >>> source = ArraySource(np.arange(12.0).reshape(6, 2))
    >>> source.shape, [len(chunk) for chunk in source.chunks(1, 4)]
    ((6, 2), [3])
    """

    def __init__(self, X: Any, names: Sequence[Any] | None = None, weights: ArrayLike | None = None) -> None:
        if getattr(X, "ndim", 0) != 2:
            raise ValueError(f"X must be a table (2 dimensions), got {getattr(X, 'ndim', 0)} dimension(s)")
        if issparse(X) or not hasattr(X, "dtype"):
            raise TypeError(f"an ArraySource holds an array of numbers, got {type(X).__name__}")
        if X.dtype.kind not in "iufb":
            raise ValueError(f"an ArraySource holds numbers, got {X.dtype}")
        self.X = X
        self.n_rows = len(X)
        if not (names is None or isinstance(names, Iterable)):
            raise TypeError(f"names must be those of the columns, got {names!r}")
        self.names = tuple(range(X.shape[1])) if names is None else tuple(names)
        if len(self.names) != X.shape[1]:
            raise ValueError(f"X has {X.shape[1]} column(s), but there are {len(self.names)} names")
        self.weights: FloatArray | None = None if weights is None else check_row_weights(weights, "X")
        if self.weights is not None and self.weights.shape != (len(X),):
            raise ValueError(f"X has {len(X)} row(s), but weights have the shape {self.weights.shape}")
        self.weight_name = None if weights is None else "weights"
        self._first = 0
        self._state: FileState | None = None
        if _is_mapped(X):
            X.flush()
            self._state = FileState.of(str(X.filename)) if os.path.exists(str(X.filename)) else None

    @property
    def in_memory(self) -> bool:  # noqa: D102
        return not _is_mapped(self.X)

    def chunks(self, start: int, stop: int) -> Iterator[Chunk]:  # noqa: D102
        rows = slice(start - self._first, stop - self._first)
        part = self.X[rows]
        if np.ma.isMaskedArray(part):
            part = np.ma.filled(part.astype(np.float64), np.nan)
        self._refuse_change()
        yield Chunk([part[:, j] for j in range(part.shape[1])], None if self.weights is None else self.weights[rows])
        self._refuse_change()  # rows of a file are read when they are looked at

    def _refuse_change(self) -> None:
        """Stop if the file that is mapped has changed; one that took its place or its name is another."""
        if self._state is not None and self._state.is_there():
            self._state.refuse_change()

    def pieces(self, start: int, stop: int) -> tuple[Any, ...] | None:  # noqa: D102
        if not self.in_memory:
            return None  # a file: every process maps it for itself
        rows = slice(start, stop)
        return self.X[rows], None if self.weights is None else self.weights[rows]

    def without_rows(self) -> Source:  # noqa: D102
        return ArraySource(self.X[:0], self.names) if self.in_memory else self

    def reading(self, start: int, stop: int, pieces: Sequence[Any]) -> Source:  # noqa: D102
        part = ArraySource(pieces[0], self.names, pieces[1])
        part._first = start
        return part

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        if _is_mapped(self.X):
            state["X"] = _Mapped(self.X)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if isinstance(state["X"], _Mapped):
            file = None if state["_state"] is None else state["_state"].seen_again()
            state = {**state, "X": state["X"].open(), "_state": file}
        self.__dict__.update(state)


def _is_mapped(X: Any) -> bool:
    """Whether rows are in a file; what was computed from a memmap is called one too, but has none."""
    return isinstance(X, np.memmap) and X.filename is not None


class _Mapped:
    """What another process needs to map the same part of a file."""

    def __init__(self, X: Any) -> None:
        first = X
        while isinstance(first.base, np.memmap):
            first = first.base
        low, high = np.lib.array_utils.byte_bounds(X)
        begin = X.__array_interface__["data"][0]
        self.filename, self.dtype, self.shape, self.strides = X.filename, X.dtype, X.shape, X.strides
        # A part of a memmap has the offset of the whole: where it begins is known by its address.
        self.offset = first.offset + low - first.__array_interface__["data"][0]
        self.n_bytes, self.begin = high - low, begin - low

    def open(self) -> Any:
        if 0 in self.shape:
            return np.empty(self.shape, self.dtype)
        mapped = np.memmap(self.filename, np.uint8, "r", self.offset, (self.n_bytes,))
        X: Any = np.ndarray.__new__(np.memmap, self.shape, self.dtype, mapped, self.begin, self.strides)
        X.__array_finalize__(mapped)
        return X
