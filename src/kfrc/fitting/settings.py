"""What a fit is told: every parameter of KFRC, checked and resolved to objects, once and before any work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from kfrc._validation import (
    check_flag,
    check_level,
    check_n_jobs,
    check_number,
    check_positive_int,
    check_positive_numbers,
)
from kfrc.bandwidth import Optimizer
from kfrc.columns import MISSING
from kfrc.criteria import Criterion
from kfrc.fitting.paths import Paths
from kfrc.fitting.tuning import Chosen, Fixed
from kfrc.fuzzifiers import Fuzzifier, resolve_fuzzifier
from kfrc.gram import APPROXIMATIONS
from kfrc.judges import DensityJudge, Judge
from kfrc.kernels import EmbeddedKernel, Kernel
from kfrc.kernels.linear import Linear
from kfrc.kernels.path import PathKernel
from kfrc.relational import Spectral, Start
from kfrc.screening import Screen
from kfrc.selection import (
    ANISOTROPIES,
    CRITERIA,
    FUZZIFIERS,
    FUZZINESS,
    KERNELS,
    LEVELS,
    Grid,
    SearchOptions,
    fuzziness_path,
)

AUTO = "auto"
PRECOMPUTED = "precomputed"
_USUAL_RUNS = 4
"""What ``n_init="auto"`` means where the clustering does not continue from something."""

MEMBERSHIPS = ("fuzzy", "posterior")
OUTLIERS = ("clip", "keep")

TRIED: Mapping[str, tuple[Any, ...]] = {
    "kernel": KERNELS,
    "fuzzifier": FUZZIFIERS,
    "m": FUZZINESS,
    "criterion": CRITERIA,
    "max_anisotropy": ANISOTROPIES,
    "level": LEVELS,
}
"""What "auto" compares; m as shares of the way from a hard partition to the fuzzifier's default."""

PAPER: Mapping[str, tuple[Any, ...]] = {
    "kernel": ("sum",),
    "fuzzifier": ("complementary_root",),
    "m": (None,),
    "criterion": ("sum",),
    "max_anisotropy": (5.0,),
    "level": (None,),
}
"""Fixed settings of the paper: what "auto" means where nothing can be judged, and what ``KFRC.paper`` uses."""


def is_auto(value: Any) -> bool:
    """Whether a parameter leaves its value to the fit."""
    return isinstance(value, str) and value == AUTO


@dataclass(frozen=True)
class Counting:
    """How the number of clusters is found.

    Attributes
    ----------
    largest : int
        Largest number to try.
    grid : Grid
        Kernel, criterion and fuzzifier to count with: the first of each.
    judge : Judge
    screen : Screen
    max_rows : int
        With more rows than this a random subset of that many is judged.
    """

    largest: int
    grid: Grid
    judge: Judge
    screen: Screen
    max_rows: int


@dataclass(frozen=True)
class Descent:
    """How the clustering at the end is run.

    Attributes
    ----------
    init : str, Start or array-like of shape (n_samples, n_clusters)
    proposing : Start
        Where partitions that a judge compares begin: ``init``, or the usual start if that is an array.
    n_init : int or None
        Runs; None means as many as usual from a name, and one from memberships that are there already.
    max_iter : int
    tol : float
    """

    init: Any
    proposing: Start
    n_init: int | None
    max_iter: int
    tol: float

    def n_runs(self, *, continued: bool) -> int:
        """How often the clustering runs, from a start or continued from memberships that are there already."""
        if self.n_init is not None:
            return self.n_init
        return 1 if continued else _USUAL_RUNS


@dataclass(frozen=True)
class Settings:
    """All of a fit.

    Attributes
    ----------
    n_clusters : int or Counting
    tuning : Fixed, Chosen or Paths
    descent : Descent
    returns_posterior : bool
        Whether the judge's probabilities are returned as memberships.
    clips_outliers : bool
        Whether values far outside the bulk are moved to fences.
    needs_scale : bool
        Whether bandwidths are found relative to the deviations of the columns, which few values should not rule.
    """

    n_clusters: int | Counting
    tuning: Fixed | Chosen | Paths
    descent: Descent
    returns_posterior: bool
    clips_outliers: bool
    needs_scale: bool

    @property
    def needs_numbers(self) -> str | None:
        """Why tables with levels, blanks or weights cannot be fitted; None if they can."""
        tuning = self.tuning
        if isinstance(tuning, Paths) or any(isinstance(kernel, EmbeddedKernel) for kernel in tuning.grid.kernels):
            return 'kernel="path" needs complete numbers without weights: use kernel="sum" for such tables'
        for part in (tuning, self.n_clusters):
            if isinstance(part, Chosen | Counting) and not part.judge.takes_tables:
                return f'the {part.judge.label} judge needs complete numbers without weights: use judge="mixture"'
        return None

    @property
    def takes_tables(self) -> bool:
        """Whether tables with levels, blanks or weights can be fitted."""
        return self.needs_numbers is None

    @property
    def n_tasks(self) -> int:
        """Units of work that a fit reports at most."""
        counted = self.n_clusters.largest if isinstance(self.n_clusters, Counting) else 0
        return counted + self.tuning.n_tasks + self.descent.n_runs(continued=isinstance(self.tuning, Chosen | Paths))


