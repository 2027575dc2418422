"""Rows as points: squared Euclidean distances through coordinates, over what is known where entries are missing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

from kfrc._distances import squared_distances
from kfrc.clusterers._relations import Relation, RelationCenters
from kfrc.clusterers._row_spaces import PointSpace, RowSpace
from kfrc.clusterers._rows import MergedRows
from kfrc.columns.variation import Scales, find_varying_columns
from kfrc.dissimilarity import Dissimilarity
from kfrc.gram import FactoredGram
from kfrc.relational import RelationalSolution
from kfrc.typing import FloatArray


@dataclass(frozen=True, eq=False)
class Points(Relation):
    """Squared Euclidean distances, at O(n p) per center.

    Attributes
    ----------
    gram : FactoredGram or None
        The rows of the fit.
    """

    gram: FactoredGram | None = None

    def read(self, estimator: Any, X: Any) -> tuple[Self, FloatArray]:
        return self, estimator._table(X)

    def read_new(self, estimator: Any, X: Any) -> FloatArray:
        return estimator._rows(X)

    def learned(self, rows: MergedRows, names: Any = None) -> Self:
        find_varying_columns(rows.values, names)
        return replace(super().learned(rows), gram=FactoredGram(rows.values, weights=rows.weights))

    def scales(self, rows: MergedRows) -> Scales:
        return rows.scales()

    def dissimilarity(self) -> Dissimilarity:
        assert self.gram is not None
        return Dissimilarity(self.gram)

    def space(self, estimator: Any, X: Any, weights: FloatArray | None) -> RowSpace:
        return PointSpace(self.read_new(estimator, X), weights)

    def placing(self) -> Self:
        return replace(self, rows=None, gram=None)

    def centers(self, solution: RelationalSolution) -> PointCenters:
        # Numbers of the fit itself: where a row and a center nearly coincide, others would round elsewhere.
        assert self.gram is not None
        return PointCenters(self.gram.origin, self.gram.locations(solution.prototypes))


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
        return squared_distances(new - self.origin, self.locations)
