"""The original table with what was found beside it, every row of the file in its order: as a workbook and as CSV."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import csv

from kfrc import __version__
from kfrc.typing import FloatArray
from kfrc_app._letters import letters
from kfrc_app.facts import Facts
from kfrc_app.facts.groups import Group
from kfrc_app.facts.verdicts import STAYS, grade
from kfrc_app.neutral import neutral, neutral_cells, quoting_of
from kfrc_app.runs.workbook import MAX_COLUMNS, MAX_ROWS, Sheet, needed_unit, write_workbook
from kfrc_app.tables import InputRows

DIGITS = 10
"""Of memberships, after the point: read back, rows still sum to one."""

CLUSTER, GROUP, CERTAINTY, STAYS_SHARE, LARGEST, LEFT_OUT = (
    *("cluster", "group", "certainty", "stays_in_refits", "largest_membership", "left_out"),
)
UNTESTED, COLLAPSED = "not tested", "none: all memberships are the same"
"""What the certainty of rows is called if nothing was refitted, and if there is nothing that could be certain."""

N_ADDED = 5
"""Columns that are added beside the memberships."""

_ADDITION = "found"  # what tells a column that was added from one of the same name in the file
_SHARE, _MEMBERSHIP = "0%", "0.000"


@dataclass(frozen=True, eq=False)
class Clustered:
    """A table and what was found.

    Attributes
    ----------
    frame : DataFrame of shape (n_input_rows, n_columns + n_added)
        The columns of the file, then those that were added; names are as in the file, also if two are alike.
    added : dict of str to str
        What the added columns are called in ``frame``, by what they are called unless the file has such a column.
    """

    frame: pd.DataFrame
    added: dict[str, str]


def clustered_table(original: pd.DataFrame, rows: InputRows, facts: Facts) -> Clustered:
    """Put what was found beside a table.

    Parameters
    ----------
    original : DataFrame of shape (n_input_rows, n_columns)
        All rows of the file.
    rows : InputRows
        Which of them are used.
    facts : Facts
        Of the fit of these.

    Returns
    -------
    Clustered
        Added are ``cluster``, ``group`` (its letter in the report), ``certainty`` (a word), a number for it
        (``stays_in_refits``: the share of refits in which the row stays in its cluster; ``largest_membership`` if
        nothing was refitted), the memberships ``cluster_0``, ``cluster_1``, …, and ``left_out``: why it has no cluster.
    """
    U, used = facts.model.memberships_, rows.used
    memberships = np.full((len(used), U.shape[1]), np.nan)
    memberships[used] = np.round(U, DIGITS)
    clusters = np.full(len(used), np.nan)
    clusters[used] = U.argmax(axis=1)
    clusters[~rows.placed] = np.nan
    name, numbers, words = _certainty(facts)
    found: dict[str, Any] = {
        CLUSTER: clusters,
        GROUP: _all_rows(np.array([letters(i) for i in range(U.shape[1])], dtype=object)[U.argmax(axis=1)], rows),
        CERTAINTY: _all_rows(words, rows),
        name: _all_numbers(numbers, rows),
        **{f"cluster_{i}": memberships[:, i] for i in range(U.shape[1])},
        LEFT_OUT: pd.array([reason or None for reason in rows.reasons], dtype="string[pyarrow]"),
    }
    names = _free_names(list(found), [str(column) for column in original.columns])
    added = pd.DataFrame({names[key]: pd.Series(values) for key, values in found.items()}, copy=False)
    return Clustered(pd.concat([original.reset_index(drop=True), added], axis=1), names)


def _certainty(facts: Facts) -> tuple[str, FloatArray, NDArray[Any]]:
    """How certain the place of every row that is used is: what is counted, how much, and in words."""
    largest = np.round(facts.model.memberships_.max(axis=1), DIGITS)
    if facts.trust.collapsed:
        return LARGEST, largest, np.full(len(largest), COLLAPSED, dtype=object)
    if facts.confidence is None:
        return LARGEST, largest, np.full(len(largest), UNTESTED, dtype=object)
    stays = np.asarray(facts.confidence.rows, dtype=np.float64)
    return STAYS_SHARE, np.round(stays, 4), np.array([grade(share, STAYS) for share in stays.tolist()], dtype=object)


def _all_rows(words: NDArray[Any], rows: InputRows) -> Any:
    found = np.full(len(rows.used), None, dtype=object)
    found[rows.used] = words
    found[~rows.placed] = None
    return pd.array(found, dtype="string[pyarrow]")


def _all_numbers(values: FloatArray, rows: InputRows) -> FloatArray:
    found = np.full(len(rows.used), np.nan)
    found[rows.used] = values
    found[~rows.placed] = np.nan
    return found


def _free_names(wanted: Iterable[str], taken: Sequence[str]) -> dict[str, str]:
    """Names for columns that are added, other than those of the file, also for a reader who ignores capitals."""
    used = {name.lower() for name in taken}
    names = {}
    for name in wanted:
        free, k = name, 1
        while free.lower() in used:
            free = f"{name} ({_ADDITION})" if k == 1 else f"{name} ({_ADDITION} {k})"
            k += 1
        names[name] = free
        used.add(free.lower())
    return names


def clustered_csv(found: Clustered) -> bytes:
    """The table as CSV, in which no text can be taken for a formula; numbers are written in full."""
    columns, names = [], []
    for j, name in enumerate(found.frame.columns):
        column = found.frame.iloc[:, j]
        names.append(neutral(str(name)))
        if pd.api.types.is_datetime64_any_dtype(column):
            columns.append(_written_dates(column))
        elif pd.api.types.is_numeric_dtype(column):
            columns.append(pa.array(column, from_pandas=True))
        else:
            columns.append(neutral_cells(pa.array(column, type=pa.large_string(), from_pandas=True)))
    buffer = io.BytesIO()
    header = pd.DataFrame(columns=names).to_csv(index=False, lineterminator="\n", quoting=quoting_of(names))
    buffer.write(header.encode())
    csv.write_csv(
        pa.Table.from_arrays(columns, names=[str(j) for j in range(len(names))]),
        buffer,
        csv.WriteOptions(include_header=False, quoting_style="needed"),
    )
    return buffer.getvalue()


def _written_dates(column: pd.Series[Any]) -> Any:
    values = column.to_numpy()
    texts = np.char.replace(np.datetime_as_string(values, unit=needed_unit(values)), "T", " ")
    return pa.array(texts, mask=np.isnat(values))


def clustered_workbook(found: Clustered, facts: Facts) -> bytes:
    """The table as an Excel workbook, with a sheet of the clusters and one of how it was made."""
    formats = {found.added[name]: _MEMBERSHIP for name in found.added if name.startswith("cluster_")}
    formats |= {found.added[name]: _MEMBERSHIP for name in (LARGEST,) if name in found.added}
    formats |= {found.added[name]: _SHARE for name in (STAYS_SHARE,) if name in found.added}
    table = Sheet("table", found.frame, formats, frozenset(found.added.values()))
    clusters = Sheet(
        "clusters",
        cluster_frame(facts),
        {"share of rows": _SHARE, "mean membership": _MEMBERSHIP, "found again": _SHARE},
        wrapped=frozenset({"what sets it apart"}),
    )
    about = pd.DataFrame(about_lines(facts, found), columns=["what", "text"])
    told = Sheet("about", about, wrapped=frozenset({"text"}), header=False)
    return write_workbook([table, clusters, told], title=facts.opening.title)


def fits_workbook(n_rows: int, n_columns: int) -> bool:
    """Whether a table, without its heading, fits into a sheet of Excel."""
    return n_rows < MAX_ROWS and n_columns <= MAX_COLUMNS


TOO_LARGE = (
    f"clustered.xlsx is not written, because a sheet of Excel has at most {MAX_ROWS:,} rows and {MAX_COLUMNS:,} "
    "columns: clustered.csv holds the whole table"
)
"""Why there is no workbook."""


def cluster_frame(facts: Facts) -> pd.DataFrame:
    """The clusters: what they are called, how large they are, how well they are found again, what sets them apart."""
    columns: dict[str, list[Any]] = {
        CLUSTER: [cluster.label for cluster in facts.clusters],
        GROUP: [letters(cluster.label) for cluster in facts.clusters],
        "rows": [cluster.n_rows for cluster in facts.clusters],
        "share of rows": [cluster.n_rows / facts.n_rows for cluster in facts.clusters],
        "mean membership": [cluster.mean_membership for cluster in facts.clusters],
    }
    if facts.weights is not None:
        columns["weight"] = [cluster.weight for cluster in facts.clusters]
    if facts.trust.clusters and not facts.trust.collapsed:
        columns["found again"] = list(facts.trust.clusters)
        columns["in words"] = list(facts.trust.words)
    if not facts.trust.collapsed:
        columns["name"] = [group.name for group in facts.groups]
        columns["what sets it apart"] = [_set_apart(group) for group in facts.groups]
    return pd.DataFrame(columns)


def _set_apart(group: Group) -> str:
    """In what a group differs, with what is typical of it and of all rows."""
    told = [f"{column.words} (typical: {column.value}; all rows: {column.overall})" for column in group.columns]
    return "; ".join(told) or group.description


def about_lines(facts: Facts, found: Clustered) -> list[tuple[str, str]]:
    """What a reader of the workbook should know: what was found, what the columns mean, and how it was made."""
    added = found.added
    lines = [
        ("what was found", f"{facts.opening.title}."),
        *(("", text) for text in facts.opening.sentences),
    ]
    meanings = {
        CLUSTER: "the cluster in which the row has its largest membership, counted from 0; blank if it was not used",
        GROUP: "the letter of the cluster, as in the report; the sheet “clusters” says what sets it apart",
        CERTAINTY: f"whether the row keeps its place if other rows are looked at; “{UNTESTED}” if nothing was refitted",
        STAYS_SHARE: (
            f"share of the refits in which the row stays in its cluster: {STAYS[0].word} from {STAYS[0].least:.0%} on, "
            f"{STAYS[1].word} from {STAYS[1].least:.0%} on, {STAYS[2].word} below"
        ),
        LARGEST: "the largest membership of the row; it depends on the fuzziness m and says little of certainty",
        "cluster_0": "memberships of the row in every cluster, from 0 to 1; together they are 1",
        LEFT_OUT: "why a row of the file was not used, or could not be placed; blank for the others",
    }
    lines += [(f"column “{added[name]}”", text) for name, text in meanings.items() if name in added]
    lines.append(
        ("text", "what could be taken for a formula is text here; in the CSV files it has an apostrophe in front")
    )
    settings = [
        ("table", facts.source),
        ("rows", f"{facts.n_rows:,} used, {facts.n_left_out:,} left out"),
        ("columns", f"{facts.n_columns:,} clustered by"),
        ("method", f"{facts.fit.method}, fuzzifier {facts.fit.fuzzifier}, m = {facts.fit.m:g}"),
        ("command", facts.command),
        ("seed", "" if facts.seed is None else str(facts.seed)),
        ("version", f"kfrc {__version__}"),
    ]
    lines += [(name, text) for name, text in settings if text]
    lines += [("note" if k == 0 else "", note) for k, note in enumerate((*facts.notes, *facts.remarks))]
    return lines
