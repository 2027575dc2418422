"""How many clusters: one method fitted with several numbers, and everything that speaks for each of them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from kfrc._numerics import as_generator
from kfrc._threads import limiting_threads
from kfrc._validation import check_estimator, check_flag, check_n_jobs, check_positive_int, check_sample_weight
from kfrc.clusterers import FRC, KFRC, FuzzyClusterer
from kfrc.clusterers._rows import merge_rows
from kfrc.confidence import assess, has_collapsed, is_pairwise, rows_of
from kfrc.exceptions import (
    ConstantFeatureWarning,
    LeftOutColumnWarning,
    LevelOrderWarning,
    MissingRowWarning,
    OutlierWarning,
)
from kfrc.fitting import Counting, count_table, resolve_settings
from kfrc.index_table import Indices
from kfrc.index_values import AUTO, EUCLIDEAN, GOWER, PRECOMPUTED, Geometry, no_values
from kfrc.selection import ClusterCount, count_partitions
from kfrc.selection.relations import count_relation
from kfrc.selection.wide import set_columns_aside
from kfrc.typing import ArrayLike, FloatArray, IntArray, Progress, RandomStateLike

_OF_TABLES = (ConstantFeatureWarning, LeftOutColumnWarning, LevelOrderWarning, MissingRowWarning, OutlierWarning)
"""Warnings that are about the table, not about one fit: they are passed on, once."""

_N_CLUSTERS = ("n_clusters", "n_components")
"""What estimators call the number of clusters."""


@limiting_threads
def indices(
    X: ArrayLike,
    n_clusters: int | Iterable[int] = range(2, 9),
    *,
    estimator: Any = None,
    metric: str = AUTO,
    standardize: bool | str = AUTO,
    n_refits: int = 5,
    max_rows: int | None = 500,
    sample_weight: ArrayLike | None = None,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Indices:
    """Evidence, stability and indices of fuzzy partitions for several numbers of clusters.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features), table, or array-like of shape (n_samples, n_samples)
        Whatever the estimator takes: numbers, a table with columns of any type and blanks, or dissimilarities with
        ``metric="precomputed"``.
    n_clusters : int or iterable of int, default=range(2, 9)
        The numbers, from two on.
    estimator : estimator, optional
        Cloned and fitted once for each number: any of this library or of scikit-learn with a parameter ``n_clusters``
        or ``n_components``. By default ``KFRC()``, which chooses its settings anew for each number; for
        dissimilarities ``FRC(metric="precomputed", fuzzifier="complementary_root")``.
    metric : {"auto", "euclidean", "gower", "precomputed"}, default="auto"
        By which the Xie-Beni index and silhouettes measure. ``"precomputed"``: X are dissimilarities (squared
        distances, as :class:`kfrc.FRC` takes them). ``"auto"`` is that for an estimator of precomputed values, Gower's
        dissimilarities for a table with other columns than numbers or with blanks, and else Euclidean.
    standardize : bool or "auto", default="auto"
        Whether Euclidean distances are between columns with mean zero and standard deviation one. ``"auto"`` does what
        the estimator does: :class:`kfrc.KFRC` standardizes, the others take X as it is.
    n_refits : int, default=5
        Fits of each number on parts of the rows, for the stability; 0 for none, which leaves it NaN.
    max_rows : int, optional
        Of so many rows each refit sees two thirds, if there are more.
    sample_weight : array-like of shape (n_samples,), optional
        How many rows each row stands for.
    random_state : int, RandomState, Generator or None
        Also of the estimator, unless None.
    n_jobs : int, optional
        Processes for refits; the result does not depend on it.
    progress : callable, optional
        Called with a text after each number, and after the evidence.

    Returns
    -------
    Indices
        A table; ``result.to_frame()`` is a pandas data frame, ``result.best`` the best number by each index.

    Warns
    -----
    ConstantFeatureWarning, LeftOutColumnWarning, OutlierWarning, ...
        What is to be said of the table, once. What single fits warn of is in ``statuses`` and ``failures``.

    Raises
    ------
    ValueError
        If a number is below two, or if no number can be fitted.

    See Also
    --------
    kfrc.KFRC : ``KFRC("auto")`` chooses the number by the evidence.

    Notes
    -----
    *evidence*: what the automatic choice of the number compares, see ``kfrc.selection.count``. For
    :class:`kfrc.KFRC` that of the best proposal of tuned kernels, for other estimators on a table that of the mixture
    which begins at their partition, and for a matrix the gap between eigenvalues, zero where halves of the samples
    have other clusters. ``automatic`` also weighs standard errors, valleys between clusters and the test of existence,
    so that it need not be the number of the most evidence.

    *stability*: ``kfrc.confidence.assess(...).partition``, the mean adjusted Rand index with refits.

    *PC, MPC, PE, XB, fuzzy silhouette*: :mod:`kfrc.metrics`, XB with m = 2. PC falls and PE rises with the number of
    clusters by themselves; do not choose by them alone.

    An index is NaN where it is not defined: XB and the silhouette of a collapsed fit, of an empty cluster, and where
    all rows prefer one cluster; evidence where a collapsed fit has no partition, or where it cannot be had.

    The evidence of all numbers comes from one pass that shares screening, standard units and tuned kernels. Fits of
    the estimator share nothing: of one, reading and screening are a fortieth.

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc import FCM, indices
    >>> rng = np.random.default_rng(0)
    >>> X = np.repeat([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]], 20, axis=0) + rng.normal(size=(60, 2))
    >>> found = indices(X, range(2, 5), estimator=FCM(), n_refits=2, random_state=0)
    >>> found.best["XB"], found.best["fuzzy silhouette"], found.automatic
    (3, 3, 3)
    >>> found["PC"].round(2)
    array([0.8 , 0.94, 0.85])
    """
    numbers = _check_numbers(n_clusters)
    if metric not in (AUTO, EUCLIDEAN, GOWER, PRECOMPUTED):
        raise ValueError(f"metric must be {AUTO!r}, {EUCLIDEAN!r}, {GOWER!r} or {PRECOMPUTED!r}, got {metric!r}")
    if not (isinstance(standardize, str) and standardize == AUTO):
        standardize = check_flag(standardize, "standardize")
    if n_refits != 0:
        n_refits = check_positive_int(n_refits, "n_refits")
    n_jobs = check_n_jobs(n_jobs)
    base = _base(estimator, metric, random_state)
    pairwise = is_pairwise(base)
    if metric == PRECOMPUTED and not pairwise:
        raise ValueError(
            f'metric="precomputed" needs an estimator of dissimilarities, such as FRC(metric="precomputed"), got {base}'
        )
    data, is_table = rows_of(X)
    if _num_samples(data) <= numbers[-1]:
        raise ValueError(f"{_num_samples(data)} rows are too few for {numbers[-1]} clusters")
    weights = check_sample_weight(sample_weight, _num_samples(data))
    weighted: dict[str, Any] = {} if weights is None else {"sample_weight": weights}
    geometry = Geometry.of(base, data, metric, standardize, weights, is_table=is_table, pairwise=pairwise)
    models: dict[int, Any] = {}
    partitions: dict[int, FloatArray] = {}
    failures: dict[int, str] = {}
    values: dict[str, list[float]] = {}
    errors: list[ValueError] = []
    with _table_warnings_once():
        for number in numbers:
            try:
                model = _with_number(base, number).fit(X, **weighted)
            except ValueError as error:
                failures[number] = " ".join(str(error).split())
                errors.append(error)
                continue
            models[number], partitions[number] = model, _memberships(model, X, number)
            if progress is not None:
                progress(f"{number} clusters")
    if not models:
        raise errors[0]
    for number in numbers:
        row = {"stability": np.nan, **no_values()}
        if number in models:
            row |= geometry.values(partitions[number], collapsed=has_collapsed(models[number]))
            if n_refits:
                row["stability"] = assess(
                    models[number],
                    X,
                    n_refits=n_refits,
                    random_state=random_state,
                    n_jobs=n_jobs,
                    existence=False,
                    max_rows=max_rows,
                    **weighted,
                ).partition
                if progress is not None:
                    progress(f"refits of {number} clusters")
        for name, value in row.items():
            values.setdefault(name, []).append(value)
    found = {n: U for n, U in partitions.items() if not has_collapsed(models[n])}
    count, problem = _evidence(base, X, data, weights, numbers, found, as_generator(random_state), pairwise=pairwise)
    if problem:
        failures |= {number: problem for number in numbers if number not in failures}
    if progress is not None:
        progress("evidence")
    known = {} if count is None else dict(zip(count.n_clusters.tolist(), count.evidence.tolist(), strict=True))
    return Indices(
        numbers,
        {"evidence": [known.get(number, np.nan) for number in numbers], **values},
        automatic=None if count is None else count.best,
        existence=None if count is None else count.existence,
        statuses=[str(getattr(models[n], "status_", "done")) if n in models else "failed" for n in numbers],
        failures=failures,
        models=models,
    )


def _check_numbers(n_clusters: Any) -> list[int]:
    given = n_clusters if isinstance(n_clusters, Iterable) and not isinstance(n_clusters, str) else [n_clusters]
    numbers = sorted({check_positive_int(number, "n_clusters") for number in given})
    if not numbers:
        raise ValueError("n_clusters is empty: give numbers from two on, such as range(2, 9)")
    if numbers[0] < 2:
        raise ValueError(f"n_clusters must be two or more, got {numbers[0]}: one cluster has no indices")
    return numbers


def _base(estimator: Any, metric: str, random_state: Any) -> Any:
    """The estimator that is fitted, not fitted yet."""
    if estimator is None:
        estimator = FRC(metric=PRECOMPUTED, fuzzifier="complementary_root") if metric == PRECOMPUTED else KFRC()
    check_estimator(estimator, "estimator")
    base = clone(estimator)
    if random_state is not None:
        states = [name for name in base.get_params() if name.split("__")[-1] == "random_state"]
        base.set_params(**dict.fromkeys(states, random_state))
    return base


def _with_number(base: Any, number: int) -> Any:
    names = [name for wanted in _N_CLUSTERS for name in base.get_params() if name.split("__")[-1] == wanted]
    if not names:
        raise TypeError(f"{type(base).__name__} has no parameter n_clusters or n_components")
    return clone(base).set_params(**{names[0]: number})


def _memberships(model: Any, X: Any, number: int) -> FloatArray:
    """Memberships of the fitted rows, of whatever kind the estimator has; of hard clusters zeros and ones."""
    if hasattr(model, "memberships_"):
        return np.asarray(model.memberships_, dtype=np.float64)
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X), dtype=np.float64)
    labels = np.asarray(model.labels_ if hasattr(model, "labels_") else model.predict(X))
    return np.eye(number)[labels]


class _table_warnings_once(warnings.catch_warnings):  # noqa: N801 (a context manager, named like the one it extends)
    """Fits inside are silent; afterwards what they said of the table is said once."""

    def __init__(self) -> None:
        super().__init__(record=True)

    def __enter__(self) -> Any:
        self._caught = super().__enter__()
        warnings.simplefilter("always")
        return self._caught

    def __exit__(self, *details: Any) -> None:
        super().__exit__(*details)
        about = {str(w.message): w for w in self._caught or () if issubclass(w.category, _OF_TABLES)}
        for warning in about.values():
            warnings.warn(warning.message, warning.category, stacklevel=4)


def _evidence(
    base: Any,
    X: Any,
    data: Any,
    weights: FloatArray | None,
    numbers: Sequence[int],
    partitions: dict[int, FloatArray],
    rng: np.random.Generator,
    *,
    pairwise: bool,
) -> tuple[ClusterCount | None, str]:
    """What speaks for each number, or why that cannot be said."""
    n_jobs = getattr(base, "n_jobs", None) if isinstance(base, FuzzyClusterer) else None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if pairwise:
                K = np.asarray(data, dtype=np.float64)
                K = -0.5 * K if not np.diagonal(K).any() else K
                return count_relation(K, numbers[-1], rng, n_jobs, every=True), ""
            counter = base if isinstance(base, KFRC) else KFRC()
            if isinstance(base, KFRC) or not partitions:
                return _count(counter, X, weights, numbers[-1], rng), ""
            return _count_given(counter, X, weights, partitions, rng), ""
    except ValueError as error:
        return None, f"no evidence: {' '.join(str(error).split())}"


def _count(model: KFRC, X: Any, weights: FloatArray | None, largest: int, rng: np.random.Generator) -> ClusterCount:
    """Evidence for all numbers up to the largest, from proposals of tuned kernels."""
    counter = clone(model).set_params(n_clusters=AUTO, max_clusters=largest)
    view, settings, _ = _viewed(counter, X, weights)
    assert isinstance(settings.n_clusters, Counting)
    return count_table(view, settings, settings.n_clusters, rng, patience=None)


def _count_given(
    model: KFRC, X: Any, weights: FloatArray | None, partitions: dict[int, FloatArray], rng: np.random.Generator
) -> ClusterCount:
    """Evidence for partitions that are there."""
    counter = clone(model).set_params(n_clusters=AUTO)
    rows = np.arange(_num_samples(X))
    if len(rows) > counter.selection_samples:
        rows = np.sort(rng.choice(len(rows), counter.selection_samples, replace=False))
    view, settings, first = _viewed(counter, _safe_indexing(X, rows), None if weights is None else weights[rows])
    assert isinstance(settings.n_clusters, Counting)
    counting, part = settings.n_clusters, view.rounded()
    whole = part.standardized
    foremost = set_columns_aside(whole, sorted(partitions), counting.screen)
    if foremost is not None:
        part = part.restricted(foremost.columns)
    chosen = rows if first is None else rows[first]
    return count_partitions(
        part.standardized,
        [partitions[number][chosen] for number in sorted(partitions)],
        counting.judge,
        screen=counting.screen,
        rng=rng,
        whole=whole,
    )


def _viewed(model: KFRC, X: Any, weights: FloatArray | None) -> tuple[Any, Any, IntArray | None]:
    """The rows as the judge sees them, the settings, and which rows stand for those that are merged."""
    reading = model._read(X)
    settings = resolve_settings(model.get_params(deep=False), None)
    merged = None
    if weights is not None or settings.takes_tables:
        merged = merge_rows(reading.values, weights, at_least=2)
    view, _ = model._view(reading, merged, settings)
    return view, settings, None if merged is None else merged.first
