"""Files that must stay as they were when their rows were counted, or what is computed is of other rows."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from kfrc.sources.base import SourceError

_WHOLE = 1 << 28
"""Bytes of all files of a source that are read to know them again, about a quarter of a second; of longer files it is
their time, their end and some blocks."""

_FEWEST_WHOLE = 1 << 18
"""Bytes up to which files are read whole, however many they are."""

_BLOCK = 1 << 16
_MOST_BLOCKS = 64

Stamp = tuple[int, ...]
"""Size and time of the last change of a file, then what differs where a file was put in its place or only moved."""


@dataclass(frozen=True)
class FileState:
    """A file as it is when its rows are counted.

    A file that is touched, or replaced by a copy of itself, is the same; one with other bytes is not, whatever its size
    and time. Files that are too long to be read for this are the same as long as their size, time, end and some blocks
    are.

    Attributes
    ----------
    path : str
    stamp : tuple of int
    limit : int
        Bytes up to which the whole file is compared.
    digest : str
    original : FileState or None
        What the file is a copy of, which must not change either.
    """

    path: str
    stamp: Stamp
    limit: int
    digest: str
    original: FileState | None = None

    @classmethod
    def of(cls, path: str, limit: int = _WHOLE) -> FileState:
        """The state of a file.

        Raises
        ------
        SourceError
            If it is gone.
        """
        stamp = stamp_of(path)
        return cls(path, stamp, limit, _digest(path, stamp, limit))

    def is_there(self) -> bool:
        """Whether the path still leads to the same file, changed or not, and not to another one or nowhere."""
        try:
            return stamp_of(self.path)[-2:] == self.stamp[-2:]
        except SourceError:
            return False

    def seen_again(self) -> FileState:
        """The state of the same content where another process finds it.

        Raises
        ------
        SourceError
            If the file has changed, or is gone.
        """
        found = stamp_of(self.path)
        self.refuse_change()
        return replace(self, stamp=found)

    def refuse_change(self) -> None:
        """Stop if the file, or its original, has changed; costs nothing unless one was written, touched or moved.

        Raises
        ------
        SourceError
            If it has, or is gone.
        """
        if self.original is not None:
            self.original.refuse_change()
        found = stamp_of(self.path)
        if found == self.stamp:
            return
        if found[0] != self.stamp[0] or _digest(self.path, found, self.limit) != self.digest:
            long = "" if self.stamp[0] <= self.limit else " (or only its time, which decides for so long a file)"
            raise SourceError(f"{self.path} has changed{long} since its rows were counted: begin again")


def states_of(paths: Sequence[str]) -> tuple[FileState, ...]:
    """States of the files of a source, which share what may be read of them."""
    limit = max(_WHOLE // max(len(paths), 1), _FEWEST_WHOLE)
    return tuple(FileState.of(path, limit) for path in paths)


def fingerprint_of(states: Sequence[FileState]) -> list[list[Any]]:
    """Name, size and digest of files, in JSON."""
    return [[state.path, state.stamp[0], state.digest] for state in states]


def stamp_of(path: str) -> Stamp:
    """Size, times and place of a file.

    Raises
    ------
    SourceError
        If it is gone.
    """
    try:
        known = os.stat(path)
    except FileNotFoundError:
        raise SourceError(f"{path} does not exist any more") from None
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror or error}") from None
    return known.st_size, known.st_mtime_ns, known.st_ctime_ns, known.st_dev, known.st_ino


@lru_cache(maxsize=1 << 14)
def _digest(path: str, stamp: Stamp, limit: int) -> str:
    """Of all bytes of a file, or of its time, its end and some blocks; found once for each state of a file."""
    size, changed = stamp[:2]
    found = hashlib.sha256(repr(size if size <= limit else (size, changed)).encode())
    try:
        with open(path, "rb") as file:
            if size <= limit:
                while block := file.read(1 << 20):
                    found.update(block)
            else:
                n_blocks = min(limit // _BLOCK, _MOST_BLOCKS)
                for k in range(1, n_blocks + 1):
                    file.seek(max(size - _BLOCK, 0) * k // n_blocks)
                    found.update(file.read(_BLOCK))
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror or error}") from None
    return found.hexdigest()
