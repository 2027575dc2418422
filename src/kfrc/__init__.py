"""Fuzzy clustering that does not collapse: kernel fuzzy relational clustering with spectrally tuned bandwidths."""

from kfrc.clusterers import FANNY, FCM, FCMMK, FRC, KFRC, MSFCM, NERFCM, RFCM, VFCM, NegativeDistanceError
from kfrc.exceptions import (
    ConstantFeatureWarning,
    IgnoredParameterWarning,
    InfeasibleBandwidthError,
    KFRCError,
    LeftOutColumnWarning,
    LevelOrderWarning,
    MissingRowWarning,
    NearTieWarning,
    NonEuclideanWarning,
    NoStructureWarning,
    TrivialPartitionWarning,
    UniformCollapseWarning,
    UnseenCategoryWarning,
)
from kfrc.number_of_clusters import indices

__version__ = "0.1.0"

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
    "LeftOutColumnWarning",
    "LevelOrderWarning",
    "MissingRowWarning",
    "NegativeDistanceError",
    "NonEuclideanWarning",
    "NoStructureWarning",
    "TrivialPartitionWarning",
    "UniformCollapseWarning",
    "UnseenCategoryWarning",
    "__version__",
    "indices",
]
