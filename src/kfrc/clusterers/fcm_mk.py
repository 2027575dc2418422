"""Fuzzy c-means with several Gaussian kernels, weighted by cluster (FCM-MK)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from scipy.linalg import eigh, qr
from scipy.spatial.distance import cdist

from kfrc import activity
from kfrc._callbacks import with_callbacks
from kfrc._numerics import RESOLUTION, binary_exponent, midst
from kfrc._validation import check_positive_int, check_sums, check_unmasked
from kfrc.clusterers._input_space import CentersSolution, InputCenters, Limits, best_run
from kfrc.clusterers._multiple_kernels import Kernels, descend_weights
from kfrc.clusterers._row_spaces import GaussianMixtureSpace, RowSpace
from kfrc.clusterers._rows import MergedRows, fitted_rows, times
from kfrc.clusterers.base import FuzzyClusterer
from kfrc.fuzzifiers import Fuzzifier, resolve_fuzzifier
from kfrc.relational import Start, Status, is_uniform, may_leave_uniformity
from kfrc.typing import ArrayLike, FloatArray, RandomStateLike

_NARROWEST, _WIDEST = 0.1, 0.4
"""Default resolutions: fractions of the diagonal of the bounding box."""

_FARTHEST_WIDTH = 110
"""Binary exponents between a width and the values: fourth powers of ratios of widths are then numbers."""


class FCMMK(FuzzyClusterer):
    """Fuzzy c-means with multiple kernels: Gaussian kernels of several widths, mixed differently in every cluster.

    With k_l(x, v) = exp(−‖x − v‖² / (2 σ_l²)) and weights w_il ≥ 0, Σ_l w_il = 1, cluster i uses the normalized kernel

        K_i(x, v) = Σ_l (w_il / σ_l) k_l(x, v) / Σ_l (w_il / σ_l),

    and the method looks for a low value of J = Σ_ji u_ji^m ‖φ_i(x_j) − φ_i(v_i)‖² = 2 Σ_ji u_ji^m (1 − K_i(x_j, v_i)).
    The centers v_i are points of input space. An iteration updates the centers, the memberships and the weights:

        v_i = Σ_j u_ji^m g_ji x_j / Σ_j u_ji^m g_ji,    g_ji = Σ_l (w_il / σ_l³) k_l(x_j, v_i),
        u_ji ∝ (1 − K_i(x_j, v_i))^(−1/(m−1)),

    and projected gradient steps in w, where with s_il = Σ_j u_ji^m k_l(x_j, v_i) and its weighted mean s̄_i,

        ∂J/∂w_il = −2 (s_il − s̄_i) / (σ_l Σ_q w_iq / σ_q).

    Parameters
    ----------
    n_clusters : int, default=3
    m : float, default=2
        Fuzziness, above 1.
    n_kernels : int, default=4
        Number of widths, evenly spaced from 0.1 to 0.4 times the diagonal of the bounding box of the data (0.1 alone
        if it is 1). Not used if ``sigmas`` is given.
    sigmas : array-like of shape (n_kernels,), optional
        The widths themselves, in the units of X.
    init : {"spectral", "near_uniform", "random", "kmeans++", "blocks"}, Start or array-like, default="spectral"
        Starting memberships; an array has shape (n_samples, n_clusters).
    n_init : int, default=4
        Runs; the lowest objective wins. After a deterministic start the others begin with ``"kmeans++"``.
    max_iter : int, default=1000
    tol : float, default=1e-5
        A run has converged when the centers move by less than this (Frobenius norm), in units of the root of the total
        variance per dimension that the rows span, which is 1 for standardized data. A constant column changes nothing,
        nor do all columns twice.
    random_state : int, RandomState, Generator or None
    verbose : int, default=0
        Print one line per run.

    Attributes
    ----------
    memberships_, labels_, objective_, objective_path_, n_iter_, status_, uniformity_
        See :class:`kfrc.clusterers.FuzzyClusterer`.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
    kernel_weights_ : ndarray of shape (n_clusters, n_kernels)
        w; rows sum to one. Predictions use the weights that ``memberships_`` follow from, one weight step earlier.
    sigmas_ : ndarray of shape (n_kernels,)
        The widths.

    Notes
    -----
    J is linear-fractional in w: for given centers and memberships it is a weighted mean of the values of single
    kernels, and a wider kernel always has the smaller value. The minimizing weights therefore put everything on the
    widest kernel, and converged fits end there (they do on iris, wine and seeds); what the narrower kernels change is
    the way to it. Choose ``sigmas`` with that in mind.

    This is the variant behind the paper's numbers. Baili and Frigui learn w by gradient descent on the same J; the
    projection on the simplex, the step (0.1, halved until J falls, at most 50 steps per iteration) and the default
    widths are those of that implementation. Unlike it, an empty cluster restarts at the sample that costs most, and a
    run within 10⁻³ of uniformity goes on until it has decided whether to leave it. As centers are points of input
    space, precomputed Gram matrices cannot be used; :class:`kfrc.KFRC` takes one.

    λ₁ of a :class:`kfrc.UniformCollapseWarning` is half the largest eigenvalue of (Σ_j ∇²d_j)⁻¹ Σ_j ∇d_j ∇d_jᵀ / d_j,
    where d_j(v) is the squared distance of sample j to a center at v, at the common center and for the fitted weights.
    Like λ₁(F) for squared Euclidean distances, with which it then agrees, it decides by κ λ₁ > 1 whether clusters can
    leave the uniform partition.

    References
    ----------
    Baili, N. and Frigui, H., "Fuzzy clustering with multiple kernels", IEEE International Conference on Fuzzy Systems,
    2011.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kfrc.clusterers.fcm_mk import FCMMK
    >>> fcm_mk = FCMMK(3, random_state=0).fit(load_iris().data)
    >>> fcm_mk.kernel_weights_.shape, fcm_mk.sigmas_.round(2)
    ((3, 4), array([0.77, 1.54, 2.31, 3.08]))
    """

    _minimizes_relation: ClassVar[bool] = False
    sigmas_: FloatArray
    kernel_weights_: FloatArray
    _kernels: Kernels

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        m: float | None = 2.0,
        n_kernels: int = 4,
        sigmas: ArrayLike | None = None,
        init: str | Start | ArrayLike = "spectral",
        n_init: int = 4,
        max_iter: int = 1000,
        tol: float = 1e-5,
        random_state: RandomStateLike = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.m = m
        self.n_kernels = n_kernels
        self.sigmas = sigmas
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks
    def fit(self, X: ArrayLike, y: None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Find clusters.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            How many rows each row stands for: 2 is the row twice, 0 is the row absent. They must sum to at least 2:
            multiply weights that sum to one by the number of rows.

        Returns
        -------
        self
        """
        with self._all_or_nothing(X):
            data = self._table(X)
            n_clusters = self._check_clusters(data, sample_weight)
            rows = fitted_rows(data, sample_weight, at_least=n_clusters)
            check_sums(rows.values)
            # The method knows neither origin nor units, but rounding and squares do: from a row in the midst, and in a
            # power of two, which changes no digit.
            self._origin = midst(rows.values, len(rows))
            moved = rows.values - self._origin
            self._exponent = binary_exponent(moved)
            scaled = np.ldexp(moved, -self._exponent)
            rows = replace(rows, values=scaled)
            fuzzifier = resolve_fuzzifier("power", self.m)
            fuzzifier.check_weights(n_clusters)
            self._check_columns(scaled)
            limits = Limits.of(rows, self.max_iter, self.tol)
            if self.sigmas is None:
                sigmas = _default_sigmas(scaled, self.n_kernels)
            else:
                sigmas = _relative_sigmas(check_sigmas(self.sigmas), self._exponent)
            progress = self._start_progress(check_positive_int(self.n_init, "n_init"), self.verbose)
            solution = best_run(
                rows,
                n_clusters,
                lambda U: descend_kernels(scaled, U, fuzzifier, sigmas, limits, rows.weights),
                lambda run: run.objective,
                init=self.init,
                n_init=self.n_init,
                random_state=self.random_state,
                progress=progress,
            )
            self._centers = solution.centers
            self._kernels = Kernels(sigmas, solution.membership_weights)  # as scaled: widths of users may round to zero
            self.cluster_centers_ = self._origin + np.ldexp(solution.centers, self._exponent)
            self.sigmas_ = self._kernels.in_units(self._exponent).sigmas
            self.kernel_weights_ = solution.kernel_weights
            self._store(solution, fuzzifier, rows, lambda absent: fuzzifier.memberships(self._distances(data[absent])))
            self._warn_about(
                solution,
                fuzzifier,
                lambda: _leading_eigenvalue(
                    rows, solution.centers[0], Kernels(sigmas, solution.membership_weights).of_cluster(0)
                ),
                rows.scales(),
            )
            self._end_progress()
        return self

    def _row_space(self, X: Any, weights: FloatArray | None = None) -> RowSpace:
        """Of the mean of the kernels of the clusters, which differ."""
        kernels = Kernels(self.sigmas_, self.kernel_weights_)
        return GaussianMixtureSpace(self._rows(X), kernels.sigmas, kernels.coefficients.mean(axis=0), weights)

    def _center_distances(self, X: Any) -> FloatArray:
        return self._distances(self._rows(X))

    def _distances(self, X: FloatArray) -> FloatArray:
        scaled = np.ldexp(X - self._origin, -self._exponent)
        return self._kernels.squared_distances(_squared_euclidean(scaled, self._centers))


