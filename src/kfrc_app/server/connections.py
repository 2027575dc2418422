"""Connections to the page: one that does not say what it wants is closed, so that it takes no place for ever."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from kfrc_app.server import limits


class Connection(H11Protocol):
    """A connection that has some seconds for each request to begin; what follows the beginning is bounded elsewhere."""

    _looking: asyncio.TimerHandle | None = None
    _last: Any = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to look after it."""
        super().connection_made(transport)
        self._look_later()

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
