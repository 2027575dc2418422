"""Tables of any kind as numbers: arrays as they are, columns of other types as codes that a schema explains."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array, validate_data

from kfrc.columns import MISSING, Schema, library_of, raw_columns, refuse_repeated_titles, titles_of
from kfrc.typing import FloatArray


@dataclass(frozen=True, eq=False)
class Reading:
    """Rows that were read.

    Attributes
    ----------
    values : ndarray of shape (n_samples, n_columns)
        Numbers, or codes of levels; NaN where nothing is known.
    schema : Schema or None
        What the columns are; None if all are numbers and nothing is missing.
    """

    values: FloatArray
    schema: Schema | None

    def column_types(self, estimator: Any) -> dict[Any, str]:
        """The type of every column, by its name or its position."""
        if self.schema is not None:
            return self.schema.types()
        names = getattr(estimator, "feature_names_in_", range(self.values.shape[1]))
        return dict.fromkeys(names, "numeric")


def read_rows(estimator: Any, X: Any, types: Mapping[Any, Any] | None, missing: str) -> Reading:
    """The rows of a fit.

    Parameters
    ----------
    estimator : BaseEstimator
        Gets ``n_features_in_`` and, if there are names, ``feature_names_in_``.
    X : array-like or table
    types : mapping or None
        ``column_types`` of the estimator.
    missing : {"partial", "level", "error"}
    """
    if missing not in MISSING:
        raise ValueError(f'missing must be "partial", "level" or "error", got {missing!r}')
    if types is not None and not isinstance(types, Mapping):
        raise TypeError(f"column_types must map names of columns to types, got {types!r}")
    refuse_repeated_titles(X)
    if types or _has_other_types(X):
        note_columns(estimator, X, reset=True)
        if len(X) < 2:
            raise ValueError(f"X has {len(X)} row(s), at least 2 are needed")
        schema = Schema.learn(X, types, missing)
        values = schema.encode(X)
    else:
        values = _numbers(estimator, X, reset=True, finite=missing == "error")
        if not np.isnan(values).any():
            return Reading(values, None)
        schema = numeric_schema(estimator, values, missing)
    if missing == "error":
        complaint = schema.describe_blanks(values)
        if complaint is not None:
            raise ValueError(f'{complaint}. Fill them in, or use missing="partial", which compares what is known')
    return Reading(values, schema)


def read_new_rows(estimator: Any, X: Any, schema: Schema | None, missing: str) -> FloatArray:
    """New rows as numbers or codes, checked against the columns that were fitted."""
    if schema is None or not (_has_other_types(X) or any(column.discrete for column in schema.columns)):
        return _numbers(estimator, X, reset=False, finite=missing == "error")
    note_columns(estimator, X, reset=False)
    codes = schema.encode(X)
    complaint = schema.describe_blanks(codes) if missing == "error" else None
    if complaint is not None:
        raise ValueError(f'{complaint}. The model was made with missing="error"')
    return codes


def numeric_schema(estimator: Any, values: FloatArray, missing: str = "partial") -> Schema:
    """The schema of columns that are all numbers."""
    return Schema.learn(values, None, missing, titles=getattr(estimator, "feature_names_in_", None))


def _has_other_types(X: Any) -> bool:
    """Whether a table has columns that are no numbers."""
    return library_of(X) is not None and any(c.kind != "numeric" or c.converted for c in raw_columns(X))


def note_columns(estimator: Any, X: Any, *, reset: bool) -> None:
    """Names and number of the columns, as scikit-learn keeps them; it does not know all kinds of tables."""
    if library_of(X) == "pyarrow":
        titles = titles_of(X)
        if reset:
            estimator.n_features_in_ = len(titles)
            estimator.feature_names_in_ = np.array(titles, dtype=object)
        elif titles != list(estimator.feature_names_in_):
            raise ValueError(
                "The feature names should match those that were passed during fit: "
                f"{list(estimator.feature_names_in_)}, got {titles}"
            )
        return
    refuse_repeated_titles(X)
    validate_data(estimator, X, reset=reset, skip_check_array=True)


def _numbers(estimator: Any, X: Any, *, reset: bool, finite: bool) -> FloatArray:
    """An array of numbers, possibly with NaN; a masked value is a missing one."""
    values: FloatArray
    if library_of(X) != "pyarrow":
        values = estimator._numbers(X, reset=reset, allow_nan=not finite)
        return values
    note_columns(estimator, X, reset=reset)
    with np.errstate(over="ignore", invalid="ignore"):  # scikit-learn sums all values
        values = check_array(
            np.column_stack([column.values for column in raw_columns(X)]),
            dtype=np.float64,
            ensure_min_samples=2 if reset else 1,
            ensure_all_finite=True if finite else "allow-nan",
        )
    return values
