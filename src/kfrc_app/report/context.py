"""What the template of the page is given: facts under short names, sentences, and the lengths of bars."""

from __future__ import annotations

import math
import platform
from typing import Any

import numpy as np

import kfrc
from kfrc_app.facts import Facts
from kfrc_app.facts.agreement import has_majority_label
from kfrc_app.facts.fitted import blank_is_level
from kfrc_app.facts.glossary import GLOSSARY, is_plain
from kfrc_app.facts.groups import Group
from kfrc_app.facts.palette import cluster_colors, ink_on
from kfrc_app.facts.portraits import N_BESIDE
from kfrc_app.facts.text import clean, listing, number, percent, plain, shortened
from kfrc_app.facts.typical import level_name, lift_text
from kfrc_app.facts.verdicts import FEW_ROWS, FOUND_AGAIN, HIGH, LOW, STANDS_OUT
from kfrc_app.report.charts import path_chart, reliability_chart, sparkline
from kfrc_app.report.drawings import map_drawing, spread_drawings
from kfrc_app.report.sentences import (
    choice_introduction,
    collapse_outlook,
    count_sentences,
    margin_sentence,
    reliability_sentences,
)
from kfrc_app.tables import Kind

CLUSTERS_BESIDE = 10
"""Clusters whose shares are listed beside those of the columns, at most."""

KIND_WORDS = {Kind.NUMERIC: "number", Kind.ORDINAL: "ordered values", Kind.NOMINAL: "words", Kind.DATE: "date"}
"""What a type of column is called."""

MANY = 5
"""Clusters beyond which tables leave less room for bars."""

LISTED_COLUMNS = 20
"""Columns whose shares are listed, the most important ones."""

PROFILED_COLUMNS = 30
"""Columns whose typical values are listed, the most important ones."""

BANDWIDTH_COLUMNS = 100
"""Columns whose bandwidths are listed in the appendix, the most important ones."""

_SHOWN_NOTES = 6
"""Notes on the first page; the others are in the appendix."""

_SHOWN_LEVELS = 12
"""Levels of a column that are listed."""

_SHOWN_LEVEL_COLUMNS = 20
_NUMBERED_GROUPS = 4
"""Groups whose numbers are all told; with more, the first and the last will do."""


def context(facts: Facts) -> dict[str, Any]:
    """Everything that the template shows."""
    return {**_first_page(facts), **_sections(facts), **_appendix(facts), **_charts(facts)}


def _first_page(facts: Facts) -> dict[str, Any]:
    told = facts.n_clusters > 1 and not facts.fit.collapsed
    notes = [_sentence(clean(note, 1000)) for note in (*facts.notes, *facts.remarks)]
    simple = [note for note in notes if is_plain(note)][:_SHOWN_NOTES]
    question = "Is there more than one group?" if facts.n_clusters == 1 else f"Do these {facts.trust.noun}s exist?"
    return {
        "opening": facts.opening,
        "question": question,
        "trust": facts.trust,
        "noun": facts.trust.noun,
        "told": told,
        "pairwise": facts.pairwise,
        "n_rows": facts.n_rows,
        "n_columns": facts.n_columns,
        "n_clusters": facts.n_clusters,
        "n_shown": len(facts.shown),
        "source": clean(facts.source_name, 300) if facts.source else "",
        "table": facts.table,
        "groups": _groups(facts),
        "typical_means": _typical_means(facts),
        "numbers_of_groups": _numbers_of_groups(facts.groups),
        "map": map_drawing(facts) if told else None,
        "notes": notes,
        "plain_notes": simple,
        "n_other_notes": len(notes) - len(simple),
    }


def _sentence(note: str) -> str:
    """A note with a full stop at its end."""
    return note if note.endswith((".", "!", "?", "…")) else f"{note}."


def _groups(facts: Facts) -> list[dict[str, Any]]:
    """The groups with their colors, and what is typical of them in the columns beside their rows."""
    typical = {column.name: column for column in facts.typical}
    beside = facts.main_columns[:N_BESIDE]
    kinds = {} if facts.table is None else {column.name: column.kind for column in facts.table.columns}
    found = []
    for group, color in zip(facts.groups, cluster_colors(facts.n_clusters), strict=True):
        middle = [
            {"here": typical[name].clusters[group.label].text, "overall": typical[name].overall}
            for name in group.columns_beside
            if name in typical
        ]
        found.append(
            {
                **{name: getattr(group, name) for name in Group.__dataclass_fields__},
                "percent": group.percent,
                "color": color,
                "ink": ink_on(color),
                "num": [" num" if kinds[name] is not Kind.NOMINAL else "" for name in group.columns_beside],
                "heads": [" date" if kinds[name] is Kind.DATE else "" for name in group.columns_beside],
                "middle": middle if len(middle) == len(group.columns_beside) else [],
                "beside": [typical[name].clusters[group.label].text if name in typical else "" for name in beside],
            }
        )
    return found


