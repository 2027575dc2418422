"""The columns of a source after the first pass: types, fences, units and ranges, and the sample as a table."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from kfrc._numerics import in_deviations
from kfrc._validation import short_name
from kfrc.blocks.histogram import Fenced, Histogram, fence
from kfrc.blocks.levels import LevelCounts
from kfrc.blocks.plans import ColumnPlan
from kfrc.blocks.reader import Standardizing
from kfrc.blocks.survey import Sample, Survey
from kfrc.columns import Column, Cyclic, Levels, Schema, Table, learn_column, warn_of_left_out
from kfrc.columns.variation import refuse_constant, refuse_unresolved
from kfrc.exceptions import MissingRowWarning, OutlierWarning
from kfrc.fitting.settings import Settings
from kfrc.fitting.table import TableView
from kfrc.fitting.units import share_one_scale
from kfrc.outliers import Fences, describe_far_columns
from kfrc.typing import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class SourceColumns:
    """What is known of the columns that are used.

    Attributes
    ----------
    names : tuple
        Of all columns of the source.
    positions : ndarray of shape (k,)
        Which of them are used.
    schema : Schema or None
        What they are; None if all are numbers, nothing is missing and nothing has weights.
    types : tuple of Column or None
        The same with their units.
    fences : Fences
    mean, scale : ndarray of shape (k,)
    ranges : ndarray of shape (k, 2)
        Smallest and largest value in standard units; zeros for levels.
    shares : dict
        Of the levels of columns that have some, by place among the columns that are used.
    values : dict
        The different values in standard units of columns of numbers that have few, by place.
    one_scale : bool
    incomplete : bool
        Whether there are blanks.
    n_blank : dict
        Weight of the rows in which nothing is known, by position of the column.
    coded : bool
        Whether the source holds codes of levels rather than the levels themselves.
    """

    names: tuple[Any, ...]
    positions: IntArray
    schema: Schema | None
    types: tuple[Column, ...] | None
    fences: Fences
    mean: FloatArray
    scale: FloatArray
    ranges: FloatArray
    shares: dict[int, FloatArray]
    values: dict[int, FloatArray]
    one_scale: bool
    incomplete: bool
    n_blank: dict[int, float]
    coded: bool

    def coding(self, places: IntArray) -> Standardizing:
        """How blocks of some of the used columns, given by their places, are made."""
        measured = [self.types is None or self.types[k].continuous for k in places.tolist()]
        return Standardizing(
            tuple(self.positions[places].tolist()),
            None if self.types is None else tuple(self.types[k] for k in places.tolist()),
            self.fences.low[places],
            self.fences.high[places],
            np.where(measured, self._mean[places], 0.0),
            np.where(measured, self.scale[places], 1.0),
            self.coded,
        )

    @property
    def _mean(self) -> FloatArray:
        if self.types is None:
            return self.mean
        return np.array([getattr(column, "mean", 0.0) for column in self.types])

    def restricted(self, places: IntArray) -> tuple[FloatArray, dict[int, FloatArray], dict[int, FloatArray]]:
        """Ranges, shares and values of some of the used columns."""
        shares, values = (
            {k: known[place] for k, place in enumerate(places.tolist()) if place in known}
            for known in (self.shares, self.values)
        )
        return self.ranges[places], shares, values

    def view(self, sample: Sample, plans: list[ColumnPlan], *, standardize: bool) -> TableView:
        """The sample as a table, in the units of all rows."""
        by_position = {plan.position: k for k, plan in enumerate(plans)}
        columns = []
        for place, position in enumerate(self.positions.tolist()):
            raw = sample.columns[by_position[position]]
            if self.types is None or self.coded or self.types[place].continuous:
                columns.append(raw.astype(np.float64))
            else:
                columns.append(self.types[place].encode(raw))
        bulk = self.fences.clip(np.column_stack(columns))
        if self.types is not None:
            standardized = np.column_stack([t.standardize(bulk[:, j]) for j, t in enumerate(self.types)])
            table = Table(standardized, self.types, sample.weights)
            nothing = np.zeros(len(self.types))
            return TableView(
                self.positions, len(self.names), nothing, self.scale, self.fences, self.scale, table, table
            )
        standardized = in_deviations(bulk, self.mean, self.scale)
        searched, unit = (standardized, self.scale) if standardize else (bulk, np.ones_like(self.scale))
        return TableView(
            self.positions,
            len(self.names),
            self.mean,
            self.scale,
            self.fences,
            unit,
            searched,
            standardized,
            self.one_scale,
        )


def columns_of_source(
    names: tuple[Any, ...],
    plans: list[ColumnPlan],
    survey: Survey,
    settings: Settings,
    *,
    missing: str,
    types: Mapping[Any, Any] | None,
    schema: Schema | None,
    weighted: bool,
    stacklevel: int = 6,
) -> SourceColumns:
    """Decide what the columns are, which of them vary, and where their fences stand.

    Parameters
    ----------
    names : tuple
        Of all columns of the source.
    plans : list of ColumnPlan
    survey : Survey
    settings : Settings
    missing : {"partial", "level", "error"}
    types : mapping or None
        ``column_types`` of the user.
    schema : Schema or None
        Of a source whose rows are codes already.
    weighted : bool
        Whether rows have weights.
    stacklevel : int
        Of warnings.
    """
    coded = schema is not None
    learned = schema if schema is not None else _learned(names, plans, survey, types, missing)
    found = {plan.position: stats for plan, stats in zip(plans, survey.columns, strict=True)}
    n_blank = {position: stats.n_blank for position, stats in found.items()}
    if missing == "error" and any(n_blank[p] for p in learned.positions.tolist()):
        listed = ", ".join(
            f"'{short_name(names[p])}' ({n_blank[p]:g})" for p in learned.positions.tolist() if n_blank[p]
        )
        raise ValueError(
            f'values are missing: {listed}. Fill them in, or use missing="partial", which compares what is known'
        )
    if survey.n_blank_rows and survey.n_blank_rows < survey.n_rows:
        shown = ", ".join(map(str, survey.first_blanks)) + (" and more" if survey.n_blank_rows > 10 else "")
        warnings.warn(
            f"nothing is known of {survey.n_blank_rows} row(s), so that they belong equally to all clusters: row "
            f"{shown}",
            MissingRowWarning,
            stacklevel=stacklevel,
        )
    plain = (
        not coded
        and not weighted
        and not any(plan.raw.converted for plan in plans)  # these are numbers only once they are encoded
        and all(column.name == "numeric" for column in learned.columns)
        and not any(n_blank[p] for p in learned.positions.tolist())
    )
    varying = np.array(
        [_varies(found[p], column) for p, column in zip(learned.positions.tolist(), learned.columns, strict=True)]
    )
    lone = np.array([_is_lone(found[p]) for p in learned.positions.tolist()])
    refuse_constant(varying, [str(names[p]) for p in learned.positions.tolist()], survey.n_rows)
    if settings.clips_outliers and settings.needs_scale and not (lone >= varying).all():
        left = [short_name(names[p]) for p in learned.positions[lone & varying].tolist()]
        if left:
            warnings.warn(
                OutlierWarning(
                    f"{len(left)} column(s) that are constant but for one value are left out: {', '.join(left[:5])}. "
                    'Correct the value if it is a mistake, or use outliers="keep" to cluster by it'
                ),
                stacklevel=stacklevel,
            )
        varying &= ~lone
    places = np.flatnonzero(varying)
    positions = learned.positions[places]
    used = [learned.columns[k] for k in places.tolist()]
    stats = [found[p] for p in positions.tolist()]
    fenced = [_fenced(column, stat, settings) for column, stat in zip(used, stats, strict=True)]
    fences = _fences(fenced)
    described = partial(describe_far_columns, fences.far, positions, {p: str(names[p]) for p in positions.tolist()})
    warning = described()
    if warning is not None:
        warnings.warn(OutlierWarning(warning, described), stacklevel=stacklevel)
    scaled = [_scaled(column, stat, f, coded=coded) for column, stat, f in zip(used, stats, fenced, strict=True)]
    mean = np.array([0.0 if f is None else f.mean for f in fenced])
    scale = np.array([column.scale for column in scaled])
    refuse_unresolved(scale, [str(names[p]) for p in positions.tolist()])
    one_scale = plain and settings.needs_scale and _on_one_scale(stats)
    if one_scale:
        scale = np.full_like(scale, np.sqrt(np.mean(np.square(scale))))
    ranges = np.zeros((len(used), 2))
    shares, values = {}, {}
    for k, (column, stat) in enumerate(zip(scaled, stats, strict=True)):
        if isinstance(stat, Histogram):
            ends = np.clip([stat.low, stat.high], fences.low[k], fences.high[k])
            ranges[k] = in_deviations(ends, mean[k], scale[k])
            if stat.values is not None:
                inside = np.clip(stat.values, fences.low[k], fences.high[k])
                values[k] = np.unique(in_deviations(inside, mean[k], scale[k]))
        else:
            counts = _level_weights(column, stat, coded=coded)
            shares[k] = counts / counts.sum()
    return SourceColumns(
        names=names,
        positions=positions,
        schema=None if plain else learned,
        types=None if plain else tuple(scaled),
        fences=fences,
        mean=mean,
        scale=scale,
        ranges=ranges,
        shares=shares,
        values=values,
        one_scale=one_scale,
        incomplete=missing != "level" and any(stat.n_blank > 0 for stat in stats),
        n_blank=dict.fromkeys(n_blank, 0.0) if missing == "level" else n_blank,
        coded=coded,
    )


def _learned(
    names: tuple[Any, ...],
    plans: list[ColumnPlan],
    survey: Survey,
    types: Mapping[Any, Any] | None,
    missing: str,
) -> Schema:
    """The schema of the columns, from what the first pass counted."""
    positions, columns = [], []
    reasons: dict[Any, str] = {}
    asked = dict(types or {})
    for plan, stats in zip(plans, survey.columns, strict=True):
        if isinstance(stats, Histogram):
            if stats.n_known == 0:
                reasons[names[plan.position]] = "no value at all"
                continue
            column: Column | None = plan.column
        elif isinstance(plan.column, Cyclic):
            column = plan.column
        else:
            if not stats.complete:
                # More values than are counted: names, remarks, or something that the user must say more about.
                if plan.asked:
                    raise ValueError(
                        f"column '{plan.raw.title}' has far too many levels to be told apart: join rare ones, or leave "
                        'it out with column_types={...: "drop"}'
                    )
                reasons[names[plan.position]] = "thousands of different values, as names or remarks have"
                continue
            values = np.empty(len(stats.counts), dtype=object)
            values[:] = list(stats.counts)
            known = round(sum(stats.counts.values()))
            raw = replace(plan.raw, values=values, title=names[plan.position])
            column = learn_column(raw, asked.get(names[plan.position]), reasons, known)
            if column is None:
                continue
        assert column is not None
        if missing == "level" and stats.n_blank:
            column = column.with_blank()
        positions.append(plan.position)
        columns.append(column)
    warn_of_left_out(reasons, stacklevel=8)
    if not columns:
        raise ValueError("no column of X is left to cluster by")
    return Schema(names, np.array(positions), tuple(columns))


def _varies(stats: Histogram | LevelCounts, column: Column) -> bool:
    if isinstance(stats, Histogram):
        return stats.varies
    return len(stats.counts) + (isinstance(column, Levels) and column.blank and stats.n_blank > 0) > 1


def _is_lone(stats: Histogram | LevelCounts) -> bool:
    """Whether a column is constant but for one value."""
    if not isinstance(stats, Histogram) or stats.n_known < 100:
        return False
    occupied = np.flatnonzero(stats.counts)
    if len(occupied) != 2:
        return False
    single = occupied[np.argmin(stats.counts[occupied])]
    rest = occupied[np.argmax(stats.counts[occupied])]
    flat = stats.squares[rest] * stats.counts[rest] <= stats.sums[rest] ** 2 * (1 + 1e-12)
    return bool(stats.counts[single] <= 1 and flat)


def _fenced(column: Column, stats: Histogram | LevelCounts, settings: Settings) -> Fenced | None:
    if not isinstance(stats, Histogram):
        return None
    return fence(stats, clip=settings.clips_outliers, robust_scale=settings.needs_scale)


def _fences(fenced: list[Fenced | None]) -> Fences:
    found = Fences.none(len(fenced))
    far = []
    for k, one in enumerate(fenced):
        if one is not None and one.far is not None:
            found.low[k], found.high[k] = one.low, one.high
            far.append(replace(one.far, column=k))
    return replace(found, far=tuple(far))


def _scaled(column: Column, stats: Histogram | LevelCounts, fenced: Fenced | None, *, coded: bool) -> Column:
    if fenced is not None:
        return replace(column, mean=fenced.mean, scale=fenced.deviation)  # type: ignore[call-arg]
    assert isinstance(stats, LevelCounts)
    weights = _level_weights(column, stats, coded=coded)
    return column.scaled(np.arange(len(weights), dtype=np.float64), weights)


def _level_weights(column: Column, stats: LevelCounts, *, coded: bool) -> FloatArray:
    """How often each code occurs."""
    values = np.empty(len(stats.counts), dtype=object)
    values[:] = list(stats.counts)
    # Parts of dates are counted as codes wherever they come from.
    codes = values.astype(np.float64) if coded or isinstance(column, Cyclic) else column.encode(values)
    weights = np.zeros(len(column.levels))
    np.add.at(weights, codes.astype(np.int64), np.array(list(stats.counts.values()), dtype=np.float64))
    if isinstance(column, Levels) and column.blank:
        weights[-1] += stats.n_blank
    return weights


def _on_one_scale(stats: list[Histogram | LevelCounts]) -> bool:
    numbers = [stat for stat in stats if isinstance(stat, Histogram)]
    low, high = np.array([stat.low for stat in numbers]), np.array([stat.high for stat in numbers])
    return share_one_scale(low, high, lambda: all(stat.whole for stat in numbers))
