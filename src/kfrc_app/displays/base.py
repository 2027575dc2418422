"""What every display shares: axes to draw on, data as an array, a check that the model fits the data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kfrc import KFRC
from kfrc.typing import ArrayLike, FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

ACCENT, PLAIN, MARK = "#0072B2", "0.65", "#D55E00"
"""Colors of what counts, of the rest, and of thresholds."""


class Display:
    """Base of the displays: a subclass stores what to draw and draws it in ``plot``.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn; set by ``plot``.
    figure_ : matplotlib Figure or SubFigure
    """

    ax_: Axes
    figure_: Figure | SubFigure

    def _prepare(self, ax: Axes | None, *, projection: str | None = None, figsize: Any = None) -> Axes:
        """The axes to draw on, new ones if none are given, remembered with their figure."""
        try:
            import matplotlib.pyplot as plt
        except ImportError as error:
            raise ImportError("displays need matplotlib: pip install 'kfrc[plots]'") from error
        if ax is None:
            _, ax = plt.subplots(
                figsize=figsize, layout="constrained", subplot_kw={"projection": projection} if projection else None
            )
        self.ax_ = ax
        self.figure_ = ax.figure
        return ax


def check_pair(model: KFRC, X: ArrayLike) -> FloatArray:
    """The data as an array, after making sure that the model was fitted on so many rows and columns."""
    check_is_fitted(model)
    data = np.asarray(X, dtype=np.float64)
    expected = (len(model.memberships_), model.n_features_in_)
    if data.shape != expected:
        raise ValueError(f"X has shape {data.shape}, but the model was fitted on data of shape {expected}")
    return data


def column_names(model: KFRC, X: ArrayLike) -> list[str]:
    """Names from the data, else from the model, else numbers."""
    names = getattr(X, "columns", getattr(model, "feature_names_in_", None))
    return [str(name) for name in names] if names is not None else [f"x{j}" for j in range(model.n_features_in_)]


def hide_spines(ax: Axes, *sides: str) -> None:
    """Take away frame lines that carry no information."""
    ax.spines[list(sides)].set_visible(False)


def plain_text(text: str) -> str:
    """A name as matplotlib should show it: a dollar sign is a dollar sign, not mathematics."""
    return text.replace("$", r"\$")
