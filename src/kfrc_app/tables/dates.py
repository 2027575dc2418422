"""Dates as people write them, if they can only be read in one way: what can be read in two is told, not guessed."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kfrc_app.tables.months import month_number

_TIME = (
    r"(?:(?:T|,? |:)\s*(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?P<part>[.,]\d+)?)?"
    r"\s*(?P<half>[aApP]\.?[mM]\.?)?\s*(?P<zone>Z|UTC|GMT|(?:UTC|GMT)?\s?[+-]\d{1,2}(?::?\d{2})?)?)?$"
)
_WEEKDAY = r"(?:[A-Za-z]{2,9}\.?,? )?"
_ISO = re.compile(rf"^(?P<year>\d{{4}})(?P<mark>[-/.])(?P<month>\d{{1,2}})(?P=mark)(?P<day>\d{{1,2}}){_TIME}")
_ISO_MONTH = re.compile(r"^(?P<year>\d{4})-(?P<month>\d{2})$")
_COMPACT = re.compile(r"^(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})$")
_YEAR = r"(?P<year>\d{4}|\d{2})"
_PARTS = re.compile(rf"^(?P<first>\d{{1,2}})(?P<mark>[-/.])(?P<other>\d{{1,2}})(?P=mark){_YEAR}{_TIME}")
_NAME = r"(?P<name>[^\W\d_]{3,10})\.?"
_NAMED = re.compile(
    rf"^{_WEEKDAY}(?P<day>\d{{1,2}})(?:\.|st|nd|rd|th|er|º)?[ -]?(?:de |of )?{_NAME}[ -]?(?:de )?{_YEAR}{_TIME}"
)
_NAMED_FIRST = re.compile(rf"^{_WEEKDAY}{_NAME} (?P<day>\d{{1,2}})(?:st|nd|rd|th)?,? {_YEAR}{_TIME}")
_NAMED_MONTH = re.compile(rf"^{_NAME}[ -](?P<year>\d{{4}})$")
_LAST_MONTH, _LAST_DAY, _NOON = 12, 31, 12
_MANY = 20  # cells at the beginning that may be no dates
PIVOT = 30
"""Years of two digits from which on they belong to the last century, as in spreadsheets: 29 is 2029, 30 is 1930."""

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
    others : tuple of str
        All cells that are no dates, if most are.
    impossible : bool
        Whether the first of them is written like a date, of a day that does not exist.
    contradicts : str
        A cell in which the month stands first, if the day does in ``cell``.
    """

    cell: str
    doubtful: bool = False
    others: tuple[str, ...] = ()
    impossible: bool = False
    contradicts: str = ""


def read_dates(
    cells: Sequence[str], *, day_first: bool | None = None, compact: bool = False
) -> NDArray[Any] | NotDates:
    """Turn texts into dates.

    Accepted are ``2020-01-31``, ``2020/01/31``, ``31.1.2020``, ``31.1.20``, ``31 Jan 2020``, ``31JAN2020`` and
    ``January 31, 2020``, also with a time, and ``2020-01`` and ``Jan 2020``. In ``03/04/2020`` and ``03-04-2020`` day
    and month can be told apart only if one of the cells has a number above 12 in one of the two places. ``20/04/03``
    may begin with a year: it does not if there are more different numbers at the beginning than at the end. Times with
    a zone become universal time.

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
    >>> found = read_dates(["03/04/2020", "04/05/2020"])
    >>> found.cell, found.doubtful
    ('03/04/2020', True)
    """
    if day_first is None:
        found = _find_day_first(cells)
        if isinstance(found, NotDates):
            return found
        day_first = found
    read = _reader(day_first, compact=compact)
    dates, impossible = [], False
    others: list[str] = []
    for cell in cells:
        try:
            date = read(cell.strip())
        except (ValueError, OverflowError):  # the 30th of February
            date = None
            impossible = impossible or not others
        if date is not None:
            dates.append(date)
            continue
        others.append(cell)
        if len(others) > len(dates) + _MANY:
            return NotDates(others[0])
    if not others:
        return np.array(dates, dtype=UNIT)
    if len(dates) <= len(others):
        return NotDates(others[0])
    return NotDates(others[0], others=tuple(others), impossible=impossible)


