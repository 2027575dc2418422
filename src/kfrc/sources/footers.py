"""What the end of a Parquet file says of it: rows, row groups and columns, which all files of a source must share."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any, BinaryIO

import numpy as np

from kfrc.sources.base import SourceError
from kfrc.sources.pages import FileParts, ReadAt, file_parts

DAMAGED = (OSError, ValueError, TypeError, LookupError, ArithmeticError, NotImplementedError, RuntimeError, MemoryError)
"""What damaged files raise in Arrow, whose own errors are among these."""


class Footer:
    """The end of a Parquet file.

    Attributes
    ----------
    path : str
    size : int
        Bytes of the file.
    n_rows : int
    group_rows : ndarray of shape (n_groups,)
        Rows of every row group.
    schema : pyarrow.Schema
        Names and types of the columns.
    index_names : list of str
        The columns that were an index, by what pandas noted.
    """

    def __init__(self, path: str, size: int, metadata: Any, schema: Any) -> None:
        self.path, self.size, self.schema = path, size, schema.remove_metadata()
        self.n_rows = int(metadata.num_rows)
        self.group_rows = np.array([metadata.row_group(k).num_rows for k in range(metadata.num_row_groups)], dtype=int)
        if (self.group_rows < 0).any() or self.group_rows.sum() != self.n_rows:
            raise SourceError(f"{path} is damaged: its parts have other rows than it")
        self._parts: FileParts | None = None
        self.index_names = _index_names(schema)
        self.names = list(schema.names)
        self.kinds = [kind_of(field.type) for field in schema]

    @classmethod
    def read(cls, path: str) -> Footer:
        """Of a file.

        Raises
        ------
        SourceError
            If it is no Parquet file.
        """
        with opened(path) as file:
            try:
                return cls(path, os.path.getsize(path), file.metadata, file.schema_arrow)
            except SourceError:
                raise
            except DAMAGED as error:
                raise SourceError(f"{path} is no Parquet file, or is damaged: {first_line(error)}") from error

    def parts(self) -> FileParts:
        """The parts of the file, which are found when first asked for.

        Raises
        ------
        ValueError
            If it is damaged.
        """
        if self._parts is None:
            with open(self.path, "rb") as file:
                self._parts = file_parts(reading(file), self.size)
        return self._parts

    def refuse_other_names(self, first: Footer) -> None:
        """Stop if the columns are not those of the first file."""
        if self.names == first.names:
            return
        here, there = set(self.names) - set(first.names), set(first.names) - set(self.names)
        what = (
            f"has {_listed(here)}, which {first.path} has not"
            if here
            else f"lacks {_listed(there)}, which {first.path} has"
            if there
            else f"has its columns in another order than {first.path}"
        )
        raise SourceError(f"{self.path} {what}: all files must have the same columns")


def reading(file: BinaryIO) -> ReadAt:
    """Bytes of an opened file from a place on."""

    def read_at(start: int, n_bytes: int) -> bytes:
        file.seek(max(start, 0))
        return file.read(n_bytes)

    return read_at


def opened(path: str, coded: Sequence[str] = ()) -> Any:
    """A Parquet file, for reading; columns that are ``coded`` come as references to a list of values.

    Raises
    ------
    SourceError
        If it is none, or is not there.
    """
    import pyarrow.parquet as pq

    try:
        # Not mapped: a file that somebody cuts off while it is read would end the process without a word.
        return pq.ParquetFile(
            path, memory_map=False, pre_buffer=False, page_checksum_verification=True, read_dictionary=list(coded)
        )
    except FileNotFoundError:
        raise SourceError(f"{path} does not exist any more") from None
    except DAMAGED as error:
        raise SourceError(f"{path} is no Parquet file, or is damaged: {first_line(error)}") from error


def _index_names(schema: Any) -> list[str]:
    try:
        noted = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
        listed = noted.get("index_columns")
    except (ValueError, RecursionError, AttributeError):
        return []
    if not isinstance(listed, list):
        return []
    return [name for name in listed if isinstance(name, str) and name in schema.names]


def kind_of(kind: Any) -> str:
    """What a type of Arrow is: columns of several files must agree in that."""
    import pyarrow.types as types

    kind = _plain(kind)
    for name, found in (
        ("truth values", types.is_boolean),
        ("numbers", lambda k: types.is_integer(k) or types.is_floating(k) or types.is_decimal(k)),
        ("text", lambda k: types.is_string(k) or types.is_large_string(k) or str(k) == "string_view"),
        ("dates", lambda k: types.is_date(k) or types.is_timestamp(k)),
    ):
        if found(kind):
            return name
    return str(kind)


def shared_types(footers: Sequence[Footer]) -> dict[str, Any]:
    """Types for the columns of which files hold the same kind in several types, such as whole numbers and others.

    A column without any value may be of no type in some of the files.

    Raises
    ------
    SourceError
        If files hold different kinds.
    """
    import pyarrow as pa

    usual = {"numbers": pa.float64(), "text": pa.large_string(), "dates": pa.timestamp("us")}
    shared = {}
    for k, name in enumerate(footers[0].names):
        typed = [footer for footer in footers if footer.kinds[k] != "null"]
        for footer in typed[1:]:
            if footer.kinds[k] != typed[0].kinds[k]:
                raise SourceError(
                    f"column '{name}' holds {footer.kinds[k]} in {footer.path}, but {typed[0].kinds[k]} in "
                    f"{typed[0].path}: all files must agree"
                )
        views = any(str(footer.schema.types[k]) == "string_view" for footer in typed)  # few functions know these
        if views or any(footer.schema.types[k] != footers[0].schema.types[k] for footer in footers[1:]):
            shared[name] = usual.get(typed[0].kinds[k], _plain(typed[0].schema.types[k]))
    return shared


def first_line(error: BaseException) -> str:
    """What an error says, in one line."""
    return (str(error).splitlines() or [type(error).__name__])[0]


def _plain(kind: Any) -> Any:
    import pyarrow.types as types

    return kind.value_type if types.is_dictionary(kind) else kind


def _listed(names: set[str]) -> str:
    return ", ".join(f"'{name}'" for name in sorted(names)[:5])
