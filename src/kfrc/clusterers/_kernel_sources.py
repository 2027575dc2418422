"""KFRC on rows that are passed over in blocks: sources, and tables in memory with many rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kfrc._numerics import as_generator
from kfrc._validation import check_clusters_for_fit
from kfrc.blocks import Engine
from kfrc.clusterers._rows import MergedRows
from kfrc.clusterers._sources import note_source
from kfrc.clusterers._tables import Reading, numeric_schema
from kfrc.columns import Schema
from kfrc.fitting import (
    AUTO,
    N_PASS_TASKS,
    Checkpoint,
    KernelFit,
    Settings,
    SourceTable,
    fit_source,
    resolve_settings,
    why_not_in_blocks,
)
from kfrc.sources import ArraySource, Source
from kfrc.typing import Progress


def fit_kernel_of_many_rows(
    estimator: Any,
    reading: Reading,
    rows: MergedRows | None,
    settings: Settings,
    engine: Engine,
    rng: np.random.Generator,
    progress: Progress,
) -> tuple[KernelFit, Schema | None]:
    """A table in memory with many rows, as the source that it is; its memberships are an array."""
    values, weights = (reading.values, None) if rows is None else (rows.values, rows.weights)
    schema = reading.schema
    if schema is None and weights is not None:
        schema = numeric_schema(estimator, values)
    names = tuple(getattr(estimator, "feature_names_in_", range(values.shape[1])))
    table = SourceTable(
        ArraySource(values, names, weights),
        estimator.column_types,
        estimator.missing,
        estimator.standardize,
        schema,
    )
    found = fit_source(table, settings, engine, rng, progress)
    solution = replace(found.result.solution, memberships=np.asarray(found.memberships))
    posterior = found.result.posterior
    if posterior is not None:
        posterior = replace(posterior, memberships=posterior.rows.memberships(values))
    return replace(found.result, solution=solution, posterior=posterior), schema


def fit_kernel_of_source(
    estimator: Any, source: Source, engine: Engine, checkpoint: Checkpoint | None
) -> tuple[KernelFit, Settings]:
    """Fit an estimator to rows that need not fit into memory, and set what a fit sets."""
    note_source(estimator, source)
    counted = None if estimator.n_clusters == AUTO else check_clusters_for_fit(estimator.n_clusters, source.n_rows)
    settings = resolve_settings(estimator.get_params(deep=False), counted)
    obstacle = why_not_in_blocks(settings)
    if obstacle is not None:
        raise ValueError(f"the {source.n_rows} rows of a source are passed over in blocks: {obstacle}")
    progress = estimator._start_progress(settings.n_tasks + N_PASS_TASKS, estimator.verbose)
    table = SourceTable(source, estimator.column_types, estimator.missing, estimator.standardize)
    found = fit_source(table, settings, engine, as_generator(estimator.random_state), progress, checkpoint)
    result = found.result
    estimator.schema_, estimator.space_ = found.schema, result.space
    estimator._centers, estimator._posterior = result.centers, None
    estimator._store_lazy(found.memberships)
    estimator._store_run(result.solution, result.fuzzifier, found.uniformity)
    types = dict.fromkeys(source.names, "numeric") if found.schema is None else found.schema.types()
    estimator._store_findings(result, types)
    estimator.posterior_memberships_ = None
    estimator.cluster_sizes_, estimator.sample_rows_ = found.counts, found.sample.rows
    return result, settings
