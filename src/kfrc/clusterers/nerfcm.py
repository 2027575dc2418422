"""Non-Euclidean relational fuzzy c-means: raises the dissimilarities just enough that all distances are positive."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kfrc._numerics import as_generator
from kfrc.clusterers._relational import RelationalClusterer
from kfrc.clusterers._relations import MatrixCenters, MatrixRelation, Relation, RelationCenters
from kfrc.clusterers._row_spaces import MatrixSpace, RowSpace
from kfrc.clusterers._spread import NegativeDistanceError, SpreadDissimilarity
from kfrc.dissimilarity import Dissimilarity
from kfrc.fuzzifiers import Fuzzifier, resolve_fuzzifier
from kfrc.gram import DenseGram
from kfrc.relational import (
    SAME_OBJECTIVE,
    RelationalSolution,
    Start,
    in_order_of_appearance,
    solve_relational,
    starting_memberships,
)
from kfrc.spectrum import spectrum_of
from kfrc.typing import ArrayLike, FloatArray, Progress, RandomStateLike


class NERFCM(RelationalClusterer):
    """Non-Euclidean relational fuzzy c-means: relational fuzzy c-means for any dissimilarities, by β-spread.

    It runs :class:`kfrc.RFCM` on R + β (11ᵀ − I), beginning with β = 0. When a squared distance d_ki of sample k to
    center i becomes negative, β grows by the smallest amount that ends this,

        Δβ = max over d_ki < 0 of −2 d_ki / ‖v_i − e_k‖²,

    all distances grow by Δβ/2 · ‖v_i − e_k‖² (v_i are the center's weights in the samples, e_k those of sample k
    alone), and the run goes on. A large β drowns the structure of R: ``beta_`` next to the size of R says how far the
    data were from Euclidean. R is Euclidean, and β stays 0, for ``metric="sqeuclidean"``.

    Parameters
    ----------
    n_clusters : int, default=3
    m : float, optional
        Exponent m > 1 of the memberships; None means 2.
    metric : str or callable, default="sqeuclidean"
        Any metric of :func:`sklearn.metrics.pairwise_distances`, ``"gower"`` for tables with columns of any type, or
        ``"precomputed"``. Values are used as they are.
    metric_params : dict, optional
        Further arguments of the metric.
    column_types : dict, optional
        For ``metric="gower"``, types of columns by name where the table does not say them: ``"numeric"``,
        ``"ordinal"``, ``"nominal"``, ``"date"`` or ``"drop"``; ``("ordinal", [levels in order])`` gives an order.
    init : {"spectral", "near_uniform", "random", "kmeans++", "blocks"}, Start or array-like, default="spectral"
        Starting memberships; an array has shape (n_samples, n_clusters).
    n_init : int, default=4
        Runs; the lowest objective wins. After a deterministic start the others begin with ``"kmeans++"``. They
        share β: a run that ended with a smaller one is continued, so that the objectives can be compared.
    max_iter : int, default=1000
        Iterations after the last change of β.
    tol : float, default=1e-6
        Largest movement of a membership at convergence.
    random_state : int, RandomState, Generator or None
    verbose : int, default=0
        Print one line per run.

    Attributes
    ----------
    beta_ : float
        The β that was needed; 0 if R behaved like squared distances.
    memberships_, labels_, objective_, objective_path_, n_iter_, status_, uniformity_
        See :class:`kfrc.clusterers.FuzzyClusterer`. Objective and iterations belong to the final β.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Centers, for ``metric="sqeuclidean"`` only.

    Notes
    -----
    A new row is raised by β like the others; where its dissimilarity to a training sample is 0 it counts as that
    sample, so that prediction of the training rows returns the fit.

    References
    ----------
    Hathaway and Bezdek (1994), "NERF c-means: non-Euclidean relational fuzzy clustering", Pattern Recognition 27.

    Examples
    --------
    Two stars, ten steps apart: a hub is one step from its four leaves, and these are two steps from each other. No
    points have such distances, as the hub would have to be the midpoint of every pair of leaves.

    >>> import numpy as np
    >>> from kfrc import NERFCM
    >>> star = np.full((5, 5), 2.0)
    >>> star[0] = star[:, 0] = 1.0
    >>> np.fill_diagonal(star, 0.0)
    >>> steps = np.full((10, 10), 10.0)
    >>> steps[:5, :5] = steps[5:, 5:] = star
    >>> nerfcm = NERFCM(2, metric="precomputed", random_state=0).fit(steps**2)
    >>> nerfcm.labels_, round(nerfcm.beta_, 2)
    (array([0, 0, 0, 0, 0, 1, 1, 1, 1, 1]), 0.8)
    """

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        m: float | None = None,
        metric: Any = "sqeuclidean",
        metric_params: dict[str, Any] | None = None,
        column_types: Mapping[Any, Any] | None = None,
        init: str | Start | ArrayLike = "spectral",
        n_init: int = 4,
        max_iter: int = 1000,
        tol: float = 1e-6,
        random_state: RandomStateLike = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.m = m
        self.metric = metric
        self.metric_params = metric_params
        self.column_types = column_types
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    def _resolve_fuzzifier(self) -> Fuzzifier:
        return resolve_fuzzifier("power", self.m)

    def _solve(
        self, dissimilarity: Dissimilarity, n_clusters: int, fuzzifier: Fuzzifier, start: Start, progress: Progress
    ) -> RelationalSolution:
        spread = SpreadDissimilarity(dissimilarity.gram)
        runs = _Runs(spread, n_clusters, fuzzifier, self.max_iter, self.tol)
        solution = runs.best(start, self.n_init, as_generator(self.random_state), progress)
        self.beta_ = spread.beta
        return solution

    def _row_space(self, X: Any, weights: FloatArray | None = None) -> RowSpace:
        space = super()._row_space(X, weights)
        if self.beta_ == 0:
            return space

        def raised() -> FloatArray:
            gram = space.gram()
            R = Dissimilarity(gram).columns(range(gram.n_samples))
            return R + self.beta_ * (1.0 - np.eye(len(R)))

        return MatrixSpace(raised, weights, space)

    def _leading_eigenvalue(self, dissimilarity: Dissimilarity) -> float:
        if self.beta_ == 0:
            return super()._leading_eigenvalue(dissimilarity)
        return _raised_eigenvalue(SpreadDissimilarity(dissimilarity.gram, self.beta_))

    def _centers_of(self, relation: Relation, solution: RelationalSolution) -> RelationCenters:
        if not isinstance(relation, MatrixRelation):
            return super()._centers_of(relation, solution)  # Euclidean, so that β is zero
        return RaisedCenters(relation.placing(), solution.prototypes, solution.squared_norms, self.beta_)


@dataclass(frozen=True, eq=False)
class RaisedCenters(MatrixCenters):
    """Centers under R + β (11ᵀ − I); a new row at distance zero from samples of the fit counts as one of them."""

    beta: float = 0.0

    def between(self, new: FloatArray) -> FloatArray:  # noqa: D102
        to_samples = self.relation.between(new)
        if self.beta == 0:
            return to_samples
        weights = self.relation.weights
        same = (to_samples == 0).astype(np.float64)
        copies = same.sum(axis=1) if weights is None else same @ np.maximum(weights, 1.0)
        same /= np.maximum(copies, 1.0)[:, None]
        return to_samples + self.beta * (1.0 - same)


class _CopiesGram(DenseGram):
    """−R/2 of rows that stand for several samples, with the mean of R among these on its diagonal."""

    def diagonal(self) -> FloatArray:
        return np.zeros(self.n_samples)  # of a sample to itself


def _raised_eigenvalue(spread: SpreadDissimilarity) -> float:
    """λ₁ of F for R + β (11ᵀ − I) of all samples, among them those that share a row."""
    R = spread.columns(np.arange(spread.n_samples))
    np.fill_diagonal(R, spread.beta * (1.0 - 1.0 / spread.copies))
    gram = _CopiesGram(-0.5 * R, weights=spread.gram.weights)
    among_rows = float(spectrum_of(gram, 1).eigenvalues[0])
    # Samples of one row can part as well: R x = −β x for x that sums to zero over them.
    shared = spread.copies > 1
    within = 0.5 * spread.beta / (gram.total * gram.centered_diagonal[shared])
    return max(among_rows, float(within.max(initial=0.0)))


@dataclass
class _Runs:
    """Runs that share one β; ``dissimilarity.beta`` is raised in place."""

    dissimilarity: SpreadDissimilarity
    n_clusters: int
    fuzzifier: Fuzzifier
    max_iter: int
    tol: float

    def best(self, start: Start, n_init: int, random_state: RandomStateLike, progress: Progress) -> RelationalSolution:
        solutions, betas = [], []
        for k, U in enumerate(starting_memberships(start, n_init, self.dissimilarity, self.n_clusters, random_state)):
            solutions.append(self._run(U))
            betas.append(self.dissimilarity.beta)
            progress(f"clustering {k + 1}/{n_init}")
        while min(betas) < self.dissimilarity.beta:
            k = int(np.argmin(betas))
            solutions[k] = self._run(solutions[k].memberships)
            betas[k] = self.dissimilarity.beta
        lowest = min(solution.objective for solution in solutions)
        # Runs that reach the same minimum differ by rounding; the first of them is kept.
        k, best = next((k, s) for k, s in enumerate(solutions) if s.objective <= lowest + SAME_OBJECTIVE * abs(lowest))
        return best if start.numbers_run(k) else in_order_of_appearance(best)

    def _run(self, U: FloatArray) -> RelationalSolution:
        """Iterate to the end; a negative distance raises β and the run goes on from the corrected distances."""
        while True:
            try:
                return solve_relational(
                    self.dissimilarity,
                    self.n_clusters,
                    self.fuzzifier,
                    init=U,
                    max_iter=self.max_iter,
                    tol=self.tol,
                )
            except NegativeDistanceError as found:
                negative = found.distances < 0
                shift = float((-2.0 * found.distances[negative] / found.spreads[negative]).max())
                self.dissimilarity.beta += shift
                distances = found.distances + 0.5 * shift * found.spreads
                U = self.fuzzifier.memberships(np.maximum(distances, 0.0))
