"""A few rows of a source as a table: chosen by a hash of their index, so that it does not matter how they are read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kfrc._numerics import HASH_INCREMENT, scramble
from kfrc.sources.base import Source
from kfrc.typing import IntArray

_STRETCH = 1 << 20
"""Rows whose hashes are looked at together."""


def row_hashes(rows: IntArray) -> NDArray[np.uint64]:
    """One number per row index, as good as random.

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc.sources import row_hashes
    >>> bool((np.diff(np.sort(row_hashes(np.arange(1000)))) > 0).all())
    True
    """
    keys = rows.astype(np.uint64) * HASH_INCREMENT + HASH_INCREMENT
    scramble(keys)
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