def check_sigmas(sigmas: ArrayLike) -> FloatArray:
    """Widths as a vector of positive, finite numbers."""
    sigmas = check_unmasked(sigmas, "sigmas")
    try:
        array = np.array(sigmas, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"sigmas must be numeric, got {sigmas!r}") from None
    if array.ndim != 1 or len(array) == 0:
        raise ValueError(f"sigmas must be a list of one or more widths, got shape {array.shape}")
    if not (np.isfinite(array).all() and (array > 0).all()):
        raise ValueError(f"sigmas must be positive, finite numbers, got {array.tolist()}")
    return array


def _relative_sigmas(sigmas: FloatArray, exponent: int) -> FloatArray:
    """Widths in units of a power of two that is about the range of the rows; refused if their powers are no numbers."""
    mantissas, exponents = np.frexp(sigmas)
    if (np.abs(exponents - exponent) > _FARTHEST_WIDTH).any():
        raise ValueError(
            f"sigmas between {sigmas.min():.3g} and {sigmas.max():.3g} are too far from the values of X, which reach "
            f"about {math.ldexp(1.0, min(exponent, 1023)):.3g} from their median, for powers of their ratios to be "
            "numbers: use widths near the distances between rows, or sigmas=None"
        )
    return np.ldexp(mantissas, exponents - exponent)


