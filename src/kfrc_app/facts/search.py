"""How the bandwidths were found: the starts of the search and their courses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kfrc import KFRC
from kfrc.clusterers import FuzzyClusterer
from kfrc.typing import FloatArray
from kfrc_app.facts.text import plain

_N_TRACE = 40
"""Points of a course that are drawn."""


@dataclass(frozen=True)
class SearchStart:
    """One start of the search and where it ended.

    Attributes
    ----------
    name : str
    stage1_eigenvalue : float
    feasible : bool
    criterion_value : float or None
        None if nothing feasible was found.
    iterations, evaluations : int
    trace : tuple of float
        Course of the criterion, thinned.
    won : bool
    """

    name: str
    stage1_eigenvalue: float
    feasible: bool
    criterion_value: float | None
    iterations: int
    evaluations: int
    trace: tuple[float, ...]
    won: bool


@dataclass(frozen=True)
class Search:
    """The search for bandwidths.

    Attributes
    ----------
    starts : tuple of SearchStart
    threshold : float
        What λ₁ had to reach.
    n_evaluations : int
    refined : bool
        Whether the best start was refined on all rows.
    followed : bool
        Whether the bandwidths were followed down the levels of an automatic choice, not searched at one level alone.
    level : float
        Mean log-bandwidth in standard deviations.
    active_level_bound : str or None
        Which bound on the bandwidths holds the solution.
    """

    starts: tuple[SearchStart, ...]
    threshold: float
    n_evaluations: int
    refined: bool
    followed: bool
    level: float
    active_level_bound: str | None


def search_facts(model: FuzzyClusterer) -> Search | None:
    """Every start of the search, or the one course down the levels of an automatic choice; None without a search."""
    if not isinstance(model, KFRC) or model.search_ is None:
        return None
    search = model.search_
    refined = len(search.candidates) > model.n_starts
    starts = []
    for k, candidate in enumerate(search.candidates):
        last = refined and k == len(search.candidates) - 1
        path = candidate.stage1_path.values if candidate.stage2_path is None else candidate.stage2_path.values
        starts.append(
            SearchStart(
                name="all rows" if last else f"start {k + 1}",
                stage1_eigenvalue=float(candidate.stage1_eigenvalue),
                feasible=candidate.feasible,
                criterion_value=plain(candidate.criterion_value),
                iterations=int(candidate.stage1_iterations + candidate.stage2_iterations),
                evaluations=int(candidate.n_evaluations),
                trace=_thinned(path),
                won=k == search.best,
            )
        )
    return Search(
        starts=tuple(starts),
        threshold=float(search.threshold),
        n_evaluations=int(search.n_evaluations),
        refined=refined,
        followed=_followed_levels(model),
        level=float(search.level),
        active_level_bound=search.active_level_bound,
    )


def _followed_levels(model: KFRC) -> bool:
    search = model.search_
    if search is None or model.selection_ is None or model.level is None:
        return False
    return len(search.candidates) == 1 and search.candidates[0].stage1_iterations == 0


def _thinned(values: FloatArray) -> tuple[float, ...]:
    values = np.asarray(values)[np.isfinite(values)]
    if len(values) > _N_TRACE:
        values = values[np.linspace(0, len(values) - 1, _N_TRACE).round().astype(int)]
    return tuple(values.tolist())
