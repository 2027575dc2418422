"""Rows that need not fit into memory: Parquet and text files, Arrow data sets, mapped arrays, Dask collections."""

from __future__ import annotations

from typing import Any

from kfrc.sources.arrays import ArraySource
from kfrc.sources.arrow import ArrowSource, ParquetSource, parquet_files
from kfrc.sources.base import Chunk, Source, SourceError, natural_order
from kfrc.sources.dask import DaskSource
from kfrc.sources.sampling import row_hashes, sampled_rows, table_of_rows
from kfrc.sources.text import CSVSource

__all__ = [
    "ArraySource",
    "ArrowSource",
    "CSVSource",
    "Chunk",
    "DaskSource",
    "ParquetSource",
    "Source",
    "SourceError",
    "as_source",
    "natural_order",
    "parquet_files",
    "row_hashes",
    "sampled_rows",
    "table_of_rows",
]


def as_source(X: Any) -> Source | None:
    """What a user gives to a fit as a source; None if it is a table in memory.

    Sources, Arrow data sets, dask DataFrames and arrays are rows that need not fit into memory. A NumPy memmap is an
    array like others, whose memberships are arrays, unless it is wrapped in an :class:`ArraySource`.

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc.sources import as_source
    >>> as_source(np.zeros((3, 2))) is None
    True
    """
    if isinstance(X, Source):
        return X
    library = type(X).__module__.split(".")[0]
    if library == "pyarrow" and hasattr(X, "get_fragments"):
        return ArrowSource(X)
    if library in ("dask", "dask_expr") and hasattr(X, "to_delayed"):
        return DaskSource(X)
    return None
