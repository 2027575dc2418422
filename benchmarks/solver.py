"""The relational solver: feature space against the n × n matrix, and the first fit of a process against the second."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import numpy as np
from harness import Row, cpu_seconds, mixture
from sklearn.metrics import pairwise_distances

from kfrc.dissimilarity import Dissimilarity
from kfrc.relational import solve_relational

FIRST_AND_SECOND = """
import time, numpy as np
from kfrc import KFRC
X = np.random.default_rng(0).standard_normal((500, 8)); X[:250, :3] += 3
times = []
for _ in range(4):
    start = time.process_time(); KFRC(3, random_state=0).fit(X); times.append(time.process_time() - start)
print(times[0] / np.median(times[1:]))
"""


def rows() -> Iterator[Row]:
    X, _ = mixture(1000, 10, 4)
    start = np.random.default_rng(0).dirichlet(np.ones(4), size=len(X))
    relation = Dissimilarity.from_matrix(pairwise_distances(X, metric="sqeuclidean"))
    features = Dissimilarity.from_features(X)
    for fuzzifier in ("power", "complementary_root"):

        def solve(dissimilarity, fuzzifier=fuzzifier):
            return solve_relational(dissimilarity, 4, fuzzifier, init=start, max_iter=50, tol=0.0)

        slow, fast = cpu_seconds(lambda: solve(relation), lambda: solve(features))
        gap = np.abs(solve(relation).memberships - solve(features).memberships).max()
        yield Row(
            f"relational / feature-space solver, {fuzzifier}, n=1000",
            slow / fast,
            ">= 2",
            f"memberships differ by {gap:.0e}",
        )
    output = subprocess.run([sys.executable, "-c", FIRST_AND_SECOND], capture_output=True, text=True, check=True)
    yield Row("first fit of a process / later fits", float(output.stdout), "<= 3")
