"""Which versions a model was made with: kept in its file, and compared before it is loaded.

What a fitted model is made of changes between releases of ``kfrc`` (the second number of the version, as long as the
first is 0), so that a model of another release is refused. Other releases of the packages below compute the same up to
rounding: that is a warning.
"""

from __future__ import annotations

import io
import json
import platform
import re
import warnings
import zipfile
from importlib.metadata import version

from kfrc import __version__
from kfrc_app.models.errors import ModelError, ModelVersionWarning

RECORD = "kfrc.json"
"""The file within a model file."""

_PACKAGES = ("numpy", "scipy", "scikit-learn", "skops")
_MAX_BYTES = 1 << 16
_AGAIN = "fit it again with this version (`kfrc fit`)"


def versions() -> dict[str, str]:
    """Versions of this program and of what it computes with."""
    return {"kfrc": __version__, "python": platform.python_version(), **{name: version(name) for name in _PACKAGES}}


def with_record(content: bytes) -> bytes:
    """A model file with the versions of now in it."""
    target = io.BytesIO(content)
    with zipfile.ZipFile(target, "a") as archive:
        archive.writestr(zipfile.ZipInfo(RECORD), json.dumps(versions(), indent=1))
    return target.getvalue()


def check_record(content: bytes) -> None:
    """Stop at a model of another release, or of an unknown one; warn if packages have other releases.

    Parameters
    ----------
    content : bytes
        The whole file.

    Raises
    ------
    ModelError
        The message goes on behind the name of the file.
    """
    made_with = _read(content)
    if made_with is None:
        raise ModelError(
            f"does not say which version of kfrc made it, as models did not before versions were kept in them: {_AGAIN}"
        )
    made, now = made_with.pop("kfrc"), versions()
    if _release(made) != _release(__version__):
        raise ModelError(f"was made by kfrc {made}, and this is kfrc {__version__}, which fits otherwise: {_AGAIN}")
    other = [
        f"{name} {made_with[name]} (now {now[name]})"
        for name in _PACKAGES
        if name in made_with and _release(made_with[name]) != _release(now[name])
    ]
    if other:
        warnings.warn(
            f"the model was made with {', '.join(other)}: memberships may differ in their last digits",
            ModelVersionWarning,
            stacklevel=3,
        )


def _read(content: bytes) -> dict[str, str] | None:
    """What a file says of versions; None if nothing that can be understood."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        if RECORD not in archive.namelist() or archive.getinfo(RECORD).file_size > _MAX_BYTES:
            return None
        try:
            found = json.loads(archive.read(RECORD))
        except (ValueError, zipfile.BadZipFile, RecursionError):
            return None
    if not isinstance(found, dict):
        return None
    made_with = {name: value for name, value in found.items() if isinstance(value, str) and _release(value)}
    return made_with if "kfrc" in made_with else None


def _release(text: str) -> str:
    """The first two numbers of a version; blank if it has none."""
    found = re.match(r"[0-9]{1,9}\.[0-9]{1,9}(?=[.\w+-]{0,40}$)", text)
    return found[0] if found else ""
