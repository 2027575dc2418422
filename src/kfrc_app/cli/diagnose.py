"""``kfrc diagnose``: does a fuzzy clustering of these data collapse, and what helps."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console
from rich.text import Text

from kfrc_app._missing_values import Missing
from kfrc_app.cli import options
from kfrc_app.cli.console import output, print_json, progress, say_notes

if TYPE_CHECKING:
    from kfrc_app.facts.diagnosis import ChosenFit, Diagnosis, Outlook

_SHARED_WITH_FIT = frozenset(
    {"data", "clusters", *options.COLUMN_ROLES, "decimal", "sheet", "thousands", "outliers", "seed"}
)


def diagnose(
    context: typer.Context,
    data: options.DataOrFiles,
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
    memory: options.Memory = None,
    json: options.Json = False,
) -> None:
    """Say at which m a clustering collapses: as kfrc fit chooses, with plain distances, with tuned bandwidths."""
    from kfrc import KFRC
    from kfrc_app.cli.beyond import refuse_pieces, wants_pieces
    from kfrc_app.facts import diagnosis
    from kfrc_app.facts.notes import warnings_as_notes
    from kfrc_app.runs import FitProgress
    from kfrc_app.runs.settings import missing_settings
    from kfrc_app.tables import DataError, read_table
    from kfrc_app.tables.beyond import read_sample

    n_clusters = options.parse_clusters(clusters)
    roles = options.column_roles(columns, drop, label_column, id_column, weight_column, types, missing)
    if wants_pieces(data, memory, None):
        refuse_pieces(context, ("sheet", "decimal", "thousands"))
        found = read_sample(data, roles)
    else:
        found = read_table(data, **roles, marks=options.parse_marks(decimal, thousands), sheet=sheet)
    options.refuse_wide(found.data.shape[1])
    if len(found.data) <= n_clusters:
        raise DataError(f"{len(found.data)} rows are too few for {n_clusters} clusters")
    notes = list(found.notes)
    with progress() as bar:
        watcher = FitProgress(bar, "tuning bandwidths")
        settings: dict[str, Any] = {
            "outliers": str(outliers),
            "random_state": seed,
            **missing_settings(missing),
        }

        def choose() -> KFRC:
            return watcher.attach(KFRC(n_clusters, **settings))

        def make(level: float | None) -> KFRC:
            return watcher.attach(KFRC.paper(n_clusters, level=level, optimizer="lbfgs", **settings))

        with warnings_as_notes(notes, found.ids):
            result = diagnosis.diagnose(
                found.data, n_clusters, choose=choose, make=make, weights=found.weights, notes=notes
            )
    command = options.command_line(context, verb="fit", only=_SHARED_WITH_FIT)
    facts = _facts(result, command, notes)
    say_notes(notes)
    if json:
        print_json(facts)
    else:
        _show(output(), result, facts)


def _facts(result: Diagnosis, command: str, notes: list[str]) -> dict[str, Any]:
    advice = [
        {
            "text": item.text,
            "command": None
            if item.fit_options is None
            else shlex.join([*shlex.split(command), *item.fit_options, "-o", "OUT"]),
            "fuzzifier": item.fuzzifier,
            "m": item.m,
        }
        for item in result.advice
    ]
    return {
        "n_rows": result.n_rows,
        "n_columns": result.n_columns,
        "n_clusters": result.n_clusters,
        "verdict": result.verdict,
        "chosen": None if result.chosen is None else _chosen_facts(result.chosen),
        "plain": _outlook_facts(result.plain),
        "tuned": None if result.tuned is None else _outlook_facts(result.tuned),
        "tuned_for": result.fuzzifier,
        "best_leading_eigenvalue": result.best_eigenvalue,
        "advice": advice,
        "notes": notes,
    }


def _chosen_facts(chosen: ChosenFit) -> dict[str, Any]:
    return {
        **asdict(chosen.stability),
        "fuzzifier": chosen.fuzzifier,
        "m": chosen.m,
        "collapsed": chosen.collapsed,
        "answer": chosen.answer,
        "fuzzifiers": _outlook_facts(chosen.outlook)["fuzzifiers"],
    }


def _outlook_facts(outlook: Outlook) -> dict[str, Any]:
    return {
        "leading_eigenvalue": outlook.leading_eigenvalue,
        "fuzzifiers": [
            asdict(found) | {"collapses_at_default": found.collapses, "never_collapses": found.never_collapses}
            for found in outlook.fuzzifiers
        ],
    }


def _show(console: Console, result: Diagnosis, facts: dict[str, Any]) -> None:
    from kfrc_app.cli.render import heading, line, title
    from kfrc_app.facts.text import count, words

    sizes = f"{count(result.n_rows, 'row')}, {count(result.n_columns, 'column')}, {result.n_clusters} clusters"
    title(console, f"Does it collapse? ({sizes})")
    line(console, result.verdict)
    if result.chosen is not None:
        _show_outlook(console, "Bandwidths that kfrc fit chooses", result.chosen.outlook)
        fuzzifier, m = words(result.chosen.fuzzifier), f"m = {result.chosen.m:g}"
        line(console, f"It takes the {fuzzifier} fuzzifier with {m}. Can it collapse? {result.chosen.answer}")
    _show_outlook(console, result.plain_distances, result.plain)
    if result.tuned is not None:
        _show_outlook(console, "Bandwidths tuned for λ₁ ≥ τ", result.tuned)
    line(console, "τ: with λ₁ ≥ τ no m collapses.  m*: collapses from this m on.", "dim")
    heading(console, "What to do")
    for item in facts["advice"]:
        line(console, item["text"], bullet="• ")
        if item["command"]:
            console.print(Text(f"    {item['command']}", style="bold"), soft_wrap=True)


def _show_outlook(console: Console, distances: str, outlook: Outlook) -> None:
    from kfrc_app.cli.render import fixed, heading, table
    from kfrc_app.facts.text import words

    heading(console, f"{distances}: λ₁ = {outlook.leading_eigenvalue:.3f}")
    rows = []
    for found in outlook.fuzzifiers:
        never = found.never_collapses
        verdict = "at no m" if never else "at its usual m" if found.collapses else "only from m* on"
        rows.append(
            [
                words(found.name),
                fixed(found.threshold),
                "never" if never else fixed(found.critical_m),
                f"{found.default_m:g}",
                verdict,
            ]
        )
    titles = [("fuzzifier", "left"), ("τ", "right"), ("m*", "right"), ("usual m", "right"), ("collapses", "left")]
    table(console, titles, rows)
