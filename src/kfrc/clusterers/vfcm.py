"""Fuzzy c-means with an annealed fuzzifier (vFCM)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from scipy.spatial.distance import cdist

from kfrc import activity
from kfrc._callbacks import with_callbacks
from kfrc._validation import check_number, check_positive_int
from kfrc.clusterers._input_space import CentersSolution, InputCenters, Limits, best_run, leading_eigenvalue_of
from kfrc.clusterers._rows import MergedRows, fitted_rows, times
from kfrc.clusterers.base import FuzzyClusterer
from kfrc.fuzzifiers import Power
from kfrc.relational import Start, Status, is_uniform
from kfrc.typing import ArrayLike, FloatArray, RandomStateLike

_SMALLEST_M = 1.0 + 1e-8
"""Where annealing ends in floating point: beyond this 1/(m − 1) resolves more digits than distances have."""

_LIMIT_TOL = 1e-12
"""Rounding of a + b: 0.95 + 0.05 must count as one."""


class VFCM(FuzzyClusterer):
    """Fuzzy c-means whose fuzzifier falls during the run: m ← a m + b every k iterations.

    Each iteration is a step of fuzzy c-means with the current m,

        u_ji ∝ ‖x_j − v_i‖^(−2/(m−1)),    v_i = Σ_j u_ji^m x_j / Σ_j u_ji^m,

    so the run starts fuzzy, which forgives a bad start, and ends nearly crisp: with the defaults m − 1 shrinks by 5 %
    every second iteration, towards b / (1 − a) = 1.

    Parameters
    ----------
    n_clusters : int, default=3
    m0 : float, default=2
        Fuzziness of the first iterations, above 1.
    a, b : float, default=0.95 and 0.05
        The schedule m ← a m + b, with 0 ≤ a < 1. Its limit b / (1 − a) must be at least 1, unless ``min_m`` is given.
    every : int, default=2
        Iterations between two updates of m.
    min_m : float, optional
        Floor of m, above 1. None lets m approach its limit, as published; 1.01 is the floor of the code that the
        paper's authors released.
    init : {"spectral", "near_uniform", "random", "kmeans++", "blocks"}, Start or array-like, default="spectral"
        Starting memberships; an array has shape (n_samples, n_clusters).
    n_init : int, default=4
        Runs. Their final m differ, so their objectives cannot be compared: the smallest within-cluster sum of squares
        Σ_j min_i ‖x_j − v_i‖² wins. After a deterministic start the others begin with ``"kmeans++"``.
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
        See :class:`kfrc.clusterers.FuzzyClusterer`. The objective Σ_ji u_ji^m ‖x_j − v_i‖² is that of the m of its
        iteration, so the path may rise when m falls.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Means weighted by ``memberships_`` to the power m. Predictions use the centers that ``memberships_`` follow
        from, one step earlier; after convergence the two differ by less than ``tol``.
    m_path_ : ndarray of shape (n_iter,)
        m of every iteration.
    m_ : float
        The final m, which predictions use.

    Notes
    -----
    Memberships are computed relative to the nearest center, so nothing overflows however close m comes to 1. A run
    that has (nearly) collapsed to 1/c does not stop while m still falls: below m* the uniform solution is unstable and
    the run leaves it by itself. An empty cluster restarts at the sample that costs most. The reference implementation
    behind the paper's numbers does none of the three; where they do not matter it gives the same memberships.

    References
    ----------
    Chen et al. (2022), "Improved fuzzy c-means clustering by varying the fuzziness parameter"; the schedule is stated
    in the simulation section of the paper.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kfrc.clusterers.vfcm import VFCM
    >>> vfcm = VFCM(3, random_state=0).fit(load_iris().data)
    >>> vfcm.m_path_[:5].round(4)
    array([2.    , 2.    , 1.95  , 1.95  , 1.9025])
    >>> vfcm.uniformity_ < 0.05
    True
    """

    _minimizes_relation: ClassVar[bool] = False
    m_path_: FloatArray
    _membership_centers: FloatArray

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        m0: float = 2.0,
        a: float = 0.95,
        b: float = 0.05,
        every: int = 2,
        min_m: float | None = None,
        init: str | Start | ArrayLike = "spectral",
        n_init: int = 4,
        max_iter: int = 1000,
        tol: float = 1e-6,
        random_state: RandomStateLike = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.m0 = m0
        self.a = a
        self.b = b
        self.every = every
        self.min_m = min_m
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
            schedule = check_schedule(self.m0, self.a, self.b, self.every, self.min_m)
            Power(schedule.m0).check_weights(n_clusters)
            rows = fitted_rows(data, sample_weight, at_least=n_clusters)
            self._check_columns(rows.values)
            limits = Limits.of(rows, self.max_iter, self.tol)
            progress = self._start_progress(check_positive_int(self.n_init, "n_init"), self.verbose)
            solution = best_run(
                rows,
                n_clusters,
                lambda U: anneal(rows.values, U, schedule, limits, rows.weights),
                lambda run: _within_cluster_sum(rows, run.centers),
                init=self.init,
                n_init=self.n_init,
                random_state=self.random_state,
                progress=progress,
            )
            self.m_path_ = solution.m_path
            self.m_ = float(solution.m_path[-1])
            self.cluster_centers_ = solution.centers
            self._membership_centers = solution.membership_centers
            fuzzifier = Power(self.m_)
            self._store(solution, fuzzifier, rows, lambda absent: fuzzifier.memberships(self._distances(data[absent])))
            self._warn_about(solution, fuzzifier, lambda: leading_eigenvalue_of(rows), rows.scales())
            self._end_progress()
        return self

    def _center_distances(self, X: Any) -> FloatArray:
        return self._distances(self._rows(X))

    def _distances(self, X: FloatArray) -> FloatArray:
        return cdist(X, self._membership_centers, "sqeuclidean")


@dataclass(frozen=True)
class Annealing:
    """The schedule m ← max(a m + b, smallest) after every ``every`` iterations."""

    m0: float
    a: float
    b: float
    every: int
    smallest: float

    def following(self, m: float, n_iter: int) -> float:
        """The m of iteration ``n_iter`` + 1, given that of iteration ``n_iter``."""
        return max(self.a * m + self.b, self.smallest) if n_iter % self.every == 0 else m


def check_schedule(m0: Any, a: Any, b: Any, every: Any, min_m: Any) -> Annealing:
    """A schedule that stays above m = 1."""
    m0 = _check_fuzziness(m0, "m0")
    smallest = _SMALLEST_M if min_m is None else _check_fuzziness(min_m, "min_m")
    a = check_number(a, "a", minimum=0.0)
    b = check_number(b, "b", minimum=0.0)
    if a >= 1 or not math.isfinite(b):
        raise ValueError(f"a must be below 1 and b finite, got a = {a:g} and b = {b:g}: m would not settle")
    if min_m is None and a + b < 1 - _LIMIT_TOL:
        raise ValueError(
            f"m <- {a:g} m + {b:g} falls to {b / (1 - a):.4g}, but m must stay above 1: "
            f"use b >= 1 - a = {1 - a:.4g}, or give a floor such as min_m=1.01"
        )
    if smallest > m0:
        raise ValueError(f"min_m = {smallest:g} is above m0 = {m0:g}: m starts at m0 and may not fall below min_m")
    return Annealing(m0, a, b, check_positive_int(every, "every"), smallest)


def _check_fuzziness(value: Any, name: str) -> float:
    number = check_number(value, name, minimum=1.0, strict=True)
    if math.isinf(number):
        raise ValueError(f"{name} must be finite")
    return number


@dataclass(frozen=True, kw_only=True)
class VFCMSolution(CentersSolution):
    """A run of :func:`anneal`, with the m of every iteration."""

    m_path: FloatArray


def anneal(
    X: FloatArray, U: FloatArray, schedule: Annealing, limits: Limits, row_weights: FloatArray | None = None
) -> VFCMSolution:
    """Fuzzy c-means from the memberships U, with m following a schedule.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    U : ndarray of shape (n_samples, n_clusters)
    schedule : Annealing
    limits : Limits
    row_weights : ndarray of shape (n_samples,), optional
        How many samples each row stands for.

    Returns
    -------
    VFCMSolution
    """
    m = schedule.m0
    weights = times(U**m, row_weights)
    centers = membership_centers = InputCenters.weighted(X, weights)
    distances = cdist(X, centers.positions, "sqeuclidean")
    path = [float(np.sum(weights * distances))]
    m_path: list[float] = []
    status = Status.MAX_ITER
    while len(m_path) < limits.max_iter and status is Status.MAX_ITER:
        activity.step("clustering")
        membership_centers = centers
        U = Power(m).memberships(distances)
        weights = times(U**m, row_weights)
        centers = InputCenters.weighted(X, weights)
        distances = cdist(X, centers.positions, "sqeuclidean")
        m_path.append(m)
        path.append(float(np.sum(weights * distances)))
        following = schedule.following(m, len(m_path))
        may_recover = is_uniform(U) and schedule.following(m, 0) < m
        if limits.centers_rest(centers, membership_centers) and not may_recover:
            status = Status.CONVERGED
        else:
            m = following
    return VFCMSolution(
        memberships=U,
        objective=path[-1],
        objective_path=np.array(path),
        n_iter=len(m_path),
        status=Status.COLLAPSED if is_uniform(U) else status,
        prototypes=centers.prototypes,
        squared_norms=centers.squared_norms,
        centers=centers.positions,
        membership_centers=membership_centers.positions,
        m_path=np.array(m_path),
    )


def _within_cluster_sum(rows: MergedRows, centers: FloatArray) -> float:
    """Σ_j s_j min_i ‖x_j − v_i‖²."""
    nearest = cdist(rows.values, centers, "sqeuclidean").min(axis=1)
    return float(nearest.sum() if rows.weights is None else rows.weights @ nearest)
