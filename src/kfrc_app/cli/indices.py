"""``kfrc indices``: what speaks for each number of clusters, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from kfrc_app._missing_values import Missing
from kfrc_app.cli import options
from kfrc_app.cli.console import output, print_json, progress, say_notes

if TYPE_CHECKING:
    from kfrc.index_table import Indices

N_REFITS = 5
"""Refits of each number: fewer than of a fit, as there are many numbers."""

_TABLE_ONLY = (*options.COLUMN_ROLES, "outliers")
_SHORT = {"fuzzy silhouette": "silhouette"}
_NARROW = {"evidence": "evid.", "stability": "stab.", "fuzzy silhouette": "FS"}


def indices(
    context: typer.Context,
    data: options.Data,
    clusters: options.ClusterRange = "2-8",
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
    refits: options.Refits = N_REFITS,
    seed: options.Seed = 0,
    json: options.Json = False,
) -> None:
    """Say how many clusters a table has: evidence, stability and indices for each number."""
    import kfrc
    from kfrc import FRC, KFRC
    from kfrc_app.facts.confidence import MAX_REFIT_ROWS
    from kfrc_app.facts.notes import warnings_as_notes
    from kfrc_app.facts.text import count
    from kfrc_app.runs.settings import missing_settings
    from kfrc_app.tables import DataError, read_dissimilarities, read_table

    numbers = options.parse_cluster_range(clusters)
    marks = options.parse_marks(decimal, thousands)
    roles = options.column_roles(columns, drop, label_column, id_column, weight_column, types, missing)
    notes: list[str]
    weights, rows = None, None
    model: FRC | KFRC
    if dissimilarity:
        options.refuse_table_options(context, _TABLE_ONLY)
        relations = read_dissimilarities(data, marks=marks, sheet=sheet)
        rows, notes, ids = relations.matrix, list(relations.notes), relations.ids
        model = FRC(metric="precomputed", fuzzifier="complementary_root")
    else:
        found = read_table(data, **roles, marks=marks, sheet=sheet)
        rows, notes, ids, weights = found.data, list(found.notes), found.ids, found.weights
        model = KFRC(outliers=str(outliers), **missing_settings(missing))
    if len(rows) <= numbers[-1]:
        raise DataError(f"{len(rows)} rows are too few for {numbers[-1]} clusters: give fewer with -c")
    with progress() as bar:
        task = bar.add_task("counting clusters", total=len(numbers) * (1 + bool(refits)) + 1)
        with warnings_as_notes(notes, ids):
            result = kfrc.indices(
                rows,
                numbers,
                estimator=model,
                n_refits=refits,
                max_rows=MAX_REFIT_ROWS,
                sample_weight=weights,
                random_state=seed,
                progress=lambda text: bar.update(task, advance=1, description=text),
            )
    say_notes(notes)
    if json:
        print_json(_document(result, len(rows), notes))
        return
    _show(result, f"{data}: {count(len(rows), 'row')}, {numbers[0]} to {numbers[-1]} clusters")


def _document(result: Indices, n_rows: int, notes: list[str]) -> dict[str, Any]:
    from kfrc_app.facts.numbers import number_sentence
    from kfrc_app.facts.text import plain

    numbers = [dict(zip(result.columns, row, strict=True)) for row in zip(*result.values(), strict=True)]
    return {
        "n_rows": n_rows,
        "numbers": plain(numbers),
        "best": result.best,
        "automatic": result.automatic,
        "existence": result.existence,
        "statuses": list(result.statuses),
        "failures": {str(number): reason for number, reason in result.failures.items()},
        "sentence": number_sentence(result),
        "notes": notes,
    }


def _show(result: Indices, text: str) -> None:
    from kfrc.index_table import INDICES
    from kfrc_app.cli.render import NARROW, line, table, title
    from kfrc_app.facts.numbers import number_sentence
    from kfrc_app.facts.text import count

    console = output()
    title(console, text)
    line(console, number_sentence(result))
    console.print()
    short = {**_SHORT, **(_NARROW if console.width < NARROW else {})}
    shown = [index for index in INDICES if result.best[index.name] is not None]
    places = [0, *[1 + INDICES.index(index) for index in shown]]
    titles = [("clusters", "right"), *[(short.get(index.name, index.name), "right") for index in shown]]
    table(console, titles, [[row[j] for j in places] for row in result.cells()])
    line(console, "* the best of its column. Judge by evidence and stability first; the others know less.", "dim")
    for index in shown:
        end = "high" if index.higher_is_better else "low"
        line(console, f"{short.get(index.name, index.name)} ({end} is good): {index.meaning}.", "dim")
    for number, reason in result.failures.items():
        line(console, f"{count(number, 'cluster')}: {reason}", "yellow")
