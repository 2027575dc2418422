"""``kfrc fit``: cluster a table or a dissimilarity matrix and write the results into a folder."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import joblib
import typer
from numpy.typing import NDArray
from rich.progress import Progress

from kfrc import FRC, KFRC
from kfrc.clusterers import FuzzyClusterer
from kfrc.confidence import Confidence, assess
from kfrc.typing import FloatArray
from kfrc_app.cli import options
from kfrc_app.cli.console import FitProgress, output, print_json, progress, say_notes
from kfrc_app.cli.render import show_fit
from kfrc_app.cli.results import ALL_FILES, result_files
from kfrc_app.facts import Facts, summarize, summary_document
from kfrc_app.facts.agreement import label_notes
from kfrc_app.facts.encoding import is_complete_numbers
from kfrc_app.facts.notes import warnings_as_notes
from kfrc_app.facts.weighting import fit_weighted
from kfrc_app.output import check_output, write_folder
from kfrc_app.tables import (
    STANDARD_INPUT,
    DataError,
    InputRows,
    Marks,
    Missing,
    Table,
    read_dissimilarities,
    read_table,
)

MAX_REFIT_ROWS = 500
"""Rows of which refits see two thirds: enough to see whether clusters are found again, in bounded time."""

PATH = "path"
"""The kernel that depends on all rows at once."""

_WORTH_WORKERS = 10.0
"""Seconds of refits from which on starting further processes, which takes a few, pays."""

_TABLE_ONLY = (
    "kernel",
    "criterion",
    "max_anisotropy",
    "level",
    "max_clusters",
    "memberships",
    "outliers",
    "optimizer",
    "starts",
    "columns",
    "drop",
    "label_column",
    "id_column",
    "weight_column",
    "types",
)


def fit(
    context: typer.Context,
    data: options.Data,
    clusters: options.ClustersOrAuto,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the results.", metavar="FOLDER")],
    kernel: options.KernelName = "sum",
    fuzzifier: options.FuzzifierName = "complementary_root",
    m: options.Fuzziness = options.AUTO,
    criterion: options.CriterionName = "sum",
    max_anisotropy: options.Anisotropy = options.AUTO,
    level: options.Level = options.AUTO,
    max_clusters: options.MaxClusters = 10,
    memberships: options.Memberships = options.MembershipKind.FUZZY,
    outliers: options.Outliers = options.OutlierTreatment.CLIP,
    optimizer: options.OptimizerName = "lbfgs",
    starts: options.Starts = 5,
    columns: options.Columns = None,
    drop: options.Drop = None,
    label_column: options.LabelColumn = None,
    id_column: options.IdColumn = None,
    dissimilarity: Annotated[
        bool, typer.Option("--dissimilarity", help="DATA is a square matrix of dissimilarities.")
    ] = False,
    weight_column: options.WeightColumn = None,
    types: options.Types = None,
    missing: options.MissingValues = Missing.PARTIAL,
    decimal: options.DecimalMark = None,
    thousands: options.ThousandsMark = None,
    refits: options.Refits = options.N_REFITS,
    seed: options.Seed = 0,
    json: options.Json = False,
    force: options.Force = False,
    report: Annotated[bool, typer.Option("--report/--no-report", help="Write report.html.")] = True,
) -> None:
    """Cluster a table: memberships, a model for new rows, a summary and a report."""
    fuzziness = options.parse_fuzziness(fuzzifier, m)
    marks = options.parse_marks(decimal, thousands)
    wishes = options.parse_types(types)
    out = options.as_path(out)
    check_output(out, force=force, folder=True)
    command = options.command_line(context)
    if dissimilarity:
        for name in _TABLE_ONLY:
            if options.typed(context, name):
                raise typer.BadParameter(f"--{name.replace('_', '-')} has no meaning with --dissimilarity")
        n_clusters = options.parse_clusters(clusters)
        if fuzzifier == options.AUTO:
            raise typer.BadParameter("--fuzzifier auto needs a table: name one")
        plain_m = None if isinstance(fuzziness, str) else fuzziness
        relational = FRC(n_clusters, fuzzifier=fuzzifier, m=plain_m, metric="precomputed", random_state=seed)
        facts, files = _fit_dissimilarities(data, relational, marks=marks, command=command, seed=seed, n_refits=refits)
    else:
        model = KFRC(
            clusters if clusters == options.AUTO else options.parse_clusters(clusters),
            kernel=kernel,
            fuzzifier=fuzzifier,
            m=fuzziness,
            criterion=criterion,
            max_anisotropy=options.parse_anisotropy(max_anisotropy),
            level=options.parse_level(level),
            max_clusters=max_clusters,
            memberships=str(memberships),
            outliers=str(outliers),
            optimizer=optimizer,
            n_starts=starts,
            random_state=seed,
            **options.missing_settings(missing),
        )
        found = read_table(
            data,
            columns=columns or (),
            drop=drop or (),
            label_column=label_column,
            id_column=id_column,
            weight_column=weight_column,
            types=wishes,
            missing=missing,
            marks=marks,
        )
        _refuse_kernel(kernel, found)
        found = replace(found, notes=(*found.notes, *label_notes(found.labels, label_column)))
        facts, files = cluster_table(found, model, source=data, command=command, with_report=report, n_refits=refits)
    write_folder(out, files, force=force, obsolete=ALL_FILES)
    say_notes(facts.notes)
    if json:
        print_json({**summary_document(facts), "output": str(out), "files": sorted(files)})
        return
    show_fit(output(), facts)
    show_files(out, files)


def cluster_table(
    found: Table, model: KFRC, *, source: str, command: str, with_report: bool, n_refits: int = options.N_REFITS
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
    n_refits : int, default=20
        Refits that say whether the result can be trusted; 0 for none.

    Returns
    -------
    facts : Facts
    files : dict
        Content by name.
    """
    least = options.MIN_CLUSTERS if isinstance(model.n_clusters, str) else model.n_clusters
    if len(found.data) <= least:
        raise DataError(f"{len(found.data)} rows are too few for {least} clusters")
    notes = list(found.notes)
    source = "standard input" if source == STANDARD_INPUT else source
    with progress() as bar:
        confidence = _fit_and_assess(model, found.data, n_refits, notes, bar, found.ids, found.weights)
        facts = summarize(
            model,
            found.data,
            ids=found.ids,
            labels=found.labels,
            confidence=confidence,
            n_left_out=found.rows.n_left_out,
            weights=found.weights,
            notes=notes,
            command=command,
            source=source,
            seed=model.random_state if isinstance(model.random_state, int) else None,
        )
        page = None
        if with_report:
            from kfrc_app.report import render_html

            bar.add_task("writing the report", total=None)
            with warnings_as_notes([]):
                page = render_html(facts)
        files = result_files(facts, found.rows, page)
    return facts, files


