"""Tables beyond memory: which files they are, and what their columns are for, found out from the first rows.

The roles of the columns are those that :func:`kfrc_app.tables.read_table` would find in a file with the first rows
alone; types are what the files say, or what the user does.
"""

from __future__ import annotations

import glob
import io
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from kfrc.blocks import SAMPLE_ROWS
from kfrc.sources import CSVSource, ParquetSource, sampled_rows, table_of_rows
from kfrc.sources.footers import DAMAGED, reading
from kfrc.sources.pages import n_described
from kfrc.typing import IntArray
from kfrc_app.tables.columns import MAX_COLUMNS, DataError, quoted
from kfrc_app.tables.kinds import Kind, Wish
from kfrc_app.tables.parquet import parse_parquet
from kfrc_app.tables.rows import Missing
from kfrc_app.tables.survey import Survey, refuse_most_left_out, survey
from kfrc_app.tables.table import Table, read_table
from kfrc_app.tables.understanding import kind_of

MANY_ROWS = 1_000_000
"""Rows of a Parquet file from which on it is not read into memory, whatever is asked for."""

_FIRST_ROWS = 2000
_TEXT = (".csv", ".tsv", ".tab", ".txt")


@dataclass(frozen=True, eq=False)
class TableBeyond:
    """A table that is passed over in pieces.

    Attributes
    ----------
    source : ParquetSource or CSVSource
        Of the columns that are clustered by.
    column_types : dict
        What they are, where the files do not say it.
    ids : tuple of str
        Columns that name the rows.
    label : str or None
        The column of known groups.
    notes : tuple of str
    """

    source: Any
    column_types: dict[str, Any]
    ids: tuple[str, ...]
    label: str | None
    notes: tuple[str, ...]

    def rows(self, rows: IntArray) -> pa.Table:
        """Some rows of the columns that have a role."""
        names = [*self.source.names, *self.ids, *([] if self.label is None else [self.label])]
        names += [] if self.source.weight_name is None else [self.source.weight_name]
        return table_of_rows(self.source, rows, list(dict.fromkeys(names)))


def is_beyond(data: str) -> bool:
    """Whether what was typed is a pattern, a folder, or a Parquet file that is too long to be read at once."""
    path = os.path.expanduser(data)
    if os.path.isdir(path) or (glob.has_magic(path) and not os.path.exists(path)):
        return True
    if os.path.splitext(path)[1] not in (".parquet", ".pq") or not os.path.isfile(path):
        return False
    try:
        with open(path, "rb") as file:
            if n_described(reading(file), os.path.getsize(path)) > MAX_COLUMNS:
                return False  # the reader refuses it
        return int(pq.read_metadata(path).num_rows) > MANY_ROWS
    except DAMAGED:
        return False  # whoever reads it says what is wrong with it


def open_beyond(
    data: str,
    *,
    columns: Sequence[str] = (),
    drop: Sequence[str] = (),
    label_column: str | None = None,
    id_column: str | None = None,
    weight_column: str | None = None,
    types: Mapping[str, Wish] | None = None,
    missing: Missing = Missing.PARTIAL,
) -> TableBeyond:
    """Open a table that need not fit into memory.

    Parameters
    ----------
    data : str
        A file, a folder or a pattern of Parquet files, or of text files.
    columns, drop, label_column, id_column, weight_column, types, missing
        As in :func:`kfrc_app.tables.read_table`.

    Returns
    -------
    TableBeyond

    Raises
    ------
    DataError
        If the columns cannot be used as the user says.
    SourceError
        If the files cannot be read.
    """
    if missing is Missing.DROP:
        raise DataError("--missing drop needs the whole table in memory: use partial, level or error")
    whole = _whole(data)
    read = partial(
        survey,
        parse_parquet(_first_rows(whole)),
        label_column=label_column,
        id_column=id_column,
        weight_column=weight_column,
        blank_is_level=missing is Missing.LEVEL,
    )
    wishes = types or {}
    roles = read(columns=columns, drop=drop, types=wishes)
    refuse_most_left_out(roles)
    used, column_types, as_text = _types(whole, roles, wishes)
    if not used:
        raise DataError("no column of the files can be clustered by")
    notes = list(roles.notes)
    if as_text:
        kept = {name: wish for name, wish in wishes.items() if name not in as_text}
        again = read(columns=used if columns else (), drop=(*drop, *as_text), types=kept)
        notes = [
            *again.notes,  # nothing of how text would have been read
            f"{len(as_text)} column(s) hold numbers or dates as text and are left out: {quoted(as_text)}; store them "
            "as numbers or dates",
        ]
    return TableBeyond(_restricted(whole, used, roles.weight), column_types, roles.names, roles.label, tuple(notes))


