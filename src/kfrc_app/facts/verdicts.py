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


MEMBERSHIP = (Grade(0.9, "high"), Grade(0.6, "middle"), Grade(0.0, "low"))
"""What the largest membership of a row is called. It is no measure of how well the row is placed: a small m makes all
of them high, on white noise too."""

HIGH, LOW = MEMBERSHIP[0].least, MEMBERSHIP[1].least
"""From which number on a largest membership is called high, and below which it is called low."""

AGAIN = (Grade(0.75, "stable"), Grade(0.6, "doubtful"), Grade(0.0, "dissolved"))
"""What a cluster is called by its mean Jaccard similarity with refits on other rows, the limits of Hennig (2007); and a
whole partition by its mean adjusted Rand index with them."""

STAYS = (Grade(AGAIN[0].least, "stable"), Grade(AGAIN[1].least, "doubtful"), Grade(0.0, "unstable"))
"""What the place of a single row is called by the share of refits in which it stays in its cluster."""

FOUND_AGAIN = AGAIN[0].least
"""Adjusted Rand index from which on a single refit is said to have found the partition again."""

CHANCE = 0.05
"""Largest p-value of "there is only one group" at which groups are said to exist."""

NOTABLE_DIFFERENCE = 0.5
"""Robust standard deviations from the overall median from which a cluster is called high or low in a column."""

NOTABLE_SEPARATION = 0.5
"""Somers' D from which a cluster is called high or low all the same: three of four times a row inside is above one
outside. A large cluster is close to the middle of all rows however far it is from the others, because it is most of
them. For words: how much more frequent one is inside than outside."""

ALIKE = 1.05
"""Ratio of contributions up to which columns are said to count alike."""

STANDS_OUT = 1.5
"""Times an equal share of the columns in use from which the contribution of a column is said to stand out. Columns of
noise share what is left, so that few of them get there when others carry the clusters. On white noise some columns do:
it says in which columns these clusters differ, not that the clusters exist."""

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
    >>> from kfrc_app.facts.verdicts import MEMBERSHIP, grade
    >>> grade(0.92, MEMBERSHIP), grade(0.6, MEMBERSHIP)
    ('high', 'middle')
    """
    return next((found.word for found in grades if value >= found.least), grades[-1].word)


def existence(p_value: float) -> str:
    """Whether there is more than one group, in words."""
    return "groups exist beyond chance" if p_value <= CHANCE else "no sign of more than one group"


def fuzziness(membership: float, probability: float) -> str:
    """Whether memberships are fuzzier or crisper than probabilities, by their means."""
    gap = membership - probability
    if abs(gap) <= SAME_FUZZINESS:
        return "about as fuzzy as"
    return "fuzzier than" if gap < 0 else "crisper than"


def side(difference: float, separation: float = 0.0) -> str:
    """Whether a cluster is "high" or "low" in a column, or neither ("").

    Examples
    --------
    >>> from kfrc_app.facts.verdicts import side
    >>> side(-0.8), side(0.3), side(0.3, 1.0)
    ('low', '', 'high')
    """
    if abs(difference) >= NOTABLE_DIFFERENCE:
        return "high" if difference > 0 else "low"
    if abs(separation) >= NOTABLE_SEPARATION:
        return "high" if separation > 0 else "low"
    return ""
