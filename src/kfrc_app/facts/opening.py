"""The first things that are said of a fit, by the page and by the terminal, in words that need no statistics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kfrc_app.facts.choice import Choice
from kfrc_app.facts.clusters import LargestMemberships
from kfrc_app.facts.confidence import COLLAPSED, DISSOLVED, DOUBTFUL, NO_GROUPS, STABLE, UNTESTED, Trust
from kfrc_app.facts.importance import Importance
from kfrc_app.facts.text import count, isolate, listing
from kfrc_app.facts.verdicts import HIGH, LOW

PLAIN, CAREFUL, BAD = "plain", "limited", "bad"

_TONES = {STABLE: PLAIN, DOUBTFUL: CAREFUL, UNTESTED: CAREFUL, DISSOLVED: BAD, NO_GROUPS: BAD, COLLAPSED: BAD}
"""How loud the top is, by the verdict."""

_CUT_ALL_THE_SAME = "To cut the data all the same, ask for a number of groups."
"""What to do where no groups were found."""

_NAMED = 3
"""Columns that are named in the first sentences."""


@dataclass(frozen=True)
class Opening:
    """The top of the report and of the terminal.

    Attributes
    ----------
    title : str
        What was found; groups are claimed only where repetitions and the test of existence support it.
    verdict : str
        That of :class:`kfrc_app.facts.confidence.Trust`.
    tone : {"plain", "limited", "bad"}
    evidence : tuple of str
        Whether the groups exist, as far as that is known.
    points : tuple of str
        In what they differ, how strongly rows belong to them, and what speaks against them.
    """

    title: str
    verdict: str
    tone: str
    evidence: tuple[str, ...]
    points: tuple[str, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """All but the title."""
        return (*self.evidence, *self.points)


def opening(
    trust: Trust,
    source: str,
    n_rows: int,
    largest: LargestMemberships,
    shares: Importance | None,
    choice: Choice | None,
) -> Opening:
    """The first sentences.

    Parameters
    ----------
    trust : Trust
    source : str
        Name of the file, or empty.
    n_rows : int
    largest : LargestMemberships
    shares : Importance or None
        Of the columns; None if there are none.
    choice : Choice or None
        How the settings were chosen.
    """
    points: tuple[str, ...] = ()
    if not trust.collapsed and trust.n_clusters > 1:
        points = (_columns(shares, trust.noun), _degrees(n_rows, largest, trust.noun), _tie(choice))
    elif trust.n_clusters == 1:
        points = (_CUT_ALL_THE_SAME,)
    return Opening(
        title=trust.title(source),
        verdict=trust.verdict,
        tone=_TONES[trust.verdict],
        evidence=trust.plain_sentences,
        points=tuple(point for point in points if point),
    )


def _columns(shares: Importance | None, noun: str) -> str:
    if shares is None or len(shares.used) < 2:
        return ""
    if shares.alike:
        return f"All columns tell the {noun}s apart alike."
    # To name all of them would tell nothing.
    names = _quoted([column.name for column in shares.used[: min(_NAMED, len(shares.used) - 1)]])
    return f"The {noun}s differ most in {names}."


def _quoted(names: Sequence[str]) -> str:
    return listing([f"“{isolate(name)}”" for name in names])


def _degrees(n_rows: int, largest: LargestMemberships, noun: str) -> str:
    """How strongly rows belong to one group; it is a matter of the settings, so that nothing follows from it."""
    how_many = {0: "None of", n_rows: "All"}.get(largest.n_high, f"{largest.n_high:,} of")
    belong = f"belongs to its {noun}" if largest.n_high <= 1 else f"belong to their {noun}s"
    high = f"{how_many} {count(n_rows, 'row')} {belong} by {100 * HIGH:.0f} % or more"
    lie = "lies" if largest.n_low == 1 else "lie"
    low = f"{largest.n_low:,} {lie} between {noun}s (less than {100 * LOW:.0f} % in any)"
    return f"{high}; {low if largest.n_low else f'none lies between {noun}s'}."


def _tie(choice: Choice | None) -> str:
    if choice is None or not choice.n_ties:
        return ""
    others = "another way" if choice.n_ties == 1 else f"{choice.n_ties} other ways"
    verb = "describes" if choice.n_ties == 1 else "describe"
    return f"It was a tie: {others} to group the rows {verb} the data just as well."
