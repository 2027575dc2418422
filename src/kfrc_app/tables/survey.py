"""What each column of a file is for: to cluster by, names of rows, labels, weights, or nothing; and why."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kfrc._validation import short_name
from kfrc_app.tables.columns import ROW_NAMES, Columns, DataError, in_quotes, quoted
from kfrc_app.tables.guess import LABEL_NAMES
from kfrc_app.tables.identifiers import Identifier, are_long, find_identifiers, is_called_id
from kfrc_app.tables.kinds import Kind, Wish, written
from kfrc_app.tables.understanding import Understanding, kind_of, understand

MAX_LEFT_OUT_SHARE = 0.5
"""Of the columns that could be clustered by: if more of them cannot be read, the file was not understood."""

MIN_LEFT_OUT = 3
"""Columns that are left out from which on that matters: two of remarks beside one number are no sign of anything."""

_MAX_GROUPS = 30
_CLOSE = 0.8  # likeness from which on a name is suggested for one that does not exist
_TYPED = 6  # columns that are written out in a command


@dataclass(frozen=True, eq=False)
class Survey:
    """The columns of a file and their roles.

    Attributes
    ----------
    file : Columns
    found : Understanding
        The columns that are clustered by, and those that cannot be.
    label, weight : str or None
        As the user says.
    names : tuple of str
        Columns that name the rows, together; empty if rows are counted.
    identifiers : tuple of Identifier
        Columns that were found to name rows.
    dropped : frozenset of str
        Columns that the user leaves out.
    requested : tuple of str
        Columns that the user names to cluster by; empty for all that can be used.
    notes : tuple of str
    """

    file: Columns
    found: Understanding
    label: str | None
    weight: str | None
    names: tuple[str, ...]
    identifiers: tuple[Identifier, ...]
    dropped: frozenset[str]
    requested: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def naming(self) -> tuple[str, ...]:
        """All columns that tell rows or known groups apart."""
        found = [*self.names, *self.file.row_names, *(identifier.name for identifier in self.identifiers)]
        return tuple(dict.fromkeys([*found, *([] if self.label is None else [self.label])]))

    @property
    def aside(self) -> tuple[str, ...]:
        """Columns that are neither clustered by nor have another role, in the order of the file."""
        others = {*self.found.series, *self.naming, self.weight}
        return tuple(name for name in self.file.names if name not in others)

    @property
    def row_ids(self) -> NDArray[Any]:
        """Names of all rows; their numbers if nothing names them."""
        return row_ids(self.file, self.names)


def survey(
    file: Columns,
    *,
    columns: Sequence[str] = (),
    drop: Sequence[str] = (),
    label_column: str | None = None,
    id_column: str | None = None,
    weight_column: str | None = None,
    types: Mapping[str, Wish] | None = None,
    blank_is_level: bool = False,
    strict: bool = True,
) -> Survey:
    """Find out what the columns of a file are for.

    Parameters
    ----------
    file : Columns
    columns, drop, label_column, id_column, weight_column, types
        As in :func:`kfrc_app.tables.read_table`.
    blank_is_level : bool, default=False
        Whether a blank counts as a level.
    strict : bool, default=True
        Whether a type that contradicts the cells is an error rather than a remark.

    Returns
    -------
    Survey

    Raises
    ------
    DataError
        If a column does not exist, or contradicts what is said of it; or a question.
    """
    label, name_column, weight = (
        None if request is None else _named_one(file.names, request)
        for request in (label_column, id_column, weight_column)
    )
    kept_aside = [name for name in (label, name_column, weight) if name is not None]
    wishes = _wishes(file.names, types or {}, kept_aside)
    requested = named(file.names, columns)
    row_names = [name for name in file.row_names if name not in {*kept_aside, *requested}]
    text_only = [name for name in (label, name_column, *row_names) if name is not None]
    dropped = {*named(file.names, drop), *(name for name, wish in wishes.items() if wish.kind is Kind.DROP)}
    chosen = [name for name in (requested or file.names) if name not in {*dropped, *text_only, weight}]
    found = understand(
        file,
        chosen,
        wishes,
        aside=text_only,
        demanded=bool(requested),
        blank_is_level=blank_is_level,
        strict=strict,
    )
    identifiers: list[Identifier] = []
    if not requested:
        open_columns = [name for name in chosen if name not in wishes]
        identifiers = find_identifiers(file, found.series, found.text, found.mixed, open_columns, found.long)
        for identifier in identifiers:
            found.forget(identifier.name)
    names, notes = _row_names(file, name_column, row_names, identifiers)
    suspicions = [] if requested else _suspicions(found.data)
    return Survey(
        file,
        found,
        label,
        weight,
        names,
        tuple(identifiers),
        frozenset(dropped),
        tuple(requested),
        (*file.noticed, *notes, *found.notes, *suspicions),
    )


def _row_names(
    file: Columns, said: str | None, row_names: Sequence[str], identifiers: Sequence[Identifier]
) -> tuple[tuple[str, ...], list[str]]:
    """The columns that name the rows, and notes of those that were found to."""
    notes = [
        f"{in_quotes(found.name)} is taken for names of the rows and not clustered by, because {found.reason}; "
        f"{_kept(file, found)}"
        for found in identifiers
    ]
    if said is not None:
        return (said,), notes
    if identifiers and (not row_names or _counts_rows(file, row_names)):
        return (identifiers[0].name,), notes
    if ROW_NAMES in row_names:
        notes.insert(0, "the first column has no name and was taken as names of the rows")
    elif row_names:
        notes.insert(0, f"the index of the file, {quoted(row_names)}, was taken as names of the rows")
    return tuple(row_names), notes


def _kept(file: Columns, found: Identifier) -> str:
    """How to cluster by a column nevertheless: by its numbers, unless names repeat as those of groups do."""
    name = found.name
    values = file.numbers([name], aside={*file.names} - {name}).values.get(name)
    is_number = values is not None and (found.unique or not are_long(file, name, values))
    return f"{written({name: Kind.NUMERIC if is_number else Kind.NOMINAL})} clusters by it"


def _counts_rows(file: Columns, row_names: Sequence[str]) -> bool:
    """Whether names that a file has for its rows are mere numbers of them."""
    if len(row_names) != 1:
        return False
    cells = file.text(row_names[0])
    return any(all(cell == str(k + start) for k, cell in enumerate(cells)) for start in (0, 1))


def row_ids(file: Columns, names: Sequence[str]) -> NDArray[Any]:
    """Names of the rows from one or several columns; their numbers, from 1, without any."""
    if len(names) == 1:
        return file.text(names[0])
    if names:
        levels = [file.text(name) for name in names]
        return np.array([", ".join(parts) for parts in zip(*levels, strict=True)], dtype=object)
    return np.array([str(k + 1) for k in range(file.n_rows)], dtype=object)


def names_of_new_rows(file: Columns, known: Sequence[str]) -> tuple[str, ...]:
    """The columns that name the rows of a file of which a model needs some columns.

    Parameters
    ----------
    file : Columns
    known : sequence of str
        Columns of the model, which name nothing.
    """
    row_names = tuple(name for name in file.row_names if name not in known)
    others = [name for name in file.names if name not in known and name not in row_names]
    try:
        numbers = file.numbers(others)
    except DataError:  # can be read in two ways, which nobody needs to know of columns that are not used
        return row_names
    long = [name for name, values in numbers.values.items() if are_long(file, name, values)]
    series = {name: pd.Series(values) for name, values in numbers.values.items() if name not in long}
    mixed = [name for name, text in numbers.text.items() if 2 * text.n_text <= text.n_known]
    found = find_identifiers(file, series, numbers.text, mixed, others, long)
    if found and found[0].unique and (not row_names or _counts_rows(file, row_names)):
        return (found[0].name,)
    return row_names


def refuse_most_left_out(found: Survey) -> None:
    """Stop if most columns cannot be read: then the file was not understood, and the rest of it is not the table.

    Raises
    ------
    DataError
        With what to type.
    """
    if found.requested:
        return
    lost = found.found.lost
    n_all = len(lost) + len(found.found.series)
    if len(lost) < MIN_LEFT_OUT or len(lost) <= MAX_LEFT_OUT_SHARE * n_all:
        return
    told = [f"{in_quotes(name)} ({why})" for name, why in list(lost.items())[:_TYPED]]
    more = f" and {len(lost) - _TYPED} more" if len(lost) > _TYPED else ""
    names = list(found.found.series)
    use = ""
    if names:
        shown = ",".join(short_name(name) for name in names[:_TYPED]) + (",..." if len(names) > _TYPED else "")
        use = f"--columns '{shown}' to cluster by the rest of the table only, or "
    types = {name: found.found.proposed(name) for name in list(lost)[:_TYPED]}
    raise DataError(
        f"{len(lost)} of {n_all} columns would be left out: {', '.join(told)}{more}. That is most of the table, so "
        f"nothing was computed. Correct the file, or add {use}{written(types)} to say what these are (numeric, "
        "ordinal, nominal, date, or drop)"
    )


def _wishes(names: Sequence[str], types: Mapping[str, Wish], aside: Sequence[str]) -> dict[str, Wish]:
    """Types under the names of the file; columns that are kept aside have none."""
    found = {}
    for name, wish in types.items():
        if name not in names:
            named(names, [name])  # says that there is no such column
            raise DataError(f"the file has no column {in_quotes(name)}: give a type to one column at a time")
        if name in aside:
            raise DataError(
                f"column {in_quotes(name)} is kept aside and not clustered by, so that it cannot have a type"
            )
        found[name] = wish
    return found


def named(known: Sequence[str], requested: Sequence[str]) -> list[str]:
    """Columns by name, as it stands in the file or with single blanks; an entry that is no name is split at commas."""
    names: list[str] = []
    for request in requested:
        entry = request if request in known else " ".join(request.split())
        parts = [entry] if entry in known else [part.strip() for part in entry.split(",") if part.strip()]
        for part in parts:
            if part not in known:
                shown = [name for name in known if name != ROW_NAMES]
                close = difflib.get_close_matches(part, shown, n=1, cutoff=_CLOSE)
                hint = f"did you mean {in_quotes(close[0])}?" if close else f"it has {quoted(shown, 10)}"
                raise DataError(f"the file has no column {in_quotes(part)}: {hint}")
            if part not in names:
                names.append(part)
    return names


def _named_one(known: Sequence[str], request: str) -> str:
    """A column by name, where one is meant."""
    found = named(known, [request])
    if len(found) != 1:
        shown = [name for name in known if name != ROW_NAMES]
        problem = (
            f"{in_quotes(request)} names {len(found)} columns where one is meant"
            if found
            else "the name of a column is blank"
        )
        raise DataError(f"{problem}: the file has {quoted(shown, 10)}")
    return found[0]


def _suspicions(data: pd.DataFrame) -> list[str]:
    """Columns that look like known groups or ids but are used, because nothing shows it clearly."""
    found = []
    for name in data.columns:
        if looks_like_label(str(name), data[name]):
            found.append(
                f"column {in_quotes(name)} is used as data: if it holds known groups, add --label-column "
                f"{in_quotes(name)}"
            )
        elif kind_of(data[name]) is Kind.NUMERIC and is_called_id(str(name)) and _is_whole(data[name]):
            found.append(
                f"column {in_quotes(name)} is used as data although its name says that it is an id, because its "
                "values repeat: "
                f"{written({str(name): Kind.NOMINAL})} if they are codes of groups, --drop {in_quotes(name)} "
                "leaves it out"
            )
    return found


def looks_like_label(name: str, series: pd.Series[Any]) -> bool:
    """Whether a column is called as known groups are, and has few values."""
    return name.lower() in LABEL_NAMES and bool(series.nunique() <= _MAX_GROUPS)


def _is_whole(series: pd.Series[Any]) -> bool:
    known = series.dropna().to_numpy()
    return bool((known == np.floor(known)).all())
