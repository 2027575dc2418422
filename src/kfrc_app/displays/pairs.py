"""Scatter plots of the most important columns against each other, with densities on the diagonal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.stats import gaussian_kde

from kfrc.clusterers import FuzzyClusterer
from kfrc.typing import ArrayLike, FloatArray
from kfrc_app.displays.base import Display, hide_spines
from kfrc_app.displays.clusters import MAX_LEGEND, add_legend, sample_note, scatter_rows
from kfrc_app.displays.columns import ShownColumn, chosen_columns
from kfrc_app.displays.labels import short_name
from kfrc_app.facts import summarize
from kfrc_app.facts.palette import cluster_colors

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_JITTER = 0.28
"""Half of the band, in steps between levels, over which rows of one level are spread so that they can be seen."""

_GRID = 120
"""Points of a density."""

_MAX_TICK_LEVELS = 6
_LEGEND_LINES = 6
"""Clusters in one column of the legend: as many as a small plot is tall."""

_PANEL = 1.75
"""Inches of one small plot."""

_LEGEND_PART = 1.3
"""Inches of one column of the legend."""


class PairsDisplay(Display):
    """A matrix of scatter plots: rows colored by cluster, fainter the less they belong, densities on the diagonal.

    The density of a cluster weighs every row by its membership; of levels the diagonal shows the shares. All densities
    of a panel have the same height.

    Parameters
    ----------
    columns : sequence of ShownColumn
    memberships : ndarray of shape (n_rows, n_clusters)
    note : str
        Title of the legend, such as that a sample is drawn.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn; the axes that were given only hold the place.
    axes_ : ndarray of shape (n_columns, n_columns)
        The small axes; None above the diagonal.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sklearn.datasets import load_iris
    >>> from kfrc import FCM
    >>> from kfrc_app.displays import PairsDisplay
    >>> iris = load_iris(as_frame=True).data
    >>> display = PairsDisplay.from_estimator(FCM(3, random_state=0).fit(iris), iris, max_columns=2)
    >>> display.axes_.shape, display.axes_[1, 0].get_ylabel()
    ((2, 2), 'petal width (cm)')
    """

    axes_: NDArray[Any]

    def __init__(self, columns: Sequence[ShownColumn], memberships: FloatArray, note: str = "") -> None:
        self.columns = list(columns)
        self.memberships = memberships
        self.note = note

    @classmethod
    def from_estimator(
        cls,
        model: FuzzyClusterer,
        X: ArrayLike,
        *,
        columns: Sequence[str] | None = None,
        ax: Axes | None = None,
        max_columns: int = 4,
        max_rows: int = 1500,
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
            Names of the columns to draw; the most important ones by default.
        ax : matplotlib Axes, optional
            Replaced by the small axes.
        max_columns : int, default=4
        max_rows : int, default=1500
            With more rows a sample is drawn, and the legend says so.
        **kwargs
            Passed to ``Axes.scatter``.

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
        """Draw in the place of ``ax``, or in a new figure."""
        n_columns = len(self.columns)
        n_parts = -(-min(self.memberships.shape[1], MAX_LEGEND) // _LEGEND_LINES)
        # Above the diagonal there is room for a legend of fewer parts than columns.
        is_beside = n_columns <= n_parts + 1
        width = 1.9 + _PANEL * n_columns + (_LEGEND_PART * (n_parts - 1) if is_beside else 0.0)
        ax = self._prepare(ax, figsize=(width, 0.7 + _PANEL * n_columns))
        ax.set_axis_off()
        where = ax.get_subplotspec()
        if where is None:
            raise ValueError("ax must be axes of a grid, as plt.subplots makes them: it is replaced by small ones")
        grid = where.subgridspec(n_columns, n_columns)
        self.axes_ = np.full((n_columns, n_columns), None, dtype=object)
        places = [_spread(column, j) for j, column in enumerate(self.columns)]
        for i in range(n_columns):
            for j in range(i + 1):
                panel = self.axes_[i, j] = self.figure_.add_subplot(grid[i, j])
                if i == j:
                    _draw_densities(panel, self.columns[i], self.memberships)
                else:
                    pair = np.column_stack([places[j], places[i]])
                    scatter_rows(panel, pair, self.memberships, **kwargs)
                    _set_limits(panel, self.columns[i], "y")
                _set_limits(panel, self.columns[j], "x")
                _write(panel, self.columns[j], "x", shown=i == n_columns - 1)
                _write(panel, self.columns[i], "y", shown=j == 0 and i > 0)
                hide_spines(panel, "top", "right")
        beside: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.05, 1.0), "borderaxespad": 0.0}
        beside["ncols"] = n_parts
        legend = add_legend(self.axes_[0, 0], self.memberships, place=beside, note=self.note)
        legend.set_in_layout(is_beside)
        return self


def _spread(column: ShownColumn, seed: int) -> FloatArray:
    """Values to draw at; rows of one level are spread, always in the same way, but not alike in two columns."""
    if not column.levels:
        return column.values
    return column.values + np.random.default_rng(seed).uniform(-_JITTER, _JITTER, len(column.values))


def _set_limits(panel: Axes, column: ShownColumn, side: str) -> None:
    low, high = column.ends
    margin = 0.6 if column.levels else 0.05 * (high - low) or 1.0
    getattr(panel, f"set_{side}lim")(low - margin, high + margin)


def _write(panel: Axes, column: ShownColumn, side: str, *, shown: bool) -> None:
    """Ticks and the name of a column at the outer sides only."""
    axis = getattr(panel, f"{side}axis")
    if not shown:
        axis.set_ticklabels([]) if column.levels or side == "x" else axis.set_ticks([])
        axis.set_tick_params(length=0)
        return
    axis.set_label_text(short_name(column.name, 20))
    if column.levels:
        step = -(-len(column.levels) // _MAX_TICK_LEVELS)
        ticks = list(range(0, len(column.levels), step))
        axis.set_ticks(ticks, [short_name(column.levels[k], 10) for k in ticks])
    else:
        _few_ticks(axis)
        if column.is_date:
            axis.set_major_formatter(lambda value, _: column.show(value))
    axis.set_tick_params(labelsize="x-small")
    if side == "x" and (column.levels or column.is_date):
        for label in panel.get_xticklabels():
            label.set(rotation=30, ha="right", rotation_mode="anchor")


def _few_ticks(axis: Any) -> None:
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(4))


def _draw_densities(panel: Axes, column: ShownColumn, memberships: FloatArray) -> None:
    """One curve per cluster, or the shares of levels as steps."""
    known = ~np.isnan(column.values)
    low, high = column.ends
    highest = 0.0
    for i, color in enumerate(cluster_colors(memberships.shape[1])):
        weights, values = memberships[known, i], column.values[known]
        if weights.sum() <= 0:
            continue
        if column.levels:
            shares = np.bincount(values.astype(np.intp), weights, len(column.levels)) / weights.sum()
            panel.stairs(shares, np.arange(len(shares) + 1) - 0.5, color=color, fill=True, alpha=0.25)
            panel.stairs(shares, np.arange(len(shares) + 1) - 0.5, color=color, linewidth=1.3)
            highest = max(highest, float(shares.max()))
        elif high > low:
            x = np.linspace(low - 0.05 * (high - low), high + 0.05 * (high - low), _GRID)
            density = _density(values, weights, x)
            panel.fill_between(x, density / density.max(), color=color, alpha=0.18, linewidth=0)
            panel.plot(x, density / density.max(), color=color, linewidth=1.3)
            highest = 1.0
    panel.set_ylim(0.0, 1.08 * highest if highest > 0 else 1.0)


def _density(values: FloatArray, weights: FloatArray, x: FloatArray) -> FloatArray:
    """A kernel density of weighted values, up to a factor; a peak if they are all the same."""
    effective = weights > 1e-6 * weights.max()
    # Between 0 and 1, squares of the smallest and of the largest numbers are within range.
    places, grid, weights = (
        (values[effective] - x[0]) / (x[-1] - x[0]),
        np.linspace(0.0, 1.0, len(x)),
        weights[effective],
    )
    spread = np.sqrt(np.average((places - np.average(places, weights=weights)) ** 2, weights=weights))
    if len(places) < 2 or spread <= 1e-9:
        return np.exp(-0.5 * ((grid - places[0]) / 0.01) ** 2) + 1e-300
    return gaussian_kde(places, weights=weights)(grid) + 1e-300
