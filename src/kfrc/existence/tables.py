"""One group in a table of any type: levels as cuts of normal variables, and what more components explain."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtr, ndtri
from sklearn.cluster import KMeans
from sklearn.covariance import ledoit_wolf_shrinkage
from sklearn.exceptions import ConvergenceWarning

from kfrc._numerics import symmetrize
from kfrc.columns import Table
from kfrc.gram import places_of
from kfrc.mixtures import MixtureKind, Parts, Tied, TiedDiagonal, fit_mixed
from kfrc.mixtures.mixed import price_of_levels
from kfrc.typing import FloatArray, IntArray
from kfrc.unimodal import DiscreteMargin, Margin, fit_margin

_NUMBERS = (2, 3)
"""Components that are tried: more groups show as two or three."""

_N_STARTS = 2
"""Runs of k-means that mixtures begin from, for each number of components."""

_MAX_ITER = 30
_TOL = 1e-3
"""Statistics are compared with each other, so that mixtures need not have converged fully."""

_SHRINKAGE = 0.5
"""Of the intensity of Ledoit and Wolf, as for numbers."""

_EIGENVALUE_FLOOR = 1e-6

_N_HERMITE = 30
"""Terms of the series for correlations of columns that were cut to levels."""

_N_PLACES = 81
"""Correlations at which it is evaluated."""


@dataclass(frozen=True, eq=False)
class OneGroupTable:
    """A single group of rows: a Gaussian copula, numbers of one mode each, levels with the shares they have.

    Attributes
    ----------
    table : Table
        Whose blanks every draw has.
    margins : tuple of Margin
    root : ndarray of shape (n_columns, n_columns)
        Square root of the correlations of the normal variables behind the columns.
    """

    table: Table
    margins: tuple[Margin, ...]
    root: FloatArray

    @classmethod
    def fit(cls, table: Table) -> OneGroupTable:
        """The single group nearest to a table without weights."""
        order = _leading_coordinate(table)
        margins = []
        scores = np.zeros(table.shape)
        for d, column in enumerate(table.columns):
            known = table.observed[:, d]
            x = table.values[known, d]
            margin, positions = _levels_margin(x, order[known]) if column.discrete else fit_margin(x)
            margins.append(margin)
            z = margin.scores[positions]
            scores[known, d] = (z - z.mean()) / max(float(z.std()), np.finfo(float).tiny)
        values, vectors = np.linalg.eigh(_correlations(scores, table, margins))
        values = np.maximum(values, _EIGENVALUE_FLOOR)
        scale = 1.0 / np.sqrt(np.square(vectors) @ values)
        return cls(table, tuple(margins), scale[:, None] * vectors * np.sqrt(values))

    def draw(self, n_samples: int, rng: np.random.Generator) -> Table:
        """A table of one group with the blanks of the original."""
        levels = ndtr(rng.standard_normal((n_samples, len(self.margins))) @ self.root.T)
        values = np.column_stack([margin.quantiles(u) for margin, u in zip(self.margins, levels.T, strict=True)])
        return replace(self.table, values=np.where(self.table.observed, values, np.nan))


def grouping_of_table(table: Table) -> float:
    """Evidence of the best mixture of several components over that of one, in natural logarithms."""
    parts, n_numbers = Parts(table), len(table.measured)
    kinds = [MixtureKind(TiedDiagonal())]
    if n_numbers > 1 and Tied().is_estimable(len(table), n_numbers):
        kinds.append(MixtureKind(Tied()))
    one = max(_evidence(parts, np.ones((len(table), 1)), kind) for kind in kinds)
    places = places_of(table)
    several = [_evidence(parts, U, kind) for c in _NUMBERS for U in _starts(places, c) for kind in kinds]
    return max(several, default=one) - one


def _evidence(parts: Parts, U: FloatArray, kind: MixtureKind) -> float:
    fit = fit_mixed(parts.table, U, kind, max_iter=_MAX_ITER, tol=_TOL, parts=parts)
    n_parameters = kind.n_parameters(U.shape[1], parts.numbers.shape[1])
    price = 0.5 * math.log(len(U)) * n_parameters + price_of_levels(parts, fit.expectation.posterior)
    return float(fit.expectation.log_densities.sum()) - price


def _starts(places: FloatArray, n_clusters: int) -> list[FloatArray]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct rows than clusters
        labels = [KMeans(n_clusters, n_init=1, random_state=seed).fit(places).labels_ for seed in range(_N_STARTS)]
    return [np.eye(n_clusters)[found] for found in labels]


def _leading_coordinate(table: Table) -> FloatArray:
    """First principal coordinate of the rows: levels without an order are ordered along it."""
    places = places_of(table)
    direction = np.linalg.svd(places - places.mean(axis=0), full_matrices=False)[2][0]
    coordinate: FloatArray = places @ (direction * np.sign(direction[np.abs(direction).argmax()]))
    return coordinate


def _levels_margin(codes: FloatArray, coordinate: FloatArray) -> tuple[Margin, IntArray]:
    values, positions, counts = np.unique(codes, return_inverse=True, return_counts=True)
    means = np.bincount(positions, weights=coordinate) / counts
    order = np.argsort(means, kind="stable")
    margin = DiscreteMargin(values[order], 0.0, counts[order] / counts.sum())
    return margin, np.argsort(order)[positions]


def _correlations(scores: FloatArray, table: Table, margins: list[Margin]) -> FloatArray:
    """Correlations of the normal variables, over rows in which both columns are known, shrunk as few rows require."""
    known = table.observed.astype(np.float64)
    both = np.maximum(known.T @ known, 1.0)
    correlations = _before_cutting((scores.T @ scores) / both, margins)
    if len(margins) > 1:
        correlations *= 1.0 - _SHRINKAGE * ledoit_wolf_shrinkage(scores, assume_centered=True)
    correlations = symmetrize(np.clip(correlations, -1.0, 1.0))
    np.fill_diagonal(correlations, 1.0)
    return correlations


def _before_cutting(correlations: FloatArray, margins: list[Margin]) -> FloatArray:
    """Correlations of normal variables, from those of the scores that they were cut to.

    With Hermite coefficients a_k and b_k of the scores of two columns, variables of correlation ρ have scores of
    correlation Σ_k a_k b_k ρᵏ, which rises with ρ: (2/π) arcsin ρ for two columns that are cut in halves.
    """
    coefficients = np.array([_hermite_coefficients(margin) for margin in margins])
    grid = np.linspace(-1.0, 1.0, _N_PLACES)
    powers = grid[:, None] ** np.arange(1, _N_HERMITE + 1)
    found = np.eye(len(margins))
    for d in range(len(margins)):
        for e in range(d):
            curve = powers @ (coefficients[d] * coefficients[e])
            found[d, e] = found[e, d] = np.interp(correlations[d, e], np.maximum.accumulate(curve), grid)
    return found


def _hermite_coefficients(margin: Margin) -> FloatArray:
    """E[f(Z) He_k(Z)] / √k! of the standardized scores f, for k = 1, 2, …; a number is the variable itself."""
    if not isinstance(margin, DiscreteMargin):
        return np.eye(1, _N_HERMITE)[0]
    if len(margin.values) < 2:
        return np.zeros(_N_HERMITE)
    scores, shares = margin.scores, margin.probabilities
    scores = scores - shares @ scores
    scores = scores / math.sqrt(float(shares @ np.square(scores)))
    cuts = ndtri(np.cumsum(shares)[:-1])
    # ∫ over (a, b] of He_k φ is He_{k−1}(a) φ(a) − He_{k−1}(b) φ(b); by the recurrence of He_k / √k!.
    steps = np.diff(scores) * np.exp(-0.5 * cuts**2) / math.sqrt(2.0 * math.pi)
    before, current = np.zeros_like(cuts), np.ones_like(cuts)
    coefficients = np.empty(_N_HERMITE)
    for k in range(1, _N_HERMITE + 1):
        coefficients[k - 1] = steps @ current / math.sqrt(k)
        before, current = current, (cuts * current - math.sqrt(k - 1) * before) / math.sqrt(k)
    return coefficients
