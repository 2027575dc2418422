"""Who looks at a study takes no lock, is never refused, and never disturbs the run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading

import fake_study
import pytest
from typer.testing import CliRunner

from kfrc_app.cli import study as verbs
from kfrc_app.study.executors import run_tasks
from kfrc_app.study.store import StudyStore

pytestmark = pytest.mark.slow

TASKS = [fake_study.FakeTask(index, n_records=1) for index in range(40)]


@pytest.fixture
def store(tmp_path):
    return StudyStore.create(tmp_path / "out", TASKS, settings={"study": "synthetic"})


def status(store):
    ended = CliRunner().invoke(verbs.app, ["status", str(store.folder)])
    assert ended.exit_code == 0, ended.output
    assert ended.stderr == ""
    return dict(line.split(maxsplit=1) for line in ended.stdout.splitlines())


def test_status_takes_no_lock_and_writes_nothing(store, monkeypatch):
    fcntl = pytest.importorskip("fcntl", reason="no file locks on this platform")
    with store.lock(workers=2):
        pass
    before = {path: path.stat().st_mtime_ns for path in (store.folder, *store.folder.rglob("*"))}

    def locked(*arguments):
        raise AssertionError("a lock was asked for")

    monkeypatch.setattr(fcntl, "flock", locked)
    status(store)
    assert {path: path.stat().st_mtime_ns for path in (store.folder, *store.folder.rglob("*"))} == before


def test_no_run_is_refused_because_somebody_looks(store):
    stop = threading.Event()

    def look():
        while not stop.is_set():
            store.last_run()

    lookers = [threading.Thread(target=look) for _ in range(2)]
    for looker in lookers:
        looker.start()
    try:
        for _ in range(50):
            with store.lock(workers=1):
                pass
    finally:
        stop.set()
        for looker in lookers:
            looker.join()


def test_every_look_at_a_run_succeeds_and_sees_whole_files(store):
    problems, begun, ended = [], threading.Event(), threading.Event()

    def draw(task):
        begun.set()
        return fake_study.draw(task)

    def run():
        try:
            for _ in range(2):
                for key in store.fingerprints:
                    store.shard_path(key).unlink(missing_ok=True)
                run_tasks(TASKS, draw, store)
        except Exception as error:
            problems.append(error)
        finally:
            begun.set()
            ended.set()

    runner = threading.Thread(target=run)
    runner.start()
    begun.wait()
    looks = []
    while not ended.is_set() or len(looks) < 20:
        looks.append(status(store))
    runner.join()
    assert problems == []
    assert all("damaged" not in look and look["failed"] == "0" for look in looks)
    assert status(store)["done"] == "40 of 40"


def test_a_run_under_way_is_told_from_one_that_was_killed(store):
    with store.lock(workers=3):
        note = json.loads((store.folder / "run.json").read_text())
        assert store.last_run() == (True, 3)
    assert store.last_run() == (False, 3)
    if os.name != "posix":
        return
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    for change in ({"pid": ended.pid}, {"pid": os.getpid(), "started": "another time"}):
        (store.folder / "run.json").write_text(json.dumps(note | change))
        assert store.last_run() == (False, 3), change


def test_a_run_removes_its_own_leftovers_and_nothing_else(store):
    own = [store.folder / ".tmp-7-0a1b2c3d", store.folder / "shards" / ".tmp-8-0a1b2c3d"]
    foreign = [store.folder / ".tmp-notes", store.folder / "mine" / ".tmp-7-0a1b2c3d"]
    (store.folder / "mine").mkdir()
    (store.folder / ".tmp-9-0a1b2c3d").mkdir()
    for path in (*own, *foreign):
        path.write_text("")
    with store.lock():
        assert [path.exists() for path in own] == [False, False]
        assert [path.exists() for path in foreign] == [True, True]
        assert (store.folder / ".tmp-9-0a1b2c3d").is_dir()
