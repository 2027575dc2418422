"""Kernels k_θ: how similar two rows are, given one bandwidth per feature."""

from kfrc._registry import load_family
from kfrc.kernels.base import AdditiveKernel, EmbeddedKernel, Embedding, Kernel, Profile, SymmetricLowRank

load_family(__name__)

__all__ = ["AdditiveKernel", "EmbeddedKernel", "Embedding", "Kernel", "Profile", "SymmetricLowRank"]
