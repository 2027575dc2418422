"""A table file as the application uses it: columns to cluster, names of the rows, known labels, what was noticed."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kfrc.typing import FloatArray
from kfrc_app.tables.columns import Columns, DataError, in_quotes
from kfrc_app.tables.formats import parse_columns
from kfrc_app.tables.kinds import Wish
from kfrc_app.tables.numbers import Marks
from kfrc_app.tables.original import WholeFile, plain_values
from kfrc_app.tables.rows import MAX_LOST_SHARE, InputRows, Missing, treat_missing
from kfrc_app.tables.survey import Survey, refuse_most_left_out, survey
from kfrc_app.tables.weights import read_weights, refuse_no_weight

STANDARD_INPUT = "-"
MIN_ROWS = 3


@dataclass(frozen=True)
class Table:
    """Columns to cluster by and what else is known of the rows.

    Attributes
    ----------
    data : DataFrame of shape (n_rows, n_columns)
        The rows that are used. Numbers are float64, levels are categories named as they were written (ordered if they
        have an order), dates are datetime64; what is missing is missing.
    rows : InputRows
        All rows of the file.
    labels : ndarray of shape (n_rows,) or None
        Known groups of the rows that are used, never used for clustering; as they were written, blank where unknown.
    notes : tuple of str
        What a reader of the result should know of how the file was read.
    weights : ndarray of shape (n_rows,) or None
        How many rows each row that is used stands for; None if one.
    whole : WholeFile or None
        The file that the table is a part of; None if there is no more than the table.
    """

    data: pd.DataFrame
    rows: InputRows
    labels: NDArray[Any] | None
    notes: tuple[str, ...]
    weights: FloatArray | None = None
    whole: WholeFile | None = None

    @property
    def ids(self) -> NDArray[Any]:
        """Names of the rows that are used."""
        return self.rows.ids[self.rows.used]

    @cached_property
    def original(self) -> pd.DataFrame:
        """Every row and every column of the file in its order, made when first asked for.

        Numbers are float64, dates are datetime64, everything else is the text that stood there; what is missing is
        missing. A first column without a heading is called ``""``.
        """
        if self.whole is not None:
            return self.whole.frame()
        frame = self.data.set_axis(np.flatnonzero(self.rows.used))
        return plain_values(frame.reindex(range(len(self.rows.ids))))

    @cached_property
    def aside(self) -> pd.DataFrame:
        """The columns that were not clustered by and have no other role, in the rows of ``data``; as ``original``."""
        if self.whole is None:
            return pd.DataFrame(index=pd.RangeIndex(len(self.data)))
        return self.whole.frame(self.whole.aside)[self.rows.used].reset_index(drop=True)


def read_table(
    source: str,
    *,
    columns: Sequence[str] = (),
    drop: Sequence[str] = (),
    label_column: str | None = None,
    id_column: str | None = None,
    weight_column: str | None = None,
    types: Mapping[str, Wish] | None = None,
    missing: Missing = Missing.DROP,
    marks: Marks | None = None,
    sheet: str | None = None,
) -> Table:
    """Read a file and keep what can be clustered.

    Parameters
    ----------
    source : str
        A path, or ``"-"`` for standard input.
    columns : sequence of str
        Columns to cluster by; empty means every column that can be used. An entry may hold several names between
        commas.
    drop : sequence of str
        Columns to leave out.
    label_column, id_column, weight_column : str, optional
        Columns that are kept aside: the first two as text, the last as numbers.
    types : mapping of str to Wish, optional
        Types of columns; those of the others are found.
    missing : Missing, default="drop"
    marks : Marks, optional
        What is known of the marks within numbers.
    sheet : str, optional
        The sheet of a spreadsheet, or the file in an archive.

    Returns
    -------
    Table

    Raises
    ------
    DataError
        If nothing is left to cluster, and why; or a question, if a number or a date can be read in two ways.
    """
    file = load(source, marks, sheet)
    roles = survey(
        file,
        columns=columns,
        drop=drop,
        label_column=label_column,
        id_column=id_column,
        weight_column=weight_column,
        types=types,
        blank_is_level=missing is Missing.LEVEL,
    )
    return table_of(roles, missing)


def table_of(roles: Survey, missing: Missing) -> Table:
    """The table of a file whose columns have their roles.

    Parameters
    ----------
    roles : Survey
    missing : Missing

    Returns
    -------
    Table

    Raises
    ------
    DataError
        If nothing is left to cluster, and why.
    """
    file = roles.file
    notes, found, data = list(roles.notes), roles.found, roles.found.data
    refuse_infinite(data)
    refuse_most_left_out(roles)
    _refuse_unfit(data)
    if missing is Missing.ERROR and found.single:  # a gap is a gap, also where the column says nothing else
        treat_missing(pd.DataFrame(found.single), np.empty(0), missing, notes, limit=MAX_LOST_SHARE)
    rows = treat_missing(data, roles.row_ids, missing, notes, limit=MAX_LOST_SHARE)
    used = rows.used
    if used.sum() < MIN_ROWS:
        raise DataError(f"the table has {used.sum()} usable row(s): at least {MIN_ROWS} are needed")
    labels = None if roles.label is None else _labels(file, roles.label)[used]
    weights = None if roles.weight is None else read_weights(file, roles.weight)[used]
    if weights is not None:
        refuse_no_weight(weights, str(roles.weight))
    whole = WholeFile(file.settled(found.numbers.decimal), data, roles.naming, roles.aside)
    data = data if used.all() else data[used].reset_index(drop=True)
    return Table(data, rows, labels, tuple(notes), weights, whole)


def _refuse_unfit(data: pd.DataFrame) -> None:
    """Stop if there is nothing to cluster by."""
    if data.shape[1] == 0:
        raise DataError("no column holds numbers, dates or levels that repeat: there is nothing to cluster")


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


def load(source: str, marks: Marks | None, sheet: str | None = None) -> Columns:
    """The columns of a file, whatever its format; ``sheet`` names the part of it that is meant."""
    return parse_columns(read_bytes(source), marks, sheet)


def _labels(columns: Columns, name: str) -> NDArray[Any]:
    labels = columns.text(name)
    labels[~columns.known(name)] = ""
    return labels


def refuse_infinite(data: pd.DataFrame) -> None:
    """Stop at an infinite number."""
    for name in data.columns:
        if data[name].dtype == np.float64:
            infinite = np.isinf(data[name].to_numpy())
            if infinite.any():
                row = int(infinite.argmax()) + 1
                raise DataError(
                    f"column {in_quotes(name)} holds infinite values (the first in row {row}): correct or remove them"
                )
