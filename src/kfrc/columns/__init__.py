"""Columns of any type: how their values become numbers, and how far apart two of them are."""

from kfrc.columns.base import Column
from kfrc.columns.frames import library_of, raw_columns, titles_of
from kfrc.columns.schema import DROP, MISSING, Schema, table_of
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
    "Rows",
    "Schema",
    "Table",
    "library_of",
    "log_deviations",
    "on_columns",
    "raw_columns",
    "table_of",
    "thinned_rows",
    "titles_of",
    "values_of",
    "weights_of",
]
