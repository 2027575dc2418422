"""Dissimilarities R as an operator: squared distances from every sample to weighted centers (Section 3.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kfrc._validation import check_data, check_sums
from kfrc.columns import Column, Cyclic, Nominal, Schema, library_of
from kfrc.gower import gower
from kfrc.gram import DenseGram, FactoredGram, Gram, gram_family
from kfrc.kernels.path import PathKernel
from kfrc.typing import ArrayLike, FloatArray


class Dissimilarity:
    """R_jk = E_jj + E_kk − 2 E_jk for a Gram operator E, never formed.

    Every symmetric R with a zero diagonal is of this kind with E = −R/2, so matrices, kernels and feature vectors all
    go through the same three lines. A center is a weighted mean of samples, given by its weights: the column p of
    ``prototypes`` stands for v = Σ_j p_j φ_j, and

        ‖φ_j − v‖² = (R p)_j − pᵀRp / 2 = E_jj − 2 (E p)_j + pᵀEp,

    which is A_ji / 2 of the paper for p = t(u_i) / S_i.
    """

    def __init__(self, gram: Gram) -> None:
        self.gram = gram
        self.n_samples = gram.n_samples
        self._diagonal = gram.diagonal()

    @classmethod
    def from_matrix(cls, R: FloatArray, weights: FloatArray | None = None) -> Dissimilarity:
        """From a symmetric matrix with a zero diagonal, and weights of the rows."""
        return cls(DenseGram(-0.5 * R, weights=weights))

    @classmethod
    def from_features(cls, features: FloatArray, weights: FloatArray | None = None) -> Dissimilarity:
        """Squared Euclidean distances between rows, at O(n r) per center, and weights of the rows."""
        return cls(FactoredGram(features, weights=weights))

    def center_distances(self, prototypes: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Squared distances to centers and squared norms of these, see :meth:`kfrc.gram.Gram.center_distances`."""
        return self.gram.center_distances(prototypes)

    def columns(self, indices: Sequence[int]) -> FloatArray:
        """R[:, indices], of shape (n_samples, len(indices))."""
        R = self._diagonal[:, None] + self._diagonal[indices] - 2.0 * self.gram.columns(indices)
        R[indices, np.arange(len(indices))] = 0.0
        return np.maximum(R, 0.0)


def path_dissimilarities(X: ArrayLike, *, exponent: float = 4.0, neighbors: int = 15) -> FloatArray:
    """Squared distances in the feature space of the path kernel, for ``FRC(metric="precomputed")``.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Used as it is; standardize first if the columns have different units.
    exponent : float, default=4.0
        The larger, the more a path shuns long steps; ``inf`` counts the longest step only.
    neighbors : int, default=15
        Order of the neighbor whose distance is the unit at each row.

    Returns
    -------
    R : ndarray of shape (n_samples, n_samples)

    Examples
    --------
    >>> from kfrc import FRC
    >>> from kfrc.dissimilarity import path_dissimilarities
    >>> from kfrc.metrics import adjusted_rand_score
    >>> from kfrc.simulation import make_shape_dataset
    >>> rings = make_shape_dataset("rings", random_state=0)
    >>> frc = FRC(2, m=1.1, metric="precomputed", random_state=0).fit(path_dissimilarities(rings.X))
    >>> round(adjusted_rand_score(rings.labels, frc.labels_), 2)
    1.0
    """
    rows = check_data(X)
    kernel = PathKernel(exponent=exponent, neighbors=neighbors)
    gram = gram_family(rows, kernel).at(np.ones(rows.shape[1]))
    return Dissimilarity(gram).columns(range(len(rows)))


