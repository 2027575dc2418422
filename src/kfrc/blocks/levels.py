"""How often the different values of a column occur that has levels."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

from kfrc.columns import MAX_LEVELS

_MOST_VALUES = 20 * MAX_LEVELS
"""Different values that are counted: a column with more has no levels."""


@dataclass(frozen=True, eq=False)
class LevelCounts:
    """Weights of the different values of a column that has levels.

    Attributes
    ----------
    counts : Counter
    n_blank : float
    complete : bool
        False if there are too many to be counted.
    """

    counts: Counter[Any]
    n_blank: float = 0.0
    complete: bool = True

    def joined(self, following: LevelCounts) -> LevelCounts:
        """Of the rows of both."""
        return LevelCounts(
            self.counts + following.counts, self.n_blank + following.n_blank, self.complete and following.complete
        ).bounded()

    def bounded(self) -> LevelCounts:
        """Without counts if there are too many."""
        fits = self.complete and len(self.counts) <= _MOST_VALUES
        return self if fits else replace(self, counts=Counter(), complete=False)
