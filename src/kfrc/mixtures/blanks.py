"""Gaussian and t components for numbers with blanks: what is not known is integrated out, pattern by pattern.

For a common full covariance Σ, rows with the same pattern o of known entries share P_o, the inverse of Σ among them and
zero elsewhere. Their distances are (x − μ_i)ᵀ P_o (x − μ_i), their missing entries have the conditional mean
μ_i + Σ P_o (x − μ_i) and the conditional covariance C_o = Σ − Σ P_o Σ: what expectation-maximization needs. For
diagonal covariances P_o is diagonal, and known entries are all there is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from kfrc.mixtures.covariances import Tied, TiedDiagonal, masses_of
from kfrc.mixtures.mixture import MixtureKind
from kfrc.typing import FloatArray, IntArray


@dataclass(frozen=True)
class Patterns:
    """Which entries of a table are known.

    Attributes
    ----------
    filled : ndarray of shape (n_samples, n_features)
        Values, zero where nothing is known.
    known : ndarray of shape (n_samples, n_features)
        One where something is, zero elsewhere.
    distinct : ndarray of shape (n_patterns, n_features)
        The patterns that occur.
    of_row : ndarray of shape (n_samples,)
        Which of them each row has.
    """

    filled: FloatArray
    known: FloatArray
    distinct: FloatArray
    of_row: IntArray

    @classmethod
    def of(cls, X: FloatArray) -> Patterns:
        """Of values with NaN."""
        observed = ~np.isnan(X)
        known = observed.astype(np.float64)
        distinct, of_row = np.unique(known, axis=0, return_inverse=True)
        return cls(np.where(observed, X, 0.0), known, distinct, of_row.ravel())


@dataclass(frozen=True)
class PartialMixture:
    """Components of numbers with blanks; the kinds ``tied``, ``tied_diagonal`` and ``diagonal``, with or without tails.

    Attributes
    ----------
    kind : MixtureKind
    means : ndarray of shape (n_clusters, n_features)
    covariances : ndarray of shape (n_features, n_features) or (1 or n_clusters, n_features)
        A common matrix, or variances.
    """

    kind: MixtureKind
    means: FloatArray
    covariances: FloatArray

    @staticmethod
    def can_be(kind: MixtureKind) -> bool:
        """Whether a kind has a form for blanks: those with matrices of their own have not."""
        return not kind.covariance.has_own_matrices

    @classmethod
    def from_memberships(
        cls,
        patterns: Patterns,
        W: FloatArray,
        kind: MixtureKind,
        ridge: FloatArray,
        *,
        row_weights: FloatArray | None = None,
        before: PartialMixture | None = None,
    ) -> PartialMixture:
        """Maximization step.

        Parameters
        ----------
        patterns : Patterns
        W : ndarray of shape (n_samples, n_clusters)
            Memberships, as often as the weights of the rows say.
        kind : MixtureKind
        ridge : ndarray of shape (n_features,)
            Added to the variances.
        row_weights : ndarray of shape (n_samples, n_clusters), optional
            What the t distribution makes of far rows.
        before : PartialMixture, optional
            What missing entries are expected from; without one each has the mean and variance of its component.
        """
        V = W if row_weights is None else W * row_weights
        masses = V.T @ patterns.known + np.finfo(float).tiny
        means = (V.T @ patterns.filled) / masses
        sizes = W.T @ patterns.known
        scatter = np.maximum(V.T @ np.square(patterns.filled) - masses * np.square(means), 0.0)
        if isinstance(kind.covariance, Tied):
            if before is None:
                variances = scatter.sum(axis=0) / np.maximum(sizes.sum(axis=0), 1e-10) + ridge
                before = cls(kind, means, np.diag(variances))
            return before._maximized(patterns, W, V, ridge)
        if isinstance(kind.covariance, TiedDiagonal):
            variances = scatter.sum(axis=0, keepdims=True) / np.maximum(sizes.sum(axis=0), 1e-10)
        else:
            variances = (scatter + 1.0) / (sizes + 1.0)  # a row's worth of the total variance
        return cls(kind, means, variances + ridge)

    def _maximized(self, patterns: Patterns, W: FloatArray, V: FloatArray, ridge: FloatArray) -> PartialMixture:
        """The step for a common matrix, with missing entries expected from these components."""
        inverses, _ = self._inverses(patterns)
        regressions = self.covariances @ inverses  # Σ P_o: what known entries say of all
        of_row = patterns.of_row
        predicted = np.einsum("jde,je->jd", regressions[of_row], patterns.filled)
        n_features = self.means.shape[1]
        means, scatter = np.empty_like(self.means), np.zeros((n_features, n_features))
        for i, mean in enumerate(self.means):
            expected = predicted + mean - (regressions @ mean)[of_row]
            means[i] = V[:, i] @ expected / masses_of(V[:, i : i + 1])[0]
            residuals = expected - means[i]
            scatter += (residuals * V[:, i : i + 1]).T @ residuals
        rows = W.sum(axis=1)
        counts = np.bincount(of_row, weights=rows, minlength=len(patterns.distinct))
        scatter += rows.sum() * self.covariances - np.tensordot(counts, regressions, axes=1) @ self.covariances
        covariance = scatter / rows.sum()
        return PartialMixture(self.kind, means, 0.5 * (covariance + covariance.T) + np.diag(ridge))

    def _inverses(self, patterns: Patterns) -> tuple[FloatArray, FloatArray]:
        """P_o of every pattern, (n_patterns, n_features, n_features), and half the log-determinants of the inverse."""
        o = patterns.distinct
        padded = self.covariances * o[:, :, None] * o[:, None, :]
        diagonal = np.arange(o.shape[1])
        padded[:, diagonal, diagonal] += 1.0 - o
        inverses: FloatArray = np.asarray(np.linalg.inv(padded), dtype=np.float64)
        inverses[:, diagonal, diagonal] -= 1.0 - o
        return inverses, np.asarray(0.5 * np.linalg.slogdet(padded)[1])

    def log_densities(self, patterns: Patterns) -> tuple[FloatArray, FloatArray | None]:
        """Log-densities of the known entries under every component, and how much rows count for it if tails are heavy.

        Both of shape (n_samples, n_clusters).
        """
        distances, log_volumes = self._distances(patterns)
        n_known, nu = patterns.known.sum(axis=1)[:, None], self.kind.degrees_of_freedom
        if math.isinf(nu):
            return -0.5 * (distances + n_known * math.log(2.0 * math.pi)) - log_volumes, None
        constant = gammaln(0.5 * (nu + n_known)) - gammaln(0.5 * nu) - 0.5 * n_known * math.log(nu * math.pi)
        log_densities = constant - 0.5 * (nu + n_known) * np.log1p(distances / nu) - log_volumes
        return log_densities, (nu + n_known) / (nu + distances)

    def _distances(self, patterns: Patterns) -> tuple[FloatArray, FloatArray]:
        """Squared Mahalanobis distances and half the log-determinants, of shape (n_samples, n_clusters or 1)."""
        x = patterns.filled
        if isinstance(self.kind.covariance, Tied):
            inverses, log_volumes = self._inverses(patterns)
            scaled = np.einsum("jde,je->jd", inverses[patterns.of_row], x)
            of_means = np.einsum("id,pde,ie->pi", self.means, inverses, self.means, optimize=True)
            distances = np.einsum("jd,jd->j", scaled, x)[:, None] - 2.0 * scaled @ self.means.T
            distances += of_means[patterns.of_row]
            return np.maximum(distances, 0.0), log_volumes[patterns.of_row][:, None]
        precisions = np.broadcast_to(1.0 / self.covariances, self.means.shape)
        distances = np.square(x) @ precisions.T - 2.0 * x @ (self.means * precisions).T
        distances += patterns.known @ (np.square(self.means) * precisions).T
        return np.maximum(distances, 0.0), -0.5 * patterns.known @ np.log(precisions).T
