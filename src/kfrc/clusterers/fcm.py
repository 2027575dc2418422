"""Fuzzy c-means with any fuzzifier: the relational objective on squared Euclidean distances, through its centers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.callback import with_callbacks

from kfrc._numerics import CANCELLATION, SAME_PLACE, as_generator, midst, row_blocks
from kfrc._validation import check_number, check_positive_int
from kfrc.clusterers._input_space import leading_eigenvalue_of
from kfrc.clusterers.base import FuzzyClusterer
from kfrc.dissimilarity import Dissimilarity
from kfrc.fuzzifiers import Fuzzifier, resolve_fuzzifier
from kfrc.relational import (
    CENTER_TOL,
    DESCENT_TOL,
    SAME_OBJECTIVE,
    RelationalSolution,
    Start,
    Status,
    in_order,
    is_uniform,
    may_leave_uniformity,
    order_of_appearance,
    resolve_start,
    starting_memberships,
)
from kfrc.typing import ArrayLike, BoolArray, FloatArray, Progress, RandomStateLike

_TYPICAL_SAMPLES = 5000
"""Samples whose medians are taken: the origin and the typical distance need not be exact."""


class FCM(FuzzyClusterer):
    """Fuzzy c-means: minimizes Σ_j Σ_i t(u_ji) ‖x_j − v_i‖² over memberships U and centers V.

    One iteration moves every center to v_i = Σ_j t(u_ji) x_j / Σ_j t(u_ji) and then solves every row of memberships
    exactly; for the power fuzzifier that is u_ji ∝ ‖x_j − v_i‖^(−2/(m−1)). The objective never increases. The result
    is that of :class:`kfrc.FRC` with ``metric="sqeuclidean"``, found in one pass over the data per iteration: it costs
    O(n p c) and needs no memory beyond the data and two sets of memberships.

    Parameters
    ----------
    n_clusters : int, default=3
    fuzzifier : {"power", "exponential", "quadratic", "complementary_root"} or Fuzzifier, default="power"
    m : float, optional
        Fuzziness; None means the fuzzifier's default.
    init : {"spectral", "near_uniform", "random", "kmeans++", "blocks"}, Start or array-like, default="spectral"
        Starting memberships; an array has shape (n_samples, n_clusters). The spectral start (k-means on the leading
        principal coordinates) is linear in n and costs about as much as thirty iterations, which it saves;
        ``"kmeans++"`` costs as much as three.
    n_init : int, default=4
        Runs; the lowest objective wins. After a deterministic start the others begin with ``"kmeans++"``.
    max_iter : int, default=1000
    tol : float, default=1e-6
        Largest movement of a membership at convergence.
    random_state : int, RandomState, Generator or None
    verbose : int, default=0
        Print one line per run.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Centers; a row is NaN if there are fewer distinct samples than clusters and its cluster stayed empty.
    memberships_, labels_, objective_, objective_path_, n_iter_, status_, uniformity_
        See :class:`kfrc.clusterers.FuzzyClusterer`.

    References
    ----------
    Bezdek, Ehrlich and Full (1984), "FCM: the fuzzy c-means clustering algorithm", Computers & Geosciences 10.
    Klawonn and Höppner (2003), "What is fuzzy about fuzzy clustering?", for other fuzzifiers than the power.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kfrc import FCM
    >>> fcm = FCM(3, random_state=0).fit(load_iris().data)
    >>> fcm.cluster_centers_.shape, fcm.status_, round(fcm.objective_, 3)
    ((3, 4), 'converged', 60.506)
    """

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        fuzzifier: str | Fuzzifier = "power",
        m: float | None = None,
        init: str | Start | ArrayLike = "spectral",
        n_init: int = 4,
        max_iter: int = 1000,
        tol: float = 1e-6,
        random_state: RandomStateLike = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.fuzzifier = fuzzifier
        self.m = m
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks
    def fit(self, X: ArrayLike, y: None = None) -> Self:
        """Find clusters.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        with self._all_or_nothing():
            data = self._table(X)
            n_clusters = self._check_clusters(len(data))
            fuzzifier = resolve_fuzzifier(self.fuzzifier, self.m)
            fuzzifier.check_weights(n_clusters)
            self._check_columns(data)
            progress = self._start_progress(check_positive_int(self.n_init, "n_init"), self.verbose)
            solution = solve_fcm(
                data,
                n_clusters,
                fuzzifier,
                init=self.init,
                n_init=self.n_init,
                max_iter=self.max_iter,
                tol=self.tol,
                random_state=as_generator(self.random_state),
                progress=progress,
            )
            self._store(solution, fuzzifier)
            self.cluster_centers_ = solution.centers
            self._origin, self._locations = solution.origin, solution.locations
            self._warn_about(solution, fuzzifier, lambda: leading_eigenvalue_of(data))
            self._end_progress()
        return self

    def _center_distances(self, X: Any) -> FloatArray:
        X = self._rows(X)
        # As in the fit, number by number: far from zero the sum of origin and location has lost digits.
        Z = _extend(X - self._origin)
        distances = np.empty((len(X), len(self._locations)))
        for rows in _row_blocks(Z, len(self._locations)):
            distances[rows] = _squared_distances(Z[:, rows], self._locations).T
        return distances


