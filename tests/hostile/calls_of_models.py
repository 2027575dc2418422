"""Calls that fit something: new rows, refits, indices of several numbers of clusters, rows of a source."""

from __future__ import annotations

import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from hostile.attack import Broken
from hostile.calls import Call, between, odd
from hostile.invariants import check_memberships
from hostile.parameters import NONSENSE
from hostile.partitions import draw_frequencies
from hostile.tables import Table, draw_table
from kfrc import FANNY, FCM, FCMMK, FRC, KFRC, MSFCM, NERFCM, RFCM, VFCM, indices
from kfrc.confidence import assess
from kfrc.sources import ArraySource, CSVSource

_PLAIN = {"m": 2.0, "level": 1.0, "max_anisotropy": 3.0, "n_starts": 1, "random_state": 0}
_MODELS = {
    "KFRC": lambda: KFRC(3, **_PLAIN),
    "KFRC of products": lambda: KFRC(3, kernel="product", fuzzifier="power", **_PLAIN),
    "KFRC along paths": lambda: KFRC(3, kernel="path", m=2.0, random_state=0),
    "KFRC with posteriors": lambda: KFRC(3, memberships="posterior", random_state=0),
    "FCM": lambda: FCM(3, random_state=0),
    "FCM quadratic": lambda: FCM(3, fuzzifier="quadratic", random_state=0),
    "FRC": lambda: FRC(3, random_state=0),
    "FRC cosine": lambda: FRC(3, metric="cosine", random_state=0),
    "FRC gower": lambda: FRC(3, metric="gower", random_state=0),
    "RFCM": lambda: RFCM(3, random_state=0),
    "NERFCM": lambda: NERFCM(3, metric="cityblock", random_state=0),
    "FANNY": lambda: FANNY(3, m=1.3),
    "FANNY cityblock": lambda: FANNY(3, m=1.3, metric="cityblock", solver="batch"),
    "FCMMK": lambda: FCMMK(3, n_kernels=2, random_state=0),
    "MSFCM": lambda: MSFCM(3, random_state=0),
    "VFCM": lambda: VFCM(3, random_state=0),
}


@cache
def _fitted(name: str, n_columns: int) -> Any:
    """A model of three plain groups."""
    rng = np.random.default_rng(n_columns)
    rows = rng.standard_normal((30, n_columns)) + 8.0 * rng.standard_normal((3, n_columns))[np.arange(30) % 3]
    return _MODELS[name]().fit(rows)


def new_rows(rng: np.random.Generator) -> Call:
    """Rows that a model has not seen, with any number of columns, values and containers."""
    table = draw_table(rng)
    n_columns = table.values.shape[1]
    fitted_columns = n_columns if rng.random() < 0.85 else n_columns + 1
    model = _fitted(str(rng.choice(list(_MODELS))), min(fitted_columns, 8))
    X = table.X
    if rng.random() < 0.1:
        values = np.asarray(table.values)
        others = [values[:0], values[0], values[None], values.astype(str), values + 1j, *NONSENSE]
        X, table = others[rng.integers(len(others))], Table(None, np.full((1, 1), np.nan), False, ())
    elif rng.random() < 0.1:
        X = X[:1]
    method = str(rng.choice(["predict", "predict_proba", "transform", "score"]))
    n_rows = len(X) if isinstance(X, (list, np.ndarray)) and np.ndim(X) else getattr(X, "shape", (1,))[0]
    keywords = {"sample_weight": draw_frequencies(n_rows, rng)} if method == "score" else {}

    chosen = int(rng.integers(len(table.values)))

    def check(result: Any) -> None:
        if method == "score":
            between(-np.inf, np.inf)(float(result))
            return
        if X is table.X and table.ordinary and method != "predict":
            alone = getattr(model, method)(table.values[[chosen]])[0]
            if np.abs(alone - result[chosen]).max() > 1e-6 * max(1.0, np.abs(alone).max()):
                raise Broken(f"{method} of a row depends on the others")
        if len(result) != n_rows:
            raise Broken(f"{method} has another number of rows")
        if method == "predict_proba":
            check_memberships(result, "predict_proba")
        elif method == "predict":
            if result.min() < 0 or result.max() > 2:
                raise Broken("predict names a cluster that is not there")
        elif np.isnan(np.asarray(result)).any() or (np.asarray(result) < 0).any():
            raise Broken("transform gives NaN or negative distances")

    def asked(X: Any, **keywords: Any) -> Any:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="X has feature names")  # of scikit-learn, and true
            return getattr(model, method)(X, **keywords)

    return Call(asked, (X,), keywords, check, table)


