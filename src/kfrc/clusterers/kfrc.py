"""Kernel fuzzy relational clustering with spectrally tuned bandwidths: the estimator of the paper."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np

from kfrc._callbacks import with_callbacks
from kfrc._numerics import as_generator
from kfrc._validation import check_memberships
from kfrc.bandwidth import BandwidthResult, Optimizer
from kfrc.blocks import SAMPLE_ROWS, StoredMemberships, engine_for
from kfrc.clusterers._kernel_sources import fit_kernel_of_many_rows, fit_kernel_of_source
from kfrc.clusterers._row_spaces import KernelSpaceOf, RowSpace
from kfrc.clusterers._rows import MergedRows, check_frequencies, merge_rows
from kfrc.clusterers._sources import refuse_weights, table_of_source
from kfrc.clusterers._tables import Reading, numeric_schema, read_new_rows, read_rows
from kfrc.clusterers.base import FuzzyClusterer
from kfrc.columns import Schema, Table
from kfrc.criteria import Criterion
from kfrc.fitting import (
    AUTO,
    N_PASS_TASKS,
    PAPER,
    PRECOMPUTED,
    Checkpoint,
    KernelFit,
    KernelSpace,
    PosteriorRows,
    Settings,
    TableView,
    fit_gram,
    fit_table,
    parameters_in_vain,
    remarks,
    resolve_settings,
    warn_of_blank_rows,
    why_not_in_blocks,
)
from kfrc.foremost import Foremost
from kfrc.fuzzifiers import Fuzzifier
from kfrc.gram import Centers, DenseGram, gram_family
from kfrc.judges import Judge, Opinion
from kfrc.kernels import Kernel
from kfrc.metrics import effective_n_features, importance_weights
from kfrc.relational import Start
from kfrc.screening import Screen
from kfrc.sources import as_source
from kfrc.typing import ArrayLike, FloatArray, RandomStateLike


class KFRC(FuzzyClusterer):
    """Kernel fuzzy relational clustering with one bandwidth per column, found without labels.

    A Gaussian kernel with one bandwidth per column measures similarity. The bandwidths are chosen from the spectrum of
    the Gram matrix: the leading c − 1 directions are to carry the structure, and columns that do not help get a large
    bandwidth and stop mattering. A fit collapses to "everything belongs equally to everything" if its m is too large:
    ``critical_m_`` says from which m on it can, and an automatic choice stays below that wherever some setting does.

    How far bandwidths may differ (``max_anisotropy``), how large they are (``level``) and how fuzzy the result is
    (``m``) are chosen by a judge that needs no labels; ``selection_`` shows what was compared. :meth:`paper` fixes all
    of them as the paper does.

    Parameters
    ----------
    n_clusters : int or "auto", default=3
        ``"auto"`` finds the number, up to ``max_clusters``. It is one, with a warning, if tables of a single group look
        as grouped as the data (``kfrc.existence``).
    kernel : {"sum", "product", "linear", "path", "precomputed", "auto"} or Kernel, default="sum"
        Sum or product of one Gaussian per column; ``"path"`` is for clusters of any shape in few columns: bandwidths
        are not searched, and :class:`kfrc.judges.DensityJudge` chooses among :class:`kfrc.kernels.path.PathKernel`
        objects (or takes the one that is given), m, and the number of clusters; ``"precomputed"`` takes a Gram matrix
        and skips search and choice; ``"auto"`` compares sum and product.
    fuzzifier : {"power", "exponential", "quadratic", "complementary_root", "auto"} or Fuzzifier, \
            default="complementary_root"
        ``"auto"`` compares the last two. After an automatic choice ``fuzzifier_`` may be another rule,
        :class:`kfrc.relational.SizedEntropy`: where memberships with this fuzzifier agree with the judge by less than
        0.9, sizes and scales of the clusters enter the objective, which is then an entropy and may be negative.
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
    screen : {"dependence", "none"} or Screen, default="dependence"
        What tells columns that take part in a structure from noise, before an automatic choice. The choice is made on
        all columns and on the relevant ones, and the better description of the whole table wins. Columns that are left
        out have an infinite bandwidth. Of tables with more than 250 columns the choice sees the foremost ones only, see
        ``foremost_``. ``"none"`` begins with all columns, however many there are.
    max_clusters : int, default=10
        Largest number that ``n_clusters="auto"`` tries.
    column_types : mapping, optional
        Types of columns by name, or by position if X is an array: ``"numeric"``, ``"ordinal"``, ``"nominal"``,
        ``"date"`` or ``"drop"``; ``("ordinal", ["low", "mid", "high"])`` gives the order of levels, and
        ``("date", "hour")``, ``"weekday"`` or ``"month"`` compare a part of a date that comes round. Other columns are
        what their dtype says: categories are nominal or, if ordered, ordinal; truth values and text are nominal; text
        that is nearly all different is left out with a warning. Arrays hold numbers.
    missing : {"partial", "level", "error"}, default="partial"
        What NaN, None and other blanks mean. ``"partial"``: nothing is known there, and distances are sums over the
        columns that are known. ``"level"``: a blank of a nominal or ordinal column is a level of its own (numbers and
        dates as before). ``"error"``: they are refused.
    memberships : {"fuzzy", "posterior"}, default="fuzzy"
        ``"fuzzy"`` memberships minimize the objective. ``"posterior"`` ones are the judge's probabilities, closer to
        the chance of being right; they need an automatic choice.
    selection_samples : int, default=2000
        With more rows than this the choice is made on a random subset of that many.
    bandwidths : array-like of shape (n_features,) or float, optional
        Given bandwidths in the units of X: search and choice are skipped, and ``"auto"`` means the paper's setting.
    threshold : float, optional
        Smallest λ₁ to accept. None means the τ above which no fuzziness collapses, unless the level is chosen: then
        every m that is considered lies below its critical value, and larger ones are not ruled out.
    standardize : bool, default=True
        Divide columns by their standard deviation before the search, so that units do not matter. Columns on one scale,
        such as pixels, are divided by a common one (``one_scale_``). Given bandwidths are in the units of X either way.
        Tables with levels, blanks or weights are always searched in standard deviations.
    outliers : {"clip", "keep"}, default="clip"
        ``"clip"``: where values beyond 10 robust deviations from the median of a column rule its standard deviation,
        the column is cut at 5 of them, or at the end of its own tail, and a warning names the values; a column that is
        constant but for one value is left out. Not with given bandwidths, which need no scale. Tables of more than 5000
        rows are cut in any case, also at 9 standard deviations from the mean, which bounds the cost. New rows are cut
        in the same places. ``"keep"`` cuts nothing.
    n_starts : int, default=5
        Starts of the bandwidth search.
    optimizer : {"lbfgs", "momentum"} or Optimizer, default="lbfgs"
        ``"momentum"`` is the paper's algorithm; pass ``MomentumAscent(...)`` to change its settings. With it nothing
        can be chosen: every ``"auto"`` means the paper's fixed setting, and the fit says so. An automatic choice uses
        ``"lbfgs"`` with coarser settings for its candidates, and ``QuasiNewton(...)`` with the settings it has.
    approximation : {"auto", "none", "low_rank", "nystrom"}, default="auto"
        How the Gram matrix is held. ``"low_rank"`` (sum kernel) is exact to rounding at a cost linear in n;
        ``"nystrom"`` (any kernel) approximates from ``rank`` landmark rows; ``"none"`` keeps all n² entries;
        ``"auto"`` picks what is fast and exact, and Nyström only beyond 5000 rows of a product kernel.
    rank : int, optional
        Landmarks of ``"nystrom"``; nothing else has any.
    search_samples : int, "auto" or None, default="auto"
        With more rows than this the starts of the search see a random subset of that many, and the best end is refined
        on all rows; None uses all rows throughout. ``"auto"`` is 20 000 for ``"lbfgs"`` and all for ``"momentum"``.
        An automatic choice sees ``selection_samples`` rows instead.
    init : {"spectral", "near_uniform", "random", "kmeans++", "blocks"}, Start or array-like, default="spectral"
        Where the clustering starts, see :class:`kfrc.FRC`. In an automatic choice the partitions shown to the judge
        start there, and the clustering at the end starts from what the judge believes, unless this is an array.
    n_init : int or "auto", default="auto"
        Runs of the clustering at the end; the lowest objective wins, and after a start without chance the others begin
        with ``"kmeans++"``. ``"auto"`` is 1 after an automatic choice or from an array, else 4.
    max_iter : int, default=1000
    tol : float, default=1e-6
        Largest movement of a membership at convergence.
    random_state : int, RandomState, Generator or None
    n_jobs : int, optional
        Starts of the search in parallel; the result does not depend on it.
    verbose : int, default=0
        Print one line per part of the work, and what is being done while a part lasts.

    Warns
    -----
    IgnoredParameterWarning
        If parameters that were set have no effect together with the others; it names them and says why.
    LeftOutColumnWarning
        If columns are left out that look like names or remarks, or have no value at all; or if the clusters differ in
        more columns of a wide table than the choice sees.
    MissingRowWarning
        If nothing is known of a row: its memberships are 1/c.
    UnseenCategoryWarning
        If new rows have levels that were not there in the fit: they count as missing.
    OutlierWarning
        If few values ruled the deviation of a column and were cut; it names columns and rows.
    NoStructureWarning
        If ``n_clusters="auto"`` finds no sign of more than one group.
    LargestNumberWarning
        If it takes the largest number it tried.
    NearTieWarning
        If another partition has just as much evidence as the one that was taken.
    ApproximationWarning
        If bandwidths are too small for the kernel to be computed exactly; it states the error.

    Attributes
    ----------
    memberships_, labels_, objective_, objective_path_, n_iter_, status_, uniformity_
        See :class:`kfrc.clusterers.FuzzyClusterer`. With ``memberships="posterior"`` all of them, and ``score`` and
        ``transform``, describe the probabilities: the objective is their value of J, reached in no iteration.
    bandwidths_ : ndarray of shape (n_features,)
        θ in the units of X; ``inf`` for columns that are constant or left out. Two levels of a nominal column are one
        unit apart, two of an ordinal one as many as their scores; dates are in days.
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
    contributions_ : ndarray of shape (n_features,) or None
        Share of every column in what the partition explains, the scatter between the clusters in feature space
        (:mod:`kfrc.contributions`): they sum to one, and columns that are constant or left out have zero. Exact for
        kernels that are sums over columns; for others the sum kernel with the same bandwidths stands in. If nothing is
        explained (a collapsed fit, or one cluster), all columns in use have the same share. None if the kernel is
        precomputed.
    cluster_contributions_ : ndarray of shape (n_clusters, n_features) or None
        The same cluster by cluster; ``contributions_`` is its sum over clusters.
    importance_weights_ : ndarray of shape (n_features,)
        W_j ∝ 1/θ_j, the paper's importance: all equal where the bandwidths are.
    effective_n_features_ : float
        W_eff = 1 / Σ W_j².
    search_ : BandwidthResult or None
        Every start of the search.
    approximation_ : {"none", "low_rank", "nystrom"}
        How the Gram matrix of the result is held.
    approximation_error_ : float
        Of ``"low_rank"``: the largest error of a squared distance in feature space among 200 rows, relative to the mean
        of these distances (about 10⁻¹²; more, with a warning, if bandwidths are too small to be resolved in a table
        of more than 5000 rows, or in columns of more than 256 different values where there are blanks, weights or
        other types of columns). More than 20 000 rows are passed over in blocks with such an error of their own: the
        larger one is kept. Of ``"nystrom"``: the share of the squared norms that is left out. Zero if exact.
    space_ : KernelSpace or None
        How the kernel sees rows: ``space_.standardize(X)`` are the varying columns, cut and in standard units, for
        which ``space_.bandwidths`` are meant. None if the kernel is precomputed.
    outliers_ : dict of ndarray or None
        One entry per column that was cut: ``column`` (its position), ``n_values`` (cut), ``row`` and ``value`` of the
        farthest, ``low`` and ``high`` (the fences), ``ruled`` (whether a warning named it). None if nothing was.
    linear_limit_ : bool
        Whether the bandwidths are so large that the kernel acts like weighted squared Euclidean distance.
    n_clusters_ : int
        Number of clusters.
    column_types_ : dict
        Type of every column by name, or by position if X is an array; ``"drop"`` for those that are left out.
    schema_ : kfrc.columns.Schema or None
        The columns with their levels; None if all are numbers, nothing is missing and nothing has weights.
    kernel_, criterion_, max_anisotropy_, fuzzifier_
        What the fit used, given or chosen; ``fuzzifier_.m`` is the fuzziness and ``search_.level`` the level. There is
        no bound on the anisotropy if nothing was searched.
    selection_ : dict of ndarray or None
        One entry per candidate of an automatic choice, best first: ``score`` (agreement with the judge) and the
        settings; ``pandas.DataFrame(selection_)`` is a table.
    selection_margin_ : float or None
        Lead of the chosen candidate's score over the next.
    selection_ties_ : int or None
        Other partitions whose evidence is behind by less than a hundredth of its standard error: the choice between
        them is arbitrary, but not moved by rounding, as a choice sees columns to 10⁻⁶ standard deviations only.
    opinion_ : Opinion or None
        What the judge believes: the kind of mixture, its evidence, and its probabilities.
    cluster_count_ : dict of ndarray or None
        Of each number of clusters, if that was chosen: ``evidence``, whether it is ``tolerated`` (within one standard
        error of the largest), and the ``valley``, the density between the two clusters that are separated least, as a
        share of their lower peak.
    cluster_count_reason_ : {"no groups", "density", "most evidence", "one standard error", "separated"} or None
        Why this number was taken: tables of a single group look as grouped; a density judge is believed more than
        mixtures; it has the most evidence; it is the smallest within one standard error of that; or with more clusters
        two of them would not be separated.
    one_scale_ : bool
        Whether the columns hold whole numbers between the same two ends, as pixels do. Then an automatic choice lets
        columns that vary more count more; scaled by hand, they no longer look like that.
    foremost_ : kfrc.foremost.Foremost or None
        Of a table with more than 250 columns: ``columns``, the positions of those that the choice saw,
        ``n_set_aside``, how many it did not see, and ``n_differing``, in how many of all the clusters differ beyond
        chance (one in ten of these by chance alone). None if the choice saw all columns.
    posterior_memberships_ : ndarray of shape (n_samples, n_clusters) or None
        The judge's probabilities.
    memberships_kind_ : {"fuzzy", "posterior"}
        What ``memberships_`` are.
    cluster_sizes_ : ndarray of shape (n_clusters,)
        Of a source with more than 20 000 rows: rows that prefer each cluster, weights counted.
    sample_rows_ : ndarray of int
        Of such a source: the rows that settings and bandwidths were found with.

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
    contributions_: FloatArray | None
    cluster_contributions_: FloatArray | None
    importance_weights_: FloatArray | None
    effective_n_features_: float | None
    search_: BandwidthResult | None
    kernel_: Kernel | None
    criterion_: Criterion
    max_anisotropy_: float | None
    selection_: dict[str, Any] | None
    opinion_: Opinion | None
    selection_margin_: float | None
    selection_ties_: int | None
    cluster_count_: dict[str, Any] | None
    cluster_count_reason_: str | None
    outliers_: dict[str, Any] | None
    foremost_: Foremost | None
    one_scale_: bool
    schema_: Schema | None
    space_: KernelSpace | None
    posterior_memberships_: FloatArray | None
    column_types_: dict[Any, str]
    _centers: Centers
    _posterior: PosteriorRows | None

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
        screen: str | Screen = "dependence",
        max_clusters: int = 10,
        memberships: str = "fuzzy",
        column_types: Mapping[Any, Any] | None = None,
        missing: str = "partial",
        selection_samples: int = 2000,
        bandwidths: ArrayLike | None = None,
        threshold: float | None = None,
        standardize: bool = True,
        outliers: str = "clip",
        n_starts: int = 5,
        optimizer: str | Optimizer = "lbfgs",
        approximation: str = "auto",
        rank: int | None = None,
        search_samples: int | str | None = "auto",
        init: str | Start | ArrayLike = "spectral",
        n_init: int | str = AUTO,
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
        self.screen = screen
        self.max_clusters = max_clusters
        self.memberships = memberships
        self.column_types = column_types
        self.missing = missing
        self.selection_samples = selection_samples
        self.bandwidths = bandwidths
        self.threshold = threshold
        self.standardize = standardize
        self.outliers = outliers
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
        KFRC(level=None, m=None, max_anisotropy=5.0, outliers='keep')
        """
        fixed = {name: value for name, (value,) in PAPER.items()}
        return cls(n_clusters, **{**fixed, "optimizer": "momentum", "outliers": "keep", **parameters})

    @with_callbacks
    def fit(
        self,
        X: ArrayLike,
        y: None = None,
        sample_weight: ArrayLike | None = None,
        *,
        client: Any = None,
        memory: str | float | None = None,
        checkpoint: Checkpoint | None = None,
    ) -> Self:
        """Choose settings and bandwidths, and cluster.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), table or source
            Numbers, or a table of pandas, polars or Arrow with columns of any type; or a Gram matrix
            (n_samples, n_samples) with ``kernel="precomputed"``; or rows that need not fit into memory: a source of
            :mod:`kfrc.sources`, an Arrow data set, a dask DataFrame or array.
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            How many rows each row stands for: 2 is the row twice, 0 is the row absent. They must sum to at least 2:
            multiply weights that sum to one by the number of rows.
            Sources have a column of weights instead.
        client : distributed.Client, optional
            Of a Dask cluster whose workers are to pass over the rows; threads of this process do so otherwise.
        memory : str or float, optional
            What a worker may use for rows, such as ``"2GB"``; by default 1 GB. Tables that fit into half of it are
            read once.
        checkpoint : Checkpoint, optional
            Keeps what was found after every pass, and goes on from there (:class:`kfrc.fitting.Checkpoint`).

        Returns
        -------
        self

        Raises
        ------
        InfeasibleBandwidthError
            If no bandwidths reach the threshold.
        SourceError
            If rows of a source cannot be read.

        Notes
        -----
        More than 20 000 rows, from whatever they come, are passed over in blocks if the kernel is a sum over columns:
        settings and bandwidths are found on a sample of 20 000, and all rows decide where the centers are. The result
        is the same, bit for bit, for rows in memory and on a disk, and for any number of threads and workers. Of a
        source ``memberships_`` and ``labels_`` are made when they are asked for (``head(n)``, ``write_parquet``,
        ``numpy.asarray``).
        """
        source = as_source(X)
        if source is not None:
            refuse_weights(sample_weight)
        engine = engine_for(client, memory, self.n_jobs)
        with self._all_or_nothing(X if source is None else source):
            if source is not None and source.n_rows > SAMPLE_ROWS:
                result, settings = fit_kernel_of_source(self, source, engine, checkpoint)
                self._tell(result, settings)
                return self
            if source is not None:
                X, sample_weight = table_of_source(source)
            precomputed = isinstance(self.kernel, str) and self.kernel == PRECOMPUTED
            resolve_settings(self.get_params(deep=False), None)  # a wrong name is told before a table is read
            reading = Reading(self._table(X), None) if precomputed else self._read(X)
            counted = None if self.n_clusters == AUTO else self._check_clusters(reading.values, sample_weight)
            settings = resolve_settings(self.get_params(deep=False), counted)
            progress = self._start_progress(settings.n_tasks + N_PASS_TASKS, self.verbose)
            rng = as_generator(self.random_state)
            rows: MergedRows | None = None
            if precomputed:
                # A matrix is kept as it is: rows without weight have no influence there.
                weights = check_frequencies(sample_weight, len(reading.values))
                result, schema = fit_gram(reading.values, settings, rng, progress, weights), None
            else:
                if sample_weight is not None or settings.takes_tables:
                    rows = merge_rows(reading.values, sample_weight, at_least=counted or 2)
                n_different = len(reading.values) if rows is None else len(rows)
                if n_different > SAMPLE_ROWS and why_not_in_blocks(settings) is None:
                    result, schema = fit_kernel_of_many_rows(self, reading, rows, settings, engine, rng, progress)
                else:
                    view, schema = self._view(reading, rows, settings)
                    result = fit_table(view, _on_merged(settings, rows, len(reading.values)), rng, progress)
            self._store_result(result, reading, schema, rows)
            if source is not None:
                self._store_lazy(StoredMemberships(source, self.memberships_))
            self._tell(result, settings)
        return self

    def _tell(self, result: KernelFit, settings: Settings) -> None:
        """What a user must know of a fit."""
        for message, category in remarks(result, self._in_vain(result, settings)):
            warnings.warn(message, category, stacklevel=4)
        self._warn_about(result.solution, result.fuzzifier, lambda: result.leading_eigenvalue, stacklevel=5)
        self._end_progress()

    def _read(self, X: Any) -> Reading:
        return read_rows(self, X, self.column_types, self.missing)

    def _view(self, reading: Reading, rows: MergedRows | None, settings: Settings) -> tuple[TableView, Schema | None]:
        """The rows as kernels and judge see them, and what their columns are if not just numbers."""
        values, weights, names = reading.values, None, None
        if rows is not None:
            values, weights, names = rows.values, rows.weights, rows.first
        schema = reading.schema
        if schema is None and weights is not None:
            schema = numeric_schema(self, values)
        if schema is not None:
            clip = settings.clips_outliers and settings.needs_scale
            return TableView.of_types(values, schema, weights, clip=clip, rows=names), schema
        view = TableView.of(
            values,
            getattr(self, "feature_names_in_", None),
            standardize=self.standardize,
            clip=settings.clips_outliers,
            robust_scale=settings.needs_scale,
        )
        return view, None

    def _store_result(
        self, result: KernelFit, reading: Reading, schema: Schema | None, rows: MergedRows | None
    ) -> None:
        """Everything that a fit sets."""
        posterior = result.posterior
        self.schema_, self.space_ = schema, result.space
        self._centers = result.centers
        self._posterior = posterior.rows if posterior is not None and result.returns_posterior else None
        self.fuzzifier_ = result.fuzzifier
        self._store(result.solution, result.fuzzifier, rows, lambda absent: self._placed(reading.values[absent]))
        if schema is not None and not result.returns_posterior:
            self._even_where_blank(self.memberships_, reading.values)
            self.labels_ = self.memberships_.argmax(axis=1)
        self._store_findings(result, reading.column_types(self))
        self.posterior_memberships_ = None
        if posterior is not None:
            self.posterior_memberships_ = posterior.memberships if rows is None else rows.expand(posterior.memberships)
            if rows is not None and len(rows.absent):
                self.posterior_memberships_[rows.absent] = posterior.rows.memberships(reading.values[rows.absent])

    def _store_findings(self, result: KernelFit, column_types: dict[Any, str]) -> None:
        """What was chosen and found, wherever the rows are."""
        self.column_types_ = column_types
        self.n_clusters_ = result.n_clusters
        self.kernel_, self.criterion_ = result.kernel, result.criterion
        self.max_anisotropy_ = result.max_anisotropy
        self.search_, self.linear_limit_ = result.search, result.linear_limit
        self.approximation_, self.approximation_error_ = result.gram.backend, result.approximation_error
        self.eigenvalues_, self.criterion_value_ = result.eigenvalues, result.criterion_value
        self.threshold_, self.critical_m_, self.stable_ = result.threshold, result.critical_m, result.stable
        self.outliers_ = result.far_values
        relative = None if result.space is None else result.space.relative_bandwidths()
        self.bandwidths_ = None if result.space is None else result.space.bandwidths_in_user_units()
        self.log_bandwidths_ = None if relative is None else np.log(relative)
        self.importance_weights_ = None if relative is None else importance_weights(relative)
        self.effective_n_features_ = None if relative is None else effective_n_features(relative)
        self.cluster_contributions_ = result.contributions
        self.contributions_ = None if result.contributions is None else result.contributions.sum(axis=0)
        selection, count = result.selection, result.count
        self.selection_ = None if selection is None else selection.table(result.n_clusters)
        self.selection_margin_ = None if selection is None else selection.margin
        self.selection_ties_ = None if selection is None else selection.n_ties
        self.opinion_, self.foremost_ = result.opinion, result.foremost
        self.one_scale_ = result.space is not None and result.space.one_scale
        self.cluster_count_ = None if count is None else count.table()
        self.cluster_count_reason_ = None if count is None else str(count.reason)
        self.memberships_kind_ = "posterior" if result.returns_posterior else "fuzzy"

    def _in_vain(self, result: KernelFit, settings: Settings) -> list[str]:
        """What was set without effect."""
        defaults = {name: p.default for name, p in inspect.signature(type(self)).parameters.items()}
        return parameters_in_vain(self.get_params(deep=False), defaults, settings, result)

    def _rows(self, X: Any) -> FloatArray:
        if self.kernel == PRECOMPUTED:
            return super()._rows(X)
        return read_new_rows(self, X, self.schema_, self.missing)

    def _row_space(self, X: Any, weights: FloatArray | None = None) -> RowSpace:
        if self.space_ is None or self.kernel_ is None:
            return KernelSpaceOf(DenseGram(np.asarray(X, dtype=np.float64), weights=weights))
        seen = self.space_.standardize(self._rows(X))
        if weights is not None and isinstance(seen, Table):
            seen = replace(seen, weights=weights)
        gram = gram_family(seen, self.kernel_).at(self.space_.bandwidths)
        return KernelSpaceOf(gram, self.cluster_contributions_)

    def _center_distances(self, X: Any) -> FloatArray:
        return self._centers.squared_distances(self._rows(X))

    def _memberships_of(self, X: Any, distances: FloatArray | None = None) -> FloatArray:
        values = self._rows(X)
        if self.space_ is not None:
            blank = np.flatnonzero(np.isnan(values[:, self.space_.columns]).all(axis=1))
            warn_of_blank_rows(blank, stacklevel=4)
        return self._placed(values)

    def _placed(self, values: FloatArray) -> FloatArray:
        """Memberships of rows that are read already."""
        if self._posterior is not None:
            return self._posterior.memberships(values)
        return self._even_where_blank(self.fuzzifier_.memberships(self._centers.squared_distances(values)), values)

    def _even_where_blank(self, U: FloatArray, values: FloatArray) -> FloatArray:
        """Memberships of 1/c for rows of which nothing is known in the columns that are used; U itself is changed.

        Most rules give them that, but one that weighs sizes gives them the sizes.
        """
        if self.space_ is not None:
            U[np.isnan(values[:, self.space_.columns]).all(axis=1)] = 1.0 / U.shape[1]
        return U

    @property
    def _allows_nan(self) -> bool:
        return self.missing != "error" and self.kernel != PRECOMPUTED

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == PRECOMPUTED
        return tags


def _on_merged(settings: Settings, rows: MergedRows | None, n_rows: int) -> Settings:
    """Settings for merged rows: memberships that were given are averaged."""
    init = settings.descent.init
    if rows is None or isinstance(init, str | Start):
        return settings
    given = rows.average(check_memberships(init, "init", shape=(n_rows, None)))
    return replace(settings, descent=replace(settings.descent, init=given))
