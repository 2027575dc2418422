"""Activity: what long computations tell of themselves, how often, to whom, and that nothing depends on it."""

from __future__ import annotations

import itertools
import multiprocessing
import signal
import time
from contextlib import nullcontext

import numpy as np
import pytest
from joblib import Parallel, delayed
from joblib.externals.loky import get_reusable_executor
from numpy.testing import assert_array_equal

from kfrc import FANNY, FCM, FCMMK, FRC, KFRC, MSFCM, NERFCM, RFCM, VFCM, activity
from kfrc.activity import Follower, contained, follow, results, start_following, step
from kfrc.confidence import assess
from kfrc.existence import test_existence as one_group_test
from waiting import PATIENCE, wait_until


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    return rng.normal(size=(60, 3)) + 4.0 * np.repeat(np.eye(3), 20, axis=0)


@pytest.fixture
def clock(monkeypatch):
    """A clock that the test moves."""

    class Clock:
        now = 0.0

    monkeypatch.setattr(time, "monotonic", lambda: Clock.now)
    return Clock


def test_steps_are_shown_only_if_nothing_was_for_a_while(clock):
    told = []
    follower = Follower(told.append, every=1.0)
    for clock.now in (0.0, 0.5, 0.9, 1.0, 1.5, 2.1):
        follower.step("trying")
    assert told == ["trying: 4", "trying: 6"]


def test_a_finished_part_is_named_and_counts_begin_anew(clock):
    told = []
    follower = Follower(told.append, every=1.0)
    follower.step("trying")
    follower.finish("bandwidths 1/3")
    clock.now = 0.9
    follower.step("trying")
    clock.now = 1.2
    follower.step("trying")
    follower.step("comparing", 3, 60)
    clock.now = 3.0
    follower.step("comparing", 4, 60)
    assert told == ["bandwidths 1/3, trying: 2", "bandwidths 1/3, comparing: 4 of 60"]


def test_a_part_of_a_step_is_shown_only_if_the_step_lasts(clock):
    told = []
    follower = Follower(told.append, every=1.0)
    for clock.now in (1.2, 1.9, 2.1):
        follower.step("going through the rows", 1, 9, inner=True)
    assert told == ["going through the rows: 1 of 9"]


def test_everybody_around_a_computation_is_told():
    outer, inner = [], []
    with follow(outer.append, every=0.0):
        step("one")
        with follow(inner.append, every=0.0):
            step("two")
        step("three")
    step("nobody hears this")
    assert inner == ["two: 1"]
    assert outer == ["one: 1", "two: 1", "three: 1"]


def test_who_begins_to_follow_in_a_block_that_fails_has_ended():
    told = []

    @contained()
    def fail():
        start_following(told.append, every=0.0)
        step("inside")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    step("outside")
    assert told == ["inside: 1"]


# --- workers ---


def work(k, heard):
    """Make steps until a file says that somebody has heard of them."""
    end = time.monotonic() + PATIENCE
    while not heard.exists() and time.monotonic() < end:
        step("working")
        time.sleep(0.02)
    return k


def test_steps_of_workers_are_told_where_they_are_waited_for(tmp_path):
    heard, told = tmp_path / "heard", []

    def show(text):
        told.append(text)
        heard.touch()

    with follow(show, every=0.0):
        parallel = Parallel(n_jobs=2, return_as="generator")
        assert list(results(parallel, (delayed(work)(k, heard) for k in range(2)))) == [0, 1]
    assert told[0].startswith("working: ")


@pytest.mark.parametrize("return_as", ["list", "generator"])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_results_are_those_of_joblib_in_their_order(n_jobs, return_as):
    calls = [delayed(pow)(k, 2) for k in range(5)]
    parallel = Parallel(n_jobs=n_jobs, return_as=return_as)
    assert list(results(parallel, calls)) == [0, 1, 4, 9, 16]
    with follow(print):
        assert list(results(parallel, calls)) == [0, 1, 4, 9, 16]


def test_an_error_of_who_shows_the_steps_of_workers_is_not_lost(tmp_path):
    heard = tmp_path / "heard"

    def show(text):
        heard.touch()
        raise ZeroDivisionError

    calls = (delayed(work)(k, heard) for k in range(2))
    with follow(show, every=0.0), pytest.raises(ZeroDivisionError):
        list(results(Parallel(n_jobs=2, return_as="generator"), calls))


def test_an_error_of_a_worker_is_raised():
    with follow(print), pytest.raises(ZeroDivisionError):
        list(results(Parallel(n_jobs=2, return_as="generator"), [delayed(divmod)(1, 0)] * 2))


@pytest.mark.parametrize("followed", [False, True])
def test_nobody_works_on_for_results_that_are_no_longer_waited_for(followed):
    with follow(print) if followed else nullcontext():
        found = results(Parallel(n_jobs=2, return_as="generator"), [delayed(pow)(1, 2), delayed(time.sleep)(600)])
        assert next(found) == 1
        before = {child.pid for child in multiprocessing.active_children()}
        found.close()
    wait_until(lambda: not before & {child.pid for child in multiprocessing.active_children()})


