"""What a model is told, from what a user asked for."""

from __future__ import annotations

from typing import Any

from kfrc_app.tables import Missing


def missing_settings(missing: Missing) -> dict[str, Any]:
    """What a model is told of missing values: where rows with gaps are left out or refused, it takes none.

    Examples
    --------
    >>> from kfrc_app.runs.settings import missing_settings
    >>> from kfrc_app.tables import Missing
    >>> missing_settings(Missing.PARTIAL), missing_settings(Missing.DROP)
    ({}, {'missing': 'error'})
    """
    if missing is Missing.PARTIAL:
        return {}
    return {"missing": str(Missing.LEVEL if missing is Missing.LEVEL else Missing.ERROR)}
