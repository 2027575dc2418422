"""How much a packed file may become when it is opened, and unpacking that never holds more than a part at a time."""

from __future__ import annotations

import bz2
import zipfile
import zlib
from collections.abc import Iterator

from kfrc._numerics import available_memory

MAX_UNPACKED = 1 << 30
"""Bytes that a packed file may have once it is unpacked: the whole of it is held in memory."""

MAX_GROWTH = 200
"""Times that a packed file may grow: tables grow up to about 50 times, files that are made to fill a memory 1000."""

ALWAYS_ALLOWED = 1 << 25
"""Bytes that do no harm, whatever the packed size: a small table of zeros grows more than others."""

ALWAYS_ALLOWED_TABLE = 1 << 28
"""Bytes that a table in a file of columns may have, whatever its packed size: a value that repeats takes none there."""

TABLE_SHARE = 0.25
"""Of the memory that can be had: what a table may take when it is read; working on it takes several times that."""

_CHUNK = 1 << 20
_PIECE = 1 << 14
"""Packed bytes that are unpacked at a time: what is left of them is copied, at every end of a packed part."""

_LOCAL_HEADER = 30  # bytes before the name of a part


def allowed_size(packed: int) -> int:
    """Bytes that may come out of a packed file of so many.

    Examples
    --------
    >>> from kfrc_app._unpacking import allowed_size
    >>> allowed_size(10) >> 20, allowed_size(1 << 20) >> 20, allowed_size(1 << 40) >> 20
    (32, 200, 1024)
    """
    return min(MAX_UNPACKED, max(ALWAYS_ALLOWED, MAX_GROWTH * packed))


def allowed_table(packed: int) -> int:
    """Bytes that a table may have once it is read from a file of so many that stores columns, such as Parquet.

    No more than a share of the memory, and not many times the size of the file unless it is small.
    """
    memory = available_memory()
    share = int(TABLE_SHARE * memory) if memory < float("inf") else MAX_UNPACKED
    return max(ALWAYS_ALLOWED_TABLE, min(share, MAX_GROWTH * packed))


def inflated(stream: zlib._Decompress, content: bytes, start: int = 0) -> Iterator[tuple[bytes, int]]:
    """What comes out of packed bytes, a bounded part at a time, and the place up to which they were read.

    Examples
    --------
    >>> import zlib
    >>> from kfrc_app._unpacking import inflated
    >>> list(inflated(zlib.decompressobj(), b"__" + zlib.compress(b"a,b") + b"more", start=2))
    [(b'a,b', 13)]
    """
    view = memoryview(content)
    for first in range(start, len(content), _PIECE):
        piece: memoryview | bytes = view[first : first + _PIECE]
        last = first + len(piece)
        while piece and not stream.eof:
            part = stream.decompress(piece, _CHUNK)
            piece = stream.unconsumed_tail
            yield part, last - len(piece) - len(stream.unused_data)
        if stream.eof:
            return


def raw_chunks(member: zipfile.ZipInfo, content: bytes) -> Iterator[bytes]:
    """What a part of a zip file unpacks to, whatever size it states.

    Parameters
    ----------
    member : ZipInfo
    content : bytes
        The whole zip file.

    Raises
    ------
    zipfile.BadZipFile
        If it is packed in another way than the usual ones.
    zlib.error, OSError, EOFError
        If it is damaged.
    """
    packed = _packed(member, content)
    if member.compress_type == zipfile.ZIP_STORED:
        yield packed
    elif member.compress_type == zipfile.ZIP_DEFLATED:
        for part, _ in inflated(zlib.decompressobj(-zlib.MAX_WBITS), packed):
            yield part
    elif member.compress_type == zipfile.ZIP_BZIP2:
        stream = bz2.BZ2Decompressor()
        part = stream.decompress(packed, _CHUNK)
        while part:
            yield part
            part = b"" if stream.eof else stream.decompress(b"", _CHUNK)
    else:
        raise zipfile.BadZipFile("packed in a way that is not known here")


def _packed(member: zipfile.ZipInfo, content: bytes) -> bytes:
    start = member.header_offset
    names = int.from_bytes(content[start + 26 : start + 28], "little")
    extra = int.from_bytes(content[start + 28 : start + 30], "little")
    start += _LOCAL_HEADER + names + extra
    return content[start : start + member.compress_size]


def whole_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, content: bytes, limit: int) -> bytes:
    """A part of a zip file, or so much of it that more than ``limit`` bytes came out.

    Raises
    ------
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, RuntimeError, ...
        If it is damaged, protected, or packed in a way that is not known.
    """
    parts, size, check = [], 0, 0
    with archive.open(member) as stream:  # looks at what the part says of itself
        if member.compress_type == zipfile.ZIP_BZIP2:  # the one way of which a few bytes become gigabytes at once
            for part in raw_chunks(member, content):
                parts.append(part)
                size, check = size + len(part), zlib.crc32(part, check)
                if size > limit:
                    return b"".join(parts)
            if check != member.CRC:
                raise zipfile.BadZipFile("bad checksum")
            return b"".join(parts)
        while size <= limit and (part := stream.read(_PIECE)):
            parts.append(part)
            size += len(part)
    return b"".join(parts)
