"""Memberships in three clusters as points of a triangle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from kfrc import KFRCError
from kfrc.clusterers import FuzzyClusterer
from kfrc.typing import ArrayLike, FloatArray
from kfrc_app.displays.base import Display
from kfrc_app.displays.clusters import add_legend, sample_note, scatter_rows
from kfrc_app.facts import summarize
from kfrc_app.facts.palette import cluster_colors

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(3.0) / 2.0]])
_LINES = (0.2, 0.4, 0.6, 0.8)


class TriangleDisplay(Display):
    """Memberships in three clusters: a corner is a cluster, a point is a row, its distance to a side is a membership.

    Rows in a corner belong to one cluster, rows on a side lie between two, rows in the middle belong to all alike. The
    lines divide the triangle where the largest membership changes.

    Parameters
    ----------
    memberships : ndarray of shape (n_rows, 3)
    note : str
        Title of the legend, such as that a sample is drawn.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    places_ : ndarray of shape (n_rows, 2)
        Points in the plane.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sklearn.datasets import load_iris
    >>> from kfrc import FCM
    >>> from kfrc_app.displays import TriangleDisplay
    >>> X = load_iris().data
    >>> TriangleDisplay.from_estimator(FCM(3, random_state=0).fit(X), X).places_.shape
    (150, 2)
    """

    def __init__(self, memberships: FloatArray, note: str = "") -> None:
        if memberships.shape[1] != 3:
            raise KFRCError(
                f"a triangle shows three clusters, this model has {memberships.shape[1]}: MembershipDisplay shows the "
                "memberships in any number of clusters"
            )
        self.memberships = memberships
        self.note = note
        self.places_ = memberships @ _CORNERS

    @classmethod
    def from_estimator(
        cls, model: FuzzyClusterer, X: ArrayLike, *, ax: Axes | None = None, max_rows: int = 3000, **kwargs: Any
    ) -> Self:
        """Draw the memberships of a fitted model.

        Parameters
        ----------
        model : FuzzyClusterer
            Of any method, with three clusters.
        X : array-like of shape (n_samples, n_features)
            What it was fitted on.
        ax : matplotlib Axes, optional
        max_rows : int, default=3000
            With more rows a sample is drawn, and the legend says so.
        **kwargs
            Passed to ``Axes.scatter``.

        Raises
        ------
        KFRCError
            If there are not three clusters.
        """
        facts = summarize(model, X, max_points=max_rows)
        return cls(model.memberships_[facts.shown], sample_note(len(facts.shown), facts.n_rows)).plot(ax, **kwargs)

    def plot(self, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw on ``ax``, or on new axes."""
        ax = self._prepare(ax, figsize=(6.2, 4.8))
        for share in _LINES:
            for k in range(3):
                ends = np.zeros((2, 3))
                ends[:, k] = share
                ends[0, (k + 1) % 3] = ends[1, (k + 2) % 3] = 1.0 - share
                ax.plot(*(ends @ _CORNERS).T, color="0.9", linewidth=0.7, zorder=0)
        middle = _CORNERS.mean(axis=0)
        for k in range(3):
            side = 0.5 * (_CORNERS[(k + 1) % 3] + _CORNERS[(k + 2) % 3])
            ax.plot(*np.array([middle, side]).T, color="0.6", linewidth=0.9, linestyle="--", zorder=1)
        ax.plot(*np.vstack([_CORNERS, _CORNERS[:1]]).T, color="0.35", linewidth=1.0, zorder=1)
        for share in _LINES:
            ax.text(share, -0.02, f"{share:.1f}", color="0.5", size="x-small", ha="center", va="top")
        scatter_rows(ax, self.places_, self.memberships, **{"zorder": 3} | kwargs)
        aligned = (("right", "top"), ("left", "top"), ("center", "bottom"))
        for i, (corner, color, (ha, va)) in enumerate(zip(_CORNERS, cluster_colors(3), aligned, strict=True)):
            offset = 0.035 * (corner - middle) / np.linalg.norm(corner - middle)
            x, y = (corner + offset).tolist()
            ax.text(x, y, f"cluster {i}", color=color, weight="bold", ha=ha, va=va)
        ax.text(
            0.5, -0.075, "membership in cluster 1, along this side", color="0.5", size="x-small", ha="center", va="top"
        )
        add_legend(ax, self.memberships, note=self.note)
        ax.set_aspect("equal")
        ax.set_xlim(-0.2, 1.2)
        ax.set_ylim(-0.14, 0.97)
        ax.set_axis_off()
        return self
