"""Fuzzy relational clustering of any dissimilarities (Equation 1)."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.callback import with_callbacks
from sklearn.metrics import pairwise_distances
from sklearn.utils.validation import validate_data

from kfrc._numerics import as_generator, check_memory
from kfrc._validation import check_dissimilarities, check_positive_int, find_varying_columns
from kfrc.clusterers.base import FuzzyClusterer
from kfrc.dissimilarity import Dissimilarity
from kfrc.fuzzifiers import Fuzzifier, resolve_fuzzifier
from kfrc.relational import Start, resolve_start, solve_relational
from kfrc.spectrum import spectrum_of
from kfrc.typing import ArrayLike, FloatArray, RandomStateLike


class FRC(FuzzyClusterer):
    """Fuzzy relational clustering: minimizes Σ_i Σ_jk t(u_ji) t(u_ki) R_jk / (2 Σ_l t(u_li)).

    With ``metric="sqeuclidean"`` and the power fuzzifier this is fuzzy c-means.

    Parameters
    ----------
    n_clusters : int, default=3
    fuzzifier : {"power", "exponential", "quadratic", "complementary_root"} or Fuzzifier, default="power"
    m : float, optional
        Fuzziness; None means the fuzzifier's default.
    metric : str or callable, default="sqeuclidean"
        Any metric of :func:`sklearn.metrics.pairwise_distances`, or ``"precomputed"``. Values are used as they are:
        the theory of squared distances holds for ``"sqeuclidean"`` and for metrics of negative type (Euclidean,
        Manhattan).
    metric_params : dict, optional
        Further arguments of the metric.
    init : {"spectral", "near_uniform", "random", "kmeans++", "blocks"}, Start or array-like, default="spectral"
        Starting memberships; an array has shape (n_samples, n_clusters).
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
    memberships_, labels_, objective_, objective_path_, n_iter_, status_, uniformity_
        See :class:`kfrc.clusterers.FuzzyClusterer`.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Centers, for ``metric="sqeuclidean"`` only.

    References
    ----------
    Equation 1 and Section 3.1 of the paper.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kfrc import FRC
    >>> frc = FRC(3, fuzzifier="quadratic", random_state=0).fit(load_iris().data)
    >>> frc.memberships_.shape, frc.status_
    ((150, 3), 'converged')
    """

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        fuzzifier: str | Fuzzifier = "power",
        m: float | None = None,
        metric: Any = "sqeuclidean",
        metric_params: dict[str, Any] | None = None,
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
        self.metric = metric
        self.metric_params = metric_params
        self.init = init
        self.n_init = n_init
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
        data: FloatArray = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        n_clusters = self._check_clusters(len(data))
        fuzzifier = resolve_fuzzifier(self.fuzzifier, self.m)
        start = resolve_start(self.init, len(data), n_clusters)
        dissimilarity = self._dissimilarity(data)
        progress = self._start_progress(check_positive_int(self.n_init, "n_init"), self.verbose)
        solution = solve_relational(
            dissimilarity,
            n_clusters,
            fuzzifier,
            init=start,
            n_init=self.n_init,
            max_iter=self.max_iter,
            tol=self.tol,
            random_state=as_generator(self.random_state),
            progress=progress,
        )
        self._store(solution, fuzzifier)
        if self.metric == "sqeuclidean":
            self.cluster_centers_ = solution.prototypes.T @ data
            self.cluster_centers_[~np.isfinite(solution.squared_norms)] = np.nan
        else:
            self._prototypes = solution.prototypes
            self._squared_norms = solution.squared_norms
            self._fit_X = None if self.metric == "precomputed" else data
        self._warn_about(solution, fuzzifier, lambda: float(spectrum_of(dissimilarity.gram, 1).eigenvalues[0]))
        self._end_progress()
        return self

    def _dissimilarity(self, X: FloatArray) -> Dissimilarity:
        if self.metric == "precomputed":
            return Dissimilarity.from_matrix(check_dissimilarities(X))
        find_varying_columns(X, getattr(self, "feature_names_in_", None))
        if self.metric == "sqeuclidean":
            return Dissimilarity.from_features(X)
        check_memory(
            16 * len(X) ** 2,
            f"the {len(X)} x {len(X)} dissimilarity matrix",
            'metric="sqeuclidean" or KFRC, or fewer rows',
        )
        return Dissimilarity.from_matrix(check_dissimilarities(self._pairwise(X, X)))

    def _pairwise(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        return pairwise_distances(X, Y, metric=self.metric, **(self.metric_params or {}))

    def _center_distances(self, X: Any) -> FloatArray:
        X = validate_data(self, X, dtype=np.float64, reset=False)
        if self.metric == "sqeuclidean":
            distances = pairwise_distances(X, np.nan_to_num(self.cluster_centers_), metric="sqeuclidean")
            return np.where(np.isnan(self.cluster_centers_[:, 0]), np.inf, distances)
        to_samples = X if self._fit_X is None else self._pairwise(X, self._fit_X)
        return np.maximum(to_samples @ self._prototypes + self._squared_norms, 0.0)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags
