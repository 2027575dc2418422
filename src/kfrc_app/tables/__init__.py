"""Reading of tables: files of many dialects become columns of any type, names of rows, weights and known labels."""

from kfrc_app.tables.columns import DataError
from kfrc_app.tables.kinds import Kind, Wish, parse_wishes
from kfrc_app.tables.matrix import Dissimilarities, read_dissimilarities
from kfrc_app.tables.new_rows import FittedColumn, read_new_rows
from kfrc_app.tables.numbers import DECIMAL_MARKS, THOUSANDS_MARKS, Marks
from kfrc_app.tables.preview import ColumnPreview, Preview, Role, preview_table
from kfrc_app.tables.questions import Choice, OpenQuestionError, Question
from kfrc_app.tables.rows import InputRows, Missing
from kfrc_app.tables.table import STANDARD_INPUT, Table, read_table
from kfrc_app.tables.understanding import kind_of

__all__ = [
    "DECIMAL_MARKS",
    "STANDARD_INPUT",
    "THOUSANDS_MARKS",
    "Choice",
    "ColumnPreview",
    "DataError",
    "Dissimilarities",
    "FittedColumn",
    "InputRows",
    "Kind",
    "Marks",
    "Missing",
    "OpenQuestionError",
    "Preview",
    "Question",
    "Role",
    "Table",
    "Wish",
    "kind_of",
    "parse_wishes",
    "preview_table",
    "read_dissimilarities",
    "read_new_rows",
    "read_table",
]
