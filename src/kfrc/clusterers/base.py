"""What every fuzzy clusterer shares: prediction from center distances, the fitted attributes, progress, warnings."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from kfrc import activity
from kfrc._callbacks import CallbackSupportMixin
from kfrc._numerics import COLLAPSE_TOL, or_infinite, rounding_of, where_squares_overflow
from kfrc._threads import count_rows, limiting_threads, threads_for
from kfrc._validation import check_clusters_for_fit, check_sample_weight, check_squares
from kfrc.blocks import LazyMemberships, PredictedMemberships, labels_of
from kfrc.clusterers._fit_tasks import FitTasks
from kfrc.clusterers._numbers import numbers_of
from kfrc.clusterers._presentation import Presented
from kfrc.clusterers._row_spaces import PointSpace, RowSpace
from kfrc.clusterers._rows import MergedRows, check_frequencies, count_different, is_beyond_numbers, times
from kfrc.clusterers._sources import PredictChunk
from kfrc.columns.variation import Scales, find_varying_columns
from kfrc.exceptions import NonEuclideanWarning, UnequalScalesWarning, UniformCollapseWarning
from kfrc.fuzzifiers import Fuzzifier
from kfrc.metrics import uniformity_index
from kfrc.relational import RelationalSolution, Status
from kfrc.sources import as_source
from kfrc.typing import ArrayLike, FloatArray, IntArray, Progress


class FuzzyClusterer(
    Presented,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    ClusterMixin,
    CallbackSupportMixin,
    BaseEstimator,
    ABC,
):
    """Base of the estimators: subclasses fit, and measure squared distances of rows to their centers.

    Attributes
    ----------
    memberships_ : ndarray of shape (n_samples, n_clusters)
        Rows sum to one. Of a source an object that compares, indexes and converts as an array does, and has ``head(n)``
        and ``write_parquet(folder)``.
    labels_ : ndarray of shape (n_samples,)
        The cluster of largest membership. Of a source with more than 20 000 rows they are computed when they are asked
        for.
    objective_ : float
        Value of the minimized objective.
    objective_path_ : ndarray
        Its value at the start and after every iteration. It never rises, but for the methods that say so.
    n_iter_ : int
        Iterations of the best run.
    status_ : {"converged", "max_iter", "collapsed"}
        How that run ended: neither memberships nor centers move any more; it was stopped before that, by ``max_iter``
        or because no step lowers the objective (a warning says which); or every membership is 1/c.
    uniformity_ : float
        (1 − PC) / (1 − 1/c): 0 for a crisp partition, 1 for the uniform one.

    Notes
    -----
    All methods but :class:`kfrc.KFRC` take columns as they are, so that columns count by their units: standardize them
    first. A :class:`kfrc.exceptions.UnequalScalesWarning` names columns whose scales differ a hundredfold, by standard
    deviation and by range. Precomputed dissimilarities, Gower's and metrics that have scales of their own do not warn.

    Weights of rows are frequencies: weight 2 is the row twice, weight 0 is the row absent, and its memberships are what
    ``predict_proba`` says of it. So they should sum to about the number of rows (survey weights: mean one), and must
    sum to at least 2: one row has neither a deviation nor a second one to be compared with. This is one rule for all
    methods, also for those whose memberships do not change if all weights are multiplied by the same number.

    Rows with weights, and rows of which at least three in ten repeat others, are fitted as different rows with their
    frequencies, sorted by value: the result then depends neither on the order of the rows nor on how a row is repeated,
    and clusters are numbered by the first of the sorted rows that prefers them. Memberships given as ``init`` are
    averaged over equal rows. Rows of a precomputed matrix are never merged.
    """

    n_clusters: Any
    max_iter: int
    memberships_: Any
    labels_: Any
    fuzzifier_: Fuzzifier

    _minimizes_relation: ClassVar[bool] = True
    """Whether the objective is that of :func:`kfrc.relational.solve_relational` on the space of the rows."""

    @abstractmethod
    def fit(self, X: ArrayLike, y: None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Find clusters in X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            How many rows each row stands for: 2 is the row twice, 0 is the row absent. They must sum to at least 2:
            multiply weights that sum to one by the number of rows.

        Returns
        -------
        self
        """

    @abstractmethod
    def _center_distances(self, X: Any) -> FloatArray:
        """Squared distances of rows to the fitted centers, of shape (n_rows, n_clusters)."""

    def _row_space(self, X: Any, weights: FloatArray | None = None) -> RowSpace:
        """The space in which the fitted method sees rows: squared Euclidean distances, unless a method says otherwise.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows; of a precomputed matrix, all pairs of these rows (n_rows, n_rows).
        weights : ndarray of shape (n_rows,), optional
            How many rows each row stands for.
        """
        return PointSpace(self._rows(X), weights)

    @limiting_threads
    def predict_proba(self, X: ArrayLike) -> Any:
        """Memberships of new rows, given the fitted centers.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features), or a source of rows that need not fit into memory

        Returns
        -------
        U : ndarray of shape (n_rows, n_clusters), or LazyMemberships of a source
            For the rows that were fitted these are ``memberships_``, if ``status_`` is ``"converged"``: to 10⁻¹⁰ on
            ordinary tables, and to 10⁻⁶ where values are far apart or rows coincide with centers (10⁻⁵ from
            m = 30 on). A fit that was stopped earlier (``"max_iter"``, with a warning) may differ by more.
        """
        check_is_fitted(self)
        source = as_source(X)
        if source is not None:
            return PredictedMemberships(source, self._n_features_out, PredictChunk(self, source.names))
        return self._memberships_of(X)

    def _memberships_of(self, X: Any, distances: FloatArray | None = None) -> FloatArray:
        """Memberships of rows X; their squared distances to the centers are given if they are known already."""
        if distances is None:
            with where_squares_overflow():
                distances = or_infinite(self._center_distances(X))
        return self.fuzzifier_.memberships(distances)

    def predict(self, X: ArrayLike) -> Any:
        """Cluster of largest membership for new rows.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)

        Returns
        -------
        labels : ndarray of shape (n_rows,), or LazyLabels of a source with more than 20 000 rows
        """
        U = self.predict_proba(X)
        return labels_of(U) if isinstance(U, LazyMemberships) else U.argmax(axis=1)

    @limiting_threads
    def transform(self, X: ArrayLike) -> FloatArray:
        """Distances (not squared) of rows to the cluster centers, which may exist only implicitly.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)

        Returns
        -------
        distances : ndarray of shape (n_rows, n_clusters)
        """
        check_is_fitted(self)
        with where_squares_overflow():
            return np.sqrt(or_infinite(self._center_distances(X)))

    @limiting_threads
    def score(self, X: ArrayLike, y: None = None, sample_weight: ArrayLike | None = None) -> float:
        """Minus the objective of X with respect to the fitted centers: higher is better.

        It compares fits of one objective: the same kind of estimator, fuzzifier, m and number of clusters. Of other
        fits it says nothing, as objectives fall with m and with the number of clusters, grouped data or not:
        ``GridSearchCV`` would take the largest of both. There, use
        ``scoring=kfrc.confidence.reproducibility_score``.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
        y : ignored
        sample_weight : array-like of shape (n_rows,), optional
            How many rows each row stands for.
        """
        check_is_fitted(self)
        with where_squares_overflow():
            distances = or_infinite(self._center_distances(X))
        U = self._memberships_of(X, distances)
        weights = check_sample_weight(sample_weight, len(U))
        if is_beyond_numbers(distances, weights):
            return -np.inf
        costs = self.fuzzifier_.costs(np.where(np.isfinite(distances), distances, 0.0))
        values = times(self.fuzzifier_.value(U), weights)
        return -float(np.einsum("ji,ji->", values, costs)) - self.fuzzifier_.penalty(U, weights)

    @property
    def _allows_nan(self) -> bool:
        """Whether NaN, and a masked value, is a missing one that the method can do with."""
        return False

    def _table(self, X: Any) -> FloatArray:
        """The rows to fit, checked; called from ``fit``."""
        return self._numbers(X, reset=True, allow_nan=self._allows_nan)

    def _rows(self, X: Any) -> FloatArray:
        """New rows, checked against the columns that were fitted."""
        return self._numbers(X, reset=False, allow_nan=self._allows_nan)

    def _numbers(self, X: Any, *, reset: bool, allow_nan: bool) -> FloatArray:
        """Rows as numbers: those of a fit, or new ones; blanks are NaN, if they are allowed."""
        return numbers_of(self, X, reset=reset, allow_nan=allow_nan)

    def _check_clusters(self, rows: FloatArray, sample_weight: Any = None) -> int:
        """The number of clusters as an ``int``, checked against the rows that have weight; called from ``fit``."""
        weights = check_frequencies(sample_weight, len(rows))
        rows = rows if weights is None else rows[weights > 0]
        n_clusters = check_clusters_for_fit(self.n_clusters, len(rows))
        # Entries of a matrix that belong to equal objects may differ by rounding.
        apart = rounding_of(rows) * float(np.abs(rows).max()) if get_tags(self).input_tags.pairwise else 0.0
        n_different = count_different(rows, n_clusters, apart)
        if 1 < n_different < n_clusters:  # rows that are all the same are refused later
            warnings.warn(
                f"X has {n_different} different row(s), fewer than n_clusters = {n_clusters}: some clusters lie in the "
                "same place and share its rows. Use fewer clusters",
                ConvergenceWarning,
                stacklevel=4,
            )
        return n_clusters

    def _check_columns(self, X: FloatArray) -> None:
        """Warn of columns that do not vary, and refuse data in which none does or squares cannot be had."""
        find_varying_columns(X, getattr(self, "feature_names_in_", None))
        check_squares(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._allows_nan
        return tags

    @property
    def _n_features_out(self) -> int:
        return self.memberships_.shape[1]

    @contextmanager
    def _all_or_nothing(self, X: Any) -> Iterator[None]:
        """Leave no fitted attribute behind if the fit inside fails, neither of it nor of an earlier one.

        Linear algebra inside has as many threads as the rows of X deserve.
        """
        try:
            with activity.contained(), threads_for(count_rows(X)):
                yield
        except BaseException:
            # Some names belong to scikit-learn: callbacks, the search that called, and what transform returns.
            theirs = ("_skl", "_parent_callback_ctx")
            private = [name for name in vars(self) if name.startswith("_") and not name.startswith(theirs)]
            for name in private + [name for name in vars(self) if name.endswith("_")]:
                delattr(self, name)
            raise

    def _start_progress(self, n_tasks: int, verbose: int) -> Progress:
        """A callback for the computing functions that feeds scikit-learn's callbacks and ``verbose``.

        Every call is the end of one task. One that lasts begins when it is first told to move (:mod:`kfrc.activity`),
        and has the steps that are shown as subtasks.
        """
        self._fit_tasks = FitTasks.begin(self, n_tasks, verbose)
        return self._fit_tasks.finish

    def _end_progress(self) -> None:
        self._fit_tasks.end()
        del self._fit_tasks

    def _store(
        self,
        solution: RelationalSolution,
        fuzzifier: Fuzzifier,
        rows: MergedRows | None = None,
        of_absent: Callable[[IntArray], FloatArray] | None = None,
    ) -> None:
        """Set what every fit sets.

        Parameters
        ----------
        solution : RelationalSolution
            Of the merged rows, if there are any.
        fuzzifier : Fuzzifier
        rows : MergedRows, optional
        of_absent : callable, optional
            Memberships of rows without weight, from their positions; asked only if there are such rows.
        """
        U = solution.memberships
        weights = None if rows is None else rows.weights
        self._store_run(solution, fuzzifier, uniformity_index(U, sample_weight=weights) if U.shape[1] > 1 else 0.0)
        if rows is not None:
            U = rows.expand(U)
            if len(rows.absent) and of_absent is not None:
                U[rows.absent] = of_absent(rows.absent)
        self.memberships_ = U
        self.labels_ = U.argmax(axis=1)
        for name in ("cluster_sizes_", "sample_rows_"):  # of an earlier fit, of a source
            if hasattr(self, name):
                delattr(self, name)

    def _store_lazy(self, memberships: LazyMemberships) -> None:
        """Set memberships of a source, which are made when they are asked for."""
        self.memberships_ = memberships
        self.labels_ = labels_of(memberships)

    def _store_run(self, solution: RelationalSolution, fuzzifier: Fuzzifier, uniformity: float) -> None:
        """Set how a run ended."""
        self.uniformity_ = uniformity
        self.fuzzifier_ = fuzzifier
        self.objective_ = solution.objective
        self.objective_path_ = solution.objective_path
        self.n_iter_ = solution.n_iter
        self.status_ = str(solution.status)

    def _warn_about(
        self,
        solution: RelationalSolution,
        fuzzifier: Fuzzifier,
        leading_eigenvalue: Any,
        scales: Scales | None = None,
        stacklevel: int = 4,
    ) -> None:
        """Say what a user must know of how the run ended; ``leading_eigenvalue`` is called only on collapse.

        ``scales`` are those of the columns, where the units of columns decide how much they count.

        Called from ``fit``, which scikit-learn's callback decorator wraps: hence the stack levels.
        """
        unequal = None if scales is None else scales.describe_difference(getattr(self, "feature_names_in_", None))
        if unequal is not None:
            warnings.warn(unequal, UnequalScalesWarning, stacklevel=stacklevel)
        if solution.status is Status.COLLAPSED:
            warnings.warn(
                _collapse_message(fuzzifier, solution.memberships.shape[1], leading_eigenvalue()),
                UniformCollapseWarning,
                stacklevel=stacklevel,
            )
        elif solution.status is Status.MAX_ITER:
            at_limit = solution.n_iter >= self.max_iter
            stopped = f"max_iter = {solution.n_iter}" if at_limit else f"{solution.n_iter}"
            rounding = "no further step lowers the objective, because of rounding or because the dissimilarities are "
            rounding += "not Euclidean; a smaller m is better determined"
            cause = "raise max_iter or tol" if at_limit else rounding
            warnings.warn(
                f"the memberships or centers still moved after {stopped} iterations: {cause}",
                ConvergenceWarning,
                stacklevel=stacklevel,
            )
        sizes = getattr(self, "cluster_sizes_", None)  # of a source, whose rows are not here to be counted
        if sizes is not None and solution.status is not Status.COLLAPSED and not np.all(sizes):
            warnings.warn(
                f"{np.count_nonzero(sizes)} of n_clusters = {len(sizes)} clusters are preferred by any row: others may "
                "lie in the same place, as where there are fewer different rows than clusters. Use fewer clusters",
                ConvergenceWarning,
                stacklevel=stacklevel,
            )
        if solution.negative_distances:
            warnings.warn(
                "the dissimilarities are not squared distances of any Euclidean space: some samples had a negative "
                "distance to a center, which was taken as zero. Square plain distances first, or embed them",
                NonEuclideanWarning,
                stacklevel=stacklevel,
            )


def _collapse_message(t: Fuzzifier, n_clusters: int, leading_eigenvalue: float) -> str:
    kappa = t.kappa(n_clusters)
    critical = t.critical_m(n_clusters, leading_eigenvalue)
    opening = (
        f"the fit collapsed: every membership is within {COLLAPSE_TOL:g} of 1/{n_clusters}, nothing was found. "
        f"kappa = {kappa:.4g} and lambda_1 = {leading_eigenvalue:.4g} give kappa * lambda_1 = "
        f"{kappa * leading_eigenvalue:.4g}"
    )
    if kappa * leading_eigenvalue <= 1:
        return (
            f"{opening} <= 1: with the {t.label} fuzzifier 1/{n_clusters} everywhere is a stable solution here for "
            f"every m >= m* = {critical:.4g} (m = {t.m:g} was used). Use m < {critical:.4g}, another fuzzifier, or "
            "KFRC.paper, which looks for bandwidths with which no m collapses"
        )
    return (
        f"{opening} > 1, so the uniform solution is not stable (m = {t.m:g} < m* = {critical:.4g}) and the run was "
        'stopped before it could leave it: use init="spectral", a larger n_init or a larger max_iter'
    )
