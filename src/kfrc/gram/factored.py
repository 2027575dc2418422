"""A Gram matrix E = ΦΦᵀ known by few features Φ: products cost O(n r), never O(n²)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kfrc._distances import distances_of_lifted, lift, squared_distances
from kfrc._numerics import known_means, row_blocks
from kfrc._validation import check_squares
from kfrc.gram.base import Gram, GramFamily
from kfrc.gram.centers import Centers
from kfrc.kernels import Kernel, Profile, SymmetricLowRank
from kfrc.kernels.linear import Linear
from kfrc.typing import FloatArray

_NO_MATRIX = np.empty((0, 0))
_BLOCK_ELEMENTS = 1 << 19
"""Elements of a feature block (4 MiB): the r × r products need longer blocks than elementwise work."""


class FeatureGram(Gram):
    """Base of the Gram matrices that have centered features; everything is a pass or two over row blocks of them."""

    @property
    @abstractmethod
    def rank(self) -> int:
        """Number of features r."""

    @abstractmethod
    def blocks(self) -> Iterator[tuple[slice, FloatArray]]:
        """Row blocks of the centered features, of shape (n_block, r)."""

    def feature_blocks(self) -> Iterator[tuple[slice, FloatArray]]:  # noqa: D102
        return self.blocks()

    def matmul(self, V: FloatArray) -> FloatArray:  # noqa: D102
        inner = self.project(V)
        product = np.empty((self.n_samples, *V.shape[1:]))
        for rows, features in self.blocks():
            np.matmul(features, inner, out=product[rows])
        return product

    def project(self, V: FloatArray) -> FloatArray:
        """Φᵀ V."""
        inner = np.zeros((self.rank, *V.shape[1:]))
        for rows, features in self.blocks():
            inner += features.T @ V[rows]
        return inner

    def diagonal(self) -> FloatArray:  # noqa: D102
        return self.centered_diagonal.copy()

    def row_means(self) -> FloatArray:  # noqa: D102
        return np.zeros(self.n_samples)

    @cached_property
    def centered_diagonal(self) -> FloatArray:  # noqa: D102
        diagonal = np.empty(self.n_samples)
        for rows, features in self.blocks():
            np.einsum("jr,jr->j", features, features, out=diagonal[rows])
        return diagonal

    def columns(self, indices: Sequence[int]) -> FloatArray:  # noqa: D102
        wanted = np.asarray(indices)
        chosen = np.empty((len(wanted), self.rank))
        for rows, features in self.blocks():
            inside = (wanted >= rows.start) & (wanted < rows.stop)
            chosen[inside] = features[wanted[inside] - rows.start]
        columns = np.empty((self.n_samples, len(wanted)))
        for rows, features in self.blocks():
            np.matmul(features, chosen.T, out=columns[rows])
        return columns


class FactoredGram(FeatureGram):
    """Gram matrix of explicit features.

    Parameters
    ----------
    features : ndarray of shape (n_samples, r)
        Φ. They are centered here once, which changes no centered quantity. One that is NaN does not count for its
        sample: distances, and centers, are sums and means over what is known, as those of :class:`ColumnGram` are.
    family : FactoredGrams, optional
    bandwidths : ndarray of shape (n_features,), optional
    weights : ndarray of shape (n_samples,), optional
        How many rows each row stands for.
    """

    def __init__(
        self,
        features: FloatArray,
        family: FactoredGrams | None = None,
        bandwidths: FloatArray | None = None,
        weights: FloatArray | None = None,
    ) -> None:
        check_squares(features, "X" if family is None else "X / bandwidths")
        self.n_samples = len(features)
        self.weights = weights
        incomplete = bool(np.isnan(features).any())
        self.origin = known_means(features, weights) if incomplete else self.mean(features)
        self._Z = lift(features - self.origin, incomplete=incomplete)
        self._features = self._Z[: len(self.origin)].T
        self._known = self._Z[len(self.origin) + 1 :].T if incomplete else None
        self._family = family
        self._bandwidths = bandwidths

    @property
    def rank(self) -> int:  # noqa: D102
        return self._features.shape[1]

    def blocks(self) -> Iterator[tuple[slice, FloatArray]]:  # noqa: D102
        for rows in row_blocks(self.n_samples, self.rank, _BLOCK_ELEMENTS):
            yield rows, self._features[rows]

    @cached_property
    def feature_totals(self) -> FloatArray | None:  # noqa: D102
        if self._known is None:
            return None
        totals: FloatArray = self._known.sum(axis=0) if self.weights is None else self.weights @ self._known
        return np.where(totals > 0, totals, 1.0)

    def locations(self, prototypes: FloatArray) -> FloatArray:
        """Centers relative to ``origin``, of shape (k, r): means over the samples in which a feature is known.

        Zero, which is the mean of all samples, where no sample of a center knows a feature.
        """
        # One by one: the same to the last digit in any order of the centers. A row may be as near to one as that digit.
        weights = np.ascontiguousarray(prototypes.T)
        sums = np.array([of_center @ self._features for of_center in weights])
        if self._known is None:
            return sums
        masses = weights @ self._known
        return np.where(masses > 0, sums / np.where(masses > 0, masses, 1.0), 0.0)

    def center_distances(self, prototypes: FloatArray) -> tuple[FloatArray, FloatArray]:  # noqa: D102
        # Features of the user can have values of 10⁸ in one row: inner products alone would drown all others.
        locations = self.locations(prototypes)
        distances = np.empty((self.n_samples, len(locations)))
        for rows in row_blocks(self.n_samples, len(self._Z) + 2 * len(locations)):
            distances[rows] = distances_of_lifted(self._Z[:, rows], locations).T
        return distances, np.einsum("ir,ir->i", locations, locations)

    def columns(self, indices: Sequence[int]) -> FloatArray:
        """E[:, indices] such that E_jj + E_kk − 2 E_jk is the squared distance of sample j to a center at sample k."""
        columns = super().columns(indices)
        if self._known is None:
            return columns
        # Σ_d o_jd φ_kd² in place of ‖φ_k‖².
        chosen = np.asarray(indices)
        return columns + 0.5 * (self.centered_diagonal[chosen] - self._known @ np.square(self._features[chosen]).T)

    def log_bandwidth_gradients(self, adjoints: Sequence[SymmetricLowRank]) -> FloatArray:  # noqa: D102
        family, bandwidths = self._origin()
        totals = self.feature_totals
        if totals is None:
            return family.kernel.log_bandwidth_gradients(family.X, bandwidths, _NO_MATRIX, adjoints)
        # The linear kernel: λ = Σ_d (Φ_dᵀw)² / S_d, D_j = Σ_d φ_jd², and every Φ_d is inversely proportional to θ_d.
        Z = self._features
        return np.array(
            [-2.0 * (a.weights @ (a.vectors.T @ Z) ** 2 / totals + a.diagonal @ np.square(Z)) for a in adjoints]
        )

    def centers(self, prototypes: FloatArray) -> Centers:  # noqa: D102
        family, bandwidths = self._origin()
        return FeatureCenters(family.kernel, bandwidths, self.origin, self.locations(prototypes))

    def _origin(self) -> tuple[FactoredGrams, FloatArray]:
        if self._family is None or self._bandwidths is None:
            raise ValueError("given features know neither kernel nor bandwidths")
        return self._family, self._bandwidths


class FactoredGrams(GramFamily):
    """Gram matrices of a kernel that is a short inner product, such as the linear one.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        With NaN where nothing is known, for the linear kernel only.
    kernel : Kernel
    weights : ndarray of shape (n_samples,), optional
        How many rows each row stands for.
    """

    def __init__(self, X: FloatArray, kernel: Kernel, weights: FloatArray | None = None) -> None:
        self.X = X
        self.kernel = kernel
        self.weights = weights
        self.n_samples, self.n_features = X.shape

    @cached_property
    def is_plain(self) -> bool:
        """Whether features are the columns of X divided by the bandwidths, all of them known, and rows count once."""
        return isinstance(self.kernel, Linear) and self.weights is None and not np.isnan(self.X).any()

    @cached_property
    def centered(self) -> FloatArray:
        """The rows of X less their mean."""
        return self.X - self.X.mean(axis=0)

    @cached_property
    def centered_squares(self) -> FloatArray:
        """Squares of ``centered``."""
        return np.square(self.centered)

    def at(self, bandwidths: FloatArray) -> FactoredGram:  # noqa: D102
        features = self.kernel.factor(self.X, bandwidths)
        if features is None:
            raise ValueError(f"the {self.kernel.label} kernel has no short feature vectors")
        return FactoredGram(features, self, bandwidths, self.weights)


class LinearLimit:
    """The linear kernel of some rows, for bandwidths so large that another kernel is no different from it."""

    def __init__(self, X: FloatArray, kernel: Kernel) -> None:
        self._kernel = kernel
        self._ranges = np.ptp(X, axis=0)
        self._linear = FactoredGrams(X, Linear())

    def at(self, bandwidths: FloatArray, tol: float) -> FactoredGrams | None:
        """Its Gram matrices, if the kernel agrees with it to ``tol`` over the range of the rows, else None."""
        with np.errstate(over="ignore"):
            distance = self._kernel.distance_to_linear(np.square(self._ranges / bandwidths))
        return self._linear if distance <= tol else None


@dataclass(frozen=True)
class FeatureCenters(Centers):
    """Centers with coordinates, relative to a point among the samples: O(r) per new row."""

    kernel: Kernel
    bandwidths: FloatArray
    origin: FloatArray
    locations: FloatArray

    def squared_distances(self, Z: FloatArray) -> FloatArray:  # noqa: D102
        features = self.kernel.factor(Z, self.bandwidths)
        if features is None:
            raise ValueError(f"the {self.kernel.label} kernel has no short feature vectors")
        return squared_distances(features - self.origin, self.locations)

    def for_blanks(self) -> Centers:  # noqa: D102
        # A column of a kernel that is a sum over columns is a feature of its own.
        return self if isinstance(self.kernel, Profile) else super().for_blanks()


def squared_euclidean(A: FloatArray, B: FloatArray) -> FloatArray:
    """‖a_j − b_i‖² for few rows b, relative to one in their midst: no cancellation far from zero."""
    origin = np.median(B, axis=0)
    return squared_distances(A - origin, B - origin)
