"""From which numbers on the application says which words: one place for the terminal, the report and summary.json."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Grade:
    """A word and the least value that deserves it.

    Attributes
    ----------
    least : float
    word : str
    """

    least: float
    word: str


MEMBERSHIP = (Grade(0.9, "clear"), Grade(0.6, "likely"), Grade(0.0, "unsure"))
"""What the largest membership of a row makes of it."""

CLEAR, UNSURE = MEMBERSHIP[0].least, MEMBERSHIP[1].least
"""Largest memberships from which a row is called clear, and below which it is called unsure."""

SUPPORT = (
    Grade(0.95, "sure"),
    Grade(0.7, "fairly sure"),
    Grade(0.5, "not sure, close to a coin toss"),
    Grade(0.0, "not sure, no better than a coin toss"),
)
"""What the judge is, by the share of resamples of the rows in which it stays with its partition."""

DOUBTFUL = SUPPORT[1].least
"""Support below which a reader is warned."""

NOTABLE_DIFFERENCE = 0.5
"""Robust standard deviations from the overall median from which a cluster is called high or low in a column."""

ALIKE = 1.05
"""Ratio of importance up to which columns are said to count alike."""

CLOSE_MARGIN = 0.01
"""Lead in score up to which the next candidate is said to be nearly as good."""

SAME_FUZZINESS = 0.02
"""Mean difference up to which memberships are called as fuzzy as the probabilities."""

FEW_ROWS = 10
"""Rows below which the means of a group are mostly chance."""


def grade(value: float, grades: tuple[Grade, ...]) -> str:
    """The word that a value deserves; grades go from the best down.

    Examples
    --------
    >>> from kfrc_app.facts.verdicts import MEMBERSHIP, SUPPORT, grade
    >>> grade(0.92, MEMBERSHIP), grade(0.92, SUPPORT), grade(0.7, SUPPORT)
    ('clear', 'fairly sure', 'fairly sure')
    """
    return next((found.word for found in grades if value >= found.least), grades[-1].word)


def fuzziness(membership: float, probability: float) -> str:
    """Whether memberships are fuzzier or crisper than probabilities, by their means."""
    gap = membership - probability
    if abs(gap) <= SAME_FUZZINESS:
        return "about as fuzzy as"
    return "fuzzier than" if gap < 0 else "crisper than"


def side(difference: float) -> str:
    """Whether a cluster is "high" or "low" in a column, or neither ("")."""
    if abs(difference) < NOTABLE_DIFFERENCE:
        return ""
    return "high" if difference > 0 else "low"
