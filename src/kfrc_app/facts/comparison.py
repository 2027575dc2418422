"""Every method of the library on one table, side by side: how it ended, how long it took, what it is worth."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import kfrc
from kfrc import KFRC
from kfrc.clusterers import FuzzyClusterer
from kfrc.columns import table_of
from kfrc.confidence import principal_coordinates
from kfrc.dissimilarity import gower_dissimilarities
from kfrc.existence import test_existence as one_group_test
from kfrc.metrics import fuzzy_silhouette_score, partition_coefficient, uniformity_index
from kfrc.typing import FloatArray, IntArray
from kfrc_app.facts.agreement import agreement
from kfrc_app.facts.encoding import is_complete_numbers, standardized
from kfrc_app.facts.notes import warnings_as_notes
from kfrc_app.facts.peers import ENCODED, Peer, installed_peers
from kfrc_app.facts.summary import summarize
from kfrc_app.facts.weighting import fit_weighted

MAX_SILHOUETTE_ROWS = 2000
"""Silhouettes compare all pairs of rows; beyond this many rows a random sample stands for them."""

MAX_TESTED_ROWS = 500
"""Rows on which "there is only one group" is tested, as in a fit."""

STANDARDIZED, AS_IT_IS, GOWER = "standardized columns", "as it is", "Gower dissimilarities"
"""What a method may have seen of a table, besides ``ENCODED``."""

FAILED, IMPOSSIBLE = "failed", "not possible"
"""How a method ended that has no result: with an error, or because it was not made for such data."""


@dataclass(frozen=True)
class MethodResult:
    """What one method did.

    Attributes
    ----------
    method : str
    treatment : str
        What the method saw of the table: "as it is", or what stood for it.
    seconds : float
    status : str
        ``"converged"``, ``"max_iter"``, ``"collapsed"``, ``"failed"``, ``"not possible"`` if it cannot treat such data,
        or ``"done"`` for a method of another package.
    uniformity, partition_coefficient : float or None
        None if it failed.
    fuzzy_silhouette, adjusted_rand, adjusted_mutual_info : float or None
        None if it failed or collapsed (the largest of equal memberships says nothing), or if no label is known.
    notes : tuple of str
        Its warnings, or why it failed.
    memberships : ndarray of shape (n_samples, n_clusters) or None
        What it found; not part of the record.
    n_telling : int or None
        Columns that stand out in what tells its clusters apart, if it tunes a bandwidth for each.
    """

    method: str
    treatment: str
    seconds: float
    status: str
    uniformity: float | None = None
    partition_coefficient: float | None = None
    fuzzy_silhouette: float | None = None
    adjusted_rand: float | None = None
    adjusted_mutual_info: float | None = None
    notes: tuple[str, ...] = ()
    memberships: FloatArray | None = field(default=None, repr=False, compare=False)
    n_telling: int | None = None

    @property
    def collapsed(self) -> bool:
        """Whether all memberships are equal: nothing was found."""
        return self.status == "collapsed"

    @property
    def found_something(self) -> bool:
        """Whether there is a partition to look at."""
        return self.memberships is not None and not self.collapsed

    def record(self) -> dict[str, Any]:
        """The facts without the memberships, for a file."""
        facts = asdict(replace(self, memberships=None))
        del facts["memberships"]
        return facts


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
    weights: FloatArray | None = None,
    seed: int | None = 0,
    outliers: str = "clip",
    ids: Sequence[Any] | NDArray[Any] | None = None,
    observe: Callable[[str], None] | None = None,
    prepare: Callable[[FuzzyClusterer], FuzzyClusterer] | None = None,
) -> tuple[MethodResult, ...]:
    """Fit every method with its default settings.

    Complete numbers are standardized. A table with levels, dates or gaps is given to :class:`kfrc.KFRC` as it is, to
    methods of dissimilarities by Gower's, and to the others as numbers: standardized, one column per level, means for
    blanks. K-means and a Gaussian mixture of scikit-learn come next, and last methods of other packages that are made
    for such tables, if they are installed.

    Parameters
    ----------
    data : DataFrame of shape (n_samples, n_features)
    n_clusters : int
    labels : array-like of shape (n_samples,), optional
        Known groups, used to judge only; None, NaN and blank text are unknown.
    weights : ndarray of shape (n_samples,), optional
        How many rows each row stands for.
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
    Z = standardized(data, weights)
    mixed = not is_complete_numbers(data)
    judge = _Judge(labels, weights, *_measured_distances(data, Z, weights, seed, mixed=mixed))
    results = []
    for method in methods():
        if observe is not None:
            observe(method.__name__)
        model = _model(method, n_clusters, seed, outliers)
        table, treatment = (_treat(model, data, Z)) if mixed else (Z, STANDARDIZED)
        results.append(_run(model if prepare is None else prepare(model), table, treatment, judge, ids))
    for peer in _peers_for(mixed=mixed):
        if observe is not None:
            observe(peer.name)
        results.append(_run_peer(peer, data, n_clusters, seed, judge, mixed=mixed))
    return tuple(results)


