"""What a call is, and calls of metrics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hostile.attack import Broken
from hostile.parameters import NONSENSE
from hostile.partitions import draw_frequencies, draw_memberships, draw_partition
from hostile.tables import Table, draw_matrix, draw_table
from kfrc import metrics

_UNKNOWN = Table(None, np.full((1, 1), np.nan), False, ())
"""Stands for a table of which a message may say anything."""
ROUNDING = 1e-9


@dataclass(frozen=True)
class Call:
    """A function with its arguments, and what is looked at in its result.

    Attributes
    ----------
    function : callable
    arguments : tuple
    keywords : dict
    check : callable
        Takes the result, and raises ``Broken`` if it is not what is promised.
    table : Table
        The argument X, if there is one: what a message says of it must be true.
    """

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    keywords: dict[str, Any] = field(default_factory=dict)
    check: Callable[[Any], None] = lambda result: None
    table: Table = _UNKNOWN


def odd(keywords: dict[str, Any], rng: np.random.Generator, share: float = 0.15, never: tuple[str, ...] = ()) -> None:
    """Give a few of the keywords a value that means nothing; whoever asks for 10³⁰ runs gets them."""
    for name in keywords:
        if rng.random() < share / max(len(keywords), 1) * 2:
            value = NONSENSE[rng.integers(len(NONSENSE))]
            if not (name in never and isinstance(value, (int, float)) and value > 1e6):
                keywords[name] = value


def between(low: float, high: float) -> Callable[[Any], None]:
    """A check that a result is a number from here to there."""

    def check(result: Any) -> None:
        if not isinstance(result, float):
            raise Broken(f"a {type(result).__name__} instead of a float")
        if np.isnan(result):
            raise Broken("the result is NaN")
        if not low - ROUNDING <= result <= high + ROUNDING:
            raise Broken(f"the result is outside {low:g} and {high:g}")

    return check


def _size(rng: np.random.Generator) -> int:
    return int(rng.choice([1, 2, 3, 5, 12, 30, 100], p=[0.06, 0.1, 0.12, 0.12, 0.3, 0.2, 0.1]))


_OF_ONE = {
    "partition_coefficient": (0.0, 1.0),
    "modified_partition_coefficient": (0.0, 1.0),
    "uniformity_index": (0.0, 1.0),
    "partition_entropy": (0.0, np.inf),
}


def fuzziness(rng: np.random.Generator) -> Call:
    """An index of memberships alone."""
    n, name = _size(rng), str(rng.choice(list(_OF_ONE)))
    U, _ = draw_memberships(n, rng)
    keywords = {"sample_weight": draw_frequencies(n, rng)}
    if name == "partition_entropy" and rng.random() < 0.5:
        keywords["base"] = float(rng.choice([2.0, 10.0, 1 + 1e-15, 1e308]))
    odd(keywords, rng)
    return Call(getattr(metrics, name), (U,), keywords, between(*_OF_ONE[name]))


_OF_TWO = {
    "fuzzy_rand_score": (0.0, 1.0),
    "fuzzy_adjusted_rand_score": (-np.inf, 1.0),
    "fuzzy_jaccard_score": (0.0, 1.0),
    "adjusted_rand_score": (-1.0, 1.0),
    "adjusted_mutual_info_score": (-np.inf, 1.0),
    "normalized_mutual_info_score": (0.0, 1.0),
    "concordance_score": (0.0, 1.0),
    "adjusted_concordance_score": (-np.inf, 1.0),
    "frobenius_rand_score": (-np.inf, 1.0),
    "frobenius_adjusted_rand_score": (-np.inf, 1.0),
}
_ONE_WITH_ITSELF = (
    *("adjusted_rand_score", "adjusted_mutual_info_score", "normalized_mutual_info_score", "concordance_score"),
    *("adjusted_concordance_score", "frobenius_rand_score", "frobenius_adjusted_rand_score"),
)


def agreement(rng: np.random.Generator) -> Call:
    """An index of two partitions, also of one with itself and with rows and clusters in another order."""
    n, name = _size(rng), str(rng.choice(list(_OF_TWO)))
    function, limits = getattr(metrics, name), between(*_OF_TWO[name])
    (first, one_in_order), (second, two_in_order) = draw_partition(n, rng), draw_partition(n, rng)
    itself = rng.random() < 0.2
    if itself:
        second = first
    keywords: dict[str, Any] = {"sample_weight": draw_frequencies(n, rng)}
    if name.startswith("fuzzy"):
        keywords["t_norm"] = rng.choice(["min", "product"])
    if "mutual" in name:
        keywords["average_method"] = str(rng.choice(["max", "min", "geometric", "arithmetic"]))
    odd(keywords, rng)
    order, weights = rng.permutation(n), keywords["sample_weight"]

    def check(result: Any) -> None:
        limits(result)
        if itself and name in _ONE_WITH_ITSELF and abs(result - 1.0) > 1e-6:
            raise Broken(f"{name} of a partition with itself is not 1")
        if not (one_in_order and (two_in_order or itself)):
            return
        moved = {**keywords}
        if isinstance(weights, np.ndarray) and weights.shape == (n,):
            moved["sample_weight"] = weights[order]
        parts = [np.asarray(part)[order] for part in (first, second)]
        parts = [part[:, ::-1] if part.ndim == 2 and "mutual" not in name else part for part in parts]
        if name != "adjusted_rand_score" and abs(function(*parts, **moved) - result) > 1e-6:
            raise Broken(f"{name} depends on the order of rows or clusters")
        if isinstance(weights, np.ndarray) and weights.dtype == np.float64 and (weights == np.round(weights)).all():
            _as_often(function, (first, second), keywords, result)

    return Call(function, (first, second), keywords, check)


def _as_often(function: Callable[..., float], parts: tuple[Any, ...], keywords: dict[str, Any], result: float) -> None:
    """Rows with whole weights are the same as rows that are there so often."""
    weights = keywords["sample_weight"]
    if weights.sum() > 300:
        return
    repeated = [np.repeat(np.asarray(part), weights.astype(int), axis=0) for part in parts]
    others = {name: value for name, value in keywords.items() if name != "sample_weight"}
    if abs(function(*repeated, **others) - result) > 1e-6:
        raise Broken(f"{function.__name__}: a row of weight 2 is not the row twice")


def geometry(rng: np.random.Generator) -> Call:
    """Xie and Beni's index, or the fuzzy silhouette; neither knows the order of rows or their unit."""
    table = draw_matrix(rng) if rng.random() < 0.25 else draw_table(rng)
    precomputed = table.made_by[0] == "matrix"
    n = len(table.values)
    U, in_order = draw_memberships(n, rng)
    keywords: dict[str, Any] = {"sample_weight": draw_frequencies(n, rng)}
    function, limits = metrics.xie_beni_index, between(0.0, np.inf)
    if rng.random() < 0.5:
        keywords["metric"] = "precomputed" if precomputed else "euclidean"
        if rng.random() < 0.6:
            keywords["m"] = float(rng.choice([1.0, 1.5, 2.0, 50.0, 1e6, 1e308, np.inf]))
        if rng.random() < 0.2 and getattr(U, "ndim", 0) == 2:
            centers = rng.standard_normal((U.shape[1], table.values.shape[1]))
            keywords["centers"] = centers * rng.choice([1.0, 0.0, 1e-200, 1e200, np.nan])
    else:
        function, limits = metrics.fuzzy_silhouette_score, between(-1.0, 1.0)
        named = ["euclidean", "sqeuclidean", "cityblock", "chebyshev", "cosine", "correlation", "mahalanobis"]
        keywords["metric"] = "precomputed" if precomputed else str(rng.choice([*named, "seuclidean", "jaccard"]))
        keywords["alpha"] = float(rng.choice([1.0, 0.0, 2.0, 1e3, 1e308, np.inf]))
    odd(keywords, rng)
    if callable(keywords["metric"]):
        keywords["metric"] = "x"  # whose function fails has its error
    order, unit = rng.permutation(n), 2.0 ** rng.integers(-8, 8)

    def check(result: Any) -> None:
        limits(result)
        if not (table.ordinary and in_order) or keywords.get("centers") is not None or np.isinf(result):
            return
        rows = table.values[np.ix_(order, order)] if precomputed else table.values[order]
        moved, weights = {**keywords}, keywords["sample_weight"]
        if isinstance(weights, np.ndarray) and weights.shape == (n,):
            moved["sample_weight"] = weights[order]
        again = function(rows * unit, np.asarray(U, dtype=np.float64)[order], **moved)
        if abs(again - result) > 1e-6 * max(1.0, abs(result)):
            raise Broken(f"{function.__name__} depends on the order or the unit of rows")

    return Call(function, (table.X, U), keywords, check, table)


