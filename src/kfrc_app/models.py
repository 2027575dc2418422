"""Fitted models on disk, with skops: loading builds only objects of this library and of numpy, and runs no code."""

from __future__ import annotations

import importlib
import zipfile
from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from kfrc.clusterers import FuzzyClusterer
from kfrc.exceptions import KFRCError

TRUSTED_PACKAGE = "kfrc"


class ModelError(KFRCError):
    """A model file cannot be used; the message says why."""


def dump_model(model: FuzzyClusterer) -> bytes:
    """A fitted model as the content of a ``.skops`` file.

    Parameters
    ----------
    model : FuzzyClusterer

    Returns
    -------
    bytes
    """
    import skops.io

    return skops.io.dumps(model)


def load_model(path: str | Path) -> FuzzyClusterer:
    """Load a model that ``dump_model`` wrote, refusing files that hold anything else.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    FuzzyClusterer

    Raises
    ------
    ModelError
        If the file cannot be read, is no model, or contains types that are not trusted: those of skops' own list and
        the classes that ``kfrc`` defines.
    """
    import skops.io

    content = _read_bytes(Path(path))
    try:
        unknown = skops.io.get_untrusted_types(data=content)
        refused = [name for name in unknown if not _is_own_class(name)]
        if refused:
            raise ModelError(
                f"{path} was refused: it contains {', '.join(refused)}, which no model of this program contains. "
                "Do not use files from people you do not trust"
            )
        model = skops.io.loads(content, trusted=unknown)
    except ModelError:
        raise
    except zipfile.BadZipFile:
        raise ModelError(f"{path} is not a model file: use the model.skops that `kfrc fit` wrote") from None
    except Exception as error:  # a damaged or foreign archive can fail anywhere in skops
        raise ModelError(f"{path} is not a model of this program, or damaged: {error}") from None
    if not isinstance(model, FuzzyClusterer):
        raise ModelError(f"{path} holds a {type(model).__name__}, not a clustering of this program")
    check_is_fitted(model)
    return model


_HARMLESS = frozenset({"collections.Counter", "datetime.date", "datetime.datetime", "numpy.linalg._linalg.EighResult"})
"""Types of other packages that stages of a fit hold besides those of skops' own list: nothing but containers."""


def dump_object(content: object) -> bytes:
    """Data of this program, as ``load_object`` reads them."""
    import skops.io

    return skops.io.dumps(content)


def load_object(content: bytes) -> Any:
    """Data that ``dump_object`` wrote, refusing anything that holds types of others.

    Raises
    ------
    ModelError
        If they are damaged, or hold such types.
    """
    import skops.io

    try:
        unknown = skops.io.get_untrusted_types(data=content)
        refused = [name for name in unknown if name not in _HARMLESS and not _is_own_class(name)]
        if refused:
            raise ModelError(f"types that nothing of this program has: {', '.join(refused)}")
        return skops.io.loads(content, trusted=unknown)
    except ModelError:
        raise
    except Exception as error:  # a damaged or foreign archive can fail anywhere in skops
        raise ModelError(f"damaged: {error}") from None


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


def _is_own_class(name: str) -> bool:
    """Whether a name is that of a class defined in ``kfrc``, and not of something it merely imports."""
    module_name, _, attribute = name.rpartition(".")
    if module_name.partition(".")[0] != TRUSTED_PACKAGE:
        return False
    try:
        found: Any = getattr(importlib.import_module(module_name), attribute, None)
    except ImportError:
        return False
    return isinstance(found, type) and found.__module__.partition(".")[0] == TRUSTED_PACKAGE
