"""Dissimilarities R as an operator: squared distances from every sample to weighted centers (Section 3.1)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kfrc._validation import check_data
from kfrc.gram import DenseGram, FactoredGram, Gram, gram_family
from kfrc.kernels.path import PathKernel
from kfrc.typing import ArrayLike, FloatArray


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
    def from_matrix(cls, R: FloatArray, weights: FloatArray | None = None) -> Dissimilarity:
        """From a symmetric matrix with a zero diagonal, and weights of the rows."""
        return cls(DenseGram(-0.5 * R, weights=weights))

    @classmethod
    def from_features(cls, features: FloatArray, weights: FloatArray | None = None) -> Dissimilarity:
        """Squared Euclidean distances between rows, at O(n r) per center, and weights of the rows."""
        return cls(FactoredGram(features, weights=weights))

    def center_distances(self, prototypes: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Squared distances to centers and squared norms of these, see :meth:`kfrc.gram.Gram.center_distances`."""
        return self.gram.center_distances(prototypes)

    def columns(self, indices: Sequence[int]) -> FloatArray:
        """R[:, indices], of shape (n_samples, len(indices))."""
        R = self._diagonal[:, None] + self._diagonal[indices] - 2.0 * self.gram.columns(indices)
        R[indices, np.arange(len(indices))] = 0.0
        return np.maximum(R, 0.0)


def path_dissimilarities(X: ArrayLike, *, exponent: float = 4.0, neighbors: int = 15) -> FloatArray:
    """Squared distances in the feature space of the path kernel, for ``FRC(metric="precomputed")``.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Used as it is; standardize first if the columns have different units.
    exponent : float, default=4.0
        The larger, the more a path shuns long steps; ``inf`` counts the longest step only.
    neighbors : int, default=15
        Order of the neighbor whose distance is the unit at each row.

    Returns
    -------
    R : ndarray of shape (n_samples, n_samples)

    Examples
    --------
    >>> from kfrc import FRC
    >>> from kfrc.dissimilarity import path_dissimilarities
    >>> from kfrc.metrics import adjusted_rand_score
    >>> from kfrc.simulation import make_shape_dataset
    >>> rings = make_shape_dataset("rings", random_state=0)
    >>> frc = FRC(2, m=1.1, metric="precomputed", random_state=0).fit(path_dissimilarities(rings.X))
    >>> round(adjusted_rand_score(rings.labels, frc.labels_), 2)
    1.0
    """
    rows = check_data(X)
    kernel = PathKernel(exponent=exponent, neighbors=neighbors)
    gram = gram_family(rows, kernel).at(np.ones(rows.shape[1]))
    return Dissimilarity(gram).columns(range(len(rows)))
