"""Pictures that need no script, as SVG: the map of the rows, and how a column is spread in every group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from markupsafe import Markup, escape

from kfrc.typing import FloatArray
from kfrc_app.facts import Facts
from kfrc_app.facts.distributions import Distribution
from kfrc_app.facts.groups import Group
from kfrc_app.facts.levels import LevelShares
from kfrc_app.facts.palette import cluster_colors
from kfrc_app.facts.text import clean, listing, percent
from kfrc_app.facts.typical import level_name
from kfrc_app.facts.verdicts import LOW

_WIDTH = 320.0
_LEFT = 20.0
"""Room for letters beside the strips."""

_ROW_HEIGHTS = ((4, 34.0), (6, 26.0), (9, 20.0))
"""Height of a strip, by the number of groups up to which it is used."""

_LEAST_HEIGHT = 16.0
_AXIS = 17.0
"""Room for numbers below the strips."""

_SHOWN_LEVELS = 8
_LEVEL_HEIGHT = 19.0
_LEVEL_LETTERS = 17
_LEVEL_LEFT = 108.0
"""Room for names of levels."""

_MAP_WIDTH = 420.0
_MAP_MARGIN = 14.0
_FLATTEST = 0.55
"""Height of the map over its width, at least."""

_LETTER_GAP = 20.0
"""Least distance of two letters on the map."""

_CROWDED = 3.0
"""Times the middle of the groups' peaks at which a strip is cut off: one spike does not flatten the others."""


_FEW_DOTS = 4
"""Rows that a letter in their middle would hide, so that it stands above them."""

_ABOVE = 15.0


def map_drawing(facts: Facts) -> Markup | None:
    """The rows in the plane, colored by their group, with letters in the middle of the groups.

    Parameters
    ----------
    facts : Facts
        Of a fit that tells something apart.
    """
    plane = facts.plane
    if plane is None:
        return None
    height = max(_FLATTEST, float(np.ptp(plane.places[:, 1]))) * (_MAP_WIDTH - 2 * _MAP_MARGIN) + 2 * _MAP_MARGIN
    x = _MAP_MARGIN + plane.places[:, 0] * (_MAP_WIDTH - 2 * _MAP_MARGIN)
    y = 0.5 * height - (plane.places[:, 1] - 0.5) * (_MAP_WIDTH - 2 * _MAP_MARGIN)
    labels = facts.model.labels_[plane.rows]
    between = facts.model.memberships_[plane.rows].max(axis=1) < LOW
    size = float(np.clip(150.0 / np.sqrt(len(x)), 2.6, 8.0))
    parts, centers = [], []
    for group, color in zip(facts.groups, cluster_colors(facts.n_clusters), strict=True):
        mine = (labels == group.label) & ~between
        title = f"{group.letter}: {group.name}, {group.percent}"
        parts.append(
            Markup('<g style="--own:{}" class="dots"><title>{}</title><path d="{}" stroke-width="{:.1f}"/></g>').format(
                color, title, _dots(x[mine], y[mine]), size
            )
        )
        own = labels == group.label
        centers.append((float(np.median(x[own])), float(np.median(y[own]))) if own.any() else (np.nan, np.nan))
        if 0 < own.sum() <= _FEW_DOTS:
            centers[-1] = (centers[-1][0], float(y[own].min()) - _ABOVE)
    parts.append(
        Markup('<g class="dots between"><title>{}</title><path d="{}" stroke-width="{:.1f}"/></g>').format(
            f"rows between {facts.trust.noun}s", _dots(x[between], y[between]), size
        )
    )
    parts += _letters(facts.groups, _apart(np.array(centers), height))
    return Markup('<svg viewBox="0 0 {:.0f} {:.0f}" role="img" aria-label="{}">{}</svg>').format(
        _MAP_WIDTH, height, _map_words(facts), Markup("").join(parts)
    )


def _map_words(facts: Facts) -> str:
    sizes = [f"{group.letter} ({group.percent})" for group in facts.groups]
    noun = facts.trust.noun.capitalize()
    return f"Map of {len(facts.shown):,} rows: alike rows are close together. {noun}s: {listing(sizes)}."


def _dots(x: FloatArray, y: FloatArray) -> str:
    """Points as strokes of no length, the shortest way to write many of them."""
    return "".join(f"M{a:.1f} {b:.1f}h0" for a, b in zip(x.tolist(), y.tolist(), strict=True))


def _letters(groups: Sequence[Group], places: FloatArray) -> list[Markup]:
    return [
        Markup('<text class="letter" x="{:.1f}" y="{:.1f}">{}</text>').format(x, y + 5.0, group.letter)
        for group, (x, y) in zip(groups, places.tolist(), strict=True)
        if np.isfinite(x)
    ]


def _apart(places: FloatArray, height: float) -> FloatArray:
    """Places of letters, moved until no two of them touch."""
    places = places.copy()
    for _ in range(60):
        for i in range(len(places)):
            for j in range(i):
                step = places[i] - places[j]
                length = float(np.hypot(*step))
                if length < _LETTER_GAP:
                    step = step / length if length > 0 else np.array([1.0, 0.0])
                    places[i] += 0.5 * (_LETTER_GAP - length) * step
                    places[j] -= 0.5 * (_LETTER_GAP - length) * step
        places = np.clip(places, 10.0, [_MAP_WIDTH - 10.0, height - 10.0])
    return places


def spread_drawings(facts: Facts) -> list[dict[str, Any]]:
    """One small picture per main column: its name, and how it is spread in every group."""
    colors = cluster_colors(facts.n_clusters)
    return [
        {
            "name": clean(spread.column.name),
            "svg": _levels(spread, facts.groups, colors)
            if isinstance(spread, LevelShares)
            else _strips(spread, facts.groups, colors),
        }
        for spread in facts.distributions
    ]


