"""Numbers as points: squared Euclidean distances after a linear map, over the columns that are known."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from kfrc._distances import distances_of_lifted, lift
from kfrc.blocks.row_maps.base import BlockCenters, RowMap
from kfrc.gram import Centers, FeatureCenters
from kfrc.kernels import Kernel
from kfrc.typing import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class PointMap(RowMap):
    """Numbers as points: squared Euclidean distances after a linear map.

    The functions of the basis are the coordinates; with blanks, each after the indicator of what is known.

    Attributes
    ----------
    kernel : Kernel
        With short features: the linear one, or one along axes.
    bandwidths : ndarray of shape (n_columns,)
    axes : ndarray of shape (n_columns, r) or None
        What rows divided by the bandwidths are multiplied by; None if by nothing.
    origin : ndarray of shape (r,)
        A point among the rows, from which distances are measured.
    incomplete : bool
        Whether there are blanks; without axes only.
    """

    kernel: Kernel
    bandwidths: FloatArray
    axes: FloatArray | None
    origin: FloatArray
    incomplete: bool = False

    @property
    def n_functions(self) -> int:  # noqa: D102
        return 2 * len(self.origin) if self.incomplete else len(self.origin)

    def prepared(self, values: FloatArray, workspace: dict[str, Any]) -> FloatArray:  # noqa: D102
        scaled = values / self.bandwidths[:, None]
        points: FloatArray = scaled if self.axes is None else self.axes.T @ scaled
        points -= self.origin[:, None]
        return lift(points.T, incomplete=self.incomplete)

    def table(self, centers: BlockCenters) -> FloatArray:  # noqa: D102
        return np.ascontiguousarray(self.coordinates(centers.means).T)

    def distances(self, basis: FloatArray, table: FloatArray) -> FloatArray:  # noqa: D102
        return distances_of_lifted(basis, table)

    def moments(self, basis: FloatArray, weights: FloatArray) -> FloatArray:  # noqa: D102
        sums = basis[: len(self.origin)] @ weights.T
        if not self.incomplete:
            return sums
        return np.stack([self.known(basis) @ weights.T, sums], axis=1).reshape(self.n_functions, len(weights))

    def centers(  # noqa: D102
        self, moments: FloatArray, masses: FloatArray, overall: FloatArray | None
    ) -> BlockCenters:
        sizes = np.where(masses > 0, moments[::2] if self.incomplete else masses[None], 0.0)
        spread = np.repeat(sizes, self.widths, axis=0)
        fill = 0.0 if overall is None else overall[:, None]
        return BlockCenters(np.where(spread > 0, moments / np.where(spread > 0, spread, 1.0), fill), sizes, masses > 0)

    def at(self, locations: FloatArray) -> BlockCenters:
        """Centers at given places (n_clusters, r), relative to ``origin``."""
        means = locations.T
        if self.incomplete:
            means = np.stack([np.ones_like(means), means], axis=1).reshape(self.n_functions, len(locations))
        return BlockCenters(means, np.ones((len(self.widths), len(locations))), np.ones(len(locations), dtype=bool))

    @cached_property
    def widths(self) -> IntArray:  # noqa: D102
        return np.full(len(self.origin), 2) if self.incomplete else np.array([len(self.origin)])

    @cached_property
    def ranks(self) -> IntArray:  # noqa: D102
        return np.ones(len(self.origin), dtype=np.int64) if self.incomplete else self.widths

    @cached_property
    def positions(self) -> IntArray:  # noqa: D102
        return np.arange(len(self.bandwidths))

    def known(self, basis: FloatArray) -> FloatArray:  # noqa: D102
        return basis[len(self.origin) + 1 :]

    def coordinates(self, means: FloatArray) -> FloatArray:  # noqa: D102
        return means[1::2] if self.incomplete else means

    def features(self, basis: FloatArray) -> FloatArray:  # noqa: D102
        return basis[: len(self.origin)].copy()

    def column_squares(self, coordinates: FloatArray) -> FloatArray:  # noqa: D102
        return np.square(coordinates)

    def as_centers(self, centers: BlockCenters) -> Centers:  # noqa: D102
        return FeatureCenters(self.kernel, self.bandwidths, self.origin, self.table(centers))
