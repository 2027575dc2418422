"""Tables of other libraries as raw columns: pandas, polars and Arrow, told by what they can do, never imported."""

from __future__ import annotations

import datetime
import decimal
import fractions
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kfrc.columns.base import is_blank

_POLARS_NUMBERS = ("Int", "UInt", "Float")
_TIMES = ("date", "time", "duration", "period")
"""How names of types of dates, times and durations begin, in all three libraries."""
_ARROW_NUMBERS = ("int", "uint", "float", "double", "halffloat")


@dataclass(frozen=True, eq=False)
class RawColumn:
    """A column as a table holds it.

    Attributes
    ----------
    title : str
    kind : {"numeric", "ordinal", "nominal", "date"} or None
        What its type says; None if it says nothing, as a column of arbitrary objects.
    values : ndarray of shape (n_rows,)
        Floats with NaN, dates with NaT, or objects with None.
    levels : tuple or None
        In their order, if the type of the column names them.
    is_text : bool
        Whether it holds text that might be names or remarks as well as levels.
    converted : bool
        Whether its numbers were something else: durations (in days), times of day (in hours), decimals.
    """

    title: Any
    kind: str | None
    values: NDArray[Any]
    levels: tuple[Any, ...] | None = None
    is_text: bool = False
    converted: bool = False


def library_of(X: Any) -> str | None:
    """Which library a table is from, None if it is no table with typed columns."""
    if type(X).__name__ == "LazyFrame":
        raise TypeError("X is a LazyFrame, whose rows are not there yet: pass X.collect()")
    library = type(X).__module__.split(".")[0]
    known = {
        "pandas": hasattr(X, "dtypes") and hasattr(X, "columns"),
        "polars": hasattr(X, "schema") and hasattr(X, "columns"),
        "pyarrow": hasattr(X, "column_names"),
    }
    return library if known.get(library, False) else None


def titles_of(X: Any) -> list[Any]:
    """Names of the columns of a table."""
    return list(X.column_names if library_of(X) == "pyarrow" else X.columns)


def refuse_repeated_titles(X: Any) -> None:
    """Stop if columns of a table cannot be told apart."""
    if library_of(X) is None:
        return
    repeated = [title for title, count in Counter(titles_of(X)).items() if count > 1]
    if repeated:
        raise ValueError(
            f"names of columns must differ, but {repeated[0]!r} appears more than once: rename one of them"
        )


def titles_of_times(X: Any) -> list[Any]:
    """Names of the columns of a table, or an array, whose type says that they hold dates, times or durations."""
    library = library_of(X)
    if library is None:
        of_times = getattr(getattr(X, "dtype", None), "kind", "") in ("m", "M")
        return list(range(X.shape[-1])) if of_times and X.ndim else []
    types = X.schema.types if library == "pyarrow" else list(X.dtypes)
    named = zip(titles_of(X), types, strict=True)
    return [title for title, each in named if str(each).lower().startswith(_TIMES)]


def raw_columns(X: Any) -> Iterator[RawColumn]:
    """The columns of a table, or of an array of numbers or objects."""
    library = library_of(X)
    if library == "pandas":
        for position, title in enumerate(X.columns):
            yield _from_pandas(title, X.iloc[:, position])
    elif library == "polars":
        for title in X.columns:
            yield _from_polars(title, X[title])
    elif library == "pyarrow":
        for title in X.column_names:
            yield _from_arrow(title, X.column(title))
    else:
        array = np.asarray(X)
        for position in range(array.shape[1]):
            yield _from_objects(position, array[:, position])


def raw_values(title: Any, column: Any) -> NDArray[Any]:
    """Values of an Arrow column as a type of column encodes them; dates without a detour through objects."""
    if str(column.type).startswith(("date", "timestamp")):
        return np.asarray(column).astype("datetime64[us]")
    return _from_arrow(title, column).values


def _from_pandas(title: Any, series: Any) -> RawColumn:
    dtype = series.dtype
    if hasattr(dtype, "categories"):  # categorical
        named = _objects([*_plain(dtype.categories), None])
        values = named[series.cat.codes.to_numpy()]  # a blank has the code −1
        levels = tuple(named[:-1].tolist()) if dtype.ordered else None
        return RawColumn(title, "ordinal" if dtype.ordered else "nominal", values, levels)
    if getattr(dtype, "pyarrow_dtype", None) is not None:
        return _from_arrow(title, series.array.__arrow_array__())
    kind = getattr(dtype, "kind", "O")
    if kind == "M":
        naive = series.dt.tz_convert(None) if getattr(dtype, "tz", None) is not None else series
        return RawColumn(title, "date", naive.to_numpy(dtype="datetime64[us]"))
    if kind == "m":
        return _days(title, series.to_numpy())
    if type(dtype).__name__ == "PeriodDtype":
        return RawColumn(title, "date", series.dt.to_timestamp().to_numpy(dtype="datetime64[us]"))
    if kind == "c":
        raise ValueError(f"column '{title}' holds complex numbers: complex data not supported")
    if kind in "iuf":
        return RawColumn(title, "numeric", series.to_numpy(dtype=np.float64, na_value=np.nan))
    return _from_objects(title, series.astype(object).to_numpy())


