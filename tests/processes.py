"""Separate processes of a test on loopback, a Dask cluster among them: all gone when the test ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from waiting import wait_until


class Machines:
    """Processes that a test starts.

    Parameters
    ----------
    folder : Path
        For their logs and files.
    path : Path, optional
        Where they find modules of the test.
    **environment
        Further variables.
    """

    def __init__(self, folder: Path, path: Path | None = None, **environment: str) -> None:
        self.folder = folder
        places = [None if path is None else str(path), os.environ.get("PYTHONPATH")]
        self.environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, places)),
            "OMP_NUM_THREADS": "1",
            **environment,
        }
        self.processes = []

    def start(self, *arguments, **options):
        with open(self.folder / "log", "ab") as log:
            process = subprocess.Popen(
                [sys.executable, *arguments],
                env=self.environment,
                start_new_session=True,
                **({"stdout": log, "stderr": log} | options),
            )
        self.processes.append(process)
        return process

    def cluster(self, n_workers=2):
        """A scheduler and workers; returns (address, scheduler, workers)."""
        file = self.folder / f"scheduler-{len(self.processes)}.json"
        host = ("--host", "127.0.0.1", "--no-dashboard")
        scheduler = self.start("-m", "dask", "scheduler", *host, "--port", "0", "--scheduler-file", str(file))
        wait_until(file.exists)
        wait_until(lambda: file.read_text().rstrip().endswith("}"))
        address = json.loads(file.read_text())["address"]
        return address, scheduler, [self.worker(address) for _ in range(n_workers)]

    def worker(self, address):
        """One more worker."""
        host = ("--host", "127.0.0.1", "--no-dashboard", "--local-directory", str(self.folder))
        return self.start("-m", "dask", "worker", address, *host, "--nthreads", "1", "--no-nanny")

    def stop(self):
        for process in self.processes:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # and the workers that a killed client left
            process.communicate()


def kill(process):
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
