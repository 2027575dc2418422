"""The first pass: what the columns are, how they are distributed, which rows are blank, and a sample of the rows.

Everything that later passes must know of all rows comes from here: counts, levels, fences, units and ranges. The sample
is chosen by a hash of the row's index, so that it depends neither on the partition nor on who reads.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kfrc.blocks.histogram import Histogram
from kfrc.blocks.partition import BLOCK_ROWS
from kfrc.blocks.reader import as_numbers, ended_early
from kfrc.columns import (
    DROP,
    MAX_LEVELS,
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
from kfrc.sources import Chunk, Source, row_hashes
from kfrc.typing import FloatArray, IntArray

SAMPLE_ROWS = 20_000
"""Rows that are chosen: kernel, bandwidths and the beginning of the clustering are found with them. Tables with no more
rows are fitted whole, wherever they come from."""

_SPARE = 1.3
"""So many times as many rows are kept on the way, so that enough are left of any number of rows."""

_PILOT_PLACES = 8
_PILOT_ROWS = 1024
"""Stretches of rows, and rows of each, of the first guess at centers and scales of the columns."""

_MOST_VALUES = 20 * MAX_LEVELS
"""Different values that are counted: a column with more has no levels."""

_FIRST_BLANKS = 10


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
            return LevelCounts(Counter({value: count for value, count in pairs if count > 0}), n_blank)
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


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows with the smallest hashes of their indices, values as the source holds them.

    Attributes
    ----------
    rows : ndarray of shape (n,)
        Their indices, rising.
    hashes : ndarray of shape (n,)
    columns : tuple of ndarray
        Numbers, or objects of columns whose levels are counted.
    weights : ndarray of shape (n,) or None
    """

    rows: IntArray
    hashes: NDArray[np.uint64]
    columns: tuple[NDArray[Any], ...]
    weights: FloatArray | None

    def joined(self, following: Sample) -> Sample:
        """Of the rows of both."""
        return Sample(
            np.concatenate([self.rows, following.rows]),
            np.concatenate([self.hashes, following.hashes]),
            tuple(np.concatenate(pair) for pair in zip(self.columns, following.columns, strict=True)),
            None
            if self.weights is None or following.weights is None
            else np.concatenate([self.weights, following.weights]),
        )

    def smallest(self, n_rows: int) -> Sample:
        """The rows with the ``n_rows`` smallest hashes, in the order of their indices."""
        if n_rows >= len(self.rows):
            return self
        kept = np.sort(np.argsort(self.hashes, kind="stable")[:n_rows])
        return Sample(
            self.rows[kept],
            self.hashes[kept],
            tuple(column[kept] for column in self.columns),
            None if self.weights is None else self.weights[kept],
        )


@dataclass(frozen=True, eq=False)
class Survey:
    """What the first pass found.

    Attributes
    ----------
    columns : tuple of Histogram or LevelCounts
        One for each plan.
    sample : Sample
    n_rows : int
    total : float
        How many rows there are, weights counted.
    n_blank_rows : int
        Rows of which nothing is known.
    first_blanks : tuple of int
        The first of them.
    """

    columns: tuple[Histogram | LevelCounts, ...]
    sample: Sample
    n_rows: int
    total: float
    n_blank_rows: int = 0
    first_blanks: tuple[int, ...] = ()

    def joined(self, following: Survey) -> Survey:
        """Of the rows of both."""
        return Survey(
            tuple(a.joined(b) for a, b in zip(self.columns, following.columns, strict=True)),  # type: ignore[arg-type]
            self.sample.joined(following.sample),
            self.n_rows + following.n_rows,
            self.total + following.total,
            self.n_blank_rows + following.n_blank_rows,
            (self.first_blanks + following.first_blanks)[:_FIRST_BLANKS],
        )


