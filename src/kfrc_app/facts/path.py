"""How memberships change with the fuzzifier: the path of solutions over m at the fitted bandwidths."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.base import clone

from kfrc import KFRCError
from kfrc._threads import limiting_threads
from kfrc.clusterers import FuzzyClusterer
from kfrc.dissimilarity import Dissimilarity
from kfrc.fuzzifiers import Fuzzifier
from kfrc.gram import Gram
from kfrc.metrics import uniformity_index
from kfrc.relational import solve_relational
from kfrc.stability import MergeBound, merge_bound
from kfrc.typing import FloatArray, IntArray
from kfrc_app.facts.geometry import fitted_gram, of_rows, sample_rows
from kfrc_app.facts.stability import model_stability
from kfrc_app.facts.verdicts import HIGH
from kfrc_app.facts.weighting import fit_weighted

N_STEPS = 31
MAX_PATH_ROWS = 500

MERGED_TOL = 0.01
"""Two clusters whose memberships differ by no more than this on any row have merged; one with no more is empty."""

_TOL = 1e-4
"""Memberships of the path are for the eye: two digits are read off."""

_MAX_ITER = 300
_MAX_REFIT_ITER = 100
"""The same for methods that are fitted again at every m: they begin at the solution of the neighbor."""

_SMALLEST_STEP = 0.05
"""Distance of the first m from the hard limit, for fuzzifiers with unbounded m."""

_LARGEST_STEP = 16.0
"""The same for the last m, unless the fit or its marks lie beyond."""


@dataclass(frozen=True)
class FuzzifierPath:
    """Solutions over a grid of m, each started from its neighbor, outward from the fitted m (or up, if it collapsed).

    Attributes
    ----------
    m : ndarray of shape (n_steps,)
        Ascending.
    memberships : ndarray of shape (n_steps, n_rows, n_clusters)
    uniformity : ndarray of shape (n_steps,)
        U index: 0 crisp, 1 uniform.
    n_distinct : ndarray of shape (n_steps,)
        Clusters that are neither empty nor merged with another.
    fitted : int
        Step of the fitted m.
    critical_m : float
        m* of the fitted model, ``inf`` if it is stable or the theory does not cover the method.
    merge : MergeBound or None
        Where the first pair merges at the latest; None if it cannot be said.
    rows : ndarray of shape (n_rows,)
        Rows of the data that the path was computed on.
    """

    m: FloatArray
    memberships: FloatArray
    uniformity: FloatArray
    n_distinct: IntArray
    fitted: int
    critical_m: float
    merge: MergeBound | None
    rows: IntArray

    @property
    def n_apart(self) -> int:
        """The most clusters that are apart at any m."""
        return int(self.n_distinct.max())

    @property
    def high_shares(self) -> FloatArray:
        """Share of rows with a high membership at each m, of shape (n_steps,)."""
        return (self.memberships.max(axis=2) >= HIGH).mean(axis=1)


@limiting_threads
def fuzzifier_path(
    model: FuzzyClusterer,
    X: FloatArray | pd.DataFrame,
    *,
    rows: IntArray | None = None,
    weights: FloatArray | None = None,
    n_steps: int = N_STEPS,
    max_rows: int = MAX_PATH_ROWS,
) -> FuzzifierPath:
    """Follow the solution of a fitted model as m falls and rises, by the same method and with the same distances.

    Parameters
    ----------
    model : FuzzyClusterer
        Fitted on ``X``, with at least two clusters and a fuzziness m of its own choosing or yours.
    X : ndarray or DataFrame of shape (n_samples, n_features)
    rows : ndarray of shape (k,), optional
        Rows to sample from; all by default.
    weights : ndarray of shape (n_samples,), optional
        Of all rows, if the model was fitted with weights.
    n_steps : int, default=31
    max_rows : int, default=500
        With more rows a sample of about this many is used.

    Raises
    ------
    KFRCError
        If the method has no m to vary.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kfrc import KFRC
    >>> from kfrc_app.facts.path import fuzzifier_path
    >>> X = load_iris().data
    >>> path = fuzzifier_path(KFRC(3, level=1.0, random_state=0).fit(X), X, n_steps=5)
    >>> bool(path.uniformity[0] < path.uniformity[-1])
    True
    """
    if not varies_with_m(model):
        raise KFRCError(
            f"{type(model).__name__} lowers m while it runs: there is no m whose other values could be shown"
        )
    rows = np.arange(len(X)) if rows is None else rows
    rows = rows[sample_rows(model.labels_[rows], max_rows)]
    gram = fitted_gram(model, X, rows, weights)
    fuzzifier = model.fuzzifier_
    stability = model_stability(model, X, weights)
    critical_m = math.inf if stability is None else stability.critical_m
    grid, fitted = m_grid(fuzzifier, critical_m, n_steps)
    counted = None if weights is None else weights[rows]
    n_clusters = model.memberships_.shape[1]
    grid = np.array([m for m in grid.tolist() if fuzzifier.with_m(m).weighs(n_clusters)])
    follow = _relational(model, gram) if model._minimizes_relation else _refitting(model, X, rows, counted)

    def solve(k: int, init: str | FloatArray) -> FloatArray:
        return follow(float(grid[k]), init)

    # A collapsed fit has no structure to follow: begin at the crisp end instead.
    anchor = 0 if model.status_ == "collapsed" else fitted
    memberships = np.empty((len(grid), len(rows), n_clusters))
    memberships[anchor] = solve(anchor, "spectral" if model.status_ == "collapsed" else model.memberships_[rows])
    for k in range(anchor + 1, len(grid)):
        memberships[k] = solve(k, memberships[k - 1])
    for k in range(anchor - 1, -1, -1):
        memberships[k] = solve(k, memberships[k + 1])
    return FuzzifierPath(
        m=grid,
        memberships=memberships,
        uniformity=np.array([uniformity_index(U, sample_weight=counted) for U in memberships]),
        n_distinct=np.array([count_distinct(U) for U in memberships]),
        fitted=fitted,
        critical_m=critical_m,
        merge=_first_merge(gram, memberships[0].argmax(axis=1), fuzzifier) if model._minimizes_relation else None,
        rows=rows,
    )


def varies_with_m(model: FuzzyClusterer) -> bool:
    """Whether a method has one fuzziness m, which can be set to another value.

    Examples
    --------
    >>> from kfrc import FCM, VFCM
    >>> from kfrc_app.facts.path import varies_with_m
    >>> varies_with_m(FCM()), varies_with_m(VFCM())
    (True, False)
    """
    return "m" in model.get_params(deep=False)


def _relational(model: FuzzyClusterer, gram: Gram) -> Callable[[float, str | FloatArray], FloatArray]:
    """Memberships for m and a start, for methods whose objective is the relational one."""
    dissimilarity, n_clusters = Dissimilarity(gram), model.memberships_.shape[1]

    def solve(m: float, init: str | FloatArray) -> FloatArray:
        t = model.fuzzifier_.with_m(m)
        return solve_relational(
            dissimilarity, n_clusters, t, init=init, max_iter=_MAX_ITER, tol=_TOL, random_state=0
        ).memberships

    return solve


def _refitting(
    model: FuzzyClusterer, X: FloatArray | pd.DataFrame, rows: IntArray, weights: FloatArray | None
) -> Callable[[float, str | FloatArray], FloatArray]:
    """The same for any other method, which is fitted again on these rows."""
    seen = of_rows(model, X, rows)

    def solve(m: float, init: str | FloatArray) -> FloatArray:
        again = clone(model).set_params(m=m, init=init, n_init=1, max_iter=_MAX_REFIT_ITER, tol=_TOL, verbose=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a fit that collapses is what the path is there to show
            fit_weighted(again, seen, weights)
        return again.memberships_

    return solve


def m_grid(fuzzifier: Fuzzifier, critical_m: float, n_steps: int) -> tuple[FloatArray, int]:
    """Values of m that show the whole range of a fuzzifier, with its own m among them, and the index of that one.

    Unbounded ranges are cut past m*, or where nothing changes any more, and spaced evenly in log(m − lower end).
    """
    low, high = fuzzifier.m_range.low, fuzzifier.m_range.high
    own = fuzzifier.m - low
    if math.isfinite(high):
        steps = np.linspace(0.02, 1.0, n_steps) * (high - low)
    else:
        last = max(_LARGEST_STEP, 2.0 * own)
        if math.isfinite(critical_m):
            last = max(last, min(1.5 * (critical_m - low), 8.0 * last))
        steps = np.geomspace(min(_SMALLEST_STEP, own / 2.0), last, n_steps)
    fitted = int(np.abs(np.log(steps) - math.log(own)).argmin())
    steps[fitted] = own
    grid = low + np.sort(steps)
    grid[fitted] = fuzzifier.m
    if math.isfinite(high):
        np.minimum(grid, high, out=grid)
    return grid, fitted


def count_distinct(U: FloatArray) -> int:
    """Clusters that are neither empty nor the same as an earlier one.

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc_app.facts.path import count_distinct
    >>> count_distinct(np.array([[0.5, 0.5, 0.0], [0.5, 0.5, 0.0]])), count_distinct(np.eye(3))
    (1, 3)
    """
    kept: list[FloatArray] = []
    for column in U.T:
        empty = column.max() <= MERGED_TOL
        if not empty and all(np.abs(column - other).max() > MERGED_TOL for other in kept):
            kept.append(column)
    return len(kept)


def _first_merge(gram: Gram, labels: IntArray, fuzzifier: Fuzzifier) -> MergeBound | None:
    present, groups = np.unique(labels, return_inverse=True)
    if len(present) < 2:
        return None
    R = Dissimilarity(gram).columns(range(gram.n_samples))
    R = 0.5 * (R + R.T)
    try:
        bound = merge_bound(R, groups, fuzzifier=fuzzifier, metric="precomputed")
    except KFRCError:
        return None  # two clusters that coincide: nothing is left to merge
    if bound.pair is None:
        return bound
    first, second = (int(present[k]) for k in bound.pair)
    return MergeBound(bound.m, (first, second), bound.pairwise)
