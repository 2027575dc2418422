"""What other programs need per row and iteration on a Parquet file, as the slope of their time over the iterations.

    sh benchmarks/peer_environments.sh
    .bench/spark/bin/python benchmarks/peers_beyond_memory.py spark-gmm table.parquet
    .bench/dask-ml/bin/python benchmarks/peers_beyond_memory.py dask-kmeans table.parquet
    .venv/bin/python benchmarks/peers_beyond_memory.py sklearn-gmm table.parquet

Each peer reads the numeric columns once into memory (its own memory: Spark caches, dask persists), is warmed up, and
then fits with each number of iterations in turn, as often as asked. What a fit needs but once (the start, reading, the
labels at the end) is in the intercept, not in the slope. One thread for everybody unless told otherwise.

Prints one JSON object; "microseconds" are those of the wall clock per row and iteration. A peer that is not installed
is skipped: the object then says why.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMBA_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)
SEED = 0


class NotMeasuredError(Exception):
    """The peer, or what it needs, is not there, or its times do not tell."""


@dataclass(frozen=True)
class Table:
    """The Parquet file and its numeric columns."""

    path: Path
    columns: list[str]
    n_rows: int

    @classmethod
    def of(cls, path: Path) -> Table:
        import pyarrow.types
        from pyarrow import dataset

        data = dataset.dataset(path, format="parquet")
        numeric = (pyarrow.types.is_floating, pyarrow.types.is_integer)
        columns = [field.name for field in data.schema if any(kind(field.type) for kind in numeric)]
        return cls(path, columns, data.count_rows())

    def array(self) -> Any:
        """The numeric columns as one array, filled batch by batch so that they are not held twice."""
        import numpy as np
        from pyarrow import dataset

        X = np.empty((self.n_rows, len(self.columns)))
        filled = 0
        for batch in dataset.dataset(self.path, format="parquet").to_batches(columns=self.columns):
            for j, column in enumerate(batch.columns):
                X[filled : filled + batch.num_rows, j] = column.to_numpy(zero_copy_only=False)
            filled += batch.num_rows
        return X

    def first_centers(self, n_clusters: int) -> Any:
        """Centers close to the middle of the first rows, from which k-means has a long way to go."""
        import numpy as np
        from pyarrow import dataset

        head = dataset.dataset(self.path, format="parquet").head(10_000, columns=self.columns)
        sample = np.column_stack([column.to_numpy() for column in head.columns]).astype(float)
        noise = np.random.default_rng(SEED).standard_normal((n_clusters, len(self.columns)))
        return sample.mean(axis=0) + 0.01 * sample.std(axis=0) * noise


@dataclass(frozen=True)
class Peer:
    """A peer that has read the table: fits with at most so many iterations and returns how many it made."""

    fit: Callable[[int], float]
    version: str
    what: str
    cpu_clock: Callable[[], float] | None = time.process_time


def sklearn_gmm(table: Table, options: argparse.Namespace, _: ExitStack) -> Peer:
    import sklearn
    from sklearn.mixture import GaussianMixture

    X = table.array()

    def fit(limit: int) -> float:
        model = GaussianMixture(
            options.clusters,
            covariance_type="diag",
            tol=0.0,
            max_iter=limit,
            init_params="random_from_data",
            random_state=SEED,
        )
        return model.fit(X).n_iter_

    return Peer(fit, f"scikit-learn {sklearn.__version__}", "GaussianMixture, diagonal covariances, in memory")


def sklearn_kmeans(table: Table, options: argparse.Namespace, _: ExitStack) -> Peer:
    import sklearn
    from sklearn.cluster import KMeans

    X, centers = table.array(), table.first_centers(options.clusters)

    def fit(limit: int) -> float:
        return KMeans(options.clusters, init=centers, n_init=1, tol=0.0, max_iter=limit).fit(X).n_iter_

    return Peer(fit, f"scikit-learn {sklearn.__version__}", "KMeans (Lloyd), in memory")


def sklearn_minibatch(table: Table, options: argparse.Namespace, _: ExitStack) -> Peer:
    import sklearn
    from sklearn.cluster import MiniBatchKMeans

    X, centers = table.array(), table.first_centers(options.clusters)

    def fit(limit: int) -> float:
        model = MiniBatchKMeans(
            options.clusters,
            init=centers,
            n_init=1,
            tol=0.0,
            max_no_improvement=None,
            max_iter=limit,
            batch_size=options.batch_size,
            compute_labels=False,
            random_state=SEED,
        ).fit(X)
        return model.n_steps_ * min(model.batch_size, table.n_rows) / table.n_rows

    what = f"MiniBatchKMeans, batches of {options.batch_size} rows, in memory; an iteration is a pass over n rows"
    return Peer(fit, f"scikit-learn {sklearn.__version__}", what)


def dask_kmeans(table: Table, options: argparse.Namespace, _: ExitStack) -> Peer:
    import dask
    import dask.dataframe as dd
    import dask_ml
    import numpy as np
    from dask_ml.cluster import KMeans

    dask.config.set(scheduler="threads", num_workers=options.threads)
    frame = dd.read_parquet(table.path, columns=table.columns).astype("float64")
    blocks = frame.to_dask_array(lengths=True).rechunk({0: "auto", 1: -1})
    blocks = blocks.map_blocks(np.ascontiguousarray, dtype=float).persist()
    centers = table.first_centers(options.clusters)

    def fit(limit: int) -> float:
        return KMeans(options.clusters, init=centers, tol=0.0, max_iter=limit).fit(blocks).n_iter_

    what = f"KMeans on an array of {blocks.numblocks[0]} persisted blocks, threaded scheduler"
    return Peer(fit, f"dask-ml {dask_ml.__version__}, dask {dask.__version__}", what)


def java() -> str:
    """The Java that Spark would take; what goes by the name has to answer, for on some systems it is a stub."""
    home = os.environ.get("JAVA_HOME")
    found = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if not found or not Path(found).exists() or subprocess.run([found, "-version"], capture_output=True).returncode:
        raise NotMeasuredError("Spark needs Java, and there is none")
    return found


def spark_vectors(table: Table, options: argparse.Namespace, stack: ExitStack) -> tuple[Any, Any]:
    """A session, and the table as a column of vectors.

    Either the frame is cached here, once for all fits and in Spark's columnar form, or each fit reads the file and
    keeps the rows as objects for its iterations, which Spark's estimators do when they are given what is not cached.
    """
    java()
    from pyspark.ml.feature import VectorAssembler
    from pyspark.sql import SparkSession

    scratch = stack.enter_context(tempfile.TemporaryDirectory(prefix="spark-"))
    settings = {
        "spark.driver.memory": options.memory,
        "spark.driver.host": "localhost",
        "spark.driver.bindAddress": "127.0.0.1",
        # Else the garbage collector takes all cores.
        "spark.driver.extraJavaOptions": f"-XX:ActiveProcessorCount={options.threads}",
        "spark.local.dir": scratch,
        "spark.sql.warehouse.dir": str(Path(scratch) / "warehouse"),
        "spark.sql.shuffle.partitions": str(options.threads),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    builder = SparkSession.builder.master(f"local[{options.threads}]").appName("peers_beyond_memory")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    stack.callback(session.stop)
    session.sparkContext.setLogLevel("ERROR")
    frame = session.read.parquet(str(table.path.resolve())).select(*table.columns)
    vectors = VectorAssembler(inputCols=table.columns, outputCol="features").transform(frame).select("features")
    if options.spark_cache == "frame":
        vectors = vectors.cache()
        vectors.count()
    return session, vectors


def spark_cpu_clock(session: Any) -> Callable[[], float] | None:
    """CPU seconds of Spark's Java process, its compiler and garbage collector included."""
    process = session.sparkContext._jvm.java.lang.ProcessHandle.current()

    def clock() -> float:
        return process.info().totalCpuDuration().get().toNanos() / 1e9

    try:
        clock()
    except Exception:
        return None
    return clock


