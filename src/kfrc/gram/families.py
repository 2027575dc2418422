"""Choosing how the Gram matrices of a data set are held."""

from __future__ import annotations

import numpy as np

from kfrc._typing import FloatArray
from kfrc.gram.base import GramFamily
from kfrc.gram.dense import DenseGrams
from kfrc.gram.factored import FactoredGrams
from kfrc.gram.low_rank import ChebyshevGrams
from kfrc.kernels import AdditiveKernel, Kernel

_LOW_RANK_MIN_SAMPLES = 150


def gram_family(X: FloatArray, kernel: Kernel, approximation: str = "none", rank: int | None = None) -> GramFamily:
    """The family of Gram matrices of X under ``kernel``."""
    if kernel.factor(X[:1], np.ones(X.shape[1])) is not None:
        return FactoredGrams(X, kernel)
    if approximation == "low_rank":
        assert isinstance(kernel, AdditiveKernel)
        return ChebyshevGrams(X, kernel)
    return DenseGrams(X, kernel)
