"""Columns of any type: how their values become numbers, and how far apart two of them are."""

from kfrc.columns.base import Column, is_blank
from kfrc.columns.frames import (
    RawColumn,
    library_of,
    raw_columns,
    raw_values,
    refuse_repeated_titles,
    titles_of,
    titles_of_times,
)
from kfrc.columns.schema import DROP, MISSING, Schema, column_request, learn_column, table_of, warn_of_left_out
from kfrc.columns.table import Rows, Table, log_deviations, on_columns, thinned_rows, values_of, weights_of
from kfrc.columns.types import MAX_LEVELS, Cyclic, Date, Levels, Measured, Nominal, Numeric, Ordinal

__all__ = [
    "DROP",
    "MAX_LEVELS",
    "MISSING",
    "Column",
    "Cyclic",
    "Date",
    "Levels",
    "Measured",
    "Nominal",
    "Numeric",
    "Ordinal",
    "RawColumn",
    "Rows",
    "Schema",
    "Table",
    "column_request",
    "is_blank",
    "learn_column",
    "library_of",
    "log_deviations",
    "on_columns",
    "raw_columns",
    "raw_values",
    "refuse_repeated_titles",
    "table_of",
    "thinned_rows",
    "titles_of",
    "titles_of_times",
    "values_of",
    "warn_of_left_out",
    "weights_of",
]
