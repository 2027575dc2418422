"""Runs: tables that are being clustered, that wait for it, and that are done, each in its own process and folder."""

from __future__ import annotations

import os
import secrets
import shutil
import sys
import threading
import time
import traceback
import zipfile
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from kfrc_app.server import limits
from kfrc_app.server.problems import ENDED, PageError
from kfrc_app.server.uploads import Upload, Uploads
from kfrc_app.server.workers import Worker, WorkerEndedError, Workers

ALL_FILES = "kfrc-results.zip"
"""What everything together is called."""


class State(StrEnum):
    """How a run stands."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(eq=False)
class Run:
    """A table that is clustered.

    Attributes
    ----------
    id : str
        Random, and all that a page knows of its place.
    upload : Upload
    choices : dict
        As the page sent them, and as they were checked.
    folder : Path
        Where the results are.
    state : State
    progress : dict
        The step it is at.
    result : dict
        What the worker said at its end: a result or a problem.
    """

    id: str
    upload: Upload
    choices: dict[str, Any]
    folder: Path
    state: State = State.WAITING
    progress: dict[str, Any] = field(default_factory=dict)
    result: dict[str, Any] = field(default_factory=dict)
    worker: Worker | None = None
    began: float | None = None
    ended: float | None = None

    @property
    def is_over(self) -> bool:
        """Whether nothing happens any more."""
        return self.state not in (State.WAITING, State.RUNNING)


class Runs:
    """All runs of a server; a few at a time, the others in the order in which they came.

    Parameters
    ----------
    folder : Path
    workers : Workers
    uploads : Uploads
    """

    def __init__(self, folder: Path, workers: Workers, uploads: Uploads) -> None:
        self.folder, self.workers, self.uploads = folder, workers, uploads
        self._runs: dict[str, Run] = {}
        self._waiting: deque[Run] = deque()
        self._changed = threading.Condition()
        self._closed = False
        for _ in range(limits.MAX_RUNNING):
            threading.Thread(target=self._serve, daemon=True).start()

    def add(self, upload: Upload, choices: dict[str, Any]) -> Run:
        """Queue a table.

        Raises
        ------
        PageError
            If too many wait already.
        """
        key = secrets.token_hex(16)
        run = Run(key, upload, choices, self.folder / key)
        with self._changed:
            if len(self._waiting) >= limits.MAX_WAITING:
                raise PageError("Too many tables are waiting already: cancel one of them, or wait.", status=429)
            self._forget(len(self._runs) + 1 - limits.MAX_KEPT_RUNS)
            self.uploads.hold(upload.id)
            self._runs[key] = run
            self._waiting.append(run)
            self._changed.notify()
        return run

    def get(self, key: str) -> Run:
        """A run by what the page knows of it."""
        run = self._runs.get(key)
        if run is None:
            raise PageError("This result is not kept any more: start again.", status=404, where="run")
        run.upload.touched = time.monotonic()
        return run

    def document(self, run: Run) -> dict[str, Any]:
        """How a run stands, for the page."""
        with self._changed:
            ahead = self._waiting.index(run) if run in self._waiting else 0
            until = run.ended or time.monotonic()
            return {
                "id": run.id,
                "state": str(run.state),
                "ahead": ahead,
                "seconds": 0.0 if run.began is None else round(until - run.began, 1),
                "progress": run.progress,
                "result": {name: value for name, value in run.result.items() if name != "details"},
            }

    def cancel(self, run: Run) -> None:
        """End a run at once; nothing happens to one that is over."""
        with self._changed:
            if run.is_over:
                return
            waiting = run in self._waiting
            run.state, run.ended = State.CANCELLED, time.monotonic()
            if waiting:
                self._waiting.remove(run)
                self.uploads.release(run.upload)
            worker = run.worker
        if worker is not None:
            self.workers.end(worker)

    def file(self, run: Run, name: str) -> Path:
        """A file of a result; names are looked up, they never become part of a path unseen.

        Raises
        ------
        PageError
            If there is no such file.
        """
        if run.state is not State.DONE or name not in (ALL_FILES, *run.result["files"]):
            raise PageError("There is no such file.", status=404)
        path = run.folder / name
        if name == ALL_FILES and not path.exists():
            _pack(path, [run.folder / each for each in run.result["files"]])
        return path

    def close(self) -> None:
        """Start nothing any more."""
        with self._changed:
            self._closed = True
            self._waiting.clear()
            self._changed.notify_all()

    def _serve(self) -> None:
        while True:
            with self._changed:
                while not self._waiting and not self._closed:
                    self._changed.wait()
                if self._closed:
                    return
                run = self._waiting.popleft()
                run.state, run.began = State.RUNNING, time.monotonic()
            try:
                self._work(run)
            finally:
                with self._changed:
                    self.uploads.release(run.upload)

    def _work(self, run: Run) -> None:
        result: dict[str, Any] = {"problem": ENDED}
        worker = None
        try:
            worker = self.workers.take()
            with self._changed:
                run.worker = worker
                wanted = run.state is State.RUNNING
            if wanted:
                task = {
                    "do": "cluster",
                    "path": str(run.upload.path),
                    "name": run.upload.name,
                    "choices": run.choices,
                    "out": str(run.folder),
                }
                result = worker.do(task, lambda message: setattr(run, "progress", message["progress"]))
        except (WorkerEndedError, OSError):
            pass
        except Exception:  # whatever it is, this run is over, and the next one must have its turn
            traceback.print_exc()
        finally:
            with self._changed:
                run.worker = None  # so that nobody ends it for this run who comes from now on
                cancelled = run.state is State.CANCELLED
            if worker is not None:
                (self.workers.end if cancelled else self.workers.give_back)(worker)
                self.workers.warm()  # whoever cancelled something wants to change it and start again
        if "details" in result:
            with suppress(OSError, ValueError):  # nobody may read it any more
                print(result["details"], file=sys.stderr)
        with self._changed:
            if run.state is State.CANCELLED:
                _remove(run.folder)
                return
            if "problem" in result:
                _remove(run.folder)
            run.ended, run.result = time.monotonic(), result
            run.state = State.FAILED if "problem" in result else State.DONE
            self._forget(0)  # its results may be so large that older ones have to go

    def forget_idle(self) -> None:
        """Remove the results of tables that nobody looked at for long."""
        with self._changed:
            self._forget(0)

    def _forget(self, too_many: int) -> None:
        """Remove so many of the oldest results, those beyond the bound of bytes, and all that nobody looks at."""
        idle = time.monotonic() - limits.IDLE_SECONDS
        over = sorted((run for run in self._runs.values() if run.is_over), key=lambda run: run.ended or 0.0)
        sizes = {run.id: _size(run.folder) for run in over}
        newest = next((run for run in reversed(over) if sizes[run.id]), None)  # what somebody has just waited for
        n_bytes = sum(sizes.values())
        for k, run in enumerate(over):
            too_large = n_bytes > limits.MAX_RESULT_BYTES and sizes[run.id] > 0 and run is not newest
            if k < too_many or too_large or run.upload.touched < idle:
                n_bytes -= sizes[run.id]
                del self._runs[run.id]
                _remove(run.folder)


def _remove(folder: Path) -> None:
    """Remove the results of a run, and what it had begun to write under another name when its process was ended."""
    for path in (folder, *folder.parent.glob(f".{folder.name}.*")):
        shutil.rmtree(path, ignore_errors=True)


def _size(folder: Path) -> int:
    """Bytes of the files in a folder; none if it is not there."""
    with suppress(OSError), os.scandir(folder) as entries:
        return sum(entry.stat().st_size for entry in entries)
    return 0


def _pack(path: Path, files: list[Path]) -> None:
    """All files of a result in one, complete or not at all."""
    partial = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in files:
            archive.write(file, file.name)
    os.replace(partial, path)
