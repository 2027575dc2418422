"""Tables of several types of columns, handed over in several ways, in memory and block by block."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
from scipy.optimize import linear_sum_assignment

from hostile.attack import FINE, REFUSED, Attack, Broken
from hostile.invariants import Refused, check_fit, check_memberships, check_prediction, only_documented
from hostile.parameters import NONSENSE
from hostile.tables import Table, draw_weights
from kfrc import FCM, FRC, KFRC
from kfrc.blocks import LocalEngine
from kfrc.columns import Schema
from kfrc.fitting import SourceTable, fit_source, resolve_settings
from kfrc.sources import ArraySource, ArrowSource

_DAY = datetime.datetime(2024, 3, 1, 9, 30)


@dataclass(frozen=True)
class Columns:
    """Columns as lists, what is said of them, and whether every one tells the same two groups apart."""

    values: dict[str, list[Any]]
    types: Any
    clear: bool
    kinds: tuple[str, ...]

    @property
    def n_rows(self) -> int:
        return len(next(iter(self.values.values())))


class Mixed(Attack, name="mixed"):
    """A table of any types; then the same table in another container, in another order, or block by block."""

    tries: ClassVar[int] = 3000
    quick: ClassVar[int] = 150

    def attempt(self, rng: np.random.Generator, folder: Path) -> str:
        columns = draw_columns(rng)
        X, said = _CONTAINERS[rng.choice(list(_CONTAINERS))], columns.types
        model = _draw_model(rng, said)
        weights = draw_weights(columns.n_rows, rng)
        handed = X(columns.values)
        table = Table(handed, np.array([[np.nan]]), False, columns.kinds)
        try:
            with only_documented(table):
                model.fit(handed, sample_weight=weights)
        except Refused:
            if hasattr(model, "memberships_"):
                raise Broken("a refused fit leaves memberships behind") from None
            return REFUSED
        check_fit(model, columns.n_rows, model.memberships_.shape[1])
        try:
            with only_documented(table):
                check_prediction(model, handed)
        except Refused as error:
            raise Broken(f"rows of the fit are refused by predict: {str(error)[:60]}") from error
        way = rng.choice(list(_WAYS))
        _WAYS[way](model, columns, weights, table)
        return FINE


def draw_columns(rng: np.random.Generator) -> Columns:
    """At most 60 rows of two groups."""
    n = int(rng.choice([2, 3, 6, 20, 40, 60], p=[0.04, 0.06, 0.1, 0.3, 0.3, 0.2]))
    kinds = rng.choice(list(_KINDS), rng.integers(1, 5))
    first = np.arange(n) < n // 2
    values: dict[str, list[Any]] = {}
    types: dict[Any, Any] = {}
    for k, kind in enumerate(kinds):
        name = f"{k} {kind}"
        values[name], asked = _KINDS[kind](first, rng)
        if asked is not None:
            types[name] = asked
    gaps = rng.choice(["none", "few", "many", "a column", "a row"], p=[0.6, 0.15, 0.1, 0.1, 0.05])
    _blank(values, gaps, rng)
    clear = n >= 20 and gaps == "none" and not {*kinds} & _UNCLEAR
    said: Any = types or None
    if rng.random() < 0.08:
        name, clear = rng.choice(list(values)), False
        wrong = [*NONSENSE, "hour", ("date", "minute"), ("ordinal", []), ("ordinal", ["a", "a"]), ("nominal", [1])]
        said = {**types, name: wrong[rng.integers(len(wrong))]}
    elif rng.random() < 0.1:
        names = ["numeric", "nominal", "ordinal", "date", "drop", ("date", "weekday")]
        said, clear = {**types, rng.choice(list(values)): names[rng.integers(len(names))]}, False
    return Columns(values, said, clear, (*map(str, kinds), str(gaps)))


def _blank(values: dict[str, list[Any]], gaps: str, rng: np.random.Generator) -> None:
    n, names = len(next(iter(values.values()))), list(values)
    if gaps == "a column":
        values[names[rng.integers(len(names))]][:] = [None] * n
    elif gaps == "a row":
        row = rng.integers(n)
        for column in values.values():
            column[row] = None
    elif gaps != "none":
        for column in values.values():
            for row in np.flatnonzero(rng.random(n) < {"few": 0.05, "many": 0.6}[gaps]):
                column[row] = None


def _of(first: np.ndarray, a: Any, b: Any) -> list[Any]:
    return [a if one else b for one in first]


def _numbers(first, rng):
    return (rng.standard_normal(len(first)) + 9.0 * first).tolist(), None


def _small_integers(first, rng):
    return (rng.integers(1, 3, len(first)) + 6 * first).tolist(), None


def _number_names(first, rng):
    return _of(first, *rng.choice([[10, 30], [0, 1], [1, 0], [-5, 7]]).tolist()), "nominal"


def _broken_names(first, rng):
    return _of(first, 10.5, 30.0), "nominal"


def _order(first, rng):
    low, high = rng.integers(0, 2, len(first)), rng.integers(3, 5, len(first))
    return np.array([3, 5, 9, 12, 40])[np.where(first, low, high)].tolist(), ("ordinal", [3, 5, 9, 12, 40])


def _grades(first, rng):
    return _of(first, "low", "high"), ("ordinal", ["low", "middle", "high"])


def _words(first, rng):
    return _of(first, *rng.choice([["a", "b"], ["ä", "ß"], ["yes", "no"], ["1", "x"]]).tolist()), None


def _truths(first, rng):
    return _of(first, True, False), None


def _decimals(first, rng):
    return _of(first, Decimal("1.25"), Decimal("-3.5")), rng.choice([None, "nominal"])


def _durations(first, rng):
    return [datetime.timedelta(hours=int(h)) for h in rng.integers(0, 9, len(first)) + 99 * first], None


def _days(first, rng):
    return [_DAY + datetime.timedelta(days=int(d)) for d in rng.integers(0, 20, len(first)) + 400 * first], None


def _parts(first, rng):
    part = str(rng.choice(["hour", "weekday", "month"]))
    step = {"hour": datetime.timedelta(hours=11), "weekday": datetime.timedelta(days=3)}
    return _of(first, _DAY, _DAY + step.get(part, datetime.timedelta(days=180))), ("date", part)


def _dates(first, rng):
    return [(_DAY + datetime.timedelta(days=int(d))).date() for d in rng.integers(0, 9, len(first)) + 99 * first], None


def _noise(first, rng):
    return rng.standard_normal(len(first)).tolist(), None


def _constant(first, rng):
    return [rng.choice([0, 7])] * len(first), None


def _names(first, rng):
    return [f"name {i}" for i in range(len(first))], rng.choice([None, "nominal"])


def _extreme(first, rng):
    return (rng.choice([1e-300, 1e150, 1e300, 1e307]) * rng.standard_normal(len(first))).tolist(), None


def _infinite(first, rng):
    return [np.inf, *rng.standard_normal(len(first) - 1).tolist()], None


def _texts(first, rng):
    return ["=1+1", "\x00", "", " ", "nan", "a" * 3000][: len(first)] + ["b"] * max(len(first) - 6, 0), "nominal"


_KINDS = {
    "numbers": _numbers,
    "small integers": _small_integers,
    "numbers that are names": _number_names,
    "broken numbers that are names": _broken_names,
    "numbers in an order": _order,
    "words in an order": _grades,
    "words": _words,
    "truths": _truths,
    "decimals": _decimals,
    "durations": _durations,
    "times": _days,
    "parts of times": _parts,
    "dates": _dates,
    "noise": _noise,
    "constant": _constant,
    "names": _names,
    "extreme": _extreme,
    "infinite": _infinite,
    "odd texts": _texts,
}
_UNCLEAR = {"noise", "constant", "names", "extreme", "infinite", "odd texts"}


def _objects(values):
    return pd.DataFrame({name: pd.Series(column, dtype=object) for name, column in values.items()})


def _arrow(values):
    return pa.table({name: pa.array(column, from_pandas=False) for name, column in values.items()})


def _categories(values):
    frame = _objects(values)
    return frame.astype({name: "category" for name in frame if isinstance(values[name][0], str)})


_CONTAINERS = {
    "pandas": pd.DataFrame,
    "pandas objects": _objects,
    "pandas categories": _categories,
    "pandas of Arrow": lambda values: _arrow(values).to_pandas(types_mapper=pd.ArrowDtype),
    "Arrow": _arrow,
    "polars": lambda values: pl.DataFrame(values, strict=False),
}


def _draw_model(rng: np.random.Generator, types: Any) -> Any:
    given = {"n_clusters": int(rng.choice([2, 2, 3])), "random_state": 0}
    missing = str(rng.choice(["partial", "partial", "level", "error"]))
    if rng.random() < 0.15:
        return FRC(metric="gower", missing="partial", column_types=types, **given)
    if rng.random() < 0.1:
        return FCM(**given)
    return KFRC(m=1.5, n_init=1, bandwidths=1.5, missing=missing, column_types=types, **given)


def _same(model: Any, U: np.ndarray, way: str, tolerance: float) -> None:
    if U.shape != model.memberships_.shape:
        raise Broken(f"{type(model).__name__}: another shape ({way})")
    check_memberships(U, way)
    _, numbers = linear_sum_assignment(-model.memberships_.T @ U)  # clusters of one size have no order
    if np.abs(U[:, numbers] - model.memberships_).max() > tolerance:
        raise Broken(f"{type(model).__name__}: another result ({way})")


def _again(model: Any, columns: Columns, weights: Any, table: Table, way: str, handed: Any) -> None:
    other = type(model)(**model.get_params(deep=False))
    try:
        with only_documented(table):
            other.fit(handed, sample_weight=weights)
    except Refused as error:
        raise Broken(f"refused when asked in another way ({way}): {str(error)[:60]}") from error
    _same(model, other.memberships_, way, 1e-6)


def _other_container(model, columns, weights, table):
    if columns.clear and weights is None:
        for name, container in _CONTAINERS.items():
            _again(model, columns, weights, table, f"as {name}", container(columns.values))


def _other_order(model, columns, weights, table):
    if columns.clear and weights is None:
        turned = dict(reversed(columns.values.items()))
        _again(model, columns, weights, table, "columns in another order", _arrow(turned))


def _in_blocks(model, columns, weights, table):
    """Rows of a file, and codes of a table in memory, are passed over block by block if there are many of them."""
    if not columns.clear or weights is not None or not isinstance(model, KFRC) or model.status_ != "converged":
        return
    settings = resolve_settings(model.get_params(deep=False), model.n_clusters)
    arrow = _arrow(columns.values)
    with only_documented(table):
        schema = Schema.learn(arrow, model.column_types, model.missing)
        codes = ArraySource(schema.encode(arrow), tuple(columns.values))
        tables = {
            "of a file": SourceTable(ArrowSource(ds.dataset(arrow)), model.column_types, model.missing),
            "of codes": SourceTable(codes, None, model.missing, schema=schema),
        }
        for name, rows in tables.items():
            found = fit_source(rows, settings, LocalEngine(1), np.random.default_rng(0), str)
            U = np.asarray(found.memberships)
            if U.shape[1] == 2:
                _same(model, U, f"blocks {name}", 1e-3)
            else:  # where one of two groups is cut, the kernel's basis of long tables decides
                check_memberships(U, f"blocks {name}")


_WAYS = {"container": _other_container, "order": _other_order, "blocks": _in_blocks}
