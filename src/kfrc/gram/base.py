"""The interface of a Gram matrix, and of the family of Gram matrices that bandwidths sweep out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import ClassVar

import numpy as np

from kfrc._numerics import clear_rounding
from kfrc.gram.centers import Centers
from kfrc.kernels import Kernel, SymmetricLowRank
from kfrc.typing import FloatArray


class Gram(ABC):
    """E = K − const·11ᵀ as a linear operator.

    The constant is the kernel's value at distance zero. Centering and distances do not see it, and leaving it out is
    what keeps large bandwidths accurate.
    """

    n_samples: int
    weights: FloatArray | None = None
    """s: how many rows each row stands for; None if one. The center of mass, F and J weigh rows by it."""
    backend: ClassVar[str] = "none"
    """How it is held: "none" (exact), "low_rank" or "nystrom"; what ``approximation_`` of an estimator says."""

    @property
    def total(self) -> float:
        """S: how many rows there are, weights counted."""
        return self.n_samples if self.weights is None else float(self.weights.sum())

    @abstractmethod
    def matmul(self, V: FloatArray) -> FloatArray:
        """E @ V for a vector or an (n_samples, k) matrix."""

    @abstractmethod
    def diagonal(self) -> FloatArray:
        """diag(E), of shape (n_samples,)."""

    @abstractmethod
    def log_bandwidth_gradients(self, adjoints: Sequence[SymmetricLowRank]) -> FloatArray:
        """Σ_jk G_jk ∂K_jk/∂ log θ_d for each adjoint G, of shape (len(adjoints), n_features)."""

    @abstractmethod
    def columns(self, indices: Sequence[int]) -> FloatArray:
        """E[:, indices], of shape (n_samples, len(indices))."""

    def row_means(self) -> FloatArray:
        """E s / S, of shape (n_samples,)."""
        return self.matmul(np.ones(self.n_samples) if self.weights is None else self.weights) / self.total

    def mean(self, values: FloatArray) -> FloatArray:
        """Mean over the samples, weights counted, of an array of shape (n_samples, ...)."""
        total: FloatArray = values.sum(axis=0) if self.weights is None else self.weights @ values
        return total / self.total

    @cached_property
    def centered_diagonal(self) -> FloatArray:
        """diag(HKH) = E_jj − 2 (E1)_j / n + 1ᵀE1 / n²: squared distances to the center of mass in feature space."""
        means = self.row_means()
        return self.diagonal() - 2.0 * means + self.mean(means)

    def feature_blocks(self) -> Iterator[tuple[slice, FloatArray]] | None:
        """Centered features Φ with HEH = ΦΦᵀ, row block by row block, or None if the backend has none.

        Each item is a slice of rows and an array of shape (n_block, r).
        """
        return None

    @property
    def feature_totals(self) -> FloatArray | None:
        """S_d of every feature, of shape (r,): the weight of the rows in which its column is known; None if of all."""
        return None

    @property
    def approximation_error(self) -> float:
        """How far distances are off, relative to their size: measured or bounded by the backend; zero if exact."""
        return 0.0

    def center_distances(self, prototypes: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Squared distances ‖φ_j − v_i‖² = E_jj − 2 (E p_i)_j + p_iᵀE p_i to centers v_i = Σ_j p_ji φ_j.

        Parameters
        ----------
        prototypes : ndarray of shape (n_samples, n_clusters)
            Weights of each center, columns summing to one.

        Returns
        -------
        distances : ndarray of shape (n_samples, n_clusters)
            Negative only if E is no Gram matrix of anything.
        squared_norms : ndarray of shape (n_clusters,)
            pᵀEp, what new samples need besides their own similarities.
        """
        product = self.matmul(prototypes)
        squared_norms = np.einsum("ji,ji->i", prototypes, product)
        diagonal = self.diagonal()
        distances = product
        distances *= -2.0
        distances += diagonal[:, None]
        distances += squared_norms
        return clear_rounding(distances, diagonal, squared_norms), squared_norms

    @abstractmethod
    def centers(self, prototypes: FloatArray) -> Centers:
        """Centers with these weights (n_samples, n_clusters), for distances of new rows."""


class GramFamily(ABC):
    """All Gram matrices of one data set under one kernel; ``at(bandwidths)`` picks one.

    What does not depend on the bandwidths (a basis, landmarks) is prepared once, here.
    """

    n_samples: int
    n_features: int
    kernel: Kernel

    @abstractmethod
    def at(self, bandwidths: FloatArray) -> Gram:
        """The Gram matrix at these bandwidths."""

    def resolves(self, bandwidths: FloatArray) -> bool:
        """Whether these bandwidths are large enough for the backend to be as accurate as it can be."""
        return True

    def linear_limit(self, bandwidths: FloatArray, tol: float) -> GramFamily | None:
        """The family of the linear kernel, if at these bandwidths it agrees with the kernel to ``tol``, else None.

        The agreement is relative and over the whole range of the rows; most of them are far closer.
        """
        return None
