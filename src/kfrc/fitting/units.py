"""Whether all columns are measured on one scale, as pixels are: then their deviations mean something."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kfrc.typing import FloatArray

_FEWEST_STEPS = 10
"""Steps between the ends of a scale below which columns may be answers or flags of any kind."""

_MOST_STEPS = 1 << 10
"""Steps beyond which whole numbers are measurements: two of them would not end at the same values but by chance."""

_SHARE = 0.5
"""Share of the columns that must reach both ends of the scale: corners of an image never do."""

_FEWEST_COLUMNS = 4


def have_one_scale(X: FloatArray) -> bool:
    """Whether columns hold whole numbers between the same two ends, most of them from the one to the other.

    A column that reaches only part of a common scale varies less, and that is a fact about it: in standard deviations
    of its own it would count as much as the others.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_columns)

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc.fitting.units import have_one_scale
    >>> pixels = np.random.default_rng(0).integers(0, 17, (100, 8)).astype(float)
    >>> have_one_scale(pixels), have_one_scale(pixels * np.arange(1, 9)), have_one_scale(pixels + 0.5)
    (True, False, False)
    """
    return X.shape[1] >= _FEWEST_COLUMNS and share_one_scale(
        X.min(axis=0), X.max(axis=0), lambda: bool((np.round(X) == X).all())
    )


def share_one_scale(low: FloatArray, high: FloatArray, whole: Callable[[], bool]) -> bool:
    """The same from the ends of the columns, and whether all values are whole numbers, which is asked last."""
    if len(low) < _FEWEST_COLUMNS:
        return False
    start, end = float(low.min()), float(high.max())
    if not _FEWEST_STEPS < end - start <= _MOST_STEPS or start != round(start):
        return False
    reach = (low == start) & (high == end)
    return bool(reach.mean() >= _SHARE and whole())
