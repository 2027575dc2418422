"""Kernel fuzzy relational clustering with spectrally tuned bandwidths: the estimator of the paper."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.callback import with_callbacks
from sklearn.utils.validation import validate_data

from kfrc._numerics import as_generator, double_center
from kfrc._validation import (
    check_bandwidths,
    check_clusters_for_fit,
    check_number,
    check_positive_int,
    check_square,
)
from kfrc.bandwidth import BandwidthResult, Optimizer, select_bandwidths
from kfrc.bandwidth.projections import FEASIBILITY_TOL
from kfrc.bandwidth.search import is_linear_limit
from kfrc.clusterers._table_view import KernelSpace, TableView, one_per_column
from kfrc.clusterers.base import FuzzyClusterer
from kfrc.clusterers.frc import resolve_fuzzifier
from kfrc.criteria import Criterion
from kfrc.dissimilarity import Dissimilarity
from kfrc.exceptions import KFRCError, NoStructureWarning
from kfrc.fuzzifiers import Fuzzifier
from kfrc.gram import Centers, DenseGram, Gram, gram_family
from kfrc.judges import Judge, Opinion
from kfrc.kernels import Kernel
from kfrc.metrics import effective_n_features, importance_weights, uniformity_index
from kfrc.relational import RelationalSolution, Start, in_order_of_appearance, resolve_start, solve_relational
from kfrc.selection import (
    ANISOTROPIES,
    CRITERIA,
    FUZZIFIERS,
    KERNELS,
    LEVELS,
    Grid,
    SearchOptions,
    Selection,
    choose,
    count_clusters,
    fuzziness_path,
)
from kfrc.spectrum import extreme_eigenvalues, spectrum_of
from kfrc.typing import ArrayLike, FloatArray, Progress, RandomStateLike

AUTO = "auto"

PAPER = {
    "kernel": "sum",
    "fuzzifier": "complementary_root",
    "m": None,
    "criterion": "sum",
    "max_anisotropy": 5.0,
    "level": None,
}
"""Fixed settings of the paper: what "auto" means where nothing can be judged, and what ``KFRC.paper`` uses."""

_INDEFINITE_TOL = 1e-8
"""Negative eigenvalues of a precomputed kernel below this share of the largest are rounding."""


class KFRC(FuzzyClusterer):
    """Kernel fuzzy relational clustering with bandwidths that keep it from collapsing.

    A Gaussian kernel with one bandwidth per column measures similarity. The bandwidths are chosen from the spectrum of
    the Gram matrix, without labels: so that the uniform solution "everything belongs equally to everything" is
    unstable, and the leading c − 1 directions carry the structure. Columns that do not help get a large bandwidth and
    stop mattering.

    How far bandwidths may differ (``max_anisotropy``), how large they are (``level``) and how fuzzy the result is
    (``m``) are chosen by a judge that needs no labels; ``selection_`` shows what was compared. :meth:`paper` fixes all
    of them as the paper does.

    Parameters
    ----------
    n_clusters : int or "auto", default=3
        ``"auto"`` takes the number, up to ``max_clusters``, for which the judge sees most evidence.
    kernel : {"sum", "product", "linear", "precomputed", "auto"} or Kernel, default="sum"
        Sum or product of one Gaussian per column; ``"precomputed"`` takes a Gram matrix and skips search and choice;
        ``"auto"`` compares sum and product.
    fuzzifier : {"power", "exponential", "quadratic", "complementary_root", "auto"} or Fuzzifier, \
            default="complementary_root"
        ``"auto"`` compares the last two.
    m : float, "auto" or None, default="auto"
        Fuzziness; None means the fuzzifier's default. ``"auto"`` compares five values from nearly hard to that default.
    criterion : {"sum", "log_sum", "gap", "auto"} or Criterion, default="sum"
        What the second stage maximizes; ``"auto"`` compares sum and gap.
    max_anisotropy : float or "auto", default="auto"
        Bound α ≥ 1 on the ratio of the largest to the smallest bandwidth; ``inf`` for none. ``"auto"`` compares 1, 5
        and 25.
    level : float, "auto" or None, default="auto"
        Mean log-bandwidth in standard deviations of the columns; None leaves it to the search, within the bounds of the
        optimizer. ``"auto"`` compares levels from 0 to 4.
    judge : str or Judge, default="mixture"
        What compares the candidates of an automatic choice.
    max_clusters : int, default=10
        Largest number that ``n_clusters="auto"`` tries.
    memberships : {"fuzzy", "posterior"}, default="fuzzy"
        ``"fuzzy"`` memberships minimize the objective. ``"posterior"`` ones are the judge's probabilities, closer to
        the chance of being right; they need an automatic choice.
    selection_samples : int, default=2000
        With more rows than this the choice is made on a random subset of that many.
    bandwidths : array-like of shape (n_features,) or float, optional
        Given bandwidths in the units of X; the search is skipped.
    threshold : float, optional
        Smallest λ₁ to accept. None means the τ above which no fuzziness collapses, unless the level is chosen: then
        every m that is considered lies below its critical value, and larger ones are not ruled out.
    standardize : bool, default=True
        Divide columns by their standard deviation before the search, so that units do not matter.
    n_starts : int, default=5
        Starts of the bandwidth search.
    optimizer : {"lbfgs", "momentum"} or Optimizer, default="lbfgs"
        ``"momentum"`` is the paper's algorithm; pass ``MomentumAscent(...)`` to change its settings. With it, every
        ``"auto"`` means the paper's fixed setting.
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
        Start, number of runs, iterations and tolerance of the clustering, see :class:`kfrc.FRC`. After an automatic
        choice the clustering starts, once, from what the judge believes, unless ``init`` is an array.
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
    n_clusters_ : int
        Number of clusters.
    kernel_, criterion_, max_anisotropy_, fuzzifier_
        What the fit used, given or chosen; ``fuzzifier_.m`` is the fuzziness and ``search_.level`` the level.
    selection_ : dict of ndarray or None
        One entry per candidate of an automatic choice, best first: ``score`` (agreement with the judge), ``wins``
        (share of resamples in which it agrees best), and the settings; ``pandas.DataFrame(selection_)`` is a table.
    selection_margin_ : float or None
        Lead of the chosen candidate's score over the next.
    selection_support_ : float or None
        Share of resamples of the rows in which the judge stays with the partition: near 1 it is sure, near 0.5 it
        tosses a coin.
    opinion_ : Opinion or None
        What the judge believes: the kind of mixture, its evidence, and its probabilities.
    cluster_count_ : dict of ndarray or None
        Evidence and wins of each number of clusters, if that was chosen.
    posterior_memberships_ : ndarray of shape (n_samples, n_clusters) or None
        The judge's probabilities.

    References
    ----------
    Costa and Thompson, "Spectrally Tuned Bandwidth Selection for Kernel Fuzzy Relational Clustering".

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from kfrc import KFRC
    >>> kfrc = KFRC(3, random_state=0).fit(load_wine().data)
    >>> kfrc.memberships_.shape
    (178, 3)
    >>> bool(kfrc.fuzzifier_.m < kfrc.critical_m_), len(kfrc.selection_["score"])
    (True, 60)
    """

    bandwidths_: FloatArray | None
    log_bandwidths_: FloatArray | None
    importance_weights_: FloatArray | None
    effective_n_features_: float | None
    search_: BandwidthResult | None
    kernel_: Kernel | None
    criterion_: Criterion
    max_anisotropy_: float | None
    selection_: dict[str, Any] | None
    opinion_: Opinion | None
    selection_margin_: float | None
    selection_support_: float | None
    cluster_count_: dict[str, Any] | None
    posterior_memberships_: FloatArray | None
    _space: KernelSpace | None
    _centers: Centers

    def __init__(
        self,
        n_clusters: int | str = 3,
        *,
        kernel: str | Kernel = "sum",
        fuzzifier: str | Fuzzifier = "complementary_root",
        m: float | str | None = AUTO,
        criterion: str | Criterion = "sum",
        max_anisotropy: float | str = AUTO,
        level: float | str | None = AUTO,
        judge: str | Judge = "mixture",
        max_clusters: int = 10,
        memberships: str = "fuzzy",
        selection_samples: int = 2000,
        bandwidths: ArrayLike | None = None,
        threshold: float | None = None,
        standardize: bool = True,
        n_starts: int = 5,
        optimizer: str | Optimizer = "lbfgs",
        approximation: str = "auto",
        rank: int | None = None,
        search_samples: int | str | None = "auto",
        init: str | Start | ArrayLike = "spectral",
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
        self.judge = judge
        self.max_clusters = max_clusters
        self.memberships = memberships
        self.selection_samples = selection_samples
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

    @classmethod
    def paper(cls, n_clusters: int = 3, **parameters: Any) -> Self:
        """The estimator with the fixed settings of the paper instead of automatic choice, and its optimizer.

        Parameters
        ----------
        n_clusters : int, default=3
        **parameters
            Others to set, or to set differently, such as ``optimizer="lbfgs"`` for the fast search.

        Returns
        -------
        KFRC

        Examples
        --------
        >>> from kfrc import KFRC
        >>> KFRC.paper(3, optimizer="lbfgs")
        KFRC(level=None, m=None, max_anisotropy=5.0)
        """
        return cls(n_clusters, **{**PAPER, "optimizer": "momentum", **parameters})

    @with_callbacks
    def fit(self, X: ArrayLike, y: None = None) -> Self:
        """Choose settings and bandwidths, and cluster.

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
        rng = as_generator(self.random_state)
        self.selection_ = self.opinion_ = self.cluster_count_ = self.posterior_memberships_ = None
        self.selection_margin_ = self.selection_support_ = None
        n_init = check_positive_int(self.n_init, "n_init")
        progress = self._start_progress(self._count_tasks(n_init), self.verbose)
        if self.kernel == "precomputed":
            n_clusters = self._check_clusters(len(data))
            asked = resolve_start(self.init, len(data), n_clusters)
            plan = self._plan_precomputed(data, n_clusters)
        else:
            view = TableView.of(data, getattr(self, "feature_names_in_", None), standardize=self.standardize)
            n_clusters = (
                self._choose_n_clusters(view, rng, progress)
                if self.n_clusters == AUTO
                else self._check_clusters(len(data))
            )
            asked = resolve_start(self.init, len(data), n_clusters)  # complains before the long part
            # With one cluster there is nothing to choose or search for.
            if n_clusters > 1 and self._chooses():
                plan = self._plan_chosen(view, n_clusters, rng, progress)
            else:
                plan = self._plan_fixed(view, n_clusters, rng, progress)
        if self.memberships == "posterior" and self.opinion_ is None:
            raise ValueError(
                'memberships="posterior" needs an automatic choice, whose judge supplies the probabilities: leave m, '
                'level or max_anisotropy at "auto"'
            )
        self.n_clusters_ = n_clusters
        start = asked if plan.init is None else resolve_start(plan.init, len(data), n_clusters)
        solution = solve_relational(
            Dissimilarity(plan.gram),
            n_clusters,
            plan.fuzzifier,
            init=start,
            n_init=1 if start.keeps_numbering else n_init,
            max_iter=self.max_iter,
            tol=self.tol,
            random_state=rng,
            progress=progress,
        )
        if plan.from_choice and not asked.keeps_numbering:
            solution = in_order_of_appearance(solution)
        self._store(solution, plan.fuzzifier)
        self._store_stability(plan.fuzzifier, n_clusters)
        self._store_centers(solution, plan.gram)
        if plan.from_choice:
            self._store_posterior(data)
        self._warn_about(solution, plan.fuzzifier, lambda: float(self.eigenvalues_[0]))
        self._end_progress()
        return self

    def _count_tasks(self, n_init: int) -> int:
        """How many units of work a fit reports at most."""
        n_starts = check_positive_int(self.n_starts, "n_starts")
        if self.kernel == "precomputed":
            return n_init
        numbers = check_positive_int(self.max_clusters, "max_clusters") if self.n_clusters == AUTO else 0
        if self._chooses():
            return numbers + len(self._grid().searches()) + 3  # judging, comparing, clustering
        searched = self.bandwidths is None and self.n_clusters != 1
        return numbers + n_init + (n_starts if searched else 0)

    def _check_clusters(self, n_samples: int) -> int:
        if self.n_clusters == AUTO:
            raise ValueError(
                'n_clusters="auto" needs a table of columns to judge by: with kernel="precomputed" give a number'
            )
        return check_clusters_for_fit(self.n_clusters, n_samples)

    def _chooses(self) -> bool:
        """Whether there are candidates to choose from; the paper's optimizer comes with the paper's settings."""
        if self.kernel == "precomputed" or self.bandwidths is not None:
            return False
        return Optimizer.resolve(self.optimizer).follows_levels and self._grid().is_a_choice

    def _grid(self) -> Grid:
        """What may be chosen: every "auto" stands for several values, anything else for itself."""
        fuzzifiers = [Fuzzifier.resolve(name) for name in _or_auto(self.fuzzifier, FUZZIFIERS)]
        if self.m == AUTO:
            with_m = [t for fuzzifier in fuzzifiers for t in fuzziness_path(fuzzifier)]
        else:
            with_m = [resolve_fuzzifier(fuzzifier, self.m) for fuzzifier in fuzzifiers]  # type: ignore[arg-type]
        levels = _or_auto(self.level, LEVELS)
        if self.level != AUTO and self.level is not None:
            levels = [check_number(self.level, "level", minimum=-math.inf)]
        anisotropies = [
            check_number(value, "max_anisotropy", minimum=1.0) for value in _or_auto(self.max_anisotropy, ANISOTROPIES)
        ]
        return Grid(
            kernels=tuple(Kernel.resolve(name) for name in _or_auto(self.kernel, KERNELS)),
            criteria=tuple(Criterion.resolve(name) for name in _or_auto(self.criterion, CRITERIA)),
            anisotropies=tuple(anisotropies),
            levels=tuple(levels),
            fuzzifiers=tuple(with_m),
        )

    def _search_options(self) -> SearchOptions:
        threshold = None if self.threshold is None else check_number(self.threshold, "threshold", minimum=0.0)
        return SearchOptions(threshold, self.n_starts, self.optimizer, self.approximation, self.rank, self.n_jobs)

    def _choose_n_clusters(self, view: TableView, rng: np.random.Generator, progress: Progress) -> int:
        largest = min(check_positive_int(self.max_clusters, "max_clusters"), view.n_samples - 1)
        if largest < 2:
            raise ValueError(
                f'n_clusters="auto" needs max_clusters >= 2 and at least 3 rows, got '
                f"{self.max_clusters} and {view.n_samples} rows"
            )
        part = view.subset(self.selection_samples, rng)
        count = count_clusters(
            part.searched,
            part.judged,
            range(2, largest + 1),
            self._grid(),
            Judge.resolve(self.judge),
            options=self._search_options(),
            rng=rng,
            progress=progress,
        )
        self.cluster_count_ = count.table()
        if count.evidence.argmax() == 0:
            warnings.warn(
                f"a single cluster explains the data better than any number up to {largest}: treat the {count.best} "
                "clusters that were fitted as a way to cut the data, not as groups that exist",
                NoStructureWarning,
                stacklevel=4,
            )
        return count.best

    def _plan_chosen(self, view: TableView, n_clusters: int, rng: np.random.Generator, progress: Progress) -> _Plan:
        part = view.subset(self.selection_samples, rng)
        selection = choose(
            part.searched,
            part.judged,
            n_clusters,
            self._grid(),
            Judge.resolve(self.judge),
            options=self._search_options(),
            rng=rng,
            progress=progress,
        )
        chosen = selection.chosen
        self._store_selection(selection, n_clusters)
        self.search_ = chosen.setting.search
        self.max_anisotropy_ = chosen.setting.max_anisotropy
        self.threshold_ = self._resolve_threshold(chosen.fuzzifier, n_clusters)
        log_bandwidths = chosen.setting.search.log_bandwidths - np.log(view.scale / view.unit)
        gram = self._place_bandwidths(view, log_bandwidths, chosen.setting.kernel, chosen.setting.criterion, n_clusters)
        init: FloatArray | None = chosen.solution.memberships
        if resolve_start(self.init, view.n_samples, n_clusters).keeps_numbering:
            init = None
        elif part is not view:
            # The other rows join the clusters found on the subset.
            centers = chosen.setting.dissimilarity.gram.centers(chosen.solution.prototypes)
            init = chosen.fuzzifier.memberships(centers.squared_distances(view.searched))
        return _Plan(gram, chosen.fuzzifier, init, from_choice=True)

    def _plan_fixed(self, view: TableView, n_clusters: int, rng: np.random.Generator, progress: Progress) -> _Plan:
        """No choice: given bandwidths, or one search with given settings."""
        fuzzifier = resolve_fuzzifier(self._fixed("fuzzifier"), self._fixed("m"))
        kernel, criterion = Kernel.resolve(self._fixed("kernel")), Criterion.resolve(self._fixed("criterion"))
        self.threshold_ = self._resolve_threshold(fuzzifier, n_clusters)
        self.search_ = None
        self.max_anisotropy_ = check_number(self._fixed("max_anisotropy"), "max_anisotropy", minimum=1.0)
        if self.bandwidths is not None:
            given = check_bandwidths(self.bandwidths, view.n_columns)[view.columns]
            log_bandwidths = np.log(given / view.scale)
        elif n_clusters == 1:
            log_bandwidths = np.zeros_like(view.scale)
        else:
            self.search_ = select_bandwidths(
                view.searched,
                n_clusters,
                kernel=kernel,
                criterion=criterion,
                threshold=self.threshold_,
                max_anisotropy=self.max_anisotropy_,
                n_starts=self.n_starts,
                optimizer=self.optimizer,
                level=self._fixed("level"),
                approximation=self.approximation,
                rank=self.rank,
                search_samples=self.search_samples,
                random_state=rng,
                n_jobs=self.n_jobs,
                progress=progress,
            )
            log_bandwidths = self.search_.log_bandwidths - np.log(view.scale / view.unit)
        gram = self._place_bandwidths(view, log_bandwidths, kernel, criterion, n_clusters)
        return _Plan(gram, fuzzifier)

    def _fixed(self, name: str) -> Any:
        """A parameter, or the paper's setting where there is nothing to choose it by."""
        value = getattr(self, name)
        return PAPER[name] if isinstance(value, str) and value == AUTO else value

    def _resolve_threshold(self, fuzzifier: Fuzzifier, n_clusters: int) -> float:
        if self.threshold is not None:
            return check_number(self.threshold, "threshold", minimum=0.0)
        return fuzzifier.threshold(n_clusters) if n_clusters > 1 else 0.0

    def _plan_precomputed(self, K: FloatArray, n_clusters: int) -> _Plan:
        fuzzifier = resolve_fuzzifier(self._fixed("fuzzifier"), self._fixed("m"))
        self.threshold_ = self._resolve_threshold(fuzzifier, n_clusters)
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
        self.kernel_ = self.max_anisotropy_ = None
        self.criterion_ = Criterion.resolve(self._fixed("criterion"))
        self._store_spectrum(gram, self.criterion_, n_clusters)
        return _Plan(gram, fuzzifier)

    def _place_bandwidths(
        self, view: TableView, log_bandwidths: FloatArray, kernel: Kernel, criterion: Criterion, n_clusters: int
    ) -> Gram:
        """Store bandwidths (log, in standard deviations) in every form a user may want, and build the Gram matrix."""
        space = KernelSpace(view.columns, view.mean, view.scale, np.exp(log_bandwidths))
        self._space = space
        relative = one_per_column(space.bandwidths, view.columns, view.n_columns)
        self.bandwidths_ = one_per_column(space.bandwidths * view.scale, view.columns, view.n_columns)
        self.log_bandwidths_ = np.log(relative)
        self.importance_weights_ = importance_weights(relative)
        self.effective_n_features_ = effective_n_features(relative)
        gram = gram_family(view.judged, kernel, self.approximation, self.rank).at(space.bandwidths)
        self.kernel_, self.criterion_ = kernel, criterion
        self._store_spectrum(gram, criterion, n_clusters)
        self.linear_limit_ = is_linear_limit(view.judged, log_bandwidths, self.eigenvalues_)
        return gram

    def _store_selection(self, selection: Selection, n_clusters: int) -> None:
        self.selection_ = selection.table(n_clusters)
        self.selection_margin_ = selection.margin
        self.selection_support_ = selection.support
        self.opinion_ = selection.opinion

    def _store_posterior(self, data: FloatArray) -> None:
        """The judge's probabilities for all rows, clusters numbered as in the memberships."""
        opinion = self.opinion_
        if opinion is None or opinion.model is None or self._space is None:
            if self.memberships == "posterior":
                raise ValueError(
                    'memberships="posterior" needs a judge with a model for probabilities, which this one has not'
                )
            return
        posterior = opinion.model.posterior(self._space.standardize(data))
        self._posterior_order = linear_sum_assignment(-self.memberships_.T @ posterior)[1]
        self.posterior_memberships_ = posterior[:, self._posterior_order]
        if self.memberships == "posterior":
            self.memberships_ = self.posterior_memberships_
            self.labels_ = self.memberships_.argmax(axis=1)
            self.uniformity_ = uniformity_index(self.memberships_)

    def _memberships_of(self, X: Any) -> FloatArray:
        if (
            self.memberships != "posterior"
            or self.opinion_ is None
            or self.opinion_.model is None
            or self._space is None
        ):
            return super()._memberships_of(X)
        rows: FloatArray = validate_data(self, X, dtype=np.float64, reset=False)
        return self.opinion_.model.posterior(self._space.standardize(rows))[:, self._posterior_order]

    def _store_spectrum(self, gram: Gram, criterion: Criterion, n_clusters: int) -> None:
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


def _or_auto(value: Any, choices: Iterable[Any]) -> list[Any]:
    """The choices if the value is "auto", else the value alone."""
    return list(choices) if isinstance(value, str) and value == AUTO else [value]


@dataclass(frozen=True)
class _Plan:
    """What is left to do: cluster with this Gram matrix and fuzzifier, from here."""

    gram: Gram
    fuzzifier: Fuzzifier
    init: FloatArray | None = None
    """Where the chosen candidate is; None leaves it to the parameter ``init``."""
    from_choice: bool = False
