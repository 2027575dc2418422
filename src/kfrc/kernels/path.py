"""The path kernel: rows are similar if a path of short steps from row to row leads from one to the other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy.cluster.hierarchy import cophenet, linkage
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree, shortest_path
from scipy.spatial.distance import cdist, squareform

from kfrc import activity
from kfrc._numerics import row_blocks
from kfrc._validation import check_number, check_positive_int
from kfrc.kernels.base import EmbeddedKernel, Embedding
from kfrc.typing import FloatArray, IntArray

_COMPLETE_GRAPH = 400
"""Up to here paths may step from every row to every other; beyond, to near ones only."""

_GRAPH_NEIGHBORS = 20
"""Near ones: with so many neighbors shortest paths hardly ever want a longer step."""

_EIGENVALUE_FLOOR = 1e-6
"""Features whose eigenvalue is a smaller share of the largest are left out: new rows have none of them reliably."""

_SHORTEST = 1e-300
"""A step is never shorter, because a graph takes zero for "no edge"."""

MAX_LANDMARKS = 1500
"""With more distinct rows than this, paths lead over a random subset of that many."""


@dataclass(frozen=True)
class PathKernel(EmbeddedKernel, name="path"):
    """k(x, y) = exp(−G(x, y)² / (s_x s_y)), with G the length of the shortest path over the rows.

    A path costs (Σ ‖step‖^q)^(1/q). With q > 1 many short steps are cheaper than a long one, so that paths run through
    crowded regions and G is small within a cluster of any shape. q = ∞ counts the longest step only. The scale s_x is
    the distance from x to its k-th neighbor: clusters of unlike density are treated alike.

    It is no function of two rows alone: all others matter. Therefore it has no blocks and no derivative, but an
    embedding (:meth:`embed`). It is not positive semi-definite in general; the embedding has its positive part.

    Parameters
    ----------
    exponent : float
        q ≥ 1; ``inf`` for the longest step.
    neighbors : int
        k.
    reach : int
        If positive, a step is at least as long as the distance from either end to its neighbor of this order (mutual
        reachability): single rows between clusters do not build bridges.

    References
    ----------
    L. Zelnik-Manor and P. Perona (2004). Self-tuning spectral clustering. NeurIPS 17.
    A. Little, D. McKenzie and J. M. Murphy (2022). Balancing geometry and density: path distances on high-dimensional
    data. SIAM Journal on Mathematics of Data Science 4(1).

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc.kernels.path import PathKernel
    >>> X = np.array([[0.0], [1.0], [2.0], [5.0]])
    >>> PathKernel(exponent=2.0).path_lengths(X)[0].round(3)
    array([0.   , 1.   , 1.414, 3.317])
    """

    exponent: float = 4.0
    neighbors: int = 15
    reach: int = 0
    remark: ClassVar[str] = (
        "Distances run along paths through crowded places, so that clusters may have any shape; bandwidths are the "
        "scales of the columns."
    )

    def __post_init__(self) -> None:
        check_number(self.exponent, "exponent", minimum=1.0)
        check_positive_int(self.neighbors, "neighbors")
        if self.reach != 0:
            check_positive_int(self.reach, "reach")

    def path_lengths(self, X: FloatArray) -> FloatArray:
        """G between distinct rows, of shape (n_samples, n_samples)."""
        rows = _Rows.of(X, self)
        return rows.unpowered(rows.paths)

    def embed(self, X: FloatArray, rng: np.random.Generator, max_landmarks: int | None = None) -> PathEmbedding:
        """Features of the positive part, for these rows and new ones.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Rows divided by the bandwidths.
        rng : Generator
            Draws the landmarks if there are too many rows.
        max_landmarks : int, optional
            1500 if not given.

        Returns
        -------
        PathEmbedding
        """
        return embed_all(X, [self], rng, max_landmarks)[0]


def embed_all(
    X: FloatArray, kernels: Sequence[PathKernel], rng: np.random.Generator, max_landmarks: int | None = None
) -> list[PathEmbedding]:
    """Embeddings of the same rows under several kernels; those that differ in their scales only share their paths."""
    most = MAX_LANDMARKS if max_landmarks is None else max_landmarks
    distinct = np.unique(X, axis=0)  # sorted, so that the order of rows changes nothing
    if len(distinct) > most:
        distinct = distinct[np.sort(rng.choice(len(distinct), most, replace=False))]
    walked: dict[tuple[float, int], _Rows] = {}
    embeddings = []
    for kernel in kernels:
        activity.step("following paths")
        key = (kernel.exponent, kernel.reach)
        if key not in walked:
            walked[key] = _Rows.of(distinct, kernel)
        rows = walked[key].with_scales_of(kernel)
        activity.step("following paths")
        values, vectors = np.linalg.eigh(rows.similarities(rows.unpowered(rows.paths), rows.scales))
        keep = values > _EIGENVALUE_FLOOR * values[-1]
        values, vectors = values[keep], vectors[:, keep]
        embeddings.append(PathEmbedding(rows, vectors * np.sqrt(values), vectors / np.sqrt(values)))
    return embeddings


@dataclass(frozen=True)
class _Rows:
    """Distinct rows, the graph over them, and its shortest paths.

    Attributes
    ----------
    kernel : PathKernel
    X : ndarray of shape (n_rows, n_features)
    unit : float
        Steps are measured in it, so that no power of them overflows.
    cores : ndarray of shape (n_rows,)
        Shortest step that each allows.
    scales : ndarray of shape (n_rows,)
        s.
    paths : ndarray of shape (n_rows, n_rows)
        Σ (‖step‖ / unit)^q along the cheapest path, or its longest step.
    """

    kernel: PathKernel
    X: FloatArray
    unit: float
    cores: FloatArray
    scales: FloatArray
    paths: FloatArray

    @classmethod
    def of(cls, X: FloatArray, kernel: PathKernel) -> _Rows:
        distances = cdist(X, X)
        unit = float(distances.max()) or 1.0
        cores, scales = _orders(distances, kernel)
        steps = _steps(distances, cores, cores) / unit
        if math.isinf(kernel.exponent):
            # Single linkage merges two rows at the smallest longest step between them.
            paths = squareform(cophenet(linkage(squareform(steps, checks=False), "single"))) if len(X) > 1 else steps
        else:
            costs = np.maximum(steps**kernel.exponent, _SHORTEST)
            np.fill_diagonal(costs, 0.0)
            # Sparse graphs only: in a dense one scipy takes costs below 10⁻⁸ for missing edges.
            if len(X) <= _COMPLETE_GRAPH:
                paths = shortest_path(csr_array(costs), "FW")
            else:
                paths = shortest_path(_neighbor_graph(costs), "D", directed=False)
        return cls(kernel, X, unit, cores, scales, paths)

    def with_scales_of(self, kernel: PathKernel) -> _Rows:
        """The same paths with the scales of another kernel."""
        if kernel == self.kernel:
            return self
        return replace(self, kernel=kernel, scales=_orders(cdist(self.X, self.X), kernel)[1])

    def unpowered(self, paths: FloatArray) -> FloatArray:
        """G from sums of powers."""
        return (
            paths * self.unit if math.isinf(self.kernel.exponent) else paths ** (1.0 / self.kernel.exponent) * self.unit
        )

    def similarities(self, lengths: FloatArray, scales: FloatArray) -> FloatArray:
        """exp(−G² / (s_z s_x)) for rows with these scales."""
        return np.exp(-np.square(lengths) / np.multiply.outer(scales, self.scales))

    def similarities_of_new(self, distances: FloatArray) -> FloatArray:
        """Similarities of new rows at these distances: the first step of a path leads to a row, the rest is known."""
        cores, scales = _orders(distances, self.kernel)
        steps = _steps(distances, cores, self.cores) / self.unit
        n_rows = len(self.X)
        n_entries = n_rows if n_rows <= _COMPLETE_GRAPH else _GRAPH_NEIGHBORS + 1  # a row is its own neighbor
        entries = np.argpartition(steps, n_entries - 1, axis=1)[:, :n_entries]
        first = np.take_along_axis(steps, entries, axis=1)
        longest_only = math.isinf(self.kernel.exponent)
        if not longest_only:
            with np.errstate(over="ignore"):  # infinitely far is far enough
                first = first**self.kernel.exponent
        paths = np.full(distances.shape, np.inf)
        for start, entry in zip(first.T, entries.T, strict=True):
            onward = self.paths[entry]
            np.minimum(
                paths, np.maximum(onward, start[:, None]) if longest_only else onward + start[:, None], out=paths
            )
        with np.errstate(over="ignore"):
            return self.similarities(self.unpowered(paths), scales)


@dataclass(frozen=True)
class PathEmbedding(Embedding):
    """Features Φ with K₊ = ΦΦᵀ on the rows that paths lead over, and their extension to all other rows.

    A new row z has the features Λ^(−1/2) Vᵀ k_z, with K = VΛVᵀ and k_z its similarities. For a row that is one of those
    above they are the same as before.

    Attributes
    ----------
    rows : _Rows
    known : ndarray of shape (n_rows, r)
        Φ = V Λ^(1/2), of the rows themselves.
    root : ndarray of shape (n_rows, r)
        V Λ^(−1/2).
    """

    rows: _Rows
    known: FloatArray
    root: FloatArray

    @property
    def n_landmarks(self) -> int:
        """Rows that paths lead over."""
        return len(self.rows.X)

    def features(self, Z: FloatArray) -> FloatArray:
        """Features of rows divided by the bandwidths, of shape (len(Z), r)."""
        features = np.empty((len(Z), self.root.shape[1]))
        for block in row_blocks(len(Z), self.n_landmarks):
            activity.step("following paths")
            distances = cdist(Z[block], self.rows.X)
            nearest = distances.argmin(axis=1)
            new = np.take_along_axis(distances, nearest[:, None], axis=1)[:, 0] > 0
            features[block] = self.known[nearest]
            if new.any():
                features[block][new] = self.rows.similarities_of_new(distances[new]) @ self.root
        return features


def _orders(distances: FloatArray, kernel: PathKernel) -> tuple[FloatArray, FloatArray]:
    """Distance to the neighbor of order ``reach`` and of order ``neighbors``; a row that is there is its own first."""
    last = distances.shape[1] - 1
    reach, k = min(kernel.reach, last), min(kernel.neighbors, last)
    ordered = np.partition(distances, sorted({reach, k}), axis=1)
    cores = ordered[:, reach] if kernel.reach else np.zeros(len(distances))
    scales = ordered[:, k]
    return cores, np.where(scales > 0, scales, 1.0)  # zero only if there is a single row


def _steps(distances: FloatArray, cores: FloatArray, others: FloatArray) -> FloatArray:
    """Lengths of steps: distances, or what mutual reachability makes of them; no step is needed to stay."""
    return np.where(distances > 0, np.maximum(distances, np.maximum.outer(cores, others)), 0.0)


def _neighbor_graph(costs: FloatArray) -> csr_array:
    """Steps to the nearest rows, and the shortest ones that it takes to connect everything."""
    n_rows = len(costs)
    near: IntArray = np.argpartition(costs, _GRAPH_NEIGHBORS, axis=1)[:, : _GRAPH_NEIGHBORS + 1]
    starts = np.repeat(np.arange(n_rows), near.shape[1])
    ends = near.ravel()
    moves = starts != ends
    # Older versions of scipy walk graphs only whose indices are of C's int.
    starts, ends = starts[moves].astype(np.intc), ends[moves].astype(np.intc)
    graph = csr_array((costs[starts, ends], (starts, ends)), shape=(n_rows, n_rows))
    if connected_components(graph, directed=False, return_labels=False) > 1:
        graph = graph.maximum(csr_array(minimum_spanning_tree(csr_array(costs))))
    return graph.maximum(graph.T)
