"""Rows beyond memory: cost of a pass per row, against others; growth with the number of rows; memory of a whole fit.

.venv/bin/python benchmarks/run.py blocks          all of it: some minutes, and 1 GB of disk below .bench
sh benchmarks/peer_environments.sh                 environments of the others, which are skipped without them
.venv/bin/python benchmarks/blocks.py fit FOLDER   one fit of a folder of Parquet files: seconds, passes, memory
"""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from harness import Row

from kfrc import KFRC
from kfrc._threads import one_thread
from kfrc.blocks import LocalEngine, Partition, Reader, engine_for
from kfrc.blocks.descent import FuzzyPass
from kfrc.blocks.reader import Standardizing
from kfrc.blocks.row_maps import ColumnMap, numbers_only
from kfrc.fuzzifiers import ComplementaryRoot
from kfrc.kernels import Kernel
from kfrc.sources import ParquetSource

PLACE = Path(__file__).parents[1] / ".bench"
N_COLUMNS, N_CLUSTERS = 10, 4
COMPARED_ROWS = 2_000_000
GROWTH = (100_000, 1_000_000, 10_000_000)
MEMORY = "500MB"
"""Of a fit whose memory is measured: the table does not fit into it."""

SETTINGS = {"level": 1.0, "max_anisotropy": 1.0, "m": 1.5, "n_starts": 1, "n_init": 1}
LEVELS = (0.0, 1.0, 4.0)
REPEATS = 3
PEERS = {
    "sklearn-gmm": ("", "scikit-learn GaussianMixture (diagonal), in memory", "<= 2", ()),
    "spark-gmm": ("spark", "Spark GaussianMixture (full)", "<= 0.5", ()),
    "spark-kmeans": ("spark", "Spark KMeans", "", ()),
    "dask-kmeans": ("dask-ml", "dask-ml KMeans", "", ()),
    "sklearn-minibatch": (
        "",
        "scikit-learn MiniBatchKMeans, in memory, batches of 65536",
        "",
        ("--batch-size", "65536", "--iterations", "1", "2", "4"),
    ),
}


def rows() -> Iterator[Row]:
    folder = made(COMPARED_ROWS)
    costs = {level: pass_costs(folder, level) for level in LEVELS}
    for level, found in costs.items():
        single, double = found["single"], found["double"]
        detail = ", ".join(f"{name} {cost:.2f}" for name, cost in found.items() if isinstance(cost, float))
        yield Row(
            f"a pass in double / single precision, level {level:g}",
            double / single,
            detail=f"us per row, Parquet, one core: {detail}",
        )
        efficiency = found["one"] / (2 * found["two"])
        yield Row(f"efficiency of two threads, level {level:g}", efficiency, ">= 0.8", "in memory, double precision")
    # Of a fit at level 1: how many passes are of single precision is counted.
    share = fit_in_process(folder)["share_single"]
    mean = share * costs[1.0]["single"] + (1.0 - share) * costs[1.0]["double"]
    for peer, (environment, name, bound, options) in PEERS.items():
        measured = peer_cost(peer, environment, folder, options)
        if isinstance(measured, str):
            print(f"| {name} | | | skipped | {measured} |", flush=True)
            continue
        detail = f"level 1: {mean:.2f} us in the mean pass of a fit, {share:.0%} single; theirs {measured:.2f}"
        yield Row(f"a pass / an iteration of {name}", mean / measured, bound, detail)
    yield from growth()


def growth() -> Iterator[Row]:
    """Whole fits, memberships written, by processes of their own."""
    before: dict[str, Any] | None = None
    for n_rows in GROWTH:
        found = fit_in_process(made(n_rows))
        detail = (
            f"{found['seconds']:.0f} s in all, {found['passes']} passes of {found['per_pass']:.2f} us per row, "
            f"peak {found['gigabytes']:.2f} GB"
        )
        ratio = 1.0 if before is None else found["by_rows"] / before["by_rows"]
        yield Row(
            f"passes and memberships of {n_rows:,} rows, per row and pass, / the line before", ratio, "<= 1.5", detail
        )
        before = found
    assert before is not None
    yield Row("peak memory of the largest fit, GB", before["gigabytes"], "<= 1")
    hours = 1e9 * before["per_pass"] * 1e-6 * 16 * before["threads"] / 3600
    yield Row("10^9 rows, 16 passes: core-hours by extrapolation", hours)


def made(n_rows: int) -> Path:
    """A folder of Parquet files with so many rows."""
    folder = PLACE / f"rows-{n_rows}"
    done = folder.with_suffix(".done")
    if done.exists():
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    rng = np.random.default_rng(0)
    means = 1.2 * rng.standard_normal((N_CLUSTERS, N_COLUMNS))
    for k, first in enumerate(range(0, n_rows, 1_000_000)):
        size = min(1_000_000, n_rows - first)
        X = means[rng.integers(N_CLUSTERS, size=size)] + rng.standard_normal((size, N_COLUMNS))
        table = pa.table({f"x{j}": X[:, j] for j in range(N_COLUMNS)})
        pq.write_table(table, folder / f"part-{k}.parquet", row_group_size=131_072)
    done.touch()
    return folder


