"""Reading of tables: files of many dialects become columns of numbers, names of rows and known labels."""

from kfrc_app.tables.delimited import DataError
from kfrc_app.tables.table import (
    STANDARD_INPUT,
    Dissimilarities,
    Missing,
    Table,
    read_dissimilarities,
    read_new_rows,
    read_table,
)

__all__ = [
    "STANDARD_INPUT",
    "DataError",
    "Dissimilarities",
    "Missing",
    "Table",
    "read_dissimilarities",
    "read_new_rows",
    "read_table",
]
