"""Figure 1: uniform collapse on iris as the fuzzifier grows, where theory predicts it, and bandwidths that prevent it.

The average row variability (mean over samples of the standard deviation of a membership row) is zero when every
membership is 1/c. The stability theory predicts from the leading eigenvalue alone where that happens.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.datasets import load_iris

from kfrc._numerics import standardize
from kfrc.dissimilarity import Dissimilarity
from kfrc.fuzzifiers import Power
from kfrc.gram import gram_family
from kfrc.kernels import Kernel
from kfrc.relational import solve_relational
from kfrc.stability import critical_fuzzifier, leading_eigenvalue
from kfrc.typing import FloatArray
from kfrc_app.facts.palette import BLUE, VERMILION

if TYPE_CHECKING:
    from matplotlib.figure import Figure

N_CLUSTERS = 3
LARGEST_M = 50.0
BANDWIDTHS = ((1.0, 1.0, 1.0, 1.0), (0.5, 1.0, 5.0, 0.5))
"""Those that prevent collapse, and those that do not, in standard deviations."""

COLLAPSED = 1e-3
"""Variability below which there is no structure."""

# Close to m* the perturbation grows or decays by a factor near one, so steps are tiny long before the end is reached.
_PATIENT: dict[str, Any] = {"max_iter": 20000, "tol": 1e-10}


@dataclass(frozen=True, eq=False)
class Curve:
    """Variability along m for one choice of bandwidths.

    Attributes
    ----------
    bandwidths : tuple of float
    leading_eigenvalue : float
    predicted : float
        m*.
    m : ndarray of shape (n_points,)
    from_uniform : ndarray of shape (n_points,)
        Variability of runs started next to 1/c.
    from_structure : ndarray of shape (n_points,)
        Of runs started from the solution at the previous m.
    """

    bandwidths: tuple[float, ...]
    leading_eigenvalue: float
    predicted: float
    m: FloatArray
    from_uniform: FloatArray
    from_structure: FloatArray

    def drop(self, variability: FloatArray) -> tuple[float, float]:
        """Last m with structure and first m without (``inf`` if there is none)."""
        gone = np.flatnonzero(variability < COLLAPSED)
        if len(gone) == 0:
            return float(self.m[-1]), math.inf
        return float(self.m[gone[0] - 1]), float(self.m[gone[0]])


def draw(n_points: int = 40) -> Figure:
    """Average row variability of the memberships against m, with the predicted m*.

    Parameters
    ----------
    n_points : int, default=40
        Values of m between 2 and 50, besides those around the predicted collapse.
    """
    return draw_curves([trace(bandwidths, n_points) for bandwidths in BANDWIDTHS])


def trace(bandwidths: tuple[float, ...], n_points: int) -> Curve:
    """Follow the memberships of iris along m at given bandwidths.

    Parameters
    ----------
    bandwidths : tuple of float
        In standard deviations.
    n_points : int
    """
    dissimilarity = iris_dissimilarity(bandwidths)
    leading = leading_eigenvalue(dissimilarity.columns(range(dissimilarity.n_samples)))
    predicted = critical_fuzzifier("power", N_CLUSTERS, lambda1=leading)
    m = _grid(predicted, n_points)
    from_uniform, from_structure = [], []
    U: str | FloatArray = "spectral"
    for value in m.tolist():
        from_uniform.append(variability(solve(dissimilarity, value, "near_uniform")))
        U = solve(dissimilarity, value, U)
        from_structure.append(variability(U))
    return Curve(bandwidths, leading, predicted, m, np.array(from_uniform), np.array(from_structure))


def iris_dissimilarity(bandwidths: tuple[float, ...]) -> Dissimilarity:
    """Squared distances in the feature space of the sum kernel."""
    gram = gram_family(standardize(load_iris().data), Kernel.from_name("sum")).at(np.array(bandwidths, dtype=float))
    return Dissimilarity(gram)


def solve(dissimilarity: Dissimilarity, m: float, init: str | FloatArray, seed: int = 0) -> FloatArray:
    """Memberships at one m, iterated for long."""
    found = solve_relational(dissimilarity, N_CLUSTERS, Power(m), init=init, random_state=seed, **_PATIENT)
    return found.memberships


def variability(U: FloatArray) -> float:
    """Mean over rows of the standard deviation of their memberships."""
    return float(U.std(axis=1).mean())


def draw_curves(curves: Sequence[Curve]) -> Figure:
    """The figure of traced curves; the first is drawn as the good choice of bandwidths."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.2), layout="constrained")
    axes = figure.subplots()
    for curve, color in zip(curves, (BLUE, VERMILION), strict=True):
        theta = ", ".join(f"{b:g}" for b in curve.bandwidths)
        label = f"$\\theta = ({theta})$,  $\\lambda_1 = {curve.leading_eigenvalue:.3f}$"
        axes.plot(curve.m, curve.from_uniform, color=color, linewidth=2, label=label)
        if math.isfinite(curve.predicted):
            followed = "same, started from the solution at the previous $m$"
            axes.plot(curve.m, curve.from_structure, color=color, linewidth=1.5, linestyle=":", label=followed)
            axes.axvline(curve.predicted, color="0.35", linewidth=1, linestyle="--")
            axes.annotate(
                f"predicted collapse\n$m^* = {curve.predicted:.3f}$",
                (curve.predicted, 0.19),
                xytext=(6, 0),
                textcoords="offset points",
                color="0.25",
                va="center",
                fontsize=9,
            )
    axes.set_xscale("log")
    ticks = [2, 3, 4, 5, 10, 20, 50]
    axes.set_xticks(ticks, [str(tick) for tick in ticks])
    axes.minorticks_off()
    axes.set_xlim(2, LARGEST_M)
    axes.set_ylim(bottom=-0.004)
    axes.tick_params(labelsize=9)
    axes.set_xlabel("fuzzifier $m$ (log scale)", fontsize=9)
    axes.set_ylabel("average row variability of the memberships", fontsize=9)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(
        frameon=False,
        loc="upper right",
        title="solid: started next to 1/c",
        alignment="left",
        fontsize=9,
        title_fontsize=9,
    )
    return figure


def _grid(predicted: float, n_points: int) -> FloatArray:
    """Values of m from 2 to 50, even on the log scale, with more of them around the predicted collapse."""
    m = np.geomspace(2.0, LARGEST_M, n_points)
    if math.isfinite(predicted):
        m = np.union1d(m, predicted * np.array([0.9, 0.95, 0.99, 0.995, 1.005, 1.01, 1.05]))
        m = np.union1d(m, np.linspace(4.0, 5.0, max(3, n_points // 4)))
    return m
