"""The content of a Parquet file as an Arrow table: what it becomes is counted before, and what is no cell left out."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from kfrc.sources.pages import FileParts, file_parts, n_described, unpacked_chunks
from kfrc.sources.spelled import coded_texts, spelled_bytes
from kfrc_app._unpacking import allowed_table
from kfrc_app.tables.columns import ROW_NAMES, DataError, counted, distinct_names, quoted, refuse_wide

_CELL = 8
"""Bytes of a number or a date, as which every cell that is no text is held."""

_VIEWS = {"string_view": pa.large_string(), "binary_view": pa.large_binary()}


@dataclass(frozen=True, eq=False)
class StoredTable:
    """A table as it is stored.

    Attributes
    ----------
    table : pyarrow.Table
        Names that differ; those of an index come first.
    row_names : tuple of str
        The columns that were the index; ``ROW_NAMES`` for one without a name.
    ordered : dict of str to bool
        The columns that were stored as categories, and whether these have an order.
    notes : tuple of str
    """

    table: Any
    row_names: tuple[str, ...]
    ordered: dict[str, bool]
    notes: tuple[str, ...]


def read_stored(content: bytes) -> StoredTable:
    """Read a Parquet file.

    Parameters
    ----------
    content : bytes

    Returns
    -------
    StoredTable
        Without columns of lists, objects and maps, which are named in a note.

    Raises
    ------
    DataError
        If the file is damaged, or becomes far more than it should.
    """
    try:
        return _read(content)
    except DataError:
        raise
    except MemoryError:
        raise DataError("the Parquet file does not fit into memory: pass over it in pieces (--memory 2GB)") from None
    except Exception as error:  # a damaged file can fail anywhere in Arrow
        told = (str(error).splitlines() or [type(error).__name__])[0]
        raise DataError(f"the Parquet file cannot be read, it seems to be damaged: {told}") from None


def _read(content: bytes) -> StoredTable:
    def read_at(start: int, n_bytes: int) -> bytes:
        return content[start : start + n_bytes]

    refuse_wide(n_described(read_at, len(content)))
    parts = file_parts(read_at, len(content))
    with pq.ParquetFile(io.BytesIO(content)) as file:
        schema = file.schema_arrow
    nested = [field.name for field in schema if _is_nested(field.type)]
    fields = [field for field in schema if not _is_nested(field.type)]
    _refuse_growth(content, parts, [field.name for field in fields])
    wanted = list(dict.fromkeys(field.name for field in fields))
    # Of columns with the same name, one of text tells how they are read.
    by_name = {field.name: field for field in sorted(fields, key=lambda field: not pa.types.is_primitive(field.type))}
    coded = coded_texts(parts, pa.schema([*by_name.values()]), range(len(parts.groups)), wanted)
    with pq.ParquetFile(io.BytesIO(content), page_checksum_verification=True, read_dictionary=coded) as file:
        table = _in_order(file.read(columns=wanted), schema, wanted)
    table.validate(full=True)
    limit = allowed_table(len(content))
    _refuse_text(sum(spelled_bytes(column) for column in table.columns), limit)
    names, notes = distinct_names([field.name for field in fields])
    table = table.rename_columns(names)
    for place, (name, field) in enumerate(zip(names, fields, strict=True)):
        if field.name in coded or str(field.type) in _VIEWS:
            table = table.set_column(place, name, table.column(place).cast(_VIEWS.get(str(field.type), field.type)))
    if nested:
        notes.append(f"left out {counted(nested, 'column')} of lists or objects, which are no cells: {quoted(nested)}")
    noted = _noted(schema)
    table, row_names = _with_index_first(table.replace_schema_metadata(None), noted, notes)
    return StoredTable(table, row_names, _categories(table, noted), tuple(notes))


def _in_order(read: Any, schema: Any, wanted: list[str]) -> Any:
    """The columns that are cells in the order of the file: Arrow reads all of one name together."""
    if len(read.column_names) == len(wanted):
        return read
    places = [j for name in wanted for j, field in enumerate(schema) if field.name == name]
    return read.select([places.index(j) for j, field in enumerate(schema) if not _is_nested(field.type)])


def _is_nested(kind: Any) -> bool:
    storage = getattr(kind, "storage_type", kind)
    return bool(pa.types.is_nested(storage) or pa.types.is_union(storage))


def _refuse_growth(content: bytes, parts: FileParts, names: list[str]) -> None:
    """Stop if the file becomes far more than it is, by what it says and by what stands before its pages."""
    limit, n_rows = allowed_table(len(content)), parts.n_rows
    wanted = {*names}
    chunks = [chunk for group in parts.groups for chunk in group if chunk.name in wanted]
    found = unpacked_chunks(chunks, lambda start, n_bytes: content[start : start + n_bytes])
    size = max(found.total, _CELL * n_rows * len(names))
    if size > limit:
        raise DataError(
            f"the Parquet file of {len(content) / 2**20:,.1f} MB grows to {size / 2**20:,.0f} MB ({n_rows:,} rows): "
            f"at most {limit / 2**20:,.0f} MB are read at once: pass over it in pieces (--memory 2GB), or store fewer "
            "columns"
        )


def _refuse_text(size: int, limit: int) -> None:
    if size > limit:
        raise DataError(
            f"the texts of the Parquet file grow to {size / 2**20:,.0f} MB, and at most {limit / 2**20:,.0f} MB are "
            "read at once: store fewer columns of long texts"
        )


def _noted(schema: Any) -> dict[str, Any]:
    """What pandas noted of a table; empty if nothing, or nothing that can be understood."""
    try:
        found = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _described(noted: dict[str, Any]) -> list[dict[str, Any]]:
    columns = noted.get("columns")
    return [column for column in columns if isinstance(column, dict)] if isinstance(columns, list) else []


def _with_index_first(table: Any, noted: dict[str, Any], notes: list[str]) -> tuple[Any, tuple[str, ...]]:
    """The table with its index, if one is stored, as its first columns, and their names."""
    listed = noted.get("index_columns")
    listed = listed if isinstance(listed, list) else []
    stored = [name for name in listed if isinstance(name, str) and name in table.column_names]
    stored = list(dict.fromkeys(stored))
    if not stored:
        return table, (ROW_NAMES,) if ROW_NAMES in table.column_names else ()
    called_so = {column.get("field_name"): column.get("name") for column in _described(noted) if _is_name(column)}
    row_names: list[str] = []
    for k, name in enumerate(stored):
        called = called_so.get(name, name)
        nameless = called is None or called == ""
        row_names.append(str(called) if not nameless else ROW_NAMES if ROW_NAMES not in row_names else f"level_{k}")
    others = [name for name in table.column_names if name not in stored]
    names, repeated = distinct_names([*row_names, *others])
    notes.extend(repeated)
    return table.select([*stored, *others]).rename_columns(names), tuple(names[: len(row_names)])


def _is_name(column: dict[str, Any]) -> bool:
    return isinstance(column.get("field_name"), str) and isinstance(column.get("name"), str | None)


def _categories(table: Any, noted: dict[str, Any]) -> dict[str, bool]:
    """Columns of categories and whether they are ordered: by their type, or by what pandas noted of them."""
    found = {}
    for column in _described(noted):
        about = column.get("metadata")
        if column.get("pandas_type") == "categorical" and isinstance(column.get("name"), str):
            found[column["name"]] = isinstance(about, dict) and bool(about.get("ordered"))
    typed = {str(f.name): bool(f.type.ordered) for f in table.schema if pa.types.is_dictionary(f.type)}
    return {name: ordered for name, ordered in (found | typed).items() if name in table.column_names}
