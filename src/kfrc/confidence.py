"""Whether a clustering can be believed: the whole procedure is fitted again on other rows, and compared."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.optimize import linear_sum_assignment
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.validation import _num_samples, check_is_fitted

from kfrc import activity
from kfrc._callbacks import set_callbacks
from kfrc._eigenpairs import largest_pairs
from kfrc._numerics import EIGENVALUE_FLOOR, as_generator, double_center, symmetrize
from kfrc._threads import limiting_threads
from kfrc._validation import (
    as_array,
    check_data,
    check_estimator,
    check_n_jobs,
    check_positive_int,
    check_sample_weight,
)
from kfrc.clusterers import FuzzyClusterer
from kfrc.columns import Table, library_of, raw_columns, table_of
from kfrc.existence import test_existence as one_group_test
from kfrc.metrics import adjusted_rand_score
from kfrc.typing import ArrayLike, BoolArray, FloatArray, IntArray, Progress, RandomStateLike

SHARE_OF_ROWS = 2 / 3
"""Share of the rows that a refit sees. They are drawn without replacement: a bootstrap sample holds some rows several
times, and equal rows are atoms of distance zero, which a clustering takes for the tightest clusters of all. A sample of
n rows with replacement has 0.63 n different ones, so two thirds disturb the data about as much."""

PLACED_PER_ROW = 40
"""How many times ``max_rows`` rows a refit places at most: 20 000 for 500, more than the shares of clusters need."""

MAX_COORDINATES = 10
"""Principal coordinates of a matrix in which one group is tested for: further ones are mostly noise."""

_LARGEST_SEED = 2**31 - 1
"""What every estimator takes as ``random_state``."""


@dataclass(frozen=True, eq=False)
class Confidence:
    """How far a clustering can be believed; made by :func:`assess`.

    Attributes
    ----------
    partition : float
        Mean adjusted Rand index of the model's labels with those of the refits: 1 if all find the same, 0 if they agree
        as by chance. For a model of one cluster it is the share of refits that find one cluster as well.
    clusters : ndarray of shape (n_clusters,)
        Mean Jaccard similarity of each cluster with the most similar one of each refit. From 0.75 on a cluster is
        called stable, below 0.6 dissolved (Hennig 2007). An empty cluster has 0.
    rows : ndarray of shape (n_samples,)
        Share of the refits in which the row stays in its cluster: clusters are matched one to one.
    existence : float or None
        p-value of "there is only one group"; None if it was not asked for.
    n_refits : int
    agreements : ndarray of shape (n_refits,)
        The adjusted Rand index of each refit, 0 where it failed.
    n_clusters_found : ndarray of shape (n_refits,)
        How many clusters of each refit hold rows: 1 if it collapsed, 0 if it failed.
    n_rows : int
        Rows that each refit was fitted on.

    Notes
    -----
    What is found again need not exist: white noise that is longer in one direction is cut in the same place again and
    again. Read ``existence`` first.

    References
    ----------
    C. Hennig (2007). Cluster-wise assessment of cluster stability. Computational Statistics & Data Analysis 52,
    258-271.
    """

    partition: float
    clusters: FloatArray
    rows: FloatArray
    existence: float | None
    n_refits: int
    agreements: FloatArray
    n_clusters_found: IntArray
    n_rows: int

    @property
    def n_failed(self) -> int:
        """Refits that ended with an error."""
        return int((self.n_clusters_found == 0).sum())


@limiting_threads
def assess(
    model: Any,
    X: ArrayLike,
    *,
    n_refits: int = 20,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
    existence: bool = True,
    max_rows: int | None = None,
    progress: Progress | None = None,
    sample_weight: ArrayLike | None = None,
) -> Confidence:
    """Fit the whole procedure again on parts of the rows, and compare.

    Each refit is a clone of the model with a random state of its own, fitted on two thirds of the rows, drawn without
    replacement. Everything that the model chooses is chosen again: bandwidths, fuzziness, ``n_clusters="auto"``. The
    refit then predicts the clusters of all rows; an estimator that cannot is compared on the rows that it saw.

    Parameters
    ----------
    model : estimator
        A clusterer of this library or of scikit-learn. If it is fitted, it must be fitted on X; otherwise a clone is
        fitted first. The model itself is not changed.
    X : array-like of shape (n_samples, n_features) or table
        What the model was fitted on: a table, or a square matrix for a model of precomputed values.
    n_refits : int, default=20
    random_state : int, RandomState, Generator or None
    n_jobs : int, optional
        Processes; the result does not depend on it.
    existence : bool, default=True
        Whether to test "there is only one group" as well, see :func:`kfrc.existence.test_existence`. For a matrix it is
        tested in its leading principal coordinates.
    max_rows : int, optional
        With more rows, each refit sees two thirds of this number, and the test sees this number; each is drawn from all
        rows. The labels that refits are compared with are still those of the model. Refits place all rows, or a sample
        of 40 times ``max_rows`` of them.
    progress : callable, optional
        Called with a text after each refit.
    sample_weight : array-like of shape (n_samples,), optional
        What the model was fitted with. Rows are drawn whatever their weights; refits and comparisons count them.

    Returns
    -------
    Confidence

    Raises
    ------
    ValueError
        If ``n_refits`` is below 1, ``max_rows`` is below 2, or the model was fitted on another number of rows.

    Notes
    -----
    A refit that fails with a ``ValueError`` (no feasible bandwidths, too few rows, ...) has found nothing: it counts as
    0 everywhere. One that collapses has found one cluster. A model that collapsed has nothing that could be found
    again: all its values are 0. A row that no refit has placed gets the mean of its cluster: one outside the sample, or
    one that no refit of an estimator that cannot predict has seen.

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc import FCM
    >>> from kfrc.confidence import assess
    >>> rng = np.random.default_rng(1)
    >>> X = np.repeat([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]], 20, axis=0) + rng.normal(size=(60, 2))
    >>> found = assess(FCM(3, random_state=0), X, n_refits=3, random_state=0, existence=False)
    >>> found.partition, found.clusters, found.rows.min()
    (1.0, array([1., 1., 1.]), np.float64(1.0))
    """
    check_estimator(model, "model")
    data, is_table = rows_of(X)
    n_samples = _num_samples(data)
    weights = check_sample_weight(sample_weight, n_samples)
    n_refits, n_jobs = check_positive_int(n_refits, "n_refits"), check_n_jobs(n_jobs)
    limit = n_samples if max_rows is None else min(n_samples, check_positive_int(max_rows, "max_rows"))
    if limit < 2:
        raise ValueError("max_rows must be at least 2")
    pairwise = is_pairwise(model)
    if pairwise and data.shape[0] != data.shape[1]:
        raise ValueError(f"X must be square for a model of precomputed values, got shape {data.shape}")
    reference = _reference(model, data, weights)
    rng = as_generator(random_state)
    # All chance is drawn here, so that the result does not depend on which process runs which refit.
    n_rows = min(limit, max(2, round(SHARE_OF_ROWS * limit)))
    draws = [
        (np.sort(rng.choice(n_samples, size=n_rows, replace=False)), int(rng.integers(_LARGEST_SEED)))
        for _ in range(n_refits)
    ]
    placed = np.sort(rng.choice(n_samples, size=min(n_samples, PLACED_PER_ROW * limit), replace=False))
    p_value = None
    if existence:
        rows, seed = np.sort(rng.choice(n_samples, size=limit, replace=False)), int(rng.integers(_LARGEST_SEED))
        table: Any
        if is_table or (weights is not None and not pairwise):
            table = _typed(model, _safe_indexing(data, rows), None if weights is None else weights[rows])
        elif pairwise:
            table = principal_coordinates(data[np.ix_(rows, rows)], squared=isinstance(model, FuzzyClusterer))
        else:
            table = data[rows]
        p_value = float(one_group_test(table, random_state=seed, n_jobs=n_jobs).p_value)
    blank = _blank(model)
    refits = []
    tasks = (delayed(_refit)(blank, data, weights, rows, seed, placed, pairwise) for rows, seed in draws)
    parallel = Parallel(n_jobs=n_jobs, return_as="generator")
    for k, found in enumerate(activity.results(parallel, tasks), start=1):
        refits.append(found)
        if progress is not None:
            progress(f"refit {k} of {n_refits}")
    comparisons = [_compare(reference, found, weights) for found in refits]
    agreements = np.array([found.agreement for found in comparisons])
    return Confidence(
        partition=float(agreements.mean()),
        clusters=np.mean([found.similarities for found in comparisons], axis=0),
        rows=_row_shares(reference, comparisons),
        existence=p_value,
        n_refits=n_refits,
        agreements=agreements,
        n_clusters_found=np.array([found.n_clusters for found in refits]),
        n_rows=n_rows,
    )


@limiting_threads
def reproducibility_score(estimator: Any, X: Any, y: None = None, *, sample_weight: ArrayLike | None = None) -> float:
    """How well memberships of rows foretell the clusters that a second fit, of these rows alone, puts them in.

    A scorer for :class:`sklearn.model_selection.GridSearchCV`. Unlike ``score``, which is minus an objective, it can be
    compared between values of m, numbers of clusters, fuzzifiers and estimators.

    Parameters
    ----------
    estimator : estimator
        Fitted on other rows: any clusterer with ``predict_proba`` or ``predict``, or a pipeline that ends with one.
    X : array-like of shape (n_rows, n_features) or table
        Rows that were held out; a clone of the estimator is fitted to them.
    y : ignored
    sample_weight : array-like of shape (n_rows,), optional
        How many rows each row stands for.

    Returns
    -------
    score : float
        1 − Σ_i p_i² − mean_j Σ_i (u_ji − e_ji)², where u are the memberships that the estimator gives, e are the labels
        of the clone (0 or 1; its clusters are matched with those of the estimator) and p their shares. At most 1 − 1/c.
        Zero for memberships that say no more than the shares, as uniform ones of equal clusters do.

    Notes
    -----
    The mean is the Brier score of u as forecasts of e, and 1 − Σ p² is that of the shares: the score is what is gained.
    Forecasts gain most if they are as sure as they are right. Memberships near 1/c gain nothing, hard ones lose where
    clusters are not found again, and so do clusters that are cut from one group; more clusters gain more as long as
    they are found again.

    Let half of the rows be held out, in an order without meaning: ``cv=ShuffleSplit(5, test_size=0.5)``. Where there
    are no groups at all something is still found again, so see :func:`assess` for whether there is more than one. Of
    precomputed values the held out rows have no matrix of their own, and :func:`assess` is the way.

    References
    ----------
    Tibshirani and Walther (2005), "Cluster validation by prediction strength", Journal of Computational and Graphical
    Statistics 14. Gneiting and Raftery (2007), "Strictly proper scoring rules, prediction, and estimation", Journal of
    the American Statistical Association 102.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from sklearn.model_selection import GridSearchCV, ShuffleSplit
    >>> from kfrc import FCM
    >>> from kfrc.confidence import reproducibility_score
    >>> X, _ = make_blobs(200, centers=[[0, 0], [8, 0], [3, 7]], random_state=0)
    >>> grid = {"n_clusters": [2, 3, 4], "m": [1.2, 2, 5]}
    >>> halves = ShuffleSplit(5, test_size=0.5, random_state=0)
    >>> search = GridSearchCV(FCM(random_state=0), grid, scoring=reproducibility_score, cv=halves).fit(X)
    >>> search.best_params_
    {'m': 1.2, 'n_clusters': 3}
    """
    check_estimator(estimator, "estimator")
    if is_pairwise(estimator):
        raise ValueError(
            "held out rows of a precomputed matrix have no matrix of their own to fit: use kfrc.confidence.assess"
        )
    weights = check_sample_weight(sample_weight, _num_samples(X))
    refit = _quietly_fitted(_blank(estimator), X, weights)
    labels = np.zeros(_num_samples(X), dtype=np.intp) if has_collapsed(refit) else _labels_of(refit, X)
    forecast = np.asarray(estimator.predict_proba(X) if hasattr(estimator, "predict_proba") else estimator.predict(X))
    forecast = forecast if forecast.ndim == 2 else _indicators(forecast)
    found = _indicators(labels)
    n_clusters = max(forecast.shape[1], found.shape[1])
    U, E = (np.pad(part, ((0, 0), (0, n_clusters - part.shape[1]))) for part in (forecast, found))
    counts = np.ones(len(U)) if weights is None else weights
    E = E[:, linear_sum_assignment((U.T * counts) @ E, maximize=True)[1]]
    shares = np.average(E, axis=0, weights=counts)
    errors = np.average(np.square(U - E).sum(axis=1), weights=counts)
    return float(1.0 - np.square(shares).sum() - errors)


def _indicators(labels: IntArray) -> FloatArray:
    """Memberships of 0 and 1, of shape (n_rows, n_clusters)."""
    if labels.min() < 0:
        raise ValueError("some rows have no cluster (a negative label): only clusterings of all rows can be scored")
    return np.eye(int(labels.max()) + 1)[labels]


@dataclass(frozen=True)
class _Reference:
    """The clustering that refits are compared with."""

    labels: IntArray
    n_clusters: int
    collapsed: bool


@dataclass(frozen=True)
class _Refit:
    """What a refit says of the rows that it can say something of: numbers from 0 on; no rows at all if it failed."""

    rows: IntArray
    labels: IntArray

    @property
    def n_clusters(self) -> int:
        return len(np.unique(self.labels))


@dataclass(frozen=True)
class _Comparison:
    """A refit against the reference: ARI, Jaccard of each cluster, which rows it saw and which of them stay."""

    agreement: float
    similarities: FloatArray
    seen: BoolArray
    stays: BoolArray


def rows_of(X: Any) -> tuple[Any, bool]:
    """Rows that can be taken by their positions, and whether they are more than complete numbers."""
    if library_of(X) is not None and any(column.kind != "numeric" for column in raw_columns(X)):
        return X, True
    array = as_array(X, "X") if not isinstance(X, np.ma.MaskedArray) else np.ma.filled(X.astype(np.float64), np.nan)
    if array.ndim == 2 and array.dtype.kind == "f" and np.isnan(array).any():
        return X, True
    return check_data(X), False


def _typed(model: Any, X: Any, weights: FloatArray | None) -> Table:
    """Rows in the types that the model was told."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit has named what is left out
        types, missing = getattr(model, "column_types", None), getattr(model, "missing", "partial")
        return table_of(X, types, missing=missing, sample_weight=weights)


