"""The folder of a study: nothing partial, nothing lost, nothing counted twice."""

from __future__ import annotations

import errno
import json
import math
import os
import subprocess
import sys
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow.parquet as pq
import pytest

from kfrc_app.study.errors import CorruptShardError, DiskFullError, SettingsError, StudyError
from kfrc_app.study.progress import Failure, StudyState
from kfrc_app.study.store import StudyStore, fingerprint

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Inner:
    values: tuple[float, ...] = (1.0, math.inf)


@dataclass(frozen=True)
class SomeTask:
    key: str
    inner: Inner = Inner()
    where: str = field(default="here", compare=False)


TASKS = [SomeTask(key) for key in ("b", "a", "c")]
RECORDS = [{"x": 0.1 + 0.2, "name": "one", "n": 3, "ok": True}, {"x": math.nan, "name": None, "extra": -0.0}]


@pytest.fixture
def store(tmp_path):
    return StudyStore.create(tmp_path / "out", TASKS, settings={"study": "synthetic", "preset": "smoke"})


def files(store):
    return sorted(path.name for path in (store.folder / "shards").iterdir())


def test_records_come_back_bit_for_bit_in_the_order_of_keys(store):
    store.write("b", [{"x": 2.5, "name": "two"}], 1.0)
    store.write("a", RECORDS, 1.0)
    frame = store.load()
    assert list(frame) == ["x", "name", "n", "ok", "extra"]
    assert frame["x"].to_numpy().tobytes() == np.array([0.1 + 0.2, math.nan, 2.5]).tobytes()
    assert frame["name"].to_list()[0::2] == ["one", "two"]
    assert math.copysign(1, frame["extra"][1]) == -1


def test_the_order_of_completion_does_not_show(tmp_path):
    frames = []
    for order in (("a", "b", "c"), ("c", "b", "a")):
        store = StudyStore.create(tmp_path / "".join(order), TASKS)
        for key in order:
            store.write(key, [{"task": key, "x": 1 if key == "b" else 0.5, "only": None if key == "a" else key}], 1.0)
        frames.append(store.load())
    assert frames[0].equals(frames[1])
    assert list(frames[0].dtypes) == list(frames[1].dtypes)


def test_a_folder_without_results_loads_as_an_empty_frame(store):
    assert store.load().empty


def test_numpy_scalars_are_stored_as_numbers(store):
    store.write("a", [{"x": np.float32(0.5), "n": np.int64(3), "ok": np.bool_(True)}], 1.0)
    assert store.load().to_dict("records") == [{"x": 0.5, "n": 3, "ok": True}]


@pytest.mark.parametrize("records", [[{"x": [1]}], [{"x": 1}, {"x": "one"}], [{"x": 2**70}]])
def test_records_that_do_not_fit_a_table_are_refused(store, records):
    with pytest.raises(ValueError, match="records cannot be stored"):
        store.write("a", records, 1.0)
    assert files(store) == []


def test_records_of_different_tasks_must_fit_together(store):
    store.write("a", [{"x": 1}], 1.0)
    store.write("b", [{"x": "one"}], 1.0)
    with pytest.raises(StudyError, match="do not fit into one table"):
        store.load()


def test_writing_twice_counts_once(store):
    store.write("a", RECORDS, 1.0)
    store.write("a", RECORDS, 2.0)
    assert len(files(store)) == 1
    assert len(store.load()) == len(RECORDS)


def test_a_shard_is_plain_parquet(store):
    store.write("a", RECORDS, 1.5)
    file = pq.ParquetFile(store.shard_path("a"))
    assert file.read().num_rows == 2
    assert {b"key", b"version", b"fingerprint", b"seconds", b"checksum"} <= set(file.metadata.metadata)


