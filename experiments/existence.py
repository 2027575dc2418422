"""How often the test of more than one group rejects; prints the tables of docs/decisions/existence.md.

.venv/bin/python experiments/existence.py noise --seeds 1-10 --n-jobs 2
.venv/bin/python experiments/existence.py structured --seeds 1-10 --auto --out existence.csv

Seeds 1 to 50 were used to develop the test. ``noise`` draws 54 tables per seed: nine kinds, two numbers of rows, three
of columns. ``structured`` draws 104: 96 study designs of average overlap .01 or less, and four shapes with two and six
noise columns. ``--limit`` keeps that many tables in all, spread evenly.
"""

from __future__ import annotations

import argparse
import itertools
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from kfrc import KFRC
from kfrc.existence import N_DRAWS, test_existence
from kfrc.simulation import Shape, make_shape_dataset, make_study_dataset, study_designs

LARGEST_OVERLAP = 0.01
NOISE_ROWS, NOISE_FEATURES = (100, 500), (3, 10, 30)
SHAPE_NOISE = (2, 6)
KEEP_EVERY = 20

Record = dict[str, Any]


def loadings(n_features: int, rng: np.random.Generator) -> np.ndarray:
    """Matrix that turns independent columns into correlated ones of the same variance."""
    factors = rng.standard_normal((n_features, max(2, n_features // 2)))
    covariance = factors @ factors.T + 0.5 * n_features * np.eye(n_features)
    deviations = np.sqrt(np.diag(covariance))
    return np.linalg.cholesky(covariance / np.outer(deviations, deviations)).T


Draw = Callable[[int, int, np.random.Generator], np.ndarray]


def correlated(n: int, p: int, rng: np.random.Generator) -> np.ndarray:
    """Gaussian columns with correlations."""
    return rng.standard_normal((n, p)) @ loadings(p, rng)


NOISE: dict[str, Draw] = {
    "gaussian": lambda n, p, rng: rng.standard_normal((n, p)),
    "correlated gaussian": correlated,
    "uniform": lambda n, p, rng: rng.uniform(size=(n, p)),
    "exponential": lambda n, p, rng: rng.exponential(size=(n, p)),
    "correlated lognormal": lambda n, p, rng: np.exp(correlated(n, p, rng)),
    "t, 3 degrees": lambda n, p, rng: rng.standard_t(3, (n, p)),
    "multivariate t, 4 degrees": lambda n, p, rng: correlated(n, p, rng) / np.sqrt(rng.chisquare(4, (n, 1)) / 4),
    "Poisson": lambda n, p, rng: rng.poisson(2.0, (n, p)).astype(float),
    "correlated 5-point scale": lambda n, p, rng: np.clip(np.round(1.1 * correlated(n, p, rng) + 3.0), 1.0, 5.0),
}


def examine(X: np.ndarray, seed: int, n_draws: int, *, auto: bool) -> Record:
    """The test on one table and, if asked for, the number of clusters found."""
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.perf_counter()
        result = test_existence(X, n_draws=n_draws, random_state=seed)
        seconds = time.perf_counter() - start
        record: Record = {"p_value": result.p_value, "statistic": result.statistic, "n_draws": result.n_draws}
        record |= {"seconds": seconds, "rejected": result.p_value <= 0.05}
        if auto:
            record["n_clusters"] = KFRC("auto", max_clusters=6, random_state=seed).fit(X).n_clusters_
    return record


def noise_cell(position: int, n: int, p: int, seed: int, **options: Any) -> Record:
    """The test on a table without groups."""
    kind = list(NOISE)[position]
    X = NOISE[kind](n, p, np.random.default_rng([seed, n, p, position]))
    return {"kind": kind, "size": f"{n} x {p}", "seed": seed} | examine(X, seed, **options)


def study_cell(position: int, seed: int, **options: Any) -> Record:
    """The test on a study design."""
    design = study_designs()[position]
    X = make_study_dataset(design, random_state=seed).X
    kind = f"study, overlap {design.average_overlap:g}, {design.n_signal} signal columns"
    return {"kind": kind, "size": f"c = {design.n_clusters}", "seed": seed} | examine(X, seed, **options)


def shape_cell(shape: str, n_noise: int, seed: int, **options: Any) -> Record:
    """The test on a shape with noise columns."""
    X = make_shape_dataset(shape, n_noise=n_noise, random_state=seed).X
    return {"kind": shape, "size": f"{n_noise} noise", "seed": seed} | examine(X, seed, **options)


def show(frame: pd.DataFrame) -> None:
    """Print rejections by kind and size."""
    table = frame.pivot_table(index="kind", columns="size", values="rejected")
    by_kind = frame.groupby("kind")
    table.insert(0, "all", by_kind.rejected.mean())
    table.insert(1, "tables", by_kind.size())
    if "n_clusters" in frame:
        table.insert(2, "one cluster", by_kind.n_clusters.agg(lambda found: (found == 1).mean()))
    print(f"share rejected at .05\n{table.round(3).to_string(na_rep='')}")
    print(f"\nall: {frame.rejected.mean():.3f} of {len(frame)} tables, {frame.seconds.mean():.1f} s per table")
    if "n_clusters" in frame:
        print(f"one cluster by KFRC('auto'): {(frame.n_clusters == 1).mean():.3f}")


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["noise", "structured", "study", "shapes"])
    parser.add_argument("--seeds", default="1-2")
    parser.add_argument("--limit", type=int, help="tables in all")
    parser.add_argument("--n-draws", type=int, default=N_DRAWS)
    parser.add_argument("--auto", action="store_true", help="also the number of clusters of KFRC('auto')")
    parser.add_argument("--n-jobs", type=int, default=1)
    parser.add_argument("--out")
    arguments = parser.parse_args()
    first, _, last = arguments.seeds.partition("-")
    seeds = range(int(first), int(last or first) + 1)
    easy = [k for k, design in enumerate(study_designs()) if design.average_overlap <= LARGEST_OVERLAP]
    cells: list[tuple[Callable[..., Record], tuple[Any, ...]]] = []
    for seed in seeds:
        if arguments.what == "noise":
            sizes = itertools.product(range(len(NOISE)), NOISE_ROWS, NOISE_FEATURES)
            cells += [(noise_cell, (*size, seed)) for size in sizes]
        if arguments.what in ("structured", "study"):
            cells += [(study_cell, (k, seed)) for k in easy]
        if arguments.what in ("structured", "shapes"):
            cells += [(shape_cell, (*cell, seed)) for cell in itertools.product(sorted(Shape.registry), SHAPE_NOISE)]
    if arguments.limit is not None and arguments.limit < len(cells):
        cells = [cells[k] for k in np.linspace(0, len(cells) - 1, arguments.limit).round().astype(int)]
    options = {"n_draws": arguments.n_draws, "auto": arguments.auto}
    tasks = (delayed(cell)(*values, **options) for cell, values in cells)
    records: list[Record] = []
    for record in Parallel(n_jobs=arguments.n_jobs, return_as="generator")(tasks):
        records.append(record)
        if arguments.out is not None and (len(records) % KEEP_EVERY == 0 or len(records) == len(cells)):
            pd.DataFrame(records).to_csv(arguments.out, index=False)
    show(pd.DataFrame(records))


if __name__ == "__main__":
    main()