@dataclass(frozen=True, eq=False)
class SurveyPass:
    """The map of the first pass; it reads chunks, because columns are not numbers yet.

    Attributes
    ----------
    plans : tuple of ColumnPlan
    threshold : int
        Rows whose hashes are below it are kept.
    """

    plans: tuple[ColumnPlan, ...]
    threshold: int

    def __call__(self, chunk: Chunk, first: int) -> Survey:
        """What is known of a block of rows."""
        weights = chunk.weights
        found: list[Histogram | LevelCounts] = []
        blank = np.ones(len(chunk), dtype=bool)
        numbers: dict[int, FloatArray] = {}
        for k, plan in enumerate(self.plans):
            raw = chunk.columns[plan.position]
            if plan.counts_levels:
                found.append(plan.tally(raw, weights))
                blank &= np.isnan(raw) if isinstance(raw, np.ndarray) else np.asarray(raw.is_null())
            else:
                numbers[k] = plan.numbers(raw)
                _refuse_infinity(numbers[k], plan, first)
                found.append(Histogram.of(numbers[k], weights, first, plan.origin, plan.unit))
                blank &= np.isnan(numbers[k])
        rows = np.arange(first, first + len(chunk))
        hashes = row_hashes(rows)
        kept = hashes < np.uint64(self.threshold)
        if weights is not None:
            kept &= weights > 0
        chosen = np.flatnonzero(kept)
        sample = Sample(
            rows[chosen],
            hashes[chosen],
            tuple(
                numbers[k][chosen] if k in numbers else _taken(plan, chunk.columns[plan.position], chosen)
                for k, plan in enumerate(self.plans)
            ),
            None if weights is None else weights[chosen],
        )
        nothing = np.flatnonzero(blank)
        return Survey(
            tuple(found),
            sample,
            len(chunk),
            float(len(chunk)) if weights is None else float(weights.sum()),
            len(nothing),
            tuple((first + nothing[:_FIRST_BLANKS]).tolist()),
        )


def _taken(plan: ColumnPlan, raw: Any, chosen: IntArray) -> NDArray[Any]:
    return raw[chosen] if isinstance(raw, np.ndarray) else raw_values(plan.raw.title, raw.take(chosen))


def _refuse_infinity(values: FloatArray, plan: ColumnPlan, first: int) -> None:
    infinite = np.isinf(values)
    if infinite.any():
        raise ValueError(
            f"column '{plan.raw.title}' contains infinity (the first in row {first + int(infinite.argmax())}): correct "
            "it, or make it NaN if it stands for a missing value"
        )


def sample_threshold(n_rows: int) -> int:
    """Hashes below it belong to enough rows, and not to many more."""
    largest = 2**64 - 1
    return largest if n_rows <= 2 * SAMPLE_ROWS else int(_SPARE * SAMPLE_ROWS / n_rows * largest)


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


@dataclass(eq=False)
class BlockChunks:
    """Chunks of a source, cut and joined so that each is a block."""

    source: Source
    start: int
    stop: int
    _waiting: list[Chunk] = field(default_factory=list)

    def __iter__(self) -> Any:
        first, n_waiting = self.start, 0
        for chunk in self.source.chunks(self.start, self.stop):
            while len(chunk):
                size = min(BLOCK_ROWS, self.stop - first)
                taken, chunk = _split(chunk, size - n_waiting)
                self._waiting.append(taken)
                n_waiting += len(taken)
                if n_waiting == size:
                    yield _joined(self._waiting), first
                    first, n_waiting, self._waiting = first + size, 0, []
        if first != self.stop:
            raise ended_early(self.source, self.stop - first - n_waiting)


def _split(chunk: Chunk, n_rows: int) -> tuple[Chunk, Chunk]:
    if n_rows >= len(chunk):
        return chunk, Chunk([c[:0] if isinstance(c, np.ndarray) else c.slice(0, 0) for c in chunk.columns])
    parts = []
    for rows in (slice(0, n_rows), slice(n_rows, len(chunk))):
        columns = [
            c[rows] if isinstance(c, np.ndarray) else c.slice(rows.start, rows.stop - rows.start) for c in chunk.columns
        ]
        parts.append(Chunk(columns, None if chunk.weights is None else chunk.weights[rows]))
    return parts[0], parts[1]


def _joined(chunks: Sequence[Chunk]) -> Chunk:
    if len(chunks) == 1:
        return chunks[0]
    columns: list[Any] = []
    for parts in zip(*(chunk.columns for chunk in chunks), strict=True):
        if isinstance(parts[0], np.ndarray):
            columns.append(np.concatenate(parts))
        else:
            import pyarrow as pa

            flat = [piece for part in parts for piece in getattr(part, "chunks", [part])]
            columns.append(pa.chunked_array(flat).unify_dictionaries())
    weights = [chunk.weights for chunk in chunks if chunk.weights is not None]
    return Chunk(columns, np.concatenate(weights) if weights else None)
