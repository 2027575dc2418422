"""Words of the report: names made safe to show, numbers as people write them, sentences from facts."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from typing import Any

import numpy as np

_MAX_NAME = 120
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_TURNING = {"R", "AL", "AN", "RLE", "RLO", "RLI", "LRE", "LRO", "LRI", "FSI", "PDF", "PDI"}
_ALIKE = 1.05
"""Ratio of importance up to which columns are said to count alike."""

NOTABLE_DIFFERENCE = 0.5
"""Robust standard deviations from the overall median before a sentence calls a cluster high or low."""


def clean(value: object, max_length: int = _MAX_NAME) -> str:
    """Any value as text that every encoder takes: no control characters, no lone surrogates, not too long.

    Examples
    --------
    >>> from kfrc_app.report.text import clean
    >>> clean("a" + chr(0) + "b"), clean("x" * 500, max_length=5)
    ('a\ufffdb', 'xxxx…')
    """
    text = str(value)
    if len(text) > max_length:
        text = text[: max_length - 1] + "…"
    text = "".join(_REPLACEMENT if unicodedata.category(letter) in ("Cc", "Cs") else letter for letter in text)
    return text if text.strip() else "(blank)"


def isolate(name: str) -> str:
    """A name for the middle of a sentence: one with right-to-left letters or controls does not turn its neighbors."""
    turning = any(unicodedata.bidirectional(letter) in _TURNING for letter in name)
    return f"\N{FIRST STRONG ISOLATE}{name}\N{POP DIRECTIONAL ISOLATE}" if turning else name


def number(value: float | None, digits: int = 4) -> str:
    """A number with a few significant digits, without exponents where they can be avoided.

    Examples
    --------
    >>> from kfrc_app.report.text import number
    >>> number(0.40123), number(12345.6), number(3.0), number(None)
    ('0.4012', '12,346', '3', '–')
    """
    if value is None or not math.isfinite(value):
        return "–"
    if 10**digits <= abs(value) < 1e9:
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"


def count(n: int, noun: str) -> str:
    """A count with its noun in the right number: "1 row", "12 rows"."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def listing(words: Sequence[str]) -> str:
    """Words joined as in a sentence."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def finite(value: Any) -> float | None:
    """A float for JSON: None where it is infinite or undefined."""
    result = float(value)
    return result if math.isfinite(result) else None


def headline(facts: dict[str, Any]) -> dict[str, Any]:
    """One sentence that says what was found and whether it can be trusted, and a few that explain it."""
    shape, spectrum, importance = facts["shape"], facts["spectrum"], facts["importance"]
    collapsed = facts["sureness"]["status"] == "collapsed" and shape["n_clusters"] > 1
    parts = [
        f"no clusters: all memberships are 1/{shape['n_clusters']}"
        if collapsed
        else count(shape["n_clusters"], "cluster")
    ]
    if importance is not None and not collapsed:
        carrying = max(1, round(importance["effective"]))
        columns = count(shape["n_columns"], "column")
        parts.append(f"{carrying} of {columns} {'carries' if carrying == 1 else 'carry'} the structure")
    verdict, safety = _safety(facts)
    parts.append(safety)
    return {
        "sentence": "; ".join(parts),
        "verdict": verdict,
        "points": [sentence for sentence in (_sureness(facts), _columns(importance), _stability(spectrum)) if sentence],
    }


def _safety(facts: dict[str, Any]) -> tuple[str, str]:
    spectrum, m = facts["spectrum"], facts["model"]["m"]
    critical = spectrum["critical_m"]
    if facts["shape"]["n_clusters"] == 1:
        return "trivial", "every row belongs to it"
    if facts["sureness"]["status"] == "collapsed":
        return "collapsed", "the fit collapsed"
    if spectrum["stable"] or critical is None:
        return "safe", "safe at any fuzzifier"
    if m < critical:
        return "limited", f"safe up to a fuzzifier of {number(critical, 3)}"
    return "limited", f"not safe: the fuzzifier {number(m)} is above the critical {number(critical, 3)}"


def _sureness(facts: dict[str, Any]) -> str:
    sure, n_rows = facts["sureness"], facts["shape"]["n_rows"]
    if facts["shape"]["n_clusters"] == 1 or sure["status"] == "collapsed":
        return ""
    text = f"{sure['n_clear']:,} of {count(n_rows, 'row')} belong clearly to one cluster (membership of 0.9 or more)"
    unsure = sure["n_unsure"]
    return f"{text}; {unsure:,} {'is' if unsure == 1 else 'are'} unsure (no membership reaches 0.6)."


def _columns(importance: dict[str, Any] | None) -> str:
    if importance is None:
        return ""
    weights = [column["weight"] for column in importance["columns"] if column["weight"] > 0]
    if len(weights) > 1 and max(weights) <= _ALIKE * min(weights):
        return "All columns count alike."
    leading = [f"“{isolate(column['name'])}”" for column in importance["columns"][:3]]
    n_all, effective = importance["n_columns"], number(importance["effective"], 3)
    if n_all == 1:
        return ""
    return (
        f"The columns that count most are {listing(leading)}. All weights together amount to "
        f"{effective} equally important columns out of {n_all}."
    )


def _stability(spectrum: dict[str, Any]) -> str:
    if not spectrum["eigenvalues"] or spectrum["threshold"] <= 0:
        return ""
    leading, threshold = f"λ₁ = {spectrum['eigenvalues'][0]:.3f}", f"τ = {spectrum['threshold']:.3f}"
    if spectrum["stable"]:
        return (
            f"The leading eigenvalue {leading} reaches the threshold {threshold}: "
            "no fuzzifier value makes all memberships equal."
        )
    return (
        f"The leading eigenvalue {leading} stays below the threshold {threshold}: from a fuzzifier of "
        f"m* = {number(spectrum['critical_m'], 3)} on, all memberships may become equal."
    )


def describe_cluster(names: Sequence[str], differences: Any, limit: int = 3) -> str:
    """In what a cluster stands out: "high alcohol, low hue"."""
    order = np.argsort(-np.abs(np.asarray(differences)), kind="stable")[:limit].tolist()
    words = [
        f"{'high' if differences[j] > 0 else 'low'} {isolate(names[j])}"
        for j in order
        if abs(differences[j]) >= NOTABLE_DIFFERENCE
    ]
    return ", ".join(words) if words else "close to the overall medians"
