"""The descent of FANNY: sample by sample in sweeps, or all samples at once."""

from __future__ import annotations

import math

import numpy as np

from kfrc import activity
from kfrc._numerics import COLLAPSE_TOL, RESOLUTION, clear_rounding
from kfrc.clusterers._rows import times
from kfrc.dissimilarity import Dissimilarity
from kfrc.fuzzifiers import Fuzzifier, Power
from kfrc.relational import DESCENT_TOL, RelationalSolution, Status, solve_relational
from kfrc.spectrum import spectrum_of
from kfrc.typing import FloatArray

_BLOCK = 64
"""Samples whose sums are brought up to date by one matrix product; within a block this is done sample by sample."""

_LOST_DIGITS = 1e-3
"""A sum that steps of samples have brought below this share of what it was is computed anew: its last digits are
rounding."""

_RESIDUAL_TOL = 5e-7
"""At convergence the memberships follow from the sums to this, or to √tol: where J is flat it says nothing of them."""

_ROUNDING_RISE = 1e-5
"""Rises of J below this share of its first value may be rounding even where distances to centers were negative."""

_NEGATIVE_TOL = 1e-10
"""Distances to centers below minus this times their largest are a property of R, not rounding."""


def _sweep(
    R: FloatArray, s: FloatArray | None, t: Power, U: FloatArray, max_iter: int, tol: float
) -> RelationalSolution:
    """Gauss–Seidel: every sample sees the memberships that those before it have just got.

    A row that stands for s_j samples moves them together. They are at distance zero from each other, so that with
    weights s_j u_jv^m in the sums S, T and Q everything else stays as it is.
    """
    U = U.copy()
    W = times(t.value(U), s)
    copies = np.ones(len(R)) if s is None else s
    masses, sums = W.sum(axis=0).tolist(), np.einsum("ji,ji->i", W, R @ W).tolist()
    largest = masses.copy(), sums.copy()
    path = [_objective(masses, sums)]
    status = Status.MAX_ITER
    negative = False
    stalled = False
    while status is Status.MAX_ITER and not stalled and len(path) <= max_iter:
        before = U.copy()
        for start in range(0, len(R), _BLOCK):
            activity.step("clustering")
            rows = slice(start, min(start + _BLOCK, len(R)))
            negative |= _sweep_block(R, copies, rows, t, U, W, masses, sums, largest)
        objective = _objective(masses, sums)
        # Where all distances are squares of a Euclidean space nothing but rounding raises J, and never by much.
        rise = objective - path[-1]
        stalled = rise > DESCENT_TOL * path[-1] and (not negative or rise <= _ROUNDING_RISE * path[0])
        if stalled:
            U = before
            W = times(t.value(U), s)
        else:
            path.append(objective)
        if stalled or abs(path[-1] - path[-2]) <= tol * path[-1]:
            following = sweep_memberships(t, _center_distances(R, *_centers(R, W)))
            if float(np.abs(following - U).max()) <= max(_RESIDUAL_TOL, math.sqrt(tol)):
                status = Status.CONVERGED
    if U.shape[1] > 1 and float(np.abs(U - 1.0 / U.shape[1]).max()) <= COLLAPSE_TOL:
        status = Status.COLLAPSED
    prototypes, squared_norms = _centers(R, W)
    return RelationalSolution(
        memberships=U,
        objective=path[-1],
        objective_path=np.array(path),
        n_iter=len(path) - 1,
        status=status,
        prototypes=prototypes,
        squared_norms=squared_norms,
        negative_distances=negative,
    )


