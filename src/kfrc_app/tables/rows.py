"""The rows of a file: their names, which are used, and what is missing in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kfrc_app._missing_values import Missing as Missing
from kfrc_app.tables.columns import DataError, in_quotes, quoted

MAX_LOST_SHARE = 0.5
"""Of the rows: losing more to missing values is a mistake, not a clean-up."""

NOTHING_KNOWN = "nothing is known"
"""Why a row has memberships but no label."""

_SHOWN = 5


@dataclass(frozen=True, eq=False)
class InputRows:
    """Every row of a file, in its order.

    Attributes
    ----------
    ids : ndarray of shape (n_input_rows,)
        Names as they were written, by default the position in the file, from 1.
    left_out : ndarray of shape (n_input_rows,)
        Why a row is not used; blank if it is.
    unknown : ndarray of shape (n_input_rows,) or None
        Rows that are used although nothing is known of them, so that they belong nowhere; None if there are none.
    """

    ids: NDArray[Any]
    left_out: NDArray[Any]
    unknown: NDArray[np.bool_] | None = None

    @classmethod
    def all_used(cls, ids: Sequence[str] | NDArray[Any]) -> Self:
        """Rows of which none is left out."""
        return cls(np.array(ids, dtype=object), np.full(len(ids), "", dtype=object))

    @property
    def used(self) -> NDArray[np.bool_]:
        """Which rows are used."""
        return np.asarray(self.left_out == "", dtype=bool)

    @property
    def placed(self) -> NDArray[np.bool_]:
        """Which rows belong to a cluster: those that are used and of which something is known."""
        return self.used if self.unknown is None else self.used & ~self.unknown

    @property
    def reasons(self) -> NDArray[Any]:
        """Why rows have no label; blank for the others."""
        return np.where(self.used & ~self.placed, NOTHING_KNOWN, self.left_out).astype(object)

    @property
    def n_left_out(self) -> int:
        """How many are not."""
        return int((~self.used).sum())


def treat_missing(
    data: pd.DataFrame, ids: NDArray[Any], missing: Missing, notes: list[str], *, limit: float
) -> InputRows:
    """Which rows are used, and a note of what is missing.

    Parameters
    ----------
    data : DataFrame
    ids : ndarray of shape (n_rows,)
    missing : Missing
    notes : list of str
        Added to.
    limit : float
        Largest share of the rows that may be left out.

    Raises
    ------
    DataError
        If values are missing and must not be, or too many rows would be left out.
    """
    absent = data.isna()
    incomplete = absent.any(axis=1).to_numpy()
    if not incomplete.any():
        return InputRows.all_used(ids)
    columns = [str(name) for name in data.columns if absent[name].any()]
    described = f"{incomplete.sum()} of {len(data)} rows have missing values (in {quoted(columns)})"
    if missing is Missing.ERROR:
        raise DataError(
            f"{described}: fill them in, leave columns out with --drop, or use --missing partial or --missing drop"
        )
    if missing is not Missing.DROP:
        notes.append(f"{described}: {_treatment(missing, data[columns])}")
        has_level = any(isinstance(dtype, pd.CategoricalDtype) for dtype in data.dtypes)
        if missing is Missing.LEVEL and has_level:  # a blank tells something then
            return InputRows.all_used(ids)
        unknown = absent.all(axis=1).to_numpy()
        _note_empty(ids[unknown], notes)
        return replace(InputRows.all_used(ids), unknown=unknown)
    if incomplete.sum() > limit * len(data):
        worst = str(absent.sum().idxmax())
        raise DataError(
            f"{described}, too many to leave out: use --missing partial, or leave out columns instead, for example "
            f"--drop {in_quotes(worst)}"
        )
    notes.append(f"{described} and were left out")
    return InputRows(ids, _reasons(absent))


def _treatment(missing: Missing, gaps: pd.DataFrame) -> str:
    """What is done with the gaps of some columns."""
    known = "what is known of them is used"
    if missing is not Missing.LEVEL:
        return known
    has_levels = [isinstance(dtype, pd.CategoricalDtype) for dtype in gaps.dtypes]
    if all(has_levels):
        return "a blank counts as a level of its own"
    return f"a blank counts as a level where there are levels, of numbers {known}" if any(has_levels) else known


def _note_empty(empty: NDArray[Any], notes: list[str]) -> None:
    """Name the rows of which nothing is known."""
    if len(empty):
        one = len(empty) == 1
        notes.append(
            f"nothing is known of row{'' if one else 's'} {quoted(empty.tolist(), _SHOWN)}: "
            f"{'its' if one else 'their'} memberships say nothing"
        )


def _reasons(absent: pd.DataFrame) -> NDArray[Any]:
    """Why each row cannot be used; blank for complete rows."""
    cells = absent.to_numpy()
    reasons = np.full(len(cells), "", dtype=object)
    for row in np.flatnonzero(cells.any(axis=1)):
        columns = [str(absent.columns[j]) for j in np.flatnonzero(cells[row])]
        reasons[row] = f"missing value{'s' if len(columns) > 1 else ''} in {quoted(columns)}"
    return reasons
