"""What a fit of a kernel clustering is: one frozen object, and what memberships of new rows need of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from kfrc._numerics import SINGLE_TOL, clear_rounding
from kfrc.bandwidth import BandwidthResult
from kfrc.bandwidth.projections import FEASIBILITY_TOL
from kfrc.columns import Rows, Table, values_of
from kfrc.criteria import Criterion
from kfrc.exceptions import KFRCError
from kfrc.fitting.table import KernelSpace
from kfrc.foremost import Foremost
from kfrc.fuzzifiers import Fuzzifier
from kfrc.gram import Centers, Gram
from kfrc.judges import Opinion, PosteriorModel
from kfrc.kernels import Kernel
from kfrc.relational import RelationalSolution
from kfrc.selection import ClusterCount, Selection
from kfrc.typing import FloatArray, IntArray


@dataclass(frozen=True)
class Posterior:
    """The judge's probabilities, clusters numbered as in the memberships.

    Attributes
    ----------
    memberships : ndarray of shape (n_samples, n_clusters)
        Of the rows that were fitted.
    rows : PosteriorRows
        For new rows.
    """

    memberships: FloatArray
    rows: PosteriorRows

    @classmethod
    def matching(cls, U: FloatArray, model: PosteriorModel, standardized: Rows, space: KernelSpace) -> Posterior:
        """Of a model, with its clusters renumbered so that they overlap most with those of memberships U."""
        probabilities = model.posterior(standardized)
        order = linear_sum_assignment(-U.T @ probabilities)[1]
        return cls(probabilities[:, order], PosteriorRows(model, space, order))


@dataclass(frozen=True)
class PosteriorRows:
    """Probabilities of new rows: a model of the judge, and the order that its clusters got."""

    model: PosteriorModel
    space: KernelSpace
    order: IntArray

    def memberships(self, X: FloatArray) -> FloatArray:
        """Probability of every cluster for rows in the units of the table, of shape (len(X), n_clusters)."""
        standardized = self.space.standardize(X)
        if not isinstance(standardized, Table) and np.isnan(standardized).any():
            raise KFRCError(
                'memberships="posterior" needs complete rows, as those of the fit were: fill in missing values first'
            )
        return self.model.posterior(standardized)[:, self.order]


@dataclass(frozen=True)
class TableCenters(Centers):
    """Centers for rows in the units of the table."""

    space: KernelSpace
    centers: Centers

    def squared_distances(self, Z: FloatArray) -> FloatArray:  # noqa: D102
        standardized = self.space.standardize(Z)
        centers = self.centers
        if not isinstance(standardized, Table) and np.isnan(standardized).any():
            centers = centers.for_blanks()  # the rows of the fit had none
        return centers.squared_distances(values_of(standardized))


@dataclass(frozen=True)
class PrecomputedCenters(Centers):
    """Centers for rows of similarities to the training samples, whose own similarity is the same for all."""

    similarity: float | None
    prototypes: FloatArray
    squared_norms: FloatArray

    @classmethod
    def of(cls, K: FloatArray, solution: RelationalSolution, rounding: float) -> PrecomputedCenters:
        """Centers of a solution with Gram matrix K, whose entries may be off by so much of the largest."""
        diagonal = np.diagonal(K)
        constant = np.ptp(diagonal) <= rounding * np.abs(diagonal).max()
        similarity = float(np.median(diagonal)) if constant else None
        return cls(similarity, solution.prototypes, solution.squared_norms)

    def squared_distances(self, Z: FloatArray) -> FloatArray:  # noqa: D102
        if self.similarity is None:
            raise KFRCError(
                "memberships of new rows need their similarity to themselves, which a precomputed kernel with a "
                "varying diagonal does not tell: normalize the kernel to a constant diagonal"
            )
        largest = float(np.abs(Z).max(initial=0.0))
        if largest > self.similarity * (1.0 + SINGLE_TOL):
            raise KFRCError(
                f"similarities of the new rows reach {largest:.3g}, which no kernel allows where that of a row to "
                f"itself is {self.similarity:.3g}: normalize them as the matrix of the fit was"
            )
        distances = self.similarity - 2.0 * (Z @ self.prototypes) + self.squared_norms
        return np.maximum(clear_rounding(distances, self.similarity, self.squared_norms), 0.0)


@dataclass(frozen=True)
class KernelFit:
    """Everything that a fit found.

    Attributes
    ----------
    fuzzifier : Fuzzifier
    criterion : Criterion
    threshold : float
        λ₁ that was asked for.
    gram : Gram
    eigenvalues : ndarray of shape (n_clusters,)
        Leading eigenvalues of F.
    solution : RelationalSolution
        The memberships that are returned, with their objective and centers.
    centers : Centers
        For rows as the user gives them.
    kernel, max_anisotropy, space, linear_limit, far_values
        Of a table; a Gram matrix that was given has none of them.
    search : BandwidthResult or None
    selection : Selection or None
    opinion : Opinion or None
        What the judge of a choice believes.
    count : ClusterCount or None
    posterior : Posterior or None
        If a choice was made by a judge with a model.
    returns_posterior : bool
        Whether ``solution`` holds these probabilities.
    contributions : ndarray of shape (n_clusters, n_columns) or None
        Shares of clusters and columns in what ``solution`` explains; a Gram matrix that was given has no columns.
    foremost : Foremost or None
        Columns of a wide table that a choice saw; None if it saw all, or there was none.
    in_blocks : bool
        Whether rows were passed over in blocks, by several threads; everything but centers, eigenvalues, memberships
        and contributions is then of a sample.
    error_of_passes : float
        Relative error of squared distances in these blocks.
    """

    fuzzifier: Fuzzifier
    criterion: Criterion
    threshold: float
    gram: Gram
    eigenvalues: FloatArray
    solution: RelationalSolution
    centers: Centers
    kernel: Kernel | None = None
    max_anisotropy: float | None = None
    space: KernelSpace | None = None
    linear_limit: bool = False
    far_values: dict[str, Any] | None = None
    search: BandwidthResult | None = None
    selection: Selection | None = None
    opinion: Opinion | None = None
    count: ClusterCount | None = None
    posterior: Posterior | None = None
    returns_posterior: bool = False
    contributions: FloatArray | None = None
    foremost: Foremost | None = None
    in_blocks: bool = False
    error_of_passes: float = 0.0

    @property
    def approximation_error(self) -> float:
        """Of the Gram matrix, and of passes over blocks of rows if there were any: the larger one."""
        return max(self.gram.approximation_error, self.error_of_passes)

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return self.solution.memberships.shape[1]

    @property
    def criterion_value(self) -> float:
        """𝒬 of the eigenvalues; zero for one cluster."""
        return float(self.criterion.value(self.eigenvalues, self.n_clusters)) if self.n_clusters > 1 else 0.0

    @property
    def leading_eigenvalue(self) -> float:
        """λ₁."""
        return float(self.eigenvalues[0])

    @property
    def critical_m(self) -> float:
        """m*; infinite if no fuzziness collapses."""
        if self.n_clusters == 1:
            return np.inf
        return self.fuzzifier.critical_m(self.n_clusters, self.leading_eigenvalue)

    @property
    def stable(self) -> bool:
        """λ₁ ≥ τ up to what the search accepts."""
        if self.n_clusters == 1:
            return True
        return self.leading_eigenvalue >= self.fuzzifier.threshold(self.n_clusters) - FEASIBILITY_TOL
