"""Whatever dies, fills up or rots, `run` again ends with the tables of an undisturbed run (processes on loopback)."""

from __future__ import annotations

import os
import signal
import subprocess
from collections import Counter
from pathlib import Path

import fake_study
import pytest
from typer.testing import CliRunner

from kfrc_app.cli.study import app
from kfrc_app.study.errors import StudyError
from kfrc_app.study.store import StudyStore
from processes import Machines, kill
from waiting import PATIENCE, wait_until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs kill -9"),
]

HERE = Path(__file__).parent


class StudyMachines(Machines):
    """Processes that run the fake study as far as they are let."""

    def __init__(self, folder):
        self.gate = folder / "gate"
        super().__init__(folder, HERE, FAKE_GATE=str(self.gate), FAKE_DIARY=str(folder / "diary"))

    def let(self, n_tasks):
        """Let the first tasks pass; the others wait."""
        self.gate.write_text(str(n_tasks))

    def study(self, *arguments, **options):
        pipe = subprocess.PIPE
        return self.start(str(HERE / "fake_study.py"), *arguments, stdout=pipe, stderr=pipe, text=True, **options)


@pytest.fixture
def machines(tmp_path):
    machines = StudyMachines(tmp_path)
    yield machines
    machines.stop()


def n_shards(out):
    return len(list(out.glob("shards/*.parquet")))


def ended(process):
    output, errors = process.communicate(timeout=PATIENCE)
    return process.returncode, output, errors


def told(*arguments):
    """Output of ``kfrc study`` in this process, where it ends well."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


def tables(out):
    """Bytes of every table of a folder."""
    told("tables", out)
    return {path.name: path.read_bytes() for path in (out / "tables").iterdir()}


@pytest.fixture(scope="module", autouse=True)
def _fakes():
    with pytest.MonkeyPatch.context() as patch:
        fake_study.install(patch.setattr)
        yield


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """Tables of a run of one worker that nothing happens to."""
    out = tmp_path_factory.mktemp("undisturbed")
    told("run", "synthetic", "--out", out)
    return tables(out)


@pytest.mark.long
def test_kills_a_full_disk_and_damaged_shards_leave_no_trace_in_the_tables(machines, tmp_path, undisturbed):
    pytest.importorskip("distributed", reason="needs the extra 'distributed'")
    resource = pytest.importorskip("resource", reason="needs limits on file sizes")
    out = tmp_path / "out"
    address, scheduler, (worker, _) = machines.cluster()
    call = ("run", "synthetic", "--out", str(out), "--scheduler")

    machines.let(4)
    client = machines.study(*call, address)
    wait_until(lambda: n_shards(out) >= 2)
    kill(worker)
    before = n_shards(out)
    machines.let(10)
    wait_until(lambda: n_shards(out) >= before + 3)  # the other worker goes on
    kill(scheduler)
    code, _, errors = ended(client)
    assert code == 1
    assert "lost the connection to the Dask scheduler" in errors
    assert "Traceback" not in errors
    after_scheduler = n_shards(out)
    assert after_scheduler < fake_study.N_TASKS

    machines.let(16)
    address, _, _ = machines.cluster()
    client = machines.study(*call, address)
    wait_until(lambda: n_shards(out) >= after_scheduler + 3)
    with pytest.raises(StudyError, match="another run is writing"), StudyStore(out).lock():
        pass
    kill(client)
    after_client = n_shards(out)
    assert after_client < fake_study.N_TASKS

    def fill_disk():
        resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))

    machines.let(fake_study.N_TASKS)
    code, output, errors = ended(machines.study("run", "synthetic", "--out", str(out), preexec_fn=fill_disk))
    assert (code, output) == (1, "")
    assert errors.count("\n") == 1
    assert errors.startswith("kfrc: no space to write ")
    assert n_shards(out) == after_client
    assert not list(out.rglob(".tmp-*"))

    done = list(StudyStore(out).state().seconds)
    flipped, truncated = (StudyStore(out).shard_path(key) for key in done[:2])
    content = bytearray(flipped.read_bytes())
    content[len(content) // 3] ^= 4
    flipped.write_bytes(content)
    truncated.write_bytes(truncated.read_bytes()[:-40])
    assert "damaged    2" in told("status", out)

    code, output, errors = ended(machines.study(*call, address))
    assert code == 0, errors
    assert f"damaged results computed again: {done[0]}, {done[1]}" in output
    assert f"{after_client - 2} from earlier runs" in output
    assert n_shards(out) == fake_study.N_TASKS
    assert len(list((out / "corrupt").iterdir())) == 2
    assert tables(out) == undisturbed

    state = StudyStore(out).state()
    assert len(state.seconds) == fake_study.N_TASKS
    assert (state.failures, state.corrupt, state.remaining) == ({}, {}, [])
    records = StudyStore(out).load()
    assert Counter(records["task"]) == {task.key: 3 for task in fake_study.fake_tasks()}
    computed = Counter((tmp_path / "diary").read_text().split())
    assert set(computed) == {task.key for task in fake_study.fake_tasks()}


@pytest.mark.long
def test_one_worker_two_workers_and_a_dask_cluster_make_the_same_tables(machines, tmp_path, undisturbed):
    pytest.importorskip("distributed", reason="needs the extra 'distributed'")
    machines.let(fake_study.N_TASKS)
    address, _, _ = machines.cluster()
    ways = {"two": ("--n-jobs", "2"), "dask": ("--scheduler", address)}
    for name, how in ways.items():
        code, output, errors = ended(machines.study("run", "synthetic", "--out", str(tmp_path / name), *how))
        assert code == 0, errors
        assert f"{fake_study.N_TASKS} computed" in output
        assert tables(tmp_path / name) == undisturbed, name


def test_a_killed_local_run_resumes(machines, tmp_path, undisturbed):
    out = tmp_path / "out"
    machines.let(5)
    client = machines.study("run", "synthetic", "--out", str(out), "--n-jobs", "2")
    wait_until(lambda: n_shards(out) >= 3)
    kill(client)
    assert n_shards(out) < fake_study.N_TASKS
    told("run", "synthetic", "--out", out)
    assert tables(out) == undisturbed


def test_a_worker_without_the_tasks_code_stops_the_run_with_a_message(machines, tmp_path):
    pytest.importorskip("distributed", reason="needs the extra 'distributed'")
    path = machines.environment.pop("PYTHONPATH")
    address, _, _ = machines.cluster()
    machines.environment["PYTHONPATH"] = path
    code, _, errors = ended(machines.study("run", "synthetic", "--out", str(tmp_path / "out"), "--scheduler", address))
    assert code == 1
    assert "workers cannot run the tasks" in errors
    assert n_shards(tmp_path / "out") == 0
    assert not StudyStore(tmp_path / "out").state().failures


def test_a_terminated_run_ends_with_143_leaves_no_partial_file_and_resumes(machines, tmp_path, undisturbed):
    out = tmp_path / "out"
    machines.let(4)
    client = machines.study("run", "synthetic", "--out", str(out), "--n-jobs", "2")
    wait_until(lambda: n_shards(out) >= 2)
    os.kill(client.pid, signal.SIGTERM)
    code, _, errors = ended(client)
    assert code == 128 + signal.SIGTERM
    assert "the same command resumes" in errors
    assert "Traceback" not in errors
    assert n_shards(out) < fake_study.N_TASKS
    assert not list(out.rglob(".tmp-*"))
    told("run", "synthetic", "--out", out)
    assert tables(out) == undisturbed
