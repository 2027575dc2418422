"""Runs: what they leave, how they are cancelled, how they wait, and what happens if their process dies."""

import csv
import io
import json
import os
import signal
import subprocess
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from kfrc import KFRC
from kfrc_app.server import limits, work
from kfrc_app.server.jobs import Runs, State
from kfrc_app.server.pages import download_name
from kfrc_app.server.problems import PageError
from kfrc_app.server.security import REPORT_POLICY
from kfrc_app.server.uploads import Uploads
from kfrc_app.server.workers import Worker, WorkerEndedError
from waiting import wait_until

from .conftest import as_csv, follow, give, long_table, receive, start, two_groups


def test_a_run_finds_what_kfrc_finds_for_the_same_table(client, done, table):
    run, state = done
    assert state["result"]["n_groups"] == 2
    rows = list(csv.DictReader(io.StringIO(client.get(f"/runs/{run}/files/memberships.csv").text)))
    expected = KFRC(2, random_state=0).fit(table.drop(columns="who"))
    found = [[float(row["cluster_0"]), float(row["cluster_1"])] for row in rows]
    np.testing.assert_allclose(found, expected.memberships_, atol=1e-9)


def test_everything_in_one_holds_every_file_as_it_is(client, done):
    run, state = done
    packed = client.get(f"/runs/{run}/files/kfrc-results.zip")
    with zipfile.ZipFile(io.BytesIO(packed.content)) as archive:
        assert sorted(archive.namelist()) == state["result"]["files"]
        for name in archive.namelist():
            assert archive.read(name) == client.get(f"/runs/{run}/files/{name}").content


def test_files_are_downloads_and_never_shown_by_the_browser(client, done):
    run, state = done
    for name in state["result"]["files"]:
        headers = client.get(f"/runs/{run}/files/{name}").headers
        assert headers["content-disposition"].startswith("attachment; ")
        assert headers["content-type"] == "application/octet-stream"
        assert "frame-ancestors 'none'" in headers["content-security-policy"]


@pytest.mark.parametrize(
    ("table", "shown"),
    [
        ("Staff survey 2024.xlsx", "Staff survey 2024 with groups.xlsx"),
        ("a.csv.gz", "a with groups.xlsx"),
        ("\u202egnp.csv", "gnp with groups.xlsx"),
        (".csv", "table with groups.xlsx"),
        ("Größe", "Größe with groups.xlsx"),
        ('x"; filename=evil.exe', 'x"; filename=evil with groups.xlsx'),
    ],
)
def test_a_download_is_named_after_its_table(table, shown):
    assert download_name(table, "clustered.xlsx") == shown


def test_names_of_downloads_are_one_value_of_a_header(client, done):
    found = client.get(f"/runs/{done[0]}/files/clustered.csv").headers["content-disposition"]
    assert found == "attachment; filename*=utf-8''b%3E%20with%20groups.csv"


def test_the_report_lives_in_a_sandbox(client, done):
    answer = client.get(f"/runs/{done[0]}/report")
    assert answer.headers["content-security-policy"] == REPORT_POLICY
    sandbox = REPORT_POLICY.split("sandbox ")[1]
    assert "allow-same-origin" not in sandbox
    assert "connect-src" not in REPORT_POLICY  # so that the default, nothing, holds
    assert "<b>table</b>" not in answer.text


def test_the_report_tells_no_path_of_this_computer(served, client, done):
    text = client.get(f"/runs/{done[0]}/report").text + client.get(f"/runs/{done[0]}/files/summary.json").text
    assert str(served.folder) not in text
    assert served.folder.name not in text


def test_cells_that_a_spreadsheet_would_compute_are_text_in_every_export(client, done):
    run, state = done
    for name in state["result"]["files"]:
        content = client.get(f"/runs/{run}/files/{name}").content
        if name.endswith(".csv"):
            for row in csv.reader(io.StringIO(content.decode("utf-8-sig"))):
                dangerous = [cell for cell in row if cell[:1] in ("=", "@", "+") or cell.startswith("-3+")]
                assert dangerous == [], name
        if name.endswith(".xlsx"):
            import openpyxl

            for sheet in openpyxl.load_workbook(io.BytesIO(content)):
                assert all(cell.data_type != "f" for line in sheet.iter_rows() for cell in line)


