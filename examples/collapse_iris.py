"""Uniform collapse on iris (Figure 1 of the paper): when does fuzzy clustering give up, and could one have known?

For two choices of bandwidths the fuzzifier m grows from 2 to 50. The average row variability (mean over samples of the
standard deviation of a membership row) is zero when every membership is 1/c. The stability theory predicts from the
leading eigenvalue alone where that happens.

Run ``python examples/collapse_iris.py``; ``--points 12`` is a quick version.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

from kfrc.dissimilarity import Dissimilarity
from kfrc.fuzzifiers import Power
from kfrc.gram import gram_family
from kfrc.kernels import Kernel
from kfrc.relational import solve_relational
from kfrc.stability import critical_fuzzifier, leading_eigenvalue

N_CLUSTERS = 3
LARGEST_M = 50.0
COLLAPSED = 1e-3  # variability below this is no structure
RANDOM_M = (3, 4, 5)
N_RANDOM = 10
# Close to m* the perturbation grows or decays by a factor near one, so steps are tiny long before the end is reached.
PATIENT = {"max_iter": 20000, "tol": 1e-10}


@dataclass(frozen=True)
class Curve:
    """Variability along m for one choice of bandwidths."""

    bandwidths: tuple[float, ...]
    leading_eigenvalue: float
    predicted: float  # m*
    m: np.ndarray
    from_uniform: np.ndarray  # started next to 1/c
    from_structure: np.ndarray  # each m started from the solution at the previous one
    random_successes: list[int]  # how many of N_RANDOM random starts find structure at each of RANDOM_M

    def drop(self, variability: np.ndarray) -> tuple[float, float]:
        """Last m with structure and first m without."""
        gone = np.flatnonzero(variability < COLLAPSED)
        return (self.m[gone[0] - 1], self.m[gone[0]]) if len(gone) else (self.m[-1], math.inf)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("kfrc-demo/collapse_iris.png"), help="where the figure goes")
    parser.add_argument("--points", type=int, default=60, help="values of m between 2 and 50")
    arguments = parser.parse_args()

    X = load_iris().data
    X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    curves = [trace(X, bandwidths, arguments.points) for bandwidths in [(1, 1, 1, 1), (0.5, 1, 5, 0.5)]]
    for curve in curves:
        report(curve)
    save_figure(curves, arguments.out)
    print(f"\nFigure: {arguments.out}")


def trace(X: np.ndarray, bandwidths: tuple[float, ...], n_points: int) -> Curve:
    gram = gram_family(X, Kernel.from_name("sum")).at(np.array(bandwidths, dtype=float))
    dissimilarity = Dissimilarity(gram)
    R = dissimilarity.columns(range(len(X)))
    leading = leading_eigenvalue(R)
    predicted = critical_fuzzifier("power", N_CLUSTERS, lambda1=leading)
    m = grid(predicted, n_points)
    from_uniform, from_structure = [], []
    U: str | np.ndarray = "spectral"
    for value in m:
        fresh = solve_relational(
            dissimilarity, N_CLUSTERS, Power(value), init="near_uniform", random_state=0, **PATIENT
        )
        from_uniform.append(variability(fresh.memberships))
        followed = solve_relational(dissimilarity, N_CLUSTERS, Power(value), init=U, random_state=0, **PATIENT)
        U = followed.memberships
        from_structure.append(variability(U))
    successes = [count_random_successes(dissimilarity, value) for value in RANDOM_M]
    return Curve(bandwidths, leading, predicted, m, np.array(from_uniform), np.array(from_structure), successes)


def count_random_successes(dissimilarity: Dissimilarity, m: float) -> int:
    solutions = [
        solve_relational(dissimilarity, N_CLUSTERS, Power(m), init="random", random_state=seed, **PATIENT)
        for seed in range(N_RANDOM)
    ]
    return sum(variability(solution.memberships) >= COLLAPSED for solution in solutions)


def grid(predicted: float, n_points: int) -> np.ndarray:
    """Values of m from 2 to 50, even on the log scale, with more of them around the predicted collapse."""
    m = np.geomspace(2.0, LARGEST_M, n_points)
    if math.isfinite(predicted):
        m = np.union1d(m, predicted * np.array([0.9, 0.95, 0.99, 0.995, 1.005, 1.01, 1.05]))
        m = np.union1d(m, np.linspace(4.0, 5.0, max(3, n_points // 4)))
    return m


def variability(U: np.ndarray) -> float:
    return float(U.std(axis=1).mean())


def report(curve: Curve) -> None:
    print(f"\nbandwidths {curve.bandwidths}: leading eigenvalue λ₁ = {curve.leading_eigenvalue:.5f}")
    if math.isinf(curve.predicted):
        print("  predicted: never collapses (λ₁ ≥ 1/2, the threshold of the power fuzzifier)")
    else:
        print(f"  predicted: a start next to 1/c falls back to it from m* = 1/(1 − 2 λ₁) = {curve.predicted:.4f} on")
    for name, values in [
        ("next to 1/c", curve.from_uniform),
        ("from the solution at the previous m", curve.from_structure),
    ]:
        last, first = curve.drop(values)
        if math.isinf(first):
            print(f"  started {name}: structure up to m = {last:g}, variability there {values[-1]:.4f}")
        else:
            before = values[np.searchsorted(curve.m, last)]
            print(
                f"  started {name}: structure up to m = {last:.3f} (variability {before:.3f}), "
                f"none from m = {first:.3f}"
            )

    found = ", ".join(f"{n} at m = {m}" for n, m in zip(curve.random_successes, RANDOM_M, strict=True))
    print(f"  started at random, structure found by {found} (of {N_RANDOM} starts)")


def save_figure(curves: list[Curve], path: Path) -> None:
    plt.rcParams.update({"font.size": 9})
    figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
    colors = ["#0072B2", "#D55E00"]  # Okabe and Ito
    for curve, color in zip(curves, colors, strict=True):
        theta = ", ".join(f"{b:g}" for b in curve.bandwidths)
        label = f"$\\theta = ({theta})$,  $\\lambda_1 = {curve.leading_eigenvalue:.3f}$"
        axes.plot(curve.m, curve.from_uniform, color=color, linewidth=2, label=label)
        if math.isfinite(curve.predicted):
            axes.plot(
                curve.m,
                curve.from_structure,
                color=color,
                linewidth=1.5,
                linestyle=":",
                label="same, started from the solution at the previous $m$",
            )
            axes.axvline(curve.predicted, color="0.35", linewidth=1, linestyle="--")
            axes.annotate(
                f"predicted collapse\n$m^* = {curve.predicted:.3f}$",
                (curve.predicted, 0.19),
                xytext=(6, 0),
                textcoords="offset points",
                color="0.25",
                va="center",
            )
    axes.set_xscale("log")
    ticks = [2, 3, 4, 5, 10, 20, 50]
    axes.set_xticks(ticks, [str(tick) for tick in ticks])
    axes.minorticks_off()
    axes.set_xlim(2, LARGEST_M)
    axes.set_ylim(bottom=-0.004)
    axes.set_xlabel("fuzzifier $m$ (log scale)")
    axes.set_ylabel("average row variability of the memberships")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="upper right", title="solid: started next to 1/c", alignment="left")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    plt.close(figure)


if __name__ == "__main__":
    main()
