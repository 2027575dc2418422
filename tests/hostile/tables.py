"""Tables that people bring by accident or on purpose: small, of any scale, with ties, gaps and odd containers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.spatial.distance import cdist

LARGEST = np.finfo(np.float64).max


@dataclass(frozen=True)
class Table:
    """A table as an estimator gets it, and what is known of it.

    Attributes
    ----------
    X : object
        What is handed over.
    values : ndarray of shape (n_samples, n_features)
        The same as plain numbers.
    ordinary : bool
        Whether the numbers are of usual size and no two distances are equal: then a result may not depend on units or
        on the order of columns.
    made_by : tuple of str
        How it came about.
    """

    X: Any
    values: np.ndarray
    ordinary: bool
    made_by: tuple[str, ...]

    @property
    def complete(self) -> bool:
        """Whether every cell is a finite number."""
        return bool(np.isfinite(self.values).all())


def draw_table(rng: np.random.Generator) -> Table:
    """A table of at most 40 rows."""
    kind = rng.choice(list(_SHAPES))
    values = _SHAPES[kind](rng)
    scale = rng.choice(list(_SCALES), p=_weights(_SCALES))
    with np.errstate(all="ignore"):
        values = _SCALES[scale](values, rng)
    damage = rng.choice(list(_DAMAGES), p=_weights(_DAMAGES))
    values = _DAMAGES[damage](values.copy(), rng)
    ordinary = kind == "groups" and scale in ("as it is", "one unit") and damage == "none"
    table = Table(values, values, ordinary, (kind, scale, damage))
    container = rng.choice(list(_CONTAINERS), p=_weights(_CONTAINERS))
    with np.errstate(all="ignore"):
        handed, values = _CONTAINERS[container](values, rng)
    ordinary = ordinary and container not in ("int64", "bool")  # distances of which are often equal
    return replace(table, X=handed, values=values, ordinary=ordinary, made_by=(*table.made_by, str(container)))


def draw_matrix(rng: np.random.Generator) -> Table:
    """A matrix of dissimilarities, right or wrong."""
    rows = _SHAPES["groups"](rng)
    R = cdist(rows, rows, rng.choice(["sqeuclidean", "euclidean", "cityblock", "chebyshev"]))
    kind = rng.choice(list(_MATRICES), p=_weights(_MATRICES))
    with np.errstate(all="ignore"):
        R = _MATRICES[kind](R.copy(), rng)
    return Table(R, R, kind == "right", ("matrix", str(kind)))


def draw_weights(n_rows: int, rng: np.random.Generator) -> np.ndarray | None:
    """Frequencies of rows: mostly none, sometimes odd, sometimes wrong."""
    kind = rng.choice(["none", "counts", "some zero", "huge", "tiny", "wrong"], p=[0.75, 0.08, 0.07, 0.03, 0.03, 0.04])
    if kind == "none":
        return None
    weights = rng.integers(1, 4, n_rows).astype(float)
    if kind == "some zero":
        weights[rng.random(n_rows) < 0.4] = 0.0
    if kind == "wrong":
        return [-weights, np.full(n_rows, np.nan), np.zeros(n_rows), weights[:-1], weights * np.inf][rng.integers(5)]
    return weights * {"huge": 1e300, "tiny": 1e-300}.get(kind, 1.0)


def _size(rng: np.random.Generator) -> tuple[int, int]:
    n = int(rng.choice([1, 2, 3, 4, 5, 8, 12, 20, 30, 40], p=[0.02, 0.05, 0.06, 0.07, 0.1, 0.15, 0.2, 0.15, 0.1, 0.1]))
    return n, int(rng.choice([1, 2, 3, 5, 8, 45], p=[0.2, 0.3, 0.2, 0.15, 0.1, 0.05]))


def _groups(rng):
    n, p = _size(rng)
    return rng.standard_normal((n, p)) + 6.0 * rng.standard_normal((3, p))[rng.integers(3, size=n)]


def _noise(rng):
    return rng.standard_normal(_size(rng))


def _heavy(rng):
    return rng.standard_cauchy(_size(rng)) ** 3


def _grid(rng):
    return rng.integers(0, 3, _size(rng)).astype(float)


def _repeated(rng):
    rows = _groups(rng)
    return rows[rng.integers(0, max(1, len(rows) // 3), len(rows))]


def _one_value(rng):
    n, p = _size(rng)
    return np.tile(rng.standard_normal(p), (n, 1))


def _some_constant(rng):
    rows = _groups(rng)
    rows[:, rng.random(rows.shape[1]) < 0.5] = rng.choice([0.0, 1.0, -7.5, 1e300, 0.1])
    return rows


def _copied_columns(rng):
    rows = _groups(rng)[:, :4]
    return np.hstack([rows, rows * rng.choice([1.0, -1.0, 1e6])])


def _on_a_line(rng):
    n, p = _size(rng)
    return np.outer(np.arange(n), np.ones(p)) + rng.choice([0.0, 1e-14]) * rng.standard_normal((n, p))


_SHAPES = {
    "groups": _groups,
    "noise": _noise,
    "heavy tails": _heavy,
    "grid": _grid,
    "repeated rows": _repeated,
    "one value": _one_value,
    "constant columns": _some_constant,
    "copied columns": _copied_columns,
    "line": _on_a_line,
}

_SCALES = {
    "as it is": lambda X, rng: X,
    "one unit": lambda X, rng: X * 2.0 ** rng.integers(-40, 40),
    "any unit": lambda X, rng: X * 10.0 ** rng.integers(-323, 309),
    "units of columns": lambda X, rng: X * 10.0 ** rng.integers(-323, 309, X.shape[1]),
    "two units": lambda X, rng: X * np.where(rng.random(X.shape[1]) < 0.5, 1e-300, 1e300),
    "far from zero": lambda X, rng: X + 10.0 ** rng.integers(4, 18),
    "tiny": lambda X, rng: X * 5e-324,
    "at the end": lambda X, rng: np.sign(X) * LARGEST * rng.random(X.shape),
}


def _undamaged(X, rng):
    return X


def _gaps(X, rng):
    X[rng.random(X.shape) < rng.choice([0.05, 0.3, 0.9])] = np.nan
    return X


def _empty_column(X, rng):
    X[:, rng.integers(X.shape[1])] = np.nan
    return X


def _empty_row(X, rng):
    X[rng.integers(len(X))] = np.nan
    return X


def _infinite(X, rng):
    X[rng.integers(len(X)), rng.integers(X.shape[1])] = rng.choice([np.inf, -np.inf])
    return X


def _far_value(X, rng):
    X[rng.integers(len(X)), rng.integers(X.shape[1])] = rng.choice([1e3, 1e8, 1e150, -1e300, LARGEST])
    return X


def _signed_zeros(X, rng):
    X[rng.random(X.shape) < 0.4] = -0.0
    return X


_DAMAGES = {
    "none": _undamaged,
    "gaps": _gaps,
    "empty column": _empty_column,
    "empty row": _empty_row,
    "infinite": _infinite,
    "far value": _far_value,
    "zeros": _signed_zeros,
}


def _as_array(X, rng):
    return X, X


def _as_fortran(X, rng):
    return np.asfortranarray(X), X


def _as_view(X, rng):
    wide = np.empty((2 * X.shape[0], 2 * X.shape[1]))
    wide[::2, ::2] = X
    return wide[::2, ::2], X


def _as_single(X, rng):
    single = X.astype(np.float32)
    return single, single.astype(np.float64)


def _as_integers(X, rng):
    if not np.isfinite(X).all() or np.abs(X).max(initial=0) > 2**60:
        return X, X
    return X.astype(np.int64), X.astype(np.int64).astype(np.float64)


def _as_truth(X, rng):
    return X > 0, (X > 0).astype(np.float64)


def _as_lists(X, rng):
    return X.tolist(), X


def _as_objects(X, rng):
    return X.astype(object), X


def _as_frame(X, rng):
    index = rng.permutation(len(X)) - 5
    return pd.DataFrame(X, columns=[f"a{j}" for j in range(X.shape[1])], index=index), X


def _as_odd_frame(X, rng):
    names = rng.choice(["x", "y", "=1+1", "", "x"], X.shape[1])
    return pd.DataFrame(X, columns=names, index=np.zeros(len(X), int)), X


def _as_sparse(X, rng):
    return sparse.csr_array(np.nan_to_num(X)), np.nan_to_num(X)


def _as_masked(X, rng):
    return np.ma.masked_array(X, np.isnan(X)), X


_CONTAINERS = {
    "array": _as_array,
    "fortran": _as_fortran,
    "view": _as_view,
    "float32": _as_single,
    "int64": _as_integers,
    "bool": _as_truth,
    "lists": _as_lists,
    "objects": _as_objects,
    "frame": _as_frame,
    "odd frame": _as_odd_frame,
    "sparse": _as_sparse,
    "masked": _as_masked,
}


def _right(R, rng):
    return R


def _asymmetric(R, rng):
    R[0, -1] += rng.choice([1e-12, 1e-3, 10.0])
    return R


def _negative(R, rng):
    R[0, -1] = R[-1, 0] = -rng.choice([1e-300, 1.0, 1e300])
    return R


def _own_distance(R, rng):
    np.fill_diagonal(R, rng.choice([1e-15, 1.0, -1.0]))
    return R


def _unrelated(R, rng):
    R = np.triu(rng.random(R.shape) ** 8 * 100, 1)
    return R + R.T


def _incomplete(R, rng):
    R[0, -1] = R[-1, 0] = rng.choice([np.nan, np.inf])
    return R


def _all_equal(R, rng):
    return np.where(np.eye(len(R), dtype=bool), 0.0, 1.0) * rng.choice([0.0, 1.0])


def _other_unit(R, rng):
    return R * 10.0 ** rng.integers(-320, 309)


def _no_square(R, rng):
    return R[:-1]


_MATRICES = {
    "right": _right,
    "asymmetric": _asymmetric,
    "negative": _negative,
    "own distance": _own_distance,
    "unrelated": _unrelated,
    "incomplete": _incomplete,
    "all equal": _all_equal,
    "other unit": _other_unit,
    "no square": _no_square,
}


def _weights(kinds: dict[str, Any]) -> np.ndarray:
    """The first kind is the plain one and twice as frequent as all others together: one thing at a time is odd."""
    weights = np.ones(len(kinds))
    weights[0] = 2 * (len(kinds) - 1)
    return weights / weights.sum()
