"""scikit-learn's callbacks, which it has from 1.9 on; with an older one fits report to nobody.

Nothing else in the library or the application imports ``sklearn.callback``. What stands in for it has the same names
and the same frames, so that no caller asks which scikit-learn there is, and warnings point at the same line.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Self

import sklearn

try:
    from sklearn import callback as _sklearn_callback
except ImportError:
    _sklearn_callback = None

__all__ = ["SUPPORTED", "CallbackSupportMixin", "set_callbacks", "with_callbacks"]

SUPPORTED = _sklearn_callback is not None
"""Whether estimators have ``set_callbacks``."""


class NoCallbackSupport:
    """Stands where estimators inherit the support of callbacks."""

    @property
    def set_callbacks(self) -> Any:
        """Not there; the error says why."""
        raise AttributeError(
            f"{type(self).__name__!r} object has no attribute 'set_callbacks': callbacks need scikit-learn 1.9 or "
            f"later, this is {sklearn.__version__}. verbose=1 and kfrc.activity.follow tell of progress without them"
        )

    def _init_callback_context(self, max_subtasks: int | None = 0) -> NobodyListens:
        return NobodyListens()


class NobodyListens:
    """A task, and every part of it, of which nobody is told."""

    task_name = ""
    _callbacks = ()

    def subcontext(self, task_name: str = "", max_subtasks: int | None = 0) -> Self:
        """A part of the task."""
        return self

    def call_on_fit_task_begin(self, *, estimator: Any) -> Self:
        """The task begins."""
        return self

    def call_on_fit_task_end(self, *, estimator: Any) -> bool:
        """The task ends, and nobody asks to stop."""
        return False


def without_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a method as scikit-learn's ``with_callbacks`` does: the stack levels of warnings count that frame."""

    @wraps(method)
    def unmanaged_method(estimator: Any, *args: Any, **kwargs: Any) -> Any:
        return method(estimator, *args, **kwargs)

    return unmanaged_method


CallbackSupportMixin: Any = _sklearn_callback.CallbackSupportMixin if SUPPORTED else NoCallbackSupport
with_callbacks: Any = _sklearn_callback.with_callbacks if SUPPORTED else without_callbacks


def set_callbacks(model: Any, *callbacks: Any) -> Any:
    """Replace the callbacks of a model; nothing happens where scikit-learn has none.

    Parameters
    ----------
    model : estimator
    *callbacks : sklearn.callback.FitCallback
        None at all removes those that there are.

    Returns
    -------
    model : estimator
        The same one.

    Examples
    --------
    >>> from kfrc import FCM
    >>> from kfrc._callbacks import set_callbacks
    >>> set_callbacks(FCM(2))
    FCM(n_clusters=2)
    """
    return model.set_callbacks(*callbacks) if SUPPORTED else model
