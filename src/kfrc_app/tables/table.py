"""A table file as the application uses it: columns to cluster, names of the rows, known labels, what was noticed."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kfrc_app.tables.columns import ROW_NAMES, Columns, DataError, NotNumbers, Numbers, counted, quoted
from kfrc_app.tables.delimited import parse_delimited
from kfrc_app.tables.numbers import Marks
from kfrc_app.tables.parquet import MAGIC, parse_parquet

STANDARD_INPUT = "-"
MIN_ROWS = 3
MAX_COLUMNS = 500
"""One bandwidth is searched per column; beyond this the search takes hours rather than minutes."""

_MAX_LOST_SHARE = 0.5  # of the rows: losing more to missing values is a mistake, not a clean-up
_LABEL_NAMES = {"label", "labels", "class", "target", "y", "species", "group", "cluster"}
_MAX_GROUPS = 30


class Missing(StrEnum):
    """What happens to rows with missing values."""

    DROP = "drop"
    ERROR = "error"


@dataclass(frozen=True, eq=False)
class InputRows:
    """Every row of a file, in its order.

    Attributes
    ----------
    ids : ndarray of shape (n_input_rows,)
        Names as they were written, by default the position in the file, from 1.
    left_out : ndarray of shape (n_input_rows,)
        Why a row is not used; blank if it is.
    """

    ids: NDArray[Any]
    left_out: NDArray[Any]

    @classmethod
    def all_used(cls, ids: Sequence[str] | NDArray[Any]) -> Self:
        """Rows of which none is left out."""
        return cls(np.array(ids, dtype=object), np.full(len(ids), "", dtype=object))

    @property
    def used(self) -> NDArray[np.bool_]:
        """Which rows are used."""
        return np.asarray(self.left_out == "", dtype=bool)

    @property
    def n_left_out(self) -> int:
        """How many are not."""
        return int((~self.used).sum())


@dataclass(frozen=True)
class Table:
    """Numbers to cluster and what else is known of the rows.

    Attributes
    ----------
    data : DataFrame of shape (n_rows, n_columns)
        Finite float64 columns of the rows that are used.
    rows : InputRows
        All rows of the file.
    labels : ndarray of shape (n_rows,) or None
        Known groups of the rows that are used, never used for clustering; as they were written, blank where unknown.
    notes : tuple of str
        What a reader of the result should know of how the file was read.
    """

    data: pd.DataFrame
    rows: InputRows
    labels: NDArray[Any] | None
    notes: tuple[str, ...]

    @property
    def ids(self) -> NDArray[Any]:
        """Names of the rows that are used."""
        return self.rows.ids[self.rows.used]


def read_table(
    source: str,
    *,
    columns: Sequence[str] = (),
    drop: Sequence[str] = (),
    label_column: str | None = None,
    id_column: str | None = None,
    missing: Missing = Missing.DROP,
    marks: Marks | None = None,
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
        Columns that are kept aside, as text.
    missing : Missing, default="drop"
    marks : Marks, optional
        What is known of the marks within numbers.

    Returns
    -------
    Table

    Raises
    ------
    DataError
        If nothing is left to cluster, and why; or a question, if a number can be read in two ways.
    """
    source_columns = _load(source, marks)
    notes = list(source_columns.noticed)
    names = source_columns.names
    aside = [name for request in (label_column, id_column) if request is not None for name in _named(names, [request])]
    requested = _named(names, columns)
    row_names = [name for name in source_columns.row_names if name not in {*aside, *requested}]
    aside.extend(row_names)
    if ROW_NAMES in row_names:
        notes.append("the first column has no name and was taken as names of the rows")
    elif row_names and id_column is None:
        notes.append(f"the index of the file, {quoted(row_names)}, was taken as names of the rows")
    dropped = {*_named(names, drop), *aside}
    chosen = [name for name in (requested or names) if name not in dropped]
    numbers = source_columns.numbers(chosen, aside=aside)
    if columns:
        _refuse_text(numbers)
    else:
        notes.extend(_text_notes(source_columns, numbers.text))
    notes.extend(numbers.notes)
    values = numbers.values if columns else _without_empty(numbers.values, notes)
    data = _finite(values)
    if not columns:
        notes.extend(_suspicions(data))
    if data.shape[1] == 0:
        raise DataError("no column holds numbers: there is nothing to cluster")
    if data.shape[1] > MAX_COLUMNS:
        raise DataError(
            f"the table has {data.shape[1]} columns of numbers and at most {MAX_COLUMNS} can be used: choose some with "
            "--columns, or reduce them first, for example to principal components"
        )
    rows = _rows(source_columns, data, id_column)
    _say_left_out(data, rows, missing, notes, limit=_MAX_LOST_SHARE)
    used = rows.used
    if used.sum() < MIN_ROWS:
        raise DataError(f"the table has {used.sum()} usable row(s): at least {MIN_ROWS} are needed")
    labels = None if label_column is None else _labels(source_columns, aside[0])
    data = data if used.all() else data[used].reset_index(drop=True)
    return Table(data, rows, None if labels is None else labels[used], tuple(notes))


