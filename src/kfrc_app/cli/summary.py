"""What a fit found, as plain data: the content of summary.json and of the tables in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kfrc import FRC, KFRC, __version__
from kfrc.clusterers import FuzzyClusterer
from kfrc.metrics import adjusted_mutual_info_score, adjusted_rand_score, partition_coefficient

_N_CANDIDATES = 10
"""Candidates of an automatic choice that are listed, best first."""


def summarize_fit(
    model: KFRC | FRC,
    *,
    stability: dict[str, Any],
    source: str,
    command: str,
    seed: int,
    notes: Sequence[str],
    labels: Any = None,
) -> dict[str, Any]:
    """Collect the facts of a fitted model.

    Parameters
    ----------
    model : KFRC or FRC
    stability : dict
        ``leading_eigenvalue``, ``threshold``, ``critical_m`` and ``stable``.
    source, command : str
    seed : int
    notes : sequence of str
    labels : array of shape (n_samples,), optional
        Known groups; empty strings are unknown.

    Returns
    -------
    dict
        Ready for JSON once infinite numbers are replaced.
    """
    U = model.memberships_
    fuzzifier = model.fuzzifier_
    facts: dict[str, Any] = {
        "version": __version__,
        "command": command,
        "source": source,
        "n_rows": len(U),
        "n_columns": int(model.n_features_in_),
        "n_clusters": U.shape[1],
        "method": type(model).__name__,
        "fuzzifier": fuzzifier.name,
        "m": float(fuzzifier.m),
        "seed": seed,
        "status": model.status_,
        "n_iter": int(model.n_iter_),
        "objective": float(model.objective_),
        "uniformity": float(model.uniformity_),
        "partition_coefficient": partition_coefficient(U),
        "stability": stability,
        "clusters": _clusters(model),
        "sureness": _sureness(U.max(axis=1)),
        "columns": None,
        "choice": None,
        "effective_n_columns": None,
        "agreement": _agreement(labels, U),
        "notes": list(notes),
    }
    if isinstance(model, KFRC):
        facts |= _bandwidth_facts(model)
    return facts


def stability_facts(model: FuzzyClusterer, leading_eigenvalue: float) -> dict[str, Any]:
    """λ₁ against τ, and m*, for the fuzzifier of a fitted model.

    Parameters
    ----------
    model : FuzzyClusterer
    leading_eigenvalue : float

    Returns
    -------
    dict
    """
    n_clusters = model.memberships_.shape[1]
    critical_m = model.fuzzifier_.critical_m(n_clusters, leading_eigenvalue)
    return {
        "leading_eigenvalue": leading_eigenvalue,
        "threshold": model.fuzzifier_.threshold(n_clusters),
        "critical_m": critical_m,
        "stable": bool(np.isinf(critical_m)),
    }


def _choice_facts(model: KFRC) -> dict[str, Any] | None:
    """What was compared to choose the settings, or None if they were all given."""
    if model.selection_ is None or model.opinion_ is None:
        return None
    count = model.cluster_count_
    return {
        "n_candidates": len(model.selection_["score"]),
        "score": float(model.selection_["score"][0]),
        "margin": model.selection_margin_,
        "support": model.selection_support_,
        "judged_as": model.opinion_.name,
        "n_clusters": None
        if count is None
        else [
            {"n_clusters": int(c), "evidence": float(evidence), "wins": float(wins)}
            for c, evidence, wins in zip(count["n_clusters"], count["evidence"], count["wins"], strict=True)
        ],
        "candidates": [
            {name: _plain(values[k]) for name, values in model.selection_.items()}
            for k in range(min(_N_CANDIDATES, len(model.selection_["score"])))
        ],
    }


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _bandwidth_facts(model: KFRC) -> dict[str, Any]:
    # Of a table, not of a Gram matrix: the bandwidths are there.
    assert model.bandwidths_ is not None
    assert model.log_bandwidths_ is not None
    assert model.importance_weights_ is not None
    assert model.kernel_ is not None
    assert model.max_anisotropy_ is not None
    weights = model.importance_weights_
    order = np.argsort(-weights.round(3), kind="stable").tolist()
    deviations = np.exp(model.log_bandwidths_)
    return {
        "kernel": model.kernel_.name,
        "criterion": model.criterion_.name,
        "max_anisotropy": float(model.max_anisotropy_),
        "level": model.search_.level if model.search_ is not None else None,
        "choice": _choice_facts(model),
        "linear_limit": bool(model.linear_limit_),
        "approximation": model.approximation_,
        "columns": [
            {
                "name": str(model.feature_names_in_[j]),
                "bandwidth": float(model.bandwidths_[j]),
                "in_deviations": float(deviations[j]),
                "importance": float(weights[j]),
            }
            for j in order
        ],
        "effective_n_columns": model.effective_n_features_,
    }


def _clusters(model: FuzzyClusterer) -> list[dict[str, Any]]:
    surest = model.memberships_.max(axis=1)
    found = []
    for i in range(model.memberships_.shape[1]):
        rows = model.labels_ == i
        mean = float(surest[rows].mean()) if rows.any() else None
        found.append({"label": i, "n_rows": int(rows.sum()), "mean_membership": mean})
    return found


def _sureness(surest: Any) -> dict[str, Any]:
    from kfrc_app.report.summary import CLEAR, UNSURE

    clear, unsure = int((surest >= CLEAR).sum()), int((surest < UNSURE).sum())
    return {
        "clear_from": CLEAR,
        "unsure_below": UNSURE,
        "clear": clear,
        "likely": len(surest) - clear - unsure,
        "unsure": unsure,
    }


def _agreement(labels: Any, U: Any) -> dict[str, float] | None:
    if labels is None:
        return None
    known = np.asarray(labels) != ""
    if not known.any():
        return None
    return {
        "adjusted_rand": adjusted_rand_score(labels[known], U[known]),
        "adjusted_mutual_info": adjusted_mutual_info_score(labels[known], U[known]),
    }