def _reference(model: Any, X: Any, weights: FloatArray | None) -> _Reference:
    try:
        check_is_fitted(model)
    except NotFittedError:
        model = _quietly_fitted(_blank(model), X, weights)
    labels = _labels_of(model, X)
    if len(labels) != _num_samples(X):
        raise ValueError(f"the model was fitted on {len(labels)} rows, X has {_num_samples(X)}")
    if labels.min() < 0:
        raise ValueError("some rows have no cluster (a negative label): only clusterings of all rows can be assessed")
    memberships = getattr(model, "memberships_", None)
    n_clusters = int(labels.max()) + 1 if memberships is None else memberships.shape[1]
    return _Reference(labels, n_clusters, has_collapsed(model))


def has_collapsed(model: Any) -> bool:
    """Whether a fit found nothing: what its labels say is then the chance of rounding."""
    return getattr(model, "status_", None) == "collapsed"


def _labels_of(model: Any, X: Any) -> IntArray:
    """Clusters of the fitted rows; a pipeline has them through ``predict`` only."""
    return np.asarray(model.labels_ if hasattr(model, "labels_") else model.predict(X))


def _blank(model: Any) -> Any:
    """An unfitted clone that reports nothing."""
    blank = clone(model)
    if isinstance(blank, FuzzyClusterer):
        set_callbacks(blank)
    loud = {name: value for name, value in blank.get_params().items() if name.split("__")[-1] == "verbose"}
    return blank.set_params(**{name: type(value)(0) for name, value in loud.items()})


