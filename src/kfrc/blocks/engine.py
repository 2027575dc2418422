"""Who runs a pass: threads of this process, or workers of a Dask cluster. Results do not depend on it."""

from __future__ import annotations

import re
import secrets
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import replace
from importlib import import_module
from typing import Any, TypeVar

import joblib
from threadpoolctl import threadpool_limits

from kfrc import activity
from kfrc._threads import one_thread
from kfrc._validation import check_n_jobs
from kfrc.blocks.chunks import BlockChunks
from kfrc.blocks.connection import WorkerError
from kfrc.blocks.partition import BLOCK_ROWS, Partition, Summary, tree_sum
from kfrc.blocks.placement import Placement
from kfrc.blocks.reader import Block, Reader
from kfrc.exceptions import KFRCError
from kfrc.sources import Chunk, Source

S = TypeVar("S", bound=Summary)

_PATIENCE = 10.0
"""Seconds without a worker until it is said that one is waited for."""

_RETRIES = 3
"""How often a task is given to another worker after it failed for a reason that may be the worker's."""

_DEFAULT_MEMORY = "1GB"
_BYTES_PER_VALUE = 8
_SHARE_OF_MEMORY = 0.25
"""Of the memory of a worker that the values of one task may take."""

_SENDINGS = 6
"""How often the rows of a task are sent in one pass, if the workers that keep them die."""

_DIED = (
    "workers of the cluster died again and again while they ran the same part of a pass (killed, or out of memory): "
    "give them more memory, or use a smaller memory="
)
_GONE = (
    "lost the connection to the Dask scheduler, which has ended or cannot be reached any more: start it and its "
    "workers again, and repeat the fit"
)

_MOST_TASK_BLOCKS = 16
_TASKS_PER_WORKER = 8
_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}


def parse_memory(memory: str | float | None) -> int:
    """Bytes from what a user says.

    Examples
    --------
    >>> from kfrc.blocks import parse_memory
    >>> parse_memory("2GB"), parse_memory("512 MiB"), parse_memory(None)
    (2000000000, 536870912, 1000000000)
    """
    match = re.fullmatch(r"\s*([0-9.]+)\s*([a-zA-Z]*)\s*", str(_DEFAULT_MEMORY if memory is None else memory))
    unit = _UNITS.get(match[2].upper()) if match else None
    try:
        n_bytes = int(float(match[1]) * unit) if match and unit is not None else 0
    except (ValueError, OverflowError):  # no number, or one beyond all numbers
        n_bytes = 0
    if n_bytes < 10**7:
        raise ValueError(f'memory must be at least 10 MB, such as "2GB", got {memory!r}')
    return n_bytes


class Engine(ABC):
    """Runs a map over the blocks of a source, and adds up its results in the order of the partition.

    Parameters
    ----------
    memory : int
        Bytes that a worker may use.
    """

    def __init__(self, memory: int) -> None:
        self.memory = memory

    @property
    @abstractmethod
    def n_workers(self) -> int:
        """How many tasks run at a time."""

    def partition(self, source: Source) -> Partition:
        """Blocks of the source in tasks that fit the memory, several for each worker."""
        n_rows, n_columns = source.shape
        bytes_of_block = _BYTES_PER_VALUE * n_columns * BLOCK_ROWS
        size = 1
        while (
            2 * size <= _MOST_TASK_BLOCKS
            and 2 * size * bytes_of_block <= _SHARE_OF_MEMORY * self.memory
            and 2 * size * BLOCK_ROWS * self.n_workers * _TASKS_PER_WORKER <= n_rows
        ):
            size *= 2
        return Partition(n_rows, size)

    def run(self, function: Callable[[Block], S], reader: Reader, doing: str) -> S:
        """Σ function(block) over all blocks of a reader."""
        return self._total(_MapBlocks(function), reader, doing)

    def run_on_chunks(self, function: Callable[[Chunk, int], S], reader: Reader, doing: str) -> S:
        """The same for a function of raw chunks, each a block, and of their first row."""
        return self._total(_MapChunks(function), reader, doing)

    def each(self, function: Callable[[Block], Any], reader: Reader, doing: str) -> Iterator[list[Any]]:
        """Results of every block, task by task in order."""
        yield from self._results(_Collect(function), reader, doing)

    def each_chunk(self, function: Callable[[Chunk, int], Any], reader: Reader, doing: str) -> Iterator[list[Any]]:
        """The same for a function of raw chunks, each a block, and of their first row."""
        yield from self._results(_CollectChunks(function), reader, doing)

    def _total(self, task: Callable[[Reader, range], S], reader: Reader, doing: str) -> S:
        return tree_sum(self._results(task, reader, doing))

    @abstractmethod
    def _results(self, task: Callable[[Reader, range], Any], reader: Reader, doing: str) -> Iterator[Any]:
        """Results of all tasks in order."""