def compare_on_dissimilarities(
    matrix: pd.DataFrame,
    n_clusters: int,
    *,
    seed: int | None = 0,
    ids: Sequence[Any] | NDArray[Any] | None = None,
    observe: Callable[[str], None] | None = None,
    prepare: Callable[[FuzzyClusterer], FuzzyClusterer] | None = None,
) -> tuple[MethodResult, ...]:
    """Fit every method of dissimilarities with its default settings; the others are listed with the reason.

    Parameters
    ----------
    matrix : DataFrame of shape (n_samples, n_samples)
    n_clusters, seed, ids, observe, prepare
        See :func:`compare_methods`.

    Returns
    -------
    tuple of MethodResult
    """
    rows = _silhouette_rows(len(matrix), seed)
    judge = _Judge(None, None, rows, matrix.to_numpy()[np.ix_(rows, rows)], "precomputed")
    results = []
    for method in methods():
        if observe is not None:
            observe(method.__name__)
        model = _model(method, n_clusters, seed, "clip")
        if "metric" not in model.get_params():
            results.append(_impossible(method.__name__))
            continue
        model.set_params(metric="precomputed")
        results.append(_run(model if prepare is None else prepare(model), matrix, AS_IT_IS, judge, ids))
    results += [_impossible(peer.name) for peer in _peers_for(mixed=False)]
    return tuple(results)


def _impossible(name: str) -> MethodResult:
    return MethodResult(name, AS_IT_IS, 0.0, IMPOSSIBLE, notes=("it needs a table with columns",))


def one_group_p_value(data: pd.DataFrame, weights: FloatArray | None, seed: int | None) -> float:
    """p-value of "there is only one group" for a table, on at most 500 rows.

    Parameters
    ----------
    data : DataFrame of shape (n_samples, n_features)
    weights : ndarray of shape (n_samples,) or None
    seed : int or None
    """
    rows = _sample(len(data), MAX_TESTED_ROWS, seed)
    part, counted = data.iloc[rows], None if weights is None else weights[rows]
    table: Any
    with warnings_as_notes([]):
        if counted is None and is_complete_numbers(data):
            table = part.to_numpy(dtype=np.float64)
        else:
            table = table_of(part, sample_weight=counted)
        return float(one_group_test(table, random_state=seed).p_value)


def one_group_p_value_of_matrix(matrix: pd.DataFrame, seed: int | None) -> float:
    """The same for dissimilarities, in their leading principal coordinates."""
    rows = _sample(len(matrix), MAX_TESTED_ROWS, seed)
    with warnings_as_notes([]):
        places = principal_coordinates(matrix.to_numpy(dtype=np.float64)[np.ix_(rows, rows)])
        return float(one_group_test(places, random_state=seed).p_value)


def n_compared(data: pd.DataFrame) -> int:
    """How many methods a table is given to."""
    return len(methods()) + len(_peers_for(mixed=not is_complete_numbers(data)))


def _peers_for(*, mixed: bool) -> tuple[Peer, ...]:
    return tuple(peer for peer in installed_peers() if mixed or peer.for_numbers)


@dataclass(frozen=True, eq=False)
class _Judge:
    """What results are judged by: labels, weights, and distances of some rows."""

    labels: Any
    weights: FloatArray | None
    rows: IntArray
    measured: FloatArray
    metric: str

    def silhouette(self, U: FloatArray) -> float | None:
        weights = None if self.weights is None else self.weights[self.rows]
        try:
            return fuzzy_silhouette_score(self.measured, U[self.rows], metric=self.metric, sample_weight=weights)
        except ValueError:  # one cluster holds every row, or no row prefers any cluster
            return None


