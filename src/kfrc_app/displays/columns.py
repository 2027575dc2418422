"""Columns as displays draw them: the most important ones, or those that are asked for, as numbers with names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kfrc import KFRCError
from kfrc.typing import FloatArray
from kfrc_app.facts import Facts
from kfrc_app.facts.table import TableColumn
from kfrc_app.facts.text import shortened
from kfrc_app.tables import Kind


@dataclass(frozen=True, eq=False)
class ShownColumn:
    """A column of the rows that are drawn.

    Attributes
    ----------
    name : str
    values : ndarray of shape (n_rows,)
        Numbers, days of dates, positions of levels; NaN where something is missing.
    told : TableColumn
        How values are written.
    """

    name: str
    values: FloatArray
    told: TableColumn

    @property
    def levels(self) -> tuple[str, ...]:
        """Names of the levels, if it has any."""
        return self.told.levels

    @property
    def nominal(self) -> bool:
        """Whether it has levels without an order."""
        return self.told.kind is Kind.NOMINAL

    @property
    def is_date(self) -> bool:
        """Whether its values are days."""
        return self.told.kind is Kind.DATE

    @property
    def ends(self) -> tuple[float, float]:
        """Smallest and largest value; of levels, the first and the last one."""
        if self.levels:
            return 0.0, float(len(self.levels) - 1)
        known = self.values[~np.isnan(self.values)]
        return (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)

    def show(self, value: float) -> str:
        """A value as people write it."""
        return self.told.show(value)


def chosen_columns(facts: Facts, names: Sequence[str] | None, most: int, *, display: str) -> list[ShownColumn]:
    """The columns to draw, on the rows in pictures.

    Parameters
    ----------
    facts : Facts
    names : sequence of str or None
        Those that the user asks for; None for the most important ones.
    most : int
        How many of these.
    display : str
        Who asks, for messages.

    Raises
    ------
    KFRCError
        If there are no columns, or none of a name that is asked for.
    """
    if facts.table is None or facts.importance is None:
        raise KFRCError(
            f"{display} draws columns of a table, and a precomputed matrix has none: BiplotDisplay and SphereDisplay "
            "show how its rows lie"
        )
    if names is None:
        positions = [column.position for column in facts.importance.used[:most]]
    else:
        unknown = [name for name in names if str(name) not in facts.names]
        if unknown or not len(names):
            raise KFRCError(
                f"there is no column {shortened([str(name) for name in unknown])}: {shortened(facts.names)}"
            )
        positions = [facts.names.index(str(name)) for name in names]
    return [ShownColumn(facts.names[j], facts.X[facts.shown, j], facts.table.columns[j]) for j in positions]
