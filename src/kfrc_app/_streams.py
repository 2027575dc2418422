"""Standard input and output of the program, whatever a shell has made of them: closed, full, or left by its reader."""

from __future__ import annotations

import errno
import os
import sys

UNWRITTEN = 1


def open_closed_streams() -> None:
    """Put nothing where a stream was closed: a file that is opened later must not take its number.

    What reads from such a stream finds it empty, and what is written to it is lost, as whoever closed it wants.
    """
    for number in range(3):  # all of them before the next file is opened
        try:
            os.fstat(number)
        except OSError:
            _point_at_nothing(number)
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - as long as the process


def flush_output() -> OSError | None:
    """Write what waits to be written, or return why that is not possible.

    What cannot be written is dropped. Python would try it again at its very end, and complain in its own words.
    """
    problem = None
    for number, stream in ((1, sys.stdout), (2, sys.stderr)):
        try:
            stream.flush()
        except OSError as error:
            problem = error
            _point_at_nothing(number)
        except ValueError:
            pass  # closed by somebody else
    return problem


def say_unwritten(error: OSError) -> None:
    """Say that what was printed did not arrive; nothing if its reader has left, as ``head`` does."""
    if error.errno != errno.EPIPE:
        print(f"kfrc: {unwritten(error)}", file=sys.stderr)


def unwritten(error: OSError) -> str:
    """Why something was not written, in a line.

    Examples
    --------
    >>> from kfrc_app._streams import unwritten
    >>> unwritten(OSError(28, "No space left on device"))
    'the output cannot be written: No space left on device'
    """
    return f"the output cannot be written: {error.strerror or error}"


def _point_at_nothing(number: int) -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    if nothing != number:
        os.dup2(nothing, number)
        os.close(nothing)
