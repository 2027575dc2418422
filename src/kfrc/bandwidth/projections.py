"""The two projections of Appendix B, and the bound on the bandwidth level."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from kfrc.typing import FloatArray

FEASIBILITY_TOL = 1e-6
"""δ of Algorithm B.2: how far below τ the line search still accepts λ₁."""

MIN_STEP = 1e-4
"""β_min of Algorithm B.2: the shortest fraction of a step that is tried."""


def project_anisotropy(log_bandwidths: FloatArray, max_anisotropy: float) -> FloatArray:
    """ProjAniso (Algorithm B.1): shrink log θ towards its mean until max θ / min θ ≤ α.

    A contraction, not the Euclidean projection; both keep the mean.

    Parameters
    ----------
    log_bandwidths : ndarray of shape (n_features,)
    max_anisotropy : float
        α ≥ 1, possibly ``inf``.

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc.bandwidth.projections import project_anisotropy
    >>> np.exp(project_anisotropy(np.log([1.0, 16.0]), 4.0))
    array([2., 8.])
    """
    spread = float(np.ptp(log_bandwidths))
    allowed = math.log(max_anisotropy)
    if spread <= allowed:
        return log_bandwidths
    mean = log_bandwidths.mean()
    return mean + allowed / spread * (log_bandwidths - mean)


def project_level(log_bandwidths: FloatArray, log_scale: FloatArray, bounds: tuple[float, float]) -> FloatArray:
    """Shift all of log θ so that its mean, in units of the features' standard deviations, lies within bounds."""
    level = float((log_bandwidths - log_scale).mean())
    return log_bandwidths + (min(max(level, bounds[0]), bounds[1]) - level)


T = TypeVar("T")


def project_feasible(
    evaluate: Callable[[FloatArray], T],
    is_feasible: Callable[[T], bool],
    current: FloatArray,
    proposed: FloatArray,
) -> T | None:
    """ProjFeas (Algorithm B.2): halve a step until its end point is feasible.

    Returns
    -------
    The evaluation of the accepted point, so that nobody computes it again, or None if even the shortest step fails.
    """
    fraction = 1.0
    while fraction > MIN_STEP:
        trial = evaluate(current + fraction * (proposed - current))
        if is_feasible(trial):
            return trial
        fraction /= 2
    return None
