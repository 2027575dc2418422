"""Plain fuzzy c-means against the other Python packages, each in an environment of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path

from harness import Row

ENVIRONMENTS = Path(".bench")
N_SAMPLES, N_FEATURES, N_CLUSTERS, N_ITER = 100_000, 10, 4, 100

PREAMBLE = f"""
import json, time
import numpy as np
rng = np.random.default_rng(0)
means = 2 * rng.standard_normal(({N_CLUSTERS}, {N_FEATURES}))
X = means[rng.integers({N_CLUSTERS}, size={N_SAMPLES})] + rng.standard_normal(({N_SAMPLES}, {N_FEATURES}))
U = rng.dirichlet(np.ones({N_CLUSTERS}), size={N_SAMPLES})
start = time.process_time()
"""

REPORT = """
print(json.dumps((time.process_time() - start) / iterations))
"""

OURS = f"""
import warnings; warnings.simplefilter("ignore")
from kfrc import FCM
start = time.process_time()
iterations = FCM({N_CLUSTERS}, m=2.0, init=U, n_init=1, max_iter={N_ITER}, tol=0).fit(X).n_iter_
"""

PEERS = {
    "scikit-fuzzy": (
        ["scikit-fuzzy", "scipy", "networkx", "packaging", "setuptools"],
        f"""
from skfuzzy import cmeans
start = time.process_time()
iterations = cmeans(X.T, {N_CLUSTERS}, 2.0, error=0.0, maxiter={N_ITER}, init=U.T)[5]
""",
    ),
    "fuzzy-c-means": (
        ["fuzzy-c-means"],
        f"""
from fcmeans import FCM
start = time.process_time()
iterations = 0
class Counted(FCM):
    def soft_predict(self, X):
        global iterations
        iterations += 1
        return super().soft_predict(X)
Counted(n_clusters={N_CLUSTERS}, m=2.0, max_iter={N_ITER}, error=1e-9, random_state=0).fit(X)
""",
    ),
    "soft-clustering": (
        ["soft-clustering"],
        f"""
from soft_clustering import FCM
start = time.process_time()
model = FCM(m=2.0, max_iter={N_ITER}, tol=-1.0, random_state=0)
model.fit_predict(X, {N_CLUSTERS})
iterations = len(model.objective_trajectory_)
""",
    ),
}


def environment(name: str, packages: list[str]) -> Path:
    """A virtual environment with the peer in it, made once."""
    folder = ENVIRONMENTS / name
    python = folder / "bin" / "python"
    if not (folder / "ready").exists():
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "numpy", *packages], check=True, capture_output=True)
        (folder / "ready").touch()
    return python


def rows() -> Iterator[Row]:
    for name, (packages, script) in PEERS.items():
        what = f"{name} / FCM, one iteration of fuzzy c-means, n={N_SAMPLES} p={N_FEATURES} c={N_CLUSTERS}"
        try:
            python = environment(name, packages)
            ours, theirs = [], []
            for _ in range(3):
                for command, series in (([sys.executable], ours), ([python], theirs)):
                    code = PREAMBLE + (OURS if series is ours else script) + REPORT
                    run = subprocess.run([*command, "-c", code], capture_output=True, text=True, check=True)
                    series.append(json.loads(run.stdout.splitlines()[-1]))
        except subprocess.CalledProcessError as error:
            reason = (error.stderr or b"") if isinstance(error.stderr, bytes) else (error.stderr or "").encode()
            yield Row(what, float("nan"), "", "not measured: " + reason.decode(errors="replace").strip()[-120:])
            continue
        ratio = sorted(theirs)[1] / sorted(ours)[1]
        yield Row(what, ratio, ">= 3", f"{1e3 * sorted(theirs)[1]:.1f} ms against {1e3 * sorted(ours)[1]:.1f} ms")
