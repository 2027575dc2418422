"""What ``kfrc study`` says of a run: what it did, what failed, how long it takes, and of which versions it is."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import typer

from kfrc_app.cli.console import one_line, say_notes
from kfrc_app.facts.text import clean

if TYPE_CHECKING:
    from kfrc_app.study.executors import RunReport
    from kfrc_app.study.packages import Packages

_MAX_REASONS = 20
"""Failures that are printed; the folder has them all."""

_MAX_LETTERS = 500
"""Letters of a reason that are printed."""


def told_mixture(mixture: list[Packages]) -> str:
    """Sets of versions in one line."""
    from kfrc_app.study.packages import told

    return "; and ".join(map(told, mixture))


def note_mixture(mixture: list[Packages]) -> None:
    """Say of which versions results are, if they are of several."""
    if mixture:
        say_notes([f"the results are of different versions: {told_mixture(mixture)}"])


def time_left(seconds: float, workers: int) -> str:
    """How long the rest takes."""
    if not math.isfinite(seconds):
        return "unknown before the first task is done"
    if not workers:
        return f"about {_duration(seconds)} of computing, divided among the workers"
    return f"about {_duration(seconds / workers)} with {workers} worker{'s' if workers > 1 else ''}"


def tell_report(report: RunReport) -> None:
    """Say what a run did."""
    done = report.n_skipped + report.n_computed
    typer.echo(
        f"{done} of {report.n_tasks} tasks done: {report.n_computed} computed in {_duration(report.seconds)}, "
        f"{report.n_skipped} from earlier runs"
    )
    if report.set_aside:
        typer.echo(f"damaged results computed again: {', '.join(report.set_aside)}")
    tell_failures(report.failures)


def tell_failures(reasons: dict[str, str]) -> None:
    """Say what failed and why."""
    for key, reason in list(reasons.items())[:_MAX_REASONS]:
        typer.echo(f"  {key}: {clean(one_line(reason), max_length=_MAX_LETTERS)}")
    if len(reasons) > _MAX_REASONS:
        typer.echo(f"  and {len(reasons) - _MAX_REASONS} more")


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"
