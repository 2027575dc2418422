"""The table of ``kfrc demo``: made-up members of a made-up gym, of three kinds, among columns that tell nothing."""

from __future__ import annotations

import datetime
import io
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

N_MEMBERS = 200
SEED = 0

KINDS = ("early bird", "class lover", "weekend visitor")
"""The kinds of members, which no method is told."""

TELLING = ("visits per month", "minutes per visit", "member since", "stars given", "favorite", "has a trainer")
"""Columns in which the kinds differ, each a little."""

_SHARES = (0.4, 0.3, 0.3)
_BETWEEN = 0.08
"""Share of members between two kinds: each of their values is like one or the other."""

_OF_SECOND = 0.4
"""Share of their values that is like the second."""

_BLANK = 0.08
"""Share of the values that nobody has filled in, of columns that people are asked for."""

_ASKED = ("stars given", "favorite", "has a trainer", "hours of sleep", "resting pulse", "owns a pet")

_EXPORTED = np.datetime64("2025-06-30")
"""The day on which the gym is said to have exported its table."""

# One entry per kind: mean and deviation, or shares of the levels.
_VISITS = ((16.0, 2.4), (10.0, 2.0), (4.5, 1.3))
_MINUTES = ((45.0, 8.0), (65.0, 8.0), (85.0, 11.0))
_YEARS = ((5.0, 1.2), (1.6, 0.7), (3.0, 1.0))
_STARS = ((0.02, 0.05, 0.18, 0.45, 0.3), (0.05, 0.1, 0.25, 0.35, 0.25), (0.15, 0.3, 0.35, 0.15, 0.05))
_FAVORITES = ("weights", "yoga", "swimming", "dancing")
_FAVORITE = ((0.6, 0.05, 0.3, 0.05), (0.05, 0.45, 0.1, 0.4), (0.15, 0.1, 0.65, 0.1))
_TRAINER = (0.15, 0.7, 0.3)


@dataclass(frozen=True)
class DemoTable:
    """The table, and what it was made of.

    Attributes
    ----------
    data : DataFrame
        As people export it: a column of names, numbers, dates, words, blanks.
    kinds : ndarray of shape (n_members,)
        The kind of each member; of those between two, the one they have more of.
    """

    data: pd.DataFrame
    kinds: NDArray[Any]


def make_members(n_members: int = N_MEMBERS, seed: int = SEED) -> DemoTable:
    """Make the members.

    Parameters
    ----------
    n_members : int, default=200
    seed : int, default=0

    Returns
    -------
    DemoTable

    Examples
    --------
    >>> from kfrc_app.demo_table import make_members
    >>> found = make_members()
    >>> found.data.shape, found.data["member"].is_unique
    ((200, 18), True)
    """
    rng = np.random.default_rng(seed)
    kinds = rng.choice(3, size=n_members, p=_SHARES)
    second = (kinds + rng.integers(1, 3, size=n_members)) % 3
    between = rng.random(n_members) < _BETWEEN
    body = rng.standard_normal(n_members)  # tall people have large shoes, whatever kind of members they are

    def kind() -> NDArray[Any]:
        return np.where(between & (rng.random(n_members) < _OF_SECOND), second, kinds)

    def like(values: tuple[tuple[float, float], ...]) -> NDArray[Any]:
        mean, deviation = np.array(values)[kind()].T
        return mean + deviation * rng.standard_normal(n_members)

    def level(shares: tuple[tuple[float, ...], ...]) -> NDArray[Any]:
        return (np.cumsum(np.array(shares)[kind()], axis=1) < rng.random(n_members)[:, None]).sum(axis=1)

    def sized(mean: float, deviation: float) -> NDArray[Any]:
        return mean + deviation * (0.8 * body + 0.6 * rng.standard_normal(n_members))

    def chance(*names: str) -> NDArray[Any]:
        return rng.choice(np.array(names, dtype=object), size=n_members)

    days = (365.25 * np.clip(like(_YEARS), 0.05, None)).astype("timedelta64[D]")
    data = pd.DataFrame(
        {
            "member": [f"M{number:04d}" for number in rng.permutation(np.arange(1000, 1000 + n_members))],
            "locker": rng.integers(1, 400, size=n_members),
            "visits per month": np.clip(like(_VISITS), 0.5, None).round(1),
            "height (cm)": sized(171.0, 9.0).round(0),
            "member since": (_EXPORTED - days).astype("datetime64[ns]"),
            "shoe size": sized(41.0, 2.4).round(1),
            "minutes per visit": np.clip(like(_MINUTES), 10.0, None).round(0),
            "weight (kg)": sized(73.0, 11.0).round(1),
            "stars given": 1 + level(_STARS),
            "favorite": np.array(_FAVORITES, dtype=object)[level(_FAVORITE)],
            "has a trainer": np.where(rng.random(n_members) < np.array(_TRAINER)[kind()], "yes", "no"),
            "towel": chance("own", "rented"),
            "minutes to the gym": rng.gamma(4.0, 4.0, size=n_members).round(0),
            "hours of sleep": rng.normal(7.1, 0.9, size=n_members).round(1),
            "resting pulse": rng.normal(66.0, 8.0, size=n_members).round(0),
            "age of the phone": rng.gamma(3.0, 0.8, size=n_members).round(1),
            "pays by": chance("card", "cash", "transfer"),
            "owns a pet": chance("yes", "no"),
        }
    )
    blank = rng.random(data.shape) < _BLANK
    blank &= np.isin(data.columns, _ASKED)
    return DemoTable(data.astype(object).mask(blank), np.array(KINDS, dtype=object)[kinds])


def as_spreadsheet(table: pd.DataFrame) -> bytes:
    """The table as an Excel file, the same bytes for the same table.

    Parameters
    ----------
    table : DataFrame
    """
    buffer = io.BytesIO()
    with pd.ExcelWriter(buffer, engine="xlsxwriter", datetime_format="yyyy-mm-dd") as writer:
        writer.book.set_properties({"created": datetime.datetime(2025, 6, 30)})
        table.to_excel(writer, sheet_name="members", index=False, freeze_panes=(1, 1))
        writer.sheets["members"].autofit()
    return buffer.getvalue()
