"""Connections to the page: those without the token take no places of those with it, and none is silent for ever."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from kfrc_app.server import limits
from kfrc_app.server.security import ADMITTED


class Connection(H11Protocol):
    """A connection that has some seconds for each request to begin; what follows the beginning is bounded elsewhere."""

    _looking: asyncio.TimerHandle | None = None
    _last: Any = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to look after it."""
        super().connection_made(transport)
        self._admitted = threading.Event()
        self.app_state = {**self.app_state, ADMITTED: self._admitted}  # every request of this connection has it
        self._began = self.loop.time()
        self._look_later()
        # What has been read by then is given to the guard before anybody leaves.
        self.loop.call_later(limits.STRANGER_SECONDS, self.loop.call_soon, self._make_room)

    def _make_room(self) -> None:
        """Close the oldest connection without the token if there are too many."""
        strangers = [found for found in self.connections if isinstance(found, Connection) and not found.admitted]
        if len(strangers) > limits.MAX_STRANGERS:
            oldest = min(strangers, key=lambda found: found._began)
            self.connections.discard(oldest)
            oldest.transport.abort()

    @property
    def admitted(self) -> bool:
        """Whether a request has brought the token, as the guard has noted."""
        return self._admitted.is_set()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop looking after it."""
        if self._looking is not None:
            self._looking.cancel()
        super().connection_lost(exc)

    def _look_later(self) -> None:
        self._looking = self.loop.call_later(limits.ASKING_SECONDS, self._look)

    def _look(self) -> None:
        """Close it if nothing was asked or answered since it was looked at, and nothing is being answered."""
        answered = self.cycle is None or self.cycle.response_complete
        if answered and self.cycle is self._last:
            self.transport.close()
            return
        self._last = self.cycle
        self._look_later()
