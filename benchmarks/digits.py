"""Some sixty columns and ten clusters: scikit-learn's digits, 10⁵ rows of 50 columns, growth, and a whole run.

CPU seconds are of one thread on the machine that measures: their bounds are for an idle one.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from harness import Row, cpu_seconds, mixture
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits

from kfrc import KFRC
from kfrc.metrics import adjusted_rand_score

LARGE = """
import json, resource, time
from harness import mixture
from kfrc import KFRC
from kfrc.metrics import adjusted_rand_score
X, labels = mixture(100_000, 50, 8)
start = time.process_time()
model = KFRC(8, random_state=0).fit(X)
print(json.dumps({
    "seconds": time.process_time() - start,
    "gigabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
    "ari": adjusted_rand_score(labels, model.labels_),
}))
"""
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def timed(function: Callable[[], KFRC]) -> tuple[float, KFRC]:
    """CPU seconds of one call, and what it returns: these are too long to repeat."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.process_time()
        result = function()
        return time.process_time() - start, result


def rows() -> Iterator[Row]:
    X, labels = load_digits(return_X_y=True)
    (peer,) = cpu_seconds(lambda: KMeans(10, n_init=10, random_state=0).fit(X))
    means = KMeans(10, n_init=10, random_state=0).fit(X)
    choice, chosen = timed(lambda: KFRC(10, random_state=0).fit(X))
    fixed, _ = timed(lambda: KFRC.paper(10, optimizer="lbfgs", random_state=0).fit(X))
    ours, theirs = (adjusted_rand_score(labels, model.labels_) for model in (chosen, means))
    yield Row("digits, 10 clusters, CPU seconds", choice, "<= 12")
    yield Row("digits, ARI / ARI of KMeans on raw pixels", ours / theirs, ">= 1", f"{ours:.2f} / {theirs:.2f}")
    yield Row("digits, automatic choice / fixed settings", choice / fixed, "<= 5", f"{choice:.1f} s / {fixed:.1f} s")
    yield Row("digits, fixed settings / KMeans(n_init=10)", fixed / peer, "<= 20", f"{fixed:.1f} s / {peer:.2f} s")
    counting, counted = timed(lambda: KFRC("auto", max_clusters=15, random_state=0).fit(X))
    reason = f"{counted.n_clusters_} clusters: {counted.cluster_count_reason_}"
    yield Row("digits, number of clusters up to 15, CPU seconds", counting, "<= 60", reason)
    large = json.loads(_run([sys.executable, "-c", LARGE], cwd=Path(__file__).parent)[1])
    yield Row("10^5 rows, 50 columns, 8 clusters, CPU seconds", large["seconds"], "<= 60", f"ARI {large['ari']:.2f}")
    yield Row("the same, peak memory in GiB", large["gigabytes"], "<= 2")
    short, long = (timed(lambda n=n: KFRC(10, random_state=0).fit(mixture(n, 64, 10)[0]))[0] for n in (1000, 2000))
    yield Row("64 columns, 2000 rows / 1000 rows", long / short, "<= 3", f"{long:.1f} s / {short:.1f} s")
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "table.csv"
        table, clusters = mixture(2310, 18, 7, spread=1.0)
        header = ",".join([*(f"x{d}" for d in range(18)), "label"])
        np.savetxt(data, np.column_stack([table, clusters]), delimiter=",", header=header, comments="")
        command = [sys.executable, "-m", "kfrc_app", "fit", str(data), "-c", "7", "--label-column", "label"]
        seconds, _ = _run([*command, "-o", str(Path(folder) / "out")])
        alone, _ = _run([*command, "--refits", "0", "-o", str(Path(folder) / "alone")])
    yield Row("kfrc fit with report and 20 refits, 2310 rows, 18 columns, 7 clusters, CPU seconds", seconds, "<= 10")
    yield Row("the same without refits, CPU seconds", alone)


def _run(command: list[str], cwd: Path | None = None) -> tuple[float, str]:
    """CPU seconds of a process with all its children, and what it prints."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=cwd, env=os.environ | ONE_THREAD, capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout
