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
means = 3 * rng.standard_normal(({N_CLUSTERS}, {N_FEATURES}))
X = means[rng.integers({N_CLUSTERS}, size={N_SAMPLES})] + rng.standard_normal(({N_SAMPLES}, {N_FEATURES}))
U = rng.dirichlet(np.ones({N_CLUSTERS}), size={N_SAMPLES})
def seconds(run):
    start = time.process_time(); run(); return time.process_time() - start
"""

OURS = f"""
from kfrc import FRC
import warnings; warnings.simplefilter("ignore")
print(json.dumps(seconds(lambda: FRC({N_CLUSTERS}, m=2, init=U, n_init=1, max_iter={N_ITER}, tol=0).fit(X))))
"""

PEERS = {
    "scikit-fuzzy": (
        ["scikit-fuzzy", "scipy", "networkx", "packaging", "setuptools"],
        f"""
from skfuzzy import cmeans
print(json.dumps(seconds(lambda: cmeans(X.T, {N_CLUSTERS}, 2.0, error=0.0, maxiter={N_ITER}, init=U.T))))
""",
    ),
    "fuzzy-c-means": (
        ["fuzzy-c-means"],
        f"""
from fcmeans import FCM
print(json.dumps(seconds(lambda: FCM(n_clusters={N_CLUSTERS}, m=2.0, max_iter={N_ITER}, error=0.0).fit(X))))
""",
    ),
    "soft-clustering": (
        ["soft-clustering"],
        f"""
from soft_clustering import FCM
print(json.dumps(seconds(lambda: FCM(n_clusters={N_CLUSTERS}, m=2.0, max_iter={N_ITER}, tol=0.0).fit(X))))
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
        what = f"{name} / FRC, fuzzy c-means n={N_SAMPLES} p={N_FEATURES} c={N_CLUSTERS}, {N_ITER} iterations"
        try:
            python = environment(name, packages)
            ours, theirs = [], []
            for _ in range(3):
                for command, series in (([sys.executable], ours), ([python], theirs)):
                    code = PREAMBLE + (OURS if series is ours else script)
                    run = subprocess.run([*command, "-c", code], capture_output=True, text=True, check=True)
                    series.append(json.loads(run.stdout.splitlines()[-1]))
        except subprocess.CalledProcessError as error:
            reason = (error.stderr or b"") if isinstance(error.stderr, bytes) else (error.stderr or "").encode()
            yield Row(what, float("nan"), "", "not measured: " + reason.decode(errors="replace").strip()[-120:])
            continue
        yield Row(
            what, sorted(theirs)[1] / sorted(ours)[1], "", f"{sorted(theirs)[1]:.1f} s against {sorted(ours)[1]:.1f} s"
        )
