"""Cluster centers in feature space, as far as new rows need them: squared distances to weighted means of samples."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kfrc._numerics import clear_rounding, row_blocks
from kfrc.columns import Column, Numeric
from kfrc.exceptions import KFRCError
from kfrc.kernels import Kernel, Profile
from kfrc.typing import FloatArray, IntArray


class Centers(ABC):
    """Centers v_i = Σ_k p_ki φ(x_k), detached from the Gram matrix they were found with."""

    @abstractmethod
    def squared_distances(self, Z: FloatArray) -> FloatArray:
        """‖φ(z) − v_i‖² for rows Z, of shape (len(Z), n_clusters); non-negative."""

    def for_blanks(self) -> Centers:
        """The same centers for rows with NaN, whose distances are sums over the columns that are known.

        Raises
        ------
        KFRCError
            If distances are no sums over columns.
        """
        raise KFRCError(
            "rows with missing values can be placed only if distances are sums over columns (kernel='sum' or "
            "'linear'), or if some rows of the fit had missing values too: fill them in first"
        )


@dataclass(frozen=True)
class ColumnCenters(Centers):
    """Centers as weights of a few nodes per column; columns in which a new row is blank do not count for it.

    Attributes
    ----------
    profile : Profile
    columns : tuple of Column
    positions : ndarray of shape (k,)
        Which columns of new rows these are.
    bandwidths : ndarray of shape (k,)
    nodes, weights : tuple of ndarray
        Of shapes (N_d,) and (N_d, n_clusters).
    norms : ndarray of shape (k, n_clusters)
        Squared norms of the centers, column by column.
    """

    profile: Profile
    columns: tuple[Column, ...]
    positions: IntArray
    bandwidths: FloatArray
    nodes: tuple[FloatArray, ...]
    weights: tuple[FloatArray, ...]
    norms: FloatArray

    def squared_distances(self, Z: FloatArray) -> FloatArray:  # noqa: D102
        distances, sizes = np.zeros((len(Z), self.norms.shape[1])), np.zeros(len(Z))
        for d, column, nodes, weights, bandwidth, norms in zip(
            self.positions, self.columns, self.nodes, self.weights, self.bandwidths, self.norms, strict=True
        ):
            known = np.flatnonzero(~np.isnan(Z[:, d]))
            for block in row_blocks(len(known), len(nodes)):
                rows = known[block]
                squares = column.squares(Z[rows, d], nodes, float(bandwidth))
                similarities = 2.0 * self.profile.profile(squares) @ weights
                distances[rows] += norms - similarities
                sizes[rows] += np.abs(norms).max() + np.abs(similarities).max(axis=1)
        nowhere = np.zeros(self.norms.shape[1])  # the sizes of all terms are in those of the rows
        return np.maximum(clear_rounding(distances, sizes, nowhere), 0.0, out=distances)

    def for_blanks(self) -> Centers:  # noqa: D102
        return self

    @classmethod
    def of_numbers(
        cls,
        profile: Profile,
        positions: IntArray,
        bandwidths: FloatArray,
        nodes: Sequence[FloatArray],
        weights: Sequence[FloatArray],
    ) -> ColumnCenters:
        """Centers of columns of numbers in standard units, from weights of places."""
        unit = Numeric()
        norms = [
            np.einsum("ni,nm,mi->i", w, profile.profile(unit.squares(x, x, float(theta))), w)
            for x, w, theta in zip(nodes, weights, bandwidths, strict=True)
        ]
        columns = (unit,) * len(norms)
        return cls(profile, columns, positions, bandwidths, tuple(nodes), tuple(weights), np.array(norms))


@dataclass(frozen=True)
class KernelCenters(Centers):
    """Centers kept as weights of the training rows: exact for every kernel, O(n_train) per new row."""

    kernel: Kernel
    X: FloatArray
    bandwidths: FloatArray
    prototypes: FloatArray
    squared_norms: FloatArray

    def squared_distances(self, Z: FloatArray) -> FloatArray:  # noqa: D102
        distances = np.empty((len(Z), len(self.squared_norms)))
        for block in row_blocks(len(Z), len(self.X)):
            similarities = self.kernel.shifted(Z[block], self.X, self.bandwidths)
            np.matmul(similarities, self.prototypes, out=distances[block])
        own = self.kernel.shifted_diagonal(Z, self.bandwidths)
        distances *= -2.0
        distances += own[:, None]
        distances += self.squared_norms
        return np.maximum(clear_rounding(distances, own, self.squared_norms), 0.0, out=distances)

    def for_blanks(self) -> Centers:  # noqa: D102
        if not isinstance(self.kernel, Profile):
            return super().for_blanks()
        used = np.flatnonzero(np.isfinite(self.bandwidths))
        nodes = [self.X[:, d] for d in used]
        return ColumnCenters.of_numbers(self.kernel, used, self.bandwidths[used], nodes, [self.prototypes] * len(used))
