"""The Gram matrix in memory: n² numbers, exact, for any kernel."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from scipy.linalg.blas import dsymv

from kfrc._numerics import check_memory
from kfrc.gram.base import Gram, GramFamily
from kfrc.gram.centers import Centers, KernelCenters
from kfrc.gram.factored import LinearLimit
from kfrc.kernels import AdditiveKernel, Kernel, SymmetricLowRank
from kfrc.typing import FloatArray


class DenseGram(Gram):
    """E stored as a symmetric n × n array.

    Parameters
    ----------
    E : ndarray of shape (n_samples, n_samples)
        The Gram matrix, or the Gram matrix minus a constant.
    family : DenseGrams, optional
        Where it comes from; without it there are no bandwidths to differentiate by and no rows to compare with.
    bandwidths : ndarray of shape (n_features,), optional
    weights : ndarray of shape (n_samples,), optional
        How many rows each row stands for.
    """

    def __init__(
        self,
        E: FloatArray,
        family: DenseGrams | None = None,
        bandwidths: FloatArray | None = None,
        weights: FloatArray | None = None,
    ) -> None:
        self.E = E
        self.n_samples = len(E)
        self.weights = weights
        self._family = family
        self._bandwidths = bandwidths

    def matmul(self, V: FloatArray) -> FloatArray:  # noqa: D102
        if V.ndim == 1:
            # A matrix-vector product is bound by memory, and dsymv reads only one triangle of E.
            return dsymv(1.0, self.E.T, V)
        return self.E @ V

    def diagonal(self) -> FloatArray:  # noqa: D102
        return np.diagonal(self.E).copy()

    def row_means(self) -> FloatArray:  # noqa: D102
        means: FloatArray = (self.E.sum(axis=1) if self.weights is None else self.E @ self.weights) / self.total
        return means

    def columns(self, indices: Sequence[int]) -> FloatArray:  # noqa: D102
        return self.E[:, indices]

    def log_bandwidth_gradients(self, adjoints: Sequence[SymmetricLowRank]) -> FloatArray:  # noqa: D102
        family, bandwidths = self._origin()
        return family.kernel.log_bandwidth_gradients(family.X, bandwidths, self.E, adjoints)

    def centers(self, prototypes: FloatArray) -> Centers:  # noqa: D102
        family, bandwidths = self._origin()
        squared_norms = np.einsum("ji,ji->i", prototypes, self.E @ prototypes)
        return KernelCenters(family.kernel, family.X, bandwidths, prototypes, squared_norms)

    def _origin(self) -> tuple[DenseGrams, FloatArray]:
        if self._family is None or self._bandwidths is None:
            raise ValueError("a precomputed Gram matrix knows neither rows nor bandwidths")
        return self._family, self._bandwidths


class DenseGrams(GramFamily):
    """Dense Gram matrices of the rows of X under a kernel."""

    def __init__(self, X: FloatArray, kernel: Kernel, weights: FloatArray | None = None) -> None:
        self.X = X
        self.kernel = kernel
        self.weights = weights
        self.n_samples, self.n_features = X.shape
        remedy = 'approximation="low_rank"' if isinstance(kernel, AdditiveKernel) else 'approximation="nystrom"'
        check_memory(8 * self.n_samples**2, f"the {self.n_samples} x {self.n_samples} Gram matrix", remedy)

    @cached_property
    def _limit(self) -> LinearLimit:
        return LinearLimit(self.X, self.kernel)

    def at(self, bandwidths: FloatArray) -> DenseGram:  # noqa: D102
        return DenseGram(self.kernel.shifted_gram(self.X, bandwidths), self, bandwidths, self.weights)

    def linear_limit(self, bandwidths: FloatArray, tol: float) -> GramFamily | None:  # noqa: D102
        return None if self.weights is not None else self._limit.at(bandwidths, tol)
