"""Model files, with skops: loading builds only objects of this library and of numpy, and runs no code of the file."""

from __future__ import annotations

import importlib
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kfrc.clusterers import FuzzyClusterer
from kfrc_app.models.archive import check_parts, read_document, without_chance
from kfrc_app.models.errors import ModelError
from kfrc_app.models.record import check_record, with_record
from kfrc_app.models.state import check_state

TRUSTED_PACKAGE = "kfrc"


def dump_model(model: FuzzyClusterer) -> bytes:
    """A fitted model as the content of a ``.skops`` file, which says which versions made it.

    Parameters
    ----------
    model : FuzzyClusterer

    Returns
    -------
    bytes
    """
    return with_record(dump_object(model))


def load_model(path: str | Path) -> FuzzyClusterer:
    """Load a model that ``dump_model`` wrote, refusing files that hold anything else.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    FuzzyClusterer
        Its predictions were tried: they have as many clusters as the model, and no gaps.

    Raises
    ------
    ModelError
        If the file cannot be read, is no model, unpacks to far more than models do, contains types that are not
        trusted (those of skops' own list and the classes that ``kfrc`` defines), or was made by another release of
        ``kfrc``; or if what was fitted is not whole.

    Warns
    -----
    ModelVersionWarning
        If it was made with other releases of numpy, scipy, scikit-learn or skops.
    """
    content = _read_bytes(Path(path))
    try:
        document = read_document(content)
        name = f"{document.get('__module__')}.{document.get('__class__')}"
        if not is_own_class(name):
            raise ModelError(f"holds a {document.get('__class__')}, not a clustering of this program")
        check_record(content)
        model = _loaded(content, document, is_own_class)
        if not isinstance(model, FuzzyClusterer):
            raise ModelError(f"holds a {type(model).__name__}, not a clustering of this program")
        check_state(model)
    except zipfile.BadZipFile:
        raise ModelError(f"{path} is not a model file: use the model.skops that `kfrc fit` wrote") from None
    except ModelError as error:
        raise ModelError(f"{path} {error}") from None
    return model


_HARMLESS = frozenset(
    {
        "collections.Counter",
        "datetime.date",
        "datetime.datetime",
        "numpy.linalg._linalg.EighResult",
        "scipy.sparse._csr.csr_array",
        "scipy.sparse._csr.csr_matrix",
    }
)
"""Types of other packages that stages of a fit hold besides those of skops' own list: nothing but containers."""


def dump_object(content: object) -> bytes:
    """Data of this program, as ``load_object`` reads them: equal data give equal bytes, in every process."""
    import skops.io

    return without_chance(skops.io.dumps(content))


def load_object(content: bytes) -> Any:
    """Data that ``dump_object`` wrote, refusing anything that holds types of others.

    Raises
    ------
    ModelError
        If they are damaged, unpack to far more than they should, or hold such types.
    """
    try:
        return _loaded(content, read_document(content), lambda name: name in _HARMLESS or is_own_class(name))
    except zipfile.BadZipFile:
        raise ModelError("is damaged") from None


def _loaded(content: bytes, document: dict[str, Any], allowed: Callable[[str], bool]) -> Any:
    import skops.io

    check_parts(content, document, allowed)
    try:
        unknown = skops.io.get_untrusted_types(data=content)
        refused = [name for name in unknown if not allowed(name)]
        if refused:
            raise ModelError(
                f"was refused: it contains {', '.join(refused)}, which no model of this program contains. "
                "Do not use files from people you do not trust"
            )
        return skops.io.loads(content, trusted=unknown)
    except ModelError:
        raise
    except Exception as error:  # a damaged or foreign archive can fail anywhere in skops
        raise ModelError(f"is not a model of this program, or damaged: {error}") from None


def _read_bytes(path: Path) -> bytes:
    if path.is_dir():
        inside = path / "model.skops"
        hint = f": did you mean {inside}?" if inside.exists() else ", not a model file"
        raise ModelError(f"{path} is a folder{hint}")
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise ModelError(f"there is no model file {path}") from None
    except OSError as error:
        raise ModelError(f"cannot read {path}: {error.strerror or error}") from None


def is_own_class(name: str) -> bool:
    """Whether a name is that of a class defined in ``kfrc``, and not of something it merely imports."""
    module_name, _, attribute = name.rpartition(".")
    if module_name.partition(".")[0] != TRUSTED_PACKAGE:
        return False
    try:
        found: Any = getattr(importlib.import_module(module_name), attribute, None)
    except ImportError:
        return False
    return isinstance(found, type) and found.__module__.partition(".")[0] == TRUSTED_PACKAGE
