"""Several runs of the clustering, of which the worse half gives up at every look."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kfrc.dissimilarity import Dissimilarity
from kfrc.fuzzifiers import Fuzzifier
from kfrc.relational.acceleration import USUAL_MEMORY
from kfrc.relational.solver import SAME_OBJECTIVE, RelationalSolution, descend, in_order_of_appearance
from kfrc.relational.starts import Start, starting_memberships
from kfrc.typing import Progress, RandomStateLike

_FIRST_LOOK = 0.1
"""Largest movement of a membership at the first look; at each further one it is a tenth of the one before."""


def race(
    dissimilarity: Dissimilarity,
    n_clusters: int,
    t: Fuzzifier,
    start: Start,
    *,
    n_init: int,
    max_iter: int,
    tol: float,
    random_state: RandomStateLike = None,
    progress: Progress | None = None,
) -> RelationalSolution:
    """The lowest of several runs, most of which are not followed to their end.

    All runs go on until no membership moves by more than 0.1, the better half of them until none moves by more than
    0.01, and so on; the last one has converged as :func:`kfrc.relational.solve_relational` demands. Steps are
    extrapolated (:func:`kfrc.relational.descend`). A run that would have overtaken the others later is missed.

    Parameters
    ----------
    dissimilarity : Dissimilarity
    n_clusters : int
    t : Fuzzifier
    start : Start
    n_init, max_iter, tol, random_state, progress
        See :func:`kfrc.relational.solve_relational`.

    Returns
    -------
    RelationalSolution
        ``n_iter`` and ``objective_path`` are those of the run that is returned.
    """
    t.check_weights(n_clusters)
    look = max(_FIRST_LOOK, tol) if n_init > 1 else tol
    runs: dict[int, RelationalSolution] = {}
    for k, U in enumerate(starting_memberships(start, n_init, dissimilarity, n_clusters, random_state)):
        runs[k] = descend(dissimilarity, t, U, max_iter, look, USUAL_MEMORY)
        if progress is not None:
            progress(f"clustering {k + 1}/{n_init}")
    while look > tol:
        better = sorted(runs, key=lambda k: runs[k].objective)[: (len(runs) + 1) // 2]
        look = max(look / 10.0, tol) if len(better) > 1 else tol
        runs = {k: _continued(dissimilarity, t, runs[k], max_iter, look) for k in sorted(better)}
    # Runs that reach the same minimum differ by rounding; the first of them is kept, as without a race.
    lowest = min(run.objective for run in runs.values())
    best = next(k for k, run in runs.items() if run.objective <= lowest + SAME_OBJECTIVE * abs(lowest))
    return runs[best] if start.numbers_run(best) else in_order_of_appearance(runs[best])


def _continued(
    dissimilarity: Dissimilarity, t: Fuzzifier, run: RelationalSolution, max_iter: int, tol: float
) -> RelationalSolution:
    """The run up to a smaller tolerance, as if it had never stopped."""
    if run.n_iter >= max_iter:
        return run
    rest = descend(dissimilarity, t, run.memberships, max_iter - run.n_iter, tol, USUAL_MEMORY)
    return replace(
        rest,
        objective_path=np.concatenate([run.objective_path, rest.objective_path[1:]]),
        n_iter=run.n_iter + rest.n_iter,
        negative_distances=run.negative_distances or rest.negative_distances,
    )