def _default_sigmas(X: FloatArray, n_kernels: int) -> FloatArray:
    n_kernels = check_positive_int(n_kernels, "n_kernels")
    return np.linspace(_NARROWEST, _WIDEST, n_kernels) * float(np.linalg.norm(np.ptp(X, axis=0)))


@dataclass(frozen=True, kw_only=True)
class FCMMKSolution(CentersSolution):
    """A run of :func:`descend_kernels`.

    Attributes
    ----------
    kernel_weights : ndarray of shape (n_clusters, n_kernels)
        Weights after the last iteration.
    membership_weights : ndarray of shape (n_clusters, n_kernels)
        The weights that ``memberships`` follow from.
    """

    kernel_weights: FloatArray
    membership_weights: FloatArray

    def reordered(self, order: list[int]) -> Self:
        """The same run with its clusters in another order."""
        return replace(
            super().reordered(order),
            kernel_weights=self.kernel_weights[order],
            membership_weights=self.membership_weights[order],
        )


def descend_kernels(
    X: FloatArray,
    U: FloatArray,
    t: Fuzzifier,
    sigmas: FloatArray,
    limits: Limits,
    row_weights: FloatArray | None = None,
) -> FCMMKSolution:
    """Fuzzy c-means with multiple kernels from the memberships U and equal kernel weights.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    U : ndarray of shape (n_samples, n_clusters)
    t : Fuzzifier
        A power.
    sigmas : ndarray of shape (n_kernels,)
    limits : Limits
    row_weights : ndarray of shape (n_samples,), optional
        How many samples each row stands for.

    Returns
    -------
    FCMMKSolution
    """
    kernels = membership_kernels = Kernels(sigmas, np.full((U.shape[1], len(sigmas)), 1.0 / len(sigmas)))
    weights = times(t.value(U), row_weights)
    centers = InputCenters.weighted(X, weights)
    euclidean = _squared_euclidean(X, centers.positions)
    path = [float(np.sum(weights * kernels.squared_distances(euclidean)))]
    status = Status.MAX_ITER
    while len(path) <= limits.max_iter and status is Status.MAX_ITER:
        activity.step("clustering")
        before, membership_kernels = centers, kernels
        centers = InputCenters.weighted(X, weights * kernels.mixtures(euclidean, 2))
        euclidean = _squared_euclidean(X, centers.positions)
        U = t.memberships(kernels.squared_distances(euclidean))
        weights = times(t.value(U), row_weights)
        kernels = descend_weights(kernels, weights, euclidean)
        path.append(float(np.sum(weights * kernels.squared_distances(euclidean))))
        if limits.centers_rest(centers, before) and not may_leave_uniformity(U, limits.tol):
            status = Status.CONVERGED
    return FCMMKSolution(
        memberships=U,
        objective=path[-1],
        objective_path=np.array(path),
        n_iter=len(path) - 1,
        status=Status.COLLAPSED if is_uniform(U) else status,
        prototypes=centers.prototypes,
        squared_norms=centers.squared_norms,
        centers=centers.positions,
        membership_centers=centers.positions,
        kernel_weights=kernels.weights,
        membership_weights=membership_kernels.weights,
    )