def test_every_changed_byte_and_every_truncation_is_detected(store):
    store.write("a", RECORDS, 1.0)
    path = store.shard_path("a")
    good = path.read_bytes()
    for position in range(len(good)):
        path.write_bytes(good[:position] + bytes([good[position] ^ 1]) + good[position + 1 :])
        assert "a" in store.state().corrupt, position
    for length in range(0, len(good), 7):
        path.write_bytes(good[:length])
        assert "a" in store.state().corrupt, length
    with pytest.raises(CorruptShardError, match="damaged"):
        store.load()
    path.write_bytes(good)
    assert list(store.state().seconds) == ["a"]


def test_a_shard_of_another_task_is_not_accepted(store):
    store.write("a", RECORDS, 1.0)
    store.shard_path("b").write_bytes(store.shard_path("a").read_bytes())
    assert "another task" in store.state().corrupt["b"]


def test_a_damaged_shard_is_moved_aside_and_kept(store):
    store.shard_path("a").write_bytes(b"rubbish")
    for _ in range(2):
        store.shard_path("a").write_bytes(b"rubbish")
        assert store.set_aside("a").read_bytes() == b"rubbish"
    assert store.state().corrupt == {}
    assert len(list((store.folder / "corrupt").iterdir())) == 2
    store.set_aside("a")  # gone already: not an error


def test_shards_depend_on_version_and_configuration(tmp_path):
    names = {
        StudyStore.create(tmp_path / name, tasks, version=version).shard_path("a").name
        for name, version, tasks in [
            ("first", "1.0", TASKS),
            ("version", "1.1", TASKS),
            ("configuration", "1.0", [replace(task, inner=Inner((2.0,))) for task in TASKS]),
        ]
    }
    assert len(names) == 3


def test_fingerprint_is_the_configuration_only_and_the_same_in_every_process():
    task = SomeTask("a")
    assert fingerprint(task) == fingerprint(replace(task, where="there"))
    assert fingerprint(task) != fingerprint(replace(task, inner=Inner((1.0,))))
    code = "from test_store import *; print(fingerprint(SomeTask('a')))"
    environment = {**os.environ, "PYTHONPATH": os.path.dirname(__file__), "PYTHONHASHSEED": "1"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == fingerprint(task)


def test_a_configuration_must_be_plain():
    with pytest.raises(TypeError, match="plain values"):
        fingerprint(SomeTask("a", inner=object()))


@pytest.mark.parametrize("keys", [("a", "a"), ("a/b",), ("",), ("..",), ("x" * 200,)])
def test_keys_must_be_unique_and_safe(tmp_path, keys):
    with pytest.raises(ValueError, match="task keys"):
        StudyStore.create(tmp_path, [SomeTask(key) for key in keys])


def test_the_same_study_is_opened_again(store):
    store.write("a", RECORDS, 1.0)
    again = StudyStore.create(store.folder, TASKS[::-1], settings=store.settings)
    assert list(again.state().seconds) == ["a"]
    assert StudyStore(store.folder).settings == {"study": "synthetic", "preset": "smoke"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"settings": {"study": "synthetic", "preset": "full"}}, r"preset 'smoke' \(asked for 'full'\)"),
        ({"version": "9.9"}, r"version .* \(asked for '9.9'\)"),
        ({"tasks": TASKS[:2]}, "tasks of another configuration"),
    ],
)
def test_another_study_is_refused(store, change, message):
    call = {"tasks": TASKS, "settings": store.settings} | change
    with pytest.raises(SettingsError, match=message):
        StudyStore.create(store.folder, call.pop("tasks"), **call)


def test_a_folder_without_manifest_is_refused(tmp_path):
    with pytest.raises(SettingsError, match="not the folder of a study"):
        StudyStore(tmp_path)


def test_a_damaged_manifest_is_told_and_its_removal_keeps_the_results(store):
    store.write("a", RECORDS, 1.0)
    path = store.folder / "manifest.json"
    good = path.read_text()
    for bad in ("", "[]", good[:-5], good.replace("smoke", "smoky")):
        path.write_text(bad)
        with pytest.raises(StudyError, match="damaged: remove it"):
            StudyStore(store.folder)
    path.unlink()
    again = StudyStore.create(store.folder, TASKS, settings=store.settings)
    assert list(again.state().seconds) == ["a"]


