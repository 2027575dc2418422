"""Entries removed at random: distances by what is known against means filled in, with the same estimator.

    python experiments/missing_values.py [--seeds 5] [--shares 0 10 30 50] [--choose] [--data FOLDER] [--figure f.svg]

Iris, wine and breast cancer come with scikit-learn. With ``--data`` tables of any type are added: one ``NAME.csv`` each
with a last column ``label``, and ``types.json`` with the types of the columns. Labels are used for the score only.
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from kfrc import KFRC
from kfrc.metrics import adjusted_rand_score

FIXED = {"m": 1.3, "level": 1.0, "max_anisotropy": 5.0, "threshold": 0.0}
"""One setting for all tables, so that nothing but the blanks differs."""


def read_typed(folder: Path, name: str) -> tuple[pd.DataFrame, pd.Series]:
    """A table with dtypes that say what its columns are, and the labels."""
    columns = json.loads((folder / "types.json").read_text())[name]["columns"]
    text = {title: str for title, told in columns.items() if told["type"] not in ("numeric", "count")}
    table = pd.read_csv(folder / f"{name}.csv", dtype=text, keep_default_na=False, na_values=[""])
    labels = table.pop("label")
    for title, told in columns.items():
        if told["type"] in ("nominal", "boolean"):
            table[title] = pd.Categorical(table[title])
        elif told["type"] == "ordinal":
            table[title] = pd.Categorical(table[title], categories=told["levels"], ordered=True)
        else:
            table[title] = table[title].astype(float)
    return table, labels


def tables(folder: Path | None, names: list[str]) -> dict[str, tuple[pd.DataFrame, np.ndarray]]:
    """Tables and labels by name."""
    found = {}
    for name, load in (("iris", load_iris), ("wine", load_wine), ("breast cancer", load_breast_cancer)):
        bunch = load(as_frame=True)
        found[name] = (bunch.data, bunch.target.to_numpy())
    for name in names if folder is not None else []:
        table, labels = read_typed(folder, name)
        found[name] = (table, labels.to_numpy())
    return found


def filled(table: pd.DataFrame) -> pd.DataFrame:
    """Means in place of missing numbers, the commonest level in place of missing levels."""
    complete = table.copy()
    for title in complete:
        column = complete[title]
        usual = column.mean() if pd.api.types.is_numeric_dtype(column) else column.mode().iloc[0]
        complete[title] = column.fillna(usual)
    return complete


def score(table: pd.DataFrame, labels: np.ndarray, parameters: dict) -> float:
    """Adjusted Rand index of a fit."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = KFRC(len(np.unique(labels)), random_state=0, **parameters).fit(table)
    return float(adjusted_rand_score(labels, model.labels_))


def main() -> None:
    """Print the table, and draw it on request."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--shares", type=int, nargs="+", default=[0, 10, 30, 50])
    parser.add_argument("--choose", action="store_true", help="leave all settings to the automatic choice")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--names", nargs="+", default=["dermatology", "penguins", "house_votes"])
    parser.add_argument("--figure", type=Path)
    options = parser.parse_args()
    parameters = {} if options.choose else FIXED
    curves: dict[str, dict[str, list[float]]] = {}
    print(f"{'table':14s} {'missing':>8s} {'by what is known':>18s} {'means filled in':>16s}")
    for name, (table, labels) in tables(options.data, options.names).items():
        curves[name] = {"known": [], "filled": []}
        for share in options.shares:
            known, means = [], []
            for seed in range(options.seeds if share else 1):
                gone = np.random.default_rng(seed).random(table.shape) < share / 100
                holes = table.mask(gone)
                known.append(score(holes, labels, parameters))
                means.append(score(filled(holes), labels, parameters))
            curves[name]["known"].append(float(np.mean(known)))
            curves[name]["filled"].append(float(np.mean(means)))
            print(f"{name:14s} {share:7d}% {np.mean(known):18.3f} {np.mean(means):16.3f}", flush=True)
    if options.figure is not None:
        draw(curves, options.shares, options.figure)


def draw(curves: dict[str, dict[str, list[float]]], shares: list[int], path: Path) -> None:
    """One panel per table."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(curves), figsize=(3.2 * len(curves), 2.8), sharey=True, squeeze=False)
    for axis, (name, lines) in zip(axes[0], curves.items(), strict=True):
        axis.plot(shares, lines["known"], "o-", color="#1b6ca8", label="by what is known")
        axis.plot(shares, lines["filled"], "s--", color="#b5651d", label="means filled in")
        axis.set_title(name)
        axis.set_xlabel("missing entries, %")
        axis.set_ylim(-0.05, 1.02)
        axis.grid(alpha=0.3)
    axes[0][0].set_ylabel("adjusted Rand index")
    axes[0][0].legend(frameon=False, loc="lower left")
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    main()
