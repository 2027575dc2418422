"""Which columns count: bandwidths and importance weights, most important first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kfrc import KFRC
from kfrc.clusterers import FuzzyClusterer
from kfrc.typing import FloatArray, IntArray
from kfrc_app.facts.verdicts import ALIKE


@dataclass(frozen=True)
class Column:
    """One column of the table.

    Attributes
    ----------
    name : str
    position : int
        In the table, from zero.
    weight : float
        Importance W_j ∝ 1/θ_j; all sum to one.
    bandwidth : float
        θ_j in the units of the table; ``inf`` if the column does not vary.
    in_deviations : float
        The same in standard deviations of the column.
    """

    name: str
    position: int
    weight: float
    bandwidth: float
    in_deviations: float


@dataclass(frozen=True)
class Importance:
    """Importance of the columns.

    Attributes
    ----------
    columns : tuple of Column
        Most important first.
    effective : float
        W_eff: to how many equally important columns the weights amount.
    """

    columns: tuple[Column, ...]
    effective: float

    @property
    def n_columns(self) -> int:
        """Number of columns of the table."""
        return len(self.columns)

    @property
    def equal_share(self) -> float:
        """Weight of a column if all counted alike."""
        return 1.0 / len(self.columns)

    @property
    def alike(self) -> bool:
        """Whether all columns that vary count alike, and there are several."""
        weights = [column.weight for column in self.columns if column.weight > 0]
        return len(weights) > 1 and max(weights) <= ALIKE * min(weights)


def by_importance(weights: FloatArray) -> IntArray:
    """Columns from the most important on; those equal to three digits stay in the order of the table.

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc_app.facts.importance import by_importance
    >>> by_importance(np.array([0.2, 0.30001, 0.30002, 0.2]))
    array([1, 2, 0, 3])
    """
    return np.argsort(-weights.round(3), kind="stable")


def importance(model: FuzzyClusterer, names: Sequence[str]) -> Importance | None:
    """Importance of the columns that a model was fitted on; None if it has no bandwidths.

    Parameters
    ----------
    model : FuzzyClusterer
        Fitted.
    names : sequence of str
        Of the columns.
    """
    if not isinstance(model, KFRC):
        return None
    weights, bandwidths, logs = model.importance_weights_, model.bandwidths_, model.log_bandwidths_
    if weights is None or bandwidths is None or logs is None or model.effective_n_features_ is None:
        return None
    deviations = np.exp(logs)
    return Importance(
        tuple(
            Column(names[j], j, float(weights[j]), float(bandwidths[j]), float(deviations[j]))
            for j in by_importance(weights).tolist()
        ),
        float(model.effective_n_features_),
    )
