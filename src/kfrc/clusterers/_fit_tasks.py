"""The parts of a fit as scikit-learn's callbacks and ``verbose`` see them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kfrc.activity import Follower, start_following

_LAST_TASK = "finishing"
"""What follows the parts that are counted: contributions of columns, probabilities, warnings."""


@dataclass
class FitTasks:
    """Tasks of one fit: each ends once, and one that lasts shows steps on its way.

    Attributes
    ----------
    estimator : FuzzyClusterer
    context : sklearn.callback.CallbackContext
        Of the fit.
    verbose : bool
    follower : Follower or None
        Shows steps; None if nobody would see them.
    lasting : sklearn.callback.CallbackContext or None
        Of the task that goes on, if it has shown a step.
    """

    estimator: Any
    context: Any
    verbose: bool
    follower: Follower | None = None
    lasting: Any = None

    @classmethod
    def begin(cls, estimator: Any, n_tasks: int, verbose: int) -> FitTasks:
        """Begin a fit of so many tasks at most, and what follows them."""
        context = estimator._init_callback_context(max_subtasks=n_tasks + 1)
        tasks = cls(estimator, context.call_on_fit_task_begin(estimator=estimator), bool(verbose))
        if tasks.verbose or context._callbacks:
            tasks.follower = start_following(tasks._show)
        return tasks

    def finish(self, text: str) -> None:
        """A task has ended."""
        task = self._task(text, max_subtasks=0)
        task.task_name = text  # of a task that lasts this is known only now
        task.call_on_fit_task_end(estimator=self.estimator)
        self.lasting = None
        if self.follower is not None:
            self.follower.finish(text)
        self._print(text)

    def end(self) -> None:
        """The fit has ended."""
        if self.lasting is not None:
            self.lasting.task_name = _LAST_TASK
            self.lasting.call_on_fit_task_end(estimator=self.estimator)
        self.context.call_on_fit_task_end(estimator=self.estimator)

    def _show(self, text: str) -> None:
        self.lasting = self._task(text, max_subtasks=None)
        step = self.lasting.subcontext(task_name=text).call_on_fit_task_begin(estimator=self.estimator)
        step.call_on_fit_task_end(estimator=self.estimator)
        self._print(f"  {text}")

    def _task(self, text: str, max_subtasks: int | None) -> Any:
        if self.lasting is not None:
            return self.lasting
        task = self.context.subcontext(task_name=text, max_subtasks=max_subtasks)
        return task.call_on_fit_task_begin(estimator=self.estimator)

    def _print(self, text: str) -> None:
        if self.verbose:
            print(f"{type(self.estimator).__name__}: {text}")
