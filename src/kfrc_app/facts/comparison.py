"""Every method of the library on one table, side by side: how it ended, how long it took, what it is worth."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

import kfrc
from kfrc import KFRC
from kfrc.clusterers import FuzzyClusterer
from kfrc.metrics import fuzzy_silhouette_score
from kfrc_app.facts.diagnosis import standardized
from kfrc_app.facts.notes import warnings_as_notes
from kfrc_app.facts.summary import summarize

MAX_SILHOUETTE_ROWS = 2000
"""Silhouettes compare all pairs of rows; beyond this many rows a random sample stands for them."""


@dataclass(frozen=True)
class MethodResult:
    """What one method did.

    Attributes
    ----------
    method : str
    seconds : float
    status : str
        ``"converged"``, ``"max_iter"``, ``"collapsed"``, or ``"failed"``.
    uniformity, partition_coefficient : float or None
        None if it failed.
    fuzzy_silhouette, adjusted_rand, adjusted_mutual_info : float or None
        None if it failed or collapsed (the largest of equal memberships says nothing), or if no label is known.
    notes : tuple of str
        Its warnings, or why it failed.
    """

    method: str
    seconds: float
    status: str
    uniformity: float | None = None
    partition_coefficient: float | None = None
    fuzzy_silhouette: float | None = None
    adjusted_rand: float | None = None
    adjusted_mutual_info: float | None = None
    notes: tuple[str, ...] = ()


def methods() -> tuple[type[FuzzyClusterer], ...]:
    """The estimators that the library exports, KFRC first.

    Examples
    --------
    >>> from kfrc_app.facts.comparison import methods
    >>> [method.__name__ for method in methods()][0]
    'KFRC'
    """
    exported = [getattr(kfrc, name) for name in kfrc.__all__]
    found = {item for item in exported if isinstance(item, type) and issubclass(item, FuzzyClusterer)}
    return tuple(sorted(found, key=lambda method: (method is not KFRC, method.__name__)))


def compare_methods(
    data: pd.DataFrame,
    n_clusters: int,
    *,
    labels: Any = None,
    seed: int | None = 0,
    observe: Callable[[str], None] | None = None,
    prepare: Callable[[FuzzyClusterer], FuzzyClusterer] | None = None,
) -> tuple[MethodResult, ...]:
    """Fit every method with its default settings to the standardized columns.

    Parameters
    ----------
    data : DataFrame of shape (n_samples, n_features)
    n_clusters : int
    labels : array-like of shape (n_samples,), optional
        Known groups, used to judge only; None, NaN and blank text are unknown.
    seed : int, optional
    observe : callable, optional
        Told the name of each method before it is fitted.
    prepare : callable, optional
        Given each model before it is fitted, for example to attach callbacks.

    Returns
    -------
    tuple of MethodResult
    """
    Z = standardized(data)
    results = []
    for method in methods():
        if observe is not None:
            observe(method.__name__)
        results.append(_run(method, Z, n_clusters, labels, seed, prepare))
    return tuple(results)


def _run(
    method: type[FuzzyClusterer],
    Z: pd.DataFrame,
    n_clusters: int,
    labels: Any,
    seed: int | None,
    prepare: Callable[[FuzzyClusterer], FuzzyClusterer] | None,
) -> MethodResult:
    notes: list[str] = []
    start = time.perf_counter()
    try:
        with warnings_as_notes(notes):
            model = _fit(method, Z, n_clusters, seed, prepare)
    except (ValueError, MemoryError, ArithmeticError) as error:
        # One method that cannot treat these data must not take the others with it.
        notes.append(" ".join(str(error).split()))
        return MethodResult(method.__name__, time.perf_counter() - start, "failed", notes=tuple(notes))
    seconds = time.perf_counter() - start
    facts = summarize(model, Z, labels=labels)
    found = facts.agreement
    return MethodResult(
        method.__name__,
        seconds,
        facts.fit.status,
        facts.fit.uniformity,
        facts.fit.partition_coefficient,
        None if facts.fit.collapsed else _silhouette(Z.to_numpy(), model.memberships_, seed),
        None if found is None else found.adjusted_rand,
        None if found is None else found.adjusted_mutual_info,
        tuple(notes),
    )


def _fit(
    method: type[FuzzyClusterer],
    Z: pd.DataFrame,
    n_clusters: int,
    seed: int | None,
    prepare: Callable[[FuzzyClusterer], FuzzyClusterer] | None,
) -> FuzzyClusterer:
    model: Any = method(n_clusters=n_clusters)
    if "random_state" in model.get_params():
        model.set_params(random_state=seed)
    return (model if prepare is None else prepare(model)).fit(Z)


def _silhouette(Z: np.ndarray[Any, Any], U: np.ndarray[Any, Any], seed: int | None) -> float | None:
    if len(Z) > MAX_SILHOUETTE_ROWS:
        rows = np.sort(np.random.default_rng(seed).choice(len(Z), MAX_SILHOUETTE_ROWS, replace=False))
        Z, U = Z[rows], U[rows]
    try:
        return fuzzy_silhouette_score(Z, U)
    except ValueError:  # one cluster holds every row, or no row prefers any cluster
        return None
