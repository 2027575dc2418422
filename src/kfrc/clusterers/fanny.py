"""Kaufman and Rousseeuw's FANNY: fuzzy relational clustering with the power fuzzifier, one sample at a time."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.callback import with_callbacks
from sklearn.utils.validation import check_is_fitted

from kfrc._numerics import COLLAPSE_TOL, RESOLUTION, as_generator, check_memory, clear_rounding
from kfrc._validation import (
    check_dissimilarities,
    check_number,
    check_positive_int,
    find_varying_columns,
)
from kfrc.clusterers._relational import pairwise
from kfrc.clusterers.base import FuzzyClusterer
from kfrc.dissimilarity import Dissimilarity
from kfrc.exceptions import NonEuclideanWarning
from kfrc.fuzzifiers import Fuzzifier, Power
from kfrc.metrics import partition_coefficient
from kfrc.relational import (
    DESCENT_TOL,
    RelationalSolution,
    Start,
    Status,
    draw_memberships,
    in_order_of_appearance,
    resolve_start,
    solve_relational,
)
from kfrc.spectrum import spectrum_of
from kfrc.typing import ArrayLike, FloatArray, RandomStateLike

_BLOCK = 64
"""Samples whose sums are brought up to date by one matrix product; within a block this is done sample by sample."""

_LOST_DIGITS = 1e-3
"""A sum that one sample's step brings below this share of itself is computed anew: its last digits are rounding."""

_RESIDUAL_TOL = 5e-7
"""At convergence the memberships follow from the sums to this, or to √tol: where J is flat it says nothing of them."""

_ROUNDING_RISE = 1e-5
"""Rises of J below this share of its first value may be rounding even where distances to centers were negative."""

_NEGATIVE_TOL = 1e-10
"""Distances to centers below minus this times their largest are a property of R, not rounding."""


