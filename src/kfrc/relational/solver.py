"""Alternating minimization of J (Equation 1): centers from memberships, memberships from distances, both exactly."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeVar

import numpy as np

from kfrc import activity
from kfrc._numerics import COLLAPSE_TOL
from kfrc._validation import (
    check_dissimilarities,
    check_n_clusters,
    check_number,
    check_positive_int,
    check_sample_weight,
)
from kfrc.dissimilarity import Dissimilarity
from kfrc.fuzzifiers import Fuzzifier
from kfrc.relational.acceleration import Anderson, on_simplex
from kfrc.relational.starts import Start, resolve_start, starting_memberships
from kfrc.typing import ArrayLike, FloatArray, Progress, RandomStateLike

DESCENT_TOL = 1e-12
"""Relative rise of J that is rounding; the exact step cannot raise it on squared distances."""

SAME_OBJECTIVE = 1e-9
"""Relative difference of J below which two runs found the same minimum."""

_NEGATIVE_TOL = 1e-10
"""Center distances below minus this times their mean are a property of R, not rounding."""

_HALVINGS = 30
"""Step halvings before a run that finds no descent gives up."""

CENTER_TOL = 5.0
"""At convergence a squared distance may move by this times ``tol`` of its size, which a step of ``tol`` in the
memberships moves it by at the usual fuzziness; at a large one, small steps of the memberships can move centers far."""


class Status(StrEnum):
    """How a run ended.

    ``"max_iter"`` is a run that was stopped before it converged: by the number of iterations, or earlier because no
    step lowers the objective any more although memberships still move (rounding, or R that is not Euclidean).
    """

    CONVERGED = "converged"
    MAX_ITER = "max_iter"
    COLLAPSED = "collapsed"


@dataclass(frozen=True)
class RelationalSolution:
    """A (local) minimizer of J and how it was reached.

    Attributes
    ----------
    memberships : ndarray of shape (n_samples, n_clusters)
        U; rows sum to one.
    objective : float
        J(U) = Σ_i Q_i / (2 S_i).
    objective_path : ndarray of shape (n_iter + 1,)
        J at the start and after every iteration; never increases.
    n_iter : int
    status : Status
        ``"converged"``, ``"max_iter"`` or ``"collapsed"``.
    prototypes : ndarray of shape (n_samples, n_clusters)
        Weights of the implicit centers that ``memberships`` belong to; that of an empty cluster is a single sample.
    squared_norms : ndarray of shape (n_clusters,)
        What distances from new samples to those centers need.
    negative_distances : bool
        Whether a center distance was negative: R is not squared-Euclidean, and they were taken as zero.
    fuzzifier : Fuzzifier or None
        The rule that made ``memberships`` from the distances to the centers, and makes those of new samples. It is the
        one that was asked for, unless that one adapts itself (``Fuzzifier.adapted``).
    """

    memberships: FloatArray
    objective: float
    objective_path: FloatArray
    n_iter: int
    status: Status
    prototypes: FloatArray
    squared_norms: FloatArray
    negative_distances: bool = False
    fuzzifier: Fuzzifier | None = None


Solution = TypeVar("Solution", bound=RelationalSolution)


def solve_relational(
    R: ArrayLike | Dissimilarity,
    n_clusters: int,
    fuzzifier: str | Fuzzifier = "power",
    *,
    init: str | Start | ArrayLike = "spectral",
    n_init: int = 1,
    max_iter: int = 1000,
    tol: float = 1e-6,
    random_state: RandomStateLike = None,
    progress: Progress | None = None,
    sample_weight: ArrayLike | None = None,
) -> RelationalSolution:
    """Minimize J_FRC(U) = Σ_i Σ_jk t(u_ji) t(u_ki) R_jk / (2 Σ_l t(u_li)) over fuzzy partitions.

    Where rows have weights s_j, each t(u_ji) counts s_j times.

    Parameters
    ----------
    R : array-like of shape (n_samples, n_samples) or Dissimilarity
        Dissimilarities, used as they are (pass squared distances for the Euclidean case).
    n_clusters : int
    fuzzifier : str or Fuzzifier, default="power"
    init : {"spectral", "near_uniform", "random", "kmeans++", "blocks"}, Start or array-like
        Start of the first run; an array has shape (n_samples, n_clusters). Clusters are numbered by the first sample
        that prefers them, unless an array is given, whose numbering is kept if the run from it is the best.
    n_init : int, default=1
        Number of runs; the one with the lowest J is kept. After a deterministic start (``"spectral"``, ``"blocks"``
        or an array) the further runs start from ``"kmeans++"``.
    max_iter : int, default=1000
    tol : float, default=1e-6
        A run has converged when no membership moves by more than this, and no squared distance to a center by more than
        five times this in proportion to its size (or to the median of them, if that is larger).
    random_state : int, RandomState, Generator or None
    progress : callable, optional
        Called with a text after every run.
    sample_weight : array-like of shape (n_samples,), optional
        How many rows each row of a matrix stands for; a ``Dissimilarity`` has its own.

    Returns
    -------
    RelationalSolution

    Notes
    -----
    When R holds squared distances of some Hilbert space, one iteration is "move centers, then memberships" and J never
    increases. Otherwise a center distance can be negative: it is then taken as zero, steps that would raise J are
    halved, and ``negative_distances`` says so.

    References
    ----------
    Equation 1 and Section 3.1 of the paper.

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc.relational import solve_relational
    >>> x = np.array([0.0, 0.1, 0.2, 5.0, 5.1])
    >>> solution = solve_relational(np.subtract.outer(x, x) ** 2, 2, "quadratic", random_state=0)
    >>> solution.memberships.max(axis=1)
    array([1., 1., 1., 1., 1.])
    >>> str(solution.status)
    'converged'
    """
    if not isinstance(R, Dissimilarity):
        R = check_dissimilarities(R)
        R = Dissimilarity.from_matrix(R, check_sample_weight(sample_weight, len(R)))
    elif sample_weight is not None:
        raise ValueError("a Dissimilarity has weights of its own: give sample_weight when it is made")
    dissimilarity = R
    n_clusters = check_n_clusters(n_clusters, dissimilarity.n_samples, minimum=1)
    t = Fuzzifier.resolve(fuzzifier)
    t.check_weights(n_clusters)
    start = resolve_start(init, dissimilarity.n_samples, n_clusters)
    n_init = check_positive_int(n_init, "n_init")
    max_iter = check_positive_int(max_iter, "max_iter")
    tol = check_number(tol, "tol", minimum=0.0)
    best: RelationalSolution | None = None
    keeps_numbering = False
    for k, U in enumerate(starting_memberships(start, n_init, dissimilarity, n_clusters, random_state)):
        solution = descend(dissimilarity, t, U, max_iter, tol)
        # Runs that reach the same minimum differ by rounding; the first of them is kept, whatever the memory layout.
        if best is None or solution.objective < best.objective - SAME_OBJECTIVE * abs(best.objective):
            best, keeps_numbering = solution, start.numbers_run(k)
        if progress is not None:
            progress(f"clustering {k + 1}/{n_init}")
    assert best is not None  # n_init >= 1
    return best if keeps_numbering else in_order_of_appearance(best)


def order_of_appearance(U: FloatArray) -> list[int]:
    """Clusters in the order of the first sample that prefers them, so that numbers mean the same on every machine."""
    found, first = np.unique(U.argmax(axis=1), return_index=True)
    order: list[int] = found[np.argsort(first)].tolist()
    return order + [i for i in range(U.shape[1]) if i not in order]


def in_order_of_appearance(solution: RelationalSolution) -> RelationalSolution:
    """The solution with its clusters renumbered by :func:`order_of_appearance`."""
    return in_order(solution, order_of_appearance(solution.memberships))


def in_order(solution: Solution, order: list[int]) -> Solution:
    """The solution with its clusters in another order."""
    return replace(
        solution,
        memberships=solution.memberships[:, order],
        prototypes=solution.prototypes[:, order],
        squared_norms=solution.squared_norms[order],
        fuzzifier=None if solution.fuzzifier is None else solution.fuzzifier.reordered(order),
    )


@dataclass(frozen=True)
class _State:
    """Memberships with the centers and the rule they define; ``slack`` is how far the objective may be off."""

    U: FloatArray
    prototypes: FloatArray
    squared_norms: FloatArray
    distances: FloatArray
    objective: float
    negative: bool
    rule: Fuzzifier
    slack: float


def _evaluate(dissimilarity: Dissimilarity, t: Fuzzifier, U: FloatArray) -> _State:
    row_weights = dissimilarity.gram.weights
    weights = t.value(U) if row_weights is None else t.value(U) * row_weights[:, None]
    masses = weights.sum(axis=0)
    empty = masses <= 0
    some_empty = bool(empty.any())
    prototypes = weights / (np.where(empty, 1.0, masses) if some_empty else masses)
    distances, squared_norms = dissimilarity.center_distances(prototypes)
    rule = t.adapted(U, distances, row_weights)
    penalty = rule.penalty(U, row_weights)
    objective = float(np.einsum("ji,ji->", weights, rule.costs(distances))) + penalty
    # A penalty of either sign can make the objective small, but not its rounding.
    slack = DESCENT_TOL * (abs(objective) + abs(penalty))
    occupied = distances[:, ~empty] if some_empty else distances
    smallest = float(occupied.min())
    negative = smallest < 0 and bool(smallest < -_NEGATIVE_TOL * np.abs(occupied).mean())
    if smallest < 0 or some_empty:
        np.maximum(distances, 0.0, out=distances)
    if some_empty:
        _reseed(dissimilarity, weights, empty, prototypes, squared_norms, distances)
    return _State(U, prototypes, squared_norms, distances, objective, negative, rule, slack)


def _reseed(
    dissimilarity: Dissimilarity,
    weights: FloatArray,
    empty: np.ndarray[tuple[int, ...], np.dtype[np.bool_]],
    prototypes: FloatArray,
    squared_norms: FloatArray,
    distances: FloatArray,
) -> None:
    """Put the center of each empty cluster on the samples that cost most.

    An empty cluster has no weight, so J does not change, and the next membership step can only gain from one more
    center. If nothing costs anything (fewer different samples than clusters) it lies on a sample all the same, which
    its clusters then share.
    """
    costs = np.einsum("ji,ji->j", weights, np.where(empty, 0.0, distances))
    for i, j in zip(np.flatnonzero(empty), np.argsort(-costs, kind="stable"), strict=False):
        prototypes[:, i] = 0.0
        prototypes[j, i] = 1.0
        distances[:, i : i + 1] = dissimilarity.columns([int(j)])
        squared_norms[i] = dissimilarity.gram.diagonal()[j]


def descend(
    dissimilarity: Dissimilarity, t: Fuzzifier, U: FloatArray, max_iter: int, tol: float, memory: int = 0
) -> RelationalSolution:
    """One run from given memberships, without checks: what :func:`solve_relational` repeats.

    With ``memory`` steps are extrapolated from so many earlier ones (Anderson acceleration), wherever that does not
    raise the objective. The minimum is the same, but for runs that might end in one or another.
    """
    state = _evaluate(dissimilarity, t, U)
    centers = state
    path = [state.objective]
    negative = state.negative
    status = Status.MAX_ITER
    n_iter = 0
    acceleration = Anderson(memory)
    while n_iter < max_iter and status is Status.MAX_ITER:
        n_iter += 1
        activity.step("clustering")
        centers = state
        proposal = state.rule.memberships(state.distances)
        is_short = float(np.abs(proposal - state.U).max()) <= tol
        # Memberships that are returned are those of the centers that are: the last step is a plain one.
        guess = None if is_short or n_iter == max_iter else acceleration.guess(state.U, proposal)
        guess = None if guess is None else on_simplex(guess)
        following = None if guess is None else _evaluate(dissimilarity, t, guess)
        if following is None or following.objective > state.objective:
            if following is not None:
                acceleration.forget()
            following = _evaluate(dissimilarity, t, proposal)
        if following.objective > state.objective + state.slack:
            following = _halve(dissimilarity, t, state, proposal)
        rests = is_short and _centers_rest(state, following, tol)
        if rests and not _may_leave(following.U, tol, t):
            status = Status.CONVERGED
        stalled = following is state
        state = following
        negative |= state.negative
        path.append(state.objective)
        if stalled:
            break
    if _has_collapsed(state.U, t):
        status = Status.COLLAPSED
    return RelationalSolution(
        memberships=state.U,
        objective=state.objective,
        objective_path=np.array(path),
        n_iter=n_iter,
        status=status,
        prototypes=centers.prototypes,
        squared_norms=centers.squared_norms,
        negative_distances=negative,
        fuzzifier=centers.rule,
    )


def _centers_rest(before: _State, after: _State, tol: float) -> bool:
    """Whether the centers have stopped moving, as seen from the samples."""
    distances = after.distances
    moved = np.abs(distances - before.distances)
    # From one on a tol accepts everything; times a distance it may be no number.
    return bool((moved <= CENTER_TOL * min(tol, 1.0) * np.maximum(distances, np.median(distances))).all())


def evaluate_partition(dissimilarity: Dissimilarity, t: Fuzzifier, U: FloatArray) -> RelationalSolution:
    """Memberships as they are, with their objective and the centers they define: no step is made."""
    here = descend(dissimilarity, t, U, max_iter=0, tol=0.0)
    return here if here.status is Status.COLLAPSED else replace(here, status=Status.CONVERGED)


def is_uniform(U: FloatArray) -> bool:
    """Whether every membership is 1/c as far as a reader could tell, and c > 1."""
    n_clusters = U.shape[1]
    return n_clusters > 1 and float(np.abs(U - 1.0 / n_clusters).max()) <= COLLAPSE_TOL


def may_leave_uniformity(U: FloatArray, tol: float) -> bool:
    """Whether U is close to 1/c but not there yet: a short step says nothing then, as an unstable mode may grow."""
    return is_uniform(U) and float(np.abs(U - 1.0 / U.shape[1]).max()) > tol


def _has_collapsed(U: FloatArray, t: Fuzzifier) -> bool:
    """Whether no cluster can be told from another, and c > 1; memberships are 1/c then for ordinary fuzzifiers."""
    return U.shape[1] > 1 and float(np.abs(U - t.collapsed_row(U)).max()) <= COLLAPSE_TOL


def _may_leave(U: FloatArray, tol: float, t: Fuzzifier) -> bool:
    """Whether U has nearly collapsed, but not yet: see :func:`may_leave_uniformity`."""
    return _has_collapsed(U, t) and float(np.abs(U - t.collapsed_row(U)).max()) > tol


def _halve(dissimilarity: Dissimilarity, t: Fuzzifier, state: _State, proposal: FloatArray) -> _State:
    """Shorten a step that raises J, which only a non-Euclidean R or rounding allows; give up at the current point."""
    step = 0.5
    for _ in range(_HALVINGS):
        trial = _evaluate(dissimilarity, t, state.U + step * (proposal - state.U))
        if trial.objective <= state.objective:
            return trial
        step *= 0.5
    return state
