"""What the membership step of the authors' scripts does to scores; prints a table for docs/reproduction.md.

.venv/bin/python experiments/clipped_step.py STUDY [--every 1] [--out clipped.csv]

STUDY is the folder of a run of ``kfrc study run``. With the exponential and the quadratic fuzzifier the scripts
minimize without u ≥ 0, set negative memberships to zero and divide by the sum of the row, which is not the minimizer.
Here every configuration of KFRC with these fuzzifiers is clustered again at the bandwidths that the run found, once
with either step, and so is FRC with squared Euclidean distances. As in the study, the best configuration counts.
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from kfrc import FRC, KFRC
from kfrc.fuzzifiers import Exponential, Fuzzifier, Quadratic
from kfrc_app.study.clusterings import Scores
from kfrc_app.study.datasets import load_task_data
from kfrc_app.study.design import STUDIES, StudyTask
from kfrc_app.study.store import StudyStore
from kfrc_app.study.tables import to_markdown

MAX_ITER = 200


@dataclass(frozen=True)
class ClippedQuadratic(Quadratic):
    """The quadratic fuzzifier with the step of the scripts."""

    def _positive_memberships(self, distances: np.ndarray) -> np.ndarray:
        inverses = 1.0 / distances
        level = (2.0 * self.m + len(distances) * (1.0 - self.m)) / inverses.sum(axis=0)
        return clipped((level * inverses - (1.0 - self.m)) / (2.0 * self.m))


@dataclass(frozen=True)
class ClippedExponential(Exponential):
    """The exponential fuzzifier with the step of the scripts."""

    def _positive_memberships(self, distances: np.ndarray) -> np.ndarray:
        logs = np.log(distances)
        return clipped(((self.m + logs.sum(axis=0)) / len(logs) - logs) / self.m)


def clipped(U: np.ndarray) -> np.ndarray:
    """Negative memberships set to zero, and rows (here columns) divided by their sum."""
    U = np.maximum(U, 0.0)
    return U / U.sum(axis=0)


STEPS: dict[str, dict[str, Fuzzifier]] = {
    "quadratic": {"exact": Quadratic(), "clipped": ClippedQuadratic()},
    "exponential": {"exact": Exponential(), "clipped": ClippedExponential()},
}


def cluster_again(task: StudyTask, records: pd.DataFrame) -> list[dict[str, Any]]:
    """Scores of one data set with either step."""
    data = load_task_data(task)
    scores = Scores(data)
    known: dict[tuple[str, ...], dict[str, Any]] = {}
    rows = []
    for row in records.itertuples():
        for step, fuzzifier in STEPS[row.fuzzifier].items():
            key = (row.kernel, row.bandwidths, row.fuzzifier, step)
            if key not in known:
                bandwidths = [float(number) for number in row.bandwidths.split()]
                model = KFRC.paper(
                    data.n_clusters,
                    kernel=row.kernel,
                    fuzzifier=fuzzifier,
                    bandwidths=bandwidths,
                    standardize=False,
                    n_init=1,
                    max_iter=MAX_ITER,
                    random_state=task.seed,
                )
                known[key] = scores.of(fitted(model, data.X))
            rows.append({"method": row.method, "step": step, **known[key]})
    for name, steps in STEPS.items():
        for step, fuzzifier in steps.items():
            model = FRC(data.n_clusters, fuzzifier=fuzzifier, n_init=1, max_iter=MAX_ITER, random_state=task.seed)
            rows.append({"method": f"FRC ({name})", "step": step, **scores.of(fitted(model, data.X))})
    return [{"task": task.key, "n_clusters": data.n_clusters, **data.facts, **row} for row in rows]


def fitted(model: KFRC | FRC, X: np.ndarray) -> np.ndarray:
    """Memberships of a fit; that it collapses or stops early is a result here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X).memberships_


def main() -> None:
    """Cluster again and print the means by data set (real) or by number of clusters and noise (synthetic)."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", type=Path, help="folder of a run of kfrc study run")
    parser.add_argument("--every", type=int, default=1, metavar="K", help="only every K-th data set")
    parser.add_argument("--n-jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, help="write all scores here, as CSV")
    asked = parser.parse_args()
    store = StudyStore(asked.study)
    study, data_dir = store.settings["study"], store.settings["data"]
    assert study in STUDIES
    records = store.load()
    usable = records[records["feasible"].astype(bool) & records["fuzzifier"].isin(list(STEPS))]
    tasks = [
        (StudyTask(study, name.split("-")[1], int(seed), data_dir=data_dir), part)
        for (name, seed), part in usable.groupby(["task", "seed"])
    ][:: asked.every]
    found = Parallel(n_jobs=asked.n_jobs)(delayed(cluster_again)(task, part) for task, part in tasks)
    scores = pd.DataFrame([row for rows in found for row in rows])
    if asked.out is not None:
        scores.to_csv(asked.out, index=False)
    by, cell = ("fari_crisp", ["dataset"]) if study == "real" else ("fari_fuzzy", ["n_clusters", "snr"])
    best = scores.sort_values(by, ascending=False, kind="stable").groupby(["task", "method", "step"]).head(1)
    measures = [name for name in ("ari", "ami", "fari_crisp", "fari_fuzzy", "uniformity") if name in best]
    print(to_markdown(best.groupby([*cell, "method", "step"])[measures].mean().reset_index()))


if __name__ == "__main__":
    main()
