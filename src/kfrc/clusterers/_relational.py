"""What the methods that see dissimilarities only share: making them, fitting, and placing new rows."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Self

from kfrc._callbacks import with_callbacks
from kfrc._numerics import as_generator
from kfrc._validation import check_positive_int
from kfrc.blocks import SAMPLE_ROWS, StoredMemberships, engine_for
from kfrc.clusterers._point_sources import PointFit, begins_anywhere, fit_points, fit_points_of_source
from kfrc.clusterers._points import PointCenters, Points
from kfrc.clusterers._relations import (
    GOWER,
    PRECOMPUTED,
    Relation,
    RelationCenters,
    blank_rows,
    leave_out_blank_rows,
    resolve_relation,
    warn_of_blank_rows,
)
from kfrc.clusterers._row_spaces import RowSpace
from kfrc.clusterers._rows import MergedRows, fitted_rows
from kfrc.clusterers._sources import refuse_weights, table_of_source
from kfrc.clusterers._spread import NegativeDistanceError
from kfrc.clusterers.base import FuzzyClusterer
from kfrc.dissimilarity import Dissimilarity
from kfrc.fuzzifiers import Fuzzifier
from kfrc.relational import RelationalSolution, Start, resolve_start, solve_relational
from kfrc.sources import ArraySource, as_source
from kfrc.spectrum import spectrum_of
from kfrc.typing import ArrayLike, FloatArray, Progress, RandomStateLike

SQEUCLIDEAN = "sqeuclidean"


class RelationalClusterer(FuzzyClusterer):
    """Base of the relational estimators: subclasses name the fuzzifier, and may change R or how it is solved."""

    metric: Any
    metric_params: dict[str, Any] | None
    column_types: Mapping[Any, Any] | None
    init: str | Start | ArrayLike
    n_init: int
    max_iter: int
    tol: float
    random_state: RandomStateLike
    verbose: int
    cluster_centers_: FloatArray
    _relation: Relation
    _centers: RelationCenters

    @abstractmethod
    def _resolve_fuzzifier(self) -> Fuzzifier:
        """The fuzzifier that the parameters ask for."""

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
        X : array-like of shape (n_samples, n_features) or table
            Data; with ``metric="precomputed"`` dissimilarities (n_samples, n_samples); with ``metric="gower"`` also a
            table of pandas, polars or Arrow with columns of any type. FRC with ``metric="sqeuclidean"`` also takes
            rows that need not fit into memory, such as a source of :mod:`kfrc.sources`, and passes over more than
            20 000 rows in blocks, from the minimum of a sample on.
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
        source = as_source(X) if self._in_blocks else None
        engine = engine_for(client, memory)
        with self._all_or_nothing(X if source is None else source):
            if source is not None:
                refuse_weights(sample_weight)
                if source.n_rows > SAMPLE_ROWS:
                    self._resolve_relation()
                    self._place(fit_points_of_source(self, source, self._resolve_fuzzifier(), engine))
                    return self
                X, sample_weight = table_of_source(source)
            relation, data = self._resolve_relation().read(self, X)
            weights = leave_out_blank_rows(data, sample_weight)
            n_clusters = self._check_clusters(data, weights)
            fuzzifier = self._resolve_fuzzifier()
            rows = fitted_rows(data, weights, at_least=n_clusters, merge=relation.merges)
            start = rows.start(resolve_start(self.init, len(data), n_clusters))
            progress = self._start_progress(check_positive_int(self.n_init, "n_init") + 1, self.verbose)
            if self._in_blocks and len(rows) > SAMPLE_ROWS and begins_anywhere(self.init):
                in_memory = ArraySource(rows.values, weights=rows.weights)
                fit = fit_points(self, in_memory, n_clusters, fuzzifier, engine, progress)
                self._place(fit)
                self._finish(fit.in_memory, fuzzifier, rows, data, lambda: fit.leading_eigenvalue)
                return self
            relation = relation.learned(rows, getattr(self, "feature_names_in_", None))
            dissimilarity = relation.dissimilarity()
            try:
                solution = self._solve(dissimilarity, n_clusters, fuzzifier, start, progress)
            except NegativeDistanceError as found:
                raise found.of_rows(rows.first) from None
            self._relation, self._centers = relation.placing(), self._centers_of(relation, solution)
            if self._centers.points is not None:
                self.cluster_centers_ = self._centers.points
            self._finish(solution, fuzzifier, rows, data, lambda: self._leading_eigenvalue(dissimilarity))
            if source is not None:
                self._store_lazy(StoredMemberships(source, self.memberships_))
        return self

    @property
    def _are_points(self) -> bool:
        """Whether distances are squared Euclidean ones and nothing else, so that rows are points."""
        plain = self.column_types is None and self.metric_params in (None, {})
        return plain and isinstance(self.metric, str) and self.metric == SQEUCLIDEAN

    @property
    def _in_blocks(self) -> bool:
        """Whether rows may be passed over in blocks: of FRC with squared Euclidean distances."""
        return False

    def _finish(
        self,
        solution: RelationalSolution,
        fuzzifier: Fuzzifier,
        rows: MergedRows,
        data: FloatArray,
        eigenvalue: Callable[[], float],
    ) -> None:
        """Store what was found of rows in memory, and say what a user must know."""
        self._store(
            solution,
            fuzzifier,
            rows,
            lambda absent: fuzzifier.memberships(self._centers.squared_distances(data[absent])),
        )
        self._warn_about(solution, fuzzifier, eigenvalue, self._relation.scales(rows), stacklevel=5)
        self._end_progress()

    def _place(self, fit: PointFit) -> None:
        """Set the centers that passes over blocks found."""
        self._relation, self._centers = Points(), PointCenters(fit.origin, fit.locations)
        self.cluster_centers_ = self._centers.points

    def _resolve_relation(self) -> Relation:
        if self._are_points:
            return Points()
        return resolve_relation(
            self.metric,
            self.metric_params,
            self.column_types,
            remedy='metric="sqeuclidean" or KFRC, or fewer rows',
            allows_missing=self._allows_blanks,
        )

    @property
    def _allows_blanks(self) -> bool:
        """Whether something may be missing, if the metric can do with it."""
        return True

    def _solve(
        self, dissimilarity: Dissimilarity, n_clusters: int, fuzzifier: Fuzzifier, start: Start, progress: Progress
    ) -> RelationalSolution:
        return solve_relational(
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

    def _leading_eigenvalue(self, dissimilarity: Dissimilarity) -> float:
        return float(spectrum_of(dissimilarity.gram, 1).eigenvalues[0])

    def _centers_of(self, relation: Relation, solution: RelationalSolution) -> RelationCenters:
        return relation.centers(solution)

    def _row_space(self, X: Any, weights: FloatArray | None = None) -> RowSpace:
        return self._relation.space(self, X, weights)

    def _center_distances(self, X: Any) -> FloatArray:
        new = self._relation.read_new(self, X)
        warn_of_blank_rows(blank_rows(new), stacklevel=6)
        return self._centers.squared_distances(new)

    @property
    def _allows_nan(self) -> bool:
        return self.metric == GOWER and self._allows_blanks

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == PRECOMPUTED
        tags.input_tags.categorical = tags.input_tags.string = self.metric == GOWER
        return tags