def _typical_means(facts: Facts) -> str:
    """What the typical values of a group are, as far as it has to be said."""
    if facts.table is None:
        return ""
    kinds = {column.name: column.kind for column in facts.table.columns}
    nominal = [kinds[name] is Kind.NOMINAL for group in facts.groups for name in group.columns_beside]
    told = []
    if not all(nominal):
        told.append("the middle value (half of the rows have less, half have more)")
    if any(nominal):
        told.append("the most frequent word with its share")
    return f"Typical is {' or '.join(told)}." if told else ""


def _numbers_of_groups(groups: tuple[Group, ...]) -> str:
    """Which number stands for which letter: the files have numbers, the page has letters."""
    if len(groups) <= _NUMBERED_GROUPS:
        return listing([f"{group.letter} is {group.label}" for group in groups])
    return f"{groups[0].letter} is {groups[0].label}, and so on to {groups[-1].letter}, which is {groups[-1].label}"


def _sections(facts: Facts) -> dict[str, Any]:
    """What follows the first page, up to the appendix."""
    shares, crossed = facts.importance, facts.crossings
    columns = () if shares is None else shares.used[:LISTED_COLUMNS]
    own = () if shares is None else shares.by_cluster[: len(columns)]
    rest = () if shares is None else shares.used[LISTED_COLUMNS:]
    used = set() if shares is None else {column.name for column in shares.used}
    label_share = None
    if facts.label_crossing is not None and facts.labels is not None:
        label_share = float(np.nanmean(has_majority_label(facts.model.labels_, facts.labels)))
    return {
        "shares": shares,
        "columns": columns,
        "own_shares": own,
        "n_more_columns": len(rest),
        "more_share": sum(column.contribution for column in rest),
        "left_out": _left_out(facts),
        "many": facts.n_clusters > MANY,
        "by_cluster": 1 < facts.n_clusters <= CLUSTERS_BESIDE,
        "each_its_own": 2 < facts.n_clusters <= CLUSTERS_BESIDE,  # two groups have the same shares
        "stands_out": STANDS_OUT,
        "spreads": spread_drawings(facts),
        "profiles": [column for column in facts.typical if column.name in used][:PROFILED_COLUMNS],
        "levels": _levels(facts, used),
        "n_level_columns": sum(found.column.name in used for found in facts.levels),
        "kind_words": KIND_WORDS,
        "blank_is_level": blank_is_level(facts.model),
        "mixed": facts.table is not None and not facts.table.is_plain,
        "missing": {} if facts.table is None else {column.name: column.missing for column in facts.table.incomplete},
        "borderline": facts.borderline,
        "n_between": facts.n_rows - facts.largest_memberships.n_high,
        "between_groups": {label for row in facts.borderline for label in (row.first, row.second)},
        "beside": facts.main_columns[:N_BESIDE],
        "label_crossing": facts.label_crossing,
        "label_share": label_share,
        "crossings": crossed,
        "numbers_aside": [] if crossed is None else [found for found in crossed.columns if not found.levels],
        "passed_over": "" if crossed is None else shortened(crossed.passed_over),
        "agreement": facts.agreement,
        "sections": _contents(facts),
    }


def _contents(facts: Facts) -> list[tuple[str, str]]:
    """Places of the page and what they are called."""
    told = facts.n_clusters > 1 and not facts.fit.collapsed
    places = [
        ("groups", f"{facts.trust.noun.capitalize()}s", told),
        ("importance", "Columns", told and facts.importance is not None),
        ("distributions", "Spread", told and bool(facts.distributions)),
        ("profiles", "Values", told and bool(facts.typical)),
        ("ambiguous", "Between", bool(facts.borderline)),
        ("comparison", "Labels", told and facts.label_crossing is not None),
        ("aside", "Left out", told and facts.crossings is not None and bool(facts.crossings.columns)),
        ("appendix-start", "Appendix", True),
        ("glossary", "Glossary", True),
    ]
    return [(place, name) for place, name, there in places if there]


def _left_out(facts: Facts) -> str:
    if facts.importance is None or not facts.importance.left_out:
        return ""
    names = [column.name for column in facts.importance.left_out]
    verb = "it does" if len(names) == 1 else "they do"
    return f"Not used, because {verb} not vary or tell nothing apart: {shortened(names)}."


