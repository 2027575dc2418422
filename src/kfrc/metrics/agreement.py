"""Agreement of two partitions by pairs of samples: Campello's fuzzy Rand family, and the hard indices."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, TypeAlias

import numpy as np
from sklearn import metrics as sklearn_metrics

from kfrc.metrics._contingency import MEANS, Contingency
from kfrc.metrics._pair_counts import T_NORMS, PairCounts, count_pairs
from kfrc.metrics._partitions import check_labels_pair, check_memberships_pair
from kfrc.typing import ArrayLike

TNorm: TypeAlias = Literal["min", "product"]
Average: TypeAlias = Literal["max", "min", "geometric", "arithmetic"]

_NAMES = ("labels", "U")


def fuzzy_rand_score(
    labels: ArrayLike, U: ArrayLike, t_norm: TNorm = "min", *, sample_weight: ArrayLike | None = None
) -> float:
    r"""Campello's fuzzy Rand index, (a + d) / (a + b + c + d).

    With a t-norm ∧ (minimum or product), two samples j, k are together in a partition U to the degree
    max_i (u_ji ∧ u_ki) and apart to the degree max_{i ≠ i'} (u_ji ∧ u_ki'). With V, X these degrees in the
    reference and Y, Z those in the estimate, over all pairs j < k,

    .. math:: a = \sum V \wedge Y, \quad b = \sum V \wedge Z, \quad c = \sum X \wedge Y, \quad d = \sum X \wedge Z.

    Parameters
    ----------
    labels : array-like of shape (n_samples,) or (n_samples, n_classes)
        The reference: labels of any type, or memberships with rows summing to one.
    U : array-like of shape (n_samples, n_clusters) or (n_samples,)
        The estimate. The numbers of classes and clusters may differ.
    t_norm : {"min", "product"}, default="min"
        How two degrees combine.
    sample_weight : array-like of shape (n_samples,), optional
        How many times each row counts: weight 2 is the row twice, weight 0 is the row absent.

    Returns
    -------
    float
        Between 0 and 1, and the ordinary Rand index if both partitions are crisp. Fuzzy memberships do not
        reach 1, not even against themselves; with ``frobenius_rand_score`` they do.

    See Also
    --------
    fuzzy_adjusted_rand_score : The same, corrected for chance.

    Notes
    -----
    Time is O(n² c); memory does not grow with n², because pairs are visited in tiles.

    References
    ----------
    R. J. G. B. Campello (2007). A fuzzy extension of the Rand index and other related indexes for clustering
    and classification assessment. Pattern Recognition Letters 28, 833-841.

    Examples
    --------
    >>> from kfrc.metrics import fuzzy_rand_score
    >>> U = [[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.1, 0.9]]
    >>> round(fuzzy_rand_score(["a", "a", "b", "b"], U), 4)
    0.7667
    """
    return _fuzzy_pair_counts(labels, U, t_norm, sample_weight).rand()


def fuzzy_adjusted_rand_score(
    labels: ArrayLike, U: ArrayLike, t_norm: TNorm = "min", *, sample_weight: ArrayLike | None = None
) -> float:
    r"""Campello's fuzzy adjusted Rand index, the paper's FARI_crisp.

    With a, b, c, d of :func:`fuzzy_rand_score` and e = (a + b)(a + c) / (a + b + c + d),

    .. math:: \frac{a - e}{(2a + b + c) / 2 - e}.

    Parameters
    ----------
    labels : array-like of shape (n_samples,) or (n_samples, n_classes)
        The reference: labels of any type, or memberships with rows summing to one.
    U : array-like of shape (n_samples, n_clusters) or (n_samples,)
        The estimate. The numbers of classes and clusters may differ.
    t_norm : {"min", "product"}, default="min"
        How two degrees combine. The minimum is the usual choice.
    sample_weight : array-like of shape (n_samples,), optional
        How many times each row counts: weight 2 is the row twice, weight 0 is the row absent.

    Returns
    -------
    float
        At most 1, about 0 for an estimate unrelated to the reference, and the ordinary adjusted Rand index if
        both partitions are crisp. A uniform U has 0.

    See Also
    --------
    frobenius_adjusted_rand_score : Compares two fuzzy partitions and is 1 when they are equal.

    Notes
    -----
    Time is O(n² c); memory does not grow with n², because pairs are visited in tiles.

    References
    ----------
    R. J. G. B. Campello (2007). A fuzzy extension of the Rand index and other related indexes for clustering
    and classification assessment. Pattern Recognition Letters 28, 833-841.

    Examples
    --------
    >>> from kfrc.metrics import fuzzy_adjusted_rand_score
    >>> U = [[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.1, 0.9]]
    >>> round(fuzzy_adjusted_rand_score([0, 0, 1, 1], U), 4)
    0.5
    >>> round(fuzzy_adjusted_rand_score([0, 0, 1, 1], U, t_norm="product"), 4)
    0.5047
    """
    return _fuzzy_pair_counts(labels, U, t_norm, sample_weight).adjusted_rand()


def fuzzy_jaccard_score(
    labels: ArrayLike, U: ArrayLike, t_norm: TNorm = "min", *, sample_weight: ArrayLike | None = None
) -> float:
    """Campello's fuzzy Jaccard index, a / (a + b + c), with the pair sums of :func:`fuzzy_rand_score`.

    Parameters
    ----------
    labels : array-like of shape (n_samples,) or (n_samples, n_classes)
        The reference: labels of any type, or memberships with rows summing to one.
    U : array-like of shape (n_samples, n_clusters) or (n_samples,)
        The estimate. The numbers of classes and clusters may differ.
    t_norm : {"min", "product"}, default="min"
        How two degrees combine.
    sample_weight : array-like of shape (n_samples,), optional
        How many times each row counts: weight 2 is the row twice, weight 0 is the row absent.

    Returns
    -------
    float
        Between 0 and 1. Two partitions that never put two samples together agree: 1.

    References
    ----------
    R. J. G. B. Campello (2007). A fuzzy extension of the Rand index and other related indexes for clustering
    and classification assessment. Pattern Recognition Letters 28, 833-841.

    Examples
    --------
    >>> from kfrc.metrics import fuzzy_jaccard_score
    >>> U = [[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.1, 0.9]]
    >>> round(fuzzy_jaccard_score([0, 0, 1, 1], U), 4)
    0.5172
    """
    return _fuzzy_pair_counts(labels, U, t_norm, sample_weight).jaccard()


def adjusted_rand_score(labels: ArrayLike, U: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Adjusted Rand index of two partitions, fuzzy ones made hard first.

    Parameters
    ----------
    labels, U : array-like of shape (n_samples,) or (n_samples, n_clusters)
        Labels, or memberships whose rows go to their first largest entry.
    sample_weight : array-like of shape (n_samples,), optional
        How many times each row counts: weight 2 is the row twice, weight 0 is the row absent.

    Returns
    -------
    float
        At most 1; about 0 for unrelated partitions. The mean over chance is computed by scikit-learn.

    References
    ----------
    L. Hubert and P. Arabie (1985). Comparing partitions. Journal of Classification 2, 193-218.

    Examples
    --------
    >>> from kfrc.metrics import adjusted_rand_score
    >>> adjusted_rand_score([0, 0, 1, 1], [[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.1, 0.9]])
    1.0
    """
    reference, estimate, weights = check_labels_pair(labels, U, _NAMES, sample_weight)
    if weights is None:
        return float(sklearn_metrics.adjusted_rand_score(reference, estimate))
    return Contingency.of(reference, estimate, weights).pair_counts().adjusted_rand()