def resolve_settings(parameters: Mapping[str, Any], n_clusters: int | None) -> Settings:
    """Check the parameters of an estimator and turn names, "auto" and None into objects.

    Parameters
    ----------
    parameters : mapping
        Constructor parameters of :class:`kfrc.KFRC` by name.
    n_clusters : int or None
        None if the number is to be found.

    Returns
    -------
    Settings

    Raises
    ------
    ValueError, TypeError
        If a parameter cannot be used, alone or with the others.
    """
    precomputed = parameters["kernel"] == PRECOMPUTED
    if parameters["memberships"] not in MEMBERSHIPS:
        raise ValueError(f'memberships must be "fuzzy" or "posterior", got {parameters["memberships"]!r}')
    if parameters["outliers"] not in OUTLIERS:
        raise ValueError(f'outliers must be "clip" or "keep", got {parameters["outliers"]!r}')
    _check_reading(parameters)
    options = _search_options(parameters)
    max_rows = check_positive_int(parameters["selection_samples"], "selection_samples")
    largest = check_positive_int(parameters["max_clusters"], "max_clusters")
    judge = Judge.resolve(parameters["judge"])
    screen = Screen.resolve(parameters["screen"])
    searches = not precomputed and parameters["bandwidths"] is None and n_clusters != 1
    may_choose = searches and options.optimizer.follows_levels
    grid = _grid(parameters, TRIED if may_choose else PAPER)
    chooses = may_choose and grid.is_a_choice
    tuning: Fixed | Chosen | Paths
    leads_paths = n_clusters != 1 and isinstance(grid.kernels[0], PathKernel)
    if leads_paths:
        tuning = _paths(parameters, judge, screen, options)
    elif chooses:
        tuning = Chosen(grid, judge, screen, options, max_rows)
    else:
        tuning = Fixed(grid, options, searches, parameters["bandwidths"])
    returns_posterior = parameters["memberships"] == "posterior"
    if returns_posterior:
        asked = tuning.judge if isinstance(tuning, Paths) else judge
        judged = chooses or leads_paths
        _check_posterior(asked, None if judged else _why_nothing_is_chosen(parameters, n_clusters, options))
    return Settings(
        n_clusters=Counting(largest, grid, judge, screen, max_rows) if n_clusters is None else n_clusters,
        tuning=tuning,
        descent=_descent(parameters),
        returns_posterior=returns_posterior,
        clips_outliers=parameters["outliers"] == "clip",
        needs_scale=parameters["bandwidths"] is None,
    )


def _check_reading(parameters: Mapping[str, Any]) -> None:
    """Check how a table is to be read, also where there is none because a Gram matrix is given."""
    missing, types = parameters["missing"], parameters["column_types"]
    if not (isinstance(missing, str) and missing in MISSING):
        raise ValueError(f'missing must be "partial", "level" or "error", got {missing!r}')
    if types is not None and not isinstance(types, Mapping):
        raise TypeError(f"column_types must map names of columns to types, got {types!r}")
    check_flag(parameters["standardize"], "standardize")
    if parameters["bandwidths"] is not None:
        check_positive_numbers(parameters["bandwidths"], "bandwidths")


def _paths(parameters: Mapping[str, Any], judge: Judge, screen: Screen, options: SearchOptions) -> Paths:
    """A kernel given by its name leaves its settings to the judge; one given as an object has them."""
    density = judge if isinstance(judge, DensityJudge) else DensityJudge()
    if isinstance(parameters["kernel"], PathKernel):
        density = replace(density, kernels=(parameters["kernel"],))
    return Paths(_grid(parameters, TRIED), options, density, screen, parameters["bandwidths"])


