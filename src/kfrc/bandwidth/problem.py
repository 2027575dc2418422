"""The optimization problem in log θ that both stages share: counted evaluations of the spectrum, and constraints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from kfrc import activity
from kfrc.bandwidth.projections import FEASIBILITY_TOL
from kfrc.criteria import Criterion
from kfrc.gram import Gram, GramFamily
from kfrc.spectrum import Spectrum, spectrum_of
from kfrc.typing import FloatArray


@dataclass(frozen=True)
class Evaluation:
    """The spectrum at one point, and gradients from it on request."""

    log_bandwidths: FloatArray
    gram: Gram
    spectrum: Spectrum

    @property
    def leading(self) -> float:
        """λ₁."""
        return float(self.spectrum.eigenvalues[0])

    def gradients(self, weights: Sequence[FloatArray]) -> FloatArray:
        """∂(Σ_i w_i λ_i)/∂ log θ for each weight vector, of shape (len(weights), n_features)."""
        return self.gram.log_bandwidth_gradients([self.spectrum.adjoint(w) for w in weights])

    def leading_gradient(self) -> FloatArray:
        """∂λ₁/∂ log θ."""
        return self.gradients([np.eye(1, len(self.spectrum.eigenvalues))[0]])[0]


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
    """

    family: GramFamily
    n_clusters: int
    max_anisotropy: float
    log_scale: FloatArray
    level_bounds: tuple[float, float]
    n_evaluations: int = 0
    _last: Spectrum | None = field(default=None, repr=False)

    def evaluate(self, log_bandwidths: FloatArray, n_eigenvalues: int) -> Evaluation:
        """Spectrum at exp(log_bandwidths), warm-started from the previous one."""
        self.n_evaluations += 1
        activity.step("trying bandwidths")
        gram = self.family.at(np.exp(log_bandwidths))
        spectrum = spectrum_of(gram, n_eigenvalues, warm_start=self._last)
        self._last = spectrum
        return Evaluation(log_bandwidths, gram, spectrum)

    def evaluate_for(self, criterion: Criterion, log_bandwidths: FloatArray) -> Evaluation:
        """Spectrum with as many eigenvalues as ``criterion`` needs."""
        n_eigenvalues = min(criterion.n_eigenvalues(self.n_clusters), self.family.n_samples)
        return self.evaluate(log_bandwidths, n_eigenvalues)

    def criterion_value(self, criterion: Criterion, evaluation: Evaluation) -> float:
        """𝒬 at an evaluation."""
        return float(criterion.value(evaluation.spectrum.eigenvalues, self.n_clusters))

    def criterion_weights(self, criterion: Criterion, evaluation: Evaluation) -> FloatArray:
        """∂𝒬/∂λ_i at an evaluation."""
        return criterion.gradient(evaluation.spectrum.eigenvalues, self.n_clusters)


def is_feasible(evaluation: Evaluation, threshold: float) -> bool:
    """λ₁ ≥ τ − δ."""
    return evaluation.leading >= threshold - FEASIBILITY_TOL