def _from_polars(title: Any, series: Any) -> RawColumn:
    kind = series.dtype.__name__ if isinstance(series.dtype, type) else type(series.dtype).__name__
    if kind == "Enum":
        return RawColumn(title, "ordinal", _objects(series.to_list()), tuple(series.dtype.categories.to_list()))
    if kind == "Categorical":
        return RawColumn(title, "nominal", _objects(series.to_list()))
    if kind in ("Date", "Datetime"):
        naive = series.dt.replace_time_zone(None) if kind == "Datetime" else series
        return RawColumn(title, "date", naive.to_numpy().astype("datetime64[us]"))
    if kind == "Decimal":
        return RawColumn(title, "numeric", _floats(series.to_list()), converted=True)
    if kind == "Duration":
        return _days(title, series.to_numpy())
    if kind.startswith(_POLARS_NUMBERS):
        return RawColumn(title, "numeric", series.to_numpy().astype(np.float64))
    return _from_objects(title, _objects(series.to_list()))


def _from_arrow(title: Any, column: Any) -> RawColumn:
    kind = str(column.type)
    if kind.startswith("dictionary"):
        ordered = bool(column.type.ordered)
        whole = column.combine_chunks() if hasattr(column, "combine_chunks") else column
        levels = tuple(whole.dictionary.to_pylist()) if ordered else None
        return RawColumn(title, "ordinal" if ordered else "nominal", _objects(column.to_pylist()), levels)
    if kind.startswith(("date", "timestamp")):
        return RawColumn(title, "date", _objects(column.to_pylist()))
    if kind.startswith("decimal"):
        return RawColumn(title, "numeric", _floats(column.to_pylist()), converted=True)
    if kind.startswith("duration"):
        return _days(title, np.asarray(column))
    if kind.startswith(_ARROW_NUMBERS):
        return RawColumn(title, "numeric", np.asarray(column).astype(np.float64))
    return _from_objects(title, _objects(column.to_pylist()))


def _from_objects(title: Any, values: NDArray[Any]) -> RawColumn:
    """A column of objects: what its values are tells what it is."""
    if values.dtype.kind in "iuf":
        return RawColumn(title, "numeric", values.astype(np.float64))
    if values.dtype.kind == "b":
        return RawColumn(title, "nominal", values.astype(object))
    if values.dtype.kind == "M":
        return RawColumn(title, "date", values)
    values = _objects(_plain(values))
    types = {type(value) for value in values[~is_blank(values)].tolist()}
    if not types:
        return RawColumn(title, None, values)
    if types <= {bool}:
        return RawColumn(title, "nominal", values)
    if types <= {int, float}:
        return RawColumn(title, "numeric", values)
    if types <= {int, float, decimal.Decimal, fractions.Fraction}:
        return RawColumn(title, "numeric", values, converted=True)
    if types <= {datetime.timedelta}:
        return _days(title, np.array(values.tolist(), dtype="timedelta64[us]"))
    if types <= {datetime.time}:
        hours = [None if t is None else t.hour + t.minute / 60 + t.second / 3600 for t in values.tolist()]
        return RawColumn(title, "numeric", _floats(hours), converted=True)
    if all(hasattr(kind, "isoformat") for kind in types):
        return RawColumn(title, "date", values)
    return RawColumn(title, "nominal", values, is_text=True)


def _days(title: Any, durations: NDArray[Any]) -> RawColumn:
    return RawColumn(title, "numeric", durations / np.timedelta64(1, "D"), converted=True)


def _floats(values: list[Any]) -> NDArray[Any]:
    return np.array([np.nan if value is None else float(value) for value in values], dtype=np.float64)


def _plain(values: Any) -> list[Any]:
    """Values as Python objects: 1 of any width is one level."""
    return [value.item() if isinstance(value, np.generic) else value for value in values]


def _objects(values: list[Any]) -> NDArray[Any]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
