"""Rows on the unit sphere by kernel principal components, colors blended by membership (Figure 3 of the paper)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from kfrc.clusterers import FuzzyClusterer
from kfrc.typing import ArrayLike, FloatArray
from kfrc_app.displays.base import Display
from kfrc_app.displays.clusters import add_legend, number_clusters, sample_note
from kfrc_app.facts import summarize
from kfrc_app.facts.palette import blend_colors

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MAX_UNNUMBERED = 4
"""Clusters that colors alone tell apart: blended colors of more of them look alike, so that numbers stand there."""


class SphereDisplay(Display):
    """Rows on the unit sphere of the space in which the method sees them: principal coordinates of length one.

    Parameters
    ----------
    coordinates : ndarray of shape (n_samples, 3)
    memberships : ndarray of shape (n_samples, n_clusters)
    note : str
        Title of the legend, such as that a sample is drawn.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    points_ : matplotlib Path3DCollection

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sklearn.datasets import load_iris
    >>> from kfrc import KFRC
    >>> from kfrc_app.displays import SphereDisplay
    >>> X = load_iris().data
    >>> SphereDisplay.from_estimator(KFRC(3, level=1.0, random_state=0).fit(X), X).ax_.name
    '3d'
    """

    points_: Any

    def __init__(self, coordinates: FloatArray, memberships: FloatArray, note: str = "") -> None:
        self.coordinates = coordinates
        self.memberships = memberships
        self.note = note

    @classmethod
    def from_estimator(
        cls, model: FuzzyClusterer, X: ArrayLike, *, ax: Axes | None = None, max_rows: int = 3000, **kwargs: Any
    ) -> Self:
        """Draw the rows of a fitted model.

        Parameters
        ----------
        model : FuzzyClusterer
            Of any method.
        X : array-like of shape (n_samples, n_features)
            What it was fitted on.
        ax : matplotlib Axes3D, optional
            Three-dimensional, as from ``plt.subplots(subplot_kw={"projection": "3d"})``.
        max_rows : int, default=3000
            With more rows a sample is drawn, and the legend says so.
        **kwargs
            Passed to ``Axes3D.scatter``.
        """
        facts = summarize(model, X, max_points=max_rows)
        note = sample_note(len(facts.shown), facts.n_rows)
        return cls(facts.sphere, model.memberships_[facts.shown], note).plot(ax, **kwargs)

    def plot(self, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw on three-dimensional ``ax``, or on new axes."""
        if ax is not None and ax.name != "3d":
            raise ValueError('SphereDisplay needs 3-D axes: plt.subplots(subplot_kw={"projection": "3d"})')
        space: Any = self._prepare(ax, projection="3d", figsize=(6.4, 5.2))
        angles = np.linspace(0.0, 2.0 * np.pi, 120)
        circle = np.array([np.cos(angles), np.sin(angles), np.zeros_like(angles)])
        for shift in range(3):
            space.plot(*np.roll(circle, shift, axis=0), color="0.8", linewidth=0.7, zorder=0)
        self.points_ = space.scatter(*self.coordinates.T, **{"c": blend_colors(self.memberships), "s": 16} | kwargs)
        space.set(xlim=(-1, 1), ylim=(-1, 1), zlim=(-1, 1))
        space.set_box_aspect((1, 1, 1), zoom=1.45)
        space.view_init(elev=72, azim=-90)
        space.set_axis_off()
        if self.memberships.shape[1] > _MAX_UNNUMBERED:
            number_clusters(space, self.coordinates, self.memberships)
        beside = {"loc": "upper left", "bbox_to_anchor": (0.98, 0.98), "borderaxespad": 0.0}
        add_legend(space, self.memberships, place=beside, note=self.note, markers=False)
        return self
