"""Chunks of a source as blocks: raw columns, cut and joined at the rows where blocks begin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kfrc.blocks.partition import BLOCK_ROWS
from kfrc.blocks.reader import ended_early
from kfrc.sources import Chunk, Source


@dataclass(frozen=True, eq=False)
class BlockChunks:
    """Chunks of a source, cut and joined so that each is a block."""

    source: Source
    start: int
    stop: int

    def __iter__(self) -> Iterator[tuple[Chunk, int]]:
        """Every block as a chunk, and its first row."""
        first, n_waiting = self.start, 0
        waiting: list[Chunk] = []
        for chunk in self.source.chunks(self.start, self.stop):
            while len(chunk):
                size = min(BLOCK_ROWS, self.stop - first)
                taken, chunk = _split(chunk, size - n_waiting)
                waiting.append(taken)
                n_waiting += len(taken)
                if n_waiting == size:
                    yield _joined(waiting), first
                    first, n_waiting, waiting = first + size, 0, []
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
