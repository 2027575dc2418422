"""Fuzzy c-means with any fuzzifier: the relational objective on squared Euclidean distances, through its centers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.callback import with_callbacks
from sklearn.utils.validation import validate_data

from kfrc._numerics import COLLAPSE_TOL, as_generator, row_blocks
from kfrc._typing import ArrayLike, BoolArray, FloatArray, Progress, RandomStateLike
from kfrc._validation import (
    check_clusters_for_fit,
    check_memberships,
    check_number,
    check_positive_int,
    find_varying_columns,
)
from kfrc.clusterers.base import FuzzyClusterer
from kfrc.clusterers.frc import resolve_fuzzifier
from kfrc.dissimilarity import Dissimilarity
from kfrc.fuzzifiers import Fuzzifier
from kfrc.relational import RelationalSolution, Start, Status
from kfrc.spectrum import spectrum_of

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
    init : {"spectral", "near_uniform", "random", "kmeans++"} or array-like, default="spectral"
        Starting memberships; an array has shape (n_samples, n_clusters). The spectral start (k-means on the leading
        principal coordinates) is linear in n and costs about as much as thirty iterations, which it saves;
        ``"kmeans++"`` costs as much as three.
    n_init : int, default=4
        Runs; the lowest objective wins. After a spectral or given start the others begin with ``"kmeans++"``.
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
        init: str | ArrayLike = "spectral",
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
        data: FloatArray = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        n_clusters = check_clusters_for_fit(self.n_clusters, len(data))
        fuzzifier = resolve_fuzzifier(self.fuzzifier, self.m)
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
        self.cluster_centers_ = solution.prototypes.T @ data
        self.cluster_centers_[~np.isfinite(solution.squared_norms)] = np.nan
        self._warn_about(
            solution,
            fuzzifier,
            lambda: float(spectrum_of(Dissimilarity.from_features(data).gram, 1).eigenvalues[0]),
        )
        self._end_progress()
        return self

    def _check_columns(self, X: FloatArray) -> None:
        find_varying_columns(X, getattr(self, "feature_names_in_", None))

    def _center_distances(self, X: Any) -> FloatArray:
        X = validate_data(self, X, dtype=np.float64, reset=False)
        occupied = ~np.isnan(self.cluster_centers_[:, 0])
        centers = self.cluster_centers_[occupied]
        origin = centers.mean(axis=0)
        X, centers = X - origin, centers - origin
        distances = np.full((len(X), len(occupied)), np.inf)
        distances[:, occupied] = _squared_distances(X, np.einsum("jr,jr->j", X, X), centers).T
        return distances


def solve_fcm(
    X: FloatArray,
    n_clusters: int,
    fuzzifier: Fuzzifier,
    *,
    init: str | ArrayLike = "spectral",
    n_init: int = 1,
    max_iter: int = 1000,
    tol: float = 1e-6,
    random_state: RandomStateLike = None,
    progress: Progress | None = None,
) -> RelationalSolution:
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
    RelationalSolution
        The centers are ``solution.prototypes.T @ X``.
    """
    n_init = check_positive_int(n_init, "n_init")
    max_iter = check_positive_int(max_iter, "max_iter")
    tol = check_number(tol, "tol", minimum=0.0)
    # Distances by inner products lose digits far from the origin, and centering changes no distance.
    X = X - X.mean(axis=0)
    squared_norms = np.einsum("jr,jr->j", X, X)
    best: RelationalSolution | None = None
    for k, U in enumerate(_starting_memberships(init, n_init, X, n_clusters, random_state)):
        solution = _descend(X, squared_norms, fuzzifier, U, max_iter, tol)
        if best is None or solution.objective < best.objective:
            best = solution
        if progress is not None:
            progress(f"clustering {k + 1}/{n_init}")
    assert best is not None  # n_init >= 1
    return best


def _starting_memberships(
    init: str | ArrayLike, n_init: int, X: FloatArray, n_clusters: int, random_state: RandomStateLike
) -> Iterator[FloatArray]:
    streams = as_generator(random_state).spawn(n_init)
    first = Start.from_name(init) if isinstance(init, str) else None
    repeat = Start.from_name("kmeans++") if first is None or init == "spectral" else first
    if first is None:
        yield check_memberships(init, "init", shape=(len(X), n_clusters))
    dissimilarity = Dissimilarity.from_features(X) if first is not None or n_init > 1 else None
    for rng in streams[first is None :]:
        start = first if first is not None and rng is streams[0] else repeat
        assert dissimilarity is not None  # a named start needs it
        yield start.memberships(dissimilarity, n_clusters, rng)


@dataclass
class _Pass:
    """What one pass over the data accumulates. Memberships are kept as (n_clusters, n_samples): a sum over clusters
    is then a sum of long vectors.
    """

    U: FloatArray
    masses: FloatArray
    sums: FloatArray
    objective: float
    movement: float


def _descend(
    X: FloatArray, squared_norms: FloatArray, t: Fuzzifier, start: FloatArray, max_iter: int, tol: float
) -> RelationalSolution:
    n_clusters = start.shape[1]
    U = np.ascontiguousarray(start.T)
    spare = np.empty_like(U)
    centers, empty, objective = _start_centers(X, squared_norms, t, U)
    path = [objective]
    status = Status.MAX_ITER
    n_iter = 0
    while True:
        n_iter += 1
        seeds = _reseed(X, squared_norms, t, U, centers, empty)
        step = _move_memberships(X, squared_norms, t, centers, U, spare)
        previous, U, spare = U, step.U, U
        centers_of_U, empty_of_U = _centers(step)
        # J(U, V⁺) = J(U, V) − Σ_i S_i ‖v⁺_i − v_i‖²: subtracts little, where sums of squares would cancel.
        moved = np.where(empty_of_U[:, None] | ~np.isfinite(centers), 0.0, centers_of_U - centers)
        path.append(step.objective - float(step.masses @ np.einsum("ir,ir->i", moved, moved)))
        if step.movement <= tol and not _is_near_uniform(U, tol):
            status = Status.CONVERGED
        if status is Status.CONVERGED or n_iter == max_iter:
            break
        centers, empty = centers_of_U, empty_of_U
    if n_clusters > 1 and _deviation(U) <= COLLAPSE_TOL:
        status = Status.COLLAPSED
    return RelationalSolution(
        memberships=np.ascontiguousarray(U.T),
        objective=path[-1],
        objective_path=np.array(path),
        n_iter=n_iter,
        status=status,
        prototypes=_prototypes(t, previous, empty, seeds),
        squared_norms=np.einsum("ir,ir->i", centers, centers),
    )


