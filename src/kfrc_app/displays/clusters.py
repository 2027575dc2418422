"""How clusters look in every display: a color, a marker and a number each, rows fainter the less they belong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kfrc.typing import FloatArray
from kfrc_app.facts.palette import cluster_colors

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*")
"""Ten shapes: color alone does not tell many clusters apart, and some readers see few colors."""

FAINTEST = 0.2
"""Opacity of a row that belongs to all clusters alike: still seen on white."""

MAX_LEGEND = 24
"""Clusters that a legend lists; more of them would be taller than the picture."""


def marker_of(cluster: int) -> str:
    """The shape of a cluster's rows."""
    return MARKERS[cluster % len(MARKERS)]


def opacities(memberships: FloatArray) -> FloatArray:
    """Opacity of every row: faint if it belongs to all clusters alike, full if it belongs to one.

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc_app.displays.clusters import opacities
    >>> opacities(np.array([[0.5, 0.5], [1.0, 0.0]]))
    array([0.2, 1. ])
    """
    n_clusters = memberships.shape[1]
    if n_clusters == 1:
        return np.ones(len(memberships))
    certainty = (memberships.max(axis=1) - 1.0 / n_clusters) / (1.0 - 1.0 / n_clusters)
    return FAINTEST + (1.0 - FAINTEST) * np.clip(certainty, 0.0, 1.0)


def scatter_rows(ax: Axes, places: FloatArray, memberships: FloatArray, **kwargs: Any) -> list[Any]:
    """Rows in the plane: color and shape of their cluster, opacity by membership; one collection per cluster.

    Parameters
    ----------
    ax : matplotlib Axes
    places : ndarray of shape (n_rows, 2)
    memberships : ndarray of shape (n_rows, n_clusters)
    **kwargs
        Passed to ``Axes.scatter``.
    """
    from matplotlib.colors import to_rgb

    n_rows, n_clusters = memberships.shape
    labels, alpha = memberships.argmax(axis=1), opacities(memberships)
    options: dict[str, Any] = {"s": point_size(n_rows), "linewidths": 0} | kwargs
    drawn = []
    for i, color in enumerate(cluster_colors(n_clusters)):
        own = labels == i
        colors = np.column_stack([np.tile(to_rgb(color), (int(own.sum()), 1)), alpha[own]])
        look: dict[str, Any] = {"c": colors, "marker": marker_of(i)} | options
        drawn.append(ax.scatter(*places[own].T, **look))
    return drawn


def point_size(n_rows: int) -> float:
    """Area of a point, smaller where there are many."""
    return float(np.clip(6000.0 / max(n_rows, 1), 6.0, 30.0))


def number_clusters(ax: Any, places: FloatArray, memberships: FloatArray) -> list[Any]:
    """Write the number of every cluster in the middle of its rows, on flat or three-dimensional axes."""
    labels, drawn = memberships.argmax(axis=1), []
    for i, color in enumerate(cluster_colors(memberships.shape[1])):
        if (labels == i).any():
            middle = np.median(places[labels == i], axis=0).tolist()
            disk = {"boxstyle": "circle,pad=0.25", "facecolor": "white", "edgecolor": color, "linewidth": 1.8}
            text = ax.text(*middle, str(i), color="0.1", size="small", ha="center", va="center", zorder=8, bbox=disk)
            drawn.append(text)
    return drawn


def add_legend(ax: Axes, memberships: FloatArray, *, place: Any = None, note: str = "", markers: bool = True) -> Any:
    """List the clusters with color, shape, number and rows beside the axes, where they cover nothing.

    Parameters
    ----------
    ax : matplotlib Axes
    memberships : ndarray of shape (n_rows, n_clusters)
        Of the rows that are drawn.
    place : mapping, optional
        Where to put it, instead of right of the axes: arguments of ``Axes.legend``.
    note : str
        Title, such as that a sample is drawn.
    markers : bool, default=True
        Whether clusters have shapes of their own.
    """
    from matplotlib.lines import Line2D

    n_clusters = memberships.shape[1]
    sizes = np.bincount(memberships.argmax(axis=1), minlength=n_clusters)
    handles = []
    for i, (color, size) in enumerate(zip(cluster_colors(n_clusters), sizes.tolist(), strict=True)):
        label = str(i) if note else f"{i}  ({size:,} {'row' if size == 1 else 'rows'})"  # a sample has other sizes
        marker = marker_of(i) if markers else "o"
        handles.append(Line2D([], [], color=color, marker=marker, linestyle="", markersize=6, label=label))
    options = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "borderaxespad": 0.0} if place is None else place
    return ax.legend(
        handles=handles[:MAX_LEGEND],
        title="cluster" + (f"\n{note}" if note else ""),
        frameon=False,
        fontsize="small",
        title_fontsize="small",
        alignment="left",
        **options,
    )


def sample_note(n_shown: int, n_rows: int) -> str:
    """What to say if not all rows are drawn.

    Examples
    --------
    >>> from kfrc_app.displays.clusters import sample_note
    >>> sample_note(150, 150), sample_note(1000, 20000)
    ('', 'sample of 1,000 of 20,000 rows')
    """
    return "" if n_shown >= n_rows else f"sample of {n_shown:,} of {n_rows:,} rows"
