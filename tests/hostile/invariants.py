"""What holds for every fit, whatever came in: promises of the docstrings, written as checks."""

from __future__ import annotations

import traceback
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import kfrc.exceptions
from hostile.attack import Broken, is_ours
from hostile.tables import Table
from kfrc import FANNY, MSFCM, VFCM

DOCUMENTED_WARNINGS = (
    ConvergenceWarning,
    *(
        kind
        for kind in vars(kfrc.exceptions).values()
        if isinstance(kind, type) and issubclass(kind, UserWarning) and kind is not UserWarning
    ),
)
OFTEN_RISES = (VFCM, MSFCM)
"""Methods whose objective may rise, as their docstrings say."""
_CHECKS = (
    *("_validation.py", "validation.py", "_param_validation.py", "_tags.py", "_set_output.py", "_indexing.py"),
    "_array_api.py",
)
"""Modules of scikit-learn that look at what a user handed over, and whose words are for users."""


class Refused(Exception):  # noqa: N818 - not an error of ours
    """The estimator refused with a documented error."""


@contextmanager
def only_documented(table: Table):
    """Errors of users become ``Refused``, any other and any undocumented warning becomes ``Broken``."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            yield
        except (ValueError, TypeError, NotFittedError) as error:
            check_error(error, table)
            refused: Exception | None = error
        else:
            refused = None
    for warning in seen:
        if not issubclass(warning.category, DOCUMENTED_WARNINGS):
            place = f"{Path(warning.filename).name}" if is_ours(warning.filename) else "a library"
            raise Broken(f"{warning.category.__name__} from {place}: {str(warning.message)[:60]}")
    if refused is not None:
        raise Refused(str(refused)) from refused


def check_error(error: Exception, table: Table) -> None:
    """An error belongs to the documented classes, was raised by a check, and says what is true."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    by_check = is_ours(last.filename) or Path(last.filename).name in _CHECKS
    if not by_check or isinstance(error, np.linalg.LinAlgError):
        raise Broken(f"{type(error).__name__} from {Path(last.filename).name}: {str(error)[:60]}") from error
    words = str(error)
    if not words.strip():
        raise Broken(f"{type(error).__name__} without words") from error
    if table.complete and not sparse.issparse(table.X) and ("NaN" in words or "infinity" in words) and "X" in words:
        raise Broken(f"says that X is incomplete, which it is not: {words[:60]}") from error


def check_fit(model: Any, n_samples: int, n_clusters: int) -> None:
    """What a fit says of its rows."""
    U, labels = model.memberships_, model.labels_
    if U.shape != (n_samples, n_clusters) or labels.shape != (n_samples,):
        raise Broken("memberships_ or labels_ have another shape")
    check_memberships(U, "memberships_")
    if not np.array_equal(labels, U.argmax(axis=1)):
        raise Broken("labels_ are not argmax of memberships_")
    if not np.isfinite(model.objective_) or not np.isfinite(model.objective_path_).all():
        raise Broken("the objective is not finite")
    if not np.isfinite(model.uniformity_):
        raise Broken("uniformity_ is not finite")
    if model.status_ not in ("converged", "max_iter", "collapsed"):
        raise Broken("status_ is none of the three")
    path = np.asarray(model.objective_path_)
    may_rise = isinstance(model, OFTEN_RISES) or (isinstance(model, FANNY) and model.metric != "sqeuclidean")
    if not may_rise and len(path) > 1 and (np.diff(path) > 1e-9 * np.abs(path).max()).any():
        raise Broken("the objective rises")
    for name in ("bandwidths_", "eigenvalues_", "contributions_", "importance_weights_"):
        value = getattr(model, name, None)
        if isinstance(value, np.ndarray) and np.isnan(value.astype(float)).any():
            raise Broken(f"{name} has NaN")
    centers = getattr(model, "cluster_centers_", None)
    known = (U[:, :1] != U).any(axis=1)  # a row of which nothing is known belongs equally to all clusters
    members = U[known].any(axis=0)
    if isinstance(centers, np.ndarray) and not np.isfinite(centers[members][:, ~_nowhere_known(model)]).all():
        raise Broken("the center of a cluster with members is not finite")


def _nowhere_known(model: Any) -> np.ndarray:
    """Columns in which no center has a value, because no row has."""
    return np.isnan(model.cluster_centers_).all(axis=0)


def check_memberships(U: np.ndarray, name: str) -> None:
    """Finite, not negative, rows that sum to one."""
    if not np.isfinite(U).all():
        raise Broken(f"{name} are not finite")
    if (U < 0).any() or (U > 1 + 1e-9).any():
        raise Broken(f"{name} are outside 0 and 1")
    if not np.allclose(U.sum(axis=1), 1.0, rtol=0, atol=1e-9):
        raise Broken(f"rows of {name} do not sum to 1")


def check_prediction(model: Any, X: Any) -> None:
    """Rows of the fit get their memberships again, as ``predict_proba`` promises; distances are finite."""
    U = model.predict_proba(X)
    check_memberships(U, "predict_proba")
    if not np.array_equal(model.predict(X), U.argmax(axis=1)):
        raise Broken("predict is not argmax of predict_proba")
    fuzziness = getattr(model.fuzzifier_, "m", 2.0)
    promised = 1e-5 if fuzziness >= 30 else 1e-6
    if isinstance(model, FANNY) and model.tol > 1e-12:
        promised = 1.0  # it stops by its objective, which is flat where memberships still move
    if model.status_ == "converged" and np.abs(U - model.memberships_).max() > max(promised, 10 * model.tol):
        raise Broken(f"{type(model).__name__}: predict_proba of the rows of the fit are not memberships_")
    distances = np.asarray(model.transform(X))
    if np.isnan(distances).any() or (distances < 0).any():
        raise Broken("transform gives NaN or negative distances")
    if np.isnan(model.score(X)):
        raise Broken("score is NaN")


def frozen_copy(X: Any) -> Any:
    """What X was, to be compared with ``same_content`` afterwards."""
    return X.copy() if hasattr(X, "copy") else [list(row) for row in X]


def same_content(before: Any, after: Any) -> bool:
    """Whether a table was left as it was."""
    if sparse.issparse(before):
        return (before != after).nnz == 0
    if isinstance(before, np.ma.MaskedArray):
        same_mask = np.array_equal(np.ma.getmaskarray(before), np.ma.getmaskarray(after))
        return same_mask and np.array_equal(before.data, after.data, equal_nan=True)
    if hasattr(before, "equals"):
        return bool(before.equals(after))
    if isinstance(before, np.ndarray) and before.dtype != object:
        return np.array_equal(before, after, equal_nan=before.dtype.kind == "f")
    return repr(before) == repr(after)
