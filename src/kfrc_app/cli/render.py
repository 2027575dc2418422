"""Facts as text: tables that fit the terminal, and plain aligned columns elsewhere."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from kfrc_app.cli.console import one_line

BAR_WIDTH = 24
NARROW = 80
SHOWN_COLUMNS = 20
NONE = "–"


def plural(count: int, noun: str) -> str:
    """A count with its noun."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def number(value: float | None, digits: int = 3) -> str:
    """A number with fixed digits, or a dash."""
    return NONE if value is None or not math.isfinite(value) else f"{value:.{digits}f}"


def title(console: Console, text: str) -> None:
    """The first line of all."""
    console.print(Text(one_line(text), style="bold"))


def heading(console: Console, text: str) -> None:
    """An empty line and a heading."""
    console.print()
    title(console, text)


def line(console: Console, text: str, style: str = "", bullet: str = "") -> None:
    """An indented paragraph, or an item of a list."""
    first = f"  {bullet}"
    rest = " " * len(first)
    wrapped = textwrap.wrap(
        text, max(console.width, 40), initial_indent=first, subsequent_indent=rest, break_on_hyphens=False
    )
    for part in wrapped:
        console.print(Text(part, style=style), soft_wrap=True)


def table(console: Console, columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[str]]) -> None:
    """Print aligned columns; ``columns`` gives each its heading and "left" (may wrap), "whole", "right" or "bar"."""
    grid = Table(
        box=None,
        padding=(0, 2, 0, 0),
        pad_edge=False,
        header_style="dim",
        show_header=any(name for name, _ in columns),
    )
    for name, kind in columns:
        grid.add_column(
            name,
            justify="right" if kind == "right" else "left",
            overflow="fold",
            no_wrap=kind != "left",
            style="cyan" if kind == "bar" else "",
        )
    for row in rows:
        grid.add_row(*[Text(one_line(cell)) for cell in row])
    with console.capture() as captured:
        console.print(Padding(grid, (0, 0, 0, 2), expand=False))
    text = captured.get()
    if not console.is_terminal:
        text = "\n".join(part.rstrip() for part in text.splitlines()) + "\n"
    console.file.write(text)


_SURE, _FAIRLY_SURE = 0.9, 0.7
"""Shares of resamples in which the judge must stay with a partition to be called so."""


def show_fit(console: Console, facts: dict[str, Any]) -> None:
    """Print what a fit found."""
    described = "dissimilarities" if facts["columns"] is None else plural(facts["n_columns"], "column")
    rows, clusters = plural(facts["n_rows"], "row"), plural(facts["n_clusters"], "cluster")
    title(console, f"{facts['source']}: {rows}, {described}, {clusters}")
    if facts["columns"] is not None:
        _show_columns(console, facts)
    if facts["choice"] is not None:
        _show_choice(console, facts)
    _show_stability(console, facts)
    _show_clusters(console, facts)


def _show_columns(console: Console, facts: dict[str, Any]) -> None:
    columns = facts["columns"]
    heading(console, "Columns, most important first (small bandwidth: it counts)")
    narrow = console.width < NARROW
    largest = max(column["importance"] for column in columns)
    width = BAR_WIDTH // 2 if narrow else BAR_WIDTH
    rows = []
    for column in columns[:SHOWN_COLUMNS]:
        bar = "█" * max(1, round(width * column["importance"] / largest)) if column["importance"] > 0 else ""
        bandwidth = column["bandwidth"]
        cells = [column["name"], f"{bandwidth:.4g}" if math.isfinite(bandwidth) else "unused"]
        if not narrow:
            cells.append(number(column["in_deviations"], 2))
        rows.append([*cells, number(column["importance"]), bar])
    titles = [("column", "left"), ("bandwidth", "right"), ("in s.d.", "right"), ("importance", "right"), ("", "bar")]
    if narrow:
        del titles[2]
    table(console, titles, rows)
    rest = columns[SHOWN_COLUMNS:]
    if rest:
        share = sum(column["importance"] for column in rest)
        line(console, f"and {plural(len(rest), 'more column')}, together {share:.3f} of the importance")
    line(console, f"effective number of columns: {facts['effective_n_columns']:.1f} of {len(columns)}")


