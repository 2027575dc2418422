"""Importance of the columns, most important first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from kfrc import KFRC, KFRCError
from kfrc.typing import ArrayLike, FloatArray
from kfrc_app.displays.base import ACCENT, Display, hide_spines, plain_text
from kfrc_app.facts import summarize
from kfrc_app.facts.importance import by_importance

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer


class ImportanceDisplay(Display):
    """Importance weights W_j ∝ 1/θ_j as bars, with the equal share as a line.

    Parameters
    ----------
    weights : ndarray of shape (n_features,)
    names : list of str
    effective_n_features : float
        W_eff, shown in the title.
    max_columns : int, default=30
        How many of the most important columns are drawn.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    bars_ : matplotlib BarContainer
    order_ : ndarray
        Columns drawn, most important first.

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
        self, weights: FloatArray, names: list[str], effective_n_features: float, max_columns: int = 30
    ) -> None:
        self.weights = weights
        self.names = names
        self.effective_n_features = effective_n_features
        self.order_ = by_importance(weights)[:max_columns]

    @classmethod
    def from_estimator(
        cls, model: KFRC, X: ArrayLike, *, ax: Axes | None = None, max_columns: int = 30, **kwargs: Any
    ) -> Self:
        """Draw the importance of the columns of a fitted model.

        Parameters
        ----------
        model : KFRC
        X : array-like of shape (n_samples, n_features)
            What it was fitted on; a DataFrame gives the names.
        ax : matplotlib Axes, optional
        max_columns : int, default=30
        **kwargs
            Passed to ``Axes.barh``.
        """
        cls._check_is_kfrc(model)
        facts = summarize(model, X)
        if facts.importance is None or model.importance_weights_ is None:
            raise KFRCError("a precomputed kernel has no columns whose importance could be shown")
        display = cls(model.importance_weights_, list(facts.names), facts.importance.effective, max_columns)
        return display.plot(ax, **kwargs)

    def plot(self, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw on ``ax``, or on new axes."""
        shown = self.order_
        ax = self._prepare(ax, figsize=(5.5, 1.2 + 0.24 * len(shown)))
        options: dict[str, Any] = {"color": ACCENT, "height": 0.7} | kwargs
        self.bars_ = ax.barh(range(len(shown)), self.weights[shown], **options)
        ax.set_yticks(range(len(shown)), [plain_text(self.names[j]) for j in shown])
        ax.invert_yaxis()
        ax.axvline(1 / len(self.weights), color="0.35", linestyle="--", linewidth=1, label="equal shares")
        ax.legend(loc="lower right", frameon=False)
        ax.set_xlabel(r"importance $W_j \propto 1/\theta_j$")
        ax.set_title(f"effective number of columns: {self.effective_n_features:.1f} of {len(self.weights)}", loc="left")
        ax.tick_params(axis="y", length=0)
        hide_spines(ax, "top", "right", "left")
        return self
