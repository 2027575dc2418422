"""The files that a fit leaves: the table with what was found, memberships, model, summary and report."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from kfrc.typing import FloatArray
from kfrc_app.facts import Facts, summary_document
from kfrc_app.facts.text import dump_json
from kfrc_app.models import dump_model
from kfrc_app.neutral import RULE, neutral_csv
from kfrc_app.runs.clustered import clustered_csv, clustered_table, clustered_workbook, fits_workbook
from kfrc_app.tables import InputRows

MEMBERSHIPS, MODEL, SUMMARY, REPORT = "memberships.csv", "model.skops", "summary.json", "report.html"
WORKBOOK, CLUSTERED = "clustered.xlsx", "clustered.csv"
ALL_FILES = (MEMBERSHIPS, MODEL, SUMMARY, REPORT, WORKBOOK, CLUSTERED)


def membership_table(rows: InputRows, U: FloatArray) -> pd.DataFrame:
    """One line per row of the file: its name, the cluster of largest membership, all memberships, why it has none.

    Parameters
    ----------
    rows : InputRows
    U : ndarray of shape (n_samples, n_clusters)
        Of the rows that are used.

    Returns
    -------
    DataFrame of shape (n_input_rows, n_clusters + 3)
        Columns ``id``, ``label``, ``cluster_0``, ``cluster_1``, …, ``left_out``: why a row was left out, blank for the
        others. A row that was left out has gaps in ``label`` and the clusters; one of which nothing is known has
        equal memberships and a gap in ``label``.
    """
    used = rows.used
    memberships = np.full((len(used), U.shape[1]), np.nan)
    memberships[used] = U
    labels = pd.array([None] * len(used), dtype="Int64")
    labels[used] = U.argmax(axis=1)
    labels[~rows.placed] = pd.NA
    frame = pd.DataFrame(memberships, columns=[f"cluster_{i}" for i in range(U.shape[1])])
    frame.insert(0, "label", labels)
    frame.insert(0, "id", rows.ids)
    frame["left_out"] = rows.reasons
    return frame


def to_csv(frame: pd.DataFrame) -> str:
    """A table as CSV, with ten digits: read back, rows still sum to one. No text in it can be taken for a formula."""
    return neutral_csv(frame, float_format="%.10g")


def run_document(facts: Facts) -> dict[str, Any]:
    """What summary.json holds: what was found, and what was done to text in the CSV files beside it."""
    return {**summary_document(facts), "csv_files": RULE}


def result_files(
    facts: Facts, rows: InputRows, report: str | None, *, original: pd.DataFrame | None = None, excel: bool = True
) -> dict[str, str | bytes]:
    """Content of every output file by name.

    Parameters
    ----------
    facts : Facts
    rows : InputRows
        All rows of the file, those of the facts among them.
    report : str or None
    original : DataFrame, optional
        All rows and columns of the file; by default the names of the rows.
    excel : bool, default=True
        Whether to write a workbook, if the table fits into one.

    Returns
    -------
    dict
    """
    files: dict[str, str | bytes] = {
        MEMBERSHIPS: to_csv(membership_table(rows, facts.model.memberships_)),
        MODEL: dump_model(facts.model),
        SUMMARY: dump_json(run_document(facts)),
    }
    if report is not None:
        files[REPORT] = report
    named = pd.DataFrame({"id": pd.array(rows.ids, dtype="string[pyarrow]")}) if original is None else original
    found = clustered_table(named, rows, facts)
    if excel and fits_workbook(*found.frame.shape):
        files[WORKBOOK] = clustered_workbook(found, facts)
    files[CLUSTERED] = clustered_csv(found)
    return files
