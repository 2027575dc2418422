"""A table file as the application uses it: columns to cluster, names of the rows, known labels, what was noticed."""

from __future__ import annotations

import difflib
import io
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kfrc_app.tables.delimited import ROW_NAMES, DataError, ParsedText, parse_delimited, parse_matrix, quoted

STANDARD_INPUT = "-"
MIN_ROWS = 3
MAX_COLUMNS = 500
"""One bandwidth is searched per column; beyond this the search takes hours rather than minutes."""

_PARQUET_MAGIC = b"PAR1"
_MAX_LOST_SHARE = 0.5  # of the rows: losing more to missing values is a mistake, not a clean-up
_LABEL_NAMES = {"label", "labels", "class", "target", "y", "species", "group", "cluster"}
_MAX_GROUPS = 30


class Missing(StrEnum):
    """What happens to rows with missing values."""

    DROP = "drop"
    ERROR = "error"


@dataclass(frozen=True)
class Table:
    """Numbers to cluster and what else is known of the rows.

    Attributes
    ----------
    data : DataFrame of shape (n_rows, n_columns)
        Finite float64 columns.
    ids : ndarray of shape (n_rows,)
        Names of the rows, by default their position in the file, from 1.
    labels : ndarray of shape (n_rows,) or None
        Known groups, never used for clustering.
    notes : tuple of str
        What a reader of the result should know of how the file was read.
    """

    data: pd.DataFrame
    ids: NDArray[Any]
    labels: NDArray[Any] | None
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Dissimilarities:
    """A square matrix and the names of its rows.

    Attributes
    ----------
    matrix : DataFrame of shape (n_rows, n_rows)
    ids : ndarray of shape (n_rows,)
    notes : tuple of str
    """

    matrix: pd.DataFrame
    ids: NDArray[Any]
    notes: tuple[str, ...]


def read_table(
    source: str,
    *,
    columns: Sequence[str] = (),
    drop: Sequence[str] = (),
    label_column: str | None = None,
    id_column: str | None = None,
    missing: Missing = Missing.DROP,
) -> Table:
    """Read a CSV, TSV or Parquet file and keep what can be clustered.

    Parameters
    ----------
    source : str
        A path, or ``"-"`` for standard input.
    columns : sequence of str
        Columns to cluster by; empty means every column of numbers. An entry may hold several names between commas.
    drop : sequence of str
        Columns to leave out.
    label_column, id_column : str, optional
        Columns that are kept aside.
    missing : Missing, default="drop"

    Returns
    -------
    Table

    Raises
    ------
    DataError
        If nothing is left to cluster, and why.
    """
    frame, noticed = _load(source)
    notes = list(noticed)
    labels = _take(frame, label_column)
    ids = _take(frame, id_column)
    aside = {name for name in (label_column, id_column) if name is not None}
    if ROW_NAMES in frame.columns:
        if ids is None:
            ids = frame[ROW_NAMES]
        aside.add(ROW_NAMES)
        notes.append("the first column has no name and was taken as names of the rows")
    dropped = {*_named(frame, drop), *aside}
    if columns:
        chosen = [name for name in _named(frame, columns) if name not in dropped]
    else:
        chosen = [name for name in frame.columns if name not in dropped]
        chosen = _without_text(frame, chosen, notes)
        chosen = _without_empty(frame, chosen, notes)
        notes.extend(_suspicions(frame[chosen]))
    data = _numbers(frame, chosen)
    if data.shape[1] == 0:
        raise DataError("no column holds numbers: there is nothing to cluster")
    if data.shape[1] > MAX_COLUMNS:
        raise DataError(
            f"the table has {data.shape[1]} columns of numbers and at most {MAX_COLUMNS} can be used: choose some with "
            "--columns, or reduce them first, for example to principal components"
        )
    keep = _complete_rows(data, missing, notes)
    data = data[keep].reset_index(drop=True)
    if len(data) < MIN_ROWS:
        raise DataError(f"the table has {len(data)} usable row(s): at least {MIN_ROWS} are needed")
    rows = pd.Series(np.arange(1, len(frame) + 1)) if ids is None else ids
    return Table(
        data,
        rows[keep].astype(str).to_numpy(dtype=object),
        None if labels is None else labels[keep].astype(object).where(labels[keep].notna(), "").astype(str).to_numpy(),
        tuple(notes),
    )


