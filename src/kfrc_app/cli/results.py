"""The files that a fit leaves: memberships, model, summary and report."""

from __future__ import annotations

import io
from typing import Any

import pandas as pd

from kfrc_app.cli.console import dump_json
from kfrc_app.facts import Facts, summary_document
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


def result_files(facts: Facts, report: str | None) -> dict[str, str | bytes]:
    """Content of every output file by name."""
    files: dict[str, str | bytes] = {
        MEMBERSHIPS: to_csv(membership_table(facts.ids, facts.model.memberships_)),
        MODEL: dump_model(facts.model),
        SUMMARY: dump_json(summary_document(facts)),
    }
    if report is not None:
        files[REPORT] = report
    return files