def read_new_rows(
    source: str, names: Sequence[str], *, id_column: str | None = None, marks: Marks | None = None
) -> Table:
    """Read the columns that a model needs, by name and in its order.

    Parameters
    ----------
    source : str
    names : sequence of str
        What the model was fitted on.
    id_column : str, optional
    marks : Marks, optional
        What is known of the marks within numbers.

    Returns
    -------
    Table
        Rows with missing values are left out, and said to be.

    Raises
    ------
    DataError
        If columns are missing or hold text; or a question, if a number can be read in two ways.
    """
    columns = _load(source, marks)
    notes = list(columns.noticed)
    aside = [] if id_column is None else _named(columns.names, [id_column])
    aside.extend(name for name in columns.row_names if name not in names)
    absent = [name for name in names if name not in columns.names]
    if absent:
        raise DataError(
            f"the file lacks {len(absent)} of the {len(names)} columns that the model was fitted on: {quoted(absent)}"
        )
    extra = [name for name in columns.names if name not in {*names, *aside}]
    if extra:
        notes.append(f"ignored {counted(extra, 'column')} that the model does not know: {quoted(extra)}")
    numbers = columns.numbers(names, aside=aside)
    _refuse_text(numbers)
    notes.extend(numbers.notes)
    data = _finite(numbers.values)
    rows = _rows(columns, data, id_column)
    _say_left_out(data, rows, Missing.DROP, notes, limit=1.0)
    return Table(data[rows.used].reset_index(drop=True), rows, None, tuple(notes))


def read_bytes(source: str) -> bytes:
    """The content of a file or of standard input.

    Raises
    ------
    DataError
        If it cannot be read.
    """
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


def _load(source: str, marks: Marks | None) -> Columns:
    content = read_bytes(source)
    if content[:4] != MAGIC:
        return parse_delimited(content, marks)
    columns = parse_parquet(content)
    if columns.n_rows == 0:
        raise DataError("the file has columns but no rows")
    return columns


def _named(known: Sequence[str], requested: Sequence[str]) -> list[str]:
    """Columns by name; an entry that is no name is split at its commas."""
    names: list[str] = []
    for entry in requested:
        parts = [entry] if entry in known else [part.strip() for part in entry.split(",") if part.strip()]
        for part in parts:
            if part not in known:
                shown = [name for name in known if name != ROW_NAMES]
                close = difflib.get_close_matches(part, shown, n=1)
                hint = f"did you mean '{close[0]}'?" if close else f"it has {quoted(shown, 10)}"
                raise DataError(f"the file has no column '{part}': {hint}")
            if part not in names:
                names.append(part)
    return names


def _rows(columns: Columns, data: pd.DataFrame, id_column: str | None) -> InputRows:
    if id_column is not None:
        ids = columns.text(_named(columns.names, [id_column])[0])
    elif columns.row_names and not {*columns.row_names} & {*data.columns}:
        levels = [columns.text(name) for name in columns.row_names]
        ids = np.array([", ".join(parts) for parts in zip(*levels, strict=True)], dtype=object)
    else:
        ids = np.array([str(k + 1) for k in range(columns.n_rows)], dtype=object)
    return InputRows(ids, _reasons(data))


