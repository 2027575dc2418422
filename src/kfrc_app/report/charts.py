"""Small charts as data for the template: positions in percent, so that they fit any width."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from kfrc_app._letters import letters
from kfrc_app.facts.path import FuzzifierPath
from kfrc_app.facts.reliability import Reliability, ReliabilityBin
from kfrc_app.facts.text import number

_TICKS = (1.01, 1.02, 1.05, 1.1, 1.2, 1.5, 2.0, 3.0, 5.0, 9.0, 17.0, 33.0, 65.0, 129.0)
"""Candidates for labels on a logarithmic axis of m − 1."""

_MIN_TICK_GAP = 11.0
"""Percent of the width between tick labels: they never touch on a phone."""

_SMALLEST_DOT, _LARGEST_DOT = 6.0, 14.0
"""Pixels across; the area grows with the number of rows."""


def bar(value: float, largest: float) -> str:
    """Length of a bar in percent of the longest.

    Examples
    --------
    >>> from kfrc_app.report.charts import bar
    >>> bar(1.0, 4.0), bar(9.0, 4.0)
    ('25.00', '100.00')
    """
    return f"{100.0 * min(max(value / largest, 0.0), 1.0):.2f}"


def sparkline(values: Sequence[float]) -> str:
    """Points of a polyline in a box of 100 × 24, rising with the values; empty if there is nothing to connect."""
    if len(values) < 2:
        return ""
    low, high = min(values), max(values)
    span = (high - low) or 1.0
    step = 100.0 / (len(values) - 1)
    return " ".join(f"{k * step:.1f},{22.0 - 20.0 * (value - low) / span:.1f}" for k, value in enumerate(values))


def path_chart(path: FuzzifierPath, low: float, bounded: bool) -> dict[str, Any]:
    """Uniformity against m: the curve in a box of 100 × 100, ticks and marks in percent of the width.

    Parameters
    ----------
    path : FuzzifierPath
    low : float
        Lower end of the range of m.
    bounded : bool
        Whether m has an upper end; if not, the axis is logarithmic in m − low.

    Returns
    -------
    dict
        ``curve``, ``area`` (points of a polyline and polygon), ``x`` (of every step), ``ticks``, ``marks``, ``merged``
        (from where on fewer clusters are apart, or None).
    """
    first, last = float(path.m[0]), float(path.m[-1])

    def place(m: float) -> float:
        if bounded:
            return 100.0 * (m - first) / (last - first)
        return 100.0 * math.log((m - low) / (first - low)) / math.log((last - low) / (first - low))

    x = [place(m) for m in path.m.tolist()]
    curve = " ".join(f"{at:.2f},{100.0 * (1.0 - u):.2f}" for at, u in zip(x, path.uniformity.tolist(), strict=True))
    return {
        "curve": curve,
        "area": f"0,100 {curve} 100,100",
        "x": [round(at, 2) for at in x],
        "ticks": _ticks(place, low, first, last, bounded),
        "marks": _marks(path, place, first, last),
        "merged": _first_change(x, path),
    }


def _ticks(place: Any, low: float, first: float, last: float, bounded: bool) -> list[dict[str, Any]]:
    if bounded:
        values = [low + k * (last - low) / 5 for k in range(1, 6)]
    else:
        values = [low + candidate - 1.0 for candidate in _TICKS]
    ticks: list[dict[str, Any]] = []
    for m in values:
        if first <= m <= last and (not ticks or place(m) - ticks[-1]["at"] >= _MIN_TICK_GAP):
            ticks.append({"at": round(place(m), 2), "text": number(m)})
    return ticks


def _marks(path: FuzzifierPath, place: Any, first: float, last: float) -> list[dict[str, Any]]:
    fitted = float(path.m[path.fitted])
    marks = [("fit", fitted, f"this fit, m = {number(fitted)}")]
    if path.merge is not None and path.merge.pair is not None:
        a, b = (letters(label) for label in path.merge.pair)
        text = f"merge bound, m = {number(path.merge.m, 3)}: by themselves, clusters {a} and {b} merge here"
        marks.append(("merge", path.merge.m, text))
    text = f"critical m* = {number(path.critical_m, 3)}: from here on a fit may collapse"
    marks.append(("collapse", path.critical_m, text))
    return [
        {"kind": kind, "text": text, "at": round(place(m), 2) if m >= first else 0.0}
        for kind, m, text in marks
        if m <= last
    ]


def _first_change(x: Sequence[float], path: FuzzifierPath) -> float | None:
    """Where clusters that were apart at a smaller m have merged."""
    apart = [n >= path.n_apart for n in path.n_distinct.tolist()]
    last = len(apart) - 1 - apart[::-1].index(True)
    return round(x[last + 1], 2) if last + 1 < len(x) else None


def reliability_chart(reliability: Reliability) -> dict[str, Any]:
    """Probability and observed share against the largest membership, in a box of 100 × 100.

    Parameters
    ----------
    reliability : Reliability
        With bins.

    Returns
    -------
    dict
        ``diagonal`` (points of a polyline), ``series`` (``kind``, ``line``, ``dots`` with their ``size`` in pixels),
        ``ticks``.
    """
    low = reliability.low

    def place(u: float) -> float:
        return 100.0 * (u - low) / (1.0 - low)

    series = []
    # The labels lie underneath, in larger signs: where both agree, both are seen.
    for kind, extra in (("label_share", 4.0), ("probability", 0.0)):
        dots = _dots(reliability.bins, kind, extra, place)
        if dots:
            series.append({"kind": kind, "line": " ".join(f"{dot['x']},{dot['y']}" for dot in dots), "dots": dots})
    values = [low] + [tenth / 10 for tenth in range(1, 11) if place(tenth / 10) >= _MIN_TICK_GAP]
    ticks: list[dict[str, Any]] = []
    for value in values:
        if not ticks or place(value) - ticks[-1]["at"] >= _MIN_TICK_GAP:
            ticks.append({"at": round(place(value), 2), "text": number(value, 2)})
    return {"diagonal": f"0,{100.0 * (1.0 - low):.2f} 100,0", "series": series, "ticks": ticks}


def _dots(bins: Sequence[ReliabilityBin], kind: str, extra: float, place: Any) -> list[dict[str, float]]:
    """A dot for every bin in which the value is known."""
    most = max(found.n_rows for found in bins)
    dots = []
    for found in bins:
        value = getattr(found, kind)
        if value is not None:
            size = _SMALLEST_DOT + (_LARGEST_DOT - _SMALLEST_DOT) * math.sqrt(found.n_rows / most)
            x, y = place(found.membership), 100.0 * (1.0 - value)
            dots.append({"x": round(x, 2), "y": round(y, 2), "size": round(extra + size, 1)})
    return dots
