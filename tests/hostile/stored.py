"""Known tables in files whose cells have types: spreadsheets, JSON, and Parquet in any type that fits."""

from __future__ import annotations

import datetime
import io
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from hostile.sheets import excel_file, open_document_file
from hostile.texts import Written
from hostile.truths import DATE, GAP, NUMBER, TRUTH, Known, Truth

_CODECS = ("snappy", "gzip", "zstd", "lz4", "brotli", "none")


def write_workbook(truth: Truth, rng: np.random.Generator) -> Written:
    """A file of Excel with typed cells, here and there below a title or beside blank columns."""
    top, left = (int(rng.integers(0, 4)), int(rng.integers(0, 3))) if rng.random() < 0.3 else (0, 0)
    rows = [[*[None] * left, *row] for row in _rows(truth)]
    above: list[list[Any]] = [[] for _ in range(top)]
    if top == 3 and len(truth.columns) > 3:
        above[0] = [*[None] * left, "A title"]
    sheets = {"table": [*above, *rows]} | ({"blank": []} if rng.random() < 0.2 else {})
    ending = str(rng.choice(["xlsx", "csv", "xls"], p=[0.8, 0.1, 0.1]))
    return Written(excel_file(sheets), ending, clear=top + left == 0)


def write_open_document(truth: Truth, rng: np.random.Generator) -> Written:
    """A file of LibreOffice."""
    return Written(open_document_file({"table": _rows(truth)}), "ods", clear=True)


def _rows(truth: Truth) -> list[list[Any]]:
    return [list(truth.names), *truth.rows([column.values for column in truth.columns])]


def write_json(truth: Truth, rng: np.random.Generator) -> Written:
    """One object per line, an array, columns, or one of the ways of pandas."""
    columns = {column.name: [_plain(column, k) for k in range(truth.n_rows)] for column in truth.columns}
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    shape = rng.integers(6)
    if shape == 0:
        return Written("\n".join(_json(row) for row in rows).encode(), "jsonl", clear=True)
    if shape == 1:
        rows = [{name: cell for name, cell in row.items() if cell is not None} for row in rows]
    document: Any = rows
    if shape == 2:
        document = columns
    elif shape == 3:
        document = {"columns": list(columns), "data": [list(row.values()) for row in rows]}
    elif shape == 4:
        document = {"meta": {"version": 1}, "rows": rows}
    elif shape == 5:
        document = {name: {str(k): cell for k, cell in enumerate(cells)} for name, cells in columns.items()}
    text = json.dumps(document, ensure_ascii=bool(rng.integers(2)), indent=2 if rng.random() < 0.3 else None)
    return Written(text.encode(), "json", clear=shape not in (1, 4))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _plain(column: Known, k: int) -> Any:
    value = column.values[k]
    if isinstance(value, datetime.datetime):
        return value.isoformat(sep=" ")
    if (
        isinstance(value, float)
        and value.is_integer()
        and "." not in column.written[k]
        and "e" not in column.written[k]
    ):
        return int(column.written[k])
    return value


def write_parquet(truth: Truth, rng: np.random.Generator) -> Written:
    """Columns in any type that holds them exactly, packed in any way."""
    arrays = {column.name: _arrow(column, rng) for column in truth.columns}
    strange = rng.random() < 0.3
    if strange:
        kind = list(_STRANGE)[rng.integers(len(_STRANGE))]
        arrays[f"strange {kind}"] = _STRANGE[kind](truth.n_rows, rng)
    table = pa.table(arrays)
    if rng.random() < 0.2:
        table = _with_index(table, rng)
    target = io.BytesIO()
    pq.write_table(
        table,
        target,
        compression=str(rng.choice(_CODECS)),
        use_dictionary=bool(rng.integers(2)),
        data_page_version=str(rng.choice(["1.0", "2.0"])),
        row_group_size=int(rng.choice([1, 7, 1000])),
        version=str(rng.choice(["1.0", "2.4", "2.6"])),
        write_statistics=bool(rng.integers(2)),
        store_schema=bool(rng.integers(2)),
    )
    return Written(target.getvalue(), str(rng.choice(["parquet", "csv"], p=[0.9, 0.1])), clear=not strange)


