"""What was tried and what failed, and when processes were killed; written by many threads."""

from __future__ import annotations

import random
import signal
import threading
import time
from collections import Counter
from contextlib import suppress

import psutil


class Tally:
    """Tries and failures by what was tried."""

    def __init__(self):
        self.tries = Counter()
        self.failures = Counter()
        self.told = []
        self._lock = threading.Lock()

    def ok(self, what, number=1):
        with self._lock:
            self.tries[what] += number

    def fail(self, what, why):
        with self._lock:
            self.tries[what] += 1
            self.failures[what] += 1
            self.told.append(f"{what}: {why}")

    def check(self, what, holds, why=""):
        """Count one try, which failed unless something holds."""
        self.ok(what) if holds else self.fail(what, why)
        return bool(holds)


class Killer:
    """Sends SIGKILL to one of some processes, again and again, after random pauses.

    Parameters
    ----------
    victims : callable
        Returns the processes that may die.
    pause : float
        Seconds between two kills, on average.
    rng : random.Random
    """

    def __init__(self, victims, pause, rng):
        self._victims, self._pause, self._rng = victims, pause, rng
        self._stop = threading.Event()
        self._kills = []
        self._thread = threading.Thread(target=self._go, daemon=True)

    def start(self):
        self._thread.start()
        return self

    def stop(self):
        self._stop.set()
        self._thread.join()

    def __len__(self):
        return len(self._kills)

    def since(self, moment):
        """How many were killed since a moment of the monotonic clock, and little before: death takes time to tell."""
        return sum(kill > moment - 1.0 for kill in self._kills)

    def _go(self):
        while not self._stop.wait(self._rng.uniform(0.1, 2.0) * self._pause):
            with suppress(psutil.Error):
                found = sorted(self._victims(), key=lambda process: process.pid)
                if found:
                    self._kills.append(time.monotonic())
                    self._rng.choice(found).send_signal(signal.SIGKILL)


def descendants(pid):
    """Processes that a process started and that are not over."""
    found = []
    with suppress(psutil.Error):
        for child in psutil.Process(pid).children(recursive=True):
            with suppress(psutil.Error):
                if child.status() != psutil.STATUS_ZOMBIE:
                    found.append(child)
    return found


def mature(processes, seconds):
    """Processes that have worked for so many seconds of a processor, however long that took on a busy machine."""
    found = []
    for process in processes:
        with suppress(psutil.Error):
            if sum(process.cpu_times()[:2]) > seconds:
                found.append(process)
    return found


def command_of(process):
    with suppress(psutil.Error):
        return " ".join(process.cmdline())
    return ""


def seeded(seed, what):
    """A generator for one actor, the same for the same seed."""
    return random.Random(f"{seed} {what}")