def draw_bandwidths(n: int, rng: np.random.Generator) -> tuple[Any, bool]:
    """Bandwidths of so many columns, and whether they are ordinary."""
    ordinary = np.exp(rng.standard_normal(n))
    if rng.random() < 0.5:
        return ordinary, True
    with np.errstate(all="ignore"):
        others = [
            ordinary * 10.0 ** rng.integers(-320, 309),
            ordinary * 10.0 ** rng.integers(-320, 309, n),
            np.where(rng.random(n) < 0.5, np.inf, ordinary),
            np.full(n, rng.choice([np.inf, np.nan, 0.0, -1.0, 5e-324, 1e308])),
            float(ordinary[0]) if n else 1.0,
            ordinary[:-1],
            ordinary[:, None],
            ordinary.astype(str),
            ordinary.tolist(),
            ordinary + 1j,
            [*ordinary.tolist(), None],
            [[1.0], [1.0, 2.0]],
            np.ma.masked_array(ordinary, ordinary < 1.0),
        ]
    pool = [*others, *others, *NONSENSE]
    return pool[rng.integers(len(pool))], False


def importance(rng: np.random.Generator) -> Call:
    """Weights of columns, and how many count."""
    bandwidths, _ = draw_bandwidths(int(rng.choice([0, 1, 2, 5, 40])), rng)
    if rng.random() < 0.5:
        return Call(metrics.effective_n_features, (bandwidths,), {}, between(1.0, 40.0))

    def check(weights: Any) -> None:
        if weights.shape != np.shape(bandwidths) or not np.isfinite(weights).all() or (weights < 0).any():
            raise Broken("importance weights are not finite, or negative")
        if abs(weights.sum() - 1) > ROUNDING:
            raise Broken("importance weights do not sum to 1")

    return Call(metrics.importance_weights, (bandwidths,), {}, check)
