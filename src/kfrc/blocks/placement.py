"""Rows of this process on a cluster: sent once for all passes, and again if the worker that kept them is gone."""

from __future__ import annotations

import time
from typing import Any

from kfrc import activity
from kfrc.sources import Source

_ATTEMPTS = 60
"""How often it is tried to send rows: a worker that dies just then, or has died unnoticed, makes it fail."""

_PAUSE = 0.5
"""Seconds until a scheduler has noticed that a worker is gone."""


class Placement:
    """Where the rows of tasks are, if it is not the workers that read them.

    Parameters
    ----------
    client : distributed.Client
    """

    def __init__(self, client: Any) -> None:
        self.client = client
        self._placed: dict[Any, tuple[Any, ...]] = {}
        self._sources: list[Source] = []  # kept, so that no other object gets their identity

    def pieces(self, source: Source, rows: tuple[int, int]) -> tuple[Any, ...]:
        """Futures of the rows of a task; none if workers read them.

        Raises
        ------
        OSError
            If they cannot be sent.
        """
        if not any(known is source for known in self._sources):
            source.place(self.client)
            self._sources.append(source)
        key = (id(source), rows)
        if key not in self._placed or any(piece.cancelled() for piece in self._placed[key]):
            pieces = source.pieces(*rows)
            if pieces is not None and not source.placed:
                pieces = self._sent(pieces)
            self._placed[key] = pieces or ()
        return self._placed[key]

    def are_lost(self, source: Source, rows: tuple[int, int]) -> bool:
        """Forget where rows were sent if they are to be sent again; what a cluster computed, it computes again."""
        sent = not source.placed and bool(self._placed.get((id(source), rows)))
        if sent and self.client.status == "running":
            del self._placed[id(source), rows]
            return True
        return False

    def _sent(self, pieces: tuple[Any, ...]) -> tuple[Any, ...]:
        attempt = 0
        while True:
            try:
                return tuple(self.client.scatter(list(pieces), hash=False))
            except TimeoutError:  # no worker is there: they are waited for, as by tasks
                activity.step("waiting for workers of the cluster")
                if self.client.status != "running":
                    raise
            except OSError:
                attempt += 1
                if attempt == _ATTEMPTS or self.client.status != "running":
                    raise
                time.sleep(_PAUSE)
