"""Fuzzy c-means whose memberships are scaled where the nearest center cannot change (MSFCM)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.utils.validation import check_is_fitted

from kfrc import activity
from kfrc._callbacks import with_callbacks
from kfrc._numerics import or_infinite, where_squares_overflow
from kfrc._threads import limiting_threads
from kfrc._validation import check_flag, check_positive_int, check_sample_weight
from kfrc.clusterers._input_space import CentersSolution, InputCenters, Limits, best_run, leading_eigenvalue_of
from kfrc.clusterers._rows import fitted_rows, is_beyond_numbers, times
from kfrc.clusterers.base import FuzzyClusterer
from kfrc.fuzzifiers import Fuzzifier, resolve_fuzzifier
from kfrc.relational import Start, Status, is_uniform, may_leave_uniformity
from kfrc.typing import ArrayLike, BoolArray, FloatArray, RandomStateLike


class MSFCM(FuzzyClusterer):
    """Membership scaling fuzzy c-means: pulls each center towards the samples that will stay with it.

    An iteration starts with the memberships u_ji ∝ d_ji^(−2/(m−1)) of fuzzy c-means, d_ji = ‖x_j − v_i‖, and the
    centers ṽ_i they would give. Let δ_i = ‖ṽ_i − v_i‖ and let d_j(1) ≤ … ≤ d_j(c) be the sorted distances of sample j,
    with i* its nearest center. By the triangle inequality i* stays the nearest if

        d_j(2) − max_i δ_i ≥ d_j(1) + δ_i*.

    The memberships of these samples are scaled, those of i* up and the others down, rows still summing to one:

        u_ji* = M_j = 1 / (1 + (c − 1) (d_j(1) / d_j(c))^(2/(m−1))),    u_ji ← u_ji (1 − M_j) / (1 − u_ji*),  i ≠ i*,

    and the centers become the means weighted by u_ji^m.

    Parameters
    ----------
    n_clusters : int, default=3
    m : float, default=2
        Fuzziness, above 1.
    stop_when_filtered : bool, default=True
        Also stop as soon as every sample passes the test above, as the reference implementation does. The labels are
        then final but the centers may not be, so the memberships depend on the start; False goes on until the centers
        rest.
    init : {"spectral", "near_uniform", "random", "kmeans++", "blocks"}, Start or array-like, default="spectral"
        Starting memberships; an array has shape (n_samples, n_clusters).
    n_init : int, default=4
        Runs; the lowest objective wins. After a deterministic start the others begin with ``"kmeans++"``.
    max_iter : int, default=1000
    tol : float, default=1e-6
        A run has converged when the centers move by less than this (Frobenius norm), in units of the root of the total
        variance per dimension that the rows span, which is 1 for standardized data. A constant column changes nothing,
        nor do all columns twice.
    random_state : int, RandomState, Generator or None
    verbose : int, default=0
        Print one line per run.

    Attributes
    ----------
    memberships_, labels_, objective_, objective_path_, n_iter_, status_, uniformity_
        See :class:`kfrc.clusterers.FuzzyClusterer`. The objective is Σ_ji u_ji^m ‖x_j − v_i‖² of the scaled
        memberships; scaling does not minimize it, so the path may rise.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Means weighted by ``memberships_`` to the power m. Predicted memberships use the centers that ``memberships_``
        follow from, one step earlier; when the centers rest the two differ by less than ``tol``.
    filter_rates_ : ndarray of shape (n_iter,)
        Share of the samples whose memberships were scaled, in every iteration.

    Notes
    -----
    New rows are scaled like the training rows, with the δ of the last iteration. For two clusters M_j equals the
    membership it replaces and the method is fuzzy c-means. Which samples are scaled changes abruptly with the centers,
    so several end points can lie close together and different starts need not agree to more than a few digits. Scaling
    fades out near the uniform partition; the m* of a :class:`kfrc.UniformCollapseWarning` is that of fuzzy c-means.

    This is the variant behind the paper's numbers. Unlike it, an empty cluster restarts at the sample that costs most,
    a sample between two equally near centers is not scaled, and a run within 10⁻³ of uniformity goes on until it has
    decided whether to leave it.

    References
    ----------
    Zhou, S., Li, D., Zhang, Z. and Ping, R., "A new membership scaling fuzzy c-means clustering algorithm", IEEE
    Transactions on Fuzzy Systems 29(9), 2021 (online 2020).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kfrc.clusterers.msfcm import MSFCM
    >>> msfcm = MSFCM(3, random_state=0).fit(load_iris().data)
    >>> msfcm.memberships_.shape, msfcm.status_
    ((150, 3), 'converged')
    >>> float(msfcm.filter_rates_[-1]) > 0.9
    True
    """

    _minimizes_relation: ClassVar[bool] = False
    filter_rates_: FloatArray
    _membership_centers: FloatArray
    _shifts: FloatArray

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        m: float | None = 2.0,
        stop_when_filtered: bool = True,
        init: str | Start | ArrayLike = "spectral",
        n_init: int = 4,
        max_iter: int = 1000,
        tol: float = 1e-6,
        random_state: RandomStateLike = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.m = m
        self.stop_when_filtered = stop_when_filtered
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
            fuzzifier = resolve_fuzzifier("power", self.m)
            fuzzifier.check_weights(n_clusters)
            stop_when_filtered = check_flag(self.stop_when_filtered, "stop_when_filtered")
            rows = fitted_rows(data, sample_weight, at_least=n_clusters)
            self._check_columns(rows.values)
            limits = Limits.of(rows, self.max_iter, self.tol)
            progress = self._start_progress(check_positive_int(self.n_init, "n_init"), self.verbose)
            solution = best_run(
                rows,
                n_clusters,
                lambda U: descend_scaled(
                    rows.values, U, fuzzifier, limits, rows.weights, stop_when_filtered=stop_when_filtered
                ),
                lambda run: run.objective,
                init=self.init,
                n_init=self.n_init,
                random_state=self.random_state,
                progress=progress,
            )
            self.filter_rates_ = solution.filter_rates
            self.cluster_centers_ = solution.centers
            self._membership_centers = solution.membership_centers
            self._shifts = solution.shifts
            self._store(solution, fuzzifier, rows, lambda absent: self._memberships(data[absent]))
            self._warn_about(solution, fuzzifier, lambda: leading_eigenvalue_of(rows), rows.scales())
            self._end_progress()
        return self

    @limiting_threads
    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """Scaled memberships of new rows, given the fitted centers and their last shifts.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)

        Returns
        -------
        U : ndarray of shape (n_rows, n_clusters)
        """
        check_is_fitted(self)
        return self._memberships(self._rows(X))

    @limiting_threads
    def score(self, X: ArrayLike, y: None = None, sample_weight: ArrayLike | None = None) -> float:
        """Minus the objective of X with respect to the fitted centers: higher is better.

        It compares fits of one objective: the same kind of estimator, fuzzifier, m and number of clusters. Of other
        fits it says nothing, as objectives fall with m and with the number of clusters, grouped data or not:
        ``GridSearchCV`` would take the largest of both. There, use
        ``scoring=kfrc.confidence.reproducibility_score``.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
        y : ignored
        sample_weight : array-like of shape (n_rows,), optional
            How many rows each row stands for.
        """
        check_is_fitted(self)
        data = self._rows(X)
        weights = check_sample_weight(sample_weight, len(data))
        distances = or_infinite(cdist(data, self.cluster_centers_, "sqeuclidean"))
        if is_beyond_numbers(distances, weights):
            return -np.inf
        values = times(self.fuzzifier_.value(self._memberships(data)), weights)
        return -float(np.sum(values * np.where(np.isfinite(distances), distances, 0.0)))

    def _memberships(self, X: FloatArray) -> FloatArray:
        distances = cdist(X, self._membership_centers, "sqeuclidean")
        with where_squares_overflow():  # such rows are as far from all centers, and not scaled
            U = self.fuzzifier_.memberships(distances)
            return scale_memberships(U, distances, self._shifts, self.fuzzifier_.m)[0]

    def _center_distances(self, X: Any) -> FloatArray:
        X = self._rows(X)
        return cdist(X, self.cluster_centers_, "sqeuclidean")


@dataclass(frozen=True, kw_only=True)
class MSFCMSolution(CentersSolution):
    """A run of :func:`descend_scaled`.

    Attributes
    ----------
    filter_rates : ndarray of shape (n_iter,)
    shifts : ndarray of shape (n_clusters,)
        δ of the last iteration.
    """

    filter_rates: FloatArray
    shifts: FloatArray

    def reordered(self, order: list[int]) -> Self:
        """The same run with its clusters in another order."""
        return replace(super().reordered(order), shifts=self.shifts[order])


def descend_scaled(
    X: FloatArray,
    U: FloatArray,
    t: Fuzzifier,
    limits: Limits,
    row_weights: FloatArray | None = None,
    *,
    stop_when_filtered: bool = True,
) -> MSFCMSolution:
    """Membership scaling fuzzy c-means from the memberships U.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    U : ndarray of shape (n_samples, n_clusters)
    t : Fuzzifier
        A power.
    limits : Limits
    row_weights : ndarray of shape (n_samples,), optional
        How many samples each row stands for.
    stop_when_filtered : bool, default=True
        Stop as soon as every sample is scaled.

    Returns
    -------
    MSFCMSolution
    """
    weights = times(t.value(U), row_weights)
    centers = membership_centers = InputCenters.weighted(X, weights)
    distances = cdist(X, centers.positions, "sqeuclidean")
    path = [float(np.sum(weights * distances))]
    shifts = np.zeros(U.shape[1])
    rates: list[float] = []
    status = Status.MAX_ITER
    while len(rates) < limits.max_iter and status is Status.MAX_ITER:
        activity.step("clustering")
        membership_centers = centers
        plain = t.memberships(distances)
        ahead = InputCenters.weighted(X, times(t.value(plain), row_weights))
        shifts = np.linalg.norm(ahead.positions - centers.positions, axis=1)
        U, scaled = scale_memberships(plain, distances, shifts, t.m)
        weights = times(t.value(U), row_weights)
        centers = InputCenters.weighted(X, weights)
        distances = cdist(X, centers.positions, "sqeuclidean")
        rates.append(float(np.average(scaled, weights=row_weights)))
        path.append(float(np.sum(weights * distances)))
        rests = limits.centers_rest(centers, membership_centers) and not may_leave_uniformity(U, limits.tol)
        if rests or (stop_when_filtered and scaled.all()):
            status = Status.CONVERGED
    return MSFCMSolution(
        memberships=U,
        objective=path[-1],
        objective_path=np.array(path),
        n_iter=len(rates),
        status=Status.COLLAPSED if is_uniform(U) else status,
        prototypes=centers.prototypes,
        squared_norms=centers.squared_norms,
        centers=centers.positions,
        membership_centers=membership_centers.positions,
        filter_rates=np.array(rates),
        shifts=shifts,
    )


def scale_memberships(
    U: FloatArray, distances: FloatArray, shifts: FloatArray, m: float
) -> tuple[FloatArray, BoolArray]:
    """Raise the largest membership of the samples whose nearest center cannot change, and shrink the others.

    Parameters
    ----------
    U : ndarray of shape (n_samples, n_clusters)
        Memberships of fuzzy c-means.
    distances : ndarray of shape (n_samples, n_clusters)
        Squared distances to the centers.
    shifts : ndarray of shape (n_clusters,)
        δ: how far each center is about to move.
    m : float

    Returns
    -------
    scaled_U : ndarray of shape (n_samples, n_clusters)
    scaled : ndarray of bool, of shape (n_samples,)
        The samples that were scaled.

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc.clusterers.msfcm import scale_memberships
    >>> distances = np.array([[1.0, 4.0, 4.0], [1.0, 1.1, 8.0]])
    >>> U = (1 / distances) / (1 / distances).sum(axis=1, keepdims=True)
    >>> scale_memberships(U, distances, np.array([0.1, 0.1, 0.2]), 2.0)[1]
    array([ True, False])
    """
    n_samples, n_clusters = U.shape
    if n_clusters == 1:
        return U, np.ones(n_samples, dtype=bool)
    rows = np.arange(n_samples)
    nearest = distances.argmin(axis=1)
    first, second = np.sqrt(np.partition(distances, 1, axis=1)[:, :2]).T
    scaled = (second - shifts.max() >= first + shifts[nearest]) & (second > first)
    # second > first ≥ 0 wherever the result is used, so the largest distance there is positive.
    farthest = distances.max(axis=1)
    ratios = np.divide(first**2, farthest, out=np.ones(n_samples), where=farthest > 0) ** (1.0 / (m - 1.0))
    outside = (n_clusters - 1) * ratios / (1.0 + (n_clusters - 1) * ratios)  # 1 − M
    others = U.copy()
    others[rows, nearest] = 0.0
    rest = others.sum(axis=1)
    others *= np.divide(outside, rest, out=np.zeros(n_samples), where=rest > 0)[:, None]
    others[rows, nearest] = 1.0 - outside
    return np.where(scaled[:, None], others, U), scaled
