"""A table beyond memory is clustered: memberships of all rows to Parquet, and a report from a sample that says so."""

from __future__ import annotations

import copy
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd

from kfrc import KFRC
from kfrc._callbacks import set_callbacks
from kfrc.blocks import SAMPLE_ROWS, Engine, engine_for
from kfrc.blocks.memberships import FINISHED
from kfrc.clusterers._sources import as_table
from kfrc.confidence import Confidence, assess
from kfrc.sources import sampled_rows
from kfrc_app.facts import Facts, summarize, summary_document
from kfrc_app.facts.confidence import MAX_REFIT_ROWS
from kfrc_app.facts.notes import warnings_as_notes
from kfrc_app.facts.text import dump_json
from kfrc_app.models import dump_model
from kfrc_app.output import OutputError, write_folder
from kfrc_app.runs.checkpoint import UNFINISHED, FolderCheckpoint
from kfrc_app.runs.progress import FitProgress, Tasks
from kfrc_app.runs.results import ALL_FILES, MODEL, REPORT, SUMMARY
from kfrc_app.tables.beyond import TableBeyond

MEMBERSHIPS = "memberships"
"""Folder of the memberships of all rows."""

REPORT_ROWS = 5000
"""Rows that the report shows."""


@dataclass(frozen=True)
class RunBeyond:
    """What a run found and wrote.

    Attributes
    ----------
    facts : Facts
        Of the rows that the report shows.
    document : dict
        The content of summary.json.
    files : tuple of str
    resumed : bool
        Whether an earlier run was continued.
    """

    facts: Facts
    document: dict[str, Any]
    files: tuple[str, ...]
    resumed: bool


def is_unfinished(folder: Path) -> bool:
    """Whether a folder holds a run that has not ended, and nothing that has."""
    return (folder / UNFINISHED).is_dir() and not (folder / SUMMARY).exists()


def cluster_beyond(
    table: TableBeyond,
    model: KFRC,
    out: Path,
    *,
    source: str,
    command: str,
    question: Mapping[str, Any],
    client: Any = None,
    memory: str | None = None,
    with_report: bool = True,
    n_refits: int = 20,
    bar: Tasks,
) -> RunBeyond:
    """Cluster a table that need not fit into memory, and write what was found.

    Parameters
    ----------
    table : TableBeyond
    model : KFRC
        Not fitted yet; its ``random_state`` is a number.
    out : Path
        Folder for the results, which are replaced if there are any. A run that was killed there, with the same
        question, is continued.
    source, command : str
        Where the data came from and what was typed, for the record.
    question : mapping
        What the result depends on.
    client : distributed.Client, optional
        Of a Dask cluster that passes over the rows.
    memory : str, optional
        That a worker may use.
    with_report : bool, default=True
    n_refits : int, default=20
        Refits on parts of the sample.
    bar : Tasks

    Returns
    -------
    RunBeyond
    """
    checkpoint = FolderCheckpoint(out, question)
    if not checkpoint.resumed:
        _clear(out)
    checkpoint.begin()
    notes = list(table.notes)
    watcher = FitProgress(bar, "clustering", bar.add_task("clustering"))
    try:
        with warnings_as_notes(notes):
            watcher.attach(model).fit(table.source, client=client, memory=memory, checkpoint=checkpoint)
    finally:
        watcher.end()
    set_callbacks(model)  # the model is saved, the progress bar is not
    bar.add_task("writing memberships", total=None)
    engine = engine_for(client, memory, model.n_jobs)
    _write_memberships(model, table, out, engine, resume=checkpoint.resumed)
    shown = _shown(model, table, n_refits, notes, bar)
    facts = summarize(
        shown.model,
        shown.data,
        ids=shown.ids,
        labels=shown.labels,
        confidence=shown.confidence,
        notes=notes,
        command=command,
        source=shown.described(source, table),
        seed=model.random_state if isinstance(model.random_state, int) else None,
    )
    document = {**summary_document(facts), "source": source, "rows_beyond_memory": _about(model, table)}
    files: dict[str, str | bytes] = {MODEL: dump_model(shown.model), SUMMARY: dump_json(document)}
    if with_report:
        from kfrc_app.report import render_html

        bar.add_task("writing the report", total=None)
        with warnings_as_notes([]):
            files[REPORT] = render_html(facts)
    write_folder(out, files, force=True, obsolete=ALL_FILES)
    checkpoint.remove()
    return RunBeyond(facts, document, (f"{MEMBERSHIPS}/", *files), checkpoint.resumed)


