"""Structures of Thrift's compact protocol, by which Parquet files describe themselves: what is wanted of them is read.

Arrow reads them as well, but asked for the sizes of a column it ends the process if a damaged file contradicts itself.
"""

from __future__ import annotations

from typing import Any

TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(1, 13)
"""Types of fields."""

_STOP = 0
_MAX_DEPTH = 16
_MAX_SHIFT = 63

Wanted = dict[int, Any]
"""Fields by their numbers: a type, ``{...}`` for a structure with such fields, ``[...]`` for a list of one of these."""


class Compact:
    """Reads structures from bytes.

    Parameters
    ----------
    content : bytes
    place : int, default=0
        Where to begin; behind what was read afterwards.
    """

    def __init__(self, content: bytes, place: int = 0) -> None:
        self.content, self.place = content, place

    def read(self, wanted: Wanted, depth: int = 0) -> dict[int, Any]:
        """The wanted fields of a structure that are there.

        Raises
        ------
        IndexError
            If it goes on behind the end.
        ValueError
            If it is none.
        """
        _refuse_depth(depth)
        found: dict[int, Any] = {}
        field = 0
        while (head := self._byte()) != _STOP:
            field = field + (head >> 4) if head >> 4 else self._signed()
            kind, asked = head & 15, wanted.get(field)
            if asked is not None and kind == _kind(asked):
                found[field] = self._value(kind, asked, depth)
            else:
                self._skip(kind, depth)
        return found

    def length_of_list(self, wanted: int) -> int:
        """How many items the list in a field has that stands before all structures; none of them is read.

        Raises
        ------
        IndexError, ValueError
            If there is no such list.
        """
        field = 0
        while head := self._byte():
            field = field + (head >> 4) if head >> 4 else self._signed()
            if field == wanted and head & 15 == LIST:
                return self._number_of_items(self._byte())
            self._skip(head & 15, 0)
        raise ValueError("no such list")

    def _value(self, kind: int, asked: Any, depth: int) -> Any:
        if kind == STRUCT:
            return self.read(asked, depth + 1)
        if kind == LIST:
            item, n_items = self._list()
            if item != _kind(asked[0]):
                raise ValueError("a list of something else")
            return [self._value(item, asked[0], depth + 1) for _ in range(n_items)]
        if kind == BINARY:
            length = self._number()
            self._move(length)
            return self.content[self.place - length : self.place]
        return self._signed()

    def _byte(self) -> int:
        self.place += 1
        return self.content[self.place - 1]

    def _move(self, n_bytes: int) -> None:
        self.place += n_bytes
        if self.place > len(self.content):
            raise IndexError

    def _number(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
            if shift > _MAX_SHIFT:
                raise ValueError("a number without end")

    def _signed(self) -> int:
        value = self._number()
        return (value >> 1) ^ -(value & 1)

    def _list(self) -> tuple[int, int]:
        """Type and number of items; each takes a byte at least."""
        head = self._byte()
        n_items = self._number_of_items(head)
        if n_items > len(self.content) - self.place:
            raise IndexError
        return head & 15, n_items

    def _number_of_items(self, head: int) -> int:
        return head >> 4 if head >> 4 < 15 else self._number()

    def _skip(self, kind: int, depth: int) -> None:
        _refuse_depth(depth)
        if kind in (TRUE, FALSE):
            return
        if kind in (I16, I32, I64):
            self._number()
        elif kind in (BYTE, DOUBLE):
            self._move(1 if kind == BYTE else 8)
        elif kind == BINARY:
            self._move(self._number())
        elif kind in (LIST, SET):
            item, n_items = self._list()
            for _ in range(n_items):
                self._skip_item(item, depth)
        elif kind == MAP:
            n_items = self._number()
            kinds = self._byte() if n_items else 0
            for _ in range(min(n_items, len(self.content))):
                self._skip_item(kinds >> 4, depth)
                self._skip_item(kinds & 15, depth)
        elif kind == STRUCT:
            while (head := self._byte()) != _STOP:
                if not head >> 4:
                    self._number()
                self._skip(head & 15, depth + 1)
        else:
            raise ValueError("a field of no type")

    def _skip_item(self, kind: int, depth: int) -> None:
        if kind in (TRUE, FALSE):  # in a list they take a byte
            self._move(1)
        else:
            self._skip(kind, depth + 1)


def _kind(asked: Any) -> int:
    if isinstance(asked, dict):
        return STRUCT
    return LIST if isinstance(asked, list) else int(asked)


def _refuse_depth(depth: int) -> None:
    if depth > _MAX_DEPTH:
        raise ValueError("structures within structures without end")
