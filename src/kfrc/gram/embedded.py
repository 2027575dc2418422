"""Gram matrices of kernels that depend on all rows at once, such as the path kernel: features, and an extension."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kfrc._distances import squared_distances
from kfrc.exceptions import KFRCError
from kfrc.gram.base import GramFamily
from kfrc.gram.centers import Centers
from kfrc.gram.factored import FactoredGram
from kfrc.kernels import EmbeddedKernel, Embedding, SymmetricLowRank
from kfrc.typing import FloatArray

_SEED = 7919
"""Landmarks are drawn with a fixed seed: the approximation is a function of the data."""


class EmbeddedGrams(GramFamily):
    """Gram matrices of a kernel that embeds all rows together; bandwidths are scales of the columns.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    kernel : EmbeddedKernel
    rank : int, optional
        Landmarks at most; the kernel has its own number if this is not given.
    """

    kernel: EmbeddedKernel

    def __init__(self, X: FloatArray, kernel: EmbeddedKernel, rank: int | None = None) -> None:
        self.X = X
        self.kernel = kernel
        self.n_samples, self.n_features = X.shape
        self._rank = rank

    def at(self, bandwidths: FloatArray) -> EmbeddedGram:  # noqa: D102
        rows = self.X / bandwidths
        embedding = self.kernel.embed(rows, np.random.default_rng(_SEED), self._rank)
        n_distinct = len(np.unique(rows, axis=0))
        holder = EmbeddedGram if embedding.n_landmarks == n_distinct else LandmarkEmbeddedGram
        return holder(embedding, embedding.features(rows), bandwidths)


class EmbeddedGram(FactoredGram):
    """Gram matrix of the features of an embedding."""

    def __init__(self, embedding: Embedding, features: FloatArray, bandwidths: FloatArray) -> None:
        super().__init__(features)
        self.embedding = embedding
        self.bandwidths = bandwidths

    def log_bandwidth_gradients(self, adjoints: Sequence[SymmetricLowRank]) -> FloatArray:  # noqa: D102
        raise KFRCError("a kernel that depends on all rows has no derivative in its bandwidths")

    def centers(self, prototypes: FloatArray) -> Centers:  # noqa: D102
        return EmbeddedCenters(self.embedding, self.bandwidths, self.origin, self.locations(prototypes))


class LandmarkEmbeddedGram(EmbeddedGram):
    """The same where only some rows, the landmarks, make the features."""

    backend: ClassVar[str] = "nystrom"

    def __init__(self, embedding: Embedding, features: FloatArray, bandwidths: FloatArray) -> None:
        super().__init__(embedding, features, bandwidths)
        self._spanned = float(np.minimum(np.einsum("jr,jr->j", features, features), 1.0).mean())

    @property
    def approximation_error(self) -> float:
        """Mean share of the squared norm, which is one, that the landmarks do not span."""
        return 1.0 - self._spanned


@dataclass(frozen=True)
class EmbeddedCenters(Centers):
    """Centers with coordinates in the space of the features, relative to their mean."""

    embedding: Embedding
    bandwidths: FloatArray
    origin: FloatArray
    locations: FloatArray

    def squared_distances(self, Z: FloatArray) -> FloatArray:  # noqa: D102
        return squared_distances(self.embedding.features(Z / self.bandwidths) - self.origin, self.locations)
