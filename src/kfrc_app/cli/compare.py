"""``kfrc compare``: every method of the library on the same table, and what to make of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console

from kfrc_app._missing_values import Missing
from kfrc_app.cli import options
from kfrc_app.cli.console import output, print_json, progress, say, say_notes

if TYPE_CHECKING:
    from kfrc_app.facts.advice import MethodRow

_TABLE_ONLY = (*options.COLUMN_ROLES, "outliers")


def compare(
    context: typer.Context,
    data: options.Data,
    clusters: options.Clusters,
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
    outliers: options.Outliers = options.OutlierTreatment.CLIP,
    seed: options.Seed = 0,
    json: options.Json = False,
) -> None:
    """Run every method with its usual settings on the same table, side by side."""
    from kfrc_app.facts import comparison
    from kfrc_app.facts.advice import advice, merge_coinciding
    from kfrc_app.facts.agreement import is_known, label_notes
    from kfrc_app.runs import FitProgress
    from kfrc_app.tables import DataError, read_dissimilarities, read_table

    n_clusters = options.parse_clusters(clusters)
    marks = options.parse_marks(decimal, thousands)
    roles = options.column_roles(columns, drop, label_column, id_column, weight_column, types, missing)
    n_known, labels = 0, None
    if dissimilarity:
        options.refuse_table_options(context, _TABLE_ONLY)
        relations = read_dissimilarities(data, marks=marks, sheet=sheet)
        rows, notes, ids = relations.matrix, list(relations.notes), relations.ids
    else:
        found = read_table(data, **roles, marks=marks, sheet=sheet)
        options.refuse_wide(found.data.shape[1])
        rows, ids, labels = found.data, found.ids, found.labels
        notes = [*found.notes, *label_notes(labels, label_column)]
        n_known = 0 if labels is None else int(is_known(labels).sum())
    if len(rows) <= n_clusters:
        raise DataError(f"{len(rows)} rows are too few for {n_clusters} clusters")
    if len(rows) > comparison.MAX_SILHOUETTE_ROWS:
        notes.append(f"silhouettes are of {comparison.MAX_SILHOUETTE_ROWS} rows drawn at random")
    with progress() as bar:
        overall = bar.add_task("comparing", total=comparison.n_compared(rows) + 1)
        watcher = FitProgress(bar, "")

        def observe(name: str) -> None:
            bar.update(overall, advance=int(bool(watcher.label)))
            watcher.label = name

        settings: dict[str, Any] = {"seed": seed, "ids": ids, "observe": observe, "prepare": watcher.attach}
        if dissimilarity:
            results = comparison.compare_on_dissimilarities(rows, n_clusters, **settings)
            p_value = comparison.one_group_p_value_of_matrix(rows, seed)
        else:
            weights = found.weights
            results = comparison.compare_methods(
                rows, n_clusters, labels=labels, weights=weights, outliers=str(outliers), **settings
            )
            p_value = comparison.one_group_p_value(rows, weights, seed)
    merged = merge_coinciding(results)
    sentences = advice(merged, p_value)
    say_notes(notes)
    if json:
        print_json(
            {
                "n_rows": len(rows),
                "n_columns": None if dissimilarity else rows.shape[1],
                "n_clusters": n_clusters,
                "n_known_labels": n_known,
                "methods": [result.record() for result in results],
                "coinciding": [list(row.methods) for row in merged],
                "existence": p_value,
                "sentences": list(sentences),
                "notes": notes,
            }
        )
        return
    _show(output(), merged, sentences, n_known=n_known, n_rows=len(rows), pairwise=dissimilarity)
    for result in results:
        for note in result.notes if result.status != comparison.IMPOSSIBLE else ():
            say(result.method, note, "yellow")


def _show(
    console: Console,
    merged: Sequence[MethodRow],
    sentences: Sequence[str],
    *,
    n_known: int,
    n_rows: int,
    pairwise: bool,
) -> None:
    from kfrc_app.cli.render import NARROW, fixed, line, table, title
    from kfrc_app.facts.agreement import coverage
    from kfrc_app.facts.comparison import IMPOSSIBLE, STANDARDIZED
    from kfrc_app.facts.text import listing, words

    labeled = n_known > 0
    narrow = console.width < NARROW
    possible = [row for row in merged if row.result.status != IMPOSSIBLE]
    treatments = list(dict.fromkeys(result.treatment for row in possible for result in row.results))
    mixed = not pairwise and treatments != [STANDARDIZED]
    on = "dissimilarities" if pairwise else "table" if mixed else "standardized columns"
    title(console, f"Every method on the {on}")
    for sentence in sentences:
        line(console, sentence)
    console.print()
    titles = [("method", "left"), ("s" if narrow else "seconds", "right"), ("status", "whole")]
    titles += [("U", "right"), ("PC", "right"), ("FS" if narrow else "silhouette", "right")]
    titles += [("ARI", "right"), ("AMI", "right")] if labeled else []
    titles += [("saw", "right")] if mixed else []
    cells = []
    for row in possible:
        result = row.result
        judged = [fixed(result.adjusted_rand), fixed(result.adjusted_mutual_info)] if labeled else []
        seen = sorted({treatments.index(other.treatment) + 1 for other in row.results})
        cells.append(
            [
                row.name,
                fixed(sum(other.seconds for other in row.results), 2),
                words(result.status),
                fixed(result.uniformity),
                fixed(result.partition_coefficient),
                fixed(result.fuzzy_silhouette),
                *judged,
                *([",".join(map(str, seen))] if mixed else []),
            ]
        )
    table(console, titles, cells)
    for reason in dict.fromkeys(note for row in merged if row.result.status == IMPOSSIBLE for note in row.result.notes):
        names = [row.name for row in merged if row.result.status == IMPOSSIBLE and reason in row.result.notes]
        line(console, f"not possible here: {listing(names)} ({reason})", "dim")
    if any(len(row.methods) > 1 for row in merged):
        line(console, "Methods in one row have the same memberships, to three digits.", "dim")
    if mixed:
        shown = "; ".join(f"{k + 1} {treatment}" for k, treatment in enumerate(treatments))
        line(console, f"saw: what a method saw of the table. {shown}.", "dim")
    line(console, "U: 0 every row in one cluster, 1 all memberships 1/c.  PC: partition coefficient.", "dim")
    silhouette = "FS" if narrow else "silhouette"
    by = " by the dissimilarities" if pairwise else " by Gower dissimilarities" if mixed else ""
    line(console, f"{silhouette}: fuzzy silhouette{by}, higher is better; a collapsed fit has none.", "dim")
    if labeled:
        known = coverage(n_known, n_rows)
        line(
            console, f"ARI, AMI: agreement with the labels, which no method saw{f' ({known})' if known else ''}.", "dim"
        )