def _clear(out: Path) -> None:
    """Remove what an earlier run left that would contradict the new one; the caller asked whether that is meant."""
    with suppress(FileNotFoundError):
        shutil.rmtree(out / MEMBERSHIPS)
    for name in ALL_FILES:
        (out / name).unlink(missing_ok=True)


def _write_memberships(model: KFRC, table: TableBeyond, out: Path, engine: Engine, *, resume: bool) -> None:
    folder = out / MEMBERSHIPS
    if resume and (folder / FINISHED).exists():
        return
    try:
        model.memberships_.write_parquet(folder, names=table.ids, engine=engine, resume=resume)
    except OSError as error:
        raise OutputError(f"{error}. Repeat the command to go on from here") from None


@dataclass(frozen=True)
class _Shown:
    """The rows that the report shows, and a model that knows their memberships only."""

    model: KFRC
    data: pd.DataFrame
    ids: list[str]
    labels: list[Any] | None
    confidence: Confidence | None

    def described(self, source: str, table: TableBeyond) -> str:
        """Where the rows come from, and that they are not all."""
        place = Path(source)
        if any(sign in place.name for sign in "*?[") and place.parent.name:
            source = str(place.parent)  # a pattern is no name
        if len(self.data) == table.source.n_rows:
            return source
        return f"{source}, {len(self.data):,} of {table.source.n_rows:,} rows"


def _shown(model: KFRC, table: TableBeyond, n_refits: int, notes: list[str], bar: Tasks) -> _Shown:
    n_rows = table.source.n_rows
    rows = sampled_rows(n_rows, min(REPORT_ROWS, SAMPLE_ROWS))
    bar.add_task("reading the rows of the report", total=None)
    found = table.rows(rows)
    names = list(table.source.names)
    arrow = as_table([found.column(name) for name in names], tuple(names))
    with warnings_as_notes([]):
        U = np.asarray(model.predict_proba(arrow))
    part = copy.copy(model)
    part.memberships_, part.labels_ = U, U.argmax(axis=1)
    data = arrow.to_pandas()
    if len(rows) < n_rows:
        notes.insert(
            0,
            f"the report and the numbers of rows in it are of {len(rows):,} of {n_rows:,} rows, chosen at random; the "
            f"clusters were found with all of them, and memberships of all are in {MEMBERSHIPS}/",
        )
    ids = [" ".join(map(str, row)) for row in zip(*(found.column(name).to_pylist() for name in table.ids), strict=True)]
    labels = None if table.label is None else found.column(table.label).to_pylist()
    confidence = None
    if n_refits:
        task = bar.add_task("fitting again", total=n_refits)
        with warnings_as_notes([]):
            confidence = assess(
                part,
                data,
                n_refits=n_refits,
                random_state=model.random_state,
                n_jobs=min(n_refits, joblib.cpu_count()),
                max_rows=MAX_REFIT_ROWS,
                progress=lambda text: bar.update(task, advance=1, description=text),
            )
        bar.remove_task(task)
    return _Shown(part, data, ids or [str(row + 1) for row in rows.tolist()], labels, confidence)


def _about(model: KFRC, table: TableBeyond) -> dict[str, Any]:
    """What is known of all rows."""
    sizes = getattr(model, "cluster_sizes_", None)
    if sizes is None:
        sizes = np.bincount(np.asarray(model.labels_), minlength=model.n_clusters_)
    return {
        "n_rows": table.source.n_rows,
        "files": list(table.source.files),
        "cluster_sizes": [float(size) for size in sizes],
        "passes": int(model.n_iter_),
        "memberships": MEMBERSHIPS,
    }