def is_pairwise(model: Any) -> bool:
    """Whether X is a square matrix; not every estimator that takes one has the tag."""
    return bool(get_tags(model).input_tags.pairwise) or any(
        isinstance(value, str) and value == "precomputed" for value in model.get_params(deep=False).values()
    )


def _quietly_fitted(model: Any, X: Any, weights: FloatArray | None) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X) if weights is None else model.fit(X, sample_weight=weights)


def _refit(
    blank: Any, X: Any, weights: FloatArray | None, rows: IntArray, seed: int, placed: IntArray, pairwise: bool
) -> _Refit:
    """One refit, and the clusters of the rows to be placed if it can predict them, else of those it saw."""
    model = clone(blank)
    states = [name for name in model.get_params() if name.split("__")[-1] == "random_state"]
    model.set_params(**dict.fromkeys(states, seed))
    start = model.get_params(deep=False).get("init")
    if isinstance(model, FuzzyClusterer) and isinstance(start, np.ndarray) and len(start) == _num_samples(X):
        model.set_params(init=start[rows])
    try:
        seen_rows = X[np.ix_(rows, rows)] if pairwise else _safe_indexing(X, rows)
        _quietly_fitted(model, seen_rows, None if weights is None else weights[rows])
    except ValueError:
        return _Refit(np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp))
    seen, labels = _placed(model, X, rows, placed, pairwise)
    labels = np.zeros_like(labels) if has_collapsed(model) else labels
    return _Refit(seen, np.unique(labels, return_inverse=True)[1])


