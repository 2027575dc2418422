"""One run at a time in a folder; whoever only looks reads a note of the run, and takes no lock for that."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from kfrc_app.study.errors import StudyError
from kfrc_app.study.writing import write_atomically, write_error

_LOCK, _NOTE = "run.lock", "run.json"
_ENDED = ("Z", "X")
"""States of processes that have ended and whose number is still taken."""


@contextmanager
def exclusive(folder: Path) -> Iterator[bool]:
    """Hold an advisory lock, which the system releases when the process ends; yields whether there are locks."""
    try:
        import fcntl
    except ImportError:  # no such locks on this platform
        yield False
        return
    path = folder / _LOCK
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise write_error(path, error) from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            locked = True
        except BlockingIOError:
            raise StudyError(f"another run is writing to {folder}; wait for it, or choose another folder") from None
        except OSError:  # a file system without locks
            locked = False
        yield locked
    finally:
        os.close(descriptor)


@contextmanager
def noted_run(folder: Path, workers: int) -> Iterator[None]:
    """Leave a note of who runs with how many workers; when the run ends, only the workers stay in it."""
    _write(folder, {"workers": workers, **_this_process()})
    try:
        yield
    finally:
        _write(folder, {"workers": workers})


def last_run(folder: Path) -> tuple[bool, int]:
    """Whether a run is under way, and the number of workers of the last one (0 if unknown); takes no lock.

    A run that was killed is told from one under way if it was of this machine; of another, the note is believed.
    """
    try:
        note = json.loads((folder / _NOTE).read_text(encoding="utf-8"))
        workers, pid, machine, started = (note.get(name) for name in ("workers", "pid", "machine", "started"))
    except (OSError, ValueError, AttributeError, RecursionError):
        return False, 0
    known = type(workers) is int and workers > 0
    running = type(pid) is int and (machine != platform.node() or _is_alive(pid, started))
    return running, workers if known else 0


def _write(folder: Path, note: dict[str, Any]) -> None:
    with suppress(StudyError):  # a full disk is reported by what must be written
        write_atomically(folder / _NOTE, json.dumps(note).encode())


def _this_process() -> dict[str, Any]:
    return {"pid": os.getpid(), "machine": platform.node(), "started": _started(os.getpid())}


def _is_alive(pid: int, started: object) -> bool:
    if os.name != "posix" or not 0 < pid < 2**31:  # elsewhere signal 0 is no question
        return False
    try:
        os.kill(pid, 0)
    except PermissionError:
        pass  # somebody else's process
    except OSError:
        return False
    return _started(pid) == started


def _started(pid: int) -> str | None:
    """When a process began, in the units of its system: numbers of processes are used again. None if not told."""
    with suppress(OSError, IndexError):
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
        return None if fields[0] in _ENDED else fields[19]
    return None
