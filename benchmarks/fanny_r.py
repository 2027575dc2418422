"""FANNY against fanny of the R package cluster, where Rscript with that package is installed."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from harness import Row

from kfrc import FANNY

REPEATS = 3
N_CLUSTERS = 4
N_FEATURES = 5
M = 1.3
# Dissimilarities are computed outside the clock on both sides; silhouettes and copies of the data are switched off.
SCRIPT = """
arguments <- commandArgs(trailingOnly = TRUE)
X <- as.matrix(read.csv(arguments[1], header = FALSE))
D <- dist(X)
repeats <- as.integer(arguments[3])
seconds <- Inf
for (k in seq_len(repeats)) {
  clock <- system.time(fit <- cluster::fanny(D, %d, memb.exp = %g, keep.diss = FALSE, cluster.only = TRUE))
  seconds <- min(seconds, clock[["elapsed"]])
}
write.table(fit$membership, arguments[2], sep = ",", row.names = FALSE, col.names = FALSE)
cat(format(c(seconds, fit$convergence[["iterations"]], fit$objective[["objective"]]), digits = 14))
"""


def rows() -> Iterator[Row]:
    if not has_r():
        yield Row("R fanny / FANNY", float("nan"), "", "not measured: Rscript with the package cluster was not found")
        return
    for n_samples in (200, 2000):
        X, R = example(n_samples)
        seconds_r, memberships_r = run_r(X)
        for solver in ("sweep", "batch"):
            fit, seconds = run_here(R, solver)
            gap = np.abs(fit.memberships_ - memberships_r).max()
            yield Row(
                f"R fanny / FANNY(solver={solver!r}), n={n_samples}",
                seconds_r / seconds,
                "",
                f"memberships differ by {gap:.0e}",
            )


def example(n_samples: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n_samples)
    centers = 3.0 * rng.standard_normal((N_CLUSTERS, N_FEATURES))
    X = centers[rng.integers(N_CLUSTERS, size=n_samples)] + rng.standard_normal((n_samples, N_FEATURES))
    return X, FANNY()._pairwise(X, X)


def has_r() -> bool:
    if shutil.which("Rscript") is None:
        return False
    check = 'quit(status = if (requireNamespace("cluster", quietly = TRUE)) 0 else 1)'
    return subprocess.run(["Rscript", "-e", check], capture_output=True).returncode == 0


def run_here(R: np.ndarray, solver: str) -> tuple[FANNY, float]:
    best = float("inf")
    for _ in range(REPEATS):
        began = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fit = FANNY(N_CLUSTERS, m=M, metric="precomputed", solver=solver).fit(R)
        best = min(best, time.perf_counter() - began)
    return fit, best


def run_r(X: np.ndarray) -> tuple[float, np.ndarray]:
    with tempfile.TemporaryDirectory() as folder:
        script, data, result = (Path(folder) / name for name in ("fanny.R", "X.csv", "U.csv"))
        script.write_text(SCRIPT % (N_CLUSTERS, M))
        np.savetxt(data, X, delimiter=",", fmt="%.17g")
        command = ["Rscript", str(script), str(data), str(result), str(REPEATS)]
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        seconds = float(printed.split()[0])
        return seconds, np.loadtxt(result, delimiter=",", ndmin=2)
