"""The page: facts laid out by a template that computes nothing, with styles, scripts and data inside one file."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
from importlib import resources
from typing import Any

from kfrc_app.report.charts import bar, path_chart, reliability_chart, sparkline
from kfrc_app.report.text import count, number

_SCRIPTS = ("sphere.js", "report.js")
_SATURATION = 3.0
"""Robust standard deviations at which the cells of the profiles have their full color."""

_FUZZIFIER_WORDS = {"complementary_root": "complementary root"}


def render_html(facts: dict[str, Any]) -> str:
    """A complete, self-contained page.

    Parameters
    ----------
    facts : dict
        From :func:`kfrc_app.report.summarize`.

    Returns
    -------
    str
        HTML that needs no network, no server and no other file.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kfrc import KFRC
    >>> from kfrc_app.report import render_html, summarize
    >>> iris = load_iris(as_frame=True).data
    >>> page = render_html(summarize(KFRC(3, level=1.0, random_state=0).fit(iris.to_numpy()), iris))
    >>> page.startswith("<!DOCTYPE html>"), len(page) < 1_000_000
    (True, True)
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader("kfrc_app.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(number=number, words=_words, percent=_percent, tint=_tint, breakable=_breakable)
    environment.globals.update(count=count, bar=bar)
    script = "\n".join(_read(name) for name in _SCRIPTS)
    return environment.get_template("report.html.j2").render(
        **facts,
        title=_title(facts),
        path_chart=None if facts["path"] is None else path_chart(facts["path"]),
        reliability_chart=_reliability_chart(facts["reliability"]),
        traces=[sparkline(start["trace"]) for start in facts["search"]["starts"]] if facts["search"] else [],
        scale=_bar_scales(facts),
        style=Markup(_read("style.css")),
        script=Markup(script),
        script_hash=_hash(script),
        island=Markup(embed_json(_island(facts))),
    )


def embed_json(value: Any) -> str:
    r"""JSON that can stand inside a script element: nothing in it can end the element or open a comment.

    Examples
    --------
    >>> from kfrc_app.report.html import embed_json
    >>> print(embed_json({"name": "</script><!--"}))
    {"name":"\u003c/script\u003e\u003c!--"}
    """
    text = json.dumps(value, allow_nan=False, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _island(facts: dict[str, Any]) -> dict[str, Any]:
    """The part of the facts that the scripts draw from."""
    clusters = [{key: cluster[key] for key in ("name", "color")} for cluster in facts["clusters"]]
    return {"clusters": clusters, "points": facts["points"], "path": facts["path"]}


def _read(name: str) -> str:
    return (resources.files("kfrc_app.report") / "templates" / name).read_text(encoding="utf-8")


def _hash(script: str) -> str:
    """Digest by which the content policy of the page admits this script and no other."""
    return "sha256-" + base64.b64encode(hashlib.sha256(f"\n{script}\n".encode()).digest()).decode()


def _title(facts: dict[str, Any]) -> str:
    clusters = count(facts["shape"]["n_clusters"], "fuzzy cluster")
    return f"{clusters} in {facts['source']}" if facts["source"] else clusters


def _bar_scales(facts: dict[str, Any]) -> dict[str, float]:
    """What the longest bar of each chart stands for."""
    spectrum = facts["spectrum"]
    largest = max(*spectrum["eigenvalues"], spectrum["threshold"], 1e-12)
    weights = [column["weight"] for column in facts["importance"]["columns"]] if facts["importance"] else [1.0]
    numbers = facts["cluster_count"]["numbers"] if facts["cluster_count"] else []
    least = min((row["evidence"] for row in numbers if row["evidence"] is not None), default=0.0)
    return {"spectrum": 1.05 * largest, "importance": 1.02 * max(weights), "evidence": max(-least, 1e-12)}


def _reliability_chart(reliability: dict[str, Any] | None) -> dict[str, Any] | None:
    return reliability_chart(reliability) if reliability is not None and reliability["bins"] else None


def _words(name: str) -> str:
    return _FUZZIFIER_WORDS.get(name, name.replace("_", " "))


def _breakable(text: str) -> Any:
    """Escaped text in which a line may break after the signs that join words in names."""
    from markupsafe import Markup, escape

    return Markup(re.sub(r"(?<=[a-zA-Z0-9])([_./-]+)(?=[a-zA-Z0-9])", r"\1<wbr>", str(escape(text))))


def _percent(share: float, digits: int = 0) -> str:
    return f"{100 * share:.{digits}f} %"


def _tint(difference: float | None) -> str:
    """Style of a profile cell: how strongly it is colored, and toward which side."""
    if difference is None or not math.isfinite(difference):
        return ""
    strength = min(abs(difference) / _SATURATION, 1.0)
    return f"--tint:var(--{'high' if difference > 0 else 'low'});--strength:{100 * strength:.0f}%"