def _fit_and_assess(
    model: FuzzyClusterer,
    data: Any,
    n_refits: int,
    notes: list[str],
    bar: Progress,
    ids: Sequence[Any] | NDArray[Any] | None = None,
    weights: FloatArray | None = None,
) -> Confidence | None:
    """Fit a model, with its warnings as notes, then fit it again on parts of the rows; None without refits."""
    began = time.perf_counter()
    with warnings_as_notes(notes, ids):
        fit_weighted(FitProgress(bar, "clustering").attach(model), data, weights)
    model.set_callbacks()  # the model is saved, the progress bar is not
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


def _refuse_kernel(kernel: str, found: Table) -> None:
    """Stop before any work if a kernel cannot treat a table."""
    if kernel == PATH and not (found.weights is None and is_complete_numbers(found.data)):
        raise DataError(
            "--kernel path takes complete numbers without weights only: leave it out, or choose columns of numbers "
            "with --columns and rows without gaps with --missing drop"
        )


def show_files(out: Path, files: dict[str, str | bytes]) -> None:
    """Say where the results are."""
    console = output()
    console.print()
    console.print(f"Written to {out}/: {', '.join(files)}", soft_wrap=not console.is_terminal)


def _fit_dissimilarities(
    source: str, model: FRC, *, marks: Marks, command: str, seed: int, n_refits: int
) -> tuple[Facts, dict[str, str | bytes]]:
    found = read_dissimilarities(source, marks=marks)
    if len(found.matrix) <= model.n_clusters:
        raise DataError(f"{len(found.matrix)} rows are too few for {model.n_clusters} clusters")
    notes = list(found.notes)
    with progress() as bar:
        confidence = _fit_and_assess(model, found.matrix, n_refits, notes, bar)
    source = "standard input" if source == STANDARD_INPUT else source
    facts = summarize(
        model,
        found.matrix,
        ids=found.ids,
        confidence=confidence,
        notes=notes,
        command=command,
        source=source,
        seed=seed,
    )
    return facts, result_files(facts, InputRows.all_used(found.ids), None)
