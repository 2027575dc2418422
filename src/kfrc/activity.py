"""What a long computation is doing right now: steps are told where they happen, and shown once in a while."""

from __future__ import annotations

import os
import signal
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from joblib import Parallel

INTERVAL = 1.0
"""Seconds between two texts: a reader sees that something moves, and showing it costs nothing that can be measured."""

_POLLING = 0.5
"""Seconds between two looks at what other processes tell: two for each text that they may have."""

_END = object()


class Follower:
    """Counts steps, and shows what is being done if nothing was shown for a while.

    Parameters
    ----------
    show : callable
        Called with a text such as ``"bandwidths 1/3, fitting mixtures: 24"``.
    every : float
        Seconds between two calls at least.
    outer : Follower, optional
        Follows the same steps, beside this one.
    """

    def __init__(self, show: Callable[[str], None], every: float = INTERVAL, outer: Follower | None = None) -> None:
        self._show, self._every, self._outer = show, every, outer
        self._counts: dict[str, int] = {}
        self._finished = ""
        self._due = time.monotonic() + every

    def step(self, doing: str, done: int | None = None, total: int | None = None, inner: bool = False) -> None:
        """One more step of ``doing``, or ``done`` of ``total`` of them, if it is not a step inside another."""
        if self._outer is not None:
            self._outer.step(doing, done, total, inner)
        self._counts[doing] = count = self._counts.get(doing, 0) + 1
        if time.monotonic() >= (self._due + self._every if inner else self._due):
            self._tell(f"{doing}: {count}" if done is None else f"{doing}: {done} of {total}")

    def tell(self, text: str) -> None:
        """Show the text of another process as if it were a step of this one."""
        if self._outer is not None:
            self._outer.tell(text)
        if time.monotonic() >= self._due:
            self._tell(text)

    def finish(self, text: str) -> None:
        """A part of the work is finished, and somebody else has shown so: counts begin anew."""
        self._finished = text
        self._counts.clear()
        self._due = time.monotonic() + self._every

    def _tell(self, text: str) -> None:
        self._show(f"{self._finished}, {text}" if self._finished else text)
        self._due = time.monotonic() + self._every


_follower: ContextVar[Follower | None] = ContextVar("follower", default=None)
"""Who follows the steps of this thread. A variable of the context, because what is shown is nobody's result, and steps
are made in places that a callback would have to be handed to through every layer."""


def step(doing: str, done: int | None = None, total: int | None = None, inner: bool = False) -> None:
    """Say that something moves; without a follower this is a look at one variable.

    Parameters
    ----------
    doing : str
        In words of a user: "fitting mixtures".
    done, total : int, optional
        How many of how many, if that is known; else steps are counted.
    inner : bool, default=False
        Whether this is a small part of a step that says more to a user. It is shown only if nothing else was for twice
        as long.

    Examples
    --------
    >>> from kfrc.activity import follow, step
    >>> with follow(print, every=0.0):
    ...     step("fitting mixtures")
    ...     step("fitting mixtures")
    ...     step("comparing", 3, 60)
    fitting mixtures: 1
    fitting mixtures: 2
    comparing: 3 of 60
    """
    follower = _follower.get()
    if follower is not None:
        follower.step(doing, done, total, inner)


@contextmanager
def follow(show: Callable[[str], None], every: float = INTERVAL) -> Iterator[Follower]:
    """Show what the computations inside are doing.

    Parameters
    ----------
    show : callable
        Called with a text, in this thread or, while it waits for other processes, in another.
    every : float, default=1
        Seconds between two calls at least.

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc.activity import follow
    >>> from kfrc.existence import test_existence
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> told = []
    >>> with follow(told.append, every=0.0):
    ...     result = test_existence(X, n_draws=19, random_state=0)
    >>> told[0]
    'fitting mixtures: 1'
    """
    with contained():
        yield start_following(show, every)


@contextmanager
def contained() -> Iterator[None]:
    """Whoever begins to follow inside ends at the end of the block."""
    token = _follower.set(_follower.get())
    try:
        yield
    finally:
        _follower.reset(token)


