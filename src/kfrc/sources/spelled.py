"""Text that a Parquet file keeps once and refers to from its rows: how long it is when every row has its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kfrc.sources.pages import FileParts


def coded_texts(parts: FileParts, schema: Any, groups: Sequence[int], names: Sequence[str]) -> list[str]:
    """The columns of text that are stored as references to a list of values in some of the row groups.

    Parameters
    ----------
    parts : FileParts
    schema : pyarrow.Schema
    groups : sequence of int
    names : sequence of str
        Columns to look at.
    """
    import pyarrow.types as types

    kinds = (types.is_string, types.is_large_string, types.is_binary)
    coded = {chunk.name for group in groups for chunk in parts.groups[group] if chunk.coded}
    return [name for name in names if name in coded and any(is_kind(schema.field(name).type) for is_kind in kinds)]


def spelled_bytes(column: Any) -> int:
    """Bytes of a column of references if every row has its own text; the references must have been validated.

    Parameters
    ----------
    column : pyarrow.Array or pyarrow.ChunkedArray

    Examples
    --------
    >>> import pyarrow as pa
    >>> from kfrc.sources.spelled import spelled_bytes
    >>> spelled_bytes(pa.array(["aaaa", "b", "aaaa", None]).dictionary_encode())
    9
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_dictionary(column.type):
        return 0
    total = 0
    for chunk in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
        values = chunk.dictionary
        if len(values) == 0 or not any(
            is_kind(values.type)
            for is_kind in (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary)
        ):
            continue
        lengths = pc.binary_length(values).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
        known = chunk.indices.drop_null().to_numpy(zero_copy_only=False)
        total += int(np.bincount(known, minlength=len(lengths))[: len(lengths)] @ lengths)
    return total
