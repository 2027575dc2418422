"""``kfrc fit``: cluster a table or a dissimilarity matrix and write the results into a folder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kfrc_app._missing_values import Missing
from kfrc_app.cli import options
from kfrc_app.cli.console import output, print_json, progress, say_notes
from kfrc_app.output import check_output, write_folder

if TYPE_CHECKING:
    from kfrc_app.tables import Table

PATH = "path"
"""The kernel that depends on all rows at once."""

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
    *options.COLUMN_ROLES,
)


def fit(
    context: typer.Context,
    data: options.DataOrFiles,
    clusters: options.ClustersOrAuto,
    out: options.OutFolder,
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
    dissimilarity: options.Dissimilarity = False,
    weight_column: options.WeightColumn = None,
    types: options.Types = None,
    missing: options.MissingValues = Missing.PARTIAL,
    sheet: options.Sheet = None,
    decimal: options.DecimalMark = None,
    thousands: options.ThousandsMark = None,
    refits: options.Refits = options.N_REFITS,
    seed: options.Seed = 0,
    json: options.Json = False,
    force: options.Force = False,
    memory: options.Memory = None,
    scheduler: options.Scheduler = None,
    tls_ca_file: options.TlsCaFile = None,
    tls_cert: options.TlsCert = None,
    tls_key: options.TlsKey = None,
    trust_cluster: options.TrustCluster = False,
    report: Annotated[bool, typer.Option("--report/--no-report", help="Write report.html.")] = True,
    excel: Annotated[bool, typer.Option("--excel/--no-excel", help="Write clustered.xlsx.")] = True,
) -> None:
    """Cluster a table: a report, the table with what was found beside it, and a model for new rows."""
    from kfrc import FRC, KFRC
    from kfrc_app.cli.beyond import engine_of, question_of, refuse_pieces, show_beyond, wants_pieces
    from kfrc_app.cli.cluster import cluster_of
    from kfrc_app.cli.render import show_fit
    from kfrc_app.facts.agreement import label_notes
    from kfrc_app.runs import cluster_dissimilarities, cluster_table
    from kfrc_app.runs.beyond import cluster_beyond, is_unfinished
    from kfrc_app.runs.results import ALL_FILES, run_document
    from kfrc_app.runs.settings import missing_settings
    from kfrc_app.tables import read_dissimilarities, read_table
    from kfrc_app.tables.beyond import open_beyond

    fuzziness = options.parse_fuzziness(fuzzifier, m)
    marks = options.parse_marks(decimal, thousands)
    roles = options.column_roles(columns, drop, label_column, id_column, weight_column, types, missing)
    out = options.as_path(out)
    cluster = cluster_of(scheduler, tls_ca_file, tls_cert, tls_key, trust_cluster)
    beyond = not dissimilarity and wants_pieces(data, memory, scheduler)
    check_output(out, force=force or (beyond and is_unfinished(out)), folder=True)
    command = options.command_line(context)
    if dissimilarity:
        options.refuse_table_options(context, _TABLE_ONLY)
        n_clusters = options.parse_clusters(clusters)
        if fuzzifier == options.AUTO:
            raise typer.BadParameter("--fuzzifier auto needs a table: name one")
        plain_m = None if isinstance(fuzziness, str) else fuzziness
        relational = FRC(n_clusters, fuzzifier=fuzzifier, m=plain_m, metric="precomputed", random_state=seed)
        relations = read_dissimilarities(data, marks=marks, sheet=sheet)
        with progress() as bar:
            facts, files = cluster_dissimilarities(
                relations,
                relational,
                source=data,
                command=command,
                bar=bar,
                with_report=report,
                n_refits=refits,
                excel=excel,
            )
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
            **missing_settings(missing),
        )
        if beyond:
            refuse_pieces(context, ("sheet", "decimal", "thousands"))
            table = open_beyond(data, **roles)
            model.set_params(column_types=table.column_types or None)
            with engine_of(cluster) as client, progress() as bar:
                run = cluster_beyond(
                    table,
                    model,
                    out,
                    source=data,
                    command=command,
                    question=question_of(context, table),
                    client=client,
                    memory=memory,
                    with_report=report,
                    n_refits=refits,
                    bar=bar,
                )
            show_beyond(out, run, json=json)
            return
        found = read_table(data, **roles, marks=marks, sheet=sheet)
        _refuse_kernel(kernel, found)
        found = replace(found, notes=(*found.notes, *label_notes(found.labels, label_column)))
        with progress() as bar:
            facts, files = cluster_table(
                found, model, source=data, command=command, with_report=report, bar=bar, n_refits=refits, excel=excel
            )
    write_folder(out, files, force=force, obsolete=ALL_FILES)
    say_notes(facts.notes)
    if json:
        print_json({**run_document(facts), "output": str(out), "files": sorted(files)})
        return
    show_fit(output(), facts)
    show_files(out, files)


def _refuse_kernel(kernel: str, found: Table) -> None:
    """Stop before any work if a kernel cannot treat a table."""
    from kfrc_app.facts.encoding import is_complete_numbers
    from kfrc_app.tables import DataError

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
