"""Running the tasks of a study: in this process, in processes of this machine, or on a Dask cluster."""

from __future__ import annotations

import logging
import secrets
import time
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

import joblib
from threadpoolctl import threadpool_limits

import kfrc
from kfrc.activity import follow, results
from kfrc.blocks import AddressError, WorkerError, connected
from kfrc.blocks.connection import CONNECT_TIMEOUT, quiet_dask
from kfrc_app.study.design import Record
from kfrc_app.study.errors import SettingsError, StudyError
from kfrc_app.study.packages import Packages, differences, distinct, installed_packages
from kfrc_app.study.progress import Failure, StudyProgress, StudyState
from kfrc_app.study.store import StudyStore, Task

Run = Callable[[Any], list[Record]]

LOCAL = "local"
"""Address that stands for a Dask cluster started for the run on this machine."""

_WORKER_DIED = "the worker process died while running this task (killed, or out of memory)"


class LostSchedulerError(StudyError):
    """The Dask scheduler cannot be reached, or went away."""


@dataclass(frozen=True)
class Outcome:
    """How a task ended: with records, or with a failure; and the versions in the process where it did."""

    key: str
    records: list[Record]
    failure: Failure | None
    seconds: float
    version: str = field(default_factory=lambda: kfrc.__version__)
    packages: Packages = field(default_factory=installed_packages)


@dataclass(frozen=True)
class RunReport:
    """What a run did.

    Attributes
    ----------
    n_tasks : int
        Tasks of the study.
    n_skipped : int
        Tasks that were finished before.
    n_computed : int
        Tasks finished by this run.
    failures : dict of str to str
        Reasons of the tasks without a result, of this run or earlier ones.
    set_aside : tuple of str
        Tasks whose shard was damaged, moved away and computed again.
    seconds : float
        Wall time.
    """

    n_tasks: int
    n_skipped: int
    n_computed: int
    failures: dict[str, str] = field(default_factory=dict)
    set_aside: tuple[str, ...] = ()
    seconds: float = 0.0


class Executor(Protocol):
    """Runs tasks; outcomes come as tasks end, in any order."""

    @property
    def workers(self) -> int:
        """How many tasks run at a time; 0 if unknown."""
        ...

    def outcomes(self, tasks: Sequence[Task], run: Run, progress: StudyProgress) -> Generator[Outcome]:
        """One outcome per task."""
        ...


def run_tasks(
    tasks: Iterable[Task],
    run: Run,
    store: StudyStore,
    *,
    n_jobs: int = 1,
    scheduler: str | None = None,
    security: Any = None,
    trusted: bool = False,
    retry_failed: bool = False,
    mixed: bool = False,
    progress: StudyProgress | None = None,
) -> RunReport:
    """Compute the tasks that the store does not hold yet, and store each as it ends.

    Parameters
    ----------
    tasks : iterable of Task
    run : callable
        Pure function from a task to its records; importable, so that workers find it.
    store : StudyStore
        Made for these tasks.
    n_jobs : int, default=1
        Processes; -1 for one per core. With ``scheduler="local"``, workers of the cluster.
    scheduler : str, optional
        Address of a Dask scheduler, or ``"local"`` for a cluster of this machine. Only this process writes to the
        store: workers need no shared disk. Whoever runs the scheduler can run programs in this process.
    security : distributed.Security, optional
        Certificates for a scheduler at a ``tls://`` address; by default those of Dask's configuration.
    trusted : bool, default=False
        Connect to a scheduler on another computer without TLS.
    retry_failed : bool, default=False
        Try tasks again that failed before.
    mixed : bool, default=False
        Go on although what is there, or a worker, is of other versions of numpy and the like. Every shard says of which
        it is.
    progress : StudyProgress, optional

    Returns
    -------
    RunReport

    Raises
    ------
    StudyError
        If the run cannot go on; what was finished is kept, and the next run resumes.
    """
    start = time.perf_counter()
    progress = progress or StudyProgress()
    executor: Executor = LocalExecutor(n_jobs)
    if scheduler is not None:
        executor = DaskExecutor(scheduler, n_jobs, security, trusted)
    with store.lock(executor.workers):
        state = store.state()
        if not mixed:
            _refuse_mixture(store, state)
        for key, reason in state.corrupt.items():
            store.set_aside(key)
            progress.note(f"{reason}: set aside, computed again")
        earlier = {} if retry_failed else {key: failure.reason for key, failure in state.failures.items()}
        todo = [task for task in tasks if task.key not in state.seconds and task.key not in earlier]
        progress.begin(len(store.fingerprints), len(store.fingerprints) - len(todo))
        failures: dict[str, str] = {}
        with follow(progress.show) as follower, closing(executor.outcomes(todo, run, progress)) as outcomes:
            for outcome in outcomes:
                failure = _keep(store, outcome, mixed=mixed)
                progress.advance(outcome.key, failure)
                follower.finish(outcome.key)
                if failure is not None:
                    failures[outcome.key] = failure.reason
    return RunReport(
        n_tasks=len(store.fingerprints),
        n_skipped=len(state.seconds),
        n_computed=len(todo) - len(failures),
        failures=earlier | failures,
        set_aside=tuple(state.corrupt),
        seconds=time.perf_counter() - start,
    )


