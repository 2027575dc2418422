"""Gaussian kernels with one bandwidth per feature: their sum and their product over features (Section 2.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kfrc._numerics import row_blocks
from kfrc.kernels.base import AdditiveKernel, Kernel, SymmetricLowRank, squared_differences
from kfrc.typing import FloatArray

_PRODUCT_REACH = 1e4
"""Bandwidths between rows up to which squared distances by one product keep eight digits."""


_NOTHING_BEYOND = 1e4
"""Squared differences, in bandwidths, at which the kernel is zero in floating-point numbers."""


@dataclass(frozen=True)
class GaussianSum(AdditiveKernel, name="sum"):
    """k(x, y) = Σ_d exp(−(x_d − y_d)² / 2θ_d²): feature maps side by side.

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc.kernels.gaussian import GaussianSum
    >>> X = np.array([[0.0, 0.0], [1.0, 0.0]])
    >>> 2 + GaussianSum().shifted(X, X, np.ones(2)).round(4)
    array([[2.    , 1.6065], [1.6065, 2.    ]])
    """

    def profile(self, squared_differences: FloatArray) -> FloatArray:  # noqa: D102
        return np.expm1(-0.5 * squared_differences)

    def distance_to_linear(self, squared_ranges: FloatArray) -> float:
        """e^{−s/2} − 1 = −s/2 (1 − s/4 + …), feature by feature."""
        return 0.25 * float(squared_ranges.max())

    def profile_derivative(self, squared_differences: FloatArray) -> FloatArray:  # noqa: D102
        slope = np.exp(-0.5 * squared_differences)
        slope *= np.minimum(squared_differences, _NOTHING_BEYOND)  # which may be infinite
        return slope


@dataclass(frozen=True)
class GaussianProduct(Kernel, name="product"):
    """k(x, y) = Π_d exp(−(x_d − y_d)² / 2θ_d²): the usual Gaussian kernel with a bandwidth per feature.

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc.kernels.gaussian import GaussianProduct
    >>> X = np.array([[0.0, 0.0], [1.0, 1.0]])
    >>> 1 + GaussianProduct().shifted(X, X, np.ones(2)).round(4)
    array([[1.    , 0.3679], [0.3679, 1.    ]])
    """

    def shifted(self, X: FloatArray, Y: FloatArray, bandwidths: FloatArray) -> FloatArray:  # noqa: D102
        # −‖x − y‖²/2 by one product of augmented matrices, [x, −½‖x‖², 1] · [y, 1, −½‖y‖²].
        left, right = X / bandwidths, Y / bandwidths
        if max(np.abs(left - right[0]).max(), np.abs(right - right[0]).max()) > _PRODUCT_REACH:
            return self._shifted_by_differences(left, right)
        center = right.mean(axis=0)  # distances do not move, rounding shrinks
        left, right = left - center, right - center
        left_half = 0.5 * np.einsum("jd,jd->j", left, left)[:, None]
        right_half = 0.5 * np.einsum("jd,jd->j", right, right)[:, None]
        E = np.hstack([left, -left_half, np.ones_like(left_half)]) @ (
            np.hstack([right, np.ones_like(right_half), -right_half]).T
        )
        np.minimum(E, 0.0, out=E)
        return np.expm1(E, out=E)

    @staticmethod
    def _shifted_by_differences(left: FloatArray, right: FloatArray) -> FloatArray:
        """The same feature by feature: slower, and no value takes digits from the others."""
        E = np.zeros((len(left), len(right)))
        for d in range(left.shape[1]):
            E -= 0.5 * squared_differences(left[:, d], right[:, d], 1.0)
        return np.expm1(E, out=E)

    def distance_to_linear(self, squared_ranges: FloatArray) -> float:
        """The same with the squared distance in place of one squared difference."""
        return 0.25 * float(squared_ranges.sum())

    def derivative(  # noqa: D102
        self, X: FloatArray, Y: FloatArray, bandwidths: FloatArray, feature: int
    ) -> FloatArray:
        squares = squared_differences(X[:, feature], Y[:, feature], bandwidths[feature])
        return (1.0 + self.shifted(X, Y, bandwidths)) * squares

    def weighted_gradients(  # noqa: D102
        self, X: FloatArray, Y: FloatArray, bandwidths: FloatArray, weights: Sequence[FloatArray]
    ) -> FloatArray:
        K = 1.0 + self.shifted(X, Y, bandwidths)
        Z, Z_other = X / bandwidths, Y / bandwidths
        return np.array([_squared_difference_sums(W * K, Z, Z_other) for W in weights])

    def log_bandwidth_gradients(  # noqa: D102
        self, X: FloatArray, bandwidths: FloatArray, E: FloatArray, adjoints: Sequence[SymmetricLowRank]
    ) -> FloatArray:
        # ∂K/∂η_d = K ∘ Δ_d²/θ_d², so with M = G∘K and z = x_d/θ_d each feature costs two products with M:
        # Σ_jk M_jk (z_j − z_k)² = 2 [Σ_j z_j² (M1)_j − zᵀMz].
        Z = (X - X.mean(axis=0)) / bandwidths
        if np.abs(Z).max() > _PRODUCT_REACH:
            return _gradients_by_differences(X, bandwidths, E, adjoints)
        with_ones = np.hstack([Z, np.ones((len(Z), 1))])
        gradients = np.zeros((len(adjoints), X.shape[1]))
        for block in row_blocks(len(X), len(X)):
            K = 1.0 + E[block]
            for i, adjoint in enumerate(adjoints):
                M = adjoint.rows(block)
                M *= K
                product = M @ with_ones
                gradients[i] += (Z[block] ** 2).T @ product[:, -1] - np.einsum("jd,jd->d", Z[block], product[:, :-1])
        return 2.0 * gradients


def _gradients_by_differences(
    X: FloatArray, bandwidths: FloatArray, E: FloatArray, adjoints: Sequence[SymmetricLowRank]
) -> FloatArray:
    """The same feature by feature: slower, and no value takes digits from the others."""
    gradients = np.zeros((len(adjoints), X.shape[1]))
    for block in row_blocks(len(X), len(X)):
        weighted = [adjoint.rows(block) * (1.0 + E[block]) for adjoint in adjoints]
        for d in range(X.shape[1]):
            squares = np.minimum(squared_differences(X[block, d], X[:, d], bandwidths[d]), _NOTHING_BEYOND)
            gradients[:, d] += [np.vdot(M, squares) for M in weighted]
    return gradients


def _squared_difference_sums(M: FloatArray, Z: FloatArray, Z_other: FloatArray) -> FloatArray:
    """Σ_jk M_jk (z_jd − z'_kd)² for every feature d."""
    own = M.sum(axis=1) @ Z**2
    other = M.sum(axis=0) @ Z_other**2
    return own + other - 2.0 * np.einsum("jd,jd->d", Z, M @ Z_other)
