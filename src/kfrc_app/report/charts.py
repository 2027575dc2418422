"""Small charts as data for the template: positions in percent, so that they fit any width."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from kfrc_app.report.text import number

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


def path_chart(path: dict[str, Any]) -> dict[str, Any]:
    """Uniformity against m: the curve in a box of 100 × 100, ticks and marks in percent of the width.

    Parameters
    ----------
    path : dict
        The ``path`` facts of a report.

    Returns
    -------
    dict
        ``curve``, ``area`` (points of a polyline and polygon), ``x`` (of every step), ``ticks``, ``marks``, ``merged``
        (from where on fewer clusters are apart, or None).
    """
    steps = path["steps"]
    low = path["low"]
    bounded = path["high"] is not None
    first, last = steps[0]["m"], steps[-1]["m"]

    def place(m: float) -> float:
        if bounded:
            return 100.0 * (m - first) / (last - first)
        return 100.0 * math.log((m - low) / (first - low)) / math.log((last - low) / (first - low))

    x = [place(step["m"]) for step in steps]
    curve = " ".join(f"{at:.2f},{100.0 * (1.0 - step['uniformity']):.2f}" for at, step in zip(x, steps, strict=True))
    return {
        "curve": curve,
        "area": f"0,100 {curve} 100,100",
        "x": [round(at, 2) for at in x],
        "ticks": _ticks(place, low, first, last, bounded),
        "marks": _marks(path, place, first, last),
        "merged": _first_change(x, steps, path["n_apart"]),
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


def _marks(path: dict[str, Any], place: Any, first: float, last: float) -> list[dict[str, Any]]:
    fitted = path["steps"][path["fitted"]]["m"]
    marks = [{"kind": "fit", "m": fitted, "text": f"this fit, m = {number(fitted)}"}]
    if path["merge_m"] is not None:
        a, b = path["merge_pair"]
        text = f"merge bound, m = {number(path['merge_m'], 3)}: by themselves, clusters {a} and {b} merge here"
        marks.append({"kind": "merge", "m": path["merge_m"], "text": text})
    if path["critical_m"] is not None:
        text = f"critical m* = {number(path['critical_m'], 3)}: from here on a fit may collapse"
        marks.append({"kind": "collapse", "m": path["critical_m"], "text": text})
    return [
        {"kind": mark["kind"], "text": mark["text"], "at": round(place(mark["m"]), 2) if mark["m"] >= first else 0.0}
        for mark in marks
        if mark["m"] <= last
    ]


def _first_change(x: Sequence[float], steps: Sequence[dict[str, Any]], n_apart: int) -> float | None:
    """Where clusters that were apart at a smaller m have merged."""
    apart = [step["n_distinct"] >= n_apart for step in steps]
    last = len(apart) - 1 - apart[::-1].index(True)
    return round(x[last + 1], 2) if last + 1 < len(steps) else None


def reliability_chart(reliability: dict[str, Any]) -> dict[str, Any]:
    """Probability and observed share against the largest membership, in a box of 100 × 100.

    Parameters
    ----------
    reliability : dict
        The ``reliability`` facts of a report.

    Returns
    -------
    dict
        ``diagonal`` (points of a polyline), ``series`` (``kind``, ``line``, ``dots`` with their ``size`` in pixels),
        ``ticks``.
    """
    low, bins = reliability["low"], reliability["bins"]
    most = max(row["n_rows"] for row in bins)

    def place(u: float) -> float:
        return 100.0 * (u - low) / (1.0 - low)

    series = []
    # The labels lie underneath, in larger signs: where both agree, both are seen.
    for kind, extra in (("label_share", 4.0), ("probability", 0.0)):
        if bins[0][kind] is None:
            continue
        dots = [
            {
                "x": round(place(row["membership"]), 2),
                "y": round(100.0 * (1.0 - row[kind]), 2),
                "size": round(
                    extra + _SMALLEST_DOT + (_LARGEST_DOT - _SMALLEST_DOT) * math.sqrt(row["n_rows"] / most), 1
                ),
            }
            for row in bins
        ]
        series.append({"kind": kind, "line": " ".join(f"{dot['x']},{dot['y']}" for dot in dots), "dots": dots})
    values = [low] + [tenth / 10 for tenth in range(1, 11) if place(tenth / 10) >= _MIN_TICK_GAP]
    ticks: list[dict[str, Any]] = []
    for value in values:
        if not ticks or place(value) - ticks[-1]["at"] >= _MIN_TICK_GAP:
            ticks.append({"at": round(place(value), 2), "text": number(value, 2)})
    return {"diagonal": f"0,{100.0 * (1.0 - low):.2f} 100,0", "series": series, "ticks": ticks}
