"""Synthetic data with known clusters: Gaussian mixtures of prescribed overlap, study designs, shapes."""

from kfrc.simulation.dataset import (
    StudyDataset,
    StudyDesign,
    add_noise_features,
    make_study_dataset,
    study_designs,
)
from kfrc.simulation.mixsim import GaussianMixtureSpec, make_gaussian_mixture
from kfrc.simulation.overlap import Overlap, overlap
from kfrc.simulation.shapes import (
    HeavyTails,
    Imbalanced,
    Moons,
    Rings,
    Shape,
    ShapeDataset,
    make_shape_dataset,
)

__all__ = [
    "GaussianMixtureSpec",
    "HeavyTails",
    "Imbalanced",
    "Moons",
    "Overlap",
    "Rings",
    "Shape",
    "ShapeDataset",
    "StudyDataset",
    "StudyDesign",
    "add_noise_features",
    "make_gaussian_mixture",
    "make_shape_dataset",
    "make_study_dataset",
    "overlap",
    "study_designs",
]
