"""The membership step by nested bisection: slow, obviously correct, and the oracle of every faster one."""

from __future__ import annotations

import numpy as np


def bisected_inverse_derivative(t, slope):
    """(t′)⁻¹ by halving [0, 1] until nothing is left."""
    slope = np.asarray(slope, dtype=np.float64)
    low, high = np.zeros_like(slope), np.ones_like(slope)
    with np.errstate(all="ignore"):
        for _ in range(60):
            middle = 0.5 * (low + high)
            below = t.derivative(middle) < slope
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return np.where(slope <= t.derivative(np.float64(0.0)), 0.0, high)


def bisected_memberships(t, distances):
    """Minimizer of Σ_i t(u_i) A_i over the simplex by halving the range of the multiplier, for positive distances."""
    A = distances / distances.min(axis=1, keepdims=True)
    with np.errstate(all="ignore"):
        # At μ = t′(1/c) no cluster has more than 1/c, as every A_i ≥ 1; at the largest slope the nearest has all.
        log_low = np.full((len(A), 1), np.log(t.derivative(np.float64(1.0 / A.shape[1]))) - 1.0)
        log_high = np.full((len(A), 1), np.log(t.derivative(np.float64(1.0 - 2.0**-53))) + 1.0)
        for _ in range(80):
            log_mu = 0.5 * (log_low + log_high)
            short = bisected_inverse_derivative(t, np.exp(log_mu) / A).sum(axis=1, keepdims=True) < 1
            log_low, log_high = np.where(short, log_mu, log_low), np.where(short, log_high, log_mu)
        low, high = (bisected_inverse_derivative(t, np.exp(log_mu) / A) for log_mu in (log_low, log_high))
    # Where t′ is flat, neighboring multipliers are far apart in memberships: what the row misses lies between them.
    missing, between = 1.0 - low.sum(axis=1, keepdims=True), (high - low).sum(axis=1, keepdims=True)
    share = np.divide(missing, between, out=np.zeros_like(missing), where=between > 0)
    U = low + share * (high - low)
    return U / U.sum(axis=1, keepdims=True)