class FANNY(FuzzyClusterer):
    """Fuzzy analysis clustering of Kaufman and Rousseeuw, as defined by ``fanny`` of the R package cluster.

    It minimizes, over memberships u ≥ 0 whose rows sum to one and for raw (not squared) dissimilarities d,

        J = Σ_v Σ_ij u_iv^m u_jv^m d_ij / (2 Σ_j u_jv^m).

    The samples are visited in order. With the current sums S_v = Σ_j u_jv^m, T_iv = Σ_j u_jv^m d_ij and
    Q_v = Σ_i u_iv^m T_iv, sample i gets

        u_iv ∝ a_iv^(−1/(m−1)),    a_iv = T_iv / S_v − Q_v / (2 S_v²),

    and the sums are refreshed before the next sample is visited. Updated memberships that are negative (a_iv < 0, which
    only dissimilarities that are no squared Euclidean distances allow) are set to 0 and the others rescaled. A sweep
    over all samples is one iteration.

    Parameters
    ----------
    n_clusters : int, default=3
    m : float, default=2
        Membership exponent, above 1. R calls it ``memb.exp``; 2 often collapses, see the warning.
    metric : str or callable, default="euclidean"
        Any metric of :func:`sklearn.metrics.pairwise_distances`, or ``"precomputed"``. Values are used as they are.
    metric_params : dict, optional
        Further arguments of the metric.
    solver : {"sweep", "batch"}, default="sweep"
        ``"sweep"`` is the algorithm above. ``"batch"`` updates all samples at once, as :class:`kfrc.FRC` does: it has
        the same fixed points and is faster, but may end in another one.
    init : {"blocks", "spectral", "near_uniform", "random", "kmeans++"}, Start or array-like, default="blocks"
        Starting memberships. ``"blocks"`` cuts the rows in their order into consecutive blocks of ⌊n/c⌋, the last one
        taking the rest: 0.9 in the own block, 0.1/(c − 1) elsewhere. So the result can depend on the order of the rows.
    max_iter : int, default=500
    tol : float, default=1e-15
        It stops when |J_new − J_old| ≤ tol · J_new and every membership follows from the others to √tol (5·10⁻⁷ at
        least; R does not ask for that, and it matters only where J is flat, as at large m). ``"batch"`` stops when no
        membership moves by more than √tol, which changes J by about tol.
    random_state : int, RandomState, Generator or None
        For random starts; ``"blocks"`` needs none.
    verbose : int, default=0
        Print one line per fit.

    Attributes
    ----------
    memberships_, labels_, objective_, objective_path_, n_iter_, status_, uniformity_
        See :class:`kfrc.clusterers.FuzzyClusterer`. Clusters are numbered by their first sample,
        unless ``init`` is an array, whose numbering is kept.
    dunn_coefficient_ : float
        Σ_ij u_ij² / n, between 1/c (all uniform) and 1 (crisp).
    normalized_dunn_coefficient_ : float
        (c · dunn − 1) / (c − 1), between 0 and 1.

    Notes
    -----
    J never rises where R holds squared distances of a Euclidean space, as plain Euclidean and Manhattan distances are
    too: a sweep after which rounding has raised it is taken back and ends the run. Otherwise, where memberships come
    out negative and are set to 0, it can rise by any amount; a warning says that this happened.

    A sweep reads the n × n matrix once, in blocks of 64 rows, and so is bound by memory when n is some thousands; below
    that by about 5 µs of interpreter time for every sample, because each one has to wait for the one before.

    New rows get the same formula for u with the sums S and Q of the training memberships.

    References
    ----------
    Kaufman and Rousseeuw (1990), "Finding Groups in Data", chapter 4.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kfrc import FANNY
    >>> fanny = FANNY(3, m=1.5).fit(load_iris().data)
    >>> fanny.status_, round(fanny.normalized_dunn_coefficient_, 3)
    ('converged', 0.708)
    """

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        m: float = 2,
        metric: Any = "euclidean",
        metric_params: dict[str, Any] | None = None,
        solver: str = "sweep",
        init: str | Start | ArrayLike = "blocks",
        max_iter: int = 500,
        tol: float = 1e-15,
        random_state: RandomStateLike = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.m = m
        self.metric = metric
        self.metric_params = metric_params
        self.solver = solver
        self.init = init
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
            Data, or dissimilarities (n_samples, n_samples) with ``metric="precomputed"``.
        y : ignored

        Returns
        -------
        self
        """
        with self._all_or_nothing():
            data = self._table(X)
            n_clusters = self._check_clusters(len(data))
            power = Power(m=self.m)
            power.check_weights(n_clusters)
            if self.solver not in _SOLVERS:
                raise ValueError(f"unknown solver {self.solver!r}: choose one of {', '.join(_SOLVERS)}")
            max_iter = check_positive_int(self.max_iter, "max_iter")
            tol = check_number(self.tol, "tol", minimum=0.0)
            start = resolve_start(self.init, len(data), n_clusters)
            R = self._dissimilarities(data)
            progress = self._start_progress(1, self.verbose)
            U = draw_memberships(start, Dissimilarity.from_matrix(R), n_clusters, as_generator(self.random_state))
            solution = _SOLVERS[self.solver](R, power, U, max_iter, tol)
            progress(f"{self.solver} of {solution.n_iter} iterations")
            if not start.keeps_numbering:
                solution = in_order_of_appearance(solution)
            self._store(solution, power)
            self.dunn_coefficient_ = partition_coefficient(solution.memberships)
            self.normalized_dunn_coefficient_ = (
                (n_clusters * self.dunn_coefficient_ - 1) / (n_clusters - 1) if n_clusters > 1 else 1.0
            )
            self._prototypes = solution.prototypes
            self._squared_norms = solution.squared_norms
            self._fit_X = None if self.metric == "precomputed" else data
            sets_to_zero = self.solver == "sweep" and solution.negative_distances
            self._warn_about(
                replace(solution, negative_distances=False) if sets_to_zero else solution,
                power,
                lambda: _leading_eigenvalue(R),
            )
            if sets_to_zero:
                warnings.warn(
                    "the dissimilarities are not squared distances of any Euclidean space: some updated memberships "
                    "were negative and set to 0, so the objective need not fall. NERFCM raises such "
                    "dissimilarities first",
                    NonEuclideanWarning,
                    stacklevel=3,
                )
            self._end_progress()
        return self

    def _dissimilarities(self, X: FloatArray) -> FloatArray:
        if self.metric != "precomputed":
            find_varying_columns(X, getattr(self, "feature_names_in_", None))
            check_memory(16 * len(X) ** 2, f"the {len(X)} x {len(X)} dissimilarity matrix", "FCM, KFRC or fewer rows")
            X = self._pairwise(X, X)
        return check_dissimilarities(X)

    def _pairwise(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        return pairwise(X, Y, self.metric, self.metric_params)

    def _raw_center_distances(self, X: Any) -> FloatArray:
        X = self._rows(X)
        to_samples = X if self._fit_X is None else self._pairwise(X, self._fit_X)
        return _center_distances(to_samples, self._prototypes, self._squared_norms)

    def _center_distances(self, X: Any) -> FloatArray:
        return np.maximum(self._raw_center_distances(X), 0.0)

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """Memberships of new rows by the formula above, given the training memberships.

        For the rows that were fitted these are ``memberships_`` to 10⁻⁶, if ``status_`` is ``"converged"``. Sweeps that
        were stopped earlier leave rows that have not seen the last steps of the others.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            With ``metric="precomputed"``, dissimilarities to the training samples (n_rows, n_samples).

        Returns
        -------
        U : ndarray of shape (n_rows, n_clusters)
        """
        check_is_fitted(self)
        return _memberships(self.fuzzifier_, self._raw_center_distances(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags


def _sweep(R: FloatArray, t: Power, U: FloatArray, max_iter: int, tol: float) -> RelationalSolution:
    """Gauss–Seidel: every sample sees the memberships that those before it have just got."""
    U = U.copy()
    W = t.value(U)
    masses, sums = W.sum(axis=0).tolist(), np.einsum("ji,ji->i", W, R @ W).tolist()
    path = [_objective(masses, sums)]
    status = Status.MAX_ITER
    negative = False
    stalled = False
    while status is Status.MAX_ITER and not stalled and len(path) <= max_iter:
        before = U.copy()
        for start in range(0, len(R), _BLOCK):
            rows = slice(start, min(start + _BLOCK, len(R)))
            negative |= _sweep_block(R, rows, t, U, W, masses, sums)
        objective = _objective(masses, sums)
        # Where all distances are squares of a Euclidean space nothing but rounding raises J, and never by much.
        rise = objective - path[-1]
        stalled = rise > DESCENT_TOL * path[-1] and (not negative or rise <= _ROUNDING_RISE * path[0])
        if stalled:
            U = before
            W = t.value(U)
        else:
            path.append(objective)
        if stalled or abs(path[-1] - path[-2]) <= tol * path[-1]:
            following = _memberships(t, _center_distances(R, *_centers(R, W)))
            if float(np.abs(following - U).max()) <= max(_RESIDUAL_TOL, math.sqrt(tol)):
                status = Status.CONVERGED
    if U.shape[1] > 1 and float(np.abs(U - 1.0 / U.shape[1]).max()) <= COLLAPSE_TOL:
        status = Status.COLLAPSED
    prototypes, squared_norms = _centers(R, W)
    return RelationalSolution(
        memberships=U,
        objective=path[-1],
        objective_path=np.array(path),
        n_iter=len(path) - 1,
        status=status,
        prototypes=prototypes,
        squared_norms=squared_norms,
        negative_distances=negative,
    )


def _centers(R: FloatArray, W: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Weights of the implicit centers, and their squared norms −pᵀRp/2; infinite for an empty cluster."""
    totals = W.sum(axis=0)
    empty = totals <= 0
    prototypes = W / np.where(empty, 1.0, totals)
    squared_norms = -0.5 * np.einsum("ji,ji->i", prototypes, R @ prototypes)
    return prototypes, np.where(empty, np.inf, squared_norms)


