"""Columns of levels in clusters: the share of every level, and how many times the overall share that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from kfrc.typing import FloatArray
from kfrc_app.facts.profiles import SHORT_NAME, Profiles, Trait, strongest
from kfrc_app.facts.separation import level_separation
from kfrc_app.facts.table import TableColumn, as_numbers
from kfrc_app.facts.text import clean, isolate, percent
from kfrc_app.facts.verdicts import NOTABLE_DIFFERENCE, NOTABLE_SEPARATION
from kfrc_app.tables import Kind

BLANK = "(blank)"
"""What the level of blanks is called."""


@dataclass(frozen=True, eq=False)
class LevelShares:
    """One column of levels.

    Attributes
    ----------
    column : TableColumn
    position : int
        In the table, from zero.
    overall : ndarray of shape (n_levels,)
        Share of every level among the rows in which one is known, weights counted.
    shares : ndarray of shape (n_clusters, n_levels)
        The same in each cluster; NaN in a cluster that is empty.
    separations : ndarray of shape (n_clusters, n_levels)
        Share inside minus share outside.
    """

    column: TableColumn
    position: int
    overall: FloatArray
    shares: FloatArray
    separations: FloatArray

    @property
    def lift(self) -> FloatArray:
        """Share in the cluster over the overall one, of shape (n_clusters, n_levels); NaN for a level without rows."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.overall > 0, self.shares / self.overall, np.nan)

    @property
    def excess(self) -> FloatArray:
        """Share minus overall share, in standard deviations of the indicator of the level; as ``lift``."""
        deviation = np.sqrt(self.overall * (1.0 - self.overall))
        return np.where(deviation > 0, (self.shares - self.overall) / np.where(deviation > 0, deviation, 1.0), 0.0)

    def mode(self, cluster: int) -> int | None:
        """The most frequent level of a cluster; None if it is empty."""
        shares = self.shares[cluster]
        return None if np.isnan(shares).any() else int(shares.argmax())

    @property
    def order(self) -> list[int]:
        """Levels as they are listed: in their order if they have one, else the most frequent first."""
        if self.column.kind is Kind.ORDINAL:
            return list(range(len(self.overall)))
        return np.argsort(-self.overall, kind="stable").tolist()

    def trait(self, cluster: int) -> Trait | None:
        """The level that a cluster has most in excess of the others, if by enough to mention."""
        excess = np.nan_to_num(self.excess[cluster])
        level = int(excess.argmax())
        if excess[level] < NOTABLE_DIFFERENCE and self.separations[cluster, level] < NOTABLE_SEPARATION:
            return None
        share = percent(self.shares[cluster, level])
        words = f"{isolate(self.column.name)} {isolate(clean(self.column.levels[level], 40))} ({share})"
        name, own = (clean(text, SHORT_NAME) for text in (self.column.name, self.column.levels[level]))
        return Trait(float(excess[level]), words, self.column.name, f"{isolate(name)}: {isolate(own)}")


def traits(profiles: Profiles | None, levels: Sequence[LevelShares], cluster: int) -> list[Trait]:
    """In what a cluster stands out: where it is high or low, and which levels it has more than others."""
    found = [] if profiles is None else profiles.traits(cluster)
    own = [column.trait(cluster) for column in levels if column.column.kind is Kind.NOMINAL]
    return [*found, *(trait for trait in own if trait is not None)]


def description(profiles: Profiles | None, levels: Sequence[LevelShares], cluster: int) -> str:
    """The same in words, the strongest three."""
    return strongest(traits(profiles, levels, cluster))


def level_shares(
    data: pd.DataFrame,
    belonging: FloatArray,
    columns: Sequence[TableColumn],
    positions: Sequence[int],
    weights: FloatArray | None = None,
    *,
    blank_is_level: bool = False,
) -> tuple[LevelShares, ...]:
    """Shares of the levels in every cluster.

    Parameters
    ----------
    data : DataFrame of shape (n_samples, n_features)
        Typed.
    belonging : ndarray of shape (n_samples, n_clusters)
        How much every row counts in every cluster.
    columns : sequence of TableColumn
        All columns of the table.
    positions : sequence of int
        Those to describe; columns without levels are passed over.
    weights : ndarray of shape (n_samples,), optional
    blank_is_level : bool, default=False
        Whether a blank counts as one more level.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from kfrc_app.facts.levels import level_shares
    >>> from kfrc_app.facts.table import table_facts
    >>> data = pd.DataFrame({"c": pd.Categorical(["a", "a", "b", None])})
    >>> (found,) = level_shares(data, np.eye(2)[[0, 0, 1, 1]], table_facts(data).columns, [0])
    >>> found.shares.tolist(), found.lift[0].tolist()
    ([[1.0, 0.0], [0.0, 1.0]], [1.5, 0.0])
    """
    rows = np.ones(len(data)) if weights is None else weights
    groups = [rows, *(rows * belonging.T)]
    found = []
    for j in positions:
        column = columns[j]
        if not column.levels:
            continue
        codes = as_numbers(data.iloc[:, j])
        if blank_is_level and column.n_missing:
            codes = np.where(np.isnan(codes), len(column.levels), codes)
            column = replace(column, levels=(*column.levels, BLANK))
        known = ~np.isnan(codes)
        levels, n_levels = codes[known].astype(np.intp), len(column.levels)
        shares = _shares(np.array([np.bincount(levels, group[known], n_levels) for group in groups]))
        separations = level_separation(codes, n_levels, belonging, weights)
        found.append(LevelShares(column, j, shares[0], shares[1:], separations))
    return tuple(found)


def _shares(counts: FloatArray) -> FloatArray:
    totals = counts.sum(axis=1, keepdims=True)
    return np.where(totals > 0, counts / np.where(totals > 0, totals, 1.0), np.nan)