@dataclass(frozen=True, eq=False)
class GowerScale:
    """How Gower's dissimilarity compares values of every column, and over which range.

    Attributes
    ----------
    kinds : tuple of {"interval", "match", "cyclic"}
        Differences of numbers, dates and ranks of ordered levels; equality of levels without order; the way round a
        circle.
    ranges : ndarray of shape (n_columns,)
        Largest minus smallest value, or the period.
    """

    kinds: tuple[str, ...]
    ranges: FloatArray

    @classmethod
    def of(cls, columns: Sequence[Column], codes: FloatArray) -> GowerScale:
        """From the columns and the codes of the rows (n_rows, n_columns) that define the ranges."""
        kinds = tuple(_gower_kind(column) for column in columns)
        ranges = np.zeros(len(columns))
        for d, (column, kind) in enumerate(zip(columns, kinds, strict=True)):
            known = codes[~np.isnan(codes[:, d]), d]
            check_sums(known, f"column {column.title}")
            ranges[d] = len(column.levels) if kind == "cyclic" else np.ptp(known) if len(known) else 0.0
        return cls(kinds, ranges)

    def dissimilarities(self, X: FloatArray, Y: FloatArray | None) -> FloatArray:
        """Gower's dissimilarities of rows of codes, see :func:`kfrc.gower.gower`."""
        return gower(X, Y, self.kinds, self.ranges)


def _gower_kind(column: Column) -> str:
    if isinstance(column, Cyclic):
        return "cyclic"
    return "match" if isinstance(column, Nominal) else "interval"


def gower_dissimilarities(X: Any, Y: Any | None = None, *, column_types: Mapping[Any, Any] | None = None) -> FloatArray:
    """Gower's dissimilarities between rows of a table with columns of any type, for ``metric="precomputed"``.

    The dissimilarity of two rows is the mean, over the columns that are known in both, of ``|x − y| / range`` for
    numbers and dates, of the difference of ranks / their range for ordered levels, of 0 or 1 for levels without order,
    and of the way round the circle / its half for parts of dates. It is 1/2 where two rows have no known column in
    common.

    Parameters
    ----------
    X : table or array of shape (n_rows, n_columns)
        Of pandas, polars or Arrow, or an array of numbers or objects. Types, levels and ranges of the columns are those
        of these rows.
    Y : table or array of shape (n_others, n_columns), optional
        Rows to compare with, in the same columns; None stands for X. Levels that X does not have count as missing, with
        a warning, and a value outside the range of X is at most 1 away.
    column_types : mapping, optional
        By name (position, for an array): ``"numeric"``, ``"ordinal"``, ``"nominal"``, ``"date"`` or ``"drop"``, where
        the table does not say it; ``("ordinal", [levels in order])``, ``("date", "weekday")``.

    Returns
    -------
    R : ndarray of shape (n_rows, n_others)
        Between 0 and 1. If nothing is missing these are squared distances of a Euclidean space as they are, so that FRC
        and RFCM take them without squaring.

    See Also
    --------
    kfrc.gower.gower : The formula, for codes.

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc.dissimilarity import gower_dissimilarities
    >>> rows = np.array([[20, "red"], [30, "blue"], [60, None]], dtype=object)
    >>> gower_dissimilarities(rows)
    array([[0.   , 0.625, 1.   ],
           [0.625, 0.   , 0.75 ],
           [1.   , 0.75 , 0.   ]])
    """
    X, Y = _unmasked(X), None if Y is None else _unmasked(Y)
    schema = Schema.learn(X, column_types, "partial")
    codes = schema.encode(X)[:, schema.positions]
    others = None if Y is None else schema.encode(Y)[:, schema.positions]
    return GowerScale.of(schema.columns, codes).dissimilarities(codes, others)


def _unmasked(X: Any) -> Any:
    """A table as it is, or an array; what a mask hides is missing."""
    if isinstance(X, np.ma.MaskedArray):
        return np.ma.filled(X.astype(np.float64), np.nan)
    if library_of(X) is not None:
        return X
    array = np.asarray(X)
    if array.ndim != 2:
        raise ValueError(f"X must be a table (2 dimensions), got {array.ndim} dimension(s)")
    return array
