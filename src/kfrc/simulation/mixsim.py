"""Random Gaussian mixtures whose average or maximum pairwise overlap is prescribed."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import brentq
from scipy.special import logsumexp

from kfrc._numerics import as_generator, check_memory
from kfrc._validation import check_data, check_n_clusters, check_number, check_positive_int
from kfrc.exceptions import KFRCError
from kfrc.simulation.overlap import Overlap, PairForms, check_mixture, overlap
from kfrc.typing import Any, ArrayLike, FloatArray, IntArray, RandomStateLike

TARGET_MARGIN = 1e-9
"""A draw whose largest possible overlap exceeds its target by less would need infinite covariances."""

_LOG_SCALE_TOL = 1e-12  # the overlap changes by less than its logarithmic scale does
_MAX_LOG_SCALE = 200.0  # e^±200: where float64 covariances are still far from overflow


@dataclass(frozen=True, eq=False)
class GaussianMixtureSpec:
    r"""A Gaussian mixture :math:`\sum_i \pi_i N(\mu_i, \Sigma_i)` to draw from.

    Parameters
    ----------
    weights : ndarray of shape (n_clusters,)
        Mixing proportions π, positive, summing to one.
    means : ndarray of shape (n_clusters, n_features)
    covariances : ndarray of shape (n_clusters, n_features, n_features)
        Positive definite matrices.

    Examples
    --------
    >>> from kfrc.simulation import GaussianMixtureSpec
    >>> mixture = GaussianMixtureSpec([0.7, 0.3], means=[[0.0], [4.0]], covariances=[[[1.0]], [[1.0]]])
    >>> X, labels = mixture.sample(5, random_state=0)
    >>> X.shape, labels.shape
    ((5, 1), (5,))
    >>> mixture.posteriors([[0.0], [2.0]]).round(3)
    array([[1. , 0. ],
           [0.7, 0.3]])
    """

    weights: FloatArray
    means: FloatArray
    covariances: FloatArray

    def __post_init__(self) -> None:
        checked = check_mixture(self.weights, self.means, self.covariances)
        for name, values in zip(("weights", "means", "covariances"), checked, strict=True):
            object.__setattr__(self, name, values)

    @property
    def n_clusters(self) -> int:
        """Number of components."""
        return len(self.weights)

    @property
    def n_features(self) -> int:
        """Number of dimensions."""
        return int(self.means.shape[1])

    def sample(self, n_samples: int, random_state: RandomStateLike = None) -> tuple[FloatArray, IntArray]:
        """Independent draws and the components they come from.

        Parameters
        ----------
        n_samples : int
        random_state : int, Generator, RandomState or None

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
        labels : ndarray of shape (n_samples,)
            In 0, …, n_clusters − 1; a rare component may be absent from a small sample.
        """
        rng, n_samples = as_generator(random_state), check_positive_int(n_samples, "n_samples")
        check_memory(8 * n_samples * (self.n_features + 1), f"a sample of {n_samples} rows", "fewer rows")
        labels = rng.choice(self.n_clusters, size=n_samples, p=self.weights)
        X = rng.standard_normal((len(labels), self.n_features))
        for component, factor in enumerate(np.linalg.cholesky(self.covariances)):
            members = labels == component
            X[members] = self.means[component] + X[members] @ factor.T
        return X, labels.astype(np.int64)

    def posteriors(self, X: ArrayLike) -> FloatArray:
        r"""Probability of each component given the point, :math:`\pi_i \phi_i(x) / \sum_j \pi_j \phi_j(x)`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
            Rows sum to one; the memberships an ideal fuzzy clustering would recover.
        """
        points = check_data(X, min_samples=1)
        if points.shape[1] != self.n_features:
            raise ValueError(f"X has {points.shape[1]} features, but the mixture has {self.n_features}")
        log_densities = np.empty((len(points), self.n_clusters))
        for component, factor in enumerate(np.linalg.cholesky(self.covariances)):
            with np.errstate(over="ignore", invalid="ignore"):
                whitened = solve_triangular(factor, (points - self.means[component]).T, lower=True, check_finite=False)
                squares = (whitened**2).sum(axis=0)
            if not np.isfinite(squares).all():
                raise ValueError(
                    f"row {int((~np.isfinite(squares)).argmax())} of X is so far from component {component}, in its "
                    "standard deviations, that the square of that is no number"
                )
            log_densities[:, component] = -0.5 * squares - np.log(np.diagonal(factor)).sum()
        log_joint = log_densities + np.log(self.weights)
        return np.exp(log_joint - logsumexp(log_joint, axis=1, keepdims=True))

    def overlap(self) -> Overlap:
        """Overlap map, average and maximum; see :func:`kfrc.simulation.overlap`."""
        return overlap(self.weights, self.means, self.covariances)


def make_gaussian_mixture(
    n_clusters: int,
    n_features: int,
    *,
    average_overlap: float | None = None,
    max_overlap: float | None = None,
    spherical: bool = False,
    homogeneous: bool = False,
    min_proportion: float | None = None,
    max_eccentricity: float = 0.9,
    max_draws: int = 100,
    random_state: RandomStateLike = None,
) -> GaussianMixtureSpec:
    r"""Random Gaussian mixture with a prescribed average or maximum pairwise overlap.

    Means are uniform on the unit cube. A covariance is r·I with r uniform on (0, 1) if spherical; otherwise
    the sample covariance of p + 1 standard normal points with its eigenvalues compressed,

    .. math:: \lambda_k \leftarrow \lambda_{\max}\Bigl(1 - e_{\max}^2
              \frac{\lambda_{\max} - \lambda_k}{\lambda_{\max} - \lambda_{\min}}\Bigr),

    when its eccentricity :math:`\sqrt{1 - \lambda_{\min}/\lambda_{\max}}` exceeds :math:`e_{\max}`. All
    covariances are then multiplied by the one number that brings the overlap to its target (Brent's method,
    to 1e-9).

    Parameters
    ----------
    n_clusters, n_features : int
        Number of components (at least 2) and of dimensions.
    average_overlap, max_overlap : float in (0, 1)
        Target for the mean, or for the largest, of ω_{j|i} + ω_{i|j} over pairs. Give exactly one.
    spherical : bool
        Covariances proportional to the identity.
    homogeneous : bool
        The same covariance for all components.
    min_proportion : float in (0, 1/n_clusters] or None
        Smallest mixing proportion allowed: weights are ``min_proportion`` plus a uniform draw from the
        simplex for the rest. ``None``, 1/n_clusters and 1 (MixSim's way to say it) give equal weights.
    max_eccentricity : float in [0, 1)
        Bound :math:`e_{\max}` on the eccentricity of elliptical covariances.
    max_draws : int
        Redraw at most this often when the drawn shapes cannot reach the target at any scale.
    random_state : int, Generator, RandomState or None

    Returns
    -------
    GaussianMixtureSpec

    Raises
    ------
    KFRCError
        If no draw can reach the target. Components with unequal covariances stay apart however large these
        are.

    References
    ----------
    .. [1] Maitra & Melnykov (2010), Simulating data to study performance of finite mixture modeling and
       clustering algorithms, JCGS 19(2).

    Examples
    --------
    >>> from kfrc.simulation import make_gaussian_mixture
    >>> mixture = make_gaussian_mixture(3, 2, average_overlap=0.05, min_proportion=0.1, random_state=0)
    >>> round(mixture.overlap().average, 6)
    0.05
    >>> bool(mixture.weights.min() >= 0.1)
    True
    """
    n_clusters = check_n_clusters(n_clusters, sys.maxsize)
    n_features = check_positive_int(n_features, "n_features")
    kind, target = _check_target(average_overlap, max_overlap)
    proportion = _check_min_proportion(min_proportion, n_clusters)
    eccentricity = check_number(max_eccentricity, "max_eccentricity", minimum=0.0)
    if eccentricity >= 1:
        raise ValueError(f"max_eccentricity must be below 1, got {eccentricity:g}: 1 is a singular covariance")
    rng = as_generator(random_state)
    best = 0.0
    for _ in range(check_positive_int(max_draws, "max_draws")):
        weights = proportion + (1 - n_clusters * proportion) * rng.dirichlet(np.ones(n_clusters))
        means = rng.random((n_clusters, n_features))
        shapes = np.stack(
            [
                _draw_covariance(n_features, spherical, eccentricity, rng)
                for _ in range(1 if homogeneous else n_clusters)
            ]
        )
        covariances = np.broadcast_to(shapes, (n_clusters, n_features, n_features))
        forms = PairForms.from_mixture(weights, means, covariances)
        # Equal covariances always reach 1: the overlap of a pair tends to it as the means become negligible.
        limit = 1.0 if homogeneous else getattr(forms.overlap(scale=np.inf), kind)
        best = max(best, limit)
        if limit > target + TARGET_MARGIN:
            return GaussianMixtureSpec(weights, means, _find_scale(forms, kind, target) * covariances)
    raise KFRCError(
        f"no draw out of {max_draws} reaches {kind} overlap {target:g} (the best can reach {best:.3g}); "
        "lower the target, raise max_draws, or use homogeneous=True"
    )


def _draw_covariance(n_features: int, spherical: bool, max_eccentricity: float, rng: np.random.Generator) -> FloatArray:
    if spherical:
        return (1 - rng.random()) * np.eye(n_features)  # (0, 1]: a zero would be singular
    points = rng.standard_normal((n_features + 1, n_features))
    covariance = np.atleast_2d(np.cov(points, rowvar=False))
    values, vectors = np.linalg.eigh(covariance)
    low, high = values[0], values[-1]
    if low < (1 - max_eccentricity**2) * high:
        values = high * (1 - max_eccentricity**2 * (high - values) / (high - low))
    return (vectors * values) @ vectors.T


def _find_scale(forms: PairForms, kind: str, target: float) -> float:
    """Multiplier of the covariances that brings the overlap (0 at scale 0) to its target."""

    def excess(log_scale: float) -> float:
        return float(getattr(forms.overlap(math.exp(log_scale)), kind)) - target

    # Bracket outwards from 1/p, the order of a squared distance between uniform means over p dimensions.
    low = high = -math.log(forms.shifts.shape[1])
    step = 1.0
    if excess(low) > 0:
        while excess(low) > 0 and low > -_MAX_LOG_SCALE:
            low, high, step = low - step, low, 2 * step
    else:
        while excess(high) < 0 and high < _MAX_LOG_SCALE:
            low, high, step = high, high + step, 2 * step
    try:
        return math.exp(brentq(excess, low, high, xtol=_LOG_SCALE_TOL))
    except ValueError:
        raise KFRCError(
            f"no scale within e^±{_MAX_LOG_SCALE:g} gives {kind} overlap {target:g}: it is too extreme"
        ) from None


def _check_target(average_overlap: Any, max_overlap: Any) -> tuple[str, float]:
    if (average_overlap is None) == (max_overlap is None):
        given = "neither" if average_overlap is None else "both"
        raise ValueError(f"give exactly one of average_overlap and max_overlap, got {given}")
    name = "max_overlap" if average_overlap is None else "average_overlap"
    target = check_number(max_overlap if average_overlap is None else average_overlap, name, minimum=0.0, strict=True)
    if target >= 1:
        raise ValueError(f"{name} must be below 1, got {target:g}: it is a probability of confusion")
    return ("maximum" if average_overlap is None else "average"), target


def _check_min_proportion(min_proportion: Any, n_clusters: int) -> float:
    if min_proportion is None:
        return 1 / n_clusters
    proportion = check_number(min_proportion, "min_proportion", minimum=0.0, strict=True)
    if proportion == 1.0:
        return 1 / n_clusters
    if proportion > 1 / n_clusters + np.finfo(float).eps:
        raise ValueError(
            f"min_proportion must be at most 1/n_clusters = {1 / n_clusters:.4g}, got {proportion:g}: "
            f"{n_clusters} proportions that large exceed 1"
        )
    return min(proportion, 1 / n_clusters)
