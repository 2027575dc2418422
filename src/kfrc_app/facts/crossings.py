"""Columns that were not clustered by, beside the groups: shares of levels, medians of numbers, and the known label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from kfrc.typing import FloatArray, IntArray
from kfrc_app.facts.agreement import is_known
from kfrc_app.facts.profiles import weighted_quantiles
from kfrc_app.facts.table import TableColumn, as_numbers, table_facts, typed_frame
from kfrc_app.facts.text import clean
from kfrc_app.tables import Kind

MAX_COLUMNS = 30
"""Columns that are crossed with the groups, those that differ most between them."""

MAX_LEVELS = 12
"""Levels of a column that are listed, the most frequent ones."""

_TOO_MANY = 0.5
"""Share of the rows with a value of their own from which on a column names rows rather than describing them."""

_FEW_LEVELS = 20
"""Levels that no column is passed over for."""


@dataclass(frozen=True)
class Level:
    """One level.

    Attributes
    ----------
    name : str
    overall : float
        Share of all rows in which the column is known.
    counts : tuple of int
        Rows of every group.
    shares : tuple of float
        Of each group's rows in which the column is known; NaN if there are none.
    """

    name: str
    overall: float
    counts: tuple[int, ...]
    shares: tuple[float, ...]


@dataclass(frozen=True)
class Crossing:
    """One column beside the groups. Rows count for the group they belong to most.

    Attributes
    ----------
    name : str
    kind : Kind
    n_known : int
        Rows in which it is known.
    levels : tuple of Level
        Of a column that has levels.
    n_more : int
        Levels that are not listed.
    overall : str
        Median of all rows, of a column of numbers or dates.
    medians, quartiles : tuple of str
        Of every group: the median, and the range of the middle half.
    strength : float
        Share of its variation that goes along with the groups, from 0 to 1.
    """

    name: str
    kind: Kind
    n_known: int
    levels: tuple[Level, ...] = ()
    n_more: int = 0
    overall: str = ""
    medians: tuple[str, ...] = ()
    quartiles: tuple[str, ...] = ()
    strength: float = 0.0


@dataclass(frozen=True)
class Crossings:
    """All of them.

    Attributes
    ----------
    columns : tuple of Crossing
        Those that differ most between the groups first.
    n_more : int
        Columns that could be crossed but are not listed.
    passed_over : tuple of str
        Columns of names and the like, in which nearly every row has a value of its own.
    """

    columns: tuple[Crossing, ...]
    n_more: int
    passed_over: tuple[str, ...]


def crossings(aside: pd.DataFrame, labels: IntArray, n_clusters: int, weights: FloatArray | None = None) -> Crossings:
    """Cross columns that were not clustered by with the groups.

    Parameters
    ----------
    aside : DataFrame of shape (n_samples, n_columns)
    labels : ndarray of shape (n_samples,)
        Group of every row.
    n_clusters : int
    weights : ndarray of shape (n_samples,), optional
        How many rows each row stands for; counts are those of rows.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from kfrc_app.facts.crossings import crossings
    >>> aside = pd.DataFrame({"city": ["x", "x", "y", "y"], "age": [1.0, 2.0, 7.0, 9.0]})
    >>> found = crossings(aside, np.array([0, 0, 1, 1]), 2)
    >>> [(column.name, column.strength) for column in found.columns], found.columns[0].levels[0].counts
    ([('city', 1.0), ('age', 0.8)], (2, 0))
    """
    frame = typed_frame(aside)
    described = table_facts(frame).columns
    found, passed_over = [], []
    for j, column in enumerate(described):
        values = as_numbers(frame.iloc[:, j])
        known = ~np.isnan(values)
        if not known.any():
            continue
        if column.levels and _names_rows(values[known]):
            passed_over.append(column.name)
        else:
            found.append(_cross(column, values, labels, n_clusters, weights))
    found.sort(key=lambda crossing: -round(crossing.strength, 3))
    return Crossings(tuple(found[:MAX_COLUMNS]), max(len(found) - MAX_COLUMNS, 0), tuple(passed_over))


def cross_labels(
    known_labels: Sequence[Any], labels: IntArray, n_clusters: int, weights: FloatArray | None = None
) -> Crossing | None:
    """The known label beside the groups; None if none is known."""
    known = is_known(known_labels)
    if not known.any():
        return None
    texts = pd.Series([str(label) if use else None for label, use in zip(known_labels, known, strict=True)])
    frame = typed_frame(pd.DataFrame({"label": pd.Categorical(texts)}))
    column = table_facts(frame).columns[0]
    return _cross(column, as_numbers(frame.iloc[:, 0]), labels, n_clusters, weights)


def _cross(
    column: TableColumn, values: FloatArray, labels: IntArray, n_clusters: int, weights: FloatArray | None
) -> Crossing:
    s = np.ones(len(values)) if weights is None else weights
    known = ~np.isnan(values)
    groups = np.equal.outer(labels, np.arange(n_clusters)) * s[:, None]
    if column.levels and column.kind is not Kind.DATE:
        return _cross_levels(column, values[known].astype(np.intp), labels[known], s[known], n_clusters)
    x, mass = values[known], np.column_stack([s[known], groups[known]])
    low, middle, high = weighted_quantiles(x, mass, (0.25, 0.5, 0.75)).T
    quartiles = [
        f"{column.show(a)} to {column.show(b)}" if np.isfinite(a) else ""
        for a, b in zip(low[1:], high[1:], strict=True)
    ]
    return Crossing(
        column.name,
        column.kind,
        int(known.sum()),
        overall=column.show(float(middle[0])),
        medians=tuple(column.show(float(value)) for value in middle[1:]),
        quartiles=tuple(quartiles),
        strength=_explained(x[:, None], mass),
    )


def _cross_levels(column: TableColumn, codes: IntArray, labels: IntArray, s: FloatArray, n_clusters: int) -> Crossing:
    n_levels = len(column.levels)
    counts, mass = np.zeros((n_levels, n_clusters)), np.zeros((n_levels, n_clusters))
    np.add.at(counts, (codes, labels), 1.0)
    np.add.at(mass, (codes, labels), s)
    totals = mass.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.where(totals > 0, mass / totals, np.nan)
        overall = mass.sum(axis=1) / totals.sum() if totals.sum() > 0 else np.full(n_levels, np.nan)
    frequent = np.argsort(-mass.sum(axis=1), kind="stable")
    frequent = frequent[counts.sum(axis=1)[frequent] > 0]
    shown = frequent[:MAX_LEVELS]
    if column.kind is Kind.ORDINAL:
        shown = np.sort(shown)
    else:
        # Levels of the first group come first, so that what goes along with the groups is seen along the diagonal.
        shown = shown[np.argsort(np.nan_to_num(shares[shown]).argmax(axis=1), kind="stable")]
    levels = tuple(
        Level(
            clean(column.levels[k]),
            float(overall[k]),
            tuple(int(n) for n in counts[k]),
            tuple(float(share) for share in shares[k]),
        )
        for k in shown.tolist()
    )
    gini = 1.0 - float((overall**2).sum())
    spread = float((totals / max(totals.sum(), 1e-300)) @ np.nansum((shares - overall[:, None]) ** 2, axis=0))
    strength = spread / gini if gini > 0 else 0.0
    return Crossing(column.name, column.kind, len(codes), levels, len(frequent) - len(shown), strength=strength)


def _names_rows(codes: FloatArray) -> bool:
    """Whether a column of text names its rows."""
    n_different = len(np.unique(codes))
    return n_different > _FEW_LEVELS and n_different > _TOO_MANY * len(codes)


def _explained(values: FloatArray, mass: FloatArray) -> float:
    """Share of the variance of ranks between the groups: a few wild values do not decide."""
    order = np.argsort(np.argsort(values[:, 0], kind="stable"), kind="stable").astype(np.float64)
    _, inverse, counts = np.unique(values[:, 0], return_inverse=True, return_counts=True)
    ranks = (np.bincount(inverse, order) / counts)[inverse]
    sums = mass.sum(axis=0)
    if sums[0] <= 0:
        return 0.0
    means = mass.T @ ranks / np.where(sums > 0, sums, 1.0)
    variance = float(mass[:, 0] @ (ranks - means[0]) ** 2)
    between = float(sums[1:] @ (means[1:] - means[0]) ** 2)
    return between / variance if variance > 0 else 0.0
