"""What the clusters look like: medians of columns, and in what each cluster stands out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kfrc._numerics import binary_exponent
from kfrc.typing import FloatArray
from kfrc_app.facts.separation import rank_separation
from kfrc_app.facts.table import TableColumn
from kfrc_app.facts.text import clean, isolate
from kfrc_app.facts.verdicts import side
from kfrc_app.tables import Kind

_MAD_TO_SD = 1.4826
"""Median absolute deviation to standard deviation, for the normal distribution."""

_IQR_TO_SD = 1 / 1.349

_ROUNDING = 1e-12
"""Relative error of a running sum of weights, which must not push an exact half past its row."""

_FARTHEST = 1e9
"""Units from the overall median that a cluster is said to be away at most: more says no more, and is long to read."""

_OF_DATES = {"high": "late", "low": "early"}
"""What a day is called that is more, or less, than others."""

SHORT_NAME = 32
"""Letters of a column or a level in the name of a group."""

UNREMARKABLE = "close to the overall medians"
"""What is said of a cluster that stands out in nothing."""


@dataclass(frozen=True)
class Trait:
    """In what a cluster stands out.

    Attributes
    ----------
    strength : float
        In standard deviations of the column.
    words : str
        "high alcohol", or "color red (85 %)".
    column : str
        Name of the column.
    short : str
        The same in as few words as a name needs: "high alcohol", or "color: red".
    """

    strength: float
    words: str
    column: str = ""
    short: str = ""


@dataclass(frozen=True)
class Profiles:
    """Typical values of clusters in columns whose values have an order: numbers, dates, and ordered levels.

    Attributes
    ----------
    names : tuple of str
        Of the columns.
    overall : ndarray of shape (n_features,)
        Median of every column.
    unit : ndarray of shape (n_features,)
        Robust standard deviation; zero if a column is constant.
    medians : ndarray of shape (n_clusters, n_features)
        Of the rows of each cluster, counted by their weights if they have any.
    differences : ndarray of shape (n_clusters, n_features)
        (median − overall) / unit.
    columns : tuple of TableColumn
        How values are shown; empty if all are numbers.
    separations : ndarray of shape (n_clusters, n_features), optional
        How often a row of the cluster is above one outside, minus how often it is below.
    """

    names: tuple[str, ...]
    overall: FloatArray
    unit: FloatArray
    medians: FloatArray
    differences: FloatArray
    columns: tuple[TableColumn, ...] = ()
    separations: FloatArray | None = None

    def traits(self, cluster: int) -> list[Trait]:
        """In which columns a cluster is high or low; early or late for dates."""
        found = []
        for k, name in enumerate(self.names):
            difference = float(np.nan_to_num(self.differences[cluster, k]))
            separation = 0.0 if self.separations is None else float(self.separations[cluster, k])
            word = side(difference, separation)
            if word:
                word = _OF_DATES[word] if self.columns and self.columns[k].kind is Kind.DATE else word
                short = f"{word} {isolate(clean(name, SHORT_NAME))}"
                found.append(Trait(abs(difference), f"{word} {isolate(name)}", name, short))
        return found

    def description(self, cluster: int, limit: int = 3) -> str:
        """In what a cluster stands out: "high alcohol, low hue"."""
        return strongest(self.traits(cluster), limit)


def by_strength(traits: Sequence[Trait]) -> list[Trait]:
    """The strongest first."""
    return sorted(traits, key=lambda trait: -trait.strength)


def strongest(traits: Sequence[Trait], limit: int = 3) -> str:
    """The strongest traits in words."""
    shown = by_strength(traits)[:limit]
    return ", ".join(trait.words for trait in shown) or UNREMARKABLE


def cluster_profiles(
    X: FloatArray,
    belonging: FloatArray,
    names: Sequence[str],
    *,
    weights: FloatArray | None = None,
    columns: Sequence[TableColumn] = (),
) -> Profiles:
    """Medians of the columns per cluster, and how far they are from the overall medians.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        NaN where nothing is known; such rows do not count in that column.
    belonging : ndarray of shape (n_samples, n_clusters)
        How much every row counts in every cluster.
    names : sequence of str
        Of the columns.
    weights : ndarray of shape (n_samples,), optional
        How many rows each row stands for.
    columns : sequence of TableColumn
        How values are shown.
    """
    if weights is None and not np.isnan(X).any():
        overall, unit = np.median(X, axis=0), robust_scale(X)
    else:
        s = np.ones(len(X)) if weights is None else weights
        overall = weighted_medians(X, s[:, None])[0]
        unit = _weighted_scale(X, s, overall)
    mass = belonging if weights is None else belonging * weights[:, None]
    medians = weighted_medians(X, mass)
    with np.errstate(over="ignore"):  # a single far value beside others that hardly differ
        differences = np.where(unit > 0, (medians - overall) / np.where(unit > 0, unit, 1.0), 0.0)
    differences = np.clip(differences, -_FARTHEST, _FARTHEST)
    separations = np.array([rank_separation(X[:, j], belonging, weights) for j in range(X.shape[1])]).T
    return Profiles(tuple(names), overall, unit, medians, differences, tuple(columns), separations)


def weighted_medians(X: FloatArray, weights: FloatArray) -> FloatArray:
    """The usual median, with weights, per column of X and of weights; of an even number the mean of the middle two.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        NaN where nothing is known; such entries weigh nothing.
    weights : ndarray of shape (n_samples, n_groups)
        Non-negative. A group without weight has no median: NaN.

    Returns
    -------
    ndarray of shape (n_groups, n_features)

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc_app.facts.profiles import weighted_medians
    >>> weighted_medians(np.array([[1.0], [2.0], [9.0]]), np.array([[1.0, 0.1], [1.0, 0.1], [1.0, 0.8]])).ravel()
    array([2., 9.])
    """
    columns = [weighted_quantiles(X[:, j], weights, (0.5,))[:, 0] for j in range(X.shape[1])]
    return np.column_stack(columns) if columns else np.empty((weights.shape[1], 0))


def weighted_quantiles(x: FloatArray, weights: FloatArray, shares: Sequence[float]) -> FloatArray:
    """Smallest value whose weight from below reaches a share of the total, per column of weights.

    Where it is reached exactly, the mean with the next value: a median is then the one that everybody knows, and a row
    of weight two counts as two rows.

    Parameters
    ----------
    x : ndarray of shape (n_samples,)
        NaN where nothing is known.
    weights : ndarray of shape (n_samples, n_groups)
    shares : sequence of float

    Returns
    -------
    ndarray of shape (n_groups, n_shares)

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc_app.facts.profiles import weighted_quantiles
    >>> weighted_quantiles(np.array([4.0, 1.0, 2.0, 3.0]), np.ones((4, 1)), (0.25, 0.5, 0.75))
    array([[1.5, 2.5, 3.5]])
    """
    found = np.full((weights.shape[1], len(shares)), np.nan)
    known = np.flatnonzero(~np.isnan(x))
    if len(known) == 0:
        return found
    order = known[np.argsort(x[known], kind="stable")]
    below = np.cumsum(weights[order], axis=0)
    totals = below[-1]
    for k, share in enumerate(shares):
        first = (below >= share * totals * (1.0 - _ROUNDING)).argmax(axis=0)
        after = (below > share * totals * (1.0 + _ROUNDING)).argmax(axis=0)
        found[:, k] = np.where(totals > 0, _middle(x[order[first]], x[order[after]]), np.nan)
    return found


def _middle(low: FloatArray, high: FloatArray) -> FloatArray:
    """The mean of two values, also where their sum is too large."""
    with np.errstate(over="ignore"):
        total = low + high
    return np.where(np.isfinite(total), 0.5 * total, 0.5 * low + 0.5 * high)


def robust_scale(X: FloatArray) -> FloatArray:
    """1.4826 times the median absolute deviation; where that is zero the interquartile range, then the deviation."""
    scale = _MAD_TO_SD * np.median(np.abs(X - np.median(X, axis=0)), axis=0)
    for j in np.flatnonzero(scale <= 0):
        low, high = np.quantile(X[:, j], [0.25, 0.75])
        scale[j] = _IQR_TO_SD * (high - low) if high > low else _deviation(X[:, j])
    return scale


def _weighted_scale(X: FloatArray, weights: FloatArray, medians: FloatArray) -> FloatArray:
    """The same where entries are missing or rows have weights; where the median deviation is zero, the deviation."""
    scale = _MAD_TO_SD * weighted_medians(np.abs(X - medians), weights[:, None])[0]
    for j in np.flatnonzero(~(scale > 0)):
        known = ~np.isnan(X[:, j]) & (weights > 0)
        if known.any():
            scale[j] = _deviation(X[known, j], weights[known])
    return np.nan_to_num(scale)


def _deviation(x: FloatArray, weights: FloatArray | None = None) -> float:
    """The standard deviation, also where squares are too large or too small."""
    exponent = binary_exponent(x)
    x = np.ldexp(x, -exponent)
    variance = np.average((x - np.average(x, weights=weights)) ** 2, weights=weights)
    return float(np.ldexp(np.sqrt(variance), exponent))
