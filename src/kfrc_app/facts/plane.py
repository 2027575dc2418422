"""Rows in the plane: principal coordinates of the columns that matter, of dissimilarities, or of kernel values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from kfrc._eigenpairs import largest_pairs
from kfrc._numerics import double_center, symmetrize
from kfrc.typing import FloatArray, IntArray
from kfrc_app.facts.table import as_numbers
from kfrc_app.tables import Kind, kind_of

_FAR = 4.0
"""Robust standard deviations at which values are cut: one wild value does not squeeze all others."""

_NOTHING = 1e-12
"""Share of the variation along an axis that is nothing but rounding."""

_MAX_LEVELS = 30
"""Levels of a column that get an axis of their own, the most frequent ones."""


@dataclass(frozen=True, eq=False)
class Plane:
    """A map of the rows.

    Attributes
    ----------
    rows : ndarray of shape (k,)
        Positions of the rows that are shown.
    places : ndarray of shape (k, 2)
        In [0, 1]², with equal units along both axes.
    explained : float
        Share of the differences between the rows that the map shows.
    """

    rows: IntArray
    places: FloatArray
    explained: float


def table_coordinates(data: pd.DataFrame, shares: FloatArray, rows: IntArray) -> tuple[FloatArray, float]:
    """The two main directions of some rows, every column in standard deviations times the root of its share.

    Parameters
    ----------
    data : DataFrame of shape (n_samples, n_features)
        Typed.
    shares : ndarray of shape (n_features,)
        How much each column counts.
    rows : ndarray of shape (k,)

    Returns
    -------
    coordinates : ndarray of shape (k, 2)
    explained : float
    """
    parts = [
        np.sqrt(share) * _standardized(data.iloc[rows, j])
        for j, share in enumerate(shares.tolist())
        if share > 0 and data.iloc[rows, j].nunique() > 1
    ]
    if not parts:
        return np.zeros((len(rows), 2)), 1.0
    Z = np.hstack(parts)
    return _principal(Z - Z.mean(axis=0))


def relational_coordinates(matrix: FloatArray, rows: IntArray, *, similarities: bool) -> tuple[FloatArray, float]:
    """Principal coordinates of some rows by dissimilarities, or by kernel values.

    Parameters
    ----------
    matrix : ndarray of shape (n_samples, n_samples)
    rows : ndarray of shape (k,)
    similarities : bool
        Whether the matrix holds kernel values.

    Returns
    -------
    coordinates : ndarray of shape (k, 2)
    explained : float

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc_app.facts.plane import relational_coordinates
    >>> x = np.array([0.0, 1.0, 5.0])
    >>> found, explained = relational_coordinates((x[:, None] - x) ** 2, np.arange(3), similarities=False)
    >>> np.abs(np.diff(found[:, 0])).round(6), round(explained, 6)
    (array([1., 4.]), 1.0)
    """
    coordinates, shares = principal_coordinates(matrix[np.ix_(rows, rows)] * (1.0 if similarities else -0.5))
    return coordinates, float(shares.sum())


def principal_coordinates(E: FloatArray, n_axes: int = 2) -> tuple[FloatArray, FloatArray]:
    """Leading principal coordinates of rows, and the shares of the variation along them.

    Parameters
    ----------
    E : ndarray of shape (n_rows, n_rows)
        Kernel values, or dissimilarities times −1/2; it need not be centered.
    n_axes : int, default=2

    Returns
    -------
    coordinates : ndarray of shape (n_rows, n_axes)
    shares : ndarray of shape (n_axes,)
        Of the trace of the centered matrix.
    """
    B = symmetrize(double_center(E))
    values, vectors = largest_pairs(B, min(n_axes, len(B)))
    values = np.where(values > _NOTHING * max(float(np.trace(B)), 0.0), values, 0.0)
    coordinates, shares = np.zeros((len(B), n_axes)), np.zeros(n_axes)
    coordinates[:, : len(values)] = _signed(vectors * np.sqrt(values))
    shares[: len(values)] = values / max(float(np.trace(B)), float(values.sum()), np.finfo(float).tiny)
    return coordinates, shares


def in_unit_square(coordinates: FloatArray) -> FloatArray:
    """Coordinates moved and scaled into [0, 1]², both axes alike, the cloud in the middle."""
    low, high = coordinates.min(axis=0), coordinates.max(axis=0)
    span = float((high - low).max())
    places: FloatArray = 0.5 + (coordinates - 0.5 * (low + high)) / (span if span > 0 else 1.0)
    return places


def _standardized(series: pd.Series[Any]) -> FloatArray:
    """A column with mean 0 and total variance 1, of shape (k, n_axes): one axis, or one per level; gaps at the mean."""
    values = as_numbers(series)
    known = ~np.isnan(values)
    if kind_of(series) is Kind.NOMINAL:
        levels, counts = np.unique(values[known], return_counts=True)
        frequent = levels[np.argsort(-counts, kind="stable")[:_MAX_LEVELS]]
        Z = np.where(known[:, None], np.equal.outer(values, frequent), np.nan)
    else:
        low, middle, high = np.quantile(values[known], [0.25, 0.5, 0.75])
        reach = _FAR * (high - low) / 1.349 if high > low else np.inf
        Z = np.clip(values, middle - reach, middle + reach)[:, None]
    Z = Z - np.nanmean(Z, axis=0)
    deviation = np.sqrt(np.nanmean(Z**2, axis=0).sum())
    return np.nan_to_num(Z / (deviation if deviation > 0 else 1.0))


def _principal(Z: FloatArray) -> tuple[FloatArray, float]:
    if Z.shape[1] > len(Z):
        coordinates, shares = principal_coordinates(Z @ Z.T)
        return coordinates, float(shares.sum())
    gram = Z.T @ Z
    values, vectors = largest_pairs(gram, 2)
    coordinates = np.zeros((len(Z), 2))
    coordinates[:, : len(values)] = _signed(Z @ vectors)
    return coordinates, float(np.maximum(values, 0).sum() / max(float(np.trace(gram)), np.finfo(float).tiny))


def _signed(axes: FloatArray) -> FloatArray:
    """Axes whose longest entry is positive: the same data give the same map."""
    longest = np.abs(axes).argmax(axis=0)
    return axes * np.where(axes[longest, np.arange(axes.shape[1])] < 0, -1.0, 1.0)
