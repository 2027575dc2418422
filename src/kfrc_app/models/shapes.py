"""What the parts of a fitted model must look like: fields that are there, of their types, and arrays that fit together.

An array of another length can be stretched by numpy without a word, and a NaN can pass for a gap in the data. Both
change memberships without an error, and so are looked for here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np

FINITE, NO_GAPS, ANY, ROWS = "finite", "no gaps", "any", "rows"
"""What may be in an array: numbers, numbers and infinity (for clusters that nobody belongs to), anything, or rows of a
fit, which may be a table."""

_SHAPES: dict[str, dict[str, tuple[str, str]]] = {
    "FCM": {"_origin": ("p", ANY), "_locations": ("cp", NO_GAPS), "cluster_centers_": ("cp", ANY)},
    "FCMMK": {"_origin": ("p", FINITE), "_centers": ("cp", NO_GAPS), "cluster_centers_": ("cp", ANY)},
    "MSFCM": {"cluster_centers_": ("cp", NO_GAPS), "_membership_centers": ("cp", NO_GAPS), "_shifts": ("c", NO_GAPS)},
    "VFCM": {"cluster_centers_": ("cp", ANY), "_membership_centers": ("cp", NO_GAPS)},
    "Kernels": {"sigmas": ("k", FINITE), "weights": ("ck", NO_GAPS)},
    "Metric": {"rows": ("np", FINITE)},
    "PointCenters": {"origin": ("p", ANY), "locations": ("cp", NO_GAPS)},
    "MatrixCenters": {"prototypes": ("nc", FINITE), "squared_norms": ("c", NO_GAPS)},
    "PrecomputedCenters": {"prototypes": ("nc", FINITE), "squared_norms": ("c", NO_GAPS)},
    "KernelSpace": {
        "columns": ("k", FINITE),
        "mean": ("k", FINITE),
        "scale": ("k", FINITE),
        "bandwidths": ("k", NO_GAPS),
    },
    "PosteriorRows": {"order": ("c", FINITE)},
    "Mixture": {"weights": ("k", FINITE), "means": ("kq", FINITE)},
    "ColumnCenters": {"positions": ("k", FINITE), "bandwidths": ("k", NO_GAPS), "norms": ("kc", NO_GAPS)},
    "KernelCenters": {
        "X": ("nk", ROWS),
        "bandwidths": ("k", NO_GAPS),
        "prototypes": ("nc", FINITE),
        "squared_norms": ("c", NO_GAPS),
    },
    "LandmarkCenters": {"locations": ("cr", NO_GAPS), "root": ("lr", FINITE), "landmarks": ("lk", ANY)},
    "EmbeddedCenters": {"locations": ("cr", NO_GAPS), "origin": ("r", FINITE)},
}
"""By class: the sizes of arrays (p columns of the table, c clusters, other letters for sizes that must agree within an
object) and what may be in them."""

_ARRAYS = {"FloatArray": "f", "IntArray": "iu", "BoolArray": "b"}
_PLAIN = {"int": (int, np.integer), "float": (int, float, np.number), "bool": (bool, np.bool_), "str": (str,)}
_USED = ("_centers", "_kernels", "_relation", "_posterior", "space_", "schema_", "fuzzifier_")
"""Attributes that predictions depend on."""


def problem_of_parts(model: Any, n_features: int, n_clusters: int) -> str | None:
    """What is wrong with the parts of a model that predictions depend on; None if nothing is found."""
    sizes = {"p": n_features, "c": n_clusters}
    if type(model).__name__ in _SHAPES:
        problem = _problem_of_arrays(model, sizes)
        if problem is not None:
            return problem
    fuzzifier: Any = model.fuzzifier_
    if dataclasses.is_dataclass(fuzzifier):
        dataclasses.replace(fuzzifier)  # type: ignore[type-var]  # looks at its own numbers
    for name in _USED:
        for part in _parts(getattr(model, name, None)):
            problem = _problem_of_fields(part) or _problem_of_arrays(part, sizes)
            if problem is not None:
                return problem
    return _problem_of_centers(model)


def _parts(found: Any) -> Iterator[Any]:
    """An object and those that it is made of."""
    seen: set[int] = set()
    waiting = [found]
    while waiting:
        part = waiting.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if isinstance(part, (tuple, list)):
            waiting += part
        elif type(part).__module__.startswith("kfrc.") and hasattr(part, "__dict__"):
            yield part
            waiting += vars(part).values()


def _problem_of_fields(part: Any) -> str | None:
    """Whether an object has what its class says that it has."""
    if not dataclasses.is_dataclass(part):
        return None
    for field in dataclasses.fields(part):
        if field.name not in vars(part):  # there may be a default
            return f"'{field.name}' is missing"
        if not _is_of(getattr(part, field.name), str(field.type)):
            return f"'{field.name}' is not what it must be"
    return None


def _is_of(value: Any, kind: str) -> bool:
    """Whether a value is of a type, as far as its name tells that without looking it up."""
    first, *others = kind.split(" | ")
    if others:
        return any(_is_of(value, one) for one in (first, *others))
    if kind == "None" or value is None:
        return value is None and kind in ("None", "Any")
    if kind in _ARRAYS:
        return isinstance(value, np.ndarray) and value.dtype.kind in _ARRAYS[kind]
    if kind in _PLAIN:
        return isinstance(value, _PLAIN[kind]) and (kind == "bool" or not isinstance(value, bool))
    if kind.startswith("tuple["):
        return isinstance(value, tuple)
    if kind.startswith(("Any", "dict", "Mapping", "Callable", "ClassVar")) or not kind.isidentifier():
        return True
    return not isinstance(value, (np.ndarray, str, int, float, list, tuple, dict))


def _problem_of_arrays(part: Any, sizes: dict[str, int]) -> str | None:
    """Whether the arrays of an object have the sizes that they must have, and no gaps."""
    known = dict(sizes)
    for name, (letters, content) in _SHAPES.get(type(part).__name__, {}).items():
        value = getattr(part, name, None)
        if content == ROWS and type(value).__module__.startswith("kfrc."):
            continue
        if not isinstance(value, np.ndarray) or value.ndim != len(letters) or value.dtype.kind not in "fiub":
            return f"'{name}' is not what it must be"
        if any(known.setdefault(letter, size) != size for letter, size in zip(letters, value.shape, strict=True)):
            return f"'{name}' has the shape {value.shape}"
        if (content == FINITE and not np.isfinite(value).all()) or (content == NO_GAPS and np.isnan(value).any()):
            return f"'{name}' has values that are no numbers"
    return None


def _problem_of_centers(model: Any) -> str | None:
    """Whether centers and what they are computed from agree."""
    if type(model).__name__ == "FCMMK":
        found = model._origin + np.ldexp(model._centers, model._exponent)
        same = np.array_equal(model.cluster_centers_, found, equal_nan=True)
        return None if same else "'cluster_centers_' are not those of the fit"
    points: Any = getattr(model, "_centers", None)
    if type(model).__name__ == "FCM":
        origin, locations = model._origin, model._locations
    elif type(points).__name__ == "PointCenters":
        origin, locations = points.origin, points.locations
    else:
        return None
    empty = np.isinf(locations)
    if (empty.any(axis=1) != empty.all(axis=1)).any():
        return "a center lies at infinity in some columns"
    stored = getattr(model, "cluster_centers_", None)
    if not isinstance(stored, np.ndarray) or stored.shape != locations.shape:
        return "'cluster_centers_' is not what it must be"
    if not np.array_equal(stored, np.where(empty, np.nan, origin + locations), equal_nan=True):
        return "'cluster_centers_' are not those of the fit"
    return None
