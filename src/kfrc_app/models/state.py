"""Whether what was fitted is whole: a model that was loaded is tried on rows made up from what it knows of columns.

Attributes that are missing, of another type or shape, or hold NaN show up there rather than in a table of results.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from kfrc.clusterers import FuzzyClusterer
from kfrc.exceptions import KFRCError
from kfrc.typing import FloatArray
from kfrc_app.models.errors import ModelError
from kfrc_app.models.shapes import problem_of_parts

_N_ROWS = 8
"""Rows that a model is tried on; more if a column has more levels."""

_SUM_TOL = 1e-6
"""By how much memberships of a row may miss one."""

_MAX_COLUMNS = 1_000_000
_STATED = ("n_clusters_", "n_clusters")


def check_state(model: FuzzyClusterer) -> None:
    """Stop if a model is not whole.

    Parameters
    ----------
    model : FuzzyClusterer

    Raises
    ------
    ModelError
        The message goes on behind the name of the file.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            problem = _problem(model)
    except Exception as error:  # whatever is missing in it fails where it is needed
        problem = (str(error).splitlines() or [type(error).__name__])[0]
    if problem is not None:
        raise ModelError(
            f"holds a model that is not whole ({problem}): use the model.skops that `kfrc fit` wrote, or fit it again"
        )


def predicted_memberships(model: FuzzyClusterer, rows: Any) -> FloatArray:
    """Memberships of new rows that fit into memory.

    Parameters
    ----------
    model : FuzzyClusterer
    rows : table or ndarray of shape (n_rows, n_features)

    Returns
    -------
    U : ndarray of shape (n_rows, n_clusters)

    Raises
    ------
    ModelError
        If what comes out are no memberships, which a table of results must never hold.
    """
    try:
        memberships = model.predict_proba(rows)
    except (AttributeError, TypeError, LookupError, ArithmeticError, np.linalg.LinAlgError) as error:
        problem: str | None = (str(error).splitlines() or [type(error).__name__])[0]
    else:
        problem = _problem_of(memberships, (len(rows), model._n_features_out))
    if problem is not None:
        raise ModelError(f"the model cannot place these rows ({problem}): fit it again")
    return memberships


def _problem(model: Any) -> str | None:
    check_is_fitted(model)
    n_features, n_clusters = model.n_features_in_, model.memberships_.shape[1]
    if not isinstance(n_features, int) or not 0 < n_features <= _MAX_COLUMNS:
        return f"it has {n_features!r} columns"
    names = getattr(model, "feature_names_in_", None)
    if names is not None and (np.shape(names) != (n_features,) or not all(isinstance(name, str) for name in names)):
        return "names of columns are missing"
    for attribute in _STATED:
        stated = getattr(model, attribute, n_clusters)
        if isinstance(stated, int) and stated != n_clusters:
            return f"it has memberships in {n_clusters} clusters, and {stated} clusters"
    if isinstance(model.memberships_, np.ndarray):
        problem = _problem_of(model.memberships_, (len(model.memberships_), n_clusters))
        if problem is not None:
            return problem
    kinds = getattr(model, "column_types_", None)
    if isinstance(kinds, dict) and kinds and len(kinds) != n_features:
        return f"it has {n_features} columns, and types of {len(kinds)}"
    others = isinstance(kinds, dict) and {*kinds.values()} > {"numeric"}
    if others and (getattr(model, "schema_", True) is None or getattr(_space(model), "types", True) is None):
        return "types of columns are missing"
    if getattr(model, "metric", None) == "precomputed" and len(model.memberships_) != n_features:
        return f"it has memberships of {len(model.memberships_)} rows, and dissimilarities to {n_features}"
    problem = problem_of_parts(model, n_features, n_clusters)
    if problem is not None:
        return problem
    rows = _made_up_rows(model, n_features, names)
    try:
        return _problem_of(model.predict_proba(rows), (len(rows), n_clusters)) or _problem_of_distances(
            model.transform(rows), (len(rows), n_clusters)
        )
    except KFRCError:
        return None  # what a method says of rows that no table has, or of all new rows


def _space(model: Any) -> Any:
    return getattr(model, "space_", None)


def _problem_of(memberships: Any, shape: tuple[int, ...]) -> str | None:
    if not isinstance(memberships, np.ndarray) or memberships.dtype.kind != "f" or memberships.shape != shape:
        return "memberships are no table of rows and clusters"
    if not np.isfinite(memberships).all():
        return "memberships are not numbers"
    if np.abs(memberships.sum(axis=1) - 1).max(initial=0) > _SUM_TOL or memberships.min(initial=0) < -_SUM_TOL:
        return "memberships do not sum to one"
    return None


def _problem_of_distances(distances: Any, shape: tuple[int, ...]) -> str | None:
    """Distances to centers of clusters that nobody belongs to are infinite."""
    if not isinstance(distances, np.ndarray) or distances.shape != shape or not (distances >= 0).all():
        return "distances to centers are not numbers"
    return None


def _made_up_rows(model: Any, n_features: int, names: Any) -> Any:
    """Rows of the columns that a model knows, in their types."""
    schema = getattr(model, "schema_", None) or getattr(getattr(model, "_relation", None), "schema", None)
    schema = schema or getattr(getattr(getattr(model, "_centers", None), "relation", None), "schema", None)
    if schema is None:
        values: FloatArray = np.linspace(-1.0, 1.0, _N_ROWS)[:, None] * np.linspace(1.0, 2.0, n_features)
        values = np.abs(values) if getattr(model, "metric", None) == "precomputed" else values
        return values if names is None else pd.DataFrame(values, columns=names)
    columns = dict(zip(schema.positions.tolist(), schema.columns, strict=True))
    n_rows = max(_N_ROWS, *(len(column.levels) for column in columns.values()))
    made_up = {title: _made_up_values(columns.get(position), n_rows) for position, title in enumerate(schema.titles)}
    frame = pd.DataFrame(made_up)
    return frame if names is not None else frame.to_numpy(dtype=object)


def _made_up_values(column: Any, n_rows: int) -> Any:
    if column is None or not (column.levels or column.name in ("date", "cyclic")):
        return np.linspace(-1.0, 1.0, n_rows)
    if column.name in ("date", "cyclic"):
        return pd.date_range("2000-01-01", periods=n_rows, freq="37h")
    levels = column.levels[:-1] if column.blank else column.levels
    return pd.Series([levels[k % len(levels)] for k in range(n_rows)], dtype=object)
