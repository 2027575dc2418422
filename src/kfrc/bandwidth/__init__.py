"""Two-stage bandwidth selection (Section 4): reach λ₁ ≥ τ, then maximize a criterion of the spectrum."""

from kfrc._registry import load_family
from kfrc.bandwidth.evaluations import Evaluation
from kfrc.bandwidth.exploration import Exploration, explore_bandwidths, is_same_kernel
from kfrc.bandwidth.optimizers.base import Ascent, AscentPath, Optimizer
from kfrc.bandwidth.optimizers.lbfgs import QuasiNewton
from kfrc.bandwidth.optimizers.momentum import MomentumAscent
from kfrc.bandwidth.problem import Problem, is_feasible
from kfrc.bandwidth.result import BandwidthResult, SearchRun
from kfrc.bandwidth.search import select_bandwidths

load_family("kfrc.bandwidth.optimizers")

__all__ = [
    "Ascent",
    "AscentPath",
    "BandwidthResult",
    "Evaluation",
    "Exploration",
    "MomentumAscent",
    "Optimizer",
    "Problem",
    "QuasiNewton",
    "SearchRun",
    "explore_bandwidths",
    "is_feasible",
    "is_same_kernel",
    "select_bandwidths",
]