class _MapBlocks:
    """A task: the blocks of a range, mapped and added up."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, reader: Reader, blocks: range) -> Any:
        return tree_sum(self.function(block) for block in reader.blocks(blocks))


class _MapChunks(_MapBlocks):
    def __call__(self, reader: Reader, blocks: range) -> Any:
        start, stop = reader.partition.rows(blocks)
        return tree_sum(self.function(chunk, first) for chunk, first in BlockChunks(reader.source, start, stop))


class _Collect(_MapBlocks):
    def __call__(self, reader: Reader, blocks: range) -> Any:
        return [self.function(block) for block in reader.blocks(blocks)]


class _CollectChunks(_MapBlocks):
    def __call__(self, reader: Reader, blocks: range) -> Any:
        start, stop = reader.partition.rows(blocks)
        return [self.function(chunk, first) for chunk, first in BlockChunks(reader.source, start, stop)]


class LocalEngine(Engine):
    """Threads of this process; linear algebra has one thread in each.

    Parameters
    ----------
    n_threads : int, optional
        By default one per core.
    memory : int
    """

    def __init__(self, n_threads: int | None = None, memory: int = 10**9) -> None:
        super().__init__(memory)
        self._n_threads = int(joblib.cpu_count() if n_threads is None else joblib.effective_n_jobs(n_threads))

    @property
    def n_workers(self) -> int:  # noqa: D102
        return self._n_threads

    def _results(self, task: Callable[[Reader, range], Any], reader: Reader, doing: str) -> Iterator[Any]:
        tasks, told = reader.partition.tasks, _PassTold(doing, reader)
        with one_thread():
            if self.n_workers == 1 or len(tasks) == 1:
                for k, blocks in enumerate(tasks):
                    told.step(k)
                    yield task(reader, blocks)
                return
            with ThreadPoolExecutor(self.n_workers, thread_name_prefix="kfrc") as pool:
                # Few tasks are begun ahead of the one that is waited for: results wait in memory.
                ahead = 2 * self.n_workers
                futures: list[Future[Any]] = [pool.submit(task, reader, blocks) for blocks in tasks[:ahead]]
                try:
                    for k in range(len(tasks)):
                        while not futures[k].done():
                            wait([futures[k]], timeout=activity.INTERVAL, return_when=FIRST_COMPLETED)
                            told.step(k)
                        result = futures[k].result()
                        futures[k] = Future()
                        if k + ahead < len(tasks):
                            futures.append(pool.submit(task, reader, tasks[k + ahead]))
                        yield result
                finally:
                    for future in futures:
                        future.cancel()


class _PassTold:
    """Tells how far a pass is, and how long it goes on."""

    def __init__(self, doing: str, reader: Reader) -> None:
        self._doing, self._partition = doing, reader.partition
        self._began = time.monotonic()

    def step(self, n_tasks: int) -> None:
        """So many tasks are finished."""
        n_rows, first = self._partition.n_rows, self._partition.first_block * BLOCK_ROWS
        done = min(first + n_tasks * self._partition.task_blocks * BLOCK_ROWS, n_rows)
        left = ""
        if n_tasks:
            seconds = (time.monotonic() - self._began) * (n_rows - done) / (done - first)
            left = f", {_duration(seconds)} left"
        activity.step(f"{self._doing}{left}", done, n_rows)


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


class ClusterEngine(Engine):
    """Workers of a Dask cluster, which may come, go and die while a pass runs.

    Parameters
    ----------
    client : distributed.Client
    memory : int
    """

    def __init__(self, client: Any, memory: int = 10**9) -> None:
        super().__init__(memory)
        self.client = client
        self._placement = Placement(client)

    @property
    def n_workers(self) -> int:  # noqa: D102
        with _scheduler_of(self.client):
            return max(sum(self.client.nthreads().values()), 1)

    def _results(self, task: Callable[[Reader, range], Any], reader: Reader, doing: str) -> Iterator[Any]:
        with _scheduler_of(self.client):
            yield from self._results_of_workers(task, reader, doing)

    def _results_of_workers(self, task: Callable[[Reader, range], Any], reader: Reader, doing: str) -> Iterator[Any]:
        distributed = import_module("distributed")
        tasks, told = reader.partition.tasks, _PassTold(doing, reader)
        futures = [self._submitted(task, reader, blocks) for blocks in tasks]
        try:
            for k, blocks in enumerate(tasks):
                for sending in range(_SENDINGS):
                    self._wait_for(futures[k], told, k)
                    try:
                        result = _result(distributed, futures[k])
                        break
                    except distributed.CancelledError as error:  # at any time until the result is here
                        if sending == _SENDINGS - 1 or not self._placement.are_lost(*_rows_of(reader, blocks)):
                            raise _lost(self.client) from error
                        futures[k].release()
                        futures[k] = self._submitted(task, reader, blocks)
                futures[k].release()
                yield result
        finally:
            self.client.cancel(futures, force=True)
            for future in futures:
                # A client keeps what is not released, with its error, whose frames keep the rows of this fit.
                future.release()

    def _submitted(self, task: Callable[[Reader, range], Any], reader: Reader, blocks: range) -> Any:
        """The future of a task."""
        try:
            pieces = self._placement.pieces(*_rows_of(reader, blocks))
        except OSError as error:
            raise _lost(self.client) from error
        return self.client.submit(
            _run_remotely,
            task,
            self._lent(reader),
            blocks,
            _version(),
            *pieces,
            # never the result of an earlier pass that the cluster may still hold
            key=f"kfrc-{secrets.token_hex(4)}-{blocks.start}",
            pure=False,
            retries=_RETRIES,
        )

    def _wait_for(self, future: Any, told: _PassTold, n_done: int) -> None:
        """Wait until a future is done, and tell how far the pass is meanwhile."""
        began = time.monotonic()
        while not future.done():
            _wait_for(future)
            told.step(n_done)
            if not self.client.nthreads() and time.monotonic() - began > _PATIENCE:
                activity.step("waiting for workers of the cluster")

    def _lent(self, reader: Reader) -> Reader:
        """The reader without the data, which go to the cluster once and not with every task."""
        return replace(reader, source=reader.source.without_rows())


@contextmanager
def _scheduler_of(client: Any) -> Iterator[None]:
    """A scheduler that is gone is one error, whichever message to it fails, and however Dask says so."""
    closed: type[Exception] = import_module("distributed.comm").CommClosedError
    try:
        yield
    except KFRCError:
        raise
    except Exception as error:  # errors of Dask have no class of their own
        if client.status == "running" and not isinstance(error, closed):
            raise  # of a task
        raise WorkerError(_GONE) from error


def _wait_for(future: Any) -> None:
    """Wait for a future, but not for long; what it ended with is asked later."""
    with suppress(Exception):
        future.exception(timeout=activity.INTERVAL)


def _rows_of(reader: Reader, blocks: range) -> tuple[Source, tuple[int, int]]:
    return reader.source, reader.partition.rows(blocks)


def _result(distributed: Any, future: Any) -> Any:
    try:
        return future.result()
    except distributed.KilledWorker as error:
        raise WorkerError(_DIED) from error


def _lost(client: Any) -> WorkerError:
    """What to say of rows or results that are gone: the scheduler is, or it was there all the time."""
    return WorkerError(_DIED if client.status == "running" else _GONE)


def _run_remotely(
    task: Callable[[Reader, range], Any], reader: Reader, blocks: range, version: str, *pieces: Any
) -> Any:
    # For good, not for the task: other threads of the worker must not see the limit lifted while they compute.
    threadpool_limits(limits=1)
    if version != _version():
        raise WorkerError(f"a worker has kfrc {_version()}, but the fit is of {version}: install the same version")
    return task(reader.reading(blocks, pieces) if pieces else reader, blocks)


def _version() -> str:
    return str(import_module("kfrc").__version__)


def engine_for(client: Any = None, memory: str | float | None = None, n_jobs: int | None = None) -> Engine:
    """The engine that a user asks for.

    Parameters
    ----------
    client : distributed.Client, optional
        Of a Dask cluster; None for threads of this process.
    memory : str or float, optional
        That a worker may use, such as ``"2GB"``; by default 1 GB.
    n_jobs : int, optional
        Threads; by default one per core.
    """
    n_bytes = parse_memory(memory)
    if client is None:
        return LocalEngine(check_n_jobs(n_jobs), n_bytes)
    if not hasattr(client, "submit") or not hasattr(client, "nthreads"):
        raise TypeError(f"client must be a distributed.Client, got {client!r}")
    return ClusterEngine(client, n_bytes)
