"""Heat map of memberships, rows sorted by cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from kfrc.clusterers import FuzzyClusterer
from kfrc.typing import ArrayLike, FloatArray
from kfrc_app.displays.base import Display, hide_spines
from kfrc_app.facts import summarize

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage


class MembershipDisplay(Display):
    """Memberships as a heat map: one line per row of the data, sorted by cluster, largest membership first.

    Parameters
    ----------
    memberships : ndarray of shape (n_samples, n_clusters)

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    image_ : matplotlib AxesImage
    order_ : ndarray of shape (n_samples,)
        Rows from top to bottom.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sklearn.datasets import load_iris
    >>> from kfrc import KFRC
    >>> from kfrc_app.displays import MembershipDisplay
    >>> X = load_iris().data
    >>> display = MembershipDisplay.from_estimator(KFRC(3, level=1.0, random_state=0).fit(X), X)
    >>> display.ax_.get_ylabel()
    '150 rows, by cluster, largest membership first'
    """

    image_: AxesImage

    def __init__(self, memberships: FloatArray) -> None:
        self.memberships = memberships
        labels = memberships.argmax(axis=1)
        self.order_ = np.lexsort((-memberships.max(axis=1), labels))

    @classmethod
    def from_estimator(
        cls, model: FuzzyClusterer, X: ArrayLike, *, ax: Axes | None = None, max_rows: int = 5000, **kwargs: Any
    ) -> Self:
        """Draw the memberships of a fitted model.

        Parameters
        ----------
        model : FuzzyClusterer
            Of any method.
        X : array-like of shape (n_samples, n_features)
            What it was fitted on.
        ax : matplotlib Axes, optional
        max_rows : int, default=5000
            With more rows a sample is drawn, and the axis says so.
        **kwargs
            Passed to ``Axes.imshow``.
        """
        facts = summarize(model, X, max_points=max_rows)
        display = cls(model.memberships_[facts.shown])
        display.plot(ax, **kwargs)
        if len(facts.shown) < facts.n_rows:
            display.ax_.set_ylabel(f"sample of {len(facts.shown)} of {facts.n_rows} rows, by cluster")
        return display

    def plot(self, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw on ``ax``, or on new axes."""
        ax = self._prepare(ax, figsize=(4.2, 4.6))
        n_rows, n_clusters = self.memberships.shape
        options: dict[str, Any] = {
            "aspect": "auto",
            "cmap": "cividis",
            "vmin": 0,
            "vmax": 1,
            "interpolation": "nearest",
        } | kwargs
        self.image_ = ax.imshow(self.memberships[self.order_], **options)
        ends = np.cumsum(np.bincount(self.memberships.argmax(axis=1), minlength=n_clusters))
        for end in ends[:-1]:
            ax.axhline(end - 0.5, color="white", linewidth=1.5)
        ax.set_xticks(range(n_clusters))
        ax.set_xlabel("cluster")
        ax.set_yticks([])
        ax.set_ylabel(f"{n_rows} rows, by cluster, largest membership first")
        hide_spines(ax, "top", "right", "bottom", "left")
        self.figure_.colorbar(self.image_, ax=ax, label="membership")
        return self
