"""Columns of a Parquet file, with the types they were stored in: whole numbers stay exact beside gaps."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from kfrc.typing import FloatArray
from kfrc_app.tables.columns import Columns, DataError, NotNumbers, Numbers, in_quotes
from kfrc_app.tables.dates import UNIT
from kfrc_app.tables.identifiers import are_long
from kfrc_app.tables.parquet_bytes import read_stored

MAGIC = b"PAR1"
_WHOLE = "^(-?[0-9]+)?$"  # blank where nothing is known
_KINDS_OF_TEXT = {"binary", "large_binary"}


@dataclass(frozen=True, eq=False)
class TypedColumns(Columns):
    """Columns of a Parquet file.

    Attributes
    ----------
    frame : DataFrame
        With Arrow types; an index that was stored makes the first columns.
    row_names : tuple of str
        Names of the columns that were the index; ``ROW_NAMES`` for one without a name.
    ordered : mapping of str to bool
        The columns that were stored as categories, and whether these have an order.
    noticed : tuple of str
    """

    frame: pd.DataFrame
    row_names: tuple[str, ...] = ()
    ordered: Mapping[str, bool] = field(default_factory=dict)
    noticed: tuple[str, ...] = ()

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
        try:
            cells = column.astype(object).where(self.known(name), "").map(str)
        except (OverflowError, ValueError):
            raise _beyond_calendar(name) from None
        return cells.to_numpy(dtype=object)

    def known(self, name: str) -> NDArray[np.bool_]:
        """Which values are there."""
        missing = pc.is_null(_arrow(self.frame[name]), nan_is_null=True)
        return ~missing.combine_chunks().to_numpy(zero_copy_only=False)

    def stored(self, name: str) -> pd.Series[Any] | None:
        """Numbers as floats, truth values and categories as levels, points in time as dates; None for text."""
        column = self.frame[name]
        if column.isna().all():
            return None
        if name in self.ordered or pd.api.types.is_bool_dtype(column):
            return self._levels(name)
        if pd.api.types.is_numeric_dtype(column):
            return pd.Series(column.to_numpy(dtype=np.float64, na_value=np.nan))
        return _times(name, column)

    def _levels(self, name: str) -> pd.Series[Any]:
        """A column of categories, named as text; those that have an order keep it, also where they are not used."""
        found = _arrow(self.frame[name])
        if not pa.types.is_dictionary(found.type):
            found = pc.dictionary_encode(found)
        found = found.combine_chunks()
        values = found.dictionary.to_pylist()
        codes = found.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        ordered = self.ordered.get(name, False)
        if not pa.types.is_dictionary(_arrow(self.frame[name]).type):  # numbers, whose order is their own
            rank = np.argsort(values)
            codes = np.where(codes < 0, -1, np.argsort(rank)[codes])
            values = [values[k] for k in rank]
        levels = pd.Categorical.from_codes(codes, [str(value) for value in values], ordered=ordered)
        return pd.Series(levels if ordered else levels.remove_unused_categories())

    def _long_numbers(self, name: str) -> FloatArray | None:
        """Text of nothing but whole numbers that are names in truth, as numbers; None for other columns."""
        cells = _arrow(self.frame[name])
        if not (pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type)):
            return None
        if not pc.all(pc.match_substring_regex(cells, _WHOLE)).as_py():
            return None
        known = pc.if_else(pc.equal(cells, ""), pa.scalar(None, cells.type), cells)
        values = known.cast(pa.float64()).to_numpy()
        return values if are_long(self, name, values) else None

    def numbers(self, names: Sequence[str], *, aside: Collection[str] = ()) -> Numbers:
        """Columns of numbers and of truth values."""
        values, text = {}, {}
        for name in names:
            column = self.frame[name]
            if column.isna().all():
                values[name] = np.full(len(column), np.nan)
            elif pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column):
                values[name] = column.to_numpy(dtype=np.float64, na_value=np.nan)
            elif (long := self._long_numbers(name)) is not None:
                values[name] = long
            else:
                known = self.known(name)
                first = int(known.argmax())
                try:
                    shown = str(column.iloc[first])
                except (OverflowError, ValueError):
                    raise _beyond_calendar(name) from None
                text[name] = NotNumbers(int(known.sum()), int(known.sum()), first + 1, shown)
        return Numbers(values, text)


def parse_parquet(content: bytes) -> TypedColumns:
    """Read a Parquet file.

    Decimal numbers are numbers. Columns of lists, objects and maps are left out, with a note. An index of several
    levels makes several columns, which name the rows together.

    Parameters
    ----------
    content : bytes

    Returns
    -------
    TypedColumns

    Raises
    ------
    DataError
        If the file is damaged, or becomes far more than it should when it is read.
    """
    stored = read_stored(content)
    try:
        frame = _with_plain_text(stored.table).to_pandas(types_mapper=pd.ArrowDtype)
    except (pa.ArrowException, ValueError, OverflowError) as error:
        raise DataError(f"the Parquet file cannot be read: {error}") from None
    return TypedColumns(frame, stored.row_names, stored.ordered, stored.notes)


def _arrow(column: pd.Series[Any]) -> Any:
    found = pa.array(column.array)
    return found if isinstance(found, pa.ChunkedArray) else pa.chunked_array([found])


def _beyond_calendar(name: str) -> DataError:
    return DataError(
        f"column {in_quotes(name)} holds dates outside the years 1 to 9999: correct them, or leave it out with --drop"
    )


def _times(name: str, column: pd.Series[Any]) -> pd.Series[Any] | None:
    """Points in time in universal time, spans of time in days; None for anything else."""
    kind = _arrow(column).type
    if pa.types.is_duration(kind):
        return pd.Series(
            column.to_numpy(dtype="timedelta64[us]", na_value=np.timedelta64("NaT", "us")) / np.timedelta64(1, "D")
        )
    if not (pa.types.is_timestamp(kind) or pa.types.is_date(kind)):
        return None
    unit: Any = "D" if pa.types.is_date32(kind) else "ms" if pa.types.is_date64(kind) else kind.unit
    whole = _arrow(column).cast(pa.int32() if unit == "D" else pa.int64()).drop_null().to_numpy()
    first, last = (np.datetime64(day, unit).astype(np.int64) for day in _calendar(unit))
    if len(whole) and not first <= whole.min() <= whole.max() <= last:
        raise _beyond_calendar(name)
    times = _arrow(column).cast(pa.timestamp("us", getattr(kind, "tz", None)), safe=False).cast(pa.timestamp("us"))
    return pd.Series(times.combine_chunks().to_numpy(zero_copy_only=False).astype(UNIT))


def _calendar(unit: str) -> tuple[str, str]:
    """First and last day that dates have; nanoseconds do not reach so far."""
    return ("1678-01-01", "2262-01-01") if unit == "ns" else ("0001-01-01", "9999-12-31")


def _with_plain_text(stored: Any) -> Any:
    """The same table with text of one type: some programs write views, or bytes that do not say that they are text."""
    for j, column in enumerate(stored.columns):
        if str(column.type) in _KINDS_OF_TEXT:
            with suppress(pa.ArrowInvalid):  # other bytes stay as they are
                stored = stored.set_column(j, stored.column_names[j], column.cast(pa.large_string()))
    return stored
