"""Log-bandwidths as a linear image of a box, so that the anisotropy and level bounds become simple bounds."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kfrc.bandwidth.problem import Problem
from kfrc.typing import FloatArray

_MAX_MATRIX = 200
"""Features up to which bases are matrices; beyond, their products are computed without."""

_WIDEST_SPREAD = 10.0
"""Range of log θ at a fixed level without an anisotropy bound: e^10 is "this feature does not count"."""


@dataclass(frozen=True)
class Basis:
    """The map x ↦ spread · (u − ū) or x ↦ t + spread · u, x = (t, u), as a matrix without its p² entries.

    Parameters
    ----------
    spread : float
    centered : bool
        Whether the mean of u is taken away.
    shifted : bool
        Whether the first variable is a common shift t.
    """

    spread: float
    centered: bool = False
    shifted: bool = False
    __array_ufunc__ = None  # ``gradient @ basis`` is ours to compute

    def __matmul__(self, x: FloatArray) -> FloatArray:
        shift, u = (x[0], x[1:]) if self.shifted else (0.0, x)
        image: FloatArray = shift + self.spread * (u - u.mean() if self.centered else u)
        return image

    def __rmatmul__(self, gradient: FloatArray) -> FloatArray:
        center = gradient.mean(axis=-1, keepdims=True) if self.centered else 0.0
        pulled: FloatArray = self.spread * (gradient - center)
        if not self.shifted:
            return pulled
        return np.concatenate([gradient.sum(axis=-1, keepdims=True), pulled], axis=-1)


@dataclass(frozen=True)
class Box:
    """log θ = offset + basis @ x with lower ≤ x ≤ upper.

    Attributes
    ----------
    offset : float
    basis : ndarray of shape (n_features, n_variables) or Basis
    lower, upper : ndarray of shape (n_variables,)
    solve : callable
        An x, not necessarily in the box, whose image under ``basis`` is a given vector.
    """

    offset: float
    basis: FloatArray | Basis
    lower: FloatArray
    upper: FloatArray
    solve: Callable[[FloatArray], FloatArray]

    def log_bandwidths(self, x: FloatArray) -> FloatArray:
        """The point log θ that x stands for."""
        point: FloatArray = self.offset + self.basis @ x
        return point

    def pull_back(self, gradient: FloatArray) -> FloatArray:
        """Gradient in x from a gradient in log θ."""
        pulled: FloatArray = gradient @ self.basis
        return pulled

    def variables(self, log_bandwidths: FloatArray) -> FloatArray:
        """An x in the box whose image is ``log_bandwidths``, or close to it if that lies outside."""
        return np.clip(self.solve(log_bandwidths - self.offset), self.lower, self.upper)


def box_for(problem: Problem) -> Box:
    """The box of a problem.

    With bounds on the level l and anisotropy α, log θ − log σ̄ = t + log α · u with t in a range and u in [0, 1]^p;
    α = 1 leaves t alone, and not even that where the linear kernel has taken over, for which no level matters; α = ∞
    puts a box on log θ itself, and a fixed level removes t and the mean of u.
    """
    center = float(problem.log_scale.mean())
    low, high = problem.level_bounds
    spread = math.log(problem.max_anisotropy)
    n_features = len(problem.log_scale)
    if low == high or (spread == 0 and problem.in_limit):
        return _fixed_level(center + high, min(spread, _WIDEST_SPREAD), n_features)
    if spread == 0:
        return Box(
            center,
            np.ones((n_features, 1)),
            np.array([low]),
            np.array([high]),
            lambda target: target.mean(keepdims=True),
        )
    if spread >= high - low:  # the level bounds are the tighter ones
        bounds = np.full(n_features, low), np.full(n_features, high)
        basis = np.eye(n_features) if n_features <= _MAX_MATRIX else Basis(1.0)
        return Box(center, basis, *bounds, lambda target: target)
    return _band(center, low, high - spread, spread, n_features)


def _band(center: float, low: float, high: float, spread: float, n_features: int) -> Box:
    """Log θ = t + spread · u with t in [low, high] and u in [0, 1]^p."""

    def solve(target: FloatArray) -> FloatArray:
        start = min(max(float(target.min()), low), high)
        return np.concatenate([[start], (target - start) / spread])

    basis: FloatArray | Basis = Basis(spread, shifted=True)
    if n_features <= _MAX_MATRIX:
        basis = np.hstack([np.ones((n_features, 1)), spread * np.eye(n_features)])
    lower = np.concatenate([[low], np.zeros(n_features)])
    upper = np.concatenate([[high], np.ones(n_features)])
    return Box(center, basis, lower, upper, solve)


def _fixed_level(level: float, spread: float, n_features: int) -> Box:
    """Log θ = level + spread · (u − ū) with u in [0, 1]^p: a common shift of u is immaterial."""
    if spread == 0:
        nothing = np.empty(0)
        return Box(level, np.empty((n_features, 0)), nothing, nothing, lambda target: nothing)

    def solve(target: FloatArray) -> FloatArray:
        return (target - target.min()) / spread

    basis: FloatArray | Basis = Basis(spread, centered=True)
    if n_features <= _MAX_MATRIX:
        basis = spread * (np.eye(n_features) - 1.0 / n_features)
    return Box(level, basis, np.zeros(n_features), np.ones(n_features), solve)
