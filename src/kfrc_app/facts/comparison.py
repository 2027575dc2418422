"""Every method of the library on one table, side by side: how it ended, how long it took, what it is worth."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

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
    outliers: str = "clip",
    ids: Sequence[Any] | NDArray[Any] | None = None,
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
    outliers : {"clip", "keep"}, default="clip"
        What :class:`kfrc.KFRC` does with values far outside the bulk; the other methods take them as they are.
    ids : sequence, optional
        Names of the rows, for the notes.
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
        model = _model(method, n_clusters, seed, outliers)
        results.append(_run(model if prepare is None else prepare(model), Z, labels, seed, ids))
    return tuple(results)


def _run(
    model: FuzzyClusterer, Z: pd.DataFrame, labels: Any, seed: int | None, ids: Sequence[Any] | NDArray[Any] | None
) -> MethodResult:
    name = type(model).__name__
    notes: list[str] = []
    start = time.perf_counter()
    try:
        with warnings_as_notes(notes, ids):
            model.fit(Z)
    except (ValueError, MemoryError, ArithmeticError) as error:
        # One method that cannot treat these data must not take the others with it.
        notes.append(" ".join(str(error).split()))
        return MethodResult(name, time.perf_counter() - start, "failed", notes=tuple(notes))
    seconds = time.perf_counter() - start
    facts = summarize(model, Z, labels=labels)
    found = facts.agreement
    return MethodResult(
        name,
        seconds,
        facts.fit.status,
        facts.fit.uniformity,
        facts.fit.partition_coefficient,
        None if facts.fit.collapsed else _silhouette(Z.to_numpy(), model.memberships_, seed),
        None if found is None else found.adjusted_rand,
        None if found is None else found.adjusted_mutual_info,
        tuple(notes),
    )


def _model(method: type[FuzzyClusterer], n_clusters: int, seed: int | None, outliers: str) -> FuzzyClusterer:
    model: Any = method(n_clusters=n_clusters)
    settings = {"random_state": seed, "outliers": outliers}
    found: FuzzyClusterer = model.set_params(**{k: v for k, v in settings.items() if k in model.get_params()})
    return found


def _silhouette(Z: np.ndarray[Any, Any], U: np.ndarray[Any, Any], seed: int | None) -> float | None:
    if len(Z) > MAX_SILHOUETTE_ROWS:
        rows = np.sort(np.random.default_rng(seed).choice(len(Z), MAX_SILHOUETTE_ROWS, replace=False))
        Z, U = Z[rows], U[rows]
    try:
        return fuzzy_silhouette_score(Z, U)
    except ValueError:  # one cluster holds every row, or no row prefers any cluster
        return None
