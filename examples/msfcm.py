"""Membership scaling fuzzy c-means (MSFCM) beside fuzzy c-means: memberships of 178 wines, without their labels.

Run ``python examples/msfcm.py``, or with ``--out picture.png``.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from kfrc import FRC
from kfrc.clusterers.msfcm import MSFCM

N_CLUSTERS = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("kfrc-demo/msfcm.png"), help="where the figure goes")
    arguments = parser.parse_args()

    X = scale(load_wine().data)
    plain = FRC(N_CLUSTERS, m=2, random_state=0).fit(X)
    scaled = MSFCM(N_CLUSTERS, m=2, random_state=0).fit(X)
    for name, model in [("fuzzy c-means", plain), ("MSFCM", scaled)]:
        print(f"{name:<14} uniformity {model.uniformity_:.3f}, {model.status_} after {model.n_iter_} iterations")
    print(f"scaled in the last iteration: {scaled.filter_rates_[-1]:.0%} of the rows")
    save_figure(plain, scaled, arguments.out)
    print(f"Figure: {arguments.out}")


def save_figure(plain: FRC, scaled: MSFCM, path: Path) -> None:
    plt.rcParams.update({"font.size": 9, "axes.titlesize": 10, "axes.titlelocation": "left"})
    figure, axes = plt.subplots(1, 2, figsize=(7.5, 4.6), sharey=True, layout="constrained")
    order = np.lexsort((-plain.memberships_.max(axis=1), plain.labels_))
    panels = [(plain, "Fuzzy c-means"), (scaled, "Scaled memberships")]
    for axis, (model, title) in zip(axes, panels, strict=True):
        image = axis.imshow(
            model.memberships_[order], aspect="auto", cmap="cividis", vmin=0, vmax=1, interpolation="nearest"
        )
        axis.set_title(f"{title}: uniformity {model.uniformity_:.2f}")
        axis.set_xticks(range(N_CLUSTERS), [f"cluster {i}" for i in range(N_CLUSTERS)])
        axis.tick_params(length=0)
        axis.spines[:].set_visible(False)
    axes[0].set_ylabel("wines, by cluster and largest membership of fuzzy c-means")
    axes[0].set_yticks([])
    bar = figure.colorbar(image, ax=axes, fraction=0.05, pad=0.02)
    bar.set_label("membership")
    bar.outline.set_visible(False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    plt.close(figure)


if __name__ == "__main__":
    main()
