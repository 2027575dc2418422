"""Log-bandwidths as a linear image of a box, so that the anisotropy and level bounds become simple bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from kfrc._typing import FloatArray
from kfrc.bandwidth.problem import Problem


@dataclass(frozen=True)
class Box:
    """log θ = offset + basis @ x with lower ≤ x ≤ upper.

    Attributes
    ----------
    offset : ndarray of shape (n_features,)
    basis : ndarray of shape (n_features, n_variables)
    lower, upper : ndarray of shape (n_variables,)
    """

    offset: FloatArray
    basis: FloatArray
    lower: FloatArray
    upper: FloatArray

    def log_bandwidths(self, x: FloatArray) -> FloatArray:
        """The point log θ that x stands for."""
        return self.offset + self.basis @ x

    def pull_back(self, gradient: FloatArray) -> FloatArray:
        """Gradient in x from a gradient in log θ."""
        return gradient @ self.basis

    def variables(self, log_bandwidths: FloatArray) -> FloatArray:
        """An x in the box whose image is ``log_bandwidths``, or close to it if that lies outside."""
        target = log_bandwidths - self.offset
        if self.basis.shape[1] == len(target) + 1:
            # level and position in the band: the band starts at the smallest log-bandwidth
            level = target.min()
            x = np.concatenate([[level], (target - level) / self.basis[0, 1]])
        else:
            x = np.linalg.lstsq(self.basis, target, rcond=None)[0]
            if self.lower.size and self.lower[0] == 0.0:
                x = x - x.min()  # the fixed-level basis ignores a common shift of x
        return np.clip(x, self.lower, self.upper)


def box_for(problem: Problem) -> Box:
    """The box of a problem.

    With bounds on the level l and anisotropy α, log θ − log σ̄ = t + log α · u with t in a range and u in [0, 1]^p;
    α = 1 leaves t alone, α = ∞ puts a box on log θ itself, and a fixed level removes t and the mean of u.
    """
    n_features = len(problem.log_scale)
    center = float(problem.log_scale.mean())
    low, high = problem.level_bounds
    spread = math.log(problem.max_anisotropy)
    ones, identity = np.ones((n_features, 1)), np.eye(n_features)
    if low == high:
        reach = spread if math.isfinite(spread) else _WIDEST_SPREAD
        basis = reach * (identity - 1.0 / n_features)
        bounds = (np.zeros(n_features), np.ones(n_features))
        if spread == 0:
            basis, bounds = np.empty((n_features, 0)), (np.empty(0), np.empty(0))
        return Box(np.full(n_features, center + low), basis, *bounds)
    offset = np.full(n_features, center)
    if spread == 0:
        return Box(offset, ones, np.array([low]), np.array([high]))
    if spread >= high - low:  # the level bounds are the tighter ones
        return Box(offset, identity, np.full(n_features, low), np.full(n_features, high))
    return Box(
        offset,
        np.hstack([ones, spread * identity]),
        np.concatenate([[low], np.zeros(n_features)]),
        np.concatenate([[high - spread], np.ones(n_features)]),
    )


_WIDEST_SPREAD = 10.0
"""Range of log θ at a fixed level without an anisotropy bound: e^10 is "this feature does not count"."""
