"""FANNY on iris: memberships for three exponents, from clear to collapsed.

Run ``python examples/fanny.py``; the figure goes to ``kfrc-demo/fanny.png``.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from sklearn.datasets import load_iris
from sklearn.preprocessing import StandardScaler

from kfrc import FANNY, UniformCollapseWarning

EXPONENTS = (1.3, 2.0, 10.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("kfrc-demo/fanny.png"), help="where the figure goes")
    arguments = parser.parse_args()

    X = StandardScaler().fit_transform(load_iris().data)
    models = []
    for m in EXPONENTS:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UniformCollapseWarning)
            models.append(FANNY(3, m=m).fit(X))
        model = models[-1]
        print(
            f"m = {m:g}: {model.status_} after {model.n_iter_} sweeps, J = {model.objective_:.3f}, "
            f"normalized Dunn coefficient {model.normalized_dunn_coefficient_:.3f}"
        )
        for warning in caught:
            print(f"  warning: {warning.message}")
    save_figure(models, arguments.out)
    print(f"Figure: {arguments.out}")


def save_figure(models: list[FANNY], path: Path) -> None:
    figure, axes = plt.subplots(1, len(models), figsize=(9, 4.4), sharey=True, layout="constrained")
    for axis, model in zip(axes, models, strict=True):
        image = axis.imshow(model.memberships_, aspect="auto", cmap="cividis", vmin=0, vmax=1, interpolation="nearest")
        axis.set_title(f"m = {model.m:g}, Dunn {model.normalized_dunn_coefficient_:.2f}", loc="left")
        axis.set_xticks(range(3), [f"cluster {i}" for i in range(3)])
        axis.tick_params(length=0)
    axes[0].set_ylabel("flowers, in the order of the data")
    figure.colorbar(image, ax=axes, label="membership")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    plt.close(figure)


if __name__ == "__main__":
    main()