@dataclass(frozen=True, kw_only=True)
class FCMSolution(RelationalSolution):
    """A run of :func:`solve_fcm`, with its centers as points.

    Attributes
    ----------
    origin : ndarray of shape (n_features,)
        A point among the samples.
    locations : ndarray of shape (n_clusters, n_features)
        The centers relative to it, which ``memberships`` follow from; infinite for a cluster that stayed empty.
    """

    origin: FloatArray
    locations: FloatArray

    @property
    def centers(self) -> FloatArray:
        """Centers of shape (n_clusters, n_features); NaN for a cluster that stayed empty."""
        return np.where(np.isfinite(self.locations), self.origin + self.locations, np.nan)

    def reordered(self, order: list[int]) -> FCMSolution:
        """The same run with its clusters in another order."""
        return replace(in_order(self, order), locations=self.locations[order])


def solve_fcm(
    X: FloatArray,
    n_clusters: int,
    fuzzifier: Fuzzifier,
    *,
    init: str | Start | ArrayLike = "spectral",
    n_init: int = 1,
    max_iter: int = 1000,
    tol: float = 1e-6,
    random_state: RandomStateLike = None,
    progress: Progress | None = None,
) -> FCMSolution:
    """Minimize Σ_j Σ_i t(u_ji) ‖x_j − v_i‖²: what ``solve_relational`` does on these features, in one pass each step.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    n_clusters : int
    fuzzifier : Fuzzifier
    init, n_init, max_iter, tol, random_state, progress
        See :func:`kfrc.relational.solve_relational`.

    Returns
    -------
    FCMSolution
    """
    n_init = check_positive_int(n_init, "n_init")
    max_iter = check_positive_int(max_iter, "max_iter")
    tol = check_number(tol, "tol", minimum=0.0)
    start = resolve_start(init, len(X), n_clusters)
    # Distances by inner products lose digits far from the origin: it is put where most samples are.
    origin = midst(X, _TYPICAL_SAMPLES)
    X = X - origin
    Z = _extend(X)
    best: FCMSolution | None = None
    keeps_numbering = False
    runs = starting_memberships(start, n_init, Dissimilarity.from_features(X), n_clusters, random_state)
    for k, U in enumerate(runs):
        solution = _descend(Z, fuzzifier, U, max_iter, tol, origin)
        if best is None or solution.objective < best.objective - SAME_OBJECTIVE * abs(best.objective):
            best, keeps_numbering = solution, start.numbers_run(k)
        if progress is not None:
            progress(f"clustering {k + 1}/{n_init}")
    assert best is not None  # n_init >= 1
    return best if keeps_numbering else best.reordered(order_of_appearance(best.memberships))


