"""The density that memberships imply: mixtures of Gaussian and t components."""

from kfrc.mixtures.covariances import Covariance, Diagonal, Full, Rotated, RotatedScaled, Spread, Tied, TiedDiagonal
from kfrc.mixtures.mixture import RIDGE, Expectation, Mixture, MixtureFit, MixtureKind, fit_mixture, resolution

__all__ = [
    "RIDGE",
    "Covariance",
    "Diagonal",
    "Expectation",
    "Full",
    "Mixture",
    "MixtureFit",
    "MixtureKind",
    "Rotated",
    "RotatedScaled",
    "Spread",
    "Tied",
    "TiedDiagonal",
    "fit_mixture",
    "resolution",
]
