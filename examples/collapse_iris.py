"""Uniform collapse on iris (Figure 1 of the paper): when does fuzzy clustering give up, and could one have known?

For two choices of bandwidths the fuzzifier m grows from 2 to 50. The average row variability (mean over samples of the
standard deviation of a membership row) is zero when every membership is 1/c. The stability theory predicts from the
leading eigenvalue alone where that happens. The curves and the figure are those of ``kfrc_app.figures.collapse``.

Run ``python examples/collapse_iris.py``; ``--points 12`` is a quick version.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import numpy as np

from kfrc_app.figures.collapse import (
    BANDWIDTHS,
    COLLAPSED,
    Curve,
    draw_curves,
    iris_dissimilarity,
    solve,
    trace,
    variability,
)

RANDOM_M = (3, 4, 5)
N_RANDOM = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("kfrc-demo/collapse_iris.png"), help="where the figure goes")
    parser.add_argument("--points", type=int, default=60, help="values of m between 2 and 50")
    arguments = parser.parse_args()

    curves = [trace(bandwidths, arguments.points) for bandwidths in BANDWIDTHS]
    for curve in curves:
        report(curve)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    draw_curves(curves).savefig(arguments.out, dpi=150)
    print(f"\nFigure: {arguments.out}")


def report(curve: Curve) -> None:
    bandwidths = ", ".join(f"{b:g}" for b in curve.bandwidths)
    print(f"\nbandwidths ({bandwidths}): leading eigenvalue λ₁ = {curve.leading_eigenvalue:.5f}")
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
    successes = [count_random_successes(curve.bandwidths, m) for m in RANDOM_M]
    found = ", ".join(f"{n} at m = {m}" for n, m in zip(successes, RANDOM_M, strict=True))
    print(f"  started at random, structure found by {found} (of {N_RANDOM} starts)")


def count_random_successes(bandwidths: tuple[float, ...], m: float) -> int:
    dissimilarity = iris_dissimilarity(bandwidths)
    starts = [solve(dissimilarity, m, "random", seed) for seed in range(N_RANDOM)]
    return sum(variability(U) >= COLLAPSED for U in starts)


if __name__ == "__main__":
    main()