def _center_distances(to_samples: FloatArray, prototypes: FloatArray, squared_norms: FloatArray) -> FloatArray:
    """Squared distances to the implicit centers, which may be negative, from dissimilarities to the samples."""
    return clear_rounding(to_samples @ prototypes + squared_norms, 0.0, squared_norms)


def _sweep_block(
    R: FloatArray, rows: slice, t: Power, U: FloatArray, W: FloatArray, masses: list[float], sums: list[float]
) -> bool:
    """Visit the samples of a block in order; U, W, masses S and sums Q are updated in place.

    The matrix product brings T of the block up to date with all samples outside it; inside, T of sample k lacks only
    what the samples before it have changed. Plain floats are several times faster here than arrays of length c.
    """
    outside = R[rows] @ W
    inside = R[rows, rows]
    changes = np.zeros_like(outside)
    updated = U[rows]
    exponent, m = 1.0 / (t.m - 1.0), t.m
    clusters = range(len(masses))
    negative = False
    for k, old in enumerate(W[rows].tolist()):
        T = (outside[k] + inside[k, :k] @ changes[:k]).tolist()
        means = [T[i] / masses[i] if masses[i] > 0 else math.inf for i in clusters]
        a = [means[i] - 0.5 * sums[i] / masses[i] / masses[i] if masses[i] > 0 else math.inf for i in clusters]
        a = [value if abs(value) > RESOLUTION * mean else 0.0 for value, mean in zip(a, means, strict=True)]
        nearest = min(a)
        if nearest > 0:
            shares = [(nearest / value) ** exponent for value in a]
            total = sum(shares)
            u = [share / total for share in shares]
        else:
            if nearest < -_NEGATIVE_TOL * max(means):
                negative = True
            else:
                a = [max(value, 0.0) for value in a]
            u = _memberships(t, np.array([a]))[0].tolist()
        W[rows.start + k] = new = [share**m for share in u]
        updated[k] = u
        lost = False
        change = [0.0] * len(a)
        for i in clusters:
            change[i] = delta = new[i] - old[i]
            mass, total = masses[i] + delta, sums[i] + 2.0 * delta * T[i]
            if mass < _LOST_DIGITS * masses[i] or total < _LOST_DIGITS * sums[i]:
                lost = True
                mass, total = float(W[:, i].sum()), float(W[:, i] @ (R @ W[:, i]))
            masses[i], sums[i] = mass, total
        if lost:
            outside, changes[:k] = R[rows] @ W, 0.0
        else:
            changes[k] = change
    return negative


