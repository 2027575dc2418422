"""Leading eigenvalues of F with the threshold τ."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from kfrc import KFRC
from kfrc.clusterers import FuzzyClusterer
from kfrc.typing import ArrayLike, FloatArray
from kfrc_app.displays.base import ACCENT, MARK, PLAIN, Display, as_weights, hide_spines
from kfrc_app.facts import summarize

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer


class SpectrumDisplay(Display):
    """Eigenvalues of F as bars, the c − 1 that clusters need in color, and the threshold τ as a line.

    Parameters
    ----------
    eigenvalues : ndarray of shape (k,)
        Descending.
    n_clusters : int
    threshold : float or None
        τ; None if the theory does not cover the method.
    critical_m : float or None
        m*, ``inf`` if nothing collapses; shown in the title.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    bars_ : matplotlib BarContainer

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sklearn.datasets import load_iris
    >>> from kfrc import KFRC
    >>> from kfrc_app.displays import SpectrumDisplay
    >>> X = load_iris().data
    >>> SpectrumDisplay.from_estimator(KFRC(3, level=1.0, m=1.5, random_state=0).fit(X), X).ax_.get_title("left")
    'no fuzzifier value collapses'
    """

    bars_: BarContainer

    def __init__(
        self, eigenvalues: FloatArray, n_clusters: int, threshold: float | None = None, critical_m: float | None = None
    ) -> None:
        self.eigenvalues = eigenvalues
        self.n_clusters = n_clusters
        self.threshold = threshold
        self.critical_m = critical_m

    @classmethod
    def from_estimator(
        cls,
        model: FuzzyClusterer,
        X: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        ax: Axes | None = None,
        n_eigenvalues: int = 10,
        **kwargs: Any,
    ) -> Self:
        """Draw the spectrum of a fitted model.

        Parameters
        ----------
        model : FuzzyClusterer
            Of any method; F belongs to its kernel, or to −R/2 of its dissimilarities R.
        X : array-like of shape (n_samples, n_features)
            What it was fitted on.
        sample_weight : array-like of shape (n_samples,), optional
            What the model was fitted with.
        ax : matplotlib Axes, optional
        n_eigenvalues : int, default=10
            Those beyond the fitted c are computed on at most 3000 rows.
        **kwargs
            Passed to ``Axes.bar``.
        """
        facts = summarize(model, X, weights=as_weights(sample_weight), n_eigenvalues=n_eigenvalues)
        own = len(model.eigenvalues_) if isinstance(model, KFRC) else 0
        eigenvalues = facts.eigenvalues[: max(n_eigenvalues, own)]
        found = facts.stability
        display = cls(
            eigenvalues,
            facts.n_clusters,
            None if found is None else found.threshold,
            None if found is None else found.critical_m,
        )
        return display.plot(ax, **kwargs)

    def plot(self, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw on ``ax``, or on new axes."""
        ax = self._prepare(ax, figsize=(4.8, 3.4))
        positions = np.arange(1, len(self.eigenvalues) + 1)
        colors = [ACCENT if k < self.n_clusters else PLAIN for k in positions]
        options: dict[str, Any] = {"color": colors, "width": 0.7} | kwargs
        self.bars_ = ax.bar(positions, self.eigenvalues, **options)
        if self.threshold is not None and math.isfinite(self.threshold):
            ax.axhline(self.threshold, color=MARK, linestyle="--", label=rf"threshold $\tau$ = {self.threshold:.3f}")
            ax.legend(frameon=False)
        ax.set_xticks(positions)
        ax.set_xlabel("eigenvalue of $F$")
        ax.set_ylabel("share of the variation")
        if self.critical_m is not None:
            collapses = f"may collapse from $m^*$ = {self.critical_m:.3g} on"
            ax.set_title(collapses if math.isfinite(self.critical_m) else "no fuzzifier value collapses", loc="left")
        hide_spines(ax, "top", "right")
        return self
