"""A search that needs a few dozen evaluations: L-BFGS-B for stage 1, SLSQP with λ₁ ≥ τ as a constraint for stage 2."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import numpy as np
from scipy.optimize import OptimizeResult, minimize

from kfrc._numerics import is_large_table
from kfrc.bandwidth.evaluations import Evaluation
from kfrc.bandwidth.optimizers.base import Ascent, Optimizer
from kfrc.bandwidth.optimizers.box import Box, box_for
from kfrc.bandwidth.problem import Problem, is_feasible
from kfrc.criteria import Criterion
from kfrc.typing import FloatArray

_OUT_OF_REACH = 0.01
"""A threshold this far above the largest λ₁ that stage 1 found is not tried for: as in the paper, the start is dropped.
Stage 1 stops at a relative change of 10⁻⁷, so the margin is generous."""

_SLSQP_MAX_VARIABLES = 50
"""An iteration of SLSQP costs the cube of their number; beyond this it is spared where λ₁ need not reach anything."""

_SLSQP_MOST_VARIABLES = 200
"""Beyond this the threshold is held by a penalty, so that an iteration costs no more than their number."""

_PENALTY_ROUNDS = 6
"""Times that the penalty is raised: the first multiplier is usually right to a tenth, the third to a thousandth."""

_PENALTY, _PENALTY_GROWTH = 10.0, 4.0
"""Price of the squared distance of λ₁ to the threshold in the first round, and by how much it grows; criteria are of
the order of one."""

_COMPARING_TOL = 1e-5
"""Tolerance of ascents in the limit that are compared: they end within 10⁻³ of where 10⁻⁷ would lead, at two thirds of
the evaluations, and the best of them goes on."""

_APPROACH = 10
"""Gradient steps with the kernel that was asked for before the limit: enough to tell columns with clusters."""

_WARM_UP_STEP = 0.3
_WARM_UP_MOMENTUM = 0.9


@dataclass(frozen=True)
class QuasiNewton(Optimizer, name="lbfgs"):
    """Quasi-Newton search over a box of log-bandwidths.

    The criteria have no maximum without a bound on the level of θ (they rise towards the linear kernel), so the box is
    part of the problem: log θ stays within ``level_bounds`` standard deviations on the log scale.

    Stage 2 runs twice and keeps the better end: from the end of stage 1, which is feasible if anything is, and from
    where stage 1 started, because climbing λ₁ first can lead into the wrong basin. The second run begins with a few
    short gradient steps, because the first quasi-Newton step is a long one and can jump out of the basin it starts in.
    With ``restart=False`` there is no second run: as in the paper, stage 2 only refines what stage 1 found.

    Parameters
    ----------
    max_iter : int, default=100
        Iterations of each run.
    tol : float, default=1e-7
        Stop when the value changes by less than this in one iteration.
    warm_up : int, default=25
        Gradient steps at the beginning of the second run of stage 2.
    restart : bool, default=True
        Whether there is a second run of stage 2. It costs as much again and finds larger criteria, which need not
        mean better clusters.
    at_limit : bool or "auto", default="auto"
        Whether the linear kernel takes over where an ascent has come to bandwidths so large that the two nearly agree.
        The criteria rise towards that limit, so most evaluations lie beyond, and with p features they are p × p
        problems. Only ratios matter there: the level is then as high as its bounds allow. Needs a bound on the ratios.
        With ``"auto"`` it does not, but tables of more than 500 rows and more than 20 columns are searched in the limit
        altogether, by criteria that have their supremum there, after ten short steps with the kernel itself on 300
        rows; starts are compared to 10⁻⁵, and the best is refined to ``tol`` on all rows.
    """

    max_iter: int = 100
    tol: float = 1e-7
    warm_up: int = 25
    restart: bool = True
    at_limit: bool | str = "auto"
    default_level_bounds: ClassVar[tuple[float, float]] = (-3.0, 10.0)
    follows_levels: ClassVar[bool] = True
    default_search_samples: ClassVar[int | None] = 20_000

    def for_candidates(self) -> Optimizer:
        """A coarser one: candidates are only compared, and the chosen one is reported with the values it has."""
        return replace(self, tol=1e-3, warm_up=5, max_iter=50)

    def for_limit(self, n_samples: int, n_features: int) -> tuple[Optimizer, Optimizer] | None:
        """The same with ``at_limit=True``, for large tables if ``at_limit="auto"``."""
        if self.at_limit != "auto" or not is_large_table(n_samples, n_features):
            return None
        refining = replace(self, at_limit=True)
        return replace(refining, tol=max(self.tol, _COMPARING_TOL), warm_up=0), refining

    def approach(self, problem: Problem, criterion: Criterion, start: FloatArray) -> FloatArray:
        """The warm-up of a second run, but shorter."""
        trace = self._trace(problem, criterion, threshold=0.0)
        n_steps = min(self.warm_up, _APPROACH)
        return trace.box.log_bandwidths(self._warmed_up(trace, trace.box.variables(start), n_steps))

    @classmethod
    def examples(cls) -> tuple[Self, ...]:  # noqa: D102
        return cls(), cls(restart=False)

    @property
    def continues_along_thresholds(self) -> bool:  # noqa: D102
        return self.restart

    @property
    def forgets_start(self) -> bool:  # noqa: D102
        return not self.restart

    @property
    def ends_in_limit(self) -> bool:  # noqa: D102
        return self.at_limit is True

    def maximize_leading(self, problem: Problem, start: FloatArray) -> Ascent:  # noqa: D102
        approaches = self.ends_in_limit and not problem.enter_limit(start)
        box = box_for(problem)
        trace = _Trace(
            box,
            evaluate=lambda log_bandwidths: problem.evaluate(log_bandwidths, 1),
            value=lambda evaluation: evaluation.leading,
            accepts=lambda evaluation: True,
        )
        x = box.variables(start)
        trace.at(x)
        if x.size:
            self._quasi_newton(trace, x, until=problem.enter_limit if approaches else None)
        return trace.ascent(problem)

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
        if stage1.eigenvalues[0] < threshold - _OUT_OF_REACH:
            return None
        if self.ends_in_limit:
            # A second run may only go on with the linear kernel if it begins there, too.
            problem.enter_limit(start if self.restart else stage1.log_bandwidths)
        trace = self._trace(problem, criterion, threshold)
        if not (repeats and self.restart):
            self._climb(trace, threshold, trace.box.variables(stage1.log_bandwidths))
        if self.restart:
            self._climb(trace, threshold, self._warmed_up(trace, trace.box.variables(start), self.warm_up))
        return trace.ascent(problem) if trace.best is not None else None

    def refine(  # noqa: D102
        self, problem: Problem, criterion: Criterion, threshold: float, start: FloatArray
    ) -> Ascent | None:
        if self.ends_in_limit:
            problem.enter_limit(start)
        trace = self._trace(problem, criterion, threshold)
        self._climb(trace, threshold, trace.box.variables(start))
        return trace.ascent(problem) if trace.best is not None else None

    def _trace(self, problem: Problem, criterion: Criterion, threshold: float) -> _Trace:
        return _Trace(
            box_for(problem),
            evaluate=lambda log_bandwidths: problem.evaluate_for(criterion, log_bandwidths),
            value=lambda evaluation: problem.criterion_value(criterion, evaluation),
            accepts=lambda evaluation: is_feasible(evaluation, threshold),
            weights=lambda evaluation: problem.criterion_weights(criterion, evaluation),
        )

    def _climb(self, trace: _Trace, threshold: float, x: FloatArray) -> None:
        """SLSQP on the criterion with λ₁ ≥ τ; the trace remembers the best feasible point."""
        trace.at(x)
        bounds = np.column_stack([trace.box.lower, trace.box.upper])
        if threshold <= 0 and x.size > _SLSQP_MAX_VARIABLES:
            self._quasi_newton(trace, x)
        elif x.size > _SLSQP_MOST_VARIABLES:
            self._penalized(trace, threshold, x)
        elif x.size:
            minimize(
                trace.negative_value,
                x,
                jac=trace.negative_gradient,
                method="SLSQP",
                bounds=bounds,
                constraints={
                    "type": "ineq",
                    "fun": lambda x: trace.at(x).leading - threshold,
                    "jac": trace.leading_gradient,
                },
                options={"maxiter": self.max_iter, "ftol": self.tol},
            )

    def _penalized(self, trace: _Trace, threshold: float, x: FloatArray) -> None:
        """Augmented Lagrangian with L-BFGS-B: λ₁ ≥ τ at a cost per iteration that is linear in the variables."""
        multiplier, price = 0.0, _PENALTY
        for _ in range(_PENALTY_ROUNDS):

            def penalized(
                x: FloatArray, multiplier: float = multiplier, price: float = price
            ) -> tuple[float, FloatArray]:
                short = max(multiplier / price + threshold - trace.at(x).leading, 0.0)
                gradient = trace.negative_gradient(x) - price * short * trace.leading_gradient(x)
                return trace.negative_value(x) + 0.5 * price * short**2, gradient

            x = minimize(
                penalized,
                x,
                jac=True,
                method="L-BFGS-B",
                bounds=np.column_stack([trace.box.lower, trace.box.upper]),
                options={"maxiter": self.max_iter, "ftol": self.tol, "gtol": 1e-6},
            ).x
            before = multiplier
            multiplier = max(multiplier + price * (threshold - trace.at(x).leading), 0.0)
            if is_feasible(trace.at(x), threshold) and abs(multiplier - before) <= self.tol * price:
                break
            price *= _PENALTY_GROWTH

    def _quasi_newton(self, trace: _Trace, x: FloatArray, until: Callable[[FloatArray], bool] | None = None) -> None:
        """L-BFGS-B without constraints but the box; from where ``until`` is true of log θ it begins once more."""
        reached = False

        def look(intermediate_result: OptimizeResult) -> None:
            nonlocal reached
            if until is not None and until(trace.box.log_bandwidths(intermediate_result.x)):
                reached = True
                raise StopIteration

        result = minimize(
            trace.negative_value_and_gradient,
            x,
            jac=True,
            method="L-BFGS-B",
            bounds=np.column_stack([trace.box.lower, trace.box.upper]),
            callback=None if until is None else look,
            options={"maxiter": self.max_iter, "ftol": self.tol, "gtol": 1e-6},
        )
        if reached:
            trace.forget()
            self._quasi_newton(trace, result.x)

    def _warmed_up(self, trace: _Trace, x: FloatArray, n_steps: int) -> FloatArray:
        """Heavy-ball steps on the criterion alone, inside the box."""
        velocity = np.zeros_like(x)
        for _ in range(n_steps if x.size else 0):
            velocity = _WARM_UP_MOMENTUM * velocity - _WARM_UP_STEP * trace.negative_gradient(x)
            x = np.clip(x + velocity, trace.box.lower, trace.box.upper)
        return x


@dataclass
class _Trace:
    """Evaluations at points of the box, remembered so that value, gradient and constraint share one spectrum."""

    box: Box
    evaluate: Callable[[FloatArray], Evaluation]
    value: Callable[[Evaluation], float]
    accepts: Callable[[Evaluation], bool]
    weights: Callable[[Evaluation], FloatArray] | None = None
    best: Evaluation | None = None
    points: list[tuple[FloatArray, float]] = field(default_factory=list)
    _best_value: float = -np.inf
    _x: FloatArray | None = None
    _value: float = -np.inf
    _evaluation: Evaluation | None = None
    _gradients: FloatArray | None = None

    def at(self, x: FloatArray) -> Evaluation:
        if self._x is None or self._evaluation is None or not (x == self._x).all():
            evaluation = self.evaluate(self.box.log_bandwidths(x))
            self._x, self._evaluation, self._gradients = x.copy(), evaluation, None
            self._value = self.value(evaluation)
            self.points.append((evaluation.log_bandwidths, self._value))
            # A constrained solver may end outside the constraint: remember the best point that is inside.
            if self.accepts(evaluation) and (self.best is None or self._value > self._best_value):
                self.best, self._best_value = evaluation, self._value
        return self._evaluation

    def _all_gradients(self, x: FloatArray) -> FloatArray:
        evaluation = self.at(x)
        if self._gradients is None:
            leading = np.eye(1, len(evaluation.eigenvalues))[0]
            wanted = [leading] if self.weights is None else [leading, self.weights(evaluation)]
            self._gradients = self.box.pull_back(evaluation.gradients(wanted))
        return self._gradients

    def forget(self) -> None:
        """The function has changed: what was best of it need not be."""
        self.best = self._x = None

    def negative_value(self, x: FloatArray) -> float:
        self.at(x)
        return -self._value

    def negative_gradient(self, x: FloatArray) -> FloatArray:
        return -self._all_gradients(x)[-1]

    def negative_value_and_gradient(self, x: FloatArray) -> tuple[float, FloatArray]:
        return self.negative_value(x), self.negative_gradient(x)

    def leading_gradient(self, x: FloatArray) -> FloatArray:
        return self._all_gradients(x)[0]

    def ascent(self, problem: Problem) -> Ascent:
        assert self.best is not None  # callers evaluate at least one acceptable point
        return Ascent.ending_at(problem.raised(self.best), len(self.points), self.points)
