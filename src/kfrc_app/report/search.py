"""How the bandwidths were found: the starts of the search and their courses."""

from __future__ import annotations

from typing import Any

import numpy as np

from kfrc import KFRC
from kfrc.typing import FloatArray
from kfrc_app.report.text import finite

_N_TRACE = 40
"""Points of a course that are drawn."""


def search_facts(model: KFRC) -> dict[str, Any] | None:
    """Every start of the search, or the one course down the levels of an automatic choice; None without a search."""
    search = model.search_
    if search is None:
        return None
    refined = len(search.candidates) > model.n_starts
    starts = []
    for k, candidate in enumerate(search.candidates):
        last = refined and k == len(search.candidates) - 1
        path = candidate.stage1_path.values if candidate.stage2_path is None else candidate.stage2_path.values
        starts.append(
            {
                "name": "all rows" if last else f"start {k + 1}",
                "stage1_eigenvalue": float(candidate.stage1_eigenvalue),
                "feasible": candidate.feasible,
                "criterion_value": finite(candidate.criterion_value),
                "iterations": int(candidate.stage1_iterations + candidate.stage2_iterations),
                "evaluations": int(candidate.n_evaluations),
                "trace": _thinned(path),
                "won": k == search.best,
            }
        )
    return {
        "starts": starts,
        "threshold": float(search.threshold),
        "n_evaluations": int(search.n_evaluations),
        "refined": refined,
        "followed": _followed_levels(model),
        "level": float(search.level),
        "active_level_bound": search.active_level_bound,
    }


def _followed_levels(model: KFRC) -> bool:
    """Whether the bandwidths were followed down the levels of an automatic choice, not searched at this level alone."""
    search = model.search_
    if search is None or model.selection_ is None or model.level is None:
        return False
    return len(search.candidates) == 1 and search.candidates[0].stage1_iterations == 0


def _thinned(values: FloatArray) -> list[float]:
    values = np.asarray(values)[np.isfinite(values)]
    if len(values) > _N_TRACE:
        values = values[np.linspace(0, len(values) - 1, _N_TRACE).round().astype(int)]
    return [float(value) for value in values]
