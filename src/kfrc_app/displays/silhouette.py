"""Silhouettes: how much nearer every row is to its own cluster than to the next one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from kfrc import KFRCError
from kfrc.clusterers import FuzzyClusterer
from kfrc.metrics.geometry import silhouette_values
from kfrc.typing import ArrayLike, FloatArray
from kfrc_app.displays.base import MARK, Display, hide_spines
from kfrc_app.displays.clusters import FAINTEST, sample_note
from kfrc_app.facts import summarize
from kfrc_app.facts.geometry import fitted_space
from kfrc_app.facts.palette import cluster_colors

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_GAP = 0.02
"""Empty space between two clusters, as a share of the rows."""


class SilhouetteDisplay(Display):
    """Silhouette widths of the rows as bars, cluster by cluster, fainter the more a row lies between clusters.

    The width of a row is (b − a) / max(a, b), with a its mean distance to the other rows of its cluster and b that to
    the rows of the next cluster: near 1 well inside, 0 between two clusters, negative if another cluster is nearer.
    Distances are those of the method. The fuzzy mean weighs rows by the difference of their two largest memberships,
    the crisp one weighs all alike.

    Parameters
    ----------
    widths : ndarray of shape (n_rows,)
    memberships : ndarray of shape (n_rows, n_clusters)
    note : str
        Written below, such as that a sample is drawn.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    crisp_, fuzzy_ : float
        Mean widths of all rows.
    cluster_crisp_, cluster_fuzzy_ : ndarray of shape (n_clusters,)
        Mean widths of the rows of each cluster; NaN if it has none.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sklearn.datasets import load_iris
    >>> from kfrc import FCM
    >>> from kfrc_app.displays import SilhouetteDisplay
    >>> X = load_iris().data
    >>> display = SilhouetteDisplay.from_estimator(FCM(3, random_state=0).fit(X), X)
    >>> round(display.crisp_, 3), round(display.fuzzy_, 3)
    (0.55, 0.621)
    """

    def __init__(self, widths: FloatArray, memberships: FloatArray, note: str = "") -> None:
        self.widths = widths
        self.memberships = memberships
        self.note = note
        ordered = np.sort(memberships, axis=1)
        self._weights = ordered[:, -1] - ordered[:, -2]
        labels, n_clusters = memberships.argmax(axis=1), memberships.shape[1]
        self.crisp_ = float(widths.mean())
        self.fuzzy_ = _mean(widths, self._weights)
        self.cluster_crisp_ = np.array(
            [_mean(widths[labels == i], np.ones((labels == i).sum())) for i in range(n_clusters)]
        )
        self.cluster_fuzzy_ = np.array(
            [_mean(widths[labels == i], self._weights[labels == i]) for i in range(n_clusters)]
        )

    @classmethod
    def from_estimator(
        cls, model: FuzzyClusterer, X: ArrayLike, *, ax: Axes | None = None, max_rows: int = 2000, **kwargs: Any
    ) -> Self:
        """Draw the silhouettes of a fitted model.

        Parameters
        ----------
        model : FuzzyClusterer
            Of any method, with rows in at least two clusters.
        X : array-like of shape (n_samples, n_features)
            What it was fitted on. Precomputed dissimilarities are used as they are.
        ax : matplotlib Axes, optional
        max_rows : int, default=2000
            With more rows a sample is drawn, and the axis says so.
        **kwargs
            Passed to ``matplotlib.collections.PolyCollection``, which draws the bars.

        Raises
        ------
        KFRCError
            If all rows are in one cluster, or the fit has collapsed.
        """
        facts = summarize(model, X, max_points=max_rows)
        U = model.memberships_[facts.shown]
        labels = U.argmax(axis=1)
        if facts.fit.collapsed or len(np.unique(labels)) < 2:
            raise KFRCError(
                "a silhouette compares clusters, and all rows belong to one, or to all alike: fit at least two "
                "clusters, with an m at which they do not collapse (FuzzifierPathDisplay shows where they do)"
            )
        distances = fitted_space(model, facts.seen, facts.shown, facts.weights).distances()
        widths = silhouette_values(distances, labels, "precomputed")
        return cls(widths, U, sample_note(len(U), facts.n_rows)).plot(ax, **kwargs)

    def plot(self, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw on ``ax``, or on new axes."""
        from matplotlib.collections import PolyCollection
        from matplotlib.colors import to_rgb

        n_rows, n_clusters = self.memberships.shape
        ax = self._prepare(ax, figsize=(6.4, max(4.0, 1.2 + 0.42 * n_clusters)))
        labels = self.memberships.argmax(axis=1)
        gap = max(1.0, _GAP * n_rows)
        options: dict[str, Any] = {"linewidths": 0, "antialiaseds": False} | kwargs
        top, middles = 0.0, []
        for i, color in enumerate(cluster_colors(n_clusters)):
            own = np.flatnonzero(labels == i)
            own = own[np.argsort(-self.widths[own], kind="stable")]
            alpha = FAINTEST + (1.0 - FAINTEST) * self._weights[own]
            colors = np.column_stack([np.tile(to_rgb(color), (len(own), 1)), alpha])
            look: dict[str, Any] = {"facecolors": colors} | options
            ax.add_collection(PolyCollection(list(_bars(self.widths[own], top)), **look))
            middles.append(top + 0.5 * max(len(own) - 1, 0))
            top += len(own) + gap
        sizes = ["" if self.note else f"  ({(labels == i).sum():,})" for i in range(n_clusters)]  # a sample has others
        ax.set_yticks(middles, [f"cluster {i}{size}" for i, size in enumerate(sizes)])
        ax.tick_params(axis="y", length=0)
        ax.set_ylim(top - gap + 0.5 * gap, -0.5 * gap)
        lowest = min(float(self.widths.min()), 0.0)
        ax.set_xlim(1.05 * lowest, 1.0)
        ax.axvline(0.0, color="0.4", linewidth=0.8)
        ax.axvline(self.crisp_, color="0.25", linestyle="--", linewidth=1, label=f"mean {self.crisp_:.2f}")
        ax.axvline(self.fuzzy_, color=MARK, linestyle=":", linewidth=1.5, label=f"fuzzy mean {self.fuzzy_:.2f}")
        for i, middle in enumerate(middles):
            ax.text(
                *(1.01, middle, _figures(self.cluster_crisp_[i], self.cluster_fuzzy_[i])),
                transform=ax.get_yaxis_transform(),
                va="center",
                size="small",
            )
        ax.text(1.01, 1.01, "mean | fuzzy", transform=ax.transAxes, va="bottom", size="small", color="0.35")
        ax.set_xlabel("silhouette width" + (f" ({self.note})" if self.note else ""))
        ax.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, frameon=False, fontsize="small")
        hide_spines(ax, "top", "right", "left")
        return self


def _bars(widths: FloatArray, top: float) -> FloatArray:
    """Corners of horizontal bars of height one, of shape (n_bars, 4, 2): far faster than one patch for each."""
    heights = top + np.arange(len(widths))
    corners = np.zeros((len(widths), 4, 2))
    corners[:, 1:3, 0] = widths[:, None]
    corners[:, :2, 1] = heights[:, None] - 0.5
    corners[:, 2:, 1] = heights[:, None] + 0.5
    return corners


def _mean(widths: FloatArray, weights: FloatArray) -> float:
    return float(np.average(widths, weights=weights)) if weights.sum() > 0 else float("nan")


def _figures(crisp: float, fuzzy: float) -> str:
    return "no rows" if np.isnan(crisp) else f"{crisp:.2f} | {'–' if np.isnan(fuzzy) else f'{fuzzy:.2f}'}"
