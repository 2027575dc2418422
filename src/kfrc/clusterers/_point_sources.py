"""Fuzzy c-means on rows that are passed over in blocks: sources, and tables in memory with many rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kfrc._numerics import as_generator
from kfrc._validation import (
    check_clusters_for_fit,
    check_number,
    check_positive_int,
    check_squares,
    short_name,
)
from kfrc.blocks import SAMPLE_ROWS, Engine, Reader
from kfrc.blocks.descent import begin
from kfrc.blocks.histogram import Histogram
from kfrc.blocks.plans import plan_columns
from kfrc.blocks.reader import Standardizing
from kfrc.blocks.row_maps import PointMap
from kfrc.blocks.solution import BlockSolution, solve_blocks
from kfrc.blocks.survey import Survey, survey_rows
from kfrc.clusterers._fcm_descent import solve_fcm
from kfrc.clusterers._relations import PARTIAL
from kfrc.clusterers._sources import note_source
from kfrc.columns.variation import Scales, refuse_constant
from kfrc.fuzzifiers import Fuzzifier
from kfrc.kernels.linear import Linear
from kfrc.relational import RelationalSolution, Start, resolve_start
from kfrc.sources import Source
from kfrc.typing import FloatArray, Progress


@dataclass(frozen=True, eq=False)
class PointFit:
    """A clustering of points in blocks.

    Attributes
    ----------
    found : BlockSolution
    origin : ndarray of shape (n_columns,)
        A point among the rows.
    locations : ndarray of shape (n_clusters, n_columns)
        Centers relative to it.
    scales : Scales
        How far the columns spread.
    """

    found: BlockSolution
    origin: FloatArray
    locations: FloatArray
    scales: Scales

    @property
    def in_memory(self) -> RelationalSolution:
        """The solution with its memberships as an array."""
        return replace(self.found.as_relational(), memberships=np.asarray(self.found.memberships))

    @property
    def leading_eigenvalue(self) -> float:
        """λ₁ of F."""
        return float(self.found.assessment.eigenvalues(1)[0])


def begins_anywhere(init: Any) -> bool:
    """Whether a start is a rule, that a sample can follow too, and no memberships of all rows."""
    return isinstance(init, str) or (isinstance(init, Start) and not init.keeps_numbering)


def fit_points(
    estimator: Any,
    source: Source,
    n_clusters: int,
    fuzzifier: Fuzzifier,
    engine: Engine,
    progress: Progress,
) -> PointFit:
    """Minimize Σ_j Σ_i t(u_ji) ‖x_j − v_i‖² over all rows, from the minimum of a sample.

    Parameters
    ----------
    estimator : FCM or FRC
        Says how runs begin and end, and what missing values are.
    source : Source
        Of numbers.
    n_clusters : int
    fuzzifier : Fuzzifier
    engine : Engine
    progress : callable

    Returns
    -------
    PointFit
    """
    if not begins_anywhere(estimator.init):
        raise ValueError("memberships to begin with cannot be given for the rows of a source: init must be a name")
    max_iter = check_positive_int(estimator.max_iter, "max_iter")
    tol = check_number(estimator.tol, "tol", minimum=0.0)
    survey, columns = _surveyed(estimator, source, engine)
    sample = survey.sample.smallest(SAMPLE_ROWS)
    X = np.column_stack(sample.columns)
    options: dict[str, Any] = {
        "init": resolve_start(estimator.init, len(X), n_clusters),
        "n_init": estimator.n_init,
        "max_iter": max_iter,
        "tol": tol,
        "random_state": as_generator(estimator.random_state),
        "progress": progress,
    }
    n_columns = len(columns)
    coding = Standardizing(
        tuple(range(n_columns)),
        None,
        np.full(n_columns, -np.inf),
        np.full(n_columns, np.inf),
        np.zeros(n_columns),
        np.ones(n_columns),
    )
    reader = Reader(source, coding, engine.partition(source)).kept(engine.memory)
    incomplete = any(column.n_blank for column in columns)
    solution = solve_fcm(X, n_clusters, fuzzifier, row_weights=sample.weights, **options)
    rows = PointMap(Linear(), np.ones(n_columns), None, solution.origin, incomplete)
    totals = np.array([survey.total - column.n_blank for column in columns[: None if incomplete else 1]])
    spread = float(np.nansum(np.nanvar(X, axis=0)))
    found = solve_blocks(
        engine,
        reader,
        rows,
        begin(rows, rows.at(solution.locations), fuzzifier, max_iter),
        part_totals=totals,
        mean_square=spread,
        max_iter=max_iter,
        tol=tol,
    )
    progress("passes")
    return PointFit(found, solution.origin, rows.table(found.centers), _scales_of(columns))


def fit_points_of_source(estimator: Any, source: Source, fuzzifier: Fuzzifier, engine: Engine) -> PointFit:
    """Fit an estimator to rows that need not fit into memory, and set what every fit sets but the centers."""
    note_source(estimator, source)
    n_clusters = check_clusters_for_fit(estimator.n_clusters, source.n_rows)
    fuzzifier.check_weights(n_clusters)
    progress = estimator._start_progress(check_positive_int(estimator.n_init, "n_init") + 1, estimator.verbose)
    fit = fit_points(estimator, source, n_clusters, fuzzifier, engine, progress)
    estimator._store_lazy(fit.found.memberships)
    solution = fit.found.as_relational()
    estimator._store_run(solution, fuzzifier, fit.found.uniformity)
    estimator.cluster_sizes_ = fit.found.counts
    estimator._warn_about(solution, fuzzifier, lambda: fit.leading_eigenvalue, fit.scales, stacklevel=6)
    estimator._end_progress()
    return fit


def _surveyed(estimator: Any, source: Source, engine: Engine) -> tuple[Survey, list[Histogram]]:
    """The first pass, and what it found of the columns, which must all be numbers."""
    plans = plan_columns(source, None)
    strangers = [str(plan.raw.title) for plan in plans if plan.name != "numeric"]
    if strangers:
        raise ValueError(
            f"{type(estimator).__name__} needs numbers, but column '{strangers[0]}' of the source holds something "
            "else: choose columns of numbers, or use KFRC, which takes others too"
        )
    survey = survey_rows(engine, source, plans)
    columns = [column for column in survey.columns if isinstance(column, Histogram)]
    if estimator.missing != PARTIAL and any(column.n_blank for column in columns):
        raise ValueError("values are missing: fill them in, or use missing='partial', which compares what is known")
    if any(column.n_known == 0 for column in columns):
        name = source.names[[column.n_known == 0 for column in columns].index(True)]
        raise ValueError(f"nothing is known in column '{short_name(name)}' of the source: leave it out")
    names = [str(name) for name in source.names]
    refuse_constant(np.array([column.varies for column in columns]), names, source.n_rows)
    check_squares(np.array([[column.low for column in columns], [column.high for column in columns]]))
    return survey, columns


def _scales_of(columns: list[Histogram]) -> Scales:
    """How far the columns spread."""
    spreads = [(column.moments()[1], column.high - column.low) if column.varies else (0.0, 0.0) for column in columns]
    with np.errstate(divide="ignore"):
        return Scales(*np.log(spreads).T)