def start_following(show: Callable[[str], None], every: float = INTERVAL) -> Follower:
    """Show what is done from here to the end of the block that is :func:`contained`."""
    follower = Follower(show, every, _follower.get())
    _follower.set(follower)
    return follower


def results(parallel: Parallel, calls: Iterable[Any]) -> Generator[Any]:
    """Results of ``parallel(calls)``, one by one; what the workers are doing is told here while they are waited for.

    Workers that are started for this do not hear Ctrl-C, which a terminal sends to every process: it reaches this one,
    which ends them.

    Parameters
    ----------
    parallel : joblib.Parallel
        With ``return_as="generator"`` or ``"generator_unordered"``.
    calls : iterable
        Made by :func:`joblib.delayed`.

    Examples
    --------
    >>> from joblib import Parallel, delayed
    >>> from kfrc.activity import results
    >>> list(results(Parallel(return_as="generator"), (delayed(abs)(k) for k in (-1, -2))))
    [1, 2]
    """
    from joblib import effective_n_jobs

    follower = _follower.get()
    if follower is None or effective_n_jobs(parallel.n_jobs) == 1:
        with _unheard_interrupts():
            found = parallel(calls)
        with _closing(found):
            for result in found:  # yield from would hand the end to joblib, which warns of it
                yield result
        return
    with tempfile.TemporaryDirectory(prefix="kfrc-", ignore_cleanup_errors=True) as folder:
        diary = os.path.join(folder, "diary")
        told: Iterator[Any] = ((_telling, (diary, *call), {}) for call in calls)
        with _relay(diary, follower) as waiting:
            with waiting, _unheard_interrupts():
                found = parallel(told)
            with _closing(found):
                remaining = iter(found)
                while True:
                    with waiting:
                        result = next(remaining, _END)
                    if result is _END:
                        return
                    yield result


@contextmanager
def _unheard_interrupts() -> Iterator[None]:
    """Keep Ctrl-C from the processes and threads that are started inside; here it is answered at the end of the block.

    A process that is still starting would answer with a traceback, as each module that it imports would.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _closing(found: Any) -> Iterator[None]:
    """Stop workers whose results are not waited for to the end; that this happens early is meant."""
    try:
        yield
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            if hasattr(found, "close"):
                found.close()


def _telling(diary: str, function: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Call a function in a worker, whose steps are written to a file."""

    def write(text: str) -> None:
        with suppress(OSError), open(diary, "a", encoding="utf-8") as file:  # another machine has no such folder
            file.write(f"{text}\n")

    with follow(write):
        return function(*args, **options)


@contextmanager
def _relay(diary: str, follower: Follower) -> Iterator[_Waiting]:
    """Tell what is written to a file, by a thread that speaks only while this one waits."""
    waiting = _Waiting()
    ended = threading.Event()

    def listen() -> None:
        position = 0
        while not ended.wait(_POLLING):
            with suppress(OSError), open(diary, encoding="utf-8") as file:
                file.seek(position)
                lines = file.read().splitlines()
                position = file.tell()
                if lines:
                    waiting.speak(follower.tell, lines[-1])

    thread = threading.Thread(target=listen, daemon=True)
    thread.start()
    try:
        yield waiting
    finally:
        ended.set()


class _Waiting:
    """Blocks in which another thread may speak for this one; its errors are raised at their end."""

    def __init__(self) -> None:
        self._busy = threading.Lock()
        self._busy.acquire()
        self._error: Exception | None = None

    def __enter__(self) -> None:
        self._busy.release()

    def __exit__(self, *error: object) -> None:
        self._busy.acquire()
        if self._error is not None:
            raise self._error

    def speak(self, show: Callable[[str], None], text: str) -> None:
        """Show a text if the block is open."""
        if self._error is None and self._busy.acquire(blocking=False):
            try:
                show(text)
            except Exception as error:
                self._error = error
            finally:
                self._busy.release()
