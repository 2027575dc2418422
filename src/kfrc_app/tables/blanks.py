"""Cells of an Arrow column made missing."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc


def without(cells: Any, where: Any) -> Any:
    """The cells, with nulls where a condition holds.

    A null scalar would say the same in fewer bytes. But Arrow before 24 then writes wrong text for an array that does
    not begin where its memory does, such as a column of which the first rows were cut off.

    Parameters
    ----------
    cells : Arrow array, in chunks or not
    where : Arrow array of truth values
        As long as the cells.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from kfrc_app.tables.blanks import without
    >>> cells = pa.array(["mg", "10.5", "NA", "9.75"]).slice(1)
    >>> without(cells, pa.array([False, True, False])).to_pylist()
    ['10.5', None, '9.75']
    """
    return pc.if_else(where, pa.nulls(len(cells), cells.type), cells)
