"""Starting memberships for the relational solver."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kfrc._numerics import as_generator
from kfrc._registry import Registered
from kfrc._validation import check_memberships
from kfrc.dissimilarity import Dissimilarity
from kfrc.spectrum import spectrum_of
from kfrc.typing import ArrayLike, FloatArray, RandomStateLike

_PERTURBATION = 1e-3  # of the near-uniform start: small enough that the linear theory decides what grows


@dataclass(frozen=True)
class Start(Registered, ABC):
    """A way to draw the memberships a run starts from."""

    varies: ClassVar[bool] = True
    """Whether another stream of random numbers gives another start; if not, further runs start with k-means++."""

    @abstractmethod
    def memberships(self, dissimilarity: Dissimilarity, n_clusters: int, rng: np.random.Generator) -> FloatArray:
        """Starting memberships of shape (n_samples, n_clusters)."""


@dataclass(frozen=True)
class Spectral(Start, name="spectral"):
    """k-means on the leading c − 1 kernel principal coordinates, the directions in which uniformity breaks first."""

    varies: ClassVar[bool] = False

    def memberships(  # noqa: D102
        self, dissimilarity: Dissimilarity, n_clusters: int, rng: np.random.Generator
    ) -> FloatArray:
        from sklearn.cluster import KMeans
        from sklearn.exceptions import ConvergenceWarning

        if n_clusters == 1:
            return np.ones((dissimilarity.n_samples, 1))
        gram = dissimilarity.gram
        if (gram.centered_diagonal <= 0).any() and gram.feature_blocks() is None:
            # Not squared distances of anything: there are no coordinates, but nearest seeds still make sense.
            return KMeansPlusPlus().memberships(dissimilarity, n_clusters, rng)
        n_coordinates = min(n_clusters - 1, gram.n_samples - 1)
        coordinates = spectrum_of(gram, n_coordinates).coordinates()
        with warnings.catch_warnings():
            # Fewer distinct points than clusters: the solver deals with the empty ones.
            warnings.simplefilter("ignore", ConvergenceWarning)
            k_means = KMeans(n_clusters, n_init=4, random_state=int(rng.integers(2**31)))
            labels = k_means.fit_predict(coordinates)
        return np.eye(n_clusters)[labels]


@dataclass(frozen=True)
class NearUniform(Start, name="near_uniform"):
    """1/c plus a perturbation of 10⁻³: lets the structure emerge, as the paper argues for (Section 2.2)."""

    def memberships(  # noqa: D102
        self, dissimilarity: Dissimilarity, n_clusters: int, rng: np.random.Generator
    ) -> FloatArray:
        noise = rng.standard_normal((dissimilarity.n_samples, n_clusters))
        U = 1.0 + _PERTURBATION * n_clusters * np.clip(noise, -3.0, 3.0)
        U = np.maximum(U, 0.0)
        return U / U.sum(axis=1, keepdims=True)


@dataclass(frozen=True)
class Random(Start, name="random"):
    """Uniform random numbers, normalized by row."""

    def memberships(  # noqa: D102
        self, dissimilarity: Dissimilarity, n_clusters: int, rng: np.random.Generator
    ) -> FloatArray:
        U = 1.0 - rng.random((dissimilarity.n_samples, n_clusters))
        return U / U.sum(axis=1, keepdims=True)


@dataclass(frozen=True)
class KMeansPlusPlus(Start, name="kmeans++"):
    """Seeds drawn with probability proportional to the dissimilarity to the nearest seed; samples join the nearest."""

    def memberships(  # noqa: D102
        self, dissimilarity: Dissimilarity, n_clusters: int, rng: np.random.Generator
    ) -> FloatArray:
        n_samples = dissimilarity.n_samples
        to_seeds = np.empty((n_samples, n_clusters))
        to_seeds[:, :1] = dissimilarity.columns([int(rng.integers(n_samples))])
        for i in range(1, n_clusters):
            nearest = to_seeds[:, :i].min(axis=1)
            total = nearest.sum()
            seed = rng.choice(n_samples, p=nearest / total if total > 0 else None)
            to_seeds[:, i : i + 1] = dissimilarity.columns([int(seed)])
        return np.eye(n_clusters)[to_seeds.argmin(axis=1)]


def starting_memberships(
    init: str | ArrayLike,
    n_init: int,
    dissimilarity: Dissimilarity,
    n_clusters: int,
    random_state: RandomStateLike,
) -> Iterator[FloatArray]:
    """Memberships of every run; after a deterministic start (``"spectral"`` or an array) the others are k-means++."""
    streams = as_generator(random_state).spawn(n_init)
    repeat: Start
    if isinstance(init, str):
        first = Start.from_name(init)
        yield first.memberships(dissimilarity, n_clusters, streams[0])
        repeat = first if first.varies else KMeansPlusPlus()
    else:
        yield check_memberships(init, "init", shape=(dissimilarity.n_samples, n_clusters))
        repeat = KMeansPlusPlus()
    for rng in streams[1:]:
        yield repeat.memberships(dissimilarity, n_clusters, rng)
