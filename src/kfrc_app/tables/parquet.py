"""Columns of a Parquet file, with the types they were stored in: whole numbers stay exact beside gaps."""

from __future__ import annotations

import io
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from kfrc_app.tables.columns import ROW_NAMES, Columns, DataError, NotNumbers, Numbers, refuse_repeated

MAGIC = b"PAR1"
_KINDS_OF_TEXT = {"string_view", "binary", "large_binary", "binary_view"}


@dataclass(frozen=True, eq=False)
class TypedColumns(Columns):
    """Columns of a Parquet file.

    Attributes
    ----------
    frame : DataFrame
        With Arrow types; an index that was stored makes the first columns.
    row_names : tuple of str
        Names of the columns that were the index; ``ROW_NAMES`` for one without a name.
    """

    frame: pd.DataFrame
    row_names: tuple[str, ...] = ()

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
            if column.isna().all():
                values[name] = np.full(len(column), np.nan)
            elif pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column):
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
        stored = pq.ParquetFile(io.BytesIO(content)).read()
        refuse_repeated(stored.column_names)
        frame = _with_plain_text(stored).to_pandas(types_mapper=pd.ArrowDtype)
    except (OSError, pa.ArrowException) as error:
        raise DataError(f"the Parquet file cannot be read: {error}") from None
    frame.columns = frame.columns.astype(str)
    row_names: tuple[str, ...] = (ROW_NAMES,) if ROW_NAMES in frame.columns else ()
    if not isinstance(frame.index, pd.RangeIndex):
        row_names = tuple(ROW_NAMES if name is None else str(name) for name in frame.index.names)
        refuse_repeated([*row_names, *frame.columns])
        frame = frame.reset_index(names=list(row_names))
    return TypedColumns(frame, row_names)


def _with_plain_text(stored: Any) -> Any:
    """The same table with text of one type: some programs write views, or bytes that do not say that they are text."""
    for j, column in enumerate(stored.columns):
        if str(column.type) in _KINDS_OF_TEXT:
            with suppress(pa.ArrowInvalid):  # other bytes stay as they are
                stored = stored.set_column(j, stored.column_names[j], column.cast(pa.large_string()))
    return stored
