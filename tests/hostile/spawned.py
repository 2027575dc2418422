"""The program as a process of its own: its streams are files, so that nothing waits for a reader."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from hostile.attack import Broken

PATIENCE = 280.0
"""Seconds of the wall that a start and a small fit may take on a machine that has other things to do."""

START = """
import os, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from kfrc_app.__main__ import main
os.write({}, b"!")
main()
"""
"""The program, which says when it begins; who started the attack may ignore Ctrl-C, the program must not."""


class Spawned:
    """A process of the program in a group of its own.

    Parameters
    ----------
    arguments : sequence of str or bytes
    folder : Path
        Where its messages go.
    env : dict, optional
        All of its environment.
    stdin, stdout, stderr : optional
        Streams, by default nothing and two files.
    prepare : callable, optional
        Runs in the new process before the program does.
    """

    def __init__(
        self,
        arguments: Sequence[Any],
        folder: Path,
        *,
        env: dict[str, str] | None = None,
        stdin: Any = subprocess.DEVNULL,
        stdout: Any = None,
        stderr: Any = None,
        prepare: Callable[[], None] | None = None,
        cwd: Path | None = None,
    ) -> None:
        self.out, self.err = folder / "stdout", folder / "stderr"
        reading, writing = os.pipe()
        with self.out.open("wb") as out, self.err.open("wb") as err:
            self.process = subprocess.Popen(
                [sys.executable, "-c", START.format(writing), *arguments],
                env=environment() if env is None else env,
                stdin=stdin,
                stdout=out if stdout is None else stdout,
                stderr=err if stderr is None else stderr,
                start_new_session=True,
                preexec_fn=prepare,
                pass_fds=(writing,),
                cwd=folder if cwd is None else cwd,
            )
        os.close(writing)
        self._reading = reading

    def wait_for_begin(self) -> None:
        """Wait until the program itself has begun, or has ended before."""
        os.read(self._reading, 1)

    def wait(self) -> int:
        """The status, once it has ended; it and its workers are gone then, or that is a failure."""
        try:
            status = self.process.wait(PATIENCE)
            self._wait_for_workers()
        except subprocess.TimeoutExpired:
            raise Broken("the program hangs") from None
        finally:
            os.close(self._reading)
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        return status

    def _wait_for_workers(self) -> None:
        end = time.monotonic() + PATIENCE / 2  # a worker ends what it is at
        while True:
            try:
                os.killpg(self.process.pid, 0)
            except ProcessLookupError:
                return
            if time.monotonic() > end:
                raise Broken("a worker outlives the program")
            time.sleep(0.02)

    @property
    def messages(self) -> str:
        """What it has said to the user."""
        return self.err.read_text(encoding="utf-8", errors="replace")


def environment(**changes: str | None) -> dict[str, str]:
    """This environment with one thread and some changes; None takes a variable away."""
    found = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    places = [os.path.abspath(place) for place in os.environ.get("PYTHONPATH", "").split(os.pathsep) if place]
    found["PYTHONPATH"] = os.pathsep.join(places)  # the program may start in a folder that is gone
    for name, value in changes.items():
        if value is None:
            found.pop(name, None)
        else:
            found[name] = value
    return found


def leftovers(folder: Path) -> list[str]:
    """What runs that were not completed have left in a folder."""
    return sorted(name for name in os.listdir(folder) if name.endswith((".partial", ".old", ".new")))


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
