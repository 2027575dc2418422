"""Names in pictures: short enough to fit, and moved apart where they would cover each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kfrc.typing import FloatArray
from kfrc_app.facts.text import clean

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROUNDS = 60
"""Rounds of moving labels apart: each ends half of every overlap."""

_WIDENINGS = 3
"""Times that axes are widened: their texts move outward a little each time."""

_GAP = 2.0
"""Pixels between two labels."""


def plain_text(text: str) -> str:
    """A name as matplotlib should show it: a dollar sign is a dollar sign, not mathematics."""
    return text.replace("$", r"\$")


def short_name(text: str, most: int = 24) -> str:
    """A name of at most some characters, on one line, as matplotlib should show it.

    Examples
    --------
    >>> from kfrc_app.displays.labels import short_name
    >>> short_name("petal length (cm)"), short_name("an answer to a question that nobody asked", 12)
    ('petal length (cm)', 'an answer t…')
    """
    return plain_text(clean(text, most))


def make_room(ax: Axes, labels: Sequence[Any]) -> None:
    """Widen the axes until texts at their sides lie inside.

    Parameters
    ----------
    ax : matplotlib Axes
    labels : sequence of matplotlib Text
        In data coordinates of ``ax``.
    """
    for _ in range(_WIDENINGS if labels else 0):
        boxes, frame = _extents(ax, labels)
        width = frame[2] - frame[0]
        left, right = max(frame[0] - boxes[:, 0].min(), 0.0), max(boxes[:, 2].max() - frame[2], 0.0)
        if left + right <= 0:
            return
        low, high = ax.get_xlim()
        ax.set_xlim(low - (high - low) * left / width, high + (high - low) * right / width)


def spread_labels(ax: Axes, labels: Sequence[Any], fixed: Sequence[Any] = ()) -> None:
    """Move texts apart, up and down, until none covers another, and keep them inside the axes.

    Parameters
    ----------
    ax : matplotlib Axes
    labels : sequence of matplotlib Text
        In data coordinates of ``ax``.
    fixed : sequence of matplotlib Text
        Others that stay where they are and are not to be covered either.
    """
    if not labels:
        return
    boxes, frame = _extents(ax, [*labels, *fixed])
    moves = _apart(boxes, frame, len(labels))[: len(labels)]
    inverse = ax.transData.inverted()
    for label, (dx, dy) in zip(labels, moves.tolist(), strict=True):
        place = ax.transData.transform(label.get_position())
        label.set_position(inverse.transform(place + np.array([dx, dy])))


def _extents(ax: Axes, labels: Sequence[Any]) -> tuple[FloatArray, FloatArray]:
    """Pixels (left, bottom, right, top) of texts, of shape (n_labels, 4), and of the axes, after layout."""
    figure = ax.figure.figure  # that of a part of a figure is the whole; get_figure(root=True) needs matplotlib 3.10
    figure.draw_without_rendering()
    boxes = np.array([(label.get_bbox_patch() or label).get_window_extent().extents for label in labels])
    return boxes, np.asarray(ax.get_window_extent().extents)


def _apart(boxes: FloatArray, frame: FloatArray, n_movable: int | None = None) -> FloatArray:
    """By how many pixels to move boxes (left, bottom, right, top), of shape (n_boxes, 2); only the first ones move."""
    n_movable = len(boxes) if n_movable is None else n_movable
    moved = boxes.astype(np.float64)
    for _ in range(_ROUNDS):
        still = True
        for i in range(n_movable):
            for j in range(i + 1, len(moved)):
                a, b = moved[i], moved[j]
                wide = min(a[2], b[2]) - max(a[0], b[0])
                high = min(a[3], b[3]) - max(a[1], b[1]) + _GAP
                if wide > 0 and high > 0:
                    up = high if a[1] + a[3] >= b[1] + b[3] else -high
                    moved[i, [1, 3]] += up if j >= n_movable else 0.5 * up
                    moved[j, [1, 3]] -= 0.0 if j >= n_movable else 0.5 * up
                    still = False
        for low, high in ((0, 2), (1, 3)):
            inward = np.maximum(frame[low] - moved[:, low], 0.0) - np.maximum(moved[:, high] - frame[high], 0.0)
            moved[:n_movable, [low, high]] += inward[:n_movable, None]
        if still:
            break
    return moved[:, :2] - boxes[:, :2]
