"""A few rows of a source as a table: chosen by a hash of their index, so that it does not matter how they are read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kfrc.sources.base import Source
from kfrc.typing import IntArray

_STRETCH = 1 << 20
"""Rows whose hashes are looked at together."""

# The finalizer of SplitMix64, whose output changes in every bit with any bit of its input.
_INCREMENT = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def row_hashes(rows: IntArray) -> NDArray[np.uint64]:
    """One number per row index, as good as random.

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc.sources import row_hashes
    >>> bool((np.diff(np.sort(row_hashes(np.arange(1000)))) > 0).all())
    True
    """
    keys = rows.astype(np.uint64) * _INCREMENT + _INCREMENT
    keys ^= keys >> np.uint64(30)
    keys *= _FIRST
    keys ^= keys >> np.uint64(27)
    keys *= _SECOND
    keys ^= keys >> np.uint64(31)
    return keys


def sampled_rows(n_rows: int, size: int) -> IntArray:
    """Indices of the rows with the smallest hashes, rising.

    Examples
    --------
    >>> from kfrc.sources import sampled_rows
    >>> sampled_rows(3, 10), len(sampled_rows(10_000, 10))
    (array([0, 1, 2]), 10)
    """
    kept = np.empty(0, dtype=np.int64)
    for start in range(0, n_rows, _STRETCH):
        rows = np.concatenate([kept, np.arange(start, min(start + _STRETCH, n_rows))])
        kept = rows[np.argsort(row_hashes(rows), kind="stable")[:size]]
    return np.sort(kept)


def table_of_rows(source: Source, rows: IntArray, names: Sequence[str]) -> Any:
    """Some rows, given by rising indices, and some columns as an Arrow table; all of the source is read once."""
    import pyarrow as pa

    parts = []
    for start in range(0, source.n_rows, _STRETCH):
        stop = min(start + _STRETCH, source.n_rows)
        inside = rows[np.searchsorted(rows, start) : np.searchsorted(rows, stop)]
        if len(inside):
            columns = source.named_columns(start, stop, names)
            parts.append(pa.table({name: c.take(inside - start) for name, c in zip(names, columns, strict=True)}))
    return pa.concat_tables(parts)
