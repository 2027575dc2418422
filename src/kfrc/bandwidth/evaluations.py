"""The spectrum at one point of a search: its leading eigenvalues, and gradients on request."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from kfrc._numerics import DIAGONAL_FLOOR
from kfrc.gram import FactoredGrams, Gram
from kfrc.spectrum import Spectrum, average_over_ties
from kfrc.typing import FloatArray


class Evaluation(ABC):
    """What an optimizer sees of a point.

    Attributes
    ----------
    log_bandwidths : ndarray of shape (n_features,)
    eigenvalues : ndarray of shape (k,)
        The largest of F, descending.
    """

    def __init__(self, log_bandwidths: FloatArray, eigenvalues: FloatArray) -> None:
        self.log_bandwidths = log_bandwidths
        self.eigenvalues = eigenvalues

    @property
    def leading(self) -> float:
        """λ₁."""
        return float(self.eigenvalues[0])

    @abstractmethod
    def gradients(self, weights: Sequence[FloatArray]) -> FloatArray:
        """∂(Σ_i w_i λ_i)/∂ log θ for each weight vector, of shape (len(weights), n_features)."""

    def leading_gradient(self) -> FloatArray:
        """∂λ₁/∂ log θ."""
        return self.gradients([np.eye(1, len(self.eigenvalues))[0]])[0]


class KernelEvaluation(Evaluation):
    """For any kernel: the derivative of λ in K, and of K in log θ."""

    def __init__(self, log_bandwidths: FloatArray, gram: Gram, spectrum: Spectrum) -> None:
        super().__init__(log_bandwidths, spectrum.eigenvalues)
        self._gram = gram
        self._spectrum = spectrum

    def gradients(self, weights: Sequence[FloatArray]) -> FloatArray:  # noqa: D102
        return self._gram.log_bandwidth_gradients([self._spectrum.adjoint(w) for w in weights])


class LinearEvaluation(Evaluation):
    """For the linear kernel with no more features than samples: a p × p problem without detours.

    With centered rows x_j, R = diag(1/θ) and D_j = Σ_d x_jd²/θ_d², F has the non-zero eigenvalues of

        M = R (Σ_j x_j x_jᵀ / (n D_j)) R,    M u = λ u,

    and ∂λ/∂ log θ_d = −2 λ u_d² + 2/θ_d² Σ_j x_jd² (x_jᵀ R u)² / (n D_j²).
    """

    def __init__(self, family: FactoredGrams, log_bandwidths: FloatArray, n_eigenvalues: int) -> None:
        X, squares = family.centered, family.centered_squares
        n_found = min(n_eigenvalues, X.shape[1])
        # Only ratios matter, and near one no square overflows.
        self._inverses = np.exp(log_bandwidths.min() - log_bandwidths)
        diagonal = squares @ np.square(self._inverses)
        self._diagonal = np.maximum(diagonal, DIAGONAL_FLOOR * (diagonal.sum() / len(X)))
        self._scale = 1.0 / (len(X) * self._diagonal)
        inner = (X * self._scale[:, None]).T @ X
        inner *= self._inverses
        inner *= self._inverses[:, None]
        values, vectors = np.linalg.eigh(inner)
        eigenvalues = np.zeros(n_eigenvalues)
        eigenvalues[:n_found] = np.clip(values[: -n_found - 1 : -1], 0.0, 1.0)
        super().__init__(log_bandwidths, eigenvalues)
        self._family = family
        self._vectors = vectors[:, : -n_found - 1 : -1]

    @cached_property
    def _all_gradients(self) -> FloatArray:
        """∂λ_i/∂ log θ_d, of shape (n_features, number of eigenvalues found)."""
        projections = np.square(self._family.centered @ (self._vectors * self._inverses[:, None]))
        projections *= (self._scale / self._diagonal)[:, None]
        slopes = self._family.centered_squares.T @ projections
        slopes *= np.square(self._inverses)[:, None]
        slopes -= np.square(self._vectors) * self.eigenvalues[: self._vectors.shape[1]]
        return 2.0 * slopes

    def gradients(self, weights: Sequence[FloatArray]) -> FloatArray:  # noqa: D102
        # Eigenvalues beyond the number of features are zero and stay so.
        found = self._vectors.shape[1]
        averaged = np.array([average_over_ties(w, self.eigenvalues)[:found] for w in weights])
        return averaged @ self._all_gradients.T
