"""Files of a study are written in full or not at all, and errors of the disk are told in one line."""

from __future__ import annotations

import errno
import os
import re
import secrets
from pathlib import Path

from kfrc_app.output import replace_file
from kfrc_app.study.errors import DiskFullError, StudyError

_NO_SPACE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
"""Errors of a full disk, an exhausted quota, and a limit on the size of files."""

_LEFTOVER = re.compile(r"\.tmp-\d+-[0-9a-f]+")
"""Names of files that are being written. Nothing else in a folder of the user's is ever removed."""


def make_folder(folder: Path) -> None:
    """Make a folder and those above it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise write_error(folder, error) from error


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file in full or not at all, under a name that the next run removes if this one is killed."""
    try:
        replace_file(path, data, temporary=path.parent / f".tmp-{os.getpid()}-{secrets.token_hex(4)}")
    except OSError as error:
        raise write_error(path, error) from error


def remove_leftovers(folder: Path) -> None:
    """Remove what killed runs were writing into a folder."""
    for found in folder.iterdir():
        if _LEFTOVER.fullmatch(found.name) and (found.is_symlink() or not found.is_dir()):
            found.unlink(missing_ok=True)


def write_error(path: Path, error: OSError) -> StudyError:
    """What to tell of an error of the disk."""
    reason = error.strerror or str(error)
    if error.errno in _NO_SPACE:
        return DiskFullError(f"no space to write {path} ({reason}); make room and run again: finished tasks are kept")
    return StudyError(f"cannot write {path} ({reason})")
