"""The report of a fitted model, as ``model.report(X, path)`` asks for it: written to a file, or shown in a notebook."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from kfrc import KFRCError
from kfrc.clusterers import FuzzyClusterer
from kfrc.confidence import Confidence, assess
from kfrc.typing import FloatArray
from kfrc_app.facts import summarize
from kfrc_app.facts.confidence import MAX_REFIT_ROWS
from kfrc_app.report.html import render_html

FILE_NAME = "report.html"
_HEIGHT = 640
"""Pixels of a notebook that the page takes; it scrolls."""


@dataclass(frozen=True, repr=False)
class Report:
    """A page that notebooks show in a frame of its own.

    Attributes
    ----------
    html : str
        The page.
    """

    html: str

    def save(self, path: str | Path) -> Path:
        """Write the page to a file, or as ``report.html`` into a folder.

        Parameters
        ----------
        path : str or path

        Returns
        -------
        pathlib.Path
        """
        target = Path(path)
        target = target / FILE_NAME if target.is_dir() else target
        if not target.parent.is_dir():
            raise KFRCError(f"there is no folder {target.parent} to write {target.name} into: make it first")
        target.write_text(self.html, encoding="utf-8")
        return target

    def _repr_html_(self) -> str:
        """A frame that holds the page: neither sees the styles or scripts of the other."""
        return (
            f'<iframe srcdoc="{escape(self.html, quote=True)}" sandbox="allow-scripts allow-popups allow-modals" '
            f'title="Report" style="width:100%;height:{_HEIGHT}px;border:1px solid rgba(128,128,128,.45);'
            'border-radius:6px;background:#fff"></iframe>'
        )

    def __repr__(self) -> str:
        return f"<Report of {len(self.html):,} characters: notebooks show it, save(path) writes it>"


def report_on(
    model: FuzzyClusterer,
    X: Any,
    path: str | Path | None = None,
    *,
    labels: Any = None,
    ids: Any = None,
    title: str | None = None,
    sample_weight: Any = None,
    n_refits: int = 20,
    n_jobs: int | None = None,
) -> Path | Report:
    """The report of a fitted model; see ``FuzzyClusterer.report``, which calls this.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kfrc import KFRC
    >>> from kfrc_app.report import report_on
    >>> iris = load_iris(as_frame=True).data
    >>> page = report_on(KFRC(3, level=1.0, random_state=0).fit(iris), iris, title="Iris", n_refits=0)
    >>> page.html.startswith("<!DOCTYPE html>")
    True
    """
    if n_refits < 0 or int(n_refits) != n_refits:
        raise ValueError(f"n_refits must be a number of refits, 0 or more, got {n_refits!r}")
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    facts = summarize(model, X, ids=ids, labels=labels, weights=weights, source=title or "")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what refits warn of is what the page tells in its own words
        if n_refits:
            facts = replace(facts, confidence=_assessed(model, X, weights, int(n_refits), n_jobs))
        page = Report(render_html(facts))
    return page if path is None else page.save(path)


def _assessed(
    model: FuzzyClusterer, X: Any, weights: FloatArray | None, n_refits: int, n_jobs: int | None
) -> Confidence:
    seed = getattr(model, "random_state", None)
    return assess(
        model,
        X,
        n_refits=n_refits,
        random_state=seed if isinstance(seed, int) else 0,
        n_jobs=n_jobs,
        max_rows=MAX_REFIT_ROWS,
        sample_weight=weights,
    )
