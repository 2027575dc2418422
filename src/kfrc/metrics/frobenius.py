"""Frobenius Rand indices of two fuzzy partitions (Andrews, Browne and Hvingelby), in O(n c²)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kfrc.metrics._partitions import check_memberships_pair
from kfrc.typing import ArrayLike, FloatArray

_ROUNDING = (64 * float(np.finfo(np.float64).eps)) ** 2
"""Relative variance of memberships below which all rows are equal up to rounding."""

_SPAN_ROUNDING = 64 * float(np.finfo(np.float64).eps)
"""Relative rounding, per sample, of the largest minus the mean index; a real gap is of order 1/n or more."""


def frobenius_rand_score(U: ArrayLike, V: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    r"""Frobenius Rand index, one minus a scaled squared distance of the co-membership matrices.

    With A = UUᵀ and N_A = (ΣA / ‖A‖²) A, for which ΣN_A = ‖N_A‖² as if it held zeros and ones,

    .. math:: 1 - \frac{\|N_A - N_B\|_F^2}{n (n - 1)}.

    Parameters
    ----------
    U, V : array-like of shape (n_samples, n_clusters) or (n_samples,)
        Memberships with rows summing to one, or labels. The numbers of clusters may differ.
    sample_weight : array-like of shape (n_samples,), optional
        How many times each row counts: weight 2 is the row twice, weight 0 is the row absent.

    Returns
    -------
    float
        1 if U = V up to the order of columns, and the ordinary Rand index if both are crisp.

    References
    ----------
    J. L. Andrews, R. Browne and C. D. Hvingelby (2022). On assessments of agreement between fuzzy partitions.
    Journal of Classification 39, 326-342.

    Examples
    --------
    >>> from kfrc.metrics import frobenius_rand_score
    >>> U = [[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.1, 0.9]]
    >>> round(frobenius_rand_score(U, [0, 0, 1, 1]), 4)
    0.801
    """
    return _compare(U, V, sample_weight).rand()


def frobenius_adjusted_rand_score(U: ArrayLike, V: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    r"""Frobenius adjusted Rand index, the paper's FARI_fuzzy.

    The Rand index of :func:`frobenius_rand_score` minus its mean, over one minus its mean, where the mean is
    over random orthogonal matrices Q that keep the vector of ones. With s = ΣN and t = tr N,

    .. math::
        \frac{\langle N_A, N_B\rangle - e}{(s_A + s_B)/2 - e}, \qquad
        e = \mathbb{E}\,\langle N_A, Q N_B Q^\top\rangle
          = \frac{s_A s_B}{n^2} + \frac{(t_A - s_A/n)(t_B - s_B/n)}{n - 1}.

    Parameters
    ----------
    U, V : array-like of shape (n_samples, n_clusters) or (n_samples,)
        Memberships with rows summing to one, or labels. The numbers of clusters may differ.
    sample_weight : array-like of shape (n_samples,), optional
        How many times each row counts: weight 2 is the row twice, weight 0 is the row absent.

    Returns
    -------
    float
        1 if U = V up to the order of columns, about 0 if they are unrelated or one of them is uniform, and
        the ordinary adjusted Rand index if both are crisp.

    Notes
    -----
    No n × n matrix is built. With U = 1ūᵀ + W, every term follows from ū, WᵀW and the cross product of the
    two W; separating the mean first keeps the digits when U is nearly uniform.

    References
    ----------
    J. L. Andrews, R. Browne and C. D. Hvingelby (2022). On assessments of agreement between fuzzy partitions.
    Journal of Classification 39, 326-342.

    Examples
    --------
    >>> from kfrc.metrics import frobenius_adjusted_rand_score
    >>> U = [[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.1, 0.9]]
    >>> round(frobenius_adjusted_rand_score(U, [0, 0, 1, 1]), 4)
    0.6033
    >>> round(frobenius_adjusted_rand_score(U, U), 12)
    1.0
    """
    return _compare(U, V, sample_weight).adjusted_rand()


def agreement(U: FloatArray, V: FloatArray) -> float:
    """The same of two arrays of memberships that need no check: for searches that compare thousands of them."""
    return _comparison(U, V, None).adjusted_rand()


@dataclass(frozen=True)
class _Moments:
    """Sums of N, divided by n²; N = scale · UUᵀ. With weights, n is their sum, and U holds every row that often."""

    center: FloatArray  # (n_clusters,), ū
    residuals: FloatArray  # (n_samples, n_clusters), W
    scale: float  # ΣA / ‖A‖²
    deficit: float  # 1 − ΣN / n²
    variance: float  # (tr A − ΣA / n) / n

    @classmethod
    def of(cls, U: FloatArray, weights: FloatArray | None) -> _Moments:
        center = U.sum(axis=0) / len(U) if weights is None else weights @ U / weights.sum()
        residuals = U - center
        scatter = _mean_product(residuals, residuals, weights)
        mean = float(center @ center)  # ΣA / n²
        excess = float(2 * center @ scatter @ center + np.sum(scatter**2))  # ‖A‖² / n² − (ΣA / n²)²
        squares = mean**2 + excess
        return cls(center, residuals, mean / squares, excess / squares, float(np.trace(scatter)))


@dataclass(frozen=True)
class _Comparison:
    """⟨N_A, N_B⟩ and its mean, both divided by n² and after taking off ΣN_A ΣN_B / n⁴."""

    first: _Moments
    second: _Moments
    covariance: float
    mean_covariance: float
    n_samples: float

    def rand(self) -> float:
        return 1.0 - 2 * (self._largest_covariance() - self.covariance) * self.n_samples / (self.n_samples - 1)

    def adjusted_rand(self) -> float:
        if max(self.first.deficit, self.second.deficit) < _ROUNDING:
            return 1.0  # both are one cluster, or uniform: the same partition, with nothing left to compare
        span = self._largest_covariance() - self.mean_covariance
        if span <= _SPAN_ROUNDING * self.n_samples * self._largest_covariance():
            return 1.0  # n singletons on both sides
        return (self.covariance - self.mean_covariance) / span

    def _largest_covariance(self) -> float:
        """(s_A + s_B)/2 − s_A s_B, written in the deficits 1 − s."""
        d, e = self.first.deficit, self.second.deficit
        return 0.5 * (d + e) - d * e


def _compare(U: ArrayLike, V: ArrayLike, sample_weight: ArrayLike | None) -> _Comparison:
    return _comparison(*check_memberships_pair(U, V, ("U", "V"), sample_weight))


def _comparison(U: FloatArray, V: FloatArray, weights: FloatArray | None) -> _Comparison:
    n_samples = len(U) if weights is None else float(weights.sum())
    first, second = _Moments.of(U, weights), _Moments.of(V, weights)
    cross = _mean_product(first.residuals, second.residuals, weights)
    scale = first.scale * second.scale
    covariance = scale * float(2 * first.center @ cross @ second.center + np.sum(cross**2))
    mean_covariance = scale * first.variance * second.variance / (n_samples - 1)
    return _Comparison(first, second, covariance, mean_covariance, n_samples)


def _mean_product(first: FloatArray, second: FloatArray, weights: FloatArray | None) -> FloatArray:
    """Mean over the samples of the outer products of their rows."""
    if weights is None:
        return first.T @ second / len(first)
    return (first.T * weights) @ second / weights.sum()
