"""Fuzzy clustering that does not collapse: kernel fuzzy relational clustering with spectrally tuned bandwidths."""

from importlib.metadata import version

from kfrc.clusterers import FRC, KFRC
from kfrc.exceptions import (
    ConstantFeatureWarning,
    InfeasibleBandwidthError,
    KFRCError,
    NonEuclideanWarning,
    TrivialPartitionWarning,
    UniformCollapseWarning,
)

__version__ = version("kfrc")

__all__ = [
    "FRC",
    "KFRC",
    "ConstantFeatureWarning",
    "InfeasibleBandwidthError",
    "KFRCError",
    "NonEuclideanWarning",
    "TrivialPartitionWarning",
    "UniformCollapseWarning",
    "__version__",
]
