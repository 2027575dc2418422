"""The foremost columns of wide tables: those in which clusters differ beyond chance, found before anything is tuned.

A table with thousands of columns has few that matter, or many that say the same. Partitions are made from directions
that many columns share and from directions that few do, each is improved by the columns in which it differs beyond
chance, and the columns of the best partitions are what kernels, judge and densities see. All of it is linear in the
number of columns but for the correlations that directions start at.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from scipy.special import chdtrc, chdtri
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from kfrc import activity
from kfrc._numerics import row_blocks
from kfrc.columns import Rows, Table
from kfrc.directions import sparse_directions
from kfrc.gram import ColumnGrams
from kfrc.kernels.linear import Linear
from kfrc.metrics import adjusted_rand_score
from kfrc.typing import BoolArray, FloatArray, IntArray

FALSE_SHARE = 0.1
"""Columns that differ by chance alone, as an expected share of those that count as different (Benjamini-Hochberg)."""

MOST_COLUMNS = 100
"""Columns that a choice sees of a wide table: it takes seconds with so many, and clusters that differ in more of them
than these are clear."""

_LEAST_COLUMNS = 10
"""Columns that it sees even if the clusters differ in fewer."""

_FIRST_COLUMNS, _OTHER_COLUMNS = 50, 25
"""Columns that the best partition brings, and each of its rivals, before the best fills the rest."""

_N_PARTITIONS = 4
"""Different partitions whose columns are kept."""

_LEAST_EVIDENCE = 0.25
"""Share of the most evidence below which a rival partition is not heard."""

_LEAST_COMPARED = 0.1
"""The same below which it is not compared with factors: modules of columns can have much more evidence than clusters,
but partitions of noise have less than this."""

_N_COMPARED = 16
"""Different partitions that are compared with factors."""

_N_FACTOR_COLUMNS = 50
"""Columns on which they are, those in which clusters differ most."""

_N_FACTOR_STEPS = 10
"""Steps in which unique variances and loadings are found from each other."""

_LEAST_UNIQUE = 0.01
"""Share of a column's variance that factors leave unexplained at least."""

_SAME_PARTITION = 0.9
"""ARI above which two partitions are one."""

_N_DIRECTIONS = 10
"""Directions of few columns that partitions are made from, alone and in pairs."""

_N_PEAKED = 5
"""Columns that fall in two by themselves, by their kurtosis, that partitions are made from."""

_BY_CHANCE = 20.0
"""Columns that may pass by chance while a partition is improved: more drown what is faint, fewer miss it."""

_N_STEPS = 12
"""Steps of improvement; most partitions rest after five."""

_MOST_EXPLAINED = 0.999
"""Share of a column's variance beyond which it counts as explained: copies of labels are not worth infinitely much."""

_BLOCK_ELEMENTS = 1 << 20
"""Means of clusters held at a time, for all columns (8 MiB)."""

_TRIED = (2, 3, 5, 8)
"""Numbers of clusters that are tried where the number is not known."""

_SHORT_TRIED, _SHORT_DIRECTIONS, _SHORT_STARTS, _SHORT_FIRST, _SHORT_COLUMNS = (2, 3), 5, 32, 2000, 30
"""Of a short search, for statistics of many tables: numbers of clusters, directions, where they start, columns."""


@dataclass(frozen=True)
class Foremost:
    """Columns that were kept of a wide table.

    Attributes
    ----------
    columns : ndarray of shape (k,)
        In ascending order; all others were set aside.
    n_columns : int
        How many there were.
    n_differing : int
        In how many columns the clusters differ beyond chance, of all.
    false_share : float
        Expected share of those that do so by chance, if clusters were not made from the same rows.
    """

    columns: IntArray
    n_columns: int
    n_differing: int = 0
    false_share: float = FALSE_SHARE

    @property
    def most(self) -> int:
        """How many columns could be kept."""
        return MOST_COLUMNS

    @property
    def n_set_aside(self) -> int:
        """Columns that were not kept."""
        return self.n_columns - len(self.columns)