def _cheap_model(rng: np.random.Generator) -> Any:
    c = int(rng.choice([1, 2, 2, 3]))
    return [FCM(c), FRC(c, random_state=0), FANNY(c, m=1.5), KFRC(c, bandwidths=1.0, m=2.0)][rng.integers(4)]


def refits(rng: np.random.Generator) -> Call:
    """How far a clustering is found again."""
    table = draw_table(rng)
    n = len(table.values)
    keywords: dict[str, Any] = {"n_refits": int(rng.choice([1, 2])), "existence": False, "random_state": 0}
    keywords["sample_weight"] = draw_frequencies(n, rng)
    keywords["max_rows"] = [None, None, 2, 5, 10**6, 1][rng.integers(6)]
    odd(keywords, rng, never=("n_refits",))
    if keywords["existence"] is not False and rng.random() < 0.8:
        keywords["existence"] = False
    model = _cheap_model(rng)
    if rng.random() < 0.05:
        model = [None, "x", 1, FCM, object()][rng.integers(5)]

    def check(found: Any) -> None:
        between(-1.0, 1.0)(found.partition)
        for values in (found.clusters, found.rows):
            if not np.isfinite(values).all() or (values < 0).any() or (values > 1 + 1e-9).any():
                raise Broken("shares of clusters or rows are outside 0 and 1")
        if found.rows.shape != (n,) or len(found.agreements) != found.n_refits:
            raise Broken("rows or agreements have another length")
        if found.existence is not None and not 0 <= found.existence <= 1:
            raise Broken("the p-value is outside 0 and 1")

    return Call(assess, (model, table.X), keywords, check, table)


def numbers_of_clusters(rng: np.random.Generator) -> Call:
    """Indices of two or three clusters, without refits."""
    table = draw_table(rng)
    numbers = [[2, 3], [2], 2, range(2, 4), [3, 2, 2], (2,)][rng.integers(6)]
    if rng.random() < 0.15:
        numbers = [[40], [], [2.0], [1, 2], "23", None][rng.integers(6)]
    keywords: dict[str, Any] = {"estimator": _cheap_model(rng), "n_refits": 0, "random_state": 0}
    keywords["metric"] = str(rng.choice(["auto", "euclidean", "gower", "precomputed"], p=[0.5, 0.3, 0.15, 0.05]))
    keywords["standardize"] = ["auto", True, False][rng.integers(3)]
    keywords["sample_weight"] = draw_frequencies(len(table.values), rng)
    odd(keywords, rng, never=("n_refits",))
    if keywords["estimator"] is None:
        keywords["estimator"] = FCM()

    def check(found: Any) -> None:
        limits = {"stability": (-1, 1), "PC": (0, 1), "MPC": (0, 1), "PE": (0, np.inf), "XB": (0, np.inf)}
        for name, (low, high) in {**limits, "fuzzy silhouette": (-1, 1)}.items():
            known = found[name][~np.isnan(found[name])]
            if (known < low - 1e-9).any() or (known > high + 1e-9).any():
                raise Broken(f"{name} is outside {low} and {high}")
        if np.isinf(found["evidence"]).any():
            raise Broken("the evidence is infinite")

    return Call(indices, (table.X, numbers), keywords, check, table)


def sources(rng: np.random.Generator, folder: Path) -> Call:
    """A fit of rows of a source."""
    table = draw_table(rng)
    model = [KFRC(2, **_PLAIN), KFRC(2, bandwidths=1.0, m=2.0), FCM(2, random_state=0), FRC(2)][rng.integers(4)]
    weights = draw_frequencies(len(table.values), rng)
    names = [f"a{j}" for j in range(table.values.shape[1])]
    names = [None, names, names[:-1], ["x"] * len(names), 3, "ab"][rng.choice(6, p=[0.5, 0.3, 0.05, 0.05, 0.05, 0.05])]
    as_text = rng.random() < 0.3
    if as_text:
        frame = pd.DataFrame(table.values, columns=[f"a{j}" for j in range(table.values.shape[1])])
        with np.errstate(all="ignore"):
            frame.to_csv(folder / "rows.csv", index=False)

    def fitted(X: Any) -> Any:
        source = CSVSource(folder / "rows.csv") if as_text else ArraySource(X, names, weights)
        return model.fit(source)

    def check(found: Any) -> None:
        U = np.asarray(found.memberships_)
        if U.shape != (len(table.values), 2):
            raise Broken("memberships_ have another shape")
        check_memberships(U, "memberships_")
        if not np.isfinite(found.objective_):
            raise Broken("the objective is not finite")
        if len(found.memberships_.head(3)) != min(3, len(U)):
            raise Broken("head has another number of rows")

    return Call(fitted, (table.X if rng.random() < 0.5 else table.values,), {}, check, table)