# The work is done on arrays with samples along the columns: a sum over clusters is then a sum of long vectors. And with
# z = (x, ‖x‖², 1) each half of an iteration is one matrix product: ‖x − v‖² = (−2v, 1, ‖v‖²) · z, and Σ_j w_j z_j holds
# the weighted sum of the samples and, last, the sum of the weights.


def _extend(X: FloatArray) -> FloatArray:
    """The columns z = (x, ‖x‖², 1), of shape (n_features + 2, n_rows)."""
    Z = np.empty((X.shape[1] + 2, len(X)))
    Z[:-2] = X.T
    np.einsum("jr,jr->j", X, X, out=Z[-2])
    Z[-1] = 1.0
    return Z


def _squared_distances(Z: FloatArray, centers: FloatArray) -> FloatArray:
    """‖x_j − v_i‖² of shape (n_clusters, n_rows); ``inf`` for a center that is ``inf``."""
    finite = np.isfinite(centers[:, 0])
    used = np.where(finite[:, None], centers, 0.0)
    norms = np.einsum("ir,ir->i", used, used)
    distances = np.column_stack([-2.0 * used, np.ones(len(used)), norms]) @ Z
    # Where the terms cancel, and only there, the distances are computed by differences.
    terms = CANCELLATION * np.add.outer(norms, Z[-2])
    i, j = np.nonzero(distances < terms)
    if len(i):
        squares = np.square(Z[:-2, j] - used[i].T).sum(axis=0)
        distances[i, j] = np.where(squares <= SAME_PLACE * terms[i, j], 0.0, squares)
    distances[~finite] = np.inf
    return distances


def _row_blocks(Z: FloatArray, n_clusters: int) -> Iterator[slice]:
    """Blocks of samples whose columns of Z, distances, memberships and weights stay in cache together."""
    return row_blocks(Z.shape[1], len(Z) + 2 * n_clusters)


@dataclass(frozen=True)
class _WeightedMeans:
    """Centers of one pass over the samples, with the weight that each was made of."""

    locations: FloatArray
    masses: FloatArray
    empty: BoolArray

    @classmethod
    def from_sums(cls, sums: FloatArray) -> _WeightedMeans:
        """From Σ_j t(u_ji) z_j, of shape (n_clusters, n_features + 2)."""
        masses = sums[:, -1]
        empty = masses <= 0
        return cls(sums[:, :-2] / np.where(empty, 1.0, masses)[:, None], masses, empty)


def _descend(
    Z: FloatArray, t: Fuzzifier, start: FloatArray, max_iter: int, tol: float, origin: FloatArray
) -> FCMSolution:
    U = np.ascontiguousarray(start.T)
    spare = np.empty_like(U)
    centers = _WeightedMeans.from_sums(_weighted_sums(Z, t, U))
    path = [float(_costs(Z, t, U, centers).sum())]
    status = Status.MAX_ITER
    n_iter = 0
    while status is Status.MAX_ITER and n_iter < max_iter:
        n_iter += 1
        used = centers
        seeds = _reseed(Z, t, U, used)
        sums, objective, movement = _move_memberships(Z, t, used.locations, U, spare)
        centers = _WeightedMeans.from_sums(sums)
        # J(U, V⁺) = J(U, V) − Σ_i S_i ‖v⁺_i − v_i‖²: subtracts little, where sums of squares would cancel.
        moved = centers.locations[~centers.empty] - used.locations[~centers.empty]
        steps = np.einsum("ir,ir->i", moved, moved)
        objective -= float(centers.masses[~centers.empty] @ steps)
        stalled = n_iter > 1 and objective > (1.0 + DESCENT_TOL) * path[-1]
        if movement <= tol and _centers_rest(Z, used.locations, steps, tol) and not may_leave_uniformity(spare.T, tol):
            status = Status.CONVERGED
        if stalled:  # no descent but rounding: U stays what it was, and the centers used are those that it defines
            n_iter -= 1
            spare = U
            break
        U, spare = spare, U
        path.append(objective)
    if is_uniform(U.T):
        status = Status.COLLAPSED
    return FCMSolution(
        memberships=np.ascontiguousarray(U.T),
        objective=path[-1],
        objective_path=np.array(path),
        n_iter=n_iter,
        status=status,
        prototypes=_prototypes(t, spare, used, seeds),
        squared_norms=np.einsum("ir,ir->i", used.locations, used.locations),
        origin=origin,
        locations=used.locations,
    )


