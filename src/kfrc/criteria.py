"""The stage-2 objective 𝒬 as a function of the leading eigenvalues of F (Section 4)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from kfrc._numerics import EIGENVALUE_FLOOR
from kfrc._registry import Registered
from kfrc.typing import FloatArray


@dataclass(frozen=True)
class Criterion(Registered, ABC):
    """A function of the leading eigenvalues λ₁ ≥ … ≥ λ_c to be maximized.

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc.criteria import Criterion
    >>> eigenvalues = np.array([0.5, 0.25, 0.125])
    >>> {name: float(Criterion.from_name(name).value(eigenvalues, 3)) for name in ["sum", "gap"]}
    {'sum': 0.75, 'gap': 0.125}
    """

    rises_to_limit: ClassVar[bool] = False
    """Whether it rises as all bandwidths grow together, so that its supremum is at the linear kernel."""

    def n_eigenvalues(self, n_clusters: int) -> int:
        """How many leading eigenvalues are worth computing: those used, and the next, so that a tie is seen."""
        return n_clusters

    @abstractmethod
    def value(self, eigenvalues: FloatArray, n_clusters: int) -> Any:
        """𝒬(λ₁, …, λ_c)."""

    @abstractmethod
    def gradient(self, eigenvalues: FloatArray, n_clusters: int) -> FloatArray:
        """∂𝒬/∂λ_i, with the shape of ``eigenvalues``."""


@dataclass(frozen=True)
class EigenvalueSum(Criterion, name="sum"):
    """Σ_{i<c} λ_i: the share of variance in the c − 1 directions that can separate c clusters."""

    rises_to_limit: ClassVar[bool] = True

    def value(self, eigenvalues: FloatArray, n_clusters: int) -> Any:  # noqa: D102
        return eigenvalues[: n_clusters - 1].sum()

    def gradient(self, eigenvalues: FloatArray, n_clusters: int) -> FloatArray:  # noqa: D102
        weights = np.zeros_like(eigenvalues)
        weights[: n_clusters - 1] = 1.0
        return weights


@dataclass(frozen=True)
class SumOfLogs(Criterion, name="log_sum"):
    """Σ_{i<c} log λ_i: the logarithm of the generalized variance (the paper's "log-sum")."""

    rises_to_limit: ClassVar[bool] = True

    def value(self, eigenvalues: FloatArray, n_clusters: int) -> Any:  # noqa: D102
        return np.log(np.maximum(eigenvalues[: n_clusters - 1], EIGENVALUE_FLOOR)).sum()

    def gradient(self, eigenvalues: FloatArray, n_clusters: int) -> FloatArray:  # noqa: D102
        weights = np.zeros_like(eigenvalues)
        weights[: n_clusters - 1] = 1.0 / np.maximum(eigenvalues[: n_clusters - 1], EIGENVALUE_FLOOR)
        return weights


@dataclass(frozen=True)
class Eigengap(Criterion, name="gap"):
    """λ_{c−1} − λ_c: how clearly the spectrum says "c clusters"."""

    def n_eigenvalues(self, n_clusters: int) -> int:  # noqa: D102
        return n_clusters + 1

    def value(self, eigenvalues: FloatArray, n_clusters: int) -> Any:  # noqa: D102
        return eigenvalues[n_clusters - 2] - eigenvalues[n_clusters - 1]

    def gradient(self, eigenvalues: FloatArray, n_clusters: int) -> FloatArray:  # noqa: D102
        weights = np.zeros_like(eigenvalues)
        weights[n_clusters - 2], weights[n_clusters - 1] = 1.0, -1.0
        return weights
