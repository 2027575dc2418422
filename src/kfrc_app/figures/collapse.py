"""Figure 1: uniform collapse on iris as the fuzzifier grows, and bandwidths that prevent it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_iris

from kfrc.dissimilarity import Dissimilarity
from kfrc.fuzzifiers import Power
from kfrc.gram import Gram, gram_family
from kfrc.kernels import Kernel
from kfrc.relational import solve_relational
from kfrc.spectrum import spectrum_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GOOD = (1.0, 1.0, 1.0, 1.0)
BAD = (0.5, 1.0, 5.0, 0.5)
COLORS = {GOOD: "#0072B2", BAD: "#D55E00"}
N_CLUSTERS = 3


def draw(n_points: int = 40) -> Figure:
    """Average row variability of the memberships against m, with the predicted m*.

    Parameters
    ----------
    n_points : int, default=40
        Values of m between 2 and 50.
    """
    from matplotlib.figure import Figure

    X = load_iris().data
    X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    ms = np.geomspace(2.0, 50.0, n_points)
    figure = Figure(figsize=(7, 4.2), layout="constrained")
    axes = figure.subplots()
    for bandwidths, color in COLORS.items():
        gram = gram_family(X, Kernel.from_name("sum")).at(np.array(bandwidths))
        leading = float(spectrum_of(gram, 1).eigenvalues[0])
        label = rf"$\theta = ({', '.join(f'{b:g}' for b in bandwidths)})$, $\lambda_1 = {leading:.3f}$"
        axes.plot(ms, row_variability(gram, ms), color=color, lw=2, label=label)
        critical = Power().critical_m(N_CLUSTERS, leading)
        if np.isfinite(critical):
            axes.axvline(critical, color="0.4", ls="--", lw=1)
            axes.annotate(rf"predicted $m^* = {critical:.3f}$", (1.03 * critical, 0.2), color="0.3")
    axes.set(xscale="log", xlabel="fuzzifier m", ylabel="average row variability")
    axes.set_xticks([2, 3, 5, 10, 20, 50], ["2", "3", "5", "10", "20", "50"])
    axes.minorticks_off()
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def row_variability(gram: Gram, ms: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean over samples of the standard deviation of their memberships, for runs that start next to 1/c."""
    dissimilarity = Dissimilarity(gram)
    deviations = []
    for m in ms:
        solution = solve_relational(
            dissimilarity,
            N_CLUSTERS,
            Power(float(m)),
            init="near_uniform",
            tol=1e-9,
            max_iter=5000,
            random_state=0,
        )
        deviations.append(solution.memberships.std(axis=1, ddof=1).mean())
    return np.array(deviations)
