"""Output that appears complete or not at all: it is staged beside its place, then renamed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from kfrc.exceptions import KFRCError
from kfrc_app import _swap


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
    mend_output(path)
    if path.exists() and path.is_dir() != folder:
        kind = "a file, not a folder" if folder else "a folder, not a file"
        raise OutputError(f"{path} is {kind}: choose another name")
    if path.exists() and not force:
        raise OutputError(f"{path} exists already: choose another name, or add --force to replace the files in it")
    parent = _existing_parent(path)
    if not parent.is_dir():
        raise OutputError(f"{path} cannot be made: {parent} is not a folder")
    place = path if path.is_dir() else parent
    if not os.access(place, os.W_OK):
        raise OutputError(f"{path} cannot be made: no permission to write in {place}")


def mend_output(path: Path) -> None:
    """Finish or undo what a run that was killed had begun to write, so that a path holds one whole run again.

    Parameters
    ----------
    path : Path
        A folder or file of results, also one that has gone missing.

    Raises
    ------
    OutputError
        If there is something to mend and that is not possible.
    """
    target = _followed(path)
    if not _swap.needs_mending(target):
        return
    try:
        with _swap.alone_in(target.parent) as alone:
            _swap.mend(target, clean=alone)
    except OSError as error:
        raise OutputError(
            f"a run was killed while it wrote {path}, and that cannot be mended: {error.strerror or error}"
        ) from None


def write_folder(
    path: Path, files: Mapping[str, str | bytes], *, force: bool = False, obsolete: tuple[str, ...] = ()
) -> None:
    """Write all files or none, also if the process is killed on the way.

    The new folder is made complete under a temporary name beside its place. With ``force`` it takes the place of an
    existing one by renames, and what that one holds under other names is carried over. In a folder that cannot be moved
    (the working directory, a mount point, or one of somebody else) the files are exchanged one by one: after a kill at
    that moment some are missing until the next command mends it, but files of two runs are never mixed.

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
    target = _followed(path)
    names = {*files, *obsolete}
    for name in names:
        if (target / name).is_dir():
            raise OutputError(f"{path / name} is a folder, and a file of that name is to be written: move it away")
    with _making(path, target) as alone:
        replaced = False
        try:
            if not target.exists() or _swap.is_movable(target):
                with _staged(_swap.beside(target), files) as staged:
                    replaced = _swap.swap_folder(staged, target, names)
            if not replaced:
                with _staged(_swap.inside(target), files) as staged:
                    _swap.exchange_files(staged, target, names)
        finally:
            _swap.mend(target, clean=alone)


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
    target = _followed(path)
    with _making(path, target):
        replace_file(target, content, temporary=_swap.beside(target))


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
    _swap.sync_folder(path.parent)


def _write(path: Path, content: str | bytes) -> None:
    """Write a new file, byte for byte on the disk."""
    view = memoryview(content.encode("utf-8") if isinstance(content, str) else content)
    with path.open("xb", buffering=0) as file:
        while view:
            view = view[os.write(file.fileno(), view) :]
        os.fsync(file.fileno())  # a full disk or a failing one shows here, before anything is renamed


@contextmanager
def _making(path: Path, target: Path) -> Iterator[bool]:
    """The parents of a place, kept if something was put there; yields whether no other run writes there meanwhile."""
    made = _missing_parents(target)
    done = False
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _swap.alone_in(target.parent) as alone:
            yield alone
        done = True
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror or error}") from None
    finally:
        if not done:
            _remove_empty(made)


@contextmanager
def _staged(folder: Path, files: Mapping[str, str | bytes]) -> Iterator[Path]:
    """A complete folder for the time of a block, unless that gives it another name."""
    try:
        folder.mkdir()
        for name, content in files.items():
            _write(folder / name, content)
        _swap.sync_folder(folder)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _followed(path: Path) -> Path:
    """Where symbolic links lead: they stay, and what they point to is replaced."""
    try:
        found = path.resolve()
        loop = found.is_symlink()  # from Python 3.13 on, a loop is no error
    except (OSError, RuntimeError):
        loop = True
    if loop:
        raise OutputError(f"{path} is a symbolic link that leads to itself: choose another name")
    return found


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
