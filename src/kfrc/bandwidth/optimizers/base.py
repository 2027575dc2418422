"""What an optimizer must supply: one ascent for each stage, from one start."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kfrc._registry import Registered
from kfrc.bandwidth.evaluations import Evaluation
from kfrc.bandwidth.problem import Problem
from kfrc.criteria import Criterion
from kfrc.typing import FloatArray


@dataclass(frozen=True)
class AscentPath:
    """The points an ascent visited.

    Attributes
    ----------
    log_bandwidths : ndarray of shape (n_points, n_features)
    values : ndarray of shape (n_points,)
        λ₁ in stage 1, the criterion in stage 2.
    """

    log_bandwidths: FloatArray
    values: FloatArray


@dataclass(frozen=True)
class Ascent:
    """Where an ascent ended.

    Attributes
    ----------
    log_bandwidths : ndarray of shape (n_features,)
    eigenvalues : ndarray of shape (k,)
        Leading eigenvalues of F there: one in stage 1, those of the criterion in stage 2.
    n_iter : int
    path : AscentPath
    binding_threshold : float
        The same ascent results for every threshold up to this one.
    """

    log_bandwidths: FloatArray
    eigenvalues: FloatArray
    n_iter: int
    path: AscentPath
    binding_threshold: float

    @classmethod
    def ending_at(
        cls,
        end: Evaluation,
        n_iter: int,
        points: list[tuple[FloatArray, float]],
        binding_threshold: float | None = None,
    ) -> Ascent:
        """From the last evaluation and the points on the way; the Gram matrix is let go."""
        binding = end.leading if binding_threshold is None else binding_threshold
        path = AscentPath(np.array([point for point, _ in points]), np.array([value for _, value in points]))
        return cls(end.log_bandwidths, end.eigenvalues, n_iter, path, binding)


@dataclass(frozen=True)
class Optimizer(Registered, ABC):
    """A strategy for both stages; frozen, with its settings as fields."""

    default_level_bounds: ClassVar[tuple[float, float]] = (-np.inf, np.inf)
    follows_levels: ClassVar[bool] = False
    """Whether an automatic choice may follow bandwidths along levels; if not, the level is what the search makes it."""
    default_search_samples: ClassVar[int | None] = None
    """Rows that ``search_samples="auto"`` lets the starts see; None for all of them."""

    def for_candidates(self) -> Optimizer:
        """What an automatic choice uses for its candidates when this optimizer is asked for by name."""
        return self

    def for_limit(self, n_samples: int, n_features: int) -> tuple[Optimizer, Optimizer] | None:
        """How a table of this size is searched where the kernel is as good as the linear one, if it should be.

        What compares the starts, which may be coarse, and what refines the best end.
        """
        return None

    def approach(self, problem: Problem, criterion: Criterion, start: FloatArray) -> FloatArray:
        """A few short steps up the criterion, after which the ratios of bandwidths point to what is in the data."""
        return start

    @property
    def continues_along_thresholds(self) -> bool:
        """Whether the solution at a smaller threshold is where the search at a larger one begins."""
        return False

    @property
    def forgets_start(self) -> bool:
        """Whether stage 2 depends on the end of stage 1 alone, so that equal ends need only one of it."""
        return False

    @property
    def ends_in_limit(self) -> bool:
        """Whether eigenvalues of an end may be those of the linear kernel in place of the one that was asked for."""
        return False

    @abstractmethod
    def maximize_leading(self, problem: Problem, start: FloatArray) -> Ascent:
        """Stage 1: climb λ₁ from ``start``."""

    @abstractmethod
    def maximize_criterion(
        self,
        problem: Problem,
        criterion: Criterion,
        threshold: float,
        start: FloatArray,
        stage1: Ascent,
        *,
        repeats: bool = False,
    ) -> Ascent | None:
        """Stage 2: climb the criterion with λ₁ ≥ τ, from the end of stage 1; None if nothing feasible was found.

        ``repeats`` says that an earlier start had the same end of stage 1, so that only what follows from ``start``
        itself can be new.
        """

    def refine(self, problem: Problem, criterion: Criterion, threshold: float, start: FloatArray) -> Ascent | None:
        """Climb the criterion from a point that is already good, such as the result on a subset of the rows."""
        here = problem.evaluate(start, 1)
        return self.maximize_criterion(problem, criterion, threshold, start, Ascent.ending_at(here, 0, [(start, 0.0)]))
