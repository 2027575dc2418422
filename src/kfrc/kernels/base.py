"""What a kernel must supply: blocks of K and of ∂K/∂ log θ, up to a constant that centering removes."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from kfrc._numerics import row_blocks
from kfrc._registry import Registered
from kfrc.exceptions import KFRCError
from kfrc.typing import FloatArray


@dataclass(frozen=True)
class SymmetricLowRank:
    """The matrix G = (V diag(w) Vᵀ + qsᵀ + sqᵀ) / S + diag(d): the derivative of a function of K with respect to K.

    Parameters
    ----------
    vectors : ndarray of shape (n_samples, r)
        V, the scaled eigenvectors H D^{-1/2} v_i.
    weights : ndarray of shape (r,)
        w, the derivative of the function with respect to each eigenvalue.
    shift : ndarray of shape (n_samples,)
        q, what the normalization by diag(HKH) contributes through row sums.
    diagonal : ndarray of shape (n_samples,)
        d, what it contributes through diag(K); irrelevant for kernels with a constant diagonal.
    row_weights : ndarray of shape (n_samples,), optional
        s, how many rows each row stands for, with S their sum; by default one each.
    """

    vectors: FloatArray
    weights: FloatArray
    shift: FloatArray
    diagonal: FloatArray
    row_weights: FloatArray | None = None

    @cached_property
    def measure(self) -> FloatArray:
        """s, of shape (n_samples,)."""
        return np.ones(len(self.shift)) if self.row_weights is None else self.row_weights

    @property
    def total(self) -> float:
        """S."""
        return len(self.shift) if self.row_weights is None else float(self.row_weights.sum())

    def factors(self) -> tuple[FloatArray, FloatArray]:
        """L and R with G = L Rᵀ off the diagonal: one product then makes a block, with no further passes over it."""
        return self._factors

    @cached_property
    def _factors(self) -> tuple[FloatArray, FloatArray]:
        q, s = self.shift[:, None], self.measure[:, None]
        return np.hstack([self.vectors * self.weights, q, s]) / self.total, np.hstack([self.vectors, s, q])

    def rows(self, block: slice) -> FloatArray:
        """Rows of G without the diagonal term."""
        left, right = self._factors
        return left[block] @ right.T


@dataclass(frozen=True)
class Kernel(Registered, ABC):
    """A symmetric positive semi-definite function of two rows with one bandwidth per feature.

    All uses of K in this library are blind to a constant added to every entry: F centers it, distances take
    differences. So a kernel returns K minus its value at distance zero, which stays accurate where K itself rounds
    to a constant, at large bandwidths.

    A new kernel implements ``shifted`` and ``derivative``; ``log_bandwidth_gradients`` may be overridden to be faster.
    """

    constant_diagonal: bool = True
    sums_over_columns: ClassVar[bool] = False
    """Whether k(x, y) is a sum over columns of functions of one column each."""
    moves_with_origin: ClassVar[bool] = True
    """Whether a row is a point among numbers, so that all rows may be moved by the same amount."""
    remark: ClassVar[str] = ""
    """What a reader of a result should know of distances under this kernel; empty if bandwidths say it all."""

    @abstractmethod
    def shifted(self, X: FloatArray, Y: FloatArray, bandwidths: FloatArray) -> FloatArray:
        """K(X, Y) minus the value of the kernel at distance zero, of shape (len(X), len(Y))."""

    @abstractmethod
    def derivative(self, X: FloatArray, Y: FloatArray, bandwidths: FloatArray, feature: int) -> FloatArray:
        """∂K(X, Y) / ∂ log θ_d for feature d, of shape (len(X), len(Y))."""

    def shifted_diagonal(self, X: FloatArray, bandwidths: FloatArray) -> FloatArray:
        """Diagonal of ``shifted(X, X)``: zero for every kernel that depends on differences."""
        return np.zeros(len(X))

    def factor(self, X: FloatArray, bandwidths: FloatArray) -> FloatArray | None:
        """Features Φ with ``shifted = Φ Φᵀ`` when there are few of them, else None."""
        return None

    def distance_to_linear(self, squared_ranges: FloatArray) -> float:
        """How far the kernel may be from the linear one, relative to it, over rows within these ranges.

        ``squared_ranges`` are ((max x_d − min x_d) / θ_d)², one per feature; infinite if the kernel has no such limit.
        """
        return math.inf

    def shifted_gram(self, X: FloatArray, bandwidths: FloatArray) -> FloatArray:
        """``shifted(X, X)``: row blocks of the upper triangle, mirrored."""
        n_samples = len(X)
        E = np.empty((n_samples, n_samples))
        for block in row_blocks(n_samples, n_samples):
            upper = self.shifted(X[block], X[block.start :], bandwidths)
            E[block, block.start :] = upper
            E[block.start :, block] = upper.T
        if self.constant_diagonal:
            np.fill_diagonal(E, 0.0)
        return E

    def weighted_gradients(
        self, X: FloatArray, Y: FloatArray, bandwidths: FloatArray, weights: Sequence[FloatArray]
    ) -> FloatArray:
        """Σ_jk W_jk ∂K(x_j, y_k)/∂ log θ_d for each weight matrix W, of shape (len(weights), n_features)."""
        gradients = np.empty((len(weights), X.shape[1]))
        for d in range(X.shape[1]):
            slope = self.derivative(X, Y, bandwidths, d)
            gradients[:, d] = [np.vdot(W, slope) for W in weights]
        return gradients

    def log_bandwidth_gradients(
        self, X: FloatArray, bandwidths: FloatArray, E: FloatArray, adjoints: Sequence[SymmetricLowRank]
    ) -> FloatArray:
        """Σ_jk G_jk ∂K_jk/∂ log θ_d for every adjoint G and feature d, of shape (len(adjoints), n_features).

        Row-blocked: the extra memory is one block, never n × n × p.
        """
        gradients = np.zeros((len(adjoints), X.shape[1]))
        for block in row_blocks(len(X), len(X)):
            rows = [adjoint.rows(block) for adjoint in adjoints]
            for d in range(X.shape[1]):
                slope = self.derivative(X[block], X, bandwidths, d)
                for i, adjoint in enumerate(adjoints):
                    gradients[i, d] += np.vdot(rows[i], slope)
                    if not self.constant_diagonal:
                        gradients[i, d] += adjoint.diagonal[block] @ np.diagonal(slope, block.start)
        return gradients


class Embedding(ABC):
    """Features of rows under an :class:`EmbeddedKernel`, detached from the rows it was made of."""

    @property
    @abstractmethod
    def n_landmarks(self) -> int:
        """Rows that the features were made of."""

    @abstractmethod
    def features(self, Z: FloatArray) -> FloatArray:
        """Features of rows divided by the bandwidths, of shape (len(Z), r)."""


class EmbeddedKernel(Kernel):
    """A kernel by which the similarity of two rows depends on all others too.

    It has no blocks and no derivatives, but an embedding of all rows. Its bandwidths are scales of the columns.
    """

    @abstractmethod
    def embed(self, X: FloatArray, rng: np.random.Generator, max_landmarks: int | None = None) -> Embedding:
        """Features for these rows, which are divided by the bandwidths already, and for new ones."""

    def shifted(self, X: FloatArray, Y: FloatArray, bandwidths: FloatArray) -> FloatArray:  # noqa: D102
        raise KFRCError(f"the {self.label} kernel depends on all rows at once: it has an embedding, but no blocks")

    def derivative(  # noqa: D102
        self, X: FloatArray, Y: FloatArray, bandwidths: FloatArray, feature: int
    ) -> FloatArray:
        raise KFRCError(
            f"the {self.label} kernel has no derivative, so that its bandwidths cannot be searched: give them"
        )


class Profile(ABC):
    """What a kernel that is a sum over columns says of one of them, as a function of Δ²/θ².

    With it the columns may be of any type: only Δ² depends on that.
    """

    @abstractmethod
    def profile(self, squared_differences: FloatArray) -> FloatArray:
        """One feature's contribution minus its value at zero, as a function of ((x − y) / θ)²."""

    @abstractmethod
    def profile_derivative(self, squared_differences: FloatArray) -> FloatArray:
        """Its derivative with respect to log θ, as a function of ((x − y) / θ)²."""

    @abstractmethod
    def polynomials_needed(self, ratio: FloatArray, tol: float) -> FloatArray:
        """How many polynomials resolve it over an interval of half-length ``ratio`` bandwidths."""


