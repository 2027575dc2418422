"""Which type every column of a table has, and the table as codes: learned in a fit, used again for new rows."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kfrc._validation import short_name
from kfrc.columns.base import Column, is_blank
from kfrc.columns.frames import RawColumn, raw_columns
from kfrc.columns.table import Table
from kfrc.columns.types import MAX_LEVELS, Ordinal
from kfrc.exceptions import LeftOutColumnWarning, LevelOrderWarning, UnseenCategoryWarning
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
    def learn(
        cls, X: Any, types: Mapping[Any, Any] | None, missing: str, titles: Sequence[str] | None = None
    ) -> Schema:
        """From a table with typed columns, or from an array.

        Parameters
        ----------
        X : table or array of shape (n_rows, n_columns)
        types : mapping or None
            By name: the name of a type, or a pair of it and the levels in order.
        missing : {"partial", "level", "error"}
        titles : sequence of str, optional
            Names of the columns, if X has none.

        Warns
        -----
        LeftOutColumnWarning
            If columns are left out that nobody said to leave out; it names them and says why.
        """
        raw = list(raw_columns(X))
        if titles is not None:
            raw = [replace(column, title=title) for column, title in zip(raw, titles, strict=True)]
        asked = dict(types or {})
        strangers = [title for title in asked if title not in {column.title for column in raw}]
        if strangers:
            raise ValueError(f"column_types names {_named(strangers)}, which X does not have")
        positions, columns = [], []
        reasons: dict[Any, str] = {}
        for position, column in enumerate(raw):
            found = learn_column(column, asked.get(column.title), reasons)
            if found is None:
                continue
            if missing == "level" and is_blank(column.values).any():
                found = found.with_blank()
            positions.append(position)
            columns.append(found)
        warn_of_left_out(reasons, stacklevel=7)
        if not columns:
            raise ValueError("no column of X is left to cluster by")
        return cls(tuple(column.title for column in raw), np.array(positions), tuple(columns))

    def encode(self, X: Any) -> FloatArray:
        """Codes of all columns, of shape (n_rows, n_columns); NaN for blanks, unseen levels, and columns not used.

        Warns
        -----
        UnseenCategoryWarning
            If a level was not there in the fit.
        """
        raw, news = list(raw_columns(X)), []
        codes = np.full((len(raw[0].values), len(self.titles)), np.nan)
        for position, column in zip(self.positions.tolist(), self.columns, strict=True):
            values = raw[position].values
            codes[:, position] = column.encode(values)
            if column.discrete:
                unseen = column.unseen(values) if (np.isnan(codes[:, position]) > is_blank(values)).any() else []
                news += [f"'{column.title}': {_named(unseen)}"] if unseen else []
        if news:
            warnings.warn(
                f"level(s) that were not there in the fit count as missing: {'; '.join(news[:_SHOWN])}",
                UnseenCategoryWarning,
                stacklevel=5,
            )
        return codes

    def describe_blanks(self, codes: FloatArray) -> str | None:
        """What is missing where, None if nothing is."""
        missing = np.isnan(codes[:, self.positions])
        if not missing.any():
            return None
        counts = missing.sum(axis=0)
        places = np.argsort(-counts, kind="stable")[: min(_SHOWN, int((counts > 0).sum()))]
        listed = ", ".join(f"'{short_name(self.columns[j].title)}' ({counts[j]})" for j in places)
        more = int((counts > 0).sum()) - len(places)
        row = int(missing.any(axis=1).argmax())
        return (
            f"{int(missing.sum())} value(s) are missing, the first in row {row}: {listed}"
            f"{f' and {more} more column(s)' if more else ''}"
        )

    def types(self) -> dict[Any, str]:
        """Type of every column of the table by its name; ``"drop"`` for those that are left out."""
        found = dict.fromkeys(self.titles, DROP)
        for position, column in zip(self.positions.tolist(), self.columns, strict=True):
            found[self.titles[position]] = column.name
        return found


def table_of(
    X: Any,
    column_types: Mapping[Any, Any] | None = None,
    *,
    missing: str = "partial",
    sample_weight: FloatArray | None = None,
) -> Table:
    """A table of pandas, polars or Arrow, or an array with NaN, in standard units: what the computing functions take.

    Parameters
    ----------
    X : table or array of shape (n_rows, n_columns)
    column_types : mapping, optional
        See :class:`kfrc.KFRC`.
    missing : {"partial", "level", "error"}, default="partial"
    sample_weight : ndarray of shape (n_rows,), optional
        How many rows each row stands for.

    Returns
    -------
    Table
        Of the columns that vary.

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc.columns import table_of
    >>> from kfrc.spectrum import leading_spectrum
    >>> X = np.array([[1.0, 0.0], [2.0, np.nan], [8.0, 1.0], [9.0, 1.0]])
    >>> table = table_of(X, {1: "nominal"})
    >>> [column.name for column in table.columns], int((~table.observed).sum())
    (['numeric', 'nominal'], 1)
    >>> leading_spectrum(table, 1.0, n_eigenvalues=1).eigenvalues.round(3)
    array([0.96])
    """
    schema = Schema.learn(X, column_types, missing)
    codes = schema.encode(X)[:, schema.positions]
    varying = [j for j, column in enumerate(schema.columns) if column.varies(codes[:, j])]
    if not varying:
        raise ValueError("no column of X varies: there is nothing to cluster by")
    columns = tuple(schema.columns[j].scaled(codes[:, j], sample_weight) for j in varying)
    values = [column.standardize(codes[:, j]) for j, column in zip(varying, columns, strict=True)]
    return Table(np.column_stack(values), columns, sample_weight)


def warn_of_left_out(reasons: Mapping[Any, str], stacklevel: int) -> None:
    """Name columns that nobody said to leave out, with the reason why they are."""
    if not reasons:
        return
    listed = "; ".join(f"'{short_name(title)}' ({reason})" for title, reason in list(reasons.items())[:_SHOWN])
    more = f" and {len(reasons) - _SHOWN} more" if len(reasons) > _SHOWN else ""
    warnings.warn(
        f"{len(reasons)} column(s) are left out: {listed}{more}. To use one, say what it is with column_types",
        LeftOutColumnWarning,
        stacklevel=stacklevel,
    )


def learn_column(raw: RawColumn, asked: Any, reasons: dict[Any, str], n_known: int | None = None) -> Column | None:
    """The column, or None if it is left out; why nobody asked for that goes into ``reasons``.

    Parameters
    ----------
    raw : RawColumn
    asked : str, tuple or None
        What ``column_types`` says of it.
    reasons : dict
        Gets an entry if the column is left out.
    n_known : int, optional
        In how many rows something is known, if ``raw`` holds every value once only.
    """
    known = raw.values[~is_blank(raw.values)]
    _refuse_unhashable(raw.title, known)
    name, levels = column_request(raw, asked)
    if name == DROP:
        return None
    if len(known) == 0:
        reasons[raw.title] = "no value at all"
        return None
    if asked is None and raw.kind == "nominal":
        n_distinct, n_known = len(set(known.tolist())), len(known) if n_known is None else n_known
        if raw.is_text and n_known > _FEW_ROWS and n_distinct > _NEARLY_ALL * n_known:
            reasons[raw.title] = f"{n_distinct} different values in {n_known} rows, as names or remarks have"
            return None
        if n_distinct > MAX_LEVELS:
            reasons[raw.title] = f"{n_distinct} levels, more than the {MAX_LEVELS} that can be told apart"
            return None
    # Columns of an array have no names: they are called as scikit-learn calls them.
    title = f"x{raw.title}" if isinstance(raw.title, int) else str(raw.title)
    if name == "ordinal" and levels is None:
        _warn_of_order(title, known)
    return Column.registry[name].learn(title, raw.values, levels)


def _refuse_unhashable(title: Any, known: NDArray[Any]) -> None:
    for value in known.tolist() if known.dtype.kind == "O" else []:
        try:
            hash(value)
        except TypeError:
            raise ValueError(
                f"column '{title}' holds {value!r}, which is neither a number nor a level nor a date: leave it out "
                'with column_types={...: "drop"}, or make several columns of it'
            ) from None


def _warn_of_order(title: str, known: NDArray[Any]) -> None:
    """Text that is no numbers has no order of its own."""
    levels = Ordinal.learn(title, known).levels
    if any(isinstance(level, str) and not level.replace(".", "", 1).lstrip("+-").isdigit() for level in levels):
        warnings.warn(
            f"column '{title}' is ordinal, but nothing says in which order its levels come: the alphabet was taken, "
            f"{' < '.join(map(repr, levels[:_SHOWN]))}. Give the order: "
            f'column_types={{"{title}": ("ordinal", [...])}}',
            LevelOrderWarning,
            stacklevel=8,
        )


def column_request(raw: RawColumn, asked: Any) -> tuple[str, tuple[Any, ...] | None]:
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
