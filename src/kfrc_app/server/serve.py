"""A server from its beginning to its end: a private folder, workers, an address with a token, and nothing left over."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp

from kfrc_app.server import limits
from kfrc_app.server.connections import Connection
from kfrc_app.server.folder import PrivateFolder
from kfrc_app.server.jobs import Runs
from kfrc_app.server.pages import Pages
from kfrc_app.server.security import TOKEN_PARAMETER, Guard, Secrets
from kfrc_app.server.uploads import Uploads
from kfrc_app.server.workers import Workers

LOCAL = "127.0.0.1"

_BINDING: int = getattr(socket, "SO_EXCLUSIVEADDRUSE", socket.SO_REUSEADDR)
"""On Windows, where SO_REUSEADDR lets two programs share a port, the port is ours alone; elsewhere SO_REUSEADDR only
allows to begin again at once."""

_ENDING = 5.0
"""Seconds to end, which takes a fraction of one."""


@dataclass(frozen=True)
class Address:
    """Where a server listens.

    Attributes
    ----------
    host : str
    port : int
    token : str
    folder : Path
        Private, and removed with the server.
    opened : Event
        Set once somebody has opened the address.
    thread : Thread
        Ends with the server.
    """

    host: str
    port: int
    token: str
    folder: Path
    opened: threading.Event
    thread: threading.Thread

    @property
    def text(self) -> str:
        """What to open in a browser."""
        name = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{name}:{self.port}/?{TOKEN_PARAMETER}={self.token}"


@contextmanager
def serving(host: str = LOCAL, port: int = 0, *, parent: Path | None = None) -> Iterator[Address]:
    """A server for the time of a block.

    Parameters
    ----------
    host : str, default="127.0.0.1"
        This computer only, by default.
    port : int, default=0
        0 for any that is free.
    parent : Path, optional
        Where the private folder is made.

    Yields
    ------
    Address

    Raises
    ------
    OSError
        If the port is taken.
    """
    listening = _listening(host, port)
    port = listening.getsockname()[1]
    known = Secrets()
    try:
        with backstage(parent) as pages:
            guarded = Guard(pages.application(), known=known, cookie=f"kfrc_{port}", hosts=[host])
            with _running(guarded, listening) as thread:
                yield Address(host, port, known.token, pages.uploads.folder, guarded.opened, thread)
    finally:
        listening.close()


@contextmanager
def backstage(parent: Path | None = None) -> Iterator[Pages]:
    """All that stands behind the answers of a server, removed at the end."""
    folder = PrivateFolder(parent)
    workers = Workers(folder.path)
    try:
        uploads = Uploads(folder.path)
        runs = Runs(folder.path, workers, uploads)
        ended = threading.Event()
        threading.Thread(target=_sweep, args=(uploads, runs, ended), daemon=True).start()
        workers.warm()
        try:
            yield Pages(uploads, runs, workers)
        finally:
            ended.set()
            runs.close()
    finally:
        workers.close()
        folder.remove()


def _sweep(uploads: Uploads, runs: Runs, ended: threading.Event) -> None:
    """Remove what nobody looks at, also if nobody asks for anything."""
    while not ended.wait(limits.SWEEPING_SECONDS):
        runs.forget_idle()
        uploads.forget_idle()


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM)
    try:
        found.setsockopt(socket.SOL_SOCKET, _BINDING, 1)
        found.bind((host, port))
    except OSError as error:
        found.close()
        raise OSError(f"cannot listen at {host}, port {port}: {error.strerror or error}") from None
    return found


@contextmanager
def _running(app: ASGIApp, listening: socket.socket) -> Iterator[threading.Thread]:
    """A server in a thread of its own, so that signals reach the program as they do elsewhere."""
    config = uvicorn.Config(
        app,
        log_level="critical",
        access_log=False,
        lifespan="off",
        ws="none",
        http=Connection,
        loop="asyncio",
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not server.started and thread.is_alive():  # it begins or ends, however long that takes
        time.sleep(0.01)
    try:
        if not server.started:
            raise OSError("the page could not be started")
        yield thread
    finally:
        server.should_exit = True
        thread.join(_ENDING)
