"""Columns of a Parquet file, with the types they were stored in: whole numbers stay exact beside gaps."""

from __future__ import annotations

import io
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kfrc_app.tables.columns import ROW_NAMES, Columns, DataError, NotNumbers, Numbers

MAGIC = b"PAR1"


@dataclass(frozen=True, eq=False)
class TypedColumns(Columns):
    """Columns of a Parquet file.

    Attributes
    ----------
    frame : DataFrame
        With Arrow types; an index that was stored is a first column called ``ROW_NAMES``.
    """

    frame: pd.DataFrame

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self.frame.columns)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.frame)

    def text(self, name: str) -> NDArray[Any]:
        """Values as text, blank where there is none."""
        column = self.frame[name]
        cells = column.astype(object).where(self.known(name), "").map(str)
        return cells.to_numpy(dtype=object)

    def known(self, name: str) -> NDArray[np.bool_]:
        """Which values are there."""
        return self.frame[name].astype(object).notna().to_numpy(dtype=bool)

    def numbers(self, names: Sequence[str], *, aside: Collection[str] = ()) -> Numbers:
        """Columns of numbers and of truth values."""
        values, text = {}, {}
        for name in names:
            column = self.frame[name]
            if pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column):
                values[name] = column.to_numpy(dtype=np.float64, na_value=np.nan)
            else:
                known = self.known(name)
                first = int(known.argmax())
                text[name] = NotNumbers(int(known.sum()), int(known.sum()), first + 1, str(column.iloc[first]))
        return Numbers(values, text)


def parse_parquet(content: bytes) -> TypedColumns:
    """Read a Parquet file.

    Parameters
    ----------
    content : bytes

    Returns
    -------
    TypedColumns

    Raises
    ------
    DataError
        If the file is damaged or column names repeat.
    """
    try:
        frame = pd.read_parquet(io.BytesIO(content), dtype_backend="pyarrow")
    except (ValueError, OSError) as error:  # pyarrow's own errors are subclasses of these
        raise DataError(f"the Parquet file cannot be read: {error}") from None
    frame.columns = frame.columns.astype(str)
    if not frame.columns.is_unique:
        raise DataError("column names must differ, but some appear more than once: rename them")
    if not isinstance(frame.index, pd.RangeIndex):  # row names that pandas stored
        frame.insert(0, ROW_NAMES, frame.index)
    return TypedColumns(frame.reset_index(drop=True))
