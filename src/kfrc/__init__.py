"""Fuzzy clustering that does not collapse: kernel fuzzy relational clustering with spectrally tuned bandwidths."""

from importlib.metadata import version

from kfrc.clusterers import FANNY, FCM, FCMMK, FRC, KFRC, MSFCM, NERFCM, RFCM, VFCM, NegativeDistanceError
from kfrc.exceptions import (
    ConstantFeatureWarning,
    IgnoredParameterWarning,
    InfeasibleBandwidthError,
    KFRCError,
    NearTieWarning,
    NonEuclideanWarning,
    NoStructureWarning,
    TrivialPartitionWarning,
    UniformCollapseWarning,
)

__version__ = version("kfrc")

__all__ = [
    "FANNY",
    "FCM",
    "FCMMK",
    "FRC",
    "KFRC",
    "MSFCM",
    "NERFCM",
    "RFCM",
    "VFCM",
    "ConstantFeatureWarning",
    "IgnoredParameterWarning",
    "NearTieWarning",
    "InfeasibleBandwidthError",
    "KFRCError",
    "NegativeDistanceError",
    "NonEuclideanWarning",
    "NoStructureWarning",
    "TrivialPartitionWarning",
    "UniformCollapseWarning",
    "__version__",
]
