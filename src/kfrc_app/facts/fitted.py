"""What a fitted model knows of its columns, so that new rows are read in the same types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from kfrc.clusterers import FuzzyClusterer
from kfrc_app.facts.agreement import Labels
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


def blank_is_level(model: Any) -> bool:
    """Whether a model takes a blank for a level of its own."""
    return bool(getattr(model, "missing", None) == Missing.LEVEL)


def check_shapes(
    model: FuzzyClusterer,
    data: pd.DataFrame,
    ids: Sequence[str],
    labels: Labels | None,
    aside: pd.DataFrame | None = None,
) -> None:
    """Refuse data that a model was not fitted on."""
    n_rows, n_columns = len(model.memberships_), int(model.n_features_in_)
    fitted = f"but the model was fitted on data of shape {(n_rows, n_columns)}"
    for what, found in (("data", data), ("ids", ids), ("labels", labels), ("aside", aside)):
        length = n_rows if found is None else len(found)
        if length != n_rows:
            raise ValueError(f"{what} has {length} rows, {fitted}")
    if data.shape[1] != n_columns:
        raise ValueError(f"data has {data.shape[1]} columns, {fitted}")


def _kind(column: Any) -> Kind:
    """The type by which new values are read: a part of a date, such as its weekday, is read as a date."""
    return Kind(column.name) if column.name in [*Kind] else Kind.DATE
