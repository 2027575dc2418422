"""What a fitted model knows of its columns, so that new rows are read in the same types."""

from __future__ import annotations

from typing import Any

from kfrc_app.tables import FittedColumn, Kind, Missing


def fitted_columns(model: Any) -> dict[str, FittedColumn]:
    """Types and levels of the columns that a model was fitted on, by name; empty if all are numbers.

    Parameters
    ----------
    model : FuzzyClusterer
        Fitted.
    """
    schema = getattr(model, "schema_", None)
    if schema is None:
        return {}
    names = [str(title) for title in schema.titles]
    return {
        names[position]: FittedColumn(_kind(column), tuple(str(level) for level in column.levels))
        for position, column in zip(schema.positions.tolist(), schema.columns, strict=True)
    }


def missing_in_new_rows(model: Any) -> Missing:
    """What happens to new rows with gaps: what the model does with them; they are left out if it takes none."""
    treatment = getattr(model, "missing", None)
    return Missing(treatment) if treatment in (Missing.PARTIAL, Missing.LEVEL) else Missing.DROP


def _kind(column: Any) -> Kind:
    """The type by which new values are read: a part of a date, such as its weekday, is read as a date."""
    return Kind(column.name) if column.name in [*Kind] else Kind.DATE
