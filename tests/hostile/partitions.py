"""Partitions of rows as somebody may hand them over: memberships, labels and weights, right, odd and wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from hostile.parameters import NONSENSE
from hostile.tables import draw_weights

_CLUSTERS = (1, 2, 2, 2, 3, 3, 3, 4, 4, 9)


def draw_partition(n_rows: int, rng: np.random.Generator) -> tuple[Any, bool]:
    """Memberships or labels of so many rows, and whether they are in order."""
    return draw_memberships(n_rows, rng) if rng.random() < 0.6 else draw_labels(n_rows, rng)


def draw_memberships(n_rows: int, rng: np.random.Generator) -> tuple[Any, bool]:
    """Memberships of so many rows, and whether they are in order: then they are as good in any container."""
    kind = rng.choice(list(_MEMBERSHIPS))
    U = _MEMBERSHIPS[kind](n_rows, int(rng.choice(_CLUSTERS)), rng)
    if rng.random() < 0.3:
        with np.errstate(all="ignore"):
            return _WRONG[rng.choice(list(_WRONG))](U.copy(), rng), False
    return _CONTAINERS[rng.choice(list(_CONTAINERS))](U), True


def draw_labels(n_rows: int, rng: np.random.Generator) -> tuple[Any, bool]:
    """Labels of so many rows, and whether they are in order."""
    codes = rng.integers(0, rng.choice([1, 2, 3, 3, 3, max(n_rows, 1)]), n_rows)
    if rng.random() < 0.3:
        return _WRONG_LABELS[rng.choice(list(_WRONG_LABELS))](codes, rng), False
    return _LABELS[rng.choice(list(_LABELS))](codes), True


def draw_frequencies(n_rows: int, rng: np.random.Generator) -> Any:
    """Weights of rows; now and then what is no weight at all."""
    if rng.random() < 0.1:
        weights = np.ones(n_rows)
        odd = [weights[:, None], weights.astype(str), weights.tolist(), 2.0, -1.0, weights + 1j, [None] * n_rows]
        return [*odd, *NONSENSE][rng.integers(len(odd) + len(NONSENSE))]
    return draw_weights(n_rows, rng)


def _fuzzy(n, c, rng):
    return rng.dirichlet(np.full(c, rng.choice([0.05, 1.0, 100.0])), n)


def _crisp(n, c, rng):
    return np.eye(c)[rng.integers(c, size=n)]


def _uniform(n, c, rng):
    return np.full((n, c), 1.0 / c)


def _nearly_crisp(n, c, rng):
    U = _crisp(n, c, rng)
    U[U == 0] = rng.choice([1e-17, 1e-300, 5e-324])
    return U


def _nearly_uniform(n, c, rng):
    U = _uniform(n, c, rng) + rng.choice([1e-16, 1e-12, 1e-8]) * rng.standard_normal((n, c))
    return U / U.sum(axis=1, keepdims=True)


def _empty_cluster(n, c, rng):
    return np.column_stack([_fuzzy(n, c, rng), np.zeros(n)])


def _copies(n, c, rng):
    return np.repeat(_fuzzy(1, c, rng), n, axis=0)


def _halves(n, c, rng):
    U = _crisp(n, c + 1, rng)
    return 0.5 * (U + np.roll(U, 1, axis=1))


def _rounded(n, c, rng):
    U = _fuzzy(n, c, rng)
    return U * (1.0 + 1e-8 * rng.standard_normal((n, 1)))


_MEMBERSHIPS = {
    "fuzzy": _fuzzy,
    "crisp": _crisp,
    "uniform": _uniform,
    "nearly crisp": _nearly_crisp,
    "nearly uniform": _nearly_uniform,
    "empty cluster": _empty_cluster,
    "copies": _copies,
    "halves": _halves,
    "rounded": _rounded,
}

_CONTAINERS = {
    "array": lambda U: U,
    "fortran": np.asfortranarray,
    "lists": lambda U: U.tolist(),
    "objects": lambda U: U.astype(object),
    "frame": lambda U: pd.DataFrame(U, index=np.zeros(len(U), int)),
    "masked": np.ma.masked_array,
    "backwards": lambda U: U[::-1],
}


def _one_cell(value):
    def spoil(U, rng):
        if U.size:
            U[rng.integers(len(U)), rng.integers(U.shape[1])] = value
        return U

    return spoil


_WRONG = {
    "sums": lambda U, rng: U * 2.0,
    "negative": _one_cell(-0.1),
    "unknown": _one_cell(np.nan),
    "infinite": _one_cell(np.inf),
    "huge": lambda U, rng: np.full_like(U, 1e308),
    "zeros": lambda U, rng: np.zeros_like(U),
    "transposed": lambda U, rng: U.T,
    "one column": lambda U, rng: U[:, 0],
    "no columns": lambda U, rng: U[:, :0],
    "no rows": lambda U, rng: U[:0],
    "short": lambda U, rng: U[:-1],
    "three dimensions": lambda U, rng: U[None],
    "text": lambda U, rng: U.astype(str),
    "words": lambda U, rng: np.full(U.shape, "high"),
    "complex": lambda U, rng: U + 0j,
    "ragged": lambda U, rng: [*U.tolist(), [1.0] * (U.shape[1] + 1)],
    "sparse": lambda U, rng: sparse.csr_array(U),
    "hidden": lambda U, rng: np.ma.masked_array(U, U.max(initial=0.0) == U),
    "single": lambda U, rng: U.astype(np.float32),
    "whole": lambda U, rng: U.astype(np.int64),
    "dates": lambda U, rng: U.astype("datetime64[s]"),
    "records": lambda U, rng: [{"a": 1.0}] * len(U),
    "nonsense": lambda U, rng: NONSENSE[rng.integers(len(NONSENSE))],
}
"""Most of these are to be refused; some are accepted by chance."""

_LABELS = {
    "codes": lambda codes: codes,
    "list": lambda codes: codes.tolist(),
    "names": lambda codes: np.array(["a", "bb", ""])[codes % 3],
    "words": lambda codes: [f"group {code}" for code in codes],
    "floats": lambda codes: codes * 0.1,
    "truth": lambda codes: codes > 0,
    "negative": lambda codes: -codes.astype(np.int8),
    "large": lambda codes: codes.astype(np.uint64) + np.uint64(2**63),
    "dates": lambda codes: codes.astype("datetime64[D]"),
    "bytes": lambda codes: codes.astype("S"),
    "categories": lambda codes: pd.Categorical(codes.astype(str)),
    "series": lambda codes: pd.Series(codes, index=codes),
    "objects": lambda codes: codes.astype(object),
}


def _some(value):
    def spoil(codes, rng):
        labels = codes.astype(object)
        labels[rng.random(len(codes)) < 0.3] = value
        return labels

    return spoil


_WRONG_LABELS = {
    "none": _some(None),
    "nan": _some(np.nan),
    "not available": _some(pd.NA),
    "mixed": _some("a"),
    "lists": _some([1]),
    "short": lambda codes, rng: codes[:-1],
    "long": lambda codes, rng: np.append(codes, 0),
    "empty": lambda codes, rng: codes[:0],
    "number": lambda codes, rng: 3,
    "three dimensions": lambda codes, rng: codes[None, None],
    "column": lambda codes, rng: codes[:, None],
    "nan among numbers": lambda codes, rng: np.where(codes == 0, np.nan, codes),
    "no time": lambda codes, rng: np.where(codes == 0, np.datetime64("NaT"), codes.astype("datetime64[D]")),
    "hidden": lambda codes, rng: np.ma.masked_array(codes, codes == 0),
    "tuples": lambda codes, rng: [(code,) for code in codes],
    "ragged": lambda codes, rng: [[1] * code for code in codes],
    "set": lambda codes, rng: set(codes.tolist()),
    "nonsense": lambda codes, rng: NONSENSE[rng.integers(len(NONSENSE))],
}
