"""A fit of rows that need not fit into memory: a first pass, a choice on a sample, and passes until the centers rest.

Tables in memory with many rows take the same way, so that it does not matter where rows come from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from kfrc.blocks import Engine, Reader
from kfrc.blocks.descent import begin
from kfrc.blocks.histogram import Histogram
from kfrc.blocks.memberships import BlockMemberships
from kfrc.blocks.plans import ColumnPlan, plan_columns
from kfrc.blocks.row_maps import ColumnMap, PointMap, RowMap, numbers_only
from kfrc.blocks.solution import BlockSolution, solve_blocks
from kfrc.blocks.survey import SAMPLE_ROWS, Sample, Survey, SurveyPass, survey_rows
from kfrc.columns import Schema, values_of, weights_of
from kfrc.contributions import cluster_contributions
from kfrc.fitting.columns_of_source import SourceColumns, columns_of_source
from kfrc.fitting.fit import fit_table
from kfrc.fitting.result import KernelFit, TableCenters
from kfrc.fitting.settings import Settings
from kfrc.fitting.table import TableView
from kfrc.kernels import AdditiveKernel, Kernel, Profile
from kfrc.kernels.linear import Linear
from kfrc.kernels.oriented import Oriented
from kfrc.relational import Start, Status
from kfrc.sources import Source, SourceError
from kfrc.typing import FloatArray, IntArray, Progress

N_PASS_TASKS = 2
"""Units of work that passes report: the first one, and all others."""


class Checkpoint(Protocol):
    """Where a fit keeps what it has, to go on from there if the process dies."""

    def load(self, stage: str) -> Any:
        """What was kept of a stage; None if nothing was."""
        ...

    def save(self, stage: str, content: Any) -> None:
        """Keep what a stage has found."""
        ...


class NoCheckpoint:
    """Nothing is kept."""

    def load(self, stage: str) -> Any:
        """Return nothing."""
        return None

    def save(self, stage: str, content: Any) -> None:
        """Keep nothing."""


@dataclass(frozen=True, eq=False)
class SourceFit:
    """What a fit of a source found.

    Attributes
    ----------
    result : KernelFit
        Its ``solution`` has lazy memberships.
    schema : Schema or None
    memberships : BlockMemberships
    uniformity : float
    counts : ndarray of shape (n_clusters,)
        Rows that prefer each cluster, weights counted.
    sample : Sample
        Rows that choice and report see.
    view : TableView
        The same in standard units.
    """

    result: KernelFit
    schema: Schema | None
    memberships: BlockMemberships
    uniformity: float
    counts: FloatArray
    sample: Sample
    view: TableView


@dataclass(frozen=True, eq=False)
class SourceTable:
    """A source, and what is said of its columns.

    Attributes
    ----------
    source : Source
    column_types : mapping or None
    missing : {"partial", "level", "error"}
    standardize : bool
        Whether bandwidths are searched in standard deviations.
    schema : Schema or None
        Of a source whose rows are codes already.
    """

    source: Source
    column_types: Mapping[Any, Any] | None = None
    missing: str = "partial"
    standardize: bool = True
    schema: Schema | None = None


def why_not_in_blocks(settings: Settings) -> str | None:
    """Why rows cannot be passed over block by block with these settings; None if they can."""
    if settings.returns_posterior:
        return 'memberships="posterior" needs all rows at once: use memberships="fuzzy"'
    grid = settings.tuning.grid
    for kernel in grid.kernels:
        if not isinstance(kernel, (AdditiveKernel, Linear)):
            return f'the {kernel.label} kernel needs all rows at once: use kernel="sum" or kernel="linear"'
    if settings.tuning.options.approximation not in ("auto", "low_rank"):
        return "approximation must be left at its default, where rows are passed over in blocks"
    if not isinstance(settings.descent.init, (str, Start)) or _given(settings.descent.init):
        return "memberships to begin with cannot be given for all rows: init must be a name"
    return None


def _given(init: Any) -> bool:
    return isinstance(init, Start) and init.keeps_numbering


def fit_source(
    table: SourceTable,
    settings: Settings,
    engine: Engine,
    rng: np.random.Generator,
    progress: Progress,
    checkpoint: Checkpoint | None = None,
) -> SourceFit:
    """Cluster the rows of a source.

    Parameters
    ----------
    table : SourceTable
    settings : Settings
    engine : Engine
    rng : Generator
    progress : callable
        Called with a text after every unit of work.
    checkpoint : Checkpoint, optional

    Returns
    -------
    SourceFit

    Raises
    ------
    SourceError
        If rows cannot be read.
    """
    kept: Checkpoint = NoCheckpoint() if checkpoint is None else checkpoint
    source = table.source
    surveyed = kept.load("survey")
    if surveyed is None:
        plans = plan_columns(source, table.column_types, table.schema)
        survey = survey_rows(engine, source, plans)
        survey = replace(survey, sample=_varied(source, plans, survey))
        kept.save("survey", (plans, survey))
    else:
        plans, survey = surveyed
    progress("first pass")
    columns = columns_of_source(
        source.names,
        plans,
        survey,
        settings,
        missing=table.missing,
        types=table.column_types,
        schema=table.schema,
        weighted=source.weight_name is not None,
    )
    view = columns.view(survey.sample, plans, standardize=table.standardize)
    begun = kept.load("sample")
    if begun is None:
        begun = fit_table(view, settings, rng, progress)
        kept.save("sample", begun)
    sampled: KernelFit = begun
    rows, reader = _rows_and_reader(source, columns, view, sampled, engine)
    state = kept.load("passes")
    if state is None:
        weights = sampled.fuzzifier.value(sampled.solution.memberships)
        centers = rows.centers_of(_sample_values(view, sampled), weights, weights_of(view.standardized))
        state = begin(rows, centers, sampled.fuzzifier, settings.descent.max_iter)
    assert sampled.space is not None
    found = solve_blocks(
        engine,
        reader,
        rows,
        state,
        part_totals=_part_totals(rows, columns, survey, sampled.space.columns),
        mean_square=float(sampled.gram.mean(sampled.gram.centered_diagonal)),
        max_iter=settings.descent.max_iter,
        tol=settings.descent.tol,
        keep=lambda state: kept.save("passes", state),
    )
    progress("passes")
    return _as_fit(found, columns, view, survey, sampled, settings)


def _varied(source: Source, plans: list[ColumnPlan], survey: Survey) -> Sample:
    """The sample, with one row of each extreme of columns that vary in few rows only."""
    sample = survey.sample.smallest(SAMPLE_ROWS)
    extremes: set[int] = set()
    for values, stats in zip(sample.columns, survey.columns, strict=True):
        if isinstance(stats, Histogram) and stats.varies:
            known = values[~np.isnan(values)]
            if len(known) == 0 or known.min() == known.max():
                extremes |= {stats.low_row, stats.high_row}
    for row in sorted(extremes - set(sample.rows.tolist())):
        for chunk in source.chunks(row, row + 1):
            sample = sample.joined(SurveyPass(tuple(plans), 2**64 - 1)(chunk, row).sample)
    return sample


def _rows_and_reader(
    source: Source, columns: SourceColumns, view: TableView, sampled: KernelFit, engine: Engine
) -> tuple[RowMap, Reader]:
    """How rows meet centers, and who reads them: for the columns that the kernel sees."""
    space, kernel = sampled.space, sampled.kernel
    assert space is not None
    assert kernel is not None
    places = np.searchsorted(columns.positions, space.columns)
    rows = row_map(kernel, columns, places, space.bandwidths, view)
    reader = Reader(source, columns.coding(places), engine.partition(source))
    return rows, reader.kept(engine.memory)


def row_map(
    kernel: Kernel, columns: SourceColumns, places: IntArray, bandwidths: FloatArray, view: TableView
) -> RowMap:
    """The map of rows for a kernel.

    Raises
    ------
    SourceError
        If the kernel needs all rows at once.
    """
    ranges, shares, values = columns.restricted(places)
    types = numbers_only(len(places)) if columns.types is None else tuple(columns.types[k] for k in places.tolist())
    are_points = isinstance(kernel, Linear) and all(column.continuous for column in types)
    if are_points or (columns.types is None and isinstance(kernel, Oriented)):
        axes = kernel.axes if isinstance(kernel, Oriented) else None
        points = kernel.factor(values_of(view.standardized)[:, places], bandwidths)
        assert points is not None
        return PointMap(kernel, bandwidths, axes, _midst_of_known(points), columns.incomplete)
    if not isinstance(kernel, Profile):
        raise SourceError(f'the {kernel.label} kernel needs all rows at once: use kernel="sum"')
    return ColumnMap.of(kernel, types, bandwidths, ranges, shares, values=values, incomplete=columns.incomplete)


def _midst_of_known(points: FloatArray) -> FloatArray:
    """Medians of what is known of each coordinate; zero where nothing is."""
    return np.array([np.median(known) if len(known) else 0.0 for known in (x[~np.isnan(x)] for x in points.T)])


def _sample_values(view: TableView, sampled: KernelFit) -> FloatArray:
    """Rows of the sample in standard units, of the columns that the kernel sees: (n_columns, n_rows)."""
    assert sampled.space is not None
    places = np.searchsorted(view.columns, sampled.space.columns)
    return np.ascontiguousarray(values_of(view.standardized)[:, places].T)


def _part_totals(rows: RowMap, columns: SourceColumns, survey: Survey, positions: IntArray) -> FloatArray:
    """Weight of the rows in which each column is known, in the order of the functions."""
    if isinstance(rows, PointMap) and not rows.incomplete:
        return np.array([survey.total])
    return survey.total - np.array([columns.n_blank[int(p)] for p in positions[rows.positions]])


def _as_fit(
    found: BlockSolution,
    columns: SourceColumns,
    view: TableView,
    survey: Survey,
    sampled: KernelFit,
    settings: Settings,
) -> SourceFit:
    """What all rows found, in the place of what the sample did."""
    n_clusters = found.centers.n_clusters
    assert sampled.space is not None
    result = replace(
        sampled,
        fuzzifier=found.rule,
        eigenvalues=found.assessment.eigenvalues(n_clusters),
        solution=found.as_relational(),
        centers=TableCenters(sampled.space, found.rows.as_centers(found.centers)),
        contributions=_contributions(found, view, sampled),
        threshold=settings.tuning.options.threshold_for([found.rule], n_clusters),
        in_blocks=True,
        error_of_passes=found.rows.approximation_error(_sample_values(view, sampled)),
    )
    return SourceFit(result, columns.schema, found.memberships, found.uniformity, found.counts, survey.sample, view)


def _contributions(found: BlockSolution, view: TableView, sampled: KernelFit) -> FloatArray:
    """Shares of clusters and columns in what the memberships explain."""
    space, kernel = sampled.space, sampled.kernel
    assert space is not None
    assert kernel is not None
    n_clusters, n_columns = found.centers.n_clusters, len(space.columns)
    equal = np.full((n_clusters, n_columns), 1.0 / (n_clusters * n_columns))
    if found.status is Status.COLLAPSED or n_clusters == 1:
        return space.spread(equal)
    if not kernel.sums_over_columns:
        # The sum kernel stands in, on the sample.
        seen = view.restricted(np.searchsorted(view.columns, space.columns)).standardized
        U = found.memberships.of(np.ascontiguousarray(values_of(seen).T))
        return space.spread(cluster_contributions(seen, kernel, space.bandwidths, U, sampled.fuzzifier))
    between = found.between(n_columns)
    explained = float(between.sum())
    return space.spread(between / explained if explained > 0 else equal)
