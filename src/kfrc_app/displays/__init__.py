"""Plots for notebooks, in scikit-learn's manner: ``XDisplay.from_estimator(model, X)``."""

from kfrc_app.displays.importance import ImportanceDisplay
from kfrc_app.displays.membership import MembershipDisplay
from kfrc_app.displays.path import FuzzifierPathDisplay
from kfrc_app.displays.spectrum import SpectrumDisplay
from kfrc_app.displays.sphere import SphereDisplay

__all__ = ["FuzzifierPathDisplay", "ImportanceDisplay", "MembershipDisplay", "SpectrumDisplay", "SphereDisplay"]
