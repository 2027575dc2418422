"""How far a run is, in the four steps that a user sees."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

STEPS = ("reading", "looking", "checking", "writing")
"""Reading the table, looking for groups, checking them on parts of the rows, writing the report."""

_BEGIN = {
    "clustering": "looking",
    "fitting again": "checking",
    "writing the report": "writing",
    "writing the table": "writing",
}
"""The step that a task of a run begins."""

_INTERVAL = 0.2  # seconds between two messages at least
_COUNT = re.compile(r"(\d+)(?: of (\d+))?$")


class Steps:
    """Shows the tasks of a run, as `Tasks` asks for it, by messages to the page.

    Parameters
    ----------
    tell : callable
        Takes messages.
    """

    def __init__(self, tell: Callable[[dict[str, Any]], None]) -> None:
        self._tell = tell
        self._state: dict[str, Any] = {}
        self._told = 0.0
        self.begin("reading")

    def begin(self, step: str, total: float | None = None) -> None:
        """The next step begins."""
        self._state = {"step": step, "done": 0, "total": total, "small": None}
        self._send(at_once=True)

    def add_task(self, description: str, *, total: float | None = None) -> str:
        """A task of the run begins."""
        if description in _BEGIN:
            self.begin(_BEGIN[description], total)
        return description

    def update(
        self,
        task_id: str,
        *,
        advance: float | None = None,
        completed: float | None = None,
        total: float | None = None,
        description: str | None = None,
    ) -> None:
        """Some parts of a task have ended, or it is known now how many there are."""
        if self._state["step"] == _BEGIN.get(task_id):
            self._state["done"] = completed if completed is not None else self._state["done"] + (advance or 0)
            self._state["total"] = total if total is not None else self._state["total"]
            self._state["small"] = None
            self._send(at_once=total is not None)

    def remove_task(self, task_id: str) -> None:
        """A task has ended: the next one says so."""

    def show(self, doing: str) -> None:
        """Something moves; of what it is called, the count is all that everybody understands."""
        found = _COUNT.search(doing)
        if found is not None:
            self._state["small"] = [int(number) if number else None for number in found.groups()]
            self._send(at_once=True)

    def _send(self, *, at_once: bool) -> None:
        now = time.monotonic()
        if at_once or now - self._told >= _INTERVAL:
            self._told = now
            self._tell({"progress": dict(self._state)})
