"""A full fit with 10⁵ and 10⁶ rows, each in its own process so that peak memory means something."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator

from harness import Row

FIT = """
import json, resource, sys, time
sys.path.insert(0, "benchmarks")
from harness import mixture
from sklearn.metrics import adjusted_rand_score
from kfrc import KFRC
X, labels = mixture(int(sys.argv[1]), 10, 4, spread=3.0)
start = time.process_time()
model = KFRC(4, random_state=0).fit(X)
fit = time.process_time() - start
start = time.process_time()
model.predict_proba(X)
print(json.dumps({
    "fit": fit,
    "predict": time.process_time() - start,
    "gigabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
    "ari": adjusted_rand_score(labels, model.labels_),
}))
"""


def measure(n_samples: int) -> dict[str, float]:
    command = [sys.executable, "-c", FIT, str(n_samples)]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def rows() -> Iterator[Row]:
    small, large = measure(10**5), measure(10**6)
    detail = f"{small['fit']:.1f} s and {large['fit']:.1f} s, ARI {large['ari']:.4f}"
    yield Row("KFRC.fit, n=10^6 / n=10^5, p=10 c=4", large["fit"] / small["fit"], "<= 14", detail)
    yield Row("peak memory at n=10^6, GiB", large["gigabytes"], "<= 4")
    yield Row("predict_proba of 10^6 rows / fit", large["predict"] / large["fit"], "", f"{large['predict']:.1f} s")
