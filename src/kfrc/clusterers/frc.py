"""Fuzzy relational clustering of any dissimilarities (Equation 1)."""

from __future__ import annotations

from typing import Any

from kfrc.clusterers._relational import RelationalClusterer
from kfrc.fuzzifiers import Fuzzifier, resolve_fuzzifier
from kfrc.relational import Start
from kfrc.typing import ArrayLike, RandomStateLike


class FRC(RelationalClusterer):
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

    def _resolve_fuzzifier(self) -> Fuzzifier:
        return resolve_fuzzifier(self.fuzzifier, self.m)
