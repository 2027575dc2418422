"""What the methods whose centers are points of input space share: centers, stopping, and the best of several runs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self, TypeVar

import numpy as np
from scipy.spatial.distance import cdist

from kfrc._validation import check_number, check_positive_int
from kfrc.clusterers._rows import MergedRows
from kfrc.dissimilarity import Dissimilarity
from kfrc.relational import (
    SAME_OBJECTIVE,
    RelationalSolution,
    Start,
    Status,
    in_order,
    order_of_appearance,
    resolve_start,
    starting_memberships,
)
from kfrc.spectrum import spectrum_of
from kfrc.typing import ArrayLike, FloatArray, Progress, RandomStateLike


@dataclass(frozen=True, kw_only=True)
class CentersSolution(RelationalSolution):
    """A run of a method whose centers are points of input space.

    Attributes
    ----------
    centers : ndarray of shape (n_clusters, n_features)
        Centers after the last iteration.
    membership_centers : ndarray of shape (n_clusters, n_features)
        The centers that ``memberships`` follow from.
    """

    centers: FloatArray
    membership_centers: FloatArray

    def reordered(self, order: list[int]) -> Self:
        """The same run with its clusters in another order."""
        return replace(
            in_order(self, order),
            centers=self.centers[order],
            membership_centers=self.membership_centers[order],
        )


@dataclass(frozen=True)
class InputCenters:
    """Weighted means of samples.

    Attributes
    ----------
    positions : ndarray of shape (n_clusters, n_features)
    prototypes : ndarray of shape (n_samples, n_clusters)
        The weights, each column summing to one: ``positions = prototypes.T @ X``.
    """

    positions: FloatArray
    prototypes: FloatArray

    @classmethod
    def weighted(cls, X: FloatArray, weights: FloatArray) -> InputCenters:
        """Σ_j w_ji x_j / Σ_j w_ji; a cluster without weight gets the sample that costs the others most.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
        weights : ndarray of shape (n_samples, n_clusters)
            Not negative.
        """
        masses = weights.sum(axis=0)
        empty = masses < np.finfo(np.float64).tiny
        prototypes = weights / np.where(empty, 1.0, masses)
        positions = prototypes.T @ X
        if empty.any():
            distances = cdist(X, positions[~empty], "sqeuclidean") if not empty.all() else np.zeros((len(X), 0))
            costs = np.einsum("ji,ji->j", weights[:, ~empty], distances)
            chosen = np.argsort(-costs, kind="stable")[: int(empty.sum())]
            prototypes[:, empty] = 0.0
            prototypes[chosen, np.flatnonzero(empty)] = 1.0
            positions[empty] = X[chosen]
        return cls(positions, prototypes)

    @property
    def squared_norms(self) -> FloatArray:
        """‖v_i‖², of shape (n_clusters,)."""
        return np.einsum("id,id->i", self.positions, self.positions)


_SPANNING_ROWS = 1000
"""Rows whose dimensions are counted: more have as many, but in tables of more columns, where any unit will do."""


@dataclass(frozen=True)
class Limits:
    """When a run ends: after ``max_iter`` iterations, or when the centers move by at most ``tol`` times ``scale``."""

    max_iter: int
    tol: float
    scale: float

    @classmethod
    def of(cls, rows: MergedRows, max_iter: Any, tol: Any) -> Limits:
        """Limits in the units of the rows: ``tol`` counts roots of their variance per dimension that they span.

        That is one for standardized columns. A column that does not vary adds neither variance nor a dimension, and
        columns that are there twice double the variance as they double the squared steps of the centers.
        """
        X, s = rows.values - rows.values[0], rows.weights  # a column that does not vary is exactly zero
        if s is None:
            variance = float(X.var(axis=0, ddof=1).sum())
        else:
            variance = float((s @ np.square(X - s @ X / s.sum())).sum() / (s.sum() - 1.0))
        dimensions = max(int(np.linalg.matrix_rank(X[:: math.ceil(len(X) / _SPANNING_ROWS)])), 1)
        scale = math.sqrt(variance / dimensions)
        return cls(check_positive_int(max_iter, "max_iter"), check_number(tol, "tol", minimum=0.0), scale)

    def centers_rest(self, centers: InputCenters, before: InputCenters) -> bool:
        """Whether the centers have stopped moving (Frobenius norm)."""
        return float(np.linalg.norm(centers.positions - before.positions)) <= self.tol * self.scale


def leading_eigenvalue_of(rows: MergedRows) -> float:
    """λ₁ of F for squared Euclidean distances, which decides whether fuzzy c-means collapses."""
    return float(spectrum_of(Dissimilarity.from_features(rows.values, rows.weights).gram, 1).eigenvalues[0])


Solution = TypeVar("Solution", bound=CentersSolution)


def best_run(
    rows: MergedRows,
    n_clusters: int,
    run: Callable[[FloatArray], Solution],
    cost: Callable[[Solution], float],
    *,
    init: str | Start | ArrayLike,
    n_init: int,
    random_state: RandomStateLike,
    progress: Progress,
) -> Solution:
    """The run of smallest cost over several starts; one that collapsed is only taken if all did.

    ``init`` is that of the user, for all rows; runs start with memberships of the merged ones.

    Clusters are numbered by the first sample that prefers them, unless ``init`` is an array, whose numbering is kept if
    the run from it is the best.
    """
    start = rows.start(resolve_start(init, len(rows.inverse), n_clusters))
    solutions: list[Solution] = []
    dissimilarity = Dissimilarity.from_features(rows.values, rows.weights)
    for k, U in enumerate(starting_memberships(start, n_init, dissimilarity, n_clusters, random_state)):
        solutions.append(run(U))
        progress(f"clustering {k + 1}/{n_init}")
    costs = [(solution.status is Status.COLLAPSED, cost(solution)) for solution in solutions]
    k = costs.index(min(costs))
    collapsed, lowest = costs[k]
    if start.keeps_numbering and costs[0] <= (collapsed, lowest + SAME_OBJECTIVE * abs(lowest)):
        k = 0  # the same minimum but for rounding, and this one has numbers that mean something
    best = solutions[k]
    return best if start.numbers_run(k) else best.reordered(order_of_appearance(best.memberships))
