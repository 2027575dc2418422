"""How fuzzy a partition is, from its memberships alone."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import entr

from kfrc._validation import check_number, check_sample_weight
from kfrc.metrics._partitions import check_fuzzy_partition
from kfrc.typing import ArrayLike, FloatArray


def partition_coefficient(U: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    r"""Bezdek's partition coefficient, the mean sum of squared memberships.

    .. math:: PC = \frac{1}{n} \sum_{j=1}^n \sum_{i=1}^c u_{ji}^2.

    Parameters
    ----------
    U : array-like of shape (n_samples, n_clusters)
        Memberships, rows summing to one.
    sample_weight : array-like of shape (n_samples,), optional
        How many times each row counts: weight 2 is the row twice, weight 0 is the row absent.

    Returns
    -------
    float
        1/c for the uniform partition, 1 for a crisp one.

    References
    ----------
    J. C. Bezdek (1981). Pattern Recognition with Fuzzy Objective Function Algorithms. Plenum Press.

    Examples
    --------
    >>> from kfrc.metrics import partition_coefficient
    >>> partition_coefficient([[1.0, 0.0], [0.5, 0.5]])
    0.75
    """
    U = check_fuzzy_partition(U)
    # Rounding must not leave the range: a PC of 1/c − 1e−17 would be read as "more than uniform".
    return float(np.clip(_mean_row_sum(U**2, sample_weight), 1 / U.shape[1], 1.0))


def partition_entropy(U: ArrayLike, *, base: float = math.e, sample_weight: ArrayLike | None = None) -> float:
    r"""Bezdek's partition entropy, the mean entropy of the rows.

    .. math:: PE = -\frac{1}{n} \sum_{j=1}^n \sum_{i=1}^c u_{ji} \log u_{ji}, \qquad 0 \log 0 = 0.

    Parameters
    ----------
    U : array-like of shape (n_samples, n_clusters)
        Memberships, rows summing to one.
    base : float, default=e
        Base of the logarithm, above 1.
    sample_weight : array-like of shape (n_samples,), optional
        How many times each row counts: weight 2 is the row twice, weight 0 is the row absent.

    Returns
    -------
    float
        0 for a crisp partition, log c for the uniform one.

    References
    ----------
    J. C. Bezdek (1981). Pattern Recognition with Fuzzy Objective Function Algorithms. Plenum Press.

    Examples
    --------
    >>> from kfrc.metrics import partition_entropy
    >>> partition_entropy([[1.0, 0.0], [0.5, 0.5]], base=2)
    0.5
    """
    base = check_number(base, "base", minimum=1.0, strict=True)
    U = check_fuzzy_partition(U)
    return _mean_row_sum(entr(U), sample_weight) / math.log(base)


def modified_partition_coefficient(U: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    r"""Partition coefficient rescaled to [0, 1], 1 − c (1 − PC) / (c − 1) = 1 − uniformity.

    Parameters
    ----------
    U : array-like of shape (n_samples, n_clusters)
        Memberships, rows summing to one; at least two clusters.
    sample_weight : array-like of shape (n_samples,), optional
        How many times each row counts: weight 2 is the row twice, weight 0 is the row absent.

    Returns
    -------
    float
        0 for the uniform partition, 1 for a crisp one.

    References
    ----------
    R. N. Davé (1996). Validating fuzzy partitions obtained through c-shells clustering. Pattern Recognition
    Letters 17, 613-623.

    Examples
    --------
    >>> from kfrc.metrics import modified_partition_coefficient
    >>> modified_partition_coefficient([[1.0, 0.0], [0.5, 0.5]])
    0.5
    """
    return 1.0 - uniformity_index(U, sample_weight=sample_weight)


def uniformity_index(U: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    r"""Proportion of uniformity, (1 − PC) / (1 − 1/c).

    Parameters
    ----------
    U : array-like of shape (n_samples, n_clusters)
        Memberships, rows summing to one; at least two clusters.
    sample_weight : array-like of shape (n_samples,), optional
        How many times each row counts: weight 2 is the row twice, weight 0 is the row absent.

    Returns
    -------
    float
        0 for a crisp partition, 1 for the uniform one.

    See Also
    --------
    partition_coefficient : PC.

    Notes
    -----
    This is the paper's U index. 1 − PC is summed as u (1 − u), which keeps its digits for nearly crisp
    partitions.

    Examples
    --------
    >>> from kfrc.metrics import uniformity_index
    >>> uniformity_index([[1.0, 0.0], [1.0, 0.0]]), uniformity_index([[0.5, 0.5], [0.5, 0.5]])
    (0.0, 1.0)
    """
    U = check_fuzzy_partition(U, min_clusters=2)
    fuzziness = _mean_row_sum(U * (1 - U), sample_weight)
    return float(np.clip(fuzziness / (1 - 1 / U.shape[1]), 0.0, 1.0))


def _mean_row_sum(values: FloatArray, sample_weight: ArrayLike | None) -> float:
    weights = check_sample_weight(sample_weight, len(values))
    if weights is None:
        return float(np.sum(values) / len(values))
    return float(np.average(values.sum(axis=1), weights=weights))
