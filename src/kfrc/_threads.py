"""How many threads linear algebra uses: one where matrices are small, all that the process may use where they pay.

A product of two small matrices is over before a second thread has begun. Threads that wait for each other in the
meantime spin, which costs several times the CPU, and on a busy machine several times the wall time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, wraps
from inspect import signature
from typing import Any, ParamSpec, TypeVar

from threadpoolctl import ThreadpoolController

P = ParamSpec("P")
T = TypeVar("T")

MANY_ROWS = 1_000_000
"""Rows from which on threads may be used. Rows are passed over in blocks of a few megabytes, so that on a machine with
other work two threads cost more CPU and more wall time even at 200 000 rows (``benchmarks/threads.py``)."""


@contextmanager
def threads_for(n_rows: int) -> Iterator[None]:
    """One thread for BLAS and OpenMP inside if there are fewer than a million rows; else as many as outside.

    Examples
    --------
    >>> from threadpoolctl import threadpool_info
    >>> from kfrc._threads import threads_for
    >>> with threads_for(150):
    ...     {library["num_threads"] for library in threadpool_info()}
    {1}
    """
    if n_rows >= MANY_ROWS:
        yield
        return
    with one_thread():
        yield


@contextmanager
def one_thread() -> Iterator[None]:
    """One thread for BLAS and OpenMP inside, whatever is computed."""
    with _libraries().limit(limits=1):
        yield


def limiting_threads(function: Callable[P, T]) -> Callable[P, T]:
    """Decorate a function of data ``X``, its first or second argument, with the threads that its rows deserve.

    Examples
    --------
    >>> from threadpoolctl import threadpool_info
    >>> from kfrc._threads import limiting_threads
    >>> @limiting_threads
    ... def threads(X):
    ...     return {library["num_threads"] for library in threadpool_info()}
    >>> threads([[0.0], [1.0]])
    {1}
    """
    position = list(signature(function).parameters).index("X")

    @wraps(function)
    def limited(*args: P.args, **kwargs: P.kwargs) -> T:
        X = args[position] if len(args) > position else kwargs.get("X")
        with threads_for(count_rows(X)):
            return function(*args, **kwargs)

    return limited


def count_rows(X: Any) -> int:
    """Rows of whatever a user gives; what has none is refused later."""
    shape = getattr(X, "shape", ())
    return int(shape[0]) if shape and isinstance(shape[0], int) else 0  # Dask may not know them yet


@cache
def _libraries() -> ThreadpoolController:
    """The libraries that are loaded: looking for them costs a millisecond, and all are loaded with this package."""
    import sklearn.cluster  # noqa: F401 - its OpenMP

    return ThreadpoolController()
