"""The types that a column can have, and how a user says which: ``size=ordinal:small<medium<large,code=drop``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from kfrc._validation import short_name


class Kind(StrEnum):
    """What the values of a column are."""

    NUMERIC = "numeric"
    ORDINAL = "ordinal"
    NOMINAL = "nominal"
    DATE = "date"
    DROP = "drop"


DAY_FIRST = {"dmy": True, "mdy": False}
"""What stands first in dates such as 03/04/2020, if the user says so: ``when=date:dmy``."""

_ENTRY = re.compile(rf"^(?P<name>.+)=(?P<kind>{'|'.join(Kind)})(?::(?P<detail>.*))?$", re.DOTALL)
_BELOW = "<"


@dataclass(frozen=True)
class Wish:
    """A type that the user gives to a column.

    Attributes
    ----------
    kind : Kind
    levels : tuple of str
        Of an ordinal column, from the lowest to the highest; empty if their order is to be found.
    day_first : bool or None
        Of dates such as 03/04/2020; None if that is to be found.
    """

    kind: Kind
    levels: tuple[str, ...] = ()
    day_first: bool | None = None


def parse_wishes(entries: Sequence[str]) -> dict[str, Wish]:
    """Types by name from what was typed.

    Parameters
    ----------
    entries : sequence of str
        Each holds one or several ``NAME=TYPE``, separated by commas. Names and levels may hold commas themselves; what
        stands between levels and the next ``NAME=TYPE`` belongs to the levels.

    Returns
    -------
    dict of str to Wish

    Raises
    ------
    ValueError
        If an entry is not of that form, or a column is named twice.

    Examples
    --------
    >>> from kfrc_app.tables.kinds import parse_wishes
    >>> found = parse_wishes(["size=ordinal:small<medium<large,when=date:dmy", "a, b=drop"])
    >>> found["size"].levels, str(found["a, b"].kind), found["when"].day_first
    (('small', 'medium', 'large'), 'drop', True)
    """
    wishes: dict[str, Wish] = {}
    for entry in entries:
        for part in _parts(entry):
            found = _ENTRY.match(part)
            if found is None:
                raise ValueError(f"{short_name(part)!r} is not of the form NAME=TYPE with a type of {', '.join(Kind)}")
            name = found["name"].strip()
            if name in wishes:
                raise ValueError(f"column {short_name(name)!r} is named twice")
            wishes[name] = _wish(name, Kind(found["kind"]), found["detail"])
    return wishes


def _parts(entry: str) -> list[str]:
    """An entry cut at those commas that end a type: others belong to a name, or to the levels before them."""
    parts: list[str] = []
    open_name = ""
    for piece in entry.split(","):
        text = f"{open_name},{piece}" if open_name else piece
        if _ENTRY.match(text):
            parts.append(text)
            open_name = ""
        elif parts and _has_levels(parts[-1]) and "=" not in piece:
            parts[-1] += f",{piece}"
        else:
            open_name = text
    return [*parts, open_name] if open_name.strip() else parts


def _has_levels(part: str) -> bool:
    found = _ENTRY.match(part)
    return found is not None and found["kind"] == Kind.ORDINAL and found["detail"] is not None


def _wish(name: str, kind: Kind, detail: str | None) -> Wish:
    if detail is None:
        return Wish(kind)
    name, said = short_name(name), short_name(detail)
    if kind is Kind.DATE and detail.strip() in DAY_FIRST:
        return Wish(kind, day_first=DAY_FIRST[detail.strip()])
    if kind is Kind.DATE:
        raise ValueError(
            f"{name!r}: after date only {' or '.join(DAY_FIRST)} may follow, but ':{said}' was given; parts of dates "
            f"(hour, weekday, month) are available in Python: KFRC(column_types={{{name!r}: ('date', 'month')}})"
        )
    if kind is not Kind.ORDINAL:
        raise ValueError(f"{name!r}: a {kind} column has nothing after its type, but ':{said}' was given")
    levels = tuple(level.strip() for level in detail.split(_BELOW))
    if len(levels) < 2 or len({*levels}) < len(levels) or "" in levels:
        raise ValueError(f"{name!r}: give two or more different levels, such as ordinal:small<medium<large")
    return Wish(kind, levels)


def written(kinds: Mapping[str, str]) -> str:
    """Types as they can be typed, for a hint.

    Examples
    --------
    >>> from kfrc_app.tables.kinds import Kind, written
    >>> written({"a": Kind.NOMINAL, "b": Kind.DROP})
    "--types 'a=nominal,b=drop'"
    """
    return "--types '" + ",".join(f"{short_name(name)}={kind}" for name, kind in kinds.items()) + "'"
