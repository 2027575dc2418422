"""Figure 3: the real data sets on the unit sphere in feature space, colored by membership."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import pandas as pd

from kfrc import KFRC
from kfrc._numerics import standardize
from kfrc.datasets import load_benchmark
from kfrc_app.displays import SphereDisplay
from kfrc_app.study.picks import pick_with_labels

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(records: pd.DataFrame, *, data_dir: str | None = None) -> Figure:
    """One sphere per data set, with the bandwidths of the configuration the study picked.

    Parameters
    ----------
    records : DataFrame
        Records of the real study.
    data_dir : str, optional
        Folder with the benchmark sets.
    """
    from matplotlib.figure import Figure

    picked = pick_with_labels(records, "real")
    kfrc = picked[picked["method"].str.startswith("KFRC")].sort_values("fari_crisp", ascending=False, kind="stable")
    best = kfrc.groupby("dataset", sort=True).head(1).sort_values("dataset")
    n_columns = min(3, len(best))
    n_rows = -(-len(best) // n_columns)
    figure = Figure(figsize=(4 * n_columns, 4 * n_rows), layout="constrained")
    for position, row in enumerate(best.itertuples(), start=1):
        X = standardize(load_benchmark(row.dataset, data_dir).data)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = KFRC.paper(
                int(row.n_clusters),
                kernel=row.kernel,
                fuzzifier=row.fuzzifier,
                bandwidths=[float(number) for number in row.bandwidths.split()],
                standardize=False,
                n_init=1,
                random_state=int(row.seed),
            ).fit(X)
        axes = figure.add_subplot(n_rows, n_columns, position, projection="3d")
        SphereDisplay.from_estimator(model, X, ax=axes)
        axes.set_title(
            f"{row.dataset} ({row.fuzzifier}, {row.criterion}, α = {row.max_anisotropy:g})", fontsize="small"
        )
    return figure