def test_what_is_wrong_with_the_table_is_one_sentence(client):
    state = follow(client, start(client, b"a,b\n1,2\n3,4\n5,6\n7,7\n", clusters=30))
    assert state["state"] == "failed"
    assert state["result"]["problem"] == "4 rows are too few for 30 groups."


@pytest.mark.parametrize("clusters", [1, 51, "many", -3, 2.5, None, "", "1e3"])
def test_a_wrong_number_of_groups_is_told_beside_it(client, clusters):
    table = give(client, as_csv(two_groups(20)))
    answer = client.post(f"/tables/{table}/runs", json={"clusters": clusters})
    assert answer.status_code == 422
    assert answer.json()["where"] == "groups"


def workers_of(served):
    """The processes that work for a server, the busiest last."""
    psutil = pytest.importorskip("psutil")
    folder = str(served.folder)
    found = {each.pid: each for each in psutil.process_iter(["cmdline"]) if folder in (each.info["cmdline"] or [])}
    return sorted(found, key=lambda pid: sum(found[pid].cpu_times()[:2]))


WORKING = ("looking", "checking")


@pytest.fixture(scope="module")
def crowd(served):
    """More runs than are worked on at once: two are cancelled, one of them in the queue, and one loses its process."""
    found = {}
    with served.client() as client:

        def state(run):
            return client.get(f"/runs/{run}").json()

        cancelled, killed = (start(client, long_table(), refits=20) for _ in range(limits.MAX_RUNNING))
        first, second = (start(client, as_csv(two_groups(20))) for _ in range(2))
        found["waiting"] = [state(first), state(second)]
        found["cancelled in time"] = client.delete(f"/runs/{first}").json()
        found["next"] = state(second)
        wait_until(lambda: all(state(run)["progress"].get("step") in WORKING for run in (cancelled, killed)))
        workers = set(workers_of(served))
        found["cancelled"] = client.delete(f"/runs/{cancelled}").json()
        found["ended"] = wait_until(lambda: workers.difference(workers_of(served)))
        found["report"] = client.get(f"/runs/{cancelled}/report").status_code
        found["left"] = served.files & {cancelled}
        found["still cancelled"] = state(cancelled)
        os.kill([pid for pid in workers_of(served) if pid in workers][-1], signal.SIGKILL)
        found["killed"] = follow(client, killed)
        found["last"] = follow(client, second)
    return found


@pytest.mark.slow
def test_runs_beyond_the_bound_wait_and_can_be_cancelled(crowd):
    assert [each["state"] for each in crowd["waiting"]] == ["waiting", "waiting"]
    assert [each["ahead"] for each in crowd["waiting"]] == [0, 1]
    assert crowd["cancelled in time"]["state"] == "cancelled"
    assert crowd["next"]["ahead"] == 0


def test_a_run_that_is_cancelled_ends_at_once_with_its_process(crowd):
    assert crowd["cancelled"]["state"] == crowd["still cancelled"]["state"] == "cancelled"
    assert len(crowd["ended"]) == 1
    assert crowd["report"] == 404
    assert crowd["left"] == set()


def test_a_process_that_dies_fails_its_run_and_nothing_else(crowd):
    assert crowd["killed"]["state"] == "failed"
    assert "memory" in crowd["killed"]["result"]["problem"]
    assert crowd["last"]["state"] == "done"


class NoWorkers:
    """Workers that are gone before they begin."""

    def take(self):
        raise WorkerEndedError


def test_a_queue_is_bounded_and_old_results_make_room(tmp_path, monkeypatch):
    uploads = Uploads(tmp_path)
    runs = Runs(tmp_path, NoWorkers(), uploads)
    upload = receive(uploads, b"x")
    try:
        for _ in range(limits.MAX_KEPT_RUNS + 5):
            run = runs.add(upload, {})
            wait_until(lambda run=run: run.state is State.FAILED)
        assert len(runs._runs) <= limits.MAX_KEPT_RUNS
        assert upload.users == 0
        monkeypatch.setattr(limits, "MAX_WAITING", 0)
        with pytest.raises(PageError, match="waiting already"):
            runs.add(upload, {})
        assert upload.users == 0
    finally:
        runs.close()


class Writers:
    """Workers that write a result of a hundred bytes."""

    def take(self):
        return self

    def do(self, task, tell):
        Path(task["out"]).mkdir()
        (Path(task["out"]) / "result.csv").write_bytes(b"x" * 100)
        return {"files": ["result.csv"]}

    def warm(self):
        pass

    def give_back(self, worker):
        pass


