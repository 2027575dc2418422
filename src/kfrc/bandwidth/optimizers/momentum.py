"""The paper's algorithm to the letter: gradient ascent with momentum, 500 steps at most (Algorithms B.3 and B.4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from kfrc.bandwidth.evaluations import Evaluation
from kfrc.bandwidth.optimizers.base import Ascent, Optimizer
from kfrc.bandwidth.problem import Problem, is_feasible
from kfrc.bandwidth.projections import project_anisotropy, project_feasible, project_level
from kfrc.criteria import Criterion
from kfrc.typing import FloatArray


@dataclass(frozen=True)
class MomentumAscent(Optimizer, name="momentum"):
    """Heavy-ball ascent in log θ with the paper's projections.

    The criteria rise with the common scale of θ almost everywhere, so the end point is where ``max_iter`` steps of
    this length lead, not a maximum; it reproduces the paper, early stopping included.

    Parameters
    ----------
    learning_rate : float, default=0.2
        η; stage 2 uses half of it.
    momentum : float, default=0.9
        γ.
    max_iter : int, default=500
        T, for each stage.
    tol : float, default=1e-5
        ε: stop when no log-bandwidth moves by more.
    stage2_momentum : bool, default=True
        Momentum in stage 2, as printed in the paper. The authors' published numbers were made without.
    """

    learning_rate: float = 0.2
    momentum: float = 0.9
    max_iter: int = 500
    tol: float = 1e-5
    stage2_momentum: bool = True

    @classmethod
    def examples(cls) -> tuple[Self, ...]:  # noqa: D102
        return (cls(max_iter=30),)  # its 500 steps take seconds and change no law

    def maximize_leading(self, problem: Problem, start: FloatArray) -> Ascent:  # noqa: D102
        current = problem.evaluate(start, 1)
        points = [(start, current.leading)]
        velocity = np.zeros_like(start)
        n_iter = 0
        moving = True
        while moving and n_iter < self.max_iter:
            n_iter += 1
            velocity = self.momentum * velocity + self.learning_rate * current.leading_gradient()
            proposed = _project(problem, current.log_bandwidths + velocity)
            moving = _step_size(proposed, current.log_bandwidths) >= self.tol
            current = problem.evaluate(proposed, 1)
            points.append((proposed, current.leading))
        return Ascent.ending_at(current, n_iter, points)

    def maximize_criterion(  # noqa: D102
        self,
        problem: Problem,
        criterion: Criterion,
        threshold: float,
        start: FloatArray,
        stage1: Ascent,
        *,
        repeats: bool = False,
    ) -> Ascent | None:
        if stage1.eigenvalues[0] < threshold:
            return None
        gamma = self.momentum if self.stage2_momentum else 0.0

        def evaluate(log_bandwidths: FloatArray) -> Evaluation:
            return problem.evaluate_for(criterion, log_bandwidths)

        current = evaluate(stage1.log_bandwidths)
        points = [(current.log_bandwidths, problem.criterion_value(criterion, current))]
        lowest = current.leading
        velocity = np.zeros_like(current.log_bandwidths)
        n_iter = 0
        moving = True
        while moving and n_iter < self.max_iter:
            n_iter += 1
            gradient = current.gradients([problem.criterion_weights(criterion, current)])[0]
            velocity = gamma * velocity + self.learning_rate / 2 * gradient
            proposed = _project(problem, current.log_bandwidths + velocity)
            accepted = project_feasible(
                evaluate, lambda trial: is_feasible(trial, threshold), current.log_bandwidths, proposed
            )
            following = current if accepted is None else accepted
            lowest = min(lowest, following.leading)
            moving = _step_size(following.log_bandwidths, current.log_bandwidths) >= self.tol
            current = following
            points.append((current.log_bandwidths, problem.criterion_value(criterion, current)))
        # A larger threshold changes nothing as long as no point of the path falls below it.
        return Ascent.ending_at(current, n_iter, points, binding_threshold=lowest)


def _project(problem: Problem, log_bandwidths: FloatArray) -> FloatArray:
    projected = project_anisotropy(log_bandwidths, problem.max_anisotropy)
    return project_level(projected, problem.log_scale, problem.level_bounds)


def _step_size(new: FloatArray, old: FloatArray) -> float:
    return float(np.abs(new - old).max())
