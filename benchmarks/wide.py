"""Tables with many more columns than rows: time, growth, memory, and what is found of fifty columns that matter."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator

from harness import Row

SEEDS = range(3)

FIT = """
import json, resource, sys, time
import numpy as np
from sklearn.metrics import adjusted_rand_score
from kfrc import KFRC
n_columns, kind = int(sys.argv[1]), sys.argv[2]
rng = np.random.default_rng(int(sys.argv[3]))
labels = rng.permutation(np.arange(90) % 3)
means = {
    "signs": lambda: rng.choice([-1.5, 1.5], (3, 50)),
    "levels": lambda: np.column_stack([rng.permutation([-1.5, 0.0, 1.5]) for _ in range(50)]),
    "one cluster": lambda: 1.5 * np.eye(3)[rng.integers(0, 3, 50)].T,
}[kind]()
informative = rng.permutation(n_columns)[:50]
X = rng.standard_normal((90, n_columns))
X[:, informative] += means[labels]
start = time.process_time()
model = KFRC(3, random_state=0).fit(X)
seconds = time.process_time() - start
first = np.argsort(-model.contributions_, kind="stable")[:50]
apart = informative[np.ptp(means, axis=0) > 0]
print(json.dumps({
    "seconds": seconds,
    "gigabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
    "ari": adjusted_rand_score(labels, model.labels_),
    "share": float(np.isin(first[: len(apart)], apart).mean()),
    "seen": len(model.foremost_.columns),
}))
"""


def measure(n_columns: int, kind: str = "levels", seed: int = 0) -> dict[str, float]:
    command = [sys.executable, "-c", FIT, str(n_columns), kind, str(seed)]
    one_thread = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True, env=one_thread).stdout)


def rows() -> Iterator[Row]:
    small, large = measure(2000), measure(20_000)
    # Other columns take other paths through the choice: one table alone says little about growth.
    half, double = (sum(measure(p, seed=seed)["seconds"] for seed in SEEDS) for p in (2000, 4000))
    detail = f"{half:.1f} s and {double:.1f} s for {len(SEEDS)} tables"
    yield Row("KFRC.fit, p=4000 / p=2000, n=90 c=3", double / half, "<= 2.4", detail)
    yield Row("CPU seconds at 90 x 2000", small["seconds"], "<= 10", f"ARI {small['ari']:.3f}")
    yield Row("CPU seconds at 90 x 20000", large["seconds"], "<= 40", f"the choice saw {large['seen']} columns")
    yield Row("peak memory at 90 x 20000, GiB", large["gigabytes"], "<= 1")
    for kind in ("levels", "signs", "one cluster"):
        found = large if kind == "levels" else measure(20_000, kind)
        yield Row(f"ARI at 90 x 20000, 50 columns of 1.5 deviations, {kind}", found["ari"], ">= 1")
        yield Row(f"share of informative columns among the first, {kind}", found["share"], ">= 0.9")