def _placed(model: Any, X: Any, rows: IntArray, placed: IntArray, pairwise: bool) -> tuple[IntArray, IntArray]:
    """The rows that a refit can place, and where it places them."""
    if hasattr(model, "predict"):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return placed, np.asarray(
                    model.predict(X[np.ix_(placed, rows)] if pairwise else _safe_indexing(X, placed))
                )
        except ValueError:
            # A Gram matrix with a varying diagonal, for one, says too little of rows that were not fitted.
            pass
    return rows, np.asarray(model.labels_)


def _compare(reference: _Reference, refit: _Refit, weights: FloatArray | None) -> _Comparison:
    n_samples = len(reference.labels)
    if refit.n_clusters == 0 or reference.collapsed:
        nothing = np.zeros(n_samples, dtype=bool)
        return _Comparison(0.0, np.zeros(reference.n_clusters), ~nothing, nothing)
    labels = reference.labels[refit.rows]
    counted = None if weights is None else weights[refit.rows]
    overlap = np.zeros((reference.n_clusters, refit.n_clusters))
    np.add.at(overlap, (labels, refit.labels), 1 if counted is None else counted)
    union = overlap.sum(axis=1)[:, None] + overlap.sum(axis=0) - overlap
    similarity = overlap / (union if counted is None else np.where(union > 0, union, 1.0))
    partner = np.full(reference.n_clusters, -1)
    matched = linear_sum_assignment(similarity, maximize=True)
    partner[matched[0]] = matched[1]
    seen, stays = np.zeros(n_samples, dtype=bool), np.zeros(n_samples, dtype=bool)
    seen[refit.rows] = True
    stays[refit.rows] = partner[labels] == refit.labels
    agreement = float(adjusted_rand_score(labels, refit.labels, sample_weight=counted))
    return _Comparison(agreement, similarity.max(axis=1), seen, stays)


