"""Fuzzy c-means with an annealed fuzzifier (vFCM): memberships of iris at the start, on the way and at the end.

Run ``python examples/vfcm.py``, or with ``--out picture.png``.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris
from sklearn.preprocessing import scale

from kfrc.clusterers.vfcm import VFCM

N_CLUSTERS = 3
STOPS = (2.0, 1.3, 1.0)  # the fall of m is held at these values; 1 is never reached
CLUSTER_COLORS = ["#0072B2", "#E69F00", "#009E73"]  # Okabe and Ito: distinct for colour-blind readers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("kfrc-demo/vfcm.png"), help="where the figure goes")
    arguments = parser.parse_args()

    X = scale(load_iris().data)
    models = [VFCM(N_CLUSTERS, min_m=m if m > 1 else None, n_init=1, random_state=0).fit(X) for m in STOPS]
    for model in models:
        print(
            f"final m = {model.m_:.4f}: uniformity {model.uniformity_:.4f}, "
            f"{model.status_} after {model.n_iter_} iterations"
        )
    save_figure(models, arguments.out)
    print(f"Figure: {arguments.out}")


def save_figure(models: list[VFCM], path: Path) -> None:
    plt.rcParams.update({"font.size": 9, "axes.titlesize": 10, "axes.titlelocation": "left"})
    figure, axes = plt.subplots(len(models), 1, figsize=(7.5, 5.2), sharex=True, layout="constrained")
    order = np.lexsort((-models[0].memberships_.max(axis=1), models[0].labels_))
    for axis, model in zip(axes, models, strict=True):
        axis.stackplot(
            np.arange(len(order)),
            model.memberships_[order].T,
            colors=CLUSTER_COLORS,
            labels=[f"cluster {i}" for i in range(N_CLUSTERS)],
            step="mid",
        )
        axis.set_title(f"$m$ = {model.m_:.3f}: uniformity {model.uniformity_:.3f}")
        axis.set_ylim(0, 1)
        axis.set_yticks([0, 0.5, 1])
        axis.margins(x=0)
        axis.spines[:].set_visible(False)
    axes[1].set_ylabel("membership")
    axes[-1].set_xlabel("irises, by cluster and largest membership at $m = 2$")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper right", ncols=N_CLUSTERS, frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    plt.close(figure)


if __name__ == "__main__":
    main()
