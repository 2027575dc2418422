"""A table or a matrix of dissimilarities is clustered, assessed and turned into the content of files."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import joblib
from numpy.typing import NDArray

from kfrc import FRC, KFRC
from kfrc._callbacks import set_callbacks
from kfrc.clusterers import FuzzyClusterer
from kfrc.confidence import Confidence, assess
from kfrc.typing import FloatArray
from kfrc_app.facts import Facts, summarize
from kfrc_app.facts.confidence import MAX_REFIT_ROWS
from kfrc_app.facts.notes import warnings_as_notes
from kfrc_app.facts.weighting import fit_weighted
from kfrc_app.runs.clustered import N_ADDED, TOO_LARGE, fits_workbook
from kfrc_app.runs.progress import FitProgress, Tasks
from kfrc_app.runs.results import result_files
from kfrc_app.tables import STANDARD_INPUT, DataError, InputRows, Table
from kfrc_app.tables.matrix import Dissimilarities

N_REFITS = 20
"""Refits that say whether a result can be trusted, unless the user wants others."""

_LEAST_CLUSTERS = 2  # that a search for their number tries
_WORTH_WORKERS = 10.0
"""Seconds of refits from which on starting further processes, which takes a few, pays."""


def cluster_table(
    found: Table,
    model: KFRC,
    *,
    source: str,
    command: str,
    with_report: bool,
    bar: Tasks,
    n_refits: int = N_REFITS,
    excel: bool = True,
) -> tuple[Facts, dict[str, str | bytes]]:
    """Cluster a table that was read; the facts, and the content of the output files.

    Parameters
    ----------
    found : Table
    model : KFRC
        Not fitted yet; its ``random_state`` is a number.
    source, command : str
        Where the data came from and what was typed, for the record.
    with_report : bool
    bar : Tasks
        Told how far the work is.
    n_refits : int, default=20
        Refits that say whether the result can be trusted; 0 for none.
    excel : bool, default=True
        Whether to write a workbook.

    Returns
    -------
    facts : Facts
    files : dict
        Content by name.
    """
    _refuse_few_rows(len(found.data), _LEAST_CLUSTERS if isinstance(model.n_clusters, str) else model.n_clusters)
    notes = list(found.notes)
    confidence = _fit_and_assess(model, found.data, n_refits, notes, bar, found.ids, found.weights)
    n_added = N_ADDED + model.memberships_.shape[1]
    if excel and not fits_workbook(len(found.rows.ids), found.original.shape[1] + n_added):
        notes.append(TOO_LARGE)
    facts = summarize(
        model,
        found.data,
        ids=found.ids,
        labels=found.labels,
        confidence=confidence,
        n_left_out=found.rows.n_left_out,
        weights=found.weights,
        aside=found.aside,
        notes=notes,
        command=command,
        source=_shown_source(source),
        seed=model.random_state if isinstance(model.random_state, int) else None,
    )
    page = _report(facts, bar) if with_report else None
    bar.add_task("writing the table", total=None)
    return facts, result_files(facts, found.rows, page, original=found.original, excel=excel)


def cluster_dissimilarities(
    found: Dissimilarities,
    model: FRC,
    *,
    source: str,
    command: str,
    bar: Tasks,
    with_report: bool = True,
    n_refits: int = N_REFITS,
    excel: bool = True,
) -> tuple[Facts, dict[str, str | bytes]]:
    """Cluster a matrix of dissimilarities that was read; the facts, and the content of the output files.

    Parameters
    ----------
    found : Dissimilarities
    model : FRC
        Not fitted yet, of the metric ``"precomputed"``; its ``random_state`` is a number.
    source, command : str
        Where the data came from and what was typed, for the record.
    bar : Tasks
        Told how far the work is.
    with_report : bool, default=True
    n_refits : int, default=20
        Refits that say whether the result can be trusted; 0 for none.
    excel : bool, default=True
        Whether to write a workbook.

    Returns
    -------
    facts : Facts
    files : dict
        Content by name.
    """
    _refuse_few_rows(len(found.matrix), model.n_clusters)
    notes = list(found.notes)
    confidence = _fit_and_assess(model, found.matrix, n_refits, notes, bar)
    facts = summarize(
        model,
        found.matrix,
        ids=found.ids,
        confidence=confidence,
        notes=notes,
        command=command,
        source=_shown_source(source),
        seed=model.random_state if isinstance(model.random_state, int) else None,
    )
    page = _report(facts, bar) if with_report else None
    return facts, result_files(facts, InputRows.all_used(found.ids), page, excel=excel)


def _report(facts: Facts, bar: Tasks) -> str:
    from kfrc_app.report import render_html

    bar.add_task("writing the report", total=None)
    with warnings_as_notes([]):
        return render_html(facts)


def _refuse_few_rows(n_rows: int, n_clusters: int) -> None:
    if n_rows <= n_clusters:
        raise DataError(f"{n_rows} rows are too few for {n_clusters} clusters")


def _shown_source(source: str) -> str:
    return "standard input" if source == STANDARD_INPUT else source


def _fit_and_assess(
    model: FuzzyClusterer,
    data: Any,
    n_refits: int,
    notes: list[str],
    bar: Tasks,
    ids: Sequence[Any] | NDArray[Any] | None = None,
    weights: FloatArray | None = None,
) -> Confidence | None:
    """Fit a model, with its warnings as notes, then fit it again on parts of the rows; None without refits."""
    began = time.perf_counter()
    watcher = FitProgress(bar, "clustering", bar.add_task("clustering"))
    try:
        with warnings_as_notes(notes, ids):
            fit_weighted(watcher.attach(model), data, weights)
    finally:
        watcher.end()
    set_callbacks(model)  # the model is saved, the progress bar is not
    if n_refits == 0:
        return None
    expected = n_refits * (time.perf_counter() - began)
    weighted: dict[str, Any] = {} if weights is None else {"sample_weight": weights}
    task = bar.add_task("fitting again", total=n_refits)
    with warnings_as_notes([]):
        found = assess(
            model,
            data,
            n_refits=n_refits,
            **weighted,
            random_state=model.random_state,
            n_jobs=min(n_refits, joblib.cpu_count()) if expected > _WORTH_WORKERS else 1,
            max_rows=MAX_REFIT_ROWS,
            progress=lambda text: bar.update(task, advance=1, description=text),
        )
    bar.remove_task(task)
    return found
