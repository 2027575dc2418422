"""What happens to files on disks and in bad hands: bytes that are changed, cut off, doubled or packed again."""

from __future__ import annotations

import gzip
import io
import zipfile
from collections.abc import Mapping

import numpy as np

BOMB = 1 << 26
"""Bytes that a small bomb unpacks to: more than is always allowed, little enough to fail without harm."""


def damaged(content: bytes, rng: np.random.Generator) -> bytes:
    """The bytes of a file after one to three accidents."""
    for _ in range(rng.integers(1, 4)):
        content = _ACCIDENTS[rng.integers(len(_ACCIDENTS))](content, rng)
    return content


def flip_bits(content: bytes, rng: np.random.Generator) -> bytes:
    """Change up to eight bytes."""
    found = bytearray(content)
    for _ in range(rng.integers(1, 9)) if found else ():
        found[rng.integers(len(found))] ^= 1 << int(rng.integers(8))
    return bytes(found)


def overwrite(content: bytes, rng: np.random.Generator) -> bytes:
    """Write noise, zeros or the largest numbers over a stretch."""
    start = int(rng.integers(len(content) + 1))
    length = int(rng.integers(1, 64))
    noise = (rng.bytes(length), bytes(length), b"\xff" * length)[rng.integers(3)]
    return content[:start] + noise + content[start + length :]


def cut_off(content: bytes, rng: np.random.Generator) -> bytes:
    """Lose the end, or less often the beginning."""
    place = int(rng.integers(len(content) + 1))
    return content[:place] if rng.random() < 0.8 else content[place:]


def insert_zeros(content: bytes, rng: np.random.Generator) -> bytes:
    """Put bytes of zero somewhere."""
    place = int(rng.integers(len(content) + 1))
    return content[:place] + bytes(int(rng.integers(1, 9))) + content[place:]


def swap_blocks(content: bytes, rng: np.random.Generator) -> bytes:
    """Exchange two stretches."""
    a, b, c, d = sorted(int(place) for place in rng.integers(len(content) + 1, size=4))
    return content[:a] + content[c:d] + content[b:c] + content[a:b] + content[d:]


def repeat_block(content: bytes, rng: np.random.Generator) -> bytes:
    """Have a stretch twice."""
    a, b = sorted(int(place) for place in rng.integers(len(content) + 1, size=2))
    return content[:b] + content[a:b] + content[b:]


def lose_block(content: bytes, rng: np.random.Generator) -> bytes:
    """Have a stretch not at all."""
    a, b = sorted(int(place) for place in rng.integers(len(content) + 1, size=2))
    return content[:a] + content[b:]


_ACCIDENTS = (flip_bits, flip_bits, overwrite, cut_off, insert_zeros, swap_blocks, repeat_block, lose_block)


def members(content: bytes) -> dict[str, bytes]:
    """The files of a zip archive by name."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(files: Mapping[str, bytes], *, compressed: bool = True) -> bytes:
    """A zip archive that is the same whenever it is made."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content, archive.compression)
    return target.getvalue()


def packed(content: bytes, name: str, rng: np.random.Generator) -> bytes:
    """A file in archives as nobody should make them; may be a bomb, or hold the file several times."""
    kind = rng.integers(8)
    if kind == 0:
        return zipped({f"../../{name}": content})
    if kind == 1:
        return zipped({"inner.zip": zipped({name: content})})
    if kind == 2:
        return zipped({name: content, f"again-{name}": content})
    if kind == 3:
        return zipped({})
    if kind == 4:
        return zipped({name: bytes(BOMB)})
    if kind == 5:
        return gzip.compress(bytes(BOMB), mtime=0)
    if kind == 6:
        return gzip.compress(gzip.compress(gzip.compress(content, mtime=0), mtime=0), mtime=0)
    return _lying_about_its_size(zipped({f"/{name}\r\n": content}), rng)


def _lying_about_its_size(content: bytes, rng: np.random.Generator) -> bytes:
    """An archive whose list of files states another size."""
    place = content.rfind(b"PK\x01\x02") + 24
    return content[:place] + rng.bytes(4) + content[place + 4 :]
