"""What every display shares: axes to draw on, and colors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kfrc.typing import ArrayLike, FloatArray
from kfrc_app._missing import missing_package
from kfrc_app.facts.palette import BLUE, VERMILION

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

ACCENT, PLAIN, MARK = BLUE, "0.65", VERMILION
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
            raise ImportError(missing_package(error), name=error.name) from error
        if ax is None:
            _, ax = plt.subplots(
                figsize=figsize, layout="constrained", subplot_kw={"projection": projection} if projection else None
            )
        self.ax_ = ax
        self.figure_ = ax.figure
        return ax


def hide_spines(ax: Axes, *sides: str) -> None:
    """Take away frame lines that carry no information."""
    ax.spines[list(sides)].set_visible(False)


def as_weights(sample_weight: ArrayLike | None) -> FloatArray | None:
    """Weights of rows as an array."""
    return None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
