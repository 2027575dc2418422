"""Kaufman and Rousseeuw's FANNY: fuzzy relational clustering with the power fuzzifier, one sample at a time."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kfrc._callbacks import with_callbacks
from kfrc._numerics import as_generator, or_infinite, where_squares_overflow
from kfrc._threads import limiting_threads
from kfrc._validation import check_number, check_positive_int
from kfrc.clusterers._fanny_descent import SOLVERS, leading_eigenvalue_of_matrix, sweep_memberships
from kfrc.clusterers._relations import (
    GOWER,
    PRECOMPUTED,
    MatrixRelation,
    blank_rows,
    leave_out_blank_rows,
    resolve_relation,
    warn_of_blank_rows,
)
from kfrc.clusterers._row_spaces import RowSpace
from kfrc.clusterers._rows import fitted_rows
from kfrc.clusterers.base import FuzzyClusterer
from kfrc.dissimilarity import Dissimilarity
from kfrc.exceptions import NonEuclideanWarning
from kfrc.fuzzifiers import Power
from kfrc.metrics import partition_coefficient
from kfrc.relational import (
    Start,
    draw_memberships,
    in_order_of_appearance,
    resolve_start,
)
from kfrc.typing import ArrayLike, FloatArray, RandomStateLike


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
        Any metric of :func:`sklearn.metrics.pairwise_distances`, ``"gower"`` for tables with columns of any type, or
        ``"precomputed"``. Values are used as they are.
    metric_params : dict, optional
        Further arguments of the metric.
    column_types : dict, optional
        For ``metric="gower"``, types of columns by name where the table does not say them: ``"numeric"``,
        ``"ordinal"``, ``"nominal"``, ``"date"`` or ``"drop"``; ``("ordinal", [levels in order])`` gives an order.
    solver : {"sweep", "batch"}, default="sweep"
        ``"sweep"`` is the algorithm above. ``"batch"`` updates all samples at once, as :class:`kfrc.FRC` does: it has
        the same fixed points and is faster, but may end in another one.
    init : {"blocks", "spectral", "near_uniform", "random", "kmeans++"}, Start or array-like, default="blocks"
        Starting memberships. ``"blocks"`` cuts the rows in their order into consecutive blocks of ⌊n/c⌋, the last one
        taking the rest: 0.9 in the own block, 0.1/(c − 1) elsewhere. So the result can depend on the order of the rows.
    max_iter : int, default=500
    tol : float, default=1e-15
        It stops when ``|J_new − J_old| ≤ tol · J_new`` and every membership follows from the others to √tol (5·10⁻⁷ at
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

    A row of weight s counts s times in S, T and Q, and all it stands for moves at once; its copies are at distance 0 of
    each other, so that the minima of J are those of the table with every row written down s times. A sweep over that
    table would move the copies one after the other and take another way. As rows that repeat others are merged, and
    sorted, the blocks of the start are those of the sorted rows then; a precomputed matrix keeps its order.

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
        column_types: Mapping[Any, Any] | None = None,
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
        self.column_types = column_types
        self.solver = solver
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks
    def fit(self, X: ArrayLike, y: None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Find clusters.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or table
            Data; with ``metric="precomputed"`` dissimilarities (n_samples, n_samples); with ``metric="gower"`` also a
            table of pandas, polars or Arrow with columns of any type.
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            How many rows each row stands for: 2 is the row twice, 0 is the row absent. They must sum to at least 2:
            multiply weights that sum to one by the number of rows.

        Returns
        -------
        self
        """
        with self._all_or_nothing(X):
            relation, data = self._resolve_relation().read(self, X)
            weights = leave_out_blank_rows(data, sample_weight)
            n_clusters = self._check_clusters(data, weights)
            power = Power(m=self.m)
            power.check_weights(n_clusters)
            if self.solver not in SOLVERS:
                raise ValueError(f"unknown solver {self.solver!r}: choose one of {', '.join(SOLVERS)}")
            max_iter = check_positive_int(self.max_iter, "max_iter")
            tol = check_number(self.tol, "tol", minimum=0.0)
            rows = fitted_rows(data, weights, at_least=n_clusters, merge=relation.merges)
            start = rows.start(resolve_start(self.init, len(data), n_clusters))
            relation = relation.learned(rows, getattr(self, "feature_names_in_", None))
            R, s = relation.matrix(), rows.weights
            progress = self._start_progress(1, self.verbose)
            U = draw_memberships(start, Dissimilarity.from_matrix(R, s), n_clusters, as_generator(self.random_state))
            solution = SOLVERS[self.solver](R, s, power, U, max_iter, tol)
            progress(f"{self.solver} of {solution.n_iter} iterations")
            if not start.keeps_numbering:
                solution = in_order_of_appearance(solution)
            self._centers = relation.centers(solution)
            self._store(
                solution,
                power,
                rows,
                lambda absent: sweep_memberships(power, self._centers.raw_distances(data[absent])),
            )
            self.dunn_coefficient_ = partition_coefficient(solution.memberships, sample_weight=s)
            self.normalized_dunn_coefficient_ = (
                (n_clusters * self.dunn_coefficient_ - 1) / (n_clusters - 1) if n_clusters > 1 else 1.0
            )
            sets_to_zero = self.solver == "sweep" and solution.negative_distances
            self._warn_about(
                replace(solution, negative_distances=False) if sets_to_zero else solution,
                power,
                lambda: leading_eigenvalue_of_matrix(R, s),
                relation.scales(rows),
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

    def _resolve_relation(self) -> MatrixRelation:
        return resolve_relation(self.metric, self.metric_params, self.column_types, remedy="FCM, KFRC or fewer rows")

    def _row_space(self, X: Any, weights: FloatArray | None = None) -> RowSpace:
        return self._centers.relation.space(self, X, weights)

    def _raw_center_distances(self, X: Any) -> FloatArray:
        new = self._centers.relation.read_new(self, X)
        warn_of_blank_rows(blank_rows(new), stacklevel=5)
        return self._centers.raw_distances(new)

    def _center_distances(self, X: Any) -> FloatArray:
        return np.maximum(self._raw_center_distances(X), 0.0)

    @limiting_threads
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
        with where_squares_overflow():
            return sweep_memberships(self.fuzzifier_, or_infinite(self._raw_center_distances(X)))

    @property
    def _allows_nan(self) -> bool:
        return self.metric == GOWER

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == PRECOMPUTED
        tags.input_tags.categorical = tags.input_tags.string = self.metric == GOWER
        return tags
