"""Complete numbers as points: squared Euclidean distances after a linear map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kfrc._numerics import squared_distances
from kfrc.blocks.row_maps.base import BlockCenters, RowMap
from kfrc.gram import Centers, FeatureCenters
from kfrc.kernels import Kernel
from kfrc.typing import FloatArray


@dataclass(frozen=True, eq=False)
class PointMap(RowMap):
    """Complete numbers as points: squared Euclidean distances after a linear map.

    Attributes
    ----------
    kernel : Kernel
        With short features: the linear one, or one along axes.
    bandwidths : ndarray of shape (n_columns,)
    axes : ndarray of shape (n_columns, r) or None
        What rows divided by the bandwidths are multiplied by; None if by nothing.
    origin : ndarray of shape (r,)
        A point among the rows, from which distances are measured.
    """

    kernel: Kernel
    bandwidths: FloatArray
    axes: FloatArray | None
    origin: FloatArray

    @property
    def n_functions(self) -> int:  # noqa: D102
        return len(self.origin)

    def prepared(self, values: FloatArray, workspace: dict[str, Any]) -> FloatArray:  # noqa: D102
        scaled = values / self.bandwidths[:, None]
        points: FloatArray = scaled if self.axes is None else self.axes.T @ scaled
        points -= self.origin[:, None]
        return points

    def table(self, centers: BlockCenters) -> FloatArray:  # noqa: D102
        return np.ascontiguousarray(centers.means.T)

    def distances(self, basis: FloatArray, table: FloatArray) -> FloatArray:  # noqa: D102
        return np.ascontiguousarray(squared_distances(np.ascontiguousarray(basis.T), table).T)

    def moments(self, basis: FloatArray, weights: FloatArray) -> FloatArray:  # noqa: D102
        return basis @ weights.T

    def centers(  # noqa: D102
        self, moments: FloatArray, masses: FloatArray, overall: FloatArray | None
    ) -> BlockCenters:
        occupied = masses > 0
        means = np.where(occupied, moments / np.where(occupied, masses, 1.0), 0.0)
        return BlockCenters(means, np.where(occupied, masses, 0.0)[None], occupied)

    def coordinates(self, means: FloatArray) -> FloatArray:  # noqa: D102
        return means

    def features(self, basis: FloatArray) -> FloatArray:  # noqa: D102
        return basis

    def column_squares(self, coordinates: FloatArray) -> FloatArray:  # noqa: D102
        return np.square(coordinates)

    def as_centers(self, centers: BlockCenters) -> Centers:  # noqa: D102
        return FeatureCenters(self.kernel, self.bandwidths, self.origin, np.ascontiguousarray(centers.means.T))
