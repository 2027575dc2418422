"""Tables that were dropped on the page: counted while they come in, and kept under names of our own.

What a file is shows in what stands in it, so that nothing of the name that a user gave to it is needed for its place.
"""

from __future__ import annotations

import errno
import secrets
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from kfrc_app.facts.text import clean
from kfrc_app.server import limits
from kfrc_app.server.problems import PageError

_MAX_NAME = 150


@dataclass(eq=False)
class Upload:
    """A table that was dropped on the page.

    Attributes
    ----------
    id : str
        Random, and all that a page knows of its place.
    name : str
        What the user calls it; only ever shown.
    path : Path
    size : int
        In bytes.
    touched : float
        When somebody asked for it last.
    users : int
        Runs and others that need it; changed by `Uploads.hold` and `Uploads.release` only.
    """

    id: str
    name: str
    path: Path
    size: int = 0
    touched: float = field(default_factory=time.monotonic)
    users: int = 0


class Uploads:
    """The tables that are kept, in a folder; the ones that were not used for longest make room for new ones.

    Parameters
    ----------
    folder : Path
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._kept: dict[str, Upload] = {}
        self._receiving = 0
        self._lock = threading.RLock()

    async def receive(self, chunks: AsyncIterator[bytes], name: str) -> Upload:
        """Keep what comes in.

        Raises
        ------
        PageError
            If it is too large or empty, or there is no room for it. Then nothing of it is kept.
        """
        if self._receiving >= limits.MAX_RECEIVING:
            raise PageError(
                "Several files are being read already: wait a moment and choose this one again.", status=429
            )
        key = secrets.token_hex(16)
        upload = Upload(key, shown_name(name), self.folder / key)
        self._receiving += 1
        try:
            await _store(chunks, upload)
            self._make_room(upload.size)
        except BaseException:
            upload.path.unlink(missing_ok=True)
            raise
        finally:
            self._receiving -= 1
        with self._lock:
            self._kept[key] = upload
        return upload

    def get(self, key: str) -> Upload:
        """A table by what the page knows of it."""
        self.forget_idle()
        with self._lock:
            upload = self._kept.get(key)
            if upload is None:
                raise PageError("This table is not kept any more: choose the file again.", status=404, where="file")
            upload.touched = time.monotonic()
            return upload

    @contextmanager
    def held(self, key: str) -> Iterator[Upload]:
        """A table by what the page knows of it, which stays for the time of a block."""
        upload = self.hold(key)
        try:
            yield upload
        finally:
            self.release(upload)

    def hold(self, key: str) -> Upload:
        """A table by what the page knows of it, which stays until it is released."""
        with self._lock:
            upload = self.get(key)
            upload.users += 1
            return upload

    def release(self, upload: Upload) -> None:
        """Somebody who held a table needs it no more."""
        with self._lock:
            upload.users -= 1

    def forget(self, key: str) -> None:
        """Remove a table, if it is there and no run needs it."""
        with self._lock:
            if key in self._kept and self._kept[key].users:
                return
            upload = self._kept.pop(key, None)
        if upload is not None:
            with suppress(OSError):
                upload.path.unlink(missing_ok=True)

    def forget_idle(self) -> None:
        """Remove the tables that nobody looked at for long."""
        oldest = time.monotonic() - limits.IDLE_SECONDS
        with self._lock:
            idle = [key for key, upload in self._kept.items() if upload.touched < oldest and not upload.users]
        for key in idle:
            self.forget(key)

    def __len__(self) -> int:
        return len(self._kept)

    def _make_room(self, size: int) -> None:
        """Remove the tables that were not used for longest, until another one fits."""
        with self._lock:
            self.forget_idle()
            idle = sorted((u for u in self._kept.values() if not u.users), key=lambda upload: upload.touched)
            n_kept, n_bytes = len(self._kept), size + sum(upload.size for upload in self._kept.values())
            for upload in idle:
                if n_kept < limits.MAX_KEPT_TABLES and n_bytes <= limits.MAX_KEPT_BYTES:
                    return
                self.forget(upload.id)
                n_kept, n_bytes = n_kept - 1, n_bytes - upload.size
        if n_kept >= limits.MAX_KEPT_TABLES or n_bytes > limits.MAX_KEPT_BYTES:
            raise PageError("There is no room for another table until one of the others is done.", status=429)


async def _store(chunks: AsyncIterator[bytes], upload: Upload) -> None:
    """Write what comes in, as far as it is allowed."""
    try:
        with upload.path.open("xb") as file:
            async for chunk in _within_time(chunks):
                upload.size += len(chunk)
                if upload.size > limits.MAX_UPLOAD:
                    most = limits.MAX_UPLOAD // limits.MEGABYTE
                    raise PageError(
                        f"This file is larger than {most} megabytes, the most that this page takes: "
                        "leave out columns or rows, or save it as Parquet.",
                        status=413,
                        where="file",
                    )
                file.write(chunk)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise PageError("There is not enough room on the disk for this file.", status=507, where="file") from None
        raise
    if upload.size == 0:
        raise PageError("This file is empty: choose another one.", where="file")


async def _within_time(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """What comes in, as long as something does."""
    while True:
        try:
            with anyio.fail_after(limits.RECEIVING_SECONDS):
                chunk = await anext(chunks, None)
        except TimeoutError:
            raise PageError(
                "Nothing of this file comes in any more: choose it again.", status=408, where="file"
            ) from None
        if chunk is None:
            return
        yield chunk


def shown_name(name: str) -> str:
    r"""The last part of a name, safe to show; it never becomes part of a path.

    Examples
    --------
    >>> from kfrc_app.server.uploads import shown_name
    >>> shown_name("../../etc/passwd"), shown_name("C:\\data\\a.csv"), shown_name("")
    ('passwd', 'a.csv', 'table')
    """
    last = name.replace("\\", "/").rstrip("/").rpartition("/")[2].strip()
    return clean(last, _MAX_NAME) if last else "table"
