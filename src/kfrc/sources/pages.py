"""What a Parquet file unpacks to, by what its end says and by what stands before each of its pages.

The end of a file says how much its columns unpack to, and whoever made the file may have written anything there. What
takes the memory are pages, of which each begins with its own two sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kfrc.sources.compact import BINARY, I32, I64, Compact

ReadAt = Callable[[int, int], bytes]
"""Bytes from a place on, at most so many."""

MAGIC = b"PAR1"
_TAIL = 8  # bytes behind the description: its length, and the magic word
_COLUMN = {1: I32, 2: [I32], 3: [BINARY], 5: I64, 6: I64, 7: I64, 9: I64, 11: I64}
_FILE = {3: I64, 4: [{1: [{3: _COLUMN}], 3: I64}]}
_SCHEMA = 2
_PAGE = {2: I32, 3: I32}
_DICTIONARY = {2, 8}  # encodings by references to a list of values

_HEADER = 1 << 12
"""Bytes in which most headers of pages end; one with long values in its statistics is read again."""

_MAX_HEADER = 1 << 22


@dataclass(frozen=True)
class ColumnChunk:
    """A column of a row group.

    Attributes
    ----------
    name : str
        Its path in the schema, with dots.
    coded : bool
        Whether values are stored as references to a list of them.
    start, stop : int
        Where its pages are.
    unpacked : int
        Bytes that they unpack to, by the end of the file.
    """

    name: str
    coded: bool
    start: int
    stop: int
    unpacked: int


@dataclass(frozen=True)
class FileParts:
    """The parts of a file.

    Attributes
    ----------
    n_rows : int
    group_rows : tuple of int
        Rows of every row group.
    groups : tuple of tuples of ColumnChunk
    """

    n_rows: int
    group_rows: tuple[int, ...]
    groups: tuple[tuple[ColumnChunk, ...], ...]


def file_parts(read_at: ReadAt, size: int) -> FileParts:
    """The parts of a file of so many bytes, as its end describes them.

    Raises
    ------
    ValueError
        If it ends otherwise, or contradicts itself.
    """
    tail = read_at(size - _TAIL, _TAIL)
    length = int.from_bytes(tail[:4], "little")
    if size < 2 * _TAIL or tail[4:] != MAGIC or length > size - _TAIL:
        raise ValueError("it does not end like a Parquet file")
    try:
        found = Compact(read_at(size - _TAIL - length, length)).read(_FILE)
        groups = found.get(4, [])
        group_rows = tuple(group[3] for group in groups)
        parts = tuple(tuple(_chunk(column[3], size) for column in group[1]) for group in groups)
        n_rows = found[3]
    except (IndexError, KeyError):
        raise ValueError("the description at its end is cut off") from None
    if min(group_rows, default=0) < 0 or sum(group_rows) != n_rows:
        raise ValueError("its parts have other rows than it")
    return FileParts(n_rows, group_rows, parts)


def n_described(read_at: ReadAt, size: int) -> int:
    """How many columns a file says that it has, counted with what columns of lists and objects consist of.

    The description itself, of which there may be hundreds of megabytes, is not read.

    Raises
    ------
    ValueError
        If there is none.
    """
    tail = read_at(size - _TAIL, _TAIL)
    length = int.from_bytes(tail[:4], "little")
    try:
        return Compact(read_at(max(size - _TAIL - length, 0), min(length, _HEADER))).length_of_list(_SCHEMA) - 1
    except IndexError:
        raise ValueError("the description at its end is cut off") from None


def _chunk(described: dict[int, object], size: int) -> ColumnChunk:
    whole = {key: value for key, value in described.items() if isinstance(value, int)}
    start = min(whole[9], whole.get(11) or whole[9])
    stop, unpacked = start + whole[7], whole[6]
    if not 0 <= start <= stop <= size or unpacked < 0 or whole[5] < 0:
        raise ValueError("it has parts outside of it")
    names, encodings = described[3], described.get(2, [])
    assert isinstance(names, list)
    assert isinstance(encodings, list)
    name = ".".join(part.decode("utf-8", "replace") for part in names)
    return ColumnChunk(name, bool(_DICTIONARY & {*encodings}), start, stop, unpacked)


@dataclass(frozen=True)
class Unpacked:
    """What a column of some row groups unpacks to.

    Attributes
    ----------
    total : int
        Bytes of all its pages.
    largest : int
        Bytes of the largest, which is unpacked at once.
    """

    total: int
    largest: int


def unpacked_chunks(chunks: Sequence[ColumnChunk], read_at: ReadAt) -> Unpacked:
    """What parts of a column unpack to, by the headers of their pages and by the end of the file.

    Parameters
    ----------
    chunks : sequence of ColumnChunk
    read_at : callable
    """
    total = largest = 0
    for chunk in chunks:
        sizes = page_sizes(read_at, chunk.start, chunk.stop)
        total += max(sum(sizes), chunk.unpacked)
        largest = max(largest, *sizes, 0)
    return Unpacked(total, largest)


def page_sizes(read_at: ReadAt, start: int, stop: int) -> list[int]:
    """Bytes that pages between two places unpack to, up to the first that cannot be understood, as nobody reads on."""
    found = []
    while start < stop:
        header = _header(read_at, start)
        if header is None:
            break
        length, packed, unpacked = header
        found.append(unpacked)
        start += length + packed
    return found


def _header(read_at: ReadAt, start: int) -> tuple[int, int, int] | None:
    """Length of a header and the two sizes that it states; None if it is none."""
    n_bytes = _HEADER
    while n_bytes <= _MAX_HEADER:
        content = read_at(start, n_bytes)
        reader = Compact(content)
        try:
            found = reader.read(_PAGE)
        except IndexError:
            if len(content) < n_bytes:
                return None
            n_bytes *= 32
        except ValueError:
            return None
        else:
            unpacked, packed = found.get(2, -1), found.get(3, -1)
            return (reader.place, packed, unpacked) if min(packed, unpacked) >= 0 else None
    return None
