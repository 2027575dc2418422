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
from kfrc.fitting.table import KernelSpace, TableView, warn_of_blank_rows
from kfrc.fitting.tuning import Chosen, Fixed

__all__ = [
    "AUTO",
    "MEMBERSHIPS",
    "OUTLIERS",
    "PAPER",
    "PRECOMPUTED",
    "Chosen",
    "Counting",
    "Fixed",
    "KernelFit",
    "KernelSpace",
    "PosteriorRows",
    "Settings",
    "TableView",
    "count_table",
    "fit_gram",
    "fit_table",
    "is_auto",
    "parameters_in_vain",
    "remarks",
    "resolve_settings",
    "warn_of_blank_rows",
]
