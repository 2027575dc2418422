"""Reading of tables: files of many dialects become columns of numbers, names of rows and known labels."""

from kfrc_app.tables.columns import DataError
from kfrc_app.tables.matrix import Dissimilarities, read_dissimilarities
from kfrc_app.tables.numbers import DECIMAL_MARKS, THOUSANDS_MARKS, Marks
from kfrc_app.tables.table import STANDARD_INPUT, InputRows, Missing, Table, read_new_rows, read_table

__all__ = [
    "DECIMAL_MARKS",
    "STANDARD_INPUT",
    "THOUSANDS_MARKS",
    "DataError",
    "Dissimilarities",
    "InputRows",
    "Marks",
    "Missing",
    "Table",
    "read_dissimilarities",
    "read_new_rows",
    "read_table",
]
