"""A clustering of all rows: passes until the centers rest, one more pass to assess them, and what follows from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kfrc._numerics import COLLAPSE_TOL, check_memory
from kfrc.blocks.assessment import AssessingPass, Assessment, Both, diagonal_floor
from kfrc.blocks.descent import DescentState, FuzzyPass, PassSums, descend_blocks
from kfrc.blocks.engine import Engine
from kfrc.blocks.memberships import BlockMemberships
from kfrc.blocks.reader import Block, Reader
from kfrc.blocks.row_maps import BlockCenters, RowMap
from kfrc.fuzzifiers import Fuzzifier
from kfrc.relational import RelationalSolution, Status
from kfrc.typing import FloatArray


@dataclass(frozen=True, eq=False)
class BlockSolution:
    """What passes over all rows found; clusters are numbered by the first row that prefers them.

    Attributes
    ----------
    rows : RowMap
    centers : BlockCenters
        Those that memberships belong to.
    image : BlockCenters
        Those that memberships define, next to no step further.
    rule : Fuzzifier
    memberships : BlockMemberships
    objective : float
    objective_path : ndarray
        J at the points that were kept, of passes in double precision, and J of the memberships; never rises.
    n_iter : int
        Passes.
    status : Status
    uniformity : float
    counts : ndarray of shape (n_clusters,)
        Rows that prefer each cluster, weights counted.
    assessment : Assessment
    """

    rows: RowMap
    centers: BlockCenters
    image: BlockCenters
    rule: Fuzzifier
    memberships: BlockMemberships
    objective: float
    objective_path: FloatArray
    n_iter: int
    status: Status
    uniformity: float
    counts: FloatArray
    assessment: Assessment

    def as_relational(self) -> RelationalSolution:
        """The same as other fits have it, but for memberships that are made when they are asked for."""
        return RelationalSolution(
            memberships=self.memberships,  # type: ignore[arg-type]
            objective=self.objective,
            objective_path=self.objective_path,
            n_iter=self.n_iter,
            status=self.status,
            prototypes=np.empty((0, self.centers.n_clusters)),
            squared_norms=np.zeros(self.centers.n_clusters),
            fuzzifier=self.rule,
        )

    def between(self, n_columns: int) -> FloatArray:
        """Scatter of the centers about their common center, of shape (n_clusters, n_columns): see contributions."""
        rows, image = self.rows, self.image
        masses = image.masses
        spread = np.repeat(masses, rows.widths, axis=0)
        totals = spread.sum(axis=1, keepdims=True)
        common = (image.means * spread).sum(axis=1, keepdims=True) / np.where(totals > 0, totals, 1.0)
        squares = rows.column_squares(rows.coordinates(image.means - common))
        found = np.zeros((image.n_clusters, n_columns))
        found[:, rows.positions] = (squares[rows.positions] * masses).T
        return found


@dataclass(frozen=True, eq=False)
class _LastPass:
    """One more pass, and what is to be known of all rows at the end."""

    fuzzy: FuzzyPass
    assessing: AssessingPass

    def __call__(self, block: Block) -> Both:
        return Both(self.fuzzy(block), self.assessing(block))


def solve_blocks(
    engine: Engine,
    reader: Reader,
    rows: RowMap,
    start: DescentState,
    *,
    part_totals: FloatArray,
    mean_square: float,
    max_iter: int,
    tol: float,
    keep: Callable[[DescentState], None] | None = None,
) -> BlockSolution:
    """Cluster all rows from given centers.

    Parameters
    ----------
    engine : Engine
    reader : Reader
    rows : RowMap
    start : DescentState
    part_totals : ndarray of shape (n_parts,)
        Weight of the rows in which each column is known, in the order of the functions; one number for points.
    mean_square : float
        About the mean squared distance of rows to their center of mass.
    max_iter, tol, keep
        See :func:`kfrc.blocks.descent.descend_blocks`.

    Returns
    -------
    BlockSolution
    """
    rank = len(rows.coordinates(np.zeros((rows.n_functions, 1))))
    remedy = "fewer columns, larger bandwidths, or less memory for each of more workers"
    check_memory(16 * rank**2, f"the eigenvalue problem of {rank} features", remedy)
    state = descend_blocks(engine, reader, rows, start, max_iter=max_iter, tol=tol, keep=keep)
    centers, rule = state.here.centers, state.here.rule
    assert state.overall is not None  # the last pass is one of double precision
    last = _LastPass(
        FuzzyPass(rows, centers, rule),
        AssessingPass(
            rows,
            centers,
            rule,
            state.overall,
            part_totals,
            diagonal_floor(mean_square),
            rule.collapsed_row(_sizes(centers)),
        ),
    )
    both = engine.run(last, reader, "last pass over the rows")
    sums, assessment = both.sums, both.assessment
    n_clusters = centers.n_clusters
    collapsed = n_clusters > 1 and assessment.spread <= COLLAPSE_TOL
    image = rows.centers(sums.moments, sums.masses, state.overall)
    objective = sums.objective + rule.penalty_of(sums.sizes, sums.entropy)
    final = _objective_of_memberships(rows, last.fuzzy, sums, image, objective)
    order = assessment.order
    centers, rule = centers.reordered(order), rule.reordered(order)
    coefficient = assessment.squares / assessment.total
    return BlockSolution(
        rows=rows,
        centers=centers,
        image=image.reordered(order),
        rule=rule,
        memberships=BlockMemberships(reader, rows, centers, rule),
        objective=final,
        objective_path=np.array([*state.path, objective, final]),
        n_iter=state.n_passes,
        status=Status.COLLAPSED if collapsed else state.status,
        uniformity=float(np.clip((1.0 - coefficient) / (1.0 - 1.0 / n_clusters), 0.0, 1.0)) if n_clusters > 1 else 0.0,
        counts=assessment.counts[order],
        assessment=assessment,
    )


def _sizes(centers: BlockCenters) -> FloatArray:
    """Shares of the clusters as one row."""
    sizes: FloatArray = centers.masses.max(axis=0)[None]
    return sizes / max(float(sizes.sum()), np.finfo(float).tiny)


def _objective_of_memberships(
    rows: RowMap, fuzzy: FuzzyPass, sums: PassSums, image: BlockCenters, objective: float
) -> float:
    """J of the memberships with the centers that they define, from J with the centers that defined them."""
    if fuzzy.rule.has_penalty:
        return objective
    squares = rows.column_squares(rows.coordinates(image.means - fuzzy.centers.means))
    gained = squares[rows.positions] * image.masses
    return objective - float(gained[:, image.occupied].sum())