def _reasons(data: pd.DataFrame) -> NDArray[Any]:
    """Why each row cannot be used; blank for complete rows."""
    absent = np.isnan(data.to_numpy())
    reasons = np.full(len(data), "", dtype=object)
    for row in np.flatnonzero(absent.any(axis=1)):
        columns = [str(data.columns[j]) for j in np.flatnonzero(absent[row])]
        reasons[row] = f"missing value{'s' if len(columns) > 1 else ''} in {quoted(columns)}"
    return reasons


def _labels(columns: Columns, name: str) -> NDArray[Any]:
    labels = columns.text(name)
    labels[~columns.known(name)] = ""
    return labels


def _refuse_text(numbers: Numbers) -> None:
    if numbers.text:
        name, found = next(iter(numbers.text.items()))
        raise DataError(
            f"only numbers can be used, but {counted(list(numbers.text), 'column')} with text: "
            f"{quoted(list(numbers.text))} ('{name}' has {found.place})"
        )


def _text_notes(columns: Columns, text: Mapping[str, NotNumbers]) -> list[str]:
    """What is said of columns that do not hold numbers; if most of their cells do, the first other cell is named."""
    notes, plain = [], []
    for name, found in text.items():
        if found.n_text <= _MAX_LOST_SHARE * found.n_known:
            notes.append(
                f"column '{name}' is left out: {found.n_text} of its {found.n_known} values are text, such as "
                f"{found.place}"
            )
        else:
            plain.append(name)
    if plain:
        groups = [name for name in plain if 1 < len(set(columns.text(name)[columns.known(name)])) <= _MAX_GROUPS]
        hint = f" (known groups? --label-column '{groups[-1]}' compares them with the result)" if groups else ""
        notes.append(f"left out {counted(plain, 'column')} of text: {quoted(plain)}{hint}")
    return notes


def _without_empty(values: Mapping[str, Any], notes: list[str]) -> dict[str, Any]:
    empty = [name for name, column in values.items() if np.isnan(column).all()]
    if empty:
        notes.append(f"left out {counted(empty, 'column')} without any value: {quoted(empty)}")
    return {name: column for name, column in values.items() if name not in set(empty)}


def _suspicions(data: pd.DataFrame) -> list[str]:
    """Columns that look like row numbers or known groups but were not said to be."""
    found = []
    positions = np.arange(len(data))
    for name in data.columns:
        values = data[name].to_numpy()
        if len(values) > MIN_ROWS and np.array_equal(values - values[0], positions):
            found.append(f"column '{name}' counts the rows: if it is a row number, add --id-column '{name}'")
        elif name.lower() in _LABEL_NAMES and data[name].nunique() <= _MAX_GROUPS:
            found.append(f"column '{name}' is used as data: if it holds known groups, add --label-column '{name}'")
    return found


def _finite(values: Mapping[str, Any]) -> pd.DataFrame:
    for name, column in values.items():
        infinite = np.isinf(column)
        if infinite.any():
            row = int(infinite.argmax()) + 1
            raise DataError(f"column '{name}' holds infinite values (the first in row {row}): correct or remove them")
    return pd.DataFrame(dict(values))


def _say_left_out(data: pd.DataFrame, rows: InputRows, missing: Missing, notes: list[str], *, limit: float) -> None:
    n_lost = rows.n_left_out
    if n_lost == 0:
        return
    absent = data.isna()
    columns = [name for name in data.columns if absent[name].any()]
    described = f"{n_lost} of {len(data)} rows have missing values (in {quoted(columns)})"
    if missing is Missing.ERROR:
        raise DataError(f"{described}: fill them in, leave columns out with --drop, or use --missing drop")
    if n_lost > limit * len(data):
        worst = str(absent.sum().idxmax())
        raise DataError(
            f"{described}, too many to leave out: leave out columns instead, for example --drop '{worst}', or fill the "
            "gaps first"
        )
    notes.append(f"{described} and were left out")
