"""The optimization problem in log θ that both stages share: counted evaluations of the spectrum, and constraints."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from kfrc import activity
from kfrc.bandwidth.evaluations import Evaluation, KernelEvaluation, LinearEvaluation
from kfrc.bandwidth.projections import FEASIBILITY_TOL
from kfrc.criteria import Criterion
from kfrc.gram import FactoredGrams, GramFamily
from kfrc.spectrum import Spectrum, spectrum_of
from kfrc.typing import FloatArray

NEAR_LIMIT = 0.05
"""Distance from the linear kernel over the whole range of the rows from which on an ascent follows the linear one. Most
rows are far closer than the range is wide, and what counts is where the ascent leads, which is the limit itself."""


@dataclass
class Problem:
    """Bandwidth selection for one data set and kernel, as one start sees it.

    Parameters
    ----------
    family : GramFamily
    n_clusters : int
    max_anisotropy : float
        α.
    log_scale : ndarray of shape (n_features,)
        Logarithm of the features' standard deviations.
    level_bounds : tuple of float
        Bounds on the mean of log θ − log σ.
    n_evaluations : int
        Spectra computed so far.
    in_limit : bool
        Whether the linear kernel has taken the place of the one that was asked for.
    """

    family: GramFamily
    n_clusters: int
    max_anisotropy: float
    log_scale: FloatArray
    level_bounds: tuple[float, float]
    n_evaluations: int = 0
    in_limit: bool = False
    _last: Spectrum | None = field(default=None, repr=False)

    def evaluate(self, log_bandwidths: FloatArray, n_eigenvalues: int) -> Evaluation:
        """Spectrum at exp(log_bandwidths), warm-started from the previous one."""
        self.n_evaluations += 1
        activity.step("trying bandwidths")
        family = self.family
        if isinstance(family, FactoredGrams) and family.is_plain and family.n_features <= family.n_samples:
            return LinearEvaluation(family, log_bandwidths, n_eigenvalues)
        gram = family.at(np.exp(log_bandwidths))
        spectrum = spectrum_of(gram, n_eigenvalues, warm_start=self._last)
        self._last = spectrum
        return KernelEvaluation(log_bandwidths, gram, spectrum)

    def evaluate_for(self, criterion: Criterion, log_bandwidths: FloatArray) -> Evaluation:
        """Spectrum with as many eigenvalues as ``criterion`` needs."""
        n_eigenvalues = min(criterion.n_eigenvalues(self.n_clusters), self.family.n_samples)
        return self.evaluate(log_bandwidths, n_eigenvalues)

    def enter_limit(self, log_bandwidths: FloatArray) -> bool:
        """Go on with the linear kernel, if these bandwidths are so large that it can stand in; whether that is so.

        Without a bound on the ratios of bandwidths it never does: one of them can leave the limit again.
        """
        bounded = math.log(self.max_anisotropy) < self.level_bounds[1] - self.level_bounds[0]
        limit = self.family.linear_limit(np.exp(log_bandwidths), NEAR_LIMIT) if bounded else None
        if limit is not None:
            self.family, self.in_limit, self._last = limit, True, None
        return self.in_limit

    def raised(self, end: Evaluation) -> Evaluation:
        """An end in the limit at the highest level that the bounds allow, where the kernels agree best."""
        low, high = self.level_bounds
        if not self.in_limit or low == high:
            return end
        return self.evaluate(at_highest_level(end.log_bandwidths, self.log_scale, high), len(end.eigenvalues))

    def criterion_value(self, criterion: Criterion, evaluation: Evaluation) -> float:
        """𝒬 at an evaluation."""
        return float(criterion.value(evaluation.eigenvalues, self.n_clusters))

    def criterion_weights(self, criterion: Criterion, evaluation: Evaluation) -> FloatArray:
        """∂𝒬/∂λ_i at an evaluation."""
        return criterion.gradient(evaluation.eigenvalues, self.n_clusters)


def at_highest_level(log_bandwidths: FloatArray, log_scale: FloatArray, highest: float) -> FloatArray:
    """The same ratios, with the largest bandwidth where an upper bound on the level has it."""
    rise = float(log_scale.mean()) + highest - float(log_bandwidths.max())
    return log_bandwidths + rise


def is_feasible(evaluation: Evaluation, threshold: float) -> bool:
    """λ₁ ≥ τ − δ."""
    return evaluation.leading >= threshold - FEASIBILITY_TOL
