"""The page: facts laid out by a template that computes nothing, with styles, scripts and data inside one file."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
from importlib import resources
from typing import Any

from kfrc_app.facts import Facts
from kfrc_app.facts.text import DASH, clean, count, number, percent, words
from kfrc_app.report.charts import bar
from kfrc_app.report.context import context
from kfrc_app.report.pictures import picture_data

_SCRIPTS = ("sphere.js", "report.js")
_STYLES = ("style.css", "print.css")
_SATURATION = 3.0
"""Robust standard deviations at which the cells of the profiles have their full color."""


def render_html(facts: Facts) -> str:
    """A complete, self-contained page.

    Parameters
    ----------
    facts : Facts
        From :func:`kfrc_app.facts.summarize`, of any method; sections that have no meaning for it are left out.

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

    # Ends of lines after tags stay: without them the last word of a sentence would touch the first of the next.
    environment = Environment(
        loader=PackageLoader("kfrc_app.report"),
        autoescape=True,
        undefined=StrictUndefined,
        lstrip_blocks=True,
    )
    filters = {"number": number, "words": words, "clean": clean, "breakable": _breakable, "known": _known}
    environment.filters.update(filters, percent=_percent, about=percent, share=_share, tint=_tint)
    environment.tests.update(infinite=math.isinf)
    environment.globals.update(count=count, bar=bar)
    script = "\n".join(_read(name) for name in _SCRIPTS)
    pictures = picture_data(facts)
    page = environment.get_template("report.html.j2").render(
        **context(facts),
        path=pictures["path"],
        style=Markup("\n".join(_read(name) for name in _STYLES)),  # noqa: S704  # a file of ours
        script=Markup(script),  # noqa: S704  # files of ours
        script_hash=_hash(script),
        island=Markup(embed_json(pictures)),  # noqa: S704  # nothing in it can end the element
    )
    return page.rstrip()


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


def _breakable(text: str) -> Any:
    """Escaped text in which a line may break after the signs that join words in names."""
    from markupsafe import Markup, escape

    breakable = re.sub(r"(?<=[a-zA-Z0-9])([_./-]+)(?=[a-zA-Z0-9])", r"\1<wbr>", str(escape(text)))
    return Markup(breakable)  # noqa: S704  # escaped before the marks are put in


def _percent(share: float, digits: int = 0) -> str:
    return f"{100 * share:.{digits}f} %"


def _share(value: float | None) -> str:
    return DASH if value is None else f"{value:.2f}"


def _known(value: float) -> float:
    return value if math.isfinite(value) else 0.0


def _tint(difference: float | None) -> str:
    """Style of a profile cell: how strongly it is colored, and toward which side."""
    if difference is None or not math.isfinite(difference):
        return ""
    strength = min(abs(difference) / _SATURATION, 1.0)
    return f"--tint:var(--{'high' if difference > 0 else 'low'});--strength:{100 * strength:.0f}%"
