"""How the settings were chosen: the candidates, what the judge believes, and the evidence for numbers of clusters."""

from __future__ import annotations

from typing import Any

import numpy as np

from kfrc import KFRC
from kfrc_app.report.text import choice_sentences, clean, count_sentences, finite

N_CANDIDATES = 8

_SETTINGS = ("level", "max_anisotropy", "m", "fuzzifier", "kernel", "criterion")
_NUMBERS = ("score", "wins", "max_anisotropy", "level", "m", "lambda1", "critical_m")
_NAMES = ("kernel", "criterion", "fuzzifier")


def selection_facts(model: KFRC) -> dict[str, Any] | None:
    """The best candidates of an automatic choice and how sure the judge was; None if nothing was chosen.

    Parameters
    ----------
    model : KFRC
        Fitted.

    Returns
    -------
    dict or None
        Plain data; infinite values are None.
    """
    table, opinion = model.selection_, model.opinion_
    if table is None or opinion is None or model.selection_support_ is None or model.selection_margin_ is None:
        return None
    n_candidates = len(table["score"])
    facts: dict[str, Any] = {
        "chosen": [name for name in _SETTINGS if _is_auto(getattr(model, name))],
        "judge": clean(opinion.name),
        "is_mixture": opinion.model is not None,
        "n_rows": len(opinion.posterior),
        "n_candidates": n_candidates,
        "margin": finite(model.selection_margin_),
        "support": finite(model.selection_support_),
        "below_critical": bool(np.all(table["m"] < table["critical_m"])),
        "varying": [name for name in ("kernel", "criterion") if len(np.unique(table[name])) > 1],
        "candidates": [
            {name: finite(table[name][k]) for name in _NUMBERS} | {name: clean(table[name][k]) for name in _NAMES}
            for k in range(min(n_candidates, N_CANDIDATES))
        ],
    }
    return facts | choice_sentences(facts)


def count_facts(model: KFRC) -> dict[str, Any] | None:
    """Evidence for each number of clusters, as differences from the largest; None if the number was given."""
    table = model.cluster_count_
    if table is None:
        return None
    evidence = np.asarray(table["evidence"], dtype=np.float64)
    facts: dict[str, Any] = {
        "numbers": [
            {
                "n_clusters": int(table["n_clusters"][k]),
                "evidence": finite(evidence[k] - evidence.max()),
                "wins": finite(table["wins"][k]),
                "chosen": int(table["n_clusters"][k]) == model.n_clusters_,
            }
            for k in range(len(evidence))
        ],
        "chosen": int(model.n_clusters_),
        "most_evidence": int(table["n_clusters"][evidence.argmax()]),
    }
    return facts | {"sentences": count_sentences(facts)}


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == "auto"
