"""Dissimilarities raised off the diagonal (β-spread), which refuse negative distances to centers."""

from __future__ import annotations

from typing import Any

import numpy as np

from kfrc.dissimilarity import Dissimilarity
from kfrc.exceptions import KFRCError
from kfrc.gram import Gram
from kfrc.typing import FloatArray, IntArray

_NEGATIVE_TOL = 1e-10
"""Center distances below minus this times their mean are a property of R, not rounding."""


class NegativeDistanceError(KFRCError):
    """A sample has a negative squared distance to a center: the dissimilarities are not Euclidean.

    Attributes
    ----------
    distances : ndarray of shape (n_samples, n_clusters)
        All squared distances d to the centers, the negative ones among them.
    spreads : ndarray of shape (n_samples, n_clusters)
        ‖v_i − e_k‖²: raising R off the diagonal by β adds β/2 of this to d.
    """

    def __init__(self, message: str, distances: FloatArray, spreads: FloatArray) -> None:
        super().__init__(message)
        self.distances = distances
        self.spreads = spreads

    def of_rows(self, names: IntArray) -> NegativeDistanceError:
        """The same error, which calls the samples by these numbers."""
        return NegativeDistanceError(_message(self.distances, names), self.distances, self.spreads)

    def __reduce__(self) -> tuple[object, ...]:
        return (NegativeDistanceError, (str(self), self.distances, self.spreads))


class SpreadDissimilarity(Dissimilarity):
    """R + β (11ᵀ − I) for a Gram operator of R, which refuses negative distances to centers.

    Parameters
    ----------
    gram : Gram
        E with R_jk = E_jj + E_kk − 2 E_jk.
    beta : float, default=0
        What is added to every entry off the diagonal.

    Attributes
    ----------
    copies : ndarray of shape (n_samples,)
        How many samples each row stands for, at least one.
    """

    def __init__(self, gram: Gram, beta: float = 0.0) -> None:
        super().__init__(gram)
        self.beta = beta
        # A row is at least one sample, whatever its weight.
        self.copies = np.ones(gram.n_samples) if gram.weights is None else np.maximum(gram.weights, 1.0)

    def center_distances(self, prototypes: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Squared distances to centers, see :class:`kfrc.dissimilarity.Dissimilarity`."""
        distances, squared_norms = super().center_distances(prototypes)
        if self.beta > 0:
            distances += 0.5 * self.beta * self.spreads(prototypes)
            squared_norms -= 0.5 * self.beta * (1.0 - self._own(prototypes))
        if float(distances.min()) < -_NEGATIVE_TOL * float(np.abs(distances).mean()):
            raise NegativeDistanceError(_message(distances), distances, self.spreads(prototypes))
        return distances, squared_norms

    def spreads(self, prototypes: FloatArray) -> FloatArray:
        """‖v_i − e_k‖² between center weights and single samples, of shape (n_samples, n_clusters).

        It is 1 − 2 p_ki + Σ_l p_li². A row that stands for s_k samples shares its p_ki among them, and β is added
        between any two of them as well: 1 − 2 p_ki / s_k + Σ_l p_li² / s_l.
        """
        spreads: FloatArray = 1.0 - 2.0 * prototypes / self.copies[:, None] + self._own(prototypes)
        return spreads

    def _own(self, prototypes: FloatArray) -> FloatArray:
        own: FloatArray = np.einsum("ji,ji->i", prototypes, prototypes / self.copies[:, None])
        return own

    def columns(self, indices: Any) -> FloatArray:
        """Columns of R + β (11ᵀ − I), of shape (n_samples, len(indices))."""
        R = super().columns(indices) + self.beta
        R[indices, np.arange(len(indices))] = 0.0
        return R


def _message(distances: FloatArray, names: IntArray | None = None) -> str:
    sample, cluster = np.unravel_index(int(distances.argmin()), distances.shape)
    name = sample if names is None else names[sample]
    return (
        "the dissimilarities are not squared distances of any Euclidean space: sample "
        f"{name} has the negative squared distance {distances[sample, cluster]:.4g} to center {cluster}, and "
        "relational fuzzy c-means is not defined there. Use NERFCM, which raises the dissimilarities just enough, or a "
        "smaller power of them, such as their square roots"
    )
