"""What the scripts of the page draw from: rows on the sphere, their memberships, and the path over m, as short JSON."""

from __future__ import annotations

from typing import Any

import numpy as np

from kfrc.typing import FloatArray
from kfrc_app.facts import Facts
from kfrc_app.facts.agreement import is_known
from kfrc_app.facts.geometry import sample_rows
from kfrc_app.facts.palette import cluster_colors
from kfrc_app.facts.text import clean, plain

MAX_PICTURE_ROWS = 400
"""Rows drawn by the fuzzifier slider: more than a screen has room for."""


def picture_data(facts: Facts) -> dict[str, Any]:
    """Everything that is drawn, ready for JSON.

    Parameters
    ----------
    facts : Facts

    Returns
    -------
    dict
        ``clusters`` (``letter``, ``name``, ``color``), ``points`` and ``path`` (or None); memberships in thousandths.
    """
    colors = cluster_colors(facts.n_clusters)
    return {
        "clusters": [
            {"letter": group.letter, "name": group.name, "color": color}
            for group, color in zip(facts.groups, colors, strict=True)
        ],
        "points": _points(facts),
        "path": _path(facts),
    }


def _points(facts: Facts) -> dict[str, Any]:
    rows, clusters = facts.shown, facts.model.labels_[facts.shown]
    U = facts.model.memberships_[rows]
    known = None if facts.labels is None else is_known(facts.labels)
    return {
        "ids": [clean(facts.ids[j]) for j in rows.tolist()],
        "labels": None
        if facts.labels is None or known is None
        else [clean(facts.labels[j]) if known[j] else None for j in rows.tolist()],
        "xyz": None if facts.sphere is None else facts.sphere.round(3).tolist(),
        "memberships": _thousandths(U),
        "order": np.lexsort((-U.max(axis=1), clusters)).tolist(),
        "counts": np.bincount(clusters, minlength=facts.n_clusters).tolist(),
    }


def _path(facts: Facts) -> dict[str, Any] | None:
    path = facts.path
    if path is None:
        return None
    clusters = facts.model.labels_[path.rows]
    drawn = sample_rows(clusters, MAX_PICTURE_ROWS)
    largest = facts.model.memberships_[path.rows[drawn]].max(axis=1)
    drawn = drawn[np.lexsort((-largest, clusters[drawn]))]
    high_shares = path.high_shares
    return {
        "fitted": path.fitted,
        "n_apart": path.n_apart,
        "critical_m": plain(path.critical_m),
        # The rows of the path are rows of the pictures, which are ascending.
        "points": np.searchsorted(facts.shown, path.rows[drawn]).tolist(),
        "steps": [
            {
                "m": float(path.m[k]),
                "uniformity": float(path.uniformity[k]),
                "n_distinct": int(path.n_distinct[k]),
                "high_share": float(high_shares[k]),
                "memberships": _thousandths(path.memberships[k][drawn]),
            }
            for k in range(len(path.m))
        ],
    }


def _thousandths(U: FloatArray) -> list[Any]:
    return np.rint(1000.0 * U).astype(int).tolist()
