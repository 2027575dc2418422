"""SIGTERM as an orderly end: files that are half made are removed, and the exit status says what happened."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

TERMINATED = 128 + signal.SIGTERM


class Terminated(SystemExit):
    """The process was asked to end; every ``finally`` on the way is kept."""


@contextmanager
def orderly_termination() -> Iterator[None]:
    """Let SIGTERM raise `Terminated` in a block; a second one ends the process at once.

    Nothing changes where somebody else decides on the signal: a program that embeds this one, or a parent that had it
    ignored.
    """
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, _terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _terminate(number: int, frame: FrameType | None) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    raise Terminated(TERMINATED)
