"""Tables with values far outside the bulk against the same tables without them: time, memory, degree, clusters."""

from __future__ import annotations

import time
import tracemalloc
import warnings
from collections.abc import Iterator

import numpy as np
from harness import Row
from sklearn.metrics import adjusted_rand_score

from kfrc import KFRC
from kfrc.exceptions import OutlierWarning
from kfrc.fitting import TableView
from kfrc.gram import ChebyshevGrams
from kfrc.kernels.gaussian import GaussianSum
from kfrc.typing import BoolArray, FloatArray

N_SAMPLES = (1000, 20_000, 1_000_000)
VALUES = (1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8)
CENTERS = np.array([[0.0, 0.0, 0.0], [4.0, 0.0, 4.0], [0.0, 4.0, 4.0]])
BOUND = "<= 3"
REPEATS = 3


def rows() -> Iterator[Row]:
    for n_samples in N_SAMPLES:
        rng = np.random.default_rng(0)
        X = CENTERS[rng.integers(3, size=n_samples)] + rng.standard_normal((n_samples, 3))
        clean = np.ones(n_samples, dtype=bool)
        clean[7] = False
        for value in VALUES:
            table = X.copy()
            table[7, 1] = value
            yield _compare(f"one value of {value:.0e}", X, table, clean)
        table = X.copy()
        clean[:] = np.arange(n_samples) % 1000 != 7
        table[~clean] *= 1000.0
        yield _compare("0.1 % of the rows times 1000", X, table, clean)
        clean[:] = True
        usual, heavy = rng.standard_normal((n_samples, 2)), rng.standard_cauchy((n_samples, 2))
        yield _compare("two more Cauchy columns", np.hstack([X, usual]), np.hstack([X, heavy]), clean)
        yield _compare("nothing but three Cauchy columns", rng.standard_normal(X.shape), rng.standard_cauchy(X.shape))


def _compare(what: str, without: FloatArray, table: FloatArray, clean: BoolArray | None = None) -> Row:
    """A fit with far values beside one without; the ratio is that of the CPU times, medians of alternate runs."""
    repeats = REPEATS if len(table) <= 20_000 else 1
    times: tuple[list[float], list[float]] = ([], [])
    models = []
    said = False
    for _ in range(repeats):
        for X, series in zip((without, table), times, strict=True):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                start = time.process_time()
                model = KFRC(3, random_state=0).fit(X)
                series.append(time.process_time() - start)
            models.append(model)
            said = any(warning.category is OutlierWarning for warning in caught)
    base, ours = models[-2:]
    agreement = "" if clean is None else f"ARI {adjusted_rand_score(base.labels_[clean], ours.labels_[clean]):.3f}, "
    ratio = float(np.median(times[1]) / np.median(times[0]))
    return Row(
        f"n={len(table)}: {what} / without",
        ratio,
        BOUND,
        f"{agreement}sizes {np.bincount(ours.labels_, minlength=3).tolist()}, degree at level 0 {_degree(table)}, "
        f"{'warning' if said else 'no warning'}, {np.median(times[1]):.2f} s, {_peak_memory(table):.0f} MiB / "
        f"{_peak_memory(without):.0f} MiB without",
    )


def _degree(X: FloatArray) -> int:
    """Number of polynomials of the column that needs most, with bandwidths of one standard deviation."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        view = TableView.of(X, None, standardize=True)
    return int(ChebyshevGrams(view.standardized, GaussianSum()).degrees(np.ones(X.shape[1])).max())


def _peak_memory(X: FloatArray) -> float:
    """MiB that a fit holds at most beyond its table; measured in a run of its own, which tracing slows down."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tracemalloc.start()
        KFRC(3, random_state=0).fit(X)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return peak / 2**20
