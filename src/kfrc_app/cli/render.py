"""Facts as text: tables that fit the terminal, and plain aligned columns elsewhere."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from kfrc_app.cli.console import one_line
from kfrc_app.facts import Facts
from kfrc_app.facts.agreement import Agreement
from kfrc_app.facts.choice import Choice, CountChoice
from kfrc_app.facts.clusters import Cluster, LargestMemberships
from kfrc_app.facts.fit import Fit
from kfrc_app.facts.importance import Importance
from kfrc_app.facts.stability import Stability
from kfrc_app.facts.text import DASH, count, words
from kfrc_app.facts.verdicts import HIGH, LOW, MEMBERSHIP

BAR_WIDTH = 24
NARROW = 80
SHOWN_COLUMNS = 20
SHOWN_NUMBERS = 4
"""Numbers of clusters whose evidence is told."""


def fixed(value: float | None, digits: int = 3) -> str:
    """A number with fixed digits, so that columns of them line up; or a dash."""
    return DASH if value is None or not math.isfinite(value) else f"{value:.{digits}f}"


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


def show_fit(console: Console, facts: Facts) -> None:
    """Print what a fit found."""
    described = "dissimilarities" if facts.pairwise else count(facts.n_columns, "column")
    title(console, f"{facts.source}: {count(facts.n_rows, 'row')}, {described}, {count(facts.n_clusters, 'cluster')}")
    if facts.importance is not None:
        _show_columns(console, facts.importance)
    if facts.choice is not None:
        _show_choice(console, facts.choice, facts.fit)
    if facts.cluster_count is not None:
        _show_count(console, facts.cluster_count, alone=facts.choice is None)
    if facts.choice is not None:
        _show_resampling(console, facts.choice)
    if facts.stability is not None:
        _show_stability(console, facts.stability, facts.fit, facts.n_clusters)
    _show_clusters(console, facts.clusters)
    _show_largest(console, facts.largest_memberships, facts.fit)
    if facts.agreement is not None:
        _show_agreement(console, facts.agreement)


def _show_columns(console: Console, importance: Importance) -> None:
    columns = importance.columns
    heading(console, "Columns, most important first (small bandwidth: it counts)")
    narrow = console.width < NARROW
    largest = max(column.weight for column in columns)
    width = BAR_WIDTH // 2 if narrow else BAR_WIDTH
    rows = []
    for column in columns[:SHOWN_COLUMNS]:
        bar = "█" * max(1, round(width * column.weight / largest)) if column.weight > 0 else ""
        cells = [column.name, f"{column.bandwidth:.4g}" if math.isfinite(column.bandwidth) else "unused"]
        if not narrow:
            cells.append(fixed(column.in_deviations, 2))
        rows.append([*cells, fixed(column.weight), bar])
    titles = [("column", "left"), ("bandwidth", "right"), ("in s.d.", "right"), ("importance", "right"), ("", "bar")]
    if narrow:
        del titles[2]
    table(console, titles, rows)
    rest = columns[SHOWN_COLUMNS:]
    if rest:
        share = sum(column.weight for column in rest)
        line(console, f"and {count(len(rest), 'more column')}, together {share:.3f} of the importance")
    line(console, f"effective number of columns: {importance.effective:.1f} of {len(columns)}")


def _show_choice(console: Console, choice: Choice, fit: Fit) -> None:
    heading(console, f"Chosen among {count(choice.n_candidates, 'setting')}, without labels")
    level, anisotropy = (DASH if value is None else f"{value:g}" for value in (fit.level, fit.max_anisotropy))
    table(
        console,
        [("", "left"), ("", "right"), ("", "left")],
        [
            ["fuzziness m", f"{fit.m:g}", f"of the {words(fit.fuzzifier)} fuzzifier"],
            ["level", level, "mean log-bandwidth in standard deviations"],
            ["anisotropy", anisotropy, "largest ratio of two bandwidths allowed"],
        ],
    )


def _show_count(console: Console, found: CountChoice, *, alone: bool) -> None:
    if alone:
        heading(console, "Number of clusters, chosen without labels")
    behind = ", ".join(f"{number.n_clusters} ({number.behind:.0f})" for number in found.nearest[:SHOWN_NUMBERS])
    line(console, f"number of clusters, with evidence relative to the best: {behind}")


def _show_resampling(console: Console, choice: Choice) -> None:
    if choice.resampling:
        line(console, choice.resampling, "yellow" if choice.doubtful else "")


def _show_stability(console: Console, stability: Stability, fit: Fit, n_clusters: int) -> None:
    heading(console, f"Can it collapse to 1/{n_clusters} everywhere?")
    table(
        console,
        [("", "left"), ("", "left"), ("", "right")],
        [
            ["leading eigenvalue", "λ₁", fixed(stability.leading_eigenvalue)],
            ["threshold", "τ", fixed(stability.threshold)],
        ],
    )
    if fit.collapsed:
        line(console, "It did: every membership is the same, and nothing was found. The notes say why.", "bold red")
    elif stability.stable:
        line(console, "λ₁ ≥ τ: no. With these bandwidths no value of the fuzzifier m collapses.")
    else:
        critical = f"m* = {stability.critical_m:.3f}"
        used = f"(m = {fit.m:g} was used)"
        line(console, f"λ₁ < τ: yes, at every m from {critical} on with these bandwidths {used}.", "yellow")


def _show_clusters(console: Console, clusters: Sequence[Cluster]) -> None:
    heading(console, "Clusters")
    table(
        console,
        [("cluster", "left"), ("rows", "right"), ("mean membership of its rows", "right")],
        [[str(found.label), str(found.n_rows), fixed(found.mean_membership)] for found in clusters],
    )


def _show_largest(console: Console, found: LargestMemberships, fit: Fit) -> None:
    high, middle, low = (grade.word for grade in MEMBERSHIP)
    heading(console, "Largest membership of each row (it depends on m)")
    table(
        console,
        [("", "left"), ("", "left"), ("", "right")],
        [
            [high, f"{HIGH:g} and more", count(found.n_high, "row")],
            [middle, f"{LOW:g} to {HIGH:g}", count(found.n_middle, "row")],
            [low, f"below {LOW:g}", count(found.n_low, "row")],
        ],
    )
    line(console, f"uniformity index U = {fit.uniformity:.3f} (0: every row in one cluster, 1: all memberships 1/c)")
    if fit.is_posterior:
        line(console, "memberships: the judge's probabilities")
    else:
        line(console, f"status: {words(fit.status)} after {count(fit.n_iter, 'iteration')}")


def _show_agreement(console: Console, agreement: Agreement) -> None:
    heading(console, "For information only (the labels were not used above)")
    table(
        console,
        [("", "left"), ("", "right")],
        [
            ["adjusted Rand index", fixed(agreement.adjusted_rand)],
            ["adjusted mutual information", fixed(agreement.adjusted_mutual_info)],
        ],
    )
    if agreement.coverage:
        line(console, agreement.coverage)
