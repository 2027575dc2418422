"""The data of a task: standardized columns, labels, and true posteriors where they are known."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kfrc._numerics import standardize
from kfrc.datasets import load_benchmark
from kfrc.simulation import make_study_dataset, study_designs
from kfrc_app.study.design import StudyTask

GIVEN_FILE = "study_seed{seed}.npz"
"""Given synthetic data: arrays dNNN__X, dNNN__labels and dNNN__posteriors for design NNN."""


@dataclass(frozen=True, eq=False)
class StudyData:
    """One data set of a study.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        Columns with mean 0 and standard deviation 1 (ddof = 1).
    labels : ndarray of shape (n_samples,)
    posteriors : ndarray of shape (n_samples, n_clusters) or None
    n_clusters : int
    facts : dict
        What identifies it in a table.
    """

    X: NDArray[np.float64]
    labels: NDArray[Any]
    posteriors: NDArray[np.float64] | None
    n_clusters: int
    facts: dict[str, Any]


def load_task_data(task: StudyTask) -> StudyData:
    """Data of a task."""
    if task.study == "real":
        benchmark = load_benchmark(task.dataset, task.data_dir)
        X = standardize(benchmark.data)
        return StudyData(X, benchmark.target, None, benchmark.n_clusters, {"dataset": task.dataset})
    position = int(task.dataset)
    design = study_designs()[position]
    facts: dict[str, Any] = {
        "dataset": design.key,
        "n_signal": design.n_signal,
        "snr": design.signal_to_noise,
        "average_overlap": design.average_overlap,
        "spherical": design.spherical,
        "balanced": design.balanced,
    }
    given = None if task.data_dir is None else Path(task.data_dir) / GIVEN_FILE.format(seed=task.seed)
    if given is not None and given.exists():
        with np.load(given) as arrays:
            X, labels, posteriors = (arrays[f"d{position:03d}__{name}"] for name in ("X", "labels", "posteriors"))
    else:
        dataset = make_study_dataset(design, random_state=task.seed)
        X, labels, posteriors = dataset.X, dataset.labels, dataset.posteriors
    return StudyData(standardize(X), labels, posteriors, design.n_clusters, facts)
