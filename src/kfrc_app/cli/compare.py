"""``kfrc compare``: every method of the library on the same table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from rich.console import Console

from kfrc_app.cli import options
from kfrc_app.cli.console import output, print_json, progress, say, say_notes
from kfrc_app.cli.render import NARROW, fixed, line, table, title
from kfrc_app.facts.agreement import coverage, is_known, label_notes
from kfrc_app.facts.comparison import MAX_SILHOUETTE_ROWS, STANDARDIZED, MethodResult, compare_methods, n_compared
from kfrc_app.facts.text import words
from kfrc_app.runs import FitProgress
from kfrc_app.tables import DataError, Missing, read_table


def compare(
    data: options.Data,
    clusters: options.Clusters,
    columns: options.Columns = None,
    drop: options.Drop = None,
    label_column: options.LabelColumn = None,
    id_column: options.IdColumn = None,
    weight_column: options.WeightColumn = None,
    types: options.Types = None,
    missing: options.MissingValues = Missing.PARTIAL,
    sheet: options.Sheet = None,
    decimal: options.DecimalMark = None,
    thousands: options.ThousandsMark = None,
    outliers: options.Outliers = options.OutlierTreatment.CLIP,
    seed: options.Seed = 0,
    json: options.Json = False,
) -> None:
    """Run every method with its usual settings on the same table, side by side."""
    n_clusters = options.parse_clusters(clusters)
    found = read_table(
        data,
        columns=columns or (),
        drop=drop or (),
        label_column=label_column,
        id_column=id_column,
        weight_column=weight_column,
        types=options.parse_types(types),
        missing=missing,
        marks=options.parse_marks(decimal, thousands),
        sheet=sheet,
    )
    if len(found.data) <= n_clusters:
        raise DataError(f"{len(found.data)} rows are too few for {n_clusters} clusters")
    notes = [*found.notes, *label_notes(found.labels, label_column)]
    if len(found.data) > MAX_SILHOUETTE_ROWS:
        notes.append(f"silhouettes are of {MAX_SILHOUETTE_ROWS} rows drawn at random")
    with progress() as bar:
        overall = bar.add_task("comparing", total=n_compared(found.data))
        watcher = FitProgress(bar, "")

        def observe(name: str) -> None:
            bar.update(overall, advance=int(bool(watcher.label)))
            watcher.label = name

        results = compare_methods(
            found.data,
            n_clusters,
            labels=found.labels,
            weights=found.weights,
            seed=seed,
            outliers=str(outliers),
            ids=found.ids,
            observe=observe,
            prepare=watcher.attach,
        )
    n_known = 0 if found.labels is None else int(is_known(found.labels).sum())
    say_notes(notes)
    if json:
        print_json(
            {
                "n_rows": len(found.data),
                "n_columns": found.data.shape[1],
                "n_clusters": n_clusters,
                "n_known_labels": n_known,
                "methods": [asdict(result) for result in results],
                "notes": notes,
            }
        )
        return
    _show(output(), results, n_known=n_known, n_rows=len(found.data))
    for result in results:
        for note in result.notes:
            say(result.method, note, "yellow")


def _show(console: Console, results: Sequence[MethodResult], *, n_known: int, n_rows: int) -> None:
    labeled = n_known > 0
    narrow = console.width < NARROW
    treatments = list(dict.fromkeys(result.treatment for result in results))
    mixed = treatments != [STANDARDIZED]
    title(console, "Every method on the table" if mixed else "Every method on the standardized columns")
    titles = [
        ("method", "left"),
        ("s" if narrow else "seconds", "right"),
        ("status", "whole"),
        ("U", "right"),
        ("PC", "right"),
    ]
    titles += [("FS" if narrow else "silhouette", "right")]
    titles += [("ARI", "right"), ("AMI", "right")] if labeled else []
    titles += [("saw", "right")] if mixed else []
    rows = []
    for result in results:
        judged = [fixed(result.adjusted_rand), fixed(result.adjusted_mutual_info)] if labeled else []
        rows.append(
            [
                result.method,
                fixed(result.seconds, 2),
                words(result.status),
                fixed(result.uniformity),
                fixed(result.partition_coefficient),
                fixed(result.fuzzy_silhouette),
                *judged,
                *([str(treatments.index(result.treatment) + 1)] if mixed else []),
            ]
        )
    table(console, titles, rows)
    if mixed:
        seen = "; ".join(f"{k + 1} {treatment}" for k, treatment in enumerate(treatments))
        line(console, f"saw: what a method saw of the table. {seen}.", "dim")
    line(console, "U: 0 every row in one cluster, 1 all memberships 1/c.  PC: partition coefficient.", "dim")
    silhouette = "FS" if narrow else "silhouette"
    by = " by Gower dissimilarities" if mixed else ""
    line(console, f"{silhouette}: fuzzy silhouette{by}, higher is better; a collapsed fit has none.", "dim")
    if labeled:
        known = coverage(n_known, n_rows)
        line(
            console, f"ARI, AMI: agreement with the labels, which no method saw{f' ({known})' if known else ''}.", "dim"
        )
