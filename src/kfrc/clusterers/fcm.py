"""Fuzzy c-means with any fuzzifier: the relational objective on squared Euclidean distances, through its centers."""

from __future__ import annotations

from typing import Any, Self

from sklearn.callback import with_callbacks

from kfrc._numerics import as_generator
from kfrc._validation import check_positive_int
from kfrc.clusterers._fcm_descent import distances_to_centers, solve_fcm
from kfrc.clusterers._input_space import leading_eigenvalue_of
from kfrc.clusterers._rows import fitted_rows
from kfrc.clusterers.base import FuzzyClusterer
from kfrc.fuzzifiers import Fuzzifier, resolve_fuzzifier
from kfrc.relational import Start, resolve_start
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
        Centers; a row is NaN if there are fewer distinct samples than clusters and its cluster stayed empty.
    memberships_, labels_, objective_, objective_path_, n_iter_, status_, uniformity_
        See :class:`kfrc.clusterers.FuzzyClusterer`.

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
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks
    def fit(self, X: ArrayLike, y: None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Find clusters.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            How many rows each row stands for: 2 is the row twice, 0 is the row absent.

        Returns
        -------
        self
        """
        with self._all_or_nothing():
            data = self._table(X)
            n_clusters = self._check_clusters(len(data), sample_weight)
            fuzzifier = resolve_fuzzifier(self.fuzzifier, self.m)
            fuzzifier.check_weights(n_clusters)
            rows = fitted_rows(data, sample_weight, at_least=n_clusters)
            self._check_columns(rows.values)
            progress = self._start_progress(check_positive_int(self.n_init, "n_init"), self.verbose)
            solution = solve_fcm(
                rows.values,
                n_clusters,
                fuzzifier,
                row_weights=rows.weights,
                init=rows.start(resolve_start(self.init, len(data), n_clusters)),
                n_init=self.n_init,
                max_iter=self.max_iter,
                tol=self.tol,
                random_state=as_generator(self.random_state),
                progress=progress,
            )
            self.cluster_centers_ = solution.centers
            self._origin, self._locations = solution.origin, solution.locations
            self._store(solution, fuzzifier, rows, lambda absent: fuzzifier.memberships(self._distances(data[absent])))
            self._warn_about(solution, fuzzifier, lambda: leading_eigenvalue_of(rows))
            self._end_progress()
        return self

    def _center_distances(self, X: Any) -> FloatArray:
        return self._distances(self._rows(X))

    def _distances(self, X: FloatArray) -> FloatArray:
        return distances_to_centers(X, self._origin, self._locations)
