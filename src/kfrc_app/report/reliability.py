"""Memberships against probabilities: how often a row with a largest membership of u is right, bin by bin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kfrc import KFRC
from kfrc.typing import FloatArray, IntArray
from kfrc_app.report.text import clean, reliability_sentences

N_BINS = 10

FEW_ROWS = 10
"""Rows below which the means of a bin are mostly chance."""


def reliability_facts(model: KFRC, labels: Sequence[Any] | None = None) -> dict[str, Any] | None:
    """Largest memberships in bins from 1/c to 1, with what the judge and, if known, the labels say of these rows.

    Parameters
    ----------
    model : KFRC
        Fitted.
    labels : sequence, optional
        Known classes. A row counts as right if it has the most frequent class of its cluster.

    Returns
    -------
    dict or None
        None if the model has no probabilities. There are no bins if there is nothing to compare with: the memberships
        are the probabilities and no labels are known.
    """
    probabilities = model.posterior_memberships_
    if probabilities is None or model.memberships_.shape[1] < 2:
        return None
    U, is_posterior = model.memberships_, model.memberships == "posterior"
    clusters = U.argmax(axis=1)
    rows = np.arange(len(U))
    surest, believed = U[rows, clusters], probabilities[rows, clusters]
    right = None if labels is None else has_majority_label(clusters, labels)
    facts: dict[str, Any] = {
        "is_posterior": is_posterior,
        "low": 1.0 / U.shape[1],
        "mean_membership": float(surest.mean()),
        "mean_probability": None if is_posterior else float(believed.mean()),
        "label_share": None if right is None else float(right.mean()),
        "few": FEW_ROWS,
        "bins": []
        if is_posterior and right is None
        else _bins(surest, None if is_posterior else believed, right, U.shape[1]),
    }
    return facts | {"sentences": reliability_sentences(facts)}


def has_majority_label(clusters: IntArray, labels: Sequence[Any]) -> IntArray:
    """One for rows whose label is the most frequent in their cluster, zero for the others.

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc_app.report.reliability import has_majority_label
    >>> has_majority_label(np.array([0, 0, 0, 1]), ["a", "a", "b", "b"])
    array([1, 1, 0, 1])
    """
    classes, codes = np.unique([clean(label) for label in labels], return_inverse=True)
    table = np.zeros((clusters.max() + 1, len(classes)), dtype=np.intp)
    np.add.at(table, (clusters, codes), 1)
    return (codes == table.argmax(axis=1)[clusters]).astype(np.intp)


def _bins(
    surest: FloatArray, believed: FloatArray | None, right: IntArray | None, n_clusters: int
) -> list[dict[str, Any]]:
    """Bins that hold rows, from unsure to sure."""
    edges = np.linspace(1.0 / n_clusters, 1.0, N_BINS + 1)
    index = np.clip(np.searchsorted(edges, surest, side="right") - 1, 0, N_BINS - 1)
    return [
        {
            "low": float(edges[k]),
            "high": float(edges[k + 1]),
            "n_rows": int((index == k).sum()),
            "membership": float(surest[index == k].mean()),
            "probability": None if believed is None else float(believed[index == k].mean()),
            "label_share": None if right is None else float(right[index == k].mean()),
        }
        for k in np.unique(index).tolist()
    ]
