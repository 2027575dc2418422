"""Normalized mixtures of Gaussian kernels, one for every cluster, and the descent in their weights (for FCM-MK)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kfrc.typing import FloatArray

# Projected gradient for the kernel weights, with the settings of the reference implementation.
_STEPS = 0.1 / 2.0 ** np.arange(17)
_WEIGHT_STEPS = 50
_WEIGHT_TOL = 1e-6


@dataclass(frozen=True)
class Kernels:
    """The kernels K_i of the clusters: widths (n_kernels,) and weights (n_clusters, n_kernels)."""

    sigmas: FloatArray
    weights: FloatArray

    def of_cluster(self, i: int) -> Kernels:
        return Kernels(self.sigmas, self.weights[i : i + 1])

    def in_units(self, exponent: int) -> Kernels:
        """The same kernels where all lengths are multiplied by a power of two."""
        return Kernels(np.ldexp(self.sigmas, exponent), self.weights)

    @property
    def coefficients(self) -> FloatArray:
        """(w_il / σ_l) / Σ_q w_iq / σ_q, of shape (n_clusters, n_kernels)."""
        # Relative to the widest kernel, so that the units of X cannot overflow.
        scaled = self.weights * (self.sigmas.max() / self.sigmas)
        return scaled / scaled.sum(axis=1, keepdims=True)

    def mixtures(self, euclidean: FloatArray, power: int) -> FloatArray:
        """Σ_l a_il (σ_max / σ_l)^power k_l with a the coefficients, from squared distances (n_samples, n_clusters)."""
        total = np.zeros_like(euclidean)
        for sigma, column in zip(self.sigmas, self.coefficients.T, strict=True):
            total += column * (self.sigmas.max() / sigma) ** power * np.exp(euclidean / (-2.0 * sigma**2))
        return total

    def squared_distances(self, euclidean: FloatArray) -> FloatArray:
        """2 − 2 K_i from squared Euclidean distances (n_samples, n_clusters), without cancellation."""
        total = np.zeros_like(euclidean)
        for sigma, column in zip(self.sigmas, self.coefficients.T, strict=True):
            total -= column * np.expm1(euclidean / (-2.0 * sigma**2))
        return 2.0 * total


def descend_weights(kernels: Kernels, weights: FloatArray, euclidean: FloatArray) -> Kernels:
    """Projected gradient steps on the kernel weights, for given memberships and centers.

    J depends on the samples only through e_il = Σ_j u_ji^m (1 − k_l(x_j, v_i)), so a step costs O(c · n_kernels).
    """
    sigmas = kernels.sigmas
    excess = np.stack([-np.sum(weights * np.expm1(euclidean / (-2.0 * s**2)), axis=0) for s in sigmas], axis=1)

    def values(weights: FloatArray) -> FloatArray:
        """2 Σ_il a_il e_il for each set of weights of shape (n_clusters, n_kernels)."""
        coefficients = Kernels(sigmas, weights.reshape(-1, len(sigmas))).coefficients
        return 2.0 * (coefficients.reshape(-1, excess.size) * excess.ravel()).sum(axis=1)

    current = values(kernels.weights)[0]
    for _ in range(_WEIGHT_STEPS):
        mean = np.sum(kernels.coefficients * excess, axis=1, keepdims=True)
        scale = sigmas * np.sum(kernels.weights / sigmas, axis=1, keepdims=True)
        gradient = 2.0 * (excess - mean) / scale
        # The first of the steps that lowers J, and mostly none does: all at once cost no more than one.
        trials = project_on_simplex((kernels.weights - np.multiply.outer(_STEPS, gradient)).reshape(-1, len(sigmas)))
        found = values(trials)
        lower = np.flatnonzero(found < current)
        if len(lower) == 0:
            break
        chosen = trials.reshape(len(_STEPS), *excess.shape)[lower[0]]
        moved = float(np.abs(chosen - kernels.weights).max())
        kernels, current = Kernels(sigmas, chosen), found[lower[0]]
        if moved < _WEIGHT_TOL:
            break
    return kernels


def project_on_simplex(W: FloatArray) -> FloatArray:
    """Nearest point of the probability simplex to every row: (w − θ)₊ with θ such that the row sums to one."""
    descending = -np.sort(-W, axis=1)
    thresholds = (np.cumsum(descending, axis=1) - 1.0) / np.arange(1, W.shape[1] + 1)
    n_positive = np.count_nonzero(descending > thresholds, axis=1)
    theta = np.take_along_axis(thresholds, n_positive[:, None] - 1, axis=1)
    return np.maximum(W - theta, 0.0)
