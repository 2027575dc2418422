"""The facts as a JSON document: the content of summary.json and of ``kfrc fit --json``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from kfrc import __version__
from kfrc_app.facts.agreement import Agreement
from kfrc_app.facts.choice import Choice, CountChoice
from kfrc_app.facts.collection import Facts
from kfrc_app.facts.confidence import Trust
from kfrc_app.facts.groups import Group
from kfrc_app.facts.table import TableColumn, TableFacts
from kfrc_app.facts.text import plain
from kfrc_app.facts.verdicts import HIGH, LOW
from kfrc_app.tables import Kind


def summary_document(facts: Facts) -> dict[str, Any]:
    """What a fit found, as numbers, strings, lists and dicts; infinite and undefined numbers are None.

    Parameters
    ----------
    facts : Facts

    Returns
    -------
    dict

    Notes
    -----
    Two numbers say what a column is worth. ``contribution`` is its share in what the partition explains, as
    ``KFRC.contributions_``, with ``cluster_contributions`` for each cluster. ``importance`` is the paper's W_j ∝ 1/θ_j,
    as ``KFRC.importance_weights_``, and ``effective_n_columns`` its W_eff: they speak of the bandwidths alone.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kfrc import FCM
    >>> from kfrc_app.facts import summarize, summary_document
    >>> X = load_iris().data
    >>> document = summary_document(summarize(FCM(3, random_state=0).fit(X), X))
    >>> document["method"], document["n_rows"], document["columns"][2]["name"]
    ('FCM', 150, 'x0')
    """
    importance = facts.importance
    standing_out = set() if importance is None else {column.position for column in importance.standing_out}
    document = {
        "version": __version__,
        "command": facts.command,
        "source": facts.source,
        "seed": facts.seed,
        "n_rows": facts.n_rows,
        "n_left_out": facts.n_left_out,
        "n_columns": facts.n_columns,
        "table": None if facts.table is None else _table(facts.table),
        "n_clusters": facts.n_clusters,
        **asdict(facts.fit),
        "confidence": _confidence(facts.trust, facts.ids),
        "stability": None if facts.stability is None else asdict(facts.stability),
        "title": facts.opening.title,
        "clusters": [
            {**asdict(cluster), **_group(group)} for cluster, group in zip(facts.clusters, facts.groups, strict=True)
        ],
        "largest_memberships": {
            "high_from": HIGH,
            "low_below": LOW,
            "high": facts.largest_memberships.n_high,
            "middle": facts.largest_memberships.n_middle,
            "low": facts.largest_memberships.n_low,
        },
        "columns": None
        if importance is None
        else [
            {
                "name": column.name,
                "type": str(column.kind),
                "contribution": column.contribution,
                "cluster_contributions": column.by_cluster,
                "stands_out": column.position in standing_out,
                "left_out": not column.used,
                "bandwidth": column.bandwidth if column.has_unit else None,
                "in_deviations": column.in_deviations,
                "importance": column.weight,
            }
            for column in importance.columns
        ],
        "effective_n_columns": None if importance is None else importance.effective,
        # Of numbers alone they are for the eye, and take long for many rows.
        "profiles": None if facts.table is None or facts.table.is_plain else _profiles(facts),
        "choice": _choice(facts.choice, facts.cluster_count),
        "agreement": None if facts.agreement is None else _agreement(facts.agreement),
        "notes": list(facts.notes),
    }
    found: dict[str, Any] = plain(document)
    return found


def _group(group: Group) -> dict[str, Any]:
    """What a cluster is called in the report, its share of the rows, and its most typical rows."""
    return {
        "letter": group.letter,
        "name": group.name,
        "share": group.share,
        "typical_rows": [row.id for row in group.rows],
    }


def _table(table: TableFacts) -> dict[str, Any]:
    """What was clustered by: types, gaps, and how much the rows weigh."""
    return {
        "columns": [
            {
                "name": column.name,
                "type": str(column.kind),
                "levels": list(column.levels) or None,
                "n_missing": column.n_missing,
                "missing": column.missing,
            }
            for column in table.columns
        ],
        "n_incomplete_rows": table.n_incomplete,
        "n_empty_rows": table.n_empty,
        "missing": table.missing,
        "total_weight": table.total_weight,
    }


def _profiles(facts: Facts) -> list[dict[str, Any]]:
    """Typical values of the clusters: medians of what has an order, shares of levels and their lift."""
    found: dict[str, dict[str, Any]] = {}
    profiles = facts.profiles
    if profiles is not None:
        for k, column in enumerate(profiles.columns):
            found[column.name] = {
                "name": column.name,
                "type": str(column.kind),
                "median": _value(column, profiles.overall[k]),
                "cluster_medians": [_value(column, value) for value in profiles.medians[:, k]],
                "cluster_differences": profiles.differences[:, k],
            }
    for shares in facts.levels:
        column = shares.column
        found.setdefault(column.name, {"name": column.name, "type": str(column.kind)}).update(
            levels=list(column.levels), shares=shares.overall, cluster_shares=shares.shares, cluster_lift=shares.lift
        )
    return list(found.values())


def _value(column: TableColumn, value: float) -> Any:
    """A number, or the name of a level or a day."""
    return value if column.kind is Kind.NUMERIC else None if math.isnan(value) else column.show(value)


def _confidence(trust: Trust, ids: Sequence[str]) -> dict[str, Any] | None:
    """What refits found again; None if nothing was refitted."""
    if trust.n_refits == 0:
        return None
    return {
        "verdict": trust.verdict,
        "existence": trust.existence,
        "partition": trust.partition,
        "clusters": list(trust.clusters),
        "n_refits": trust.n_refits,
        "n_found_again": trust.n_found_again,
        "n_failed": trust.n_failed,
        "n_rows_of_refits": trust.n_rows,
        "n_clusters_of_refits": list(trust.n_clusters_found),
        "least_stable_rows": [{"id": ids[row.position], "stays": row.stays} for row in trust.unstable_rows],
    }


def _choice(choice: Choice | None, count: CountChoice | None) -> dict[str, Any] | None:
    """What was chosen: settings, the number of clusters, or both; what was given is None."""
    if choice is None and count is None:
        return None
    return {
        "n_candidates": None if choice is None else choice.n_candidates,
        "score": None if choice is None else choice.candidates[0]["score"],
        "margin": None if choice is None else choice.margin,
        "ties": None if choice is None else choice.n_ties,
        "judged_as": None if choice is None else choice.judge,
        "n_clusters": None if count is None else _numbers(count),
        "n_clusters_reason": None if count is None else count.reason,
        "candidates": None if choice is None else list(choice.candidates),
    }


def _numbers(count: CountChoice) -> list[dict[str, Any]]:
    names = ("n_clusters", "evidence", "tolerated", "valley")
    return [{name: getattr(found, name) for name in names} for found in count.numbers]


def _agreement(agreement: Agreement) -> dict[str, Any]:
    return {name: getattr(agreement, name) for name in ("adjusted_rand", "adjusted_mutual_info", "n_known", "n_rows")}
