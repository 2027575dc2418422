"""Which columns vary, and whether what they vary by can be computed with."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from kfrc.exceptions import ConstantFeatureWarning
from kfrc.typing import BoolArray, FloatArray, IntArray

_SMALLEST_SCALE = 2.0**-1020
"""Values that differ by less have lost digits."""


def find_varying_columns(X: FloatArray, names: Sequence[str] | None = None) -> IntArray:
    """Indices of the columns that vary; the constant ones are named in a warning, all constant is an error."""
    # Halves, because the difference of the largest numbers is none.
    spread = 0.5 * X.max(axis=0) - 0.5 * X.min(axis=0)
    # A column whose spread is rounding of its own size (0.1 summed in two orders) carries nothing either.
    constant = spread <= 0.5e-14 * np.abs(X).max(axis=0)
    refuse_constant(~constant, names, len(X))
    return np.flatnonzero(~constant)


def refuse_constant(varying: BoolArray, names: Sequence[str] | None, n_samples: int) -> None:
    """Name the columns that do not vary in a warning; if none does it is an error."""
    constant = ~varying
    if constant.all():
        raise ValueError(
            f"all {len(constant)} column(s) of X are constant over its {n_samples} rows: there is nothing to cluster"
        )
    if constant.any():
        dropped = [str(names[j]) if names is not None else f"column {j}" for j in np.flatnonzero(constant).tolist()]
        shown = ", ".join(dropped[:10]) + (f" and {len(dropped) - 10} more" if len(dropped) > 10 else "")
        warnings.warn(
            f"{len(dropped)} constant column(s) carry no information and are left out: {shown}",
            ConstantFeatureWarning,
            stacklevel=6,
        )


def refuse_unresolved(scale: FloatArray, names: Sequence[str] | None) -> None:
    """Refuse columns whose standard deviation is too small or too large to divide by."""
    odd = ~((scale >= _SMALLEST_SCALE) & np.isfinite(scale))
    if odd.any():
        j = int(odd.argmax())
        name = f"column {j}" if names is None else f"column '{names[j]}'"
        change = "multiply it by 1e+100" if scale[j] < 1 else "divide it by 1e+10"
        raise ValueError(
            f"{name} has a standard deviation of {scale[j]:.3g}: what is measured in it leaves the range of "
            f"floating-point numbers. Please {change} first"
        )