def adjusted_mutual_info_score(
    labels: ArrayLike,
    U: ArrayLike,
    *,
    average_method: Average = "max",
    sample_weight: ArrayLike | None = None,
) -> float:
    """Mutual information adjusted for chance, (I − E[I]) / (mean(H₁, H₂) − E[I]), of hardened partitions.

    Parameters
    ----------
    labels, U : array-like of shape (n_samples,) or (n_samples, n_clusters)
        Labels, or memberships whose rows go to their first largest entry.
    average_method : {"max", "min", "geometric", "arithmetic"}, default="max"
        The mean of the two entropies. The paper takes the larger one; scikit-learn's own default is
        "arithmetic".
    sample_weight : array-like of shape (n_samples,), optional
        How many times each row counts: weight 2 is the row twice, weight 0 is the row absent. Whole numbers only,
        because the mean over chance deals out whole rows.

    Returns
    -------
    float
        At most 1; about 0 for unrelated partitions. Computed by scikit-learn.

    References
    ----------
    N. X. Vinh, J. Epps and J. Bailey (2010). Information theoretic measures for clusterings comparison.
    Journal of Machine Learning Research 11, 2837-2854.

    Examples
    --------
    >>> from kfrc.metrics import adjusted_mutual_info_score
    >>> round(adjusted_mutual_info_score([0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2]), 4)
    0.225
    """
    _check_choice(average_method, "average_method", MEANS)
    reference, estimate, weights = check_labels_pair(labels, U, _NAMES, sample_weight)
    if weights is None:
        weights = np.ones(len(reference))  # scikit-learn's own has 0 for a perfect match of single rows before 1.7
    if (weights != np.round(weights)).any():
        raise ValueError(
            "the mutual information expected by chance is defined for whole rows, but sample_weight has fractions "
            f"(such as {weights[weights != np.round(weights)][0]:g}): use adjusted_rand_score or "
            "normalized_mutual_info_score, or whole weights"
        )
    return Contingency.of(reference, estimate, weights).adjusted_mutual_information(average_method)