def spark_gmm(table: Table, options: argparse.Namespace, stack: ExitStack) -> Peer:
    import pyspark
    from pyspark.ml.clustering import GaussianMixture

    session, vectors = spark_vectors(table, options, stack)

    def fit(limit: int) -> float:
        return GaussianMixture(k=options.clusters, tol=0.0, maxIter=limit, seed=SEED).fit(vectors).summary.numIter

    what = f"GaussianMixture, full covariances, {options.spark_cache} cached by Spark"
    return Peer(fit, f"pyspark {pyspark.__version__}", what, spark_cpu_clock(session))


def spark_kmeans(table: Table, options: argparse.Namespace, stack: ExitStack) -> Peer:
    import pyspark
    from pyspark.ml.clustering import KMeans

    session, vectors = spark_vectors(table, options, stack)

    def fit(limit: int) -> float:
        model = KMeans(k=options.clusters, initMode="random", tol=0.0, maxIter=limit, seed=SEED).fit(vectors)
        return model.summary.numIter

    what = f"KMeans, {options.spark_cache} cached by Spark"
    return Peer(fit, f"pyspark {pyspark.__version__}", what, spark_cpu_clock(session))


PEERS = {
    "spark-gmm": spark_gmm,
    "spark-kmeans": spark_kmeans,
    "dask-kmeans": dask_kmeans,
    "sklearn-gmm": sklearn_gmm,
    "sklearn-minibatch": sklearn_minibatch,
    "sklearn-kmeans": sklearn_kmeans,
}


