"""Kernels with their bandwidths for every point of a grid, and the partitions they propose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import TypeAlias

import numpy as np
from joblib import Parallel, delayed

from kfrc import activity
from kfrc.bandwidth import BandwidthResult, Optimizer, QuasiNewton, select_bandwidths
from kfrc.bandwidth.path import bandwidth_path
from kfrc.columns import Rows, Table, log_deviations, on_columns
from kfrc.criteria import Criterion
from kfrc.dissimilarity import Dissimilarity
from kfrc.exceptions import InfeasibleBandwidthError
from kfrc.fuzzifiers import Fuzzifier
from kfrc.gram import GramFamily, gram_family
from kfrc.kernels import AdditiveKernel, Kernel
from kfrc.kernels.linear import Linear
from kfrc.relational import Start, descend, draw_memberships
from kfrc.selection.grid import Grid, fuzziness_path
from kfrc.spectrum import spectrum_of
from kfrc.typing import FloatArray, IntArray, Progress

_Search: TypeAlias = tuple[Kernel, Criterion, float]

PROPOSING = (0.1, 0.3, 0.6)
"""Fuzziness of the partitions that the judge is shown."""

_QUASI_NEWTON: Optimizer = QuasiNewton()
_COARSE = _QUASI_NEWTON.for_candidates()

_GRAM_TOL = 1e-6
"""Share of a column that the kernels of candidates may leave out: λ₁ is then right to as many digits."""

_BALANCE = 1.0
"""By how much log θ of columns with levels, or of numbers, is raised to change their balance."""

MAX_ITER = 60
TOL = 1e-3
"""Candidates are compared before they have converged fully; the chosen one goes on."""

FIRST_ITER = 10
FIRST_TOL = 1e-2
"""What a look takes: partitions for a judge, who goes on from there himself, and candidates that may be far behind."""


@dataclass(frozen=True)
class SearchOptions:
    """What every bandwidth search of a fit is told.

    Attributes
    ----------
    threshold : float or None
        Smallest λ₁ to accept. None accepts all on a path of levels, as every m is held below its critical value, and
        otherwise means the smallest τ among the fuzzifiers.
    n_starts : int
    optimizer : Optimizer
        Used where the level is not on a path.
    path_optimizer : Optimizer
        Used along a path of levels.
    approximation, rank
        How Gram matrices are held.
    search_samples : int, "auto" or None
        Rows that the starts of a single search see; candidates are few enough rows already.
    n_jobs : int or None
    one_scale : bool
        Whether columns that vary more count more, because all are on one scale.
    """

    threshold: float | None = None
    n_starts: int = 5
    optimizer: Optimizer = _QUASI_NEWTON
    path_optimizer: Optimizer = _COARSE
    approximation: str = "auto"
    rank: int | None = None
    search_samples: int | str | None = "auto"
    n_jobs: int | None = None
    one_scale: bool = False

    def threshold_for(self, fuzzifiers: Sequence[Fuzzifier], n_clusters: int) -> float:
        """The threshold that was asked for, else the smallest τ of the fuzzifiers; one cluster needs none."""
        if self.threshold is not None:
            return self.threshold
        return min(t.threshold(n_clusters) for t in fuzzifiers) if n_clusters > 1 else 0.0


@dataclass(frozen=True)
class TunedKernel:
    """A kernel with its bandwidths, and how they came about.

    Attributes
    ----------
    kernel : Kernel
    criterion : Criterion
    max_anisotropy : float
    log_bandwidths : ndarray of shape (k,)
        In the units of what was searched.
    level : float
        Their mean, in standard deviations.
    leading_eigenvalue : float
        λ₁.
    dissimilarity : Dissimilarity
    columns : ndarray of shape (k,)
        Which columns of the table it sees.
    search : BandwidthResult or None
        How the bandwidths were found; None if they are the deviations of the columns.
    """

    kernel: Kernel
    criterion: Criterion
    max_anisotropy: float
    log_bandwidths: FloatArray
    level: float
    leading_eigenvalue: float
    dissimilarity: Dissimilarity
    columns: IntArray
    search: BandwidthResult | None = None

    @classmethod
    def in_deviations(cls, X: FloatArray, kernel: Kernel, criterion: Criterion, columns: IntArray) -> TunedKernel:
        """A kernel that sees some columns of X in their standard deviations."""
        seen = np.ascontiguousarray(X[:, columns])
        deviations = seen.std(axis=0, ddof=1)
        gram = gram_family(seen, kernel).at(deviations)
        leading = float(spectrum_of(gram, 1).eigenvalues[0])
        return cls(kernel, criterion, 1.0, np.log(deviations), 0.0, leading, Dissimilarity(gram), columns)

    def shifted(self, family: GramFamily, shift: FloatArray) -> TunedKernel:
        """The kernel with its log-bandwidths shifted."""
        log_bandwidths = self.log_bandwidths + shift
        gram = family.at(np.exp(log_bandwidths))
        leading = float(spectrum_of(gram, 1).eigenvalues[0])
        return replace(
            self,
            log_bandwidths=log_bandwidths,
            level=self.level + float(shift.mean()),
            leading_eigenvalue=leading,
            dissimilarity=Dissimilarity(gram),
        )


@dataclass
class KnownKernels:
    """What searches on some columns of one table share, whatever the number of clusters.

    Attributes
    ----------
    families : dict
        Gram matrices at any bandwidths, by kernel.
    equal : dict
        Tuned kernels with equal bandwidths, by search; no criterion, and so no number of clusters, matters to them.
    ends : dict
        Log-bandwidths that the last search ended in at its highest level, by search: where the next begins.
    """

    families: dict[Kernel, GramFamily] = field(default_factory=dict)
    equal: dict[_Search, list[TunedKernel]] = field(default_factory=dict)
    ends: dict[_Search, FloatArray] = field(default_factory=dict)


def tune_kernels(
    X: Rows,
    n_clusters: int,
    grid: Grid,
    options: SearchOptions,
    rng: np.random.Generator,
    progress: Progress | None = None,
    columns: IntArray | None = None,
    known: KnownKernels | None = None,
) -> list[TunedKernel]:
    """Bandwidths for every kernel, criterion, α and level of the grid that can reach the threshold.

    With ``columns`` only these columns of X are seen. With ``known`` calls for several numbers of clusters share what
    they can, as long as nothing else differs.
    """
    columns = np.arange(X.shape[1]) if columns is None else columns
    X = on_columns(X, columns)
    known = KnownKernels() if known is None else known
    searches = [which for which in grid.searches() if which not in known.equal]
    families = known.families
    for kernel in grid.kernels:
        if kernel not in families:
            families[kernel] = gram_family(X, kernel, options.approximation, options.rank, _GRAM_TOL)
    seeds = rng.spawn(len(searches))

    levels = [level for level in grid.levels if level is not None]

    def search(kernel: Kernel, criterion: Criterion, anisotropy: float, seed: np.random.Generator) -> BandwidthResult:
        return select_bandwidths(
            X,
            n_clusters,
            kernel=kernel,
            criterion=criterion,
            max_anisotropy=anisotropy,
            threshold=options.threshold_for(grid.fuzzifiers, n_clusters),
            n_starts=options.n_starts,
            optimizer=options.optimizer,
            approximation=options.approximation,
            rank=options.rank,
            search_samples=None,
            random_state=seed,
        )

    def run(
        kernel: Kernel, criterion: Criterion, anisotropy: float, seed: np.random.Generator
    ) -> list[BandwidthResult]:
        if levels:
            return bandwidth_path(
                X,
                families[kernel],
                n_clusters,
                _levels_of(kernel, levels, X.shape[1]) if len(levels) > 1 else levels,
                criterion=criterion,
                max_anisotropy=anisotropy,
                threshold=options.threshold or 0.0,
                n_starts=options.n_starts,
                optimizer=options.path_optimizer,
                near=known.ends.get((kernel, criterion, anisotropy)),
                random_state=seed,
            )
        try:
            return [search(kernel, criterion, anisotropy, seed)]
        except InfeasibleBandwidthError:
            return []

    tasks = (delayed(run)(*which, seed) for which, seed in zip(searches, seeds, strict=True))
    found: list[tuple[_Search, BandwidthResult]] = []
    parallel = Parallel(n_jobs=options.n_jobs, return_as="generator")
    for k, results in enumerate(activity.results(parallel, tasks)):
        found += [(searches[k], result) for result in results]
        if progress is not None:
            progress(f"bandwidths {k + 1}/{len(searches)}")
    if not found and not known.equal:
        # The threshold is out of reach on the path: search the level too, or let that error say what can be reached.
        found = [(searches[-1], search(*searches[-1], seeds[-1]))]
    new: dict[_Search, list[TunedKernel]] = {}
    for which, result in found:
        found_kernel = TunedKernel(
            *which,
            result.log_bandwidths,
            result.level,
            float(result.eigenvalues[0]),
            Dissimilarity(families[which[0]].at(np.exp(result.log_bandwidths))),
            columns,
            result,
        )
        new.setdefault(which, []).append(found_kernel)
    if levels:
        known.ends.update((which, kernels[0].log_bandwidths) for which, kernels in new.items())
        known.equal.update((which, kernels) for which, kernels in new.items() if which[-1] == 1)
    tuned = [one for which in grid.searches() for one in new.get(which) or known.equal.get(which, [])]
    # A given level or threshold leaves no room for another balance.
    if len(levels) == 1 or not levels or options.threshold is not None:
        return tuned
    if isinstance(X, Table):
        shifts = _other_balances(X)
        return tuned + [kernel.shifted(families[kernel.kernel], shift) for kernel in tuned for shift in shifts]
    if not options.one_scale:
        return tuned
    deviations = log_deviations(X)
    return [kernel.shifted(families[kernel.kernel], deviations.mean() - deviations) for kernel in tuned]


def _other_balances(table: Table) -> list[FloatArray]:
    """Shifts of log θ that make columns with levels count less than numbers, and the other way round.

    Both kinds have variance one, which says nothing about how much of it is due to clusters.
    """
    if not (len(table.discrete) and len(table.measured)):
        return []
    shifts = np.zeros((2, table.shape[1]))
    shifts[0, table.discrete] = _BALANCE
    shifts[1, table.measured] = _BALANCE
    return list(shifts)


def propose(
    kernels: Sequence[TunedKernel], n_clusters: int, fuzzifier: Fuzzifier, start: Start, rng: np.random.Generator
) -> list[FloatArray]:
    """Partitions under every kernel, from hard to fuzzy, the first from ``start``, the others from the one before."""
    path = fuzziness_path(_default_of(fuzzifier), PROPOSING)
    proposals = []
    for tuned in kernels:
        U = draw_memberships(start, tuned.dissimilarity, n_clusters, rng)
        for t in path:
            U = descend(tuned.dissimilarity, t, U, FIRST_ITER, FIRST_TOL).memberships
            proposals.append(U)
    return proposals


def _default_of(fuzzifier: Fuzzifier) -> Fuzzifier:
    """The fuzzifier with the default m of its class, or as it is if that has none."""
    default = next(field.default for field in fields(fuzzifier) if field.name == "m")
    return fuzzifier if default is MISSING else fuzzifier.with_m(default)


def _levels_of(kernel: Kernel, levels: Sequence[float], n_features: int) -> list[float]:
    """Levels of a kernel: exponents of a product add up over the features, so its bandwidths are √p times larger."""
    if isinstance(kernel, Linear):
        return [0.0]  # only ratios matter
    shift = 0.0 if isinstance(kernel, AdditiveKernel) else 0.5 * float(np.log(n_features))
    return [level + shift for level in levels]