def normalized_mutual_info_score(
    labels: ArrayLike,
    U: ArrayLike,
    *,
    average_method: Average = "max",
    sample_weight: ArrayLike | None = None,
) -> float:
    """Mutual information divided by a mean of the two entropies, I / mean(H₁, H₂), of hardened partitions.

    Parameters
    ----------
    labels, U : array-like of shape (n_samples,) or (n_samples, n_clusters)
        Labels, or memberships whose rows go to their first largest entry.
    average_method : {"max", "min", "geometric", "arithmetic"}, default="max"
        The mean of the two entropies.
    sample_weight : array-like of shape (n_samples,), optional
        How many times each row counts: weight 2 is the row twice, weight 0 is the row absent.

    Returns
    -------
    float
        Between 0 and 1, not corrected for chance. Computed by scikit-learn.

    References
    ----------
    N. X. Vinh, J. Epps and J. Bailey (2010). Information theoretic measures for clusterings comparison.
    Journal of Machine Learning Research 11, 2837-2854.

    Examples
    --------
    >>> from kfrc.metrics import normalized_mutual_info_score
    >>> round(normalized_mutual_info_score([0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2]), 4)
    0.4206
    """
    _check_choice(average_method, "average_method", MEANS)
    reference, estimate, weights = check_labels_pair(labels, U, _NAMES, sample_weight)
    if weights is None:
        return float(sklearn_metrics.normalized_mutual_info_score(reference, estimate, average_method=average_method))
    return Contingency.of(reference, estimate, weights).normalized_mutual_information(average_method)


def _check_choice(choice: Any, name: str, choices: Iterable[str]) -> None:
    if not isinstance(choice, str) or choice not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {choice!r}")


def _fuzzy_pair_counts(labels: ArrayLike, U: ArrayLike, t_norm: str, sample_weight: ArrayLike | None) -> PairCounts:
    _check_choice(t_norm, "t_norm", T_NORMS)
    reference, estimate, weights = check_memberships_pair(labels, U, _NAMES, sample_weight)
    return count_pairs(reference, estimate, T_NORMS[t_norm], weights)
