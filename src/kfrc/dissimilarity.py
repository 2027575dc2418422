"""Dissimilarities R as an operator: squared distances from every sample to weighted centers (Section 3.1)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kfrc.gram import DenseGram, FactoredGram, Gram
from kfrc.typing import FloatArray


class Dissimilarity:
    """R_jk = E_jj + E_kk − 2 E_jk for a Gram operator E, never formed.

    Every symmetric R with a zero diagonal is of this kind with E = −R/2, so matrices, kernels and feature vectors all
    go through the same three lines. A center is a weighted mean of samples, given by its weights: the column p of
    ``prototypes`` stands for v = Σ_j p_j φ_j, and

        ‖φ_j − v‖² = (R p)_j − pᵀRp / 2 = E_jj − 2 (E p)_j + pᵀEp,

    which is A_ji / 2 of the paper for p = t(u_i) / S_i.
    """

    def __init__(self, gram: Gram) -> None:
        self.gram = gram
        self.n_samples = gram.n_samples
        self._diagonal = gram.diagonal()

    @classmethod
    def from_matrix(cls, R: FloatArray) -> Dissimilarity:
        """From a symmetric matrix with a zero diagonal."""
        return cls(DenseGram(-0.5 * R))

    @classmethod
    def from_features(cls, features: FloatArray) -> Dissimilarity:
        """Squared Euclidean distances between rows, at O(n r) per center."""
        return cls(FactoredGram(features))

    def center_distances(self, prototypes: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Squared distances to centers and squared norms of these, see :meth:`kfrc.gram.Gram.center_distances`."""
        return self.gram.center_distances(prototypes)

    def columns(self, indices: Sequence[int]) -> FloatArray:
        """R[:, indices], of shape (n_samples, len(indices))."""
        R = self._diagonal[:, None] + self._diagonal[indices] - 2.0 * self.gram.columns(indices)
        R[indices, np.arange(len(indices))] = 0.0
        return np.maximum(R, 0.0)
