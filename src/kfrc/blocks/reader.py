"""Blocks of rows as numbers: what a source holds, encoded and in standard units, column by column."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from kfrc._numerics import FARTHEST
from kfrc.blocks.partition import BLOCK_ROWS, Partition
from kfrc.columns import Column, raw_values
from kfrc.sources import Chunk, Source, SourceError
from kfrc.typing import FloatArray


@dataclass(frozen=True, eq=False)
class Block:
    """A block of rows.

    Attributes
    ----------
    first : int
        Its first row.
    values : ndarray of shape (n_columns, n_rows)
        NaN where nothing is known.
    weights : ndarray of shape (n_rows,) or None
    """

    first: int
    values: FloatArray
    weights: FloatArray | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.values.shape[1]


class Coding:
    """How raw columns become numbers; a subclass knows more than that they are numbers already."""

    def write(self, chunk: Chunk, out: FloatArray) -> None:
        """Numbers of a chunk, into ``out`` of shape (n_columns, n_rows)."""
        for j, column in enumerate(chunk.columns):
            out[j] = as_numbers(column)

    @property
    def n_columns(self) -> int | None:
        """Columns that it makes; None if as many as it is given."""
        return None


@dataclass(frozen=True, eq=False)
class Standardizing(Coding):
    """Chosen columns, encoded, within fences and in standard units.

    Attributes
    ----------
    positions : tuple of int
        Which columns of the source.
    columns : tuple of Column or None
        What they are; None if all are numbers.
    low, high : ndarray of shape (k,)
        Fences, infinite where there are none.
    mean, scale : ndarray of shape (k,)
        Units of the columns of numbers: zero and one for levels.
    coded : bool
        Whether the source holds codes of levels rather than the levels themselves.
    """

    positions: tuple[int, ...]
    columns: tuple[Column, ...] | None
    low: FloatArray
    high: FloatArray
    mean: FloatArray
    scale: FloatArray
    coded: bool = False

    def write(self, chunk: Chunk, out: FloatArray) -> None:  # noqa: D102
        for k, j in enumerate(self.positions):
            raw = chunk.columns[j]
            values = as_numbers(raw) if self.columns is None or self.coded else encoded(self.columns[k], raw)
            target = out[k]
            if self.columns is not None and not self.columns[k].continuous:
                target[:] = values
                continue
            np.clip(values, self.low[k], self.high[k], out=target)
            target -= self.mean[k]
            target /= self.scale[k]
            np.clip(target, -FARTHEST, FARTHEST, out=target)

    @property
    def n_columns(self) -> int | None:  # noqa: D102
        return len(self.positions)


def as_numbers(column: Any) -> FloatArray:
    """A raw column of numbers as floats, NaN where nothing is known."""
    if isinstance(column, np.ndarray):
        return column.astype(np.float64, copy=False)
    try:
        return column.to_numpy(zero_copy_only=False).astype(np.float64, copy=False)
    except TypeError:  # chunked arrays of Arrow always copy
        return column.to_numpy().astype(np.float64, copy=False)


def encoded(column: Column, raw: Any) -> FloatArray:
    """Codes of a raw column; what repeats is encoded once."""
    if isinstance(raw, np.ndarray):
        return raw if column.continuous and raw.dtype.kind == "f" else column.encode(raw)
    if column.discrete and hasattr(raw, "dictionary_encode"):
        whole = raw.combine_chunks() if hasattr(raw, "combine_chunks") else raw
        if not hasattr(whole, "dictionary"):
            whole = whole.dictionary_encode()
        codes = column.encode(np.append(raw_values(column.title, whole.dictionary), [None]))
        places = whole.indices.fill_null(len(codes) - 1).to_numpy(zero_copy_only=False)
        return codes[places]
    return column.encode(raw_values(column.title, raw))


@dataclass(frozen=True, eq=False)
class Reader:
    """A source whose rows become numbers.

    Attributes
    ----------
    source : Source
    coding : Coding
    partition : Partition
    """

    source: Source
    coding: Coding
    partition: Partition

    def blocks(self, blocks: range) -> Iterator[Block]:
        """Consecutive blocks."""
        start, stop = self.partition.rows(blocks)
        first, filled = start, 0
        values: FloatArray | None = None
        weights: FloatArray | None = None
        for chunk in self.source.chunks(start, stop):
            used = 0
            while used < len(chunk):
                size = min(BLOCK_ROWS, stop - first)
                if values is None:
                    n_columns = self.coding.n_columns or len(chunk.columns)
                    values = np.empty((n_columns, size))
                    weights = None if chunk.weights is None else np.empty(size)
                n_taken = min(len(chunk) - used, size - filled)
                part = chunk if n_taken == len(chunk) else _cut(chunk, used, n_taken)
                self.coding.write(part, values[:, filled : filled + n_taken])
                if weights is not None:
                    assert part.weights is not None
                    weights[filled : filled + n_taken] = part.weights
                used += n_taken
                filled += n_taken
                if filled == size:
                    yield Block(first, values, weights)
                    first, filled, values = first + size, 0, None
        if first != stop:
            raise ended_early(self.source, stop - first - filled)

    def beginning_at(self, first_block: int) -> Reader:
        """The same reader, whose tasks begin at a block."""
        return replace(self, partition=replace(self.partition, first_block=first_block)) if first_block else self

    def reading(self, blocks: range, pieces: Any) -> Reader:
        """The reader of blocks whose pieces have arrived."""
        start, stop = self.partition.rows(blocks)
        return replace(self, source=self.source.reading(start, stop, pieces))

    def kept(self, memory: int) -> Reader:
        """A reader that keeps the blocks it has made, if all of them fit into half of the memory."""
        n_columns = self.coding.n_columns or len(self.source.names)
        fits = 8 * n_columns * self.partition.n_rows <= memory // 2
        return KeepingReader(self.source, self.coding, self.partition) if fits else self


@dataclass(frozen=True, eq=False)
class KeepingReader(Reader):
    """A reader that reads every block once: in this process, what is sent to another begins anew."""

    _blocks: dict[int, Block] = field(default_factory=dict)

    def blocks(self, blocks: range) -> Iterator[Block]:
        """Consecutive blocks, from memory if they were read before."""
        if all(index in self._blocks for index in blocks):
            yield from (self._blocks[index] for index in blocks)
            return
        for index, block in zip(blocks, super().blocks(blocks), strict=True):
            self._blocks[index] = block
            yield block

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_blocks": {}}


def _cut(chunk: Chunk, start: int, length: int) -> Chunk:
    rows = slice(start, start + length)
    columns = [c[rows] if isinstance(c, np.ndarray) else c.slice(start, length) for c in chunk.columns]
    return Chunk(columns, None if chunk.weights is None else chunk.weights[rows])


def ended_early(source: Source, missing: int) -> SourceError:
    """What to raise if a source has fewer rows than it said."""
    return SourceError(f"{source.described} ended {missing} row(s) too early: did it change while it was read?")