def _whole(data: str) -> Any:
    """All columns of the files."""
    path = os.path.expanduser(data)
    suffixes = {Path(file).name.lower().removesuffix(".gz") for file in glob.glob(path) or [path]}
    if not os.path.isdir(path) and all(name.endswith(_TEXT) for name in suffixes):
        return CSVSource(data)
    return ParquetSource(data)


def open_new_rows(data: str, names: Sequence[str]) -> Any:
    """The columns that a model was fitted on, of files in pieces.

    Raises
    ------
    SourceError
        If a column is missing, or the files cannot be read.
    """
    return _restricted(_whole(data), list(names), None)


def _restricted(whole: Any, columns: list[str], weights: str | None) -> Any:
    """The same files with the columns that are clustered by."""
    if isinstance(whole, CSVSource):
        return whole.restricted(columns, weights)
    return ParquetSource(list(whole.files), columns, weights)


def _first_rows(whole: Any) -> bytes:
    """The first rows as a Parquet file."""
    names = list(whole.all_names)
    n_rows = min(_FIRST_ROWS, whole.n_rows)
    found = whole.named_columns(0, n_rows, names)
    buffer = io.BytesIO()
    pq.write_table(_with_index(whole, pa.table(dict(zip(names, found, strict=True)))), buffer)
    return buffer.getvalue()


def _with_index(source: Any, rows: pa.Table) -> pa.Table:
    """Rows of a source with a note of which columns were an index; they are called as they are stored."""
    noted = json.dumps({"index_columns": list(getattr(source, "index_names", ()))})
    return rows.replace_schema_metadata({"pandas": noted})


def _types(whole: Any, roles: Survey, wishes: Mapping[str, Wish]) -> tuple[list[str], dict[str, Any], list[str]]:
    """Columns to cluster by, types that the files do not say, and columns whose text would have to be parsed."""
    first = dict(zip(whole.all_names, whole.named_columns(0, 1, list(whole.all_names)), strict=True))
    used: list[str] = []
    column_types: dict[str, Any] = {}
    as_text: list[str] = []
    for name, series in roles.found.series.items():
        stored, kind, wish = first[name].type, kind_of(series), wishes.get(name)
        is_text = pa.types.is_string(stored) or pa.types.is_large_string(stored)
        if is_text and kind in (Kind.NUMERIC, Kind.DATE):
            as_text.append(name)
            continue
        used.append(name)
        if wish is not None and wish.kind is Kind.ORDINAL and wish.levels:
            column_types[name] = ("ordinal", list(wish.levels))
        elif wish is not None:
            column_types[name] = str(wish.kind)
        elif is_text and kind is Kind.ORDINAL:
            column_types[name] = ("ordinal", series.cat.categories.tolist())
    return used, column_types, as_text


def read_sample(data: str, roles: Mapping[str, Any]) -> Table:
    """Some rows of a table beyond memory, read like a file of their own.

    Parameters
    ----------
    data : str
    roles : mapping
        What :func:`open_beyond` and :func:`kfrc_app.tables.read_table` are told of the columns.
    """
    table = open_beyond(data, **roles)
    rows = sampled_rows(table.source.n_rows, SAMPLE_ROWS)
    with tempfile.TemporaryDirectory(prefix="kfrc-", ignore_cleanup_errors=True) as folder:
        path = os.path.join(folder, "sample.parquet")
        pq.write_table(_with_index(table.source, table.rows(rows)), path)
        found = read_table(path, **roles)
    if len(rows) == table.source.n_rows:
        return found
    note = f"computed from {len(rows):,} of {table.source.n_rows:,} rows, chosen at random"
    return replace(found, notes=(note, *found.notes))
