"""Output that appears complete or not at all: files are staged beside their place, then renamed."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from kfrc.exceptions import KFRCError


class OutputError(KFRCError):
    """The output cannot be written; the message says why and nothing was left behind."""


def check_output(path: Path, *, force: bool, folder: bool) -> None:
    """Refuse early, before any computing, what could not be written at the end.

    Parameters
    ----------
    path : Path
    force : bool
        Whether existing output may be replaced.
    folder : bool
        Whether the output is a folder or a single file.
    """
    if path.exists() and path.is_dir() != folder:
        kind = "a file, not a folder" if folder else "a folder, not a file"
        raise OutputError(f"{path} is {kind}: choose another name")
    if path.exists() and not force:
        raise OutputError(f"{path} exists already: choose another name, or add --force to replace the files in it")
    parent = _existing_parent(path)
    if not parent.is_dir():
        raise OutputError(f"{path} cannot be made: {parent} is not a folder")
    if not os.access(parent, os.W_OK):
        raise OutputError(f"{path} cannot be made: no permission to write in {parent}")


def write_folder(
    path: Path, files: Mapping[str, str | bytes], *, force: bool = False, obsolete: tuple[str, ...] = ()
) -> None:
    """Write all files or none.

    A new folder is staged under a temporary name beside its place and renamed. With ``force`` an existing folder keeps
    the files it has under other names; the staged ones replace their namesakes one by one, once all are complete.

    Parameters
    ----------
    path : Path
    files : mapping of str to str or bytes
        Content by file name.
    force : bool, default=False
    obsolete : tuple of str
        Files of an earlier run that would contradict the new ones; removed if they are not replaced.

    Raises
    ------
    OutputError
        If the folder exists and ``force`` is not set, or the files cannot be written.
    """
    check_output(path, force=force, folder=True)
    made = _missing_parents(path)
    staged = _staging(path)
    done = False
    try:
        staged.mkdir(parents=True)
        for name, content in files.items():
            _write(staged / name, content)
        if path.exists():
            for name in files:
                os.replace(staged / name, path / name)
            for name in set(obsolete) - set(files):
                (path / name).unlink(missing_ok=True)
        else:
            os.rename(staged, path)
        done = True
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror or error}") from None
    finally:
        shutil.rmtree(staged, ignore_errors=True)
        if not done:
            _remove_empty(made)


def write_file(path: Path, content: str, *, force: bool = False) -> None:
    """Write one file completely or not at all.

    Parameters
    ----------
    path : Path
    content : str
    force : bool, default=False
        Whether an existing file may be replaced.
    """
    check_output(path, force=force, folder=False)
    made = _missing_parents(path)
    done = False
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, content, temporary=_staging(path))
        done = True
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror or error}") from None
    finally:
        if not done:
            _remove_empty(made)


def replace_file(path: Path, content: str | bytes, *, temporary: Path) -> None:
    """Put a file in its place in full or not at all, also when the process is killed or the disk is full.

    Parameters
    ----------
    path : Path
    content : str or bytes
    temporary : Path
        Where it is written first: a name in the same folder that does not exist.

    Raises
    ------
    OSError
        If it cannot be written; then nothing is left behind, and what was there is still there.
    """
    try:
        _write(temporary, content)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    with suppress(OSError):  # the rename made durable, where folders can be synchronized
        descriptor = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _write(path: Path, content: str | bytes) -> None:
    """Write a new file, byte for byte on the disk."""
    view = memoryview(content.encode("utf-8") if isinstance(content, str) else content)
    with path.open("xb", buffering=0) as file:
        while view:
            view = view[os.write(file.fileno(), view) :]
        os.fsync(file.fileno())  # a full disk or a failing one shows here, before anything is renamed


def _staging(path: Path) -> Path:
    """A name beside a path under which its content is made complete."""
    return path.parent / f".{path.name}.{uuid.uuid4().hex[:8]}.partial"


def _existing_parent(path: Path) -> Path:
    return next(parent for parent in path.absolute().parents if parent.exists())


def _missing_parents(path: Path) -> list[Path]:
    return [parent for parent in path.absolute().parents if not parent.exists()]


def _remove_empty(folders: list[Path]) -> None:
    for folder in folders:
        try:
            folder.rmdir()
        except OSError:
            return
