"""Where a long computation tells how far it is: bars of tasks, whoever shows them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from kfrc._callbacks import set_callbacks


class Tasks(Protocol):
    """What shows tasks: rich's bars in a terminal, messages to a page elsewhere."""

    def add_task(self, description: str, *, total: float | None = None) -> Any:
        """Show a task of ``total`` parts, None if they cannot be counted; what names it from now on."""

    def update(
        self,
        task_id: Any,
        *,
        advance: float | None = None,
        completed: float | None = None,
        total: float | None = None,
        description: str | None = None,
    ) -> None:
        """Some parts of a task have ended, or it is known now how many there are."""

    def remove_task(self, task_id: Any) -> None:
        """A task has ended."""


@dataclass
class FitProgress:
    """A callback for scikit-learn estimators that moves a bar by one for every task that ends.

    Attributes
    ----------
    bar : Tasks
    label : str
    task : object, optional
        A task of the bar that is shown already, which becomes that of the first fit: with a scikit-learn without
        callbacks nobody else would show one.
    """

    bar: Tasks
    label: str
    task: Any = None

    def setup(self, estimator: Any, context: Any) -> None:
        """Nothing: the bar appears with the first task."""

    def teardown(self, estimator: Any, context: Any) -> None:
        """Remove the bar, also after an error."""
        self.end()

    def end(self) -> None:
        """Remove the bar, if there is one."""
        if self.task is not None:
            self.bar.remove_task(self.task)
            self.task = None

    def on_fit_task_begin(self, estimator: Any, context: Any, **details: Any) -> None:
        """Show the bar when a fit begins."""
        if context.parent is not None:
            return
        total = context.max_subtasks or None
        if self.task is None:
            self.task = self.bar.add_task(self.label, total=total)
        elif total is not None:
            self.bar.update(self.task, total=total)

    def on_fit_task_end(self, estimator: Any, context: Any, **details: Any) -> None:
        """Advance it when a part of the fit ends; steps of a part are shown by the bar itself."""
        if self.task is None:
            return
        if context.parent is None:
            self.bar.update(self.task, completed=context.max_subtasks)  # there may have been less to do
        elif context.parent.parent is None:
            self.bar.update(self.task, advance=1, description=f"{self.label}: {context.task_name}")

    def attach(self, model: Any) -> Any:
        """Have ``model`` report here, if scikit-learn has callbacks; else a bar does not move."""
        return set_callbacks(model, self)