@pytest.mark.parametrize(("bound", "kept"), [(1000, 5), (250, 2), (10, 1)])
def test_the_bytes_of_all_results_are_bounded_and_the_newest_stays(tmp_path, monkeypatch, bound, kept):
    monkeypatch.setattr(limits, "MAX_RESULT_BYTES", bound)
    uploads = Uploads(tmp_path)
    upload = receive(uploads, b"x")
    runs = Runs(tmp_path, Writers(), uploads)
    try:
        done = []
        for _ in range(5):
            done.append(runs.add(upload, {}))
            wait_until(lambda: done[-1].worker is None and done[-1].is_over and upload.users == 0)
        assert [run.folder.exists() for run in done] == [False] * (5 - kept) + [True] * kept
        assert [*runs._runs.values()] == done[5 - kept :]
    finally:
        runs.close()


def test_a_table_that_is_gone_is_not_queued(tmp_path):
    uploads = Uploads(tmp_path)
    upload = receive(uploads, b"x")
    uploads.forget(upload.id)
    runs = Runs(tmp_path, NoWorkers(), uploads)
    try:
        with pytest.raises(PageError, match="not kept any more"):
            runs.add(upload, {})
        assert not runs._runs
    finally:
        runs.close()


@pytest.mark.parametrize(
    ("method", "path"),
    [("PUT", "/"), ("POST", "/"), ("GET", "/tables"), ("GET", "/tables/x"), ("POST", "/runs/x"), ("TRACE", "/")],
)
def test_a_method_that_an_address_does_not_know_is_refused(client, method, path):
    assert client.request(method, path).status_code == 405


def test_a_run_that_is_not_known_is_told_in_one_sentence(client):
    for method, path in (("GET", "/runs/x"), ("DELETE", "/runs/x"), ("GET", "/runs/x/report")):
        answer = client.request(method, path)
        assert answer.status_code == 404
        assert answer.json()["problem"] == "This result is not kept any more: start again."


@pytest.mark.parametrize("last", [True, False])
def test_a_process_that_has_taken_much_memory_gets_nothing_else_to_do(last, monkeypatch):
    worker = object.__new__(Worker)
    worker._spent = False
    said = json.dumps({"end": {"files": []}, "last": last})
    worker.process = SimpleNamespace(stdin=io.StringIO(), stdout=[said], poll=lambda: None)
    assert worker.is_alive
    assert worker.do({}) == {"files": []}
    assert worker.is_alive is not last
    monkeypatch.setattr(limits, "MAX_KEPT_MEMORY", 1 if last else 1 << 60)
    assert work._is_large(at_start=0) is last


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts the memory of the process that started another")
def test_a_process_that_a_large_one_started_takes_something_to_do(tmp_path):
    (tmp_path / "table.csv").write_bytes(as_csv(two_groups()))
    code = f"""
from pathlib import Path
from kfrc_app.server import limits
from kfrc_app.server.workers import Worker
taken = bytearray(limits.MAX_KEPT_MEMORY + 100 * limits.MEGABYTE)
worker = Worker(Path({str(tmp_path)!r}))
task = {{"do": "describe", "path": {str(tmp_path / "table.csv")!r}, "choices": {{}}}}
print([worker.do(task)["n_rows"] for _ in range(2)], worker.is_alive)
worker.end()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["[40,", "40]", "True"], done.stderr


@pytest.mark.parametrize(("cancelled", "expected"), [(False, "kept"), (True, "ended")])
def test_a_process_is_used_again_unless_its_run_was_cancelled(tmp_path, cancelled, expected):
    uploads, fate = Uploads(tmp_path), []

    class Noted(Writers):
        def do(self, task, tell):
            if cancelled:
                runs.cancel(run)
            return super().do(task, tell)

        def give_back(self, worker):
            fate.append("kept")

        def end(self, worker):
            fate.append("ended")

    runs = Runs(tmp_path, Noted(), uploads)
    try:
        with runs._changed:  # so that the run is known before it is worked on
            run = runs.add(receive(uploads, b"x"), {})
        wait_until(lambda: run.upload.users == 0)
        assert fate[-1] == expected
        assert run.worker is None
    finally:
        runs.close()
