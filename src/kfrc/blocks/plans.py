"""What is to be found out of every column, from a few rows spread over the source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kfrc.blocks.levels import LevelCounts
from kfrc.blocks.reader import as_numbers
from kfrc.columns import (
    DROP,
    Column,
    Cyclic,
    Numeric,
    RawColumn,
    Schema,
    column_request,
    is_blank,
    raw_columns,
    raw_values,
)
from kfrc.outliers import robust_deviation
from kfrc.sources import Source
from kfrc.typing import FloatArray

_PILOT_PLACES = 8
_PILOT_ROWS = 1024
"""Stretches of rows, and rows of each, of the first guess at centers and scales of the columns."""


@dataclass(frozen=True, eq=False)
class ColumnPlan:
    """What is to be found out of one column.

    Attributes
    ----------
    position : int
        Among the columns of the source.
    raw : RawColumn
        What the source says of it, with values of the pilot.
    name : str
        Its type.
    levels : tuple or None
        In their order, if the user or the source says so.
    column : Column
        Makes numbers of values that have no levels to be counted; of others it is only their type.
    origin, unit : float
        First guess at center and scale of numbers.
    asked : bool
        Whether the user said what it is.
    """

    position: int
    raw: RawColumn
    name: str
    levels: tuple[Any, ...] | None
    column: Column
    origin: float = 0.0
    unit: float = 1.0
    asked: bool = False

    @property
    def counts_levels(self) -> bool:
        """Whether values are counted rather than measured."""
        return self.column.discrete

    def numbers(self, raw: Any) -> FloatArray:
        """Of the raw values of a chunk."""
        if isinstance(raw, np.ndarray) or (isinstance(self.column, Numeric) and not self.raw.converted):
            return as_numbers(raw)
        return self.column.encode(raw_values(self.raw.title, raw))

    def tally(self, raw: Any, weights: FloatArray | None) -> LevelCounts:
        """Weights of the different values of a chunk."""
        if isinstance(self.column, Cyclic) or isinstance(raw, np.ndarray):
            values = self.column.encode(raw_values(self.raw.title, raw)) if not isinstance(raw, np.ndarray) else raw
            blank = np.isnan(values)
            known = values[~blank]
            distinct, places = np.unique(known, return_inverse=True)
            kept = None if weights is None else weights[~blank]
            tallied = np.bincount(places, kept, len(distinct))
            pairs = zip(distinct.tolist(), tallied.tolist(), strict=True)
            n_blank = float(blank.sum() if weights is None else weights[blank].sum())
            return LevelCounts(Counter({value: count for value, count in pairs if count > 0}), n_blank).bounded()
        whole = raw.combine_chunks() if hasattr(raw, "combine_chunks") else raw
        if not hasattr(whole, "dictionary"):
            whole = whole.dictionary_encode()
        values = raw_values(self.raw.title, whole.dictionary)
        places = whole.indices.fill_null(len(values)).to_numpy(zero_copy_only=False)
        tallied = np.bincount(places, weights, len(values) + 1)
        blanks = is_blank(values)
        n_blank = float(tallied[-1] + tallied[:-1][blanks].sum())
        pairs = zip(values[~blanks].tolist(), tallied[:-1][~blanks].tolist(), strict=True)
        return LevelCounts(Counter({value: count for value, count in pairs if count > 0}), n_blank).bounded()


def plan_columns(source: Source, types: Mapping[Any, Any] | None, schema: Schema | None = None) -> list[ColumnPlan]:
    """What is to be found out of every column that may be used, from a few rows spread over the source.

    Parameters
    ----------
    source : Source
    types : mapping or None
        ``column_types`` of the user.
    schema : Schema, optional
        Of a source whose rows are codes already.
    """
    pilot = _pilot(source)
    if schema is not None:
        return [
            _without_values(
                _guessed(
                    ColumnPlan(
                        position,
                        RawColumn(schema.titles[position], column.name, pilot[position].values),
                        column.name,
                        None,
                        column,
                    )
                )
            )
            for position, column in zip(schema.positions.tolist(), schema.columns, strict=True)
        ]
    asked = dict(types or {})
    strangers = [title for title in asked if title not in source.names]
    if strangers:
        raise ValueError(f"column_types names {', '.join(map(repr, strangers[:5]))}, which X does not have")
    plans = []
    for position, raw in enumerate(pilot):
        name, levels = column_request(raw, asked.get(raw.title))
        if name == DROP:
            continue
        title = f"x{raw.title}" if isinstance(raw.title, int) else str(raw.title)
        kind = Column.registry[name]
        known = raw.values[~is_blank(raw.values)]
        # Cyclic parts of dates know their levels; others are found by the survey.
        prototype = kind.learn(title, known, levels) if issubclass(kind, Cyclic) else kind(title)
        plan = ColumnPlan(position, raw, name, levels, prototype, asked=raw.title in asked)
        plans.append(_without_values(_guessed(plan)))
    return plans


def _pilot(source: Source) -> list[RawColumn]:
    """A few rows spread over the source, as raw columns."""
    starts = np.unique(np.linspace(0, max(source.n_rows - _PILOT_ROWS, 0), _PILOT_PLACES).astype(np.int64))
    chunks = [
        chunk for start in starts.tolist() for chunk in source.chunks(start, min(start + _PILOT_ROWS, source.n_rows))
    ]
    columns = []
    for j, title in enumerate(source.names):
        parts = [chunk.columns[j] for chunk in chunks]
        if isinstance(parts[0], np.ndarray):
            (raw,) = raw_columns(np.concatenate(parts)[:, None])
        else:
            import pyarrow as pa

            flat = [piece for part in parts for piece in getattr(part, "chunks", [part])]
            (raw,) = raw_columns(pa.table({str(title): pa.chunked_array(flat).unify_dictionaries()}))
        columns.append(replace(raw, title=title))
    return columns


def _guessed(plan: ColumnPlan) -> ColumnPlan:
    """With center and scale of the pilot, if the column is measured."""
    if plan.counts_levels:
        return plan
    values = plan.raw.values
    codes = values if values.dtype.kind == "f" else plan.column.encode(values)
    x = codes[np.isfinite(codes)]
    if len(x) == 0:
        return plan
    origin = float(np.median(x))
    size = float(np.abs(x - origin).max())
    if size == 0:
        return replace(plan, origin=origin, unit=max(abs(origin), 1.0))
    unit = robust_deviation(x) or float(np.ldexp(np.ldexp(x, -900).std(), 900) if size > 1e150 else x.std())
    return replace(plan, origin=origin, unit=unit or max(abs(origin), 1.0))


def _without_values(plan: ColumnPlan) -> ColumnPlan:
    """The plan as workers need it: the rows of the pilot have served."""
    return replace(plan, raw=replace(plan.raw, values=plan.raw.values[:0]))
