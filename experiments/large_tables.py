"""Fixed settings on tables of more than 500 rows and 20 columns: the search in the linear limit against the other.

.venv/bin/python experiments/large_tables.py 40

Prints the line of docs/decisions/linear-limit.md. Clusters differ in 4 to 7 of 22 to 28 columns; the rest is noise.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np

from kfrc import KFRC
from kfrc.bandwidth import QuasiNewton
from kfrc.metrics import adjusted_rand_score

FIRST_SEED = 100
SEARCHES = (QuasiNewton(at_limit=False), QuasiNewton())


def scores(number: int) -> list[tuple[float, float]]:
    """ARI and CPU seconds of both searches on one table."""
    rng = np.random.default_rng(FIRST_SEED + number)
    n_clusters, n_samples, n_features = 3 + number % 4, 600 + 100 * (number % 3), 22 + 2 * (number % 4)
    n_informative = 4 + number % 4
    labels = rng.integers(0, n_clusters, n_samples)
    means = rng.normal(size=(n_clusters, n_informative)) * (1.2 + 0.2 * (number % 3))
    signal = means[labels] + rng.normal(size=(n_samples, n_informative))
    X = np.hstack([signal, rng.normal(size=(n_samples, n_features - n_informative))])
    found = []
    for search in SEARCHES:
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = KFRC.paper(n_clusters, optimizer=search, random_state=number).fit(X)
        found.append((adjusted_rand_score(labels, model.labels_), time.process_time() - start))
    return found


def main() -> None:
    """Compare the two searches, table by table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("n_tables", type=int)
    found = np.array([scores(number) for number in range(parser.parse_args().n_tables)])
    (before, after), seconds = found[:, :, 0].T, found[:, :, 1].sum(axis=0)
    gain = after - before
    print(
        f"{len(gain)} tables: ARI {before.mean():.3f} and {after.mean():.3f} in the limit, "
        f"difference {gain.mean():.3f} (standard error {gain.std(ddof=1) / len(gain) ** 0.5:.3f}); "
        f"CPU time {seconds[1] / seconds[0]:.3f} of before"
    )


if __name__ == "__main__":
    main()
