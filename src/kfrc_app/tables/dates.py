"""Dates as people write them, if they can only be read in one way: what can be read in two is told, not guessed."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

_TIME = (
    r"(?:[T ]\s*(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?P<part>[.,]\d+)?)?"
    r"\s*(?P<zone>Z|[+-]\d{2}:?\d{2})?)?$"
)
_ISO = re.compile(rf"^(?P<year>\d{{4}})(?P<mark>[-/.])(?P<month>\d{{1,2}})(?P=mark)(?P<day>\d{{1,2}}){_TIME}")
_ISO_MONTH = re.compile(r"^(?P<year>\d{4})-(?P<month>\d{2})$")
_COMPACT = re.compile(r"^(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})$")
_PARTS = re.compile(rf"^(?P<first>\d{{1,2}})(?P<mark>[-/.])(?P<other>\d{{1,2}})(?P=mark)(?P<year>\d{{4}}){_TIME}")
_NAMED = re.compile(rf"^(?P<day>\d{{1,2}})\.?[ -](?P<name>[A-Za-z]{{3,9}})\.?[ -](?P<year>\d{{4}}){_TIME}")
_NAMED_FIRST = re.compile(rf"^(?P<name>[A-Za-z]{{3,9}})\.? (?P<day>\d{{1,2}}),? (?P<year>\d{{4}}){_TIME}")
_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_LAST_MONTH = 12
UNIT = "datetime64[us]"
"""How dates are held: microseconds reach beyond the years that sentinels such as 9999-12-31 name."""


@dataclass(frozen=True)
class NotDates:
    """Why cells are not read as dates.

    Attributes
    ----------
    cell : str
        The first that is no date, or that can be read in two ways.
    doubtful : bool
        Whether it can be read in two ways.
    """

    cell: str
    doubtful: bool = False


def read_dates(
    cells: Sequence[str], *, day_first: bool | None = None, compact: bool = False
) -> NDArray[Any] | NotDates:
    """Turn texts into dates.

    Accepted are ``2020-01-31``, ``2020/01/31``, ``31.1.2020``, ``31 Jan 2020`` and ``January 31, 2020``, also with a
    time, and ``2020-01``. In ``03/04/2020`` and ``03-04-2020`` day and month can be told apart only if one of the cells
    has a number above 12 in one of the two places. Times with a zone become universal time.

    Parameters
    ----------
    cells : sequence of str
        None of them missing.
    day_first : bool, optional
        What is known of ``03/04/2020``.
    compact : bool, default=False
        Whether ``20200131`` is a date as well; such cells are numbers unless somebody says otherwise.

    Returns
    -------
    ndarray of datetime64 of shape (n_cells,), or NotDates

    Examples
    --------
    >>> from kfrc_app.tables.dates import read_dates
    >>> read_dates(["2020-01-31", "2020-02-01 12:00"]).astype("datetime64[h]").tolist()[1].hour
    12
    >>> read_dates(["03/04/2020", "04/05/2020"])
    NotDates(cell='03/04/2020', doubtful=True)
    """
    if day_first is None:
        found = _find_day_first(cells)
        if isinstance(found, NotDates):
            return found
        day_first = found
    read = _reader(day_first, compact=compact)
    dates = []
    for cell in cells:
        try:
            date = read(cell.strip())
        except ValueError:  # the 30th of February
            date = None
        if date is None:
            return NotDates(cell)
        dates.append(date)
    return np.array(dates, dtype=UNIT)


def _find_day_first(cells: Sequence[str]) -> bool | NotDates:
    """Whether days stand before months in cells such as 13/4/2020; with dots they always do."""
    parts = [found for found in (_PARTS.match(cell.strip()) for cell in cells) if found and found["mark"] != "."]
    if not parts:
        return True
    is_day = [(int(found["first"]) > _LAST_MONTH, int(found["other"]) > _LAST_MONTH) for found in parts]
    first, other = any(day for day, _ in is_day), any(day for _, day in is_day)
    if first and other:
        return NotDates(parts[[day for day, _ in is_day].index(True)].string)
    return first if first or other else NotDates(parts[0].string, doubtful=True)


def _reader(day_first: bool, *, compact: bool) -> Callable[[str], datetime | None]:
    def read(cell: str) -> datetime | None:
        found = _ISO.match(cell) or _ISO_MONTH.match(cell) or (_COMPACT.match(cell) if compact else None)
        if found:
            parts = found.groupdict()
            return _date(parts, int(parts["month"]), int(parts.get("day") or 1))
        found = _PARTS.match(cell)
        if found:
            day, month = int(found["first"]), int(found["other"])
            if not day_first and found["mark"] != ".":
                day, month = month, day
            return _date(found.groupdict(), month, day)
        found = _NAMED.match(cell) or _NAMED_FIRST.match(cell)
        month = 0 if found is None else _month(found["name"].lower())
        return _date(found.groupdict(), month, int(found["day"])) if found is not None and month else None

    return read


def _date(parts: dict[str, str | None], month: int, day: int) -> datetime:
    hour, minute, second = (int(parts.get(name) or 0) for name in ("hour", "minute", "second"))
    fraction = float("0" + (parts.get("part") or ".0").replace(",", "."))
    date = datetime(int(parts["year"] or 0), month, day, hour, minute, second, int(1e6 * fraction), tzinfo=UTC)
    zone = parts.get("zone") or "Z"
    if zone != "Z":
        sign = -1 if zone[0] == "-" else 1
        date -= sign * timedelta(hours=int(zone[1:3]), minutes=int(zone[-2:]))
    return date.replace(tzinfo=None)


def _month(name: str) -> int:
    """The number of a month by its English name or the beginning of it; 0 if it is none."""
    return next((k + 1 for k, month in enumerate(_MONTHS) if month.startswith(name)), 0)
