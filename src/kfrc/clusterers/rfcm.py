"""Relational fuzzy c-means: the dual of fuzzy c-means, for dissimilarities that are squared Euclidean distances."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kfrc.clusterers._relational import RelationalClusterer
from kfrc.clusterers._spread import SpreadDissimilarity
from kfrc.dissimilarity import Dissimilarity
from kfrc.fuzzifiers import Fuzzifier, resolve_fuzzifier
from kfrc.relational import RelationalSolution, Start
from kfrc.typing import ArrayLike, Progress, RandomStateLike


class RFCM(RelationalClusterer):
    """Relational fuzzy c-means: fuzzy c-means on dissimilarities R_jk = ‖φ_j − φ_k‖² whose φ need not be known.

    With the center weights p_i = (u_1i^m, …, u_ni^m) / Σ_j u_ji^m, one iteration takes the squared distances

        d_ji = (R p_i)_j − p_iᵀ R p_i / 2

    to the centers v_i = Σ_j p_ji φ_j, which are never formed, and then u_ji ∝ d_ji^(−1/(m−1)). The result is that of
    fuzzy c-means on the φ. If R is not of this kind a d_ji can be negative: the fit is then refused and the message
    says which one; :class:`kfrc.NERFCM` is made for that case.

    Parameters
    ----------
    n_clusters : int, default=3
    m : float, optional
        Exponent m > 1 of the memberships; None means 2.
    metric : str or callable, default="sqeuclidean"
        Any metric of :func:`sklearn.metrics.pairwise_distances`, ``"gower"`` for tables with columns of any type, or
        ``"precomputed"``. Values are used as they are and must be squared distances of some Euclidean space:
        ``"sqeuclidean"`` is (and costs only O(n p c) per iteration), and so are plain Euclidean and Manhattan
        distances, and Gower's where nothing is missing; edit distances often are not.
    metric_params : dict, optional
        Further arguments of the metric.
    column_types : dict, optional
        For ``metric="gower"``, types of columns by name where the table does not say them: ``"numeric"``,
        ``"ordinal"``, ``"nominal"``, ``"date"`` or ``"drop"``; ``("ordinal", [levels in order])`` gives an order.
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

    Raises
    ------
    NegativeDistanceError
        By ``fit``, if a distance to a center is negative.

    Notes
    -----
    A relation that is not Euclidean but shows no negative distance on the way is not refused; the objective falls all
    the same, as steps that would raise it are shortened.

    References
    ----------
    Hathaway, Davenport and Bezdek (1989), "Relational duals of the c-means clustering algorithms", Pattern
    Recognition 22.

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc import RFCM
    >>> x = np.array([0.0, 0.1, 0.2, 5.0, 5.1])
    >>> R = np.subtract.outer(x, x) ** 2
    >>> RFCM(2, metric="precomputed", random_state=0).fit(R).memberships_.max(axis=1).round(2)
    array([1., 1., 1., 1., 1.])
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
        return super()._solve(SpreadDissimilarity(dissimilarity.gram), n_clusters, fuzzifier, start, progress)