def _squared_euclidean(X: FloatArray, centers: FloatArray) -> FloatArray:
    """Squared distances of rows whose largest value is about one; what their rounding can be is zero."""
    distances = cdist(X, centers, "sqeuclidean")
    return np.where(distances <= RESOLUTION**2, 0.0, distances)


def _leading_eigenvalue(rows: MergedRows, center: FloatArray, kernels: Kernels) -> float:
    """λ₁ of the collapse theory when all centers coincide: see the notes of :class:`FCMMK`."""
    # In units of the widest σ, d = 2 − 2K(z) has ∇d = 2 g z and ∇²d = 2 (g I − h z zᵀ), with g = Σ a k / σ² and
    # h = Σ a k / σ⁴. The second variation of J in the centers is Σ ∇²d − m/(m−1) Σ ∇d ∇dᵀ / d.
    Z = (rows.values - center) / kernels.sigmas.max()
    euclidean = cdist(rows.values, center[None, :], "sqeuclidean")
    distances = kernels.squared_distances(euclidean)[:, 0]
    g, h = kernels.mixtures(euclidean, 2)[:, 0], kernels.mixtures(euclidean, 4)[:, 0]
    varying = np.ptp(Z, axis=0) > 0
    Z = Z[:, varying]
    if Z.shape[1] > len(Z):  # where no row reaches, nothing but g curves: coordinates within the span of the rows
        Z = qr(Z.T, mode="r")[0][: len(Z)].T
    slopes = np.divide(4.0 * g**2, distances, out=np.zeros_like(g), where=distances > 0)
    if rows.weights is not None:
        g, h, slopes = g * rows.weights, h * rows.weights, slopes * rows.weights
    curvature = 2.0 * (g.sum() * np.eye(Z.shape[1]) - (Z * h[:, None]).T @ Z)
    try:
        largest = eigh((Z * slopes[:, None]).T @ Z, curvature, eigvals_only=True)[-1]
    except np.linalg.LinAlgError:
        return math.inf  # the common center is not a minimum, so nothing holds the clusters there
    return 0.5 * float(largest)
