"""Model files that are damaged, forged or made to explode: refused in one sentence, or a model that predicts."""

from __future__ import annotations

import copy
import io
import json
import os
import re
import tempfile
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from hostile.attack import FINE, REFUSED, Attack, Broken
from hostile.damage import BOMB, damaged, members, packed, zipped
from hostile.files import within_memory
from hostile.program import ending, run

NAMES = ("FANNY", "FCM", "FCMMK", "FRC", "KFRC", "MSFCM", "NERFCM", "RFCM", "VFCM")
SCHEMA = "schema.json"
TOUCHED = Path(tempfile.gettempdir()) / f"a-model-ran-a-command-{os.getpid()}"
_CLASSES = (
    *(("os", "system"), ("builtins", "eval"), ("builtins", "exec"), ("subprocess", "Popen"), ("pickle", "loads")),
    *(
        ("kfrc.clusterers.fcm", "FCM"),
        ("kfrc.clusterers.kfrc", "KFRC"),
        ("kfrc.fuzzifiers", "Power"),
        ("builtins", "dict"),
    ),
    *(
        ("kfrc.sources.arrow", "ParquetSource"),
        ("kfrc.exceptions", "KFRCError"),
        ("numpy", "ndarray"),
        ("builtins", "str"),
    ),
    *(
        ("kfrc.datasets", "Path"),
        ("sklearn.cluster", "KMeans"),
        ("", ""),
        ("no.such.module", "Thing"),
        ("kfrc", "indices"),
    ),
)
_LOADERS = (
    *(
        "ObjectNode",
        "DictNode",
        "ListNode",
        "TupleNode",
        "NdArrayNode",
        "JsonNode",
        "TypeNode",
        "FunctionNode",
        "SliceNode",
    ),
    *("MethodNode", "PartialNode", "OperatorFuncNode", "BytesNode", "SparseMatrixNode", "RandomStateNode", "NoNode"),
    *("ReduceNode", "CachedNode", "UnpicklerNode", "ScalarNode", "SetNode", "DefaultDictNode", "DatetimeTimedeltaNode"),
)
_VALUES: tuple[Any, ...] = (
    *(None, True, 0, -1, 1, 3, 10**9, 10**400, 1e308, float("nan"), float("inf"), "", "x", [], {}, [[]], "null", "NaN"),
    *(
        "1e999",
        '"power"',
        "[1, 2]",
        "{}",
        "true",
        "-5",
        "\ud800",
        "x" * 10_000,
        "../../x",
        "../../../etc/passwd",
        "nan",
    ),
)


