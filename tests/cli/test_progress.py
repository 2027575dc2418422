"""The progress display of the program: bars go forward and reach their end, and steps are shown behind them."""

from __future__ import annotations

import io
import itertools

import numpy as np
import pytest
from rich.console import Console

from kfrc import FCM, KFRC, activity
from kfrc_app.cli import console
from kfrc_app.cli.console import Bars, progress
from kfrc_app.runs import FitProgress
from kfrc_app.runs.run import _fit_and_assess


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    return rng.normal(size=(60, 3)) + 4.0 * np.repeat(np.eye(3), 20, axis=0)


@pytest.fixture
def restless(monkeypatch):
    """Every step is shown."""
    monkeypatch.setattr(activity.start_following, "__defaults__", (0.0,))


class Diary(Bars):
    """Bars that write down how far they are."""

    def __init__(self):
        super().__init__(disable=True)
        self.seen = []

    def update(self, task_id, **changes):
        super().update(task_id, **changes)
        self.seen.append(self.tasks[0].completed)


@pytest.mark.slow
@pytest.mark.parametrize(
    "model", [FCM(3, n_init=2, random_state=0), KFRC(3, random_state=0), KFRC("auto", max_clusters=5, random_state=0)]
)
@pytest.mark.usefixtures("restless", "callbacks")
def test_the_bar_of_a_fit_goes_forward_and_reaches_its_end(model, X):
    bars = Diary()
    totals = []

    class Watcher(FitProgress):
        def teardown(self, estimator, context):
            totals.append(bars.tasks[0].total)
            super().teardown(estimator, context)

    Watcher(bars, "clustering").attach(model).fit(X)
    assert all(before < after for before, after in itertools.pairwise(bars.seen))
    assert totals == bars.seen[-1:]
    assert bars.tasks == []


@pytest.mark.slow
@pytest.mark.parametrize("with_callbacks", [True, False])
def test_a_run_shows_one_bar_for_its_fit_and_leaves_none(X, monkeypatch, with_callbacks):
    class Counted(Diary):
        most, added = 0, ()

        def add_task(self, description, **settings):
            task = super().add_task(description, **settings)
            self.added, self.most = (*self.added, description), max(self.most, len(self.tasks))
            return task

    if not with_callbacks:
        monkeypatch.setattr(FitProgress, "attach", lambda watcher, model: model)
    bars = Counted()
    _fit_and_assess(FCM(3, random_state=0), X, 2, [], bars)
    assert bars.added == ("clustering", "fitting again")
    assert bars.most == 1
    assert bars.tasks == []


def test_a_fit_that_fails_leaves_no_bar(X):
    bars = Diary()
    with pytest.raises(ValueError, match="at least 2 are needed"):
        _fit_and_assess(FCM(3, random_state=0), X * np.nan, 0, [], bars)
    assert bars.tasks == []


@pytest.fixture
def screen(monkeypatch):
    """What a terminal would show."""
    shown = io.StringIO()
    terminal = Console(file=shown, force_terminal=True, width=120)
    monkeypatch.setattr(console, "messages", lambda: terminal)
    return shown


def test_steps_are_shown_behind_the_last_bar_until_a_part_ends(screen, monkeypatch):
    clock = itertools.count(0.0, 10.0)
    monkeypatch.setattr(activity.time, "monotonic", lambda: next(clock))
    with progress() as bars:
        activity.step("nowhere to be shown")
        task = bars.add_task("clustering", total=3)
        activity.step("trying bandwidths")
        activity.step("trying bandwidths")
        bars.refresh()
        assert "trying bandwidths: 2" in screen.getvalue()
        bars.update(task, advance=1, description="bandwidths 1/3")
        assert bars.tasks[0].fields["doing"] == ""
        activity.step("trying bandwidths")
        activity.step("trying bandwidths")
        assert bars.tasks[0].fields["doing"].startswith("trying bandwidths: ")


def test_where_there_is_no_terminal_nobody_is_told_of_steps(capsys):
    with progress() as bars:
        bars.add_task("clustering", total=3)
        for _ in range(3):
            activity.step("trying bandwidths")
        assert bars.follower is None
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")
