"""Mixtures of one table for all kinds and starts: arrays of complete numbers, and tables of any type."""

from __future__ import annotations

import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from scipy.linalg import solve_triangular
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from kfrc.columns import Table
from kfrc.gram import places_of
from kfrc.mixtures import (
    MixedMixture,
    Mixture,
    MixtureFit,
    MixtureKind,
    PartialMixture,
    Parts,
    Tied,
    TiedDiagonal,
    fit_mixed,
    fit_mixture,
    resolution,
)
from kfrc.mixtures.mixed import price_of_levels
from kfrc.typing import FloatArray

LEVELS = "levels"
"""What a mixture of a table without numbers is called."""


class Fits(ABC):
    """Mixtures of one table."""

    revisions: ClassVar[int] = 0
    """Times that all kinds begin once more from the best of them."""

    @abstractmethod
    def estimable(self, kinds: Sequence[MixtureKind], n_clusters: int) -> list[MixtureKind]:
        """Kinds that the rows can tell."""

    @abstractmethod
    def own_partitions(self, n_clusters: int, n_partitions: int) -> list[FloatArray]:
        """Partitions that the judge adds to those it is given."""

    @abstractmethod
    def first_step(self, U: FloatArray, kind: MixtureKind) -> tuple[float, FloatArray]:
        """Log-likelihood and posterior after one step from a partition."""

    @abstractmethod
    def converged(self, U: FloatArray, kind: MixtureKind, max_iter: int, tol: float) -> MixtureFit:
        """Where expectation-maximization from a partition ends."""

    @abstractmethod
    def n_parameters(self, kind: MixtureKind, n_clusters: int) -> int:
        """Free parameters that are paid for by their number."""

    @abstractmethod
    def row_evidence(self, fit: MixtureFit, n_parameters: int) -> FloatArray:
        """Log-densities less the price of the parameters in equal shares, of shape (n_samples,)."""

    def name(self, kind: MixtureKind) -> str:
        """What a mixture of this kind is called."""
        return kind.name


class PlainFits(Fits):
    """Mixtures of complete numbers."""

    def __init__(self, X: FloatArray) -> None:
        self.X = X
        self._shape = X.shape[0], X.shape[1]
        self.ridge = resolution(X)

    def estimable(self, kinds: Sequence[MixtureKind], n_clusters: int) -> list[MixtureKind]:
        return [kind for kind in kinds if kind.covariance.is_estimable(*self._shape, n_clusters)]

    def own_partitions(self, n_clusters: int, n_partitions: int) -> list[FloatArray]:
        # Too few rows to tell correlations are not sphered.
        if not Tied().is_estimable(*self._shape):
            return []
        return sphered_partitions(self.X, n_clusters, n_partitions, self.ridge)

    def first_step(self, U: FloatArray, kind: MixtureKind) -> tuple[float, FloatArray]:
        step = Mixture.from_memberships(self.X, U, kind, ridge=self.ridge).expectation(self.X)
        return step.log_likelihood, step.posterior

    def converged(self, U: FloatArray, kind: MixtureKind, max_iter: int, tol: float) -> MixtureFit:
        return fit_mixture(self.X, U, kind, ridge=self.ridge, max_iter=max_iter, tol=tol)

    def n_parameters(self, kind: MixtureKind, n_clusters: int) -> int:
        return kind.n_parameters(n_clusters, self.X.shape[1])

    def row_evidence(self, fit: MixtureFit, n_parameters: int) -> FloatArray:
        return fit.expectation.log_densities - 0.5 * math.log(len(self.X)) * n_parameters / len(self.X)


