"""The same results wherever tasks run; failures and dead processes cost no other task."""

from __future__ import annotations

from pathlib import Path

import fake_study
import numpy as np
import pytest
from threadpoolctl import threadpool_info

import kfrc
from kfrc_app.study.errors import StudyError
from kfrc_app.study.executors import LostSchedulerError, attempt, run_tasks
from kfrc_app.study.progress import StudyProgress
from kfrc_app.study.store import StudyStore

pytestmark = pytest.mark.slow


class Diary(StudyProgress):
    def __init__(self):
        self.begun, self.ended, self.notes = None, [], []

    def begin(self, n_tasks, n_done):
        self.begun = (n_tasks, n_done)

    def advance(self, key, failure=None):
        self.ended.append(key)

    def note(self, message):
        self.notes.append(message)


@pytest.fixture(autouse=True)
def _importable_by_workers(monkeypatch):
    """Workers of a local Dask cluster find the fake study as they find a library."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))


@pytest.fixture
def tasks(tmp_path):
    return [fake_study.FakeTask(index, trouble=str(tmp_path / "trouble")) for index in range(6)]


def run(tasks, folder, **options):
    store = StudyStore.create(folder, tasks)
    return store, run_tasks(tasks, fake_study.draw, store, **options)


def bits(store):
    frame = store.load()
    return {name: [value.hex() if isinstance(value, float) else value for value in frame[name]] for name in frame}


@pytest.fixture
def expected(tasks, tmp_path):
    return bits(run(tasks, tmp_path / "expected")[0])


def trouble(tmp_path, text):
    (tmp_path / "trouble").write_text(text)


def test_two_workers_give_the_bits_of_one(tasks, tmp_path, expected):
    store, report = run(tasks, tmp_path / "two", n_jobs=2)
    assert bits(store) == expected
    assert (report.n_tasks, report.n_computed, report.n_skipped, report.failures) == (6, 6, 0, {})


def test_a_local_dask_cluster_gives_the_bits_of_one_worker(tasks, tmp_path, expected):
    pytest.importorskip("distributed", reason="needs the extra 'distributed'")
    store, report = run(tasks, tmp_path / "dask", n_jobs=2, scheduler="local")
    assert bits(store) == expected
    assert report.n_computed == 6


def test_a_task_that_kills_its_dask_workers_fails_alone(tasks, tmp_path):
    dask = pytest.importorskip("dask", reason="needs the extra 'distributed'")
    pytest.importorskip("distributed", reason="needs the extra 'distributed'")
    trouble(tmp_path, "synthetic-002 die")
    with dask.config.set({"distributed.scheduler.allowed-failures": 1}):
        store, report = run(tasks, tmp_path / "dask", n_jobs=2, scheduler="local")
    assert list(report.failures) == ["synthetic-002"]
    assert "worker process died" in report.failures["synthetic-002"]
    assert len(store.state().seconds) == 5


def test_the_order_of_tasks_does_not_show(tasks, tmp_path, expected):
    assert bits(run(tasks[::-1], tmp_path / "reversed")[0]) == expected


def test_finished_tasks_are_not_computed_again(tmp_path):
    diary = tmp_path / "diary"
    tasks = [fake_study.FakeTask(index, diary=str(diary)) for index in range(4)]
    run(tasks, tmp_path / "out")
    progress = Diary()
    _, report = run(tasks, tmp_path / "out", progress=progress)
    assert (report.n_skipped, report.n_computed) == (4, 0)
    assert (progress.begun, progress.ended) == ((4, 4), [])
    assert len(diary.read_text().split()) == 4


def test_a_failure_is_recorded_with_its_reason_and_retried_on_request(tasks, tmp_path, expected):
    trouble(tmp_path, "synthetic-001 raise\nsynthetic-004 nested")
    store, report = run(tasks, tmp_path / "out")
    reasons = {
        "synthetic-001": "ArithmeticError: no luck with 1",
        "synthetic-004": "records cannot be stored: 'value' is a list, not a number or string",
    }
    assert report.failures == reasons
    assert "draw" in store.state().failures["synthetic-001"].traceback
    trouble(tmp_path, "")
    assert run(tasks, tmp_path / "out")[1].failures == reasons
    store, report = run(tasks, tmp_path / "out", retry_failed=True)
    assert (report.n_computed, report.failures) == (2, {})
    assert bits(store) == expected


def test_a_task_that_kills_its_process_fails_alone(tasks, tmp_path, expected):
    trouble(tmp_path, "synthetic-000 die\nsynthetic-003 die")
    progress = Diary()
    store, report = run(tasks, tmp_path / "out", n_jobs=2, progress=progress)
    assert set(report.failures) == {"synthetic-000", "synthetic-003"}
    assert "worker process died" in report.failures["synthetic-000"]
    assert len(store.state().seconds) == 4
    assert any("died" in note for note in progress.notes)
    assert sorted(progress.ended) == [task.key for task in tasks]
    trouble(tmp_path, "")
    store, _ = run(tasks, tmp_path / "out", n_jobs=2, retry_failed=True)
    assert bits(store) == expected


def test_a_damaged_shard_is_told_set_aside_and_computed_again(tasks, tmp_path, expected):
    store, _ = run(tasks, tmp_path / "out")
    store.shard_path("synthetic-002").write_bytes(b"PAR1")
    progress = Diary()
    store, report = run(tasks, tmp_path / "out", progress=progress)
    assert (report.set_aside, report.n_computed, report.n_skipped) == (("synthetic-002",), 1, 5)
    assert "damaged" in progress.notes[0]
    assert bits(store) == expected


def test_an_interrupted_run_keeps_what_it_finished_and_the_next_resumes(tasks, tmp_path, expected):
    class Interrupting(StudyProgress):
        def advance(self, key, failure=None):
            raise KeyboardInterrupt

    for n_jobs in (1, 2):
        with pytest.raises(KeyboardInterrupt):
            run(tasks, tmp_path / "out", n_jobs=n_jobs, progress=Interrupting())
    store, report = run(tasks, tmp_path / "out")
    assert (report.n_skipped, report.n_computed) == (2, 4)
    assert bits(store) == expected


def test_workers_of_another_version_stop_the_run(tasks, tmp_path, monkeypatch):
    store = StudyStore.create(tmp_path, tasks)
    monkeypatch.setattr(kfrc, "__version__", "9.9")
    with pytest.raises(StudyError, match=r"a worker has kfrc 9\.9"):
        run_tasks(tasks, fake_study.draw, store)
    assert store.load().empty


def blas_threads(task):
    np.linalg.eigvalsh(np.eye(3))
    return [{"threads": max(pool["num_threads"] for pool in threadpool_info())}]


def test_a_task_has_one_blas_thread_and_leaves_the_setting_as_it_was(tasks):
    before = [pool["num_threads"] for pool in threadpool_info()]
    assert attempt(blas_threads, tasks[0]).records == [{"threads": 1}]
    assert [pool["num_threads"] for pool in threadpool_info()] == before


def test_a_scheduler_that_does_not_answer_is_told(tasks, tmp_path, monkeypatch):
    pytest.importorskip("distributed", reason="needs the extra 'distributed'")
    monkeypatch.setattr("kfrc.blocks.connection.CONNECT_TIMEOUT", 1.0)
    with pytest.raises(LostSchedulerError, match="no Dask scheduler answers at tcp://"):
        run(tasks, tmp_path, scheduler="tcp://127.0.0.1:9")


def test_without_dask_the_message_says_what_to_install(tasks, tmp_path, monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr("kfrc.blocks.connection.import_module", missing)
    with pytest.raises(StudyError, match="pip install distributed"):
        run(tasks, tmp_path, scheduler="local")


def test_nothing_left_to_do_needs_no_cluster(tasks, tmp_path, monkeypatch):
    run(tasks, tmp_path)
    monkeypatch.setattr("kfrc.blocks.connection.import_module", None)
    _, report = run(tasks, tmp_path, scheduler="tcp://127.0.0.1:9")
    assert report.n_skipped == len(tasks)