def has_short_years(cells: Sequence[str]) -> bool:
    """Whether some of the dates have years of two digits, so that their century was guessed.

    Examples
    --------
    >>> from kfrc_app.tables.dates import has_short_years
    >>> has_short_years(["31.1.20"]), has_short_years(["31.1.2020", "2020-01-31"])
    (True, False)
    """
    return any(_has_short_year(_match(cell.strip())) for cell in cells)


def _match(cell: str) -> re.Match[str] | None:
    return _PARTS.match(cell) or _NAMED.match(cell) or _NAMED_FIRST.match(cell)


def _has_short_year(found: re.Match[str] | None) -> bool:
    return found is not None and len(found["year"]) == 2


def _find_day_first(cells: Sequence[str]) -> bool | NotDates:
    """Whether days stand before months in cells such as 13/4/2020; with dots they always do."""
    parts = [found for found in (_PARTS.match(cell.strip()) for cell in cells) if found and found["mark"] != "."]
    wrong = [found.string for found in parts if not (_has_short_year(found) or _is_some_day(found))]
    parts = [found for found in parts if found.string not in wrong]
    if not parts:
        return True
    if any(int(found["first"]) > _LAST_DAY for found in parts):
        return NotDates(parts[0].string)
    is_day = [(int(found["first"]) > _LAST_MONTH, int(found["other"]) > _LAST_MONTH) for found in parts]
    first, other = any(day for day, _ in is_day), any(day for _, day in is_day)
    if first and other:
        places = [pair.index(True) if any(pair) else -1 for pair in is_day]
        cell, month_first = (parts[places.index(place)].string for place in (0, 1))
        return NotDates(cell, contradicts=month_first if 2 * len(parts) > len(cells) else "")
    if all(map(_has_short_year, parts)) and not other:
        # Years have fewer different values than days: 24/03/12 and 24/05/17 begin with them.
        starts, ends = ({found[name] for found in parts} for name in ("first", "year"))
        if len(ends) > len(starts) or (len(ends) == len(starts) and first):
            return NotDates(parts[0].string, doubtful=True)
    if first or other:
        return first
    if wrong:
        return NotDates(wrong[0], others=tuple(wrong) if len(parts) > len(wrong) else (), impossible=True)
    return NotDates(parts[0].string, doubtful=True)


def _is_some_day(found: re.Match[str]) -> bool:
    """Whether two numbers can be a day and a month in one of the two orders."""
    low, high = sorted((int(found["first"]), int(found["other"])))
    return low <= _LAST_MONTH and high <= _LAST_DAY


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
        found = _NAMED.match(cell) or _NAMED_FIRST.match(cell) or _NAMED_MONTH.match(cell)
        month = 0 if found is None else month_number(found["name"])
        if found is None or not month:
            return None
        parts = found.groupdict()
        return _date(parts, month, int(parts.get("day") or 1))

    return read


def _date(parts: dict[str, str | None], month: int, day: int) -> datetime:
    hour, minute, second = (int(parts.get(name) or 0) for name in ("hour", "minute", "second"))
    half = (parts.get("half") or "").lower()
    if half:
        if not 1 <= hour <= _NOON:
            raise ValueError(f"{hour} {half} is no hour")
        hour = hour % _NOON + (_NOON if half.startswith("p") else 0)
    fraction = float("0" + (parts.get("part") or ".0").replace(",", "."))
    written = parts["year"] or "0"
    year = int(written) if len(written) > 2 else int(written) + (1900 if int(written) >= PIVOT else 2000)
    date = datetime(year, month, day, hour, minute, second, int(1e6 * fraction), tzinfo=UTC)
    zone = re.search(r"([+-])(\d{1,2}):?(\d{2})?$", parts.get("zone") or "")
    if zone:
        sign = -1 if zone[1] == "-" else 1
        date -= sign * timedelta(hours=int(zone[2]), minutes=int(zone[3] or 0))
    return date.replace(tzinfo=None)