def _measured_distances(
    data: pd.DataFrame, Z: pd.DataFrame, weights: FloatArray | None, seed: int | None, *, mixed: bool
) -> tuple[IntArray, FloatArray, str]:
    """Rows that silhouettes are of, their data or dissimilarities, and the metric; the same for every method."""
    rows = _silhouette_rows(len(data), seed)
    if mixed:
        return rows, gower_dissimilarities(data.iloc[rows]), "precomputed"
    return rows, Z.to_numpy()[rows], "euclidean"


def _silhouette_rows(n_rows: int, seed: int | None) -> IntArray:
    return _sample(n_rows, MAX_SILHOUETTE_ROWS, seed)


def _sample(n_rows: int, most: int, seed: int | None) -> IntArray:
    """All rows, or some drawn at random if there are more than ``most``, in their order."""
    if n_rows <= most:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(seed).choice(n_rows, most, replace=False))


def _treat(model: FuzzyClusterer, data: pd.DataFrame, Z: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """What a method sees of a table that is not complete numbers, and how that is called."""
    if isinstance(model, KFRC):
        return data, AS_IT_IS
    if "metric" in model.get_params():
        model.set_params(metric="gower")
        return data, GOWER
    return Z, ENCODED


def _run(
    model: FuzzyClusterer,
    table: pd.DataFrame,
    treatment: str,
    judge: _Judge,
    ids: Sequence[Any] | NDArray[Any] | None,
) -> MethodResult:
    name = type(model).__name__
    notes: list[str] = []
    start = time.perf_counter()
    try:
        with warnings_as_notes(notes, ids):
            fit_weighted(model, table, judge.weights)
    except (ValueError, MemoryError, ArithmeticError) as error:
        # One method that cannot treat these data must not take the others with it.
        notes.append(" ".join(str(error).split()))
        return MethodResult(name, treatment, time.perf_counter() - start, FAILED, notes=tuple(notes))
    seconds = time.perf_counter() - start
    facts = summarize(model, table, labels=judge.labels, weights=judge.weights)
    found = facts.agreement
    return MethodResult(
        name,
        treatment,
        seconds,
        facts.fit.status,
        facts.fit.uniformity,
        facts.fit.partition_coefficient,
        None if facts.fit.collapsed else judge.silhouette(model.memberships_),
        None if found is None else found.adjusted_rand,
        None if found is None else found.adjusted_mutual_info,
        tuple(notes),
        model.memberships_,
        len(facts.importance.standing_out) if isinstance(model, KFRC) and facts.importance is not None else None,
    )


def _run_peer(
    peer: Peer, data: pd.DataFrame, n_clusters: int, seed: int | None, judge: _Judge, *, mixed: bool
) -> MethodResult:
    treatment = peer.treatment if mixed else STANDARDIZED
    start = time.perf_counter()
    try:
        with warnings_as_notes([]):
            U = peer.memberships(data, n_clusters, seed, judge.weights)
        if not np.isfinite(U).all():
            raise ValueError("it returned memberships that are no numbers")
    except Exception as error:  # another package may fail in any way, and must not take the others with it
        reason = " ".join(str(error).split()) or type(error).__name__
        return MethodResult(peer.name, treatment, time.perf_counter() - start, FAILED, notes=(reason,))
    seconds = time.perf_counter() - start
    found = agreement(judge.labels, U.argmax(axis=1), n_clusters, judge.weights)
    return MethodResult(
        peer.name,
        treatment,
        seconds,
        "done",
        uniformity_index(U, sample_weight=judge.weights),
        partition_coefficient(U, sample_weight=judge.weights),
        judge.silhouette(U),
        None if found is None else found.adjusted_rand,
        None if found is None else found.adjusted_mutual_info,
        memberships=U,
    )


def _model(method: type[FuzzyClusterer], n_clusters: int, seed: int | None, outliers: str) -> FuzzyClusterer:
    model: Any = method(n_clusters=n_clusters)
    settings = {"random_state": seed, "outliers": outliers}
    found: FuzzyClusterer = model.set_params(**{k: v for k, v in settings.items() if k in model.get_params()})
    return found