def _show_choice(console: Console, facts: dict[str, Any]) -> None:
    choice = facts["choice"]
    heading(console, f"Chosen among {plural(choice['n_candidates'], 'setting')}, without labels")
    table(
        console,
        [("", "left"), ("", "right"), ("", "left")],
        [
            ["fuzziness m", f"{facts['m']:g}", f"of the {facts['fuzzifier'].replace('_', ' ')} fuzzifier"],
            ["level", f"{facts['level']:g}", "mean log-bandwidth in standard deviations"],
            ["anisotropy", f"{facts['max_anisotropy']:g}", "largest ratio of two bandwidths allowed"],
        ],
    )
    if choice["n_clusters"] is not None:
        best = max(found["evidence"] for found in choice["n_clusters"])
        nearest = sorted(choice["n_clusters"], key=lambda found: -found["evidence"])[:4]
        behind = ", ".join(f"{found['n_clusters']} ({found['evidence'] - best:.0f})" for found in nearest)
        line(console, f"number of clusters, with evidence relative to the best: {behind}")
    support = choice["support"]
    sure = "sure" if support >= _SURE else "fairly sure" if support >= _FAIRLY_SURE else "not sure: a coin toss"
    line(console, f"the judge is {sure}: the same partition in {support:.0%} of resamples of the rows")


def _show_stability(console: Console, facts: dict[str, Any]) -> None:
    stability = facts["stability"]
    heading(console, f"Can it collapse to 1/{facts['n_clusters']} everywhere?")
    table(
        console,
        [("", "left"), ("", "left"), ("", "right")],
        [
            ["leading eigenvalue", "λ₁", number(stability["leading_eigenvalue"])],
            ["threshold", "τ", number(stability["threshold"])],
        ],
    )
    if facts["status"] == "collapsed":
        line(console, "It did: every membership is the same, and nothing was found. The notes say why.", "bold red")
    elif stability["stable"]:
        line(console, "λ₁ ≥ τ: no. No value of the fuzzifier m collapses.", "green")
    else:
        critical, used = stability["critical_m"], facts["m"]
        line(console, f"λ₁ < τ: yes, at every m from m* = {critical:.3f} on (m = {used:g} was used).", "yellow")


def _show_clusters(console: Console, facts: dict[str, Any]) -> None:
    heading(console, "Clusters")
    table(
        console,
        [("cluster", "left"), ("rows", "right"), ("mean membership of its rows", "right")],
        [[str(found["label"]), str(found["n_rows"]), number(found["mean_membership"])] for found in facts["clusters"]],
    )
    sure = facts["sureness"]
    clear, unsure = sure["clear_from"], sure["unsure_below"]
    heading(console, "How sure are the rows? (largest membership of a row)")
    table(
        console,
        [("", "left"), ("", "left"), ("", "right")],
        [
            ["clear", f"{clear:g} and more", plural(sure["clear"], "row")],
            ["likely", f"{unsure:g} to {clear:g}", plural(sure["likely"], "row")],
            ["unsure", f"below {unsure:g}", plural(sure["unsure"], "row")],
        ],
    )
    line(
        console, f"uniformity index U = {facts['uniformity']:.3f} (0: every row in one cluster, 1: all memberships 1/c)"
    )
    line(console, f"status: {facts['status'].replace('_', ' ')} after {plural(facts['n_iter'], 'iteration')}")
    if facts["agreement"] is not None:
        heading(console, "For information only (the labels were not used above)")
        table(
            console,
            [("", "left"), ("", "right")],
            [
                ["adjusted Rand index", number(facts["agreement"]["adjusted_rand"])],
                ["adjusted mutual information", number(facts["agreement"]["adjusted_mutual_info"])],
            ],
        )
