"""How a relational method compares rows: by a given matrix, by a metric of numbers, or column by column (Gower)."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise_distances
from sklearn.metrics.pairwise import cosine_distances

from kfrc._numerics import check_memory, clear_rounding, rounding_of
from kfrc._validation import check_dissimilarities, check_not_negative, check_squares
from kfrc.clusterers._row_spaces import GowerSpace, MatrixSpace, PointSpace, RowSpace
from kfrc.clusterers._rows import MergedRows, check_frequencies
from kfrc.clusterers._tables import note_columns
from kfrc.columns import Schema, library_of
from kfrc.columns.variation import Scales, find_varying_columns
from kfrc.dissimilarity import Dissimilarity, GowerScale
from kfrc.exceptions import MissingRowWarning
from kfrc.relational import RelationalSolution
from kfrc.typing import FloatArray, IntArray

GOWER = "gower"
PRECOMPUTED = "precomputed"

PARTIAL = "partial"
"""The value of ``missing`` that compares rows by what is known of both."""

_SHOWN = 10  # rows in a message

_SUMS_OF_DIFFERENCES = (
    *("euclidean", "l2", "sqeuclidean", "manhattan", "cityblock", "l1", "chebyshev", "minkowski", "nan_euclidean"),
)
"""Metrics to which a column counts by its unit."""


class RelationCenters(ABC):
    """Centers of the clusters of a fit, as far as new rows need them."""

    @abstractmethod
    def squared_distances(self, new: FloatArray) -> FloatArray:
        """Of new rows, as numbers, to the centers, of shape (n_new, n_clusters); zero if nothing is known of a row."""

    @property
    def points(self) -> FloatArray | None:
        """The centers (n_clusters, n_features), if they are points of the space of the rows."""
        return None


@dataclass(frozen=True, eq=False)
class Relation(ABC):
    """How rows are compared. ``read`` returns one that knows the columns, ``learned`` one that knows the rows.

    Attributes
    ----------
    rows : ndarray of shape (n_merged, k) or None
        The rows of the fit, merged.
    weights : ndarray of shape (n_merged,) or None
        How many rows each stands for; None if one.
    """

    merges: ClassVar[bool] = True
    """Whether equal rows may be merged."""

    rows: FloatArray | None = None
    weights: FloatArray | None = None

    @abstractmethod
    def read(self, estimator: Any, X: Any) -> tuple[Self, FloatArray]:
        """The rows of a fit as numbers (n_rows, k), and the relation that reads new ones."""

    @abstractmethod
    def read_new(self, estimator: Any, X: Any) -> FloatArray:
        """New rows as numbers, checked against the columns that were fitted."""

    def learned(self, rows: MergedRows, names: Any = None) -> Self:
        """The relation with the rows of a fit; ``names`` are those of its columns, for messages."""
        return replace(self, rows=rows.values, weights=rows.weights)

    @abstractmethod
    def dissimilarity(self) -> Dissimilarity:
        """R of the rows of the fit."""

    @abstractmethod
    def space(self, estimator: Any, X: Any, weights: FloatArray | None) -> RowSpace:
        """The space in which a fitted estimator sees rows, or all pairs of rows of a matrix."""

    def scales(self, rows: MergedRows) -> Scales | None:
        """How far the columns of the rows spread, if the units of columns decide how much they count."""
        return None

    def placing(self) -> Self:
        """The relation with no more than new rows need."""
        return self

    @abstractmethod
    def centers(self, solution: RelationalSolution) -> RelationCenters:
        """The centers that a solution found."""


@dataclass(frozen=True, eq=False)
class MatrixRelation(Relation):
    """A relation that needs all pairs of rows."""

    @abstractmethod
    def matrix(self) -> FloatArray:
        """Dissimilarities between the rows of the fit, of shape (n_merged, n_merged)."""

    @abstractmethod
    def between(self, new: FloatArray) -> FloatArray:
        """Dissimilarities of new rows to the rows of the fit, of shape (n_new, n_merged)."""

    def dissimilarity(self) -> Dissimilarity:
        return Dissimilarity.from_matrix(self.matrix(), self.weights)

    def centers(self, solution: RelationalSolution) -> MatrixCenters:
        return MatrixCenters(self.placing(), solution.prototypes, solution.squared_norms)


@dataclass(frozen=True, eq=False)
class MatrixCenters(RelationCenters):
    """Centers as weights of the rows of the fit: d_i = (R p_i) − p_iᵀRp_i / 2.

    Attributes
    ----------
    relation : MatrixRelation
    prototypes : ndarray of shape (n_merged, n_clusters)
    squared_norms : ndarray of shape (n_clusters,)
        −pᵀRp / 2; infinite for an empty cluster.
    """

    relation: MatrixRelation
    prototypes: FloatArray
    squared_norms: FloatArray

    def between(self, new: FloatArray) -> FloatArray:
        """Dissimilarities of new rows to those of the fit, as the fit would see them."""
        return self.relation.between(new)

    def raw_distances(self, new: FloatArray) -> FloatArray:
        """The squared distances, negative where the relation is not Euclidean."""
        distances = self.between(new) @ self.prototypes + self.squared_norms
        distances = clear_rounding(distances, 0.0, self.squared_norms)
        distances[blank_rows(new)] = 0.0
        return distances

    def squared_distances(self, new: FloatArray) -> FloatArray:
        return np.maximum(self.raw_distances(new), 0.0)


@dataclass(frozen=True, eq=False)
class GivenMatrix(MatrixRelation):
    """Dissimilarities that the user has computed; rows without weight are left out of the matrix.

    Attributes
    ----------
    kept : ndarray of shape (n_merged,) or None
        Which columns of the matrix are left.
    rounding : float
        How far below zero a dissimilarity may be by rounding.
    """

    merges: ClassVar[bool] = False
    kept: IntArray | None = None
    rounding: float = 0.0

    def read(self, estimator: Any, X: Any) -> tuple[Self, FloatArray]:
        given = estimator._table(X)
        R = check_dissimilarities(given)
        return replace(self, rounding=rounding_of(given) * float(R.max())), R

    def read_new(self, estimator: Any, X: Any) -> FloatArray:
        new = estimator._rows(X)
        return check_not_negative(new, max(self.rounding, rounding_of(new) * float(np.abs(new).max())))

    def learned(self, rows: MergedRows, names: Any = None) -> Self:
        return replace(self, rows=rows.values, weights=rows.weights, kept=rows.first)

    def space(self, estimator: Any, X: Any, weights: FloatArray | None) -> RowSpace:
        R = check_dissimilarities(np.asarray(X, dtype=np.float64))
        return MatrixSpace(lambda: R, weights)

    def placing(self) -> Self:
        return replace(self, rows=None)

    def matrix(self) -> FloatArray:
        assert self.rows is not None
        return self.between(self.rows)

    def between(self, new: FloatArray) -> FloatArray:
        return new if self.kept is None or len(self.kept) == new.shape[1] else new[:, self.kept]


@dataclass(frozen=True, eq=False)
class Metric(MatrixRelation):
    """A metric of :func:`sklearn.metrics.pairwise_distances` on numbers.

    Attributes
    ----------
    metric : str or callable
    params : mapping or None
        Further arguments of the metric.
    remedy : str
        What to use where the matrix does not fit into memory.
    """

    metric: Any = "euclidean"
    params: Mapping[str, Any] | None = None
    remedy: str = "fewer rows"

    def read(self, estimator: Any, X: Any) -> tuple[Self, FloatArray]:
        return self, estimator._table(X)

    def read_new(self, estimator: Any, X: Any) -> FloatArray:
        return estimator._rows(X)

    def learned(self, rows: MergedRows, names: Any = None) -> Self:
        find_varying_columns(rows.values, names)
        return super().learned(rows)

    def scales(self, rows: MergedRows) -> Scales | None:
        counts_units = isinstance(self.metric, str) and self.metric in _SUMS_OF_DIFFERENCES
        return rows.scales() if counts_units and "w" not in (self.params or {}) else None

    def space(self, estimator: Any, X: Any, weights: FloatArray | None) -> RowSpace:
        rows = self.read_new(estimator, X)
        return MatrixSpace(replace(self, rows=rows).matrix, weights, PointSpace(rows, weights))

    def matrix(self) -> FloatArray:
        assert self.rows is not None
        n_rows = len(self.rows)
        check_memory(16 * n_rows**2, f"the {n_rows} x {n_rows} dissimilarity matrix", self.remedy)
        with np.errstate(all="ignore"):  # what comes of it is looked at
            R = self.between(self.rows)
        undefined = ~np.isfinite(R)
        if undefined.any():
            n_rows = int(undefined.any(axis=1).sum())
            raise ValueError(
                f"metric={self.metric!r} gives no finite dissimilarity for {n_rows} row(s) of X:"
                " their values are too large for it, or it is not defined for them, as angles are not for rows of zeros"
            )
        return check_dissimilarities(R)

    def between(self, new: FloatArray) -> FloatArray:
        assert self.rows is not None
        if isinstance(self.metric, str) and self.metric in ("euclidean", "sqeuclidean") and not self.params:
            check_squares(self.rows)
            return cdist(new, self.rows, self.metric)  # by differences: no digits lost, unlike inner products
        if isinstance(self.metric, str) and self.metric == "cosine" and not self.params:
            return _angular_distances(new, self.rows)
        R = pairwise_distances(new, self.rows, metric=self.metric, **(self.params or {}))
        return check_not_negative(R, rounding_of(R) * float(np.abs(R).max()))


def _angular_distances(new: FloatArray, rows: FloatArray) -> FloatArray:
    """One minus the cosine of the angle; a row of zeros is at 1 from all others, and at 0 from itself."""
    fitted = _of_ordinary_length(rows)
    R: FloatArray = cosine_distances(fitted if new is rows else _of_ordinary_length(new), fitted)
    R[np.ix_(~new.any(axis=1), ~rows.any(axis=1))] = 0.0
    return R


def _of_ordinary_length(rows: FloatArray) -> FloatArray:
    """Rows times powers of two, which change no digit and no angle, so that their squares can be summed."""
    return np.ldexp(rows, -np.frexp(np.abs(rows).max(axis=1, keepdims=True))[1])


@dataclass(frozen=True, eq=False)
class Gower(MatrixRelation):
    """Gower's mean difference over the columns that two rows have in common, for columns of any type.

    Attributes
    ----------
    column_types : mapping or None
        Types that the user gives.
    allows_missing : bool
        Whether columns in which one of two rows is blank are left out of their mean; otherwise blanks are refused.
    remedy : str
        What to use where the matrix does not fit into memory.
    schema : Schema or None
        The columns.
    scale : GowerScale or None
        How values of each column are compared, with its range over the rows of the fit.
    """

    column_types: Mapping[Any, Any] | None = None
    allows_missing: bool = True
    remedy: str = "fewer rows"
    schema: Schema | None = None
    scale: GowerScale | None = None

    def read(self, estimator: Any, X: Any) -> tuple[Self, FloatArray]:
        if self.column_types is not None and not isinstance(self.column_types, Mapping):
            raise TypeError(f"column_types must map names of columns to types, got {self.column_types!r}")
        table = _typed(estimator, X, reset=True)
        if len(table) < 2:
            raise ValueError(f"X has {len(table)} row(s), at least 2 are needed")
        schema = Schema.learn(table, self.column_types, "partial")
        estimator.column_types_ = schema.types()
        return replace(self, schema=schema), self._codes(schema, table)

    def read_new(self, estimator: Any, X: Any) -> FloatArray:
        assert self.schema is not None
        return self._codes(self.schema, _typed(estimator, X, reset=False))

    def _codes(self, schema: Schema, table: Any) -> FloatArray:
        """Codes of the columns that are used; refused if something is missing and may not be."""
        codes = schema.encode(table)
        complaint = None if self.allows_missing else schema.describe_blanks(codes)
        if complaint is not None:
            raise ValueError(f'{complaint}. Fill them in, or use missing="partial", which compares what is known')
        return codes[:, schema.positions]

    def learned(self, rows: MergedRows, names: Any = None) -> Self:
        assert self.schema is not None
        columns = self.schema.columns
        find_varying_columns(rows.values, [column.title for column in columns])
        return replace(super().learned(rows), scale=GowerScale.of(columns, rows.values))

    def space(self, estimator: Any, X: Any, weights: FloatArray | None) -> RowSpace:
        assert self.schema is not None
        assert self.scale is not None
        codes = self.read_new(estimator, X)
        return GowerSpace(codes, self.scale, self.schema.positions, int(estimator.n_features_in_), weights)

    def matrix(self) -> FloatArray:
        assert self.rows is not None
        assert self.scale is not None
        n_rows = len(self.rows)
        check_memory(24 * n_rows**2, f"the {n_rows} x {n_rows} dissimilarity matrix", self.remedy)
        return check_dissimilarities(self.scale.dissimilarities(self.rows, None))

    def between(self, new: FloatArray) -> FloatArray:
        assert self.rows is not None
        assert self.scale is not None
        return self.scale.dissimilarities(new, self.rows)


def _typed(estimator: Any, X: Any, *, reset: bool) -> Any:
    """What has columns of any type: a table, an array of objects, or else numbers; its columns are noted or checked."""
    if library_of(X) is None:
        array = X if isinstance(X, np.ma.MaskedArray) or hasattr(X, "toarray") else np.asarray(X)
        if getattr(array, "ndim", 0) != 2 or array.dtype.kind not in "OUM":
            return estimator._numbers(X, reset=reset, allow_nan=True)
        X = array.astype(object) if array.dtype.kind == "U" else array
    note_columns(estimator, X, reset=reset)
    return X


def resolve_relation(
    metric: Any,
    params: Mapping[str, Any] | None,
    column_types: Mapping[Any, Any] | None,
    *,
    remedy: str,
    allows_missing: bool = True,
) -> MatrixRelation:
    """The relation that the parameters of an estimator ask for."""
    if params is not None and not isinstance(params, Mapping):
        raise TypeError(f"metric_params must map names of arguments of the metric to values, got {params!r}")
    gower = isinstance(metric, str) and metric == GOWER
    if column_types is not None and not gower:
        raise ValueError(f'column_types is for metric="gower"; metric={metric!r} compares rows of numbers')
    if params and isinstance(metric, str) and metric in (GOWER, PRECOMPUTED):
        raise ValueError(f'metric="{metric}" has no metric_params, got {sorted(params)}')
    if gower:
        return Gower(column_types=column_types, allows_missing=allows_missing, remedy=remedy)
    if isinstance(metric, str) and metric == PRECOMPUTED:
        return GivenMatrix()
    return Metric(metric=metric, params=params, remedy=remedy)


def check_missing(missing: Any) -> None:
    """The parameter ``missing`` of an estimator: blanks are compared by what is known, or refused."""
    if missing not in (PARTIAL, "error"):
        raise ValueError(f'missing must be "partial" or "error", got {missing!r}')


def blank_rows(rows: FloatArray) -> IntArray:
    """Positions of rows of which nothing is known."""
    return np.flatnonzero(np.isnan(rows).all(axis=1))


def leave_out_blank_rows(rows: FloatArray, sample_weight: Any) -> Any:
    """The weights, zero for rows of which nothing is known; these are named in a warning.

    Called from ``fit``, which scikit-learn's callback decorator wraps: hence the stack level.
    """
    blank = blank_rows(rows)
    if len(blank) == 0:
        return sample_weight
    if len(rows) - len(blank) < 2:
        raise ValueError(f"something is known of {len(rows) - len(blank)} row(s) only, at least 2 are needed")
    warn_of_blank_rows(blank, stacklevel=4)
    weights = check_frequencies(sample_weight, len(rows))
    weights = np.ones(len(rows)) if weights is None else weights.copy()
    weights[blank] = 0.0
    return weights


def warn_of_blank_rows(positions: IntArray, *, stacklevel: int) -> None:
    """Name the rows of which nothing is known."""
    if len(positions) == 0:
        return
    shown = ", ".join(str(row) for row in positions[:_SHOWN].tolist())
    more = f" and {len(positions) - _SHOWN} more" if len(positions) > _SHOWN else ""
    warnings.warn(
        f"nothing is known of {len(positions)} row(s), so that they belong equally to all clusters: row {shown}{more}",
        MissingRowWarning,
        stacklevel=stacklevel,
    )
