"""FANNY against fanny of the R package cluster: same memberships, how much time.

    python benchmarks/fanny_r.py [--sizes 200 1000 3000] [--repeats 3]

Needs Rscript with the package cluster; without it only the two solvers here are compared, and it says so.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

from kfrc.clusterers.fanny import FANNY

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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[200, 1000, 3000])
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    with_r = has_r()
    if not with_r:
        print("Rscript with the package cluster was not found: comparing the solvers only")
    print(f"{'n':>6}{'solver':>8}{'seconds':>10}{'iterations':>12}{'objective':>16}{'times R':>9}{'max |U - U_R|':>15}")
    for n_samples in arguments.sizes:
        compare(n_samples, arguments.repeats, with_r)


def has_r() -> bool:
    if shutil.which("Rscript") is None:
        return False
    check = 'quit(status = if (requireNamespace("cluster", quietly = TRUE)) 0 else 1)'
    return subprocess.run(["Rscript", "-e", check], capture_output=True).returncode == 0


def compare(n_samples: int, repeats: int, with_r: bool) -> None:
    rng = np.random.default_rng(n_samples)
    centers = 3.0 * rng.standard_normal((N_CLUSTERS, N_FEATURES))
    X = centers[rng.integers(N_CLUSTERS, size=n_samples)] + rng.standard_normal((n_samples, N_FEATURES))
    R = FANNY()._pairwise(X, X)
    seconds_r, memberships_r = run_r(X, repeats) if with_r else (float("nan"), None)
    for solver in ("sweep", "batch"):
        fit, seconds = run_here(R, solver, repeats)
        error = np.abs(fit.memberships_ - memberships_r).max() if memberships_r is not None else float("nan")
        ratio = seconds / seconds_r
        print(
            f"{n_samples:>6}{solver:>8}{seconds:>10.3f}{fit.n_iter_:>12}{fit.objective_:>16.8f}{ratio:>9.2f}{error:>15.1e}"
        )


def run_here(R: np.ndarray, solver: str, repeats: int) -> tuple[FANNY, float]:
    best = float("inf")
    for _ in range(repeats):
        began = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fit = FANNY(N_CLUSTERS, m=M, metric="precomputed", solver=solver).fit(R)
        best = min(best, time.perf_counter() - began)
    return fit, best


def run_r(X: np.ndarray, repeats: int) -> tuple[float, np.ndarray]:
    with tempfile.TemporaryDirectory() as folder:
        script, data, result = (Path(folder) / name for name in ("fanny.R", "X.csv", "U.csv"))
        script.write_text(SCRIPT % (N_CLUSTERS, M))
        np.savetxt(data, X, delimiter=",", fmt="%.17g")
        command = ["Rscript", str(script), str(data), str(result), str(repeats)]
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        seconds, iterations, objective = (float(word) for word in printed.split())
        print(f"{len(X):>6}{'R':>8}{seconds:>10.3f}{iterations:>12.0f}{objective:>16.8f}{1.0:>9.2f}")
        return seconds, np.loadtxt(result, delimiter=",", ndmin=2)


if __name__ == "__main__":
    main()
