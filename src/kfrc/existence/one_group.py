"""Tables of a single group: columns of one mode each, with the correlations and the joint tails of a given table."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, ndtr, stdtr, stdtrit
from sklearn.covariance import ledoit_wolf_shrinkage

from kfrc._numerics import standardize, symmetrize
from kfrc.typing import FloatArray
from kfrc.unimodal import Margin, fit_margin

_DEGREES = (math.inf, 30.0, 15.0, 8.0, 5.0, 3.0, 2.0)
"""Degrees of freedom tried for the copula: rows far out in one column may be so in others, in a single group."""

_SHRINKAGE = 0.5
"""Of the intensity of Ledoit and Wolf: all of it makes draws rounder than the table, which then looks grouped."""

_EIGENVALUE_FLOOR = 1e-6
"""Of the correlation matrix: copies of a column stay copies, and the copula has a density."""


@dataclass(frozen=True)
class OneGroup:
    """A single group: a t or Gaussian copula and unimodal margins.

    Attributes
    ----------
    margins : tuple of Margin
    root : ndarray of shape (n_features, n_features)
        Symmetric square root of the correlation matrix.
    degrees : float
        Degrees of freedom of the copula; infinite for a Gaussian one.
    """

    margins: tuple[Margin, ...]
    root: FloatArray
    degrees: float

    @classmethod
    def fit(cls, X: FloatArray) -> OneGroup:
        """The single group nearest to a table of columns that vary."""
        fitted = [fit_margin(column) for column in X.T]
        margins = tuple(margin for margin, _ in fitted)
        scores = np.column_stack([margin.scores[positions] for margin, positions in fitted])
        values, vectors = np.linalg.eigh(_correlations(scores, margins))
        values = np.maximum(values, _EIGENVALUE_FLOOR)
        scale = 1.0 / np.sqrt(np.square(vectors) @ values)  # a floor adds to the diagonal; it must be one
        correlations = scale[:, None] * (vectors * values) @ vectors.T * scale
        values, vectors = np.linalg.eigh(symmetrize(correlations))
        root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        return cls(margins, root, _degrees_of_freedom(scores, correlations))

    def draw(self, n_samples: int, rng: np.random.Generator) -> FloatArray:
        """A table of shape (n_samples, n_features)."""
        normal = rng.standard_normal((n_samples, len(self.root))) @ self.root
        if math.isinf(self.degrees):
            levels = ndtr(normal)
        else:
            radii = np.sqrt(rng.chisquare(self.degrees, (n_samples, 1)) / self.degrees)
            levels = stdtr(self.degrees, normal / radii)
        return np.column_stack([margin.quantiles(u) for margin, u in zip(self.margins, levels.T, strict=True)])


def _correlations(scores: FloatArray, margins: tuple[Margin, ...]) -> FloatArray:
    """Correlations of the normal variables behind the columns, shrunk towards zero as few rows require."""
    Z = standardize(scores)
    attenuation = np.array([margin.attenuation for margin in margins])
    correlations: FloatArray = (Z.T @ Z) / (len(Z) - 1) / np.outer(attenuation, attenuation)
    if len(margins) > 1:
        correlations *= 1.0 - _SHRINKAGE * ledoit_wolf_shrinkage(Z, assume_centered=True)
    np.fill_diagonal(correlations, 1.0)
    return symmetrize(np.clip(correlations, -1.0, 1.0))


def _degrees_of_freedom(scores: FloatArray, correlations: FloatArray) -> float:
    """Degrees of freedom of the t copula of the highest likelihood."""
    p = len(correlations)
    factor, levels = np.linalg.cholesky(correlations), ndtr(scores)

    def log_likelihood(nu: float) -> float:
        T = scores if math.isinf(nu) else stdtrit(nu, levels)
        squares = np.square(np.linalg.solve(factor, T.T)).sum(axis=0)
        if math.isinf(nu):
            return float(0.5 * (np.square(T).sum() - squares.sum()))
        constant = gammaln(0.5 * (nu + p)) + (p - 1) * gammaln(0.5 * nu) - p * gammaln(0.5 * (nu + 1))
        margins = 0.5 * (nu + 1) * np.log1p(np.square(T) / nu).sum(axis=1)
        return float((constant - 0.5 * (nu + p) * np.log1p(squares / nu) + margins).sum())

    return max(_DEGREES, key=log_likelihood) if p > 1 else math.inf
