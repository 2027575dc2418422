"""Fits and the test of existence with one and two threads, idle and beside a busy process: ratios of CPU and wall."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness import Row

SCRIPT = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
from contextlib import nullcontext
from harness import mixture
from kfrc import KFRC
from kfrc.existence import test_existence
import kfrc._threads, kfrc.clusterers.base, kfrc.fitting.fit, kfrc.fitting.tuning
job, n_samples, limited = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "limited"
if not limited:
    for module in (kfrc._threads, kfrc.clusterers.base, kfrc.fitting.fit, kfrc.fitting.tuning):
        module.threads_for = lambda n_rows: nullcontext()
X, _ = mixture(n_samples, 18, 7, spread=1.0)
KFRC(2, random_state=0).fit(X[:100])
cpu, wall = time.process_time(), time.perf_counter()
if job == "fit":
    KFRC(7, random_state=0).fit(X)
else:
    test_existence(X, random_state=0)
print(json.dumps([time.process_time() - cpu, time.perf_counter() - wall]))
"""
BUSY = "while True: pass"


def rows() -> Iterator[Row]:
    for job, n_samples in (("existence", 400), ("fit", 2000), ("fit", 200_000)):
        for busy in (False, True):
            with neighbor(busy):
                one = run(job, n_samples, threads=1, limited=True)
                two = run(job, n_samples, threads=2, limited=True)
                free = run(job, n_samples, threads=2, limited=False)
            place = f"{job}, n={n_samples}, " + ("busy neighbor" if busy else "idle machine")
            yield Row(f"two threads / one, {place}, CPU", two[0] / one[0], "<= 1.3", f"{two[0]:.1f} s / {one[0]:.1f} s")
            yield Row(f"two threads / one, {place}, wall", two[1] / one[1], "", f"{two[1]:.1f} s / {one[1]:.1f} s")
            yield Row(f"two threads without the limit / one, {place}, CPU", free[0] / one[0])
            yield Row(f"two threads without the limit / one, {place}, wall", free[1] / one[1])


def run(job: str, n_samples: int, *, threads: int, limited: bool) -> tuple[float, float]:
    """CPU and wall seconds of a job in a process that may use so many threads."""
    settings = {"OMP_NUM_THREADS": str(threads), "OPENBLAS_NUM_THREADS": str(threads)}
    command = [sys.executable, "-c", SCRIPT, job, str(n_samples), "limited" if limited else "free"]
    here = Path(__file__).parent
    done = subprocess.run(command, cwd=here, env=os.environ | settings, capture_output=True, text=True, check=True)
    cpu, wall = json.loads(done.stdout)
    return cpu, wall


@contextmanager
def neighbor(busy: bool) -> Iterator[None]:
    """A process beside that does nothing but turn one core."""
    if not busy:
        yield
        return
    process = subprocess.Popen([sys.executable, "-c", BUSY])
    try:
        yield
    finally:
        process.kill()
        process.wait()
