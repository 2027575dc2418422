"""The density judge: clusters of any shape, told apart by what is crowded and what is not, in few columns."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from kfrc._numerics import row_blocks
from kfrc.densities import KernelDensity, fit_kernel_density, working_rows
from kfrc.dissimilarity import Dissimilarity
from kfrc.fuzzifiers import ComplementaryRoot, Fuzzifier
from kfrc.gram import EmbeddedGram
from kfrc.judges.base import Judge, Opinion
from kfrc.kernels.path import PathKernel, embed_all
from kfrc.relational import Spectral, descend
from kfrc.typing import FloatArray, IntArray

_SMOOTHER = 1.5
"""Votes reach this much farther than the density: a boundary needs less detail than a height."""

_UNKNOWN = 1e-3
"""Weight of the overall shares among the votes: a row without neighbors tells nothing about its cluster."""

_LEAST_GAIN = 0.1
"""Log-density per row by which a kernel density must beat a mixture to be believed instead."""

_CLEARLY_TOLD = 0.9
"""Share of the entropy of a partition that the density must tell about it."""

_NEARLY_HARD: Fuzzifier = ComplementaryRoot(1.1)

_MAX_ITER = 60
_TOL = 1e-4
"""Of the clusterings under each kernel: only the cluster that each row prefers is used."""

_SEED = 7919
"""Of k-means in the spectral start, so that the same question gets the same answer."""

PATH_KERNELS = (
    *(PathKernel(exponent=q, neighbors=k) for q in (2.0, 4.0, 8.0) for k in (7, 15, 30)),
    PathKernel(exponent=math.inf, neighbors=7, reach=5),
)
"""Kernels that partitions are looked for with. The last one counts the longest step between dense places only."""


@dataclass(frozen=True)
class DensityJudge(Judge, name="density"):
    """Mutual information between a partition and the place of the rows, with partitions of its own to compare.

    Path kernels propose partitions, each clustered from its spectral start, and the given ones join them. Every row
    then guesses its cluster from the votes of its neighbors, without its own. What these guesses tell about the
    partition, MI = H(z) + mean log p(z_j | x_j), decides. The evidence is Σ_j log f(x_j) + n · MI with the
    leave-one-out kernel density f, row by row log f(x_j) + log p(z_j | x_j) − log π(z_j): the log-density of a row
    together with its cluster, relative to the size of the cluster. The density is the same for all opinions, so they
    are in the order of MI.

    Parameters
    ----------
    kernels : tuple of PathKernel
    fuzzifier : Fuzzifier
        Of the clusterings under these kernels: nearly hard.
    max_columns : int
    rows_per_column : int
        With more columns, or fewer rows for each, what looks like a gap is mostly chance. No partitions are looked for
        then: only the given ones are judged.

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc.judges import DensityJudge
    >>> from kfrc.metrics import adjusted_rand_score
    >>> from kfrc.simulation import make_shape_dataset
    >>> rings = make_shape_dataset("rings", random_state=0)
    >>> halves = np.eye(2)[(rings.X[:, 0] > 0).astype(int)]
    >>> best = DensityJudge().examine(rings.X, [halves])[0]
    >>> adjusted_rand_score(rings.labels, best.posterior), best.kernel is not None
    (1.0, True)
    """

    kernels: tuple[PathKernel, ...] = PATH_KERNELS
    fuzzifier: Fuzzifier = _NEARLY_HARD
    max_columns: int = 6
    rows_per_column: int = 20
    has_model: ClassVar[bool] = True

    def examine(self, X: FloatArray, partitions: Sequence[FloatArray]) -> list[Opinion]:  # noqa: D102
        neighborhood = Neighborhood.of(X)
        given = [_hard(U)[neighborhood.rows] for U in partitions]
        n_clusters = given[0].shape[1]
        found: list[_Proposal] = []
        if n_clusters > 1 and self.can_search(*X.shape):
            found = [proposal.numbered_as(given[0]) for proposal in self._proposals(X, neighborhood, n_clusters)]
        return neighborhood.opinions(X, [*found, *(_Proposal(Z, None, Z) for Z in given)])

    def look(self, X: FloatArray, n_clusters: int) -> list[Opinion]:
        """Opinions on partitions of its own only, the best first, however many rows and columns there are.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Columns in standard units.
        n_clusters : int

        Returns
        -------
        list of Opinion
            All with a kernel.
        """
        neighborhood = Neighborhood.of(X)
        return neighborhood.opinions(X, self._proposals(X, neighborhood, n_clusters))

    def _proposals(self, X: FloatArray, neighborhood: Neighborhood, n_clusters: int) -> list[_Proposal]:
        return PathSearch.over(X[neighborhood.rows], self.kernels).proposals(n_clusters, self.fuzzifier)

    def can_search(self, n_samples: int, n_features: int) -> bool:
        """Whether a table has few enough columns, and enough rows, to look for partitions of its own."""
        return n_features <= self.max_columns and n_samples >= self.rows_per_column * n_features


@dataclass(frozen=True)
class Votes:
    """Probabilities of clusters by the votes of rows nearby.

    Attributes
    ----------
    rows : ndarray of shape (n_rows, n_features)
        Who votes.
    partition : ndarray of shape (n_rows, n_clusters)
        For what: one in every row.
    bandwidth : float
        How far a vote reaches.
    """

    rows: FloatArray
    partition: FloatArray
    bandwidth: float

    def posterior(self, X: FloatArray) -> FloatArray:
        """Shares of the votes at each row, of shape (len(X), n_clusters); far from all rows the nearest decide."""
        shares = np.empty((len(X), self.partition.shape[1]))
        for block in row_blocks(len(X), len(self.rows)):
            exponents = cdist(X[block], self.rows, "sqeuclidean")
            exponents -= exponents.min(axis=1, keepdims=True)
            weights = np.exp(exponents / (-2.0 * self.bandwidth**2))
            np.matmul(weights, self.partition, out=shares[block])
        return shares / shares.sum(axis=1, keepdims=True)


@dataclass(frozen=True)
class _Proposal:
    """A hard partition of the working rows, the kernel that it comes from, and the memberships under that kernel."""

    partition: FloatArray
    kernel: PathKernel | None
    memberships: FloatArray

    def numbered_as(self, reference: FloatArray) -> _Proposal:
        """With clusters renumbered so that they overlap most with those of a reference."""
        order = linear_sum_assignment(-reference.T @ self.partition)[1]
        return replace(self, partition=self.partition[:, order], memberships=self.memberships[:, order])


@dataclass(frozen=True)
class PathSearch:
    """Rows under several path kernels, ready to be clustered into any number of clusters.

    Attributes
    ----------
    kernels : tuple of PathKernel
    dissimilarities : tuple of Dissimilarity
        Squared distances in the feature space of each.
    """

    kernels: tuple[PathKernel, ...]
    dissimilarities: tuple[Dissimilarity, ...]

    @classmethod
    def over(cls, X: FloatArray, kernels: Sequence[PathKernel]) -> PathSearch:
        """Of these rows, in standard units."""
        units = np.ones(X.shape[1])
        embeddings = embed_all(X, kernels, np.random.default_rng(_SEED))
        grams = [EmbeddedGram(embedding, embedding.features(X), units) for embedding in embeddings]
        return cls(tuple(kernels), tuple(Dissimilarity(gram) for gram in grams))

    def proposals(self, n_clusters: int, fuzzifier: Fuzzifier) -> list[_Proposal]:
        """One partition under each kernel, from its spectral start."""
        proposals = []
        for kernel, dissimilarity in zip(self.kernels, self.dissimilarities, strict=True):
            start = Spectral().memberships(dissimilarity, n_clusters, np.random.default_rng(_SEED))
            U = descend(dissimilarity, fuzzifier, start, _MAX_ITER, _TOL).memberships
            proposals.append(_Proposal(_hard(U), kernel, U))
        return proposals


@dataclass(frozen=True)
class Neighborhood:
    """Who is near whom: the density of the rows, and how much each counts when another guesses its cluster.

    Attributes
    ----------
    rows : ndarray of int
        The working rows, at most 600: the others ask them.
    density : KernelDensity
        Of the working rows.
    weights : ndarray of shape (n_rows, n_rows)
        Zero on the diagonal: nobody votes about himself.
    """

    rows: IntArray
    density: KernelDensity
    weights: FloatArray

    @classmethod
    def of(cls, X: FloatArray) -> Neighborhood:
        """Of rows in standard units."""
        rows = working_rows(X)
        density = fit_kernel_density(X[rows])
        weights = np.exp(cdist(X[rows], X[rows], "sqeuclidean") / (-2.0 * (_SMOOTHER * density.bandwidth) ** 2))
        np.fill_diagonal(weights, 0.0)
        return cls(rows, density, weights)

    def guesses(self, partition: FloatArray) -> FloatArray:
        """p(z | x_j) of every working row by the votes of the others, of shape (n_rows, n_clusters)."""
        return _shares(self.weights, partition)

    def told(self, partition: FloatArray) -> FloatArray:
        """What votes tell of every working row, log p(z_j | x_j) − log π(z_j); the mean is the mutual information."""
        return _told(self.guesses(partition), partition, partition.mean(axis=0))

    def information(self, U: FloatArray) -> float:
        """MI of a partition of all rows, by the cluster that each prefers."""
        return float(self.told(_hard(U)[self.rows]).mean())

    def distinct(self, proposals: Sequence[_Proposal]) -> Iterator[_Proposal]:
        """Each partition once, under the kernel whose memberships are most like the votes."""
        groups: dict[bytes, list[_Proposal]] = {}
        for proposal in proposals:
            labels = proposal.partition.argmax(axis=1)
            found, first = np.unique(labels, return_index=True)
            rank = np.empty(proposal.partition.shape[1], dtype=np.int64)
            rank[found[np.argsort(first)]] = np.arange(len(found))
            groups.setdefault(rank[labels].tobytes(), []).append(proposal)
        for same in groups.values():
            votes = self.guesses(same[0].partition)
            kernels = [proposal for proposal in same if proposal.kernel is not None]
            yield min(kernels or same, key=lambda proposal: float(np.square(proposal.memberships - votes).sum()))

    def opinions(self, X: FloatArray, proposals: Sequence[_Proposal]) -> list[Opinion]:
        """On every distinct partition, the best first."""
        opinions = [self.opinion(X, proposal) for proposal in self.distinct(proposals)]
        return sorted(opinions, key=lambda opinion: -opinion.evidence)

    def opinion(self, X: FloatArray, proposal: _Proposal) -> Opinion:
        """What the rows tell of a partition; rows that are no working rows join the cluster that their votes prefer."""
        partition, bandwidth = proposal.partition, _SMOOTHER * self.density.bandwidth
        model = Votes(X[self.rows], partition, bandwidth)
        evidence = np.empty(len(X))
        evidence[self.rows] = self.density.leave_one_out + self.told(partition)
        others = np.setdiff1d(np.arange(len(X)), self.rows)
        posterior = model.posterior(X)
        for block in row_blocks(len(others), len(self.rows)):
            asking = others[block]
            squares = cdist(X[asking], model.rows, "sqeuclidean")
            shares = _shares(np.exp(squares / (-2.0 * bandwidth**2)), partition)
            joined = _hard(posterior[asking])
            evidence[asking] = self.density.log_density(X[asking]) + _told(shares, joined, partition.mean(axis=0))
        name = "given" if proposal.kernel is None else _describe(proposal.kernel)
        return Opinion(name, float(evidence.sum()), posterior, evidence, model, proposal.kernel)


def believe_density(
    density: Opinion,
    mixture_log_density_rows: FloatArray,
    n_parameters: int,
    mixture_posterior: FloatArray,
    X: FloatArray,
) -> bool:
    """Whether a density opinion is to be preferred to a mixture.

    It is if three things hold. The kernel density describes rows that it has not seen better than the mixture, by more
    than chance and by enough to matter: the mean over rows of log f_density − (log f_mixture − k/n) exceeds 0.1 and two
    standard errors. Its partition is told better by the places of the rows than that of the mixture. And little of it
    is left untold: MI ≥ 0.9 H(z).

    Parameters
    ----------
    density : Opinion
        Of :class:`DensityJudge`.
    mixture_log_density_rows : ndarray of shape (n_samples,)
        log f_mixture of each row, for the same columns.
    n_parameters : int
        k, of the mixture.
    mixture_posterior : ndarray of shape (n_samples, n_clusters)
    X : ndarray of shape (n_samples, n_features)
        What the density judge saw.

    Returns
    -------
    bool
    """
    if not density_beats(mixture_log_density_rows, n_parameters, X):
        return False
    neighborhood = Neighborhood.of(X)
    information = neighborhood.information(density.posterior)
    if information <= neighborhood.information(mixture_posterior):
        return False
    return information >= _CLEARLY_TOLD * _entropy(_hard(density.posterior)[neighborhood.rows])


def density_beats(mixture_log_density_rows: FloatArray, n_parameters: int, X: FloatArray) -> bool:
    """Whether a kernel density describes rows that it has not seen better than a mixture: see :func:`believe_density`.

    Parameters
    ----------
    mixture_log_density_rows, n_parameters, X
        See there.
    """
    neighborhood = Neighborhood.of(X)
    gains = neighborhood.density.leave_one_out - mixture_log_density_rows[neighborhood.rows] + n_parameters / len(X)
    error = float(gains.std(ddof=1) / math.sqrt(len(gains))) if len(gains) > 1 else math.inf
    return bool(gains.mean() > max(_LEAST_GAIN, 2.0 * error))


def density_numbers(
    X: FloatArray,
    numbers: Sequence[int],
    kernels: Sequence[PathKernel] = PATH_KERNELS,
    fuzzifier: Fuzzifier | None = None,
) -> FloatArray:
    """How much the places of the rows tell about the best partition into each number of clusters: MI / log c.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Few columns in standard units.
    numbers : sequence of int
    kernels : sequence of PathKernel
    fuzzifier : Fuzzifier, optional
        As in :class:`DensityJudge` if not given.

    Returns
    -------
    shares : ndarray of shape (len(numbers),)
        Zero for one cluster. At most one; the number with the largest is the density judge's.

    Examples
    --------
    >>> from kfrc.judges import density_numbers
    >>> from kfrc.simulation import make_shape_dataset
    >>> shares = density_numbers(make_shape_dataset("moons", random_state=0).X, [2, 3, 4])
    >>> shares.argmax()
    np.int64(0)
    """
    return tellings(X, numbers, kernels, _NEARLY_HARD if fuzzifier is None else fuzzifier).mean(axis=1)


def tellings(X: FloatArray, numbers: Sequence[int], kernels: Sequence[PathKernel], fuzzifier: Fuzzifier) -> FloatArray:
    """Shares of the working rows in :func:`density_numbers`, of shape (len(numbers), n_rows): their means are that."""
    neighborhood = Neighborhood.of(X)
    search = PathSearch.over(X[neighborhood.rows], kernels)
    told = np.zeros((len(numbers), len(neighborhood.rows)))
    for k, n_clusters in enumerate(numbers):
        if n_clusters > 1:
            found = [neighborhood.told(proposal.partition) for proposal in search.proposals(n_clusters, fuzzifier)]
            told[k] = max(found, key=lambda rows: float(rows.mean())) / math.log(n_clusters)
    return told


def _hard(U: FloatArray) -> FloatArray:
    """One in the preferred cluster of every row, of the shape of U."""
    return np.eye(U.shape[1])[U.argmax(axis=1)]


def _shares(weights: FloatArray, partition: FloatArray) -> FloatArray:
    """Shares of the votes, with a little weight on the sizes of the clusters."""
    votes = weights @ partition + _UNKNOWN * partition.mean(axis=0)
    return votes / votes.sum(axis=1, keepdims=True)


def _told(shares: FloatArray, partition: FloatArray, sizes: FloatArray) -> FloatArray:
    """The logarithm of p(z_j | x_j) / π(z_j)."""
    labels = partition.argmax(axis=1)
    return np.log(shares[np.arange(len(labels)), labels]) - np.log(sizes[labels])


def _entropy(partition: FloatArray) -> float:
    sizes = partition.mean(axis=0)
    occupied = sizes[sizes > 0]
    return float(-(occupied * np.log(occupied)).sum())


def _describe(kernel: PathKernel) -> str:
    return f"path_q{kernel.exponent:g}_k{kernel.neighbors}"
