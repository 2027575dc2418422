"""The product over columns of any type: a blank takes the expected value of its factor in its column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kfrc.columns import Column, Table
from kfrc.kernels.base import Kernel
from kfrc.typing import FloatArray

_MOST_NODES = 256
"""Values by which the distribution of a column is described: all that occur, or so many quantiles."""


@dataclass(frozen=True)
class _Margin:
    """A column and its distribution.

    Attributes
    ----------
    column : Column
    nodes, shares : ndarray of shape (N,)
        Values and their probabilities.
    """

    column: Column
    nodes: FloatArray
    shares: FloatArray

    def squares(self, x: FloatArray, y: FloatArray, bandwidth: float) -> tuple[FloatArray, FloatArray]:
        """The factor k(x, y) and its derivative in log θ, each of shape (len(x), len(y)); NaN stands for a blank."""
        blank_x, blank_y = np.isnan(x), np.isnan(y)
        squares = self.column.squares(
            np.where(blank_x, self.nodes[0], x), np.where(blank_y, self.nodes[0], y), bandwidth
        )
        factor = np.exp(-0.5 * squares)
        slope = factor * squares
        if blank_x.any() or blank_y.any():
            to_x, slope_x = self._expected(x[~blank_x], bandwidth)
            to_y, slope_y = self._expected(y[~blank_y], bandwidth)
            both, slope_both = self._expected(self.nodes, bandwidth)
            for target, of_x, of_y, within in ((factor, to_x, to_y, both), (slope, slope_x, slope_y, slope_both)):
                target[np.ix_(~blank_x, blank_y)] = of_x[:, None]
                target[np.ix_(blank_x, ~blank_y)] = of_y
                target[np.ix_(blank_x, blank_y)] = self.shares @ within
        return factor, slope

    def _expected(self, x: FloatArray, bandwidth: float) -> tuple[FloatArray, FloatArray]:
        """Mean over the distribution of k(x, ·) and of its derivative, each of shape (len(x),)."""
        squares = self.column.squares(x, self.nodes, bandwidth)
        factor = np.exp(-0.5 * squares)
        return factor @ self.shares, (factor * squares) @ self.shares

    def own(self, x: FloatArray, bandwidth: float) -> tuple[FloatArray, FloatArray]:
        """k(x, x) and its derivative: one and zero, less for a blank."""
        blank = np.isnan(x)
        both, slope = self._expected(self.nodes, bandwidth)
        return np.where(blank, self.shares @ both, 1.0), np.where(blank, self.shares @ slope, 0.0)


@dataclass(frozen=True, eq=False)
class ColumnProduct(Kernel):
    """k(x, y) = Π_d exp(−Δ_d²(x, y) / 2θ_d²), for rows of a :class:`kfrc.columns.Table`.

    A blank stands for the mean of its column in feature space, so every factor is positive semi-definite.

    Attributes
    ----------
    margins : tuple
        The columns with their distributions.
    """

    margins: tuple[_Margin, ...] = ()
    constant_diagonal: bool = False
    moves_with_origin: ClassVar[bool] = False
    label: ClassVar[str] = "product"

    @classmethod
    def of(cls, table: Table) -> ColumnProduct:
        """For the columns of a table, with their distributions there."""
        return cls(
            margins=tuple(_margin(column, table.values[:, d], table.mass) for d, column in enumerate(table.columns))
        )

    def shifted(self, X: FloatArray, Y: FloatArray, bandwidths: FloatArray) -> FloatArray:  # noqa: D102
        K = np.ones((len(X), len(Y)))
        for d, margin in enumerate(self.margins):
            if np.isfinite(bandwidths[d]):
                K *= margin.squares(X[:, d], Y[:, d], float(bandwidths[d]))[0]
        K -= 1.0
        return K

    def shifted_diagonal(self, X: FloatArray, bandwidths: FloatArray) -> FloatArray:  # noqa: D102
        own = np.ones(len(X))
        for d, margin in enumerate(self.margins):
            if np.isfinite(bandwidths[d]):
                own *= margin.own(X[:, d], float(bandwidths[d]))[0]
        return own - 1.0

    def derivative(  # noqa: D102
        self, X: FloatArray, Y: FloatArray, bandwidths: FloatArray, feature: int
    ) -> FloatArray:
        factor, slope = self.margins[feature].squares(X[:, feature], Y[:, feature], float(bandwidths[feature]))
        others = bandwidths.copy()
        others[feature] = np.inf
        del factor
        return slope * (1.0 + self.shifted(X, Y, others))


def _margin(column: Column, values: FloatArray, mass: FloatArray) -> _Margin:
    known = ~np.isnan(values)
    nodes, inverse = np.unique(values[known], return_inverse=True)
    shares: FloatArray = np.bincount(inverse, weights=mass[known]) / mass[known].sum()
    if len(nodes) > _MOST_NODES:
        middles = (np.arange(_MOST_NODES) + 0.5) / _MOST_NODES
        chosen = np.minimum(np.searchsorted(np.cumsum(shares), middles), len(nodes) - 1)
        nodes, shares = nodes[chosen], np.full(_MOST_NODES, 1.0 / _MOST_NODES)
    return _Margin(column, nodes, shares)