def slope(made: list[float], seconds: list[float]) -> float:
    """Least squares: seconds per iteration. K-means ends when nothing moves any more, whatever its tolerance."""
    import numpy as np

    if len(set(made)) < 2:
        raise NotMeasuredError(f"no slope: {made[0]:g} iterations were made whatever the limit")
    return float(np.polyfit(made, seconds, 1)[0])


def measure(options: argparse.Namespace) -> dict[str, Any]:
    import numpy as np

    table = Table.of(options.file)
    limits = sorted(set(options.iterations))
    times: dict[int, list[tuple[float, float, float]]] = {limit: [] for limit in limits}
    with ExitStack() as stack:
        start = time.perf_counter()
        peer = PEERS[options.peer](table, options, stack)
        begun = time.perf_counter() - start
        cpu_clock = peer.cpu_clock or (lambda: float("nan"))
        peer.fit(limits[0])
        for _ in range(options.repeats):
            for limit in limits:
                wall, cpu = time.perf_counter(), cpu_clock()
                made = peer.fit(limit)
                times[limit].append((made, time.perf_counter() - wall, cpu_clock() - cpu))
    medians = np.median([times[limit] for limit in limits], axis=1)
    made, wall, cpu = medians.T.tolist()
    per_row = 1e6 / table.n_rows
    microseconds = per_row * slope(made, wall)
    if microseconds <= 0:
        raise NotMeasuredError("the slope is lost in the noise: take more rows, more repeats or other iterations")
    return {
        "microseconds": microseconds,
        "cpu_microseconds": per_row * slope(made, cpu) if peer.cpu_clock else None,
        "rows": table.n_rows,
        "columns": len(table.columns),
        "clusters": options.clusters,
        "threads": options.threads,
        "repeats": options.repeats,
        "start_seconds": begun,
        "iterations": {
            str(limit): {"made": made[i], "seconds": wall[i], "cpu_seconds": cpu[i] if peer.cpu_clock else None}
            for i, limit in enumerate(limits)
        },
        "what": peer.what,
        "version": peer.version,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("peer", choices=PEERS)
    parser.add_argument("file", type=Path, help="a Parquet file, or a folder of them")
    parser.add_argument("--clusters", type=int, default=4)
    parser.add_argument("--iterations", type=int, nargs="+", default=[3, 6, 12])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--batch-size", type=int, default=1024, help="of sklearn-minibatch")
    parser.add_argument("--spark-cache", choices=("frame", "rows"), default="frame")
    parser.add_argument("--memory", default="4g", help="what Spark may take, as Java writes it")
    options = parser.parse_args()
    if not options.file.exists():
        parser.error(f"there is no {options.file}")
    if len(set(options.iterations)) < 2:
        parser.error("a slope needs two numbers of iterations")
    # Before numpy and whatever else has threads of its own is imported: hence the imports inside the functions.
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, str(options.threads)))
    warnings.simplefilter("ignore")
    try:
        outcome = measure(options)
    except (ImportError, NotMeasuredError) as reason:
        outcome = {"skipped": str(reason)}
    print(json.dumps({"peer": options.peer} | outcome))


if __name__ == "__main__":
    main()
