"""Choosing without labels: candidates along a path of settings, and a judge who says which of them to believe."""

from kfrc.selection.choice import Candidate, Selection, choose, solve_candidates
from kfrc.selection.count import PATIENCE, ClusterCount, count_clusters, count_partitions
from kfrc.selection.grid import (
    ANISOTROPIES,
    CRITERIA,
    FUZZIFIERS,
    FUZZINESS,
    KERNELS,
    LEVELS,
    Grid,
    fuzziness_path,
)
from kfrc.selection.tuned_kernels import SearchOptions, TunedKernel, propose, tune_kernels

__all__ = [
    "ANISOTROPIES",
    "CRITERIA",
    "FUZZIFIERS",
    "FUZZINESS",
    "KERNELS",
    "LEVELS",
    "PATIENCE",
    "Candidate",
    "ClusterCount",
    "Grid",
    "SearchOptions",
    "Selection",
    "TunedKernel",
    "choose",
    "count_clusters",
    "count_partitions",
    "fuzziness_path",
    "propose",
    "solve_candidates",
    "tune_kernels",
]
