"""scikit-learn estimators: one file per method."""

from kfrc.clusterers.base import FuzzyClusterer
from kfrc.clusterers.frc import FRC
from kfrc.clusterers.kfrc import KFRC

__all__ = ["FRC", "KFRC", "FuzzyClusterer"]
