"""A whole fit as functions: parameters become settings, a table and settings become one frozen result."""

from kfrc.fitting.fit import count_table, fit_gram, fit_table
from kfrc.fitting.ignored import parameters_in_vain
from kfrc.fitting.remarks import remarks
from kfrc.fitting.result import KernelFit, PosteriorRows
from kfrc.fitting.settings import (
    AUTO,
    MEMBERSHIPS,
    OUTLIERS,
    PAPER,
    PRECOMPUTED,
    Counting,
    Settings,
    is_auto,
    resolve_settings,
)
from kfrc.fitting.source import N_PASS_TASKS, Checkpoint, SourceFit, SourceTable, fit_source, why_not_in_blocks
from kfrc.fitting.table import KernelSpace, TableView, warn_of_blank_rows
from kfrc.fitting.tuning import Chosen, Fixed

__all__ = [
    "AUTO",
    "MEMBERSHIPS",
    "N_PASS_TASKS",
    "OUTLIERS",
    "PAPER",
    "PRECOMPUTED",
    "Checkpoint",
    "Chosen",
    "Counting",
    "Fixed",
    "KernelFit",
    "KernelSpace",
    "PosteriorRows",
    "Settings",
    "SourceFit",
    "SourceTable",
    "TableView",
    "count_table",
    "fit_gram",
    "fit_source",
    "fit_table",
    "is_auto",
    "parameters_in_vain",
    "remarks",
    "resolve_settings",
    "warn_of_blank_rows",
    "why_not_in_blocks",
]