def read_new_rows(source: str, names: Sequence[str], *, id_column: str | None = None) -> Table:
    """Read the columns that a model needs, by name and in its order.

    Parameters
    ----------
    source : str
    names : sequence of str
        What the model was fitted on.
    id_column : str, optional

    Returns
    -------
    Table
        Rows with missing values are left out, and said to be.

    Raises
    ------
    DataError
        If columns are missing or hold text.
    """
    frame, noticed = _load(source)
    notes = list(noticed)
    ids = _take(frame, id_column)
    if ids is None and ROW_NAMES in frame.columns and ROW_NAMES not in names:
        ids = frame[ROW_NAMES]
    absent = [name for name in names if name not in frame.columns]
    if absent:
        raise DataError(
            f"the file lacks {len(absent)} of the {len(names)} columns that the model was fitted on: {quoted(absent)}"
        )
    extra = [name for name in frame.columns if name not in {*names, ROW_NAMES, id_column}]
    if extra:
        notes.append(f"ignored {_count(extra, 'column')} that the model does not know: {quoted(extra)}")
    data = _numbers(frame, list(names))
    keep = _complete_rows(data, Missing.DROP, notes)
    rows = pd.Series(np.arange(1, len(frame) + 1)) if ids is None else ids
    return Table(data[keep].reset_index(drop=True), rows[keep].astype(str).to_numpy(dtype=object), None, tuple(notes))


def read_dissimilarities(source: str) -> Dissimilarities:
    """Read an n × n matrix, with or without a header and a column of names.

    Parameters
    ----------
    source : str

    Returns
    -------
    Dissimilarities
    """
    content = _read_bytes(source)
    if content[:4] == _PARQUET_MAGIC:
        frame = _parse_parquet(content)
        text = [name for name in frame.columns if not pd.api.types.is_numeric_dtype(frame[name])]
        if len(text) == 1 and frame.shape[1] == len(frame) + 1:
            frame = frame.set_index(text[0])
        parsed = ParsedText(frame, ())
        if frame.shape[0] != frame.shape[1]:
            raise DataError(f"a dissimilarity matrix has as many rows as columns, this file has {frame.shape}")
    else:
        parsed = parse_matrix(content)
    matrix = parsed.frame.astype(np.float64)
    n_missing = int(matrix.isna().to_numpy().sum())
    if n_missing:
        raise DataError(f"the dissimilarity matrix has {n_missing} missing entries: all are needed")
    if len(matrix) < MIN_ROWS:
        raise DataError(f"the dissimilarity matrix has {len(matrix)} row(s): at least {MIN_ROWS} are needed")
    unnamed = isinstance(matrix.index, pd.RangeIndex)
    ids = np.arange(1, len(matrix) + 1).astype(str) if unnamed else matrix.index.astype(str)
    return Dissimilarities(matrix, np.asarray(ids, dtype=object), parsed.notes)


def _load(source: str) -> tuple[pd.DataFrame, tuple[str, ...]]:
    content = _read_bytes(source)
    if content[:4] == _PARQUET_MAGIC:
        frame = _parse_parquet(content)
        if len(frame) == 0:
            raise DataError("the file has columns but no rows")
        return frame, ()
    parsed = parse_delimited(content)
    return parsed.frame, parsed.notes


def _read_bytes(source: str) -> bytes:
    if source == STANDARD_INPUT:
        return sys.stdin.buffer.read()
    path = Path(source)
    if path.is_dir():
        raise DataError(f"{source} is a folder, not a file")
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise DataError(f"there is no file {source}") from None
    except OSError as error:
        raise DataError(f"cannot read {source}: {error.strerror or error}") from None


def _parse_parquet(content: bytes) -> pd.DataFrame:
    try:
        frame = pd.read_parquet(io.BytesIO(content))
    except (ValueError, OSError) as error:  # pyarrow's own errors are subclasses of these
        raise DataError(f"the Parquet file cannot be read: {error}") from None
    frame.columns = frame.columns.astype(str)
    if not frame.columns.is_unique:
        raise DataError("column names must differ, but some appear more than once: rename them")
    # Row names that pandas stored as an index.
    return frame.reset_index(drop=True) if isinstance(frame.index, pd.RangeIndex) else _index_as_names(frame)


def _index_as_names(frame: pd.DataFrame) -> pd.DataFrame:
    names = frame.index.astype(str)
    frame = frame.reset_index(drop=True)
    frame.insert(0, ROW_NAMES, names)
    return frame


