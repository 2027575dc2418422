"""The private folder in which a server keeps files: nobody else can look in, and it does not outlive the server.

A server that was killed could not clean up. It held a lock on a file in its folder, which ended with it, so that the
next server knows whose folders are left over.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from contextlib import suppress
from pathlib import Path

PREFIX = "kfrc-app-"

_LOCK = "in-use"
_NEW = 60.0
"""Seconds in which a folder may have no lock yet: its server has just begun."""

_OLD = 7 * 86400.0
"""Seconds after which a folder counts as left over where there are no locks."""


class PrivateFolder:
    """A folder that only this user can look into, removed by :meth:`remove`.

    Parameters
    ----------
    parent : Path, optional
        Where it is made; by default where temporary files go.

    Attributes
    ----------
    path : Path
    """

    def __init__(self, parent: Path | None = None) -> None:
        place = parent or Path(tempfile.gettempdir())
        remove_left_over(place)
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=place))  # which has the rights 0700
        self._descriptor = os.open(self.path / _LOCK, os.O_CREAT | os.O_RDWR, 0o600)
        _try_lock(self._descriptor)

    def remove(self) -> None:
        """Remove it with everything in it."""
        with suppress(OSError):
            os.close(self._descriptor)
        shutil.rmtree(self.path, ignore_errors=True)


def remove_own(folder: Path) -> None:
    """Remove the folder of a server, and nothing that is not one: it has our prefix and holds our lock."""
    if folder.name.startswith(PREFIX) and not folder.is_symlink() and (folder / _LOCK).is_file():
        shutil.rmtree(folder, ignore_errors=True)


def remove_left_over(place: Path) -> None:
    """Remove the folders of servers that were killed."""
    for folder in place.glob(f"{PREFIX}*"):
        with suppress(OSError):
            about = folder.lstat()
            mine = not hasattr(os, "geteuid") or about.st_uid == os.geteuid()
            if mine and folder.is_dir() and not folder.is_symlink() and _is_left_over(folder, about.st_mtime):
                shutil.rmtree(folder, ignore_errors=True)


def _is_left_over(folder: Path, changed: float) -> bool:
    age = time.time() - changed
    try:
        descriptor = os.open(folder / _LOCK, os.O_RDWR)
    except FileNotFoundError:
        return age > _NEW
    try:
        locked = _try_lock(descriptor)
        return age > _OLD if locked is None else locked
    finally:
        os.close(descriptor)


def _try_lock(descriptor: int) -> bool | None:
    """Whether a file could be locked; None where there are no locks."""
    try:
        import fcntl
    except ImportError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return None
    return True
