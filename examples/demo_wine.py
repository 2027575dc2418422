"""Cluster 178 wines by 13 chemical measurements, without their labels, and explain the result.

Run ``make demo``, or ``python examples/demo_wine.py --out wine.png``.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import matplotlib.ticker
import numpy as np
from sklearn.datasets import load_wine

from kfrc import KFRC
from kfrc.metrics import adjusted_rand_score

N_CLUSTERS = 3
LEVEL = 1.0  # mean log-bandwidth: a typical bandwidth is e^1, about 2.7 standard deviations
BAR_WIDTH = 24
CLUSTER_COLORS = ["#0072B2", "#E69F00", "#009E73"]  # Okabe and Ito: distinct for colour-blind readers
FEATURE_NAMES = {"od280/od315_of_diluted_wines": "od280/od315", "nonflavanoid_phenols": "nonflavanoid phenols"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("kfrc-demo/demo_wine.png"), help="where the figure goes")
    arguments = parser.parse_args()

    wine = load_wine()
    names = [FEATURE_NAMES.get(name, name.replace("_", " ")) for name in wine.feature_names]
    model = KFRC(N_CLUSTERS, level=LEVEL, random_state=0).fit(wine.data)

    print(f"Wine: {len(wine.data)} rows, {len(names)} features, {N_CLUSTERS} clusters, no labels used")
    print_features(model, names)
    print_stability(model)
    print_clusters(model)
    save_figure(model, names, arguments.out)
    print(f"\nFigure: {arguments.out}")

    agreement = adjusted_rand_score(wine.target, model.memberships_)
    print("\nFor information only (the labels were not used above):")
    print(f"  adjusted Rand index against the three cultivars: {agreement:.3f}")


def by_importance(weights: np.ndarray) -> np.ndarray:
    return np.argsort(-weights.round(3), kind="stable")


def print_features(model: KFRC, names: list[str]) -> None:
    print("\nFeatures, most important first (a small bandwidth means the feature counts)")
    print(f"  {'feature':<22}{'bandwidth':>10}{'in s.d.':>9}{'importance':>12}")
    weights = model.importance_weights_
    for j in by_importance(weights):
        bar = "█" * max(1, round(BAR_WIDTH * weights[j] / weights.max()))
        in_deviations = np.exp(model.log_bandwidths_[j])
        print(f"  {names[j]:<22}{model.bandwidths_[j]:>10.4g}{in_deviations:>9.2f}{weights[j]:>12.3f}  {bar}")
    print(f"  effective number of features: {model.effective_n_features_:.1f} of {len(names)}")


def print_stability(model: KFRC) -> None:
    leading, threshold = model.eigenvalues_[0], model.threshold_
    print(f"\nCan it collapse to 1/{N_CLUSTERS} everywhere?")
    print(f"  leading eigenvalue  λ₁ = {leading:.3f}")
    print(f"  threshold           τ  = {threshold:.3f}")
    if model.stable_:
        print("  λ₁ ≥ τ: no. With these bandwidths no value of the fuzzifier m collapses.")
    else:
        print(f"  λ₁ < τ: yes, at every m from m* = {model.critical_m_:.3f} on (m = {model.fuzzifier_.m:g} was used).")


def print_clusters(model: KFRC) -> None:
    U = model.memberships_
    surest = U.max(axis=1)
    print("\nClusters")
    print(f"  {'cluster':<10}{'rows':>6}{'mean membership of its rows':>30}")
    for i in range(N_CLUSTERS):
        rows = model.labels_ == i
        print(f"  {i:<10}{rows.sum():>6}{surest[rows].mean():>30.3f}")
    print("\nHow sure are the rows? (largest membership of a row)")
    bands = [
        ("clear   (0.9 and more)", surest >= 0.9),
        ("likely  (0.6 to 0.9)", (surest >= 0.6) & (surest < 0.9)),
        ("unsure  (below 0.6)", surest < 0.6),
    ]
    for label, rows in bands:
        print(f"  {label:<26}{rows.sum():>4} rows")
    print(f"  uniformity index U = {model.uniformity_:.3f}   (0: every row in one cluster, 1: all memberships 1/c)")
    print(f"  status: {model.status_} after {model.n_iter_} iterations")


def save_figure(model: KFRC, names: list[str], path: Path) -> None:
    U, labels = model.memberships_, model.labels_
    order = np.lexsort((-U.max(axis=1), labels))
    ends = np.cumsum(np.bincount(labels, minlength=N_CLUSTERS))

    plt.rcParams.update(
        {"font.size": 9, "axes.titlesize": 10, "axes.titleweight": "bold", "axes.titlelocation": "left"}
    )
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.6), width_ratios=[1, 1.25], layout="constrained")

    image = left.imshow(U[order], aspect="auto", cmap="cividis", vmin=0, vmax=1, interpolation="nearest")
    left.set_title("Memberships")
    left.set_xticks(range(N_CLUSTERS), [f"cluster {i}" for i in range(N_CLUSTERS)])
    left.tick_params(length=0)
    starts = np.concatenate([[0], ends[:-1]])
    left.set_yticks((starts + ends - 1) / 2, [f"{n} rows" for n in ends - starts], rotation=90, va="center")
    for end in ends[:-1]:
        left.axhline(end - 0.5, color="white", linewidth=1.5)
    left.set_ylabel("wines, sorted by cluster, surest first")
    left.spines[:].set_visible(False)
    bar = figure.colorbar(image, ax=left, fraction=0.06, pad=0.03)
    bar.set_label("membership")
    bar.outline.set_visible(False)

    weights = model.importance_weights_
    ascending = by_importance(weights)[::-1]
    right.barh(range(len(names)), weights[ascending], color=CLUSTER_COLORS[0], height=0.7)
    right.axvline(1 / len(names), color="0.35", linestyle="--", linewidth=1)
    right.annotate(
        "equal weights", (1 / len(names), 1.2), xytext=(6, 0), textcoords="offset points", color="0.35", va="center"
    )
    right.xaxis.set_major_locator(matplotlib.ticker.MultipleLocator(0.05))
    right.set_yticks(range(len(names)), [names[j] for j in ascending])
    right.tick_params(axis="y", length=0)
    right.set_xlabel("importance  $W_j \\propto 1/\\theta_j$")
    right.set_title("What the bandwidths say about the features")
    right.spines[["top", "right", "left"]].set_visible(False)

    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    plt.close(figure)


if __name__ == "__main__":
    main()
