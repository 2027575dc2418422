"""How far a study is: the state of its tasks, and what a run tells while it works."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Self

from kfrc_app.study.packages import Packages, distinct

if TYPE_CHECKING:
    from rich.console import Console

_LINES = 10
"""Lines of progress where there is no terminal to draw a bar on."""


@dataclass(frozen=True)
class Failure:
    """Why a task failed."""

    reason: str
    traceback: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class StudyState:
    """Where a study stands; every task is in exactly one of the four.

    Attributes
    ----------
    seconds : dict of str to float
        Finished tasks and the time each took.
    failures : dict of str to Failure
    corrupt : dict of str to str
        Tasks whose shard is damaged, and how.
    remaining : list of str
        Tasks not tried yet.
    packages : dict of str to dict
        Versions of what computed each finished task; empty where they were not recorded.
    """

    seconds: dict[str, float]
    failures: dict[str, Failure]
    corrupt: dict[str, str]
    remaining: list[str]
    packages: dict[str, Packages] = field(default_factory=dict)

    @property
    def mixture(self) -> list[Packages]:
        """The sets of versions that computed the finished tasks, if there are several; else empty."""
        several = distinct(self.packages.values())
        return several if len(several) > 1 else []

    @property
    def seconds_left(self) -> float:
        """Estimated time of what is left in one worker: the mean of the finished tasks; nan before the first."""
        if not self.seconds:
            return float("nan")
        mean = sum(self.seconds.values()) / len(self.seconds)
        return mean * (len(self.remaining) + len(self.corrupt))


class StudyProgress:
    """What a run tells while it works; this one stays silent."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        return None

    def begin(self, n_tasks: int, n_done: int) -> None:
        """Say how many tasks there are, and how many of them need no work."""

    def advance(self, key: str, failure: Failure | None = None) -> None:
        """Say that a task has ended."""

    def show(self, doing: str) -> None:
        """Say what is being done right now."""

    def note(self, message: str) -> None:
        """Say something that a user should know."""


class RichProgress(StudyProgress):
    """A bar with the time remaining on a terminal, a few lines elsewhere.

    Parameters
    ----------
    console : rich.console.Console
    title : str
    """

    def __init__(self, console: Console, title: str) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        self._console = console
        self._bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[doing]}"),
            console=console,
            speed_estimate_period=600,
            disable=not console.is_terminal,
        )
        self._row = self._bar.add_task(title, total=None, doing="")
        self._title, self._n_done, self._n_tasks = title, 0, 0

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if not self._bar.disable:  # rich before 14.3 writes an empty line even where it has shown nothing
            self._bar.stop()

    def begin(self, n_tasks: int, n_done: int) -> None:
        """Draw the bar with what is done already."""
        self._n_tasks, self._n_done = n_tasks, n_done
        self._bar.update(self._row, total=n_tasks, completed=n_done)
        self._bar.reset(self._row, total=n_tasks, completed=n_done)

    def advance(self, key: str, failure: Failure | None = None) -> None:
        """Move the bar by one task; a failure is told at once."""
        self._n_done += 1
        self._bar.advance(self._row)
        if failure is not None:
            self.note(f"{key} failed: {failure.reason}")
        if not self._console.is_terminal and self._n_done % max(1, self._n_tasks // _LINES) == 0:
            self.note(f"{self._title}: {self._n_done} of {self._n_tasks}")

    def show(self, doing: str) -> None:
        """Show it behind the bar."""
        self._bar.update(self._row, doing=doing)

    def note(self, message: str) -> None:
        """Print a line above the bar."""
        self._console.print(message, markup=False, highlight=False, soft_wrap=True)
