"""The same bits on a Dask cluster of real processes, whatever happens to its workers."""

from __future__ import annotations

import gc
import itertools
import signal
import threading
import time
from pathlib import Path

import dask.array as da
import dask.dataframe as dd
import distributed
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from slow_rows import MortalRows, SlowRows

from kfrc import FCM, KFRC
from kfrc.blocks import WorkerError, connected
from kfrc.sources import CSVSource, ParquetSource, SourceError
from processes import Machines, kill
from waiting import wait_until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs kill -9"),
]

N_ROWS = 150_000
SETTINGS = {"n_clusters": 3, "bandwidths": 1.5, "m": 1.5, "n_init": 1, "random_state": 0}
SMALL = "12MB"
"""Memory with which every block is a task of its own."""


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    means = np.array([[0.0, 0.0, 0.0], [4.0, 0.0, 1.0], [0.0, 4.0, -1.0]])
    X = means[rng.integers(3, size=N_ROWS)] + rng.standard_normal((N_ROWS, 3))
    return pd.DataFrame(X, columns=["x", "y", "z"])


@pytest.fixture(scope="module")
def folder(frame, tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    for k, first in enumerate(range(0, N_ROWS, 60_000)):
        part = pa.Table.from_pandas(frame[first : first + 60_000], preserve_index=False)
        pq.write_table(part, folder / f"part-{k}.parquet", row_group_size=40_000)
    return folder


@pytest.fixture(scope="module")
def machines(tmp_path_factory):
    here = Path(__file__).parent
    machines = Machines(tmp_path_factory.mktemp("machines"), here, KFRC_MORTAL="1")
    yield machines
    machines.stop()


@pytest.fixture(scope="module")
def expected(folder):
    """A fit by one thread of this process."""
    model = KFRC(**SETTINGS, n_jobs=1).fit(ParquetSource(folder))
    return model, np.asarray(model.memberships_)


def same_bits(model, expected):
    there, U = expected
    assert model.n_iter_ == there.n_iter_
    np.testing.assert_array_equal(model.objective_path_, there.objective_path_)
    np.testing.assert_array_equal(model.eigenvalues_, there.eigenvalues_)
    np.testing.assert_array_equal(np.asarray(model.memberships_), U)


class AfterPass:
    """Something that happens when a pass has ended, and a little later."""

    def __init__(self, n_passes, event, delay=0.15):
        self.n_passes, self.event, self.delay = n_passes, event, delay
        self.happened_in = None

    def load(self, stage):
        return None

    def save(self, stage, content):
        if stage == "passes" and content.n_passes == self.n_passes:
            self.thread = threading.Timer(self.delay, self.event)
            self.thread.start()


class Cluster:
    """One scheduler for all tests, and as many workers as a test wants."""

    def __init__(self, machines):
        self.machines = machines
        self.address, _, self.workers = machines.cluster(1)

    def client(self, n_workers):
        """A client, when so many workers are there; others than the first so many are gone."""
        alive = [worker for worker in self.workers if worker.poll() is None]
        for extra in alive[n_workers:]:
            kill(extra)
        self.workers = alive[:n_workers]
        while len(self.workers) < n_workers:
            self.join()
        return connected(self.address)

    def join(self):
        self.workers.append(self.machines.worker(self.address))


@pytest.fixture(scope="module")
def cluster(machines):
    return Cluster(machines)


def test_one_worker_and_one_that_joins_give_the_bits_of_this_process(cluster, folder, expected):
    with cluster.client(1) as client:
        client.wait_for_workers(1)
        joins = AfterPass(1, cluster.join)
        slow = SlowRows(folder)
        same_bits(KFRC(**SETTINGS).fit(slow, client=client, memory=SMALL, checkpoint=joins), expected)
        client.wait_for_workers(2)


def test_two_workers_give_the_same_bits_wherever_the_rows_are(cluster, folder, frame, expected):
    X = frame.to_numpy()
    with cluster.client(2) as client:
        client.wait_for_workers(2)
        same_bits(KFRC(**SETTINGS).fit(ParquetSource(folder), client=client, memory=SMALL), expected)
        # Rows that this process holds, or that the cluster does.
        same_bits(KFRC(**SETTINGS).fit(X, client=client, memory=SMALL), expected)
        same_bits(KFRC(**SETTINGS).fit(dd.from_pandas(frame, npartitions=5), client=client, memory=SMALL), expected)
        same_bits(KFRC(**SETTINGS).fit(da.from_array(X, chunks=(90_001, 2)), client=client, memory=SMALL), expected)


def test_a_worker_killed_in_the_middle_of_a_pass_changes_no_bit(cluster, folder, expected):
    with cluster.client(2) as client:
        client.wait_for_workers(2)
        doomed = cluster.workers[0]
        dies = AfterPass(1, lambda: kill(doomed))
        model = KFRC(**SETTINGS).fit(SlowRows(folder), client=client, memory=SMALL, checkpoint=dies)
        assert doomed.returncode == -signal.SIGKILL
        wait_until(lambda: len(client.nthreads()) == 1)
        same_bits(model, expected)


def test_rows_of_this_process_are_sent_again_if_the_worker_that_kept_them_is_killed(cluster, frame, expected):
    with cluster.client(2) as client:
        client.wait_for_workers(2)
        doomed, submit, n_submitted = cluster.workers[0], client.submit, itertools.count(1)

        def submit_and_kill(*arguments, **options):
            if next(n_submitted) == 8:  # every row is on one of the workers, and a pass is begun
                kill(doomed)
            return submit(*arguments, **options)

        client.submit = submit_and_kill
        same_bits(KFRC(**SETTINGS).fit(frame.to_numpy(), client=client, memory=SMALL), expected)
        assert doomed.returncode == -signal.SIGKILL
        gc.collect()
        wait_until(lambda: not client.futures)  # nothing of the fit is kept for the life of the client


def test_fuzzy_c_means_gives_the_same_bits_too(cluster, folder):
    here = FCM(3, random_state=0).fit(ParquetSource(folder))
    with cluster.client(1) as client:
        there = FCM(3, random_state=0).fit(ParquetSource(folder), client=client, memory=SMALL)
    np.testing.assert_array_equal(there.cluster_centers_, here.cluster_centers_)
    np.testing.assert_array_equal(there.memberships_.head(100), here.memberships_.head(100))


def test_a_damaged_file_is_named_by_the_cluster_too(cluster, folder, tmp_path):
    path = tmp_path / "rows.parquet"
    pq.write_table(pq.read_table(folder), path, compression="none", use_dictionary=False, row_group_size=100_000)
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle - 400_000 : middle + 400_000] = b"\xff" * 800_000
    path.write_bytes(content)
    source = ParquetSource(path)
    with cluster.client(1) as client, pytest.raises(SourceError, match=r"rows\.parquet.*damaged"):
        KFRC(**SETTINGS).fit(source, client=client, memory=SMALL)