def _move_memberships(
    X: FloatArray, squared_norms: FloatArray, t: Fuzzifier, centers: FloatArray, U: FloatArray, out: FloatArray
) -> _Pass:
    """Exact memberships for these centers, written to ``out``, and the weighted sums that the next centers need."""
    n_clusters, n_features = centers.shape
    masses = np.zeros(n_clusters)
    sums = np.zeros((n_clusters, n_features))
    objective = movement = 0.0
    missing = ~np.isfinite(centers[:, 0])
    has_missing = bool(missing.any())
    for rows in row_blocks(len(X), n_features + 2 * n_clusters):
        distances = _squared_distances(X[rows], squared_norms[rows], centers)
        block = t.memberships(distances.T).T
        change = np.subtract(block, U[:, rows], out=out[:, rows])
        movement = max(movement, float(change.max()), -float(change.min()))
        out[:, rows] = block
        weights = t.value(block)
        masses += weights.sum(axis=1)
        sums += weights @ X[rows]
        if has_missing:
            distances[missing] = 0.0  # no weight, no cost
        objective += float(np.vdot(weights, distances))
    return _Pass(out, masses, sums, objective, movement)


def _squared_distances(X: FloatArray, squared_norms: FloatArray, centers: FloatArray) -> FloatArray:
    """‖x_j − v_i‖² of shape (n_clusters, n_rows); ``inf`` for a center that is ``inf``."""
    finite = np.isfinite(centers[:, :1])
    used = centers if finite.all() else np.where(finite, centers, 0.0)
    distances = (-2.0 * used) @ X.T
    distances += squared_norms
    distances += np.where(finite[:, 0], np.einsum("ir,ir->i", used, used), np.inf)[:, None]
    return np.maximum(distances, 0.0, out=distances)


def _start_centers(
    X: FloatArray, squared_norms: FloatArray, t: Fuzzifier, U: FloatArray
) -> tuple[FloatArray, BoolArray, float]:
    """Centers of the starting memberships and J there."""
    masses = np.zeros(len(U))
    sums = np.zeros((len(U), X.shape[1]))
    for rows in row_blocks(len(X), X.shape[1] + 2 * len(U)):
        weights = t.value(U[:, rows])
        masses += weights.sum(axis=1)
        sums += weights @ X[rows]
    centers, empty = _centers(_Pass(U, masses, sums, 0.0, 0.0))
    return centers, empty, float(_costs(X, squared_norms, t, U, centers, empty).sum())


def _centers(step: _Pass) -> tuple[FloatArray, BoolArray]:
    empty = step.masses <= 0
    return step.sums / np.where(empty, 1.0, step.masses)[:, None], empty


def _costs(
    X: FloatArray, squared_norms: FloatArray, t: Fuzzifier, U: FloatArray, centers: FloatArray, empty: BoolArray
) -> FloatArray:
    """Σ_i t(u_ji) ‖x_j − v_i‖² per sample, of shape (n_samples,)."""
    costs = np.empty(len(X))
    for rows in row_blocks(len(X), X.shape[1] + 2 * len(U)):
        distances = _squared_distances(X[rows], squared_norms[rows], centers)
        distances[empty] = 0.0
        np.einsum("ij,ij->j", t.value(U[:, rows]), distances, out=costs[rows])
    return costs


def _reseed(
    X: FloatArray, squared_norms: FloatArray, t: Fuzzifier, U: FloatArray, centers: FloatArray, empty: BoolArray
) -> dict[int, int]:
    """Put the center of each empty cluster on the samples that cost most, as ``solve_relational`` does.

    If nothing costs anything the cluster stays empty, infinitely far. Returns which sample each center was put on.
    """
    if not empty.any():
        return {}
    seeds: dict[int, int] = {}
    costs = _costs(X, squared_norms, t, U, centers, empty)
    for i, j in zip(np.flatnonzero(empty).tolist(), np.argsort(-costs, kind="stable").tolist(), strict=False):
        if costs[j] > 0:
            centers[i] = X[j]
            seeds[i] = j
        else:
            centers[i] = np.inf
    return seeds


def _prototypes(t: Fuzzifier, U: FloatArray, empty: BoolArray, seeds: dict[int, int]) -> FloatArray:
    """Weights of the centers in the samples, of shape (n_samples, n_clusters)."""
    weights = np.ascontiguousarray(t.value(U).T)
    weights /= np.where(empty, 1.0, weights.sum(axis=0))
    for i, j in seeds.items():
        weights[:, i] = 0.0
        weights[j, i] = 1.0
    return weights


def _deviation(U: FloatArray) -> float:
    return float(np.abs(U - 1.0 / len(U)).max())


def _is_near_uniform(U: FloatArray, tol: float) -> bool:
    """Whether U is close to 1/c but not yet there: a slow step then says nothing, as an unstable mode grows from it."""
    return len(U) > 1 and tol < _deviation(U) <= COLLAPSE_TOL