def _levels(facts: Facts, used: set[str]) -> list[dict[str, Any]]:
    """Columns of levels that are used, each with its levels and their shares in the clusters."""
    found = []
    for shares in [shares for shares in facts.levels if shares.column.name in used][:_SHOWN_LEVEL_COLUMNS]:
        lift, excess, order = shares.lift, plain(shares.excess), shares.order
        rows = [
            {
                "name": level_name(shares, level),
                "overall": percent(shares.overall[level]),
                "clusters": [
                    {
                        "share": percent(shares.shares[i, level]),
                        "lift": lift_text(lift[i, level]),
                        "difference": excess[i][level],
                    }
                    for i in range(facts.n_clusters)
                ],
            }
            for level in order[:_SHOWN_LEVELS]
        ]
        found.append({"name": shares.column.name, "levels": rows, "n_more": len(order) - len(rows)})
    return found


def _appendix(facts: Facts) -> dict[str, Any]:
    names = ("fit", "largest_memberships", "stability", "fuzzifiers", "importance", "explained")
    choice, numbers, reliability, path = facts.choice, facts.cluster_count, facts.reliability, facts.path
    from_typed = bool(facts.command)
    return {name: getattr(facts, name) for name in names} | {
        "given": facts.held,
        "choice": choice,
        "cluster_count": numbers,
        "search": facts.search,
        "reliability": reliability,
        "collapse": None if facts.stability is None else collapse_outlook(facts),
        "introduction": "" if choice is None else choice_introduction(choice),
        "margin": "" if choice is None else margin_sentence(choice),
        "count_sentences": [] if numbers is None else count_sentences(numbers),
        "reliability_sentences": [] if reliability is None else reliability_sentences(reliability, from_typed),
        "memberships_depend": ""
        if facts.n_clusters == 1 or facts.fit.collapsed or facts.fit.is_posterior
        else f"How large memberships are depends on m, here {number(facts.fit.m, 3)}.",
        "sphere": facts.sphere is not None,
        "eigenvalues": [] if facts.eigenvalues is None else facts.eigenvalues.tolist(),
        "bandwidth_columns": () if facts.importance is None else facts.importance.columns[:BANDWIDTH_COLUMNS],
        "unstable_rows": [
            {"id": facts.ids[row.position], "cluster": int(facts.model.labels_[row.position]), "stays": row.stays}
            for row in facts.trust.unstable_rows
        ],
        "n_path_rows": 0 if path is None else len(path.rows),
        "merge_m": math.inf if path is None or path.merge is None else path.merge.m,
        "again": FOUND_AGAIN,
        "few_rows": FEW_ROWS,
        "high": HIGH,
        "low": LOW,
        "glossary": GLOSSARY,
        "reproduce": {
            "command": clean(facts.command, 4000) if facts.command else "",
            "model": clean(" ".join(repr(facts.model).split()), 2000),
            "versions": _versions(),
        },
    }


def _charts(facts: Facts) -> dict[str, Any]:
    """The charts of the appendix, and what the longest bar of each table stands for."""
    interval = facts.model.fuzzifier_.m_range
    bounded = math.isfinite(interval.high)
    drawn = facts.reliability is not None and facts.reliability.bins
    shares = [1.0] if facts.importance is None else [column.contribution for column in facts.importance.columns]
    own = [1.0] if facts.importance is None else [part for parts in facts.importance.by_cluster for part in parts]
    behind = [] if facts.cluster_count is None else [found.behind for found in facts.cluster_count.numbers]
    threshold = 0.0 if facts.stability is None else facts.stability.threshold
    threshold = threshold if math.isfinite(threshold) else 0.0  # every rule with a temperature collapses at some
    largest = max(*([] if facts.eigenvalues is None else facts.eigenvalues.tolist()), threshold, 1e-12, 0.0)
    return {
        "path_chart": None if facts.path is None else path_chart(facts.path, float(interval.low), bounded),
        "reliability_chart": reliability_chart(facts.reliability) if facts.reliability is not None and drawn else None,
        "traces": [] if facts.search is None else [sparkline(start.trace) for start in facts.search.starts],
        "scale": {
            "eigenvalues": 1.05 * largest,
            "importance": 1.02 * max(*shares, 1e-12),
            "own": max(*own, 1e-12),
            "evidence": max(*(-value for value in behind if math.isfinite(value)), 1e-12, 0.0),
        },
    }


def _versions() -> dict[str, str]:
    import pandas as pd
    import scipy
    import sklearn

    return {
        "kfrc": kfrc.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "pandas": pd.__version__,
    }
