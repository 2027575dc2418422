"""Fuzzy clustering with one kernel bandwidth per column, found from the spectrum of the data and without labels.

``import kfrc`` takes no time: what is in it is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
        UnequalScalesWarning,
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
    "UnequalScalesWarning",
    "UniformCollapseWarning",
    "UnseenCategoryWarning",
    "__version__",
    "indices",
]

_HOMES = ("exceptions", "clusterers", "number_of_clusters")
"""Modules in which the names above are at home, the quickest first."""


def __getattr__(name: str) -> Any:
    """A public name, or a module of the library, when it is first used."""
    if name in __all__:
        for home in _HOMES:
            module = import_module(f"kfrc.{home}")
            if name in vars(module):
                globals()[name] = vars(module)[name]
                return globals()[name]
    elif name.isidentifier() and not name.startswith("_"):
        try:
            return import_module(f"kfrc.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"kfrc.{name}":
                raise
    raise AttributeError(f"module 'kfrc' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
