"""Whether a fit can be trusted: what refits on other rows found again, whether groups exist, and the words for it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from kfrc.clusterers import FuzzyClusterer
from kfrc.confidence import Confidence
from kfrc_app.facts.groups import GROUP, PART
from kfrc_app.facts.text import count, listing, number
from kfrc_app.facts.verdicts import AGAIN, CHANCE, FOUND_AGAIN, existence, grade

MAX_REFIT_ROWS = 500
"""Rows of which refits see two thirds: enough to see whether clusters are found again, in bounded time."""

N_UNSTABLE_ROWS = 10
"""Rows that are listed, those that stay in their cluster least often."""

_ROUNDING = 1e-9  # 5 in 100 are 5
_LEAST_TOLD = 0.01
"""Share below which tables are told as fewer than one in a hundred."""

STABLE, DOUBTFUL, DISSOLVED = (found.word for found in AGAIN)
_LOOKED = "Several numbers of groups were tried, and there is no sign of more than one."
"""What is said of a fit that looked for the number of groups and took one."""

UNTESTED, COLLAPSED, NO_GROUPS = "untested", "collapsed", "no groups"


def in_a_hundred(share: float, *, at_most: bool = False) -> str:
    """A share of tables, in words; as a bound, because a p-value counts the table itself among those of one group.

    Examples
    --------
    >>> from kfrc_app.facts.confidence import in_a_hundred
    >>> in_a_hundred(1 / 60, at_most=True), in_a_hundred(0.002), in_a_hundred(0.43), in_a_hundred(1.0)
    ('at most 2 in 100', 'fewer than 1 in 100', 'about 43 in 100', 'nearly all')
    """
    if share < _LEAST_TOLD:
        return "fewer than 1 in 100"
    if share > 1.0 - _LEAST_TOLD:
        return "nearly all"
    return f"at most {math.ceil(100 * share - _ROUNDING)} in 100" if at_most else f"about {100 * share:.0f} in 100"


@dataclass(frozen=True)
class UnstableRow:
    """A row that often leaves its cluster.

    Attributes
    ----------
    position : int
        Among the rows of the table.
    stays : float
        Share of the refits in which it stays.
    """

    position: int
    stays: float


@dataclass(frozen=True)
class Trust:
    """What speaks for the clusters, and what against them.

    Attributes
    ----------
    n_clusters : int
    collapsed : bool
    n_refits : int
        0 if nothing was refitted; the numbers below are then None or empty.
    n_failed, n_found_again : int
        Refits that ended with an error, and those that found the partition again.
    n_rows, n_all_rows : int
        Rows that each refit saw, and all rows.
    partition : float or None
        Mean adjusted Rand index with the refits.
    clusters : tuple of float
        Mean Jaccard similarity of each cluster with the most similar one of each refit.
    existence : float or None
        p-value of "there is only one group".
    n_clusters_found : tuple of int
        How many clusters each refit found; 0 if it failed.
    unstable_rows : tuple of UnstableRow
        Those below the grade of stable, the least stable first.
    chose_one : bool
        Whether the fit looked for the number of groups itself and saw no sign of more than one.
    """

    n_clusters: int
    collapsed: bool
    n_refits: int
    n_failed: int
    n_found_again: int
    n_rows: int
    n_all_rows: int
    partition: float | None
    clusters: tuple[float, ...]
    existence: float | None
    n_clusters_found: tuple[int, ...]
    unstable_rows: tuple[UnstableRow, ...]
    chose_one: bool = False

    @property
    def verdict(self) -> str:
        """In one word: "untested", "collapsed", "no groups", or the grade of the partition."""
        if self.collapsed:
            return COLLAPSED
        if self.chose_one if self.existence is None else self.existence > CHANCE:
            return NO_GROUPS
        return UNTESTED if self.partition is None else grade(self.partition, AGAIN)

    @property
    def words(self) -> tuple[str, ...]:
        """What each cluster is called."""
        return tuple(grade(similarity, AGAIN) for similarity in self.clusters)

    @property
    def noun(self) -> str:
        """What a cluster may be called: a part, where there is no sign of more than one group."""
        return PART if self.verdict == NO_GROUPS else GROUP

    def title(self, source: str = "") -> str:
        """The first thing that is said: groups are claimed only where they exist beyond chance and are found again."""
        where = f" in {source}" if source else ""
        if self.verdict == COLLAPSED:
            return f"Nothing was found{where}"
        if self.verdict == NO_GROUPS:
            return f"No sign of more than one group{where}"
        if self.verdict == UNTESTED or self.existence is None:
            taken = "taken as one group" if self.n_clusters == 1 else f"cut into {self.n_clusters} groups"
            return f"{source}, {taken}" if source else taken.capitalize()
        if self.n_clusters == 1:
            return f"Signs of more than one group{where}, taken as one"
        if self.verdict == DISSOLVED:
            return f"More than one group{where}, but hardly these {self.n_clusters}"
        groups = f"{self.n_clusters} groups{where}"
        return groups if self.verdict == STABLE else f"Perhaps {groups}"

    @property
    def plain_sentences(self) -> tuple[str, ...]:
        """What is known, in words that need no statistics; the first is the most important."""
        if self.collapsed:
            return (
                f"Every row belongs to all {self.n_clusters} groups alike: with these settings nothing is told apart. "
                "The appendix says why, and what to do.",
            )
        if self.n_refits == 0 and self.chose_one:
            return (f"{_LOOKED} The analysis was not repeated on other rows, which might tell otherwise.",)
        if self.n_refits == 0:
            return (
                "The analysis was not repeated on other rows. Whether groups exist, and whether other rows would lead "
                "to the same ones, is not known.",
            )
        return tuple(sentence for sentence in (self._plain_existence, self._plain_repetitions) if sentence)

    @property
    def _plain_existence(self) -> str:
        if self.existence is None:
            return "Whether there is more than one group was not tested."
        verdict = "This is hardly chance" if self.existence <= CHANCE else "No sign of more than one group"
        how_many = in_a_hundred(self.existence, at_most=self.existence <= CHANCE)
        known = f"{verdict}: {how_many} tables with a single group look as grouped as this"
        if self.existence <= CHANCE or self.n_clusters == 1:
            return f"{known}."
        cut = f"Treat the {self.n_clusters} {PART}s as a way to cut the data, not as groups that exist"
        if self.partition is not None and self.partition >= FOUND_AGAIN:
            again = "although the same cut comes out again: one group can be cut in the same place each time"
            return f"{known}. {cut}, {again}."
        return f"{known}. {cut}."

    @property
    def _plain_repetitions(self) -> str:
        if self.n_clusters == 1:
            return ""
        rows = f"{self.n_rows:,} of {count(self.n_all_rows, 'row')}"
        only = "only " if self.n_found_again < self.n_refits / 2 else ""
        came = f"came out {only}{count(self.n_found_again, 'time')}" if self.n_found_again else "never came out"
        return (
            f"The whole analysis was repeated {count(self.n_refits, 'time')}, each time on {rows}: "
            f"much the same {self.noun}s {came}."
        )

    @property
    def sentences(self) -> tuple[str, ...]:
        """What is known, one thing after the other; the first is the most important."""
        if self.n_refits == 0 and self.chose_one:
            return (f"{_LOOKED} Nothing was refitted: whether other rows would lead to the same is not known.",)
        if self.n_refits == 0:
            return (
                "Nothing was refitted: whether groups exist, and whether other rows would lead to the same clusters, "
                "is not known.",
            )
        told = (self._existence, self._refits, self._failures, self._numbers)
        return tuple(sentence for sentence in told if sentence)

    @property
    def _existence(self) -> str:
        if self.existence is None:
            return "Whether groups exist was not tested."
        tested = f"“There is only one group” has a p-value of {number(self.existence, 2)}: {existence(self.existence)}"
        if self.existence <= CHANCE or self.n_clusters == 1:
            return f"{tested}."
        cut = f"{tested}. Treat the {self.n_clusters} clusters as a way to cut the data, not as groups that exist"
        if self.partition is not None and self.partition >= FOUND_AGAIN:
            return f"{cut}, although the same cut is found again: one group can be cut in the same place each time."
        return f"{cut}."

    @property
    def _refits(self) -> str:
        if self.collapsed:
            return "The fit collapsed, so there is nothing that refits could find again."
        assert self.partition is not None
        rows = f"{self.n_rows:,} of {count(self.n_all_rows, 'row')}"
        return (
            f"The whole procedure was fitted again {count(self.n_refits, 'time')}, each time on {rows}: "
            f"{self.n_found_again} of {self.n_refits} found the partition again (adjusted Rand index of "
            f"{FOUND_AGAIN:g} or more; mean {self.partition:.2f}, {grade(self.partition, AGAIN)})."
        )

    @property
    def _failures(self) -> str:
        if not self.n_failed:
            return ""
        verb = "counts" if self.n_failed == 1 else "count"
        return f"{count(self.n_failed, 'refit')} ended with an error and {verb} as 0."

    @property
    def _numbers(self) -> str:
        """How many clusters the refits found, if that differs."""
        found = [n for n in self.n_clusters_found if n]
        if set(found) <= {self.n_clusters}:
            return ""
        numbers, times = np.unique(found, return_counts=True)
        told = [f"{n} ({count(t, 'time')})" for n, t in zip(numbers.tolist(), times.tolist(), strict=True)]
        return f"Numbers of clusters that the refits found: {listing(told)}."


def trust_facts(model: FuzzyClusterer, confidence: Confidence | None, *, collapsed: bool) -> Trust:
    """What is known of how far a fit can be trusted; without a confidence that nothing was refitted.

    Parameters
    ----------
    model : FuzzyClusterer
        Fitted.
    confidence : Confidence or None
        From :func:`kfrc.confidence.assess`.
    collapsed : bool
    """
    n_all_rows, n_clusters = model.memberships_.shape
    chose_one = n_clusters == 1 and getattr(model, "cluster_count_reason_", None) is not None
    if confidence is None:
        return Trust(n_clusters, collapsed, 0, 0, 0, 0, n_all_rows, None, (), None, (), (), chose_one)
    order = np.argsort(confidence.rows, kind="stable")[:N_UNSTABLE_ROWS]
    return Trust(
        n_clusters=n_clusters,
        collapsed=collapsed,
        n_refits=confidence.n_refits,
        n_failed=confidence.n_failed,
        n_found_again=int((confidence.agreements >= FOUND_AGAIN).sum()),
        n_rows=confidence.n_rows,
        n_all_rows=n_all_rows,
        partition=confidence.partition,
        clusters=tuple(confidence.clusters.tolist()),
        existence=confidence.existence,
        n_clusters_found=tuple(confidence.n_clusters_found.tolist()),
        unstable_rows=tuple(
            UnstableRow(j, float(confidence.rows[j])) for j in order.tolist() if confidence.rows[j] < FOUND_AGAIN
        ),
        chose_one=chose_one,
    )
