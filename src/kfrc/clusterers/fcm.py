"""Fuzzy c-means with any fuzzifier: the relational objective on squared Euclidean distances, through its centers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

from kfrc._callbacks import with_callbacks
from kfrc._numerics import as_generator
from kfrc._validation import check_positive_int
from kfrc.blocks import SAMPLE_ROWS, StoredMemberships, engine_for
from kfrc.clusterers._fcm_descent import FCMSolution, solve_fcm
from kfrc.clusterers._input_space import leading_eigenvalue_of
from kfrc.clusterers._point_sources import PointFit, begins_anywhere, fit_points, fit_points_of_source
from kfrc.clusterers._points import PointCenters
from kfrc.clusterers._relations import PARTIAL, blank_rows, check_missing, leave_out_blank_rows, warn_of_blank_rows
from kfrc.clusterers._rows import MergedRows, fitted_rows
from kfrc.clusterers._sources import refuse_weights, table_of_source
from kfrc.clusterers.base import FuzzyClusterer
from kfrc.fuzzifiers import Fuzzifier, resolve_fuzzifier
from kfrc.relational import RelationalSolution, Start, resolve_start
from kfrc.sources import ArraySource, as_source
from kfrc.typing import ArrayLike, FloatArray, RandomStateLike


class FCM(FuzzyClusterer):
    """Fuzzy c-means: minimizes Σ_j Σ_i t(u_ji) ‖x_j − v_i‖² over memberships U and centers V.

    One iteration moves every center to v_i = Σ_j t(u_ji) x_j / Σ_j t(u_ji) and then solves every row of memberships
    exactly; for the power fuzzifier that is u_ji ∝ ‖x_j − v_i‖^(−2/(m−1)). The objective never increases. The result
    is that of :class:`kfrc.FRC` with ``metric="sqeuclidean"``, found in one pass over the data per iteration: it costs
    O(n p c) and needs no memory beyond the data and two sets of memberships.

    Parameters
    ----------
    n_clusters : int, default=3
    fuzzifier : {"power", "exponential", "quadratic", "complementary_root"} or Fuzzifier, default="power"
    m : float, optional
        Fuzziness; None means the fuzzifier's default.
    missing : {"partial", "error"}, default="partial"
        What NaN is: with ``"partial"`` nothing is known there, and the sums above leave it out; ``"error"`` refuses it.
    init : {"spectral", "near_uniform", "random", "kmeans++", "blocks"}, Start or array-like, default="spectral"
        Starting memberships; an array has shape (n_samples, n_clusters). The spectral start (k-means on the leading
        principal coordinates) is linear in n and costs about as much as thirty iterations, which it saves;
        ``"kmeans++"`` costs as much as three.
    n_init : int, default=4
        Runs; the lowest objective wins. After a deterministic start the others begin with ``"kmeans++"``.
    max_iter : int, default=1000
    tol : float, default=1e-6
        Largest movement of a membership at convergence.
    random_state : int, RandomState, Generator or None
    verbose : int, default=0
        Print one line per run.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Centers.
    memberships_, labels_, objective_, objective_path_, n_iter_, status_, uniformity_
        See :class:`kfrc.clusterers.FuzzyClusterer`.

    Notes
    -----
    With missing entries it minimizes Σ_j Σ_i t(u_ji) Σ_{d known in j} (x_jd − v_id)² through the relation that
    :class:`kfrc.FRC` uses: centers are means over the rows in which a column is known. A column in which nothing is
    known is left out (its centers are NaN), and a row in which nothing is known belongs equally to all clusters;
    warnings name both.

    References
    ----------
    Bezdek, Ehrlich and Full (1984), "FCM: the fuzzy c-means clustering algorithm", Computers & Geosciences 10.
    Klawonn and Höppner (2003), "What is fuzzy about fuzzy clustering?", for other fuzzifiers than the power.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kfrc import FCM
    >>> fcm = FCM(3, random_state=0).fit(load_iris().data)
    >>> fcm.cluster_centers_.shape, fcm.status_, round(fcm.objective_, 3)
    ((3, 4), 'converged', 60.506)
    """

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        fuzzifier: str | Fuzzifier = "power",
        m: float | None = None,
        missing: str = "partial",
        init: str | Start | ArrayLike = "spectral",
        n_init: int = 4,
        max_iter: int = 1000,
        tol: float = 1e-6,
        random_state: RandomStateLike = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.fuzzifier = fuzzifier
        self.m = m
        self.missing = missing
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks
    def fit(
        self,
        X: ArrayLike,
        y: None = None,
        sample_weight: ArrayLike | None = None,
        *,
        client: Any = None,
        memory: str | float | None = None,
    ) -> Self:
        """Find clusters.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or source
            Numbers; or rows that need not fit into memory, such as a source of :mod:`kfrc.sources`. More than 20 000
            rows are passed over in blocks, from the minimum of a sample on.
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            How many rows each row stands for: 2 is the row twice, 0 is the row absent. They must sum to at least 2:
            multiply weights that sum to one by the number of rows.
        client : distributed.Client, optional
            Of a Dask cluster whose workers are to pass over the rows of a source; threads of this process otherwise.
        memory : str or float, optional
            What a worker may use for rows, such as ``"2GB"``; by default 1 GB.

        Returns
        -------
        self
        """
        source = as_source(X)
        engine = engine_for(client, memory)
        with self._all_or_nothing(X if source is None else source):
            check_missing(self.missing)
            if source is not None:
                refuse_weights(sample_weight)
                if source.n_rows > SAMPLE_ROWS:
                    self._place(fit_points_of_source(self, source, resolve_fuzzifier(self.fuzzifier, self.m), engine))
                    return self
                X, sample_weight = table_of_source(source)
            data = self._table(X)
            weights = leave_out_blank_rows(data, sample_weight)
            n_clusters = self._check_clusters(data, weights)
            fuzzifier = resolve_fuzzifier(self.fuzzifier, self.m)
            fuzzifier.check_weights(n_clusters)
            rows = fitted_rows(data, weights, at_least=n_clusters)
            progress = self._start_progress(check_positive_int(self.n_init, "n_init") + 1, self.verbose)
            if len(rows) > SAMPLE_ROWS and begins_anywhere(self.init):
                in_memory = ArraySource(rows.values, weights=rows.weights)
                fit = fit_points(self, in_memory, n_clusters, fuzzifier, engine, progress)
                self._place(fit)
                self._finish(fit.in_memory, fuzzifier, rows, data, lambda: fit.leading_eigenvalue)
                return self
            options: dict[str, Any] = {
                "init": rows.start(resolve_start(self.init, len(data), n_clusters)),
                "n_init": self.n_init,
                "max_iter": self.max_iter,
                "tol": self.tol,
                "random_state": as_generator(self.random_state),
                "progress": progress,
            }
            self._check_columns(rows.values)
            solution = solve_fcm(rows.values, n_clusters, fuzzifier, row_weights=rows.weights, **options)
            self._place(solution)
            self._finish(solution, fuzzifier, rows, data, lambda: leading_eigenvalue_of(rows))
            if source is not None:
                self._store_lazy(StoredMemberships(source, self.memberships_))
        return self

    def _finish(
        self,
        solution: RelationalSolution,
        fuzzifier: Fuzzifier,
        rows: MergedRows,
        data: FloatArray,
        eigenvalue: Callable[[], float],
    ) -> None:
        """Store what was found of rows in memory, and say what a user must know."""
        self._store(solution, fuzzifier, rows, lambda absent: fuzzifier.memberships(self._distances(data[absent])))
        self._warn_about(solution, fuzzifier, eigenvalue, rows.scales(), stacklevel=5)
        self._end_progress()

    def _place(self, fit: FCMSolution | PointFit) -> None:
        """Set the centers."""
        self._origin, self._locations = fit.origin, fit.locations
        self.cluster_centers_ = PointCenters(fit.origin, fit.locations).points

    def _center_distances(self, X: Any) -> FloatArray:
        new = self._rows(X)
        warn_of_blank_rows(blank_rows(new), stacklevel=6)
        return self._distances(new)

    def _distances(self, X: FloatArray) -> FloatArray:
        return PointCenters(self._origin, self._locations).squared_distances(X)

    @property
    def _allows_nan(self) -> bool:
        return self.missing == PARTIAL
