"""Rows as numbers, for methods that compute with nothing else; whatever is none is refused with what takes it."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from kfrc._numerics import where_squares_overflow
from kfrc._validation import check_unmasked
from kfrc.columns import library_of, raw_columns, refuse_repeated_titles, titles_of_times
from kfrc.sources import as_source
from kfrc.typing import FloatArray


def numbers_of(estimator: Any, X: Any, *, reset: bool, allow_nan: bool) -> FloatArray:
    """Rows of a fit (``reset``), or new ones that are checked against it.

    Parameters
    ----------
    estimator : BaseEstimator
        Is told the columns of a fit.
    X : array-like of shape (n_rows, n_features)
    reset : bool
    allow_nan : bool
        Whether blanks are NaN; otherwise they are refused.
    """
    if as_source(X) is not None:
        raise TypeError(
            f"{type(estimator).__name__} needs all rows in memory here: KFRC, FCM, and FRC with metric='sqeuclidean' "
            "take sources of rows that need not fit"
        )
    refuse_repeated_titles(X)
    for title in titles_of_times(X):  # what number they are depends on the library: nanoseconds, days, ...
        raise ValueError(_describe_others(estimator, _holds_times(title)))
    if allow_nan and isinstance(X, np.ma.MaskedArray):
        X = np.ma.filled(X.astype(np.float64), np.nan)
    try:
        with where_squares_overflow():  # scikit-learn sums all values to see whether one is infinite
            values: FloatArray = validate_data(
                estimator,
                check_unmasked(X, "X"),
                dtype=np.float64,
                order="C",  # what is summed along which axis must not depend on how a table is kept
                reset=reset,
                ensure_min_samples=2 if reset else 1,
                ensure_all_finite="allow-nan",
            )
    except (ValueError, TypeError) as error:
        reason = _not_numbers(X, error)
        if reason is None:
            raise
        raise ValueError(_describe_others(estimator, reason)) from None
    if not allow_nan and np.isnan(values).any():
        raise ValueError(_describe_missing(estimator, values))
    return values


def _not_numbers(X: Any, error: Exception) -> str | None:
    """Why values could not be made numbers, None if an error says something else."""
    if "could not convert string to float" in str(error):
        return str(error)
    if isinstance(error, TypeError) and "argument must be" in str(error) and library_of(X) is not None:
        times = (column.title for column in raw_columns(X) if column.kind == "date" or column.converted)
        return next(map(_holds_times, times), str(error))
    return None


def _holds_times(title: Any) -> str:
    return f"column {title!r} holds dates, times or durations"


def _describe_others(estimator: Any, reason: str) -> str:
    return (
        f"{reason}: {type(estimator).__name__} needs numbers here. KFRC takes tables of pandas, polars or Arrow with "
        'text and dates (or arrays with column_types), FRC, RFCM, NERFCM and FANNY do so with metric="gower"'
    )


def _describe_missing(estimator: Any, values: FloatArray) -> str:
    row, column = np.argwhere(np.isnan(values))[0]
    name = getattr(estimator, "feature_names_in_", range(values.shape[1]))[column]
    return (
        f"X contains NaN in {int(np.isnan(values).sum())} place(s), the first at row {row}, column {name}: "
        f"{type(estimator).__name__} needs complete rows here. KFRC, FCM, and FRC with metric='sqeuclidean' use what "
        "is known of incomplete ones (missing='partial'); or drop or impute missing values first"
    )