def _with_index(table: pa.Table, rng: np.random.Generator) -> pa.Table:
    """As pandas stores a table with row names."""
    names = [str(10 * k) for k in range(table.num_rows)]
    index: Any = pd.Index(names, name=str(rng.choice(["index", "who"])))
    if rng.random() < 0.3:
        index = pd.MultiIndex.from_arrays([names, range(table.num_rows)], names=["first", None])
    frame = table.to_pandas(types_mapper=pd.ArrowDtype).set_axis(index)
    return pa.Table.from_pandas(frame)


def _arrow(column: Known, rng: np.random.Generator) -> pa.Array:
    values = list(column.values)
    if column.kind == NUMBER:
        fitting = [kind for kind in _NUMBER_TYPES if _holds(values, kind)]
        kind = fitting[rng.integers(len(fitting))]
        return pa.array([value if value is GAP else _as(value, kind) for value in values], kind)
    if column.kind == DATE:
        whole = all(day is GAP or day == datetime.datetime(day.year, day.month, day.day) for day in values)
        kinds = [pa.timestamp("s"), pa.timestamp("ms"), pa.timestamp("us"), pa.timestamp("us", "UTC")]
        kinds += [pa.timestamp("ns")] + ([pa.date32(), pa.date64()] if whole else [])
        return pa.array(values, kinds[rng.integers(len(kinds))])
    if column.kind == TRUTH:
        return pa.array(values, pa.bool_())
    kinds = [pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string()), pa.string_view()]
    kind = kinds[rng.integers(len(kinds))]
    found = pa.array(values, pa.string())
    return found.dictionary_encode() if pa.types.is_dictionary(kind) else found.cast(kind)


def _as(value: float, kind: pa.DataType) -> Any:
    return int(value) if pa.types.is_integer(kind) else value


def _holds(values: list[Any], kind: pa.DataType) -> bool:
    """Whether all numbers are exact in a type."""
    known = [value for value in values if value is not GAP]
    if kind == pa.float64():
        return True
    if pa.types.is_floating(kind):
        with np.errstate(over="ignore"):
            narrow = np.array(known).astype(kind.to_pandas_dtype())
        return bool((narrow.astype(float) == known).all())
    if not all(value.is_integer() and abs(value) < 2**63 for value in known):
        return False
    limits = np.iinfo(kind.to_pandas_dtype())
    return all(limits.min <= int(value) <= limits.max for value in known)


_NUMBER_TYPES = (
    *(pa.float64(), pa.float32(), pa.float16(), pa.int8(), pa.int16(), pa.int32(), pa.int64()),
    *(pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()),
)


def _decimals(n_rows: int, rng: np.random.Generator) -> pa.Array:
    return pa.array(rng.integers(1000, size=n_rows)).cast(pa.decimal128(20, 0)).cast(pa.decimal128(30, 4))


_STRANGE: dict[str, Callable[[int, np.random.Generator], pa.Array]] = {
    "list": lambda n, rng: pa.array([[1.0] * int(k) for k in rng.integers(3, size=n)], pa.list_(pa.float64())),
    "struct": lambda n, rng: pa.array([{"a": k, "b": str(k)} for k in range(n)]),
    "map": lambda n, rng: pa.array([[("a", k)] for k in range(n)], pa.map_(pa.string(), pa.int64())),
    "deep": lambda n, rng: pa.array([[[[{"a": [k]}]]] for k in range(n)]),
    "decimal": _decimals,
    "wide decimal": lambda n, rng: pa.array(range(n)).cast(pa.decimal256(60, 2)),
    "nothing": lambda n, rng: pa.nulls(n),
    "time": lambda n, rng: pa.array(rng.integers(86400, size=n, dtype=np.int32), pa.time32("s")),
    "span": lambda n, rng: pa.array(rng.integers(10**6, size=n), pa.duration("s")),
    "bytes": lambda n, rng: pa.array([rng.bytes(4) for _ in range(n)], pa.binary()),
    "fixed bytes": lambda n, rng: pa.array([rng.bytes(4) for _ in range(n)], pa.binary(4)),
    "far times": lambda n, rng: pa.array(rng.integers(-(2**62), 2**62, size=n), pa.timestamp("ms")),
    "numbers by name": lambda n, rng: pa.array(rng.integers(5, size=n)).dictionary_encode(),
}
