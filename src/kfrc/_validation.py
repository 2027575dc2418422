"""The checks that public entry points run, once; the code behind them trusts its input."""

from __future__ import annotations

import numbers
import warnings
from typing import Any

import joblib
import numpy as np

from kfrc._numerics import ROW_SUM_TOL, rounding_of, symmetrize
from kfrc.exceptions import TrivialPartitionWarning
from kfrc.typing import ArrayLike, FloatArray, IntArray

MAX_NAME = 120
"""Characters of a name in a message: a question of a survey is a name of a column, and a paragraph is not read."""

_LARGEST_SPREAD = 1e140
"""Squares of differences beyond this, or below its inverse, leave no room for sums of them."""

_LARGEST_VALUE = 1e300
"""Sums of values beyond this may overflow, wherever they lie."""

_LARGEST_OFFSET = 1e150
"""Squares of the rounding of means of values beyond this may overflow, if the values are all the same."""

_ALWAYS_PROCESSES = 8
"""Processes that may be started where there are fewer processors."""

LARGEST_TOTAL = 1e20
"""No table has more rows than this, and sums of squares times it are still numbers."""

SMALLEST_TOTAL = 2.0
"""Weights count rows, and one row has neither a deviation, whose divisor is Σs − 1, nor a second one to be compared
with: weights must sum to this at least."""

LARGEST_LEVEL = 100.0
"""Every kernel has long reached its limit at bandwidths of e^100 and of e^-100 standard deviations."""


def short_name(name: object) -> str:
    """A name for a message, cut if it is long.

    Examples
    --------
    >>> from kfrc._validation import short_name
    >>> short_name("width"), len(short_name("w" * 1000))
    ('width', 121)
    """
    text = str(name)
    return text if len(text) <= MAX_NAME else f"{text[:MAX_NAME]}…"


def check_n_clusters(n_clusters: Any, n_samples: int, *, minimum: int = 2) -> int:
    """Number of clusters as an ``int`` with minimum ≤ c ≤ n."""
    if isinstance(n_clusters, bool) or not isinstance(n_clusters, numbers.Integral):
        raise TypeError(f"n_clusters must be an integer, got {n_clusters!r}")
    n_clusters = int(n_clusters)
    if n_clusters < minimum:
        raise ValueError(f"n_clusters must be at least {minimum}, got {n_clusters}")
    if n_clusters > n_samples:
        # The words "n_samples=..." are the ones scikit-learn users search for.
        raise ValueError(f"n_samples={n_samples} should be >= n_clusters={n_clusters}: use fewer clusters")
    return n_clusters


def check_clusters_for_fit(n_clusters: Any, n_samples: int) -> int:
    """Number of clusters of an estimator: one is allowed, as everywhere in scikit-learn, but said to be trivial."""
    n_clusters = check_n_clusters(n_clusters, n_samples, minimum=1)
    if n_clusters == 1:
        warnings.warn(
            "n_clusters = 1 is trivial: every membership is 1. Use at least 2 clusters",
            TrivialPartitionWarning,
            stacklevel=5,
        )
    return n_clusters


def check_n_jobs(n_jobs: Any) -> int | None:
    """How many processes work: as joblib counts them, but no more than there are processors, or eight.

    A process is started for each, whether there is work for it or not.
    """
    if n_jobs is None:
        return None
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, numbers.Integral) or n_jobs == 0:
        raise ValueError(f"n_jobs must be None or an integer other than 0 (-1: all processors), got {n_jobs!r}")
    return int(max(min(n_jobs, max(_ALWAYS_PROCESSES, joblib.effective_n_jobs(-1))), -(2**31)))


def check_positive_int(value: Any, name: str) -> int:
    """An integer of at least 1."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} must be an integer, got {value!r}")
    if value < 1:
        raise ValueError(f"{name} must be at least 1, got {value}")
    return int(value)


def check_number(value: Any, name: str, *, minimum: float, strict: bool = False) -> float:
    """A real number (not NaN) of at least, or strictly above, ``minimum``."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number, got {value!r}")
    number = float(value)
    if np.isnan(number) and np.isneginf(minimum):
        raise ValueError(f"{name} must be a number, got NaN")
    if not (number > minimum if strict else number >= minimum):
        sign = ">" if strict else ">="
        raise ValueError(f"{name} must be {sign} {minimum:g}, got {number:g}")
    return number