def foremost_columns(X: Rows, numbers: Sequence[int], also: Sequence[int] = ()) -> Foremost:
    """The columns of a wide table that a choice should see.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features) or Table
        Columns with mean zero and standard deviation one, or of any type in their units.
    numbers : sequence of int
        How many clusters there may be.
    also : sequence of int
        Columns that something else speaks for.

    Returns
    -------
    Foremost

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc.foremost import foremost_columns
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 1500))
    >>> X[:30, :20] += 3.0
    >>> found = foremost_columns(X, [2])
    >>> bool(np.isin(np.arange(20), found.columns).all()), found.n_set_aside > 1400
    (True, True)
    """
    points = _Points.of(X)
    tried = [c for c in (numbers if len(numbers) == 1 else _TRIED) if c in numbers and c < len(points.Z)]
    best = _best_partitions(points, sparse_directions(points.A, _N_DIRECTIONS), tried)
    orders = [points.different(U)[1].tolist() for U in best]
    kept = [*orders[0][:_FIRST_COLUMNS], *also]
    for order in orders[1:]:
        kept += order[:_OTHER_COLUMNS]
    kept += orders[0]
    columns = np.array(list(dict.fromkeys(kept))[:MOST_COLUMNS], dtype=np.intp)
    return Foremost(np.sort(columns), X.shape[1])


def differing_columns(X: Rows, posterior: FloatArray) -> IntArray:
    """Columns in which clusters differ beyond chance, the clearest first; a tenth of them does so by chance."""
    n_different, order = _Points.of(X).different(posterior)
    return order[:n_different]


def wide_grouping(X: Rows) -> float:
    """Evidence for two or three groups over one in the columns where it is largest, by a short search.

    Thirty columns count at most: what is compared are tables of different structure, and the one with more columns of
    the same is not more grouped.
    """
    points = _Points.of(X)
    directions = sparse_directions(points.A, _SHORT_DIRECTIONS, n_starts=_SHORT_STARTS, max_first=_SHORT_FIRST)
    evidence = 0.0
    for n_clusters in _SHORT_TRIED:
        starts = np.array(list(_starts(points, directions, n_clusters)))
        for block in row_blocks(len(starts), n_clusters * points.Z.shape[1], _BLOCK_ELEMENTS):
            evidence = max(evidence, float(points.improved(starts[block], most=_SHORT_COLUMNS)[1].max()))
    return evidence


