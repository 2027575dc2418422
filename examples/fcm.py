"""Fuzzy c-means on wine: memberships of every row and where they are mixed.

Run ``python examples/fcm.py``; the figure goes to ``kfrc-demo/fcm.png``.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from kfrc import FCM

CLUSTER_COLORS = np.array([[0, 114, 178], [230, 159, 0], [0, 158, 115]]) / 255  # distinct for colour-blind readers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("kfrc-demo/fcm.png"), help="where the figure goes")
    arguments = parser.parse_args()

    X = StandardScaler().fit_transform(load_wine().data)
    models = [
        FCM(3, fuzzifier="power", m=1.5, random_state=0).fit(X),
        FCM(3, fuzzifier="quadratic", m=0.5, random_state=0).fit(X),
    ]
    for model in models:
        name, m = model.fuzzifier_.label, model.fuzzifier_.m
        print(
            f"{name:<10} m = {m:g}: {model.status_} after {model.n_iter_} iterations, J = {model.objective_:.2f}, "
            f"uniformity {model.uniformity_:.3f}, {(model.memberships_ == 1).sum()} memberships exactly 1"
        )
    save_figure(models, X, arguments.out)
    print(f"Figure: {arguments.out}")


def save_figure(models: list[FCM], X: np.ndarray, path: Path) -> None:
    projection = PCA(2).fit(X)
    points = projection.transform(X)
    figure, axes = plt.subplots(1, len(models), figsize=(9, 4), sharex=True, sharey=True, layout="constrained")
    for axis, model in zip(axes, models, strict=True):
        axis.scatter(*points.T, c=model.memberships_ @ CLUSTER_COLORS, s=18)
        axis.scatter(*projection.transform(model.cluster_centers_).T, c=CLUSTER_COLORS, marker="X", s=140, ec="black")
        axis.set_title(f"{model.fuzzifier_.label} fuzzifier, m = {model.fuzzifier_.m:g}", loc="left")
        axis.set_xlabel("first principal component")
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("second principal component")
    figure.suptitle("Fuzzy c-means on wine: colours mix by membership, crosses are centers")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    plt.close(figure)


if __name__ == "__main__":
    main()
