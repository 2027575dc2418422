"""The page: facts laid out by a template that computes nothing, with styles, scripts and data inside one file."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import platform
import re
from importlib import resources
from typing import Any

import numpy as np

import kfrc
from kfrc_app.facts import Facts
from kfrc_app.facts.fitted import blank_is_level
from kfrc_app.facts.palette import cluster_colors
from kfrc_app.facts.text import DASH, clean, count, number, percent, plain, words
from kfrc_app.facts.typical import level_name, lift_text
from kfrc_app.facts.verdicts import FEW_ROWS, FOUND_AGAIN, HIGH, LOW, STANDS_OUT
from kfrc_app.report.charts import bar, path_chart, reliability_chart, sparkline
from kfrc_app.report.pictures import picture_data
from kfrc_app.report.sentences import (
    choice_introduction,
    collapse_outlook,
    count_sentences,
    headline,
    margin_sentence,
    reliability_sentences,
)

CLUSTERS_BESIDE = 8
"""Clusters whose shares are listed beside those of the columns, at most."""

REPORTED_COLUMNS = 100
"""Columns that are listed, the most important ones."""

_SHOWN_LABELS = 30
_SHOWN_LEVELS = 12
"""Levels of a column that are listed."""

_SHOWN_LEVEL_COLUMNS = 30
_SCRIPTS = ("sphere.js", "report.js")
_SATURATION = 3.0
"""Robust standard deviations at which the cells of the profiles have their full color."""


def render_html(facts: Facts) -> str:
    """A complete, self-contained page.

    Parameters
    ----------
    facts : Facts
        From :func:`kfrc_app.facts.summarize`, of a :class:`kfrc.KFRC`.

    Returns
    -------
    str
        HTML that needs no network, no server and no other file.

    Raises
    ------
    ValueError
        If the model is of another method: what the report explains is not there.

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

    if not isinstance(facts.model, kfrc.KFRC):
        raise ValueError(f"a report shows a KFRC, this is a {facts.fit.method}: use the facts themselves")
    environment = Environment(
        loader=PackageLoader("kfrc_app.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters = {"number": number, "words": words, "clean": clean, "breakable": _breakable}
    environment.filters.update(filters, percent=_percent, about=percent, share=_share, tint=_tint)
    environment.tests.update(infinite=math.isinf)
    environment.globals.update(count=count, bar=bar)
    script = "\n".join(_read(name) for name in _SCRIPTS)
    pictures = picture_data(facts)
    return environment.get_template("report.html.j2").render(
        **_sections(facts),
        **_told(facts),
        **_charts(facts),
        path=pictures["path"],
        style=Markup(_read("style.css")),
        script=Markup(script),
        script_hash=_hash(script),
        island=Markup(embed_json(pictures)),
    )


def _sections(facts: Facts) -> dict[str, Any]:
    """The facts under the names of the template."""
    names = (
        *("n_rows", "n_columns", "n_clusters", "fit", "largest_memberships", "stability", "fuzzifiers", "importance"),
        *("trust", "table", "explained", "choice", "cluster_count", "search", "reliability", "agreement"),
    )
    path = facts.path
    return {name: getattr(facts, name) for name in names} | {
        "source": clean(facts.source, 300) if facts.source else "",
        "notes": [clean(note, 1000) for note in (*facts.notes, *facts.remarks)],
        "n_shown": len(facts.shown),
        "eigenvalues": [] if facts.eigenvalues is None else facts.eigenvalues.tolist(),
        "columns": () if facts.importance is None else facts.importance.columns[:REPORTED_COLUMNS],
        "by_cluster": not facts.fit.collapsed and 1 < facts.n_clusters <= CLUSTERS_BESIDE,
        "stands_out": STANDS_OUT,
        "clusters": _clusters(facts),
        "ambiguous": [
            {"id": facts.ids[row.position], "largest": row.largest, "memberships": row.memberships}
            for row in facts.ambiguous
        ],
        "unstable_rows": [
            {"id": facts.ids[row.position], "cluster": int(facts.model.labels_[row.position]), "stays": row.stays}
            for row in facts.trust.unstable_rows
        ],
        "profiles": facts.typical,
        "levels": _levels(facts),
        "blank_is_level": blank_is_level(facts.model),
        "n_level_columns": len(facts.levels),
        "mixed": facts.table is not None and not facts.table.is_plain,
        "missing": {} if facts.table is None else {column.name: column.missing for column in facts.table.incomplete},
        "n_path_rows": 0 if path is None else len(path.rows),
        "merge_m": math.inf if path is None or path.merge is None else path.merge.m,
        "classes": () if facts.agreement is None else facts.agreement.classes[:_SHOWN_LABELS],
        "again": FOUND_AGAIN,
        "few_rows": FEW_ROWS,
        "high": HIGH,
        "low": LOW,
        "reproduce": {
            "command": clean(facts.command, 4000) if facts.command else "",
            "model": clean(" ".join(repr(facts.model).split()), 2000),
            "versions": _versions(),
        },
    }


def _told(facts: Facts) -> dict[str, Any]:
    """The sentences of the page."""
    choice, numbers, reliability = facts.choice, facts.cluster_count, facts.reliability
    top = headline(facts)
    return {
        "title": top.sentence,
        "headline": top,
        "collapse": collapse_outlook(facts),
        "introduction": "" if choice is None else choice_introduction(choice),
        "margin": "" if choice is None else margin_sentence(choice),
        "count_sentences": [] if numbers is None else count_sentences(numbers),
        "reliability_sentences": [] if reliability is None else reliability_sentences(reliability),
    }


def _charts(facts: Facts) -> dict[str, Any]:
    """The charts of the page, and what the longest bar of each table stands for."""
    interval = facts.model.fuzzifier_.m_range
    bounded = math.isfinite(interval.high)
    drawn = facts.reliability is not None and facts.reliability.bins
    shares = [1.0] if facts.importance is None else [column.contribution for column in facts.importance.columns]
    behind = [] if facts.cluster_count is None else [found.behind for found in facts.cluster_count.numbers]
    threshold = 0.0 if facts.stability is None else facts.stability.threshold
    threshold = threshold if math.isfinite(threshold) else 0.0  # every rule with a temperature collapses at some
    largest = max(*([] if facts.eigenvalues is None else facts.eigenvalues.tolist()), threshold, 1e-12)
    return {
        "path_chart": None if facts.path is None else path_chart(facts.path, float(interval.low), bounded),
        "reliability_chart": reliability_chart(facts.reliability) if facts.reliability is not None and drawn else None,
        "traces": [] if facts.search is None else [sparkline(start.trace) for start in facts.search.starts],
        "scale": {
            "eigenvalues": 1.05 * largest,
            "importance": 1.02 * max(shares),
            "evidence": max(*(-value for value in behind if math.isfinite(value)), 1e-12, 0.0),
        },
    }


def _clusters(facts: Facts) -> list[dict[str, Any]]:
    """The clusters with their colors, and in what they stand out."""
    described = facts.n_clusters > 1
    return [
        {
            "name": cluster.name,
            "color": color,
            "n_rows": cluster.n_rows,
            "weight": cluster.weight,
            "mean_membership": cluster.mean_membership,
            "description": facts.description(cluster.label) if described and facts.importance is not None else "",
        }
        for cluster, color in zip(facts.clusters, cluster_colors(facts.n_clusters), strict=True)
    ]


def _levels(facts: Facts) -> list[dict[str, Any]]:
    """Columns of levels, each with its levels and their shares in the clusters."""
    found = []
    for shares in facts.levels[:_SHOWN_LEVEL_COLUMNS]:
        lift, excess, order = shares.lift, plain(shares.excess), shares.order
        rows = [
            {
                "name": level_name(shares, level),
                "overall": percent(shares.overall[level]),
                "clusters": [
                    {
                        "share": percent(shares.shares[i, level]),
                        "lift": lift_text(lift[i, level]),
                        "difference": excess[i][level],
                    }
                    for i in range(facts.n_clusters)
                ],
            }
            for level in order[:_SHOWN_LEVELS]
        ]
        found.append({"name": shares.column.name, "levels": rows, "n_more": len(order) - len(rows)})
    return found


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


def _read(name: str) -> str:
    return (resources.files("kfrc_app.report") / "templates" / name).read_text(encoding="utf-8")


def _hash(script: str) -> str:
    """Digest by which the content policy of the page admits this script and no other."""
    return "sha256-" + base64.b64encode(hashlib.sha256(f"\n{script}\n".encode()).digest()).decode()


def _versions() -> dict[str, str]:
    import pandas as pd
    import scipy
    import sklearn

    return {
        "kfrc": kfrc.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "pandas": pd.__version__,
    }


def _breakable(text: str) -> Any:
    """Escaped text in which a line may break after the signs that join words in names."""
    from markupsafe import Markup, escape

    return Markup(re.sub(r"(?<=[a-zA-Z0-9])([_./-]+)(?=[a-zA-Z0-9])", r"\1<wbr>", str(escape(text))))


def _percent(share: float, digits: int = 0) -> str:
    return f"{100 * share:.{digits}f} %"


def _share(value: float | None) -> str:
    return DASH if value is None else f"{value:.2f}"


def _tint(difference: float | None) -> str:
    """Style of a profile cell: how strongly it is colored, and toward which side."""
    if difference is None or not math.isfinite(difference):
        return ""
    strength = min(abs(difference) / _SATURATION, 1.0)
    return f"--tint:var(--{'high' if difference > 0 else 'low'});--strength:{100 * strength:.0f}%"
