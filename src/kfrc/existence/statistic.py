"""How grouped a table looks: evidence for several groups over one, on the columns where it is largest."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.cluster.hierarchy import ward
from scipy.spatial.distance import pdist, squareform
from scipy.special import chdtrc
from scipy.stats import rankdata

from kfrc._numerics import standardize
from kfrc.mixtures import RIDGE, Diagonal, Mixture, MixtureKind, Tied, TiedDiagonal, resolution
from kfrc.typing import FloatArray, IntArray
from kfrc.unimodal import fit_margin

_MAX_COLUMNS = 60
"""Columns looked at, the most dependent ones of wider tables."""

_KINDS = (MixtureKind(TiedDiagonal()), MixtureKind(Diagonal()), MixtureKind(Tied()))

_N_CLUSTERS = (2, 3, 4, 6)
"""Numbers tried; the evidence for five is never far from that for four or six."""

_ROWS_PER_CLUSTER = 3
"""On average, at least; fewer could be any rows."""

_FIRST_STEPS, _LAST_STEPS, _N_FINALISTS = 2, 20, 3
"""Steps of expectation-maximization from every start, and then from the best few."""

_EM_TOL = 1e-3
"""Rise per row at which expectation-maximization stops: a few tenths of evidence at most."""

_WAVES = (2, 4, 8)
"""Cosines per column in which dependence is sought: two see trends and bends, eight see rings."""

_COARSE_WAVES = (2,)
"""The same where columns are too many."""

_RELEVANT = 2.0
"""Decimal digits of a p-value from which a column counts as dependent on another one."""

_BANDWIDTHS = (0.15, 0.2, 0.3, 0.4)
"""Of the density of a pair of columns, in standard deviations."""

_BACKGROUND = 1e-3
"""Added to that density, about what a normal one has at three standard deviations: lone rows must not rule."""


def grouping(X: FloatArray) -> float:
    """Evidence for several groups over one, on the columns where it is largest."""
    X = X[:, np.ptp(X, axis=0) > 0]
    if X.shape[1] > _MAX_COLUMNS:
        relevance = _dependence(X, _COARSE_WAVES).max(axis=0)
        X = X[:, np.sort(np.argsort(-relevance, kind="stable")[:_MAX_COLUMNS])]
    if X.shape[1] == 0:
        return 0.0
    fitted = [fit_margin(column) for column in X.T]
    Z = standardize(np.column_stack([margin.scores[positions] for margin, positions in fitted]))
    contests = [_Contest.of(Z[:, columns]) for columns in _column_sets(Z, [margin.dip for margin, _ in fitted])]
    finalists = sorted((entry for contest in contests for entry in contest.entries()), key=lambda entry: -entry.gain)
    gains = [entry.improved().gain for entry in finalists[:_N_FINALISTS]]
    return max(gains + [contest.density_gain() for contest in contests if contest.X.shape[1] == 2], default=0.0)


def _column_sets(Z: FloatArray, dips: list[float]) -> list[IntArray]:
    """All columns, the one least like a single mode, the most dependent pair, and all that depend on another."""
    p = Z.shape[1]
    sets = [np.arange(p)]
    if p > 1:
        sets.append(np.array([int(np.argmax(dips))]))
    if p > 2:
        dependence = _dependence(Z, _WAVES)
        sets.append(np.array(divmod(int(dependence.argmax()), p)))
        relevant = np.flatnonzero(dependence.max(axis=0) > _RELEVANT)
        if 2 < len(relevant) < p:
            sets.append(relevant)
    return sets


def _dependence(Z: FloatArray, waves: tuple[int, ...]) -> FloatArray:
    """How clearly two columns depend on each other, for all pairs: −log10 of a p-value, of shape (p, p).

    Cosines of the ranks are uncorrelated between independent columns. The sum of their squared correlations, over k
    cosines of each column, has about a χ² distribution with k² degrees of freedom. The best k counts, and that there
    are several k and several partners.
    """
    n, p = Z.shape
    frequencies = np.pi * np.arange(1, max(waves) + 1)
    cosines = np.cos(((rankdata(Z, axis=0) - 0.5) / n)[:, :, None] * frequencies).reshape(n, -1)
    cosines -= cosines.mean(axis=0)
    norms = np.sqrt(np.square(cosines).sum(axis=0))
    cosines /= np.where(norms > RIDGE, norms, np.inf)  # a column of two values has no second cosine
    squares = np.square(cosines.T @ cosines).reshape(p, max(waves), p, max(waves))
    p_values = [chdtrc(k * k, n * squares[:, :k, :, :k].sum(axis=(1, 3))) for k in waves]
    dependence: FloatArray = -np.log10(np.maximum(np.min(p_values, axis=0), np.finfo(np.float64).tiny))
    np.fill_diagonal(dependence, 0.0)
    return dependence - math.log10(len(waves) * max(p - 1, 1))


@dataclass(frozen=True)
class _Contest:
    """One group against several on some columns.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        Columns in standard units.
    ridge : ndarray of shape (n_features,)
    distances : ndarray of shape (n_samples * (n_samples - 1) / 2,)
    kinds : tuple of MixtureKind
    """

    X: FloatArray
    ridge: FloatArray
    distances: FloatArray
    kinds: tuple[MixtureKind, ...]

    @classmethod
    def of(cls, X: FloatArray) -> _Contest:
        """The contest on a table."""
        # Two kinds are the same for a single column.
        kinds = _KINDS[:2] if X.shape[1] == 1 else _KINDS
        estimable = tuple(kind for kind in kinds if kind.covariance.is_estimable(*X.shape))
        return cls(X, resolution(X), pdist(X), estimable)

    def entries(self) -> list[_Entry]:
        """Mixtures of several components after their first steps, from Ward's hierarchy of the rows.

        With a common covariance also from that of the sphered rows: what all columns share, such as size, drowns groups
        that differ in shape.
        """
        n = len(self.X)
        single = max(entry.evidence for entry in self._single())
        numbers = [c for c in _N_CLUSTERS if _ROWS_PER_CLUSTER * c <= n]
        tree = ward(self.distances)
        trees = [(kind, tree) for kind in self.kinds]
        tied = [kind for kind in self.kinds if isinstance(kind.covariance, Tied)]
        if tied:
            sphere = Mixture.from_memberships(self.X, np.ones((n, 1)), tied[0], ridge=self.ridge).spread.scaling
            trees.append((tied[0], ward(pdist(self.X @ sphere))))
        return [
            _Entry.run(self, kind, np.eye(c)[cut_tree(tree, c)], _FIRST_STEPS, single=single)
            for kind, tree in trees
            for c in numbers
        ]

    def density_gain(self) -> float:
        """Log-likelihood of a kernel density, each row left out in turn, over that of one Gaussian component."""
        n, p = self.X.shape
        atoms = np.where(self.ridge > RIDGE, self.ridge, 0.0)  # values shared by many rows have no density
        best = -math.inf
        for bandwidth in _BANDWIDTHS:
            widths = np.sqrt(np.maximum(bandwidth**2, atoms))
            squares = self.distances**2 / bandwidth**2 if not atoms.any() else pdist(self.X / widths, "sqeuclidean")
            sums = squareform(np.exp(-0.5 * squares)).sum(axis=1)
            density = sums / ((n - 1) * (2.0 * math.pi) ** (0.5 * p) * widths.prod())
            best = max(best, float(np.log(density + _BACKGROUND).sum()))
        return best - max(entry.log_likelihood for entry in self._single())

    def _single(self) -> list[_Entry]:
        return [_Entry.run(self, kind, np.ones((len(self.X), 1)), 1) for kind in self.kinds]


@dataclass(frozen=True)
class _Entry:
    """A mixture in a contest.

    Attributes
    ----------
    contest : _Contest
    kind : MixtureKind
    memberships : ndarray of shape (n_samples, n_clusters)
    log_likelihood : float
    single : float
        Evidence for one component.
    """

    contest: _Contest
    kind: MixtureKind
    memberships: FloatArray
    log_likelihood: float
    single: float

    @classmethod
    def run(cls, contest: _Contest, kind: MixtureKind, U: FloatArray, n_steps: int, single: float = 0.0) -> _Entry:
        """A few steps of expectation-maximization from given memberships.

        As ``fit_mixture``, without what it keeps beside the likelihood: time counts here, digits do not.
        """
        X, before, log_likelihood = contest.X, -math.inf, -math.inf
        for _ in range(n_steps):
            mixture = Mixture.from_memberships(X, U, kind, ridge=contest.ridge)
            joint = mixture.log_joint(mixture.squared_distances(X))
            top = joint.max(axis=1, keepdims=True)
            U = np.exp(joint - top)
            total = U.sum(axis=1, keepdims=True)
            U /= total
            log_likelihood = float(np.log(total).sum() + top.sum())
            if log_likelihood - before < _EM_TOL * len(X):
                break
            before = log_likelihood
        return cls(contest, kind, U, log_likelihood, single)

    def improved(self) -> _Entry:
        """The same mixture after its last steps."""
        return _Entry.run(self.contest, self.kind, self.memberships, _LAST_STEPS, single=self.single)

    @property
    def evidence(self) -> float:
        """Log-likelihood less half the Bayesian information criterion's penalty."""
        n_parameters = self.kind.n_parameters(self.memberships.shape[1], self.contest.X.shape[1])
        return self.log_likelihood - 0.5 * n_parameters * math.log(len(self.contest.X))

    @property
    def gain(self) -> float:
        """Evidence over that for one component."""
        return self.evidence - self.single


def cut_tree(tree: FloatArray, n_clusters: int) -> IntArray:
    """Labels of the rows when the last merges of a hierarchy are undone; scipy's own way takes ten times as long."""
    n = len(tree) + 1
    first_undone = 2 * n - n_clusters
    labels = [0] * (2 * n - 1)
    found = 0
    for node, children in zip(range(2 * n - 2, n - 1, -1), tree[::-1, :2].astype(int).tolist(), strict=True):
        for child in children:
            if node >= first_undone > child:
                labels[child] = found
                found += 1
            else:
                labels[child] = labels[node]
    return np.array(labels[:n])
