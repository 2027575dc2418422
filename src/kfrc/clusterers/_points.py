"""Rows as points: squared Euclidean distances through coordinates, over what is known where entries are missing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from kfrc._numerics import squared_distances
from kfrc.clusterers._partial import PartialRows, partial_distances
from kfrc.clusterers._relations import Relation, RelationCenters
from kfrc.clusterers._row_spaces import PointSpace, RowSpace
from kfrc.clusterers._rows import MergedRows
from kfrc.columns.variation import Scales, find_varying_columns
from kfrc.dissimilarity import Dissimilarity
from kfrc.relational import RelationalSolution
from kfrc.typing import FloatArray


@dataclass(frozen=True, eq=False)
class Points(Relation):
    """Squared Euclidean distances, at O(n p) per center.

    Attributes
    ----------
    partial : PartialRows or None
        The rows of the fit if entries are missing.
    """

    partial: PartialRows | None = None

    def read(self, estimator: Any, X: Any) -> tuple[Self, FloatArray]:
        return self, estimator._table(X)

    def read_new(self, estimator: Any, X: Any) -> FloatArray:
        return estimator._rows(X)

    def learned(self, rows: MergedRows, names: Any = None) -> Self:
        if np.isnan(rows.values).any():
            return replace(super().learned(rows), partial=PartialRows.of(rows, names))
        find_varying_columns(rows.values, names)
        return super().learned(rows)

    def scales(self, rows: MergedRows) -> Scales:
        return rows.scales()

    def dissimilarity(self) -> Dissimilarity:
        assert self.rows is not None
        if self.partial is not None:
            return self.partial.dissimilarity()
        return Dissimilarity.from_features(self.rows, self.weights)

    def space(self, estimator: Any, X: Any, weights: FloatArray | None) -> RowSpace:
        return PointSpace(self.read_new(estimator, X), weights)

    def placing(self) -> Self:
        return replace(self, rows=None, partial=None)

    def centers(self, solution: RelationalSolution) -> PointCenters:
        assert self.rows is not None
        if self.partial is not None:
            return PointCenters(self.partial.origin, self.partial.locations(solution))
        origin = self.rows.mean(axis=0)
        return PointCenters(origin, solution.prototypes.T @ (self.rows - origin))


@dataclass(frozen=True, eq=False)
class PointCenters(RelationCenters):
    """Centers with coordinates.

    Attributes
    ----------
    origin : ndarray of shape (n_features,)
        A point among the rows; NaN for a column in which nothing is known.
    locations : ndarray of shape (n_clusters, n_features)
        The centers relative to it: far from zero the centers themselves have lost digits.
    """

    origin: FloatArray
    locations: FloatArray

    @property
    def points(self) -> FloatArray:
        return self.origin + self.locations

    def squared_distances(self, new: FloatArray) -> FloatArray:
        incomplete = np.isnan(new - self.origin).any(axis=1)
        if incomplete.all():
            return partial_distances(new, self.origin, self.locations)
        distances = np.empty((len(new), len(self.locations)))
        distances[~incomplete] = squared_distances(new[~incomplete] - self.origin, self.locations)
        distances[incomplete] = partial_distances(new[incomplete], self.origin, self.locations)
        return distances