@pytest.mark.parametrize("source", [SlowRows, CSVSource])
def test_a_file_that_is_replaced_is_refused_by_the_cluster_too(cluster, frame, tmp_path, source):
    path, other = tmp_path / "rows", tmp_path / "other"
    for place, rows in ((path, frame), (other, frame[::-1])):
        if source is CSVSource:
            rows.to_csv(place, index=False, float_format="%+.9e")
        else:
            table = pa.Table.from_pandas(rows, preserve_index=False)
            pq.write_table(table, place, compression="none", use_dictionary=False, row_group_size=40_000)
    assert path.stat().st_size == other.stat().st_size
    replaced = AfterPass(1, lambda: other.replace(path), delay=0)
    with cluster.client(1) as client, pytest.raises(SourceError, match="rows has changed since"):
        KFRC(**SETTINGS).fit(source(path), client=client, memory=SMALL, checkpoint=replaced)


def test_rows_that_kill_every_worker_end_the_fit_with_one_line(cluster, folder):
    stop = threading.Event()

    def keep_one_alive():
        while not stop.is_set():
            if cluster.workers[-1].poll() is not None:
                cluster.join()
            time.sleep(0.1)

    reviver = threading.Thread(target=keep_one_alive)
    try:
        with cluster.client(1) as client:
            reviver.start()
            with pytest.raises(WorkerError, match="died again and again"):
                KFRC(**SETTINGS).fit(MortalRows(folder), client=client, memory=SMALL)
            gc.collect()
            wait_until(lambda: not client.futures)
    finally:
        stop.set()
        reviver.join()


def test_a_scheduler_that_does_not_answer_is_told(monkeypatch):
    monkeypatch.setattr("kfrc.blocks.connection.CONNECT_TIMEOUT", 0.3)
    with (
        pytest.raises(WorkerError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9; is it running"),
        connected("tcp://127.0.0.1:9"),
    ):
        pass


def test_a_greeting_that_comes_with_other_news_is_asked_for_again(cluster, monkeypatch):
    connect, clients = distributed.Client._ensure_connected, []

    async def disturbed(self, timeout=None):
        await connect(self, timeout)
        clients.append(self)
        assert len(clients) != 1  # as Dask does when it finds two messages in place of one

    monkeypatch.setattr(distributed.Client, "_ensure_connected", disturbed)
    with connected(cluster.address) as client:
        client.wait_for_workers(1)
        assert [each.status for each in clients] == ["closed", "running"]


def test_what_is_no_client_is_refused(frame):
    with pytest.raises(TypeError, match=r"client must be a distributed\.Client"):
        KFRC(**SETTINGS).fit(frame, client="tcp://127.0.0.1:8786")
