"""The linear kernel along axes of its own: squared distances in which columns that vary together count once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.linalg import solve_triangular

from kfrc.kernels.base import Kernel
from kfrc.typing import FloatArray

_RIDGE = 1e-3
"""Added to the variances within clusters, in units of a column's total variance: collinear columns stay harmless."""

_LEAST_SIZE = 1e-10
"""Rows in a cluster below which its mean is that of nothing."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Oriented(Kernel):
    """k(x, y) = (Wᵀ x/θ) · (Wᵀ y/θ), θ the bandwidths: squared distances are those of Mahalanobis.

    Bandwidths act on columns. Where clusters are long in a direction that no column has, no bandwidths tell them
    apart, and axes W can. There is nothing to search: the axes come from a partition.

    Parameters
    ----------
    axes : ndarray of shape (n_features, n_axes)
        W.

    Examples
    --------
    Two long clusters side by side: across them is a direction, along them is not.

    >>> import numpy as np
    >>> from kfrc.kernels.oriented import Oriented
    >>> rng = np.random.default_rng(0)
    >>> along, across = rng.normal(0, 3, 100), np.repeat([-1.0, 1.0], 50) + rng.normal(0, 0.2, 100)
    >>> X = np.column_stack([along + across, along - across])
    >>> kernel = Oriented.within(X, np.repeat(np.eye(2), 50, axis=0))
    >>> features = kernel.factor(X, np.ones(2))
    >>> bool(np.linalg.norm(features[:50].mean(axis=0) - features[50:].mean(axis=0)) > 5)
    True
    """

    axes: FloatArray
    constant_diagonal: bool = False
    label: ClassVar[str] = "oriented"
    remark: ClassVar[str] = (
        "Distances are measured along the axes of the clusters, which are long in directions that no column has by "
        "itself: bandwidths of the columns alone miss them."
    )

    @classmethod
    def within(cls, X: FloatArray, memberships: FloatArray) -> Oriented:
        """Axes in which the scatter within the clusters of a partition is round.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Columns with standard deviation one.
        memberships : ndarray of shape (n_samples, n_clusters)
        """
        centered = X - X.mean(axis=0)
        sizes = np.maximum(memberships.sum(axis=0), _LEAST_SIZE)
        means = (memberships.T @ centered) / sizes[:, None]
        scatter = centered.T @ centered - (means.T * sizes) @ means
        factor = np.linalg.cholesky(scatter / len(X) + _RIDGE * np.eye(X.shape[1]))
        return cls(axes=solve_triangular(factor, np.eye(X.shape[1]), lower=True).T)

    def shifted(self, X: FloatArray, Y: FloatArray, bandwidths: FloatArray) -> FloatArray:  # noqa: D102
        return self.factor(X, bandwidths) @ self.factor(Y, bandwidths).T

    def derivative(  # noqa: D102
        self, X: FloatArray, Y: FloatArray, bandwidths: FloatArray, feature: int
    ) -> FloatArray:
        axis = self.axes[feature] / bandwidths[feature]
        mixed = np.multiply.outer(X[:, feature], self.factor(Y, bandwidths) @ axis)
        return -mixed - np.multiply.outer(self.factor(X, bandwidths) @ axis, Y[:, feature])

    def shifted_diagonal(self, X: FloatArray, bandwidths: FloatArray) -> FloatArray:  # noqa: D102
        return np.square(self.factor(X, bandwidths)).sum(axis=1)

    def factor(self, X: FloatArray, bandwidths: FloatArray) -> FloatArray:  # noqa: D102
        return (X / bandwidths) @ self.axes