def check_flag(value: Any, name: str) -> bool:
    """True or False; text and numbers that pass for one of them are mistakes."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def check_estimator(estimator: Any, name: str) -> None:
    """An instance that can be cloned and fitted."""
    if isinstance(estimator, type) or not (hasattr(estimator, "fit") and hasattr(estimator, "get_params")):
        raise TypeError(f"{name} must be an estimator with fit and get_params, got {estimator!r}")


def check_level(level: Any) -> float:
    """The mean log-bandwidth in standard deviations, such that bandwidths and their squares are ordinary numbers."""
    number = check_number(level, "level", minimum=-np.inf)
    if not abs(number) <= LARGEST_LEVEL:
        raise ValueError(
            f"level must be between -{LARGEST_LEVEL:g} and {LARGEST_LEVEL:g}, got {number:g}: bandwidths are about "
            "exp(level) standard deviations"
        )
    return number


def check_sample_weight(sample_weight: Any, n_samples: int) -> FloatArray | None:
    """Weights of the rows as frequencies: weight 2 is the row twice, weight 0 is the row absent; None stays None."""
    if sample_weight is None:
        return None
    weights = _as_float(as_array(sample_weight, "sample_weight"), "sample_weight")
    if weights.ndim == 0:
        weights = np.full(n_samples, float(weights))
    if weights.ndim != 1:
        raise ValueError(f"sample_weight must be one-dimensional, got shape {weights.shape}")
    if len(weights) != n_samples:
        raise ValueError(
            f"sample_weight has {len(weights)} entries for {n_samples} rows: sample_weight.shape must fit X"
        )
    if not np.isfinite(weights).all():
        row = int((~np.isfinite(weights)).argmax())
        raise ValueError(f"sample_weight contains NaN or infinity, the first in row {row}: every row needs a weight")
    if (weights < 0).any():
        row = int((weights < 0).argmax())
        raise ValueError(
            f"sample_weight has negative values, the first, {weights[row]:g}, in row {row}: weights are >= 0"
        )
    largest = float(weights.max(initial=0.0))
    if largest > LARGEST_TOTAL:  # their sum may be no number
        raise ValueError(
            f"sample_weight reaches {largest:.3g}, but weights say how many rows a row stands for: divide them by "
            f"{largest:.1g}, and so that their mean is one, as is usual for survey weights"
        )
    if not (weights > 0).any():
        raise ValueError("sample_weight: all weights are zero, so that there are no rows at all")
    return weights


def check_unmasked(values: Any, name: str) -> Any:
    """What a masked array holds, if it hides nothing; anything else as it is. Masked means missing."""
    if not isinstance(values, np.ma.MaskedArray):
        return values
    hidden = np.argwhere(np.ma.getmaskarray(values))
    if len(hidden):
        where = ", ".join(f"{axis} {k}" for axis, k in zip(("row", "column"), hidden[0].tolist(), strict=False))
        raise ValueError(
            f"{name} has {len(hidden)} masked value(s), the first at {where}: masked means missing, as NaN does. Drop "
            "or impute missing values first"
        )
    return np.ma.getdata(values)


def as_array(values: Any, name: str) -> np.ndarray[Any, Any]:
    """``np.asarray`` that does not compute with what lies under a mask."""
    values = check_unmasked(values, name)
    try:
        return np.asarray(values)
    except ValueError:
        raise ValueError(f"{name} must have a regular shape, but its rows differ in length") from None


def check_finite(values: Any, name: str) -> FloatArray:
    """Finite numbers of any shape."""
    given = check_unmasked(values, name)
    try:
        array = np.asarray(given)
        array = array if np.iscomplexobj(array) else np.array(array, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a numeric array of regular shape") from None
    if np.iscomplexobj(array):
        raise ValueError(f"{name} is complex: complex data not supported")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} contains NaN or infinity")
    return array


def check_data(X: ArrayLike, *, min_samples: int = 2) -> FloatArray:
    """A finite float64 matrix (n_samples, n_features) for the functions that are not estimators."""
    array = as_array(X, "X")
    if array.ndim != 2:
        raise ValueError(f"X must be a table (2 dimensions), got {array.ndim} dimension(s)")
    array = _as_float(array, "X")
    if array.shape[0] < min_samples:
        raise ValueError(f"X has {array.shape[0]} row(s), at least {min_samples} are needed")
    if array.shape[1] == 0:
        raise ValueError("X has no columns")
    if not np.isfinite(array).all():
        raise ValueError(_describe_non_finite(array, "X"))
    return array


def check_sums(X: FloatArray, name: str = "X", *, largest: float = _LARGEST_VALUE) -> None:
    """Refuse values whose sums overflow, or squares of the rounding of these; NaN is not looked at."""
    found = float(np.fmax.reduce(np.abs(X), axis=None, initial=0.0))
    if found > largest:
        raise ValueError(
            f"values of {name} reach {found:.3g}, so that sums of them leave the range of floating-point numbers: "
            f"divide {name} by {found:.0e} first, or leave out the column if it is constant"
        )


def check_squares(X: FloatArray, name: str = "X") -> None:
    """Refuse rows whose sums or squared distances overflow, or all vanish; NaN is not looked at."""
    halves = 0.5 * np.fmax.reduce(X, axis=0) - 0.5 * np.fmin.reduce(X, axis=0)
    spread = 2.0 * float(np.fmax.reduce(halves, initial=0.0))
    if spread > _LARGEST_SPREAD or 0 < spread < 1 / _LARGEST_SPREAD:
        spread = min(spread, 1e308)  # the difference of the largest numbers is none
        raise ValueError(
            f"squared distances between rows of {name}, which spread over {spread:.3g}, leave the range of "
            f"floating-point numbers: divide {name} by {spread:.0e} first"
        )
    check_sums(X, name, largest=_LARGEST_OFFSET)


def check_bandwidths(bandwidths: ArrayLike, n_features: int) -> FloatArray:
    """Positive bandwidths, one per feature; a single number stands for all of them."""
    array = check_positive_numbers(bandwidths, "bandwidths")
    if array.ndim == 0:
        array = np.full(n_features, float(array))
    if array.shape != (n_features,):
        raise ValueError(f"bandwidths must have one entry per feature ({n_features}), got shape {array.shape}")
    return array


def check_positive_numbers(values: Any, name: str) -> FloatArray:
    """Numbers above zero, of any shape; infinity is one."""
    array = _as_float(as_array(values, name), name)
    if np.isnan(array).any() or (array <= 0).any():
        raise ValueError(f"{name} must be positive numbers")
    return array


def check_square(M: ArrayLike, name: str) -> FloatArray:
    """A finite, square, symmetric matrix; rounding asymmetry is averaged away."""
    array = as_array(M, name)
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        raise ValueError(f"{name} must be a square matrix (n_samples, n_samples), got shape {array.shape}")
    array = _as_float(array, name)
    if not np.isfinite(array).all():
        raise ValueError(_describe_non_finite(array, name))
    largest = float(np.abs(array).max(initial=0.0))
    if largest > _LARGEST_SPREAD**2 or 0 < largest < _LARGEST_SPREAD**-2:
        raise ValueError(
            f"entries of {name} reach {largest:.3g}, so that sums of them leave the range of floating-point numbers: "
            f"divide {name} by {largest:.0e} first"
        )
    asymmetry = float(np.abs(array - array.T).max(initial=0.0))
    if asymmetry > rounding_of(array) * largest:
        raise ValueError(
            f"{name} must be symmetric, but entries differ from their mirror image by up to {asymmetry:g}; "
            f"if that is meant, pass ({name} + {name}.T) / 2"
        )
    return symmetrize(array)


def check_dissimilarities(R: ArrayLike) -> FloatArray:
    """Symmetric, non-negative dissimilarities with a zero diagonal."""
    array = check_square(R, "R")
    rounding = rounding_of(as_array(R, "R")) * float(np.abs(array).max(initial=0.0))
    array = check_not_negative(array, rounding)
    diagonal = array.diagonal().max(initial=0.0)
    if diagonal > rounding:
        raise ValueError(
            f"R has a non-zero diagonal (largest entry {diagonal:g}): the dissimilarity of a sample to itself is 0. "
            "If R holds similarities, use KFRC(kernel='precomputed')"
        )
    np.fill_diagonal(array, 0.0)
    return array


def check_not_negative(R: FloatArray, rounding: float) -> FloatArray:
    """Dissimilarities that are not negative, of any shape; those that are by no more than ``rounding`` become zero."""
    smallest = float(R.min(initial=0.0))
    if smallest < -rounding:
        raise ValueError(
            f"R has negative entries (smallest {smallest:g}): dissimilarities are >= 0. "
            "For similarities use a kernel: KFRC(kernel='precomputed')"
        )
    return np.maximum(R, 0.0) if smallest < 0 else R


def check_membership_shape(U: np.ndarray[Any, Any], name: str, shape: tuple[int | None, int | None]) -> None:
    """Two dimensions of the expected lengths; None stands for any."""
    if U.ndim != 2:
        raise ValueError(f"{name} must be a matrix of memberships (n_samples, n_clusters), got {U.ndim} dimension(s)")
    for got, expected, what in zip(U.shape, shape, ("rows (samples)", "columns (clusters)"), strict=True):
        if expected is not None and got != expected:
            raise ValueError(f"{name} must have {expected} {what}, got shape {U.shape}")


def check_memberships(
    U: ArrayLike, name: str = "U", *, shape: tuple[int | None, int | None] = (None, None)
) -> FloatArray:
    """Memberships (n_samples, n_clusters): finite, non-negative, rows summing to one (then made exact)."""
    array = as_array(U, name)
    check_membership_shape(array, name, shape)
    array = _as_float(array, name)
    if not np.isfinite(array).all():
        raise ValueError(_describe_non_finite(array, name))
    if (array < 0).any():
        raise ValueError(f"{name} has negative memberships (smallest {array.min():g})")
    if (array > 1 + ROW_SUM_TOL).any():
        raise ValueError(f"rows of {name} must sum to 1, but one membership alone is {array.max():g}")
    sums = array.sum(axis=1, keepdims=True)
    error = float(np.abs(sums - 1).max(initial=0.0))
    if error > ROW_SUM_TOL:
        hint = "; its columns do: pass the transpose" if np.allclose(array.sum(axis=0), 1, atol=ROW_SUM_TOL) else ""
        raise ValueError(f"rows of {name} must sum to 1, but one is off by {error:g}{hint}")
    return array / sums


def check_labels(labels: ArrayLike, n_samples: int | None = None, name: str = "labels") -> IntArray:
    """Labels of any type, none of them missing, as consecutive integers from 0."""
    array = as_array(labels, name)
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {array.shape}")
    if n_samples is not None and len(array) != n_samples:
        raise ValueError(f"got {len(array)} {name} for {n_samples} samples")
    missing = np.zeros(len(array), dtype=np.bool_)
    if array.dtype.kind not in "biuUS":
        missing[:] = [_is_missing(label) for label in array]
    if missing.any():
        raise ValueError(
            f"{name} has {int(missing.sum())} missing label(s), "
            f"the first at position {int(missing.argmax())}: drop those samples first"
        )
    try:
        return np.unique(array, return_inverse=True)[1].astype(np.int64)
    except TypeError:
        raise ValueError(f"{name} mixes labels of types that cannot be compared: use one type") from None


def _is_missing(label: Any) -> bool:
    try:
        return label is None or bool(label != label)
    except (TypeError, ValueError):  # a marker such as pandas.NA, whose comparisons have no truth value
        return True


def _as_float(array: np.ndarray[Any, Any], name: str) -> FloatArray:
    if np.iscomplexobj(array):
        raise ValueError(f"{name} is complex: complex data not supported")
    try:
        return np.array(array, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"{name} must be numeric, but contains values such as {_first_text(array)!r}: drop or encode text columns "
            "first"
        ) from None


def _describe_non_finite(array: FloatArray, name: str) -> str:
    row, column = np.argwhere(~np.isfinite(array))[0]
    count = int((~np.isfinite(array)).sum())
    return (
        f"{name} contains NaN or infinity in {count} place(s), the first at row {row}, column {column}: "
        "drop or impute missing values first"
    )


def _first_text(array: np.ndarray[Any, Any]) -> Any:
    """The first value that is no number."""
    for value in array.flat:
        try:
            float(value)
        except (TypeError, ValueError):
            return value
    return array.flat[0]
