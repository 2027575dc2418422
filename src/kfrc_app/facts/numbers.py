"""What to make of a table of indices for several numbers of clusters, in plain words."""

from __future__ import annotations

from kfrc.index_table import INDICES, Indices
from kfrc_app.facts.text import count, listing
from kfrc_app.facts.verdicts import FOUND_AGAIN

_FUZZINESS = ("PC", "PE")
"""Indices that prefer few clusters by themselves: what they say is not held against another number."""


def number_sentence(found: Indices) -> str:
    """Which number to take and why, in one sentence, and a second one if more should be tried.

    Parameters
    ----------
    found : Indices

    Examples
    --------
    >>> from kfrc.index_table import Indices
    >>> from kfrc_app.facts.numbers import number_sentence
    >>> columns = {"evidence": [1.0, 5.0, 4.0], "stability": [0.5, 0.9, 0.6], "XB": [0.4, 0.2, 0.3]}
    >>> table = Indices([2, 3, 4], columns, automatic=3)
    >>> number_sentence(table)
    'Take 3 clusters: the evidence speaks for them, and parts of the rows give the same clusters (agreement 0.90).'
    """
    taken = found.automatic
    if taken == 1:
        chance = "" if found.existence is None else f" (p = {found.existence:.2g})"
        return (
            f"Do not cut this table: nothing speaks for more than one group{chance}, and the best "
            "of these numbers is the best of a bad lot."
        )
    if taken is None:
        return _without_evidence(found)
    most = found.best["evidence"]
    reason = (
        "the evidence speaks for them"
        if most == taken
        else f"{count(most or 0, 'cluster')} have hardly more evidence, or would cut what hangs together"
    )
    # Evidence that still rises at the end of the range says nothing of what lies beyond.
    at_end = len(found.n_clusters) > 1 and most == int(max(found.n_clusters))
    further = (
        f" The evidence is largest at {most}, the end of what was tried: try larger numbers, too." if at_end else ""
    )
    return f"Take {count(taken, 'cluster')}: {reason}{_again(found, taken)}.{further}"


def _again(found: Indices, taken: int) -> str:
    """Whether parts of the rows give the same clusters."""
    agreement = dict(zip(found.n_clusters.tolist(), found["stability"].tolist(), strict=True)).get(taken, float("nan"))
    if agreement != agreement:
        return ""
    if agreement >= FOUND_AGAIN:
        return f", and parts of the rows give the same clusters (agreement {agreement:.2f})"
    return f", but parts of the rows give other clusters (agreement {agreement:.2f}), so do not rely on every border"


def _without_evidence(found: Indices) -> str:
    votes: dict[int, list[str]] = {}
    for index in INDICES:
        number = found.best[index.name]
        if number is not None and index.name not in _FUZZINESS:
            votes.setdefault(number, []).append(index.name)
    if not votes:
        return "None of these numbers of clusters could be judged."
    told = "; ".join(f"{listing(names)} for {number}" for number, names in sorted(votes.items()))
    return f"There is no evidence to choose by; the indices speak {told}."
