"""The checks that every metric runs on a partition, given as labels or as memberships."""

from __future__ import annotations

import numpy as np

from kfrc._validation import SMALLEST_TOTAL, as_array, check_labels, check_memberships, check_sample_weight
from kfrc.typing import ArrayLike, FloatArray, IntArray


def check_fuzzy_partition(U: ArrayLike, name: str = "U", *, min_clusters: int = 1) -> FloatArray:
    """Memberships (n_samples, n_clusters) with at least one sample and ``min_clusters`` columns."""
    array = as_array(U, name)
    if array.size == 0:
        raise ValueError(f"{name} is empty (shape {array.shape}): at least one sample is needed")
    memberships = check_memberships(array, name)
    if memberships.shape[1] < min_clusters:
        raise ValueError(
            f"{name} has {memberships.shape[1]} column(s), but the index is defined for at least "
            f"{min_clusters} clusters"
        )
    return memberships


def check_memberships_pair(
    first: ArrayLike, second: ArrayLike, names: tuple[str, str], sample_weight: ArrayLike | None = None
) -> tuple[FloatArray, FloatArray, FloatArray | None]:
    """Two partitions of the rows that are present as memberships, and the weights of these rows.

    Labels become zeros and ones.
    """
    pair, weights = _check_pair(first, second, names, sample_weight)
    one, two = (np.asarray(_one_hot(part) if part.ndim == 1 else part, dtype=np.float64) for part in pair)
    return one, two, weights


def check_labels_pair(
    first: ArrayLike, second: ArrayLike, names: tuple[str, str], sample_weight: ArrayLike | None = None
) -> tuple[IntArray, IntArray, FloatArray | None]:
    """Two partitions of the rows that are present as labels, and the weights of these rows.

    Memberships go to their first largest entry.
    """
    pair, weights = _check_pair(first, second, names, sample_weight)
    one, two = (np.asarray(part if part.ndim == 1 else part.argmax(axis=1), dtype=np.int64) for part in pair)
    return one, two, weights


def _check_pair(
    first: ArrayLike, second: ArrayLike, names: tuple[str, str], sample_weight: ArrayLike | None
) -> tuple[list[FloatArray | IntArray], FloatArray | None]:
    pair = [_check_partition(part, name) for part, name in zip((first, second), names, strict=True)]
    lengths = [len(part) for part in pair]
    if lengths[0] != lengths[1]:
        raise ValueError(
            f"{names[0]} has {lengths[0]} samples but {names[1]} has {lengths[1]}: both must describe the same samples"
        )
    weights = check_sample_weight(sample_weight, lengths[0])
    if weights is None:
        if lengths[0] < 2:
            raise ValueError("agreement is counted over pairs of samples: at least 2 samples are needed, got 1")
        return pair, None
    if weights.sum() < SMALLEST_TOTAL:
        raise ValueError(
            "agreement is counted over pairs of samples, and a weight says how many times a row counts: "
            f"sample_weight must sum to at least {SMALLEST_TOTAL:g}, got {weights.sum():g}"
        )
    present = weights > 0
    return [part[present] for part in pair], weights[present]


def _check_partition(part: ArrayLike, name: str) -> FloatArray | IntArray:
    array = as_array(part, name)
    if array.ndim == 2:
        return check_fuzzy_partition(array, name)
    if array.ndim != 1:
        raise ValueError(
            f"{name} must be labels (n_samples,) or memberships (n_samples, n_clusters), got shape {array.shape}"
        )
    if len(array) == 0:
        raise ValueError(f"{name} is empty: at least two samples are needed")
    return check_labels(array, name=name)


def _one_hot(labels: FloatArray | IntArray) -> FloatArray:
    return (labels[:, None] == np.unique(labels)).astype(np.float64)
