"""Processes that are killed: what they were at is told, what they left is removed, and the next ones work."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from concurrent.futures.process import BrokenProcessPool
from types import SimpleNamespace

import pytest

from kfrc_app.server import limits, work, workers
from kfrc_app.server.jobs import Runs, State
from kfrc_app.server.uploads import Uploads
from kfrc_app.server.workers import WorkerEndedError, Workers

ENDED = "The work ended before it was done"


class Idle:
    """A worker that does nothing, and may die."""

    def __init__(self, folder):
        self.is_alive, self.ended = True, False

    def end(self):
        self.ended = True


@pytest.mark.parametrize("how", ["take", "warm"])
def test_a_process_that_died_while_it_was_ready_is_buried(tmp_path, monkeypatch, how):
    monkeypatch.setattr(workers, "Worker", Idle)
    all_workers = Workers(tmp_path)
    all_workers.warm()
    dead = all_workers._ready
    dead.is_alive = False
    getattr(all_workers, how)()
    assert dead.ended
    assert len(all_workers._all) == 1


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs kill -9")
def test_temporary_files_of_a_process_that_was_killed_are_removed(tmp_path):
    psutil = pytest.importorskip("psutil")
    all_workers = Workers(tmp_path)
    try:
        worker = all_workers.take()
        place = psutil.Process(worker.process.pid).environ()["TMPDIR"]
        with open(os.path.join(place, "half a table"), "wb") as file:
            file.write(b"1,2")
        os.kill(worker.process.pid, signal.SIGKILL)
        worker.process.wait()
        all_workers.give_back(worker)
        assert [*tmp_path.iterdir()] == []
    finally:
        all_workers.close()


class Dying:
    """Workers that die while they write their results."""

    def take(self):
        return self

    def do(self, task, tell):
        path = task["out"]
        for name in (path, os.path.join(os.path.dirname(path), f".{os.path.basename(path)}.0123abcd.partial")):
            os.mkdir(name)
            with open(os.path.join(name, "memberships.csv"), "wb") as file:
                file.write(b"1,2")
        raise WorkerEndedError

    def warm(self):
        pass

    def give_back(self, worker):
        pass


class Surprising(Dying):
    """Workers that fail in a way that nobody thought of."""

    def take(self):
        raise RuntimeError("a surprise")


@pytest.fixture
def uploads(tmp_path):
    return Uploads(tmp_path)


@pytest.fixture
def upload(uploads):
    async def chunks():
        yield b"x"

    return asyncio.run(uploads.receive(chunks(), "a.csv"))


def ended(run):
    limit = time.monotonic() + 60
    while not (run.is_over and run.upload.users == 0) and time.monotonic() < limit:
        time.sleep(0.01)
    return run.state


def test_what_a_run_had_begun_to_write_is_removed_when_its_process_dies(tmp_path, uploads, upload):
    runs = Runs(tmp_path, Dying(), uploads)
    try:
        run = runs.add(upload, {})
        assert ended(run) is State.FAILED
        assert ENDED in run.result["problem"]
        assert [*tmp_path.iterdir()] == [upload.path]
    finally:
        runs.close()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")  # for code that lets it pass
def test_a_surprise_ends_one_run_and_not_those_that_wait(tmp_path, uploads, upload):
    runs = Runs(tmp_path, Surprising(), uploads)
    try:
        for _ in range(limits.MAX_RUNNING + 1):
            run = runs.add(upload, {})
            assert ended(run) is State.FAILED
    finally:
        runs.close()


def test_a_killed_process_of_a_check_is_told_as_one_and_not_as_a_surprise():
    def broken(task, tell):
        raise BrokenProcessPool("a process in the process pool was terminated abruptly")

    answer = work._done(SimpleNamespace(TASKS={"cluster": broken}), {"do": "cluster"}, print)
    assert ENDED in answer["problem"]
    assert "details" not in answer