def _strips(spread: Distribution, groups: Sequence[Group], colors: Sequence[str]) -> Markup:
    row = next((height for most, height in _ROW_HEIGHTS if len(groups) <= most), _LEAST_HEIGHT)
    height = row * len(groups) + _AXIS
    n_bins = spread.shares.shape[1]
    step = (_WIDTH - _LEFT) / n_bins
    peaks = spread.shares.max(axis=1)
    highest = min(float(peaks.max()), _CROWDED * float(np.median(peaks[peaks > 0]))) if (peaks > 0).any() else 1.0

    def place(value: float) -> float:
        share = (value - spread.low) / (spread.high - spread.low)
        return _LEFT + (_WIDTH - _LEFT) * min(max(share, 0.0), 1.0)

    parts, told = [], []
    for i, (group, color) in enumerate(zip(groups, colors, strict=True)):
        floor = row * (i + 1)
        tops = floor - (row - 4.0) * np.minimum(spread.shares[i] / highest, 1.0)
        steps = "".join(f"V{top:.1f}h{step:.2f}" for top in tops.tolist())
        value = spread.column.show(float(spread.medians[i]))
        told.append(f"{group.letter} {value}")
        title = f"{group.letter}, {group.name}: half of the rows below {value}"
        parts.append(
            Markup('<g><title>{}</title><path class="strip" style="--own:{}" d="M{:.0f} {:.1f}{}V{:.1f}Z"/>').format(
                title, color, _LEFT, floor, steps, floor
            )
        )
        parts.append(
            Markup('<line class="floor" x1="{:.0f}" x2="{:.0f}" y1="{y}" y2="{y}"/>').format(
                _LEFT, _WIDTH, y=f"{floor:.1f}"
            )
        )
        if np.isfinite(spread.medians[i]):
            at = place(float(spread.medians[i]))
            parts.append(
                Markup('<line class="middle" x1="{x}" x2="{x}" y1="{:.1f}" y2="{:.1f}"/>').format(
                    floor - row + 4.0, floor, x=f"{at:.1f}"
                )
            )
        parts.append(Markup('<text class="name" x="0" y="{:.1f}">{}</text></g>').format(floor - 3.0, group.letter))
    at = place(spread.median)
    parts.append(
        Markup('<line class="overall" x1="{x}" x2="{x}" y1="0" y2="{:.1f}"/>').format(row * len(groups), x=f"{at:.1f}")
    )
    below, above = ("≤ " if spread.cut[0] else "", "≥ " if spread.cut[1] else "")
    for x, anchor, text in (
        (_LEFT, "start", below + spread.column.show(spread.low)),
        (_WIDTH, "end", above + spread.column.show(spread.high)),
    ):
        parts.append(
            Markup('<text class="axis" x="{:.0f}" y="{:.1f}" text-anchor="{}">{}</text>').format(
                x, height - 3.0, anchor, text
            )
        )
    overall = spread.column.show(spread.median)
    words = f"{clean(spread.column.name)}: values in the middle: {listing(told)}; of all rows {overall}."
    return _svg(height, words, parts)


def _levels(spread: LevelShares, groups: Sequence[Group], colors: Sequence[str]) -> Markup:
    order = spread.order[:_SHOWN_LEVELS]
    rest = len(spread.order) - len(order)
    width = (_WIDTH - _LEVEL_LEFT) / len(groups)
    height = _LEVEL_HEIGHT * (len(order) + 1) + (_AXIS if rest else 0.0)
    shares = np.nan_to_num(spread.shares)
    highest = max(float(shares[:, order].max()), 1e-12)
    parts = [
        Markup('<text class="name" x="{:.1f}" y="13">{}</text>').format(_LEVEL_LEFT + i * width, group.letter)
        for i, group in enumerate(groups)
    ]
    for k, level in enumerate(order):
        top = _LEVEL_HEIGHT * (k + 1)
        name = level_name(spread, level)
        parts.append(
            Markup('<g><title>{}</title><text class="axis" x="0" y="{:.1f}">{}</text></g>').format(
                name, top + 13.0, clean(name, _LEVEL_LETTERS)
            )
        )
        for i, (group, color) in enumerate(zip(groups, colors, strict=True)):
            length = (width - 5.0) * shares[i, level] / highest
            x, y = f"{_LEVEL_LEFT + i * width:.1f}", f"{top + 3.0:.1f}"
            title = f"{group.letter}, {group.name}: {name} {percent(float(shares[i, level]))}"
            parts.append(
                Markup('<rect class="floor" x="{}" y="{}" width="{:.1f}" height="12"/>').format(x, y, width - 5.0)
            )
            parts.append(
                Markup(
                    '<rect class="strip" style="--own:{}" x="{}" y="{}" width="{:.1f}" height="12">'
                    "<title>{}</title></rect>"
                ).format(color, x, y, length, title)
            )
    if rest:
        parts.append(Markup('<text class="axis" x="0" y="{:.1f}">and {} more</text>').format(height - 4.0, rest))
    most = []
    for i, group in enumerate(groups):
        mode = spread.mode(i)
        most += [] if mode is None else [f"{group.letter} {level_name(spread, mode)} {percent(float(shares[i, mode]))}"]
    return _svg(height, f"{clean(spread.column.name)}: most frequent: {listing(most)}.", parts)


def _svg(height: float, words: str, parts: Sequence[Markup]) -> Markup:
    return Markup('<svg viewBox="0 0 {:.0f} {:.0f}" role="img" aria-label="{}">{}</svg>').format(
        _WIDTH, height, escape(words), Markup("").join(parts)
    )
