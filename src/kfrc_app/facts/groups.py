"""The groups as people speak of them: a letter, a name by what sets a group apart, its size, and its typical rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kfrc_app._letters import letters
from kfrc_app.facts.clusters import Cluster
from kfrc_app.facts.profiles import Trait, by_strength
from kfrc_app.facts.text import percent

GROUP, PART = "group", "part"
"""What a cluster is called in sentences: a part where there is no sign of more than one group."""

_MAX_NAME = 64
"""Letters of a name made of several traits; with more the first alone has to do."""

_MOST_TRAITS = 4
"""Traits that a name may need to be unlike the others."""


@dataclass(frozen=True)
class ShownRow:
    """A row with some of its values.

    Attributes
    ----------
    position : int
        In the table, from zero.
    id : str
    values : tuple of str
        In the columns that are shown beside it.
    """

    position: int
    id: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class OwnColumn:
    """A column that sets a group apart.

    Attributes
    ----------
    name : str
    words : str
        "high", "low", or the level that it has more than others.
    value, overall : str
        What is typical of the group, and of all rows.
    """

    name: str
    words: str
    value: str
    overall: str


@dataclass(frozen=True)
class Group:
    """One group.

    Attributes
    ----------
    label : int
        Its number in the result files, from zero.
    letter : str
        "A" for the first.
    name : str
        By what sets it apart; "Group A" if nothing does.
    n_rows : int
    share : float
        Of the rows, or of their weight.
    weight : float or None
    description : str
        In what it stands out, in a few words.
    columns : tuple of OwnColumn
        What sets it apart, the strongest first.
    rows : tuple of ShownRow
        Its most typical rows, with their values in ``columns_beside``.
    columns_beside : tuple of str
    """

    label: int
    letter: str
    name: str
    n_rows: int
    share: float
    weight: float | None
    description: str
    columns: tuple[OwnColumn, ...] = ()
    rows: tuple[ShownRow, ...] = ()
    columns_beside: tuple[str, ...] = ()

    @property
    def percent(self) -> str:
        """Its share in words."""
        return percent(self.share)


def group_names(traits: Sequence[Sequence[Trait]], noun: str = GROUP) -> list[str]:
    """A short name for every group, no two alike: its strongest traits, or its letter if it has none.

    Parameters
    ----------
    traits : sequence of sequence of Trait
        Of every group.
    noun : str
        What groups without traits are called.

    Examples
    --------
    >>> from kfrc_app.facts.groups import group_names
    >>> from kfrc_app.facts.profiles import Trait
    >>> high, low = Trait(2.0, "", "hue", "high hue"), Trait(1.0, "", "ash", "low ash")
    >>> group_names([[high, low], [high], []])
    ['High hue, low ash', 'High hue', 'Group C']
    """
    ranked = [by_strength(found) for found in traits]
    names = [_name(found, 2) for found in ranked]
    for n_traits in range(3, _MOST_TRAITS + 1):
        names = [
            _name(found, n_traits) if names.count(name) > 1 else name for found, name in zip(ranked, names, strict=True)
        ]
    fallback = [f"{noun.capitalize()} {letters(i)}" for i in range(len(names))]
    return [
        own if not name else name if names.count(name) == 1 else f"{name} ({letters(i)})"
        for i, (name, own) in enumerate(zip(names, fallback, strict=True))
    ]


def _name(traits: Sequence[Trait], n_traits: int) -> str:
    """The strongest traits, as far as they are short enough; the words that begin with one are written once."""
    name = ""
    for trait in traits[:n_traits]:
        longer = f"{name}, {trait.short}" if name else trait.short
        if name and len(longer) > _MAX_NAME:
            break
        name = longer
    return name[:1].upper() + name[1:]


def group_shares(clusters: Sequence[Cluster]) -> list[float]:
    """Share of every group in the rows, or in their weight."""
    sizes = [cluster.n_rows if cluster.weight is None else cluster.weight for cluster in clusters]
    total = sum(sizes)
    return [size / total if total > 0 else 0.0 for size in sizes]
