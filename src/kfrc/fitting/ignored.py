"""Parameters without effect: what a user should know was set in vain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kfrc.fitting.paths import Paths
from kfrc.fitting.result import KernelFit
from kfrc.fitting.settings import AUTO, PAPER, Counting, Settings, is_auto
from kfrc.fitting.tuning import Chosen
from kfrc.judges import DensityJudge, Judge
from kfrc.outliers import MANY_ROWS

_SHAPE = ("max_anisotropy", "level", "search_samples")
_SEARCH = (*_SHAPE, "threshold", "n_starts", "optimizer", "n_jobs")
_CHOICE = ("judge", "screen", "selection_samples")
_DESCENT = ("n_init", "max_iter", "tol")


def parameters_in_vain(
    parameters: Mapping[str, Any], defaults: Mapping[str, Any], settings: Settings, result: KernelFit
) -> list[str]:
    """One phrase for every group of parameters that were set but did nothing in a fit, with the reason.

    Parameters
    ----------
    parameters, defaults : mapping
        What the estimator has and what it has by default, by name.
    settings : Settings
    result : KernelFit

    Returns
    -------
    list of str
        Empty if everything that was set acted.
    """
    if result.n_clusters == 1:
        return []  # nothing has an effect, and the fit says so already
    reasons: dict[str, tuple[str, ...]] = {}
    counts, chooses = isinstance(settings.n_clusters, Counting), isinstance(settings.tuning, Chosen)
    backend = result.gram.backend
    if not counts:
        reasons["the number of clusters is given"] = ("max_clusters",)
    leads_paths = isinstance(settings.tuning, Paths)
    if leads_paths:
        reasons["paths have scales instead of bandwidths that are searched"] = (*_SEARCH, "criterion")
        reasons["the density judge bounds its rows itself"] = ("selection_samples",)
        if not isinstance(Judge.resolve(parameters["judge"]), DensityJudge):
            reasons["path kernels are judged by a DensityJudge"] = ("judge",)
    elif chooses:
        reasons["an automatic choice sees at most selection_samples rows"] = ("search_samples",)
    elif not counts:
        reasons["nothing is chosen"] = _CHOICE
    if settings.returns_posterior:
        reasons["the probabilities are returned as the judge gives them"] = _DESCENT
    if result.kernel is None:
        reasons["the kernel is precomputed"] = (
            "bandwidths",
            "approximation",
            "rank",
            "outliers",
            "column_types",
            *_SEARCH,
        )
        return _phrases(reasons, parameters, defaults) + _autos_in_vain(parameters, defaults, settings)
    if result.space is not None and result.space.types is not None:
        reasons["tables with levels, blanks or weights are searched in standard deviations"] = ("standardize",)
    if not settings.needs_scale and result.gram.n_samples <= MANY_ROWS:
        reasons[f"given bandwidths need no scale, and no bounded range up to {MANY_ROWS} rows"] = ("outliers",)
    if result.search is None and not leads_paths and not chooses:
        # The number of clusters is counted by searches of its own, with bandwidths of their own.
        idle = _SHAPE if counts else _SEARCH
        # Passes over blocks have threads.
        reasons["bandwidths are given"] = tuple(name for name in idle if not (result.in_blocks and name == "n_jobs"))
    if parameters["approximation"] not in (AUTO, backend):
        reasons[f'this kernel is held as "{backend}" here'] = ("approximation", "rank")
    elif backend != "nystrom":
        reasons[f'only "nystrom" has landmarks, and this approximation is "{backend}"'] = ("rank",)
    return _phrases(reasons, parameters, defaults) + _autos_in_vain(parameters, defaults, settings)


def _phrases(
    reasons: Mapping[str, tuple[str, ...]], parameters: Mapping[str, Any], defaults: Mapping[str, Any]
) -> list[str]:
    phrases = []
    for reason, names in reasons.items():
        idle = [name for name in names if not _is_default(parameters[name], defaults[name])]
        if idle:
            phrases.append(f"{_listing(idle)} {'has' if len(idle) == 1 else 'have'} no effect: {reason}")
    return phrases


def _autos_in_vain(parameters: Mapping[str, Any], defaults: Mapping[str, Any], settings: Settings) -> list[str]:
    """What was left to a choice that cannot be made: where nothing is searched only what was left to it on purpose."""
    tuning = settings.tuning
    if isinstance(tuning, Chosen | Paths):
        return []
    autos = [name for name in PAPER if is_auto(parameters[name])]
    optimizer = tuning.options.optimizer
    if tuning.searches and not optimizer.follows_levels:
        why = f"with the {optimizer.label} optimizer"
        remedy = 'give values, as KFRC.paper does, or use optimizer="lbfgs"'
    elif tuning.searches:
        why, remedy = "where every candidate is the same", "without anisotropy no criterion matters"
    else:
        autos = [name for name in autos if not is_auto(defaults[name])]
        why, remedy = "where no bandwidths are searched", "give values"
    if not autos:
        return []
    verb = "is" if len(autos) == 1 else "are"
    return [f'{_listing(autos)} = "auto" cannot be chosen {why} and {verb} set as in the paper: {remedy}']


def _is_default(value: Any, default: Any) -> bool:
    return value is default or (type(value) is type(default) and value == default)


def _listing(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
