"""Parallel coordinates: every row a line through its values, and the typical line of every cluster."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from kfrc.clusterers import FuzzyClusterer
from kfrc.typing import ArrayLike, FloatArray
from kfrc_app.displays.base import Display, hide_spines
from kfrc_app.displays.clusters import add_legend, marker_of, opacities, sample_note
from kfrc_app.displays.columns import ShownColumn, chosen_columns
from kfrc_app.displays.labels import short_name
from kfrc_app.facts import summarize
from kfrc_app.facts.palette import cluster_colors
from kfrc_app.facts.profiles import weighted_medians

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_INK = 60.0
"""Lines that are drawn as dark as their memberships say; if there are more, all are fainter."""

_JITTER = 0.02
"""Share of an axis by which lines of one level are moved, at most."""

_MAX_LEVELS = 8
"""Levels whose names are written beside their axis."""


class ParallelDisplay(Display):
    """One vertical axis per column, one line per row, and a thick line through the medians of every cluster.

    Columns stand in the order of their importance, each from its smallest to its largest value. Lines are fainter the
    less a row belongs to its cluster, and are broken where a value is missing. Levels stand at equal steps; the thick
    line goes through the level in the middle of an ordered column, and the most frequent one of another.

    Parameters
    ----------
    columns : sequence of ShownColumn
    memberships : ndarray of shape (n_rows, n_clusters)
    note : str
        Title of the legend, such as that a sample is drawn.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    heights_ : ndarray of shape (n_rows, n_columns)
        Values between 0 and 1, NaN where they are missing.
    typical_ : ndarray of shape (n_clusters, n_columns)
        The thick lines.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sklearn.datasets import load_iris
    >>> from kfrc import FCM
    >>> from kfrc_app.displays import ParallelDisplay
    >>> iris = load_iris(as_frame=True).data
    >>> display = ParallelDisplay.from_estimator(FCM(3, random_state=0).fit(iris), iris)
    >>> [column.name for column in display.columns]
    ['petal length (cm)', 'petal width (cm)', 'sepal length (cm)', 'sepal width (cm)']
    """

    def __init__(self, columns: Sequence[ShownColumn], memberships: FloatArray, note: str = "") -> None:
        self.columns = list(columns)
        self.memberships = memberships
        self.note = note
        self.heights_ = np.column_stack([_heights(column) for column in columns])
        self.typical_ = np.column_stack(
            [_typical(column, self.heights_[:, j], memberships) for j, column in enumerate(self.columns)]
        )

    @classmethod
    def from_estimator(
        cls,
        model: FuzzyClusterer,
        X: ArrayLike,
        *,
        columns: Sequence[str] | None = None,
        ax: Axes | None = None,
        max_columns: int = 10,
        max_rows: int = 1000,
        **kwargs: Any,
    ) -> Self:
        """Draw the rows of a fitted model.

        Parameters
        ----------
        model : FuzzyClusterer
            Of any method.
        X : array-like of shape (n_samples, n_features)
            What it was fitted on.
        columns : sequence of str, optional
            Names of the columns to draw, from left to right; the most important ones by default.
        ax : matplotlib Axes, optional
        max_columns : int, default=10
        max_rows : int, default=1000
            With more rows a sample is drawn, and the legend says so.
        **kwargs
            Passed to ``matplotlib.collections.LineCollection``.

        Raises
        ------
        KFRCError
            For a precomputed matrix, which has no columns.
        """
        facts = summarize(model, X, max_points=max_rows)
        found = chosen_columns(facts, columns, max_columns, display=cls.__name__)
        return cls(found, model.memberships_[facts.shown], sample_note(len(facts.shown), facts.n_rows)).plot(
            ax, **kwargs
        )

    def plot(self, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw on ``ax``, or on new axes."""
        from matplotlib.collections import LineCollection
        from matplotlib.colors import to_rgb
        from matplotlib.patheffects import withStroke

        n_rows, n_columns = self.heights_.shape
        ax = self._prepare(ax, figsize=(max(5.5, 2.2 + 1.1 * n_columns), 4.4))
        places = np.arange(n_columns)
        colors = cluster_colors(self.memberships.shape[1])
        labels = self.memberships.argmax(axis=1)
        alpha = 0.5 * opacities(self.memberships) * min(1.0, np.sqrt(_INK / n_rows))
        inks = np.column_stack([np.array([to_rgb(colors[i]) for i in labels]), alpha])
        lines = [np.column_stack([places, row]) for row in _jittered(self.columns, self.heights_)]
        options: dict[str, Any] = {"colors": inks, "linewidths": 0.8, "zorder": 1} | kwargs
        ax.add_collection(LineCollection(lines, **options))
        for i, color in enumerate(colors):
            ax.plot(
                *(places, self.typical_[i]),
                color=color,
                marker=marker_of(i),
                linewidth=2.4,
                markersize=6,
                zorder=3,
                path_effects=[withStroke(linewidth=4.2, foreground="white")],
            )
        for x, column in zip(places.tolist(), self.columns, strict=True):
            ax.vlines(x, 0.0, 1.0, color="0.55", linewidth=0.8, zorder=2)
            _write_ends(ax, x, column)
        ax.set_xticks(places, [short_name(column.name) for column in self.columns])
        _turn_crowded(ax, [column.name for column in self.columns])
        ax.set_yticks([])
        ax.set_xlim(-0.25, n_columns - 0.75)
        ax.set_ylim(-0.09, 1.09)
        ax.tick_params(axis="x", length=0)
        add_legend(ax, self.memberships, note=self.note)
        hide_spines(ax, "top", "right", "left", "bottom")
        return self


