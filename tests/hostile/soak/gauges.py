"""Memory, open files, threads and children of a process over time, and whether one of them grows without end."""

from __future__ import annotations

import statistics
import threading
from contextlib import suppress

import numpy as np
import psutil

MEGABYTE = 1e6
ALLOWED = {"MB": 8.0, "files": 12.0, "threads": 12.0, "children": 4.0}
"""By how much the median of the last quarter may be above that of the second: the first one is the warming up."""


def quarters(values):
    """Medians of the four quarters of a series."""
    return [statistics.median(part) for part in np.array_split(np.asarray(values, dtype=float), 4) if len(part)]


def grows(values, allowed):
    """Whether a series goes up for good: the last quarter is well above the second, and goes on going up.

    A step that comes once (a cache, an arena of malloc) does not go on, and noise is in no median.
    """
    if len(values) < 16:
        return False
    _, second, _, last = quarters(values)
    rise = last - second
    before, after = (statistics.median(part) for part in np.array_split(np.asarray(values, dtype=float), 8)[-2:])
    return bool(rise > allowed and after - before > 0.1 * rise)


class Gauges:
    """Looks at a process every few seconds until it is stopped.

    Parameters
    ----------
    pid : int
    every : float
        Seconds.
    """

    def __init__(self, pid, every):
        self.series = {name: [] for name in ALLOWED}
        self.zombies = []
        self._process, self._every = psutil.Process(pid), every
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._go, daemon=True)

    def start(self):
        self._thread.start()
        return self

    def stop(self):
        self._stop.set()
        self._thread.join()
        return self

    def now(self):
        """All numbers of this moment."""
        process = self._process
        children = process.children()
        zombies = 0
        for child in children:
            with suppress(psutil.Error):
                zombies += child.status() == psutil.STATUS_ZOMBIE
        return {
            "MB": process.memory_info().rss / MEGABYTE,
            "files": process.num_fds(),
            "threads": process.num_threads(),
            "children": len(children),
        }, zombies

    def growing(self):
        """Names of what grows."""
        return [name for name, values in self.series.items() if grows(values, ALLOWED[name])]

    def _go(self):
        while not self._stop.wait(self._every):
            with suppress(psutil.Error):
                numbers, zombies = self.now()
                if not numbers["MB"]:  # it has ended
                    return
                for name, value in numbers.items():
                    self.series[name].append(value)
                self.zombies.append(zombies)
