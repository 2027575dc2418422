"""What every verb says and where: results on standard output, messages and progress on standard error."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.text import Text

from kfrc_app._interrupts import Problem

if TYPE_CHECKING:
    from kfrc.activity import Follower

PLAIN_WIDTH = 100
"""Columns of output that goes to a file or a pipe."""

_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]+")
"""Control characters and marks of writing direction: a name in the data must not steer the terminal."""


def one_line(text: object) -> str:
    """A text as a single line without control characters."""
    return " ".join(_UNPRINTABLE.sub(" ", str(text)).split())


def output() -> Console:
    """Console for results."""
    return _console(stderr=False)


def messages() -> Console:
    """Console for notes, problems and progress."""
    return _console(stderr=True)


def _console(*, stderr: bool) -> Console:
    console = Console(stderr=stderr, highlight=False, markup=False, emoji=False)
    if (not console.is_terminal and "COLUMNS" not in os.environ) or console.width < 1:  # nothing fits into COLUMNS=0
        console.width = PLAIN_WIDTH
    return console


def say(kind: str, text: object, style: str = "") -> None:
    """Print a message; on a terminal it wraps between words, elsewhere it is one line."""
    console = messages()
    line = Text(f"{kind}: ", style=style)
    line.append(one_line(text), style="")
    console.print(line, soft_wrap=not console.is_terminal)


def say_notes(notes: Iterable[str]) -> None:
    """Print every note."""
    for note in notes:
        say("note", note, "yellow")


def say_problem(text: object) -> None:
    """Print why the program stops."""
    Problem.told = True
    say("kfrc", text, "bold red")


def print_json(document: dict[str, Any]) -> None:
    """Print one JSON document; infinite and undefined numbers become null."""
    from kfrc_app.facts.text import dump_json

    typer.echo(dump_json(document), nl=False)


class Bars(Progress):
    """Bars of tasks; behind the last of them stands what is being done right now."""

    follower: Follower | None = None

    def show(self, doing: str) -> None:
        """Say what is being done; the next part of the task that ends takes it away."""
        if self.task_ids:
            super().update(self.task_ids[-1], doing=doing)

    def update(self, task_id: TaskID, **changes: Any) -> None:
        """Change a task, of which a part has ended."""
        super().update(task_id, **{"doing": "", **changes})
        if self.follower is not None:
            self.follower.finish("")

    def stop(self) -> None:
        """End the display; rich before 14.3 writes an empty line even where it has shown nothing."""
        if not self.disable:
            super().stop()


class _Doing(ProgressColumn):
    """What is being done right now."""

    def render(self, task: Task) -> Text:
        return Text(task.fields.get("doing", ""), style="dim", no_wrap=True, overflow="ellipsis")


@contextmanager
def progress() -> Iterator[Progress]:
    """A progress display on standard error that leaves no trace; nothing unless that is a terminal."""
    console = messages()
    with Bars(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        TimeElapsedColumn(),
        _Doing(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as bars:
        if not console.is_terminal:
            yield bars
            return
        from kfrc.activity import follow

        with follow(bars.show) as bars.follower:
            yield bars