def _objective(masses: list[float], sums: list[float]) -> float:
    return sum(Q / (2.0 * S) for S, Q in zip(masses, sums, strict=True) if S > 0)


def _memberships(t: Fuzzifier, a: FloatArray) -> FloatArray:
    """FANNY's membership step for rows of a: u ∝ a^(−1/(m−1)), what comes out negative set to 0, the rest rescaled."""
    U = t.memberships(np.maximum(a, 0.0))
    rows = np.flatnonzero((a < 0).any(axis=1) & (a != 0).all(axis=1))
    if len(rows):
        relative = a[rows] / np.abs(a[rows]).min(axis=1, keepdims=True)
        shares = np.sign(relative) * np.abs(relative) ** (-1.0 / (t.m - 1.0))
        total = shares.sum(axis=1, keepdims=True)
        shares = np.maximum(np.where(total < 0, -shares, shares), 0.0)
        U[rows] = shares / shares.sum(axis=1, keepdims=True)
    return U


def _batch(R: FloatArray, t: Power, U: FloatArray, max_iter: int, tol: float) -> RelationalSolution:
    """Jacobi: all samples see the same memberships."""
    return solve_relational(Dissimilarity.from_matrix(R), U.shape[1], t, init=U, max_iter=max_iter, tol=math.sqrt(tol))


_SOLVERS = {"sweep": _sweep, "batch": _batch}


def _leading_eigenvalue(R: FloatArray) -> float:
    return float(spectrum_of(Dissimilarity.from_matrix(R).gram, 1).eigenvalues[0])
