"""The linear kernel with feature weights 1/θ², to which both Gaussian kernels tend at large bandwidths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kfrc.kernels.base import Kernel, Profile, SymmetricLowRank
from kfrc.typing import FloatArray


@dataclass(frozen=True)
class Linear(Kernel, Profile, name="linear"):
    """k(x, y) = Σ_d x_d y_d / θ_d²: squared distances are weighted Euclidean, F has rank at most p.

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc.kernels.linear import Linear
    >>> X = np.array([[0.0, 1.0], [2.0, 3.0]])
    >>> Linear().shifted(X, X, np.array([1.0, 2.0]))
    array([[0.25, 0.75], [0.75, 6.25]])
    """

    constant_diagonal: bool = False
    sums_over_columns: ClassVar[bool] = True

    def profile(self, squared_differences: FloatArray) -> FloatArray:
        """−Δ²/2θ², which is x y / θ² but for terms of x or y alone."""
        return -0.5 * squared_differences

    def profile_derivative(self, squared_differences: FloatArray) -> FloatArray:
        """Δ²/θ²."""
        return squared_differences

    def polynomials_needed(self, ratio: FloatArray, tol: float) -> FloatArray:
        """Three: a square has no more."""
        return np.full(np.shape(ratio), 3.0)

    def shifted(self, X: FloatArray, Y: FloatArray, bandwidths: FloatArray) -> FloatArray:  # noqa: D102
        return (X / bandwidths) @ (Y / bandwidths).T

    def derivative(  # noqa: D102
        self, X: FloatArray, Y: FloatArray, bandwidths: FloatArray, feature: int
    ) -> FloatArray:
        return -2.0 * np.multiply.outer(X[:, feature], Y[:, feature]) / bandwidths[feature] ** 2

    def shifted_diagonal(self, X: FloatArray, bandwidths: FloatArray) -> FloatArray:  # noqa: D102
        return np.square(X / bandwidths).sum(axis=1)

    def factor(self, X: FloatArray, bandwidths: FloatArray) -> FloatArray | None:  # noqa: D102
        return X / bandwidths

    def log_bandwidth_gradients(  # noqa: D102
        self, X: FloatArray, bandwidths: FloatArray, E: FloatArray, adjoints: Sequence[SymmetricLowRank]
    ) -> FloatArray:
        Z = X / bandwidths
        return np.array(
            [
                -2.0
                * (
                    (adjoint.weights @ (adjoint.vectors.T @ Z) ** 2 + 2.0 * (adjoint.shift @ Z) * _sum(Z, adjoint))
                    / adjoint.total
                    + adjoint.diagonal @ Z**2
                )
                for adjoint in adjoints
            ]
        )


def _sum(Z: FloatArray, adjoint: SymmetricLowRank) -> FloatArray:
    """Sum of all rows, weights counted."""
    total: FloatArray = Z.sum(axis=0) if adjoint.row_weights is None else adjoint.row_weights @ Z
    return total
