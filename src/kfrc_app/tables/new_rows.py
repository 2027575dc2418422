"""New rows for a model: the columns that it was fitted on, by name, in its order and in its types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from kfrc_app.tables import levels
from kfrc_app.tables.columns import Columns, DataError, Numbers, counted, in_quotes, quoted
from kfrc_app.tables.date_columns import as_dates
from kfrc_app.tables.kinds import Kind, Wish
from kfrc_app.tables.numbers import Marks
from kfrc_app.tables.rows import Missing, treat_missing
from kfrc_app.tables.survey import named, names_of_new_rows, row_ids
from kfrc_app.tables.table import Table, load, refuse_infinite
from kfrc_app.tables.understanding import kind_of, text_cells


@dataclass(frozen=True)
class FittedColumn:
    """What a model knows of a column.

    Attributes
    ----------
    kind : Kind
    levels : tuple of str
        Those that it saw, if it has levels.
    """

    kind: Kind = Kind.NUMERIC
    levels: tuple[str, ...] = ()


def read_new_rows(
    source: str,
    names: Sequence[str],
    *,
    fitted: Mapping[str, FittedColumn] | None = None,
    id_column: str | None = None,
    types: Mapping[str, Wish] | None = None,
    missing: Missing = Missing.DROP,
    marks: Marks | None = None,
    sheet: str | None = None,
) -> Table:
    """Read the columns that a model needs, by name and in its order.

    Parameters
    ----------
    source : str
    names : sequence of str
        What the model was fitted on.
    fitted : mapping of str to FittedColumn, optional
        What it knows of them; numbers by default.
    id_column : str, optional
    types : mapping of str to Wish, optional
        What the user says of columns: how their dates are written.
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
        If columns are missing or hold something else than the model knows; or a question, if a number or a date can be
        read in two ways.
    """
    columns = load(source, marks, sheet)
    notes = list(columns.noticed)
    aside = [] if id_column is None else named(columns.names, [id_column])
    naming = tuple(aside) or names_of_new_rows(columns, names)
    aside = list(dict.fromkeys([*naming, *(name for name in columns.row_names if name not in names)]))
    absent = [name for name in names if name not in columns.names]
    if absent:
        raise DataError(
            f"the file lacks {len(absent)} of the {len(names)} columns that the model was fitted on: {quoted(absent)}"
        )
    extra = [name for name in columns.names if name not in {*names, *aside}]
    if extra:
        notes.append(f"ignored {counted(extra, 'column')} that the model does not know: {quoted(extra)}")
    known = {name: (fitted or {}).get(name, FittedColumn()) for name in names}
    measured = [name for name, column in known.items() if column.kind is Kind.NUMERIC]
    numbers = columns.numbers(measured, aside={*aside, *(name for name in names if name not in measured)})
    _refuse_text(numbers)
    notes.extend(numbers.notes_on(measured))
    data = pd.DataFrame({name: _read(columns, name, known[name], numbers, types or {}) for name in names})
    refuse_infinite(data)
    rows = treat_missing(data, row_ids(columns, naming), missing, notes, limit=1.0)
    return Table(data[rows.used].reset_index(drop=True), rows, None, tuple(notes))


def _read(columns: Columns, name: str, fitted: FittedColumn, numbers: Numbers, types: Mapping[str, Wish]) -> pd.Series:
    """One column in the type that the model knows."""
    if fitted.kind is Kind.NUMERIC:
        return pd.Series(numbers.values[name])
    stored = columns.stored(name)
    if fitted.kind is Kind.DATE:
        if stored is not None and kind_of(stored) is Kind.DATE:
            return stored
        return as_dates(columns, name, types[name].day_first if name in types else None)
    return levels.as_fitted(text_cells(columns, name, fitted.levels), fitted.levels)


def _refuse_text(numbers: Numbers) -> None:
    if numbers.text:
        name, found = next(iter(numbers.text.items()))
        others = list(numbers.text)[1:]
        more = f"; the same holds for {quoted(others)}" if others else ""
        raise DataError(f"column {in_quotes(name)} was numeric in the fit, but the new rows have {found.place}{more}")