def _check_posterior(judge: Judge, obstacle: str | None) -> None:
    if obstacle is not None:
        raise ValueError(
            f'memberships="posterior" needs an automatic choice, whose judge supplies the probabilities: {obstacle}'
        )
    if not judge.has_model:
        raise ValueError(
            f'memberships="posterior" needs a judge with a model for probabilities, which {judge.label} has not'
        )


def _why_nothing_is_chosen(parameters: Mapping[str, Any], n_clusters: int | None, options: SearchOptions) -> str:
    if parameters["kernel"] == PRECOMPUTED:
        return "a precomputed kernel leaves nothing to choose"
    if n_clusters == 1:
        return "one cluster leaves nothing to choose"
    if parameters["bandwidths"] is not None:
        return "given bandwidths leave nothing to choose"
    if not options.optimizer.follows_levels:
        return f'the {options.optimizer.label} optimizer chooses nothing, use optimizer="lbfgs"'
    return 'leave m, level or max_anisotropy at "auto"'


def _search_options(parameters: Mapping[str, Any]) -> SearchOptions:
    threshold, approximation, rank = parameters["threshold"], parameters["approximation"], parameters["rank"]
    search_samples = parameters["search_samples"]
    optimizer = Optimizer.resolve(parameters["optimizer"])
    if approximation not in APPROXIMATIONS:
        raise ValueError(f"unknown approximation {approximation!r}: choose one of {', '.join(APPROXIMATIONS)}")
    return SearchOptions(
        threshold=None if threshold is None else check_number(threshold, "threshold", minimum=0.0),
        n_starts=check_positive_int(parameters["n_starts"], "n_starts"),
        optimizer=optimizer,
        # One that was given with its settings is used with them everywhere.
        path_optimizer=optimizer.for_candidates() if isinstance(parameters["optimizer"], str) else optimizer,
        approximation=approximation,
        rank=None if rank is None else check_positive_int(rank, "rank"),
        search_samples=search_samples
        if search_samples is None or is_auto(search_samples)
        else check_positive_int(search_samples, "search_samples"),
        n_jobs=check_n_jobs(parameters["n_jobs"]),
    )


def _descent(parameters: Mapping[str, Any]) -> Descent:
    init = parameters["init"]
    start = Start.resolve(init) if isinstance(init, (str, Start)) else None
    return Descent(
        init=init,
        proposing=Spectral() if start is None or start.keeps_numbering else start,
        n_init=None if is_auto(parameters["n_init"]) else check_positive_int(parameters["n_init"], "n_init"),
        max_iter=check_positive_int(parameters["max_iter"], "max_iter"),
        tol=check_number(parameters["tol"], "tol", minimum=0.0),
    )


def _grid(parameters: Mapping[str, Any], autos: Mapping[str, tuple[Any, ...]]) -> Grid:
    """What may be used: every "auto" stands for the values in ``autos``, anything else for itself."""

    def values(name: str) -> list[Any]:
        value = parameters[name]
        return list(autos[name]) if is_auto(value) else [value]

    def is_usual(name: str) -> bool:
        return is_auto(parameters[name]) or parameters[name] in PAPER[name]

    fuzzifiers = [Fuzzifier.resolve(name) for name in values("fuzzifier")]
    if is_auto(parameters["m"]) and autos is TRIED:
        with_m = [t for fuzzifier in fuzzifiers for t in fuzziness_path(fuzzifier, autos["m"])]
    else:
        with_m = [resolve_fuzzifier(fuzzifier, m) for fuzzifier in fuzzifiers for m in values("m")]
    levels = [None if level is None else check_level(level) for level in values("level")]
    return Grid(
        kernels=tuple(_kernel(name) for name in values("kernel")),
        criteria=tuple(Criterion.resolve(name) for name in values("criterion")),
        anisotropies=tuple(check_number(a, "max_anisotropy", minimum=1.0) for a in values("max_anisotropy")),
        levels=tuple(levels),
        fuzzifiers=tuple(with_m),
        # A fuzzifier or kernel that was named is kept, and so is one whose m, bandwidths or λ₁ are restricted.
        may_weigh_sizes=autos is TRIED and is_usual("fuzzifier") and is_auto(parameters["m"]),
        may_change_kernel=autos is TRIED
        and is_usual("kernel")
        and is_auto(parameters["level"])
        and is_auto(parameters["max_anisotropy"])
        and parameters["threshold"] is None,
    )


def _kernel(spec: Any) -> Kernel:
    # A given Gram matrix is the linear kernel of features that nobody sees.
    return Linear() if spec == PRECOMPUTED else Kernel.resolve(spec)
