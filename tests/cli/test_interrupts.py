"""Ctrl-C: whatever is computed, the program ends at once with status 130 and one line, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from kfrc_app.runs.results import MODEL
from waiting import PATIENCE, wait_until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="needs groups of processes"),
]

BEGINNING = """
import os, pathlib, signal, sys, time

signal.signal(signal.SIGINT, signal.default_int_handler)  # tests that run in the background are told to ignore it

def reach():
    pathlib.Path(os.environ["REACHED"]).touch()
"""

PROGRAM = """
import numpy as np
import kfrc
from kfrc_app.__main__ import main

def sleep(*arguments, **options):
    reach()
    time.sleep(600)

def decompose(*arguments, **options):
    A = np.random.default_rng(0).normal(size=(4000, 4000))
    reach()
    np.linalg.eigh(A + A.T)
    pathlib.Path(os.environ["REACHED"]).with_name("computed").touch()

fit = kfrc.KFRC.fit

def fit_again(model, *arguments, **options):
    if hasattr(kfrc, "fitted"):
        sleep()
    kfrc.fitted = True
    return fit(model, *arguments, **options)

kfrc.KFRC.fit = {"sleeping": sleep, "in one long call": decompose, "refits": fit_again}[sys.argv.pop(1)]
main()
"""
"""The program, whose fits never end in ways of their own; then the file that REACHED names appears."""

STUDY = """
import kfrc_app.study.cell
from kfrc_app.__main__ import main

def run(task):
    reach()
    time.sleep(600)

kfrc_app.study.cell.run_task = run
main()
"""

STUDY_WHOSE_END_TAKES_LONG = (
    """
from joblib._parallel_backends import LokyBackend

def abort(*arguments, **options):
    pathlib.Path(os.environ["REACHED"]).with_name("ending").touch()
    time.sleep(600)

LokyBackend.abort_everything = LokyBackend.terminate = abort
"""
    + STUDY
)
"""The same; ending its workers as joblib does never ends."""

SCRIPT = """
import numpy as np
from kfrc import KFRC

class Tell:
    def setup(self, estimator, context): ...
    def teardown(self, estimator, context): ...
    def on_fit_task_begin(self, estimator, context): ...
    def on_fit_task_end(self, estimator, context):
        reach()

X = np.random.default_rng(0).normal(size=(400, 30))
try:
    KFRC.paper(3, n_starts=10_000, n_jobs=int(sys.argv[1]), random_state=0).set_callbacks(Tell()).fit(X)
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.fixture
def interrupt(tmp_path_factory):
    """Run a program until it is where it should be, then press Ctrl-C; returns (status, output, errors)."""
    processes = []

    def interrupted(code, *arguments, everybody=True, twice=False):
        reached = tmp_path_factory.mktemp("reached") / "there"
        process = subprocess.Popen(
            [sys.executable, "-c", BEGINNING + code, *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "REACHED": str(reached)},
        )
        processes.append(process)
        wait_for(reached, process)
        # A terminal sends the signal to the workers as well, kill -INT does not.
        (os.killpg if everybody else os.kill)(process.pid, signal.SIGINT)
        if twice:
            wait_for(reached.with_name("ending"), process)
            (os.killpg if everybody else os.kill)(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
        assert_nobody_is_left(process.pid)
        assert not reached.with_name("computed").exists(), "it answered when the work was done"
        return process.returncode, out, err

    yield interrupted
    for process in processes:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def wait_for(file, process):
    """Wait until a process has made a file."""
    wait_until(lambda: file.exists() or process.poll() is not None)
    assert file.exists(), process.communicate()


def assert_nobody_is_left(group):
    """Wait until a group of processes is gone."""

    def is_gone():
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        return False

    wait_until(is_gone)


def everything_in(folder):
    return {path: path.read_bytes() if path.is_file() else None for path in sorted(folder.rglob("*"))}


with_workers = pytest.mark.parametrize(
    ("n_jobs", "everybody"),
    [(1, True), (2, True), pytest.param(2, False, marks=pytest.mark.long)],
    ids=["alone", "workers, from a terminal", "workers, by kill"],
)


@pytest.mark.parametrize("where", ["sleeping", "in one long call"])
def test_an_interrupted_fit_leaves_the_old_result_and_nothing_else(interrupt, iris_csv, tmp_path, where):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / MODEL).write_text("of an earlier run")
    before = everything_in(tmp_path)
    command = ("fit", iris_csv, "-c", 2, "-o", tmp_path / "out", "--force", "--no-report", "--refits", 0)
    assert interrupt(PROGRAM, where, *command) == (130, "", "kfrc: interrupted\n")
    assert everything_in(tmp_path) == before


def test_refits_can_be_interrupted(interrupt, iris_csv, tmp_path):
    # One refit is always made in this process, however slow the machine is.
    command = ("fit", iris_csv, "-c", 2, "-o", tmp_path / "out", "--refits", 1)
    assert interrupt(PROGRAM, "refits", *command) == (130, "", "kfrc: interrupted\n")
    assert not (tmp_path / "out").exists()


def test_a_comparison_can_be_interrupted(interrupt, iris_csv):
    assert interrupt(PROGRAM, "in one long call", "compare", iris_csv, "-c", 2) == (130, "", "kfrc: interrupted\n")


@with_workers
def test_an_interrupted_study_says_how_to_go_on(interrupt, tmp_path, n_jobs, everybody):
    command = ("study", "run", "synthetic", "--out", tmp_path / "out", "--n-jobs", n_jobs)
    code, out, err = interrupt(STUDY, *command, everybody=everybody)
    assert (code, out) == (130, "")
    assert err == "kfrc: interrupted; finished tasks are kept, and the same command resumes\n"
    assert not list(Path(tmp_path / "out").rglob("*.parquet"))


def test_a_second_interrupt_ends_the_workers_too(interrupt, tmp_path):
    command = ("study", "run", "synthetic", "--out", tmp_path / "out", "--n-jobs", 2)
    ended = interrupt(STUDY_WHOSE_END_TAKES_LONG, *command, everybody=False, twice=True)
    assert ended == (130, "", "kfrc: interrupted\n")


@with_workers
@pytest.mark.usefixtures("callbacks")
def test_a_script_gets_the_exception_of_python(interrupt, n_jobs, everybody):
    code, out, _ = interrupt(SCRIPT, n_jobs, everybody=everybody)
    assert (code, out) == (0, "interrupted\n")