def test_a_newer_format_is_refused(store, monkeypatch):
    monkeypatch.setattr("kfrc_app.study.manifest.FORMAT", 2)
    with pytest.raises(SettingsError, match="format 1"):
        StudyStore(store.folder)


def test_failures_keep_their_reason_until_a_result_replaces_them(store):
    store.write_failure("a", Failure("ValueError: no", "where", 2.0))
    state = store.state()
    assert state.failures == {"a": Failure("ValueError: no", "where", 2.0)}
    assert json.loads((store.folder / "shards" / files(store)[0]).read_text())["key"] == "a"
    store.write("a", RECORDS, 1.0)
    assert store.state().failures == {}
    assert len(files(store)) == 1


def test_a_damaged_failure_is_computed_again(store):
    store.write_failure("a", Failure("no"))
    (store.folder / "shards" / files(store)[0]).write_text("{")
    assert "a" in store.state().remaining


def test_every_task_is_in_one_place(store):
    store.write("a", RECORDS, 3.0)
    store.write_failure("b", Failure("no"))
    state = store.state()
    assert (list(state.seconds), list(state.failures), state.corrupt, state.remaining) == (["a"], ["b"], {}, ["c"])
    assert state.seconds_left == 3.0
    assert math.isnan(StudyState({}, {}, {}, ["a"]).seconds_left)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
@pytest.mark.parametrize("call", ["write", "fsync", "replace"])
def test_a_full_disk_leaves_nothing_partial(store, monkeypatch, code, call):
    real_write = os.write

    def full(*args):
        if call == "write" and len(args[1]) > 100:
            return real_write(args[0], args[1][:100])  # a part fits
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patch:
        patch.setattr(os, call, full)
        with pytest.raises(DiskFullError, match=r"no space to write .*finished tasks are kept"):
            store.write("a", RECORDS, 1.0)
    assert files(store) == []
    store.write("a", RECORDS, 1.0)
    assert len(store.load()) == 2


def test_a_full_disk_does_not_harm_the_shard_that_is_there(store, monkeypatch):
    store.write("a", RECORDS, 1.0)

    def full(*args):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(DiskFullError):
        store.write("a", RECORDS, 1.0)
    assert list(store.state().seconds) == ["a"]


def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StudyError, match="cannot write"):
        StudyStore.create(tmp_path / "file" / "out", TASKS)


def test_leftovers_of_a_killed_run_are_removed_and_never_read(store):
    store.write("a", RECORDS, 1.0)
    leftover = store.folder / "shards" / ".tmp-1-0"
    leftover.write_bytes(store.shard_path("a").read_bytes()[:50])
    assert len(store.load()) == 2
    with store.lock():
        assert not leftover.exists()


def test_shards_that_are_no_part_of_the_study_are_not_counted(store):
    store.write("a", RECORDS, 1.0)
    stray = store.folder / "shards" / "a.0123456789abcdef.parquet"
    stray.write_bytes(store.shard_path("a").read_bytes())
    assert len(store.load()) == 2


def test_two_runs_keep_out_of_each_others_way(store):
    pytest.importorskip("fcntl", reason="no file locks on this platform")
    assert store.last_run() == (False, 0)
    with store.lock(workers=2):
        assert store.last_run() == (True, 2)
        with pytest.raises(StudyError, match="another run is writing"), StudyStore(store.folder).lock():
            pass
    assert store.last_run() == (False, 2)
    with store.lock():
        pass


def test_without_file_locks_writes_are_still_safe(store, monkeypatch):
    fcntl = pytest.importorskip("fcntl", reason="no file locks on this platform")

    def unsupported(*args):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", unsupported)
    other = StudyStore(store.folder)
    with store.lock(), other.lock():
        store.write("a", RECORDS, 1.0)
        other.write("a", RECORDS, 1.0)
    assert len(store.load()) == 2
