"""Fits of hostile tables with hostile settings, and the same fit asked for in another way."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from hostile.attack import FINE, REFUSED, Attack, Broken
from hostile.invariants import (
    Refused,
    check_fit,
    check_prediction,
    frozen_copy,
    only_documented,
    same_content,
)
from hostile.parameters import draw_estimator
from hostile.tables import Table, draw_matrix, draw_table, draw_weights
from kfrc import FANNY, FRC, KFRC, NERFCM, RFCM

RELATIONAL = (FRC, FANNY, RFCM, NERFCM)


class Fits(Attack, name="fits"):
    """One table, one estimator, all invariants; after every second, the same in another way."""

    tries: ClassVar[int] = 10_000
    quick: ClassVar[int] = 200

    def attempt(self, rng: np.random.Generator, folder: Path) -> str:
        table = draw_table(rng)
        model, sensible = draw_estimator(rng, len(table.values))
        if isinstance(model, RELATIONAL) and rng.random() < 0.25:
            table = draw_matrix(rng)
            model.set_params(metric="precomputed")
        if getattr(model, "metric", "") == "correlation" and table.values.shape[1] < 3:
            model.set_params(metric="cityblock")  # two values correlate with 1 or -1: all that differs is rounding
        weights = draw_weights(len(table.values), rng)
        before = frozen_copy(table.X)
        try:
            with only_documented(table):
                model.fit(table.X, sample_weight=weights)
        except Refused:
            if hasattr(model, "memberships_"):
                raise Broken("a refused fit leaves memberships behind") from None
            if not same_content(before, table.X):
                raise Broken("a refused fit changes its table") from None
            return REFUSED
        check_fit(model, len(table.values), model.memberships_.shape[1])
        if model.n_clusters != "auto" and model.memberships_.shape[1] != model.n_clusters:
            raise Broken("the number of clusters is not what was asked for")
        try:
            with only_documented(table):
                check_prediction(model, table.X)
        except Refused as error:
            raise Broken(f"rows of the fit are refused by predict: {str(error)[:60]}") from error
        if not same_content(before, table.X):
            raise Broken("the table was changed")
        if rng.random() < 0.5 and model.random_state is not None:  # without a seed, another result may come
            _ask_again(model, table, weights, sensible, rng)
        return FINE


def _ask_again(model: Any, table: Table, weights: Any, sensible: bool, rng: np.random.Generator) -> None:
    """The same fit of the same table, handed over in another way, has the same result."""
    exact = {"again": _unchanged, "read-only": _read_only, "memory order": _other_order, "threads": _unchanged}
    if isinstance(model, KFRC):
        exact["n_jobs"] = _unchanged
    near = {}
    if sensible and table.ordinary and getattr(model, "metric", "") != "precomputed":
        if getattr(model, "n_starts", 1) == 1:  # further starts of a search are drawn by the position of a column
            near["columns"] = _other_columns
        near["units"] = _other_unit
    names = [*exact, *near, *near]
    way = names[rng.integers(len(names))]
    X = {**exact, **near}[way](table, rng)
    other = clone(model).set_params(**({"n_jobs": 2} if way == "n_jobs" else {}))
    if weights is not None and way == "read-only":
        weights = weights.copy()
        weights.setflags(write=False)
    try:
        with only_documented(table), threadpool_limits(2 if way == "threads" else None):
            other.fit(X, sample_weight=weights)
    except Refused as error:
        raise Broken(f"refused when asked in another way ({way}): {str(error)[:60]}") from error
    U, V = model.memberships_, other.memberships_
    if U.shape != V.shape:
        raise Broken(f"{type(model).__name__}: another number of clusters ({way})")
    if way in near:  # rounding decides how clusters are numbered
        V = V[:, linear_sum_assignment(-U.T @ V)[1]]
    tolerance = 0.0 if way in ("again", "read-only", "memory order", "n_jobs") else 1e-6
    if getattr(model, "optimizer", "") == "momentum":
        tolerance *= 100.0  # the paper's search ends at steps of 1e-5
    if np.abs(U - V).max() > tolerance:
        raise Broken(f"{type(model).__name__}: another result ({way})")


def _unchanged(table: Table, rng: np.random.Generator) -> Any:
    return table.X


def _read_only(table: Table, rng: np.random.Generator) -> Any:
    if isinstance(table.X, np.ndarray) and not isinstance(table.X, np.ma.MaskedArray):
        X = table.X.copy()
        X.setflags(write=False)
        return X
    return table.X


def _other_order(table: Table, rng: np.random.Generator) -> Any:
    if isinstance(table.X, np.ndarray) and not isinstance(table.X, np.ma.MaskedArray):
        return table.X.copy(order="C" if table.X.flags.f_contiguous and not table.X.flags.c_contiguous else "F")
    return table.X


def _other_columns(table: Table, rng: np.random.Generator) -> Any:
    return table.values[:, rng.permutation(table.values.shape[1])]


def _other_unit(table: Table, rng: np.random.Generator) -> Any:
    return table.values * 2.0 ** rng.integers(-8, 8)
