"""Rows as a fitted method compares them: their Gram matrix, and what the columns contribute to a partition."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from kfrc._numerics import check_memory, row_blocks
from kfrc.columns import Numeric, Table
from kfrc.contributions import cluster_contributions
from kfrc.dissimilarity import Dissimilarity, GowerScale
from kfrc.fuzzifiers import Fuzzifier
from kfrc.gram import DenseGram, Gram, gram_family
from kfrc.kernels.linear import Linear
from kfrc.typing import FloatArray, IntArray

_LOST = 1e-10
"""Spread of a column beside the widest, below which its squares are lost in rounding."""


class RowSpace(ABC):
    """The space in which a fitted method sees rows, which need not be all those of the fit."""

    @abstractmethod
    def gram(self) -> Gram:
        """E with R_jk = E_jj + E_kk − 2 E_jk for the dissimilarities R of these rows."""

    def distances(self) -> FloatArray:
        """Distances between the rows as a user of the method knows them, of shape (n_rows, n_rows), not squared."""
        gram = self.gram()
        return np.sqrt(Dissimilarity(gram).columns(range(gram.n_samples)))

    def cluster_contributions(self, memberships: FloatArray, fuzzifier: Fuzzifier) -> FloatArray | None:
        """Shares of clusters and columns, see :func:`kfrc.contributions.cluster_contributions`.

        Parameters
        ----------
        memberships : ndarray of shape (n_rows, n_clusters)
            Of these rows.
        fuzzifier : Fuzzifier

        Returns
        -------
        ndarray of shape (n_clusters, n_features) or None
            None if there are no columns.
        """
        return None


@dataclass(frozen=True, eq=False)
class KernelSpaceOf(RowSpace):
    """The space of a Gram matrix whose shares, if it has columns, are known already."""

    found: Gram
    shares: FloatArray | None = None

    def gram(self) -> Gram:
        return self.found

    def cluster_contributions(self, memberships: FloatArray, fuzzifier: Fuzzifier) -> FloatArray | None:
        return self.shares


@dataclass(frozen=True, eq=False)
class PointSpace(RowSpace):
    """Squared Euclidean distances, over what is known; the shares are exact.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features)
        NaN where nothing is known.
    weights : ndarray of shape (n_rows,) or None
    """

    X: FloatArray
    weights: FloatArray | None = None

    def gram(self) -> Gram:
        if not np.isnan(self.X).any():
            return Dissimilarity.from_features(self.X, self.weights).gram
        table, used = self._table()
        return gram_family(table, Linear()).at(np.ones(len(used)))

    def cluster_contributions(self, memberships: FloatArray, fuzzifier: Fuzzifier) -> FloatArray:
        shares = np.zeros((memberships.shape[1], self.X.shape[1]))
        if self.weights is None and not np.isnan(self.X).any():
            spreads = np.ptp(self.X, axis=0)
            used = np.flatnonzero(spreads >= _LOST * spreads.max())
            rows: FloatArray | Table = self.X[:, used]
        else:
            rows, used = self._table()
        shares[:, used] = cluster_contributions(rows, Linear(), np.ones(len(used)), memberships, fuzzifier)
        return shares

    def _table(self) -> tuple[Table, IntArray]:
        """The columns of which something is known, about a value among them, and their positions."""
        used = np.flatnonzero(~np.isnan(self.X).all(axis=0))
        values = self.X[:, used]
        values = np.ascontiguousarray(values - np.nanmin(values, axis=0))
        return Table(values, tuple(Numeric(str(d)) for d in used.tolist()), self.weights), used


@dataclass(frozen=True, eq=False)
class MatrixSpace(RowSpace):
    """Dissimilarities between the rows.

    Attributes
    ----------
    matrix : callable
        Returns R of shape (n_rows, n_rows); called only if it is needed.
    weights : ndarray of shape (n_rows,) or None
    columns : RowSpace or None
        Whose shares stand in, because R is no sum over columns; None if there are no columns.
    """

    matrix: Callable[[], FloatArray]
    weights: FloatArray | None = None
    columns: RowSpace | None = None

    def gram(self) -> Gram:
        return DenseGram(-0.5 * self.matrix(), weights=self.weights)

    def distances(self) -> FloatArray:
        """The dissimilarities as they are: whether they are squares is known to the user only."""
        return self.matrix()

    def cluster_contributions(self, memberships: FloatArray, fuzzifier: Fuzzifier) -> FloatArray | None:
        return None if self.columns is None else self.columns.cluster_contributions(memberships, fuzzifier)


@dataclass(frozen=True, eq=False)
class GowerSpace(RowSpace):
    """Gower's dissimilarities, a mean over columns: the shares are exact where nothing is missing.

    Attributes
    ----------
    codes : ndarray of shape (n_rows, n_columns)
        Of the columns that are used; NaN where nothing is known.
    scale : GowerScale
    positions : ndarray of shape (n_columns,)
        Of these columns among all.
    n_features : int
    weights : ndarray of shape (n_rows,) or None
    """

    codes: FloatArray
    scale: GowerScale
    positions: IntArray
    n_features: int
    weights: FloatArray | None = None

    def gram(self) -> Gram:
        return DenseGram(-0.5 * self.distances(), weights=self.weights)

    def distances(self) -> FloatArray:
        return self.scale.dissimilarities(self.codes, None)

    def cluster_contributions(self, memberships: FloatArray, fuzzifier: Fuzzifier) -> FloatArray:
        counts = fuzzifier.value(memberships)
        counts = counts if self.weights is None else counts * self.weights[:, None]
        shares = np.zeros((memberships.shape[1], self.n_features))
        for d, position in enumerate(self.positions.tolist()):
            known = ~np.isnan(self.codes[:, d])
            if known.any():
                shares[:, position] = self._scatter(d, self.codes[known, d], counts[known])
        total = float(shares.sum())
        if total > 0:
            return shares / total
        shares[:, self.positions] = 1.0 / (len(shares) * len(self.positions))  # nothing is explained
        return shares

    def _scatter(self, d: int, codes: FloatArray, counts: FloatArray) -> FloatArray:
        """S_i ‖v_i − v‖² of column d: −S_i aᵀR a / 2 with a the weights of a center minus those of the common one."""
        values, places = np.unique(codes, return_inverse=True)
        of_values = np.zeros((len(values), counts.shape[1]))
        np.add.at(of_values, places, counts)
        masses = of_values.sum(axis=0)
        common = of_values.sum(axis=1) / of_values.sum()
        apart = np.where(masses > 0, of_values / np.where(masses > 0, masses, 1.0) - common[:, None], 0.0)
        alone = GowerScale((self.scale.kinds[d],), self.scale.ranges[[d]])
        products = np.zeros(counts.shape[1])
        for rows in row_blocks(len(values), len(values)):
            R = alone.dissimilarities(values[rows, None], values[:, None])
            products += np.einsum("ji,ji->i", apart[rows], R @ apart)
        return np.maximum(-0.5 * masses * products, 0.0)


@dataclass(frozen=True, eq=False)
class GaussianMixtureSpace(RowSpace):
    """A sum of Gaussian kernels of the distance; the shares are those of the squared distances.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features)
    sigmas, coefficients : ndarray of shape (n_kernels,)
    weights : ndarray of shape (n_rows,) or None
    """

    X: FloatArray
    sigmas: FloatArray
    coefficients: FloatArray
    weights: FloatArray | None = None

    def gram(self) -> Gram:
        n_rows = len(self.X)
        check_memory(24 * n_rows**2, f"the {n_rows} x {n_rows} Gram matrix", "fewer rows")
        squares = cdist(self.X, self.X, "sqeuclidean")
        E = np.zeros_like(squares)
        for sigma, coefficient in zip(self.sigmas, self.coefficients, strict=True):
            E += coefficient * np.expm1(squares / (-2.0 * sigma**2))
        return DenseGram(E, weights=self.weights)

    def cluster_contributions(self, memberships: FloatArray, fuzzifier: Fuzzifier) -> FloatArray:
        return PointSpace(self.X, self.weights).cluster_contributions(memberships, fuzzifier)
