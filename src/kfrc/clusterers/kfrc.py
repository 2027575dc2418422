"""Kernel fuzzy relational clustering with spectrally tuned bandwidths: the estimator of the paper."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.callback import with_callbacks
from sklearn.utils.validation import validate_data

from kfrc._numerics import as_generator, double_center
from kfrc._typing import ArrayLike, FloatArray, IntArray, Progress, RandomStateLike
from kfrc._validation import (
    check_bandwidths,
    check_clusters_for_fit,
    check_number,
    check_positive_int,
    check_square,
    find_varying_columns,
)
from kfrc.bandwidth import BandwidthResult, Optimizer, select_bandwidths
from kfrc.bandwidth.projections import FEASIBILITY_TOL
from kfrc.bandwidth.search import is_linear_limit
from kfrc.clusterers.base import FuzzyClusterer
from kfrc.clusterers.frc import resolve_fuzzifier
from kfrc.criteria import Criterion
from kfrc.dissimilarity import Dissimilarity
from kfrc.exceptions import KFRCError
from kfrc.fuzzifiers import Fuzzifier
from kfrc.gram import Centers, DenseGram, Gram, gram_family
from kfrc.kernels import Kernel
from kfrc.metrics import effective_n_features, importance_weights
from kfrc.relational import RelationalSolution, solve_relational
from kfrc.spectrum import extreme_eigenvalues, spectrum_of

_INDEFINITE_TOL = 1e-8
"""Negative eigenvalues of a precomputed kernel below this share of the largest are rounding."""


class KFRC(FuzzyClusterer):
    """Kernel fuzzy relational clustering with bandwidths that keep it from collapsing.

    A Gaussian kernel with one bandwidth per column measures similarity. The bandwidths are chosen from the spectrum of
    the Gram matrix, without labels: first so that the uniform solution "everything belongs equally to everything" is
    unstable (λ₁ ≥ τ), then so that the leading c − 1 directions carry the structure. Columns that do not help get a
    large bandwidth and stop mattering.

    Parameters
    ----------
    n_clusters : int, default=3
    kernel : {"sum", "product", "linear", "precomputed"} or Kernel, default="sum"
        Sum or product of one Gaussian per column; ``"precomputed"`` takes a Gram matrix and skips the search.
    fuzzifier : {"power", "exponential", "quadratic", "complementary_root"} or Fuzzifier, default="complementary_root"
    m : float, optional
        Fuzziness; None means the fuzzifier's default.
    criterion : {"sum", "log_sum", "gap"} or Criterion, default="sum"
        What the second stage maximizes.
    max_anisotropy : float, default=5
        Bound α ≥ 1 on the ratio of the largest to the smallest bandwidth; ``inf`` for none.
    level : float, optional
        Fix the mean log-bandwidth, in standard deviations of the columns, instead of searching it.
    bandwidths : array-like of shape (n_features,) or float, optional
        Given bandwidths in the units of X; the search is skipped.
    threshold : float, optional
        Smallest λ₁ to accept; None means the τ above which no fuzziness collapses.
    standardize : bool, default=True
        Divide columns by their standard deviation before the search, so that units do not matter.
    n_starts : int, default=5
        Starts of the bandwidth search.
    optimizer : {"lbfgs", "momentum"} or Optimizer, default="lbfgs"
        ``"momentum"`` is the paper's algorithm; pass ``MomentumAscent(...)`` to change its settings.
    approximation : {"auto", "none", "low_rank", "nystrom"}, default="auto"
        How the Gram matrix is held. ``"low_rank"`` (sum kernel) is exact to rounding at a cost linear in n;
        ``"nystrom"`` (any kernel) approximates from ``rank`` landmark rows; ``"none"`` keeps all n² entries;
        ``"auto"`` picks what is fast and exact, and Nyström only beyond 5000 rows of a product kernel.
    rank : int, optional
        Landmarks of ``"nystrom"``.
    search_samples : int, "auto" or None, default="auto"
        With more rows than this the starts of the search see a random subset of that many, and the best end is refined
        on all rows; None uses all rows throughout. ``"auto"`` is 20 000 for ``"lbfgs"`` and all for ``"momentum"``.
    init, n_init, max_iter, tol
        Start, number of runs, iterations and tolerance of the clustering, see :class:`kfrc.FRC`.
    random_state : int, RandomState, Generator or None
    n_jobs : int, optional
        Starts of the search in parallel; the result does not depend on it.
    verbose : int, default=0
        Print one line per start.

    Attributes
    ----------
    memberships_, labels_, objective_, objective_path_, n_iter_, status_, uniformity_
        See :class:`kfrc.clusterers.FuzzyClusterer`.
    bandwidths_ : ndarray of shape (n_features,)
        θ in the units of X; ``inf`` for constant columns.
    log_bandwidths_ : ndarray of shape (n_features,)
        log θ in standard deviations of the columns.
    eigenvalues_ : ndarray of shape (n_clusters,)
        Leading eigenvalues of F, descending.
    criterion_value_ : float
    threshold_ : float
        τ.
    critical_m_ : float
        m*: the fuzziness at which a fit with these bandwidths would collapse; ``inf`` if none does.
    stable_ : bool
        λ₁ ≥ τ, up to the 10⁻⁶ that the search accepts: no fuzziness collapses.
    importance_weights_ : ndarray of shape (n_features,)
        W_j ∝ 1/θ_j.
    effective_n_features_ : float
        W_eff = 1 / Σ W_j².
    search_ : BandwidthResult or None
        Every start of the search.
    approximation_ : {"none", "low_rank", "nystrom"}
        How the Gram matrix of the result is held.
    approximation_error_ : float
        Share of the squared norms in feature space that an approximation leaves out; zero if exact.
    linear_limit_ : bool
        Whether the bandwidths are so large that the kernel acts like weighted squared Euclidean distance.

    References
    ----------
    Costa and Thompson, "Spectrally Tuned Bandwidth Selection for Kernel Fuzzy Relational Clustering".

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from kfrc import KFRC
    >>> kfrc = KFRC(3, random_state=0).fit(load_wine().data)
    >>> kfrc.stable_, kfrc.critical_m_
    (True, inf)
    >>> kfrc.memberships_.shape
    (178, 3)
    """

    bandwidths_: FloatArray | None
    log_bandwidths_: FloatArray | None
    importance_weights_: FloatArray | None
    effective_n_features_: float | None
    search_: BandwidthResult | None
    _space: _KernelSpace | None
    _centers: Centers

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        kernel: str | Kernel = "sum",
        fuzzifier: str | Fuzzifier = "complementary_root",
        m: float | None = None,
        criterion: str | Criterion = "sum",
        max_anisotropy: float = 5.0,
        level: float | None = None,
        bandwidths: ArrayLike | None = None,
        threshold: float | None = None,
        standardize: bool = True,
        n_starts: int = 5,
        optimizer: str | Optimizer = "lbfgs",
        approximation: str = "auto",
        rank: int | None = None,
        search_samples: int | str | None = "auto",
        init: str | ArrayLike = "spectral",
        n_init: int = 4,
        max_iter: int = 1000,
        tol: float = 1e-6,
        random_state: RandomStateLike = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.fuzzifier = fuzzifier
        self.m = m
        self.criterion = criterion
        self.max_anisotropy = max_anisotropy
        self.level = level
        self.bandwidths = bandwidths
        self.threshold = threshold
        self.standardize = standardize
        self.n_starts = n_starts
        self.optimizer = optimizer
        self.approximation = approximation
        self.rank = rank
        self.search_samples = search_samples
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @with_callbacks
    def fit(self, X: ArrayLike, y: None = None) -> Self:
        """Choose bandwidths and cluster.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data, or a Gram matrix (n_samples, n_samples) with ``kernel="precomputed"``.
        y : ignored

        Returns
        -------
        self

        Raises
        ------
        InfeasibleBandwidthError
            If no bandwidths reach the threshold.
        """
        data: FloatArray = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        n_clusters = check_clusters_for_fit(self.n_clusters, len(data))
        fuzzifier = resolve_fuzzifier(self.fuzzifier, self.m)
        rng = as_generator(self.random_state)
        # With one cluster there is nothing to search for: the columns' standard deviations serve as bandwidths.
        searches = self.kernel != "precomputed" and self.bandwidths is None and n_clusters > 1
        n_tasks = check_positive_int(self.n_init, "n_init")
        n_tasks += check_positive_int(self.n_starts, "n_starts") if searches else 0
        progress = self._start_progress(n_tasks, self.verbose)
        self.threshold_ = self._resolve_threshold(fuzzifier, n_clusters)
        if self.kernel == "precomputed":
            gram = self._fit_precomputed(data, n_clusters)
        else:
            gram = self._fit_bandwidths(data, n_clusters, rng, progress if searches else None)
        solution = solve_relational(
            Dissimilarity(gram),
            n_clusters,
            fuzzifier,
            init=self.init,
            n_init=self.n_init,
            max_iter=self.max_iter,
            tol=self.tol,
            random_state=rng,
            progress=progress,
        )
        self._store(solution, fuzzifier)
        self._store_stability(fuzzifier, n_clusters)
        self._store_centers(solution, gram)
        self._warn_about(solution, fuzzifier, lambda: float(self.eigenvalues_[0]))
        self._end_progress()
        return self

    def _resolve_threshold(self, fuzzifier: Fuzzifier, n_clusters: int) -> float:
        if self.threshold is not None:
            return check_number(self.threshold, "threshold", minimum=0.0)
        return fuzzifier.threshold(n_clusters) if n_clusters > 1 else 0.0

    def _fit_precomputed(self, K: FloatArray, n_clusters: int) -> Gram:
        K = check_square(K, "K")
        gram = DenseGram(K)
        centered = double_center(K)
        smallest, largest = extreme_eigenvalues(centered)
        if smallest < -_INDEFINITE_TOL * largest:
            raise KFRCError(
                f"the precomputed kernel is not positive semi-definite: centered, its eigenvalues reach from "
                f"{smallest:.3g} to {largest:.3g}. For dissimilarities use FRC(metric='precomputed')"
            )
        diagonal = np.diagonal(K)
        self._constant_similarity = float(diagonal[0]) if np.ptp(diagonal) <= 1e-10 * abs(diagonal[0]) else None
        self._space = None
        self.search_ = None
        self.bandwidths_ = self.log_bandwidths_ = self.importance_weights_ = None
        self.effective_n_features_ = None
        self.linear_limit_ = False
        self._store_spectrum(gram, n_clusters)
        return gram

    def _fit_bandwidths(
        self, X: FloatArray, n_clusters: int, rng: np.random.Generator, progress: Progress | None
    ) -> Gram:
        kernel = Kernel.resolve(self.kernel)
        columns = find_varying_columns(X, getattr(self, "feature_names_in_", None))
        scale = X[:, columns].std(axis=0, ddof=1)
        if self.bandwidths is not None:
            self.search_ = None
            log_bandwidths = np.log(check_bandwidths(self.bandwidths, X.shape[1])[columns] / scale)
        elif n_clusters == 1:
            self.search_ = None
            log_bandwidths = np.zeros_like(scale)
        else:
            unit = scale if self.standardize else np.ones_like(scale)
            self.search_ = select_bandwidths(
                X[:, columns] / unit,
                n_clusters,
                kernel=kernel,
                criterion=self.criterion,
                threshold=self.threshold_,
                max_anisotropy=self.max_anisotropy,
                n_starts=self.n_starts,
                optimizer=self.optimizer,
                level=self.level,
                approximation=self.approximation,
                rank=self.rank,
                search_samples=self.search_samples,
                random_state=rng,
                n_jobs=self.n_jobs,
                progress=progress,
            )
            log_bandwidths = self.search_.log_bandwidths - np.log(scale / unit)
        space = _KernelSpace(columns, X[:, columns].mean(axis=0), scale, np.exp(log_bandwidths))
        self._space = space
        Z = space.standardize(X)
        relative = _scatter(space.bandwidths, columns, X.shape[1])
        self.bandwidths_ = _scatter(space.bandwidths * scale, columns, X.shape[1])
        self.log_bandwidths_ = np.log(relative)
        self.importance_weights_ = importance_weights(relative)
        self.effective_n_features_ = effective_n_features(relative)
        gram = gram_family(Z, kernel, self.approximation, self.rank).at(space.bandwidths)
        self._store_spectrum(gram, n_clusters)
        self.linear_limit_ = is_linear_limit(Z, log_bandwidths, self.eigenvalues_)
        return gram

    def _store_spectrum(self, gram: Gram, n_clusters: int) -> None:
        criterion = Criterion.resolve(self.criterion)
        self.approximation_ = gram.backend
        self.approximation_error_ = gram.approximation_error
        self.eigenvalues_ = spectrum_of(gram, n_clusters).eigenvalues
        self.criterion_value_ = float(criterion.value(self.eigenvalues_, n_clusters)) if n_clusters > 1 else 0.0

    def _store_stability(self, fuzzifier: Fuzzifier, n_clusters: int) -> None:
        leading = float(self.eigenvalues_[0])
        self.stable_ = n_clusters == 1 or leading >= fuzzifier.threshold(n_clusters) - FEASIBILITY_TOL
        self.critical_m_ = fuzzifier.critical_m(n_clusters, leading) if n_clusters > 1 else np.inf

    def _store_centers(self, solution: RelationalSolution, gram: Gram) -> None:
        self._occupied = np.isfinite(solution.squared_norms)
        if self._space is not None:
            self._centers = gram.centers(solution.prototypes)
        else:
            self._prototypes = solution.prototypes
            self._squared_norms = solution.squared_norms

    def _center_distances(self, X: Any) -> FloatArray:
        X = validate_data(self, X, dtype=np.float64, reset=False)
        if self._space is None:
            if self._constant_similarity is None:
                raise KFRCError(
                    "memberships of new rows need their similarity to themselves, which a precomputed kernel with a "
                    "varying diagonal does not tell: normalize the kernel to a constant diagonal"
                )
            distances = self._constant_similarity - 2.0 * (X @ self._prototypes) + self._squared_norms
            return np.maximum(distances, 0.0)
        distances = self._centers.squared_distances(self._space.standardize(X))
        return np.where(self._occupied, distances, np.inf)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


def _scatter(values: FloatArray, columns: IntArray, n_features: int) -> FloatArray:
    """One value per input column; a column that was left out has an infinite bandwidth."""
    full = np.full(n_features, np.inf)
    full[columns] = values
    return full


@dataclass(frozen=True)
class _KernelSpace:
    """Rows of X as the kernel sees them: varying columns, centered and in standard deviations."""

    columns: IntArray
    mean: FloatArray
    scale: FloatArray
    bandwidths: FloatArray

    def standardize(self, X: FloatArray) -> FloatArray:
        return (X[:, self.columns] - self.mean) / self.scale
