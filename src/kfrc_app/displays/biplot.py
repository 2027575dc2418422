"""Rows and columns in one plane: principal coordinates of the rows, arrows of the columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from kfrc._numerics import binary_exponent
from kfrc.clusterers import FuzzyClusterer
from kfrc.typing import ArrayLike, FloatArray
from kfrc_app.displays.base import Display, hide_spines
from kfrc_app.displays.clusters import add_legend, number_clusters, sample_note, scatter_rows
from kfrc_app.displays.columns import ShownColumn, chosen_columns
from kfrc_app.displays.labels import make_room, short_name, spread_labels
from kfrc_app.facts import summarize
from kfrc_app.facts.geometry import fitted_gram
from kfrc_app.facts.plane import principal_coordinates

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_REACH = 0.85
"""Length of an arrow of correlation one, as a share of the way from the middle to the outermost rows."""

_SHORTEST = 0.1
"""Correlation below which a column has nothing to do with the plane: no arrow."""

_MAX_LEVELS = 6
"""Levels of a column that are written, the most frequent ones."""

_INK = "0.15"


class BiplotDisplay(Display):
    """The rows by the two leading principal coordinates of the method's space, and columns as arrows.

    For methods of squared Euclidean distances these are principal components. For a kernel they are the principal
    components in its feature space, at the fitted bandwidths, and for dissimilarities their principal coordinates. The
    arrow of a column ends at its correlations with the two axes; a column without order has no direction, so that its
    levels stand where their rows are on average.

    Parameters
    ----------
    coordinates : ndarray of shape (n_rows, 2)
    explained : ndarray of shape (2,)
        Shares of the variation along the axes.
    memberships : ndarray of shape (n_rows, n_clusters)
    columns : sequence of ShownColumn
        Those that get arrows; empty for a precomputed matrix.
    note : str
        Title of the legend, such as that a sample is drawn.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    correlations_ : dict
        Correlations with the two axes by name, of the columns that have an order.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sklearn.datasets import load_iris
    >>> from kfrc import FCM
    >>> from kfrc_app.displays import BiplotDisplay
    >>> iris = load_iris(as_frame=True).data
    >>> display = BiplotDisplay.from_estimator(FCM(3, random_state=0).fit(iris), iris)
    >>> display.explained.round(2), display.correlations_["petal length (cm)"].round(2)
    (array([0.92, 0.05]), array([ 1.  , -0.05]))
    """

    def __init__(
        self,
        coordinates: FloatArray,
        explained: FloatArray,
        memberships: FloatArray,
        columns: Sequence[ShownColumn] = (),
        note: str = "",
    ) -> None:
        self.coordinates = coordinates
        self.explained = explained
        self.memberships = memberships
        self.columns = list(columns)
        self.note = note
        self.correlations_ = {
            column.name: _correlations(column.values, coordinates) for column in columns if not column.nominal
        }

    @classmethod
    def from_estimator(
        cls,
        model: FuzzyClusterer,
        X: ArrayLike,
        *,
        columns: Sequence[str] | None = None,
        ax: Axes | None = None,
        max_columns: int = 8,
        max_rows: int = 1500,
        **kwargs: Any,
    ) -> Self:
        """Draw rows and columns of a fitted model.

        Parameters
        ----------
        model : FuzzyClusterer
            Of any method.
        X : array-like of shape (n_samples, n_features)
            What it was fitted on.
        columns : sequence of str, optional
            Names of the columns that get arrows; the most important ones by default.
        ax : matplotlib Axes, optional
        max_columns : int, default=8
        max_rows : int, default=1500
            With more rows a sample is drawn, and the legend says so.
        **kwargs
            Passed to ``Axes.scatter``.
        """
        facts = summarize(model, X, max_points=max_rows)
        found = [] if facts.pairwise else chosen_columns(facts, columns, max_columns, display=cls.__name__)
        gram = fitted_gram(model, facts.seen, facts.shown, facts.weights)
        coordinates, explained = principal_coordinates(gram.columns(range(gram.n_samples)))
        note = sample_note(len(facts.shown), facts.n_rows)
        return cls(coordinates, explained, model.memberships_[facts.shown], found, note).plot(ax, **kwargs)

    def plot(self, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw on ``ax``, or on new axes."""
        ax = self._prepare(ax, figsize=(7.0, 5.2))
        scatter_rows(ax, self.coordinates, self.memberships, **{"zorder": 2} | kwargs)
        numbers = number_clusters(ax, self.coordinates, self.memberships)
        outermost = np.abs(self.coordinates).max(axis=0)
        outermost = np.where(outermost > 0, outermost, 1.0)
        tips = _REACH * np.array([np.zeros(2), *self.correlations_.values()]) * outermost
        ends = np.vstack([self.coordinates, tips])
        reach = np.ptp(ends, axis=0)
        margin = np.where(reach > 0, 0.06 * reach, 1.0)
        ax.set_xlim(*(ends[:, 0].min() - margin[0], ends[:, 0].max() + margin[0]))
        ax.set_ylim(*(ends[:, 1].min() - margin[1], ends[:, 1].max() + margin[1]))
        ax.axhline(0.0, color="0.9", linewidth=0.8, zorder=0)
        ax.axvline(0.0, color="0.9", linewidth=0.8, zorder=0)
        for axis, name, share in zip((ax.xaxis, ax.yaxis), ("first", "second"), self.explained.tolist(), strict=True):
            axis.set_label_text(f"{name} principal coordinate ({100 * share:.0f} % of the variation)")
        labels = [
            *(text for column in self.columns for text in self._draw_arrow(ax, column, outermost)),
            *(text for column in self.columns for text in self._draw_levels(ax, column)),
        ]
        add_legend(ax, self.memberships, note=self.note)
        make_room(ax, labels)
        spread_labels(ax, labels, numbers)
        hide_spines(ax, "top", "right")
        return self

    def _draw_arrow(self, ax: Axes, column: ShownColumn, outermost: FloatArray) -> list[Any]:
        found = self.correlations_.get(column.name)
        if found is None or float(np.hypot(*found)) < _SHORTEST:
            return []
        tip = _REACH * found * outermost
        x, y = tip.tolist()
        look = {"arrowstyle": "-|>", "color": _INK, "lw": 1.3, "alpha": 0.85, "shrinkA": 0, "shrinkB": 0}
        ax.annotate("", (x, y), (0.0, 0.0), arrowprops=look, zorder=5)
        return [
            ax.text(
                1.04 * x,
                1.04 * y,
                short_name(column.name),
                color=_INK,
                size="small",
                ha="left" if x >= 0 else "right",
                va="center",
                zorder=7,
                bbox=_paper(),
            )
        ]

    def _draw_levels(self, ax: Axes, column: ShownColumn) -> list[Any]:
        if not column.nominal:
            return []
        texts = []
        counts = np.array([(column.values == k).sum() for k in range(len(column.levels))])
        for k in np.argsort(-counts, kind="stable")[:_MAX_LEVELS].tolist():
            if counts[k] == 0:
                continue
            x, y = self.coordinates[column.values == k].mean(axis=0)
            ax.plot(x, y, marker="d", color=_INK, markersize=7, markeredgecolor="white", zorder=9)
            name = f"{short_name(column.name, 14)}: {short_name(column.levels[k], 14)}"
            texts.append(ax.text(x, y, f"  {name}", color=_INK, size="small", va="center", zorder=7, bbox=_paper()))
        return texts


def _correlations(values: FloatArray, coordinates: FloatArray) -> FloatArray:
    """Correlations of a column with the axes, over the rows in which it is known; zero if it does not vary."""
    known = ~np.isnan(values)
    if known.sum() < 2:
        return np.zeros(coordinates.shape[1])
    # Correlations have no unit, and squares of very large or very small numbers are out of range.
    x, Z = (np.ldexp(found, -binary_exponent(found)) for found in (values[known], coordinates[known]))
    x, Z = x - x.mean(), Z - Z.mean(axis=0)
    sizes = np.sqrt((x @ x) * (Z**2).sum(axis=0))
    return np.divide(x @ Z, sizes, out=np.zeros(Z.shape[1]), where=sizes > 0)


def _paper() -> dict[str, Any]:
    """Behind a label, so that it can be read on points."""
    return {"facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 0.6}
