"""Mixtures for tables of any type: Gaussian or t components for numbers times shares of levels for everything else."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import gammaln

from kfrc import activity
from kfrc.columns import Table
from kfrc.mixtures.blanks import PartialMixture, Patterns
from kfrc.mixtures.covariances import Tied, masses_of
from kfrc.mixtures.mixture import ATOM, RIDGE, Expectation, Mixture, MixtureFit, MixtureKind
from kfrc.typing import FloatArray, IntArray

_PRIOR_ROWS = 1.0
"""Rows of the overall shares that are added to those of each component: no level is impossible anywhere."""


@dataclass(frozen=True, eq=False)
class Parts:
    """A table as a mixture sees it: numbers, and for each other column which level every row has.

    Attributes
    ----------
    table : Table
    """

    table: Table

    @cached_property
    def numbers(self) -> FloatArray:
        """Columns of numbers, of shape (n_samples, q), NaN among them."""
        return self.table.values[:, self.table.measured]

    @cached_property
    def complete(self) -> bool:
        """Whether no number is missing."""
        return not np.isnan(self.numbers).any()

    @cached_property
    def patterns(self) -> Patterns:
        """Of the numbers."""
        return Patterns.of(self.numbers)

    @cached_property
    def levels(self) -> tuple[tuple[IntArray, int], ...]:
        """For every column with levels: that of each row, past the last one where it is blank, and their number."""
        found = []
        for d in self.table.discrete.tolist():
            n_levels, codes = len(self.table.columns[d].levels), self.table.values[:, d]
            found.append((np.where(np.isnan(codes), n_levels, codes).astype(np.int64), n_levels))
        return tuple(found)

    @cached_property
    def overall(self) -> tuple[FloatArray, ...]:
        """Shares of the levels in the whole table, for every column with levels."""
        shares = []
        for codes, n_levels in self.levels:
            counts = np.bincount(codes, weights=self.table.mass, minlength=n_levels + 1)[:n_levels]
            shares.append(counts / counts.sum())
        return tuple(shares)

    @cached_property
    def ridge(self) -> FloatArray:
        """Floor of the variances of the numbers, see :func:`kfrc.mixtures.resolution`; blanks do not count."""
        shares = []
        for x in self.numbers.T:
            known = ~np.isnan(x)
            _, inverse = np.unique(x[known], return_inverse=True)
            counts = np.bincount(inverse, weights=self.table.mass[known])
            shares.append(counts.max() / counts.sum())
        found = np.array(shares)
        return np.where(found >= ATOM, found, RIDGE)

    def level_counts(self, W: FloatArray) -> list[FloatArray]:
        """Rows of every component with each level, (n_clusters, n_levels), for every column with levels.

        ``W`` are memberships (n_samples, n_clusters), as often as the weights of the rows say.
        """
        return [
            np.array([np.bincount(codes, weights=w, minlength=n_levels + 1)[:n_levels] for w in W.T])
            for codes, n_levels in self.levels
        ]


@dataclass(frozen=True)
class MixedMixture:
    """A mixture of a table: within a component numbers and levels are independent of each other.

    Attributes
    ----------
    kind : MixtureKind
        Of the numbers.
    weights : ndarray of shape (n_clusters,)
    numbers : Mixture, PartialMixture or None
        None if there are none.
    shares : tuple of ndarray of shape (n_clusters, n_levels)
        Of the levels of every other column.
    """

    kind: MixtureKind
    weights: FloatArray
    numbers: Mixture | PartialMixture | None
    shares: tuple[FloatArray, ...]

    @classmethod
    def from_memberships(
        cls,
        parts: Parts,
        U: FloatArray,
        kind: MixtureKind,
        *,
        row_weights: FloatArray | None = None,
        before: MixedMixture | None = None,
    ) -> MixedMixture:
        """Maximization step: the mixture that memberships imply."""
        activity.step("fitting mixtures")
        table = parts.table
        W = U if table.weights is None else U * table.weights[:, None]
        sizes = masses_of(W)
        numbers: Mixture | PartialMixture | None = None
        if parts.numbers.shape[1] and parts.complete:
            numbers = Mixture.from_memberships(
                parts.numbers, W, kind, ridge=parts.ridge, row_weights=row_weights, total=table.total
            )
        elif parts.numbers.shape[1]:
            earlier = before.numbers if before is not None else None
            numbers = PartialMixture.from_memberships(
                parts.patterns,
                W,
                kind,
                parts.ridge,
                row_weights=row_weights,
                before=earlier if isinstance(earlier, PartialMixture) else None,
            )
        shares = tuple(map(smoothed_shares, parts.level_counts(W), parts.overall))
        return cls(kind, sizes / sizes.sum(), numbers, shares)

    def expectation(self, parts: Parts) -> Expectation:
        """Expectation step: what the mixture says of the rows; log-densities are of single rows, without weights."""
        joint, row_weights = self._log_joint(parts)
        largest = joint.max(axis=1)
        log_densities = largest + np.log(np.exp(joint - largest[:, None]).sum(axis=1))
        return Expectation(np.exp(joint - log_densities[:, None]), log_densities, row_weights)

    def posterior(self, X: Table) -> FloatArray:
        """Probability of every component given a row, of shape (n_samples, n_clusters)."""
        posterior = self.expectation(Parts(X)).posterior
        return posterior / posterior.sum(axis=1, keepdims=True)

    def _log_joint(self, parts: Parts) -> tuple[FloatArray, FloatArray | None]:
        joint = np.tile(np.log(self.weights), (len(parts.table), 1))
        row_weights: FloatArray | None = None
        if self.numbers is not None:
            numbers = self.numbers
            if isinstance(numbers, PartialMixture):
                log_densities, row_weights = numbers.log_densities(parts.patterns)
                joint = joint + log_densities
            elif parts.complete:
                distances = numbers.squared_distances(parts.numbers)
                joint = numbers.log_joint(distances)
                nu = self.kind.degrees_of_freedom
                row_weights = None if math.isinf(nu) else (nu + parts.numbers.shape[1]) / (nu + distances)
            else:
                joint = joint + _with_blanks(numbers, parts.patterns)[0]
        for (codes, _), shares in zip(parts.levels, self.shares, strict=True):
            # Levels of probability zero are of no row that was fitted; a blank says nothing.
            with np.errstate(divide="ignore"):
                log_shares = np.maximum(np.log(shares), _LOG_NEVER)
            joint = joint + np.vstack([log_shares.T, np.zeros(len(self.weights))])[codes]
        return joint, row_weights


_LOG_NEVER = -700.0
"""Stands for the logarithm of zero."""


def fit_mixed(table: Table, U: FloatArray, kind: MixtureKind, *, max_iter: int, tol: float, parts: Parts) -> MixtureFit:
    """Expectation-maximization from given memberships, for tables; see :func:`kfrc.mixtures.fit_mixture`."""
    s = table.mass
    mixture = MixedMixture.from_memberships(parts, U, kind)
    step = mixture.expectation(parts)
    path = [float(s @ step.log_densities)]
    converged = False
    while not converged and len(path) <= max_iter:
        mixture = MixedMixture.from_memberships(
            parts, step.posterior, kind, row_weights=step.row_weights, before=mixture
        )
        step = mixture.expectation(parts)
        path.append(float(s @ step.log_densities))
        converged = path[-1] - path[-2] < tol * table.total
    return MixtureFit(mixture, step, np.array(path), converged)


def smoothed_shares(counts: FloatArray, overall: FloatArray) -> FloatArray:
    """Shares of the levels in every component, from counts (n_clusters, n_levels) and one row of the overall shares."""
    padded = counts + _PRIOR_ROWS * overall
    shares: FloatArray = padded / padded.sum(axis=1, keepdims=True)
    return shares


def log_marginals(counts: FloatArray, overall: FloatArray) -> FloatArray:
    """Log-probability of the levels of every component when its shares are unknown, of shape (n_clusters,).

    Their prior is a Dirichlet distribution worth one row of the overall shares, the one that smooths them.
    """
    used = overall > 0
    prior = _PRIOR_ROWS * overall[used]
    each = (gammaln(prior + counts[:, used]) - gammaln(prior)).sum(axis=1)
    log_marginals: FloatArray = gammaln(_PRIOR_ROWS) - gammaln(_PRIOR_ROWS + counts.sum(axis=1)) + each
    return log_marginals


def price_of_levels(parts: Parts, U: FloatArray) -> float:
    """What shares of levels cost: how much more probable rows are with the best shares than with unknown ones.

    This is the price of Cheeseman and Stutz. Half the logarithm of n for every share, as in BIC, is far too much where
    levels hardly occur in a component: shares near zero are known from few rows.

    References
    ----------
    P. Cheeseman and J. Stutz (1996). Bayesian classification (AutoClass): theory and results. Advances in Knowledge
    Discovery and Data Mining, 153-180.
    D. M. Chickering and D. Heckerman (1997). Efficient approximations for the marginal likelihood of Bayesian networks
    with hidden variables. Machine Learning 29, 181-212.
    """
    W = U if parts.table.weights is None else U * parts.table.weights[:, None]
    price = 0.0
    for counts, overall in zip(parts.level_counts(W), parts.overall, strict=True):
        shares = smoothed_shares(counts, overall)
        price += float((counts * np.log(np.where(shares > 0, shares, 1.0))).sum())
        price -= float(log_marginals(counts, overall).sum())
    return price


def _with_blanks(mixture: Mixture, patterns: Patterns) -> tuple[FloatArray, FloatArray | None]:
    """What components of complete numbers say of rows with blanks, see ``PartialMixture.log_densities``."""
    kind, scaling, means = mixture.kind, mixture.spread.scaling, mixture.means
    if not isinstance(kind.covariance, Tied) and not kind.covariance.has_own_matrices:
        return PartialMixture(kind, means, 1.0 / np.square(scaling)).log_densities(patterns)
    one = MixtureKind(Tied(), kind.degrees_of_freedom)
    if scaling.ndim == 2:
        return PartialMixture(one, means, _inverse(scaling @ scaling.T)).log_densities(patterns)
    each = [
        PartialMixture(one, mean[None], _inverse(matrix @ matrix.T)).log_densities(patterns)
        for mean, matrix in zip(means, scaling, strict=True)
    ]
    return np.hstack([log_densities for log_densities, _ in each]), None  # rows are asked about, not fitted


def _inverse(M: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.inv(M), dtype=np.float64)