def _centers(R: FloatArray, W: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Weights of the implicit centers, and their squared norms −pᵀRp/2; infinite for an empty cluster."""
    totals = W.sum(axis=0)
    empty = totals <= 0
    prototypes = W / np.where(empty, 1.0, totals)
    squared_norms = -0.5 * np.einsum("ji,ji->i", prototypes, R @ prototypes)
    return prototypes, np.where(empty, np.inf, squared_norms)


def _center_distances(to_samples: FloatArray, prototypes: FloatArray, squared_norms: FloatArray) -> FloatArray:
    """Squared distances to the implicit centers, which may be negative, from dissimilarities to the samples."""
    return clear_rounding(to_samples @ prototypes + squared_norms, 0.0, squared_norms)


def _sweep_block(
    R: FloatArray,
    copies: FloatArray,
    rows: slice,
    t: Power,
    U: FloatArray,
    W: FloatArray,
    masses: list[float],
    sums: list[float],
    largest: tuple[list[float], list[float]],
) -> bool:
    """Visit the samples of a block in order; U, W, masses S and sums Q are updated in place.

    So are the largest values that S and Q have had since they were last computed from W.

    The matrix product brings T of the block up to date with all samples outside it; inside, T of sample k lacks only
    what the samples before it have changed. Plain floats are several times faster here than arrays of length c.
    """
    outside = R[rows] @ W
    inside = R[rows, rows]
    changes = np.zeros_like(outside)
    visited: list[list[float]] = []
    weighed: list[list[float]] = []
    exponent, m = 1.0 / (t.m - 1.0), t.m
    clusters = range(len(masses))
    most, highest = largest
    negative = False
    for k, (old, s) in enumerate(zip(W[rows].tolist(), copies[rows].tolist(), strict=True)):
        T = (outside[k] + inside[k, :k] @ changes[:k]).tolist()
        means, a = [math.inf] * len(T), [math.inf] * len(T)
        for i in clusters:
            if (mass := masses[i]) > 0:
                means[i] = mean = T[i] / mass
                value = mean - 0.5 * sums[i] / mass / mass
                a[i] = value if abs(value) > RESOLUTION * mean else 0.0
        nearest = min(a)
        if nearest > 0:
            shares = [(nearest / value) ** exponent for value in a]
            total = sum(shares)
            u = [share / total for share in shares]
        else:
            if nearest < -_NEGATIVE_TOL * max(means):
                negative = True
            else:
                a = [max(value, 0.0) for value in a]
            u = sweep_memberships(t, np.array([a]))[0].tolist()
        new = [s * share**m for share in u]
        visited.append(u)
        weighed.append(new)
        lost = False
        change = [0.0] * len(a)
        for i in clusters:
            change[i] = delta = new[i] - old[i]
            mass, total = masses[i] + delta, sums[i] + 2.0 * delta * T[i]
            if mass < _LOST_DIGITS * most[i] or total < _LOST_DIGITS * highest[i]:
                lost = True
                W[rows.start : rows.start + k + 1] = weighed
                mass, total = float(W[:, i].sum()), float(W[:, i] @ (R @ W[:, i]))
                most[i], highest[i] = mass, total
            masses[i], sums[i] = mass, total
            most[i], highest[i] = max(most[i], mass), max(highest[i], total)
        if lost:
            outside, changes[:k] = R[rows] @ W, 0.0
        else:
            changes[k] = change
    U[rows], W[rows] = visited, weighed
    return negative


def _objective(masses: list[float], sums: list[float]) -> float:
    return sum(Q / (2.0 * S) for S, Q in zip(masses, sums, strict=True) if S > 0)


def sweep_memberships(t: Fuzzifier, a: FloatArray) -> FloatArray:
    """FANNY's membership step for rows of a: u ∝ a^(−1/(m−1)), what comes out negative set to 0, the rest rescaled."""
    U = t.memberships(np.maximum(a, 0.0))
    rows = np.flatnonzero((a < 0).any(axis=1) & (a != 0).all(axis=1))
    if len(rows):
        relative = a[rows] / np.abs(a[rows]).min(axis=1, keepdims=True)
        shares = np.sign(relative) * np.abs(relative) ** (-1.0 / (t.m - 1.0))
        total = shares.sum(axis=1, keepdims=True)
        shares = np.maximum(np.where(total < 0, -shares, shares), 0.0)
        U[rows] = shares / shares.sum(axis=1, keepdims=True)
    return U


def _batch(
    R: FloatArray, s: FloatArray | None, t: Power, U: FloatArray, max_iter: int, tol: float
) -> RelationalSolution:
    """Jacobi: all samples see the same memberships."""
    dissimilarity = Dissimilarity.from_matrix(R, s)
    return solve_relational(dissimilarity, U.shape[1], t, init=U, max_iter=max_iter, tol=math.sqrt(tol))


SOLVERS = {"sweep": _sweep, "batch": _batch}


def leading_eigenvalue_of_matrix(R: FloatArray, s: FloatArray | None) -> float:
    return float(spectrum_of(Dissimilarity.from_matrix(R, s).gram, 1).eigenvalues[0])
