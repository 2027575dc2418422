"""Resampled rows, on which fixed opinions and clusterings are compared again; nothing is fitted again."""

from __future__ import annotations

import numpy as np

from kfrc.typing import IntArray

N_RESAMPLES = 50


def resamples(n_samples: int, rng: np.random.Generator) -> IntArray:
    """Indices of rows drawn with replacement, of shape (N_RESAMPLES, n_samples)."""
    return rng.integers(n_samples, size=(N_RESAMPLES, n_samples))
