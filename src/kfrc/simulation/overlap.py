"""Pairwise overlap of Gaussian mixture components: the probability that one is mistaken for another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from kfrc._numerics import rounding_of
from kfrc._validation import check_finite
from kfrc.exceptions import KFRCError
from kfrc.simulation._quadratic_forms import quadratic_form_cdf
from kfrc.typing import ArrayLike, FloatArray

EQUAL_COVARIANCE_TOL = 1e-11
"""Covariances whose ratio has eigenvalues this close to 1 are equal: the closed form is then more exact."""

WEIGHT_SUM_TOL = 1e-8
"""Mixing proportions must sum to one within this; they are then normalized exactly."""

COINCIDENCE_TOL = 1e-12
"""Log-odds below this between two components with the same mean and covariance are a tie."""

_LARGEST_RATIO = 1e60
"""Of variances of two components, and of distances to deviations: powers of it are still numbers."""


class Overlap(NamedTuple):
    """Overlap of a Gaussian mixture, as :func:`overlap` returns it.

    Attributes
    ----------
    omega_map : ndarray of shape (n_clusters, n_clusters)
        Row i, column j: probability that a point of component i scores higher under component j. Diagonal 1.
    average : float
        Mean over the pairs i < j of ω_{j|i} + ω_{i|j}; the paper's BarOmega.
    maximum : float
        Largest of these sums.

    Examples
    --------
    >>> from kfrc.simulation import overlap
    >>> overlap([0.5, 0.5], [[0.0], [2.0]], [[[1.0]], [[1.0]]]).omega_map.round(4)
    array([[1.    , 0.1587],
           [0.1587, 1.    ]])
    """

    omega_map: FloatArray
    average: float
    maximum: float


def overlap(weights: ArrayLike, means: ArrayLike, covariances: ArrayLike) -> Overlap:
    r"""Overlap map of a Gaussian mixture, with its average and maximum over pairs.

    .. math:: \omega_{j|i} = P\{\pi_j \phi(x; \mu_j, \Sigma_j) > \pi_i \phi(x; \mu_i, \Sigma_i)
              \mid x \sim N(\mu_i, \Sigma_i)\}.

    For a pair with equal covariances and Mahalanobis distance Δ this is
    :math:`\Phi(-\Delta/2 + \log(\pi_j/\pi_i)/\Delta)`. For any other pair it is the distribution function of
    a quadratic form :math:`\sum_k a_k y_k^2 + b_k y_k` in standard normals (a sum of noncentral chi-squares
    and a normal term), found by inverting its characteristic function along a contour through the saddle
    point. Each pair is treated by itself, so equal pairs among unequal ones are exact and the order of
    components is irrelevant.

    Parameters
    ----------
    weights : array-like of shape (n_clusters,)
        Mixing proportions π, positive, summing to one.
    means : array-like of shape (n_clusters, n_features)
    covariances : array-like of shape (n_clusters, n_features, n_features)
        Positive definite matrices.

    Returns
    -------
    Overlap
        The named tuple ``(omega_map, average, maximum)``.

    Raises
    ------
    KFRCError
        If two successive quadratures of a tail differ by more than 1e-11 + 1e-8 of it (not known to happen).

    Notes ----- Two components that coincide in everything are tied: each takes the other's points with
    probability 1/2, the limit of the formula above.

    References
    ----------
    .. [1] Maitra & Melnykov (2010), Simulating data to study performance of finite mixture modeling and
       clustering algorithms, JCGS 19(2), Theorem 1 and Section 2.1.
    .. [2] Davies (1980), The distribution of a linear combination of chi-square random variables, Applied
       Statistics 29(3).
    .. [3] Rice (1980), Distribution of quadratic forms in normal random variables: evaluation by numerical
       integration, SIAM J. Sci. Stat. Comput. 1(4).

    Examples
    --------
    >>> from kfrc.simulation import overlap
    >>> omega_map, average, maximum = overlap(
    ...     [0.5, 0.5], means=[[0, 0], [3, 0]], covariances=[[[1, 0], [0, 1]], [[4, 0], [0, 1]]]
    ... )
    >>> omega_map.round(4)
    array([[1.    , 0.0784],
           [0.2139, 1.    ]])
    >>> round(average, 4)
    0.2922
    """
    pi, mu, sigma = check_mixture(weights, means, covariances)
    with np.errstate(over="ignore", invalid="ignore"):
        forms = PairForms.from_mixture(pi, mu, sigma)
        largest = np.abs([forms.ratios.max(), 1 / forms.ratios.min(), np.abs(forms.ratios * forms.shifts).max()]).max()
    if not largest <= _LARGEST_RATIO:
        raise KFRCError(
            "components are too different in scale, or too far apart, for their overlap to be computed: variances "
            f"along some direction, or squared distances, differ by a factor of more than {_LARGEST_RATIO:g}"
        )
    return forms.overlap()


@dataclass(frozen=True, eq=False)
class PairForms:
    """The quadratic forms that decide between each ordered pair of components, ready for any common scale.

    With Σ_i = L Lᵀ and x = μ_i + L V y, component j wins when Σ_k d_k (y_k − m_k)² − y_k² < log_odds, where
    d are the eigenvalues of Lᵀ Σ_j⁻¹ L (eigenvectors V), m is the mean difference in that basis and
    log_odds = 2 log(π_j/π_i) + Σ_k log d_k. Multiplying every covariance by a scale only divides m by its
    square root, so the search for a target overlap decomposes each pair once.

    Parameters
    ----------
    ratios, shifts : ndarray of shape (n_pairs, n_features)
        d and m.
    log_odds : ndarray of shape (n_pairs,)
    n_clusters : int
        Pairs are the off-diagonal entries of an (n_clusters, n_clusters) matrix in row order.
    """

    ratios: FloatArray
    shifts: FloatArray
    log_odds: FloatArray
    n_clusters: int

    @classmethod
    def from_mixture(cls, weights: FloatArray, means: FloatArray, covariances: FloatArray) -> PairForms:
        """Decompose every ordered pair of a validated mixture."""
        n_clusters = len(weights)
        rows, columns = np.nonzero(~np.eye(n_clusters, dtype=bool))
        factors = np.linalg.cholesky(covariances)
        # Singular values of L_j⁻¹ L_i, squared, are the eigenvalues of Lᵀ Σ_j⁻¹ L without forming an inverse.
        _, singular, basis = np.linalg.svd(np.linalg.solve(factors[columns], factors[rows]))
        differences = np.linalg.solve(factors[rows], (means[columns] - means[rows])[..., np.newaxis])
        return cls(
            ratios=singular**2,
            shifts=(basis @ differences)[..., 0],
            log_odds=2 * np.log(weights[columns] / weights[rows]) + 2 * np.log(singular).sum(axis=1),
            n_clusters=n_clusters,
        )

    def overlap(self, scale: float = 1.0) -> Overlap:
        """Overlap with all covariances multiplied by ``scale``; ``inf`` is the limit of equal means."""
        omega = self._probabilities(self.shifts / np.sqrt(scale))
        omega_map = np.eye(self.n_clusters)
        omega_map[~np.eye(self.n_clusters, dtype=bool)] = omega
        upper = np.triu_indices(self.n_clusters, k=1)
        sums = (omega_map + omega_map.T)[upper]
        return Overlap(omega_map, float(sums.mean()), float(sums.max()))

    def _probabilities(self, shifts: FloatArray) -> FloatArray:
        equal = np.abs(self.ratios - 1).max(axis=1) <= EQUAL_COVARIANCE_TOL
        result = np.empty(len(shifts))
        result[equal] = _equal_covariance_overlap(np.linalg.norm(shifts[equal], axis=1), self.log_odds[equal])
        if not equal.all():
            ratios, shifts = self.ratios[~equal], shifts[~equal]
            result[~equal] = quadratic_form_cdf(
                ratios - 1, -2 * ratios * shifts, self.log_odds[~equal] - (ratios * shifts**2).sum(axis=1)
            )
        return result


def _equal_covariance_overlap(distances: FloatArray, log_odds: FloatArray) -> FloatArray:
    """Φ(−Δ/2 + log(π_j/π_i)/Δ), with its limit at Δ = 0."""
    log_odds = np.where(np.abs(log_odds) <= COINCIDENCE_TOL, 0.0, log_odds)
    apart = distances > 0
    safe = np.where(apart, distances, 1.0)
    with np.errstate(over="ignore"):  # a tiny distance sends the quotient to ±inf, where Φ is exact
        score = -safe / 2 + log_odds / (2 * safe)
    result: FloatArray = ndtr(np.where(apart, score, np.copysign(np.inf, log_odds)))
    return np.where(~apart & (log_odds == 0), 0.5, result)


def check_mixture(
    weights: ArrayLike, means: ArrayLike, covariances: ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Proportions (made exact), means and symmetric positive definite covariances of consistent shapes."""
    pi, mu, sigma = (
        check_finite(values, name)
        for values, name in ((weights, "weights"), (means, "means"), (covariances, "covariances"))
    )
    if pi.ndim != 1 or len(pi) < 2:
        raise ValueError(f"weights must be a list of at least 2 proportions, got shape {pi.shape}")
    if (pi <= 0).any():
        raise ValueError(f"weights must be positive, but component {int(pi.argmin())} has {pi.min():g}")
    if abs(pi.sum() - 1) > WEIGHT_SUM_TOL:
        raise ValueError(f"weights must sum to 1, got {pi.sum():.10g}: divide them by their sum")
    if mu.ndim != 2 or mu.shape[0] != len(pi) or mu.shape[1] == 0:
        raise ValueError(f"means must have shape ({len(pi)}, n_features), one row per weight, got {mu.shape}")
    expected = (len(pi), mu.shape[1], mu.shape[1])
    if sigma.shape != expected:
        raise ValueError(f"covariances must have shape {expected}, one matrix per component, got {sigma.shape}")
    mirrored = sigma.transpose(0, 2, 1)
    for component, (matrix, mirror) in enumerate(zip(sigma, mirrored, strict=True)):
        if np.abs(matrix - mirror).max() > rounding_of(matrix) * np.abs(matrix).max():
            raise ValueError(f"covariance {component} is not symmetric")
        try:
            np.linalg.cholesky(matrix)
        except np.linalg.LinAlgError:
            raise ValueError(
                f"covariance {component} is not positive definite (smallest eigenvalue "
                f"{np.linalg.eigvalsh(matrix)[0]:.3g}): the component has no density"
            ) from None
    return pi / pi.sum(), mu, 0.5 * sigma + 0.5 * mirrored