def _refuse_mixture(store: StudyStore, state: StudyState) -> None:
    """Refuse to add to results of other versions; nothing is changed before."""
    here = installed_packages()
    for packages in (store.packages, *distinct(state.packages.values())):
        others = differences(packages, here)
        if others:
            raise SettingsError(
                f"{store.folder} was computed with {others}; install those, choose another output folder, or add "
                "--mixed to go on with both"
            )


def _keep(store: StudyStore, outcome: Outcome, *, mixed: bool) -> Failure | None:
    if outcome.version != store.version:
        raise StudyError(f"a worker has kfrc {outcome.version}, the study is of {store.version}; install that one")
    others = "" if mixed else differences(outcome.packages, installed_packages())
    if others:
        raise StudyError(f"a worker has {others}; install the same there, or add --mixed to go on with both")
    failure = outcome.failure
    if failure is None:
        try:
            store.write(outcome.key, outcome.records, outcome.seconds, outcome.packages)
        except ValueError as error:
            failure = Failure(str(error), "", outcome.seconds)
    if failure is not None:
        store.write_failure(outcome.key, failure)
    return failure


def attempt(run: Run, task: Task) -> Outcome:
    """Run one task with one BLAS thread, so that results do not depend on where it runs."""
    start = time.perf_counter()
    records: list[Record] = []
    failure = None
    with threadpool_limits(limits=1):
        try:
            records = run(task)
        except Exception as error:
            reason = "".join(traceback.format_exception_only(error)).strip()
            failure = Failure(reason, traceback.format_exc(), time.perf_counter() - start)
    return Outcome(task.key, records, failure, time.perf_counter() - start)


@dataclass(frozen=True)
class LocalExecutor:
    """Processes of this machine, by joblib; with one job, this process.

    A task whose process dies twice, the second time alone, has failed; the others go on.

    Parameters
    ----------
    n_jobs : int, default=1
        -1 for one per core.
    """

    n_jobs: int = 1

    @property
    def workers(self) -> int:
        """How many tasks run at a time."""
        return int(joblib.effective_n_jobs(self.n_jobs))

    def outcomes(self, tasks: Sequence[Task], run: Run, progress: StudyProgress) -> Generator[Outcome]:
        """One outcome per task, as tasks end."""
        if self.workers == 1:
            yield from (attempt(run, task) for task in tasks)
            return
        waiting = {task.key: task for task in tasks}
        while waiting:
            try:
                yield from self._pool(waiting, list(waiting.values()), run, self.workers)
            except BrokenProcessPool:
                # The tasks that were running are among the first that wait.
                progress.note("a worker process died; its task is tried again")
                for task in list(waiting.values())[: self.workers]:
                    try:
                        yield from self._pool(waiting, [task], run, 1)
                    except BrokenProcessPool:
                        del waiting[task.key]
                        yield Outcome(task.key, [], Failure(_WORKER_DIED), 0.0)

    @staticmethod
    def _pool(waiting: dict[str, Task], tasks: list[Task], run: Run, n_jobs: int) -> Generator[Outcome]:
        """Outcomes from processes of their own; tasks that ended no longer wait."""
        with joblib.parallel_config(backend="loky", inner_max_num_threads=1):
            parallel = joblib.Parallel(n_jobs=max(n_jobs, 2), batch_size=1, return_as="generator_unordered")
            with closing(results(parallel, (joblib.delayed(attempt)(run, task) for task in tasks))) as outcomes:
                for outcome in outcomes:
                    del waiting[outcome.key]
                    yield outcome