def _heights(column: ShownColumn) -> FloatArray:
    """Values from 0, the smallest, to 1, the largest; a constant column stands in the middle."""
    low, high = column.ends
    return (column.values - low) / (high - low) if high > low else np.where(np.isnan(column.values), np.nan, 0.5)


def _jittered(columns: Sequence[ShownColumn], heights: FloatArray) -> FloatArray:
    """Heights at which lines are drawn: those of one level are spread a little, to show how many they are."""
    shifts = np.random.default_rng(0).uniform(-_JITTER, _JITTER, heights.shape)
    return heights + shifts * np.array([bool(column.levels) for column in columns])


def _typical(column: ShownColumn, heights: FloatArray, memberships: FloatArray) -> FloatArray:
    """Where the line of each cluster crosses: the weighted median, or the most frequent level without an order."""
    if not column.nominal:
        return weighted_medians(heights[:, None], memberships)[:, 0]
    levels = np.unique(heights[~np.isnan(heights)])
    masses = np.array([(memberships * (heights == level)[:, None]).sum(axis=0) for level in levels])
    return levels[masses.argmax(axis=0)]


def _write_ends(ax: Axes, x: float, column: ShownColumn) -> None:
    """The values at the ends of an axis, or the names of its levels."""
    low, high = column.ends
    if column.levels and len(column.levels) <= _MAX_LEVELS:
        for k, level in enumerate(column.levels):
            height = 0.5 if high == low else (k - low) / (high - low)
            box = {"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 0.8}
            ax.text(
                x + 0.03, height, short_name(level, 14), size="x-small", va="center", color="0.2", zorder=4, bbox=box
            )
        return
    ax.text(x, -0.02, short_name(column.show(low), 12), size="x-small", ha="center", va="top", color="0.3")
    ax.text(x, 1.02, short_name(column.show(high), 12), size="x-small", ha="center", va="bottom", color="0.3")


def _turn_crowded(ax: Axes, names: Sequence[str]) -> None:
    """Turn long names of columns, so that they do not run into each other."""
    if max(len(name) for name in names) > 11:
        for label in ax.get_xticklabels():
            label.set(rotation=25, ha="right", rotation_mode="anchor")
