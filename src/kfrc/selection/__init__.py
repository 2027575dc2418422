"""Choosing without labels: candidates along a path of settings, and a judge who says which of them to believe."""

from kfrc.selection.choice import Candidate, Selection, choose, solve_candidates
from kfrc.selection.count import ClusterCount, count_clusters
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
    "Candidate",
    "ClusterCount",
    "Grid",
    "SearchOptions",
    "Selection",
    "TunedKernel",
    "choose",
    "count_clusters",
    "fuzziness_path",
    "propose",
    "solve_candidates",
    "tune_kernels",
]
