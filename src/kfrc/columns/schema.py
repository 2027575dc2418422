"""Which type every column of a table has, and the table as codes: learned in a fit, used again for new rows."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kfrc.columns.base import Column, is_blank
from kfrc.columns.frames import RawColumn, raw_columns
from kfrc.columns.types import MAX_LEVELS
from kfrc.exceptions import LeftOutColumnWarning, UnseenCategoryWarning
from kfrc.typing import FloatArray, IntArray

DROP = "drop"
MISSING = ("partial", "level", "error")
"""What blanks may mean: nothing is known there; they are a level of their own; they are a mistake."""

_NEARLY_ALL = 0.7
"""Share of different values among those that are known from which on text is names or remarks, not levels."""

_FEW_ROWS = 10
"""With fewer known values nothing can be said about that."""

_SHOWN = 5  # names in a message


@dataclass(frozen=True)
class Schema:
    """The columns of a table that are used.

    Attributes
    ----------
    titles : tuple
        Names of all columns of the table.
    positions : ndarray of shape (k,)
        Which of them are used.
    columns : tuple of Column
        Of these.
    """

    titles: tuple[Any, ...]
    positions: IntArray
    columns: tuple[Column, ...]

    @classmethod
    def learn(cls, X: Any, types: Mapping[Any, Any] | None, missing: str) -> Schema:
        """From a table with typed columns, or from an array.

        Parameters
        ----------
        X : table or array of shape (n_rows, n_columns)
        types : mapping or None
            By name: the name of a type, or a pair of it and the levels in order.
        missing : {"partial", "level", "error"}

        Warns
        -----
        LeftOutColumnWarning
            If columns are left out that nobody said to leave out; it names them and says why.
        """
        raw = list(raw_columns(X))
        asked = dict(types or {})
        strangers = [title for title in asked if title not in {column.title for column in raw}]
        if strangers:
            raise ValueError(f"column_types names {_named(strangers)}, which X does not have")
        positions, columns = [], []
        reasons: dict[Any, str] = {}
        for position, column in enumerate(raw):
            found = _learn(column, asked.get(column.title), reasons)
            if found is None:
                continue
            if missing == "level" and is_blank(column.values).any():
                found = found.with_blank()
            positions.append(position)
            columns.append(found)
        if reasons:
            listed = "; ".join(f"'{title}' ({reason})" for title, reason in list(reasons.items())[:_SHOWN])
            more = f" and {len(reasons) - _SHOWN} more" if len(reasons) > _SHOWN else ""
            warnings.warn(
                f"{len(reasons)} column(s) are left out: {listed}{more}. To use one, say what it is with column_types",
                LeftOutColumnWarning,
                stacklevel=6,
            )
        if not columns:
            raise ValueError("no column of X is left to cluster by")
        return cls(tuple(column.title for column in raw), np.array(positions), tuple(columns))

    def encode(self, X: Any) -> FloatArray:
        """Codes of the columns that are used, of shape (n_rows, k); NaN for blanks and unseen levels.

        Warns
        -----
        UnseenCategoryWarning
            If a level was not there in the fit.
        """
        raw = list(raw_columns(X))
        codes, news = [], []
        for position, column in zip(self.positions.tolist(), self.columns, strict=True):
            values = raw[position].values
            codes.append(column.encode(values))
            if column.discrete and not np.array_equal(np.isnan(codes[-1]), is_blank(values)):
                unseen = column.unseen(values)
                news.append(f"'{column.title}': {_named(unseen)}") if unseen else None
        if news:
            warnings.warn(
                f"level(s) that were not there in the fit count as missing: {'; '.join(news[:_SHOWN])}",
                UnseenCategoryWarning,
                stacklevel=5,
            )
        return np.column_stack(codes)

    def types(self) -> dict[Any, str]:
        """Type of every column of the table by its name; ``"drop"`` for those that are left out."""
        found = dict.fromkeys(self.titles, DROP)
        for position, column in zip(self.positions.tolist(), self.columns, strict=True):
            found[self.titles[position]] = column.name
        return found


def _learn(raw: RawColumn, asked: Any, reasons: dict[Any, str]) -> Column | None:
    """The column, or None if it is left out; why nobody asked for that goes into ``reasons``."""
    known = raw.values[~is_blank(raw.values)]
    name, levels = _request(raw, asked)
    if name == DROP:
        return None
    if len(known) == 0:
        reasons[raw.title] = "no value at all"
        return None
    if asked is None and raw.kind == "nominal":
        n_distinct = len(set(known.tolist()))
        if raw.is_text and len(known) > _FEW_ROWS and n_distinct > _NEARLY_ALL * len(known):
            reasons[raw.title] = f"{n_distinct} different values in {len(known)} rows, as names or remarks have"
            return None
        if n_distinct > MAX_LEVELS:
            reasons[raw.title] = f"{n_distinct} levels, more than the {MAX_LEVELS} that can be told apart"
            return None
    return Column.registry[name].learn(str(raw.title), raw.values, levels)


def _request(raw: RawColumn, asked: Any) -> tuple[str, tuple[Any, ...] | None]:
    """Name of the type and levels: what the user asked for, or what the table says."""
    if asked is None:
        return raw.kind or "nominal", raw.levels
    name, detail = (asked, None) if isinstance(asked, str) else _pair(raw.title, asked)
    if name == "date" and detail is not None:
        name = "cyclic"
        detail = [detail] if isinstance(detail, str) else detail
    if name not in (*Column.registry, DROP):
        raise ValueError(
            f"column_types: unknown type {name!r} of column {raw.title!r}: choose one of "
            f"{', '.join((*Column.registry, DROP))}"
        )
    return name, (raw.levels if name == raw.kind else None) if detail is None else tuple(detail)


def _pair(title: Any, asked: Any) -> tuple[str, Any]:
    if not isinstance(asked, Sequence) or len(asked) != 2 or not isinstance(asked[0], str):
        raise ValueError(
            f"column_types: for column {title!r} give the name of a type, or a pair such as "
            f'("ordinal", ["low", "high"]), got {asked!r}'
        )
    return asked[0], asked[1]


def _named(values: Sequence[Any]) -> str:
    shown = ", ".join(repr(value) for value in values[:_SHOWN])
    return shown if len(values) <= _SHOWN else f"{shown} and {len(values) - _SHOWN} more"