def _take(frame: pd.DataFrame, name: str | None) -> Any:
    return None if name is None else frame[_named(frame, [name])[0]]


def _named(frame: pd.DataFrame, requested: Sequence[str]) -> list[str]:
    """Columns by name; an entry that is no name is split at its commas."""
    names: list[str] = []
    for entry in requested:
        parts = [entry] if entry in frame.columns else [part.strip() for part in entry.split(",") if part.strip()]
        for part in parts:
            if part not in frame.columns:
                known = [str(name) for name in frame.columns if name != ROW_NAMES]
                close = difflib.get_close_matches(part, known, n=1)
                hint = f"did you mean '{close[0]}'?" if close else f"it has {quoted(known, 10)}"
                raise DataError(f"the file has no column '{part}': {hint}")
            if part not in names:
                names.append(part)
    return names


def _without_text(frame: pd.DataFrame, names: list[str], notes: list[str]) -> list[str]:
    text = [name for name in names if not pd.api.types.is_numeric_dtype(frame[name])]
    plain = []
    for name in text:
        values = frame[name].dropna().astype(str)
        wrong = values[pd.to_numeric(values, errors="coerce").isna()]
        if 0 < len(wrong) <= _MAX_LOST_SHARE * len(values):
            notes.append(
                f"column '{name}' is left out: {len(wrong)} of its {len(values)} values are text, such as "
                f"'{wrong.iloc[0]}'"
            )
        else:
            plain.append(name)
    if plain:
        groups = [name for name in plain if 1 < frame[name].nunique() <= _MAX_GROUPS]
        hint = f" (known groups? --label-column '{groups[-1]}' compares them with the result)" if groups else ""
        notes.append(f"left out {_count(plain, 'column')} of text: {quoted(plain)}{hint}")
    return [name for name in names if name not in set(text)]


def _without_empty(frame: pd.DataFrame, names: list[str], notes: list[str]) -> list[str]:
    empty = [name for name in names if frame[name].isna().all()]
    if empty:
        notes.append(f"left out {_count(empty, 'column')} without any value: {quoted(empty)}")
    return [name for name in names if name not in set(empty)]


def _suspicions(data: pd.DataFrame) -> list[str]:
    """Columns that look like row numbers or known groups but were not said to be."""
    found = []
    positions = np.arange(len(data))
    for name in data.columns:
        column = data[name]
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
        if len(values) > MIN_ROWS and np.array_equal(values - values[0], positions):
            found.append(f"column '{name}' counts the rows: if it is a row number, add --id-column '{name}'")
        elif name.lower() in _LABEL_NAMES and column.nunique() <= _MAX_GROUPS:
            found.append(f"column '{name}' is used as data: if it holds known groups, add --label-column '{name}'")
    return found


def _numbers(frame: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    text = [name for name in names if not pd.api.types.is_numeric_dtype(frame[name])]
    if text:
        raise DataError(f"only numbers can be used, but {_count(text, 'column')} with text: {quoted(text)}")
    data = frame[names].astype("Float64" if any(str(t) == "boolean" for t in frame[names].dtypes) else np.float64)
    data = data.astype(np.float64)
    infinite = np.isinf(data.to_numpy())
    if infinite.any():
        row, column = np.argwhere(infinite)[0]
        raise DataError(
            f"column '{names[column]}' holds infinite values (the first in row {row + 1}): correct or remove them"
        )
    return data


def _complete_rows(data: pd.DataFrame, missing: Missing, notes: list[str]) -> NDArray[np.bool_]:
    absent = data.isna()
    complete = ~absent.any(axis=1).to_numpy()
    n_lost = int((~complete).sum())
    if n_lost == 0:
        return complete
    columns = [name for name in data.columns if absent[name].any()]
    described = f"{n_lost} of {len(data)} rows have missing values (in {quoted(columns)})"
    if missing is Missing.ERROR:
        raise DataError(f"{described}: fill them in, leave columns out with --drop, or use --missing drop")
    if n_lost > _MAX_LOST_SHARE * len(data):
        worst = str(absent.sum().idxmax())
        raise DataError(
            f"{described}, too many to leave out: leave out columns instead, for example --drop '{worst}', or fill the "
            "gaps first"
        )
    notes.append(f"{described} and were left out")
    return complete


def _count(names: Sequence[str], what: str) -> str:
    return f"{len(names)} {what}{'s' if len(names) > 1 else ''}"