class Models(Attack, name="models"):
    """A fitted model is dumped, its file is changed, and what loads is asked to predict."""

    tries = 1500
    quick = 30

    def attempt(self, rng: np.random.Generator, folder: Path) -> str:
        from kfrc_app.models import ModelError, load_model

        content = dumped(NAMES[rng.integers(len(NAMES))], bool(rng.integers(2)))
        path = folder / "model.skops"
        path.write_bytes(_CHANGES[rng.integers(len(_CHANGES))](content, rng))
        with within_memory(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a prediction may warn; what loading says is for the program to show
            try:
                model = load_model(path)
            except ModelError as error:
                if not str(error).strip():
                    raise Broken("a model is refused without a word") from None
                return REFUSED
            finally:
                if TOUCHED.exists():
                    TOUCHED.unlink()
                    raise Broken("loading a model ran a command")
            return _told(path, rng) if rng.random() < 0.2 else predicts(model, rng)


def _told(path: Path, rng: np.random.Generator) -> str:
    """Let the program predict."""
    table = path.with_name("new.csv")
    table.write_text("a,b,c\n" + "\n".join(",".join(map(repr, row)) for row in rows(8, rng).tolist()) + "\n")
    return ending(run(["predict", str(path), str(table)])[0])


def predicts(model: Any, rng: np.random.Generator) -> str:
    """Hold what a model says of new rows against what memberships are."""
    try:
        memberships = model.predict_proba(rows(8, rng))
    except ValueError:
        return REFUSED
    if not isinstance(memberships, np.ndarray) or memberships.ndim != 2 or len(memberships) != 8:
        raise Broken("a changed model loads and gives something else than memberships")
    if not np.isfinite(memberships).all():
        raise Broken("a changed model loads and gives memberships that are no numbers")
    if memberships.min() < 0 or not np.allclose(memberships.sum(axis=1), 1, atol=1e-6):
        raise Broken("a changed model loads and gives memberships that do not add up to 1")
    return FINE


def rows(n: int, rng: np.random.Generator) -> np.ndarray:
    """Rows of two groups."""
    X = rng.normal(size=(n, 3))
    X[::2] += 5
    return X


@cache
def dumped(name: str, with_names: bool) -> bytes:
    """A model of an estimator as a file whose bytes are the same in every process."""
    import pandas as pd

    import kfrc
    from kfrc_app.models import dump_model

    X: Any = rows(14, np.random.default_rng(0))
    X = pd.DataFrame(X, columns=["a", "b", "c"]) if with_names else X
    settings = {"level": 1.0, "max_anisotropy": 1.0, "m": 1.5, "n_starts": 1} if name == "KFRC" else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        files = members(dump_model(getattr(kfrc, name)(2, random_state=0, **settings).fit(X)))
    numbers: dict[str, str] = {}
    schema = re.sub(
        r"\d{12,}", lambda found: numbers.setdefault(found[0], str(10**12 + len(numbers))), files[SCHEMA].decode()
    )
    named = {
        re.sub(r"\d{12,}", lambda found: numbers.get(found[0], found[0]), key): value for key, value in files.items()
    }
    return zipped({**dict(sorted(named.items())), SCHEMA: schema.encode()}, compressed=False)


def _flipped(content: bytes, rng: np.random.Generator) -> bytes:
    return damaged(content, rng)


def _damaged_inside(content: bytes, rng: np.random.Generator) -> bytes:
    """A member that is damaged, in an archive that is whole."""
    files = members(content)
    name = sorted(files)[rng.integers(len(files))]
    return zipped(files | {name: damaged(files[name], rng)}, compressed=bool(rng.integers(2)))


def _without_member(content: bytes, rng: np.random.Generator) -> bytes:
    files = members(content)
    del files[sorted(files)[rng.integers(len(files))]]
    return zipped(files, compressed=bool(rng.integers(2)))


def _other_arrays(content: bytes, rng: np.random.Generator) -> bytes:
    """Arrays of another shape, another type, or other values."""
    files = members(content)
    arrays = [name for name in sorted(files) if name.endswith(".npy")]
    for name in rng.permutation(arrays)[: rng.integers(1, 4)]:
        target = io.BytesIO()
        np.save(target, _other_array(np.load(io.BytesIO(files[str(name)])), rng), allow_pickle=True)
        files[str(name)] = target.getvalue()
    return zipped(files)


def _other_array(found: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    kind = rng.integers(9)
    if kind == 0:
        return np.full(found.shape, rng.choice([np.nan, np.inf, -np.inf, 0.0, -1.0, 1e300]))
    if kind == 1:
        return found[:-1] if found.ndim and len(found) else np.zeros(3)
    if kind == 2:
        return np.array([Surprise()], dtype=object)
    if kind == 3:
        return found.astype(str)
    if kind == 4:
        return np.zeros((0, 0))
    if kind == 5:
        return found.T.copy() if found.ndim > 1 else np.vstack([found, found])
    if kind == 6:
        return found.astype(np.complex128) if found.dtype.kind in "fiu" else np.zeros(2, dtype="datetime64[s]")
    if kind == 7:
        return np.zeros((1 << 10, 1 << 10))
    other = np.array(found, dtype=float, copy=True) if found.dtype.kind in "fiu" else np.arange(3.0)
    if other.size:
        other.flat[rng.integers(other.size)] = rng.choice([np.nan, np.inf, -1e9, 1e9])
    return other


class Surprise:
    """What runs a command if somebody unpickles it."""

    def __reduce__(self):
        return (exec, (f"import pathlib; pathlib.Path({str(TOUCHED)!r}).touch()",))


def _edited_schema(content: bytes, rng: np.random.Generator) -> bytes:
    """One to three places of the description are something else."""
    files = members(content)
    document = json.loads(files[SCHEMA])
    for _ in range(rng.integers(1, 4)):
        _edit(document, rng)
    files[SCHEMA] = json.dumps(document).encode()
    return zipped(files, compressed=bool(rng.integers(2)))


def _edit(document: Any, rng: np.random.Generator) -> None:
    nodes = list(_nodes(document))
    holder, key = nodes[rng.integers(len(nodes))]
    kind = rng.integers(6)
    if kind == 0:
        del holder[key]
    elif kind == 1 and isinstance(holder, dict) and "__class__" in holder:
        holder["__module__"], holder["__class__"] = _CLASSES[rng.integers(len(_CLASSES))]
    elif kind == 2 and isinstance(holder, dict) and "__loader__" in holder:
        holder["__loader__"] = str(rng.choice(_LOADERS))
    elif kind == 3:
        other, name = nodes[rng.integers(len(nodes))]
        holder[key] = copy.deepcopy(other[name])
    elif kind == 4 and isinstance(holder, dict) and "content" in holder:
        holder["content"] = _VALUES[rng.integers(len(_VALUES))]
    else:
        holder[key] = _VALUES[rng.integers(len(_VALUES))]


def _nodes(document: Any):
    """Every place in a document, as (holder, key)."""
    open_nodes = [document]
    seen: set[int] = set()
    while open_nodes:
        holder = open_nodes.pop()
        if id(holder) in seen:
            continue
        seen.add(id(holder))
        pairs = holder.items() if isinstance(holder, dict) else enumerate(holder)
        for key, value in list(pairs):
            yield holder, key
            if isinstance(value, (dict, list)):
                open_nodes.append(value)


def _other_parameter(content: bytes, rng: np.random.Generator) -> bytes:
    """An attribute of the estimator itself is lost, or has another value that is well written."""
    files = members(content)
    document = json.loads(files[SCHEMA])
    attributes = document["content"]["content"]
    name = sorted(attributes)[rng.integers(len(attributes))]
    if rng.random() < 0.4:
        del attributes[name]
    else:
        value = _VALUES[rng.integers(len(_VALUES))]
        text = json.dumps(value) if rng.random() < 0.7 else value
        attributes[name] = {
            "__class__": "str",
            "__module__": "builtins",
            "__loader__": "JsonNode",
            "content": text,
            "is_json": True,
            "__id__": 5,
        }
    files[SCHEMA] = json.dumps(document).encode()
    return zipped(files)


def _other_version(content: bytes, rng: np.random.Generator) -> bytes:
    files = members(content)
    document = json.loads(files[SCHEMA])
    document[str(rng.choice(["protocol", "_skops_version", "kfrc_version"]))] = _VALUES[rng.integers(len(_VALUES))]
    files[SCHEMA] = json.dumps(document).encode()
    return zipped(files)


def _bomb(content: bytes, rng: np.random.Generator) -> bytes:
    """Members that unpack to far more than they are, or a description without end."""
    files = members(content)
    kind = rng.integers(5)
    arrays = [name for name in sorted(files) if name.endswith(".npy")]
    if kind == 0:
        return zipped(files | {arrays[0]: files[arrays[0]] + bytes(BOMB)})
    if kind == 1:
        return zipped(files | {f"{k}.npy": bytes(1 << 20) for k in range(80)})
    if kind == 2:
        depth = 100_000
        return zipped(files | {SCHEMA: b'{"content":' * depth + b"1" + b"}" * depth})
    if kind == 3:
        header = (
            b"\x93NUMPY\x01\x00v\x00"
            + b"{'descr': '<f8', 'fortran_order': False, 'shape': (1099511627776,), }".ljust(117)
            + b"\n"
        )
        return zipped(files | {str(name): header for name in arrays})
    return packed(content, "model.skops", rng)


def _whole(content: bytes, rng: np.random.Generator) -> bytes:
    """Packed again, which changes nothing."""
    return zipped(members(content), compressed=bool(rng.integers(2)))


_CHANGES = (
    *(
        _flipped,
        _flipped,
        _damaged_inside,
        _without_member,
        _other_arrays,
        _other_arrays,
        _edited_schema,
        _edited_schema,
    ),
    *(_other_parameter, _other_parameter, _other_parameter, _other_version, _bomb, _whole),
)
