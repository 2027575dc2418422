"""Connections to a Dask scheduler that may be connected to, for as long as they are needed."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from kfrc.blocks.trust import admitted
from kfrc.exceptions import KFRCError

CONNECT_TIMEOUT = 10.0
"""Seconds until a scheduler that does not answer is given up."""

_GREETINGS = 5
"""How often a scheduler is asked for a greeting that nothing else comes with."""


class WorkerError(KFRCError):
    """A cluster cannot be used or cannot finish a pass; the message says why."""


@contextmanager
def connected(address: str, *, security: Any = None, trusted: bool = False) -> Iterator[Any]:
    """A client of the Dask scheduler at an address, for as long as the block lasts.

    Whoever runs the scheduler can run programs in this process: without TLS, only one on this computer is connected to.
    A ``distributed.Client`` of your own, given to ``fit``, is your own decision.

    Parameters
    ----------
    address : str
        Such as ``"tcp://127.0.0.1:8786"`` or ``"tls://host:8786"``.
    security : distributed.Security, optional
        Certificates for TLS; by default those of Dask's configuration.
    trusted : bool, default=False
        Connect to another computer without TLS.

    Raises
    ------
    AddressError
        If it must not be connected to, or that is no address, or certificates cannot be used.
    WorkerError
        If nobody answers there, or Dask is not installed.
    """
    distributed = quiet_dask()
    place = admitted(address, security=security, trusted=trusted)
    options = {"security": place.security, "timeout": CONNECT_TIMEOUT, "set_as_default": False}
    try:
        client = _greeted(distributed.Client, place.address, options)
    except (OSError, ValueError, RuntimeError, AssertionError) as error:
        raise WorkerError(f"no Dask scheduler answers at {address}; {place.doubt}") from error
    try:
        yield client
    finally:
        client.close(timeout=CONNECT_TIMEOUT)


def quiet_dask() -> Any:
    """Dask's module of clusters, which tells nothing of a lost scheduler: the error does, once."""
    try:
        distributed = import_module("distributed")
    except ImportError as error:
        raise WorkerError("a Dask cluster needs the package distributed: pip install distributed") from error
    for name in ("distributed.client", "distributed.core", "distributed.batched"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return distributed


def _greeted(client_class: Any, address: str, options: dict[str, Any]) -> Any:
    """A client that a scheduler has greeted.

    Dask asserts that a greeting comes alone, but news of a worker that has just died may come with it. Then another
    client is greeted; the first one is closed here, because nobody else could: it has no name yet.
    """
    begun: list[Any] = []

    class Client(client_class):
        def start(self, **options: Any) -> None:
            begun.append(self)
            super().start(**options)

    for _ in range(_GREETINGS - 1):
        try:
            return Client(address, **options)
        except AssertionError:
            begun.pop().close(timeout=CONNECT_TIMEOUT)
    return Client(address, **options)
