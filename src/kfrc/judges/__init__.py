"""Judges of partitions that need no labels: which grouping explains the data best, and how sure each row is of it."""

from kfrc.judges.base import Judge, Opinion, PosteriorModel
from kfrc.judges.density import DensityJudge, believe_density, density_beats, density_numbers
from kfrc.judges.mixture import MixtureJudge

__all__ = [
    "DensityJudge",
    "Judge",
    "MixtureJudge",
    "Opinion",
    "PosteriorModel",
    "believe_density",
    "density_beats",
    "density_numbers",
]
