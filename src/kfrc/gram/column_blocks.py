"""One column's part of a Gram matrix: features from a basis of few functions, whatever the type of the column.

The part of column d is K_d − 1 = T B(θ) Tᵀ with a basis T that does not depend on the bandwidth, Chebyshev polynomials
or indicators of the values that occur, and a small core B. T has zero rows where the column is blank. With
μ = Tᵀs / S_d, the means of the basis over the rows where the column is known, and M B Mᵀ = R Rᵀ for the core without
its constant, Φ_d = T R − o μᵀR are features centered over these rows and zero elsewhere.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from kfrc._numerics import row_blocks
from kfrc.columns import Column
from kfrc.gram.chebyshev import chebyshev_grid, chebyshev_polynomials, cosine_transform, to_coefficients
from kfrc.gram.factored import squared_euclidean
from kfrc.kernels import Profile
from kfrc.typing import FloatArray, IntArray

FEW_VALUES = 32
"""Different values up to which a column of numbers is described by indicators of them."""

MOST_VALUES = 256
"""The same where polynomials would be as many."""

PROBES = 200
"""Rows among which errors are measured."""

_BLOCK_ELEMENTS = 1 << 19
"""Elements of one block of polynomials."""


def prefers_values(n_values: int, needed: float) -> bool:
    """Whether indicators of the values of a column of numbers are as few as the polynomials that would be needed."""
    return n_values <= FEW_VALUES or n_values <= min(needed, MOST_VALUES)


def column_error(
    kernel: Profile, column: Column, z: FloatArray, features: FloatArray, bandwidth: float
) -> tuple[float, float]:
    """Largest error of a squared distance between rows in one column, and the mean of these distances.

    Parameters
    ----------
    kernel : Profile
    column : Column
    z : ndarray of shape (n,)
        Values in standard units; zeros are returned if there are none.
    features : ndarray of shape (n, r)
        What stands for them.
    bandwidth : float
    """
    if len(z) == 0:
        return 0.0, 0.0
    exact = -2.0 * kernel.profile(column.squares(z, z, bandwidth))
    return float(np.abs(squared_euclidean(features, features) - exact).max()), float(exact.mean())


def relative_error(errors: Sequence[tuple[float, float]]) -> float:
    """Largest error of a column, relative to the mean squared distance over all of them."""
    largest = max((error for error, _ in errors), default=0.0)
    return largest / sum(size for _, size in errors) if largest > 0 else 0.0


@dataclass(frozen=True, eq=False)
class ColumnData:
    """A column of a table, prepared once for all bandwidths.

    Attributes
    ----------
    column : Column
    values : ndarray of shape (n_samples,)
        In standard units; zero where nothing is known.
    known : ndarray of shape (n_samples,)
        One where something is, zero elsewhere.
    weights : ndarray of shape (n_samples,)
        s, zero where nothing is known.
    """

    column: Column
    values: FloatArray
    known: FloatArray
    weights: FloatArray

    @classmethod
    def of(cls, column: Column, values: FloatArray, mass: FloatArray) -> ColumnData:
        """From values with NaN."""
        known = (~np.isnan(values)).astype(np.float64)
        return cls(column, np.where(known > 0, values, 0.0), known, mass * known)

    @property
    def complete(self) -> bool:
        """Whether nothing is missing."""
        return bool(self.known.all())

    @cached_property
    def total(self) -> float:
        """S_d."""
        return float(self.weights.sum())

    @cached_property
    def _distinct(self) -> tuple[FloatArray, IntArray]:
        """Values that occur, and the position of each row's among them; one position further where nothing is known."""
        known = self.known > 0
        nodes, inverse = np.unique(self.values[known], return_inverse=True)
        index = np.full(len(known), len(nodes))
        index[known] = inverse
        return nodes, index

    @property
    def nodes(self) -> FloatArray:
        """The values that occur, of shape (n_distinct,)."""
        return self._distinct[0]

    @property
    def index(self) -> IntArray:
        """Position of the value of each row among the nodes, of shape (n_samples,)."""
        return self._distinct[1]

    @cached_property
    def indicators(self) -> csr_array:
        """Which rows have which value, of shape (n_distinct, n_samples)."""
        known = np.flatnonzero(self.known)
        return csr_array((np.ones(len(known)), (self.index[known], known)), shape=(len(self.nodes), len(self.known)))

    @cached_property
    def middle(self) -> float:
        """Center of the range."""
        return 0.5 * float(self.nodes[0] + self.nodes[-1])

    @cached_property
    def half_range(self) -> float:
        """Half its length."""
        return max(0.5 * float(self.nodes[-1] - self.nodes[0]), np.finfo(float).tiny)

    def prefers_values(self, degree: float) -> bool:
        """Whether the column is described by indicators of its values."""
        return not self.column.continuous or prefers_values(len(self.nodes), degree)


