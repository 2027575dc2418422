"""Columns of dates: every cell a date, or the question which of two readings is meant."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from kfrc._validation import short_name
from kfrc_app.tables.columns import Columns, DataError, Encoded, in_quotes, shortened
from kfrc_app.tables.dates import NotDates, has_short_years, read_dates
from kfrc_app.tables.kinds import DAY_FIRST


def as_dates(columns: Columns, name: str, day_first: bool | None = None) -> pd.Series[Any]:
    """A column as dates.

    Raises
    ------
    DataError
        If a cell is no date, or can be read in two ways.
    """
    cells = columns.encoded(name)
    dates = read_dates(cells.levels, day_first=day_first, compact=True)
    if not isinstance(dates, NotDates):
        return dated(cells, dates)
    if dates.doubtful:
        raise DataError(f"column {in_quotes(name)}: {date_question(name, dates.cell)}")
    if dates.impossible or dates.contradicts:
        raise DataError(f"column {in_quotes(name)} cannot be read as dates: {told_wrong_dates(cells, dates)}")
    raise DataError(
        f"column {in_quotes(name)} cannot be read as dates: it has '{shortened(dates.cell)}' in row "
        f"{cells.row_of(dates.cell)}"
    )


def dated(cells: Encoded, dates: Any) -> pd.Series[Any]:
    """Dates of the rows from those of the different cells."""
    return pd.Series(np.append(dates, np.datetime64("NaT", "us"))[cells.codes])


def told_wrong_dates(cells: Encoded, dates: NotDates) -> str:
    """Why a column is not read as dates although most of its cells are some."""
    first = f"'{shortened(dates.cell)}' in row {cells.row_of(dates.cell)}"
    if dates.contradicts:
        other = f"'{shortened(dates.contradicts)}' in row {cells.row_of(dates.contradicts)}"
        return f"the day stands first in {first}, and the month in {other}: write all dates in one order"
    others = np.flatnonzero(np.isin(cells.codes, [cells.levels.index(cell) for cell in dates.others or [dates.cell]]))
    what = "day or a time" if ":" in dates.cell else "day"
    wrong = f", a {what} that does not exist" if dates.impossible else ""
    if len(others) == 1:
        return f"1 of its {cells.n_known} values is not a date, {first}{wrong}: correct it or put a blank there"
    return (
        f"{len(others)} of its {cells.n_known} values are not dates, such as {first}{wrong}: correct them or put "
        "blanks there"
    )


def date_question(name: str, cell: str) -> str:
    """Ask for the order of day and month, with what to type."""
    answers = " or ".join(f"--types '{short_name(name)}=date:{order}'" for order in DAY_FIRST)
    year = "; if the year does, write it with four digits" if has_short_years([cell]) else ""
    return (
        f"does the day or the month stand first in '{shortened(cell)}'? Nothing else in the column tells: add "
        f"{answers}{year}"
    )
