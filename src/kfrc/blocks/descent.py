"""Alternating minimization of J over rows that need not fit into memory: one pass over them is one iteration.

A pass at given centers makes the memberships of every row, uses them, and forgets them. What is left are sums: the
objective, the masses of the clusters, and the moments of a basis, from which the next centers follow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.special import entr

from kfrc.blocks.engine import Engine
from kfrc.blocks.partition import sub_blocks
from kfrc.blocks.reader import Block, Reader
from kfrc.blocks.row_maps import BlockCenters, RowMap
from kfrc.fuzzifiers import Fuzzifier
from kfrc.relational import DESCENT_TOL, USUAL_MEMORY, Anderson, Status
from kfrc.typing import FloatArray

_SINGLE_UNTIL = 1e-5
"""Steps of the centers, relative to the distances of rows to them, down to which single precision sees them well."""

_FEWEST_WITH_SINGLE = 3
"""Passes of which one can be of single precision: the last ones are not."""

_SINGLE_SLACK = 1e-6
"""Relative rise of J that is rounding, in single precision."""

_STEP_PER_MEMBERSHIP = 0.1
"""At convergence a center moves by at most this times ``tol`` of the root mean squared distance of rows to centers: a
membership then moves by about ``tol`` at the usual fuzziness."""


@dataclass(frozen=True, eq=False)
class PassSums:
    """What a pass leaves of the rows.

    Attributes
    ----------
    moments : ndarray of shape (n_functions, n_clusters)
        Of the basis, weighted by t(u) for every cluster.
    overall : ndarray of shape (n_functions,)
        Of the basis over all rows; zeros if nobody asked for them.
    masses : ndarray of shape (n_clusters,)
        Σ_j s_j t(u_ji).
    objective : float
        Σ_ji s_j t(u_ji) cost_ji.
    sizes, scatters : ndarray of shape (n_clusters,)
        Σ_j s_j u_ji, and Σ_j s_j u_ji d_ji; for rules that have sizes and scales.
    entropy : float
        −Σ_ji s_j u_ji log u_ji, for the same.
    total : float
        Σ_j s_j.
    dearest : tuple
        Cost of the row that costs most, its number, and its values.
    """

    moments: FloatArray
    overall: FloatArray
    masses: FloatArray
    objective: float
    sizes: FloatArray
    scatters: FloatArray
    entropy: float
    total: float
    dearest: tuple[float, int, FloatArray]

    def joined(self, following: PassSums) -> PassSums:
        """Of the rows of both."""
        return PassSums(
            self.moments + following.moments,
            self.overall + following.overall,
            self.masses + following.masses,
            self.objective + following.objective,
            self.sizes + following.sizes,
            self.scatters + following.scatters,
            self.entropy + following.entropy,
            self.total + following.total,
            self.dearest if self.dearest[0] >= following.dearest[0] else following.dearest,
        )


@dataclass(frozen=True, eq=False)
class FuzzyPass:
    """The map of a block: basis, distances, memberships, weights, moments.

    Attributes
    ----------
    rows : RowMap
    centers : BlockCenters
    rule : Fuzzifier
    with_overall : bool
        Whether the moments of all rows are wanted, which are the same in every pass.
    """

    rows: RowMap
    centers: BlockCenters
    rule: Fuzzifier
    with_overall: bool = False

    def __call__(self, block: Block) -> PassSums:
        """Sums over the rows of a block."""
        rows, rule = self.rows, self.rule
        n_clusters = self.centers.n_clusters
        moments, overall = np.zeros((rows.n_functions, n_clusters)), np.zeros(rows.n_functions)
        masses, sizes, scatters = np.zeros(n_clusters), np.zeros(n_clusters), np.zeros(n_clusters)
        objective = entropy = total = 0.0
        dearest: tuple[float, int, FloatArray] = (-np.inf, -1, np.empty(0))
        table = rows.table(self.centers)
        workspace: dict[str, Any] = {}
        for part in sub_blocks(block.n_rows, rows.sub_block_rows):
            values = block.values[:, part]
            basis = rows.prepared(values, workspace)
            distances = occupied_only(rows.distances(basis, table), self.centers)
            U = rule.sample_memberships(distances)
            weights = rule.value(U)
            if block.weights is not None:
                weights = weights * block.weights[part].astype(U.dtype)
            finite = distances if self.centers.occupied.all() else np.where(np.isfinite(distances), distances, 0.0)
            costs = weights * rule.sample_costs(finite)
            of_rows = costs.sum(axis=0)
            objective += float(of_rows.sum(dtype=np.float64))
            last = int(of_rows.argmax())
            if float(of_rows[last]) > dearest[0]:
                dearest = (float(of_rows[last]), block.first + part.start + last, values[:, last].copy())
            masses += weights.sum(axis=1, dtype=np.float64)
            total += float(values.shape[1] if block.weights is None else block.weights[part].sum())
            moments += rows.moments(basis, weights)
            if self.with_overall:
                ones = np.ones(values.shape[1]) if block.weights is None else block.weights[part]
                overall += rows.moments(basis, ones[None].astype(U.dtype))[:, 0]
            if rule.has_penalty:
                counted = U if block.weights is None else U * block.weights[part]
                sizes += counted.sum(axis=1, dtype=np.float64)
                scatters += np.einsum("ij,ij->i", counted, finite, dtype=np.float64)
                uncertain = entr(U).sum(axis=0, dtype=np.float64)
                entropy += float(uncertain.sum() if block.weights is None else block.weights[part] @ uncertain)
        return PassSums(moments, overall, masses, objective, sizes, scatters, entropy, total, dearest)


def occupied_only(distances: FloatArray, centers: BlockCenters) -> FloatArray:
    """Distances with empty clusters infinitely far."""
    if not centers.occupied.all():
        distances[~centers.occupied] = np.inf
    return distances


@dataclass(frozen=True, eq=False)
class Point:
    """Centers and the rule of memberships that belong together."""

    centers: BlockCenters
    rule: Fuzzifier


@dataclass(frozen=True, eq=False)
class DescentState:
    """Everything that a descent needs to go on: small, whatever the number of rows.

    Attributes
    ----------
    here : Point
        Where the next pass is to be made.
    extrapolated : bool
        Whether it is a guess, which counts only if it is no worse.
    single : bool
        Whether passes are of single precision.
    n_passes : int
    path : tuple of float
        J at the points that were kept, of passes in double precision.
    accepted : tuple of (float, Point) or None
        J at the last point that was kept, and the plain step from there.
    acceleration : Anderson
    overall : ndarray of shape (n_functions,) or None
        Means of the basis over all rows, once a pass has made them.
    status : Status
    finished : bool
    """

    here: Point
    extrapolated: bool = False
    single: bool = True
    n_passes: int = 0
    path: tuple[float, ...] = ()
    accepted: tuple[float, Point] | None = None
    acceleration: Anderson = field(default_factory=lambda: Anderson(USUAL_MEMORY))
    overall: FloatArray | None = None
    status: Status = Status.MAX_ITER
    finished: bool = False


def begin(rows: RowMap, centers: BlockCenters, rule: Fuzzifier, max_iter: int) -> DescentState:
    """The state from which a descent begins at given centers, of the map in double precision."""
    if not rows.has_single or max_iter < _FEWEST_WITH_SINGLE:
        return DescentState(Point(centers, rule), single=False)
    single = rows.in_single()
    return DescentState(Point(single.translated(centers, rows), rule))


def descend_blocks(
    engine: Engine,
    reader: Reader,
    rows: RowMap,
    start: DescentState,
    *,
    max_iter: int,
    tol: float,
    keep: Callable[[DescentState], None] | None = None,
) -> DescentState:
    """Passes over all rows until the centers rest.

    Parameters
    ----------
    engine : Engine
    reader : Reader
        Blocks in standard units.
    rows : RowMap
    start : DescentState
        Where to begin, or where an earlier run was stopped.
    max_iter : int
        Largest number of passes.
    tol : float
        See ``_STEP_PER_MEMBERSHIP``.
    keep : callable, optional
        Called with the state after every pass, to go on from there if the process dies.

    Returns
    -------
    DescentState
        Finished: ``here`` are the last centers.
    """
    state = start
    while not state.finished:
        state = _after_pass(engine, reader, rows, state, max_iter, tol)
        if keep is not None:
            keep(state)
    return state


def _after_pass(
    engine: Engine, reader: Reader, rows: RowMap, state: DescentState, max_iter: int, tol: float
) -> DescentState:
    """The state after one more pass."""
    used = rows.in_single() if state.single else rows
    here = state.here
    doing = f"pass {state.n_passes + 1} over the rows"
    sums = engine.run(FuzzyPass(used, here.centers, here.rule, state.overall is None), reader, doing)
    n_passes = state.n_passes + 1
    penalty = here.rule.penalty_of(sums.sizes, sums.entropy)
    objective = sums.objective + penalty
    # A penalty of either sign can make the objective small, but not its rounding.
    slack = (_SINGLE_SLACK if state.single else DESCENT_TOL) * (abs(objective) + abs(penalty))
    if state.accepted is not None and objective > state.accepted[0] + slack:
        if state.extrapolated and n_passes < max_iter:
            state.acceleration.forget()
            return replace(state, here=state.accepted[1], extrapolated=False, n_passes=n_passes)
        if not state.extrapolated and not state.single:
            # Rounding: no step lowers the objective any more, although the centers still move.
            return replace(state, n_passes=n_passes, finished=True, status=Status.MAX_ITER)
    overall = state.overall
    if overall is None:
        overall = used.centers(sums.overall[:, None], np.array([sums.total]), None).means[:, 0]
    image = used.centers(sums.moments, sums.masses, overall)
    image = _reseeded(used, image, sums)
    step = image.means - here.centers.means
    lengths = used.squared_steps(step)
    # Of the distances to the new centers, for rules with scales.
    rule = here.rule.adapted_to(sums.sizes, np.maximum(sums.scatters - sums.sizes * lengths, 0.0))
    plain = Point(image, rule)
    mean_distance = _mean_distance(here.rule, sums)
    largest = float(np.sqrt(lengths[image.occupied & here.centers.occupied].max(initial=0.0)))
    relative = largest / np.sqrt(mean_distance) if mean_distance > 0 else 0.0
    path = state.path if state.single else (*state.path, objective)
    state = replace(state, n_passes=n_passes, path=path, accepted=(objective, plain), overall=overall)
    if state.single and (relative <= _SINGLE_UNTIL or n_passes + 1 >= max_iter):
        state.acceleration.forget()
        return replace(
            state,
            single=False,
            here=Point(rows.translated(plain.centers, used), rule),
            extrapolated=False,
            accepted=None,
            overall=None,  # means of another basis
        )
    same = bool((image.occupied == here.centers.occupied).all())
    if relative <= _STEP_PER_MEMBERSHIP * tol and same and not state.single:
        return replace(state, here=plain, extrapolated=False, finished=True, status=Status.CONVERGED)
    if n_passes >= max_iter:
        return replace(state, here=plain, extrapolated=False, finished=True, status=Status.MAX_ITER)
    weighted = np.sqrt(sums.masses) * used.coordinates(step)
    guess = state.acceleration.guess(here.centers.means, image.means, weighted) if same else None
    if guess is None:
        return replace(state, here=plain, extrapolated=False)
    return replace(state, here=Point(replace(image, means=guess), rule), extrapolated=True)


def _mean_distance(rule: Fuzzifier, sums: PassSums) -> float:
    """Mean squared distance of rows to centers."""
    if rule.has_penalty:
        return float(sums.scatters.sum() / max(sums.sizes.sum(), 1e-300))
    return sums.objective / max(float(sums.masses.sum()), 1e-300)


def _reseeded(rows: RowMap, centers: BlockCenters, sums: PassSums) -> BlockCenters:
    """With the center of one empty cluster put on the row that costs most; see ``relational.solver``."""
    _, row, values = sums.dearest
    if centers.occupied.all() or row < 0:
        return centers
    i = int(np.argmin(centers.occupied))
    basis = rows.prepared(values[:, None], {})
    moments = rows.moments(basis, np.ones((1, 1), dtype=np.float64)).astype(np.float64)
    alone = rows.centers(moments, np.ones(1), None)
    means, occupied = centers.means.copy(), centers.occupied.copy()
    means[:, i], occupied[i] = alone.means[:, 0], True
    return replace(centers, means=means, occupied=occupied)
