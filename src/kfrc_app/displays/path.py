"""Fuzziness of the solution against m, with the marks of the theory."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from kfrc import KFRCError
from kfrc.clusterers import FuzzyClusterer
from kfrc.typing import ArrayLike, FloatArray
from kfrc_app.displays.base import ACCENT, MARK, Display, as_weights, hide_spines
from kfrc_app.facts import summarize
from kfrc_app.facts.palette import ORANGE
from kfrc_app.facts.path import MAX_PATH_ROWS, N_STEPS, FuzzifierPath, fuzzifier_path, varies_with_m

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D


class FuzzifierPathDisplay(Display):
    """Uniformity index of the solution over m, by the same method and with the same distances.

    Parameters
    ----------
    path : FuzzifierPath
    low : float
        Lower end of the range of m, where memberships are crisp.
    bounded : bool
        Whether m has an upper end; if not, the axis is logarithmic in m − low.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    line_ : matplotlib Line2D

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sklearn.datasets import load_iris
    >>> from kfrc import KFRC
    >>> from kfrc_app.displays import FuzzifierPathDisplay
    >>> X = load_iris().data
    >>> display = FuzzifierPathDisplay.from_estimator(KFRC(3, level=1.0, random_state=0).fit(X), X, n_steps=5)
    >>> len(display.line_.get_xdata())
    5
    """

    line_: Line2D

    def __init__(self, path: FuzzifierPath, low: float, bounded: bool) -> None:
        self.path = path
        self.low = low
        self.bounded = bounded

    @classmethod
    def from_estimator(
        cls,
        model: FuzzyClusterer,
        X: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        ax: Axes | None = None,
        n_steps: int = N_STEPS,
        max_rows: int = MAX_PATH_ROWS,
        **kwargs: Any,
    ) -> Self:
        """Follow the solution of a fitted model over m and draw how fuzzy it is.

        Parameters
        ----------
        model : FuzzyClusterer
            With at least two clusters.
        X : array-like of shape (n_samples, n_features)
            What it was fitted on.
        sample_weight : array-like of shape (n_samples,), optional
            What the model was fitted with.
        ax : matplotlib Axes, optional
        n_steps : int, default=31
        max_rows : int, default=500
            With more rows the path is computed on a sample.
        **kwargs
            Passed to ``Axes.plot``.

        Raises
        ------
        KFRCError
            If there is one cluster only, or no m to vary.
        """
        facts = summarize(model, X, weights=as_weights(sample_weight))
        if not varies_with_m(model):
            raise KFRCError(
                f"{type(model).__name__} lowers m while it runs, so that there is no m whose other values could be "
                "shown: its attribute m_path_ holds the m of every iteration, and MembershipDisplay shows how fuzzy "
                "the result is"
            )
        if facts.n_clusters < 2:
            raise KFRCError("one cluster has no fuzziness to show: fit at least two")
        path = fuzzifier_path(model, facts.seen, weights=facts.weights, n_steps=n_steps, max_rows=max_rows)
        interval = model.fuzzifier_.m_range
        return cls(path, interval.low, math.isfinite(interval.high)).plot(ax, **kwargs)

    def plot(self, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw on ``ax``, or on new axes."""
        ax = self._prepare(ax, figsize=(5.4, 3.4))
        path = self.path
        options: dict[str, Any] = {"color": ACCENT, "linewidth": 2} | kwargs
        (self.line_,) = ax.plot(path.m, path.uniformity, **options)
        fitted = path.m[path.fitted]
        ax.axvline(fitted, color="0.3", linestyle="--", linewidth=1, label=f"fitted $m$ = {fitted:.3g}")
        if path.merge is not None and path.merge.m <= path.m[-1]:
            ax.axvline(path.merge.m, color=ORANGE, linestyle=":", label=f"merge bound {path.merge.m:.3g}")
        if path.critical_m <= path.m[-1]:
            ax.axvline(path.critical_m, color=MARK, linestyle="-.", label=f"$m^*$ = {path.critical_m:.3g}")
        if not self.bounded:
            low = self.low
            ax.set_xscale("function", functions=(lambda m: _log_above(m, low), lambda x: low + 10.0**x))
            ticks = [low + step for step in (0.05, 0.1, 0.2, 0.5, 1, 2, 4, 8, 16, 32, 64, 128)]
            ticks = [m for m in ticks if path.m[0] <= m <= path.m[-1] * (1 + 1e-9)]
            ax.set_xticks(ticks, [f"{m:g}" for m in ticks])
            ax.set_xlim(path.m[0], path.m[-1])
        ax.set_ylim(0, 1.02)
        ax.set_xlabel("fuzzifier $m$")
        ax.set_ylabel("uniformity index")
        ax.legend(frameon=False)
        hide_spines(ax, "top", "right")
        return self


def _log_above(m: ArrayLike, low: float) -> FloatArray:
    """Position on an axis that is logarithmic in m − low."""
    return np.log10(np.maximum(np.asarray(m, dtype=np.float64) - low, 1e-12))