def _centers_rest(Z: FloatArray, locations: FloatArray, steps: FloatArray, tol: float) -> bool:
    """Whether steps of these squared lengths move squared distances by no more than ``solve_relational`` accepts."""
    some = Z[:, :: max(1, Z.shape[1] // _TYPICAL_SAMPLES)]
    distances = _squared_distances(some, locations[np.isfinite(locations[:, 0])])
    # |‖x − v⁺‖² − ‖x − v‖²| ≤ 2 ‖x − v‖ ‖v⁺ − v‖, at the median distance.
    return bool(2.0 * math.sqrt(steps.max(initial=0.0)) <= CENTER_TOL * tol * math.sqrt(np.median(distances)))


def _move_memberships(
    Z: FloatArray, t: Fuzzifier, locations: FloatArray, U: FloatArray, out: FloatArray
) -> tuple[FloatArray, float, float]:
    """Exact memberships for these centers, written to ``out``.

    Returns the sums that the next centers need, J of the new memberships with these centers, and the largest change.
    """
    sums = np.zeros((len(locations), len(Z)))
    objective = movement = 0.0
    absent = ~np.isfinite(locations[:, 0])
    for rows in _row_blocks(Z, len(U)):
        distances = _squared_distances(Z[:, rows], locations)
        block = t.memberships(distances.T).T
        change = np.subtract(block, U[:, rows], out=out[:, rows])
        movement = max(movement, float(change.max()), -float(change.min()))
        out[:, rows] = block
        weights = t.value(block)
        sums += weights @ Z[:, rows].T
        distances[absent] = 0.0  # no weight, no cost
        objective += float(np.vdot(weights, distances))
    return sums, objective, movement


def _weighted_sums(Z: FloatArray, t: Fuzzifier, U: FloatArray) -> FloatArray:
    sums = np.zeros((len(U), len(Z)))
    for rows in _row_blocks(Z, len(U)):
        sums += t.value(U[:, rows]) @ Z[:, rows].T
    return sums


def _costs(Z: FloatArray, t: Fuzzifier, U: FloatArray, centers: _WeightedMeans) -> FloatArray:
    """Σ_i t(u_ji) ‖x_j − v_i‖² per sample, of shape (n_samples,)."""
    costs = np.empty(Z.shape[1])
    for rows in _row_blocks(Z, len(U)):
        distances = _squared_distances(Z[:, rows], centers.locations)
        distances[centers.empty] = 0.0
        np.einsum("ij,ij->j", t.value(U[:, rows]), distances, out=costs[rows])
    return costs


def _reseed(Z: FloatArray, t: Fuzzifier, U: FloatArray, centers: _WeightedMeans) -> dict[int, int]:
    """Put the center of each empty cluster on the samples that cost most, as ``solve_relational`` does.

    If nothing costs anything the cluster stays empty, infinitely far. Returns which sample each center was put on.
    """
    seeds: dict[int, int] = {}
    if centers.empty.any():
        costs = _costs(Z, t, U, centers)
        dearest = np.argsort(-costs, kind="stable").tolist()
        for i, j in zip(np.flatnonzero(centers.empty).tolist(), dearest, strict=False):
            if costs[j] > 0:
                centers.locations[i] = Z[:-2, j]
                seeds[i] = j
            else:
                centers.locations[i] = np.inf
    return seeds


def _prototypes(t: Fuzzifier, U: FloatArray, centers: _WeightedMeans, seeds: dict[int, int]) -> FloatArray:
    """Weights of the centers in the samples, of shape (n_samples, n_clusters)."""
    prototypes = np.ascontiguousarray(t.value(U).T)
    prototypes /= np.where(centers.empty, 1.0, centers.masses)
    for i, j in seeds.items():
        prototypes[j, i] = 1.0
    return prototypes
