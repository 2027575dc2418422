"""One run of the program: a table that was read becomes facts and files, whoever asked for it."""

from kfrc_app.runs.progress import FitProgress, Tasks
from kfrc_app.runs.run import N_REFITS, cluster_dissimilarities, cluster_table

__all__ = ["N_REFITS", "FitProgress", "Tasks", "cluster_dissimilarities", "cluster_table"]