class TableFits(Fits):
    """Mixtures of a table of any type: numbers as above, with blanks integrated out, times shares of levels."""

    revisions: ClassVar[int] = 3

    def __init__(self, table: Table) -> None:
        self.table = table
        self.parts = Parts(table)

    def estimable(self, kinds: Sequence[MixtureKind], n_clusters: int) -> list[MixtureKind]:
        n_numbers = self.parts.numbers.shape[1]
        if n_numbers == 0:
            return [MixtureKind(TiedDiagonal())]  # levels have one kind only
        n_samples = int(min(self.table.total, len(self.table)))
        return [
            kind
            for kind in kinds
            if kind.covariance.is_estimable(n_samples, n_numbers, n_clusters)
            and (self.parts.complete or PartialMixture.can_be(kind))
        ]

    def own_partitions(self, n_clusters: int, n_partitions: int) -> list[FloatArray]:
        numbers, s = self.parts.numbers, self.table.weights
        filled = np.where(np.isnan(numbers), 0.0, numbers)  # the mean of a column in standard units
        found = _k_means_partitions(places_of(self.table), n_clusters, n_partitions, s)
        if numbers.shape[1] >= 2 and Tied().is_estimable(len(self.table), numbers.shape[1]):
            found += sphered_partitions(filled, n_clusters, n_partitions, self.parts.ridge, s)
        return found

    def first_step(self, U: FloatArray, kind: MixtureKind) -> tuple[float, FloatArray]:
        step = MixedMixture.from_memberships(self.parts, U, kind).expectation(self.parts)
        return float(self.table.mass @ step.log_densities), step.posterior

    def converged(self, U: FloatArray, kind: MixtureKind, max_iter: int, tol: float) -> MixtureFit:
        return fit_mixed(self.table, U, kind, max_iter=max_iter, tol=tol, parts=self.parts)

    def n_parameters(self, kind: MixtureKind, n_clusters: int) -> int:
        return kind.n_parameters(n_clusters, self.parts.numbers.shape[1])

    def row_evidence(self, fit: MixtureFit, n_parameters: int) -> FloatArray:
        total = self.table.total
        price = 0.5 * math.log(total) * n_parameters + price_of_levels(self.parts, fit.expectation.posterior)
        return self.table.mass * (fit.expectation.log_densities - price / total)

    def name(self, kind: MixtureKind) -> str:
        return kind.name if self.parts.numbers.shape[1] else LEVELS


def sphered_partitions(
    X: FloatArray, n_clusters: int, n_partitions: int, ridge: FloatArray, weights: FloatArray | None = None
) -> list[FloatArray]:
    """Memberships by k-means on columns made uncorrelated with variance one, each from another seed.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Columns with mean zero.
    n_clusters : int
    n_partitions : int
    ridge : ndarray of shape (n_features,)
        Added to the variances.
    weights : ndarray of shape (n_samples,), optional
        How many rows each row stands for.

    Returns
    -------
    list of ndarray of shape (n_samples, n_clusters)
        Without those that left a cluster empty; clusters are numbered by their first rows.
    """
    if n_partitions == 0:
        return []
    moments = X.T @ X / len(X) if weights is None else (X * weights[:, None]).T @ X / weights.sum()
    factor = np.linalg.cholesky(moments + np.diag(ridge))
    Z = solve_triangular(factor, X.T, lower=True).T
    return _k_means_partitions(Z, n_clusters, n_partitions, weights)


def _k_means_partitions(
    Z: FloatArray, n_clusters: int, n_partitions: int, weights: FloatArray | None
) -> list[FloatArray]:
    """Memberships by k-means, each from another seed, without those that left a cluster empty."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct rows than clusters: left out below
        labels = [
            KMeans(n_clusters, n_init=1, random_state=seed).fit(Z, sample_weight=weights).labels_
            for seed in range(n_partitions)
        ]
    firsts = [np.unique(found, return_index=True)[1] for found in labels]
    # Clusters in the order of their first rows: the column of a cluster is its rank.
    return [
        np.eye(n_clusters)[np.argsort(np.argsort(first))[found]]
        for first, found in zip(firsts, labels, strict=True)
        if len(first) == n_clusters
    ]
