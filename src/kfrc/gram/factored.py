"""A Gram matrix E = ΦΦᵀ known by few features Φ: products cost O(n r), never O(n²)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kfrc._typing import FloatArray
from kfrc.gram.base import Gram, GramFamily
from kfrc.kernels import Kernel, SymmetricLowRank

_NO_MATRIX = np.empty((0, 0))


class FactoredGram(Gram):
    """Gram matrix of explicit features.

    Parameters
    ----------
    features : ndarray of shape (n_samples, r)
        Φ. They are centered here once, which changes no centered quantity.
    family : FactoredGrams, optional
    bandwidths : ndarray of shape (n_features,), optional
    """

    def __init__(
        self, features: FloatArray, family: FactoredGrams | None = None, bandwidths: FloatArray | None = None
    ) -> None:
        self._features = features - features.mean(axis=0)
        self.n_samples = len(features)
        self._family = family
        self._bandwidths = bandwidths

    def matmul(self, V: FloatArray) -> FloatArray:  # noqa: D102
        return self._features @ (self._features.T @ V)

    def diagonal(self) -> FloatArray:  # noqa: D102
        return np.einsum("jr,jr->j", self._features, self._features)

    def row_means(self) -> FloatArray:  # noqa: D102
        return np.zeros(self.n_samples)

    def columns(self, indices: Sequence[int]) -> FloatArray:  # noqa: D102
        return self._features @ self._features[indices].T

    @property
    def factor(self) -> FloatArray:  # noqa: D102
        return self._features

    def log_bandwidth_gradients(self, adjoints: Sequence[SymmetricLowRank]) -> FloatArray:  # noqa: D102
        if self._family is None or self._bandwidths is None:
            raise ValueError("given features have no bandwidths to differentiate by")
        return self._family.kernel.log_bandwidth_gradients(self._family.X, self._bandwidths, _NO_MATRIX, adjoints)


class FactoredGrams(GramFamily):
    """Gram matrices of a kernel that is a short inner product, such as the linear one."""

    def __init__(self, X: FloatArray, kernel: Kernel) -> None:
        self.X = X - X.mean(axis=0)
        self.kernel = kernel
        self.n_samples, self.n_features = X.shape

    def at(self, bandwidths: FloatArray) -> FactoredGram:  # noqa: D102
        features = self.kernel.factor(self.X, bandwidths)
        if features is None:
            raise ValueError(f"the {self.kernel.name} kernel has no short feature vectors")
        return FactoredGram(features, self, bandwidths)
