"""A table as the bandwidth search, the judge and the kernel see it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kfrc._validation import check_positive_int, find_varying_columns
from kfrc.typing import FloatArray, IntArray


@dataclass(frozen=True)
class KernelSpace:
    """Rows of X as the kernel sees them: varying columns, centered and in standard deviations."""

    columns: IntArray
    mean: FloatArray
    scale: FloatArray
    bandwidths: FloatArray

    def standardize(self, X: FloatArray) -> FloatArray:
        """The varying columns in standard units."""
        return (X[:, self.columns] - self.mean) / self.scale


@dataclass(frozen=True)
class TableView:
    """The varying columns of a table, in the units of the search and in standard units."""

    columns: IntArray
    n_columns: int
    mean: FloatArray
    scale: FloatArray
    unit: FloatArray
    searched: FloatArray
    judged: FloatArray

    @classmethod
    def of(cls, X: FloatArray, names: Any, *, standardize: bool) -> TableView:
        """The view of X; ``names`` are its columns' names, for warnings, or None."""
        columns = find_varying_columns(X, names)
        varying = X[:, columns]
        mean, scale = varying.mean(axis=0), varying.std(axis=0, ddof=1)
        judged = (varying - mean) / scale
        if standardize:
            return cls(columns, X.shape[1], mean, scale, scale, judged, judged)  # distances do not see the mean
        return cls(columns, X.shape[1], mean, scale, np.ones_like(scale), varying, judged)

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return len(self.judged)

    def subset(self, size: int, rng: np.random.Generator) -> TableView:
        """A random subset of the rows in which every column still varies, or the view itself if it is small enough."""
        size = check_positive_int(size, "selection_samples")
        if size >= self.n_samples:
            return self
        rows = np.sort(rng.choice(self.n_samples, size, replace=False))
        if (np.ptp(self.judged[rows], axis=0) <= 0).any():
            # A column that varies in few rows only: take one row of each extreme along.
            extremes = np.concatenate([self.judged.argmin(axis=0), self.judged.argmax(axis=0)])
            rows = np.union1d(rows, extremes)
        return replace(self, searched=self.searched[rows], judged=self.judged[rows])


def one_per_column(values: FloatArray, columns: IntArray, n_features: int) -> FloatArray:
    """One value per input column; a column that was left out has an infinite bandwidth."""
    full = np.full(n_features, np.inf)
    full[columns] = values
    return full
