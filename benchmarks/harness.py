"""Interleaved timing: two things measured in the same run, alternately, and compared as a ratio of medians."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kfrc._numerics import standardize

REPEATS = 9


@dataclass(frozen=True)
class Row:
    """One line of the table: a ratio, the bound it is held to, and what was compared."""

    what: str
    ratio: float
    bound: str = ""
    detail: str = ""

    @property
    def verdict(self) -> str:
        if not self.bound:
            return ""
        sign, limit = self.bound.split()
        return "ok" if (self.ratio <= float(limit) if sign == "<=" else self.ratio >= float(limit)) else "MISSED"


def cpu_seconds(*functions: Callable[[], object], repeats: int = REPEATS) -> list[float]:
    """Median CPU time of each function; calls alternate, so that a busy machine slows all of them alike."""
    times: list[list[float]] = [[] for _ in functions]
    for function in functions:
        function()
    for _ in range(repeats):
        for function, series in zip(functions, times, strict=True):
            start = time.process_time()
            function()
            series.append(time.process_time() - start)
    return [float(np.median(series)) for series in times]


def mixture(n_samples: int, n_features: int, n_clusters: int, *, spread: float = 2.0, seed: int = 0):
    """Standardized Gaussian clusters and their labels."""
    rng = np.random.default_rng(seed)
    means = spread * rng.standard_normal((n_clusters, n_features))
    labels = rng.integers(n_clusters, size=n_samples)
    X = means[labels] + rng.standard_normal((n_samples, n_features))
    return standardize(X), labels
