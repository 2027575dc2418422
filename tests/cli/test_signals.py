"""SIGTERM: the program ends at once with status 143, removes what is half made and leaves what was there."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from kfrc import FCM
from kfrc_app.cli.termination import orderly_termination
from kfrc_app.models import dump_model
from kfrc_app.runs.results import MODEL
from waiting import PATIENCE, wait_until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="needs SIGTERM"),
]

STANDING_STILL = """
import os, pathlib, sys, time
import kfrc, kfrc_app.output
from kfrc_app.__main__ import main

def stand_still(*arguments, **options):
    pathlib.Path(os.environ["REACHED"]).touch()
    time.sleep(600)

write = kfrc_app.output._write
if sys.argv[1] == "computing":
    kfrc.KFRC.fit = stand_still
else:
    kfrc_app.output._write = lambda *arguments: (write(*arguments), stand_still())
del sys.argv[1]
main()
"""
"""The program, which stays where it computes or writes; then the file that REACHED names appears."""

FIXED = ("--level", "1", "--max-anisotropy", "1", "-m", "2", "--starts", "1", "--no-report", "--refits", "0")


@pytest.fixture
def terminate(tmp_path_factory):
    """Run the program until it stands still, end it with SIGTERM; returns (status, output, messages)."""
    processes = []

    def terminated(where, *arguments):
        reached = tmp_path_factory.mktemp("reached") / "there"
        command = [sys.executable, "-c", STANDING_STILL, where, *map(str, arguments)]
        processes.append(
            subprocess.Popen(
                command,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "REACHED": str(reached)},
            )
        )
        wait_until(lambda: reached.exists() or processes[-1].poll() is not None)
        assert reached.exists(), processes[-1].communicate()
        processes[-1].send_signal(signal.SIGTERM)
        out, err = processes[-1].communicate(timeout=PATIENCE)
        return processes[-1].returncode, out, err

    yield terminated
    for process in processes:
        process.kill()
        process.communicate()


def everything_in(folder):
    return {path: path.read_bytes() if path.is_file() else None for path in sorted(folder.rglob("*"))}


@pytest.mark.parametrize("where", ["computing", "writing"])
def test_a_terminated_fit_leaves_the_old_result_and_nothing_else(terminate, iris_csv, tmp_path, where):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / MODEL).write_text("of an earlier run")
    before = everything_in(tmp_path)
    code, out, err = terminate(where, "fit", iris_csv, "-c", 2, "-o", tmp_path / "out", "--force", *FIXED)
    assert (code, out) == (128 + signal.SIGTERM, "")
    assert err.count("\n") <= 1
    assert everything_in(tmp_path) == before


@pytest.fixture
def model(iris_frame, tmp_path):
    """Path of a model of iris."""
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / MODEL).write_bytes(dump_model(FCM(3, random_state=0).fit(iris_frame.drop(columns="species"))))
    return folder / MODEL


def test_a_terminated_prediction_leaves_no_file(terminate, model, iris_csv, tmp_path):
    before = everything_in(tmp_path)
    code, _, err = terminate("writing", "predict", model, iris_csv, "-o", tmp_path / "new" / "found.csv")
    assert code == 128 + signal.SIGTERM
    assert "Traceback" not in err
    assert everything_in(tmp_path) == before


def test_a_prediction_finds_the_model_of_a_folder_that_stepped_aside_for_a_killed_run(run, model, iris_csv):
    before = run("predict", model, iris_csv).out
    model.parent.rename(model.parent.with_name(".out.0123abcd.old"))
    assert run("predict", model, iris_csv).out == before
    assert model.exists()


def test_a_program_that_has_its_own_way_with_the_signal_keeps_it():
    for own in (signal.SIG_IGN, lambda number, frame: None):
        before = signal.signal(signal.SIGTERM, own)
        try:
            with orderly_termination():
                assert signal.getsignal(signal.SIGTERM) is own
        finally:
            signal.signal(signal.SIGTERM, before)
    with orderly_termination():
        assert signal.getsignal(signal.SIGTERM) is not before
    assert signal.getsignal(signal.SIGTERM) is before
