"""The types of columns: numbers, ordered levels, levels without order, dates, and parts of dates that come round."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from kfrc._numerics import in_deviations
from kfrc.columns.base import BLANK, Column, is_blank, weighted_deviation
from kfrc.typing import FloatArray

MAX_LEVELS = 500
"""Levels that a column can have: their similarities are a matrix of this size."""

_SHOWN = 5  # names in a message


@dataclass(frozen=True)
class Measured(Column):
    """A number on a line; Δ² = (x − y)² / sd². A subclass says how values become numbers."""

    mean: float = 0.0
    continuous: ClassVar[bool] = True

    @classmethod
    def example_values(cls) -> NDArray[Any]:
        """Numbers from one on, and blanks."""
        return np.array([1.0, 4.5, np.nan, 2.0, 2.0, 7.25, 3.0, 1.0, np.nan, 16.0, 2.5, 9.0])

    @classmethod
    def learn(cls, title: str, values: NDArray[Any], levels: tuple[Any, ...] | None = None) -> Self:
        """The column of these values; levels are refused."""
        if levels is not None:
            raise ValueError(f"column '{title}' is {cls.name}, so that it cannot have levels")
        column = cls(title)
        column.encode(values)
        return column

    def scaled(self, codes: FloatArray, weights: FloatArray | None) -> Self:
        """The column with its mean and standard deviation."""
        mean, deviation = weighted_deviation(codes, weights)
        return replace(self, mean=mean, scale=deviation)

    def standardize(self, codes: FloatArray) -> FloatArray:
        """Deviations from the mean, in standard deviations."""
        return in_deviations(codes, self.mean, self.scale)

    def squares(self, x: FloatArray, y: FloatArray, bandwidth: float = 1.0) -> FloatArray:
        """((x − y) / θ)²."""
        difference = np.subtract.outer(x, y)
        difference /= bandwidth
        with np.errstate(over="ignore"):  # infinitely far is far enough: kernels are bounded
            return np.square(difference, out=difference)


@dataclass(frozen=True)
class Numeric(Measured, name="numeric"):
    """A number.

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc.columns import Numeric
    >>> column = Numeric.learn("height", np.array([1.0, 2.0, 3.0]))
    >>> column = column.scaled(np.array([1.0, 2.0, 3.0]), None)
    >>> column.standardize(np.array([1.0, 4.0]))
    array([-1.,  2.])
    """

    def encode(self, values: NDArray[Any]) -> FloatArray:  # noqa: D102
        codes = np.full(len(values), np.nan)
        known = ~is_blank(values)
        try:
            codes[known] = values[known].astype(np.float64)
        except (TypeError, ValueError):
            text = next(value for value in values[known] if not _is_number(value))
            raise ValueError(
                f"column '{self.title}' is to be numeric, but holds {text!r}: make it nominal, ordinal or drop it"
            ) from None
        if np.isinf(codes).any():
            raise ValueError(
                f"column '{self.title}' contains infinity (the first in row {int(np.isinf(codes).argmax())}): correct "
                "it, or make it NaN if it stands for a missing value"
            )
        return codes


@dataclass(frozen=True)
class Date(Measured, name="date"):
    """A point in time, as days.

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc.columns import Date
    >>> values = np.array(["2024-01-01", "2024-01-03"], dtype="datetime64[D]")
    >>> column = Date.learn("when", values)
    >>> column.encode(values)
    array([19723., 19725.])
    """

    @classmethod
    def example_values(cls) -> NDArray[Any]:  # noqa: D102
        return _example_dates()

    def encode(self, values: NDArray[Any]) -> FloatArray:  # noqa: D102
        return as_days(values, self.title)


@dataclass(frozen=True)
class Levels(Column):
    """A column of few values: what ordered and unordered levels have in common."""

    blank: bool = False
    discrete: ClassVar[bool] = True

    @classmethod
    def example_values(cls) -> NDArray[Any]:
        """Text, and blanks."""
        words = ["mid", "low", None, "high", "low", "low", "mid", None, "high", "low", "mid", "low"]
        return np.array(words, dtype=object)

    @classmethod
    def learn(cls, title: str, values: NDArray[Any], levels: tuple[Any, ...] | None = None) -> Self:
        """The column with the levels that are given or that occur."""
        known = values[~is_blank(values)]
        found = _distinct(known)
        if levels is None:
            levels = found
        else:
            if len(set(levels)) < len(levels):
                raise ValueError(f"column '{title}': the levels that are given for it name one twice: {_named(levels)}")
            absent = [value for value in found if value not in set(levels)]
            if absent:
                raise ValueError(
                    f"column '{title}' holds {_named(absent)}, which the levels that are given for it do not name: "
                    f"{_named(levels)}"
                )
        if len(levels) > MAX_LEVELS:
            raise ValueError(
                f"column '{title}' has {len(levels)} levels, and at most {MAX_LEVELS} can be told apart: join rare "
                'ones, or leave it out with column_types={...: "drop"}'
            )
        return cls(title, tuple(levels))

    def encode(self, values: NDArray[Any]) -> FloatArray:
        """Position of each value among the levels."""
        codes = {level: float(code) for code, level in enumerate(self.levels)}
        blanks = is_blank(values)
        if values.dtype.kind in "biufM" and all(isinstance(level, (bool, int, float)) for level in self.levels):
            values = values.astype(object)
        encoded = np.fromiter(
            (math.nan if blank else codes.get(value, math.nan) for value, blank in zip(values, blanks, strict=True)),
            dtype=np.float64,
            count=len(values),
        )
        if self.blank:
            encoded[blanks] = len(self.levels) - 1
        return encoded

    def unseen(self, values: NDArray[Any]) -> list[Any]:
        """Values that are no level, each once."""
        known = set(self.levels)
        return [value for value in _distinct(values[~is_blank(values)]) if value not in known]

    def with_blank(self) -> Self:
        """The column with one more level."""
        return replace(self, levels=(*self.levels, BLANK), blank=True)

    def shares(self, codes: FloatArray, weights: FloatArray | None) -> FloatArray:
        """Share of every level among the rows where one is known, of shape (n_levels,)."""
        known = ~np.isnan(codes)
        counts = np.bincount(
            codes[known].astype(np.int64),
            weights=None if weights is None else weights[known],
            minlength=len(self.levels),
        )
        return counts / counts.sum()


@dataclass(frozen=True)
class Nominal(Levels, name="nominal"):
    """One of several levels without order; Δ² = 2/G between different ones, G = 1 − Σ π_l² (Gini).

    The Gini coefficient is that of pairs of different rows, n/(n − 1) times the one above, as a standard deviation
    divides by n − 1. A boolean column then gives the same whether it is called nominal or numeric.

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc.columns import Nominal
    >>> column = Nominal.learn("color", np.array(["red", "blue", None, "red"], dtype=object))
    >>> column.levels, column.encode(np.array(["blue", "green"], dtype=object))
    (('blue', 'red'), array([ 0., nan]))
    """

    def scaled(self, codes: FloatArray, weights: FloatArray | None) -> Self:  # noqa: D102
        shares = self.shares(codes, weights)
        known = ~np.isnan(codes)
        total = float(known.sum()) if weights is None else float(weights[known].sum())
        gini = (1.0 - float(shares @ shares)) * total / (total - 1.0)
        return replace(self, scale=math.sqrt(0.5 * gini))

    def squares(self, x: FloatArray, y: FloatArray, bandwidth: float = 1.0) -> FloatArray:  # noqa: D102
        return np.not_equal.outer(x, y) / (self.scale * bandwidth) ** 2


@dataclass(frozen=True)
class Ordinal(Levels, name="ordinal"):
    """One of several ordered levels; Δ² is the squared difference of their scores, in standard deviations.

    Levels that are numbers are their own scores, others are numbered. A blank that is a level stands at the mean, one
    standard deviation aside.

    Attributes
    ----------
    places : tuple of float
        Scores of the levels in standard deviations.
    """

    places: tuple[float, ...] = ()

    @classmethod
    def learn(cls, title: str, values: NDArray[Any], levels: tuple[Any, ...] | None = None) -> Self:  # noqa: D102
        column = super().learn(title, values, levels)
        if np.isinf(column.scores).any():
            raise ValueError(
                f"column '{title}' contains infinity, which has no place among levels that are numbers: correct or "
                'blank it, or use column_types={...: "nominal"}'
            )
        return column

    @property
    def scores(self) -> FloatArray:
        """Scores of the levels that have an order, of shape (n_levels,)."""
        ordered = self.levels[:-1] if self.blank else self.levels
        if all(isinstance(level, (int, float, np.integer, np.floating)) for level in ordered):
            return np.array(ordered, dtype=np.float64)
        return np.arange(len(ordered), dtype=np.float64)

    def scaled(self, codes: FloatArray, weights: FloatArray | None) -> Self:  # noqa: D102
        scores = self.scores
        has_score = codes < len(scores)
        values = np.full(len(codes), np.nan)
        values[has_score] = scores[codes[has_score].astype(np.int64)]
        mean, deviation = weighted_deviation(values, weights)
        if not deviation > 0:
            mean, deviation = 0.0, 1.0  # one level and blanks
        return replace(self, scale=deviation, places=tuple(((scores - mean) / deviation).tolist()))

    def squares(self, x: FloatArray, y: FloatArray, bandwidth: float = 1.0) -> FloatArray:  # noqa: D102
        places = np.array([*self.places, 0.0])  # a blank is at the mean
        of_x, of_y = x.astype(np.int64), y.astype(np.int64)
        aside = np.not_equal.outer(of_x == len(self.places), of_y == len(self.places))
        return (np.square(np.subtract.outer(places[of_x], places[of_y])) + aside) / bandwidth**2


_PERIODS = {"hour": 24, "weekday": 7, "month": 12}


@dataclass(frozen=True)
class Cyclic(Levels, name="cyclic"):
    """A part of a date that comes round: hour, weekday or month; Δ² is the squared chord on a circle.

    Attributes
    ----------
    part : {"hour", "weekday", "month"}
    """

    part: str = "weekday"

    @classmethod
    def example_values(cls) -> NDArray[Any]:  # noqa: D102
        return _example_dates()

    @classmethod
    def learn(cls, title: str, values: NDArray[Any], levels: tuple[Any, ...] | None = None) -> Self:  # noqa: D102
        (part,) = levels or ("weekday",)
        if part not in _PERIODS:
            raise ValueError(f"column '{title}': no part {part!r} of a date is known, only {', '.join(_PERIODS)}")
        column = cls(title, tuple(range(_PERIODS[part])), part=part)
        column.encode(values)
        return column

    def encode(self, values: NDArray[Any]) -> FloatArray:  # noqa: D102
        days = as_days(values, self.title)
        known = ~np.isnan(days)
        codes = np.full(len(days), np.nan)
        if self.part == "hour":
            codes[known] = np.floor(24.0 * (days[known] - np.floor(days[known])) + 1e-9) % 24
        elif self.part == "weekday":
            codes[known] = (np.floor(days[known]) + 3) % 7  # the first day of 1970 was a Thursday; Monday is 0
        else:
            dates = np.floor(days[known]).astype(np.int64).astype("datetime64[D]")
            codes[known] = dates.astype("datetime64[M]").astype(np.int64) % 12
        codes[~known] = len(self.levels) - 1 if self.blank else np.nan
        return codes

    def unseen(self, values: NDArray[Any]) -> list[Any]:  # noqa: D102
        return []

    def scaled(self, codes: FloatArray, weights: FloatArray | None) -> Self:  # noqa: D102
        angles = 2.0 * math.pi / _PERIODS[self.part] * np.where(codes < _PERIODS[self.part], codes, np.nan)
        spread = math.hypot(
            weighted_deviation(np.cos(angles), weights)[1], weighted_deviation(np.sin(angles), weights)[1]
        )
        return replace(self, scale=spread if spread > 0 else 1.0)

    def squares(self, x: FloatArray, y: FloatArray, bandwidth: float = 1.0) -> FloatArray:  # noqa: D102
        period = _PERIODS[self.part]
        chords = 2.0 - 2.0 * np.cos(2.0 * math.pi / period * np.subtract.outer(x, y))
        blank_x, blank_y = x >= period, y >= period
        # A blank is above the center of the circle, one standard deviation aside.
        aside = 1.0 / self.scale**2 + 1.0
        squares = np.where(np.logical_or.outer(blank_x, blank_y), aside, chords / self.scale**2)
        squares[np.logical_and.outer(blank_x, blank_y)] = 0.0
        return squares / bandwidth**2


def _example_dates() -> NDArray[Any]:
    days = np.array([0, 11, 45, 2, 2, 100, 300, 37, 0, 29, 61, 164]).astype("timedelta64[D]")
    dates = np.datetime64("2024-03-01T09:30", "m") + days + np.arange(12).astype("timedelta64[h]")
    dates[[2, 7]] = np.datetime64("NaT")
    return dates


def as_days(values: NDArray[Any], title: str) -> FloatArray:
    """Days since the beginning of 1970, of dates of any kind; NaN where there is none."""
    blanks = is_blank(values)
    days = np.full(len(values), np.nan)
    known = values[~blanks]
    try:
        if known.dtype.kind == "O":
            known = np.array([np.datetime64(_without_zone(value)) for value in known], dtype="datetime64[us]")
        elif known.dtype.kind != "M":
            raise ValueError
    except (TypeError, ValueError):
        example = next(iter(known), None)
        raise ValueError(
            f"column '{title}' is to hold dates, but holds {example!r}: convert it first, or give it another type"
        ) from None
    days[~blanks] = (known - np.datetime64(0, "D")) / np.timedelta64(1, "D")
    return days


def _without_zone(value: Any) -> Any:
    """A time in universal time, as NumPy has no zones."""
    zone = getattr(value, "tzinfo", None)
    if zone is None:
        return value
    return (value - value.utcoffset()).replace(tzinfo=None)


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _distinct(values: NDArray[Any]) -> tuple[Any, ...]:
    """Distinct values in an order that does not depend on the rows; values of several types side by side.

    Text that is numbers is in the order of the numbers.
    """
    plain = {value.item() if isinstance(value, np.generic) else value for value in values.tolist()}
    try:
        if plain and all(isinstance(value, str) and _is_number(value) for value in plain):
            return tuple(sorted(plain, key=lambda value: (float(value), value)))
        return tuple(sorted(plain))
    except TypeError:
        return tuple(sorted(plain, key=lambda value: (type(value).__name__, str(value))))


def _named(values: Any) -> str:
    shown = ", ".join(repr(value) for value in list(values)[:_SHOWN])
    return shown if len(values) <= _SHOWN else f"{shown} and {len(values) - _SHOWN} more"
