"""What to make of many methods on one table: which are the same, which found nothing, and which one to look at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from kfrc import KFRC
from kfrc.metrics import adjusted_rand_score
from kfrc.typing import FloatArray
from kfrc_app.facts.comparison import MethodResult
from kfrc_app.facts.text import count, listing
from kfrc_app.facts.verdicts import CHANCE

SAME_MEMBERSHIPS = 1e-3
"""Largest difference of memberships up to which two methods have the same result: what tables of three digits show."""

AGREE = 0.9
"""Adjusted Rand index from which on two methods are said to draw the same borders, but for a few rows."""

HARDLY = 0.2
"""Adjusted Rand index below which clusters are said to have hardly anything to do with the labels."""

_OURS = KFRC.__name__


@dataclass(frozen=True)
class MethodRow:
    """Methods with one result.

    Attributes
    ----------
    methods : tuple of str
        All that coincide.
    results : tuple of MethodResult
        Theirs, in the same order.
    """

    methods: tuple[str, ...]
    results: tuple[MethodResult, ...]

    @property
    def result(self) -> MethodResult:
        """The first, which stands for all."""
        return self.results[0]

    @property
    def name(self) -> str:
        """The names together."""
        return ", ".join(self.methods)


def merge_coinciding(results: Sequence[MethodResult]) -> tuple[MethodRow, ...]:
    """Methods with the same memberships, up to the numbering of the clusters, in one row each.

    Parameters
    ----------
    results : sequence of MethodResult

    Returns
    -------
    tuple of MethodRow
        In the order of the first of each; methods without a result stand alone.
    """
    rows: list[list[MethodResult]] = []
    for result in results:
        partner = next((row for row in rows if _coincide(row[0], result)), None)
        if partner is None:
            rows.append([result])
        else:
            partner.append(result)
    return tuple(MethodRow(tuple(result.method for result in row), tuple(row)) for row in rows)


def same_memberships(U: FloatArray, V: FloatArray, tolerance: float = SAME_MEMBERSHIPS) -> bool:
    """Whether two partitions have the same memberships, up to the numbering of the clusters.

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc_app.facts.advice import same_memberships
    >>> U = np.array([[0.9, 0.1], [0.2, 0.8]])
    >>> same_memberships(U, U[:, ::-1]), same_memberships(U, U.round())
    (True, False)
    """
    if U.shape != V.shape:
        return False
    order = linear_sum_assignment(((U[:, :, None] - V[:, None, :]) ** 2).sum(axis=0))[1]
    return bool(np.abs(U - V[:, order]).max() <= tolerance)


def advice(rows: Sequence[MethodRow], p_value: float | None) -> tuple[str, ...]:
    """What to make of the results, in one to three sentences.

    Parameters
    ----------
    rows : sequence of MethodRow
    p_value : float or None
        Of "there is only one group"; None if it is not known.

    Returns
    -------
    tuple of str
    """
    found = [row for row in rows if row.result.found_something]
    if not found:
        return ("No method found anything: nothing here tells groups of rows apart.",)
    agreeing = _agreeing(found)
    if p_value is not None and p_value > CHANCE:
        first = (
            f"There is no sign of more than one group here (p = {p_value:.2g}): these methods cut one group into "
            "pieces, as they cut anything, so use none of the results as groups."
        )
        return tuple(sentence for sentence in (first, _collapsed(rows), _labels(found)) if sentence)
    last = _labels(found) or _look_at(found, agreeing)
    return tuple(sentence for sentence in (_agreement(found, agreeing), _collapsed(rows), last) if sentence)


def _coincide(one: MethodResult, other: MethodResult) -> bool:
    return (
        one.memberships is not None
        and other.memberships is not None
        and one.collapsed == other.collapsed
        and same_memberships(one.memberships, other.memberships)
    )


def _agreeing(found: Sequence[MethodRow]) -> tuple[int, ...]:
    """Positions of the most methods that all agree with one of them, that one first; KFRC is preferred."""
    labels = [row.result.memberships.argmax(axis=1) for row in found if row.result.memberships is not None]
    best: tuple[int, ...] = (0,)
    for k, mine in enumerate(labels):
        others = [j for j, other in enumerate(labels) if j != k and adjusted_rand_score(mine, other) >= AGREE]
        if _n_methods(found, (k, *others)) > _n_methods(found, best):
            best = (k, *others)
    return best


def _n_methods(found: Sequence[MethodRow], chosen: Sequence[int]) -> int:
    return sum(len(found[k].methods) for k in chosen)


def _agreement(found: Sequence[MethodRow], agreeing: Sequence[int]) -> str:
    n_found, n_agreeing = _n_methods(found, range(len(found))), _n_methods(found, agreeing)
    if n_found == 1:
        return ""
    if len(found) == 1:
        return f"All {n_found} methods that found something have the same result."
    if n_agreeing == n_found:
        return f"All {n_found} methods that found something draw the same borders, but for a few rows."
    if n_agreeing == 1:
        return "No two methods draw the same borders."
    names = listing([name for k in sorted(agreeing) for name in found[k].methods])
    return f"{names} draw the same borders, but for a few rows; the others draw other ones."


def _collapsed(rows: Sequence[MethodRow]) -> str:
    names = [name for row in rows if row.result.collapsed for name in row.methods]
    if not names:
        return ""
    whose, it = ("its", "it") if len(names) == 1 else ("their", "they")
    return (
        f"{listing(names)} found nothing: with {whose} usual settings every row belongs to all clusters alike, and "
        f"which cluster {it} would put a row in is chance."
    )


def _labels(found: Sequence[MethodRow]) -> str:
    """Which methods are closest to the labels; empty if there are none."""
    judged = sorted(
        ((row.result.adjusted_rand, row) for row in found if row.result.adjusted_rand is not None),
        key=lambda pair: -pair[0],
    )
    if not judged:
        return ""
    (best, first), *rest = judged
    if best < HARDLY:
        return f"None has much to do with the labels: {first.name} comes closest, with an agreement of {best:.2f}."
    then = f", then {rest[0][1].name} ({rest[0][0]:.2f})" if rest else ""
    return f"Closest to the labels, which no method saw, is {first.name} (agreement {best:.2f}){then}."


def _look_at(found: Sequence[MethodRow], agreeing: Sequence[int]) -> str:
    ours = next((k for k, row in enumerate(found) if _OURS in row.methods), None)
    if ours is None:
        if len(found) == 1 and len(found[0].methods) > 1:
            return "So any of them will do."
        if _n_methods(found, agreeing) > 1:
            return f"Look at {found[agreeing[0]].methods[0]} first: most of the others agree with it."
        best = max(found, key=lambda row: row.result.fuzzy_silhouette or -1.0)
        return f"Look at {best.name} first, which separates the rows best, but nothing else speaks for it."
    if ours in agreeing and _n_methods(found, agreeing) > 1:
        return f"Look at {_OURS} first: others agree with it, and it also says which columns matter."
    telling = found[ours].result.n_telling
    columns = f" Its clusters rest mostly on {count(telling, 'column')}." if telling else ""
    return (
        f"Look at {_OURS} first, and check its columns with `kfrc fit`: it weighs columns by what they tell, while "
        f"most others count them all alike and are misled where many tell nothing.{columns}"
    )
