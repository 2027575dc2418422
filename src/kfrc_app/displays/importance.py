"""What the columns contribute, largest first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from kfrc import KFRCError
from kfrc.clusterers import FuzzyClusterer
from kfrc.typing import ArrayLike, FloatArray
from kfrc_app.displays.base import ACCENT, Display, as_weights, hide_spines
from kfrc_app.displays.labels import short_name
from kfrc_app.facts import summarize
from kfrc_app.facts.importance import by_importance, equal_share, standing_out_words, stands_out

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer


class ImportanceDisplay(Display):
    """Shares of the columns in what the partition explains as bars, with the equal share as a line.

    Parameters
    ----------
    contributions : ndarray of shape (n_features,)
        By the distances of the method: ``KFRC.contributions_``, or the same for another.
    names : list of str
    n_used : int, optional
        Columns that are not left out; all by default.
    max_columns : int, default=30
        How many columns are drawn, those that contribute most.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    bars_ : matplotlib BarContainer
    order_ : ndarray
        Columns drawn, largest contribution first.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sklearn.datasets import load_iris
    >>> from kfrc import KFRC
    >>> from kfrc_app.displays import ImportanceDisplay
    >>> iris = load_iris(as_frame=True).data
    >>> display = ImportanceDisplay.from_estimator(KFRC(3, level=1.0, random_state=0).fit(iris), iris)
    >>> display.names[display.order_[0]]
    'petal length (cm)'
    """

    bars_: BarContainer

    def __init__(
        self, contributions: FloatArray, names: list[str], n_used: int | None = None, max_columns: int = 30
    ) -> None:
        self.contributions = contributions
        self.names = names
        self.n_used = len(contributions) if n_used is None else n_used
        self.order_ = by_importance(contributions)[:max_columns]

    @classmethod
    def from_estimator(
        cls,
        model: FuzzyClusterer,
        X: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        ax: Axes | None = None,
        max_columns: int = 30,
        **kwargs: Any,
    ) -> Self:
        """Draw what the columns contribute to a fitted model.

        Parameters
        ----------
        model : FuzzyClusterer
            Of any method.
        X : array-like of shape (n_samples, n_features)
            What it was fitted on; a DataFrame gives the names.
        sample_weight : array-like of shape (n_samples,), optional
            What the model was fitted with.
        ax : matplotlib Axes, optional
        max_columns : int, default=30
        **kwargs
            Passed to ``Axes.barh``.

        Raises
        ------
        KFRCError
            For a precomputed matrix, which has no columns.
        """
        facts = summarize(model, X, weights=as_weights(sample_weight))
        found = facts.importance
        if found is None:
            raise KFRCError(
                "a precomputed matrix has no columns whose importance could be shown: use SphereDisplay or "
                "SilhouetteDisplay, which show how the rows lie"
            )
        contributions = np.zeros(found.n_columns)
        for column in found.columns:
            contributions[column.position] = column.contribution
        display = cls(contributions, list(facts.names), len(found.used), max_columns)
        return display.plot(ax, **kwargs)

    def plot(self, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw on ``ax``, or on new axes."""
        shown = self.order_
        ax = self._prepare(ax, figsize=(5.5, 1.2 + 0.24 * len(shown)))
        options: dict[str, Any] = {"color": ACCENT, "height": 0.7} | kwargs
        self.bars_ = ax.barh(range(len(shown)), self.contributions[shown], **options)
        ax.set_yticks(range(len(shown)), [short_name(self.names[j], 40) for j in shown])
        ax.invert_yaxis()
        ax.axvline(equal_share(self.n_used), color="0.35", linestyle="--", linewidth=1, label="equal shares")
        ax.legend(loc="lower right", frameon=False)
        label = "share of what tells the clusters apart"
        if len(shown) < len(self.contributions):
            label += f"\nthe {len(shown)} largest of {len(self.contributions)} columns"
        ax.set_xlabel(label)
        n_standing_out = sum(stands_out(float(share), self.n_used) for share in self.contributions)
        ax.set_title(standing_out_words(n_standing_out, len(self.contributions), self.n_used), loc="left")
        ax.tick_params(axis="y", length=0)
        hide_spines(ax, "top", "right", "left")
        return self
