"""Facts as text: tables that fit the terminal, and plain aligned columns elsewhere."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from kfrc._validation import short_name
from kfrc_app.cli.console import one_line
from kfrc_app.facts import Facts
from kfrc_app.facts.agreement import Agreement
from kfrc_app.facts.choice import Choice, CountChoice
from kfrc_app.facts.clusters import Cluster, LargestMemberships
from kfrc_app.facts.confidence import COLLAPSED, STABLE, Trust
from kfrc_app.facts.fit import Fit
from kfrc_app.facts.importance import Importance
from kfrc_app.facts.stability import Stability
from kfrc_app.facts.table import TableFacts
from kfrc_app.facts.text import DASH, count, number, percent, shortened, words
from kfrc_app.facts.verdicts import HIGH, LOW, MEMBERSHIP, STANDS_OUT
from kfrc_app.tables import Kind

BAR_WIDTH = 24
NARROW = 80
WIDE = 110
"""Characters from which on the shares of each cluster are shown beside those of the columns."""

SHOWN_CLUSTERS = 4
SHOWN_COLUMNS = 20
SHOWN_GAPS = 10
"""Columns with gaps that are listed."""

_TRUST_STYLES = {STABLE: "", COLLAPSED: "bold red"}
SHOWN_NUMBERS = 4
"""Numbers of clusters whose evidence is told."""


def fixed(value: float | None, digits: int = 3) -> str:
    """A number with fixed digits, so that columns of them line up; or a dash."""
    return DASH if value is None or not math.isfinite(value) else f"{value:.{digits}f}"


def title(console: Console, text: str) -> None:
    """The first line of all."""
    console.print(Text(one_line(text), style="bold"), soft_wrap=not console.is_terminal)


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
        grid.add_row(*[Text(short_name(one_line(cell))) for cell in row])
    with console.capture() as captured:
        console.print(Padding(grid, (0, 0, 0, 2), expand=False))
    text = captured.get()
    if not console.is_terminal:
        text = "\n".join(part.rstrip() for part in text.splitlines()) + "\n"
    console.file.write(text)


def show_fit(console: Console, facts: Facts) -> None:
    """Print what a fit found."""
    _show_opening(console, facts)
    if facts.table is not None:
        show_table(console, facts.table)
    _show_trust(console, facts.trust)
    if facts.importance is not None:
        _show_columns(console, facts.importance, collapsed=facts.fit.collapsed or facts.n_clusters == 1)
    if facts.table is not None and not facts.table.is_plain and not facts.fit.collapsed:
        show_typical(console, facts)
    if facts.choice is not None:
        _show_choice(console, facts.choice, facts.fit)
    if facts.cluster_count is not None:
        _show_count(console, facts.cluster_count, alone=facts.choice is None)
    if facts.choice is not None and facts.choice.tie:
        line(console, facts.choice.tie, "yellow")
    if facts.stability is not None and facts.n_clusters > 1:
        _show_stability(console, facts.stability, facts.fit, facts.n_clusters, facts.held)
    _show_clusters(console, facts.clusters)
    _show_largest(console, facts.largest_memberships, facts.fit)
    if facts.agreement is not None:
        _show_agreement(console, facts.agreement)


def show_findings(console: Console, facts: Facts) -> None:
    """Print what was found, without the statistics behind it."""
    _show_opening(console, facts)
    if facts.importance is not None:
        _show_columns(console, facts.importance, collapsed=facts.fit.collapsed or facts.n_clusters == 1)
    if not facts.fit.collapsed:
        show_typical(console, facts)


def show_table(console: Console, found: TableFacts) -> None:
    """Say what is missing and how much the rows weigh, if there is something to say."""
    if found.n_incomplete:
        heading(console, "What is missing")
        gaps = found.incomplete
        table(
            console,
            [("column", "left"), ("of the rows", "right"), ("", "right")],
            [[column.name, percent(column.missing), count(column.n_missing, "row")] for column in gaps[:SHOWN_GAPS]],
        )
        if len(gaps) > SHOWN_GAPS:
            line(console, f"and {count(len(gaps) - SHOWN_GAPS, 'more column')} with gaps")
        line(console, f"{found.n_incomplete:,} of {count(found.n_rows, 'row')} have gaps")
    if found.total_weight is not None:
        heading(console, "Weights")
        none = f", {count(found.n_weightless, 'row')} for none" if found.n_weightless else ""
        line(console, f"{count(found.n_rows, 'row')} stand for {number(found.total_weight)}{none}")


def show_typical(console: Console, facts: Facts) -> None:
    """Print medians and the most frequent levels of the clusters, if they fit."""
    if not 1 < facts.n_clusters <= SHOWN_CLUSTERS or console.width < NARROW:
        return
    heading(console, "What is typical (median, or the most frequent level with its share)")
    rows = []
    for column in facts.typical[:SHOWN_COLUMNS]:
        lifted = column.kind is Kind.NOMINAL
        cells = [f"{cell.text} ({cell.detail})" if lifted and cell.detail else cell.text for cell in column.clusters]
        rows.append([column.name, column.overall, *cells])
    titles = [("column", "left"), ("all rows", "left"), *[(f"cluster {i}", "left") for i in range(facts.n_clusters)]]
    table(console, titles, rows)
    if any(column.kind is Kind.NOMINAL for column in facts.typical[:SHOWN_COLUMNS]):
        line(console, "×: how many times the share in all rows", "dim")


def _show_opening(console: Console, facts: Facts) -> None:
    """The first sentences, those of the page; then the groups by name."""
    opening = facts.opening
    title(console, opening.title)
    described = "dissimilarities" if facts.pairwise else count(facts.n_columns, "column")
    line(console, f"{facts.source}: {count(facts.n_rows, 'row')}, {described}", "dim")
    for k, sentence in enumerate(opening.sentences):
        line(console, sentence, _TRUST_STYLES.get(opening.verdict, "yellow") if k == 0 else "")
    if facts.n_clusters > 1 and not facts.fit.collapsed:
        heading(console, f"{facts.trust.noun.capitalize()}s")
        table(
            console,
            [("", "left"), ("", "left"), ("rows", "right"), ("", "right"), ("typical rows", "left")],
            [
                [
                    f"cluster {group.label}",
                    group.name,
                    f"{group.n_rows:,}",
                    group.percent,
                    ", ".join(row.id for row in group.rows),
                ]
                for group in facts.groups
            ],
        )


def _show_trust(console: Console, trust: Trust) -> None:
    heading(console, "Can it be trusted?")
    for sentence in trust.sentences:
        line(console, sentence, bullet="• ")
    if trust.clusters and not trust.collapsed:
        table(
            console,
            [("cluster", "left"), ("similarity with refits", "right"), ("", "left")],
            [
                [str(k), fixed(similarity, 2), word]
                for k, (similarity, word) in enumerate(zip(trust.clusters, trust.words, strict=True))
            ],
        )


def _show_columns(console: Console, importance: Importance, *, collapsed: bool) -> None:
    columns = importance.used
    n_clusters = len(columns[0].by_cluster) if columns else 0
    heading(console, "Which columns matter (share of what tells the clusters apart)")
    narrow = console.width < NARROW
    mixed = not narrow and any(column.kind is not Kind.NUMERIC for column in columns)
    kinds = max((len(str(column.kind)) + 2 for column in columns), default=0) if mixed else 0
    wide = console.width >= WIDE + kinds and 1 < n_clusters <= SHOWN_CLUSTERS
    largest = max((column.contribution for column in columns), default=1.0)
    with_bandwidths = importance.has_bandwidths and not narrow
    width = BAR_WIDTH // 2 if narrow else BAR_WIDTH
    rows = []
    for column in columns[:SHOWN_COLUMNS]:
        share = column.contribution
        bar = "█" * max(1, round(width * share / largest)) if share > 0 else ""
        cells = [column.name, *([str(column.kind)] if mixed else [])]
        cells += [fixed(share), bar.ljust(width) if not narrow else bar]
        if with_bandwidths:
            cells += [f"{column.bandwidth:.4g}" if column.has_unit else DASH, fixed(column.in_deviations, 2)]
        if wide:
            cells += [fixed(part) for part in column.by_cluster]
        rows.append(cells)
    titles = [("column", "left"), *([("type", "whole")] if mixed else []), ("share", "right"), ("", "bar")]
    if with_bandwidths:
        titles += [("bandwidth", "right"), ("in s.d.", "right")]
    if wide:
        titles += [(f"in cluster {i}", "right") for i in range(n_clusters)]
    table(console, titles, rows)
    rest = columns[SHOWN_COLUMNS:]
    if rest:
        share = sum(column.contribution for column in rest)
        line(console, f"and {count(len(rest), 'more column')}, together {share:.3f}")
    if collapsed:
        line(console, "nothing is told apart, so that all columns have the same share")
    else:
        explanation = (
            "" if len(importance.used) < 2 or importance.alike else f" ({STANDS_OUT:g} times an equal share or more)"
        )
        line(console, f"{importance.summary}{explanation}")
    for text, names in (
        ("left out, they do not vary", [column.name for column in importance.left_out if not column.varies]),
        ("left out by the fit", [column.name for column in importance.left_out if column.varies]),
    ):
        if names:
            line(console, f"{text}: {shortened(names)}")


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
    if fit.kernel_remark:
        line(console, fit.kernel_remark)


_COUNT_REASONS = {
    "no groups": "tables of a single group look as grouped",
    "density": "the rows crowd in so many places, of other shapes than mixtures assume",
    "most evidence": "the most evidence",
    "one standard error": "the smallest within one standard error of the most evidence",
    "separated": "with more, two clusters would not be separated",
}


def _show_count(console: Console, found: CountChoice, *, alone: bool) -> None:
    if alone:
        heading(console, "Number of clusters, chosen without labels")
    behind = ", ".join(f"{number.n_clusters} ({number.behind:.0f})" for number in found.nearest[:SHOWN_NUMBERS])
    line(console, f"number of clusters, with evidence relative to the best: {behind}")
    line(console, f"{found.chosen} taken: {_COUNT_REASONS[found.reason]}")


def _show_stability(console: Console, stability: Stability, fit: Fit, n_clusters: int, given: str) -> None:
    heading(console, f"Can it collapse to 1/{n_clusters} everywhere?")
    table(
        console,
        [("", "left"), ("", "left"), ("", "right")],
        [
            ["leading eigenvalue", "λ₁", fixed(stability.leading_eigenvalue)],
            ["threshold", "τ", fixed(stability.threshold)],
        ],
    )
    style = "bold red" if fit.collapsed else "" if stability.stable else "yellow"
    line(console, stability.answer(fit.m, collapsed=fit.collapsed, given=given), style)


def _show_clusters(console: Console, clusters: Sequence[Cluster]) -> None:
    heading(console, "Clusters")
    weighted = any(found.weight is not None for found in clusters)
    table(
        console,
        [
            ("cluster", "left"),
            ("rows", "right"),
            *([("weight", "right")] if weighted else []),
            ("mean membership of its rows", "right"),
        ],
        [
            [
                str(found.label),
                str(found.n_rows),
                *([number(found.weight)] if weighted else []),
                fixed(found.mean_membership),
            ]
            for found in clusters
        ],
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
