"""``kfrc predict``: memberships of new rows from a model that ``kfrc fit`` saved."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kfrc_app.cli import options
from kfrc_app.cli.console import output, print_json, progress, say_notes
from kfrc_app.output import check_output, mend_output, write_file

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from kfrc_app.cli.cluster import Cluster


def predict(
    context: typer.Context,
    model: Annotated[
        str, typer.Argument(help="The model.skops that `kfrc fit` wrote.", callback=options.name_given, metavar="MODEL")
    ],
    data: Annotated[
        str,
        typer.Argument(
            help="New rows with the columns of the fit, in any order; a folder, or a pattern in quotes such as "
            "'new/*.parquet', is passed over in pieces.",
            callback=options.name_given,
            metavar="NEW",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="CSV file, standard output without it; of a table in pieces a folder of Parquet files.",
            parser=options.path_given,
            metavar="FILE",
        ),
    ] = None,
    id_column: options.IdColumn = None,
    types: options.DateTypes = None,
    sheet: options.Sheet = None,
    decimal: options.DecimalMark = None,
    thousands: options.ThousandsMark = None,
    json: options.Json = False,
    force: options.Force = False,
    memory: options.Memory = None,
    scheduler: options.Scheduler = None,
    tls_ca_file: options.TlsCaFile = None,
    tls_cert: options.TlsCert = None,
    tls_key: options.TlsKey = None,
    trust_cluster: options.TrustCluster = False,
) -> None:
    """Give new rows their memberships in the clusters of a fit."""
    import pandas as pd

    from kfrc_app.cli.beyond import refuse_pieces, wants_pieces
    from kfrc_app.cli.cluster import cluster_of
    from kfrc_app.facts.fitted import fitted_columns, missing_in_new_rows
    from kfrc_app.facts.notes import warnings_as_notes
    from kfrc_app.models import load_model, predicted_memberships
    from kfrc_app.neutral import RULE
    from kfrc_app.runs.results import membership_table, to_csv
    from kfrc_app.tables import DataError, read_new_rows

    marks = options.parse_marks(decimal, thousands)
    wishes = options.parse_types(types)
    cluster = cluster_of(scheduler, tls_ca_file, tls_cert, tls_key, trust_cluster)
    beyond = wants_pieces(data, memory, scheduler)
    if out is not None:
        out = options.as_path(out)
        check_output(out, force=force, folder=beyond)
    source = options.as_path(model)
    mend_output(source.parent)  # a run may have been killed while it replaced this folder
    of_model: list[str] = []
    with warnings_as_notes(of_model):
        fitted = load_model(source)
    names = [str(name) for name in getattr(fitted, "feature_names_in_", ())]
    if beyond:
        refuse_pieces(context, ("types", "sheet", "decimal", "thousands", "json"))
        say_notes(of_model)
        _predict_pieces(fitted, names, data, out, id_column, memory, cluster)
        return
    if not names:
        # A dissimilarity matrix without names: its columns are counted, not named.
        names = [f"column_{j + 1}" for j in range(int(fitted.n_features_in_))]
    rows = read_new_rows(
        data,
        names,
        fitted=fitted_columns(fitted),
        id_column=id_column,
        types=wishes,
        missing=missing_in_new_rows(fitted),
        marks=marks,
        sheet=sheet,
    )
    if len(rows.data) == 0:
        raise DataError("no row is complete: every one has missing values")
    notes = [*of_model, *rows.notes]
    with progress() as bar, warnings_as_notes(notes):
        bar.add_task("computing memberships", total=None)
        named = hasattr(fitted, "feature_names_in_")
        U = predicted_memberships(fitted, rows.data if named else rows.data.to_numpy())
    found = membership_table(rows.rows, U)
    if out is not None:
        write_file(out, to_csv(found), force=force)
    say_notes(notes)
    if json:
        document = {
            "n_rows": len(found),
            "n_left_out": rows.rows.n_left_out,
            "n_clusters": U.shape[1],
            "ids": rows.rows.ids,
            "labels": [None if pd.isna(label) else int(label) for label in found["label"]],
            "memberships": _of_all_rows(rows.rows.used, U),
            "left_out": [reason or None for reason in rows.rows.reasons],
            "output": None if out is None else str(out),
            "csv_files": RULE,
            "notes": notes,
        }
        print_json(document)
    elif out is None:
        typer.echo(to_csv(found), nl=False)
    else:
        lost = rows.rows.n_left_out
        left_out = f", {lost} of them left out" if lost else ""
        output().print(f"Memberships of {len(found)} rows written to {out}{left_out}")


def _predict_pieces(
    fitted: Any,
    names: list[str],
    data: str,
    out: Path | None,
    id_column: str | None,
    memory: str | None,
    cluster: Cluster | None,
) -> None:
    """Memberships of a table in pieces, as Parquet files."""
    from kfrc.blocks import engine_for
    from kfrc_app.cli.beyond import engine_of
    from kfrc_app.facts.notes import warnings_as_notes
    from kfrc_app.tables import DataError
    from kfrc_app.tables.beyond import open_new_rows

    if out is None:
        raise typer.BadParameter("memberships of a table in pieces need a folder", param_hint="'-o'")
    if not names:
        raise DataError("the model was fitted on a matrix: its new rows must fit into memory")
    rows = open_new_rows(data, names)
    ids = [] if id_column is None else [id_column]
    notes: list[str] = []
    with engine_of(cluster) as client, progress() as bar, warnings_as_notes(notes):
        bar.add_task("computing memberships", total=None)
        U = fitted.predict_proba(rows)
        U.write_parquet(out, names=ids, engine=engine_for(client, memory))
    say_notes(notes)
    output().print(f"Memberships of {rows.n_rows:,} rows written to {out}/")


def _of_all_rows(used: NDArray[np.bool_], values: NDArray[Any]) -> list[Any]:
    """Values of the rows that are used; None for the others."""
    found = iter(values.tolist())
    return [next(found) if use else None for use in used]
