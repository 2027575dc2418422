"""SIGTERM and Ctrl-C as an orderly and prompt end: nothing half made stays, and the exit status says what happened."""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from kfrc_app import _interrupts
from kfrc_app._interrupts import INTERRUPTED as INTERRUPTED
from kfrc_app._interrupts import TERMINATED
from kfrc_app._interrupts import Terminated as Terminated

_GRACE = 0.7
"""Seconds in which Python must notice a signal: it does so between instructions of its own, not inside a long call of a
numerical library, and the whole answer is to take less than a second."""

_PATIENCE = 10.0
"""Seconds for what follows once it has noticed: removing files and ending workers takes far less."""


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


@contextmanager
def prompt_end() -> Iterator[None]:
    """Answer SIGTERM and Ctrl-C within a second for the rest of the process, whatever it is computing.

    Python raises an exception for a signal as soon as it executes an instruction, which a matrix decomposition can
    delay for minutes. The signal itself wakes a thread. If no exception was raised by the end of ``_GRACE``, the thread
    ends the workers and the process; results are put in their place whole or not at all, whenever that happens.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    noticed = threading.Event()
    reading, writing = socket.socketpair()
    writing.setblocking(False)
    signal.set_wakeup_fd(writing.fileno(), warn_on_full_buffer=False)
    _interrupts.answer_interrupts()
    _interrupts.noticed.append(noticed)
    threading.Thread(target=_end_if_unnoticed, args=(reading, noticed), daemon=True).start()
    try:
        yield
    finally:
        _interrupts.noticed.remove(noticed)
        signal.set_wakeup_fd(-1)
        writing.close()  # which ends the thread


def _terminate(number: int, frame: FrameType | None) -> None:
    signal.signal(signal.SIGTERM, _interrupts.end_again)
    _interrupts.tell_noticed()
    if _interrupts.is_importing(frame):
        _interrupts.end_at_once(number)
    raise Terminated(TERMINATED)


def _end_if_unnoticed(reading: socket.socket, noticed: threading.Event) -> None:
    number = 0
    while number not in (signal.SIGINT, signal.SIGTERM):
        received = reading.recv(1)
        if not received:
            return
        number = received[0]
    if noticed.wait(_GRACE):
        threading.Event().wait(_PATIENCE)
    _interrupts.end_at_once(number)