# --- fits ---


class Recorder:
    """A scikit-learn callback that writes down every task with its depth."""

    def __init__(self):
        self.begun, self.ended = [], []

    def setup(self, estimator, context): ...
    def teardown(self, estimator, context): ...
    def on_fit_task_begin(self, estimator, context):
        self.begun.append((depth(context), context.task_name))

    def on_fit_task_end(self, estimator, context):
        self.ended.append((depth(context), context.task_name))


def depth(context):
    return 0 if context.parent is None else 1 + depth(context.parent)


@pytest.fixture
def restless(monkeypatch):
    """Every step is shown."""
    monkeypatch.setattr(activity.start_following, "__defaults__", (0.0,))


METHODS = [
    *(method(3, random_state=0) for method in (FCM, FCMMK, FRC, MSFCM, NERFCM, RFCM, VFCM)),
    FANNY(3),
    KFRC(3, random_state=0),
    KFRC.paper(3, n_starts=2, random_state=0),
    KFRC("auto", max_clusters=5, random_state=0),
    KFRC(3, kernel="path", random_state=0),
]


@pytest.mark.slow
@pytest.mark.parametrize("model", METHODS, ids=lambda model: type(model).__name__)
@pytest.mark.usefixtures("restless", "callbacks")
def test_steps_are_tasks_inside_the_parts_of_a_fit(model, X):
    recorder = Recorder()
    model.set_callbacks(recorder).fit(X)
    assert len(recorder.begun) == len(recorder.ended)
    assert {level for level, _ in recorder.ended} == {0, 1, 2}
    # A part ends after its steps and before the next part: bars built from that never go back.
    levels = [level for level, _ in recorder.begun]
    assert levels[:2] == [0, 1]
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    assert recorder.ended[-1][0] == 0
    model.set_callbacks()


@pytest.mark.usefixtures("restless", "callbacks")
def test_the_parts_of_a_fit_have_the_names_that_they_have_without_steps(X, monkeypatch):
    shown, silent = Recorder(), Recorder()
    KFRC(3, random_state=0).set_callbacks(shown).fit(X)
    monkeypatch.setattr(activity.start_following, "__defaults__", (1e9,))
    KFRC(3, random_state=0).set_callbacks(silent).fit(X)
    parts = [name for level, name in shown.ended if level == 1 and name != "finishing"]
    assert parts == [name for level, name in silent.ended if level == 1]
    assert "bandwidths 1/3, " in next(name for level, name in shown.ended if level == 2 and "bandwidths 1" in name)


@pytest.mark.slow
@pytest.mark.usefixtures("restless", "callbacks")
def test_following_changes_no_result(X):
    alone = KFRC("auto", max_clusters=4, random_state=0).fit(X)
    followed = KFRC("auto", max_clusters=4, random_state=0).set_callbacks(Recorder()).fit(X)
    assert_array_equal(alone.memberships_, followed.memberships_)


@pytest.mark.usefixtures("restless")
def test_verbose_prints_the_steps_of_a_part_that_lasts(X, capsys):
    FCM(3, random_state=0, verbose=1).fit(X)
    assert "FCM:   clustering: 1\n" in capsys.readouterr().out


@pytest.mark.usefixtures("callbacks")
def test_nobody_is_told_of_a_fit_after_its_end(X):
    told = []
    with follow(told.append, every=0.0):
        FCM(3, random_state=0).set_callbacks(Recorder()).fit(X)
    n_told = len(told)
    assert n_told > 0
    with pytest.raises(ValueError, match="n_clusters"):
        FCM(99, random_state=0, verbose=1).fit(X)
    step("after the end")
    assert len(told) == n_told


def test_functions_can_be_followed_as_well_as_fits(X):
    told = []
    with follow(told.append, every=0.0):
        assess(FCM(3, random_state=0), X, n_refits=2, existence=False, random_state=0)
        one_group_test(X, n_draws=19, random_state=0)
    assert any(text.startswith("clustering: ") for text in told)
    assert told[-1] == "testing whether there are groups: 19 of 19"


def heard_interrupts(_):
    return signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="needs masks of signals")
@pytest.mark.parametrize("followed", [False, True])
def test_workers_leave_the_answer_to_ctrl_c_to_the_process_that_started_them(followed):
    get_reusable_executor().shutdown(wait=True)  # workers of earlier tests may have been started by somebody else
    calls = [delayed(heard_interrupts)(k) for k in range(4)]
    with contained():
        if followed:
            start_following(lambda text: None)
        assert not any(results(Parallel(n_jobs=2, return_as="generator"), calls))
    assert heard_interrupts(0)


def test_without_a_follower_a_step_costs_less_than_a_small_matrix_product():
    A = np.ones((10, 10))

    def seconds(function):
        times = []
        for _ in range(20):
            begin = time.thread_time()
            for _ in range(1000):
                function()
            times.append(time.thread_time() - begin)
        return min(times)

    assert seconds(lambda: step("trying")) < 2.0 * seconds(lambda: A @ A)
