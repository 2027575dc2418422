"""What Ctrl-C does, from the program's first moment to its last: one line, status 130, and no traceback.

Python raises KeyboardInterrupt wherever it happens to be. In the middle of an import that leaves half a module, which
others then complain about in their own words; in a destructor it is printed and forgotten. So it is raised only where
a verb is at work. Elsewhere nothing is half made yet, and the process just ends. This module is the first that is
imported: it needs nothing that takes time.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress

TYPE_CHECKING = False  # that of typing takes as long as everything else here
if TYPE_CHECKING:
    import threading
    from types import FrameType

TERMINATED = 128 + signal.SIGTERM
INTERRUPTED = 128 + signal.SIGINT

_CLEAR_LINE = "\r\x1b[2K\x1b[?25h"
"""Removes the progress bar from a terminal, and shows the cursor again."""

_KILL = getattr(signal, "SIGKILL", signal.SIGTERM)

_CLEANERS = ("joblib.externals.loky.backend.resource_tracker", "multiprocessing.resource_tracker")

_IMPORTS = "<frozen importlib"
"""How the names of the files begin in which Python keeps its imports."""


class Terminated(SystemExit):
    """The process was asked to end; every ``finally`` on the way is kept."""


class Working:
    """A block in which Ctrl-C is an exception, so that what is half made is removed."""

    depth = 0

    def __enter__(self) -> None:
        Working.depth += 1

    def __exit__(self, *error: object) -> None:
        Working.depth -= 1


class Problem:
    """Whether somebody has said why the program ends; once is enough."""

    told = False


noticed: list[threading.Event] = []
"""Set when a signal has become an exception."""


def answer_interrupts() -> None:
    """Let Ctrl-C end this process in one line; nothing changes where somebody else decides on the signal."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)
        sys.unraisablehook = _report


def clean_up_quietly() -> None:
    """Let the processes that remove what workers left do so without a warning: it is what they are for.

    They are started by joblib and Python, which have no other way to be told, and stay until this process has ended.
    """
    told = [os.environ.get("PYTHONWARNINGS", ""), *(f"ignore::UserWarning:{name}" for name in _CLEANERS)]
    os.environ["PYTHONWARNINGS"] = ",".join(filter(None, told))


def tell_noticed() -> None:
    """Say that a signal has become an exception."""
    for event in noticed:
        event.set()


def end_at_once(number: int) -> None:
    """End the process and its workers without another instruction; results are in their place whole or not at all."""
    workers = getattr(sys.modules.get("multiprocessing"), "active_children", tuple)  # it may be half imported
    for worker in workers():
        with suppress(OSError):
            os.kill(worker.pid, _KILL)  # those of joblib have no method for it
    if number == signal.SIGINT and not Problem.told:
        start = _CLEAR_LINE if os.isatty(2) else ""
        with suppress(OSError):  # nobody reads it
            os.write(2, f"{start}kfrc: interrupted\n".encode())
    os._exit(128 + number)


def is_importing(frame: FrameType | None) -> bool:
    """Whether a module is being imported right now."""
    while frame is not None:
        if frame.f_code.co_filename.startswith(_IMPORTS):
            return True
        frame = frame.f_back
    return False


def _interrupt(number: int, frame: FrameType | None) -> None:
    tell_noticed()
    if not Working.depth or is_importing(frame):
        end_at_once(number)
    signal.signal(signal.SIGINT, end_again)
    raise KeyboardInterrupt


def end_again(number: int, frame: FrameType | None) -> None:
    """Answer a second signal: what the first one began takes too long."""
    signal.signal(number, signal.SIG_DFL)
    end_at_once(number)


def _report(unraisable: sys.UnraisableHookArgs) -> None:
    """What a destructor or a callback of native code raised, which Python would print and forget."""
    if issubclass(unraisable.exc_type, KeyboardInterrupt):
        end_at_once(signal.SIGINT)
    if issubclass(unraisable.exc_type, Terminated):
        end_at_once(signal.SIGTERM)
    sys.__unraisablehook__(unraisable)
