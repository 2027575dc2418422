"""Parameters without effect: what a user should know was set in vain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kfrc.fitting.result import KernelFit
from kfrc.fitting.settings import PAPER, Counting, Settings, is_auto
from kfrc.fitting.tuning import Chosen

_SEARCH = ("max_anisotropy", "level", "threshold", "n_starts", "optimizer", "search_samples", "n_jobs")
_CHOICE = ("judge", "selection_samples")


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
    precomputed = result.kernel is None
    if not counts:
        reasons["the number of clusters is given"] = ("max_clusters",)
    if chooses:
        reasons["an automatic choice sees at most selection_samples rows"] = ("search_samples",)
    elif not counts:
        reasons["nothing is chosen"] = _CHOICE
    if precomputed:
        reasons["the kernel is precomputed"] = ("bandwidths", "approximation", "rank", *_SEARCH)
    elif result.search is None:
        reasons["no bandwidths are searched"] = _SEARCH
    if not precomputed and result.gram.backend != "nystrom":
        reasons[f'only "nystrom" has landmarks, and this approximation is "{result.gram.backend}"'] = ("rank",)
    phrases = []
    for reason, names in reasons.items():
        idle = [name for name in names if not _is_default(parameters[name], defaults[name])]
        if idle:
            phrases.append(f"{_listing(idle)} {'has' if len(idle) == 1 else 'have'} no effect: {reason}")
    return phrases + _autos_in_vain(parameters, settings)


def _autos_in_vain(parameters: Mapping[str, Any], settings: Settings) -> list[str]:
    """What was left to a choice that the optimizer does not allow."""
    optimizer = settings.tuning.options.optimizer
    if isinstance(settings.tuning, Chosen) or not settings.tuning.searches or optimizer.follows_levels:
        return []
    autos = [name for name in PAPER if is_auto(parameters[name])]
    if not autos:
        return []
    return [
        f'{_listing(autos)} = "auto" cannot be chosen with the {optimizer.label} optimizer and '
        f"{'is' if len(autos) == 1 else 'are'} set as in the paper: give values, as KFRC.paper does, or use "
        'optimizer="lbfgs"'
    ]


def _is_default(value: Any, default: Any) -> bool:
    return value is default or (type(value) is type(default) and value == default)


def _listing(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
