"""Fitting for people rather than programs: the default level of the bandwidths, and warnings as notes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from kfrc import KFRC
from kfrc.exceptions import InfeasibleBandwidthError

DEFAULT_LEVEL = 1.0
"""Mean log-bandwidth in standard deviations, tried first: a typical bandwidth of e¹ ≈ 2.7 standard deviations.

A heuristic. Left to itself the search often drifts to the linear kernel, which separates only what weighted Euclidean
distance separates (docs/decisions/bandwidth-level.md). Where no bandwidths of this level are stable, the level is
searched after all.
"""


def fit_at_default_level(make: Callable[[float | None], KFRC], X: Any, notes: list[str]) -> KFRC:
    """Fit at ``DEFAULT_LEVEL`` and, if no bandwidths are stable there, at the level that the search finds.

    Parameters
    ----------
    make : callable
        Builds an unfitted model for a level; None leaves the level to the search.
    X : array-like of shape (n_samples, n_features)
    notes : list of str
        Says which of the two it was, if it was the second.

    Returns
    -------
    KFRC

    Raises
    ------
    InfeasibleBandwidthError
        If neither finds stable bandwidths.
    """
    try:
        return make(DEFAULT_LEVEL).fit(X)
    except InfeasibleBandwidthError:
        model = make(None).fit(X)
        assert model.search_ is not None  # bandwidths are never given here
        notes.append(
            f"no bandwidths at the usual level {DEFAULT_LEVEL:g} keep the clusters from collapsing, so the level was "
            f"searched: it is {model.search_.level:.2f}"
        )
        return model


@contextmanager
def warnings_as_notes(notes: list[str]) -> Iterator[None]:
    """Collect the warnings of a block as one-line notes, each once, instead of printing them."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        # Deprecations and the like concern whoever maintains the program, not whoever has the data.
        for category in (DeprecationWarning, PendingDeprecationWarning, FutureWarning, ResourceWarning):
            warnings.simplefilter("ignore", category)
        yield
    for warning in caught:
        text = " ".join(str(warning.message).split())
        if text not in notes:
            notes.append(text)