class ColumnBlock(ABC):
    """Features of one column at one bandwidth.

    Attributes
    ----------
    data : ColumnData
    bandwidth : float
    """

    data: ColumnData
    bandwidth: float
    kernel: Profile

    @property
    @abstractmethod
    def nodes(self) -> FloatArray:
        """Places of which all kernel values are combinations, of shape (N,)."""

    @abstractmethod
    def products(self, V: FloatArray) -> FloatArray:
        """Tᵀ V, of shape (N, V.shape[1])."""

    @abstractmethod
    def masses(self, products: FloatArray) -> FloatArray:
        """Sums over the rows where the column is known, from products with the basis, of shape (k,)."""

    @abstractmethod
    def _coefficients(self, values: FloatArray) -> FloatArray:
        """Of a function of two places, from its values (N, N) between the nodes."""

    @abstractmethod
    def node_weights(self, coefficients: FloatArray) -> FloatArray:
        """Σ_k p_k k(x, x_k) as weights of the nodes, from Tᵀp, of shape (N, k)."""

    @property
    @abstractmethod
    def _pairs(self) -> tuple[FloatArray, FloatArray]:
        """Eigenvalues, rising, and eigenvectors of the core without its constant."""

    def _with_constant(self, root: FloatArray) -> FloatArray:
        """Rows of R for all functions of the basis, from those of the functions that are not constant."""
        return root

    @abstractmethod
    def write_features(self, rows: slice, out: FloatArray) -> None:
        """Φ_d of some rows, into ``out`` of shape (r, n_rows)."""

    root: FloatArray

    @property
    def rank(self) -> int:
        """Number of features r."""
        return self.root.shape[1]

    @cached_property
    def _squares(self) -> FloatArray:
        return self.data.column.squares(self.nodes, self.nodes, self.bandwidth)

    @cached_property
    def core(self) -> FloatArray:
        """B, of shape (N, N)."""
        return self._coefficients(self.kernel.profile(self._squares))

    @cached_property
    def core_derivative(self) -> FloatArray:
        """∂B/∂ log θ, of shape (N, N)."""
        return self._coefficients(self.kernel.profile_derivative(self._squares))

    @cached_property
    def moments(self) -> FloatArray:
        """μ, of shape (N,)."""
        return self.products(self.data.weights[:, None])[:, 0] / self.data.total

    def error(self, rows: IntArray) -> tuple[float, float]:
        """Largest error of a squared distance among some rows, and the mean of these distances; zeros if exact."""
        return 0.0, 0.0

    @property
    def largest(self) -> float:
        """Largest eigenvalue of the core without its constant."""
        return float(self._pairs[0][-1])

    def truncate(self, cutoff: float) -> None:
        """Fix R, of shape (N, r); what is below ``cutoff`` counts for nothing in the whole kernel."""
        values, vectors = self._pairs
        keep = values > cutoff
        keep[-1] = True
        self.root = self._with_constant(vectors[:, keep] * np.sqrt(np.maximum(values[keep], 0.0)))


