"""Cluster centers in feature space, as far as new rows need them: squared distances to weighted means of samples."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from kfrc._numerics import clear_rounding, row_blocks
from kfrc.kernels import Kernel
from kfrc.typing import FloatArray


class Centers(ABC):
    """Centers v_i = Σ_k p_ki φ(x_k), detached from the Gram matrix they were found with."""

    @abstractmethod
    def squared_distances(self, Z: FloatArray) -> FloatArray:
        """‖φ(z) − v_i‖² for rows Z, of shape (len(Z), n_clusters); non-negative."""


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