@dataclass(frozen=True)
class _Points:
    """Rows as points with mean zero and variance one in every coordinate, weights counted.

    Attributes
    ----------
    Z : ndarray of shape (n_samples, r)
    owner : ndarray of shape (r,)
        Which column a coordinate belongs to: one of numbers has one, one of levels has several.
    mass : ndarray of shape (n_samples,)
        How many rows each row stands for.
    """

    Z: FloatArray
    owner: IntArray
    mass: FloatArray

    @classmethod
    def of(cls, X: Rows) -> _Points:
        if not isinstance(X, Table):
            return cls(_in_units(X, np.ones(len(X))), np.arange(X.shape[1]), np.ones(len(X)))
        gram = ColumnGrams(X, Linear()).at(np.ones(X.shape[1]))
        features = np.vstack([block for _, block in gram.blocks()])
        return cls(_in_units(features, X.mass), np.repeat(gram.used, gram.ranks), X.mass)

    @property
    def A(self) -> FloatArray:
        """Coordinates of length one, each row as long as its weight says."""
        return self.Z * np.sqrt(self.mass / self.mass.sum())[:, None]

    def explained(self, U: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Shares of clusters (m, c), their means (m, c, r), and the share η² of every coordinate that they explain."""
        n_partitions, n_samples, n_clusters = U.shape
        weights = (U * (self.mass / self.mass.sum())[:, None]).transpose(0, 2, 1)
        sizes = np.maximum(weights.sum(axis=2), np.finfo(np.float64).tiny)
        sums = weights.reshape(-1, n_samples) @ self.Z
        means = sums.reshape(n_partitions, n_clusters, -1) / sizes[:, :, None]
        eta = np.einsum("mc,mcd->md", sizes, np.square(means))
        return sizes, means, np.minimum(eta, _MOST_EXPLAINED)

    def improved(self, U: FloatArray, most: int | None = None) -> tuple[FloatArray, FloatArray]:
        """Partitions (m, n, c) after some steps, and the evidence of each beyond one cluster and beyond chance.

        A step keeps the coordinates in which a partition differs most, with one Gaussian per cluster and a common
        variance. The evidence counts what a column gains less the price of its means and of being one of so many, in
        all columns or in the ``most`` best.
        """
        n_samples, n_clusters = U.shape[1:]
        factor = self._factor(n_clusters)
        level = min(_BY_CHANCE / len(self.owner), 0.05)
        cut = -math.expm1(-float(chdtri(n_clusters - 1, level)) / factor)
        for _ in range(_N_STEPS):
            sizes, means, eta = self.explained(U)
            precisions = np.where(eta > cut, 1.0 / (1.0 - eta), 0.0)
            scaled = means * precisions[:, None, :]
            inner = (self.Z @ scaled.reshape(-1, len(self.owner)).T).reshape(n_samples, *sizes.shape)
            joint = inner.transpose(1, 0, 2) - 0.5 * np.einsum("mcd,mcd->mc", means, scaled)[:, None, :]
            joint += np.log(sizes)[:, None, :]
            joint -= joint.max(axis=2, keepdims=True)
            U = np.exp(joint, out=joint)
            U /= U.sum(axis=2, keepdims=True)
        gains = -0.5 * self.mass.sum() * np.log1p(-self.explained(U)[2])
        price = 0.5 * (n_clusters - 1) * math.log(self.mass.sum()) + math.log(len(self.owner))
        worth = np.maximum(gains - price, 0.0)
        if most is not None and most < worth.shape[1]:
            worth = np.partition(worth, -most, axis=1)[:, -most:]
        return U, worth.sum(axis=1)

    def different(self, U: FloatArray) -> tuple[int, IntArray]:
        """How many columns differ between clusters beyond chance, and all columns, the clearest first."""
        n_clusters = U.shape[1]
        statistics = -self._factor(n_clusters) * np.log1p(-self.explained(U[None])[2][0])
        totals, degrees = np.bincount(self.owner, statistics), np.bincount(self.owner)
        p_values = chdtrc((n_clusters - 1) * np.maximum(degrees, 1), totals)
        order = np.lexsort([-totals, p_values])
        below = p_values[order] <= FALSE_SHARE * np.arange(1, len(order) + 1) / len(order)
        n_different = int(np.flatnonzero(below).max(initial=-1)) + 1
        return n_different, order[: max(n_different, _LEAST_COLUMNS)]

    def beyond_factors(self, U: FloatArray) -> float:
        """Log-likelihood of the clusters over that of c − 1 factors, in the coordinates where clusters differ most.

        Both have as many parameters. A module of columns that rise and fall together is a factor: cut into clusters it
        explains its columns less well than uncut.
        """
        eta = self.explained(U[None])[2][0]
        columns = np.argsort(-eta, kind="stable")[:_N_FACTOR_COLUMNS]
        part = replace(self, Z=np.ascontiguousarray(self.Z[:, columns]), owner=np.arange(len(columns)))
        sizes, means, eta = part.explained(U[None])
        variances = 1.0 - eta[0]
        squares = np.square(part.Z[:, None, :] - means[0]) / variances
        joint = np.log(sizes[0]) - 0.5 * (squares.sum(axis=2) + np.log(variances).sum())
        top = joint.max(axis=1)
        densities = top + np.log(np.exp(joint - top[:, None]).sum(axis=1)) + 0.5 * np.square(part.Z).sum(axis=1)
        return float(self.mass @ densities) - _factor_gain(part.A, float(self.mass.sum()), U.shape[1] - 1)

    def _factor(self, n_clusters: int) -> float:
        """Bartlett's factor: −factor · log(1 − η²) has a χ² distribution with c − 1 degrees of freedom by chance."""
        return max(float(self.mass.sum()) - 1.0 - 0.5 * (1 + n_clusters), 1.0)


def _best_partitions(points: _Points, directions: FloatArray, numbers: Sequence[int]) -> list[FloatArray]:
    """The best few partitions that are not much the same, of any of these numbers of clusters, the best first."""
    found: list[tuple[float, FloatArray]] = []
    for n_clusters in numbers:
        starts = np.array(list(_starts(points, directions, n_clusters)))
        for block in row_blocks(len(starts), n_clusters * points.Z.shape[1], _BLOCK_ELEMENTS):
            activity.step("looking for columns that matter")
            partitions, worth = points.improved(starts[block])
            found += zip(worth.tolist(), partitions, strict=True)
    found.sort(key=lambda one: -one[0])
    distinct: list[tuple[float, FloatArray]] = []
    for evidence, U in found:
        if len(distinct) == _N_COMPARED or evidence < _LEAST_COMPARED * found[0][0]:
            break
        labels = U.argmax(axis=1)
        if all(adjusted_rand_score(labels, other.argmax(axis=1)) < _SAME_PARTITION for _, other in distinct):
            distinct.append((evidence, U))
    # Columns that vary together along a line can be cut anywhere. Where some partition says more than such lines do,
    # those that say less are not heard.
    heard = [one for one in distinct if points.beyond_factors(one[1]) > 0] or distinct
    return [U for evidence, U in heard if evidence >= _LEAST_EVIDENCE * heard[0][0]][:_N_PARTITIONS]


def _starts(points: _Points, directions: FloatArray, n_clusters: int) -> Iterator[FloatArray]:
    """Partitions by k-means: in principal coordinates, along directions of few columns, in columns of two peaks."""
    A, root = points.A, np.sqrt(np.maximum(points.mass, np.finfo(np.float64).tiny))[:, None]
    values, vectors = np.linalg.eigh(A @ A.T)
    principal = vectors[:, ::-1] * np.sqrt(np.maximum(values[::-1], 0.0)) / root
    sparse = directions / root
    n_sparse = sparse.shape[1]
    places = [principal[:, :k] for k in range(1, min(max(n_clusters, 4), len(A)) + 1)]
    places += [sparse[:, [k]] for k in range(n_sparse)]
    places += [sparse[:, list(pair)] for pair in combinations(range(n_sparse), 2)]
    places += [sparse[:, :k] for k in range(3, min(n_clusters + 1, n_sparse) + 1)]
    peaked = np.argsort(points.mass @ points.Z**4, kind="stable")[:_N_PEAKED]
    places += [points.Z[:, [d]] for d in peaked.tolist()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct rows than clusters
        for Z in places:
            labels = KMeans(n_clusters, n_init=2, random_state=0).fit(Z, sample_weight=points.mass).labels_
            yield np.eye(n_clusters)[labels]


def _factor_gain(A: FloatArray, total: float, n_factors: int) -> float:
    """Log-likelihood of columns with common factors over that of independent ones, all of length one."""
    S = A.T @ A
    unique = np.full(len(S), 0.5)
    for _ in range(_N_FACTOR_STEPS):
        root = np.sqrt(unique)
        values, vectors = np.linalg.eigh(S / np.outer(root, root))
        values, vectors = values[-n_factors:], vectors[:, -n_factors:]
        loadings = root[:, None] * vectors * np.sqrt(np.maximum(values - 1.0, 0.0))
        unique = np.clip(1.0 - np.square(loadings).sum(axis=1), _LEAST_UNIQUE, 1.0)
    model = loadings @ loadings.T + np.diag(unique)
    log_volume = float(np.linalg.slogdet(model)[1])
    return -0.5 * total * (log_volume + float(np.trace(np.linalg.solve(model, S))) - len(S))


def _in_units(X: FloatArray, mass: FloatArray) -> FloatArray:
    """Columns with mean zero and variance one, weights counted; zero where they do not vary."""
    Z = X - mass @ X / mass.sum()
    deviations = np.sqrt(mass @ np.square(Z) / mass.sum())
    varying: BoolArray = deviations > 0
    Z *= np.where(varying, 1.0 / np.where(varying, deviations, 1.0), 0.0)
    return Z
