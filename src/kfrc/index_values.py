"""The indices of one partition, measured in a space that is the same for every number of clusters."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from kfrc.dissimilarity import gower_dissimilarities
from kfrc.metrics import (
    fuzzy_silhouette_score,
    modified_partition_coefficient,
    partition_coefficient,
    partition_entropy,
    xie_beni_index,
)
from kfrc.typing import FloatArray, IntArray

EUCLIDEAN, GOWER, PRECOMPUTED, AUTO = "euclidean", "gower", "precomputed", "auto"

MAX_SILHOUETTE_ROWS = 2000
"""Silhouettes and Gower's dissimilarities compare all pairs of rows; beyond this many a sample stands for all."""


def no_values() -> dict[str, float]:
    """Every index of one partition, none of them known."""
    return dict.fromkeys(("PC", "MPC", "PE", "XB", "fuzzy silhouette"), np.nan)


@dataclass(frozen=True, eq=False)
class Geometry:
    """What Xie-Beni index and silhouettes are measured in, the same for every number of clusters.

    Attributes
    ----------
    space : ndarray of shape (n_samples, n_features), or (n_rows, n_rows) if precomputed
        Numbers of all rows, or dissimilarities between ``rows``.
    rows : ndarray of shape (n_rows,)
        Rows that silhouettes are of.
    precomputed : bool
    weights : ndarray of shape (n_samples,) or None
    """

    space: FloatArray
    rows: IntArray
    precomputed: bool
    weights: FloatArray | None

    @classmethod
    def of(
        cls,
        base: Any,
        data: Any,
        metric: str,
        standardize: bool | str,
        weights: FloatArray | None,
        *,
        is_table: bool,
        pairwise: bool,
    ) -> Geometry:
        """The space of a table or of a matrix of all pairs; see :func:`kfrc.indices` for ``metric``."""
        n_samples = _num_samples(data)
        rows = np.arange(n_samples)
        if n_samples > MAX_SILHOUETTE_ROWS:
            rows = np.sort(np.random.default_rng(0).choice(n_samples, MAX_SILHOUETTE_ROWS, replace=False))
        if pairwise:
            matrix = np.asarray(data, dtype=np.float64)
            if matrix.shape[0] != matrix.shape[1]:
                raise ValueError(f"dissimilarities must be square, got shape {matrix.shape}")
            return cls(_as_dissimilarities(matrix[np.ix_(rows, rows)]), rows, True, weights)
        if metric == GOWER or is_table:
            if metric == EUCLIDEAN:
                raise ValueError('metric="euclidean" needs complete numbers: use metric="gower" for such a table')
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the fits name what is left out
                types = getattr(base, "column_types", None)
                matrix = gower_dissimilarities(_safe_indexing(data, rows), column_types=types)
            return cls(matrix, rows, True, weights)
        if standardize == AUTO:
            standardize = bool(getattr(base, "standardize", False))
        return cls(_standardized(data, weights) if standardize else data, rows, False, weights)

    def values(self, U: FloatArray, *, collapsed: bool) -> dict[str, float]:
        """The indices of one partition."""
        found = no_values()
        found["PC"] = partition_coefficient(U, sample_weight=self.weights)
        found["PE"] = partition_entropy(U, sample_weight=self.weights)
        if U.shape[1] < 2:
            return found
        found["MPC"] = modified_partition_coefficient(U, sample_weight=self.weights)
        if collapsed:
            return found
        counted = None if self.weights is None else self.weights[self.rows]
        try:
            if self.precomputed:
                found["XB"] = xie_beni_index(self.space, U[self.rows], metric=PRECOMPUTED, sample_weight=counted)
            else:
                found["XB"] = xie_beni_index(self.space, U, sample_weight=self.weights)
            places = self.space if self.precomputed else self.space[self.rows]
            name = PRECOMPUTED if self.precomputed else EUCLIDEAN
            found["fuzzy silhouette"] = fuzzy_silhouette_score(places, U[self.rows], metric=name, sample_weight=counted)
        except ValueError:  # an empty cluster has no mean; one cluster that holds every row has no silhouette
            pass
        return {name: value if np.isfinite(value) else np.nan for name, value in found.items()}


def _as_dissimilarities(matrix: FloatArray) -> FloatArray:
    """Dissimilarities as they are; a kernel, whose diagonal is not zero, becomes the squared distances it implies."""
    diagonal = np.diagonal(matrix)
    if not diagonal.any():
        return matrix
    return np.maximum(diagonal[:, None] + diagonal - matrix - matrix.T, 0.0)


def _standardized(data: FloatArray, weights: FloatArray | None) -> FloatArray:
    """Columns that vary, with mean zero and standard deviation one."""
    # By a power of two each, which changes no digit: then squares are numbers, whatever the unit.
    data = np.ldexp(data, -np.frexp(np.abs(data).max(axis=0))[1])
    mean = np.average(data, axis=0, weights=weights)
    deviation = np.sqrt(np.average((data - mean) ** 2, axis=0, weights=weights))
    varying = deviation > 0
    return (data[:, varying] - mean[varying]) / deviation[varying]
