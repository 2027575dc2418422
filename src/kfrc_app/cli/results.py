"""The files that a fit leaves: memberships, model, summary and report."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import pandas as pd

from kfrc_app.cli.console import dump_json
from kfrc_app.models import dump_model

MEMBERSHIPS, MODEL, SUMMARY, REPORT = "memberships.csv", "model.skops", "summary.json", "report.html"
ALL_FILES = (MEMBERSHIPS, MODEL, SUMMARY, REPORT)


def membership_table(ids: Any, U: Any) -> pd.DataFrame:
    """One line per row: its name, the cluster of largest membership, all memberships.

    Parameters
    ----------
    ids : array-like of shape (n_samples,)
    U : ndarray of shape (n_samples, n_clusters)

    Returns
    -------
    DataFrame
        Columns ``id``, ``label``, ``cluster_0``, ``cluster_1``, …
    """
    frame = pd.DataFrame(U, columns=[f"cluster_{i}" for i in range(U.shape[1])])
    frame.insert(0, "label", U.argmax(axis=1))
    frame.insert(0, "id", list(ids))
    return frame


def to_csv(frame: pd.DataFrame) -> str:
    """A table as CSV, with ten digits: read back, rows still sum to one."""
    buffer = io.StringIO()
    frame.to_csv(buffer, index=False, float_format="%.10g", lineterminator="\n")
    return buffer.getvalue()


def result_files(model: Any, ids: Any, summary: dict[str, Any], report: str | None) -> dict[str, str | bytes]:
    """Content of every output file by name."""
    files: dict[str, str | bytes] = {
        MEMBERSHIPS: to_csv(membership_table(ids, model.memberships_)),
        MODEL: dump_model(model),
        SUMMARY: dump_json(summary),
    }
    if report is not None:
        files[REPORT] = report
    return files


def render_report(
    model: Any, data: pd.DataFrame, *, ids: Any, labels: Any, notes: Sequence[str], command: str, source: str
) -> str:
    """The report of a fit as an HTML page."""
    from kfrc_app.report import render_html, summarize

    facts = summarize(
        model,
        data,
        ids=[str(name) for name in ids],
        labels=None if labels is None else list(labels),
        notes=list(notes),
        command=command,
        source=source,
    )
    return render_html(facts)
