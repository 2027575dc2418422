"""What a type of column must supply: numbers for its values, and how far apart two of them are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from kfrc._registry import Registered
from kfrc.typing import BoolArray, FloatArray

BLANK = "(blank)"
"""Name of the level that blanks make where a blank carries meaning."""


@dataclass(frozen=True)
class Column(Registered, ABC):
    """A column of one type: how its values become codes, and how codes are compared.

    ``learn`` makes a column from raw values: it knows the levels. ``scaled`` adds the unit, from all rows of a fit:
    with Δ² the squared differences of standardized values, every column has Σ_jk s_j s_k Δ²_jk / 2S(S − 1) = 1, the
    total variance of a numeric column that is divided by its standard deviation.

    Attributes
    ----------
    title : str
        What the user calls it.
    levels : tuple
        The values it can have, in the order of their codes 0, 1, …; none if it is a number.
    scale : float
        What one standard unit is in codes.
    discrete : bool
        Whether a judge counts levels instead of measuring.
    continuous : bool
        Whether Δ² is the square of a difference of numbers, so that polynomials can describe a kernel of it.
    """

    title: str = ""
    levels: tuple[Any, ...] = ()
    scale: float = 1.0
    discrete: ClassVar[bool] = False
    continuous: ClassVar[bool] = False

    @classmethod
    @abstractmethod
    def example_values(cls) -> NDArray[Any]:
        """Raw values, blanks among them, that stand for this type wherever all types are tested."""

    @classmethod
    @abstractmethod
    def learn(cls, title: str, values: NDArray[Any], levels: tuple[Any, ...] | None = None) -> Self:
        """The column of these raw values.

        Parameters
        ----------
        title : str
        values : ndarray of shape (n_rows,)
            Numbers with NaN, or objects with None, where nothing is known.
        levels : tuple, optional
            Levels in their order, if the user or the table says so.

        Raises
        ------
        ValueError
            If the values contradict the type.
        """

    @abstractmethod
    def encode(self, values: NDArray[Any]) -> FloatArray:
        """Codes of raw values; NaN for blanks and for values that the column does not know."""

    @abstractmethod
    def scaled(self, codes: FloatArray, weights: FloatArray | None) -> Self:
        """The column with its unit, from the codes of all rows; those that are NaN do not count."""

    @abstractmethod
    def squares(self, x: FloatArray, y: FloatArray, bandwidth: float = 1.0) -> FloatArray:
        """Δ²/θ² between standardized values, of shape (len(x), len(y)); they are not NaN."""

    def standardize(self, codes: FloatArray) -> FloatArray:
        """Codes in standard units; codes of levels stay what they are."""
        return codes

    def varies(self, codes: FloatArray) -> bool:
        """Whether there are at least two different values."""
        known = codes[~np.isnan(codes)]
        # Halves, because the difference of the largest numbers is none.
        return len(known) > 0 and bool(np.ptp(0.5 * known) > 0.5e-14 * np.abs(known).max())

    def with_blank(self) -> Self:
        """The column with one more level for blanks, if it has levels."""
        return self

    def unseen(self, values: NDArray[Any]) -> list[Any]:
        """Values that are no level of the column, each once."""
        return []


def is_blank(values: NDArray[Any]) -> BoolArray:
    """Which raw values say nothing: None, NaN, NaT and other nulls, of shape (n_rows,)."""
    if values.dtype.kind == "f":
        return np.isnan(values)
    if values.dtype.kind in "mM":
        return np.isnat(values)
    if values.dtype.kind != "O":
        return np.zeros(len(values), dtype=bool)
    return np.fromiter((_says_nothing(value) for value in values), dtype=bool, count=len(values))


def _says_nothing(value: Any) -> bool:
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:
        return True
    return bool(value != value) if isinstance(value, (float, np.floating, np.datetime64)) else False


def weighted_deviation(values: FloatArray, weights: FloatArray | None) -> tuple[float, float]:
    """Mean and standard deviation (divisor Σs − 1) of values that are not NaN."""
    known = ~np.isnan(values)
    x = values[known]
    s = np.ones(len(x)) if weights is None else weights[known]
    total = s.sum()
    size = np.abs(x).max(initial=0.0)
    exponent = int(np.frexp(size)[1])
    scaled = np.ldexp(x, -exponent)  # no square overflows
    mean = s @ scaled / total
    variance = s @ np.square(scaled - mean) / (total - 1.0)
    with np.errstate(over="ignore"):  # the deviation of the largest numbers is infinite
        return float(np.ldexp(mean, exponent)), float(np.ldexp(np.sqrt(variance), exponent))
