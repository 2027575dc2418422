"""What is typical of the clusters, column by column, as it is shown: a median, or the most frequent level."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from kfrc_app.facts.levels import LevelShares
from kfrc_app.facts.profiles import Profiles
from kfrc_app.facts.text import DASH, clean, percent
from kfrc_app.tables import Kind

_MAX_LEVEL = 40
"""Characters of a level that are shown."""

_MAX_TYPICAL = 28
"""Characters of the most frequent level, which stands in narrow columns."""

_MAX_LIFT = 10.0
"""Times the overall share up to which a lift is told with a digit after the point."""


@dataclass(frozen=True)
class TypicalValue:
    """What is typical of one cluster in one column.

    Attributes
    ----------
    text : str
        The median, or the most frequent level with its share.
    detail : str
        How far that is from all rows: in robust standard deviations, or how many times the overall share.
    difference : float or None
        The same in standard deviations; None in an empty cluster.
    """

    text: str
    detail: str
    difference: float | None


@dataclass(frozen=True)
class TypicalColumn:
    """One column.

    Attributes
    ----------
    name : str
    kind : Kind
    overall : str
        What is typical of all rows.
    clusters : tuple of TypicalValue
    """

    name: str
    kind: Kind
    overall: str
    clusters: tuple[TypicalValue, ...]


def typical_columns(
    profiles: Profiles | None, levels: Sequence[LevelShares], order: Sequence[str]
) -> tuple[TypicalColumn, ...]:
    """Medians of what has an order, and the most frequent levels of what has none.

    Parameters
    ----------
    profiles : Profiles or None
    levels : sequence of LevelShares
    order : sequence of str
        Names of the columns as they are to be listed.
    """
    found = {} if profiles is None else {column.name: column for column in _medians(profiles)}
    found |= {shares.column.name: _modes(shares) for shares in levels if shares.column.kind is Kind.NOMINAL}
    return tuple(found[name] for name in order if name in found)


def lift_text(lift: float) -> str:
    """How many times the overall share.

    Examples
    --------
    >>> from kfrc_app.facts.typical import lift_text
    >>> lift_text(1.93), lift_text(24.3), lift_text(float("nan"))
    ('×1.9', '×24', '')
    """
    if not math.isfinite(lift):
        return ""
    return f"×{lift:.1f}" if lift < _MAX_LIFT else f"×{lift:.0f}"


def _medians(profiles: Profiles) -> list[TypicalColumn]:
    columns = []
    for k, column in enumerate(profiles.columns):
        values = []
        for median, difference in zip(profiles.medians[:, k], profiles.differences[:, k], strict=True):
            known = math.isfinite(difference)
            detail = f"{round(difference, 1) + 0.0:+.1f}" if known else ""
            values.append(TypicalValue(column.show(median), detail, float(difference) if known else None))
        columns.append(TypicalColumn(column.name, column.kind, column.show(profiles.overall[k]), tuple(values)))
    return columns


def _modes(shares: LevelShares) -> TypicalColumn:
    lift, excess = shares.lift, shares.excess
    values = []
    for i in range(len(shares.shares)):
        mode = shares.mode(i)
        if mode is None:
            values.append(TypicalValue(DASH, "", None))
        else:
            text = f"{_short_name(shares, mode)} {percent(shares.shares[i, mode])}"
            values.append(TypicalValue(text, lift_text(lift[i, mode]), float(excess[i, mode])))
    most = int(shares.overall.argmax())
    overall = f"{_short_name(shares, most)} {percent(shares.overall[most])}"
    return TypicalColumn(shares.column.name, shares.column.kind, overall, tuple(values))


def _short_name(shares: LevelShares, level: int) -> str:
    return clean(shares.column.levels[level], _MAX_TYPICAL)


def level_name(shares: LevelShares, level: int) -> str:
    """What a level is called where it is shown."""
    return clean(shares.column.levels[level], _MAX_LEVEL)
