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
        Share in what the partition explains (``KFRC.contributions_``); all sum to one.
    by_cluster : tuple of float
        The same cluster by cluster; they sum to ``contribution``.
    weight : float
        The paper's importance W_j ∝ 1/θ_j; all sum to one.
    bandwidth : float
        θ_j in the units of the table; ``inf`` if the column is not used.
    in_deviations : float
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
    weight: float
    bandwidth: float
    in_deviations: float
    varies: bool = True
    kind: Kind = Kind.NUMERIC

    @property
    def used(self) -> bool:
        """Whether the distances see it."""
        return bool(np.isfinite(self.bandwidth))

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
    effective : float
        W_eff of the paper: to how many equally important columns the weights 1/θ amount.
    """

    columns: tuple[Column, ...]
    effective: float

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


def importance(model: FuzzyClusterer, names: Sequence[str], data: pd.DataFrame | None = None) -> Importance | None:
    """What the columns that a model was fitted on contribute; None if it has no columns or no bandwidths.

    Parameters
    ----------
    model : FuzzyClusterer
        Fitted.
    names : sequence of str
        Of the columns.
    data : DataFrame of shape (n_samples, n_features), optional
        What it was fitted on: tells the types of the columns, and those that do not vary from those that were set
        aside.
    """
    if not isinstance(model, KFRC):
        return None
    shares, by_cluster, weights = model.contributions_, model.cluster_contributions_, model.importance_weights_
    bandwidths, logs = model.bandwidths_, model.log_bandwidths_
    if shares is None or by_cluster is None or weights is None or bandwidths is None or logs is None:
        return None
    deviations = np.exp(logs)
    varies = np.isfinite(bandwidths).tolist() if data is None else [_varies(data.iloc[:, j]) for j in range(len(names))]
    kinds = [Kind.NUMERIC] * len(names) if data is None else [kind_of(data.iloc[:, j]) for j in range(len(names))]
    order = by_importance(shares)
    order = np.concatenate([order[np.isfinite(bandwidths[order])], order[~np.isfinite(bandwidths[order])]])
    return Importance(
        tuple(
            Column(
                names[j],
                j,
                float(shares[j]),
                tuple(by_cluster[:, j].tolist()),
                float(weights[j]),
                float(bandwidths[j]),
                float(deviations[j]),
                varies[j],
                kinds[j],
            )
            for j in order.tolist()
        ),
        float(model.effective_n_features_ or 0.0),
    )


def _varies(column: pd.Series[Any]) -> bool:
    """Whether a column has two different values; those that are missing are none."""
    if column.dtype == np.float64 and len(column):
        return bool(column.max() > column.min())
    return column.nunique() > 1