class ValueBlock(ColumnBlock):
    """Indicators of the values that occur: exact, with as many functions as there are values."""

    def __init__(self, data: ColumnData, bandwidth: float, kernel: Profile) -> None:
        self.data, self.bandwidth, self.kernel = data, bandwidth, kernel

    @property
    def nodes(self) -> FloatArray:  # noqa: D102
        return self.data.nodes

    def products(self, V: FloatArray) -> FloatArray:  # noqa: D102
        product: FloatArray = self.data.indicators @ V
        return product

    def masses(self, products: FloatArray) -> FloatArray:  # noqa: D102
        total: FloatArray = products.sum(axis=0)
        return total

    def _coefficients(self, values: FloatArray) -> FloatArray:
        return values

    def node_weights(self, coefficients: FloatArray) -> FloatArray:  # noqa: D102
        return coefficients

    @cached_property
    def _pairs(self) -> tuple[FloatArray, FloatArray]:
        # M B Mᵀ with M = I − 1μᵀ: rows and columns lose their weighted mean.
        B = self.core - self.core @ self.moments[:, None]
        B -= self.moments @ B
        return np.linalg.eigh(0.5 * (B + B.T))

    @cached_property
    def _rows(self) -> FloatArray:
        """Features of every value, and zeros for a row without one."""
        centered = self.root - self.moments @ self.root
        return np.vstack([centered, np.zeros(self.rank)])

    def write_features(self, rows: slice, out: FloatArray) -> None:  # noqa: D102
        out[:] = self._rows[self.data.index[rows]].T


class PolynomialBlock(ColumnBlock):
    """Chebyshev polynomials of a number."""

    def __init__(self, data: ColumnData, bandwidth: float, kernel: Profile, degree: int) -> None:
        self.data, self.bandwidth, self.kernel, self.degree = data, bandwidth, kernel, degree

    @property
    def nodes(self) -> FloatArray:  # noqa: D102
        return self.data.middle + self.data.half_range * chebyshev_grid(self.degree)[0]

    def _basis(self, rows: slice | IntArray) -> FloatArray:
        """T of some rows, of shape (N, n_rows); zero where nothing is known."""
        Z = np.clip((self.data.values[rows] - self.data.middle) / self.data.half_range, -1.0, 1.0)
        T = chebyshev_polynomials(Z[None], self.degree)[0]
        return T if self.data.complete else T * self.data.known[rows]

    def products(self, V: FloatArray) -> FloatArray:  # noqa: D102
        total = np.zeros((self.degree, V.shape[1]))
        for rows in row_blocks(len(V), self.degree, _BLOCK_ELEMENTS):
            total += self._basis(rows) @ V[rows]
        return total

    def masses(self, products: FloatArray) -> FloatArray:  # noqa: D102
        return products[0]  # T₀ is one

    def _coefficients(self, values: FloatArray) -> FloatArray:
        return to_coefficients(values[None])[0]

    def node_weights(self, coefficients: FloatArray) -> FloatArray:  # noqa: D102
        weights: FloatArray = cosine_transform(self.degree).T @ coefficients
        return weights

    @cached_property
    def _pairs(self) -> tuple[FloatArray, FloatArray]:
        return np.linalg.eigh(self.core[1:, 1:])  # T₀ is the constant

    def _with_constant(self, root: FloatArray) -> FloatArray:
        return np.vstack([np.zeros(root.shape[1]), root])

    def write_features(self, rows: slice, out: FloatArray) -> None:  # noqa: D102
        np.matmul(self.root[1:].T, self._basis(rows)[1:], out=out)
        center = (self.moments @ self.root)[:, None]
        out -= center if self.data.complete else center * self.data.known[rows]

    def error(self, rows: IntArray) -> tuple[float, float]:  # noqa: D102
        known = rows[self.data.known[rows] > 0]
        features = self._basis(known).T @ self.root
        return column_error(self.kernel, self.data.column, self.data.values[known], features, self.bandwidth)
