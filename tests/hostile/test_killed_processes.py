"""Processes that are killed: what they were at is done again or told, what they left is removed, the next ones work."""

from __future__ import annotations

import asyncio
import os
import signal
from concurrent.futures.process import BrokenProcessPool
from types import SimpleNamespace

import numpy as np
import pytest

from kfrc.blocks import ClusterEngine, LocalEngine, WorkerError
from kfrc.blocks.partition import Partition
from kfrc.blocks.reader import Coding, Reader
from kfrc.sources import ArraySource
from kfrc_app.server import limits, work, workers
from kfrc_app.server.jobs import Runs, State
from kfrc_app.server.uploads import Uploads
from kfrc_app.server.workers import WorkerEndedError, Workers
from waiting import wait_until

pytestmark = pytest.mark.slow

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
    wait_until(lambda: run.is_over and run.upload.users == 0)
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


class Held:
    """Something that a cluster keeps."""

    def __init__(self, value):
        self.value = value

    def cancelled(self):
        return False


class Later(Held):
    """The result of a task; it, and the rows that it needs, may be lost while it is fetched."""

    is_lost = False

    def done(self):
        return True

    def release(self):
        pass

    def result(self):
        if self.is_lost:
            raise pytest.importorskip("distributed").CancelledError("its worker was killed")
        return self.value()


class Losing:
    """A cluster that loses some results with the rows they need."""

    status = "running"

    def __init__(self, is_lost):
        self.is_lost, self.n_submitted, self.n_sent = is_lost, 0, 0

    def nthreads(self):
        return {"worker": 1}

    def scatter(self, pieces, hash):
        self.n_sent += 1
        return [Held(piece) for piece in pieces]

    def submit(self, function, *arguments, **options):
        self.n_submitted += 1
        given = [each.value if isinstance(each, Held) else each for each in arguments]
        later = Later(lambda: function(*given))
        later.is_lost = self.is_lost(self.n_submitted)
        return later

    def cancel(self, futures, force):
        pass


ROWS = np.random.default_rng(0).normal(size=(200_000, 2))


def passed_over(engine):
    """Sums of the values of every block."""
    source = ArraySource(ROWS)
    reader = Reader(source, Coding(), Partition(source.n_rows, 1))
    return [*engine.each(lambda block: block.values.sum(), reader, "testing")]


def test_rows_that_are_lost_while_a_result_is_fetched_are_sent_again():
    cluster = Losing(lambda n: n in (2, 3, 5))
    assert passed_over(ClusterEngine(cluster)) == passed_over(LocalEngine(1))
    assert cluster.n_sent == 4 + 3


def test_rows_that_are_lost_again_and_again_end_the_fit_with_one_line():
    with pytest.raises(WorkerError, match="died again and again"):
        passed_over(ClusterEngine(Losing(lambda n: n > 1)))


def test_a_scheduler_that_is_gone_is_told_as_such():
    cluster = Losing(lambda n: n > 1)
    cluster.status = "closed"
    with pytest.raises(WorkerError, match="lost the connection"):
        passed_over(ClusterEngine(cluster))


GONE = {
    "message": lambda: pytest.importorskip("distributed.comm").CommClosedError("in <TCP (closed) local=tcp://1>"),
    "time": lambda: OSError("Timed out trying to connect to tcp://127.0.0.1:1 after 10 s"),
    "pool": lambda: RuntimeError("ConnectionPool is closed"),
    "client": lambda: pytest.importorskip("distributed.client").ClosedClientError("Can't send cancel-keys message."),
}


class Failing(Losing):
    """A cluster whose scheduler does not answer a question any more."""

    def __init__(self, question, error, status):
        super().__init__(lambda n: False)
        self.question, self.error, self.fails_as = question, error, status

    def _fail(self, question):
        if question == self.question:
            self.status = self.fails_as
            raise self.error

    def nthreads(self):
        self._fail("nthreads")
        return super().nthreads()

    def submit(self, function, *arguments, **options):
        self._fail("submit")
        if self.question == "result":
            return Later(lambda: self._fail("result"))
        return super().submit(function, *arguments, **options)

    def cancel(self, futures, force):
        self._fail("cancel")


@pytest.mark.parametrize("status", ["closed", "connecting"])
@pytest.mark.parametrize("question", ["nthreads", "submit", "result", "cancel"])
@pytest.mark.parametrize("gone", GONE)
def test_a_scheduler_that_dies_is_one_sentence_wherever_it_is_noticed(gone, question, status):
    engine = ClusterEngine(Failing(question, GONE[gone](), status))
    with pytest.raises(WorkerError, match=r"lost the connection .* start it and its workers again, and repeat the fit"):
        (engine.partition(ArraySource(ROWS)), passed_over(engine))


def test_what_a_task_raises_is_raised_as_it_is():
    engine = ClusterEngine(Failing("result", OSError("no space"), "running"))
    with pytest.raises(OSError, match="no space"):
        passed_over(engine)
