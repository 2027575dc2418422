"""Which columns matter: their shares in what the partition explains, largest first, and the bandwidths behind them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from kfrc import KFRC
from kfrc.clusterers import FuzzyClusterer
from kfrc.typing import FloatArray, IntArray
from kfrc_app.facts.text import count
from kfrc_app.facts.verdicts import ALIKE, STANDS_OUT
from kfrc_app.tables import Kind, kind_of


@dataclass(frozen=True)
class Column:
    """One column of the table.

    Attributes
    ----------
    name : str
    position : int
        In the table, from zero.
    contribution : float
        Share in what the partition explains, by the distances of the method; all sum to one.
    by_cluster : tuple of float
        The same cluster by cluster; they sum to ``contribution``.
    weight : float or None
        The paper's importance W_j ∝ 1/θ_j; all sum to one. None for a method without bandwidths.
    bandwidth : float or None
        θ_j in the units of the table; ``inf`` if the column is not used.
    in_deviations : float or None
        The same in standard deviations of the column.
    varies : bool
        Whether its values differ at all.
    kind : Kind
        Its type. Levels have no unit, so that the bandwidth of a column that has levels is told in deviations only.
    """

    name: str
    position: int
    contribution: float
    by_cluster: tuple[float, ...]
    weight: float | None
    bandwidth: float | None
    in_deviations: float | None
    varies: bool = True
    kind: Kind = Kind.NUMERIC

    @property
    def used(self) -> bool:
        """Whether the distances see it."""
        return self.varies if self.bandwidth is None else bool(np.isfinite(self.bandwidth))

    @property
    def has_unit(self) -> bool:
        """Whether its bandwidth is a number in the units of the table."""
        return self.kind is Kind.NUMERIC


@dataclass(frozen=True)
class Importance:
    """What the columns contribute.

    Attributes
    ----------
    columns : tuple of Column
        Largest contribution first; those that are left out come last.
    effective : float or None
        W_eff of the paper: to how many equally important columns the weights 1/θ amount; None without bandwidths.
    """

    columns: tuple[Column, ...]
    effective: float | None

    @property
    def has_bandwidths(self) -> bool:
        """Whether the method has a bandwidth for every column."""
        return self.effective is not None

    @property
    def n_columns(self) -> int:
        """Number of columns of the table."""
        return len(self.columns)

    @cached_property
    def used(self) -> tuple[Column, ...]:
        """The columns that the distances see."""
        return tuple(column for column in self.columns if column.used)

    @property
    def left_out(self) -> tuple[Column, ...]:
        """The others: constant, or set aside by the fit."""
        return tuple(column for column in self.columns if not column.used)

    @property
    def equal_share(self) -> float:
        """Contribution of a column if all in use contributed alike."""
        return equal_share(len(self.used))

    @cached_property
    def standing_out(self) -> tuple[Column, ...]:
        """The columns that contribute clearly more than an equal share."""
        return tuple(column for column in self.used if stands_out(column.contribution, len(self.used)))

    @cached_property
    def by_cluster(self) -> tuple[tuple[float, ...], ...]:
        """For every column its shares in what sets each cluster apart; over the columns they sum to one per cluster."""
        parts = np.array([column.by_cluster for column in self.columns], dtype=np.float64)
        totals = parts.sum(axis=0)
        own = np.where(totals > 0, parts / np.where(totals > 0, totals, 1.0), 0.0)
        return tuple(map(tuple, own.tolist()))

    @property
    def alike(self) -> bool:
        """Whether all columns in use contribute alike, and there are several."""
        shares = [column.contribution for column in self.used]
        return len(shares) > 1 and max(shares) <= ALIKE * min(shares)

    @property
    def summary(self) -> str:
        """How many columns stand out, in words."""
        return standing_out_words(len(self.standing_out), self.n_columns, len(self.used), alike=self.alike)


def equal_share(n_used: int) -> float:
    """Contribution of each of some columns that contribute alike."""
    return 1.0 / max(n_used, 1)


def stands_out(contribution: float, n_used: int) -> bool:
    """Whether a column contributes clearly more than its equal share.

    Examples
    --------
    >>> from kfrc_app.facts.importance import stands_out
    >>> stands_out(0.4, 4), stands_out(0.3, 4)
    (True, False)
    """
    return contribution >= STANDS_OUT * equal_share(n_used)


def standing_out_words(n_standing_out: int, n_columns: int, n_used: int | None = None, *, alike: bool = False) -> str:
    """How many columns stand out among those that are used; all are used if ``n_used`` is not given.

    Examples
    --------
    >>> from kfrc_app.facts.importance import standing_out_words
    >>> standing_out_words(33, 500), standing_out_words(1, 3), standing_out_words(0, 13)
    ('33 of 500 columns stand out', '1 of 3 columns stands out', 'no column of 13 stands out')
    >>> standing_out_words(0, 10, 7), standing_out_words(0, 10, 1)
    ('no column of the 7 that are used stands out', 'only one column is used')
    """
    n_used = n_columns if n_used is None else n_used
    if n_columns == 1:
        return "there is one column"
    if n_used == 1:
        return "only one column is used"
    some = n_used < n_columns
    if alike:
        return "all columns that are used count alike" if some else "all columns count alike"
    if n_standing_out == 0:
        return f"no column of {f'the {n_used:,} that are used' if some else f'{n_used:,}'} stands out"
    among = f"the {n_used:,} columns that are used" if some else count(n_used, "column")
    return f"{n_standing_out:,} of {among} {'stands' if n_standing_out == 1 else 'stand'} out"


def by_importance(contributions: FloatArray) -> IntArray:
    """Columns from the largest contribution on; those equal to three digits of it stay in the order of the table.

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc_app.facts.importance import by_importance
    >>> by_importance(np.array([0.2, 0.30001, 0.30002, 0.2]))
    array([1, 2, 0, 3])
    """
    largest = float(contributions.max(initial=0.0))
    relative = contributions / largest if largest > 0 else contributions
    return np.argsort(-relative.round(3), kind="stable")


def importance(
    model: FuzzyClusterer,
    names: Sequence[str],
    data: pd.DataFrame | None = None,
    by_cluster: FloatArray | None = None,
) -> Importance | None:
    """What the columns that a model was fitted on contribute; None if nothing is known of columns.

    Parameters
    ----------
    model : FuzzyClusterer
        Fitted.
    names : sequence of str
        Of the columns.
    data : DataFrame of shape (n_samples, n_features), optional
        What it was fitted on: tells the types of the columns, and those that do not vary from those that were set
        aside.
    by_cluster : ndarray of shape (n_clusters, n_features), optional
        Shares of clusters and columns; a :class:`kfrc.KFRC` knows them itself.
    """
    bandwidths = weights = deviations = None
    effective = None
    if isinstance(model, KFRC):
        by_cluster = model.cluster_contributions_
        bandwidths, weights, logs = model.bandwidths_, model.importance_weights_, model.log_bandwidths_
        deviations = None if logs is None else np.exp(logs)
        effective = float(model.effective_n_features_ or 0.0)
    if by_cluster is None:
        return None
    shares = by_cluster.sum(axis=0)
    if data is not None:
        varies = [_varies(data.iloc[:, j]) for j in range(len(names))]
    else:
        varies = [True] * len(names) if bandwidths is None else np.isfinite(bandwidths).tolist()
    kinds = [Kind.NUMERIC] * len(names) if data is None else [kind_of(data.iloc[:, j]) for j in range(len(names))]
    columns = [
        Column(
            names[j],
            j,
            float(shares[j]),
            tuple(by_cluster[:, j].tolist()),
            None if weights is None else float(weights[j]),
            None if bandwidths is None else float(bandwidths[j]),
            None if deviations is None else float(deviations[j]),
            varies[j],
            kinds[j],
        )
        for j in by_importance(shares).tolist()
    ]
    return Importance(tuple(sorted(columns, key=lambda column: not column.used)), effective)


def _varies(column: pd.Series[Any]) -> bool:
    """Whether a column has two different values; those that are missing are none."""
    if column.dtype == np.float64 and len(column):
        return bool(column.max() > column.min())
    return column.nunique() > 1
