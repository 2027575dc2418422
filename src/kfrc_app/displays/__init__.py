"""Plots for notebooks, in scikit-learn's manner: ``XDisplay.from_estimator(model, X)``, for every method."""

from kfrc_app.displays.biplot import BiplotDisplay
from kfrc_app.displays.importance import ImportanceDisplay
from kfrc_app.displays.membership import MembershipDisplay
from kfrc_app.displays.pairs import PairsDisplay
from kfrc_app.displays.parallel import ParallelDisplay
from kfrc_app.displays.path import FuzzifierPathDisplay
from kfrc_app.displays.silhouette import SilhouetteDisplay
from kfrc_app.displays.spectrum import SpectrumDisplay
from kfrc_app.displays.sphere import SphereDisplay
from kfrc_app.displays.triangle import TriangleDisplay

__all__ = [
    "BiplotDisplay",
    "FuzzifierPathDisplay",
    "ImportanceDisplay",
    "MembershipDisplay",
    "PairsDisplay",
    "ParallelDisplay",
    "SilhouetteDisplay",
    "SpectrumDisplay",
    "SphereDisplay",
    "TriangleDisplay",
]
