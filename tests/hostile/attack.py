"""What an attack is: a kind of try, made from a seed alone, that ends well, is refused, or fails with a reason."""

from __future__ import annotations

import signal
import traceback
from abc import ABC, abstractmethod
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

CPU_SECONDS = 30
"""What a try on a tiny table may take, of one processor: the time of the wall depends on who else is at work."""

FINE, REFUSED, FAILED = "fine", "refused", "failed"


class Broken(AssertionError):  # noqa: N818
    """Something that is promised did not hold; the message says what, without numbers of the single try."""


class TooLong(BaseException):
    """A try took more than its time; no ``except Exception`` may swallow it."""


@dataclass(frozen=True)
class Outcome:
    """How a try ended; failures with the same reason are counted together."""

    seed: int
    ended: str
    reason: str = ""
    detail: str = ""


class Attack(ABC):
    """A kind of hostile try; defining a class with a name puts it into the table of ``make hostile``.

    Attributes
    ----------
    tries : int
        How many tries the whole attack has.
    quick : int
        How many of them ``make check`` makes.
    """

    registry: ClassVar[dict[str, Attack]] = {}
    name: ClassVar[str]
    tries: ClassVar[int]
    quick: ClassVar[int]

    def __init_subclass__(cls, name="", **keywords):
        super().__init_subclass__(**keywords)
        if name:
            cls.name = name
            Attack.registry[name] = cls()

    @abstractmethod
    def attempt(self, rng: np.random.Generator, folder: Path) -> str:
        """Make one try.

        Parameters
        ----------
        rng : Generator
            All that the try depends on.
        folder : Path
            Empty, and removed afterwards.

        Returns
        -------
        ended : {FINE, REFUSED}
            Refused: with a message that is documented. Anything that is raised here is a failure.
        """

    def outcome(self, seed: int, folder: Path) -> Outcome:
        """Make the try of a seed and say how it ended."""
        try:
            with at_most(CPU_SECONDS):
                return Outcome(seed, self.attempt(np.random.default_rng([seed, *self.name.encode()]), folder))
        except TooLong:
            return Outcome(seed, FAILED, f"more than {CPU_SECONDS} s", traceback.format_exc(limit=-4))
        except Broken as error:
            return Outcome(seed, FAILED, str(error).splitlines()[0], str(error))
        except Exception as error:
            return Outcome(seed, FAILED, f"{type(error).__name__} in {where(error)}", traceback.format_exc(limit=-8))


@contextmanager
def at_most(seconds: float):
    """Raise ``TooLong`` after so many seconds of processor time, where the system can measure them."""
    if not hasattr(signal, "SIGPROF"):
        yield
        return

    def give_up(number, frame):
        raise TooLong

    before = signal.signal(signal.SIGPROF, give_up)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def where(error: BaseException) -> str:
    """The innermost place of this project that an error came through."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if is_ours(frame.filename)]
    return f"{Path(frames[-1].filename).name}:{frames[-1].name}" if frames else "?"


def is_ours(filename: str) -> bool:
    """Whether a file belongs to the library or to the program."""
    return not {"kfrc", "kfrc_app"}.isdisjoint(Path(filename).parts) and "site-packages" not in filename