def _row_shares(reference: _Reference, comparisons: Iterable[_Comparison]) -> FloatArray:
    """In which share of the refits that saw it each row stays in its cluster."""
    seen = np.sum([found.seen for found in comparisons], axis=0)
    stays = np.sum([found.stays for found in comparisons], axis=0)
    shares = stays / np.maximum(seen, 1)
    for cluster in np.unique(reference.labels[seen == 0]):
        inside = reference.labels == cluster
        known = inside & (seen > 0)
        shares[inside & (seen == 0)] = shares[known].mean() if known.any() else 0.0
    return shares


def principal_coordinates(matrix: FloatArray, *, squared: bool = True) -> FloatArray:
    """Leading principal coordinates of a matrix of kernel values or of dissimilarities.

    Dissimilarities have a diagonal of zeros, kernel values have not. Those of this library are squared distances, those
    of scikit-learn are distances.
    """
    gram = matrix if np.any(np.diag(matrix) != 0) else -0.5 * (matrix if squared else np.square(matrix))
    values, vectors = largest_pairs(double_center(symmetrize(gram)), MAX_COORDINATES)
    leading = np.argsort(-values)[:MAX_COORDINATES]
    leading = leading[values[leading] > EIGENVALUE_FLOOR * max(values.max(), 0.0)]
    if len(leading) == 0:
        return np.zeros((len(matrix), 1))
    return vectors[:, leading] * np.sqrt(values[leading])
