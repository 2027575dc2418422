"""Fuzzy c-means in input space: one pass over the samples per iteration, on arrays with samples along the columns."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from kfrc import activity
from kfrc._distances import distances_of_lifted, lift
from kfrc._numerics import known_means, midst, row_blocks
from kfrc._validation import check_number, check_positive_int
from kfrc.dissimilarity import Dissimilarity
from kfrc.fuzzifiers import Fuzzifier
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


@dataclass(frozen=True, kw_only=True)
class FCMSolution(RelationalSolution):
    """A run of :func:`solve_fcm`, with its centers as points.

    Attributes
    ----------
    origin : ndarray of shape (n_features,)
        A point among the samples; NaN for a column in which nothing is known.
    locations : ndarray of shape (n_clusters, n_features)
        The centers relative to it, which ``memberships`` follow from.
    """

    origin: FloatArray
    locations: FloatArray

    @property
    def centers(self) -> FloatArray:
        """Centers of shape (n_clusters, n_features)."""
        return self.origin + self.locations

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
    row_weights: FloatArray | None = None,
) -> FCMSolution:
    """Minimize Σ_j Σ_i t(u_ji) ‖x_j − v_i‖²: what ``solve_relational`` does on these features, in one pass each step.

    Where rows have weights s_j, each t(u_ji) counts s_j times. Columns that are blank in a row do not count for it, and
    a center is the mean of all rows in a column that is blank in all of its own.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        NaN where nothing is known, but something is known of every row.
    n_clusters : int
    fuzzifier : Fuzzifier
    init, n_init, max_iter, tol, random_state, progress
        See :func:`kfrc.relational.solve_relational`.
    row_weights : ndarray of shape (n_samples,), optional
        How many samples each row stands for.

    Returns
    -------
    FCMSolution
    """
    n_init = check_positive_int(n_init, "n_init")
    max_iter = check_positive_int(max_iter, "max_iter")
    tol = check_number(tol, "tol", minimum=0.0)
    start = resolve_start(init, len(X), n_clusters)
    # Distances by inner products lose digits far from the origin: it is put where most samples are.
    origin = known_means(X, row_weights) if np.isnan(X).any() else midst(X, _TYPICAL_SAMPLES)
    X = X - origin
    samples = _Samples(lift(X), X.shape[1], row_weights)
    best: FCMSolution | None = None
    keeps_numbering = False
    runs = starting_memberships(start, n_init, Dissimilarity.from_features(X, row_weights), n_clusters, random_state)
    for k, U in enumerate(runs):
        solution = _descend(samples, fuzzifier, U, max_iter, tol, origin)
        if best is None or solution.objective < best.objective - SAME_OBJECTIVE * abs(best.objective):
            best, keeps_numbering = solution, start.numbers_run(k)
        if progress is not None:
            progress(f"clustering {k + 1}/{n_init}")
    assert best is not None  # n_init >= 1
    return best if keeps_numbering else best.reordered(order_of_appearance(best.memberships))


# The work is done on arrays with samples along the columns: a sum over clusters is then a sum of long vectors.


@dataclass(frozen=True, eq=False)
class _Samples:
    """Samples as columns z of :func:`kfrc._distances.lift`, and how many each stands for; None if one."""

    Z: FloatArray
    n_features: int
    weights: FloatArray | None

    def count(self, values: FloatArray, rows: slice) -> FloatArray:
        """Values of some samples (n_clusters, n_rows), each as often as its sample counts."""
        return values if self.weights is None else values * self.weights[rows]


def _row_blocks(Z: FloatArray, n_clusters: int) -> Iterator[slice]:
    """Blocks of samples whose columns of Z, distances, memberships and weights stay in cache together."""
    return row_blocks(Z.shape[1], len(Z) + 2 * n_clusters)


@dataclass(frozen=True)
class _WeightedMeans:
    """Centers of one pass over the samples, with the weight that each was made of: (n_clusters, 1 or n_features)."""

    locations: FloatArray
    masses: FloatArray
    empty: BoolArray

    @classmethod
    def from_sums(cls, sums: FloatArray, n_features: int) -> _WeightedMeans:
        """From Σ_j t(u_ji) z_j, of shape (n_clusters, len(z)); zero where no row of a cluster knows a column."""
        masses = sums[:, n_features + 1 :]
        occupied = masses > 0
        means = np.where(occupied, sums[:, :n_features] / np.where(occupied, masses, 1.0), 0.0)
        return cls(means, masses, masses.max(axis=1) <= 0)


def _descend(
    samples: _Samples, t: Fuzzifier, start: FloatArray, max_iter: int, tol: float, origin: FloatArray
) -> FCMSolution:
    Z = samples.Z
    U = np.ascontiguousarray(start.T)
    spare = np.empty_like(U)
    centers = _WeightedMeans.from_sums(_weighted_sums(samples, t, U), samples.n_features)
    path = [float(_costs(samples, t, U, centers).sum())]
    status = Status.MAX_ITER
    n_iter = 0
    while status is Status.MAX_ITER and n_iter < max_iter:
        n_iter += 1
        activity.step("clustering")
        used = centers
        seeds = _reseed(samples, t, U, used)
        sums, objective, movement = _move_memberships(samples, t, used.locations, U, spare)
        centers = _WeightedMeans.from_sums(sums, samples.n_features)
        # J(U, V⁺) = J(U, V) − Σ_i S_i ‖v⁺_i − v_i‖²: subtracts little, where sums of squares would cancel.
        moved = np.square(centers.locations[~centers.empty] - used.locations[~centers.empty])
        objective -= float((centers.masses[~centers.empty] * moved).sum())
        stalled = n_iter > 1 and objective > (1.0 + DESCENT_TOL) * path[-1]
        if (
            movement <= tol
            and _centers_rest(Z, used.locations, moved.sum(axis=1), tol)
            and not may_leave_uniformity(spare.T, tol)
        ):
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
        prototypes=_prototypes(samples, t, spare, used, seeds),
        squared_norms=np.einsum("ir,ir->i", used.locations, used.locations),
        origin=origin,
        locations=used.locations,
    )


def _centers_rest(Z: FloatArray, locations: FloatArray, steps: FloatArray, tol: float) -> bool:
    """Whether steps of these squared lengths move squared distances by no more than ``solve_relational`` accepts."""
    some = Z[:, :: max(1, Z.shape[1] // _TYPICAL_SAMPLES)]
    distances = distances_of_lifted(some, locations)
    # |‖x − v⁺‖² − ‖x − v‖²| ≤ 2 ‖x − v‖ ‖v⁺ − v‖, at the median distance.
    return bool(2.0 * math.sqrt(steps.max(initial=0.0)) <= CENTER_TOL * tol * math.sqrt(np.median(distances)))


def _move_memberships(
    samples: _Samples, t: Fuzzifier, locations: FloatArray, U: FloatArray, out: FloatArray
) -> tuple[FloatArray, float, float]:
    """Exact memberships for these centers, written to ``out``.

    Returns the sums that the next centers need, J of the new memberships with these centers, and the largest change.
    """
    Z = samples.Z
    sums = np.zeros((len(locations), len(Z)))
    objective = movement = 0.0
    for rows in _row_blocks(Z, len(U)):
        distances = distances_of_lifted(Z[:, rows], locations)
        block = t.sample_memberships(distances)
        change = np.subtract(block, U[:, rows], out=out[:, rows])
        movement = max(movement, float(change.max()), -float(change.min()))
        out[:, rows] = block
        weights = samples.count(t.value(block), rows)
        sums += weights @ Z[:, rows].T
        objective += float(np.vdot(weights, distances))
    return sums, objective, movement


def _weighted_sums(samples: _Samples, t: Fuzzifier, U: FloatArray) -> FloatArray:
    Z = samples.Z
    sums = np.zeros((len(U), len(Z)))
    for rows in _row_blocks(Z, len(U)):
        sums += samples.count(t.value(U[:, rows]), rows) @ Z[:, rows].T
    return sums


def _costs(samples: _Samples, t: Fuzzifier, U: FloatArray, centers: _WeightedMeans) -> FloatArray:
    """Σ_i t(u_ji) ‖x_j − v_i‖² per sample, times its weight, of shape (n_samples,)."""
    Z = samples.Z
    costs = np.empty(Z.shape[1])
    for rows in _row_blocks(Z, len(U)):
        distances = distances_of_lifted(Z[:, rows], centers.locations)
        distances[centers.empty] = 0.0
        np.einsum("ij,ij->j", samples.count(t.value(U[:, rows]), rows), distances, out=costs[rows])
    return costs


def _reseed(samples: _Samples, t: Fuzzifier, U: FloatArray, centers: _WeightedMeans) -> dict[int, int]:
    """Put the center of each empty cluster on the samples that cost most, as ``solve_relational`` does.

    Returns which sample each center was put on.
    """
    seeds: dict[int, int] = {}
    if centers.empty.any():
        costs = _costs(samples, t, U, centers)
        dearest = np.argsort(-costs, kind="stable").tolist()
        for i, j in zip(np.flatnonzero(centers.empty).tolist(), dearest, strict=False):
            centers.locations[i] = samples.Z[: samples.n_features, j]
            seeds[i] = j
    return seeds


def _prototypes(
    samples: _Samples, t: Fuzzifier, U: FloatArray, centers: _WeightedMeans, seeds: dict[int, int]
) -> FloatArray:
    """Weights of the centers in the samples, of shape (n_samples, n_clusters)."""
    prototypes = np.ascontiguousarray(samples.count(t.value(U), slice(None)).T)
    prototypes /= np.where(centers.empty, 1.0, prototypes.sum(axis=0))
    for i, j in seeds.items():
        prototypes[j, i] = 1.0
    return prototypes
