"""The test of existence: the statistic of a table among those of tables of one group, drawn as long as needed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from scipy.stats import rankdata

from kfrc import activity
from kfrc._numerics import as_generator
from kfrc._threads import limiting_threads
from kfrc._validation import check_data, check_n_jobs, check_positive_int
from kfrc.columns import Rows, Table, thinned_rows
from kfrc.existence.one_group import OneGroup
from kfrc.existence.statistic import grouping
from kfrc.existence.tables import OneGroupTable, grouping_of_table
from kfrc.existence.wide import WIDE, OneGroupWide
from kfrc.foremost import wide_grouping
from kfrc.typing import ArrayLike, FloatArray, Progress, RandomStateLike

N_DRAWS = 59
"""Tables drawn: enough for p = .05 with two of them beyond the data, two seconds of computing at 200 × 10."""

LEVEL = 0.05
"""Drawing stops when p can no longer be as small as this."""

_MAX_ROWS = 400
"""Rows looked at, drawn at random from longer tables: hierarchies and densities need all their distances."""

_MIN_ROWS = 8
"""Fewer rows say nothing about groups."""


@dataclass(frozen=True)
class Existence:
    """Whether a table has more than one group.

    Attributes
    ----------
    p_value : float
        Share of tables without groups that look at least as grouped as the table. Small: there are groups.
    statistic : float
        Evidence for several groups over one group, in natural logarithms.
    null : ndarray of shape (n_draws,)
        The same for the tables without groups.
    n_draws : int
        How many of them were drawn; fewer than asked for if p could no longer be small.
    """

    p_value: float
    statistic: float
    null: FloatArray
    n_draws: int


@limiting_threads
def test_existence(
    X: ArrayLike | Table,
    *,
    n_draws: int = N_DRAWS,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Existence:
    """Test whether a table has more than one group.

    Tables without groups are drawn with the correlations of the columns and with the distribution of each column, made
    unimodal. On the table and on each draw the same statistic is computed: the evidence of the best of several
    mixtures, or of a density, over a single component; on all columns and on those that seem to matter.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features) or Table
        Numbers in any units. Columns that do not vary are left out. A table of any type is compared with draws in which
        levels are cuts of correlated normal variables, and by mixtures of two and three components only. In tables of
        more than 250 columns the foremost ones keep their correlations, the others are shuffled, and the statistic is
        the evidence for two or three groups in the thirty columns that tell them apart best.
    n_draws : int
        Tables to draw at most.
    random_state : int, RandomState, Generator or None
    n_jobs : int, optional
        Draws computed at the same time; the result does not depend on it.
    progress : callable, optional
        Called with a text after each draw.

    Returns
    -------
    Existence

    Notes
    -----
    Drawing stops at the h-th draw beyond the table, h = 5 % of ``n_draws + 1``; then p is h over the number of draws.
    Otherwise it is (1 + number beyond) / (1 + n_draws). Both are valid p-values [1]_.

    References
    ----------
    .. [1] J. Besag and P. Clifford (1991). Sequential Monte Carlo p-values. Biometrika 78(2).

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc.existence import test_existence
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 3))
    >>> test_existence(X, n_draws=19, random_state=0).p_value > 0.05
    True
    >>> X[:30] += 4
    >>> test_existence(X, n_draws=19, random_state=0).p_value
    0.05
    """
    n_draws, n_jobs = check_positive_int(n_draws, "n_draws"), check_n_jobs(n_jobs)
    rng = as_generator(random_state)
    if isinstance(X, Table):
        rows = replace(X[thinned_rows(X, _MAX_ROWS)], weights=None)
        if len(rows) < _MIN_ROWS:
            return Existence(1.0, 0.0, np.empty(0), 0)
        data: Rows = rows
    else:
        X = check_data(X)
        if len(X) > _MAX_ROWS:
            X = X[np.sort(rng.choice(len(X), _MAX_ROWS, replace=False))]
        X = _canonical(X)
        if len(X) < _MIN_ROWS or X.shape[1] == 0:
            return Existence(1.0, 0.0, np.empty(0), 0)
        data = X
    n_samples, (measure, null) = len(data), _means_for(data)
    statistic = measure(data)
    stop = max(1, math.floor(LEVEL * (n_draws + 1)))
    draws: list[float] = []
    beyond = 0
    for value in _evaluate(null, measure, n_samples, rng.spawn(n_draws), n_jobs):
        draws.append(value)
        activity.step("testing whether there are groups", len(draws), n_draws)
        beyond += value >= statistic
        if progress is not None:
            progress(f"table without groups {len(draws)}/{n_draws}")
        if beyond == stop:
            break
    p_value = stop / len(draws) if beyond == stop else (1 + beyond) / (1 + n_draws)
    return Existence(p_value, statistic, np.array(draws), len(draws))


test_existence.__test__ = False  # type: ignore[attr-defined]  # pytest would collect it where it is imported


def _means_for(data: Rows) -> tuple[Callable[[Any], float], OneGroup | OneGroupTable | OneGroupWide]:
    """The statistic for a table, and tables of one group to compare it with."""
    if data.shape[1] > WIDE:
        return wide_grouping, OneGroupWide.fit(data)
    if isinstance(data, Table):
        return grouping_of_table, OneGroupTable.fit(data)
    return grouping, OneGroup.fit(data)


def _canonical(X: FloatArray) -> FloatArray:
    """Columns that vary, from zero to one, in an order that is their own: neither units nor places matter."""
    X = X / np.maximum(np.abs(X).max(axis=0), np.finfo(np.float64).tiny)
    X = X - X.min(axis=0)
    widths = X.max(axis=0)
    X = X[:, widths > 0] / widths[widths > 0]
    return X[:, np.lexsort(rankdata(X, axis=0)[::-1])]


def _evaluate(
    null: OneGroup | OneGroupTable | OneGroupWide,
    measure: Callable[[Any], float],
    n_samples: int,
    generators: list[np.random.Generator],
    n_jobs: int | None,
) -> Iterator[float]:
    """Statistics of draws, in the order of their generators."""

    def evaluate(rng: np.random.Generator) -> float:
        return measure(null.draw(n_samples, rng))

    workers = effective_n_jobs(n_jobs)
    if workers == 1:
        yield from map(evaluate, generators)
        return
    with Parallel(n_jobs=n_jobs, return_as="generator") as parallel:
        for start in range(0, len(generators), workers):
            batch = generators[start : start + workers]
            yield from activity.results(parallel, (delayed(evaluate)(rng) for rng in batch))
