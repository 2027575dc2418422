"""The density that memberships imply: mixtures of Gaussian and t components, and of shares of levels."""

from kfrc.mixtures.blanks import PartialMixture
from kfrc.mixtures.covariances import Covariance, Diagonal, Full, Rotated, RotatedScaled, Spread, Tied, TiedDiagonal
from kfrc.mixtures.mixed import MixedMixture, Parts, fit_mixed
from kfrc.mixtures.mixture import (
    RIDGE,
    Expectation,
    Mixture,
    MixtureFit,
    MixtureKind,
    commonest_shares,
    fit_mixture,
    resolution,
)

__all__ = [
    "RIDGE",
    "Covariance",
    "Diagonal",
    "Expectation",
    "Full",
    "MixedMixture",
    "Mixture",
    "MixtureFit",
    "MixtureKind",
    "PartialMixture",
    "Parts",
    "Rotated",
    "RotatedScaled",
    "Spread",
    "Tied",
    "TiedDiagonal",
    "commonest_shares",
    "fit_mixed",
    "fit_mixture",
    "resolution",
]
