"""Two-stage bandwidth selection (Section 4): reach λ₁ ≥ τ, then maximize a criterion of the spectrum."""

from kfrc._registry import load_family
from kfrc.bandwidth.optimizers.base import Optimizer
from kfrc.bandwidth.search import BandwidthResult, Candidate, select_bandwidths

load_family("kfrc.bandwidth.optimizers")

__all__ = ["BandwidthResult", "Candidate", "Optimizer", "select_bandwidths"]