@dataclass(frozen=True)
class DaskExecutor:
    """Workers of a Dask cluster; a task whose worker dies is run again by another.

    A task whose workers die again and again has failed only if they also do so while it is the only one.

    Parameters
    ----------
    address : str
        Of a running scheduler, such as ``"tcp://host:8786"``; or ``"local"``.
    n_jobs : int, default=1
        Workers, for ``"local"``; -1 for one per core.
    security : distributed.Security, optional
        Certificates for a ``tls://`` address.
    trusted : bool, default=False
        Whether the scheduler may be on another computer, without TLS.
    """

    address: str
    n_jobs: int = 1
    security: Any = None
    trusted: bool = False

    @property
    def workers(self) -> int:
        """How many tasks run at a time; unknown for a running cluster, whose workers come and go."""
        return int(joblib.effective_n_jobs(self.n_jobs)) if self.address == LOCAL else 0

    def outcomes(self, tasks: Sequence[Task], run: Run, progress: StudyProgress) -> Generator[Outcome]:
        """One outcome per task, as tasks end."""
        if not tasks:
            return
        try:
            distributed = quiet_dask()
        except WorkerError as error:
            raise StudyError(str(error)) from error
        try:
            with self._client(distributed) as client:
                if not client.nthreads():
                    progress.note(f"the scheduler at {self.address} has no workers yet; waiting for them")
                # Dask blames every task that a dead worker held, also those that only waited there.
                suspects = []
                for task, outcome in self._results(distributed, client, tasks, run):
                    if outcome is None:
                        suspects.append(task)
                    else:
                        yield outcome
                for suspect in suspects:
                    for task, outcome in self._results(distributed, client, [suspect], run):
                        yield outcome or Outcome(task.key, [], Failure(_WORKER_DIED), 0.0)
        except (distributed.CancelledError, OSError) as error:
            raise LostSchedulerError(
                f"lost the connection to the Dask scheduler at {self.address}; finished tasks are kept: start it "
                "again and repeat the command to resume"
            ) from error

    @staticmethod
    def _results(
        distributed: Any, client: Any, tasks: Sequence[Task], run: Run
    ) -> Generator[tuple[Task, Outcome | None]]:
        """Tasks and their outcomes, None where workers died again and again."""
        run_id = secrets.token_hex(4)  # never the result of an earlier run that the cluster may still hold
        by_key = {f"{task.key}-{run_id}": task for task in tasks}
        futures = client.map(partial(_attempt_remotely, run), list(tasks), key=list(by_key), pure=False)
        for future in distributed.as_completed(futures, loop=client.loop):
            try:
                outcome = future.result()
            except distributed.KilledWorker:
                outcome = None
            except Exception as error:
                if future.status != "error":
                    raise
                raise StudyError(
                    f"workers cannot run the tasks ({type(error).__name__}: {error}); they need the packages of this "
                    "process"
                ) from error
            yield by_key[future.key], outcome
            future.release()

    @contextmanager
    def _client(self, distributed: Any) -> Iterator[Any]:
        """Connection to the scheduler; leaving it drops whatever still runs."""
        with ExitStack() as stack:
            if self.address == LOCAL:
                cluster = distributed.LocalCluster(
                    n_workers=self.workers,
                    threads_per_worker=1,
                    host="127.0.0.1",
                    dashboard_address="127.0.0.1:0",
                    silence_logs=logging.CRITICAL,
                )
                client = distributed.Client(stack.enter_context(cluster), set_as_default=False)
                stack.callback(client.close, timeout=CONNECT_TIMEOUT)
            else:
                place = connected(self.address, security=self.security, trusted=self.trusted)
                try:
                    client = stack.enter_context(place)
                except AddressError as error:
                    raise StudyError(str(error)) from None
                except WorkerError as error:
                    raise LostSchedulerError(str(error)) from error
            yield client


def _attempt_remotely(run: Run, task: Task) -> Outcome:
    # For good, not for the task: other threads of the worker must not see the limit lifted while they compute.
    threadpool_limits(limits=1)
    return attempt(run, task)
