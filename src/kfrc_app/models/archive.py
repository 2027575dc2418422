"""A model file before anything is made of it: what it unpacks to, how deep it is, and which kinds of things it holds.

A ``.skops`` file is a zip file with one JSON document that describes objects, and one file for every array. All of it
is looked at here, by counting and without building anything, so that what follows takes a bounded amount of memory and
calls no constructor with arguments from the file.
"""

from __future__ import annotations

import io
import json
import math
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from typing import Any

import numpy as np
from numpy.lib import format as npy

from kfrc_app._unpacking import allowed_size, raw_chunks
from kfrc_app.models.errors import ModelError

SCHEMA = "schema.json"
"""The document that describes the objects."""

MAX_DEPTH = 120
"""Objects within objects, as the document nests them: models have about 20."""

MAX_VALUES = 20_000_000
"""Values of the document. A table of 50 000 columns, the widest that is fitted, leads to about half as many."""

SPARSE = "SparseMatrixNode"
"""How sparse matrices are kept: as a zip file of arrays within the file."""

_BUILTINS = frozenset({"dict", "list", "tuple", "set", "str", "int", "float", "bool", "complex", "NoneType", "bytes"})
_PLAIN = {
    "DictNode": ("builtins.dict", "collections.OrderedDict"),
    "ListNode": ("builtins.list",),
    "SetNode": ("builtins.set",),
    "TupleNode": ("builtins.tuple",),
    "DTypeNode": ("numpy.dtype",),
    "SliceNode": ("builtins.slice",),
    "RandomStateNode": ("numpy.random.mtrand.RandomState",),
    "RandomGeneratorNode": ("numpy.random._generator.Generator",),
}
"""What is made by calling a class, by the way in which it is made."""

_DAMAGED = (zipfile.BadZipFile, zlib.error, struct.error, OSError, EOFError, ValueError, RuntimeError)
"""What damaged files raise; a `ModelError` is one of them."""


def read_document(content: bytes) -> dict[str, Any]:
    """The document of a model file, whose parts are counted before.

    Parameters
    ----------
    content : bytes
        The whole file.

    Raises
    ------
    zipfile.BadZipFile
        If it is no zip file.
    ModelError
        If it is damaged, or unpacks to far more than it should. Messages go on behind the name of the file.
    """
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        _refuse_growth(archive, content)
        try:
            return _document(archive)
        except KeyError:
            raise ModelError("is not a model of this program: it describes no objects") from None
        except (*_DAMAGED, RecursionError) as error:
            raise _damaged(error) from None


def without_chance(content: bytes) -> bytes:
    """A model file without what differs between equal models: addresses in memory, times, and the order of sets.

    Parameters
    ----------
    content : bytes
        As skops writes it: objects and files of arrays are called by addresses.
    """
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as archive, zipfile.ZipFile(target, "w") as renewed:
        document = json.loads(archive.read(SCHEMA))
        files: dict[str, str] = {}
        _renumber(document, {}, files)
        for name, member in {SCHEMA: SCHEMA, **files}.items():
            found = archive.getinfo(name)
            known = zipfile.ZipInfo(member)  # without the time
            known.compress_type = found.compress_type
            renewed.writestr(known, json.dumps(document, indent=2) if name == SCHEMA else archive.read(found))
    return target.getvalue()


def _renumber(node: Any, numbers: dict[Any, int], files: dict[str, str]) -> None:
    """Number objects and files in the order in which they are described; equal texts and numbers are one object."""
    if isinstance(node, list):
        for item in node:
            _renumber(item, numbers, files)
        return
    if not isinstance(node, dict):
        return
    if node.get("__loader__") == "SetNode":
        node["content"].sort(key=_told_of)
    for key, value in node.items():
        if key == "__id__" and isinstance(value, int):  # a mapping may have such a key of its own
            plain = node.get("__loader__") == "JsonNode"
            node[key] = numbers.setdefault((node["__class__"], node["content"]) if plain else value, len(numbers) + 1)
        elif key == "file" and isinstance(value, str):
            node[key] = files.setdefault(value, f"{len(files)}{PurePosixPath(value).suffix}")
        else:
            _renumber(value, numbers, files)


def _told_of(node: Any) -> str:
    """What a description says beside addresses."""
    if isinstance(node, dict):
        return str([(key, _told_of(value)) for key, value in node.items() if key not in ("__id__", "file")])
    return str([_told_of(item) for item in node]) if isinstance(node, list) else repr(node)


def check_parts(content: bytes, document: dict[str, Any], allowed: Callable[[str], bool]) -> None:
    """Look at all objects that a document describes before any is made.

    Parameters
    ----------
    content : bytes
        The whole file.
    document : dict
    allowed : callable
        Whether objects of a class with this full name may be in it.

    Raises
    ------
    ModelError
        If there are others, they are too many or too deep, or arrays are larger than the file.
    """
    limit, size = _allowed(content), 0
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {member.filename: member for member in archive.infolist()}
        for node in _nodes(document):
            _refuse_kind(node, allowed)
            if "file" in node:
                member = members.get(node["file"]) if isinstance(node["file"], str) else None
                if member is None:
                    raise ModelError("is damaged: it names a part that it does not have")
                size += member.file_size  # a part that is named often is read as often
                if size > limit:
                    raise _too_large(size, limit)
                if node["__loader__"] == SPARSE:
                    _check_matrix(archive.read(member))
                else:
                    _check_array(archive, member)