class AdditiveKernel(Kernel, Profile):
    """A kernel that is a sum over features of smooth functions of one difference each.

    Its Gram matrix has an accurate low-rank form, feature by feature. A new one implements the two profiles.
    """

    sums_over_columns: ClassVar[bool] = True

    def polynomials_needed(self, ratio: FloatArray, tol: float) -> FloatArray:
        """Of a Gaussian; a kernel that is less smooth needs more."""
        digits = math.log(1.0 / tol)
        needed: FloatArray = np.hypot(math.sqrt(2.0 * digits) * ratio, math.sqrt(0.18) * digits) + 4.0
        return needed

    def shifted(self, X: FloatArray, Y: FloatArray, bandwidths: FloatArray) -> FloatArray:  # noqa: D102
        E = np.zeros((len(X), len(Y)))
        for d, bandwidth in enumerate(bandwidths):
            E += self.profile(squared_differences(X[:, d], Y[:, d], bandwidth))
        return E

    def derivative(  # noqa: D102
        self, X: FloatArray, Y: FloatArray, bandwidths: FloatArray, feature: int
    ) -> FloatArray:
        return self.profile_derivative(squared_differences(X[:, feature], Y[:, feature], bandwidths[feature]))

    def log_bandwidth_gradients(  # noqa: D102
        self, X: FloatArray, bandwidths: FloatArray, E: FloatArray, adjoints: Sequence[SymmetricLowRank]
    ) -> FloatArray:
        # Σ G∘S = Σ_r w_r v_rᵀ S v_r + 2 qᵀ S s for S = ∂K/∂η_d: one thin product S @ [s, V…] serves all adjoints.
        n_samples, n_features = X.shape
        stacked = np.hstack([adjoints[0].measure[:, None], *(adjoint.vectors for adjoint in adjoints)])
        ends = np.cumsum([1] + [adjoint.vectors.shape[1] for adjoint in adjoints])
        gradients = np.zeros((len(adjoints), n_features))
        for block in row_blocks(n_samples, n_samples):
            for d in range(n_features):
                product = self.derivative(X[block], X, bandwidths, d) @ stacked
                for i, adjoint in enumerate(adjoints):
                    within = np.einsum("jr,jr->r", adjoint.vectors[block], product[:, ends[i] : ends[i + 1]])
                    gradients[i, d] += within @ adjoint.weights + 2.0 * (adjoint.shift[block] @ product[:, 0])
        return gradients / adjoints[0].total


def squared_differences(x: FloatArray, y: FloatArray, bandwidth: float) -> FloatArray:
    """((x_j − y_k) / θ)² for one feature, of shape (len(x), len(y))."""
    squares = np.subtract.outer(x, y)
    squares /= bandwidth
    with np.errstate(over="ignore"):  # infinitely far is far enough: kernels are bounded
        return np.square(squares, out=squares)
