"""Folders replaced as a whole: a kill at any instant leaves one whole run, and whoever comes next mends the rest.

A folder is replaced by two renames: the old one steps aside, the new one takes its place. Killed between them, the old
one is still whole under its other name, and `mend` gives it its name back. Killed later, `mend` brings over the files
in it that are not of the run. Where a folder cannot be moved (the working directory, a mount point) its files are
exchanged one by one: the old ones step aside, then the new ones come. Files of two runs never stand side by side.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_PARTIAL, _OLD, _NEW = ".partial", ".old", ".new"
_INSIDE = "kfrc"
"""Stands for the name of a folder in the names of what is made inside it."""

_JOURNAL = ".kfrc-replaced.json"
"""In the old folder: the names of a run. They are not carried over; everything else is the user's and is."""

_LOCK_WAIT = 5.0
"""Seconds to wait for another run that writes in the same place: writing takes less, and nothing may hang."""


def beside(path: Path) -> Path:
    """A new name beside a path under which its content is made complete."""
    return path.parent / f".{path.name}.{uuid.uuid4().hex[:8]}{_PARTIAL}"


def inside(folder: Path) -> Path:
    """The same inside a folder."""
    return beside(folder / _INSIDE)


def is_movable(folder: Path) -> bool:
    """Whether a folder can be renamed and a new one put in its place without anybody losing ground or rights."""
    with suppress(OSError):
        return (
            not folder.samefile(Path.cwd())  # a shell would go on in the old one
            and not os.path.ismount(folder)
            and not any(os.path.ismount(child) for child in folder.iterdir())
            and os.access(folder.parent, os.W_OK)
            and (not hasattr(os, "geteuid") or folder.stat().st_uid == os.geteuid())
        )
    return False


def swap_folder(staged: Path, folder: Path, names: Iterable[str]) -> bool:
    """Put a complete folder in the place of another, or in an empty place.

    Parameters
    ----------
    staged : Path
        From `beside`, complete.
    folder : Path
        Where it belongs.
    names : iterable of str
        What belongs to a run; the rest of the old folder is carried over.

    Returns
    -------
    bool
        False if the old folder cannot be moved; then everything is as it was.
    """
    if folder.exists():
        shutil.copymode(folder, staged)
        with suppress(OSError, AttributeError):  # a group that we may not give away, or no groups
            os.chown(staged, -1, folder.stat().st_gid)
        (folder / _JOURNAL).write_text(json.dumps(sorted(names)), encoding="utf-8")
        try:
            os.rename(folder, staged.with_suffix(_OLD))
        except OSError:
            (folder / _JOURNAL).unlink()
            return False
    os.rename(staged, folder)
    sync_folder(folder.parent)
    return True


def exchange_files(staged: Path, folder: Path, names: Iterable[str]) -> None:
    """Replace the files of a run in a folder that stays where it is.

    Parameters
    ----------
    staged : Path
        From `inside`, complete.
    folder : Path
    names : iterable of str
        What belongs to a run: all of it goes.
    """
    old = staged.with_suffix(_OLD)
    old.mkdir()
    for name in names:
        with suppress(FileNotFoundError):
            os.rename(folder / name, old / name)
    os.rename(staged, staged.with_suffix(_NEW))  # the new run counts from here on: see mend
    sync_folder(folder)


def needs_mending(path: Path) -> bool:
    """Whether something is left of a run that was killed while it wrote to a path, or is just writing."""
    return bool([*_left(path), *_left(path / _INSIDE)]) or (path / _JOURNAL).exists()


def mend(path: Path, *, clean: bool) -> None:
    """Finish or undo what a run that was killed had begun to replace.

    Parameters
    ----------
    path : Path
        A folder, or a file.
    clean : bool
        Whether to remove what was never complete as well. No other run may be writing then.
    """
    for old in sorted(_left(path, _OLD), key=lambda found: found.stat().st_mtime_ns, reverse=True):
        if path.exists():
            _carry_over(old, path)
        else:
            os.rename(old, path)
            (path / _JOURNAL).unlink(missing_ok=True)
    for new in _left(path / _INSIDE, _NEW):
        _move_all(new, path)
        shutil.rmtree(new.with_suffix(_OLD), ignore_errors=True)  # while the new one says that it is obsolete
        new.rmdir()
    for old in _left(path / _INSIDE, _OLD):
        _move_all(old, path)
        old.rmdir()
    if clean:
        for partial in (*_left(path, _PARTIAL), *_left(path / _INSIDE, _PARTIAL)):
            _remove(partial)
        with suppress(OSError):
            (path / _JOURNAL).unlink()


@contextmanager
def alone_in(folder: Path) -> Iterator[bool]:
    """Keep other runs from writing in a folder; yields whether that could be made sure.

    The lock leaves no file and ends with its process, however that ends. Where there are no locks, or where another run
    holds it for too long, the work goes on without.
    """
    try:
        import fcntl

        descriptor = os.open(folder, os.O_RDONLY)
    except (ImportError, OSError):
        yield False
        return
    try:
        locked, end = False, time.monotonic() + _LOCK_WAIT
        while not locked and time.monotonic() < end:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                locked = True
            except BlockingIOError:
                time.sleep(0.02)
            except OSError:  # a file system without locks
                break
        yield locked
    finally:
        os.close(descriptor)


def sync_folder(folder: Path) -> None:
    """Make renames in a folder durable, where folders can be synchronized."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _left(path: Path, suffix: str | None = None) -> list[Path]:
    """What runs have left beside a path, recognized by name."""
    ending = re.escape(suffix) if suffix else r"\.(partial|old|new)"
    pattern = re.compile(rf"\.{re.escape(path.name)}\.[0-9a-f]{{8}}{ending}")
    try:
        return [found for found in path.parent.iterdir() if pattern.fullmatch(found.name)]
    except OSError:
        return []


def _carry_over(old: Path, folder: Path) -> None:
    """Move what is not of the old run into the new folder; the old run goes. Nothing of the user is overwritten."""
    with suppress(OSError, ValueError):
        for name in json.loads((old / _JOURNAL).read_text(encoding="utf-8")):
            (old / name).unlink(missing_ok=True)
    for found in old.iterdir():
        if found.name != _JOURNAL and not os.path.lexists(folder / found.name):
            os.rename(found, folder / found.name)
    if [found.name for found in old.iterdir()] in ([], [_JOURNAL]):
        (old / _JOURNAL).unlink(missing_ok=True)
        old.rmdir()


def _move_all(source: Path, folder: Path) -> None:
    for found in source.iterdir():
        os.replace(found, folder / found.name)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()
