"""scikit-learn estimators: one file per method."""

from kfrc._callbacks import with_callbacks as with_callbacks
from kfrc.clusterers._spread import NegativeDistanceError
from kfrc.clusterers.base import FuzzyClusterer
from kfrc.clusterers.fanny import FANNY
from kfrc.clusterers.fcm import FCM
from kfrc.clusterers.fcm_mk import FCMMK
from kfrc.clusterers.frc import FRC
from kfrc.clusterers.kfrc import KFRC
from kfrc.clusterers.msfcm import MSFCM
from kfrc.clusterers.nerfcm import NERFCM
from kfrc.clusterers.rfcm import RFCM
from kfrc.clusterers.vfcm import VFCM

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
    "FuzzyClusterer",
    "NegativeDistanceError",
]
