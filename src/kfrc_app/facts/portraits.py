"""Groups, their typical rows and the rows between them, put together from the other facts of a fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from kfrc import KFRC
from kfrc.typing import FloatArray, IntArray
from kfrc_app._letters import letters
from kfrc_app.facts.groups import Group, OwnColumn, ShownRow, group_names, group_shares
from kfrc_app.facts.levels import traits
from kfrc_app.facts.plane import Plane, in_unit_square, relational_coordinates, table_coordinates
from kfrc_app.facts.profiles import Trait, by_strength
from kfrc_app.facts.rows import (
    BorderlineRow,
    central_rows,
    distances_to_typical,
    relational_distances,
    two_largest,
)
from kfrc_app.facts.text import clean
from kfrc_app.tables import Kind

if TYPE_CHECKING:
    from kfrc_app.facts.collection import Facts

N_BORDERLINE = 12
"""Rows between groups that are listed with their values."""

N_OWN_COLUMNS = 3
"""Columns beside the typical rows of a group: those that set it apart."""

N_COMPARED = 40
"""Columns among which those that set a group apart are looked for, the most important ones."""

N_BESIDE = 4
"""Columns beside rows between groups: those that tell the groups apart most."""

UNREMARKABLE_GROUP = "close to what is typical of all rows in every column"
"""What is said of a group that stands out in nothing."""

_MAX_VALUE = 28
"""Letters of a value in a list of rows."""


def groups(facts: Facts) -> tuple[Group, ...]:
    """The groups of a fit; without names and typical rows where nothing is told apart."""
    told = facts.n_clusters > 1 and not facts.fit.collapsed
    own = _ranked_traits(facts) if told and facts.table is not None else [[]] * facts.n_clusters
    names = group_names(own, facts.trust.noun)
    central = central_rows(_distances(facts), facts.model.labels_, facts.weights) if told else None
    found = []
    for i, (cluster, share) in enumerate(zip(facts.clusters, group_shares(facts.clusters), strict=True)):
        columns = _own_columns(facts, own[i], i)
        beside = _beside([column.name for column in columns], facts.main_columns, N_OWN_COLUMNS)
        found.append(
            Group(
                label=i,
                letter=letters(i),
                name=names[i],
                n_rows=cluster.n_rows,
                share=share,
                weight=cluster.weight,
                description=UNREMARKABLE_GROUP if told and facts.table and not own[i] else "",
                columns=columns,
                rows=() if central is None else tuple(_shown(facts, j, beside) for j in central[i].tolist()),
                columns_beside=beside,
            )
        )
    return tuple(found)


def borderline(facts: Facts) -> tuple[BorderlineRow, ...]:
    """The rows that lie between groups most, with their values."""
    beside = facts.main_columns[:N_BESIDE]
    found = []
    for row in facts.ambiguous[:N_BORDERLINE]:
        shown = _shown(facts, row.position, beside)
        first, second = two_largest(row.memberships)
        found.append(BorderlineRow(shown.position, shown.id, shown.values, first, second, row.memberships))
    return tuple(found)


def plane(facts: Facts) -> Plane | None:
    """A map of the rows; None where there is nothing to tell apart."""
    rows = facts.shown
    if len(rows) < 3:
        return None
    if facts.pairwise:
        coordinates, explained = relational_coordinates(facts.X, rows, similarities=isinstance(facts.model, KFRC))
    elif facts.importance is None:
        return None
    else:
        shares = np.zeros(facts.n_columns)
        for column in facts.importance.used[: len(facts.main_columns)]:
            shares[column.position] = column.contribution
        coordinates, explained = table_coordinates(facts.data, shares, rows)
    return Plane(rows, in_unit_square(coordinates), explained)


def _distances(facts: Facts) -> FloatArray:
    """How far the rows are from the middle of every group."""
    U = facts.model.memberships_ if facts.weights is None else facts.model.memberships_ * facts.weights[:, None]
    if facts.pairwise:
        return relational_distances(facts.X, U, similarities=isinstance(facts.model, KFRC))
    assert facts.table is not None
    positions, typical, units, nominal = _typical_values(facts)
    if len(positions) == 0:
        return 1.0 - facts.model.memberships_
    assert facts.importance is not None
    shares = {column.position: column.contribution for column in facts.importance.columns}
    weight = np.array([shares[j] for j in positions])
    return distances_to_typical(facts.X[:, positions], typical, units, nominal, weight)


def _typical_values(facts: Facts) -> tuple[IntArray, FloatArray, FloatArray, list[bool]]:
    """Positions of the profiled columns, medians or most frequent levels, units, and which have no order."""
    positions, centers, units, nominal = [], [], [], []
    if facts.profiles is not None:
        for k, name in enumerate(facts.profiles.names):
            positions.append(facts.positions[name])
            centers.append(facts.profiles.medians[:, k])
            units.append(float(facts.profiles.unit[k]))
            nominal.append(False)
    for shares in facts.levels:
        if shares.column.kind is Kind.NOMINAL:
            modes = [shares.mode(i) for i in range(facts.n_clusters)]
            positions.append(shares.position)
            centers.append(np.array([np.nan if mode is None else float(mode) for mode in modes]))
            units.append(1.0)
            nominal.append(True)
    typical = np.column_stack(centers) if centers else np.empty((facts.n_clusters, 0))
    return np.array(positions, dtype=np.intp), typical, np.array(units), nominal


def _ranked_traits(facts: Facts) -> list[list[Trait]]:
    """In what every group stands out; strongest is the column that alone tells it from all other rows best."""
    strengths: dict[str, FloatArray] = {}
    if facts.profiles is not None and facts.profiles.separations is not None:
        strengths |= dict(zip(facts.profiles.names, np.abs(facts.profiles.separations).T, strict=True))
    for shares in facts.levels:
        if shares.column.kind is Kind.NOMINAL:
            strengths[shares.column.name] = shares.separations.max(axis=1)
    used = () if facts.importance is None else facts.importance.used[:N_COMPARED]
    compared = {column.name for column in used}
    return [
        by_strength(
            [
                replace(trait, strength=float(strengths[trait.column][i]))
                for trait in traits(facts.profiles, facts.levels, i)
                if trait.column in compared
            ]
        )
        for i in range(facts.n_clusters)
    ]


def _own_columns(facts: Facts, own: Sequence[Trait], cluster: int) -> tuple[OwnColumn, ...]:
    typical = {column.name: column for column in facts.typical}
    found = []
    for trait in own[:N_OWN_COLUMNS]:
        column = typical.get(trait.column)
        if column is not None:
            value = column.clusters[cluster].text
            found.append(OwnColumn(trait.column, trait.short, value, column.overall))
    return tuple(found)


def _beside(own: Sequence[str], main: Sequence[str], n_columns: int) -> tuple[str, ...]:
    """The own columns first, then the main ones."""
    return tuple(dict.fromkeys([*own, *main]))[:n_columns]


def _shown(facts: Facts, position: int, names: Sequence[str]) -> ShownRow:
    values = []
    if facts.table is not None:
        places = [facts.positions[name] for name in names]
        values = [facts.table.columns[j].show(float(facts.X[position, j])) for j in places]
    values = [clean(value, _MAX_VALUE) for value in values]
    return ShownRow(position, clean(facts.ids[position]), tuple(values))
