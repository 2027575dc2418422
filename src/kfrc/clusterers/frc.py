"""Fuzzy relational clustering of any dissimilarities (Equation 1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kfrc.clusterers._relational import SQEUCLIDEAN, RelationalClusterer
from kfrc.clusterers._relations import GOWER, PARTIAL, Relation, check_missing
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
        Any metric of :func:`sklearn.metrics.pairwise_distances`, ``"gower"`` for tables with columns of any type, or
        ``"precomputed"``. Values are used as they are: the theory of squared distances holds for ``"sqeuclidean"`` and
        for metrics of negative type (Euclidean, Manhattan, Gower without blanks).
    metric_params : dict, optional
        Further arguments of the metric.
    column_types : dict, optional
        For ``metric="gower"``, types of columns by name where the table does not say them: ``"numeric"``,
        ``"ordinal"``, ``"nominal"``, ``"date"`` or ``"drop"``; ``("ordinal", [levels in order])`` gives an order.
    missing : {"partial", "error"}, default="partial"
        What NaN and blanks are: with ``"partial"`` nothing is known there, and rows are compared by the rest, if
        ``metric`` is ``"sqeuclidean"`` (see the notes) or ``"gower"``; with ``"error"`` they are refused.
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

    Notes
    -----
    With missing entries ``metric="sqeuclidean"`` minimizes Σ_j Σ_i t(u_ji) Σ_{d known in j} (x_jd − v_id)²: centers are
    means over the rows in which a column is known, J never rises, and the m* of a collapse is that of the incomplete
    table. A column in which nothing is known is left out, and a row in which nothing is known belongs equally to all
    clusters; warnings name both. Columns count by their units: standardize them first.

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
        column_types: Mapping[Any, Any] | None = None,
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
        self.metric = metric
        self.metric_params = metric_params
        self.column_types = column_types
        self.missing = missing
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    def _resolve_fuzzifier(self) -> Fuzzifier:
        return resolve_fuzzifier(self.fuzzifier, self.m)

    def _resolve_relation(self) -> Relation:
        check_missing(self.missing)
        return super()._resolve_relation()

    @property
    def _in_blocks(self) -> bool:
        return self._are_points

    @property
    def _allows_blanks(self) -> bool:
        return self.missing == PARTIAL

    @property
    def _allows_nan(self) -> bool:
        return self.metric in (SQEUCLIDEAN, GOWER) and self._allows_blanks
