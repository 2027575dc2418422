"""Choosing how the Gram matrices of a data set are held."""

from __future__ import annotations

import numpy as np

from kfrc._typing import FloatArray
from kfrc.gram.base import GramFamily
from kfrc.gram.dense import DenseGrams
from kfrc.gram.factored import FactoredGrams
from kfrc.kernels import Kernel


def gram_family(X: FloatArray, kernel: Kernel) -> GramFamily:
    """The family of Gram matrices of X under ``kernel``, in the cheapest exact form.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    kernel : Kernel

    Returns
    -------
    GramFamily
    """
    if kernel.factor(X[:1], np.ones(X.shape[1])) is not None:
        return FactoredGrams(X, kernel)
    return DenseGrams(X, kernel)