def _allowed(content: bytes) -> int:
    return max(len(content), allowed_size(len(content)))


def _too_large(size: int, limit: int) -> ModelError:
    return ModelError(
        f"unpacks to more than {limit / 2**20:,.0f} MB (at least {size / 2**20:,.0f} MB), which no model of its size "
        "does: use the model.skops that `kfrc fit` wrote, as it was written"
    )


def _refuse_growth(archive: zipfile.ZipFile, content: bytes) -> None:
    """Stop if the parts are larger than they may be, by what they state and by what comes out of them."""
    limit, size = _allowed(content), 0
    stated = sum(member.file_size for member in archive.infolist())
    if stated > limit:
        raise _too_large(stated, limit)
    seen: set[str] = set()
    for member in archive.infolist():
        if member.filename in seen:
            raise ModelError("is damaged: it has two parts of one name")
        seen.add(member.filename)
        if member.flag_bits & 1:
            raise ModelError("is protected with a password, as no model of this program is")
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ModelError("is packed in a way in which no model of this program is")
        found = 0
        try:
            for chunk in raw_chunks(member, content):
                found += len(chunk)
                if size + found > limit:
                    raise _too_large(size + found, limit)
        except _DAMAGED as error:
            raise _damaged(error) from None
        if found != member.file_size:
            raise ModelError("is damaged: a part of it has another size than it states")
        size += found


def _document(archive: zipfile.ZipFile) -> dict[str, Any]:
    text = archive.read(SCHEMA)
    if sum(map(text.count, (b",", b"[", b"{"))) > MAX_VALUES:
        raise ModelError(f"describes more than {MAX_VALUES:,} values, which no model of this program does")
    document = json.loads(text)
    if not isinstance(document, dict):
        raise ModelError("is not a model of this program: it describes no objects")
    return document


def _nodes(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """All descriptions of objects, without recursion."""
    waiting: list[tuple[Any, int]] = [(document, 1)]
    while waiting:
        found, depth = waiting.pop()
        if depth > MAX_DEPTH:
            raise ModelError(f"has objects within objects more than {MAX_DEPTH} deep, as no model of this program has")
        if isinstance(found, dict):
            if "__loader__" in found:
                yield found
            waiting += [(value, depth + 1) for value in found.values()]
        elif isinstance(found, list):
            waiting += [(value, depth + 1) for value in found]


def _refuse_kind(node: dict[str, Any], allowed: Callable[[str], bool]) -> None:
    """Stop at what no model holds: only objects of own classes, which get their attributes and are not called."""
    name = f"{node.get('__module__')}.{node.get('__class__')}"
    module, _, called = name.rpartition(".")
    loader = str(node["__loader__"])
    if loader in ("ObjectNode", SPARSE) or (loader == "TupleNode" and name != "builtins.tuple"):
        known = allowed(name)
    elif loader == "ConstructorFromReduceNode" or name == "collections.Counter":
        known = allowed(name) and module in ("collections", "datetime")
    elif loader == "TypeNode":
        known = (module == "builtins" and called in _BUILTINS) or _is_number(module, called)
    elif loader == "NdArrayNode":
        known = name == "numpy.ndarray" or _is_number(module, called)
    else:
        known = loader in ("JsonNode", "CachedNode") or name in _PLAIN.get(loader, ())
    if not known:
        raise ModelError(
            f"was refused: it contains {name}, which no model of this program contains. Do not use files from people "
            "you do not trust"
        )


def _is_number(module: str, name: str) -> bool:
    found = getattr(np, name, None) if module == "numpy" else None
    return isinstance(found, type) and issubclass(found, np.generic) and not issubclass(found, np.void | np.object_)


def _check_matrix(content: bytes) -> None:
    """Stop if the arrays of a sparse matrix, a packed file within the file, are larger than they may be."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            _refuse_growth(archive, content)
            for member in archive.infolist():
                _check_array(archive, member)
    except _DAMAGED as error:
        raise _damaged(error) from None


def _check_array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> None:
    """Stop if an array says that it is larger than it is: memory is taken by what it says."""
    try:
        with archive.open(member) as stream:
            read = _HEADERS[npy.read_magic(stream)]
            shape, _, kind = read(stream)
            size = member.file_size - stream.tell()
    except Exception as error:  # the header is parsed as Python, which fails in many ways
        raise ModelError(f"is damaged: an array cannot be read, {_told(error)}") from None
    if kind.hasobject or kind.names is not None or kind.itemsize == 0 or math.prod(shape) * kind.itemsize != size:
        raise ModelError("is damaged: an array has another size than it states")


_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


def _damaged(error: BaseException) -> ModelError:
    return error if isinstance(error, ModelError) else ModelError(f"is damaged: {_told(error)}")


def _told(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
