"""Fuzzy c-means with multiple kernels (FCM-MK): memberships in the plane, for narrow and for wide kernels.

The kernel weights always end on the widest kernel, so its width decides how far a cluster reaches.
Run ``python examples/fcm_mk.py``, or with ``--out picture.png``.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import to_rgb
from sklearn.datasets import make_blobs

from kfrc.clusterers.fcm_mk import FCMMK

N_CLUSTERS = 3
WIDTHS = {"narrow": [0.5, 1.0], "wide": [2.0, 8.0]}
CLUSTER_COLORS = np.array([to_rgb(color) for color in ("#0072B2", "#E69F00", "#009E73")])  # Okabe and Ito
GRID = 200


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("kfrc-demo/fcm_mk.png"), help="where the figure goes")
    arguments = parser.parse_args()

    spreads = [0.5, 0.9, 1.4]
    X, _ = make_blobs([60, 60, 60], centers=[(0, 0), (5, 1), (2, 6)], cluster_std=spreads, random_state=0)
    models = {name: FCMMK(N_CLUSTERS, sigmas=sigmas, random_state=0).fit(X) for name, sigmas in WIDTHS.items()}
    for name, model in models.items():
        print(f"{name} kernels {model.sigmas_.tolist()}: uniformity {model.uniformity_:.3f}, {model.status_}")
        print(f"  kernel weights by cluster: {model.kernel_weights_.round(3).tolist()}")
    save_figure(X, models, arguments.out)
    print(f"Figure: {arguments.out}")


def colors(U: np.ndarray) -> np.ndarray:
    """The color of the largest membership, fading to white where all are equal."""
    strength = (U.max(axis=1, keepdims=True) - 1 / N_CLUSTERS) / (1 - 1 / N_CLUSTERS)
    return 1 - strength * (1 - CLUSTER_COLORS[U.argmax(axis=1)])


def save_figure(X: np.ndarray, models: dict[str, FCMMK], path: Path) -> None:
    plt.rcParams.update({"font.size": 9, "axes.titlesize": 10, "axes.titlelocation": "left"})
    figure, axes = plt.subplots(1, 2, figsize=(8, 4), sharey=True, layout="constrained")
    low, high = X.min(axis=0) - 1, X.max(axis=0) + 1
    x, y = np.meshgrid(np.linspace(low[0], high[0], GRID), np.linspace(low[1], high[1], GRID))
    for axis, (name, model) in zip(axes, models.items(), strict=True):
        U = model.predict_proba(np.column_stack([x.ravel(), y.ravel()]))
        axis.imshow(
            colors(U).reshape(GRID, GRID, 3), origin="lower", extent=(low[0], high[0], low[1], high[1]), aspect="equal"
        )
        axis.scatter(*X.T, s=10, c=colors(model.memberships_), edgecolors="black", linewidths=0.4)
        axis.scatter(*model.cluster_centers_.T, marker="+", s=90, c="black", linewidths=2)
        axis.set_title(f"{name}: σ = {', '.join(f'{s:g}' for s in model.sigmas_)}, uniformity {model.uniformity_:.2f}")
        axis.set_xticks([])
        axis.set_yticks([])
        axis.spines[:].set_visible(False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    plt.close(figure)


if __name__ == "__main__":
    main()
