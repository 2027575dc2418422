"""What the bandwidth search returns: the selected bandwidths, and what every start led to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kfrc.bandwidth.optimizers.base import AscentPath
from kfrc.typing import FloatArray


@dataclass(frozen=True)
class SearchRun:
    """What one start led to.

    Attributes
    ----------
    start : ndarray of shape (n_features,)
        Log-bandwidths it began at.
    stage1_eigenvalue : float
        λ₁ at the end of stage 1.
    stage1_iterations, stage2_iterations : int
    stage1_path, stage2_path : AscentPath
        Every point visited; ``stage2_path`` is None if the threshold was not reached.
    log_bandwidths : ndarray of shape (n_features,)
        Where it ended.
    criterion_value : float
        The criterion there; ``-inf`` if infeasible.
    eigenvalues : ndarray of shape (k,) or None
        Leading eigenvalues there; None if infeasible.
    n_evaluations : int
        Spectra computed.
    binding_threshold : float
        The same candidate results for every threshold up to this one.
    """

    start: FloatArray
    stage1_eigenvalue: float
    stage1_iterations: int
    stage1_path: AscentPath
    log_bandwidths: FloatArray
    criterion_value: float
    stage2_iterations: int
    stage2_path: AscentPath | None
    eigenvalues: FloatArray | None
    n_evaluations: int
    binding_threshold: float = -np.inf

    @property
    def feasible(self) -> bool:
        """Whether the threshold was reached."""
        return self.eigenvalues is not None


@dataclass(frozen=True)
class BandwidthResult:
    """Selected bandwidths and how they were found.

    Attributes
    ----------
    bandwidths : ndarray of shape (n_features,)
        θ, in the units of X.
    log_bandwidths : ndarray of shape (n_features,)
    eigenvalues : ndarray of shape (n_clusters,)
        Leading eigenvalues of F, descending.
    criterion_value : float
    feasible : bool
        λ₁ ≥ τ (up to the 10⁻⁶ of the paper's line search).
    threshold : float
        τ.
    candidates : tuple of SearchRun
        One per start, in order; one more at the end if the best was refined, on all rows or with a smaller tolerance.
    best : int
        Which of them was selected.
    n_evaluations : int
        Spectra computed, all starts together.
    linear_limit : bool
        Whether the spectrum is numerically that of the linear kernel: only the ratios of the bandwidths matter.
    level : float
        Mean of log θ in units of the features' standard deviations.
    active_level_bound : {"lower", "upper"} or None
        The bound on the level that holds the solution, if one does.
    approximation_error : float
        Relative error of distances if the bandwidths are too small for the kernel to be resolved, else zero.
    """

    bandwidths: FloatArray
    log_bandwidths: FloatArray
    eigenvalues: FloatArray
    criterion_value: float
    feasible: bool
    threshold: float
    candidates: tuple[SearchRun, ...]
    best: int
    n_evaluations: int
    linear_limit: bool
    level: float
    active_level_bound: str | None
    approximation_error: float = 0.0
