"""Processes that read and cluster for the server: they can be ended at once, and their end is not its end.

A worker is told what to do by lines on its standard input and answers with lines on its standard output. Starting one
takes seconds, so one is kept ready. A worker leads a group of processes, which is ended as a whole.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

_MODULE = "kfrc_app.server.work"
_GRACE = 3.0  # seconds for a process that was told to end to be gone
_PREFIX = "worker-"


class WorkerEndedError(Exception):
    """A worker is gone before it had a result."""


class Worker:
    """One process that does one thing after the other.

    Parameters
    ----------
    folder : Path
        The private folder of the server; the worker removes it if the server is gone.
    """

    def __init__(self, folder: Path) -> None:
        self._spent = False
        # What it and its libraries keep on the disk goes with it, however it ends.
        self._temporary = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=folder))
        place = str(self._temporary)
        self.process = subprocess.Popen(  # noqa: S603  # this Python and a module of ours, without a shell
            # -P: a file beside the table of a user must not be taken for a module
            [sys.executable, "-P", "-m", _MODULE, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            start_new_session=True,
            env={**os.environ, "TMPDIR": place, "TEMP": place, "JOBLIB_TEMP_FOLDER": place},
        )

    def do(self, task: Mapping[str, Any], tell: Callable[[dict[str, Any]], None] | None = None) -> dict[str, Any]:
        """Have something done; what it tells on the way goes to ``tell``.

        Raises
        ------
        WorkerEndedError
            If the process is gone.
        """
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            self.process.stdin.write(json.dumps(task) + "\n")
            self.process.stdin.flush()
            for line in self.process.stdout:
                message = json.loads(line)
                if "end" in message:
                    self._spent = message["last"]
                    return dict(message["end"])
                if tell is not None:
                    tell(message)
        except (OSError, ValueError):  # ended while it was written to or read from
            pass
        raise WorkerEndedError

    @property
    def is_alive(self) -> bool:
        """Whether the process is there and takes something else to do."""
        return not self._spent and self.process.poll() is None

    def end(self) -> None:
        """End the process and those that it started, at once."""
        for ending in (signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM)):
            end_group(self.process.pid, ending)
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(_GRACE)
                break
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        _remove(self._temporary)


def _remove(folder: Path) -> None:
    """Remove a folder in which processes that were just ended may have made one more file."""
    limit = time.monotonic() + _GRACE
    while folder.exists() and time.monotonic() < limit:
        shutil.rmtree(folder, ignore_errors=True)
        if folder.exists():
            time.sleep(0.05)


def end_group(leader: int, ending: signal.Signals = signal.SIGTERM) -> None:
    """End a process and all that it started.

    Nothing of ours listens to SIGTERM, so that it ends at once. The one process that ignores it is joblib's, which
    removes what the others left in memory and on the disk, and then ends by itself.
    """
    with suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(leader, ending)
        else:
            os.kill(leader, ending)


class Workers:
    """All processes of a server, one of which is kept ready.

    Parameters
    ----------
    folder : Path
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._all: set[Worker] = set()
        self._ready: Worker | None = None
        self._closed = False
        self._lock = threading.Lock()

    def warm(self) -> None:
        """Make sure that one is ready."""
        with self._lock:
            if self._closed or (self._ready is not None and self._ready.is_alive):
                return
            dead, self._ready = self._ready, self._start()
        self._bury(dead)

    def take(self) -> Worker:
        """A process for somebody who gives it back or ends it."""
        with self._lock:
            if self._closed:
                raise WorkerEndedError
            dead, self._ready = self._ready, None
            if dead is not None and dead.is_alive:
                return dead
            worker = self._start()
        self._bury(dead)
        return worker

    def give_back(self, worker: Worker) -> None:
        """Keep a process ready that has done its work."""
        with self._lock:
            if worker.is_alive and self._ready is None and not self._closed:
                self._ready = worker
                return
        self.end(worker)

    def end(self, worker: Worker) -> None:
        """End a process."""
        worker.end()
        with self._lock:
            self._all.discard(worker)

    def close(self) -> None:
        """End all of them, for good."""
        with self._lock:
            self._closed = True
            workers = [*self._all]
            self._all.clear()
        for worker in workers:
            worker.end()

    def do_within(self, seconds: float, task: Mapping[str, Any]) -> dict[str, Any]:
        """Have something done that takes a limited time, by a process that stays ready.

        Raises
        ------
        TimeoutError
            If it takes longer.
        WorkerEndedError
            If the process ends by itself.
        """
        worker = self.take()
        late = threading.Event()

        def stop() -> None:
            late.set()
            worker.end()

        timer = threading.Timer(seconds, stop)
        timer.daemon = True
        timer.start()
        try:
            return worker.do(task)
        except WorkerEndedError:
            if late.is_set():
                raise TimeoutError from None
            raise
        finally:
            timer.cancel()
            self.give_back(worker)

    def _bury(self, worker: Worker | None) -> None:
        """Forget a process that died while nobody needed it, with the pipes to it and all that it left."""
        if worker is not None:
            self.end(worker)

    def _start(self) -> Worker:
        worker = Worker(self.folder)
        self._all.add(worker)
        return worker
