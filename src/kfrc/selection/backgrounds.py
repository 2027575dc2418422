"""Columns described without clusters, and how much clusters gain in each: what sets of columns are compared by."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.csgraph import connected_components

from kfrc.columns import Table
from kfrc.mixtures import RIDGE, Parts, resolution
from kfrc.mixtures.mixed import log_marginals
from kfrc.typing import BoolArray, FloatArray, IntArray

_LEAST_SIZE = 1e-10
"""Rows in a cluster below which its mean is that of nothing."""


class Descriptions(ABC):
    """Simple descriptions of the columns of one table."""

    @abstractmethod
    def gains(self, posterior: FloatArray) -> FloatArray:
        """Log-likelihood that clusters gain in each column, less the price of their parameters, (n_features,)."""

    @abstractmethod
    def without_clusters(self, seen: IntArray) -> tuple[FloatArray, int]:
        """Evidence, row by row, of the columns that are not seen, and how many parameters it has paid for."""


class PlainDescriptions(Descriptions):
    """Of complete numbers.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    dependent : ndarray of bool of shape (n_features, n_features)
        Which columns depend on each other.
    """

    def __init__(self, X: FloatArray, dependent: BoolArray) -> None:
        self.X = X
        self._dependent = dependent
        # As finely as mixtures model the columns, so that a value that many rows share speaks for neither.
        self._floors = resolution(X)

    def gains(self, posterior: FloatArray) -> FloatArray:
        """Log-likelihood that different means of the clusters gain in each column, less half its price in BIC."""
        n_samples, n_clusters = posterior.shape
        sizes = np.maximum(posterior.sum(axis=0), _LEAST_SIZE)
        means = (posterior.T @ self.X) / sizes[:, None]
        between = (sizes[:, None] * means**2).sum(axis=0) / np.square(self.X).sum(axis=0)
        unexplained = np.maximum(1.0 - between, RIDGE)
        return -0.5 * n_samples * np.log(unexplained) - 0.5 * (n_clusters - 1) * math.log(n_samples)

    def without_clusters(self, seen: IntArray) -> tuple[FloatArray, int]:
        """Columns that hang together by a joint Gaussian, alone or given those that are seen, or independent ones."""
        rest = np.setdiff1d(np.arange(self.X.shape[1]), seen)
        rows, n_parameters = np.zeros(len(self.X)), 0
        if not len(rest):
            return rows, n_parameters
        _, member = connected_components(self._dependent[np.ix_(rest, rest)], directed=False)
        for k in range(member.max() + 1):
            group = rest[member == k]
            tied_to = seen[self._dependent[np.ix_(group, seen)].any(axis=0)]
            sets = [given for given in (tied_to[:0], tied_to) if 1 < len(given) + len(group) < 0.5 * len(self.X)]
            Y, floors = self.X[:, group], self._floors[group]
            options = [_independent(Y, floors), *(_joint(Y, self.X[:, given], floors) for given in sets)]
            log_densities, paid = max(options, key=lambda option: _bic(*option))
            rows += log_densities - 0.5 * paid * math.log(len(self.X)) / len(self.X)
            n_parameters += paid
        return rows, n_parameters


class TableDescriptions(Descriptions):
    """Of columns of any type, each by itself: a Gaussian for numbers, shares for levels; blanks say nothing.

    Parameters
    ----------
    table : Table
    """

    def __init__(self, table: Table) -> None:
        self.table = table
        self._parts = Parts(table)

    def gains(self, posterior: FloatArray) -> FloatArray:
        """Of different means, or of shares of the levels that are unknown in each cluster instead of once."""
        table, n_clusters = self.table, posterior.shape[1]
        W = posterior * table.mass[:, None]
        half_log = 0.5 * math.log(table.total)
        gains = np.empty(table.shape[1])
        for d in table.measured.tolist():
            known = table.observed[:, d]
            x, w = table.values[known, d], W[known]
            sizes = np.maximum(w.sum(axis=0), _LEAST_SIZE)
            total, mean = float(w.sum()), float(w.sum(axis=1) @ x) / float(w.sum())
            between = float(sizes @ np.square((w.T @ x) / sizes - mean))
            unexplained = max(1.0 - between / float(w.sum(axis=1) @ np.square(x - mean)), RIDGE)
            gains[d] = -0.5 * total * math.log(unexplained) - half_log * (n_clusters - 1)
        for d, counts, overall in zip(
            table.discrete.tolist(), self._parts.level_counts(W), self._parts.overall, strict=True
        ):
            apart = float(log_marginals(counts, overall).sum())
            gains[d] = apart - float(log_marginals(counts.sum(axis=0, keepdims=True), overall)[0])
        return gains

    def without_clusters(self, seen: IntArray) -> tuple[FloatArray, int]:
        """Columns independent of each other."""
        table, parts = self.table, self._parts
        rows, n_parameters = np.zeros(len(table)), 0
        rest = set(range(table.shape[1])) - set(seen.tolist())
        for d in sorted(rest & set(table.measured.tolist())):
            known = table.observed[:, d]
            x, s = table.values[known, d], table.mass[known]
            mean = s @ x / s.sum()
            variance = s @ np.square(x - mean) / s.sum() + RIDGE
            rows[known] -= 0.5 * (np.square(x - mean) / variance + math.log(2.0 * math.pi * variance))
            n_parameters += 2
        levels = 0.0
        everything = parts.level_counts(table.mass[:, None])
        for d, (codes, _), overall, counts in zip(
            table.discrete.tolist(), parts.levels, parts.overall, everything, strict=True
        ):
            if d in rest:
                log_shares = np.log(np.where(overall > 0, overall, 1.0))
                rows += np.append(log_shares, 0.0)[codes]
                levels += float(counts[0] @ log_shares) - float(log_marginals(counts, overall)[0])
        price = 0.5 * n_parameters * math.log(table.total) + levels
        return table.mass * (rows - price / table.total), n_parameters


def _bic(log_densities: FloatArray, n_parameters: int) -> float:
    return float(log_densities.sum()) - 0.5 * n_parameters * math.log(len(log_densities))


def _independent(X: FloatArray, floors: FloatArray) -> tuple[FloatArray, int]:
    """Log-densities of rows with independent Gaussian columns, and the number of parameters."""
    variances = X.var(axis=0) + floors
    rows = -0.5 * (np.square(X - X.mean(axis=0)) / variances + np.log(2.0 * math.pi * variances)).sum(axis=1)
    return rows, 2 * X.shape[1]


def _joint(X: FloatArray, given: FloatArray, floors: FloatArray) -> tuple[FloatArray, int]:
    """Log-densities of rows with jointly Gaussian columns, a linear function of other columns, and the parameters."""
    (n_samples, n_features), design = X.shape, np.column_stack([np.ones(len(X)), given])
    residuals = X - design @ np.linalg.lstsq(design, X, rcond=None)[0]
    factor = cho_factor(residuals.T @ residuals / n_samples + np.diag(floors), lower=True)
    distances = np.einsum("jd,dj->j", residuals, cho_solve(factor, residuals.T))
    log_volume = float(np.log(np.diagonal(factor[0])).sum())
    n_parameters = n_features * design.shape[1] + n_features * (n_features + 1) // 2
    return -0.5 * (distances + n_features * math.log(2.0 * math.pi)) - log_volume, n_parameters
