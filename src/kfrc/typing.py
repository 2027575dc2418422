"""Type aliases shared by every module."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
BoolArray: TypeAlias = NDArray[np.bool_]

RandomStateLike: TypeAlias = int | np.random.RandomState | np.random.Generator | None
"""What a public ``random_state`` argument accepts."""

Progress: TypeAlias = Callable[[str], None]
"""Called once per finished unit of work, with the name of that unit."""

__all__ = ["Any", "ArrayLike", "BoolArray", "FloatArray", "IntArray", "Progress", "RandomStateLike"]
