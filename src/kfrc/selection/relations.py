"""How many clusters a matrix of similarities or dissimilarities has: the gap between eigenvalues, if clusters stay."""

from __future__ import annotations

import numpy as np

from kfrc._eigenpairs import largest_pairs
from kfrc._numerics import double_center
from kfrc.dissimilarity import Dissimilarity
from kfrc.existence import test_existence
from kfrc.gram import DenseGram
from kfrc.metrics import adjusted_rand_score
from kfrc.relational import Spectral
from kfrc.selection.count import ClusterCount
from kfrc.spectrum import spectrum_of
from kfrc.typing import FloatArray

_N_HALVES = 8
"""Halves of the samples that are clustered again."""

_STABLE = 0.75
"""Mean ARI with the clusters of halves from which on a number of clusters counts as found again."""

_MAX_COORDINATES = 10
"""Coordinates on which the existence of groups is tested."""


def count_relation(
    K: FloatArray, largest: int, rng: np.random.Generator, n_jobs: int | None = None, *, every: bool = False
) -> ClusterCount:
    """Evidence for each number of clusters of a matrix, without columns to judge by.

    c groups lift c − 1 eigenvalues of F above the others. The evidence for c is the gap λ_{c−1} − λ_c, and zero where
    the clusters of random halves of the samples are others. Whether there is more than one group at all is tested on
    the leading principal coordinates.

    Parameters
    ----------
    K : ndarray of shape (n_samples, n_samples)
        Similarities; of dissimilarities R it is −R/2.
    largest : int
        Largest number to try.
    rng : Generator
    n_jobs : int, optional
    every : bool, default=False
        Whether clusters are looked for again in halves for every number; a choice needs to know it for the largest gap
        that stays only, and leaves the others at zero.

    Returns
    -------
    ClusterCount

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc.selection.relations import count_relation
    >>> rng = np.random.default_rng(0)
    >>> X = np.repeat([[0, 0], [8, 0], [0, 8]], 20, axis=0) + rng.standard_normal((60, 2))
    >>> count_relation(X @ X.T, 6, rng).best
    3
    """
    largest = min(largest, len(K) // 2 - 1)
    if largest < 2:
        raise ValueError(f'n_clusters="auto" needs at least 6 samples and max_clusters >= 2, got {len(K)} samples')
    gram = DenseGram(K)
    eigenvalues = spectrum_of(gram, largest).eigenvalues
    numbers = np.arange(1, largest + 1)
    gaps = np.concatenate([[0.0], np.maximum(eigenvalues[:-1] - eigenvalues[1:], 0.0)])
    evidence = np.zeros(largest)
    for k in np.argsort(-gaps, kind="stable"):
        if gaps[k] > (0.0 if every else evidence.max()) and _stays(K, int(numbers[k]), rng):
            evidence[k] = gaps[k]
    existence = test_existence(_coordinates(K), random_state=rng, n_jobs=n_jobs).p_value
    return ClusterCount(numbers, evidence, np.zeros(largest), largest=largest, existence=existence)


def _stays(K: FloatArray, n_clusters: int, rng: np.random.Generator) -> bool:
    """Whether halves of the samples have the clusters of all."""
    whole = _labels(K, n_clusters, rng)
    agreements = []
    for _ in range(_N_HALVES):
        half = rng.permutation(len(K))[: len(K) // 2]
        agreements.append(adjusted_rand_score(whole[half], _labels(K[np.ix_(half, half)], n_clusters, rng)))
    return float(np.mean(agreements)) >= _STABLE


def _labels(K: FloatArray, n_clusters: int, rng: np.random.Generator) -> FloatArray:
    labels: FloatArray = Spectral().memberships(Dissimilarity(DenseGram(K)), n_clusters, rng).argmax(axis=1)
    return labels


def _coordinates(K: FloatArray) -> FloatArray:
    """Leading principal coordinates of the samples."""
    values, vectors = largest_pairs(double_center(K), _MAX_COORDINATES)
    n_kept = max(1, int((values > 1e-9 * values[0]).sum()))
    coordinates: FloatArray = vectors[:, :n_kept] * np.sqrt(np.maximum(values[:n_kept], 0.0))
    return coordinates
