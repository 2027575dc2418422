"""Fuzzifier functions t_m: how a membership counts in the objective, and the exact membership step they imply."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar, Self

import numpy as np
from scipy.optimize import brentq

from kfrc._general_step import SlopeCurve, general_memberships, invert
from kfrc._membership_step import ascending, in_ascending_order, solve_rows, solve_samples
from kfrc._numerics import Interval
from kfrc._registry import Registered
from kfrc.typing import FloatArray

__all__ = [
    "ComplementaryRoot",
    "Exponential",
    "Fuzzifier",
    "Interval",
    "Power",
    "Quadratic",
    "resolve_fuzzifier",
]

_SMALLEST_WEIGHT = 1e-140  # squares of weights, and sums of them, must be ordinary numbers
_LARGEST_RATIO = 1e30  # of the slope at 0 to the curvature: distances that differ at all then make a hard partition
_LARGEST_M_STEP = 40  # of an unbounded m: 2^40 stands for its limit


@dataclass(frozen=True)
class Fuzzifier(Registered, ABC):
    """An increasing, strictly convex t: [0, 1] → [0, 1] with t(0) = 0 and t(1) = 1.

    A subclass supplies ``value``, ``derivative`` and ``second_derivative``; everything else follows from them here.
    They are called with arrays, and may be infinite at 0 and 1. The four fuzzifiers of the paper override with closed
    forms what the base class finds by Newton's method, and are tested against it.

    Parameters
    ----------
    m : float
        Fuzziness, inside ``m_range``. Larger is fuzzier; the lower end is a hard partition.

    Examples
    --------
    A fuzzifier of your own works wherever a name does:

    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from kfrc.fuzzifiers import Fuzzifier
    >>> @dataclass(frozen=True)
    ... class Blend(Fuzzifier):
    ...     '''t(u) = (u + u^m) / 2.'''
    ...     m: float = 3.0
    ...     def value(self, u): return (u + u**self.m) / 2
    ...     def derivative(self, u): return (1 + self.m * u ** (self.m - 1)) / 2
    ...     def second_derivative(self, u): return self.m * (self.m - 1) * u ** (self.m - 2) / 2
    >>> Blend().memberships(np.array([[1.0, 1.0, 9.0]])).round(6)
    array([[0.5, 0.5, 0. ]])
    """

    m: float = 2.0
    m_range: ClassVar[Interval] = Interval(1, math.inf)
    has_penalty: ClassVar[bool] = False
    """Whether ``penalty`` is anything but zero."""

    def __post_init__(self) -> None:
        if isinstance(self.m, bool) or not isinstance(self.m, (int, float, np.integer, np.floating)):
            raise TypeError(f"m must be a number, got {self.m!r}")
        if not (math.isfinite(self.m) and self.m in self.m_range):
            raise ValueError(f"m = {self.m:g} is outside {self.m_range}, the range of the {self.label} fuzzifier")
        if isinstance(self.m, np.generic):  # the arithmetic of a float32 would be that of everything after it
            object.__setattr__(self, "m", self.m.item())

    @classmethod
    def from_name(cls, name: str, **parameters: Any) -> Self:
        """Build the fuzzifier called ``name``; ``m=None`` means its default."""
        return super().from_name(name, **{key: value for key, value in parameters.items() if value is not None})

    def with_m(self, m: float) -> Self:
        """The same function with another fuzziness."""
        return replace(self, m=m)

    @abstractmethod
    def value(self, u: Any) -> Any:
        """t(u)."""

    @abstractmethod
    def derivative(self, u: Any) -> Any:
        """t′(u)."""

    @abstractmethod
    def second_derivative(self, u: Any) -> Any:
        """t″(u)."""

    def inverse_derivative(self, slope: Any) -> FloatArray:
        """(t′)⁻¹, with slopes outside [t′(0), t′(1)] mapped to 0 and 1."""
        curve = SlopeCurve.of(self.derivative, self.second_derivative)
        return invert(curve, np.asarray(slope, dtype=np.float64))

    def memberships(self, distances: FloatArray) -> FloatArray:
        """Exact minimizer of Σ_i t(u_i) A_i over the simplex, for every row at once.

        Parameters
        ----------
        distances : ndarray of shape (n_samples, n_clusters)
            Non-negative squared distances A to the centers; ``inf`` marks an empty cluster. Their scale is irrelevant.

        Returns
        -------
        U : ndarray of shape (n_samples, n_clusters)
            Rows sum to one. A row with zeros in ``distances`` is shared equally among those clusters.
        """
        return solve_rows(distances, self._positive_memberships)

    def sample_memberships(self, distances: FloatArray) -> FloatArray:
        """The same for a block of samples, of shape (n_clusters, n_samples), in the precision of the distances."""
        return solve_samples(distances, self._positive_memberships)

    def _positive_memberships(self, distances: FloatArray) -> FloatArray:
        """The step for samples (n_clusters, n_samples) whose smallest distance is 1: here from t′ and t″ alone."""
        curve = SlopeCurve.of(self.derivative, self.second_derivative)
        return in_ascending_order(distances, lambda ordered: general_memberships(curve, ordered))

    def costs(self, distances: FloatArray) -> FloatArray:
        """What a unit of weight costs at these squared distances: just them, unless clusters have scales."""
        return distances

    def sample_costs(self, distances: FloatArray) -> FloatArray:
        """The same for a block of samples, of shape (n_clusters, n_samples)."""
        return distances

    def penalty(self, U: FloatArray, row_weights: FloatArray | None = None) -> float:
        """What the objective adds to Σ t(u_ji) A_ji: nothing, unless a subclass says so."""
        return 0.0

    def penalty_of(self, masses: FloatArray, entropy: float) -> float:
        """The same from sums over all samples: Σ_j u_ji of every cluster, and −Σ u_ji log u_ji."""
        return 0.0

    def adapted(self, U: FloatArray, distances: FloatArray, row_weights: FloatArray | None = None) -> Fuzzifier:
        """The same rule with its own unknowns, if it has any, at their minimizer for these memberships and distances.

        ``distances`` are squared, to the centers that ``U`` defines; ``row_weights`` are weights of the rows.
        """
        return self

    def adapted_to(self, masses: FloatArray, scatters: FloatArray) -> Fuzzifier:
        """The same from sums over all samples: Σ_j u_ji and Σ_j u_ji A_ji of every cluster."""
        return self

    def reordered(self, order: list[int]) -> Fuzzifier:
        """The rule for clusters in another order: the same, unless it knows them one by one."""
        return self

    def collapsed_row(self, U: FloatArray) -> FloatArray:
        """The row that all rows of ``U`` would be if no cluster could be told from another: 1/c."""
        return np.full(U.shape[1], 1.0 / U.shape[1])

    def weighs(self, n_clusters: int) -> bool:
        """Whether equal memberships have a weight in floating-point numbers at this m."""
        return float(self.value(np.float64(1.0 / n_clusters))) > _SMALLEST_WEIGHT

    def check_weights(self, n_clusters: int) -> None:
        """Refuse an m at which equal memberships have no weight left in floating-point numbers."""
        if not self.weighs(n_clusters):
            raise ValueError(
                f"m = {self.m:g} is so large that with the {self.label} fuzzifier memberships of 1/{n_clusters} weigh "
                "nothing: use a smaller m"
            )

    def kappa(self, n_clusters: int) -> float:
        """κ(t_m, 1/c) = 2 t′² / (t t″) at 1/c (Corollary 3.2.1)."""
        return 1.0 / self.inverse_kappa(n_clusters)

    def inverse_kappa(self, n_clusters: int) -> float:
        """1/κ at 1/c: the λ₁ above which the uniform solution is unstable at this m."""
        u = np.float64(1.0 / n_clusters)
        return float(self.value(u) * self.second_derivative(u) / (2.0 * self.derivative(u) ** 2))

    def threshold(self, n_clusters: int) -> float:
        """τ: the largest 1/κ over all m, which is its limit as m → m_max (Section 3.3); above it no m collapses."""
        return max(value for _, value in self._inverse_kappas(n_clusters))

    def critical_m(self, n_clusters: int, leading_eigenvalue: float) -> float:
        """m*: the smallest fuzziness at which the uniform solution is stable, 1/κ(m*) = λ₁; ``inf`` if it never is."""
        below = self.m_range.low
        for m, value in self._inverse_kappas(n_clusters):
            if value > leading_eigenvalue:
                if below == self.m_range.low:
                    return float(below)
                return float(
                    brentq(
                        lambda m: self.with_m(m).inverse_kappa(n_clusters) - leading_eigenvalue,
                        below,
                        m,
                        xtol=1e-14,
                        rtol=1e-14,
                    )
                )
            below = m
        return math.inf

    def _inverse_kappas(self, n_clusters: int) -> tuple[tuple[float, float], ...]:
        """1/κ along m from next to the hard limit up to the largest m, on a grid dense enough to bracket by."""
        low, high = self.m_range.low, self.m_range.high
        if math.isfinite(high):
            steps = low + (high - low) * np.concatenate([2.0 ** np.arange(-40, -5), np.linspace(2.0**-5, 1.0, 63)])
            steps = steps if high in self.m_range else steps[:-1]
        else:
            steps = low + 2.0 ** np.arange(-40, _LARGEST_M_STEP, 0.25)
        path = tuple(steps.tolist())
        any_m = self.with_m(path[0])
        try:
            return _inverse_kappas_at(any_m, n_clusters, path)
        except TypeError:  # a field that cannot be hashed
            return _inverse_kappas_at.__wrapped__(any_m, n_clusters, path)


@lru_cache(maxsize=32)
def _inverse_kappas_at(t: Fuzzifier, n_clusters: int, path: tuple[float, ...]) -> tuple[tuple[float, float], ...]:
    """Pairs (m, 1/κ) where 1/κ is finite. An automatic choice asks for the same ones once for every candidate."""
    with np.errstate(all="ignore"):
        pairs = ((m, t.with_m(m).inverse_kappa(n_clusters)) for m in path)
        return tuple((m, value) for m, value in pairs if math.isfinite(value))


@dataclass(frozen=True)
class Power(Fuzzifier, name="power"):
    """t(u) = u^m, m > 1: the fuzzifier of fuzzy c-means.

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc.fuzzifiers import Power
    >>> Power(m=2).memberships(np.array([[1.0, 3.0]]))
    array([[0.75, 0.25]])
    """

    m: float = 2.0
    m_range: ClassVar[Interval] = Interval(1, math.inf)

    def value(self, u: Any) -> Any:  # noqa: D102
        return u**self.m

    def derivative(self, u: Any) -> Any:  # noqa: D102
        return self.m * u ** (self.m - 1)

    def second_derivative(self, u: Any) -> Any:  # noqa: D102
        with np.errstate(divide="ignore", over="ignore"):
            return self.m * u ** (self.m - 2) * (self.m - 1)

    def inverse_derivative(self, slope: Any) -> FloatArray:  # noqa: D102
        slope = np.clip(np.asarray(slope, dtype=np.float64), 0.0, self.m)
        return (slope / self.m) ** (1.0 / (self.m - 1))

    def _positive_memberships(self, distances: FloatArray) -> FloatArray:
        # u ∝ A^(−1/(m−1)); distances are relative to the row's smallest, so nothing overflows as m → 1.
        U = np.reciprocal(distances) if self.m == 2 else distances ** (-1.0 / (self.m - 1))
        U /= U.sum(axis=0)
        return U

    def inverse_kappa(self, n_clusters: int) -> float:  # noqa: D102
        return 0.5 * ((self.m - 1) / self.m)

    def threshold(self, n_clusters: int) -> float:  # noqa: D102
        return 0.5

    def critical_m(self, n_clusters: int, leading_eigenvalue: float) -> float:  # noqa: D102
        return 1.0 / (1.0 - 2.0 * leading_eigenvalue) if leading_eigenvalue < 0.5 else math.inf


@dataclass(frozen=True)
class Exponential(Fuzzifier, name="exponential"):
    """t(u) = (e^{mu} − 1) / (e^m − 1), m > 0.

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc.fuzzifiers import Exponential
    >>> Exponential(m=2).memberships(np.array([[1.0, np.exp(1.0), np.exp(3.0)]]))
    array([[0.75, 0.25, 0.  ]])
    """

    m: float = 2.0
    m_range: ClassVar[Interval] = Interval(0, math.inf)

    def value(self, u: Any) -> Any:  # noqa: D102
        # (e^{mu} − 1)/(e^m − 1) = e^{−m(1−u)} (1 − e^{−mu})/(1 − e^{−m}) never overflows.
        return np.exp(-self.m * (1.0 - u)) * np.expm1(-self.m * u) / np.expm1(-self.m)

    def derivative(self, u: Any) -> Any:  # noqa: D102
        return self.m * np.exp(-self.m * (1.0 - u)) / -np.expm1(-self.m)

    def second_derivative(self, u: Any) -> Any:  # noqa: D102
        with np.errstate(over="ignore"):
            return self.m * self.derivative(u)

    def inverse_derivative(self, slope: Any) -> FloatArray:  # noqa: D102
        with np.errstate(divide="ignore"):
            log_ratio = np.log(np.asarray(slope, dtype=np.float64) * -np.expm1(-self.m) / self.m)
        return np.clip(1.0 + log_ratio / self.m, 0.0, 1.0)

    def _positive_memberships(self, distances: FloatArray) -> FloatArray:
        # With the k nearest clusters the level is l_k = (m + Σ_{i≤k} log A_i) / k, and the k-th of them belongs there
        # if log A_k < l_k, which is where l_k < l_{k−1}: the right level is the lowest.
        logs = np.log(distances)
        levels = (self.m + ascending(logs).cumsum(axis=0)) / _counts(logs, 1)
        return np.maximum((levels.min(axis=0) - logs) / self.m, 0.0)

    def inverse_kappa(self, n_clusters: int) -> float:  # noqa: D102
        return -math.expm1(-self.m / n_clusters) / 2

    def threshold(self, n_clusters: int) -> float:  # noqa: D102
        return 0.5

    def critical_m(self, n_clusters: int, leading_eigenvalue: float) -> float:  # noqa: D102
        return -n_clusters * math.log1p(-2.0 * leading_eigenvalue) if leading_eigenvalue < 0.5 else math.inf


@dataclass(frozen=True)
class Quadratic(Fuzzifier, name="quadratic"):
    """t(u) = m u² + (1 − m) u, 0 < m ≤ 1: exact zeros for clear-cut samples (Klawonn & Höppner).

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc.fuzzifiers import Quadratic
    >>> Quadratic(m=0.5).memberships(np.array([[1.0, 2.0, 100.0]])).round(12)
    array([[0.83333333, 0.16666667, 0. ]])
    """

    m: float = 0.5
    m_range: ClassVar[Interval] = Interval(0, 1, closed="right")

    def value(self, u: Any) -> Any:  # noqa: D102
        return u * (self.m * u + (1.0 - self.m))

    def derivative(self, u: Any) -> Any:  # noqa: D102
        return 2.0 * self.m * u + (1.0 - self.m)

    def second_derivative(self, u: Any) -> Any:  # noqa: D102
        return 2.0 * self.m + 0.0 * u

    def inverse_derivative(self, slope: Any) -> FloatArray:  # noqa: D102
        return np.clip((np.asarray(slope, dtype=np.float64) - (1.0 - self.m)) / (2.0 * self.m), 0.0, 1.0)

    def _positive_memberships(self, distances: FloatArray) -> FloatArray:
        # With r = (1 − m) / 2m and the k nearest clusters, u = (μ_k − r (A − 1)) / A for
        # μ_k = (1 + r Σ_{i≤k} (1 − 1/A_i)) / Σ_{i≤k} 1/A_i, and the k-th of them belongs there if its u is positive,
        # which is where μ_k < μ_{k−1}: the right multiplier is the smallest. A − 1 keeps the digits of a small m.
        ratio = min((1.0 - self.m) / (2.0 * self.m), _LARGEST_RATIO)
        ordered = ascending(distances)
        sums = (1.0 / ordered).cumsum(axis=0)
        multipliers = (1.0 + ratio * ((ordered - 1.0) / ordered).cumsum(axis=0)) / sums
        # Where A is infinite excesses are no numbers, and such a cluster has no members.
        excess = ratio * (distances - 1.0)
        return np.fmax((np.fmin.reduce(multipliers, axis=0) - excess) / distances, 0.0)


@dataclass(frozen=True)
class ComplementaryRoot(Fuzzifier, name="complementary_root"):
    """t(u) = 1 − (1 − u)^{1/m}, m > 1: the paper's fuzzifier, whose threshold τ falls with c.

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc.fuzzifiers import ComplementaryRoot
    >>> ComplementaryRoot(m=2).memberships(np.array([[1.0, 2.0, 100.0]])).round(12)
    array([[0.8, 0.2, 0. ]])
    """

    m: float = 2.0
    m_range: ClassVar[Interval] = Interval(1, math.inf)

    def value(self, u: Any) -> Any:  # noqa: D102
        with np.errstate(divide="ignore"):
            if getattr(u, "dtype", None) == np.float32:  # no digits to save there, and several times faster
                return 1.0 - np.exp(np.log(1.0 - np.minimum(u, 1.0)) / np.float32(self.m))
            return -np.expm1(np.log1p(-np.minimum(u, 1.0)) / self.m)

    def derivative(self, u: Any) -> Any:  # noqa: D102
        with np.errstate(divide="ignore"):
            return (1.0 - np.minimum(u, 1.0)) ** ((1.0 - self.m) / self.m) / self.m

    def second_derivative(self, u: Any) -> Any:  # noqa: D102
        with np.errstate(divide="ignore"):
            return (self.m - 1.0) / self.m / self.m * (1.0 - np.minimum(u, 1.0)) ** ((1.0 - 2.0 * self.m) / self.m)

    def inverse_derivative(self, slope: Any) -> FloatArray:  # noqa: D102
        slope = np.maximum(np.asarray(slope, dtype=np.float64) * self.m, 1.0)
        return -np.expm1(np.log(slope) * (-self.m / (self.m - 1.0)))

    def _positive_memberships(self, distances: FloatArray) -> FloatArray:
        # With a = A^e, e = m/(m−1), a sample keeps the k nearest with (k−1) a_k < Σ_{l≤k} a_l, which is where
        # (k−1) / Σ_{l≤k} a_l rises with k: the right k is where that is largest.
        powers = np.exp(self.m / (self.m - 1.0) * np.log(distances))
        share = (_counts(powers, 0) / ascending(powers).cumsum(axis=0)).max(axis=0)
        # An a beyond the range of numbers, as m approaches 1, belongs to a membership below 10⁻³⁰⁰, also where it is
        # multiplied by zero.
        return np.fmax(1.0 - powers * share, 0.0)

    def inverse_kappa(self, n_clusters: int) -> float:  # noqa: D102
        return (self.m - 1.0) / 2.0 * math.expm1(-math.log1p(-1.0 / n_clusters) / self.m)

    def threshold(self, n_clusters: int) -> float:  # noqa: D102
        return -math.log1p(-1.0 / n_clusters) / 2.0


def _counts(distances: FloatArray, first: int) -> FloatArray:
    """``first``, ``first`` + 1, … for the clusters of every sample, in the precision of the distances."""
    return np.arange(first, first + len(distances), dtype=distances.dtype)[:, None]


def resolve_fuzzifier(fuzzifier: str | Fuzzifier, m: float | None) -> Fuzzifier:
    """A fuzzifier from a name and m, or an instance (which has its own m, unless one is given)."""
    if isinstance(fuzzifier, Fuzzifier):
        return fuzzifier if m is None else fuzzifier.with_m(m)
    return Fuzzifier.resolve(fuzzifier, m=m)