def pass_costs(folder: Path, level: float) -> dict[str, float]:
    """Microseconds per row of one pass, in both precisions, from Parquet and memory, by one thread and two."""
    source = ParquetSource(folder)
    X = np.column_stack(source.named_columns(0, 50_000, list(source.names)))
    mean, deviation = X.mean(axis=0), X.std(axis=0)
    low, high = mean - 5.2 * deviation, mean + 5.2 * deviation
    ends = np.column_stack([(low - mean) / deviation, (high - mean) / deviation])
    bandwidths = np.full(N_COLUMNS, np.exp(level))
    double = ColumnMap.of(Kernel.from_name("sum"), numbers_only(N_COLUMNS), bandwidths, ends, {}, incomplete=False)
    coding = Standardizing(tuple(range(N_COLUMNS)), None, low, high, mean, deviation)
    reader = Reader(source, coding, Partition(source.n_rows, 4))
    kept = reader.kept(10**11)
    with one_thread():
        passes = {
            "double": _a_pass(double, X, mean, deviation),
            "single": _a_pass(double.in_single(), X, mean, deviation),
        }
    jobs = {
        "single": lambda: LocalEngine(1).run(passes["single"], reader, ""),
        "double": lambda: LocalEngine(1).run(passes["double"], reader, ""),
        "decoding": lambda: [0 for _ in reader.blocks(range(reader.partition.n_blocks))],
        "one": lambda: LocalEngine(1).run(passes["double"], kept, ""),
        "two": lambda: LocalEngine(2).run(passes["double"], kept, ""),
    }
    times: dict[str, list[float]] = {name: [] for name in jobs}
    for job in jobs.values():
        job()
    for _ in range(REPEATS):
        for name, job in jobs.items():
            began = time.perf_counter()
            job()
            times[name].append(time.perf_counter() - began)
    return {name: float(np.median(series)) / source.n_rows * 1e6 for name, series in times.items()}


def _a_pass(rows: Any, X: Any, mean: Any, deviation: Any) -> FuzzyPass:
    rng = np.random.default_rng(0)
    weights = rng.random((N_CLUSTERS, len(X))).astype(rows.dtype)
    basis = rows.prepared(np.ascontiguousarray(((X - mean) / deviation).T), {})
    centers = rows.centers(
        rows.moments(basis, weights).astype(np.float64), weights.sum(axis=1).astype(np.float64), None
    )
    return FuzzyPass(rows, centers, ComplementaryRoot(1.5))


def peer_cost(peer: str, environment: str, folder: Path, options: tuple[str, ...]) -> float | str:
    """Microseconds per row and iteration of another program, or why it was not measured."""
    python = PLACE / environment / "bin" / "python" if environment else Path(sys.executable)
    if not python.exists():
        return "no environment: sh benchmarks/peer_environments.sh"
    script = Path(__file__).parent / "peers_beyond_memory.py"
    ended = subprocess.run(
        [python, script, peer, str(folder), "--repeats", "2", *options], capture_output=True, text=True, check=False
    )
    try:
        found = json.loads(ended.stdout)
    except json.JSONDecodeError:
        return (ended.stderr.strip().splitlines() or ["no answer"])[-1][:200]
    return found["skipped"] if "skipped" in found else float(found["microseconds"])


def fit_in_process(folder: Path) -> dict[str, Any]:
    command = [sys.executable, __file__, "fit", str(folder)]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


def fit(folder: str) -> dict[str, Any]:
    """A whole fit of a folder with memberships written; passes are timed apart from the choice on a sample."""
    source = ParquetSource(folder, columns=[f"x{j}" for j in range(N_COLUMNS)])
    clock = Clock()
    began = time.perf_counter()
    model = KFRC(N_CLUSTERS, random_state=0, **SETTINGS).fit(source, memory=MEMORY, checkpoint=clock)
    fitted = time.perf_counter()
    out = PLACE / "memberships"
    model.memberships_.write_parquet(out, engine=engine_for(memory=MEMORY))
    ended = time.perf_counter()
    shutil.rmtree(out)
    in_passes = clock.times[-1] - clock.times[0]
    return {
        "rows": source.n_rows,
        "seconds": ended - began,
        "writing": ended - fitted,
        "passes": model.n_iter_,
        "share_single": 1.0 - clock.n_double / model.n_iter_,
        "per_pass": in_passes / max(len(clock.times) - 1, 1) / source.n_rows * 1e6,
        "by_rows": (in_passes + ended - fitted) / (len(clock.times)) / source.n_rows * 1e6,
        "threads": engine_for(memory=MEMORY).n_workers,
        "gigabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
        "status": model.status_,
    }


class Clock:
    """Notes when passes end."""

    def __init__(self) -> None:
        self.times: list[float] = []
        self.n_double = 0

    def load(self, stage: str) -> None:
        return None

    def save(self, stage: str, content: Any) -> None:
        if stage in ("sample", "passes"):
            self.times.append(time.perf_counter())
        if stage == "passes":
            self.n_double = len(content.path)


if __name__ == "__main__":
    if sys.argv[1:2] != ["fit"]:
        sys.exit("usage: blocks.py fit FOLDER")
    print(json.dumps(fit(sys.argv[2])))
